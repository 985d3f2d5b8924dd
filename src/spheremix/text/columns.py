"""From the records of a table to the fields of a corpus.

Which column is the text, the id, the date, the title, and which ones are labels; how their values
are read; and all other columns, which are kept as they are.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from spheremix.errors import Message, Said
from spheremix.text.corpus import Cleaning, ReadError, listed, shown
from spheremix.text.dates import DateError, check_date_format, parse_dates
from spheremix.text.values import is_missing, is_number, plain
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    Name = str | Literal[False] | None
    Names = str | Sequence[str] | Literal[False] | None
    Place = Path | str  # of a table: its file, or what people call a table in memory
    Clean = Callable[[str], str]

# Names that make a column's part obvious, in order of preference.
OBVIOUS = {
    "text": (
        *("text", "texts", "body", "content", "contents", "abstract", "document", "fulltext"),
        *("full_text", "article", "message", "description", "summary", "review", "comment"),
        *("post", "tweet"),
    ),
    "id": ("id", "ids", "_id", "doc_id", "docid", "document_id", "identifier", "uid", "uuid"),
    "date": (
        *("date", "dates", "datetime", "timestamp", "created_at", "published", "published_at"),
        *("publication_date", "publish_date", "created", "created_utc", "posted", "datum", "fecha"),
        *("time", "month", "year"),
    ),
    "label": (
        *("labels", "label", "categories", "category", "classes", "class", "topics", "topic"),
        *("tags", "tag"),
    ),
    "title": ("title", "titles", "headline", "subject", "name"),
}
CLEARLY_LONGER = 3.0  # how many times longer the texts are than any other column
OTHER_IDS = ("name another column with {id}", "use none with {id=False}")  # what helps bad ids
SEVERAL = re.compile(r"[;|]")
MOST_VALUES, LEAST = 12, 5  # of a column that may be labels; documents with each of them
OFFERED = 3  # such columns that are named
MOST = 1000  # other columns that are kept: objects whose keys are data have any number of them


@dataclass(frozen=True, slots=True)
class Wanted:
    """The columns that were asked for; None guesses, False uses none."""

    text: Name = None
    id: Name = None
    date: Name = None
    label: Names = None
    title: Name = None
    date_format: str | None = None

    def __post_init__(self) -> None:
        if self.date_format is not None:
            check_date_format(self.date_format)

    def names(self, part: str) -> list[str]:
        """Return the columns named for a part; several only for labels."""
        given = getattr(self, part)
        if isinstance(given, str):
            return [given]
        return list(dict.fromkeys(given)) if given else []


@dataclass(frozen=True, slots=True)
class Choice:
    """The column of each part, where there is one, the label columns, and what was guessed."""

    columns: dict[str, str]
    labels: list[str] = field(default_factory=list)
    guessed: set[str] = field(default_factory=set)
    date_format: str | None = None
    offers: bool = False  # whether columns that may be labels are named

    def notes(self) -> list[str]:
        """Say which column is read as what."""
        found: dict[str, list[str]] = {part: [name] for part, name in self.columns.items()}
        found["label"] = self.labels
        return [self.note(part, name) for part in OBVIOUS for name in found.get(part, ())]

    def note(self, part: str, column: str) -> str:
        """Say which column is read as this part."""
        how = " (guessed)." if part in self.guessed else "."
        article = "a" if part == "label" and len(self.labels) > 1 else "the"
        return f"Column {shown(column)} is read as {article} {part}{how}"


def choose(
    path: Place,
    head: Sequence[Mapping[str, Any]],
    wanted: Wanted,
    *,
    complete: bool,
    taken: Collection[str] = (),
) -> Choice:
    """Choose columns: those named by the user, the obvious ones for what was left open.

    ``complete`` says that the first records have all the columns there are. Columns that are
    ``taken`` are not guessed.
    """
    there = list(dict.fromkeys(name for record in head for name in record))
    found: dict[str, list[str]] = {part: wanted.names(part) for part in OBVIOUS}
    absent = {*(name for names in found.values() for name in names)}.difference(there)
    if complete and absent:
        asked = [name for names in found.values() for name in names if name in absent]
        raise missing(path, asked[0], there)
    guessed = set()
    for part, obvious in OBVIOUS.items():
        used = {*taken, *(name for names in found.values() for name in names)}
        free = {bare(name): name for name in reversed(there) if name not in used}
        names = [free[name] for name in obvious if name in free]
        if part == "title" and wanted.text is None and not found["text"]:
            # What is the only long column is the text, whatever it is called.
            found["text"] = [_longest(path, head, there, used)]
            guessed.add("text")
            names = [name for name in names if name not in found["text"]]
        if getattr(wanted, part) is None and names:
            found[part] = names[:1]
            guessed.add(part)
    columns = {part: names[0] for part, names in found.items() if names and part != "label"}
    if wanted.date_format is not None and wanted.date is not False and "date" not in columns:
        raise ReadError.at(
            path,
            "{date_format} is given, and no column is obviously the date; there are {there}",
            remedies=("say which one it is with {date}",),
            there=listed(there),
        )
    offers = wanted.label is None and not found["label"]
    return Choice(columns, found["label"], guessed, wanted.date_format, offers)


class NoColumnError(ReadError):
    """A column that was asked for is not there."""

    column = ""


def missing(path: Place, name: str, there: Sequence[str]) -> ReadError:
    """Say that a column is not there, and which ones are."""
    error = NoColumnError.at(
        path, "there is no column {name}; there are {there}.", name=shown(name), there=listed(there)
    )
    error.column = name
    return error


def bare(name: str) -> str:
    """Return a name without what is written in many ways."""
    return re.sub(r"[\s-]+", "_", name.strip().lower())


def _longest(
    path: Place, head: Sequence[Mapping[str, Any]], there: Sequence[str], taken: set[str]
) -> str:
    """Return the only column that looks like texts."""
    lengths = {}
    for name in there:
        values = [record[name] for record in head if not is_missing(record.get(name))]
        if name not in taken and values and all(isinstance(value, str) for value in values):
            lengths[name] = sum(map(len, values)) / len(values)
    order = sorted(lengths, key=lambda name: -lengths[name])
    if order and (len(order) == 1 or lengths[order[0]] >= CLEARLY_LONGER * lengths[order[1]]):
        return order[0]
    if not order:
        raise ReadError.at(path, "no column has texts; there are {there}.", there=listed(there))
    raise ReadError.at(
        path,
        "no column is obviously the text; there are {there}",
        remedies=("say which one it is with {text}",),
        there=listed(there),
    )


def _kind(value: Any) -> str:
    return {dict: "an object", list: "a list", bool: "true or false"}.get(
        type(value), f"of type {type(value).__name__}"
    )


def parse_text(value: Any, clean: Clean, what: str = "text") -> str:
    """Return a text; a missing one is empty."""
    if isinstance(value, str):
        return clean(value)
    if is_missing(value):
        return ""
    if is_number(value):
        return str(value)
    raise ReadError("the {what} is {kind}, where a string is needed.", what=what, kind=_kind(value))


def parse_title(value: Any, clean: Clean) -> str:
    """Return a title on one line; a missing one is empty."""
    return " ".join(parse_text(value, clean, "title").split())


def parse_id(value: Any, clean: Clean) -> str:
    """Return an id, which a document must have where there are ids."""
    if isinstance(value, str) and (name := clean(value).strip()):
        return name
    if is_number(value) and not is_missing(value):
        return str(value)
    what = "is missing" if is_missing(value) else f"is {_kind(value)}"
    raise ReadError("the id {what}", remedies=("fill it in", *OTHER_IDS), what=what)


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
    "title": parse_title,
}


def gather(
    path: Place, records: Iterable[tuple[int, Mapping[str, Any]]], choice: Choice, unit: str
) -> dict[str, Any]:
    """Read all columns of all records: the fields of a corpus that the table has."""
    found = _Gathered(path, choice, unit)
    for number, record in records:
        found.add(number, record)
    return found.fields()


class _Gathered:
    """The values that were read so far."""

    def __init__(self, path: Place, choice: Choice, unit: str) -> None:
        self.path, self.choice, self.unit = path, choice, unit
        self.notes = choice.notes()
        self.n = 0
        self.columns = dict(choice.columns)
        self.values: dict[str, list[Any]] = {part: [] for part in choice.columns}
        self.labels: dict[str, list[tuple[str, ...]]] = {name: [] for name in choice.labels}
        self.others: dict[str, list[Any]] = {}  # as they came: all columns but the text
        self.left_out: dict[str, None] = {}
        self.positions: dict[str, int] = {}  # of each id
        self.numbers: list[int] = []  # of the records, where there are dates
        self.seen: dict[str, None] = {}
        self.used = {*choice.columns.values(), *choice.labels}
        self.clean = Cleaning()
        self.again = Cleaning()  # of columns whose changes are counted already

    def add(self, number: int, record: Mapping[str, Any]) -> None:
        """Read a record."""
        self.seen.update(dict.fromkeys(record))
        place = f"{self.unit} {number}"
        for part, column in tuple(self.columns.items()):
            if part == "date":  # read when all are there: one form is that of the whole column
                self.values[part].append(record.get(column))
                self.numbers.append(number)
                continue
            try:
                value = PARSE[part](record.get(column), self.clean)
            except ReadError as error:
                self._drop(part, column, place, error)
                continue
            if part == "id":
                try:
                    self._check_id(value, number)
                except ReadError as error:
                    self._drop(part, column, place, error)
                    continue
            self.values[part].append(value)
        for column, labels in self.labels.items():
            try:
                labels.append(parse_labels(record.get(column), self.clean))
            except ReadError as error:
                raise _in_column(error, self.path, column, place) from None
        self._keep(record)
        self.n += 1

    def _drop(self, part: str, column: str, place: str, error: ReadError) -> None:
        """Drop a guess that turns out wrong, and say so; what was asked for is an error."""
        asked = part == "date" and self.choice.date_format is not None
        if part == "text" or part not in self.choice.guessed or asked:
            raise _in_column(error, self.path, column, place) from None
        del self.columns[part], self.values[part]
        self.notes.remove(self.choice.note(part, column))
        said, where = error.message, f"{place}: " if place else ""
        text = f"Column {{column}} is not used as the {part}: {where}{said.text}"
        values = {"column": shown(column), **said.values}
        self.notes.append(Said(Message(text, values, said.remedies)))

    def _read_dates(self) -> None:
        """Read the dates of the whole column."""
        column = self.columns["date"]
        try:
            dates, form = parse_dates(self.values["date"], self.choice.date_format)
        except DateError as error:
            position = error.position
            place = "" if position is None else f"{self.unit} {self.numbers[position]}"
            self._drop("date", column, place, error)
            return
        if form is not None and any(dates):
            i = max(range(len(dates)), key=lambda i: (dates[i] or "")[8:])  # a day beyond twelve
            value = shown(self.values["date"][i])
            self.notes.append(f"Dates are written {form}: {value} is {dates[i]}.")
        self.values["date"] = dates

    def _check_id(self, value: str, number: int) -> None:
        if self.positions.setdefault(value, number) != number:
            raise ReadError(
                "the id {value} is already that of {unit} {first}",
                remedies=("give each document its own", *OTHER_IDS),
                value=shown(value),
                unit=self.unit,
                first=self.positions[value],
            )

    def _keep(self, record: Mapping[str, Any]) -> None:
        """Keep what else a record has."""
        for name, value in record.items():
            if name == self.choice.columns.get("text") or name in self.left_out:
                continue
            if name not in self.others and len(self.others) >= MOST:
                self.left_out[name] = None
                continue
            column = self.others.setdefault(name, [])
            column.extend([None] * (self.n - len(column)))
            try:
                column.append(plain(value, self.again if name in self.used else self.clean))
            except (TypeError, RecursionError):
                self.left_out[name] = None
                del self.others[name]

    def fields(self) -> dict[str, Any]:
        """Return the fields of a corpus, and end the notes."""
        for column in (*self.columns.values(), *self.labels):
            if column not in self.seen:
                raise missing(self.path, column, list(self.seen))
        if "date" in self.columns:
            self._read_dates()
        self._drop_empty()
        self._say_missing("date", self.values.get("date"))
        for column, labels in self.labels.items():
            self._say_missing(f"label {shown(column)}" if len(self.labels) > 1 else "label", labels)
        if self.choice.offers:
            self._offer_labels()
        if self.left_out:
            names = listed(list(self.left_out), 3)
            self.notes.append(
                f"{count(len(self.left_out), 'column')} left out: {names}: bytes, lists in lists "
                f"without end, or beyond {MOST:,} columns."
            )
        if "text" in self.values:
            self._end_texts(self.values["text"])
        return {
            "texts": self.values.get("text"),
            "ids": self.values.get("id"),
            "dates": self.values.get("date"),
            "titles": self.values.get("title"),
            "labels": self.labels,
            "metadata": self._metadata(),
            "notes": [*self.notes, *self.clean.notes()],
        }

    def _offer_labels(self) -> None:
        """Name columns of few values, with which groups could be compared."""
        others = {n: v for n, v in self.others.items() if n not in self.columns.values()}
        found = [name for name, values in others.items() if may_be_labels(values, self.n)]
        if found:
            what = "Column {names} has" if len(found) == 1 else "Columns {names} have"
            values = {"names": listed(found, OFFERED), "first": found[0]}
            remedy = "to compare the groups with such labels, give {label=first}"
            self.notes.append(Said(Message(f"{what} few values", values, (remedy,))))

    def _say_missing(self, what: str, values: list[Any] | None) -> None:
        without = sum(1 for value in values or () if not value)
        if without:
            self.notes.append(f"{count(without, 'document')} of {self.n:,} without {what}.")

    def _end_texts(self, texts: list[str]) -> None:
        """Count documents without ids from 1, and say what is missing among the texts."""
        if "id" not in self.values:
            self.notes.append("Documents have no ids: they are numbered from 1.")
            self.values["id"] = [str(i) for i in range(1, self.n + 1)]
        blank = sum(1 for text in texts if not text.strip())
        if blank:
            self.notes.append(f"{count(blank, 'document')} of {self.n:,} without text.")
        self.notes += repeats(texts, self.values["id"])

    def _drop_empty(self) -> None:
        """Leave out what nobody filled in: what was said of the column would be misleading."""
        empty: list[tuple[str, str]] = [
            (part, self.columns[part])
            for part in ("date", "title")
            if part in self.values and not any(self.values[part])
        ]
        empty += [("label", name) for name, values in self.labels.items() if not any(values)]
        for part, column in empty:
            self.notes.remove(self.choice.note(part, column))
            self.notes.append(f"Column {shown(column)} has no {part}: it is not used.")
            if part == "label":
                del self.labels[column]
            else:
                del self.values[part]

    def _metadata(self) -> dict[str, list[Any]]:
        """Return the other columns, and ids, titles and dates that were written otherwise."""
        kept: dict[str, list[Any]] = {}
        parts = {column: part for part, column in self.columns.items()}
        for name, values in self.others.items():
            values.extend([None] * (self.n - len(values)))
            if name in self.labels or _alike(values, self.values.get(parts.get(name, ""))):
                continue
            written = self.clean(name).strip() or "unnamed"
            while written in kept:
                written = f"{written}_"
            kept[written] = values
        return kept


def _alike(values: list[Any], parsed: list[Any] | None) -> bool:
    """Return whether a column has nothing that was not read from it."""
    if parsed is None:
        return False
    both = zip(values, parsed, strict=True)
    return all((not one and is_missing(value)) or str(value).strip() == one for value, one in both)


def may_be_labels(values: Sequence[Any], n: int) -> bool:
    """Return whether a column of n documents has few values, each in several documents."""
    found: Counter[str] = Counter()
    for value in values:
        if not is_missing(value) and str(value).strip():
            found[str(value).strip()] += 1
            if len(found) > MOST_VALUES:
                return False
    return len(found) > 1 and min(found.values()) >= LEAST and 2 * found.total() >= n


def _in_column(error: ReadError, path: Place, column: str, place: str) -> ReadError:
    """Say where a value is that cannot be read."""
    said = error.message
    return ReadError.at(
        path,
        f"column {{column}}: {said.text}",
        place,
        remedies=said.remedies,
        column=shown(column),
        **said.values,
    )


def repeats(texts: list[str], ids: list[str]) -> list[str]:
    """Say how many documents have a text that an earlier one has, and name the first."""
    first: dict[str, int] = {}
    found = [
        (i, earlier)
        for i, text in enumerate(texts)
        if text.strip() and (earlier := first.setdefault(text, i)) != i
    ]
    if not found:
        return []
    verb = "repeats" if len(found) == 1 else "repeat"
    i, earlier = found[0]
    example = f"{shown(ids[i])} repeats {shown(ids[earlier])}"
    n = count(len(found), "document")
    return [f"{n} of {len(texts):,} {verb} the text of another one, for example {example}."]
