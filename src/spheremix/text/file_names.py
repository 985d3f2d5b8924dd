"""What the names of files and folders say: dates and labels."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from spheremix.errors import ParameterError
from spheremix.text.corpus import ReadError, shown
from spheremix.text.values import join_date
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

TEXT_SUFFIXES = (".txt", ".text", ".md")
YEAR = r"(?<!\d)(?P<Y>1\d{3}|20\d{2})"
# Dates that are found in names, the most exact first.
DATES = (
    re.compile(YEAR + r"([-_. ])(?P<m>\d{1,2})\2(?P<d>\d{1,2})(?!\d)"),
    re.compile(YEAR + r"(?P<m>\d{2})(?P<d>\d{2})(?!\d)"),
    re.compile(YEAR + r"[-_. ](?P<m>\d{2})(?!\d)"),
    re.compile(YEAR + r"(?!\d)"),
)
GUESSED = DATES[:2]  # days: what else has digits may be a number
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WORD = f"(?P<b>(?:{'|'.join(MONTHS)})[a-z]*)"
# What the parts of a form of dates stand for, as in strptime.
FORMS = {"Y": r"(?P<Y>\d{4})", "m": r"(?P<m>\d{1,2})", "d": r"(?P<d>\d{1,2})", "b": WORD, "B": WORD}
FIELD = re.compile(r"\{([^{}]*)\}|(\*)")
PERIODS = {4: "year", 7: "month", 10: "day"}


def without_suffix(name: str) -> str:
    """Return the name of a file, or its path, without its end (.txt, .txt.gz)."""
    bare = name.removesuffix(".gz")
    end = PurePosixPath(bare).suffix
    return bare[: -len(end)] if end.lower() in TEXT_SUFFIXES else bare


def find_dates(
    folder: Path, names: Sequence[str], where: str | None
) -> tuple[list[str | None] | None, list[str]]:
    """Return dates in the names of files, and what should be said; guessed without ``where``."""
    if where is None:
        guessed = [_search(GUESSED, PurePosixPath(name).name) for name in names]
        if not all(guessed):
            return None, []
        return guessed, [_said(names, guessed, "names of the files (guessed)")]
    read = _reader(where)
    found = [read(name) for name in names]
    if not any(found):
        raise ReadError.at(
            folder,
            "no file has a date in its {what}, as {first}",
            remedies=("say how dates are written there with {date_from}, as %Y-%m-%d",),
            what="folder" if where == "folder" else "name",
            first=shown(names[0]),
        )
    notes = [_said(names, found, "folders" if where == "folder" else "names of the files")]
    return found, notes + _without(names, found, "date")


def _said(names: Sequence[str], found: Sequence[str | None], where: str) -> str:
    """Say how exact the dates are, with an example of the least exact ones."""
    kinds = Counter(PERIODS[len(one)] for one in found if one)
    known = ", ".join(count(kinds[kind], kind) for kind in PERIODS.values() if kinds[kind])
    least = min((len(one), i) for i, one in enumerate(found) if one)[1]
    return f"Dates are in the {where}: {known}, as {found[least]} of {shown(names[least])}."


def _without(names: Sequence[str], found: Sequence[object], what: str) -> list[str]:
    none = [name for name, one in zip(names, found, strict=True) if not one]
    if not none:
        return []
    return [f"{count(len(none), 'file')} of {len(names):,} without {what}, as {shown(none[0])}."]


def _reader(where: str) -> Callable[[str], str | None]:
    """Return what reads the date of a path."""
    if where == "name":
        return lambda path: _search(DATES, PurePosixPath(path).name)
    if where == "folder":
        return lambda path: _search(DATES, "-".join(PurePosixPath(path).parts[:-1]))
    form = _form(where)
    return lambda path: _search((form,), path)


def check_date_from(where: str) -> None:
    """Refuse what says nothing about where dates are."""
    if where not in {"name", "folder"}:
        _form(where)


def _form(text: str) -> re.Pattern[str]:
    """Make a pattern of a form of dates such as %d.%m.%Y."""
    parts = re.split(r"%(.)", text)
    used = ["b" if one == "B" else one for one in parts[1::2]]
    twice, unknown = len(set(used)) < len(used), set(used) - set(FORMS)
    if "Y" not in used or twice or unknown or ("d" in used and not {"m", "b"} & set(used)):
        raise ParameterError(
            "{date_from} must be name, folder, or how dates are written, as %d.%m.%Y: a year (%Y), "
            "a month (%m, or %b for a word) and a day (%d), each once at most; got {got}",
            got=shown(text),
        )
    inner = "".join(FORMS[one] if i % 2 else re.escape(one) for i, one in enumerate(parts))
    return re.compile(rf"(?<!\d){inner}(?!\d)", re.IGNORECASE)


def _search(patterns: Sequence[re.Pattern[str]], text: str) -> str | None:
    """Return the first date in a text that exists in the calendar."""
    for pattern in patterns:
        for found in pattern.finditer(text):
            parts = found.groupdict()
            month = parts.get("m")
            if word := parts.get("b"):
                month = str(MONTHS.index(word[:3].lower()) + 1)
            try:
                return join_date(parts["Y"], month, parts.get("d"))
            except ValueError:
                continue
    return None


def find_labels(
    folder: Path, names: Sequence[str], where: str | None
) -> tuple[dict[str, list[tuple[str, ...]]], list[str]]:
    """Return the labels in the names of files or folders, and what should be said.

    Without ``where`` they are sub-folders, where each file is in one.
    """
    if where is None and not all("/" in name for name in names):
        return {}, []
    found: dict[str, list[tuple[str, ...]]]
    if where in {None, "folder"}:
        firsts = [name.partition("/") for name in names]
        found = {"folder": [(first,) if slash else () for first, slash, _ in firsts]}
    else:
        pattern, fields = _template(without_suffix(str(where)))
        matches = [pattern.search(without_suffix(name)) for name in names]
        found = {
            field: [(one[i],) if one else () for one in matches]
            for i, field in enumerate(fields, 1)
        }
    labels = next(iter(found.values()))
    if not any(labels):
        in_folder = where == "folder"
        raise ReadError.at(
            folder,
            "no file {what}, as {first}",
            remedies=("say how names are made with {label_from}",),
            what="is in a sub-folder" if in_folder else f"has a name made like {shown(where)}",
            first=shown(names[0]),
        )
    i = next(i for i, one in enumerate(labels) if one)
    each = ", ".join(f"{field} {shown(own[i][0])}" for field, own in found.items())
    kind = {None: "sub-folders (guessed)", "folder": "sub-folders"}.get(where, "names of the files")
    said = f"Labels are in the {kind}: {each} of {shown(names[i])}."
    return found, [said, *_without(names, labels, "label")]


def check_label_from(where: str) -> None:
    """Refuse what says nothing about where labels are."""
    if where != "folder":
        _template(where)


def _template(text: str) -> tuple[re.Pattern[str], list[str]]:
    """Make a pattern of how names are made, such as {party}_{speaker}_*, and return its fields.

    It is about the end of a path: one without a slash is about the name of the file alone.
    """
    fields: list[str] = []
    pieces: list[str] = []
    end = 0
    for one in FIELD.finditer(text):
        pieces.append(re.escape(text[end : one.start()]))
        pieces.append("[^/]*?" if one[2] else "([^/]+?)")
        fields += [] if one[2] else [one[1].strip()]
        end = one.end()
    pieces.append(re.escape(text[end:]))
    if not fields or not all(fields) or len(set(fields)) < len(fields):
        raise ParameterError(
            "{label_from} must be folder, or how names are made, with each label in braces, as "
            "{example}; got {got}",
            example="'{party}_{speaker}_*'",
            got=shown(text),
        )
    return re.compile(f"(?:^|/){''.join(pieces)}$"), fields
