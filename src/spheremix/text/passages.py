# ruff: noqa: RUF001 (signs of many scripts are what this is about)
"""Long texts into passages, cut at borders that the text has.

A text is read twice. Its lines give blocks: paragraphs, headings, and lists or tables. Blocks give
*units*, which are never cut: sentences, headings, rows of lists. Each unit has the strength of the
border before it: the end of a paragraph, the end of a sentence, or none where it goes with what is
before it. Passages are runs of units.

A missed end of a sentence costs nothing, since the next one is near; a false one cuts a thought in
two. So a full stop after an abbreviation, an initial, a number of one or two digits, or before a
small letter ends no sentence. Every pattern matches wherever it begins, and what follows is looked
at afterwards: no text makes a pattern go back far, so the time is linear in the length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spheremix.errors import ParameterError
from spheremix.parameters import require_integer
from spheremix.text.corpus import check_texts
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    Ids = NDArray[np.intp]

WAYS = ("auto", "none", "paragraphs", "sentences")
WORDS = 80  # of a passage; it is cut where it comes nearest to this
LONG = 10 * WORDS  # words of a long document: "auto" cuts what has more
FEW_LONG = 0.1  # share of long documents below which "auto" cuts none
LEAST = 0.75  # of the words of a passage: from there on, the end of a paragraph ends it
MOST = 2  # times the words of a passage: from there on, even lists are cut, between their rows
HEADING = 12  # words, at most
WRAPPED = 120  # characters of a line, at most, where lines are broken by width

GLUED, SENTENCE, PARAGRAPH = 0, 1, 2  # strengths of borders

ENDS = ".!?…。！？｡।॥؟۔։።။។"
CLOSING = "\"'”’»›)]」』）】〉》"
OPENING = "\"'“‘„‚«‹([「『（【〈《¿¡"
COLONS = ":："
WITHOUT_SPACE = "。！？｡"  # ends of sentences that need no space after them
# French sets a closing quotation mark off by a space.
_END = re.compile(rf"[{ENDS}]+[{re.escape(CLOSING)}]*(?:\s»(?=\s))?\s*")
_WEAK = re.compile(r"[;:,，、；：]+\s*|\n\s*")
_SPACE = re.compile(r"\s+")
_ITEM = re.compile(r"(?:[-*+•·▪◦‣]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s")
_ALONE = re.compile(r"[A-Z]\.\s")  # "J. Smith": an initial, not the letter of an item
# Scripts that put no spaces between words, and how many characters a word has there, about.
_SPACELESS = (
    (re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"), 2),
    (re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+"), 5),
)
# Without their last full stop, in small letters. Those with a full stop inside need not be listed.
_LISTED = """
    abb abbr abs al allg anm approx apr art assn aug av ave bd bde best bijv blz bspw bzgl bzw ca
    cap capt cf chap cie co col corp dec dept dez dgl dhr dipl doc dott dr dra drs ecc ed eds ehem
    eidg ej env enz esp est etc evtl excl exz feb febr ff fig figs fr frl geb gem gen gest ggf ggfs
    gov hon hr hrn hrsg inc incl ing inkl insb jan jg jh jhd jhs jr jul jun kap kath km lfd lic lt
    ltd mag maj max med mevr mgr min mio mlle mm mme mmes mr mrd mrs ms mt nat nov nr nrn num núm
    obs okt op orig pag par phil pp prof prov pt pág rd rep rer resp rev sen sep sept sgt sig
    sigg sog sr sra srta st sta ste stk str tab tel tsd tél ud uds usf usw vd verf vers vgl vol
    vols vorm vs vv zool zzgl
"""
ABBREVIATIONS = frozenset(_LISTED.split())


@dataclass(frozen=True, slots=True, eq=False)
class Passages:
    """Passages of documents, in the order of the texts.

    Attributes
    ----------
    texts : list of str
        The passages.
    documents : ndarray of int, shape (n,)
        Number of the document that each is of. Every document has one passage at least.
    starts, ends : ndarray of int, shape (n,)
        Characters: passage i is ``text[starts[i]:ends[i]]`` of its document.
    n_words : ndarray of int, shape (n,)
        Words of each, about: runs without spaces; in scripts that have none, two characters of
        Chinese or Japanese, or five of Thai, Lao, Burmese or Khmer.
    n_documents : int
        The documents.
    n_left : int
        Long documents that "auto" left whole, since they are few.
    """

    texts: list[str]
    documents: Ids
    starts: Ids
    ends: Ids
    n_words: Ids
    n_documents: int
    n_left: int = 0

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def n_split(self) -> int:
        """How many documents have several passages."""
        return int(np.count_nonzero(np.bincount(self.documents, minlength=self.n_documents) > 1))

    def __str__(self) -> str:
        split = np.bincount(self.documents, minlength=self.n_documents) > 1
        if self.n_left:
            have = "has" if self.n_left == 1 else "have"
            return (
                f"{self.n_left:,} of {count(self.n_documents, 'document')} {have} more than {LONG} "
                "words. These are fewer than a tenth, so all stay whole, unless you say into how "
                f"many words to split them, such as {WORDS}."
            )
        if not split.any():
            return f"{count(self.n_documents, 'document')}, none split."
        inside = split[self.documents]
        whole = self.n_documents - int(split.sum())
        stay = f"; {whole:,} {'stays' if whole == 1 else 'stay'} whole" if whole else ""
        mean = round(float(self.n_words[inside].mean()))
        return (
            f"{int(split.sum()):,} of {count(self.n_documents, 'document')} split into "
            f"{int(inside.sum()):,} passages of {count(mean, 'word')} on average{stay}."
        )


class Unit(NamedTuple):
    """What is never cut: from where to where, its words, and the border before it."""

    start: int
    end: int
    n_words: int
    border: int


def split(texts: Iterable[str], into: Any = "auto") -> Passages:
    r"""Split texts into passages at borders that they have: ends of paragraphs and of sentences.

    Headings go with what follows, so does a paragraph that ends in a colon. Lists and tables stay
    in one piece, unless they are longer than two passages: then they are cut between their rows. A
    sentence as long as two passages is cut at commas, semicolons, ends of lines, or spaces. Nothing
    is ever cut within a word; a text without any border is one passage. What is not in a passage is
    white space.

    Parameters
    ----------
    texts : iterable of str
        One a document.
    into : {"auto", "none", "paragraphs", "sentences"} or int, default="auto"
        A number: passages of about so many words. "auto": passages of about 80 words of the
        documents that have more than 800; if fewer than a tenth of the documents have, all stay
        whole. "none": every document is one passage, as it is.

    Returns
    -------
    Passages
        The passages, their documents, and their places in them. As text (``print``) it says how
        many documents were split.

    Examples
    --------
    >>> import spheremix as sm
    >>> text = "Dr. Weiss met the sailors. They spoke of the sea.\n\nPrices rose again."
    >>> found = sm.text.split([text, "One more."], "sentences")
    >>> found.texts
    ['Dr. Weiss met the sailors.', 'They spoke of the sea.', 'Prices rose again.', 'One more.']
    >>> text[found.starts[1] : found.ends[1]]
    'They spoke of the sea.'
    >>> print(found)
    1 of 2 documents split into 3 passages of 4 words on average; 1 stays whole.
    """
    if isinstance(into, str):
        if into not in WAYS:
            raise ParameterError(
                "{into} must be one of {ways}, or a number of words, got {got}",
                ways=", ".join(WAYS),
                got=repr(into),
            )
    else:
        into = require_integer("into", into, 1)
    given = check_texts(texts)
    if into != "auto":
        return _split(given, into, np.full(len(given), into != "none"))
    long = _long(given)
    few = long.sum() < FEW_LONG * len(given)
    found = _split(given, WORDS, long & ~few)
    return replace(found, n_left=int(long.sum())) if few else found


def split_long(texts: Iterable[str]) -> Passages:
    """Split the documents that "auto" calls long, however few they are."""
    given = check_texts(texts)
    return _split(given, WORDS, _long(given))


def _split(given: list[str], size: int | str, cut: NDArray[np.bool_]) -> Passages:
    """Split some of the texts."""
    places: list[list[Unit]] = [
        _passages(text, size) if cut[i] else [Unit(0, len(text), _count(text), PARAGRAPH)]
        for i, text in enumerate(given)
    ]
    flat = [unit for units in places for unit in units]
    starts, ends, n_words, _ = np.array(flat, dtype=np.intp).reshape(-1, 4).T.copy()
    documents = np.repeat(np.arange(len(given)), [len(units) for units in places])
    cuts = [
        given[i][start:end] for i, (start, end, _, _) in zip(documents.tolist(), flat, strict=True)
    ]
    return Passages(cuts, documents, starts, ends, n_words, len(given))


def _long(texts: list[str]) -> NDArray[np.bool_]:
    # A word has a space after it, or a few characters of a script without spaces.
    return np.array([len(text) > LONG and _count(text) > LONG for text in texts], dtype=bool)


def _passages(text: str, size: int | str) -> list[Unit]:
    """Return the passages of a text."""
    spaceless = not text.isascii() and any(script.search(text) for script, _ in _SPACELESS)
    words = size if isinstance(size, int) else None
    units = list(_units(text, words, spaceless=spaceless))
    if not units:
        return [Unit(0, 0, 0, PARAGRAPH)]
    if words is not None:
        return _packed(units, words)
    strength = PARAGRAPH if size == "paragraphs" else SENTENCE
    found: list[Unit] = []
    for unit in units:
        if found and unit.border < strength:
            found[-1] = _joined(found[-1], unit)
        else:
            found.append(unit)
    return found


def _packed(units: list[Unit], words: int) -> list[Unit]:
    """Join units, and end a passage where it comes nearest to so many words."""
    found = [units[0]]
    for unit in units[1:]:
        last = found[-1]
        if unit.border == GLUED:
            ends = last.n_words + unit.n_words > MOST * words
        else:
            # Nearer to so many words without this unit than with it.
            ends = 2 * last.n_words + unit.n_words > 2 * words
            ends = ends or (unit.border == PARAGRAPH and last.n_words >= LEAST * words)
        if ends:
            found.append(unit)
        else:
            found[-1] = _joined(last, unit)
    if len(found) > 1:
        before, last = found[-2:]
        if 2 * last.n_words < words and before.n_words + last.n_words <= MOST * words:
            found[-2:] = [_joined(before, last)]
    return found


def _joined(one: Unit, other: Unit) -> Unit:
    return Unit(one.start, other.end, one.n_words + other.n_words, one.border)


def _units(text: str, words: int | None, *, spaceless: bool) -> Iterator[Unit]:
    """Return the units of a text; sentences that are longer than two passages are cut, if asked."""
    follows = False  # a heading, or a colon: what comes next goes with it
    for block in _blocks(text):
        first = GLUED if follows else PARAGRAPH
        if block.kind == "rows":
            for i, (start, end) in enumerate(block.lines):
                n_words = _count(text[start:end], spaceless=spaceless)
                yield Unit(start, end, n_words, GLUED if i else first)
            follows = False
            continue
        start, end = block.lines[0][0], block.lines[-1][1]
        follows = block.kind == "heading" or text[end - 1] in COLONS
        if block.kind == "heading":
            yield Unit(start, end, _count(text[start:end], spaceless=spaceless), first)
            continue
        for one, other in _sentences(text, start, end):
            n_words = _count(text[one:other], spaceless=spaceless)
            if words is None or n_words <= MOST * words:
                yield Unit(one, other, n_words, first)
            else:
                for a, b in _clauses(text, one, other, words, spaceless=spaceless):
                    yield Unit(a, b, _count(text[a:b], spaceless=spaceless), first)
                    first = SENTENCE
            first = SENTENCE


class Block(NamedTuple):
    """Lines that belong together: "text", "heading" or "rows" of a list or table."""

    kind: str
    lines: list[tuple[int, int]]


def _blocks(text: str) -> Iterator[Block]:
    """Return the blocks of a text: runs of lines, and rows of a list also across empty lines."""
    rows: list[tuple[int, int]] = []
    for run in _runs(text):
        for block in _parted(text, run):
            if block.kind == "rows":
                rows += block.lines
                continue
            if rows:
                yield Block("rows", rows)
                rows = []
            yield block
    if rows:
        yield Block("rows", rows)


def _runs(text: str) -> Iterator[list[tuple[int, int]]]:
    """Return runs of lines that are not empty, as places without the white space around."""
    run: list[tuple[int, int]] = []
    place = 0
    for line in text.splitlines(keepends=True):
        inside = line.strip()
        if inside:
            start = place + len(line) - len(line.lstrip())
            run.append((start, start + len(inside)))
        elif run:
            yield run
            run = []
        place += len(line)
    if run:
        yield run


def _parted(text: str, run: list[tuple[int, int]]) -> Iterator[Block]:
    """Part a run of lines into rows, headings and paragraphs."""
    each = [text[start:end] for start, end in run]
    marked = [_is_row(line) for line in each]
    if len(run) > 1 and sum(marked) == 1 and not marked[0]:
        marked = [False] * len(run)  # a line that was broken before a dash or a number
    ended = sum(line[-1] in ENDS or line[-1] in CLOSING for line in each[:-1])
    wrapped = max(map(len, each)) <= WRAPPED and 2 * ended < len(run) - 1
    lines: list[tuple[int, int]] = []
    kind = "text"
    for place, line, row in zip(run, each, marked, strict=True):
        if row:
            here = "rows"
        elif kind == "rows" and lines and _is_indented(text, place[0]):
            lines[-1] = (lines[-1][0], place[1])  # a row goes on
            continue
        else:
            alone = len(run) == 1 or not wrapped
            here = "heading" if _is_heading(line, alone=alone) else "text"
        if lines and not (here == kind and (here == "rows" or (here == "text" and wrapped))):
            yield Block(kind, lines)
            lines = []
        kind = here
        lines.append(place)
    yield Block(kind, lines)


def _is_row(line: str) -> bool:
    """Return whether a line is an item of a list, or a row of a table."""
    if _ITEM.match(line) and not _ALONE.match(line):
        return True
    if line.count("|") >= 2 or line.count("\t") >= 2:
        return True
    return "   " in line and sum(1 for part in line.split("   ") if part.strip()) >= 3


def _is_indented(text: str, start: int) -> bool:
    return start > 0 and text[start - 1] in " \t"


def _is_heading(line: str, *, alone: bool) -> bool:
    if line.startswith("#"):
        return True
    if not alone or line[-1] in ENDS or line[-1] in CLOSING or line[-1] in COLONS + ";,，、；":
        return False
    return len(line) <= 20 * HEADING and _count(line) <= HEADING


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Return the places of the sentences of a paragraph."""
    for match in _END.finditer(text, start, end):
        after = match.end()
        if after >= end:
            break
        if _ends_sentence(text, match.start(), after, match.group()):
            yield start, match.start() + len(match.group().rstrip())
            start = after
    if start < end:
        yield start, end


def _ends_sentence(text: str, at: int, after: int, sign: str) -> bool:
    """Return whether a sign ends a sentence, and the next one begins after it."""
    if sign[0] in WITHOUT_SPACE:
        return True
    if not sign[-1].isspace():
        return False
    for following in text[after : after + 4]:
        if following not in OPENING:
            if following.islower():
                return False
            break
    if sign[0] != "." or sign[1] == ".":
        return True
    parts = text[max(0, at - 16) : at].split()
    word = parts[-1].lstrip(OPENING) if parts else ""
    if len(word) < 2 or "." in word:  # initials, U.S., z.B.
        return False
    return word.lower() not in ABBREVIATIONS and not (len(word) < 3 and word.isdigit())


def _clauses(
    text: str, start: int, end: int, words: int, *, spaceless: bool
) -> Iterator[tuple[int, int]]:
    """Cut a sentence that is too long at weaker borders, or else at spaces."""
    for one, other in _between(text, start, end, _WEAK):
        if _count(text[one:other], spaceless=spaceless) <= words:
            yield one, other
            continue
        step = max(1, words // 4)
        spaces = list(_between(text, one, other, _SPACE))
        for i in range(0, len(spaces), step):
            part = spaces[i : i + step]
            yield part[0][0], part[-1][1]


def _between(text: str, start: int, end: int, sign: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Return places that end with a sign; one between digits or letters is none, as in 1,000."""
    for match in sign.finditer(text, start, end):
        mark = match.group()
        if match.end() >= end or (mark[-1] in ";:," and text[match.end()].isalnum()):
            continue
        yield start, match.start() + len(mark.rstrip())
        start = match.end()
    if start < end:
        yield start, end


def _count(text: str, *, spaceless: bool = True) -> int:
    """Count words."""
    n_words = len(text.split())
    if spaceless and not text.isascii():
        for script, width in _SPACELESS:
            n_words += sum(map(len, script.findall(text))) // width
    return n_words
