"""An exploration: from documents to the folder of a run, resumed where it was left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.estimators.path import VMFPath
from spheremix.reading import Reading, contrast_words
from spheremix.run.advising import advise_run, agreements, choose_candidates, pack_advice
from spheremix.run.carried import renamed
from spheremix.run.describe import describe_clusters
from spheremix.run.files import EDITS, PATH
from spheremix.run.firming import STAGE, measure_firmness
from spheremix.run.folder import ORIGIN, RunFolder
from spheremix.run.growing import describe_tree, grow_tree
from spheremix.run.history import write_history
from spheremix.run.keys import Keys
from spheremix.run.listener import Listener
from spheremix.run.names import AUTOMATIC, put_names, read_names
from spheremix.run.options import ADVICE, DENSE, ExploreOptions
from spheremix.run.origin import keep_origin, new_origin
from spheremix.run.path_codecs import add_choice
from spheremix.run.positions import place_documents
from spheremix.run.prepare import IN_TABLES, check_options, mended, prepare, read_source
from spheremix.run.refitting import Groups
from spheremix.run.render import complete
from spheremix.run.replaying import carried_edits, fit_of, replay
from spheremix.run.reused import given_up, reuse
from spheremix.run.saving import finish, load_run
from spheremix.run.schema import (
    AgreementRecord,
    DocumentsRecord,
    FirmnessRecord,
    LayoutRecord,
    Manifest,
    MixtureRecord,
    PathRecord,
    PreparedRecord,
)
from spheremix.run.stages import fit_dense, follow_path
from spheremix.run.store import RunError
from spheremix.run.tables import Findings, all_clusters, write_tables
from spheremix.run.tree_schema import GrownRecord
from spheremix.run.typed import FileName
from spheremix.text import Corpus, Matrix, read_documents
from spheremix.text.corpus import digest
from spheremix.text.tables import is_frame

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from spheremix.errors import Message
    from spheremix.estimators.mixture import VMFMixture
    from spheremix.reading import ContrastWord
    from spheremix.run.edit_schema import OriginRecord
    from spheremix.run.names import GivenNames
    from spheremix.run.prepare import Material
    from spheremix.run.replaying import Edited
    from spheremix.run.run import Run
    from spheremix.run.schema import NameRecord
    from spheremix.run.starting import Start
    from spheremix.text.trouble import Mending

CONTRASTED = 100  # words of a cluster in the table of contrasts
NAMING = 20  # those that are kept beside the model


def explore_corpus(
    source: str | PathLike[str] | Sequence[str] | Corpus | Matrix,
    out: str | PathLike[str] = "run",
    *,
    force: bool = False,
    listener: Listener | None = None,
    **options: Any,
) -> Run:
    """Group documents, and write what was found into a folder: what the command does.

    Killed at any moment and called again with the same arguments, it goes on from where it was and
    ends with the same result, to the last byte. Called with other options on the same documents, it
    reuses the words, the rows and the fits that the options do not change; the result is that of a
    new folder.

    Parameters
    ----------
    source : str, path, list of str, data frame, Corpus or Matrix
        A CSV, TSV, JSON lines, Parquet or Excel file, a folder of text files, a ready matrix (.npz,
        .mtx, .npy), the texts themselves, a data frame of pandas, polars, pyarrow or another
        library that narwhals knows, or what :mod:`spheremix.text` has read.
    out : str or path, default="run"
        Folder of the run. One that holds a run of other documents or words, or other files, is left
        alone.
    force : bool, default=False
        Replace another run in the folder.
    listener : Listener, default=None
        Hears of progress and notes. By default progress is silent and notes are warnings.
    **options
        The options of the command, with underscores: ``k="2:20"``, ``label="section"``,
        ``min_df=5``. :class:`spheremix.run.options.ExploreOptions` lists them all. ``names`` may
        also be a dictionary from numbers of clusters to names, or a function that gets what
        ``Run.describe_clusters`` gives and returns such a dictionary or a list of names.

    Returns
    -------
    Run
        The finished run: its models, tables and report.

    Examples
    --------
    >>> import spheremix as sm
    >>> texts = ["red apple", "apple pie", "green apple", "blue sky", "sky and sea", "blue sea"]
    >>> run = sm.explore_corpus(texts, "fruit", k=2, min_count=1, min_df=1)
    >>> run.documents["cluster"]
    [1, 1, 1, 0, 0, 0]
    """
    chosen = ExploreOptions(**options)
    hears = listener or Listener()
    folder, names = Path(out), read_names(chosen.names)
    found = _read(source, chosen, hears)
    return explore(found, chosen, folder, force=force, listener=hears, names=names)


def _read(source: Any, options: ExploreOptions, listener: Listener) -> Corpus | Matrix:
    """Read the documents, where they are not in memory already."""
    if isinstance(source, str) or hasattr(source, "__fspath__"):
        path = Path(source)
        check_options(path, options)
        listener.begin(f"Reading {path}")
        return read_source(path, options)
    if is_frame(source):
        found: Corpus | Matrix = read_documents(source, **options.reading())
        columns: Any = dict.fromkeys(IN_TABLES)  # they were used
        check_options(found, replace(options, **columns))
    else:
        found = source if isinstance(source, Corpus | Matrix) else Corpus.from_texts(source)
        check_options(found, options)
    # What is in memory may have changed since it was read: its content says whether a run is of it.
    if isinstance(found, Matrix) and found.documents is not None:
        documents = found.documents
        beside = replace(documents, checksum=documents.content_checksum())
        found = replace(found, documents=beside)
    return replace(found, checksum=found.content_checksum())


def explore(
    source: Corpus | Matrix,
    options: ExploreOptions,
    output: Path,
    *,
    force: bool,
    listener: Listener,
    names: GivenNames | None = None,
    start: Start | None = None,
) -> Run:
    """Explore documents that were read, in a folder, from where it was left.

    With a start, the groups are not searched for: the fit begins with those that are given.
    """
    folder = RunFolder(output)
    documents = source if isinstance(source, Corpus) else source.documents
    if documents is not None:
        source = replace(source, notes=[*source.notes, *renamed(documents)])
    embeddings = isinstance(source, Matrix) and source.vocabulary is None
    options = options.completed(words=not embeddings)
    command = {**options.command(), "checksum": source.checksum}
    if isinstance(source, Matrix):
        words = source.vocabulary
        command["vocabulary_checksum"] = None if words is None else digest(map(str.encode, words))
        command["texts_checksum"] = None if documents is None else documents.checksum
    source, mending = mended(source, options, frozenset() if start is None else start.lines)
    command["names"] = None if names is None else names.command()
    command |= {} if start is None else start.command()
    keys = Keys(source, options, command.get("start"))
    with folder.locked():
        folder.carried = carried_edits(folder, command, listener, start, force=force)
        if folder.claim(command, keys, force=force):
            listener.begin(f"{output} holds this run already, finished.")
        else:
            _tell(source.notes, start, listener)
            try:
                said, notes = work(folder, source, options, mending, keys, command, names, listener)
            except Exception:
                folder.discard()
                raise
            for line in said:
                listener.inform(line)
            for message in notes:
                listener.note(message)
        try:
            run = load_run(output)
        except RunError as error:
            raise RunError(
                "{error} Remove the file, and make the run again with {force=True}", error=error
            ) from None
        for message in given_up(folder.previous, run.manifest):
            listener.note(message)
        complete(folder, run, listener)
    return run


def _tell(notes: Sequence[str], start: Start | None, listener: Listener) -> None:
    """Say what was found out when the documents were read, as far as it is not known."""
    for note in notes:
        if start is None or note not in start.told:
            listener.inform(note)


def work(
    folder: RunFolder,
    source: Corpus | Matrix,
    options: ExploreOptions,
    mending: Mending,
    keys: Keys,
    command: dict[str, Any],
    names: GivenNames | None,
    listener: Listener,
) -> tuple[list[str], list[Message]]:
    """Do the stages of an exploration, make the edits that the folder carries, write the rest.

    Gives what was used again, and what should be said about the fits.
    """
    material = prepare(folder, source, options, mending, keys, listener)
    candidates = choose_candidates(folder, material, options, keys, listener)
    dense, notes = fit_dense(folder, material, candidates, options, keys, listener)
    advice = None
    if options.k_criterion == ADVICE:
        advice = advise_run(folder, material, dense, options, keys, listener)
        best = min(dense) if advice is None else advice.best_candidate
    else:
        values = [model.criteria_[options.k_criterion] for model in dense.values()]
        best = list(dense)[int(np.argmin(values))]
    origin = new_origin(material, command, source, names)
    edited = replay(
        folder, Groups(material, dense, best, keys), folder.carried, names, options, listener
    )
    if edited.steps:
        keep_origin(folder, origin)
    if edited.n_fits:  # other numbers of clusters were tried with other groups and words
        advice = None
    groups = edited.groups
    material, dense, best, keys = groups.material, groups.dense, groups.best, groups.keys
    model: VMFMixture | VMFPath = dense[best]
    if options.criterion != DENSE:
        model = follow_path(folder, material.X, dense, best, options, keys, listener)
    tree = grow_tree(folder, material, model.labels_, advice, options, keys, listener)
    firm = measure_firmness(folder, material, model, options, keys, listener)
    positions = place_documents(folder, material, model.labels_, keys, listener)
    found = Findings(
        advice=advice, tree=tree, firmness=firm, positions=positions, marks=edited.marks
    )
    listener.begin("Writing the tables")
    _finish(folder, edited, model, found, origin, source, names)
    if not edited.steps:
        folder.remove(ORIGIN)
    return reuse(folder, candidates, words=material.words is not None), notes


def _finish(
    folder: RunFolder,
    edited: Edited,
    model: VMFMixture | VMFPath,
    found: Findings,
    origin: OriginRecord,
    source: Corpus | Matrix,
    names: GivenNames | None,
) -> None:
    """Write the tables and ``run.json``, which lists every file of every stage.

    The model is the one that was chosen: a path, or the dense mixture where none was followed.
    """
    writer, groups = folder.writer(top=True), edited.groups
    material, dense, keys = groups.material, groups.dense, groups.keys

    def left(stage: str, key: str, kind: type[Any]) -> Any:
        """Return the record of a stage; its files are files of the run."""
        record, reader = folder.left(stage, key, kind)
        writer.entries.update(reader.entries)
        return record

    prepared: PreparedRecord = left("matrix", keys.matrix, PreparedRecord)
    beside = source if isinstance(source, Corpus) else source.documents
    if beside is not None:
        texts = left("documents", keys.documents, DocumentsRecord).texts
        prepared = replace(prepared, texts=texts)
    mixtures: dict[int, MixtureRecord] = {
        K: left(keys.dense_stage(K), keys.dense(K), groups.record).mixture for K in dense
    }
    contrast = _contrast(material, model)
    rows = None if material.words is None else material.X  # texts do not contain coordinates
    reading = Reading(model, material.words, contrast=contrast, X=rows)
    best = reading.n_clusters
    fit, history = fit_of(folder, groups), write_history(edited.steps, folder.folder)
    named = _names(reading, material, names, edited, fit)
    if edited.steps and names is not None and names.namer is not None:
        # Whoever edits this run has its names and not the function that gave them.
        by_function = {k: one.name for k, one in enumerate(named) if one.source == names.source}
        keep_origin(folder, replace(origin, names=by_function, names_fit=fit))
    folder.begin()  # nothing is refused from here on
    before = ("tree", "layout") if edited.n_fits else ()  # for whoever takes the edits back
    valid = {folder.key(stage) for stage in (ORIGIN, *before)}
    folder.withdraw({*keys.fits(folder.sizes()), *valid})
    path: PathRecord | None = None
    if isinstance(model, VMFPath):
        followed = left("path", keys.path(best), PathRecord)
        path = add_choice(model, followed, writer, PATH)
    if any(one.source != AUTOMATIC for one in named):
        called = [one.name for one in named]
        reading = Reading(model, material.words, contrast=contrast, names=called, X=rows)
    described = None
    if found.tree is not None:
        grown = left("tree", found.tree.key, GrownRecord)
        described = describe_tree(grown, found.tree, material, reading)
    removed = prepared.vectorizer.removed if prepared.vectorizer is not None else {}
    tables = write_tables(writer, material, reading, dense, contrast, found, described, removed)
    finish(
        writer,
        Manifest(
            command=origin.command,
            versions=origin.versions,
            corpus=replace(origin.corpus, n_set_aside=len(material.reasons)),
            prepared=prepared,
            dense=mixtures,
            path=path,
            best_n_components=best,
            advice=None if found.advice is None else pack_advice(found.advice),
            firmness=left(STAGE, keys.firmness(best), FirmnessRecord),
            label_agreement=_agreement(material, model),
            tree=described,
            contrast=_naming(reading),
            names=named,
            layout=left("layout", keys.layout(model.labels_), LayoutRecord),
            edits=None if history is None else FileName(writer.text(EDITS, [history])),
            tables=tables,
        ),
    )


def _names(
    reading: Reading,
    material: Material,
    names: GivenNames | None,
    edited: Edited,
    fit: str,
) -> list[NameRecord]:
    """Name the clusters: as was said, and by their words where nothing was."""
    automatic = [reading.cluster_name(k) for k in range(reading.n_clusters)]
    given = edited.marks.names
    older = {one.name for one in given.values()} - edited.fresh
    if names is not None:
        asked = names.ask(len(automatic), lambda: describe_clusters(reading, material, fit))
        given = {**asked, **given}
    return put_names(automatic, given, older)


def _naming(reading: Reading) -> list[list[str]] | None:
    """Return the contrast words that are kept beside the model."""
    if reading.contrast is None:
        return None
    return [list(words[:NAMING]) for words in reading.contrast]


def _agreement(material: Material, model: VMFMixture | VMFPath) -> dict[str, AgreementRecord]:
    """Compare with the labels of each column, where a document has one at most."""
    return {
        name: AgreementRecord(
            ari=float(found.ari), nmi=float(found.nmi), n_documents=int(found.n_documents)
        )
        for name, found in agreements(material, model.labels_).items()
    }


def _contrast(material: Material, model: VMFMixture | VMFPath) -> list[list[ContrastWord]] | None:
    """Find the words of clusters whose columns are no words, in the texts beside."""
    if material.counts is None or material.terms is None:
        return None
    K = Reading(model).n_clusters
    clusters = all_clusters(model.labels_, material)
    return contrast_words(material.counts, clusters, material.terms, CONTRASTED, n_clusters=K)
