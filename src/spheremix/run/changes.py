"""What an update changed: the run before beside the run as it is, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spheremix.errors import Message
from spheremix.run.table import Table
from spheremix.wording import count, joined

if TYPE_CHECKING:
    from spheremix.run.edit_schema import EditHistory, EditStep, UpdateRecord
    from spheremix.run.run import Run

FIRST = 5  # words of a group that are compared
LISTED = 8  # groups that are named


def update_of(history: EditHistory | None) -> EditStep | None:
    """Give the step with which an update begins; None for other runs."""
    if history is None or history.steps[0].update is None:
        return None
    return history.steps[0]


def updated(run: Run) -> Message | None:
    """Say what an update changed: sizes, new groups, words, documents that moved."""
    step = update_of(run.edits())
    if step is None or step.update is None:
        return None
    before, clusters = step.update, run.clusters or Table(cluster=[], name=[], size=[])
    columns = (clusters[name] for name in ("cluster", "name", "size"))
    rows = sorted(zip(*columns, strict=True))
    old = [row for row in rows if row[0] < len(before.sizes)]
    new = [row for row in rows if row[0] >= len(before.sizes)]
    said = [
        "This run brings {before} up to date: {added} were added to {n}. Groups keep their numbers",
        "{alarms}",
        "Sizes before and after: {sizes}",
    ]
    if new:
        said.append("New: {new}")
    moved, total = _moved(run, before)
    said.append("{moved} of {total} documents of before changed group")
    words = _words(run, before)
    said += ["Words that are new among the first: {words}"] if words else []
    lost = [line.removesuffix(".") for line in step.changes if line.startswith("Could not be kept")]
    said += ["{lost}"] if lost else []
    each = [f"{k} ({name}) {before.sizes[k]:,} to {n:,}" for k, name, n in old]
    found = f"The new documents raised an alarm for: {', '.join(before.alarms)}"
    return Message(
        ". ".join(said),
        {
            "before": before.before,
            "added": count(before.n_added, "document"),
            "n": f"{before.n_before:,}",
            "alarms": found if before.alarms else "The new documents are like those of before",
            "sizes": "; ".join(each),
            "new": joined([f"group {k} ({name}) with {count(n, 'document')}" for k, name, n in new])
            if new
            else "",
            "moved": f"{moved:,}",
            "total": f"{total:,}",
            "words": "; ".join(words),
            "lost": ". ".join(lost),
        },
    )


def _moved(run: Run, before: UpdateRecord) -> tuple[int, int]:
    """Count the documents of before that are in another group, of those that had one."""
    table = run.documents or Table(cluster=[])
    pairs = [
        (int(one), k)
        for one, k in zip(before.groups.split(), table["cluster"], strict=False)
        if one.isdecimal() and k is not None
    ]
    return sum(one != k for one, k in pairs), len(pairs)


def _words(run: Run, before: UpdateRecord) -> list[str]:
    """Name the first words of groups that were not among their words before."""
    clusters = run.clusters or Table()
    found = []
    for k, words in sorted(
        zip(clusters.get("cluster", []), clusters.get("words", []), strict=True)
    ):
        if k >= len(before.words):
            continue
        entered = [one for one in words.split(", ")[:FIRST] if one not in before.words[k]]
        found += [f"group {k}: {', '.join(entered)}"] if entered else []
    return found if len(found) <= LISTED else [*found[:LISTED], "..."]
