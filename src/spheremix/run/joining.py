"""New documents joined to those of a run: texts, ids, dates, labels and all other columns."""

from __future__ import annotations

import itertools
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
    said : str
        How many documents were added, one of the notes of the corpus.
    kept : list of int
        Which of the documents that were given are new, by position.
    """

    corpus: Corpus
    fresh: Corpus
    n_known: int
    said: str
    kept: list[int]


def join_documents(old: Corpus, new: Corpus) -> Joined:
    """Put new documents after the old ones.

    A document with the id and the text of an old one is the same document and is left out; one with
    the id of an old one and another text is refused. Ids that only count the documents go on
    counting, unless they are those of the same documents.
    """
    known = dict(zip(old.ids, old.texts, strict=True))
    where = new.source or "The new documents"
    if _numbered(new):
        same = [
            known[one] == text for one, text in zip(new.ids, new.texts, strict=True) if one in known
        ]
        if not same or not all(same):
            free = (str(i) for i in itertools.count(len(old) + 1) if str(i) not in known)
            new = replace(new, ids=list(itertools.islice(free, len(new))))
    kept = []
    for i, one in enumerate(new.ids):
        if one not in known:
            kept.append(i)
        elif known[one] != new.texts[i]:
            raise ReadError.at(
                where,
                "the id {id} is that of another document of the run",
                remedies=("give new documents ids of their own",),
                id=shown(one),
            )
    fresh = new.take(kept)
    if not kept:
        raise ReadError.at(where, "all of these documents are in the run already.")
    both = (old, fresh)
    said = f"{count(len(fresh), 'document')} of {new.source or 'Python'} added."
    joined = Corpus(
        texts=[*old.texts, *fresh.texts],
        ids=[*old.ids, *fresh.ids],
        dates=_lists([one.dates for one in both], [None] * len(old), [None] * len(fresh)),
        labels=_columns([one.labels for one in both], [len(one) for one in both], ()),
        source=old.source,
        format=old.format,
        notes=[
            *old.notes,
            said,
            *(f"Of the documents that were added: {note}" for note in new.notes),
        ],
        titles=_lists([one.titles for one in both], [""] * len(old), [""] * len(fresh)),
        metadata=_columns([one.metadata for one in both], [len(one) for one in both], None),
    )
    joined = replace(joined, checksum=joined.content_checksum())
    return Joined(joined, fresh, len(new) - len(kept), said, kept)


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
