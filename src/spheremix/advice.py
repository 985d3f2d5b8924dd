"""How many clusters: the numbers that follow from the evidence, and what speaks against them.

Two kinds of evidence decide. Clusters should be *stable*: rows that are drawn again should fall
into the same clusters, more than rows without any clusters do. And the number should be a *turning
point*: the last cluster should explain much more than a further one would. A corpus may have
several good answers, so the advice has up to three, and it names its doubts.

:mod:`spheremix.estimators.advice` measures the evidence on rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.wording import count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

# Standard deviations above chance, below which there are no clusters. Student's quantile for ten
# sets of rows without clusters and three numbers of clusters: chance passes it once in a hundred.
APART = 3.7
MANY = 10.0  # rows for each column, from which on BIC counts
STABLE = 0.7  # stability, corrected for chance, of clusters that one can rely on
LOOSE = 0.5  # stability below which another sample would give other clusters
CLEAR = 0.25  # by which the best number should stand out from the middle of the others
GIANT = 0.8  # share of a cluster that hides all others
BY_LABEL = 0.8  # adjusted Rand index of two clusters with labels
BY_LENGTH = 0.8  # rank correlation of two clusters with the length of documents
MOST = 3  # numbers that are recommended
_NOTHING = "No groups: a division gains no more than it does where there are no groups."


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What is known of each number of clusters; NaN where something is not known.

    Attributes
    ----------
    candidates : ndarray of int of shape (C,)
        The numbers of clusters, increasing.
    n_rows : float
        Rows, or the sum of their weights.
    n_features : int
        Columns.
    log_likelihoods : ndarray of shape (C,)
        Of the best mixture of each number.
    one_cluster : float
        The log-likelihood of a mixture of one component.
    n_parameters : ndarray of shape (C,)
        Parameters of the mixtures, as the criteria count them.
    criteria : dict of str to ndarray of shape (C,)
        Information criteria; smaller is better.
    stability : ndarray of shape (C,)
        Mean adjusted Rand index between the clusters of rows that were drawn again.
    chance : ndarray of shape (C,)
        The same for rows without clusters.
    agreement : ndarray of shape (C,)
        Mean adjusted Rand index of the other runs of the search with the best one.
    largest : ndarray of shape (C,)
        Share of the largest cluster.
    merge_costs : ndarray of shape (C,) or None
        What merging two of K clusters loses, in nats; of a tree.
    held_out : ndarray of shape (C,) or None
        Log-likelihood of rows that were left out, a row.
    apart : float or None
        By how many standard deviations clusters gain more than in rows without clusters.
    chance_gain : float
        What a further cluster gains in rows without clusters, in nats a row.
    by_length : float or None
        Rank correlation of two clusters with the number of words of the documents.
    by_label : (str, float) or None
        The column of labels that two clusters agree with most, and the adjusted Rand index.
    """

    candidates: NDArray[np.intp]
    n_rows: float
    n_features: int
    log_likelihoods: Array
    one_cluster: float
    n_parameters: Array
    criteria: dict[str, Array]
    stability: Array
    chance: Array
    agreement: Array
    largest: Array
    merge_costs: Array | None = None
    held_out: Array | None = None
    apart: float | None = None
    chance_gain: float = 0.0
    by_length: float | None = None
    by_label: tuple[str, float] | None = None

    @property
    def adjusted_stability(self) -> Array:
        """Stability between 0, what chance gives, and 1; 0 for one cluster.

        Where rows were not drawn again, the agreement of the runs stands for it.
        """
        found = np.where(np.isfinite(self.stability), self.stability, self.agreement)
        corrected = (found - self.chance) / (1.0 - self.chance)
        corrected = np.where(self.candidates == 1, 0.0, np.nan_to_num(corrected, nan=0.0))
        return np.clip(corrected, 0.0, 1.0)

    @property
    def gains(self) -> Array:
        """What each further cluster adds to the log-likelihood, in nats a row."""
        steps = np.diff(self.candidates, prepend=1)
        added = np.diff(self.log_likelihoods, prepend=self.one_cluster)
        if steps[0] == 0:  # one cluster is a candidate: it adds nothing
            steps[0], added[0] = 1, 0.0
        gains: Array = added / steps / self.n_rows
        return gains

    @property
    def least_gain(self) -> Array:
        """What a further cluster must gain to count: more than by chance, and what BIC asks for."""
        each = self.n_parameters / np.maximum(self.candidates, 1)
        price = each * np.log(max(self.n_rows, 2.0)) / (2.0 * self.n_rows)
        least: Array = np.maximum(price, self.chance_gain)
        return least

    @property
    def turning(self) -> Array:
        """How much less a further cluster explains than the last one did, between 0 and 1.

        With merge costs, the mean of both. The last number has none, since what follows is not
        known; nor has the first one, above two, since the last of its clusters may have added much
        less than all of them together.
        """
        gains = self.gains
        if self.candidates[0] > 2:
            gains[0] = np.nan
        falls = [_falls(gains, self.least_gain)]
        if self.merge_costs is not None:
            falls.append(_falls(self.merge_costs / self.n_rows, self.least_gain))
        turning: Array = np.mean(falls, axis=0)
        return turning

    @property
    def scores(self) -> Array:
        """Adjusted stability plus turning: between 0 and 2."""
        return self.adjusted_stability + self.turning


def _falls(gains: Array, least: Array) -> Array:
    """Return the relative fall after each gain; gains below the least one count as the least."""
    floored = np.maximum(np.nan_to_num(gains, nan=0.0), np.maximum(least, 1e-300))
    falls = np.zeros(len(gains))
    falls[:-1] = np.clip(1.0 - floored[1:] / floored[:-1], 0.0, 1.0)
    return falls


@dataclass(frozen=True, slots=True)
class Recommendation:
    """One number of clusters that the evidence speaks for.

    Attributes
    ----------
    n_clusters : int
        The number; 1 stands for no clusters.
    reading : {"first", "coarser", "finer", "none"}
        The first choice, or how the number compares with it; "none" for no clusters.
    sentence : str
        Why, in plain words.
    """

    n_clusters: int
    reading: str
    sentence: str


@dataclass(frozen=True, slots=True, eq=False)
class Advice:
    """How many clusters there are, how sure that is, and what else could be said.

    Attributes
    ----------
    recommended : tuple of Recommendation
        One to three numbers, the best first.
    certainty : {"clear", "fair", "weak"}
        How sure the first one is.
    doubts : tuple of str
        What speaks against it, in plain words.
    evidence : Evidence
        What the advice was made of.
    """

    recommended: tuple[Recommendation, ...]
    certainty: str
    doubts: tuple[str, ...]
    evidence: Evidence = field(repr=False)

    @property
    def n_clusters(self) -> int:
        """The first recommended number; 1 for no clusters."""
        return self.recommended[0].n_clusters

    @property
    def best_candidate(self) -> int:
        """The first recommended number that was a candidate."""
        known = {int(K) for K in self.evidence.candidates}
        return next(one.n_clusters for one in self.recommended if one.n_clusters in known)

    def __str__(self) -> str:
        """Say it in a few sentences."""
        return "\n".join([*(one.sentence for one in self.recommended), *self.doubts])

    def table(self) -> dict[str, NDArray[Any]]:
        """Return the evidence as columns, one row for each candidate."""
        evidence = self.evidence
        places = {one.n_clusters: i for i, one in enumerate(self.recommended, 1)}
        columns: dict[str, NDArray[Any]] = {
            "n_components": evidence.candidates,
            "stability": evidence.stability,
            "chance": evidence.chance,
            "adjusted_stability": evidence.adjusted_stability,
            "gain": evidence.gains,
            "turning": evidence.turning,
            "score": evidence.scores,
            "agreement": evidence.agreement,
            "largest": evidence.largest,
        }
        if evidence.merge_costs is not None:
            columns["merge_cost"] = evidence.merge_costs
        if evidence.held_out is not None:
            columns["held_out"] = evidence.held_out
        columns |= evidence.criteria
        columns["recommended"] = np.array([places.get(int(K), 0) for K in evidence.candidates])
        return columns


def advise(evidence: Evidence) -> Advice:
    """Recommend one to three numbers of clusters."""
    candidates = evidence.candidates
    places = _places(evidence)
    best = places[0]
    by_bic = bic_turn(evidence)
    if by_bic is not None and by_bic not in places:
        places = [best, by_bic, *places[1:]]
    places = places[:MOST]
    first = int(candidates[best])
    recommended = [
        Recommendation(
            int(candidates[i]), _reading(int(candidates[i]), first), _sentence(evidence, i, best)
        )
        for i in places
    ]
    if _nothing_there(evidence) and first > 1:
        recommended = [Recommendation(1, "none", _NOTHING), *recommended][:MOST]
    return Advice(
        tuple(recommended), _certainty(evidence, best), tuple(_doubts(evidence, best)), evidence
    )


def _nothing_there(evidence: Evidence) -> bool:
    return evidence.apart is not None and evidence.apart < APART


def bic_turn(evidence: Evidence) -> int | None:
    """Return the place of the smallest BIC, where BIC counts.

    It counts where there are many more rows than columns and the smallest value is not at the
    upper end of the range, where it would only say that it wants more.
    """
    values = evidence.criteria.get("bic")
    if values is None or evidence.n_rows < MANY * evidence.n_features:
        return None
    if not np.isfinite(values).any():
        return None
    place = int(np.nanargmin(values))
    return None if place == len(values) - 1 and len(values) > 1 else place


def _places(evidence: Evidence) -> list[int]:
    """Find the good numbers, the best first.

    Two clusters come first only where they are all there is: nearly every corpus falls into two
    halves, and who is told so has learned little. A finer number comes before them if its clusters
    are stable, or if two do not clearly stand out from it, and if it gains more than by chance.
    """
    scores = evidence.scores
    best = int(np.argmax(scores))
    others = _others(evidence, best)
    if evidence.candidates[best] == 2:
        good = (evidence.adjusted_stability >= STABLE) | (scores > scores[best] - CLEAR)
        good &= evidence.gains > evidence.least_gain
        finer = [i for i in _peaks(evidence, best) if good[i]]
        if finer:
            first = max(finer, key=lambda i: scores[i])
            return [first, best, *(i for i in others if i != first)]
    return [best, *others]


def _peaks(evidence: Evidence, best: int) -> list[int]:
    """Find other numbers whose score no neighbour exceeds, and whose clusters are not loose.

    The last candidate is none of them, since what follows it is not known.
    """
    scores, stable = evidence.scores, evidence.adjusted_stability
    padded = np.r_[-np.inf, scores, -np.inf]
    return [
        i
        for i in range(len(scores) - 1)
        if i != best and scores[i] >= max(padded[i], padded[i + 2]) and stable[i] >= LOOSE
    ]


def _others(evidence: Evidence, best: int) -> list[int]:
    """Find other good numbers, the best first: peaks of the score, and the finest stable number."""
    scores, stable, peaks = evidence.scores, evidence.adjusted_stability, _peaks(evidence, best)
    enough = (stable >= STABLE) & (evidence.gains > evidence.least_gain)
    finest = best
    while finest + 2 < len(scores) and enough[finest + 1]:
        finest += 1
    if finest > best and finest not in peaks:
        peaks.append(finest)
    return sorted(peaks, key=lambda i: (-scores[i], i))


def _reading(K: int, first: int) -> str:
    if first == K:
        return "first"
    return "coarser" if first > K else "finer"


def _sentence(evidence: Evidence, i: int, best: int) -> str:
    """Say why a number is recommended."""
    K = int(evidence.candidates[i])
    what = count(K, "group")
    if i != best:
        what += " (coarser)" if i < best else " (finer)"
    if np.isfinite(evidence.stability[i]):
        why = (
            "in another sample the groups are the same with an agreement of "
            f"{evidence.stability[i]:.2f} (by chance {evidence.chance[i]:.2f})"
        )
    else:
        why = f"the runs of the search agree at {evidence.agreement[i]:.2f}"
    fall = evidence.turning[i]
    if fall >= 0.1:
        why += (
            ", and the fit gains less from here on: a further group would improve it by "
            f"{fall:.0%} less than the last one did"
        )
    if bic_turn(evidence) == i:
        why += ", and BIC is smallest"
    if i == best and i != int(np.argmax(evidence.scores)):
        why += (
            ". 2 groups stand out more, but nearly everything falls into two halves, and finer "
            "groups say more"
        )
    elif i == best and (evidence.stability > evidence.stability[i] + 0.01).any():
        most = int(np.nanargmax(evidence.stability))
        why += (
            f". {int(evidence.candidates[most])} groups agree more "
            f"({evidence.stability[most]:.2f}), but what a further group would add is weighed "
            f"too, and both together speak for {K}"
        )
    return f"{what}: {why}."


def _certainty(evidence: Evidence, best: int) -> str:
    """Say how sure the first number is."""
    if _nothing_there(evidence):
        return "clear" if (evidence.apart or 0.0) < APART - 1.0 else "fair"
    if evidence.adjusted_stability[best] < LOOSE or _is_flat(evidence, best):
        return "weak"
    ahead = np.delete(evidence.scores, best)
    margin = evidence.scores[best] - (ahead.max() if len(ahead) else 0.0)
    return (
        "clear" if evidence.adjusted_stability[best] >= STABLE and margin >= CLEAR / 2 else "fair"
    )


def _is_flat(evidence: Evidence, best: int) -> bool:
    others = np.delete(evidence.scores, best)
    return len(others) > 1 and bool(evidence.scores[best] - np.median(others) < CLEAR)


def _doubts(evidence: Evidence, best: int) -> list[str]:
    """Say what speaks against the first number."""
    K, n = int(evidence.candidates[best]), len(evidence.candidates)
    doubts = []
    if evidence.adjusted_stability[best] < LOOSE:
        doubts.append(
            f"The {K} groups are not stable: another sample of the same kind would have others."
        )
    if _is_flat(evidence, best):
        doubts.append(
            "The evidence is flat: no number of groups stands out, so take one that you can read."
        )
    if n > 1 and best == n - 1:
        doubts.append(
            f"{K} is the largest number that was tried: larger numbers may be better still."
        )
    elif n > 1 and best == 0 and K > 2:
        doubts.append(
            f"{K} is the smallest number that was tried: smaller numbers may be better still."
        )
    if K > 1 and evidence.largest[best] >= GIANT:
        doubts.append(
            f"One group has {evidence.largest[best]:.0%} of everything: the others are small and "
            "apart from the rest."
        )
    if K == 2 and evidence.by_length is not None and abs(evidence.by_length) >= BY_LENGTH:
        doubts.append(
            "The two groups are long and short documents, more than documents about two subjects."
        )
    if K == 2 and evidence.by_label is not None and evidence.by_label[1] >= BY_LABEL:
        name, same = evidence.by_label
        doubts.append(
            f"The two groups are nearly the labels {name!r} (ARI {same:.2f}): if these say where "
            "a document comes from and not what it is about, look at more groups."
        )
    by_bic = bic_turn(evidence)
    if by_bic is not None and by_bic != best:
        doubts.append(
            f"BIC, which counts with so much data for each column, is smallest at "
            f"{int(evidence.candidates[by_bic])}."
        )
    return doubts
