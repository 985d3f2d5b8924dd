"""How dates are written: forms such as %d.%m.%Y, and the one that fits a whole column."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from spheremix.errors import ParameterError
from spheremix.text.corpus import ReadError, shown
from spheremix.text.values import is_missing, is_number, iso_date, join_date

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Of English, German, French, Spanish, Italian, Portuguese and Dutch.
NAMES = (
    "january januar janvier enero gennaio janeiro januari",
    "february februar février febrero febbraio fevereiro februari",
    "march märz maerz mars marzo março maart",
    "april avril abril aprile",
    "may mai mayo maggio maio mei",
    "june juni juin junio giugno junho",
    "july juli juillet julio luglio julho",
    "august août agosto augustus",
    "september septembre septiembre settembre setembro",
    "october oktober octobre octubre ottobre outubro",
    "november novembre noviembre novembro",
    "december dezember décembre diciembre dicembre dezembro",
)
SHORTEST = 3  # letters of a month


def _months() -> dict[str, int]:
    """Return the months by their names and the beginnings of these that mean one month alone."""
    found: dict[str, set[int]] = {}
    for number, names in enumerate(NAMES, 1):
        for name in names.split():
            for one in (name, _without_accents(name)):
                for n in range(SHORTEST, len(one) + 1):
                    found.setdefault(one[:n], set()).add(number)
    return {name: min(numbers) for name, numbers in found.items() if len(numbers) == 1}


def _without_accents(text: str) -> str:
    return unicodedata.normalize("NFD", text).encode("ascii", "ignore").decode()


MONTHS = _months()
WORD = rf"(?P<b>{'|'.join(sorted(MONTHS, key=len, reverse=True))})\.?"
# What the parts of a form stand for, as in strptime; those of a time are not kept.
FORMS = {
    "Y": r"(?P<Y>\d{4})",
    "y": r"(?P<y>\d{2})",
    "m": r"(?P<m>\d{1,2})",
    "d": r"(?P<d>\d{1,2})(?:st|nd|rd|th|er)?",
    "b": WORD,
    "B": WORD,
    **dict.fromkeys("HIMS", r"\d{1,2}"),
    "f": r"\d+",
    "p": r"[ap]\.?m\.?",
    **dict.fromkeys("aA", r"[^\W\d_]+\.?"),
    "z": r"(?:z|utc|gmt|[+-]\d{2}:?\d{2})",
    "Z": r"[a-z]+",
    "s": r"(?P<s>\d{10}|\d{13})(?:\.\d*)?",
}
KEPT = "Yymdb"
CENTURY = 69  # of years of two digits, as everywhere: 69 is 1969, 68 is 2068
WEEKDAY = r"(?:[^\W\d_]+\.?,?\s+)?"
TIME = r"(?:(?:t|,?\s+(?:at\s+|um\s+)?)\d{1,2}[:.h]\d{2}.*)?"
# In which columns have dates, beside those of ISO 8601.
USUAL = (
    *(
        form.replace("/", sep)
        for sep in "/.-"
        for form in ("%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%m/%Y")
    ),
    *("%d. %m. %Y", "%d. %m. %y"),
    *("%d %B %Y", "%d. %B %Y", "%B %d, %Y", "%B %d %Y", "%Y %B %d", "%B %Y", "%B, %Y"),
    *("%d-%b-%Y", "%d-%b-%y", "%d/%b/%Y", "%d %b %y", "%b-%d-%Y", "%b-%Y", "%Y-%b-%d"),
    *("%d de %B de %Y", "%B de %Y"),
    *("%a %b %d %H:%M:%S %z %Y", "%a %b %d %H:%M:%S %Z %Y", "%a %b %d %H:%M:%S %Y"),
    "%Y年%m月%d日",
    "%s",  # seconds since 1970, or thousandths of them: as date of Unix writes them
)
SEEN = 1000  # values by which a culprit among dates is known
NO_DATE = "{value} is not a date: write YYYY-MM-DD, YYYY-MM or YYYY, with or without a time"


def pattern_of(form: str) -> str | None:
    """Return the pattern of a form such as %d.%m.%Y; None for what is none."""
    if form == "%s":
        return FORMS["s"]
    parts = re.split(r"%(.)", form)
    used = ["b" if one == "B" else one for one in parts[1::2] if one in "bB" or one in KEPT]
    years, months = {"Y", "y"} & set(used), {"m", "b"} & set(used)
    if len(set(used)) < len(used) or len(years) != 1 or len(months) > 1:
        return None
    if set(parts[1::2]) - set(FORMS) or ("d" in used and not months):
        return None
    return "".join(
        FORMS[one] if i % 2 else r"\s+".join(map(re.escape, re.split(r"\s+", one)))
        for i, one in enumerate(parts)
    )


def date_of(found: re.Match[str]) -> str:
    """Return the date that a pattern found; ValueError where the calendar has none."""
    parts = found.groupdict()
    if seconds := parts.get("s"):
        return datetime.fromtimestamp(int(seconds[:10]), UTC).date().isoformat()
    month = parts.get("m")
    if word := parts.get("b"):
        month = str(MONTHS[word.lower()])
    year = parts.get("Y")
    if year is None:
        year = str(int(parts["y"]) + (1900 if int(parts["y"]) >= CENTURY else 2000))
    return join_date(year, month, parts.get("d"))


@cache
def _whole(form: str) -> re.Pattern[str]:
    """Return what reads a value of a column: a weekday before and a time behind are left out."""
    return re.compile(f"{WEEKDAY}{pattern_of(form)}{TIME}", re.IGNORECASE | re.DOTALL)


def _read(form: str, value: Any) -> str | None:
    text = unicodedata.normalize("NFC", str(value)).strip()
    if found := _whole(form).fullmatch(text):
        try:
            return date_of(found)
        except ValueError:
            return None
    return None


def check_date_format(form: str) -> None:
    """Refuse what is no form of dates."""
    if pattern_of(form) is None:
        raise ParameterError(
            "{date_format} must say how dates are written, as %d.%m.%Y: a year (%Y, or %y for two "
            "digits), a month (%m, or %b for a word) and a day (%d), each once at most; got {got}",
            got=shown(form),
        )


class DateError(ReadError):
    """The values of a column are no dates, or it is open which ones."""

    position: int | None = None  # of the culprit among the values


def parse_dates(
    values: Sequence[Any], form: str | None = None
) -> tuple[list[str | None], str | None]:
    """Return dates of ISO 8601 as far as they are known, and the form in which they are written.

    One form is found for all values that are not of ISO 8601; a ``form`` that is given is tried
    first.
    """
    known: dict[Any, str | None] = {}
    rest: dict[str, int] = {}  # where each text is first
    found: list[Any] = []
    values = [str(value) if is_number(value) else value for value in values]
    for i, value in enumerate(values):
        if isinstance(value, str) and (value in known or value in rest):
            found.append(known.get(value))
            continue
        read = _read(form, value) if form and not is_missing(value) else None
        if read is None:
            try:
                read = iso_date(value)
            except ValueError:
                if not isinstance(value, str) or form:
                    raise _no_date(value, i, form) from None
                rest[value] = i
            # A form that begins with the year has its own order of months and days.
            if read is not None and form and form.startswith("%Y"):
                raise _no_date(value, i, form)
        if isinstance(value, str) and value not in rest:
            known[value] = read
        found.append(read)
    if rest:
        form = _common_form(rest)
        read_as = {text: _read(form, text) for text in rest}
        found = [
            read_as.get(value, one) if isinstance(value, str) else one
            for value, one in zip(values, found, strict=True)
        ]
    return found, form


def _common_form(places: dict[str, int]) -> str:
    """Return the form of all texts, or say which one is none, or that two forms fit."""
    forms = [form for form in USUAL if _fits(form, places)]
    if not forms:
        seen = list(islice(places, SEEN))
        hits = {form: sum(_read(form, text) is not None for text in seen) for form in USUAL}
        best = max(hits, key=hits.__getitem__)
        usual = best if 2 * hits[best] > len(seen) else None
        text = next(t for t in places if usual is None or _read(usual, t) is None)
        raise _no_date(text, places[text], usual)
    for other in forms[1:]:
        open_ones = (text for text in places if _read(forms[0], text) != _read(other, text))
        if example := next(open_ones, None):
            raise DateError(
                "{value} may be written {one} or {other}, and so may all dates of this column",
                remedies=("say which, as with {date_format=one}",),
                value=shown(example),
                one=forms[0],
                other=other,
            )
    return forms[0]


def _fits(form: str, texts: Iterable[str]) -> bool:
    return all(_read(form, text) is not None for text in texts)


def _no_date(value: Any, position: int, form: str | None) -> DateError:
    text = "{value} is not a date that is written {form}, as the others" if form else NO_DATE
    remedies = ("correct it",) if form else ("say how dates are written with {date_format}",)
    error = DateError(text, remedies=remedies, value=shown(value), form=form)
    error.position = position
    return error
