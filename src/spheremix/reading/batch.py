"""What is new in a batch of documents: compared with the documents of a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spheremix.errors import ParameterError
from spheremix.estimators import validation as check
from spheremix.estimators.calibration import LeftOut
from spheremix.estimators.mixture import SelectedMixture, VMFMixture
from spheremix.parameters import require_number
from spheremix.reading.batch_result import BatchComparison, Check, GroupChanges
from spheremix.reading.drift import compare_shares, compare_words
from spheremix.reading.exchange import Exchange
from spheremix.reading.new_groups import check_fit, check_groups, search, suggest
from spheremix.reading.novelty import (
    fit_values,
    limit_of_fit,
    products,
    score_new,
    score_past,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from spheremix.reading.drift import SharesDrift, WordsDrift
    from spheremix.reading.novelty import Scored

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

N_CHECKS = 4
LOWEST, HIGHEST = 0.01, 0.5  # rates of false alarms
CHANGED = 5  # words of a group that has changed, each way
LEAST_WITH = 2  # new documents that have a word of which there is more


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
    """Tell what is new in a batch of documents: fit, new groups, shares and words of groups.

    Four checks compare the new documents with those of the fit:

    1. *New group*: is there a set of documents that are nearer to each other than to any group?
       The clearest such set of five or more (by the sum of the square roots of what its documents
       are nearer by) is compared with the clearest ones in 399 random parts of the documents of
       the fit and the new ones together, each as large as the batch and scored by the prototypes
       that the rest gives. Of a batch that is larger than the past, a part as large as the past is
       searched, and what belongs to its groups is taken from the rest.
    2. *Fit*: do more documents fit badly than one expects? The fit of a document is its cosine
       with the prototype of its group. Documents of the fit are scored without their own part in
       the prototypes, since otherwise new documents would always seem to fit worse. A document
       fits badly if at most 5 % of the documents of the fit are as far from their groups. Their
       number is compared with those in the same 399 parts.
    3. *Shares*: has any group more or fewer documents than its share of the past?
    4. *Words*: is the mean of the new documents of a group farther from the mean of its old ones
       than if new and old ones were exchanged at random?

    Each check has a quarter of the rate of false alarms, so the whole batch has at most about this
    rate, for any number of groups. This needs documents that are independent and from the same
    source, and groups that do not follow single documents: where a fit has found groups in the
    noise of its own rows, new ones fit worse. The result says so if 2 % of the documents of the fit
    or more would change group if they were left out of it. Documents of suggested new groups, and
    those that belong nowhere, do not count for the shares and the words of the groups.

    Parameters
    ----------
    model : VMFMixture, VMFPath or VMFMixtureIC
        Fitted; of a path the step that is selected.
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
        The four checks, the group and the fit of each document, and new groups; printed, all of
        it in words.

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
    """The documents of a fit, ready to be compared with batches of new ones.

    Parameters
    ----------
    model, X, random_state, sample_weight
        As in :func:`compare_batch`.
    """

    def __init__(
        self, model: Any, X: Any, random_state: Any = 0, sample_weight: ArrayLike | None = None
    ) -> None:
        self.mixture = _published(model)
        self.seed = check.draw_seeds(random_state, 1)[0]
        rows = check.open_again(self.mixture, X)
        self.n_rows = rows.n_rows
        weights = check.check_weights(sample_weight, rows.n_rows)
        left = LeftOut(self.mixture, rows, weights)
        self.scored = score_past(left, np.random.default_rng(self.seed))
        self._vectors: Array = left.lengths[:, None] * self.mixture.prototypes_
        self._gram: Array = products(self.scored.rows, self.scored.rows)

    def beside(self, batch: Scored, suspects: Ids) -> Exchange:
        """Put new documents beside those of the past, so that they can be exchanged."""
        return Exchange(self.scored, batch, suspects, self._vectors, self._gram)

    def compare(
        self, new: Any, *, feature_names: Sequence[str] | None, false_alarms: float
    ) -> BatchComparison:
        """Compare a batch with them, as :func:`compare_batch` does."""
        level, words = _level(false_alarms), _words(feature_names, self.mixture)
        each, K = level / N_CHECKS, len(self.mixture.weights_)
        rng = np.random.default_rng([self.seed, 0])
        scored, batch = self.scored, score_new(self.mixture, check.open_again(self.mixture, new))
        values = fit_values(scored.cosines, batch.cosines)
        limit, share = limit_of_fit(scored.cosines)
        searched = search(self, batch, limit, rng)
        groups = suggest(self, batch, searched, words, each, rng)
        numbers = np.full(len(batch), -1, dtype=np.intp)
        for i, one in enumerate(groups):
            numbers[one.members] = i
        rest = batch.take(numbers < 0)
        known, old = rest.take(~rest.nowhere), scored.take(~scored.nowhere)
        shares = compare_shares(old.labels, known.labels, K, rng)
        drift = compare_words(old, known, K, rng)
        return BatchComparison(
            n_past=self.n_rows,
            level=level,
            labels=np.where(batch.nowhere, -1, batch.labels),
            cosines=batch.cosines,
            p_values=values,
            new_group=numbers,
            checks=(
                check_groups(searched, groups, len(batch), each),
                check_fit(searched, batch.cosines < limit, share, each),
                _share_check(shares, each),
                _word_check(drift, each),
            ),
            new_groups=groups,
            groups=_changes(shares, drift, words, each),
            nowhere=_nowhere(scored, rest) if self.mixture.scorer_.has_noise else None,
            unsettled=scored.unsettled,
        )


def _published(model: Any) -> VMFMixture:
    if not isinstance(model, VMFMixture | SelectedMixture):
        raise ParameterError(
            "{model} must be a fitted VMFMixture, VMFPath or VMFMixtureIC, got a {got}",
            got=type(model).__name__,
        )
    check_is_fitted(model)
    return model if isinstance(model, VMFMixture) else model.best_estimator_


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


def _words(names: Sequence[str] | None, mixture: VMFMixture) -> list[str] | None:
    if names is None:
        return None
    found, d = list(map(str, names)), mixture.n_features_in_
    if len(found) != d:
        raise ParameterError(
            "{feature_names} has {n} names, and the model has {d} columns", n=len(found), d=d
        )
    return found


# Groups that have changed


def _share_check(shares: SharesDrift, level: float) -> Check:
    changed = [str(k) for k in np.flatnonzero(shares.p_values <= level)]
    said = "no group has more or fewer documents than chance allows"
    if changed:
        said = f"more or fewer documents than expected: group {', '.join(changed)}"
    p_value = float(shares.p_values.min())
    return Check("shares", p_value, p_value <= level, said)


def _nowhere(past: Scored, new: Scored) -> tuple[int, float]:
    """Return how many new documents belong nowhere, and how many one expects."""
    return int(new.nowhere.sum()), float(past.nowhere.mean() * len(new))


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
    shares: SharesDrift, drift: WordsDrift, words: list[str] | None, level: float
) -> GroupChanges:
    K = len(shares.found)
    more: list[list[str]] = [[] for _ in range(K)]
    fewer: list[list[str]] = [[] for _ in range(K)]
    for k in np.flatnonzero(drift.p_values <= level) if words is not None else []:
        change = drift.differences[k]
        rising = np.where(drift.n_with[k] >= LEAST_WITH, change, 0.0)
        more[k] = _first(rising, words)
        fewer[k] = _first(-change, words)
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


def _first(values: Array, words: Sequence[str] | None) -> list[str]:
    best = np.argsort(-values, kind="stable")[:CHANGED]
    return [words[j] for j in best if values[j] > 0.0] if words is not None else []
