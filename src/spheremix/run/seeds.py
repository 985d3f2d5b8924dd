"""Groups that people ask for, by words and ids: read, checked, and found among the documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.errors import Message, ParameterError
from spheremix.run.folder.files import is_path
from spheremix.run.names import JOINERS, LONGEST
from spheremix.text.corpus import digest, listed, shown
from spheremix.text.files import reading
from spheremix.text.formats import Layout, open_table
from spheremix.wording import joined

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

Codebook = tuple[dict[str, Any], ...]
BETWEEN_WORDS, BETWEEN_IDS = r"[\s,;]+", r"\s*[;\n]\s*"


def read_seeds(given: Any) -> Codebook | None:
    """Return a name, words and ids for each group: of a file, or of what a run keeps of it."""
    if given is None:
        return None
    if is_path(given):
        records = _of_file(Path(fspath(given)))
    elif isinstance(given, Mapping):
        each = [(k, v if isinstance(v, Mapping) else {"words": v}) for k, v in given.items()]
        records = [{"group": name, **own} for name, own in each]
    elif isinstance(given, list | tuple) and all(isinstance(one, Mapping) for one in given):
        records = list(given)
    else:
        raise _refusal(
            "must be a table with the columns group and words or ids, or a dictionary from names "
            f"of groups to words; got a {type(given).__name__}"
        )
    found: dict[str, dict[str, Any]] = {}
    for record in records:
        name = _name(record["group"])
        own = found.setdefault(name, {"group": name, "words": [], "ids": []})
        own["words"] += _parts(record.get("words"), BETWEEN_WORDS, name)
        own["ids"] += _parts(record.get("ids"), BETWEEN_IDS, name)
    if not found:
        raise _refusal("there are no groups")
    empty = next((name for name, own in found.items() if not own["words"] + own["ids"]), None)
    if empty is not None:
        raise _refusal(f"the group {shown(empty)} has neither words nor ids")
    return tuple(
        {**own, "words": list(dict.fromkeys(own["words"])), "ids": list(dict.fromkeys(own["ids"]))}
        for own in found.values()
    )


def _of_file(path: Path) -> list[dict[str, Any]]:
    with reading(path):
        layout = Layout(header="yes" if path.name.lower().endswith((".csv", ".tsv")) else None)
        records = [dict(record) for _, record in open_table(path, layout).records()]
    columns = list(dict.fromkeys(name for record in records for name in record))
    if records and ("group" not in columns or not {"words", "ids"} & {*columns}):
        there = joined([shown(name) for name in columns])
        raise _refusal(
            f"{path.name} must have the column 'group', and 'words' or 'ids'; there are {there}"
        )
    return records


def _name(given: Any) -> str:
    name = given.strip() if isinstance(given, str) else ""
    if not name or len(name) > LONGEST or not all(c.isprintable() or c in JOINERS for c in name):
        raise _refusal(
            f"{shown(given)} is no name of a group: it must have 1 to {LONGEST} characters that "
            "can be printed"
        )
    return name


def _parts(given: Any, between: str, name: str) -> list[str]:
    if given is None:
        return []
    parts = re.split(between, given) if isinstance(given, str) else given
    sound = isinstance(parts, Iterable) and not isinstance(parts, Mapping | bytes)
    listed: list[Any] = list(parts) if sound else [None]
    if not all(isinstance(one, str) for one in listed):
        raise _refusal(f"words and ids of {shown(name)} must be texts; got {shown(given)}")
    return [one.strip() for one in listed if one.strip()]


def _refusal(problem: str) -> ParameterError:
    return ParameterError("{seeds}: {problem}", problem=problem)


# Among the documents: columns of words, rows of ids


@dataclass(frozen=True, slots=True, eq=False)
class Seeded:
    """What estimators take: the first components are the groups that are asked for."""

    names: list[str]
    columns: list[list[int]] | None  # of the words of each group; None where none has words
    labels: NDArray[np.intp] | None  # the group of each row, -1 where it is not known
    notes: list[Message]

    def key(self) -> tuple[str, ...]:
        """Return what labels add to the key of a fit; columns are parameters of the estimator."""
        return () if self.labels is None else (digest([self.labels.astype("<i8").tobytes()]),)


def find_seeds(
    codebook: Any, ids: Sequence[str], look: Callable[[str], list[int]] | None, *, split: bool
) -> Seeded:
    """Find words and documents of a codebook; those that are not there are named in a note.

    ``ids`` are those of the rows; ``look`` finds the columns of a word, None where rows have none.
    """
    if split and any(one["ids"] for one in codebook):
        raise ParameterError(
            "{seeds}: ids are of whole documents, and these are split into passages",
            remedies=("give words", "keep documents whole, {split='none'}"),
        )
    if look is None and any(one["words"] for one in codebook):
        raise ParameterError(
            "{seeds}: words are for groups of texts, and these are groups by embeddings alone",
            remedies=("give ids of documents",),
        )
    places = {name: row for row, name in enumerate(ids)}
    labels = np.full(len(ids), -1, dtype=np.intp)
    columns: list[list[int]] = []
    lost: list[str] = []
    for k, one in enumerate(codebook):
        known = {word: look(word) for word in one["words"]} if look else {}
        columns.append(list(dict.fromkeys(j for found in known.values() for j in found)))
        away = [word for word, found in known.items() if not found]
        for name in one["ids"]:
            row = places.get(name)
            if row is None:
                away.append(name)
            elif labels[row] not in {-1, k}:
                both = [codebook[labels[row]]["group"], one["group"]]
                raise ParameterError(
                    "{seeds}: the document {id} is in two groups, {both}",
                    remedies=("leave it in one",),
                    id=shown(name),
                    both=listed(both),
                )
            else:
                labels[row] = k
        if not columns[-1] and not np.any(labels == k):
            raise ParameterError(
                "{seeds}: nothing of the group {name} is in the documents: {away}",
                remedies=("give words that are in several documents",),
                name=shown(one["group"]),
                away=listed(away),
            )
        if away:
            lost.append(f"{listed(away)} ({one['group']})")
    text = "{seeds}: not among the words and documents that are grouped: {lost}"
    return Seeded(
        [one["group"] for one in codebook],
        columns if any(columns) else None,
        labels if np.any(labels >= 0) else None,
        [Message(text, {"lost": "; ".join(lost)})] if lost else [],
    )
