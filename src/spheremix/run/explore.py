"""An exploration: from documents to the folder of a run, resumed where it was left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.estimators.path import VMFPath
from spheremix.reading import Reading, agreement, contrast_words
from spheremix.run.folder import RunFolder, versions
from spheremix.run.listener import Listener
from spheremix.run.options import DENSE, ExploreOptions
from spheremix.run.prepare import check_options, prepare, read_source
from spheremix.run.render import complete
from spheremix.run.saving import finish, load_run
from spheremix.run.schema import (
    AgreementRecord,
    CorpusRecord,
    DenseRecord,
    Manifest,
    MixtureRecord,
    PathRecord,
    PreparedRecord,
)
from spheremix.run.stages import fit_dense, follow_path
from spheremix.run.store import RunError
from spheremix.run.tables import all_clusters, write_tables
from spheremix.text import Corpus, Matrix
from spheremix.text.corpus import digest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from spheremix.estimators.mixture import VMFMixture
    from spheremix.reading import ContrastWord
    from spheremix.run.prepare import Material
    from spheremix.run.run import Run

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
    ends with the same result, to the last byte.

    Parameters
    ----------
    source : str, path, list of str, Corpus or Matrix
        A CSV, TSV, JSON lines or Parquet file, a folder of text files, a ready matrix (.npz, .mtx,
        .npy), the texts themselves, or what :mod:`spheremix.text` has read.
    out : str or path, default="run"
        Folder of the run. One that holds another run or other files is left alone.
    force : bool, default=False
        Replace another run in the folder.
    listener : Listener, default=None
        Hears of progress and notes. By default progress is silent and notes are warnings.
    **options
        The options of the command, with underscores: ``k="2:20"``, ``label="section"``,
        ``min_df=5``. :class:`spheremix.run.options.ExploreOptions` lists them all.

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
    folder = Path(out)
    found = _read(source, chosen, hears)
    return explore(found, chosen, folder, force=force, listener=hears)


def _read(source: Any, options: ExploreOptions, listener: Listener) -> Corpus | Matrix:
    """Read the documents, where they are not in memory already."""
    if isinstance(source, str) or hasattr(source, "__fspath__"):
        path = Path(source)
        check_options(path, options)
        listener.begin(f"Reading {path}")
        return read_source(path, options)
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
) -> Run:
    """Explore documents that were read, in a folder, from where it was left."""
    folder = RunFolder(output)
    embeddings = isinstance(source, Matrix) and source.vocabulary is None
    options = options.completed(words=not embeddings)
    command = {**options.command(), "checksum": source.checksum}
    if isinstance(source, Matrix):
        words, documents = source.vocabulary, source.documents
        command["vocabulary_checksum"] = None if words is None else digest(map(str.encode, words))
        command["texts_checksum"] = None if documents is None else documents.checksum
    with folder.locked():
        if folder.claim(command, force=force):
            listener.begin(f"{output} holds this run already, finished.")
        else:
            for note in source.notes:
                listener.inform(note)
            try:
                _work(folder, source, options, command, listener)
            except Exception:
                folder.discard()
                raise
        try:
            run = load_run(output)
        except RunError as error:
            raise RunError(
                "{error} Remove the file, and make the run again with {force=True}", error=error
            ) from None
        complete(folder, run, listener)
    return run


def _work(
    folder: RunFolder,
    source: Corpus | Matrix,
    options: ExploreOptions,
    command: dict[str, Any],
    listener: Listener,
) -> None:
    material = prepare(folder, source, options, listener)
    candidates = options.candidates(len(material.kept), material.n_distinct)
    dense, notes = fit_dense(folder, material.X, candidates, options, listener)
    values = [model.criteria_[options.k_criterion] for model in dense.values()]
    best = list(dense)[int(np.argmin(values))]
    model: VMFMixture | VMFPath = dense[best]
    if options.criterion != DENSE:
        model = follow_path(folder, material.X, dense, best, options, listener)
    listener.begin("Writing the tables")
    _finish(folder, material, dense, model, command, source)
    for note in notes:
        listener.note(note)


def _finish(
    folder: RunFolder,
    material: Material,
    dense: dict[int, VMFMixture],
    model: VMFMixture | VMFPath,
    command: dict[str, Any],
    source: Corpus | Matrix,
) -> None:
    """Write the tables and ``run.json``, which lists every file of every stage.

    The model is the one that was chosen: a path, or the dense mixture where none was followed.
    """
    writer = folder.writer()
    contrast = _contrast(material, model)
    reading = Reading(model, material.words, contrast=contrast)
    tables = write_tables(writer, material, reading, dense, contrast)

    def left(stage: str, kind: type[Any]) -> Any:
        """Give the record of a stage; its files are files of the run."""
        found = folder.done(stage, kind)
        if found is None:
            raise RunError(f"{folder.folder}: what was written cannot be read again.")
        record, reader = found
        writer.entries.update(reader.entries)
        return record

    prepared: PreparedRecord = left("matrix", PreparedRecord)
    mixtures: dict[int, MixtureRecord] = {K: left(f"dense-{K}", DenseRecord).mixture for K in dense}
    path = left("path", PathRecord) if isinstance(model, VMFPath) else None
    beside = None if isinstance(source, Corpus) else source.documents
    finish(
        writer,
        Manifest(
            command=command,
            versions=versions(),
            corpus=CorpusRecord(
                source=source.source,
                format=source.format,
                checksum=source.checksum,
                texts=None if beside is None else beside.source,
                notes=list(source.notes),
                n_documents=material.n_documents,
                n_set_aside=len(material.reasons),
            ),
            prepared=prepared,
            dense=mixtures,
            path=path,
            best_n_components=reading.n_clusters,
            label_agreement=_agreement(material, model),
            contrast=_naming(reading),
            tables=tables,
        ),
    )


def _naming(reading: Reading) -> list[list[str]] | None:
    """Give the contrast words that are kept beside the model."""
    if reading.contrast is None:
        return None
    return [list(words[:NAMING]) for words in reading.contrast]


def _agreement(material: Material, model: VMFMixture | VMFPath) -> AgreementRecord | None:
    """Compare with labels, where each document has one at most."""
    labels = material.source.labels
    if labels is None or any(len(several) > 1 for several in labels):
        return None
    found = agreement(model.labels_, [labels[row] for row in material.kept])
    if not np.isfinite(found.ari):
        return None
    return AgreementRecord(
        ari=float(found.ari), nmi=float(found.nmi), n_documents=int(found.n_documents)
    )


def _contrast(material: Material, model: VMFMixture | VMFPath) -> list[list[ContrastWord]] | None:
    """Find the words of clusters whose columns are no words, in the texts beside."""
    if material.counts is None or material.terms is None:
        return None
    K = Reading(model).n_clusters
    clusters = all_clusters(model.labels_, material)
    return contrast_words(material.counts, clusters, material.terms, CONTRASTED, n_clusters=K)
