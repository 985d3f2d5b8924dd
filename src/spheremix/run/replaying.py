"""Edits made to the groups that an exploration found, one after the other.

The base is always what was explored: an edit that is taken back is one that is not made. Fits are
stages whose keys have all edits in them, so nothing is fitted twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from spheremix._files import MANIFEST
from spheremix.errors import Message, ParameterError
from spheremix.run.changes import count_moved
from spheremix.run.documents import unpack_corpus
from spheremix.run.edit_schema import CarriedEdits, EditNotes, WaitingEdits
from spheremix.run.edits import GivenEdits, check_edits
from spheremix.run.files import EDITS
from spheremix.run.following import bring, identities, places_of, rows_of, write_groups
from spheremix.run.history import read_carried, read_history
from spheremix.run.layout import COMMAND
from spheremix.run.marks import Marks, describe_marks
from spheremix.run.prepare import read_material
from spheremix.run.refitting import Plan, refit
from spheremix.run.schema import FIT, DocumentsRecord, PreparedRecord
from spheremix.run.store import Reader, RunError, read_json

if TYPE_CHECKING:
    from spheremix.run.edit_schema import Edits, EditStep
    from spheremix.run.folder import RunFolder
    from spheremix.run.listener import Listener
    from spheremix.run.names import GivenNames
    from spheremix.run.options import ExploreOptions
    from spheremix.run.refitting import Groups
    from spheremix.run.starting import Start
    from spheremix.text import Corpus


@dataclass(frozen=True, slots=True, eq=False)
class Edited:
    """Groups after edits."""

    groups: Groups
    marks: Marks = field(default_factory=Marks)
    steps: tuple[EditStep, ...] = ()
    n_fits: int = 0
    fresh: frozenset[str] = frozenset()  # names that are given just now


def changes_fit(edits: Edits) -> bool:
    """Return whether edits ask for other groups or other words."""
    return bool(edits.merge or edits.split or edits.drop_words)


def left_edits(folder: RunFolder) -> CarriedEdits | None:
    """Return the edits of the run in a folder, finished or on its way; None where there are none.

    Nothing else of the run needs to be readable.
    """
    if MANIFEST in folder.own.records:
        manifest = read_json(folder.folder / MANIFEST)
        reader = Reader(folder.folder, manifest.get("files"))
        if manifest.get("edits") is None and EDITS not in reader.entries:
            return None
        history = read_history(reader.path(EDITS))
        return CarriedEdits(steps=history.steps, documents=known_by(folder), undoing=False)
    recorded = folder.recorded()
    if recorded is None or recorded.get("edits") is None:
        return None
    return read_carried(recorded["edits"], str(folder.folder / COMMAND))


def carried_edits(
    folder: RunFolder,
    command: dict[str, Any],
    listener: Listener,
    start: Start | None,
    *,
    force: bool,
) -> CarriedEdits | None:
    """Return the edits of the run that is there; with force, those that are damaged are given up.

    A start brings its own, and the groups. Edits that people made after an update stay with that
    update; another one would lose them.
    """
    if start is not None:
        folder.start = start.labels
        there = left_edits(folder)
        if there is None or all(one.update is not None for one in there.steps):
            return start.carried
        if folder.holds(command):
            return there
        raise RunError(
            "{folder}: holds a run that was edited, and these edits would be lost",
            remedies=("choose another folder with {out}",),
            folder=folder.folder,
        )
    try:
        return left_edits(folder)
    except RunError as error:
        if not force:
            raise
        listener.note(
            Message("The edits of the run cannot be kept: {error}", {"error": str(error)})
        )
        return None


def known_by(folder: RunFolder) -> list[str]:
    """Return what the documents in a folder are known by; nothing where they cannot be read."""
    try:
        documents = kept_documents(folder)
        found = [] if documents is None else identities(documents)
        left = folder.done("matrix", folder.key("matrix"), PreparedRecord)
        if found or left is None:
            return found
        material = read_material(*left, documents)
        return identities(material.source, rows_of(material))
    except RunError:
        return []


def kept_documents(folder: RunFolder) -> Corpus | None:
    """Read the documents that the folder of a run keeps; None where it has rows alone."""
    left = folder.done("documents", folder.key("documents"), DocumentsRecord)
    if left is None:
        return None
    record, reader = left
    return unpack_corpus(reader, record.texts)


def fit_of(folder: RunFolder, groups: Groups) -> str:
    """Return what the numbers of groups belong to, as the manifest of a run does."""
    key, stage = groups.keys.dense(groups.best), groups.keys.dense_stage(groups.best)
    kind: type[Any] = groups.record
    record, reader = folder.left(stage, key, kind)
    return str(reader.entries[record.mixture.prototypes]["sha256"])[:FIT]


def replay(
    folder: RunFolder,
    base: Groups,
    carried: CarriedEdits | None,
    names: GivenNames | None,
    options: ExploreOptions,
    listener: Listener,
) -> Edited:
    """Make all edits to what was explored."""
    fit = fit_of(folder, base)
    given = {} if names is None else names.records(base.best, fit, folder.before)
    fresh = [] if names is None or names.recorded else [one.name for one in given.values()]
    state = Edited(base, Marks(given), fresh=frozenset(fresh))
    if carried is None or not carried.steps:
        return state
    places = places_of(base.material)
    for step in carried.steps:
        brought = bring(step, carried.documents, places, state.groups, fit)
        # What somebody asks for just now is refused; what was there already is kept in any case.
        asked = brought is step and not step.changes
        try:
            state, remarks = _make(folder, state, brought, options, listener, strict=asked)
        except ParameterError as error:
            if asked:
                raise
            parts = _parts(step, brought, carried.documents, error)
            state, remarks = _make_part(folder, state, parts, options, listener)
        for line in remarks:
            if line not in step.changes:
                listener.inform(line)
        fit = fit_of(folder, state.groups)
        if names is not None and names.recorded and names.fit == fit:
            named = names.records(state.groups.best, fit, None)
            marks = replace(state.marks, names={**named, **state.marks.names})
            state = replace(state, marks=marks)
    return state


def _make(
    folder: RunFolder,
    state: Edited,
    step: EditStep,
    options: ExploreOptions,
    listener: Listener,
    *,
    strict: bool,
) -> tuple[Edited, list[str]]:
    """Make one edit; give what should be said about it. Strict: a name that is taken is refused."""
    edits, groups, n_fits = step.edits, state.groups, state.n_fits
    material = groups.material
    check_edits(
        GivenEdits(step.source, edits),
        run=edits.run,
        n_groups=groups.best,
        words=material.words,
        ids=material.source.ids,
    )
    marks, said = state.marks.also(edits, step.source), describe_marks(edits)
    if step.update is not None:
        said = []
        if groups.keys.start is not None:  # not where the groups were searched for anew
            marks = marks.after(step.update)
    if changes_fit(edits):
        marks = marks.moved(Plan.of(edits, groups.best), edits)
    remarks: list[str] = []
    if strict:
        marks.check(step.source)
    else:
        marks, remarks = marks.apart()
    after = groups
    if changes_fit(edits):
        n_fits += 1
        after, changes = refit(folder, groups, edits, n_fits, options, listener)
        said = [*changes, *said]
    remarks += [] if step.waiting is None else step.waiting.lost
    if step.update is not None and step.update.n_moved is None:
        now = write_groups(after.mixture.labels_, after.material)
        step = replace(step, update=count_moved(step.update, step.groups, now))
    labels = write_groups(groups.mixture.labels_, material)
    done = replace(step, groups=labels, changes=[*said, *remarks])
    fresh = state.fresh | (set(edits.names.values()) if strict else set())
    return Edited(after, marks, (*state.steps, done), n_fits, fresh), remarks


def _parts(
    step: EditStep, brought: EditStep, documents: list[str], error: ParameterError
) -> tuple[EditStep, EditStep]:
    """Return a step that cannot be made without its fits, and without anything; the rest waits."""
    lost = [] if brought.waiting is None else brought.waiting.lost
    whole = step.waiting or WaitingEdits(
        edits=step.edits, groups=step.groups, documents=documents, lost=[]
    )

    def part(what: str, **none: Any) -> EditStep:
        said = f"Could not be kept: {what}: {error}"
        return replace(
            brought,
            edits=replace(brought.edits, merge=[], split=[], drop_words=[], **none),
            waiting=replace(whole, lost=[*lost, said]),
        )

    return (
        part("merges, splits and dropped words"),
        part("these edits", names={}, notes=EditNotes(), misplaced=[]),
    )


def _make_part(
    folder: RunFolder,
    state: Edited,
    parts: tuple[EditStep, EditStep],
    options: ExploreOptions,
    listener: Listener,
) -> tuple[Edited, list[str]]:
    """Make what can be made of a step."""
    try:
        return _make(folder, state, parts[0], options, listener, strict=False)
    except ParameterError:
        return _make(folder, state, parts[1], options, listener, strict=False)
