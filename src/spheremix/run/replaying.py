"""Edits made to the groups that an exploration found, one after the other.

The base is always what was explored: an edit that is taken back is one that is not made. Fits are
stages whose keys have all edits in them, so nothing is fitted twice.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from spheremix._files import MANIFEST
from spheremix.errors import ParameterError
from spheremix.run.columns import EDITS
from spheremix.run.edit_schema import CarriedEdits, EditHistory
from spheremix.run.following import follow, identities, write_groups
from spheremix.run.marks import Marks, describe_marks
from spheremix.run.refitting import Plan, refit
from spheremix.run.schema import FIT
from spheremix.run.store import RunError, read_json
from spheremix.run.table import Table
from spheremix.run.typed import FileName, decode, encode

if TYPE_CHECKING:
    from spheremix.run.edit_schema import Edits, EditStep
    from spheremix.run.folder import RunFolder
    from spheremix.run.listener import Listener
    from spheremix.run.names import GivenNames
    from spheremix.run.options import ExploreOptions
    from spheremix.run.refitting import Groups
    from spheremix.run.run import Run
    from spheremix.run.writer import Writer


@dataclass(frozen=True, slots=True, eq=False)
class Edited:
    """Groups after edits."""

    groups: Groups
    marks: Marks = field(default_factory=Marks)
    steps: tuple[EditStep, ...] = ()
    n_fits: int = 0


def changes_fit(edits: Edits) -> bool:
    """Tell whether edits ask for other groups or other words."""
    return bool(edits.merge or edits.split or edits.drop_words)


def left_edits(folder: RunFolder) -> CarriedEdits | None:
    """Give the edits of the run in a folder, finished or on its way; None where there are none."""
    from spheremix.run.saving import load_run  # noqa: PLC0415 (it reads what this module writes)

    if MANIFEST in folder.own.records:
        edited = read_json(folder.folder / MANIFEST).get("edits") is not None
        return carried_of(load_run(folder.folder)) if edited else None
    recorded = folder.recorded()
    if recorded is None or recorded.get("edits") is None:
        return None
    return decode(CarriedEdits, recorded["edits"], str(folder.folder))


def carried_of(run: Run) -> CarriedEdits:
    """Give the edits of a run as they go to another one; none where it was not edited."""
    history, corpus = run.edits(), run.corpus()
    table = run.documents or Table()
    documents = list(table.get("id", [])) if corpus is None else identities(corpus)
    steps = [] if history is None else history.steps
    return CarriedEdits(steps=steps, documents=documents, undoing=False)


def fit_of(folder: RunFolder, groups: Groups) -> str:
    """Give what the numbers of groups belong to, as the manifest of a run does."""
    key, stage = groups.keys.dense(groups.best), groups.keys.dense_stage(groups.best)
    kind: type[Any] = groups.record
    left = folder.done(stage, key, kind)
    if left is None:
        raise RunError(f"{folder.folder}: what was written cannot be read again.")
    record, reader = left
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
    state = Edited(
        base, Marks({} if names is None else names.records(base.best, fit, folder.before))
    )
    for step in [] if carried is None else carried.steps:
        own = step.edits.run == fit_of(folder, state.groups)
        lost: list[str] = []
        if not own and carried is not None:
            edits, lost = follow(step, carried.documents, state.groups)
            step = replace(step, edits=replace(edits, run=fit_of(folder, state.groups)))  # noqa: PLW2901
        try:
            state = _make(folder, state, step, lost, options, listener)
        except ParameterError as error:
            if own:
                raise
            lost.append(f"Could not be kept: merges, splits and dropped words: {error}")
            edits = replace(step.edits, merge=[], split=[], drop_words=[])
            state = _make(folder, state, replace(step, edits=edits), lost, options, listener)
        for line in lost:
            listener.inform(line)
    return state


def _make(
    folder: RunFolder,
    state: Edited,
    step: EditStep,
    lost: list[str],
    options: ExploreOptions,
    listener: Listener,
) -> Edited:
    """Make one edit."""
    edits, groups, n_fits = step.edits, state.groups, state.n_fits
    marks, said = state.marks.also(edits, step.source), describe_marks(edits)
    if changes_fit(edits):
        n_fits += 1
        marks = marks.moved(Plan.of(edits, groups.best), edits)
        marks.check(step.source)
        after, changes = refit(folder, groups, edits, n_fits, options, listener)
        said = [*changes, *said]
    else:
        marks.check(step.source)
        after = groups
    done = replace(step, groups=write_groups(groups), changes=[*said, *lost])
    return Edited(after, marks, (*state.steps, done), n_fits)


def write_history(writer: Writer, steps: tuple[EditStep, ...]) -> FileName | None:
    """Write the edits of a run; give the name of their file."""
    if not steps:
        return None
    content = encode(EditHistory(steps=list(steps)))
    return FileName(writer.text(EDITS, [json.dumps(content, indent=1, sort_keys=True), "\n"]))
