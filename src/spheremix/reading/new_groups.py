"""New groups in a batch, and documents that fit badly: beside random parts of all documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.reading.batch_result import Check, NewGroup
from spheremix.reading.characteristic import characteristic_scores, group_masses
from spheremix.reading.novelty import MOST_SEARCHED, others_of, products, search_group
from spheremix.wording import count, joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.estimators.mixture import VMFMixture
    from spheremix.reading.batch import Past
    from spheremix.reading.exchange import Draws
    from spheremix.reading.novelty import Scored

    Ids = NDArray[np.intp]

MOST_GROUPS = 5  # new groups that are suggested
WORDS = 10  # of a new group


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """What is compared of a batch, and what is seen in random parts of old and new documents.

    Of a batch that is larger than the past, a part is searched, so that prototypes without it are
    left.

    Attributes
    ----------
    places : ndarray of int
        The documents of the batch that were searched.
    gain : float
        Of the clearest new group.
    members : ndarray of int
        Its documents, by numbers among those that were searched.
    drawn : Draws
        What random parts show.
    """

    places: Ids
    gain: float
    members: Ids
    drawn: Draws


def search(past: Past, batch: Scored, limit: float, rng: np.random.Generator) -> Searched:
    """Search the clearest new group, and see what is found in random parts."""
    places = _some(np.arange(len(batch)), len(past.scored), rng)
    gain, members = _clearest(batch, places)
    drawn = past.beside(batch.take(places), members).draw(limit, rng)
    return Searched(places, gain, members, drawn)


def suggest(
    past: Past,
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
    while _rank(searched.drawn.gains, gain) <= level and len(found) < MOST_GROUPS:
        group, rest = places[members], np.flatnonzero(left)
        if len(rest) > n_searched:
            group = others_of(batch, group, rest)
        found.append(_described(past.mixture, batch, group, words))
        left[group] = False
        places = _some(np.flatnonzero(left), len(past.scored), rng)
        gain, members = _clearest(batch, places)
    return found


def _clearest(batch: Scored, places: Ids) -> tuple[float, Ids]:
    """Search the clearest new group in a part of a batch; its documents by numbers in the part."""
    rows = batch.rows[places]
    return search_group(np.arange(len(places)), batch.cosines[places], products(rows, rows))


def _some(ids: Ids, n: int, rng: np.random.Generator) -> Ids:
    """Return all of them, or some where they are more than that."""
    return ids if len(ids) <= n else np.sort(rng.permutation(ids)[:n])


def _described(
    mixture: VMFMixture, batch: Scored, members: Ids, words: list[str] | None
) -> NewGroup:
    sizes = np.bincount(batch.labels[members], minlength=len(mixture.weights_))
    so_far = {int(k): int(sizes[k]) for k in np.argsort(-sizes, kind="stable") if sizes[k]}
    return NewGroup(members, _own_words(mixture, batch, members, words), so_far)


def _rank(drawn: NDArray[Any], value: float) -> float:
    """Return the share of the draws that reach a value, itself included."""
    return float((1.0 + np.count_nonzero(drawn >= value)) / (1.0 + len(drawn)))


def _own_words(
    mixture: VMFMixture, batch: Scored, members: Ids, words: list[str] | None
) -> list[str]:
    """Return the words that set new documents apart from all groups."""
    if words is None:
        return []
    total = np.asarray(batch.rows[members].sum(axis=0)).ravel()
    masses = group_masses(mixture.weights_, mixture.kappas_, len(words))
    prototypes = np.vstack([mixture.prototypes_, total / np.linalg.norm(total)])
    scores = characteristic_scores(prototypes, np.append(masses, masses.mean()))[-1]
    best = np.argsort(-scores, kind="stable")[:WORDS]
    return [words[j] for j in best if scores[j] > 0.0]


def check_groups(searched: Searched, found: list[NewGroup], n_new: int, level: float) -> Check:
    """Return whether there is a new group: the clearest one beside those of random parts."""
    p_value = _rank(searched.drawn.gains, searched.gain)
    said = "no large set of documents that are nearer to each other than to any group"
    if found:
        sizes = [f"{len(one.members):,}" for one in found]
        several = "" if len(found) == 1 else f"{len(found)} sets of "
        said = f"{several}{joined(sizes)} documents are nearer to each other than to any group"
        if len(searched.places) == n_new:  # sizes are those of parts as large as the batch
            usual = int(np.quantile(searched.drawn.sizes, 1.0 - level, method="higher"))
            said += f"; by chance hardly more than {usual:,}" if usual else "; by chance hardly any"
    return Check("new group", p_value, p_value <= level, said)


def check_fit(searched: Searched, bad: NDArray[np.bool_], share: float, level: float) -> Check:
    """Return whether more documents fit badly than in random parts."""
    n, expected = int(bad.sum()), share * len(bad)
    said = f"{n:,} of {count(len(bad), 'document')} fit badly, about {expected:.0f} expected"
    p_value = _rank(searched.drawn.bad, int(bad[searched.places].sum()))
    return Check("fit", p_value, p_value <= level, said)
