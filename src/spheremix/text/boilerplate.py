"""What is no subject of a text: addresses, headers of mails, page numbers, repeated lines.

It is recognised by its form, or by being the same in many texts. Words are counted without it; the
texts themselves stay whole.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spheremix.text.words import forms

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

FEWEST = 10  # documents with a repeated line, at least
REPEATED = 0.02  # share of the documents with a long line that is repeated, at least
SHORT, REPEATED_SHORT = 4, 0.1  # a line of so many words may be a heading: it must be in more

HEADERS = "From|To|Cc|Bcc|Subject|Date|Sent|Reply-To|Sender|Organization|Lines|Distribution"
HEADERS += "|Message-ID|In-Reply-To|References|Newsgroups|NNTP-Posting-Host|Received|Return-Path"
HEADERS += r"|MIME-Version|Content-[\w-]+|X-[\w-]+"
LINE = rf"(?:{HEADERS}):(?:[^\n]*)(?:\n[ \t]+\S[^\n]*)*(?:\n|\Z)"
HEADER = re.compile(rf"^(?:{LINE})+", re.MULTILINE | re.IGNORECASE)
FROM = re.compile(r"^From:", re.MULTILINE | re.IGNORECASE)
SUBJECT = re.compile(
    r"^Subject:[ \t]*(?:(?:Re|Fwd?):[ \t]*)*([^\n]*)", re.MULTILINE | re.IGNORECASE
)

PAGE = r"^[ \t]*(?:[-\u2013][ \t]*\d{1,4}[ \t]*[-\u2013]|(?:Page|Seite)[ \t]+\d{1,4})[ \t]*$"
PAGE += r"|\b(?:Page|Seite)[ \t]+\d{1,4}[ \t]+(?:of|von)[ \t]+\d{1,4}\b"

# Each kind with what is quickly looked for, without which a text has none of it, and its pattern;
# in this order.
KINDS: dict[str, tuple[re.Pattern[str], re.Pattern[str]]] = {
    "e-mail addresses": (re.compile("@"), re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    "URLs": (
        re.compile(r":/|www\.|\.(?:com|org|net|edu|gov|co\.uk)\b"),
        re.compile(
            r"(?:\b(?:https?|ftp)://|\bwww\.)[^\s<>\"')\]]+"
            r"|(?<=\w)\.(?:com|org|net|edu|gov|co\.uk)\b(?:/[^\s<>\"')\]]*)?"
        ),
    ),
    "signs of retweets": (re.compile("RT"), re.compile(r"\bRT\b(?=:?\s*@)")),
    "handles": (re.compile("@"), re.compile(r"(?<![\w@])@\w+")),
    "page numbers": (
        re.compile(r"(?:Page|Seite)[ \t]|[-\u2013][ \t]*\d{1,4}[ \t]*[-\u2013]"),
        re.compile(PAGE, re.MULTILINE),
    ),
}
HEADS, LINES = "headers of mails", "repeated lines"


@dataclass(frozen=True, slots=True)
class Boilerplate:
    """Leaves out of texts what is no subject."""

    lines: frozenset[str] = frozenset()  # repeated ones, without spaces around them

    def __call__(self, text: str) -> str:
        """Return a text without it."""
        return self.cut(text)[0]

    def cut(self, text: str) -> tuple[str, list[str]]:
        """Return a text without it, and which kinds the text had."""
        kinds = []
        left = without_lines(text, self.lines)
        if left != text:
            kinds.append(LINES)
            text = left
        if ":" in text and FROM.search(text):
            left = HEADER.sub(_without_header, text)
            if left != text:
                kinds.append(HEADS)
                text = left
        for kind, (sign, pattern) in KINDS.items():
            if sign.search(text):
                text, n = pattern.subn(" ", text)
                kinds += [kind] if n else []
        return text, kinds


def without_lines(text: str, lines: Container[str]) -> str:
    """Return a text without some lines, which are given without spaces around them."""
    return "\n".join(line for line in text.split("\n") if line.strip() not in lines)


def _without_header(header: re.Match[str]) -> str:
    """Return the subject alone of the header of a mail, which has two lines and a sender."""
    lines = header.group()
    if not FROM.search(lines) or lines.strip().count("\n") < 1:
        return lines
    return "\n".join([*SUBJECT.findall(lines), ""])


def repeated_lines(texts: Sequence[str]) -> dict[str, int]:
    """Find lines that many texts of several lines have, such as those of a menu.

    At least 10 texts and 2 % of all have the line; 10 % where it has two to four words, since it
    may be a heading. Lines of one word, and texts of one line, are never left out. Returns how many
    texts have each line, the most frequent one first.
    """
    return most_repeated(count_lines(texts, frequent_lines(texts)), len(texts))


def frequent_lines(texts: Sequence[str]) -> set[str]:
    """Return the lines that may be repeated: a line of 2 % of all texts is one of 2 % in a part."""
    found: Counter[str] = Counter()
    for text in texts:
        if "\n" in text:
            found.update({line.strip() for line in text.split("\n")})
    return {line for line, k in found.items() if k >= REPEATED * len(texts)}


def count_lines(texts: Sequence[str], lines: set[str]) -> Counter[str]:
    """Count the texts of several lines that have each of some lines."""
    several = (text for text in texts if "\n" in text) if lines else ()
    return Counter(
        line
        for text in several
        for line in lines.intersection({one.strip() for one in text.split("\n")})
    )


def having_lines(texts: Sequence[str], lines: Mapping[str, int]) -> list[int]:
    """Return the positions of the texts that have some of the lines."""
    return [
        i for i, text in enumerate(texts) if any(line.strip() in lines for line in text.split("\n"))
    ]


def most_repeated(counts: Mapping[str, int], n: int) -> dict[str, int]:
    """Return the lines that are repeated, by the numbers of the n texts that have them."""

    def is_repeated(line: str, k: int) -> bool:
        if k < max(FEWEST, REPEATED * n):
            return False
        size = len(forms(line))
        return size > SHORT or (size > 1 and k >= REPEATED_SHORT * n)

    many = ((line, k) for line, k in counts.items() if is_repeated(line, k))
    return dict(sorted(many, key=lambda one: (-one[1], one[0])))
