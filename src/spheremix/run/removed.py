"""Words that a run left out: the record of them, their table, and what is said about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spheremix.errors import Message
from spheremix.run.remark import Remark
from spheremix.text.selection import COMMON, DROPPED, MIXED, MOST_LISTED, RARE, most_frequent
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from spheremix.run.run import Run

STOP = "stop word"  # of the file of the user, not of the language
BY_EDIT = "edit"  # dropped by an edit of the run
REASONS = (STOP, DROPPED, BY_EDIT, MIXED, COMMON, RARE)
NAMED = 5  # words that are named in a sentence
CONFIRMED = 12  # words that were asked for and are confirmed

Removed = dict[str, dict[str, int]]


def removed_words(found: Mapping[str, Mapping[str, int]], stop: Collection[str]) -> Removed:
    """Return what is kept of the words that a vectoriser left out, by reason."""
    asked, given = found[DROPPED], set(stop)
    return {
        STOP: {word: n for word, n in asked.items() if word in given},
        DROPPED: {word: n for word, n in asked.items() if word not in given},
        MIXED: most_frequent(found[MIXED], MOST_LISTED),
        COMMON: dict(found[COMMON]),
        RARE: most_frequent(found[RARE], MOST_LISTED),
    }


def removed_columns(removed: Removed) -> dict[str, list[str | int]]:
    """List the words by reason, those that most documents have first."""
    rows = [
        (word, n, reason)
        for reason in REASONS
        for word, n in most_frequent(removed.get(reason, {})).items()
    ]
    names = ("word", "documents", "reason")
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def named_common(removed: Removed) -> str:
    """Name the first common words: phrases first, since somebody may miss them."""
    words = sorted(most_frequent(removed.get(COMMON, {})), key=lambda word: " " not in word)
    return ", ".join(words[:NAMED]) + (", ..." if len(words) > NAMED else "")


def confirmed(run: Run) -> Remark | None:
    """Confirm which words were left out as asked, and name those that no document has."""
    record = run.manifest.prepared.vectorizer
    asked: dict[str, int] = {}
    for reason in (STOP, DROPPED):
        asked |= record.removed.get(reason, {}) if record is not None else {}
    if not asked:
        return None
    there = [word for word, n in most_frequent(asked).items() if n]
    missing = [word for word, n in sorted(asked.items()) if not n]
    first = [f"{word} ({count(asked[word], 'document')})" for word in there[:1]]
    listed = _few([*first, *(f"{word} ({asked[word]:,})" for word in there[1:])]) or "no word"
    text = "Left out as asked: {listed}"
    if missing:
        text += ". No document has {missing}"
    values = {"listed": listed, "missing": _few(missing)}
    single = record is not None and record.parameters.get("phrases") == 1
    if not (single and any(" " in word for word in missing)):
        return Remark(Message(text, values), Message(text, values).render())
    hint = f"{text} (phrases are found only with "
    page = Message(f"{hint}a run that looks for them)", values).render()
    return Remark(Message(f"{hint}{{ngrams=2}})", values), page)


def _few(words: list[str]) -> str:
    more = len(words) - CONFIRMED
    return ", ".join(words[:CONFIRMED]) + (f" and {count(more, 'other')}" if more > 0 else "")
