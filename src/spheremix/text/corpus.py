"""A corpus: texts with all that came with them, and what is said about where they come from."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from spheremix.errors import Explained, Message, ParameterError
from spheremix.text.values import iso_date, plain
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

# Neither can be written to a file again as it is: NUL breaks most readers, a lone surrogate UTF-8.
UNWRITABLE = re.compile("[\0\ud800-\udfff]")
SHOWN = 60  # characters of a culprit in a message


class ReadError(Explained, ValueError):
    """A file cannot be used as it is: one line that names it, the culprit and the remedy.

    Parameters, values and remedies are those of :class:`spheremix.errors.Explained`; ends of lines
    in them become spaces.

    Examples
    --------
    >>> import spheremix as sm
    >>> try:
    ...     sm.text.read_documents("nowhere.csv")
    ... except sm.text.ReadError as error:
    ...     print(type(error).__name__)
    ReadError
    """

    def __init__(
        self, text: str | Message, /, *, remedies: tuple[str, ...] = (), **values: Any
    ) -> None:
        if isinstance(text, str):
            text = Message(
                _one_line(text),
                {name: _one_line(value) for name, value in values.items()},
                tuple(map(_one_line, remedies)),
            )
        super().__init__(text)

    @classmethod
    def at(
        cls,
        path: str | PathLike[str],
        problem: str,
        place: str = "",
        /,
        *,
        remedies: tuple[str, ...] = (),
        **values: Any,
    ) -> Self:
        """Name a file, a place in it such as "line 7", and what is wrong there."""
        text = "{path}: {place}: " if place else "{path}: "
        return cls(text + problem, remedies=remedies, path=path, place=place, **values)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents, one position each in every list.

    Attributes
    ----------
    texts : list of str
        May be empty strings; :func:`spheremix.text.vectorize` sets those aside and says so.
    ids : list of str
        All different.
    dates : list of str or None, or None
        Dates of ISO 8601 as far as they are known: "2016-10-12", "2016-10" or "2016"; dates of
        Python are written so. None for a document without date; None in place of the list where
        nothing is dated.
    labels : dict of str to list of tuples of str
        The labels of the documents by the name of their column: one or several values a document,
        or none, an empty tuple. Empty where there are no labels.
    source, format : str
        Where the documents come from, and as what they were read.
    notes : list of str
        Sentences for people: which columns were used, which of them were guessed, what was changed.
    checksum : str
        SHA-256 of the content of the file, in hexadecimal digits.
    titles : list of str, or None
        By which documents are listed; an empty one is none. None where there are no titles.
    metadata : dict of str to list
        What else came with the documents, by column: texts, numbers, true and false, lists and
        dictionaries of them, or None.

    Examples
    --------
    >>> import spheremix as sm
    >>> topics = {"topic": [("medicine",), ("flight", "physics")]}
    >>> corpus = sm.text.Corpus(["Heart and blood.", "Wing and flow."], ["a", "b"], labels=topics)
    >>> len(corpus)
    2
    >>> corpus.labels["topic"][1]
    ('flight', 'physics')
    """

    texts: list[str]
    ids: list[str]
    dates: list[str | None] | None = None
    labels: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    source: str = ""
    format: str = ""
    notes: list[str] = field(default_factory=list)
    checksum: str = ""
    titles: list[str] | None = None
    metadata: dict[str, list[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("labels", "metadata"):
            if not isinstance(getattr(self, name), dict):
                raise ParameterError(
                    f"{{{name}}} must be a dictionary of columns, as {{example}}, got {{kind}}",
                    example=f"{name}={{'topic': [...]}}",
                    kind=type(getattr(self, name)).__name__,
                )
        self._check_lengths()
        values = {
            "dates": None if self.dates is None else [_date(one) for one in self.dates],
            "labels": {name: [_labels(one) for one in own] for name, own in self.labels.items()},
            "metadata": {name: _plain(name, own) for name, own in self.metadata.items()},
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _check_lengths(self) -> None:
        """Refuse columns that do not belong to these texts."""
        found = {name: getattr(self, name) for name in ("ids", "dates", "titles")}
        for name in ("labels", "metadata"):
            found |= {f"{name} {shown(key)}": own for key, own in getattr(self, name).items()}
        for name, values in found.items():
            if values is not None and len(values) != len(self.texts):
                raise ParameterError(
                    "{name} must be as many as the {n} texts, got {got}",
                    name=name,
                    n=len(self.texts),
                    got=len(values),
                )

    @classmethod
    def from_texts(cls, texts: Iterable[str]) -> Corpus:
        """Make a corpus of texts in memory.

        Parameters
        ----------
        texts : iterable of str
            One for each document.

        Returns
        -------
        Corpus
            With the ids "1", "2" and so on.
        """
        found = check_texts(texts)
        return cls(found, [str(i) for i in range(1, len(found) + 1)], source="texts in memory")

    def content_checksum(self) -> str:
        """Return the SHA-256 of what the corpus holds now, wherever it came from.

        Returns
        -------
        str
            Other documents, or anything else that came with them, give other digits.
        """
        known = (self.dates, self.labels, self.titles, self.metadata)
        beside = repr(known).encode("utf-8", "surrogatepass")
        lines = (*self.texts, *self.ids)
        return digest([*(line.encode("utf-8", "surrogatepass") for line in lines), beside])

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        """Say in one line what there is; the documents are behind the attributes."""
        parts = [count(len(self), "document")]
        parts += [f"with {name}" for name in ("titles", "dates", "labels") if getattr(self, name)]
        return f"Corpus({', '.join(parts)}{f', from {self.source}' if self.source else ''})"

    def take(self, rows: Iterable[int]) -> Corpus:
        """Return the documents at these positions, in this order.

        Parameters
        ----------
        rows : iterable of int
            Positions from 0.

        Returns
        -------
        Corpus
            With the same source, notes and checksum.
        """
        chosen = list(rows)
        return replace(
            self,
            texts=[self.texts[i] for i in chosen],
            ids=[self.ids[i] for i in chosen],
            dates=None if self.dates is None else [self.dates[i] for i in chosen],
            labels={name: [own[i] for i in chosen] for name, own in self.labels.items()},
            titles=None if self.titles is None else [self.titles[i] for i in chosen],
            metadata={name: [own[i] for i in chosen] for name, own in self.metadata.items()},
        )

    def name(self, row: int) -> str:
        """Return what people call a document: its title, or its id where it has none.

        Parameters
        ----------
        row : int
            Its position, from 0.

        Returns
        -------
        str
            Never empty unless the id is.
        """
        return (self.titles[row] if self.titles else "") or self.ids[row]


@dataclass(slots=True)
class Cleaning:
    """Make texts that can be written again, and count what that changed."""

    nuls: int = 0
    surrogates: int = 0

    def __call__(self, text: str) -> str:
        """Put a space for each NUL and U+FFFD for each half of a surrogate pair."""
        if not UNWRITABLE.search(text):
            return text
        nuls = text.count("\0")
        text, changed = UNWRITABLE.subn(_substitute, text)
        self.nuls += nuls
        self.surrogates += changed - nuls
        return text

    def notes(self) -> list[str]:
        """Say what was changed."""
        said = []
        if self.nuls:
            said.append(f"{count(self.nuls, 'NUL character')} replaced by spaces.")
        if self.surrogates:
            said.append(f"{count(self.surrogates, 'lone surrogate')} replaced by U+FFFD.")
        return said


def _date(value: Any) -> str | None:
    try:
        return iso_date(value)
    except ValueError:
        raise ParameterError(
            "{dates} must be dates, or texts such as 2016-10-12, 2016-10 or 2016, got {value}",
            value=shown(value),
        ) from None


def _labels(value: Any) -> tuple[str, ...]:
    """Return the labels of a document; one alone may be a text."""
    several = value if isinstance(value, list | tuple) else () if value is None else (value,)
    return tuple(map(str, several))


def _plain(name: str, values: list[Any]) -> list[Any]:
    try:
        return [plain(value) for value in values]
    except (TypeError, RecursionError) as error:
        raise ParameterError(
            "{metadata} {name} has a value that JSON cannot say ({error})",
            remedies=("make it a text",),
            name=shown(name),
            error=error,
        ) from None


def _one_line(value: object) -> str:
    return " ".join(str(value).splitlines())


def _substitute(found: re.Match[str]) -> str:
    return " " if found[0] == "\0" else "\N{REPLACEMENT CHARACTER}"


def check_texts(texts: Any) -> list[str]:
    """Return a list of texts, or an error that names the one that is not."""
    if isinstance(texts, str | bytes):
        raise ParameterError("Texts must be a list of strings, got one string")
    found = list(texts)
    for i, text in enumerate(found):
        if not isinstance(text, str):
            raise ParameterError(
                "Text {i} must be a string, got {kind}", i=i, kind=type(text).__name__
            )
    if not found:
        raise ParameterError("There are no texts")
    return found


def digest(parts: Iterable[bytes]) -> str:
    """Return the SHA-256 of parts, where they begin and end included."""
    total = hashlib.sha256()
    for part in parts:
        total.update(b"%d:" % len(part))
        total.update(part)
    return total.hexdigest()


def shown(value: object) -> str:
    """Return a value as a message may show it: quoted, on one line, cut where it is long."""
    text = repr(value[: 2 * SHOWN] if isinstance(value, str) else value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def listed(names: Sequence[str], most: int = 12) -> str:
    """Return names as a message may list them."""
    extra = len(names) - most
    return ", ".join(map(shown, names[:most])) + (f" and {extra} more" if extra > 0 else "")
