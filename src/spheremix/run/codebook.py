"""Groups that people ask for, each by words and ids of documents: read and checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from os import fspath
from pathlib import Path
from typing import Any

from spheremix.errors import ParameterError
from spheremix.run.folder.files import is_path
from spheremix.run.names import JOINERS, LONGEST
from spheremix.text.corpus import shown
from spheremix.text.files import reading
from spheremix.text.formats import Layout, open_table
from spheremix.wording import joined

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
