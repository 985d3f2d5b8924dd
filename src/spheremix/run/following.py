"""Edits that follow their groups into another run: found again by the documents they had."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.reading import align_partitions
from spheremix.run.edit_schema import EditNotes, WaitingEdits
from spheremix.run.edits import n_wishes
from spheremix.run.history import NOBODY, read_groups
from spheremix.run.tables import all_clusters
from spheremix.text.corpus import shown
from spheremix.wording import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spheremix.run.edit_schema import Edits, EditStep
    from spheremix.run.prepare import Material
    from spheremix.run.refitting import Groups
    from spheremix.text import Corpus

SAME = 2 / 3  # share of common documents, of those in either, from which a group is the same
STRANGERS = (
    "None of the documents that were edited is in this run: documents are known by their ids, by "
    "their texts if they have none, or by the values of their rows if there are no texts."
)


def identities(corpus: Corpus, rows: Iterable[bytes] = ()) -> list[str]:
    """Return what documents are known by.

    These are their ids, or their texts where ids are only numbers, or their rows where there are no
    texts.
    """
    if any(one != str(i) for i, one in enumerate(corpus.ids, 1)):
        return list(corpus.ids)
    if any(corpus.texts):
        rows = (text.encode("utf-8", "surrogatepass") for text in corpus.texts)
    seen: Counter[str] = Counter()  # equal ones are told apart by their order
    found = []
    for one in rows:
        digest = hashlib.sha256(one).hexdigest()[:16]
        seen[digest] += 1
        found.append(digest if seen[digest] == 1 else f"{digest}-{seen[digest]}")
    return found


def rows_of(material: Material) -> Iterator[bytes]:
    """Return the bytes of the row of each document; none for those that were set aside."""
    X: Any = material.X
    places = {int(i): row for row, i in enumerate(material.kept)}
    for i in range(material.n_documents):
        if i not in places:
            yield b""
        elif hasattr(X, "indptr"):
            part = slice(*X.indptr[places[i] : places[i] + 2].tolist())
            yield X.indices[part].astype("<i8").tobytes() + X.data[part].astype("<f8").tobytes()
        else:
            yield X[places[i]].astype("<f8").tobytes()


def places_of(material: Material) -> dict[str, int]:
    """Return where each document is, by what it is known by."""
    known = identities(material.source, rows_of(material))
    return {one: i for i, one in reversed(list(enumerate(known)))}


def write_groups(labels: Any, material: Material) -> str:
    """Return the group of each document as a text."""
    found = all_clusters(labels, material)
    return " ".join(NOBODY if k < 0 else str(k) for k in found.tolist())


def bring(
    step: EditStep, documents: list[str], places: dict[str, int], groups: Groups, fit: str
) -> EditStep:
    """Bring a step to the groups of now, where it was made to others.

    Whatever cannot follow waits, with all that was asked for at once: when its groups come back, it
    is made as it was.

    Parameters
    ----------
    step : EditStep
        The edits, with the groups that the documents had.
    documents : list of str
        What these documents are known by.
    places : dict of str to int
        Where documents are now, by what they are known by.
    groups : Groups
        The groups now.
    fit : str
        What the numbers of these groups belong to.
    """
    waiting = step.waiting
    if waiting is not None and waiting.edits.run == fit:
        return replace(step, edits=waiting.edits, waiting=None)
    if step.edits.run == fit:
        return step
    last = WaitingEdits(edits=step.edits, groups=step.groups, documents=documents, lost=[])
    whole = waiting or last
    edits, lost = follow(whole, places, groups)
    if waiting is not None and lost:  # part of it may have followed to documents that came later
        others, left = follow(last, places, groups)
        if n_wishes(others) > n_wishes(edits):
            edits, lost = others, list(dict.fromkeys([*waiting.lost, *left]))
    return replace(
        step,
        edits=replace(edits, run=fit),
        waiting=replace(whole, lost=lost) if lost else None,
    )


def follow(known: WaitingEdits, places: dict[str, int], groups: Groups) -> tuple[Edits, list[str]]:
    """Bring edits to the groups of another run; say what could not follow.

    A group is the same where at least two thirds of the documents in either are in both; documents
    that only one of the runs has do not count.
    """
    source, words, documents = groups.material.source, groups.material.words, known.documents
    now = all_clusters(groups.mixture.labels_, groups.material)
    before = read_groups(known.groups)
    common = [(i, places[one]) for i, one in enumerate(documents[: len(before)]) if one in places]
    old = np.array([i for i, _ in common], dtype=np.intp)
    new = np.array([j for _, j in common], dtype=np.intp)
    n_before = int(before.max(initial=-1)) + 1
    found = align_partitions(before[old], now[new], n_before=n_before, n_after=groups.best)
    became = {one.before: one.after for one in found.matches if one.score >= SAME}
    ids = _documents(documents, places, source)
    edits, lost = _Follower(became, ids, set(words or ())).follow(known.edits)
    return edits, [*lost, STRANGERS] if lost and not common else lost


def _documents(documents: list[str], places: dict[str, int], source: Corpus) -> dict[str, str]:
    """Return the id of each document that is still there by its id before."""
    numbered = {str(i): one for i, one in enumerate(documents, 1)}
    known = {one: one for one in documents}  # ids are their own identities, numbers are not
    return {
        before: source.ids[places[one]]
        for before, one in {**numbered, **known}.items()
        if one in places
    }


class _Follower:
    """Edits whose groups and documents have other numbers and ids now."""

    def __init__(self, became: dict[int, int], ids: dict[str, str], words: set[str]) -> None:
        self.became, self.ids, self.words = became, ids, words
        self.lost: list[str] = []

    def follow(self, edits: Edits) -> tuple[Edits, list[str]]:
        names = self._by_group("the name {}", edits.names)
        notes = EditNotes(
            groups=self._by_group("the note {}", edits.notes.groups),
            documents=self._by_document(edits.notes.documents),
        )
        merge = [several for one in edits.merge if len(several := self._merge(one)) > 1]
        split = [self.became[k] for k in edits.split if self._is_there(k, "its split")]
        words = [word for word in edits.drop_words if word in self.words]
        marked = [self.ids[one] for one in edits.misplaced if one in self.ids]
        if len(words) < len(edits.drop_words):
            gone = [word for word in edits.drop_words if word not in self.words]
            self._say(f"the dropping of {_list(gone)}, which this run does not have as a word")
        if len(marked) < len(edits.misplaced):
            gone = [one for one in edits.misplaced if one not in self.ids]
            self._say(f"the marks of documents {_list(gone)}, which are not there")
        followed = replace(
            edits,
            names=names,
            notes=notes,
            merge=merge,
            split=split,
            drop_words=words,
            misplaced=marked,
        )
        return followed, self.lost

    def _is_there(self, k: int, what: str) -> bool:
        if k in self.became:
            return True
        self._say(f"{what} of the earlier group {k}: no group shares two thirds of its documents")
        return False

    def _by_group(self, what: str, values: dict[int, str]) -> dict[int, str]:
        return {
            self.became[k]: value
            for k, value in values.items()
            if self._is_there(k, what.format(repr(value)))
        }

    def _by_document(self, notes: dict[str, str]) -> dict[str, str]:
        for one, note in notes.items():
            if one not in self.ids:
                self._say(f"the note {note!r} on document {shown(one)}, which is not there")
        return {self.ids[one]: note for one, note in notes.items() if one in self.ids}

    def _merge(self, several: list[int]) -> list[int]:
        found = [self.became[k] for k in several if k in self.became]  # the first gives its name
        if len(found) < len(several):
            gone = [str(k) for k in several if k not in self.became]
            named = joined([str(k) for k in several])
            kept = ", so the others are merged" if len(found) > 1 else ""
            self._say(
                f"the merge of the earlier groups {named}: no group has the same documents, or "
                f"nearly, as {joined(gone)}{kept}"
            )
        return found

    def _say(self, what: str) -> None:
        self.lost.append(f"Could not be kept: {what}.")


def _list(values: Iterable[str]) -> str:
    return ", ".join(map(shown, values))
