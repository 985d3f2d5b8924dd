"""A run brought up to date with new documents: its groups stay who they are, new ones are added."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.errors import ParameterError
from spheremix.reading import Reading
from spheremix.run.adding import add_rows, add_texts
from spheremix.run.assign import compare_material
from spheremix.run.edit_schema import CarriedEdits, EditNotes, Edits, EditStep, UpdateRecord
from spheremix.run.edits import settled
from spheremix.run.explore import explore
from spheremix.run.history import NOBODY
from spheremix.run.layout import COMMAND
from spheremix.run.listener import Listener
from spheremix.run.marks import read_marks
from spheremix.run.names import UPDATE, carried_names
from spheremix.run.options import ExploreOptions
from spheremix.run.places import add_places, colour_places
from spheremix.run.saving import load_run
from spheremix.run.starting import Start
from spheremix.run.store import RunError, as_edits
from spheremix.run.strangers import group_of_strangers
from spheremix.run.typed import encode
from spheremix.text import Corpus
from spheremix.wording import count

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    from spheremix.run.adding import Added
    from spheremix.run.assign import Assigned
    from spheremix.run.run import Run

    Ids = NDArray[np.intp]

FIRST = 10  # words of a group that are compared


def update_run(
    run: str | PathLike[str],
    new: Any,
    out: str | PathLike[str] | None = None,
    *,
    texts: Any = None,
    text: str | None = None,
    id: str | bool | None = None,  # noqa: A002
    listener: Listener | None = None,
    threads: int | None = None,
) -> Run:
    """Make a run of the documents of another run and new ones, with the groups of that run.

    The run before is only read. Its groups are where the fit starts, so they keep their numbers,
    names, notes and colours; groups that :func:`spheremix.compare_batch` suggests among the new
    documents are added after them. Words of texts are counted again, so new words come in; new
    rows of a matrix have the columns of the run. Called again after it was killed, it goes on.

    Parameters
    ----------
    run : str or path
        Folder of a run of ``spheremix explore``.
    new : str, path, list of str, Corpus, Matrix, ndarray or sparse array
        A file as the run was made of, or what is in it.
    out : str or path, default=None
        Folder of the new run; by default that of the run with "-updated" after its name.
    texts : str, path, list of str or Corpus, default=None
        The documents of new rows, where the run has documents beside its rows.
    text, id : str, default=None
        Columns of the texts and of the ids; by default those of the run. False is no column of ids.
    listener : Listener, default=None
        Hears of progress and notes.
    threads : int, default=None
        Number of threads; all cores by default.

    Returns
    -------
    Run
        The new run.
    """
    hears, before = listener or Listener(), load_run(run)
    folder = _output(before, out)
    if before.manifest.corpus is None:
        raise RunError(
            f"{before.folder}: this run was not made by spheremix explore and cannot be updated. "
            "Explore old and new documents together."
        )
    options, lines = _options(before, threads), frozenset(before.manifest.prepared.dropped_lines)
    on_rows = before.manifest.prepared.vectorizer is None
    columns = {name: one for name, one in (("text", text), ("id", id)) if one is not None}
    add = add_rows if on_rows else add_texts
    added = add(before, new, texts, options, columns, hears)
    if added.n_known:
        hears.inform(f"{count(added.n_known, 'document')} left out that the run has already.")
    carried = _carried(before, added)
    as_edits(folder / COMMAND, encode(carried), updating=True)  # refuses what is too large
    hears.begin(f"Comparing {count(added.n_added, 'document')} with those of the run")
    compared = compare_material(before, added.fresh)
    labels = _labels(before, compared)
    own = np.empty(0, dtype=np.intp)
    if isinstance(added.source, Corpus):
        strangers = added.n_before + np.array(sorted(added.fresh.reasons), dtype=np.intp)
        own = group_of_strangers(added.source, strangers, options, lines)
    n_suggested = 0 if compared.comparison is None else len(compared.comparison.new_groups)
    K = len(before.mixture.weights_) + n_suggested
    labels[own] = K
    K += int(len(own) > 0)
    start = Start(
        labels,
        _with_findings(carried, before, compared, K),
        lines=lines,
        told=frozenset(added.source.notes) - {added.said},
    )
    chosen = replace(options, k=K)
    return explore(added.source, chosen, folder, force=False, listener=hears, start=start)


def _output(before: Run, out: str | PathLike[str] | None) -> Path:
    """Return the folder of the new run; it is not in that of the run before, which is only read."""
    there = before.folder.resolve()
    # A folder such as "." has no name to which something can be added.
    named = before.folder if before.folder.name not in {"", ".."} else there
    folder = Path(f"{named}-updated" if out is None else out)
    if folder.resolve().is_relative_to(there):
        where = "is" if folder.resolve() == there else "is in"
        raise ParameterError(
            f"{{out}} {where} the folder of the run that is updated",
            remedies=("choose another folder",),
        )
    return folder


def _options(before: Run, threads: int | None) -> ExploreOptions:
    """Return the options of the run before; names are carried in another way."""
    names = {
        one.name for one in dataclasses.fields(ExploreOptions) if one.metadata["changes_result"]
    } - {"names"}
    known = {name: value for name, value in before.manifest.command.items() if name in names}
    return ExploreOptions(**known, threads=threads)


def _labels(before: Run, compared: Assigned) -> Ids:
    """Return the group of each document, old ones first; -1 where none is known.

    Groups that are suggested come after those of the run.
    """
    table, K = before.documents, len(before.mixture.weights_)
    known = [] if table is None else table["cluster"]
    old = np.array([-1 if k is None else k for k in known], dtype=np.intp)
    fresh = np.full(compared.material.n_documents, -1, dtype=np.intp)
    found = compared.comparison
    if found is not None:
        added = found.new_group >= 0
        fresh[compared.material.kept] = np.where(added, K + found.new_group, found.labels)
    return np.concatenate([old, fresh])


def _carried(before: Run, added: Added) -> CarriedEdits:
    """Return the names, notes and marks of the run before, and what it was like."""
    reading, marks = Reading.from_run(before), read_marks(before) or {}
    K = reading.n_groups
    names = carried_names(reading.group_name(k) for k in range(K))
    table, clusters = before.documents, before.clusters
    labels = [] if table is None else table["cluster"]
    notes = marks.get("notes", {"groups": {}, "documents": {}})
    called = before.folder.resolve().name
    source = f"{UPDATE}{called}"
    edits = Edits(
        run=str(before.manifest.fit),
        names=dict(enumerate(names)),
        notes=EditNotes(
            groups={int(k): note for k, note in notes["groups"].items()},
            documents=notes["documents"],
        ),
        misplaced=marks.get("misplaced", []),
        drop_words=list(dict.fromkeys(marks.get("dropped_words", []))),
    )
    sizes = (
        {} if clusters is None else dict(zip(clusters["cluster"], clusters["size"], strict=True))
    )
    update = UpdateRecord(
        before=called,
        n_before=added.n_before,
        n_added=added.n_added,
        sizes=[int(sizes.get(k, 0)) for k in range(K)],
        names=names,
        words=_first_words(before, reading),
        n_nowhere=int(sizes.get(-1, 0)) if reading.has_noise else None,
        checks=[],
        alarms=[],
        colours=marks.get("colours") or colour_places(before.manifest.tree, K),
    )
    groups = " ".join(NOBODY if k is None or k < 0 else str(k) for k in labels)
    step = EditStep(source=source, edits=settled(source, edits), groups=groups, update=update)
    return CarriedEdits(steps=[step], documents=added.known, undoing=False)


def _first_words(before: Run, reading: Reading) -> list[list[str]]:
    """Return the first words of each group; nothing where columns are no words."""
    if before.feature_names is None:
        return []
    K = reading.n_groups
    return [[one.word for one in reading.vocabulary.words(k, FIRST)] for k in range(K)]


def _with_findings(
    carried: CarriedEdits, before: Run, compared: Assigned, n_groups: int
) -> CarriedEdits:
    """Add what the comparison of the new documents with the run before found."""
    (step,) = carried.steps
    found, update = compared.comparison, step.update
    if update is None:
        return carried
    n_new = n_groups - len(before.mixture.weights_)
    update = replace(
        update,
        n_unknown=len(compared.material.reasons) if before.vectorizer() is not None else 0,
        checks=[] if found is None else [f"{one.name}: {one.sentence}" for one in found.checks],
        alarms=[] if found is None else found.alarms,
        colours=add_places(update.colours, n_new),
    )
    return replace(carried, steps=[replace(step, update=update)])
