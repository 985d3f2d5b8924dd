"""What the groups depend on: their shares by a label, a number or a date, with intervals.

The share of a group among documents of a kind is a mixing proportion, and not a mean of posteriors:
where groups overlap, a mean shrinks every difference towards zero. With f_ik the tempered evidence
of row i for group k and u_i what is known of its document, the proportions

    pi_k(u) = exp(u' gamma_k) / sum_l exp(u' gamma_l)

maximise sum_i w_i log(sum_k pi_k(u_i) f_ik), the components held. For one label these are free
proportions within each value, the ones that EM finds there. A number or a date enters by a natural
cubic spline; several columns add up (main effects), and the share at a value of one of them is the
mean over the documents as they are in the others. Each document counts once, however long.

For intervals documents are drawn again, with all of their rows. The mixture is fitted again from
where it stands, so that groups keep their identity and may move, and the proportions are found
again. The intervals are percentiles over these draws: they contain the uncertainty of the groups.
With few documents percentiles are too narrow, as a normal interval is where a t interval is due.
So they are taken a little farther out (the expanded percentile interval of Hesterberg, 2015, What
teachers should know about the bootstrap, The American Statistician 69): of n documents, at the
probability of the normal distribution below -sqrt(n / (n - 1)) t, with t of n - 1 degrees.
"""

from __future__ import annotations

import datetime as dt
import numbers
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import softmax
from scipy.stats import norm
from scipy.stats import t as t_distribution
from threadpoolctl import threadpool_limits

from spheremix import em
from spheremix.errors import ParameterError
from spheremix.estimators import validation as check
from spheremix.estimators.calibration import calibrate
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.problem import NoFitError, build_problem
from spheremix.estimators.replicates import drawn_again
from spheremix.reading.labels import is_missing
from spheremix.reading.shares import as_codes, as_lengths, as_mixture, noise_of, normalised
from spheremix.reading.stability import CLOSE_ENOUGH, Stability, stability
from spheremix.reading.timeline import parse_dates
from spheremix.wording import count, html_lines, html_table, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from spheremix.data.base import Directions
    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel, VMFParameters

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

Kind = Literal["label", "number", "date"]

N_REPLICATES = 200
FEW_VALUES = 5  # distinct numbers, at most, that are labels: 0 and 1, or a scale of five
STABLE = 0.5  # a group below this is dissolved more often than not
MOST_LABELS = 50
EACH_OTHER = 5  # labels, at most, of which every two are compared
DEGREES = 4  # of freedom of a curve
GRID = 25  # values at which a curve is computed
EDGES = (0.02, 0.98)  # quantiles of the documents between which a curve is told
RIDGE = 0.01  # documents' worth of penalty, so that a share of zero has a finite logarithm
BATCH = 10  # draws that share each reading of the rows, at most
MAX_ITER = 100  # of EM in a draw: it starts where the mixture stands
TOLD = 3  # lines of differences that print shows for each column
# Documents of a label: a group that none of few documents has is in no draw, and seems sure.
FEWEST = 15
LEAST = 1e-300
DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2})?")  # text that is a date; a year alone is a number


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """Shares at one value of a column less those at another; one entry a group.

    Attributes
    ----------
    estimates, low, high : ndarray of shape (K,)
        The differences and their intervals; NaN for groups that are not stable.
    """

    estimates: Array
    low: Array
    high: Array

    @property
    def told(self) -> NDArray[np.bool_]:
        """Whether the interval leaves zero out."""
        return (self.low > 0.0) | (self.high < 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class ColumnEffects:
    """How the shares of the groups depend on one column.

    Attributes
    ----------
    name : str
        Of the column.
    kind : {"label", "number", "date"}
        What it has.
    values : tuple
        The labels, sorted, or the numbers or dates at which a curve is computed.
    n_documents : ndarray of shape (V,)
        Documents of each label; of a number or a date, those that are nearest to each value.
    shares : ndarray of shape (V, K)
        Share of each group at each value; rows sum to one. NaN for groups that are not stable.
    draws : ndarray of shape (R, V, K)
        The same in each draw of the documents.
    level : float
        Of the intervals.
    """

    name: str
    kind: str
    values: tuple[Any, ...]
    n_documents: Ids
    shares: Array
    draws: Array
    level: float

    @property
    def low(self) -> Array:
        """Lower ends of the intervals of the shares: (V, K)."""
        return np.array([self._bounds(v)[0] for v in range(len(self.values))])

    @property
    def high(self) -> Array:
        """Upper ends of the intervals of the shares: (V, K)."""
        return np.array([self._bounds(v)[1] for v in range(len(self.values))])

    def _bounds(self, v: int, other: int | None = None) -> tuple[Array, Array]:
        """Return the interval of the shares at a value, or of their difference to another."""
        draws = self.draws[:, v] if other is None else self.draws[:, v] - self.draws[:, other]
        if self.kind == "label":
            n = int(self.n_documents[[v] if other is None else [v, other]].min())
        else:  # the documents that stand behind each degree of freedom of the curve
            n = int(self.n_documents.sum()) // (DEGREES + 1)
        return _bounds(draws, self.level, n)

    def difference(self, value: Any, other: Any) -> Difference:
        """Return the shares at one of ``values`` less those at another, with intervals."""
        for one in (value, other):
            if one not in self.values:
                raise ParameterError(
                    "{value} must be one of the values of {column}, which are {known}; got {got}",
                    column=self.name,
                    known=", ".join(map(str, self.values[:10])),
                    got=repr(one),
                )
        i, j = self.values.index(value), self.values.index(other)
        return Difference(self.shares[i] - self.shares[j], *self._bounds(i, j))

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        """Return the pairs of values to compare.

        Every two labels, or of more than five each with the most frequent one; the ends of a curve.
        """
        if self.kind != "label":
            yield self.values[-1], self.values[0]
            return
        if len(self.values) > EACH_OTHER:
            most = self.values[int(self.n_documents.argmax())]
            yield from ((value, most) for value in self.values if value != most)
            return
        for i, value in enumerate(self.values):
            yield from ((value, other) for other in self.values[:i])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Effects:
    """How the shares of groups depend on what is known of the documents; ``print`` shows it.

    Attributes
    ----------
    columns : tuple of ColumnEffects
        One for each column.
    names : tuple of str
        Of the groups.
    stability : ndarray of shape (K,)
        Of the groups; those below .5 have NaN instead of effects.
    n_documents : int
        Documents that have a value in every column.
    n_missing : int
        Those that have not, and are left out.
    n_replicates : int
        Draws of the documents.
    n_lost : int
        Draws in which a group was lost; the intervals are of the others.
    temperature : float
        What the evidence of a row was divided by.
    """

    columns: tuple[ColumnEffects, ...]
    names: tuple[str, ...]
    stability: Array
    n_documents: int
    n_missing: int
    n_replicates: int
    n_lost: int
    temperature: float

    def __getitem__(self, name: str) -> ColumnEffects:
        """Return the effects of a column."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    @property
    def stable(self) -> NDArray[np.bool_]:
        """Which groups are stable enough to tell effects of."""
        return self.stability >= STABLE

    def table(self) -> dict[str, list[Any]]:
        """Return all shares and differences as a table, such as ``pandas.DataFrame`` takes.

        Returns
        -------
        dict of str to list
            ``column``, ``value``, ``other``, ``n_documents``, ``group``, ``share``, ``difference``,
            ``low`` and ``high``. The shares at each value come first, with None as ``other`` and
            NaN as ``difference``; then how far they are above those at another value, with NaN as
            ``share``. ``low`` and ``high`` are the ends of the interval of either.
        """
        names = ("column", "value", "other", "n_documents", "group", "share", "difference")
        found: dict[str, list[Any]] = {name: [] for name in (*names, "low", "high")}
        for column in self.columns:
            counts = dict(zip(column.values, column.n_documents.tolist(), strict=True))
            nothing = np.full(len(self.names), np.nan)
            at = zip(column.values, column.shares, column.low, column.high, strict=True)
            rows = [(value, None, share, nothing, low, high) for value, share, low, high in at]
            for value, other in column.pairs():
                one = column.difference(value, other)
                rows.append((value, other, nothing, one.estimates, one.low, one.high))
            for value, other, *several in rows:
                for k, name in enumerate(self.names):
                    numbers = [float(each[k]) for each in several]
                    row = (column.name, value, other, counts[value], name, *numbers)
                    for key, one_value in zip(found, row, strict=True):
                        found[key].append(one_value)
        return found

    def sentences(self, column: ColumnEffects) -> list[str]:
        """Return what can be said of a column: the clearest differences first."""
        told: list[tuple[float, str]] = []
        n_compared = 0
        few = [
            value
            for value, n in zip(column.values, column.n_documents, strict=True)
            if column.kind == "label" and n < FEWEST
        ]
        for value, other in column.pairs():
            if value in few or other in few:
                continue
            difference = column.difference(value, other)
            i, j = column.values.index(value), column.values.index(other)
            n_compared += int(self.stable.sum())
            for k in np.flatnonzero(difference.told & self.stable):
                size = abs(difference.estimates[k]) / (difference.high[k] - difference.low[k])
                line = (
                    f"{self.names[k]}: {_percent(column.shares[i, k])} at {column.name} = "
                    f"{shown_value(value)}, "
                    f"{_percent(column.shares[j, k])} at {shown_value(other)}; "
                    f"difference {100 * difference.estimates[k]:+.0f} points "
                    f"({100 * difference.low[k]:+.0f} to {100 * difference.high[k]:+.0f})."
                )
                told.append((-size, line))
        lines = [line for _, line in sorted(told)]
        more = len(lines) - TOLD
        if more > 0:
            lines = [*lines[:TOLD], f"{count(more, 'more difference')} beyond chance."]
        chance = (1.0 - column.level) * n_compared
        compared = f"Of {count(n_compared, 'difference')} compared"
        if lines:
            lines.append(f"{compared}, {chance:.1f} would look so by chance alone.")
        elif n_compared:
            lines.append(f"{compared}, none is beyond chance.")
        if few:
            shown = joined([shown_value(value) for value in few])
            lines.append(f"Fewer than {FEWEST} documents, so no difference is told: {shown}.")
        return lines

    def __str__(self) -> str:
        level = f"{100 * self.columns[0].level:.0f} %"
        left_out = f"; {self.n_missing:,} without a value left out" if self.n_missing else ""
        head = (
            f"{count(self.n_documents, 'document')}, {level} intervals from "
            f"{self.n_replicates - self.n_lost} draws of the documents{left_out}."
        )
        lines = [head]
        for column in self.columns:
            lines += [f"{column.name}:", *(f"  {line}" for line in self.sentences(column))]
        if not self.stable.all():
            weak = [self.names[k] for k in np.flatnonzero(~self.stable)]
            lines.append(f"Not stable, so no effect is told: {joined(weak)}.")
        if len(self.columns) > 1:
            lines.append("Each column with the others held as they are.")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Show them in a notebook: the sentences, then shares with their intervals."""
        return html_lines(str(self).splitlines()) + html_table(self.table())


def effects(
    model: Any,
    X: Any,
    by: Any,
    *,
    documents: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    temperature: float | None = None,
    stability: Stability | ArrayLike | None = None,
    n_replicates: int = N_REPLICATES,
    level: float = 0.95,
    random_state: Any = 0,
    callback: Callable[[int], None] | None = None,
) -> Effects:
    """Find out how the shares of the groups depend on a label, a number or a date.

    Shares are mixing proportions within the documents of a value, not means of posteriors, which
    would make every difference too small where groups overlap. For intervals the documents are
    drawn again and the mixture is fitted again from where it stands, so that they contain the
    uncertainty of the groups themselves. Of a group that is not stable no effect is told.

    An effect is a difference between documents, and no proof of a cause, unless the values were
    given at random as in an experiment.

    Parameters
    ----------
    model : VMFMixture, VMFPath or VMFMixtureIC
        Fitted; of a path the step that is selected.
    X : array-like or sparse matrix of shape (n, d), or Directions
        The rows it was fitted to: documents, or passages of ``documents``.
    by : array-like of shape (n,), or mapping of str to such
        One value a row, or several columns (a dict or a data frame): then the effect of each with
        the others held. Numbers of at most five different values are labels, others are numbers.
        Text is a label, unless all are dates as "2016-10-12"; dates are dates. Rows without a
        value (None, NaN, "") are left out.
    documents : array-like of shape (n,), default=None
        The document that each row is of, where rows are passages. None: each is its own.
    lengths : array-like of shape (n,), default=None
        What a passage counts for within its document, such as its number of words.
    names : sequence of str, default=None
        Of the groups; "group 0" and so on by default.
    temperature : float or None, default=None
        What the evidence of a row is divided by; None for that of :func:`spheremix.calibrate`.
    stability : Stability, array-like of shape (K,), or None, default=None
        Stability of the groups; None to have it measured by :func:`spheremix.stability`.
    n_replicates : int, default=200
        Draws of the documents.
    level : float, default=0.95
        Of the intervals.
    random_state : int, RandomState, Generator or None, default=0
        Seeds the draws.
    callback : callable or None, default=None
        Called with the number of draws done.

    Returns
    -------
    Effects
        Shares, intervals, differences; ``print`` shows the clearest.

    Examples
    --------
    >>> import numpy as np
    >>> import spheremix as sm
    >>> X, y, _ = sm.datasets.make_vmf_mixture(400, 10, 3, overlap=0.02, random_state=0)
    >>> party = np.where(np.random.default_rng(0).random(400) < 0.2 + 0.5 * (y == 0), "a", "b")
    >>> mixture = sm.VMFMixture(3, random_state=0).fit(X)
    >>> found = sm.effects(mixture, X, {"party": party}, n_replicates=50)
    >>> found["party"].values
    ('a', 'b')
    >>> bool(found["party"].difference("a", "b").told.any())
    True
    """
    mixture = as_mixture(model)
    rows = check.open_again(mixture, X)
    n, K = rows.n_rows, len(mixture.weights_)
    n_replicates = check.require_integer("n_replicates", n_replicates, 2)
    level = check.require_number("level", level, above=0.0)
    if level >= 1.0:
        raise ParameterError("{level} must be below 1, got {got}", got=level)
    columns = [read_column(name, values, n) for name, values in _named_columns(by)]
    known = np.all([column.known for column in columns], axis=0)
    _, codes = as_codes("documents", np.arange(n) if documents is None else documents, n)
    given = _group_names(names, K)
    seed, *_ = check.draw_seeds(random_state, 1)
    if temperature is None:
        temperature = calibrate(mixture, rows, random_state=seed).temperature
    temperature = check.require_number("temperature", temperature, above=0.0)
    stable = _stabilities(stability, model, rows, K, seed, documents)

    plan = _Plan.make(columns, known, codes, as_lengths(lengths, n), noise_of(mixture, rows))
    found = plan.shares(_evidence(mixture.model_, _parameters(mixture), rows, temperature), None)
    problem = _problem(mixture, rows)
    rng = np.random.default_rng(seed)
    n_documents = int(codes.max()) + 1
    draws: list[list[Array]] = []
    at_a_time = int(np.clip(em.BATCH_ENTRIES // mixture.prototypes_.size, 1, BATCH))
    for begin in range(0, n_replicates, at_a_time):
        size = min(at_a_time, n_replicates - begin)
        times = drawn_again(rng, None, n_documents, size)
        for parameters, own in _fits_again(problem, mixture, times[:, codes], times):
            evidence = _evidence(problem.model, parameters, rows, temperature)
            draws.append(plan.shares(evidence, own, plan.last))
        if callback is not None:
            callback(begin + size)
    if len(draws) < 2:
        raise NoFitError(
            "Every draw of the documents lost a group: the groups do not survive other documents",
            remedies=("take fewer components",),
        )
    hidden = np.where(stable >= STABLE, 1.0, np.nan)
    return Effects(
        tuple(
            ColumnEffects(
                column.name,
                column.kind,
                column.shown,
                plan.n_documents(c),
                found[c] * hidden,
                np.array([one[c] for one in draws]) * hidden,
                level,
            )
            for c, column in enumerate(columns)
        ),
        given,
        stable,
        len(np.unique(codes[known])),
        n_documents - len(np.unique(codes[known])),
        n_replicates,
        n_replicates - len(draws),
        temperature,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """A column as numbers: which rows have a value, and the features of values."""

    name: str
    kind: Kind
    known: NDArray[np.bool_]
    shown: tuple[Any, ...]  # the values at which shares are told
    features: Array  # (n, P): of the rows
    targets: Array  # (V, P): of the values
    nearest: Ids  # (n,): the number of the nearest of the values


@dataclass(slots=True, eq=False)
class _Plan:
    """Finds the shares at the values of all columns, from evidence and weights of documents.

    Rows whose documents have the same values share one *cell*.
    """

    columns: list[_Column]
    rows: Ids  # those that count
    codes: Ids  # documents of these rows
    sizes: Array  # what each of these rows counts for within its document
    cells: Ids
    design: Array  # (C, P)
    last: Array | None = None  # coefficients, from which the next fit starts

    @classmethod
    def make(
        cls,
        columns: list[_Column],
        known: NDArray[np.bool_],
        codes: Ids,
        lengths: Array,
        noise: Array,
    ) -> _Plan:
        rows = np.flatnonzero(known)
        own = codes[rows]
        sizes = lengths[rows] * (1.0 - noise[rows])
        whole = np.bincount(own, lengths[rows])
        sizes = sizes / whole[own]
        features = np.hstack([np.ones((len(rows), 1)), *(one.features[rows] for one in columns)])
        design, cells = np.unique(features, axis=0, return_inverse=True)
        return cls(columns, rows, own, sizes, cells.ravel(), design)

    def n_documents(self, c: int) -> Ids:
        """Count the documents at the values of a column."""
        column = self.columns[c]
        found = np.zeros(len(column.shown), dtype=np.intp)
        for v in range(len(found)):
            found[v] = len(np.unique(self.codes[column.nearest[self.rows] == v]))
        return found

    def shares(
        self, evidence: Array, times: Array | None, start: Array | None = None
    ) -> list[Array]:
        """Return the shares of the groups at the values of each column."""
        weights = self.sizes if times is None else self.sizes * times[self.codes]
        gamma = fit_proportions(evidence[self.rows], self.design, self.cells, weights, start)
        if times is None:
            self.last = gamma
        in_cells = np.bincount(self.cells, weights, minlength=len(self.design))
        found, place = [], 1
        for column in self.columns:
            own = slice(place, place + column.targets.shape[1])
            place = own.stop
            others = self.design @ gamma - self.design[:, own] @ gamma[own]
            if len(self.columns) == 1:  # what is left is the intercept, the same everywhere
                found.append(softmax(others[0] + column.targets @ gamma[own], axis=1))
                continue
            each = [
                np.average(softmax(others + target @ gamma[own], axis=1), axis=0, weights=in_cells)
                for target in column.targets
            ]
            found.append(np.array(each))
        return found


def fit_proportions(
    evidence: Array, design: Array, cells: Ids, weights: Array, start: Array | None = None
) -> Array:
    """Return the coefficients (P, K) of the proportions that maximise the likelihood.

    Parameters
    ----------
    evidence : ndarray of shape (n, K)
        Densities of the rows, each row up to a factor.
    design : ndarray of shape (C, P)
        What is known, for each cell; the first column is ones and is not penalised.
    cells : ndarray of int, shape (n,)
        The cell of each row.
    weights : ndarray of shape (n,)
        What each row counts for.
    start : ndarray of shape (P, K), default=None
        Coefficients to start from.

    Returns
    -------
    ndarray of shape (P, K)
        Coefficients; shares are the softmax of ``design @ coefficients``.
    """
    (n, K), (C, P) = evidence.shape, design.shape
    sums = sparse.csr_array((weights, (cells, np.arange(n))), shape=(C, n))
    in_cells = np.bincount(cells, weights, minlength=C)[:, None]
    total = weights.sum()
    penalty = np.full((P, 1), RIDGE)
    penalty[0] = 0.0

    def loss(flat: Array) -> tuple[float, Array]:
        gamma = flat.reshape(P, K)
        logits = design @ gamma
        shares = normalised(np.exp(logits - logits.max(axis=1, keepdims=True)))
        joint = shares[cells] * evidence
        densities = np.maximum(joint.sum(axis=1), LEAST)
        expected = np.asarray(sums @ (joint / densities[:, None]))
        slope = design.T @ (expected - in_cells * shares) - penalty * gamma
        value = weights @ np.log(densities) - 0.5 * np.sum(penalty * gamma**2)
        return -value / total, -slope.ravel() / total

    begin = np.zeros(P * K) if start is None else start.ravel()
    with threadpool_limits(1):  # the steps are small: threads would wait for each other
        found = minimize(loss, begin, jac=True, method="L-BFGS-B", options={"gtol": 1e-6})
    gamma: Array = found.x.reshape(P, K)
    return gamma


def _fits_again(
    problem: Problem[VMFModel], mixture: VMFMixture, weights: Array, times: Array
) -> Iterator[tuple[VMFParameters, Array]]:
    """Fit the mixture to documents drawn again, from where it stands; lost ones are left out."""
    start = _parameters(mixture)
    fits = em.fit(
        problem.model,
        problem.directions,
        [start] * len(weights),
        problem.settings,
        weights=np.ascontiguousarray(weights),
    )
    for fit, own in zip(fits, times, strict=True):
        if fit.ok:
            yield problem.model.zero_small(fit.parameters, mixture.zero_tol), own


def _problem(mixture: VMFMixture, rows: Directions) -> Problem[VMFModel]:
    problem = build_problem(MixtureOptions.of(mixture), rows, None)
    settings = replace(
        problem.settings, tol=max(problem.settings.tol, CLOSE_ENOUGH), max_iter=MAX_ITER
    )
    # A refit remembers its penalty, by which its words are chosen again.
    l1 = replace(mixture.model_.l1, beta=float(mixture.beta))
    model = replace(mixture.model_, l1=l1, n_threads=rows.n_threads)
    return replace(problem, model=model, settings=settings)


def _parameters(mixture: VMFMixture) -> VMFParameters:
    return mixture.model_.parameters(mixture.prototypes_, mixture.kappas_, mixture.weights_)


def _evidence(
    model: VMFModel, parameters: VMFParameters, rows: Directions, temperature: float
) -> Array:
    """Return tempered densities of the rows for each group, the largest of a row 1."""
    scores = rows.map_rows(model.scorer(parameters).clusters(), "scores")
    scores = (scores - np.log(parameters.weights[: scores.shape[1]])) / temperature
    found: Array = np.exp(scores - scores.max(axis=1, keepdims=True))
    return found


def _stabilities(
    given: Any, model: Any, rows: Directions, K: int, seed: int, documents: ArrayLike | None
) -> Array:
    if given is None:
        try:
            given = stability(model, rows, documents=documents, random_state=seed)
        except NoFitError:  # no repetition has as many groups: none has stayed
            return np.zeros(K)
    if isinstance(given, Stability):
        return given.groups
    return check.require_vector("stability", given, K, "group")


def _group_names(names: Sequence[str] | None, K: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"group {k}" for k in range(K))
    if len(names) != K:
        raise ParameterError(
            "{names} must have one name a group: there are {K} groups, got {got}",
            K=K,
            got=len(names),
        )
    return tuple(names)


def _named_columns(by: Any) -> list[tuple[str, Any]]:
    """Return names and values of the columns: of a mapping, a data frame, or one column alone."""
    if isinstance(by, Mapping):
        found = list(by.items())
    elif hasattr(by, "columns") and hasattr(by, "__getitem__"):
        found = [(str(name), by[name]) for name in by.columns]
    else:
        found = [(str(getattr(by, "name", None) or "value"), by)]
    if not found:
        raise ParameterError("{by} has no column")
    return found


def read_column(name: str, values: Any, n_rows: int) -> _Column:
    """Return a column as features, or refuse it: its kind, and where its shares are told."""
    given = values if isinstance(values, np.ndarray) else np.array(list(values), dtype=object)
    if given.shape != (n_rows,):
        raise ParameterError(
            "{by} must have one value a row: there are {n} rows, column {name} has shape {got}",
            n=n_rows,
            name=name,
            got=given.shape,
        )
    known = np.array([not is_missing(one) for one in given.tolist()], dtype=bool)
    if given.dtype.kind == "M":
        known = ~np.isnat(given)
    kind = _kind(given[known])
    if kind == "label":
        return _labelled(name, given, known)
    if kind == "date":
        numeric = parse_dates(given[known]).astype(np.int64).astype(float)
    else:
        numeric = np.array(given[known], dtype=float)
    return _curved(name, kind, numeric, known)


def _kind(values: NDArray[Any]) -> Kind:
    each = values.tolist()
    if values.dtype.kind == "M" or all(isinstance(one, dt.date | np.datetime64) for one in each):
        return "date"
    if all(isinstance(one, str) and DATE.fullmatch(one) for one in each):
        return "date"
    real = all(isinstance(one, numbers.Real) and not isinstance(one, bool) for one in each)
    return "number" if real and len(set(each)) > FEW_VALUES else "label"


def _labelled(name: str, given: NDArray[Any], known: NDArray[np.bool_]) -> _Column:
    each = given[known].tolist()
    values = sorted(set(each), key=lambda one: (isinstance(one, str), one))
    if len(values) < 2:
        raise ParameterError(
            "{by} must have two different values at least: column {name} has {got}",
            name=name,
            got=len(values),
        )
    if len(values) > MOST_LABELS:
        raise ParameterError(
            "{by} has {got} different labels in column {name}, and at most {most} are compared",
            remedies=("put some of them together", "give numbers or dates"),
            got=len(values),
            name=name,
            most=MOST_LABELS,
        )
    place = {value: v for v, value in enumerate(values)}
    nearest = np.zeros(len(given), dtype=np.intp)
    nearest[known] = [place[one] for one in each]
    targets = np.eye(len(values))
    return _Column(name, "label", known, tuple(values), targets[nearest], targets, nearest)


def _curved(name: str, kind: Kind, numeric: Array, known: NDArray[np.bool_]) -> _Column:
    """Return a column of numbers, by the features of a natural cubic spline."""
    low, high = np.quantile(numeric, EDGES)
    knots = np.unique(np.quantile(numeric, np.linspace(*EDGES, DEGREES + 1)))
    grid = np.linspace(low, high, GRID)
    if kind == "date":
        grid = np.unique(np.round(grid))
        shown: tuple[Any, ...] = tuple(str(one) for one in grid.astype("datetime64[D]"))
    else:
        shown = tuple(grid.tolist())
    if low == high:
        raise ParameterError(
            "{by} must differ between documents: in column {name} nearly all are {got}",
            name=name,
            got=low,
        )
    basis = natural_spline(numeric, knots)
    centre, scale = basis.mean(axis=0), basis.std(axis=0)
    features = np.zeros((len(known), basis.shape[1]))
    features[known] = (basis - centre) / scale
    targets = (natural_spline(grid, knots) - centre) / scale
    nearest = np.zeros(len(known), dtype=np.intp)
    nearest[known] = np.abs(numeric[:, None] - grid).argmin(axis=1)
    return _Column(name, kind, known, shown, features, targets, nearest)


def natural_spline(x: Array, knots: Array) -> Array:
    """Return the features of a natural cubic spline, without the constant: (n, n_knots - 1).

    It is linear beyond the outer knots (Hastie, Tibshirani and Friedman, The Elements of
    Statistical Learning, section 5.2.1).
    """
    scaled, places = (x - knots[0]) / np.ptp(knots), (knots - knots[0]) / np.ptp(knots)
    last = places[-1]

    def bend(k: int) -> Array:
        cubes = np.maximum(scaled - places[k], 0.0) ** 3 - np.maximum(scaled - last, 0.0) ** 3
        found: Array = cubes / (last - places[k])
        return found

    final = bend(len(places) - 2)
    return np.column_stack([scaled, *(bend(k) - final for k in range(len(places) - 2))])


def _bounds(draws: Array, level: float, n: int) -> tuple[Array, Array]:
    """Return the percentiles over the draws that leave as much out on each side."""
    outside = (1.0 - level) / 2.0
    if n > 1:
        outside = float(norm.cdf(np.sqrt(n / (n - 1)) * t_distribution.ppf(outside, n - 1)))
    low, high = np.quantile(draws, [outside, 1.0 - outside], axis=0)
    return low, high


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def shown_value(value: Any) -> str:
    """Return a value of a column as people write it."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
