"""Values of the columns that have a part to play: texts, ids, titles, dates and labels."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from spheremix.text.corpus import ReadError, shown
from spheremix.text.values import is_missing, is_number, iso_date

if TYPE_CHECKING:
    from collections.abc import Callable

    Clean = Callable[[str], str]

OTHER_IDS = ("name another column with {id}", "use none with {id=False}")  # what helps bad ids
SEVERAL = re.compile(r"[;|]")


def _kind(value: Any) -> str:
    return {dict: "an object", list: "a list", bool: "true or false"}.get(
        type(value), f"of type {type(value).__name__}"
    )


def parse_text(value: Any, clean: Clean) -> str:
    """Return a text; a missing one is empty."""
    if isinstance(value, str):
        return clean(value)
    if is_missing(value):
        return ""
    if is_number(value):
        return str(value)
    raise ReadError("the text is {kind}, where a string is needed.", kind=_kind(value))


def parse_title(value: Any, clean: Clean) -> str:
    """Return a title on one line; a missing one is empty."""
    if isinstance(value, str):
        return " ".join(clean(value).split())
    if is_missing(value):
        return ""
    if is_number(value):
        return str(value)
    raise ReadError("the title is {kind}, where a string is needed.", kind=_kind(value))


def parse_id(value: Any, clean: Clean) -> str:
    """Return an id, which a document must have where there are ids."""
    if isinstance(value, str) and (name := clean(value).strip()):
        return name
    if is_number(value) and not is_missing(value):
        return str(value)
    what = "is missing" if is_missing(value) else f"is {_kind(value)}"
    raise ReadError("the id {what}", remedies=("fill it in", *OTHER_IDS), what=what)


def parse_date(value: Any, clean: Clean) -> str | None:  # noqa: ARG001
    """Return a date of ISO 8601 as far as it is known, to the day, month or year, or None."""
    try:
        return iso_date(value)
    except ValueError:
        raise ReadError(
            "{value} is not a date: write YYYY-MM-DD, YYYY-MM or YYYY, with or without a time.",
            value=shown(value),
        ) from None


def parse_labels(value: Any, clean: Clean) -> tuple[str, ...]:
    """Return the values of a list, or of a string that ";" or "|" separates."""
    if isinstance(value, str) and value[:1] == "[" and value[-1:] == "]":
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return (clean(value),)
    if isinstance(value, str):
        value = SEVERAL.split(value)
    several = value if isinstance(value, list | tuple) else [value]
    for one in several:
        if isinstance(one, dict | list):
            raise ReadError(
                "a label is {kind}, where a string or a list of them is needed.", kind=_kind(one)
            )
    names = (clean(str(one).strip()) for one in several if not is_missing(one))
    return tuple(dict.fromkeys(names))


def write_labels(labels: tuple[str, ...]) -> str:
    """Write the labels of a document so that :func:`parse_labels` reads them again."""
    line = "; ".join(labels)
    return line if parse_labels(line, str) == labels else json.dumps(labels, ensure_ascii=False)


PARSE: dict[str, Callable[[Any, Clean], Any]] = {
    "text": parse_text,
    "id": parse_id,
    "date": parse_date,
    "title": parse_title,
}
