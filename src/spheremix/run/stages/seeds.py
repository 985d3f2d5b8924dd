"""Groups that are asked for, found among the rows: columns of their words, rows of their ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.errors import Message, ParameterError
from spheremix.text.corpus import digest, listed, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from spheremix.run.stages.rows import Rows


@dataclass(frozen=True, slots=True, eq=False)
class Seeded:
    """What estimators take: the first components are the groups that are asked for."""

    names: list[str]
    columns: list[list[int]] | None  # of the words of each group; None where none has words
    labels: NDArray[np.intp] | None  # the group of each row, -1 where it is not known
    notes: list[Message]

    def key(self) -> tuple[str, ...]:
        """Return what labels add to the key of a fit; columns are parameters of the estimator."""
        return () if self.labels is None else (digest([self.labels.astype("<i8").tobytes()]),)


def find_seeds(codebook: Any, rows: Rows, *, split: bool) -> Seeded | None:
    """Find words and documents of a codebook; those that are not there are named in a note."""
    if codebook is None:
        return None
    if split and any(one["ids"] for one in codebook):
        raise ParameterError(
            "{seeds}: ids are of whole documents, and these are split into passages",
            remedies=("give words", "keep documents whole, {split='none'}"),
        )
    if rows.words is None and any(one["words"] for one in codebook):
        raise ParameterError(
            "{seeds}: words are for groups of texts, and these are groups by embeddings alone",
            remedies=("give ids of documents",),
        )
    look = _lookup(rows)
    places = {rows.corpus.ids[i]: row for row, i in enumerate(rows.kept.tolist())}
    labels = np.full(len(rows.kept), -1, dtype=np.intp)
    columns: list[list[int]] = []
    lost: list[str] = []
    for k, one in enumerate(codebook):
        known = {word: look(word) for word in one["words"]}
        columns.append(list(dict.fromkeys(j for found in known.values() for j in found)))
        away = [word for word, found in known.items() if not found]
        for name in one["ids"]:
            row = places.get(name)
            if row is None:
                away.append(name)
            elif labels[row] not in {-1, k}:
                both = [codebook[labels[row]]["group"], one["group"]]
                raise ParameterError(
                    "{seeds}: the document {id} is in two groups, {both}",
                    remedies=("leave it in one",),
                    id=shown(name),
                    both=listed(both),
                )
            else:
                labels[row] = k
        if not columns[-1] and not np.any(labels == k):
            raise ParameterError(
                "{seeds}: nothing of the group {name} is in the documents: {away}",
                remedies=("give words that are in several documents",),
                name=shown(one["group"]),
                away=listed(away),
            )
        if away:
            lost.append(f"{listed(away)} ({one['group']})")
    text = "{seeds}: not among the words and documents that are grouped: {lost}"
    return Seeded(
        [one["group"] for one in codebook],
        columns if any(columns) else None,
        labels if np.any(labels >= 0) else None,
        [Message(text, {"lost": "; ".join(lost)})] if lost else [],
    )


def _lookup(rows: Rows) -> Callable[[str], list[int]]:
    """Return what finds the columns of a word, in whichever form it is written."""
    words = rows.words or []
    places = {word: j for j, word in enumerate(words)}
    how = rows.vectorization
    if how is None:
        return lambda word: [places[word]] if word in places else []
    vectorizer = how.vectorizer(words)
    return lambda word: [places[one] for one in vectorizer.words(word) if one in places]
