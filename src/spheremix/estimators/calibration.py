"""Posteriors that are less sure: leave-one-out scores, and a temperature, with labels or without.

Posteriors of fitted mixtures are nearly all 0 or 1, for two reasons. The prototype of a cluster
contains the row itself: :class:`LeftOut` takes it out again. And real rows are
no draws from the model: words come in bursts, coordinates are correlated, so that the evidence of
a row is counted several times. A temperature T divides the evidence,

    p(k | x) proportional to alpha_k exp((kappa_k <mu_k, x> + log c_d(kappa_k)) / T),

and is found by asking whether one half of the columns knows as much about the other half as the
model says. Cut the columns into A and B. Given the component and the lengths of x_A and x_B, the
directions of both are independent, and von Mises-Fisher with the concentrations
kappa |mu_A| |x_A| and kappa |mu_B| |x_B|. The evidence of A for component k is therefore

    e_A(k) = kappa_k <mu_kA, x_A> + log c_a(kappa_k |mu_kA| |x_A|),

with a the number of its columns, and with p_A(k) proportional to alpha_k exp(e_A(k) / T) the
density of B given A, relative to that of B alone, is the sum over k of p_A(k) p_B(k) / alpha_k. Its
mean logarithm is largest at T = 1 if the rows are drawn from the model: a proper score that needs
no labels.

Where evidence is counted several times, T grows with the number of columns. Halves give T_2 and
quarters T_4, so the whole row is taken to have T_2 squared / T_4: one doubling further.

With several views, a row is left out of the prototype of each, what it has in them is added up
with the weights of the views, and one temperature divides it all. The columns of each view are cut:
given the component and the lengths of x_A and x_B in each view, their directions are independent.

Such posteriors are about the mixture. How often its groups agree with what people say of the rows,
only labels can tell. With labels of some rows, the posterior is

    p(k | x) = kept * (share of k in softmax(scores / T)),

and log T and ``kept`` are their posterior means given the labels, if every group stands for one
label, unknown which: a row of group k has this label with probability p(k | x), and otherwise one
of the others, in proportion to how frequent they are. No group has to be matched with a label, and
none stands for a label that its rows would have less often than rows at random. With
few labels the prior counts: T is around 5, as in texts and embeddings, within a factor e.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, softmax

from spheremix.bessel import log_normalizer
from spheremix.errors import ParameterError
from spheremix.estimators import validation as check
from spheremix.estimators.fitted import add_fitted
from spheremix.estimators.of_fit import open_rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from spheremix.data.base import Directions
    from spheremix.estimators.mixture import VMFMixture

    Array = NDArray[np.float64]
    Pair = tuple[Array, Array]
    Ids = NDArray[np.intp]

MOST_ROWS = 1000  # from which a temperature is found
N_CUTS = 8  # of the columns, at random
QUARTERS = 4
LEAST_COLUMNS = 2 * QUARTERS  # so that every quarter has a direction
LEAST_Z = 2.0  # standard errors by which a temperature other than 1 must be better
LOWEST, HIGHEST = np.log(0.25), np.log(1000.0)  # of the logarithm of a temperature
ENTRIES = 2**22  # of the rows that are dense at a time: 32 MB
LEAST_LABELS = 20  # that two numbers can be found from
TEMPERATURES = np.exp(np.linspace(np.log(0.5), HIGHEST, 40))
SHARES = np.concatenate([[1.0], np.linspace(0.98, 0.1, 45)])  # that may be kept
USUAL, FACTOR = 5.0, 1.0  # temperature before any label is seen, and standard deviation of its log
LEAST_RIGHT = 1e-6  # probability of one label of one row: a single one does not decide
AGAINST = -1e9  # of a group for a label that its rows lack: counts only where all of them do
HALF = 0.5
LEAST = 1e-9  # share of the weight that is left of a component of one row, without this row


@dataclass(frozen=True, slots=True)
class Tempering:
    """How posteriors follow from scores.

    Attributes
    ----------
    temperature : float
        What the evidence of a row is divided by; with labels, its scores.
    kept : float or None
        With labels, the share that is left for groups: the rest is the probability that no group
        has the right label. None without labels.
    """

    temperature: float
    kept: float | None = None

    def posteriors(self, scores: Array, log_weights: Array) -> Array:
        """Return the posteriors of rows, by the scores of the components: (n, K)."""
        if self.kept is None:
            return tempered(scores, log_weights, self.temperature)
        return self.kept * tempered(scores, np.zeros(1), self.temperature)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Calibration:
    """Posteriors of a mixture that are less sure; ``print`` says what they are in three lines.

    Attributes
    ----------
    mixture : VMFMixture
        The mixture.
    tempering : Tempering
        How posteriors follow from scores.
    z : float
        Without labels, by how many standard errors the rows speak against a temperature of 1; NaN
        where that cannot be told (one component, fewer than 8 columns, or nothing but noise). The
        temperature is 1 unless z is above 2. Rows count as far as they are no noise. NaN with
        labels.
    n_labels : int
        Rows whose label is known.
    posteriors : ndarray of shape (n, K)
        Of the rows of the fit, each by the mixture that the other rows give.
    """

    mixture: VMFMixture
    tempering: Tempering
    z: float
    n_labels: int
    posteriors: Array

    @property
    def temperature(self) -> float:
        """What the evidence of a row is divided by: more than 1 if the mixture is too sure."""
        return self.tempering.temperature

    def __repr__(self) -> str:
        n, K = self.posteriors.shape
        by = f"by {self.n_labels:,} labels" if self.n_labels else "without labels"
        sure = self.posteriors.max(axis=1)
        means, kept = "within this mixture, and not probabilities of being right", ""
        if self.tempering.kept is not None:
            means = "probabilities that the label is that of the group"
            kept = f", kept {self.tempering.kept:.2f}"
        return (
            f"Posteriors of {n:,} rows in {K} groups, calibrated {by}: {means}.\n"
            f"Temperature {self.temperature:.3g}{kept}.\n"
            f"Largest posterior of a row: {sure.mean():.2f} on average, below {HALF} for "
            f"{np.mean(sure < HALF):.0%}."
        )

    def predict_proba(self, X: Any) -> Array:
        """Return the calibrated posteriors of rows that were not in the fit.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows are normalised. Those of the fit have theirs in ``posteriors``.

        Returns
        -------
        ndarray of shape (n, K)
            Rows sum to one, with labels to the share that is kept; with noise, they are the
            probabilities if the row is no noise.
        """
        scores = check.open_again(self.mixture, X).map_rows(
            self.mixture.scorer_.clusters(), "scores"
        )
        return self.tempering.posteriors(scores, np.log(self.mixture.weights_))


def calibrate(
    model: Any,
    X: Any,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Any = 0,
) -> Calibration:
    """Make the posteriors of a mixture less sure, by its rows alone or by some labels.

    A row of the fit has pulled the prototype of its group towards itself: its posteriors are
    computed without this pull (leave-one-out, in closed form, the concentrations held). And where
    the rows are no draws from the mixture, as texts and embeddings are not, the evidence is
    divided by a temperature.

    Without labels, it is found by comparing what halves and quarters of the columns say about each
    other with what the mixture expects. Such posteriors are about this mixture: how probable each
    group is *if its groups are the right ones*. They are no probabilities of being right, which
    depend on what people would call right.

    With ``labels`` of some rows they are: the probability that a row has the label for which the
    group stands. 200 labels of rows that were drawn at random do well, fewer where there are few
    groups. The page "How sure can I be?" of the documentation has the errors.

    The estimator remembers the temperature, so that ``predict_proba(X, calibrated=True)`` works.

    Parameters
    ----------
    model : estimator
        Fitted: VMFMixture, VMFPath, VMFMixtureIC, VMFTree, SphericalKMeans or VMFCoclustering; the
        mixture that is chosen where there are several. Rows are left out of a co-clustering as if
        its prototypes were free.
    X : array-like or sparse matrix of shape (n, d), or Directions
        The rows it was fitted to.
    labels : array-like of shape (n,), default=None
        What people say of the rows, for 20 of them or more: integers with -1 where it is not known,
        or texts with None or "".
    sample_weight : array-like of shape (n,), default=None
        The weights it was fitted with. In the search for T each label counts once.
    random_state : int, RandomState, Generator or None, default=0
        Seeds the cuts of the columns, and the choice of 1,000 rows where there are more.

    Returns
    -------
    Calibration
        The temperature, the posteriors of these rows, and ``predict_proba`` for others.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, labels, _ = sm.datasets.make_vmf_mixture(500, 20, 3, overlap=0.1, random_state=0)
    >>> mixture = sm.VMFMixture(3, random_state=0).fit(X)
    >>> calibration = sm.calibrate(mixture, X)
    >>> calibration.temperature
    1.0
    >>> mixture.predict_proba(X[:4], calibrated=True).shape
    (4, 3)
    >>> labels[100:] = -1  # of 100 rows they are known
    >>> print(sm.calibrate(mixture, X, labels=labels))  # doctest: +ELLIPSIS
    Posteriors of 500 rows in 3 groups, calibrated by 100 labels: probabilities that ...
    """
    mixture, rows, weights = open_rows_of(model, X, sample_weight)
    left = LeftOut(mixture, rows, weights)
    codes = None if labels is None else _codes(labels, rows.n_rows)
    if codes is None:
        rng = np.random.default_rng(check.draw_seeds(random_state, 1)[0])
        temperature, z = _temperature(left, rng)
        tempering = Tempering(temperature)
    else:
        tempering, z = _by_labels(left, codes), float("nan")
    posteriors = np.empty((rows.n_rows, len(mixture.weights_)))
    for part, block in left.blocks(np.arange(rows.n_rows)):
        posteriors[part] = tempering.posteriors(block.scores, block.log_weights)
    if hasattr(model, "predict_proba"):
        add_fitted(getattr(model, "best_estimator_", model), {"calibration_": tempering})
    n_labels = 0 if codes is None else int(np.count_nonzero(codes >= 0))
    return Calibration(mixture, tempering, z, n_labels, posteriors)


def tempered(scores: Array, log_weights: Array, temperature: float) -> Array:
    """Return posteriors whose evidence is divided by a temperature; weights are as they were."""
    found: Array = softmax((scores - log_weights) / temperature + log_weights, axis=1)
    return found


def _codes(labels: ArrayLike, n_rows: int) -> Ids:
    """Return labels as numbers from 0, -1 where they are not known."""
    given = np.asarray(labels)
    if given.shape != (n_rows,) or given.dtype.kind not in "iuOUT":
        raise ParameterError(
            "{labels} must be integers or texts, one for each of the {n} rows; got shape {shape} "
            "of {dtype}",
            n=n_rows,
            shape=given.shape,
            dtype=given.dtype,
        )
    if given.dtype.kind in "iu":
        known = given >= 0
    else:
        each: list[Any] = list(labels)  # type: ignore[arg-type]
        # A missing value of a data frame is NaN, which is not equal to itself.
        known = np.array([one is not None and one == one and one != "" for one in each])  # noqa: PLR0124
        given = np.array([str(one) for one in each])
    n_known = int(np.count_nonzero(known))
    if n_known < LEAST_LABELS:
        raise ParameterError(
            "{labels} has {got} known labels, and {least} or more are needed",
            remedies=("leave out {labels}",),
            got=n_known,
            least=LEAST_LABELS,
        )
    if len(np.unique(given[known])) < 2:
        raise ParameterError("{labels} are all the same, and say nothing of the groups")
    codes = np.full(n_rows, -1, dtype=np.intp)
    codes[known] = np.unique(given[known], return_inverse=True)[1]
    return codes


def _by_labels(left: LeftOut, codes: Ids) -> Tempering:
    """Find the temperature and the share that is kept: their means, given the labels."""
    ids = np.flatnonzero(codes >= 0)
    scores = np.concatenate([block.scores for _, block in left.blocks(ids)])
    groups = scores.argmax(axis=1)
    none = np.zeros(1)
    own = [tempered(scores, none, T)[np.arange(len(ids)), groups] for T in TEMPERATURES]
    right = SHARES[:, None, None] * np.array(own)
    found = label_likelihood(right.reshape(-1, len(ids)), groups, codes[ids])
    logarithms = np.log(TEMPERATURES)
    surprise = ((logarithms - np.log(USUAL)) / FACTOR) ** 2 / 2.0
    chances = softmax(found.reshape(len(SHARES), len(TEMPERATURES)) - surprise)
    temperature = np.exp(chances.sum(axis=0) @ logarithms)
    return Tempering(float(temperature), float(chances.sum(axis=1) @ SHARES))


def label_likelihood(right: Array, groups: Ids, labels: Ids) -> Array:
    """Return the log-likelihood of labels, by the probabilities that they are those of the groups.

    Every group stands for one label, unknown which; label c is as probable as it is frequent. A
    row has the label of its group with probability ``right``, and otherwise one of the others, in
    proportion to how frequent they are. A group does not stand for a label that its rows would have
    less often than rows at random: of two labels, one and a small ``right`` would say the other.

    Parameters
    ----------
    right : ndarray of shape (m, n)
        For each of m candidates, a probability for each row.
    groups, labels : ndarray of int, shape (n,)
        Of the rows; labels from 0.

    Returns
    -------
    ndarray of shape (m,)
        One for each candidate.
    """
    n_labels = int(labels.max()) + 1
    frequent = np.bincount(labels, minlength=n_labels) + 0.5
    frequent = frequent / frequent.sum()
    same = labels[:, None] == np.arange(n_labels)
    otherwise = np.where(same, 0.0, np.log(frequent)[labels][:, None] - np.log1p(-frequent))
    bounded = np.clip(right, LEAST_RIGHT, 1.0 - LEAST_RIGHT)
    is_right, is_wrong = np.log(bounded), np.log1p(-bounded)
    found = np.zeros(len(right))
    for k in np.unique(groups):
        own = groups == k
        each = is_right[:, own] @ same[own] + is_wrong[:, own] @ ~same[own]
        each[bounded[:, own].mean(axis=1)[:, None] < frequent] += AGAINST
        found += logsumexp(each + otherwise[own].sum(axis=0) + np.log(frequent), axis=1)
    return found


def _temperature(left: LeftOut, rng: np.random.Generator) -> tuple[float, float]:
    """Find the temperature of whole rows, and by how many standard errors it is not 1."""
    n, sizes = left.rows.n_rows, [side.prototypes.shape[1] for side in left.sides]
    if len(left.mass) < 2 or min(sizes) < LEAST_COLUMNS:
        return 1.0, float("nan")
    counted = np.arange(n) if left.weights is None else np.flatnonzero(left.weights)
    ids = np.sort(rng.permutation(counted)[:MOST_ROWS])
    cuts = [[rng.permutation(np.arange(d) % QUARTERS) for d in sizes] for _ in range(N_CUTS)]
    halves: list[list[Pair]] = [[] for _ in cuts]
    quarters: list[list[Pair]] = [[] for _ in range(2 * N_CUTS)]
    log_weights, inside = [], []
    for _, block in left.blocks(ids):
        log_weights.append(block.log_weights)
        inside.append(block.inside)
        for i, cut in enumerate(cuts):
            each = [block.parts([np.flatnonzero(one == q) for one in cut]) for q in range(QUARTERS)]
            first, second, third, fourth = (evidence(*one) for one in each)
            half, other = (
                [one + two for one, two in zip(*pair, strict=True)] for pair in (each[:2], each[2:])
            )
            halves[i].append((evidence(*half), evidence(*other)))
            quarters[2 * i].append((first, second))
            quarters[2 * i + 1].append((third, fourth))
    shares = normalised(np.concatenate(log_weights))
    # Noise is no draw from any component: it says nothing of how sure these can be.
    weights = np.concatenate(inside)
    weights = weights if left.weights is None else weights * left.weights[ids]
    if not weights.any():
        return 1.0, float("nan")
    by_halves, gain = _best([_joined(one) for one in halves], shares, weights)
    by_quarters, _ = _best([_joined(one) for one in quarters], shares, weights)
    mean = np.average(gain, weights=weights)
    error = np.sqrt(np.sum(weights**2 * (gain - mean) ** 2)) / weights.sum()
    z = float(mean / error) if error > 0.0 else 0.0
    if z <= LEAST_Z:
        return 1.0, z
    # Twice as many columns count what they have in common twice, at most.
    growth = min(2.0, max(1.0, by_halves / by_quarters))
    return max(1.0, by_halves * growth), z


def evidence(*parts: Part) -> Array:
    """Return the log-density of the direction of a part of each row, for each component.

    Of several views there is a part of each, and their log-densities are added up.
    """
    found: Any = 0.0
    for part in parts:
        concentrations = part.concentrations
        normalizers = log_normalizer(part.n_columns, concentrations.ravel())
        found = found + part.weight * (part.products + normalizers.reshape(concentrations.shape))
    return np.asarray(found)


def knowledge(pair: Pair, shares: Array, temperature: float) -> Array:
    """Return the log of the density of one part given the other, relative to that of it alone."""
    one, other = (normalised(part / temperature + shares) for part in pair)
    found: Array = logsumexp(one + other - shares, axis=1)
    return found


def normalised(scores: Array) -> Array:
    """Return logarithms of probabilities that sum to one."""
    found: Array = scores - logsumexp(scores, axis=1, keepdims=True)
    return found


def _best(pairs: list[Pair], shares: Array, weights: Array) -> tuple[float, Array]:
    """Find the temperature at which parts know most of each other, and what each row gains."""

    def known(temperature: float) -> Array:
        each = [knowledge(pair, shares, temperature) for pair in pairs]
        mean: Array = np.mean(each, axis=0)
        return mean

    found = minimize_scalar(
        lambda logarithm: -np.average(known(np.exp(logarithm)), weights=weights),
        bounds=(LOWEST, HIGHEST),
        method="bounded",
        options={"xatol": 1e-3},
    )
    best = float(np.exp(found.x))
    return best, known(best) - known(1.0)


def _joined(pairs: list[Pair]) -> Pair:
    """Put the blocks of rows together."""
    one, other = zip(*pairs, strict=True)
    return np.concatenate(one), np.concatenate(other)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What some columns of rows say, each row left out of the prototypes.

    Attributes
    ----------
    products : ndarray of shape (n, K)
        kappa_k <mu_k, x> over these columns.
    lengths : ndarray of shape (n,)
        Squared lengths of the rows over these columns.
    prototypes : ndarray of shape (n, K)
        kappa_k squared times the squared lengths of the prototypes over these columns.
    n_columns : int
        How many there are.
    weight : float
        That of the view that they belong to.
    """

    products: Array
    lengths: Array
    prototypes: Array
    n_columns: int
    weight: float = 1.0

    def __add__(self, other: Part) -> Part:
        return Part(
            self.products + other.products,
            self.lengths + other.lengths,
            self.prototypes + other.prototypes,
            self.n_columns + other.n_columns,
            self.weight,
        )

    @property
    def concentrations(self) -> Array:
        """Those of the directions of the rows over these columns, given their lengths."""
        found: Array = np.sqrt(np.maximum(self.prototypes * self.lengths[:, None], 0.0))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The prototypes of one view, of which rows are left out; of one table, all there is.

    Attributes
    ----------
    columns : slice
        Where its columns lie in a row of all views.
    weight : float
        What its part of the score is multiplied by.
    prototypes, kappas, log_normalizers : ndarray of shapes (K, d), (K,) and (K,)
        As they were fitted.
    lengths : ndarray of shape (K,)
        |q_k|, since the prototype is q_k / |q_k|, and q_k the resultant less the threshold.
    floor : float
        The least length that is left.
    """

    columns: slice
    weight: float
    prototypes: Array
    kappas: Array
    log_normalizers: Array
    lengths: Array
    floor: float

    def dots(self, rows: Array, columns: Any = slice(None)) -> tuple[Array, Array]:
        """Return products with the prototypes, and squared lengths on their supports: (n, K)."""
        own = self.prototypes[:, columns]
        return rows @ own.T, (rows**2) @ (own != 0.0).astype(np.float64).T

    def without(self, rows: Array, pulls: Array) -> Array:
        """Return the lengths of q_k without each of these rows: (n, K)."""
        dots, squares = self.dots(rows)
        found = self.lengths**2 - 2.0 * pulls * self.lengths * dots + pulls**2 * squares
        return np.asarray(np.sqrt(np.maximum(found, self.floor**2)))

    def part(self, rows: Array, columns: Ids, pulls: Array, lengths: Array) -> Part:
        """Return what some columns of rows say, with the lengths that are left of q_k."""
        rows = rows[:, columns]
        dots, squares = self.dots(rows, columns)
        products = self.kappas * (self.lengths * dots - pulls * squares) / lengths
        inside = self.lengths**2 * (self.prototypes[:, columns] ** 2).sum(axis=1)
        prototypes = inside - 2.0 * pulls * self.lengths * dots + pulls**2 * squares
        return Part(
            products,
            np.einsum("ij,ij->i", rows, rows),
            (self.kappas / lengths) ** 2 * prototypes,
            len(columns),
            self.weight,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some rows, and what leaving each of them out does to the prototypes.

    Attributes
    ----------
    left : LeftOut
        What they are left out of.
    rows : ndarray of shape (n, d)
        The rows.
    pulls : ndarray of shape (n, K)
        w_i t_ik, by which each row pulls each prototype.
    lengths : list of ndarray of shape (n, K)
        Lengths of q_k without the row, for each side.
    inside : ndarray of shape (n,)
        Probability that the row belongs to a component, and is no noise.
    """

    left: LeftOut
    rows: Array
    pulls: Array
    lengths: list[Array]
    inside: Array

    @property
    def log_weights(self) -> Array:
        """Logarithms of the shares of the components, each row left out: (n, K)."""
        masses = np.maximum(self.left.mass - self.pulls, LEAST * self.left.total)
        found: Array = np.log(masses / masses.sum(axis=1, keepdims=True))
        return found

    @property
    def scores(self) -> Array:
        """Logarithms of weight and density of each component, each row left out: (n, K)."""
        found = self.log_weights
        for side, part in zip(self.left.sides, self.parts(), strict=True):
            there = part.lengths[:, None] > 0.0  # a view in which a row has nothing does not count
            found += side.weight * np.where(there, side.log_normalizers + part.products, 0.0)
        return found

    def parts(self, columns: Sequence[Ids] | None = None) -> list[Part]:
        """Return what some columns of each view say, or all of them."""
        sides = self.left.sides
        each = columns or [np.arange(side.prototypes.shape[1]) for side in sides]
        return [
            side.part(self.rows[:, side.columns], own, self.pulls, lengths)
            for side, own, lengths in zip(sides, each, self.lengths, strict=True)
        ]


class LeftOut:
    """The rows of a fit, each left out of the prototypes in turn.

    A prototype is the direction of a vector q_k on its support: the resultant there, soft
    thresholded if there is a penalty. The row x_i of weight w_i and posterior t_ik is part of it.
    Without it the vector is q_k - w_i t_ik x_i on the support, and the mass is n_k - w_i t_ik. The
    concentrations, the threshold and the support are held; for a mixture without penalty the
    prototypes are exact. With a hard E-step t_ik is 1 for the most probable component. With several
    views, all this is so for each of them; those of weight zero say nothing, and are left out.

    Parameters
    ----------
    mixture : VMFMixture
        Fitted.
    rows : Directions
        Its rows.
    weights : ndarray of shape (n,), or None
        Their weights.
    """

    def __init__(self, mixture: VMFMixture, rows: Directions, weights: Array | None) -> None:
        self.mixture, self.rows, self.weights = mixture, rows, weights
        self.hard = mixture.e_step == "hard"
        scorer = replace(mixture.scorer_, assignment="hard" if self.hard else "soft")
        [swept] = rows.sweep([scorer], weights)
        resultants = mixture.model_.clusters(swept)
        self.mass, self.total = resultants.mass, float(resultants.mass.sum())
        self.sides = _sides(mixture, resultants.vectors, LEAST * self.total)

    @property
    def vectors(self) -> Array:
        """The vectors q_k of all sides, (K, d)."""
        return np.hstack([side.lengths[:, None] * side.prototypes for side in self.sides])

    def blocks(self, ids: Ids) -> Iterator[tuple[Ids, Block]]:
        """Read some rows, a few at a time."""
        scorer = self.mixture.scorer_
        size = max(1, ENTRIES // max(self.rows.n_features, scorer.n_components))
        for begin in range(0, len(ids), size):
            part = ids[begin : begin + size]
            rows = self.rows.take(part)
            scores = rows @ scorer.matrix.T + scorer.biases
            pulls = assign(scores, hard=self.hard)[:, : scorer.n_clusters]
            inside = pulls.sum(axis=1)
            if self.weights is not None:
                pulls = pulls * self.weights[part, None]
            lengths = [side.without(rows[:, side.columns], pulls) for side in self.sides]
            yield part, Block(self, rows, pulls, lengths, inside)


def _sides(mixture: VMFMixture, vectors: Array, floor: float) -> list[Side]:
    """Return the prototypes of each view that has a weight, by the resultants of the fit."""
    model: Any = mixture.model_
    parameters = model.parameters(mixture.prototypes_, mixture.kappas_, mixture.weights_)
    kappas, normalizers = parameters.kappas, parameters.log_normalizers
    several = kappas.ndim > 1
    columns = model.columns if several else (slice(0, mixture.prototypes_.shape[1]),)
    weights = model.view_weights if several else (1.0,)
    sides = []
    for v, (own, weight) in enumerate(zip(columns, weights, strict=True)):
        if weight == 0.0:
            continue
        prototypes, l1 = mixture.prototypes_[:, own], model.penalty_of(v) if several else model.l1
        kappa, normalizer = (kappas[:, v], normalizers[:, v]) if several else (kappas, normalizers)
        pulled = np.einsum("kj,kj->k", prototypes, vectors[:, own])
        shrunk = l1.beta * l1.norms(prototypes) / (weight * kappa)
        lengths = np.maximum(pulled - shrunk, floor)
        sides.append(Side(own, weight, prototypes, kappa, normalizer, lengths, floor))
    return sides


def assign(scores: Array, *, hard: bool) -> Array:
    """Return the parts of rows that belong to each component: posteriors, or one and zeros."""
    if hard:
        return np.asarray(np.eye(scores.shape[1])[scores.argmax(axis=1)])
    return np.asarray(softmax(scores, axis=1))
