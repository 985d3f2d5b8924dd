"""Edits made to the run in a folder, and taken back: with the folder alone, without its input."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spheremix._files import MANIFEST
from spheremix.run.command import differences, versions
from spheremix.run.edit_schema import CarriedEdits, EditStep, OriginRecord
from spheremix.run.edits import check_edits, is_table, read_edits
from spheremix.run.explore import work
from spheremix.run.folder import ORIGIN, RunFolder
from spheremix.run.following import write_groups
from spheremix.run.history import read_carried
from spheremix.run.keys import KnownKeys
from spheremix.run.layout import COMMAND
from spheremix.run.listener import Listener
from spheremix.run.options import ExploreOptions
from spheremix.run.origin import keep_origin, origin_of, recorded_names
from spheremix.run.prepare import read_material
from spheremix.run.render import complete
from spheremix.run.replaying import kept_documents, known_by, left_edits
from spheremix.run.saving import load_run
from spheremix.run.schema import PreparedRecord
from spheremix.run.store import RunError
from spheremix.run.table import Table
from spheremix.text import Matrix
from spheremix.text.trouble import Mending

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from spheremix.run.edits import GivenEdits
    from spheremix.run.run import Run
    from spheremix.text import Corpus


def edit_run(
    folder: str | PathLike[str],
    edits: Any,
    *,
    run: str | None = None,
    listener: Listener | None = None,
    threads: int | None = None,
) -> Run:
    """Make edits to the run in a folder; the same edits again go on, or find themselves done.

    Parameters
    ----------
    folder : str or path
        Of a run of ``explore``.
    edits : str, path, dict or Edits
        A file as the report exports it, or what is in one; or a table with the columns cluster and
        name, which renames groups.
    run : str, default=None
        The id of the run that a dictionary is for, where it does not say so.
    listener : Listener, default=None
        Hears of progress and notes.
    threads : int, default=None
        Number of threads; all cores by default.

    Returns
    -------
    Run
        The edited run.
    """
    found = None if is_table(edits) else read_edits(edits, run)

    def given(there: str | None) -> GivenEdits:
        """Return the edits; a table has the numbers of the groups that were there."""
        return found or read_edits(edits, run or there)

    return _edit(folder, given, listener or Listener(), threads)


def undo_edits(
    folder: str | PathLike[str], *, listener: Listener | None = None, threads: int | None = None
) -> Run:
    """Take back the last edits that were made to the run in a folder."""
    return _edit(folder, None, listener or Listener(), threads)


def _edit(
    place: str | PathLike[str],
    given: Callable[[str | None], GivenEdits] | None,
    listener: Listener,
    threads: int | None,
) -> Run:
    """Make edits, or take the last ones back where none are given.

    The edits are asked for with the id of the run that was there when they were made.
    """
    folder = RunFolder(Path(place))
    if not folder.own.records:
        load_run(place)  # says what it is instead
    with folder.locked():
        pending, seen = _pending(folder), None
        if pending is not None:
            if pending.steps and not pending.undoing:  # their run is the last that people saw
                seen = pending.steps[-1].edits.run
            if given is None and not pending.undoing:  # these edits are what is taken back
                pending = replace(pending, steps=pending.steps[:-1], undoing=True)
            _make(folder, pending, listener, threads)
            if given is None:
                return _finished(folder, listener)
        run = load_run(place)
        corpus = run.manifest.corpus
        if corpus is None or not folder.key("matrix"):
            raise RunError(
                f"{place}: only a run of spheremix explore can be edited: explore the documents."
            )
        wanted = None if given is None else given(seen or run.manifest.fit)
        carried = _next(folder, run, wanted)
        if carried is not None:
            if run.manifest.edits is None:
                keep_origin(folder, origin_of(run, corpus))
            _make(folder, carried, listener, threads)
        return _finished(folder, listener)


def _finished(folder: RunFolder, listener: Listener) -> Run:
    run = load_run(folder.folder)
    complete(folder, run, listener)
    return run


def _pending(folder: RunFolder) -> CarriedEdits | None:
    """Return the edits that a killed process was about to make, or to leave."""
    if MANIFEST in folder.own.records:
        return None
    there = folder.recorded() or {}
    left = folder.done(ORIGIN, folder.key(ORIGIN), OriginRecord)
    if there.get("edits") is None or left is None or left[0].command != there.get("command"):
        load_run(folder.folder)  # says that the run is not finished
    return read_carried(there["edits"], str(folder.folder / COMMAND))


def _next(folder: RunFolder, run: Run, given: GivenEdits | None) -> CarriedEdits | None:
    """Return all edits that the run is to have; None where it has them already."""
    carried = left_edits(folder)
    if carried is None:
        carried = CarriedEdits(steps=[], documents=known_by(folder), undoing=False)
    if given is None:
        if _was_undone(folder, len(carried.steps)):
            return None
        if not carried.steps:
            raise RunError(
                f"{run.folder}: there are no edits that could be taken back: the run is as it was "
                "explored."
            )
        before = carried.steps[-1].update
        if before is not None:
            raise RunError(
                f"{run.folder}: an update is not taken back: the run before it is in the folder "
                f"{before.before}."
            )
        return replace(carried, steps=carried.steps[:-1], undoing=True)
    if carried.steps and carried.steps[-1].edits == given.edits:
        return None
    table = run.documents or Table()
    check_edits(
        given,
        run=run.manifest.fit,
        n_groups=len(run.mixture.weights_),
        words=run.feature_names,
        ids=list(table.get("id", [])),
    )
    material = read_material(run.manifest.prepared, run.reader, run.corpus())
    labels = run.dense[run.manifest.best_n_components].labels_
    groups = write_groups(labels, material)  # by which another run finds them after a kill
    step = EditStep(source=given.source, edits=given.edits, groups=groups)
    return replace(carried, steps=[*carried.steps, step])


def _was_undone(folder: RunFolder, n_steps: int) -> bool:
    """Return whether a process was killed after it had taken edits back, before all was written."""
    there = folder.recorded() or {}
    if there.get("edits") is None:
        return False
    last = read_carried(there["edits"], str(folder.folder / COMMAND))
    done = last.undoing and len(last.steps) == n_steps
    if done:
        folder.carried = last  # stays recorded until all is written
        if not n_steps:
            folder.remove(ORIGIN)
    return done


def _make(
    folder: RunFolder, carried: CarriedEdits, listener: Listener, threads: int | None
) -> None:
    """Do the work of an exploration again, with these edits: its stages are there."""
    left = folder.done(ORIGIN, folder.key(ORIGIN), OriginRecord)
    prepared = folder.done("matrix", folder.key("matrix"), PreparedRecord)
    if left is None or prepared is None:
        raise RunError(
            "{folder}: damaged: what it was made of cannot be read",
            remedies=("make the run again with {force=True}, which keeps edits",),
            folder=folder.folder,
        )
    origin, _ = left
    options = _options(folder, origin, threads)
    record, reader = prepared
    documents = kept_documents(folder)
    if documents is not None:
        documents = replace(documents, source=origin.corpus.texts or "")
    material = read_material(record, reader, documents)
    about = origin.corpus
    known: dict[str, Any] = {
        "source": about.source,
        "format": about.format,
        "notes": about.notes,
        "checksum": about.checksum,
    }
    source: Corpus | Matrix = Matrix(material.X, material.words, documents=documents, **known)
    if documents is not None and "vocabulary_checksum" not in origin.command:
        source = replace(documents, **known)
    names = recorded_names(origin)
    start = origin.command.get("start")
    keys = KnownKeys(folder.key("matrix"), folder.key("documents"), options, start)
    folder.edit(origin.command, carried)
    try:
        work(folder, source, options, Mending(), keys, origin.command, names, listener)
    except Exception:
        folder.discard_edits()
        raise


def _options(folder: RunFolder, origin: OriginRecord, threads: int | None) -> ExploreOptions:
    """Return the options of the run; one of other versions of libraries is refused."""
    there = origin.command
    newer = differences(origin.versions, versions())
    if newer:
        raise RunError(
            "{folder}: made with other versions of libraries ({newer})",
            remedies=("explore the documents again with {force=True}, which keeps edits",),
            folder=folder.folder,
            newer=", ".join(newer[:3]),
        )
    names = {
        one.name for one in dataclasses.fields(ExploreOptions) if one.metadata["changes_result"]
    }
    options = ExploreOptions(**{k: v for k, v in there.items() if k in names}, threads=threads)
    other = differences({k: v for k, v in there.items() if k in names}, options.command())
    if other:
        raise RunError(
            "{folder}: made by another version of spheremix ({other})",
            remedies=("make the run again with {force=True}, which keeps edits",),
            folder=folder.folder,
            other=", ".join(other[:3]),
        )
    return options
