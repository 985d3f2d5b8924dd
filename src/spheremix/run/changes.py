"""What an update changed: the run before beside the run as it is, in words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spheremix.errors import Message
from spheremix.run.history import NOBODY
from spheremix.run.marks import keeps_numbers
from spheremix.run.remark import Remark
from spheremix.run.table import Table
from spheremix.wording import count, joined

if TYPE_CHECKING:
    from spheremix.run.edit_schema import EditHistory, EditStep, UpdateRecord
    from spheremix.run.run import Run

FIRST = 5  # words of a group that are compared
LISTED = 8  # groups that are named


def update_of(history: EditHistory | None) -> EditStep | None:
    """Return the step with which an update begins; None for other runs."""
    if history is None or history.steps[0].update is None:
        return None
    return history.steps[0]


def updated(run: Run) -> Remark | None:
    """Say what an update changed: sizes, new groups, words, documents that moved."""
    step = update_of(run.edits())
    if step is None or step.update is None:
        return None
    before = step.update
    said = ["This run brings {before} up to date: {added} {were} added to {n}"]
    values = {
        "before": before.before,
        "added": count(before.n_added, "document"),
        "were": "was" if before.n_added == 1 else "were",
        "n": f"{before.n_before:,}",
        "found": _found(before),
    }
    if keeps_numbers(run):
        values |= _groups(run, before)
        said += ["Groups keep their numbers", "{found}", "Sizes before and after: {sizes}"]
        said += ["New: {new}"] if values["new"] else []
        said.append("{moved} of {total} documents of before changed group")
        said += ["Words that are new among the first: {words}"] if values["words"] else []
    else:
        said += ["{found}", "Since then groups were merged, split or searched for anew"]
    lost = [line.removesuffix(".") for line in step.changes if line.startswith("Could not be kept")]
    if lost:
        said.append("{lost}")
        values["lost"] = ". ".join(lost)
    message = Message(". ".join(said), values)
    return Remark(message, message.render())


def count_moved(update: UpdateRecord, before: str, now: str) -> UpdateRecord:
    """Count the documents of before that are in another group, of those that have one."""
    pairs = [
        (old, new)
        for old, new in zip(before.split(), now.split(), strict=False)
        if NOBODY not in {old, new}
    ]
    moved = sum(old != new for old, new in pairs)
    return replace(update, n_moved=moved, n_grouped=len(pairs))


def _found(before: UpdateRecord) -> str:
    """Say what the comparison of the new documents with the run before found."""
    alarms = f"The new documents raised an alarm for: {', '.join(before.alarms)}"
    n = before.n_unknown
    if not n:
        return alarms if before.alarms else "The new documents are like those of before"
    have = "has" if n == 1 else "have"
    unknown = (
        f"{count(n, 'new document')} {have} no word of the run before and could not be compared"
    )
    if before.alarms:
        return f"{alarms}. {unknown}"
    return unknown if n == before.n_added else f"{unknown}. The others are like those of before"


def _groups(run: Run, before: UpdateRecord) -> dict[str, str]:
    """Return what has become of the groups, in words."""
    clusters = run.clusters or Table(cluster=[], name=[], size=[])
    columns = (clusters[name] for name in ("cluster", "name", "size"))
    rows = sorted(row for row in zip(*columns, strict=True) if row[0] >= 0)
    nowhere = [n for k, n in zip(clusters["cluster"], clusters["size"], strict=True) if k < 0]
    K = len(before.sizes)
    sizes = [f"{name} ({k}) {before.sizes[k]:,} to {n:,}" for k, name, n in rows[:K]]
    if nowhere and before.n_nowhere is not None:
        sizes.append(f"nowhere {before.n_nowhere:,} to {nowhere[0]:,}")
    new = [f"{name} ({k}) with {count(n, 'document')}" for k, name, n in rows[K:]]
    return {
        "sizes": "; ".join(sizes),
        "new": joined(new) if new else "",
        "moved": f"{before.n_moved or 0:,}",
        "total": f"{before.n_grouped or 0:,}",
        "words": "; ".join(_words(run, before)),
    }


def _words(run: Run, before: UpdateRecord) -> list[str]:
    """Name the first words of groups that were not among their words before."""
    clusters = run.clusters or Table(cluster=[], name=[], words=[])
    columns = (clusters[name] for name in ("cluster", "name", "words"))
    found = []
    for k, name, words in sorted(zip(*columns, strict=True)):
        if not 0 <= k < len(before.words):
            continue
        entered = [one for one in words.split(", ")[:FIRST] if one not in before.words[k]]
        found += [f"{name} ({k}): {', '.join(entered)}"] if entered else []
    return found if len(found) <= LISTED else [*found[:LISTED], "..."]
