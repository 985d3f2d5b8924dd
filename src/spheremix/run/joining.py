"""New documents joined to those of a run: texts, ids, dates, labels and all other columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from spheremix.text import Corpus, ReadError
from spheremix.text.corpus import shown
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Joined:
    """Documents of the past, followed by new ones.

    Attributes
    ----------
    corpus : Corpus
        All of them.
    fresh : Corpus
        The new ones alone, with the ids that they have in the corpus.
    n_known : int
        Documents that were given as new and were there already; they are left out.
    """

    corpus: Corpus
    fresh: Corpus
    n_known: int


def join_documents(old: Corpus, new: Corpus) -> Joined:
    """Put new documents after the old ones.

    Ids that only count the documents go on counting. A document with the id and the text of an old
    one is the same document and is left out; one with the id of an old one and another text is
    refused.
    """
    if _numbered(old) and _numbered(new):
        numbers = [str(len(old) + i) for i in range(1, len(new) + 1)]
        new = replace(new, ids=numbers)
    known = dict(zip(old.ids, old.texts, strict=True))
    kept = []
    for i, one in enumerate(new.ids):
        if one not in known:
            kept.append(i)
        elif known[one] != new.texts[i]:
            raise ReadError.at(
                new.source,
                f"the id {shown(one)} is that of another document of the run.",
                remedies=("give new documents ids of their own",),
            )
    fresh = new.take(kept)
    if not kept:
        raise ReadError.at(new.source, "all of these documents are in the run already.")
    both = (old, fresh)
    joined = Corpus(
        texts=[*old.texts, *fresh.texts],
        ids=[*old.ids, *fresh.ids],
        dates=_lists([one.dates for one in both], [None] * len(old), [None] * len(fresh)),
        labels=_columns([one.labels for one in both], [len(one) for one in both], ()),
        source=old.source,
        format=old.format,
        notes=[*old.notes, f"{count(len(fresh), 'document')} of {new.source or 'Python'} added."],
        titles=_lists([one.titles for one in both], [""] * len(old), [""] * len(fresh)),
        metadata=_columns([one.metadata for one in both], [len(one) for one in both], None),
    )
    return Joined(replace(joined, checksum=joined.content_checksum()), fresh, len(new) - len(kept))


def _numbered(corpus: Corpus) -> bool:
    return all(one == str(i) for i, one in enumerate(corpus.ids, 1))


def _lists(parts: Sequence[list[Any] | None], *missing: list[Any]) -> list[Any] | None:
    """Join lists, where one of them may be missing; None where both are."""
    if all(one is None for one in parts):
        return None
    return [
        value
        for one, empty in zip(parts, missing, strict=True)
        for value in (empty if one is None else one)
    ]


def _columns(
    parts: Sequence[dict[str, list[Any]]], sizes: Sequence[int], missing: Any
) -> dict[str, list[Any]]:
    """Join columns by name; documents without a column have what stands for nothing there."""
    names = dict.fromkeys(name for one in parts for name in one)
    return {
        name: [
            value
            for one, n in zip(parts, sizes, strict=True)
            for value in one.get(name, [missing] * n)
        ]
        for name in names
    }
