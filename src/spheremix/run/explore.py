"""An exploration: from documents to a run, resumed where it was left; and a run that is edited."""

from __future__ import annotations

import dataclasses
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.errors import Message, ParameterError
from spheremix.run import Listener
from spheremix.run.apply_edits import (
    Edited,
    Groups,
    Marks,
    Nodes,
    PendingStep,
    changes_fit,
    compare_tables,
    count_moved,
    identities,
    make_edits,
)
from spheremix.run.columns import renamed_columns
from spheremix.run.edits import EditStep, check_edits, read_edits
from spheremix.run.effects import check_columns, measure_effects
from spheremix.run.folder.files import RunError, check_output, is_path
from spheremix.run.folder.schema import (
    PAGE,
    AgreementInfo,
    CorpusInfo,
    RunInfo,
    another_run,
    differences,
    same_documents,
    versions,
)
from spheremix.run.folder.store import FIGURES, Store, key_of
from spheremix.run.namer import Namer
from spheremix.run.names import AUTOMATIC, GivenNames, Name, names_of, put_names, read_names
from spheremix.run.options import DENSE, ExploreOptions
from spheremix.run.run import Run, load_run, open_run
from spheremix.run.seeds import find_seeds
from spheremix.run.sentences import given_up, reused
from spheremix.run.stages import Context
from spheremix.run.stages.dense import (
    DenseFit,
    advise_run,
    agreements,
    choose_candidates,
    choose_number,
    dense_key,
    fit_dense,
)
from spheremix.run.stages.meaning import (
    Meaning,
    by_words_alone,
    choose_model,
    find_meaning,
    meaning_key,
)
from spheremix.run.stages.passages import Cut, cut_source, find_shares
from spheremix.run.stages.path import follow_path, path_key
from spheremix.run.stages.rows import (
    IN_TABLES,
    Rows,
    beside_vectors,
    check_options,
    documents_of,
    in_their_languages,
    make_rows,
    mended,
    read_source,
    rows_key,
    without_embeddings,
)
from spheremix.run.stages.stability import learn_from_labels, measure_stability
from spheremix.run.stages.tree import grow_tree, place_documents
from spheremix.text import Corpus, Matrix, read_documents
from spheremix.text.corpus import digest
from spheremix.text.formats import is_files, is_frame
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from spheremix.reading.stability import Stability


UNDO = "undo"
SEEDS = "seeds"  # the source of the names of groups that are asked for
KEPT = ("documents", "meaning", "passages", "start")  # parts that edits do not change


def explore_corpus(
    source: Any,
    out: str | PathLike[str] | None = "run",
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
    source : str, path, list of paths, data frame, list of str, Corpus or Matrix
        A CSV, TSV, JSON lines, Parquet or Excel file, several of them with the same columns, a
        folder of text files, a ready matrix (.npz, .mtx, .npy), a data frame of pandas, polars or
        pyarrow, the texts themselves, or what :mod:`spheremix.text` has read.
    out : str, path or None, default="run"
        Folder of the run. One that holds a run of other documents, or other files, is left alone.
        None keeps the run in memory.
    force : bool, default=False
        Replace another run in the folder.
    listener : Listener, default=None
        Hears of progress and notes. By default progress is silent and notes are warnings.
    **options
        The options of the command, with underscores: ``k="2:20"``, ``label="section"``,
        ``min_df=5``. :class:`spheremix.run.options.ExploreOptions` lists them all. ``names`` may
        also be a dictionary from numbers of groups to names, or a function that gets what
        ``Run.describe_groups`` returns and returns such a dictionary or a list of names.

    Returns
    -------
    Run
        The finished run: its models, tables and report.

    Examples
    --------
    >>> import spheremix as sm
    >>> texts = ["red apple", "apple pie", "green apple", "blue sky", "sky and sea", "blue sea"]
    >>> run = sm.explore_corpus(texts, "fruit", k=2, min_count=1, min_df=1)
    >>> run.documents["group"]
    [1, 1, 1, 0, 0, 0]
    """
    chosen, hears = ExploreOptions(**options), listener or Listener()
    names, found = read_names(chosen.names), _read(source, chosen, hears)
    store = Store(None if out is None else Path(out))
    return explore(found, chosen, store, force=force, listener=hears, names=names)


def _read(source: Any, options: ExploreOptions, listener: Listener) -> Corpus | Matrix:
    """Read the documents, where they are not in memory already."""
    if is_path(source):
        path = Path(source)
        check_options(path, options)
        listener.begin(f"Reading {path}")
        return read_source(path, options)
    if is_files(source):
        for one in source:
            check_options(Path(one), options)
        listener.begin(f"Reading {count(len(source), 'file')}")
        return beside_vectors(read_documents(source, **options.reading()), options)
    if is_frame(source):
        found: Corpus | Matrix = read_documents(source, **options.reading())
        columns: Any = dict.fromkeys(IN_TABLES)  # they were used
        check_options(found, replace(options, **columns))
    else:
        found = source if isinstance(source, Corpus | Matrix) else Corpus.from_texts(source)
        check_options(found, options)
    if isinstance(found, Corpus):
        found = beside_vectors(found, options)
    # What is in memory may have changed since it was read: its content says whether a run is of it.
    if isinstance(found, Matrix) and found.documents is not None:
        documents = found.documents
        beside = replace(documents, checksum=documents.content_checksum())
        found = replace(found, documents=beside)
    return replace(found, checksum=found.content_checksum())


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """Groups from which a run starts instead of searching for them: those of the run before it."""

    labels: NDArray[np.intp]  # the group of each document, -1 where it is not known
    step: PendingStep  # names, notes and marks that the run takes over
    lines: frozenset[str] = frozenset()  # that the run before left out of its documents
    told: frozenset[str] = frozenset()  # notes about the documents that were told already
    cut: Cut | None = None  # how they were split, where rows are their passages

    def command(self) -> dict[str, str]:
        """Return what tells this start from others: the groups, and what is said of them."""
        edits = dataclasses.asdict(self.step.step)
        groups = digest([np.ascontiguousarray(self.labels, dtype="<i8").tobytes()])
        return {"start": groups, "taken_over": key_of(str(edits))}


def explore(
    source: Corpus | Matrix,
    options: ExploreOptions,
    store: Store,
    *,
    force: bool,
    listener: Listener,
    names: GivenNames | None = None,
    start: Start | None = None,
) -> Run:
    """Explore documents that were read, from where the folder was left.

    With a start, the groups are not searched for: the fit begins with those that are given.
    """
    source, given = without_embeddings(source, options)
    documents = documents_of(source)
    if documents is not None:
        source = replace(source, notes=[*source.notes, *renamed_columns(documents)])
    source, lines = mended(source, options), frozenset[str]() if start is None else start.lines
    cut = None if start is None else start.cut
    check_columns(documents, options.effects)
    options, model, said = _found_in(source, given, options, start)
    if cut is None and model is None:
        source, cut = cut_source(source, options)
    if model is not None and not options.meaning_only:
        _check_words_alone(options)
    embeddings = isinstance(source, Matrix) and source.vocabulary is None
    n_documents = source.X.shape[0] if isinstance(source, Matrix) else len(source)
    options = options.completed(words=not embeddings, n_documents=n_documents)
    namer = None if options.namer is None else Namer(options.namer, options.namer_model)
    said_names = None if names is None else names.command()
    command = {
        **_command_of(source, options),
        "names": namer.command(names) if namer else said_names,
    }
    command |= {} if model is None else {"meaning": model}
    command |= {} if given is None else {"meaning_checksum": given.checksum}
    command |= {} if start is None else start.command()
    with store.locked():
        before = _before(store, command, listener, force=force)
        known = {} if before is None else {**before.info.command, **before.info.versions}
        same = not differences(known, {**command, **versions()})
        whole = not force or (before is not None and not before.check() and before.is_readable())
        if before is not None and same and whole:
            listener.begin(f"{store.place} holds this run already, finished.")
            if store.missing():
                listener.begin("Writing again what is missing or damaged")
                before.write()
            return before
        if before is not None:
            store.refuse_changed()  # before all the work
        for note in (*source.notes, *said):
            if start is None or note not in start.told:
                listener.inform(note)
        beside, texts = documents_of(source), given or source
        meaning = None if model is None else find_meaning(store, texts, model, listener)
        key = rows_key(source, options, lines, model and meaning_key(texts, model))
        context: dict[str, Any] = {"store": store, "options": options, "listener": listener}
        exploration = Exploration(
            **context, rows_key=key, command=command, names=names, namer=namer
        )
        found = store.stage(
            "rows", key, Rows, lambda: make_rows(source, options, listener, lines, meaning)
        )
        rows = found.beside(beside, meaning)
        exploration.keep(beside, cut)
        exploration.meaning = exploration.note_part("meaning", meaning)
        exploration.about = CorpusInfo(
            source=source.source,
            format=source.format,
            checksum=source.checksum,
            texts=None if beside is None or beside is source else beside.source,
            notes=[*source.notes, *said],
            n_documents=rows.n_documents,
            n_set_aside=len(rows.reasons),
        )
        if start is not None:
            exploration.start_with(start)
        return exploration.run(rows, before)


def _found_in(
    source: Corpus | Matrix, given: Matrix | None, options: ExploreOptions, start: Start | None
) -> tuple[ExploreOptions, str | None, list[str]]:
    """Return the options with the languages of the texts, what finds their meaning, and notes."""
    languages = list[str]()
    if start is None:  # an update has the languages of the run before it
        options, languages = in_their_languages(source, options)
    model, said = choose_model(source, given, options)
    return options, model, [*languages, *said]


def _command_of(source: Corpus | Matrix, options: ExploreOptions) -> dict[str, Any]:
    """Return the options that the result depends on, and checksums of the input."""
    command = {**options.command(), "checksum": source.checksum}
    if isinstance(source, Matrix):
        words, documents = source.vocabulary, source.documents
        command["vocabulary_checksum"] = None if words is None else digest(map(str.encode, words))
        command["texts_checksum"] = None if documents is None else documents.checksum
    return command | ({"meaning_only": True} if options.meaning_only else {})


def _check_words_alone(options: ExploreOptions) -> None:
    """Refuse what is found by one view of the rows alone, before all the work."""
    told = by_words_alone(options)
    if told is not None:
        raise ParameterError(
            f"{{meaning}} and words together: {{{told}}} is for groups by words alone",
            remedies=("leave out {meaning}", f"leave out {{{told}}}"),
        )


def _before(
    store: Store, command: dict[str, Any], listener: Listener, *, force: bool
) -> Run | None:
    """Return the run that is in the folder; refuse one of other documents, unless forced."""
    if store.folder is None or store.info() is None:
        return None
    try:
        run = open_run(store)
    except RunError as error:
        if not force:
            raise RunError(
                "{error} Remove the folder, or make the run again with {force=True}", error=error
            ) from None
        listener.inform(f"The run that was here cannot be read: {error}")
        return None
    same = same_documents(run.info.command, command)
    if not force and not (same and run.info.corpus is not None):
        raise another_run(store.place, run.info, command)
    edited = bool(run.info.edits) and run.info.edits[-1].update is None
    if "start" in command and edited and differences(run.info.command, command):
        raise RunError(
            "{folder}: holds a run that was edited, and these edits would be lost",
            remedies=("choose another folder with {out}",),
            folder=store.place,
        )
    return run


@dataclass(eq=False, kw_only=True)
class Exploration(Context):
    """A run that is being made: stages from top to bottom, then its tables and its page."""

    command: dict[str, Any] = field(default_factory=dict)  # what the result depends on
    about: CorpusInfo | None = None  # where the documents come from
    names: GivenNames | None = None  # that came with the options
    namer: Namer | None = None  # is asked for the others
    base_names: list[Name] | None = None  # before all edits, where people have seen them
    edits: list[PendingStep] = field(default_factory=list)  # that the run is to have
    asked: bool = False  # the last of them just now: it is refused where it cannot be made
    what: str = ""  # is committed: a command that was killed after it is known to be done
    earlier: dict[str, list[EditStep]] = field(default_factory=dict)  # of other groups, by fit
    parts: dict[str, str] = field(default_factory=dict)  # the stages of the parts that are made
    cut: Cut | None = None  # where rows are passages of documents
    meaning: Meaning | None = None  # of the documents, beside their words

    def keep(self, documents: Corpus | None, cut: Cut | None) -> None:
        """Keep the documents of the rows, and how they were split."""
        if documents is None:
            return
        about = (documents.source, documents.format, documents.notes)
        key = key_of(versions(), documents.content_checksum(), about)
        self.store.stage("documents", key, Corpus, lambda: documents)
        self.parts["documents"] = f"documents-{key}"
        if cut is not None:
            self.split_by(cut)
            self.store.stage("passages", key, Cut, lambda: cut)
            self.parts["passages"] = f"passages-{key}"

    def split_by(self, cut: Cut | None) -> None:
        """Have rows that are passages of documents."""
        self.cut, self.documents = cut, None if cut is None else cut.documents

    def start_with(self, start: Start) -> None:
        """Begin with given groups."""
        self.start, self.start_key = start.labels, start.command()["start"][:16]
        self.store.stage("start", self.start_key, list[int], start.labels.tolist)
        self.parts["start"] = f"start-{self.start_key}"
        self.edits = [start.step]

    def run(self, rows: Rows, before: Run | None) -> Run:
        """Do the stages, and write the run: what the folder holds already is not done again."""
        store, options = self.store, self.options
        self.parts["rows"] = f"rows-{self.rows_key}"
        self._look_for_seeds(rows)
        advice = self.note_part("advice", advise_run(self, rows))
        candidates = choose_candidates(self, rows, advice)
        dense, notes = fit_dense(self, rows, candidates)
        best = choose_number(self, dense, advice)
        stages = {K: f"dense-{K}-{dense_key(self, K)}" for K in dense}
        base = Groups(rows, self.rows_key, dense, best, stages)
        if before is not None and not self.edits and not self.asked:
            self._take_over(before, base)
        edited = self._edited(base, before)
        groups = edited.groups
        if edited.n_fits:  # other numbers of groups were tried with other groups and words
            advice = self.seeded = None
            self.parts.pop("advice", None)
            self.rows_key = groups.rows_key
            self.parts["rows"] = f"rows-{groups.rows_key}"
        model: Any = groups.mixture
        model_key = groups.key
        made: dict[str, Any] = {"dense": groups.dense, "path": None, "advice": advice}
        if options.criterion != DENSE:
            model_key = path_key(groups.best, options, groups.key, self.seeded)
            model = made["path"] = follow_path(self, groups.rows.views, groups.mixture, groups.key)
            self.parts["path"] = f"path-{model_key}"
            self.note_part("choice", model)
        labels = model.labels_
        made["tree"] = self.note_part("tree", grow_tree(self, groups.rows, labels, advice))
        stable = measure_stability(self, groups.rows, model, model_key)
        made["stability"] = self.note_part("stability", stable)
        made["meaning"] = self.meaning
        if self.cut is None:
            found = learn_from_labels(self, groups.rows, model, model_key)
            made["labelled"] = self.note_part("labelled", found)
        made |= self._of_documents(groups.rows, model, model_key, stable)
        made["layout"] = self.note_part("layout", place_documents(self, groups.rows, labels))
        if self.start is not None and self.edits and self.edits[0].before is not None:
            edited = count_moved(edited, self.edits[0].before, labels)
        run = self._named(edited, made)
        if self.asked and before is not None:
            self._compare(before, run)
        self.listener.begin("Writing the tables and the report")
        run.write(self.what)
        store.prune(() if before is None else before.info.stages)
        if before is not None and store.folder is not None and (store.place / FIGURES).exists():
            self.listener.inform(
                f"{store.place / FIGURES} was drawn before: spheremix figures {store.place} draws "
                "it again."
            )
        self._tell(before, run, notes, len(candidates))
        return run

    def _look_for_seeds(self, rows: Rows) -> None:
        """Find what is known of the groups that are asked for, and say what is not there."""
        codebook = self.options.seeds
        if codebook is None:
            return
        ids = [rows.corpus.ids[i] for i in rows.kept.tolist()]
        self.seeded = find_seeds(codebook, ids, rows.word_places(), split=self.cut is not None)
        if self.asked:
            return
        for message in self.seeded.notes:
            self.listener.note(message)
        if self.start is None and self.options.k == (len(codebook),):
            self.listener.note(
                Message("Each document is in one of the groups of {seeds}; for others give {free}")
            )

    def _of_documents(
        self, rows: Rows, model: Any, model_key: str, stable: Stability
    ) -> dict[str, Any]:
        """Find the shares of the groups in documents that were split, and what they depend on."""
        made: dict[str, Any] = {"passages": self.cut}
        known: dict[str, Any] = {"stability": stable}
        if self.cut is not None:
            shares = find_shares(self, rows, self.cut, model, model_key)
            made["shares"] = self.note_part("shares", shares)
            known["temperature"] = shares.temperature
        if self.options.effects:
            found = measure_effects(self, rows, self.cut, model, model_key, **known)
            made["effects"] = self.note_part("effects", found)
        return made

    def note_part(self, name: str, value: Any) -> Any:
        """Note the stage that was just done as a part of the run."""
        if value is not None and self.store.folder is not None:
            self.parts[name] = next(one for one in self.store.used if one.startswith(f"{name}-"))
        return value

    def _take_over(self, before: Run, base: Groups) -> None:
        """Take the edits of the run that was here: those of the same groups, or what can follow."""
        info = before.info
        self.earlier = {**info.earlier_edits}
        first = info.edits[0].edits.run if info.edits else None
        if first is not None and all(one.update is None for one in info.edits):
            self.earlier[first] = info.edits
        if base.fit in self.earlier:
            if first not in {None, base.fit}:
                self.listener.inform(
                    f"{count(len(info.edits), 'edit')} of the groups that were here will come back "
                    "with those groups."
                )
            known = self.earlier.pop(base.fit)  # names of a function are asked for again
            self.edits = [PendingStep(replace(one, named={})) for one in known]
        elif info.edits:
            try:
                self.edits = [PendingStep(one, groups_before(before, one)) for one in info.edits]
            except RunError as error:
                self.listener.inform(f"The edits of the run that was here cannot be kept: {error}")
        named = ("names", "seeds")
        if base.fit == first and all(self.command[n] == info.command.get(n) for n in named):
            self.base_names = info.base_names

    def _edited(self, base: Groups, before: Run | None) -> Edited:
        """Make the edits to what was explored."""
        given = dict[int, Name]()
        if self.seeded is not None and self.start is None:
            asked_for = enumerate(self.seeded.names)
            given = {k: Name(name=name, source=SEEDS) for k, name in asked_for}
        if self.names is not None:
            seen = None if before is None else before.info.fit
            edited = before.folder if before is not None and before.edits else None
            given |= self.names.records(base.best, base.fit, seen, edited)
        if self.asked:
            named = enumerate(self.base_names or ())
            given = names_of(self.command) | {k: v for k, v in named if v.source != AUTOMATIC}
        fresh = frozenset(one.name for one in given.values() if one.source != SEEDS)
        return make_edits(
            self, Edited(base, Marks(given), fresh=fresh), self.edits, asked=self.asked
        )

    def _named(self, edited: Edited, made: dict[str, Any]) -> Run:
        """Return the run with names for its groups: as was said, and by their words elsewhere."""
        groups, marks = edited.groups, edited.marks
        about = self.about and replace(self.about, n_set_aside=len(groups.rows.reasons))
        info = RunInfo(
            command=self.command,
            versions=versions(),
            corpus=about,
            fit=groups.fit,
            n_groups=groups.best,
            colours=marks.colours,
            notes=marks.notes,
            misplaced=list(marks.misplaced),
            sizes_before=list(marks.sizes_before),
            nowhere_before=marks.nowhere_before,
            edits=list(edited.steps),
            earlier_edits=self.earlier,
            parts=dict(self.parts),
            dense=groups.stages,
        )
        beside = groups.rows.corpus if "documents" in self.parts else None
        run = Run(info, self.store, **made, rows=groups.rows, documents=beside)
        corpus, own, _ = run.whole_documents()
        alike = {
            name: AgreementInfo(
                ari=float(one.ari), nmi=float(one.nmi), n_documents=int(one.n_documents)
            )
            for name, one in sorted(agreements(corpus.labels, own).items())
        }
        info = replace(info, label_agreement=alike)
        reading = run.reading
        automatic = [reading.group_name(k) for k in range(reading.n_groups)]
        given = marks.names
        if not edited.steps and self.base_names is not None:
            named = self.base_names
        else:
            if self.names is not None or self.namer is not None:
                asked = self.names.ask(len(automatic), run.describe_groups) if self.names else {}
                said = {k: one for k, one in given.items() if one.source != AUTOMATIC}
                if self.namer is not None:
                    found, complete = self.namer.ask(self, run, {**asked, **said})
                    asked |= found
                    if not complete:  # the same command is not done
                        names = None if self.names is None else self.names.command()
                        info = replace(info, command={**self.command, "names": names})
                given = {**given, **asked, **said}
                if asked and edited.steps:
                    last = replace(edited.steps[-1], named=given)
                    info = replace(info, edits=[*edited.steps[:-1], last])
            older = {one.name for one in given.values()} - edited.fresh
            named = put_names(automatic, given, older)
        base_names = self.base_names if edited.steps else named
        run.rename(replace(info, names=named, base_names=base_names))
        return run

    def _compare(self, before: Run, run: Run) -> None:
        """Add what the edits that are made just now changed in the tables to what they say."""
        new = self.edits[-1].step if self.edits else None
        if new and not new.update and not new.changes and changes_fit(new.edits):
            last = run.edits[-1]
            said = [*last.changes, *compare_tables(before, run, last.edits)]
            run.info = replace(run.info, edits=[*run.edits[:-1], replace(last, changes=said)])

    def _tell(self, before: Run | None, run: Run, notes: list[Message], n_candidates: int) -> None:
        """Say what was used again, what was given up, and what should be known of the fits."""
        if self.asked:
            return
        said = reused(self.store.reused, n_candidates, words=run.feature_names is not None)
        if said:
            self.listener.inform(said)
        for message in notes:
            self.listener.note(message)
        if before is not None and before.info.corpus is not None:
            known = []
            if run.advice is None and "advice" in before.info.parts:
                known = [str(one.n_clusters) for one in getattr(before.advice, "recommended", ())]
            for message in given_up(before.info, run.info, known):
                self.listener.note(message)


def groups_before(run: Run, step: EditStep) -> dict[str, int]:
    """Return the group that each document had when edits were made, by what it is known by."""
    rows: Rows = run.read_stage(step.on.get("rows", ""), Rows)
    fit: DenseFit = run.read_stage(step.on.get("dense", ""), DenseFit)
    if fit.mixture is None:
        raise RunError("damaged: the groups that were edited are not there.")
    groups = rows.spread(fit.mixture.labels_).tolist()
    return dict(zip(identities(rows.beside(run.corpus()).corpus, rows), groups, strict=True))


# Edits made to the run in a folder, and taken back: with the folder alone, without its input


def edit_run(
    folder: str | PathLike[str],
    edits: Any,
    *,
    run: str | None = None,
    listener: Listener | None = None,
    threads: int | None = None,
) -> Run:
    """Make edits to the run in a folder; the same edits again find themselves done.

    They are what ``Run.edit`` takes, or a table with the columns group and name, which renames
    groups; ``run`` is the id of the run that a dictionary is for, where it does not say so.
    """
    return _edit(Path(folder), lambda there: read_edits(edits, run or there), listener, threads)


def undo_edits(
    folder: str | PathLike[str], *, listener: Listener | None = None, threads: int | None = None
) -> Run:
    """Take back the last edits that were made to the run in a folder."""
    return _edit(Path(folder), None, listener, threads)


def _edit(
    place: Path,
    given: Callable[[str | None], EditStep] | None,
    listener: Listener | None,
    threads: int | None,
) -> Run:
    """Make edits, or take the last ones back where none are given."""
    if not place.is_dir():
        load_run(place)  # says what it is instead
    store = Store(place)
    with store.locked():
        run = load_run(place)
        run.store = store
        if run.info.corpus is None:
            raise RunError(
                f"{place}: only a run of spheremix explore can be edited: explore the documents."
            )
        store.refuse_changed()
        steps = list(run.info.edits)
        if given is None:
            if store.finished == UNDO:  # by a process that was killed: it is done now
                return run
            steps = _without_last(run, steps)
        else:
            wanted = given(run.info.fit)
            if steps and steps[-1].edits == wanted.edits:
                if store.missing():
                    run.write()
                return run
            check_edits(
                wanted,
                run=run.info.fit,
                n_groups=run.info.n_groups,
                words=run.feature_names,
                ids=[] if run.rows is None else run.rows.corpus.ids,
            )
            if wanted.edits.nodes and run.fine_tree is not None:
                Nodes.of(run.fine_tree, wanted.edits.nodes, run.info.n_groups, wanted.source)
            steps.append(_with_what_was_seen(run, wanted))
        what = UNDO if given is None else ""
        return _again(run, store, steps, listener or Listener(), threads, what)


def _again(
    run: Run,
    store: Store,
    steps: Sequence[EditStep],
    listener: Listener,
    threads: int | None,
    what: str = "",
) -> Run:
    """Do the stages of a run again, with these edits and without its input."""
    exploration = Exploration(
        store=store,
        options=_options(run, threads),
        listener=listener,
        rows_key=_base_key(run),
        command=run.info.command,
        about=run.info.corpus,
        base_names=run.info.base_names,
        edits=[PendingStep(one) for one in steps],
        asked=True,
        what=what,
        earlier=run.info.earlier_edits,
        parts={k: v for k, v in run.info.parts.items() if k in KEPT},
    )
    exploration.split_by(run.cut)
    exploration.meaning = run.meaning
    base = f"rows-{exploration.rows_key}"
    answers = (one for one in run.info.stages if one.startswith("name-"))
    for called in (base, *exploration.parts.values(), *answers):
        store.used[called] = run.info.stages[called]
    if "start" in run.info.parts:
        labels = run.read_stage(run.info.parts["start"], list[int])
        exploration.start = np.array(labels, dtype=np.intp)
        exploration.start_key = run.info.parts["start"][-16:]
    rows = run.read_stage(base, Rows).beside(run.corpus(), run.meaning)
    return exploration.run(rows, run)


def _without_last(run: Run, steps: list[EditStep]) -> list[EditStep]:
    """Return the edits without the last ones."""
    if not steps:
        raise RunError(
            f"{run.folder}: there are no edits that could be taken back: the run is as it was "
            "explored."
        )
    if steps[-1].update is not None:
        raise RunError(
            f"{run.folder}: an update is not taken back: the run before it is in the folder "
            f"{steps[-1].update.before}."
        )
    return steps[:-1]


def _with_what_was_seen(run: Run, step: EditStep) -> EditStep:
    """Return edits with what people saw before them: names, and colours."""
    coordinates = run.feature_names is None and run.contrast() is None
    names = run.info.names or []
    seen = [] if coordinates and all(one.source == AUTOMATIC for one in names) else names
    tree = run.info.parts.get("tree") if step.edits.nodes else None
    on = {} if tree is None else {"tree": tree}
    return replace(step, names=list(seen), colours=run.colours, on=on)


def _base_key(run: Run) -> str:
    """Return the key of the rows before all edits."""
    on = run.info.edits[0].on.get("rows") if run.info.edits else None
    return (on or run.info.parts.get("rows", ""))[-16:]


def _options(run: Run, threads: int | None) -> ExploreOptions:
    """Return the options of a run; one of other versions of libraries is refused."""
    other = differences(run.info.versions, versions())
    if not other:
        options = ExploreOptions.of_command(run.info.command, threads)
        now = options.command()
        other = differences({name: run.info.command.get(name) for name in now}, now)
    if other:
        raise RunError(
            "{folder}: made by other versions of spheremix or of its libraries ({other})",
            remedies=("explore the documents again with {force=True}, which keeps edits",),
            folder=run.folder,
            other=", ".join(other[:3]),
        )
    return options


# Made on demand


def write_report(run: Run, output: Path | None, *, force: bool, listener: Listener) -> Path:
    """Write the report of a finished run into its folder, or into one file elsewhere."""
    if force and output is None:
        raise RunError("{force=True} replaces the file of {out}", remedies=("leave it out",))
    if output is not None and output.suffix not in {".html", ".json", ".parquet"}:
        raise RunError(
            f"{output}: a report is a file .html, .json or .parquet: choose such a name."
        )
    listener.begin("Writing the report")
    if output is not None:
        check_output(output, PAGE, force=force)
        report = run.report()
        writers = {".json": report.write_json, ".parquet": report.write_parquet}
        return writers.get(output.suffix, report.write_html)(output)
    with run.store.locked():
        run.write()
    return run.store.place / PAGE


def check_run(
    run: Run, *, refit: bool = False, listener: Listener | None = None, threads: int | None = None
) -> list[str]:
    """Compare every file of a run with its checksum; return what differs, in sentences.

    With ``refit``, the rows are fitted again in a folder for the time being, all edits are made
    again, and the checksums of every table, page and model are compared.
    """
    said = run.check()
    if said or not refit:
        return said
    if run.info.corpus is None:
        raise RunError(f"{run.folder}: only a run of spheremix explore can be made again.")
    hears = listener or Listener()
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / run.store.place.resolve().name)
        parts = (run.info.parts.get(name) for name in KEPT)
        with store.locked():
            trees = (one.on.get("tree") for one in run.info.edits)
            for called in filter(None, (f"rows-{_base_key(run)}", *parts, *trees)):
                store.take(run.store, called)
            again = _again(run, store, run.info.edits, hears, threads).info
    for name in sorted({*again.outputs, *run.info.outputs}):
        if again.outputs.get(name) != run.info.outputs.get(name):
            said.append(f"{name}: made again, it differs.")
    for called, checksum in sorted(again.stages.items()):
        if run.info.stages.get(called, checksum) != checksum:
            said.append(f"cache/{called}: made again, it differs.")
    return said
