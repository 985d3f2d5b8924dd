"""From the records of a table to the fields of a corpus: parts, labels and all other columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spheremix.text.columns import missing
from spheremix.text.corpus import Cleaning, ReadError, listed, shown
from spheremix.text.parts import OTHER_IDS, PARSE, parse_labels
from spheremix.text.values import is_missing, plain
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from spheremix.text.columns import Choice

MOST = 1000  # other columns that are kept: objects whose keys are data have any number of them


def gather(
    path: Path, records: Iterable[tuple[int, Mapping[str, Any]]], choice: Choice, unit: str
) -> dict[str, Any]:
    """Read all columns of all records: the fields of a corpus that the table has."""
    found = _Gathered(path, choice, unit)
    for number, record in records:
        found.add(number, record)
    return found.fields()


class _Gathered:
    """The values that were read so far."""

    def __init__(self, path: Path, choice: Choice, unit: str) -> None:
        self.path, self.choice, self.unit = path, choice, unit
        self.notes = choice.notes()
        self.n = 0
        self.columns = dict(choice.columns)
        self.values: dict[str, list[Any]] = {part: [] for part in choice.columns}
        self.labels: dict[str, list[tuple[str, ...]]] = {name: [] for name in choice.labels}
        self.others: dict[str, list[Any]] = {}  # as they came: all columns but the text
        self.left_out: dict[str, None] = {}
        self.positions: dict[str, int] = {}  # of each id
        self.seen: dict[str, None] = {}
        self.used = {*choice.columns.values(), *choice.labels}
        self.clean = Cleaning()
        self.again = Cleaning()  # of columns whose changes are counted already

    def add(self, number: int, record: Mapping[str, Any]) -> None:
        """Read a record."""
        self.seen.update(dict.fromkeys(record))
        place = f"{self.unit} {number}"
        for part, column in tuple(self.columns.items()):
            try:
                value = PARSE[part](record.get(column), self.clean)
            except ReadError as error:
                if part not in {"date", "title"} or part not in self.choice.guessed:
                    raise _in_column(error, self.path, column, place) from None
                # A guess that turns out wrong is dropped, and that is said.
                del self.columns[part], self.values[part]
                self.notes.remove(self.choice.note(part, column))
                self.notes.append(
                    f"Column {shown(column)} is not used as the {part}: {place}: {error}"
                )
                continue
            if part == "id":
                self._check_id(value, number, place)
            self.values[part].append(value)
        for column, labels in self.labels.items():
            try:
                labels.append(parse_labels(record.get(column), self.clean))
            except ReadError as error:
                raise _in_column(error, self.path, column, place) from None
        self._keep(record)
        self.n += 1

    def _check_id(self, value: str, number: int, place: str) -> None:
        if self.positions.setdefault(value, number) != number:
            raise ReadError.at(
                self.path,
                "the id {value} is already that of {unit} {first}",
                place,
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
        self._drop_empty()
        self._say_missing("date", self.values.get("date"))
        for column, labels in self.labels.items():
            self._say_missing(f"label {shown(column)}" if len(self.labels) > 1 else "label", labels)
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

    def _say_missing(self, what: str, values: list[Any] | None) -> None:
        without = sum(1 for value in values or () if not value)
        if without:
            self.notes.append(f"{count(without, 'document')} of {self.n:,} without {what}.")

    def _end_texts(self, texts: list[str]) -> None:
        """Return numbers to documents without ids, and say what is missing among the texts."""
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


def _in_column(error: ReadError, path: Path, column: str, place: str) -> ReadError:
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
