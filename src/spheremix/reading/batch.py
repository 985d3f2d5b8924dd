"""What is new in a batch of documents: compared with the documents of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.errors import ParameterError
from spheremix.estimators import validation as check
from spheremix.estimators.calibration import LeftOut
from spheremix.estimators.of_fit import open_rows_of
from spheremix.estimators.views import words_of
from spheremix.parameters import require_number
from spheremix.reading.document_fit import (
    cosines_between,
    fit_values,
    limit_of_fit,
    places_of,
    scaled,
    score_new,
    score_past,
    shares_of,
    word_places,
)
from spheremix.reading.drift import compare_shares, compare_words
from spheremix.reading.new_groups import rank, search, suggest
from spheremix.reading.reading import names_of_features
from spheremix.wording import count, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from spheremix.reading.drift import SharesDrift, WordsDrift
    from spheremix.reading.new_groups import NewGroup, Searched

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

N_CHECKS = 4
LOWEST, HIGHEST = 0.01, 0.5  # rates of false alarms
CHANGED = 5  # words of a group that has changed, each way
LEAST_WITH = 2  # new documents that have a word of which there is more
UNSTABLE = 0.02  # share of documents that would change group, from which on there is a caution
LISTED = 3  # documents of a new group that are named
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Check:
    """One of the four checks of a batch.

    Attributes
    ----------
    name : str
        "new group", "fit", "shares" or "words".
    p_value : float
        Probability of such a result, or one farther away, if nothing has changed.
    alarm : bool
        Whether it is at most a quarter of the rate of false alarms.
    sentence : str
        What was found.
    """

    name: str
    p_value: float
    alarm: bool
    sentence: str


@dataclass(frozen=True, slots=True, eq=False)
class GroupChanges:
    """What a batch says of the groups; each attribute has one entry a group.

    Attributes
    ----------
    found : ndarray of int
        New documents of the group, without those of suggested groups and those that belong nowhere.
    expected : ndarray of float
        As many as its share of the past.
    share_changed, words_changed : ndarray of bool
        Whether the difference is beyond chance.
    share_p_values, word_p_values : ndarray of float
        Probability that any group differs so much by chance. NaN where there are fewer than two
        documents.
    more, fewer : list of list of str
        Of groups whose words have changed: words of which there is more, or less, than before.
    """

    found: Ids
    expected: Array
    share_changed: NDArray[np.bool_]
    words_changed: NDArray[np.bool_]
    share_p_values: Array
    word_p_values: Array
    more: list[list[str]]
    fewer: list[list[str]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BatchComparison:
    """What is new in a batch of documents; ``print`` says it in three lines, ``lines`` all of it.

    Attributes
    ----------
    n_past : int
        Documents of the fit.
    level : float
        The rate of false alarms of all checks together.
    labels : ndarray of int, shape (m,)
        The most probable group of each document; -1 if it belongs nowhere, in a mixture with noise.
    cosines : ndarray of float, shape (m,)
        With its prototype.
    p_values : ndarray of float, shape (m,)
        Share of the documents of the past that fit as badly, or worse.
    new_group : ndarray of int, shape (m,)
        Number of the suggested group in ``new_groups``, -1 for none.
    checks : tuple of Check
        New group, fit, shares and words.
    new_groups : list of NewGroup
        The suggested groups, clearest first.
    groups : GroupChanges
        Shares and words of the groups.
    nowhere : (int, float) or None
        New documents that belong nowhere and to no suggested group, and how many one expects; None
        in a mixture without noise.
    unstable : float
        Share of the documents of the fit that would change group if they were left out of it. Where
        it is not small, groups follow single documents, and more false alarms come.
    """

    n_past: int
    level: float
    labels: Ids
    cosines: Array
    p_values: Array
    new_group: Ids
    checks: tuple[Check, ...]
    new_groups: list[NewGroup]
    groups: GroupChanges
    nowhere: tuple[int, float] | None
    unstable: float

    @property
    def alarms(self) -> list[str]:
        """The names of the checks that raise an alarm."""
        return [one.name for one in self.checks if one.alarm]

    def __repr__(self) -> str:
        alarms = joined(self.alarms) if self.alarms else "none"
        sizes = [f"{len(one.members):,}" for one in self.new_groups]
        new = f"{joined(sizes)} documents" if sizes else "none"
        changed = np.flatnonzero(self.groups.share_changed | self.groups.words_changed)
        other = joined([str(k) for k in changed]) if changed.size else "none"
        return (
            f"{self._sentence()}\n"
            f"Alarms: {alarms}. Suggested new groups: {new}.\n"
            f"Groups with other shares or words: {other}. lines() says the rest."
        )

    def _sentence(self) -> str:
        raise_ = "raises" if len(self.alarms) == 1 else "raise"
        raised = f"{len(self.alarms)} of {len(self.checks)} checks {raise_} an alarm."
        compared = f"{count(len(self.labels), 'new document')} compared with {self.n_past:,}"
        return f"{compared} of the past: {raised if self.alarms else 'nothing is new.'}"

    def documents_table(self) -> dict[str, NDArray[Any]]:
        """Return what is known of the documents, column by column: ready for a data frame.

        Returns
        -------
        dict of ndarray
            ``group``, ``cosine``, ``fit_p_value`` and ``new_group``; a row a document.
        """
        return {
            "group": self.labels,
            "cosine": self.cosines,
            "fit_p_value": self.p_values,
            "new_group": self.new_group,
        }

    def groups_table(self) -> dict[str, Any]:
        """Return what is known of the groups, column by column: ready for a data frame.

        Returns
        -------
        dict of sequences
            ``group``, ``found``, ``expected``, ``share_p_value``, ``words_p_value``,
            ``more_words`` and ``fewer_words``; a row a group.
        """
        groups = self.groups
        return {
            "group": np.arange(len(groups.found)),
            "found": groups.found,
            "expected": groups.expected,
            "share_p_value": groups.share_p_values,
            "words_p_value": groups.word_p_values,
            "more_words": [", ".join(words) for words in groups.more],
            "fewer_words": [", ".join(words) for words in groups.fewer],
        }

    def lines(
        self, names: Sequence[str] | None = None, documents: Sequence[str] | None = None
    ) -> list[str]:
        """Say what is new, in lines.

        Parameters
        ----------
        names : sequence of str, default=None
            The names of the groups.
        documents : sequence of str, default=None
            What the documents of the batch are called.

        Returns
        -------
        list of str
            The checks, the suggested groups, and the groups one by one.
        """
        return [
            self._sentence(),
            *self._check_lines(),
            *self._new_lines(names, documents),
            *self._group_lines(names),
        ]

    def _check_lines(self) -> list[str]:
        found = [
            f"  {'ALARM' if one.alarm else 'ok':5}  {one.name:9}  {one.sentence} "
            f"(p = {one.p_value:.2g})"
            for one in self.checks
        ]
        rate = f"{100 * self.level:.3g}"
        return [
            *found,
            f"  Of 100 batches in which nothing is new, at most about {rate} raise an alarm.",
            *([] if self.unstable < UNSTABLE else [self._caution()]),
        ]

    def _caution(self) -> str:
        return (
            f"  CAUTION: {self.unstable:.0%} of the documents of the past would change group if "
            "they were left out of the fit. Such groups follow single documents, and more batches "
            "raise an alarm: take fewer groups, or more documents."
        )

    def _new_lines(self, names: Sequence[str] | None, documents: Sequence[str] | None) -> list[str]:
        lines = []
        for letter, one in zip(LETTERS, self.new_groups, strict=False):
            about = f": {', '.join(one.words)}" if one.words else ""
            lines += ["", f"New group {letter}, {count(len(one.members), 'document')}{about}"]
            so_far = [f"{n:,} in group {_called(k, names)}" for k, n in one.so_far.items()]
            lines.append(f"  nearest groups: {', '.join(so_far)}")
            if documents is not None:
                closest = [documents[i] for i in one.members[:LISTED]]
                more = ", ..." if len(one.members) > LISTED else ""
                lines.append(f"  documents: {', '.join(closest)}{more}")
        return lines

    def _group_lines(self, names: Sequence[str] | None) -> list[str]:
        groups = self.groups
        each = [
            f"  {groups.found[k]:6,}  {groups.expected[k]:8,.1f}  {_called(k, names)}"
            f"{self._changed(k)}"
            for k in range(len(groups.found))
        ]
        if self.nowhere is not None:
            found, expected = self.nowhere
            each.append(f"  {found:6,}  {expected:8,.1f}  none: they belong nowhere")
        return ["", "   found  expected  group", *each]

    def _changed(self, k: int) -> str:
        groups, said = self.groups, ""
        if groups.share_changed[k]:
            said += "; MORE" if groups.found[k] > groups.expected[k] else "; FEWER"
            said += " than chance allows"
        if groups.words_changed[k]:
            parts = [f"more {', '.join(groups.more[k])}"] if groups.more[k] else []
            parts += [f"less {', '.join(groups.fewer[k])}"] if groups.fewer[k] else []
            said += f"; OTHER WORDS{': ' if parts else ''}{'; '.join(parts)}"
        return said


def _called(k: int, names: Sequence[str] | None) -> str:
    return f"{k}" if names is None else f"{k} ({names[k]})"


def compare_batch(
    model: Any,
    X: Any,
    new: Any,
    *,
    feature_names: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    false_alarms: float = 0.05,
    random_state: Any = 0,
) -> BatchComparison:
    """Find what is new in a batch of documents: fit, new groups, shares and words of groups.

    Four checks compare the new documents with those of the fit:

    1. *New group*: is there a set of documents that are nearer to each other than to any group?
       The clearest such set of five or more (by the sum of the square roots of what its documents
       are nearer by) is compared with the clearest ones in 399 random parts of the documents of
       the fit and the new ones together, each as large as the batch and scored by the prototypes
       that the rest gives. Of a batch that is larger than the past, a part as large as the past is
       searched, and what belongs to its groups is taken from the rest.
    2. *Fit*: do more documents fit badly than one expects? The fit of a document is its cosine
       with the prototype of its group; with several views, their mean by concentration. Documents
       of the fit are scored without their own part in the prototypes, since otherwise new documents
       would always seem to fit worse. A document fits badly if at most 5 % of the documents of the
       fit are as far from their groups. Their number is compared with those in the same 399 parts.
    3. *Shares*: has any group more or fewer documents than its share of the past?
    4. *Words*: is the mean of the new documents of a group farther from the mean of its old ones
       than if new and old ones were exchanged at random? With several views, in any of them.

    Each check has a quarter of the rate of false alarms, so the whole batch has at most about this
    rate, for any number of groups. This needs documents that are independent and from the same
    source, and groups that do not follow single documents: where a fit has found groups in the
    noise of its own rows, new ones fit worse. The result says so if 2 % of the documents of the fit
    or more would change group if they were left out of it. Documents of suggested new groups, and
    those that belong nowhere, do not count for the shares and the words of the groups.

    Parameters
    ----------
    model : estimator
        Fitted: VMFMixture, VMFPath, VMFMixtureIC, VMFTree, SphericalKMeans or VMFCoclustering; the
        mixture that is chosen where there are several.
    X : array-like or sparse matrix of shape (n, d), or Directions
        The rows it was fitted to. New ones are compared with 2,000 of them at most.
    new : array-like or sparse matrix of shape (m, d), or Directions
        The batch.
    feature_names : sequence of str, default=None
        The words of the columns; without them no words are named.
    sample_weight : array-like of shape (n,), default=None
        The weights it was fitted with. They count for the prototypes; in the four checks each row
        is one document.
    false_alarms : float, default=0.05
        Share of the batches without any change that may raise an alarm.
    random_state : int, RandomState, Generator or None, default=0
        Seeds the draws.

    Returns
    -------
    BatchComparison
        The four checks, the group and the fit of each document, and new groups.

    Examples
    --------
    >>> import numpy as np
    >>> import spheremix as sm
    >>> X, labels, _ = sm.datasets.make_vmf_mixture(400, 30, 4, overlap=0.001, random_state=0)
    >>> past, event = X[labels != 3], X[labels == 3]
    >>> mixture = sm.VMFMixture(3, random_state=0).fit(past[:200])
    >>> same = sm.compare_batch(mixture, past[:200], past[200:240])
    >>> same.alarms
    []
    >>> changed = sm.compare_batch(mixture, past[:200], np.vstack([past[200:240], event[:10]]))
    >>> changed.alarms
    ['new group', 'fit']
    >>> changed.new_groups[0].members.tolist()
    [40, 41, 42, 43, 44, 45, 46, 47, 48, 49]
    """
    past = Past(model, X, random_state, sample_weight)
    return past.compare(new, feature_names=feature_names, false_alarms=false_alarms)


class Past:
    """The documents of a fit, ready to be compared with batches as :func:`compare_batch` does."""

    def __init__(
        self, model: Any, X: Any, random_state: Any = 0, sample_weight: ArrayLike | None = None
    ) -> None:
        self.mixture, rows, weights = open_rows_of(model, X, sample_weight)
        self.seed = check.draw_seeds(random_state, 1)[0]
        self.n_rows = rows.n_rows
        left = LeftOut(self.mixture, rows, weights)
        self.scored = score_past(left, np.random.default_rng(self.seed))
        self.views = places_of(shares_of(self.mixture))
        self.vectors: Array = scaled(left.vectors, self.views)
        self.gram: Array = cosines_between(self.scored, self.scored)

    def compare(
        self, new: Any, *, feature_names: Sequence[str] | None, false_alarms: float
    ) -> BatchComparison:
        """Compare a batch with them, as :func:`compare_batch` does."""
        level, words = _level(false_alarms), None
        if feature_names is not None:
            n_words = words_of(self.mixture).prototypes_.shape[1]
            words = names_of_features(self.mixture, n_words, feature_names)
        each, K = level / N_CHECKS, len(self.mixture.weights_)
        rng = np.random.default_rng([self.seed, 0])
        scored, batch = self.scored, score_new(self.mixture, check.open_again(self.mixture, new))
        values = fit_values(scored.cosines, batch.cosines)
        limit, share = limit_of_fit(scored.cosines)
        searched = search(scored, batch, self.vectors, self.gram, self.views, limit, rng)
        groups = suggest(self.mixture, len(scored), batch, searched, words, each, rng)
        numbers = np.full(len(batch), -1, dtype=np.intp)
        for i, one in enumerate(groups):
            numbers[one.members] = i
        rest = batch.take(numbers < 0)
        known, old = rest.take(~rest.nowhere), scored.take(~scored.nowhere)
        shares = compare_shares(old.labels, known.labels, K, rng)
        drift = compare_words(old, known, K, rng)
        nowhere = int(rest.nowhere.sum()), float(scored.nowhere.mean() * len(rest))
        return BatchComparison(
            n_past=self.n_rows,
            level=level,
            labels=np.where(batch.nowhere, -1, batch.labels),
            cosines=batch.cosines,
            p_values=values,
            new_group=numbers,
            checks=(
                _group_check(searched, groups, len(batch), each),
                _fit_check(searched, batch.cosines < limit, share, each),
                _share_check(shares, each),
                _word_check(drift, each),
            ),
            new_groups=groups,
            groups=_changes(shares, drift, words, word_places(self.mixture), each),
            nowhere=nowhere if self.mixture.scorer_.has_noise else None,
            unstable=scored.unstable,
        )


def _level(rate: float) -> float:
    """Check the rate of false alarms; 399 draws cannot tell rarer ones than 1 of 100."""
    found = require_number("false_alarms", rate, above=0.0)
    if not LOWEST <= found <= HIGHEST:
        raise ParameterError(
            "{false_alarms} must be between {least} and {most}, got {got}",
            least=LOWEST,
            most=HIGHEST,
            got=f"{found:g}",
        )
    return found


# The four checks


def _group_check(searched: Searched, found: list[NewGroup], n_new: int, level: float) -> Check:
    """Return whether there is a new group: the clearest one beside those of random parts."""
    p_value = rank(searched.drawn.gains, searched.gain)
    said = "no large set of documents that are nearer to each other than to any group"
    if found:
        sizes = [f"{len(one.members):,}" for one in found]
        several = "" if len(found) == 1 else f"{len(found)} sets of "
        said = f"{several}{joined(sizes)} documents are nearer to each other than to any group"
        if len(searched.places) == n_new:  # sizes are those of parts as large as the batch
            usual = int(np.quantile(searched.drawn.sizes, 1.0 - level, method="higher"))
            said += f"; by chance hardly more than {usual:,}" if usual else "; by chance hardly any"
    return Check("new group", p_value, p_value <= level, said)


def _fit_check(searched: Searched, bad: NDArray[np.bool_], share: float, level: float) -> Check:
    """Return whether more documents fit badly than in random parts."""
    n, expected = int(bad.sum()), share * len(bad)
    said = f"{n:,} of {count(len(bad), 'document')} fit badly, about {expected:.0f} expected"
    p_value = rank(searched.drawn.bad, int(bad[searched.places].sum()))
    return Check("fit", p_value, p_value <= level, said)


def _share_check(shares: SharesDrift, level: float) -> Check:
    changed = [str(k) for k in np.flatnonzero(shares.p_values <= level)]
    said = "no group has more or fewer documents than chance allows"
    if changed:
        said = f"more or fewer documents than expected: group {', '.join(changed)}"
    p_value = float(shares.p_values.min())
    return Check("shares", p_value, p_value <= level, said)


def _word_check(drift: WordsDrift, level: float) -> Check:
    known = drift.p_values[~np.isnan(drift.p_values)]
    if not known.size:
        return Check("words", 1.0, False, "no group has enough documents to compare words")
    changed = [str(k) for k in np.flatnonzero(drift.p_values <= level)]
    said = "the words of all groups are as they were, within chance"
    if changed:
        said = f"other words than before: group {', '.join(changed)}"
    p_value = float(known.min())
    return Check("words", p_value, p_value <= level, said)


def _changes(
    shares: SharesDrift, drift: WordsDrift, words: list[str] | None, places: slice, level: float
) -> GroupChanges:
    K = len(shares.found)
    more: list[list[str]] = [[] for _ in range(K)]
    fewer: list[list[str]] = [[] for _ in range(K)]
    if words is not None:
        for k in np.flatnonzero(drift.p_values <= level):
            change = drift.differences[k, places]
            rising = np.where(drift.n_with[k, places] >= LEAST_WITH, change, 0.0)
            more[k], fewer[k] = _first(rising, words), _first(-change, words)
    return GroupChanges(
        found=shares.found,
        expected=shares.expected,
        share_changed=shares.p_values <= level,
        words_changed=drift.p_values <= level,
        share_p_values=shares.p_values,
        word_p_values=drift.p_values,
        more=more,
        fewer=fewer,
    )


def _first(values: Array, words: Sequence[str]) -> list[str]:
    best = np.argsort(-values, kind="stable")[:CHANGED]
    return [words[j] for j in best if values[j] > 0.0]
