"""New groups in a batch: documents that are nearer to each other than to any known group.

What chance makes is seen by exchanging documents of the past and new ones. If nothing is new, a
batch is a random part of all documents, old and new. What is seen in the batch is therefore
compared with what is seen in other random parts of the same size. Each part is scored by the
prototypes that the rest gives, as the batch is by those of the past: a prototype that a part has
helped to make is nearer to its documents. The posteriors, the concentrations and the supports are
those of the fit. Documents of the batch that may be a new group have no part in any prototype: if
they are one, they would spoil the prototypes of known groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.estimators.views import words_of
from spheremix.reading.document_fit import (
    cosines_between,
    joined_rows,
    products,
    some,
    word_places,
)
from spheremix.reading.words import characteristic_scores, group_masses

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.estimators.mixture import VMFMixture
    from spheremix.reading.document_fit import Scored, Share

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

MOST_SEARCHED = 300  # documents of a batch, the worst fitting, among which groups are searched
SEEDS = 30  # of them around which groups are searched
NEIGHBOURS = 4  # with which a search begins
ITERATIONS = 5
LEAST_OF_A_GROUP = 5  # documents of a new group: pairs of reprints are none
N_DRAWS = 399  # random parts that the batch is compared with
MOST_GROUPS = 5  # new groups that are suggested
WORDS = 10  # of a new group


@dataclass(frozen=True, slots=True, eq=False)
class NewGroup:
    """A group that is suggested: documents that are nearer to each other than to any group.

    Attributes
    ----------
    members : ndarray of int
        Their numbers in the batch, from 0.
    words : list of str
        Its characteristic words, the first ones first; empty where columns are no words.
    so_far : dict of int to int
        The groups that are nearest to these documents, with their numbers, largest first.
    """

    members: Ids
    words: list[str]
    so_far: dict[int, int]


def clearest_group(gram: Array, cosines: Array) -> tuple[float, Ids]:
    """Find the clearest group of rows that are nearer to each other than to their own groups.

    A row belongs to a candidate if its cosine with the sum of the other rows of the candidate is
    larger than its cosine with the prototype of its own group. Candidates begin with one of the
    worst fitting rows and its neighbours, and change until they have been changed five times.

    Returns how clear the best candidate is, and its rows: the sum over its rows of the square root
    of what the first of the two cosines is larger by. So many rows that are hardly nearer to each
    other, as those of a known group can be by chance, do not count for as much as a group. Fewer
    than five rows are no group: two that are nearly the same, as reprints are, would otherwise be
    clearer than most groups. Zero and no rows where there is none.
    """
    m = len(cosines)
    if m < LEAST_OF_A_GROUP:
        return 0.0, np.empty(0, dtype=np.intp)
    seeds = np.argsort(cosines, kind="stable")[:SEEDS]
    nearness = gram[seeds] - cosines
    nearness[np.arange(len(seeds)), seeds] = np.inf
    first = np.argsort(-nearness, axis=1, kind="stable")[:, : NEIGHBOURS + 1]
    members = np.zeros((len(seeds), m))
    np.put_along_axis(members, first, 1.0, axis=1)
    gains = np.zeros_like(members)
    for _ in range(ITERATIONS):
        sums = members @ gram
        squares = np.sum(sums * members, axis=1, keepdims=True)
        own = members * np.diagonal(gram)  # what a member adds to its own product
        lengths = np.sqrt(np.maximum(squares - 2.0 * members * sums + own, 1e-12))
        others = members.sum(axis=1, keepdims=True) - members
        gains = (sums - own) / lengths - cosines
        members = np.where((gains > 0.0) & (others > 0.0), 1.0, 0.0)
        members[members.sum(axis=1) < 2.0] = 0.0
    members[members.sum(axis=1) < LEAST_OF_A_GROUP] = 0.0
    found = np.sum(np.sqrt(np.maximum(gains, 0.0)) * members, axis=1)
    best = int(found.argmax())
    return float(found[best]), np.flatnonzero(members[best])


def search_group(places: Ids, cosines: Array, gram: Array) -> tuple[float, Ids]:
    """Search the clearest new group among some rows, or the worst fitting where they are many.

    ``cosines`` are those of these rows, ``gram`` has the products of all rows; places are numbers
    among all rows, in the result too.
    """
    if len(places) > MOST_SEARCHED:
        worst = np.sort(np.argsort(cosines, kind="stable")[:MOST_SEARCHED])
        places, cosines = places[worst], cosines[worst]
    value, members = clearest_group(gram[np.ix_(places, places)], cosines)
    return value, places[members]


def others_of(scored: Scored, members: Ids, places: Ids) -> Ids:
    """Add other rows that are nearer to the members than to their own group."""
    if not len(members):
        return members
    total = np.asarray(scored.rows[members].sum(axis=0)).ravel()
    unseen = np.setdiff1d(places, members)
    near = np.asarray(scored.rows[unseen] @ (total / np.linalg.norm(total)))
    near = near / np.sqrt(scored.sizes[unseen])
    return np.sort(np.concatenate([members, unseen[near > scored.cosines[unseen]]]))


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """What is seen in random parts, an entry each."""

    gains: Array  # of the clearest new groups
    sizes: Ids  # their numbers of documents
    bad: Ids  # numbers of documents that fit badly


class Exchange:
    """Documents of the past and of a batch, any of which can be called new.

    The prototype of group k is the direction of q_k, a sum over documents on the support of the
    prototype: q_k = sum_i t_ik x_i, less a threshold if there is a penalty. Without the documents
    of a part D it is the direction of q_k - sum_{i in D} t_ik x_i on the support. All documents
    keep the group that they have.

    ``suspects`` are the clearest new group in the batch, by numbers in it; ``vectors`` the q_k of
    the past, of documents that are not among the given ones too; ``gram`` has the cosines of the
    documents of the past. With several views all this is so for each of ``views``, and cosines are
    added up.
    """

    def __init__(
        self,
        past: Scored,
        batch: Scored,
        suspects: Ids,
        vectors: Array,
        gram: Array,
        views: list[Share],
    ) -> None:
        self.n_past, self.n_new = len(past), len(batch)
        self.all = joined_rows([past, batch])
        counts = np.ones(len(self.all))
        counts[self.n_past + suspects] = 0.0
        self._pulls = self.all.pulls.multiply(counts[:, None]).tocsr()
        across = cosines_between(batch, past)
        own = cosines_between(batch, batch)
        self.gram: Array = np.block([[gram, across.T], [across, own]])
        self._support = None if np.all(vectors) else (vectors != 0.0).astype(np.float64)
        self._vectors: Array = vectors + self._sums(np.arange(self.n_past, len(self.all)))
        self._views = [_Part(self.all, self._vectors, view) for view in views]

    @property
    def batch(self) -> Ids:
        """The places of the new documents."""
        return np.arange(self.n_past, len(self.all))

    def cosines(self, part: Ids) -> Array:
        """Return the cosines of documents with the prototypes that all others give."""
        groups, places = np.unique(self.all.labels[part], return_inverse=True)
        sums = self._sums(part)[groups]
        found = sum(view.cosines(part, groups, places, sums) for view in self._views)
        return np.asarray(found / self.all.sizes[part])

    def draw(self, limit: float, rng: np.random.Generator) -> Draws:
        """Draw random parts as large as the batch; documents below the limit fit badly."""
        gains = np.empty(N_DRAWS)
        sizes, bad = np.empty((2, N_DRAWS), dtype=np.intp)
        for i in range(N_DRAWS):
            part = np.sort(rng.choice(len(self.all), self.n_new, replace=False))
            cosines = self.cosines(part)
            gains[i], members = search_group(part, cosines, self.gram)
            sizes[i], bad[i] = len(members), np.count_nonzero(cosines < limit)
        return Draws(gains, sizes, bad)

    def _sums(self, part: Ids) -> Array:
        """Return the sums of documents in each group, on the supports: (K, d)."""
        found: Any = self._pulls[part].T @ self.all.rows[part]
        sums = found.toarray() if hasattr(found, "toarray") else found
        return np.asarray(sums if self._support is None else sums * self._support)


class _Part:
    """What the documents have in one view, and the prototypes there."""

    def __init__(self, documents: Scored, vectors: Array, view: Share) -> None:
        self._columns, self._root = view.columns, np.sqrt(view.share)
        self._rows = documents.rows[:, view.columns]
        self._vectors = vectors[:, view.columns]
        self._squares: Array = np.einsum("kj,kj->k", self._vectors, self._vectors)
        self._products = _along(self._rows, self._vectors[documents.labels])

    def cosines(self, part: Ids, groups: Ids, places: Ids, sums: Array) -> Array:
        """Return the cosines of documents with the prototypes without these sums, times the share.

        ``groups`` has the groups that occur, with their ``sums``, and ``places`` which of them is
        that of each document.
        """
        own = sums[:, self._columns]
        squares = self._squares[groups] + np.einsum(
            "kj,kj->k", own, own - 2.0 * self._vectors[groups]
        )
        lengths = np.sqrt(np.maximum(squares, 1e-12))
        # The product with every sum that occurs costs less than a copy of the right one for a row.
        pulled = products(self._rows[part], own)[np.arange(len(part)), places]
        return np.asarray(self._root * (self._products[part] - pulled) / lengths[places])


def _along(rows: Any, others: Array) -> Array:
    """Return the product of each row with another one."""
    if hasattr(rows, "multiply"):
        return np.asarray(rows.multiply(others).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", rows, others))


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """What is compared of a batch, and what is seen in random parts of old and new documents.

    Of a batch that is larger than the past, a part is searched, so that prototypes without it are
    left.
    """

    places: Ids  # the documents of the batch that were searched
    gain: float  # of the clearest new group
    members: Ids  # its documents, by numbers among those that were searched
    drawn: Draws


def search(
    past: Scored,
    batch: Scored,
    vectors: Array,
    gram: Array,
    views: list[Share],
    limit: float,
    rng: np.random.Generator,
) -> Searched:
    """Search the clearest new group, and see what is found in random parts.

    The first arguments are those of :class:`Exchange`; documents whose cosine is below the limit
    fit badly.
    """
    places = some(np.arange(len(batch)), len(past), rng)
    gain, members = _clearest(batch, places)
    drawn = Exchange(past, batch.take(places), members, vectors, gram, views).draw(limit, rng)
    return Searched(places, gain, members, drawn)


def suggest(
    mixture: VMFMixture,
    n_past: int,
    batch: Scored,
    searched: Searched,
    words: list[str] | None,
    level: float,
    rng: np.random.Generator,
) -> list[NewGroup]:
    """Suggest new groups, the clearest first; each is searched without the documents of others.

    What belongs to a group is also taken from documents that were not searched.
    """
    places, gain, members = searched.places, searched.gain, searched.members
    n_searched = min(len(places), MOST_SEARCHED)
    left = np.ones(len(batch), dtype=bool)
    found: list[NewGroup] = []
    while rank(searched.drawn.gains, gain) <= level and len(found) < MOST_GROUPS:
        group, rest = places[members], np.flatnonzero(left)
        if len(rest) > n_searched:
            group = others_of(batch, group, rest)
        found.append(_described(mixture, batch, group, words))
        left[group] = False
        places = some(np.flatnonzero(left), n_past, rng)
        gain, members = _clearest(batch, places)
    return found


def _clearest(batch: Scored, places: Ids) -> tuple[float, Ids]:
    """Search the clearest new group in a part of a batch; its documents by numbers in the part."""
    few = batch.take(places)
    return search_group(np.arange(len(places)), few.cosines, cosines_between(few, few))


def _described(
    mixture: VMFMixture, batch: Scored, members: Ids, words: list[str] | None
) -> NewGroup:
    sizes = np.bincount(batch.labels[members], minlength=len(mixture.weights_))
    so_far = {int(k): int(sizes[k]) for k in np.argsort(-sizes, kind="stable") if sizes[k]}
    return NewGroup(members, _own_words(mixture, batch, members, words), so_far)


def rank(drawn: NDArray[Any], value: float) -> float:
    """Return the share of the draws that reach a value, itself included."""
    return float((1.0 + np.count_nonzero(drawn >= value)) / (1.0 + len(drawn)))


def _own_words(
    mixture: VMFMixture, batch: Scored, members: Ids, words: list[str] | None
) -> list[str]:
    """Return the words that set new documents apart from all groups."""
    if words is None:
        return []
    own, places = words_of(mixture), word_places(mixture)
    total = np.asarray(batch.rows[members].sum(axis=0)).ravel()[places]
    if not total.any():
        return []
    masses = group_masses(mixture.weights_, own.kappas_, len(words))
    prototypes = np.vstack([own.prototypes_, total / np.linalg.norm(total)])
    scores = characteristic_scores(prototypes, np.append(masses, masses.mean()))[-1]
    best = np.argsort(-scores, kind="stable")[:WORDS]
    return [words[j] for j in best if scores[j] > 0.0]
