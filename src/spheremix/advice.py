"""How many groups: the numbers that follow from the evidence, and what speaks against them.

Halves of the rows are grouped again and again. A number of groups is good where the halves agree,
and a finer number tells more: so the *fine* number is the one with the largest agreement plus a
little for detail. The *broad* number is the one with the largest agreement, from three on. Beyond
the fine number some groups may still come back, one by one, while others dissolve: the *finest*
number says how far that goes. Where rows of the same shape without groups could be divided as
well, there are no groups.

The passages of a document have more in common than its subjects: who speaks, and when. So of
passages, halves may agree best on a few kinds of documents, and agreement falls and rises again
far beyond: there are the subjects, which are the *fine* number then.

:mod:`spheremix.estimators.advice` measures the evidence on rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.wording import count, html_lines, html_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

# DETAIL was chosen on some of the sets of benchmarks/number_of_groups.py and judged on the others;
# the other limits were set after a first look at all of them, FINER after one at derived sets.
DETAIL = 0.08  # agreement that e times as many groups are worth: .055 for twice as many
NOT_DISSOLVED = 0.5  # Jaccard similarity above which a group is there again (Hennig 2007)
MOST_ROWS = 0.9  # share of the rows in groups that come back, at the finest number
LOOSE = 0.5  # agreement below which another sample would give other groups
STABLE = 0.88  # agreement of groups that one can rely on
ENOUGH_BACK = 0.8  # share of the rows in groups that come back, at the fine number
STANDS_OUT = 0.022  # by which the score is ahead of numbers that are quite different
OTHER = 1.3  # times as many groups, or as few, are quite different
FINER = 2.0  # times as many groups that hold, beyond which no number is clear
# Set after a look at speeches (four seeds), filings, and articles that were glued together.
FAR = 4.0  # times as many groups as the kinds of documents, from which on there may be subjects
RISEN = 0.055  # by which agreement rises again to them: what twice as many groups are worth
# Standard deviations above chance, below which there are no groups. With five sets of rows without
# groups and four numbers of groups, chance passes it in about four of a hundred sets of rows.
APART = 4.0
FEW_ROWS = 100  # below it nothing is clear
VALLEY = 0.62  # what groups are above, where the rows between them are in emptier surroundings
SEPARATE = 0.9  # the same, where groups are apart whatever rows of the same shape would gain
GIANT = 0.8  # share of a group that hides all others
_NOTHING = "No groups: rows of the same shape without any groups can be divided as well as these."
_NEVERTHELESS = "If you divide them all the same: "


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What is known of each number of groups; NaN where something is not known.

    Attributes
    ----------
    candidates : ndarray of int of shape (C,)
        The numbers of groups, increasing.
    agreement : ndarray of shape (C,)
        Mean adjusted Rand index between the groups that halves of the rows give to all rows.
    stability : ndarray of shape (C,)
        Mean Jaccard similarity of a row's group with the most similar group of a half.
    coming_back : ndarray of shape (C,)
        Share of the rows in groups whose mean similarity is above one half.
    n_coming_back : ndarray of int of shape (C,)
        The number of these groups.
    largest : ndarray of shape (C,)
        Share of the largest group.
    n_rows : int
        Rows that were read: all of them, or a sample.
    apart : float or None
        By how many standard deviations groups gain more than in rows of the same shape without
        groups; None where such rows cannot be made.
    valley : float or None
        How likely a row in the middle of a group has denser surroundings than one between two
        groups: 1/2 where there is no valley between the groups.
    ended_by : {"", "rows", "candidates"}
        Why no larger numbers were tried, where groups still come back at the largest one: there are
        too few rows for them, or no larger ones were asked for.
    of_passages : bool
        Whether rows are passages of documents.
    """

    candidates: NDArray[np.intp]
    agreement: Array
    stability: Array
    coming_back: Array
    n_coming_back: NDArray[np.intp]
    largest: Array
    n_rows: int
    apart: float | None = None
    valley: float | None = None
    ended_by: str = ""
    of_passages: bool = False

    @property
    def scores(self) -> Array:
        """Agreement, plus ``DETAIL`` times the logarithm of the number of groups; -1 if unknown."""
        return np.nan_to_num(self.agreement + DETAIL * np.log(self.candidates), nan=-1.0)

    @property
    def competing(self) -> NDArray[np.intp]:
        """Places of the numbers that may lead: those from three on.

        Nearly everything falls into two halves, and who is told so has learned little: two groups
        lead only where nothing finer comes back or is agreed on.
        """
        three = self.candidates >= 3
        back, agreed = self.coming_back >= ENOUGH_BACK, self.agreement >= LOOSE
        choices = (three & back & agreed, three & back, three & agreed, self.candidates >= 2)
        return next((np.flatnonzero(one) for one in choices if one.any()), np.array([0]))

    @property
    def fine(self) -> int:
        """Place of the number with the largest score; that of the subjects, where it is another."""
        return self._first if self.subjects is None else self.subjects

    @property
    def _first(self) -> int:
        places = self.competing
        return int(places[self.scores[places].argmax()])

    @property
    def far(self) -> int | None:
        """Place of the best number far beyond kinds of documents; None: none was tried."""
        far = np.flatnonzero(self.candidates >= FAR * self.candidates[self._first])
        return int(far[self.scores[far].argmax()]) if len(far) else None

    @property
    def subjects(self) -> int | None:
        """Place of the subjects of passages beyond a few kinds of documents; None without such."""
        far = self.far
        if not self.of_passages or far is None:
            return None
        risen = self.agreement[far] - np.nanmin(self.agreement[self._first : far + 1])
        return far if risen >= RISEN and self.agreement[far] >= LOOSE else None

    @property
    def broad(self) -> int:
        """Place of the number with the largest agreement, up to the fine one."""
        places = self.competing[self.competing <= self.fine]
        return int(places[np.nan_to_num(self.agreement[places], nan=-1.0).argmax()])

    @property
    def finest(self) -> int:
        """Place of the largest number at which most rows are in groups that come back."""
        places = np.flatnonzero(self.coming_back >= MOST_ROWS)
        return max(int(places[-1]) if len(places) else 0, self.fine)


@dataclass(frozen=True, slots=True)
class Recommendation:
    """One number of groups that the evidence speaks for.

    Attributes
    ----------
    n_clusters : int
        The number; 1 stands for no groups.
    level : {"fine", "broad", "finest", "none"}
        Fine is what to look at first; broad are fewer groups that are more stable; up to the finest
        number most groups come back.
    sentence : str
        Why, in plain words.
    """

    n_clusters: int
    level: str
    sentence: str


@dataclass(frozen=True, slots=True, eq=False)
class Advice:
    """How many groups there are, how sure that is, and what else could be said.

    Attributes
    ----------
    recommended : tuple of Recommendation
        One to three numbers, the one to look at first before the others.
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
        """The first recommended number; 1 for no groups."""
        return self.recommended[0].n_clusters

    @property
    def best_candidate(self) -> int:
        """The first recommended number that was a candidate."""
        known = set(self.evidence.candidates.tolist())
        return next(one.n_clusters for one in self.recommended if one.n_clusters in known)

    @property
    def broad(self) -> int:
        """The broad number; the fine one where both are the same."""
        return int(self.evidence.candidates[self.evidence.broad])

    @property
    def finest(self) -> int:
        """The largest number at which most rows are in groups that come back."""
        return int(self.evidence.candidates[self.evidence.finest])

    def __str__(self) -> str:
        """Say it in a few sentences."""
        return "\n".join([*(one.sentence for one in self.recommended), *self.doubts])

    def _repr_html_(self) -> str:
        """Show it in a notebook: the sentences, then the numbers that were compared."""
        return html_lines(str(self).splitlines()) + html_table(self.table())

    def table(self) -> dict[str, NDArray[Any]]:
        """Return the evidence as columns, one row for each candidate."""
        evidence = self.evidence
        levels = {one.n_clusters: one.level for one in reversed(self.recommended)}
        return {
            "n_components": evidence.candidates,
            "agreement": evidence.agreement,
            "score": evidence.scores,
            "stability": evidence.stability,
            "coming_back": evidence.coming_back,
            "n_coming_back": evidence.n_coming_back,
            "largest": evidence.largest,
            "level": np.array([levels.get(int(K), "") for K in evidence.candidates]),
        }


def advise(evidence: Evidence) -> Advice:
    """Recommend a number of groups, and coarser and finer ones."""
    fine, broad, finest = evidence.fine, evidence.broad, evidence.finest
    levels = {"fine": fine}
    if broad != fine:
        levels["broad"] = broad
    if finest != fine:
        levels["finest"] = finest
    recommended = [
        Recommendation(int(evidence.candidates[i]), level, _sentence(evidence, i, level))
        for level, i in levels.items()
    ]
    if _nothing_there(evidence) and evidence.candidates[fine] > 1:
        nevertheless = replace(recommended[0], sentence=_NEVERTHELESS + recommended[0].sentence)
        recommended = [Recommendation(1, "none", _NOTHING), nevertheless, *recommended[1:]]
    return Advice(tuple(recommended), _certainty(evidence), tuple(_doubts(evidence)), evidence)


def _nothing_there(evidence: Evidence) -> bool:
    """Return whether rows without groups gain as much, and nothing else shows that there are some.

    Outliers, and groups that differ much in concentration, make the shape of all rows heavy. But no
    cloud has halves that agree so well on groups with (nearly) nothing between them.
    """
    if not _as_by_chance(evidence):
        return False
    valley, agreement = evidence.valley or 0.0, evidence.agreement[evidence.fine]
    return not (agreement >= STABLE and valley >= SEPARATE)


def _as_by_chance(evidence: Evidence) -> bool:
    return evidence.apart is not None and evidence.apart < APART


def _sentence(evidence: Evidence, i: int, level: str) -> str:
    """Say why a number is recommended."""
    K = int(evidence.candidates[i])
    agreement = f"{evidence.agreement[i]:.2f}"
    if level == "finest":
        kept = int(evidence.n_coming_back[i])
        return (
            f"Up to {K} groups hold: {kept} of them come back in halves of the documents, with "
            f"{evidence.coming_back[i]:.0%} of the documents."
        )
    if level == "broad":
        return (
            f"{K} broad groups: halves of the documents agree on them better (agreement "
            f"{agreement})."
        )
    what = count(K, "group")
    if not np.isfinite(evidence.agreement[i]):
        known = "no other number was tried" if len(evidence.candidates) == 1 else "not compared"
        return f"{what}: {known}."
    same = "the same" if evidence.agreement[i] >= STABLE else "similar"
    if evidence.agreement[i] < LOOSE:
        same = "other"
    if i == evidence.subjects:
        return (
            f"{what}: beyond a few kinds of documents, halves of the documents agree best on these "
            f"(agreement {agreement})."
        )
    return f"{what}: halves of the documents give {same} ones (agreement {agreement})."


def _margin(evidence: Evidence) -> float:
    """Return by how much the fine number is ahead of those that are quite different."""
    K, scores = evidence.candidates[evidence.fine], evidence.scores
    rivals = [
        scores[i]
        for i in evidence.competing
        if not K / OTHER <= evidence.candidates[i] <= K * OTHER
    ]
    return float(scores[evidence.fine] - max(rivals, default=-np.inf))


def _more_stable_two(evidence: Evidence) -> bool:
    """Return whether two groups, which do not lead, are more stable than those that do."""
    two = np.flatnonzero(evidence.candidates == 2)
    agreement = evidence.agreement
    return bool(len(two)) and bool(agreement[two[0]] > agreement[evidence.fine] + STANDS_OUT)


def _certainty(evidence: Evidence) -> str:
    """Say how sure the first number is."""
    agreement = np.nan_to_num(evidence.agreement[evidence.fine], nan=0.0)
    few = evidence.n_rows < FEW_ROWS
    if _nothing_there(evidence):  # groups that come back may be there all the same
        far = (evidence.apart or 0.0) < APART - 1.0
        return "clear" if far and agreement < LOOSE and not few else "fair"
    if agreement < LOOSE or _no_valley(evidence):
        return "weak"
    sure = agreement >= STABLE and _margin(evidence) >= STANDS_OUT
    sure &= evidence.broad == evidence.fine and not _more_stable_two(evidence)
    sure &= evidence.candidates[evidence.finest] <= FINER * evidence.candidates[evidence.fine]
    sure &= not _at_the_end(evidence, evidence.fine) and not few and not _as_by_chance(evidence)
    return "clear" if sure else "fair"


def _no_valley(evidence: Evidence) -> bool:
    return evidence.valley is not None and evidence.valley < VALLEY


def _at_the_end(evidence: Evidence, i: int) -> bool:
    """Return whether larger numbers than this one may be as good, and were not tried."""
    return i == len(evidence.candidates) - 1 and bool(evidence.ended_by)


def _doubts(evidence: Evidence) -> list[str]:
    """Say what speaks against the first number."""
    fine = evidence.fine
    K, n = int(evidence.candidates[fine]), len(evidence.candidates)
    doubts = []
    if not _nothing_there(evidence) and K > 1 and _no_valley(evidence):
        doubts.append(
            "There is no gap between the groups: they may be parts of one continuous cloud."
        )
    if K > 1 and np.nan_to_num(evidence.agreement[fine], nan=1.0) < LOOSE:
        doubts.append(
            f"The {K} groups are not stable: another sample of the same kind would have others."
        )
    elif n > 2 and _margin(evidence) < STANDS_OUT:
        doubts.append(
            "No number of groups stands out: quite different ones are nearly as good, so take one "
            "that you can read."
        )
    if K > 2 and _more_stable_two(evidence):
        doubts.append("2 groups are more stable; finer ones say more.")
    last = int(evidence.candidates[-1])
    if n > 1 and _at_the_end(evidence, evidence.finest):
        why = "there are too few documents for more" * (evidence.ended_by == "rows")
        doubts.append(
            f"{last} is the largest number that was tried"
            f"{', since ' if why else ''}{why}: larger numbers may hold too."
        )
    if K > 1 and evidence.largest[fine] >= GIANT:
        doubts.append(
            f"One group has {evidence.largest[fine]:.0%} of everything: the others are small and "
            "apart from the rest."
        )
    return doubts
