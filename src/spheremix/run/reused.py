"""What a run takes from an earlier one in the same folder, and what of it the new run gives up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spheremix.errors import Message
from spheremix.wording import count, joined

if TYPE_CHECKING:
    from spheremix.run.folder import RunFolder
    from spheremix.run.schema import Manifest


def reuse(folder: RunFolder, candidates: list[int], *, words: bool) -> list[str]:
    """Say what of the folder was used again, and what went, since it was of other options."""
    fits = [stage for stage in folder.reused if stage.startswith("dense-")]
    parts = ["the words"] if words and "matrix" in folder.reused else []
    parts += ["the matrix"] if "matrix" in folder.reused else []
    if fits:
        parts.append(f"{len(fits)} of {count(len(candidates), 'fit')}")
    parts += ["the path"] if "path" in folder.reused else []
    gone = [stage for stage in folder.withdrawn if stage.startswith("dense-")]
    left = [count(len(gone), "fit")] if gone else []
    left += ["the path"] if "path" in folder.withdrawn else []
    said = []
    if parts:
        listed = joined(parts)
        were = "were" if len(parts) > 1 else "was"
        said.append(f"{listed[0].upper()}{listed[1:]} of this folder {were} reused.")
    if left:
        said.append(f"Removed, since made with other options: {joined(left)}.")
    return said


def given_up(before: Manifest | None, now: Manifest) -> list[Message]:
    """Say what the run before had in this folder and its options brought, and this one has not."""
    found: list[Message] = []
    if before is None:
        return found
    named = before.command.get("names")
    if isinstance(named, dict) and now.command.get("names") is None:
        values = {"source": str(named.get("source"))}
        if before.fit == now.fit:
            remedies = ("give {names} again to keep them",)
            found.append(Message("The names of {source} are no longer used", values, remedies))
        else:
            found.append(
                Message("The names of {source} are not used: they are of other clusters", values)
            )
    if before.advice is not None and now.advice is None and len(now.dense) == 1:
        first, *others = [str(one.n_clusters) for one in before.advice.recommended]
        found.append(
            Message(
                "{first} clusters had been recommended{others}. The advice and tables/advice.csv "
                "are of a range of numbers, and one number was given",
                {
                    "first": first,
                    "others": f" (and {joined(others)})" if others else "",
                    "range": f"{min(before.dense)}:{max(before.dense)}",
                },
                ("to have them again, give the range, as {k} {range}",),
            )
        )
    return found
