"""What people said of groups and documents, in the numbers of now: names, notes and marks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from spheremix.errors import ParameterError
from spheremix.run.edit_schema import EditNotes
from spheremix.run.names import told_apart
from spheremix.run.schema import NameRecord
from spheremix.run.table import Table
from spheremix.text.corpus import shown
from spheremix.wording import count, joined

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spheremix.run.edit_schema import Edits, UpdateRecord
    from spheremix.run.prepare import Material
    from spheremix.run.refitting import Plan
    from spheremix.run.run import Run


@dataclass(frozen=True, slots=True)
class Marks:
    """What people said of groups and documents: names, notes, documents that are misplaced."""

    names: dict[int, NameRecord] = field(default_factory=dict)
    notes: EditNotes = field(default_factory=EditNotes)
    misplaced: tuple[str, ...] = ()
    sizes_before: tuple[int, ...] = ()  # of the groups of the run that was brought up to date
    nowhere_before: int | None = None  # its documents that belonged nowhere

    def also(self, edits: Edits, source: str) -> Marks:
        """Add those of an edit; what is said again is what counts."""
        names = {k: NameRecord(name=name, source=source) for k, name in edits.names.items()}
        notes = EditNotes(
            groups={**self.notes.groups, **edits.notes.groups},
            documents={**self.notes.documents, **edits.notes.documents},
        )
        misplaced = tuple(dict.fromkeys((*self.misplaced, *edits.misplaced)))
        return replace(self, names={**self.names, **names}, notes=notes, misplaced=misplaced)

    def after(self, update: UpdateRecord) -> Marks:
        """Add the sizes of the groups before an update."""
        sizes, nowhere = tuple(update.sizes), update.n_nowhere
        return replace(self, sizes_before=sizes, nowhere_before=nowhere)

    def moved(self, plan: Plan, edits: Edits) -> Marks:
        """Take them to the numbers after an edit.

        Of groups that are merged, the first in the list that is named by this edit gives the name,
        else the first that had one; all notes stay.
        """
        order = [k for several in edits.merge for k in several]
        order += [k for k in range(len(plan.became)) if k not in set(order)]
        names: dict[int, NameRecord] = {}
        notes: dict[int, str] = {}
        for k in sorted(order, key=lambda k: k not in edits.names):
            if k in self.names:
                names.setdefault(plan.became[k], self.names[k])
        for k in order:
            place = plan.became[k]
            if k in self.notes.groups:
                note = self.notes.groups[k]
                notes[place] = f"{notes[place]}\n{note}" if place in notes else note
        sizes = () if edits.merge or edits.split else self.sizes_before
        notes_now = replace(self.notes, groups=notes)
        return replace(self, names=names, notes=notes_now, sizes_before=sizes)

    def check(self, source: str) -> None:
        """Refuse a name that two groups would have."""
        seen: dict[str, int] = {}
        for k, one in self.names.items():
            if one.name in seen:
                raise ParameterError(
                    "{edits} ({source}): groups {first} and {second} have the same name, {name}",
                    remedies=("give one of them another name",),
                    source=source,
                    first=seen[one.name],
                    second=k,
                    name=shown(one.name),
                )
            seen[one.name] = k

    def apart(self) -> tuple[Marks, list[str]]:
        """Tell groups apart that have the same name since edits followed them; say which."""
        names: dict[int, NameRecord] = {}
        said = []
        for k, one in sorted(self.names.items()):
            name = told_apart(one.name, {other.name for other in names.values()})
            names[k] = replace(one, name=name)
            if name != one.name:
                said.append(
                    f"Two groups would have the name {shown(one.name)}: group {k} is called "
                    f"{shown(name)}."
                )
        return replace(self, names=names), said

    def add_to(self, tables: dict[str, Any], material: Material) -> None:
        """Put notes and marks into the tables of a run, where there are any."""
        if self.notes.groups:
            clusters = tables["clusters"]["cluster"]
            tables["clusters"]["note"] = [self.notes.groups.get(k, "") for k in clusters]
        if self.sizes_before:
            before = dict(enumerate(self.sizes_before))
            clusters = tables["clusters"]["cluster"]
            tables["clusters"]["size_before"] = [
                before.get(k, 0) if k >= 0 else self.nowhere_before for k in clusters
            ]
        ids, documents = material.source.ids, tables["documents"]
        if self.notes.documents:
            documents["note"] = [self.notes.documents.get(one, "") for one in ids]
        if self.misplaced:
            wrong = set(self.misplaced)
            documents["misplaced"] = [int(one in wrong) for one in ids]


def describe_marks(edits: Edits) -> list[str]:
    """Say how many names, notes and marks were given."""
    notes = len(edits.notes.groups) + len(edits.notes.documents)
    parts = [count(len(edits.names), "name")] if edits.names else []
    parts += [count(notes, "note")] if notes else []
    were = "was" if len(edits.names) + notes == 1 else "were"
    said = [f"{joined(parts)} {were} given."] if parts else []
    if edits.misplaced:
        marked = count(len(edits.misplaced), "document")
        said.append(f"{marked} marked as misplaced, which changes no group.")
    return said


def read_marks(run: Run) -> dict[str, Any] | None:
    """Return what people did to a run, in plain values; None where nobody did anything."""
    history = run.edits()
    if history is None:
        return None
    clusters, documents = run.clusters or Table(), run.documents or Table()
    ids = documents.get("id", [])
    marked = documents.get("misplaced", [0] * len(ids))
    update = history.steps[0].update if keeps_numbers(run) else None
    return {
        "n_edits": len(history.steps),
        "colours": None if update is None else update.colours,
        "changes": history.steps[-1].changes,
        "notes": {
            "groups": _noted(map(str, clusters.get("cluster", [])), clusters),
            "documents": _noted(ids, documents),
        },
        "misplaced": [one for one, wrong in zip(ids, marked, strict=True) if wrong],
        "dropped_words": [word for step in history.steps for word in step.edits.drop_words],
    }


def keeps_numbers(run: Run) -> bool:
    """Return whether the groups of an updated run have the numbers of the run before it.

    They have other ones if groups were merged or split since, or were searched for anew.
    """
    history = run.edits()
    steps = [] if history is None else history.steps
    changed = any(one.edits.merge or one.edits.split for one in steps)
    return run.manifest.command.get("start") is not None and not changed


def _noted(keys: Iterable[str], table: Table) -> dict[str, str]:
    """Return the notes of a table by what they are about."""
    return {key: note for key, note in zip(keys, table.get("note", []), strict=False) if note}
