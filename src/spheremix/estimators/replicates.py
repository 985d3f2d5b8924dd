"""Rows drawn again, and which coordinates are selected in them."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spheremix import em
from spheremix.errors import NotedWarning
from spheremix.estimators import validation as check
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.problem import NoFitError, build_problem

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from spheremix.estimators.path import VMFPath

    Array = NDArray[np.float64]


def drawn_again(
    rng: np.random.Generator, weights: Array | None, n_rows: int, n_draws: int
) -> Array:
    """Draw rows with replacement, in proportion to their weights: new weights (n_draws, n).

    As many rows are drawn as there are, or as the weights sum to if that is more; the new weights
    have the same sum as the old ones.
    """
    base = np.ones(n_rows) if weights is None else weights
    total = base.sum()
    n = max(round(total), np.count_nonzero(base))
    drawn: Array = rng.multinomial(n, base / total, size=n_draws) * (total / n)
    return drawn


def stability_selection(
    path: VMFPath,
    X: Any,
    n_bootstrap: int = 50,
    *,
    step: int | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Any = None,
) -> Array:
    """Return how often each coordinate is selected when the rows are drawn again.

    Each bootstrap is a vector of weights, not a copy of the rows. EM starts from the solution of
    the path, so that components keep their names.

    Parameters
    ----------
    path : VMFPath
        Fitted.
    X : array-like or sparse matrix of shape (n, d)
        The rows it was fitted on.
    n_bootstrap : int, default=50
        Draws of as many rows, with replacement; where there are weights, in proportion to them,
        and as many as they sum to if that is more.
    step : int, optional
        Index on the path; ``path.selected_`` by default.
    sample_weight : array-like of shape (n,), default=None
        The weights it was fitted with.
    random_state : int, RandomState, Generator or None, default=None
        Seeds the draws.

    Returns
    -------
    ndarray of shape (K, d)
        Share of the bootstraps (of those that did not fail) in which the coordinate is non-zero.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, _, _ = sm.datasets.make_vmf_mixture(sparsity=0.5, random_state=0)
    >>> path = sm.VMFPath(4, random_state=0).fit(X)
    >>> frequencies = sm.stability_selection(path, X, 10, random_state=0)
    >>> frequencies.shape
    (4, 10)
    """
    check_is_fitted(path, "betas_")
    check.require_integer("n_bootstrap", n_bootstrap, 1)
    # A bootstrap selects by the penalty: it starts from the penalised mixture, not from a refit.
    mixture = path.model(path.selected_ if step is None else step, refit=False)
    rows = check.open_again(mixture, X)
    problem = build_problem(MixtureOptions.of(mixture), rows, sample_weight)
    problem = replace(problem, model=replace(problem.model, seeds=mixture.model_.seeds))
    rng = np.random.default_rng(check.draw_seeds(random_state, 1)[0])
    start = problem.model.parameters(mixture.prototypes_, mixture.kappas_, mixture.weights_)
    times, kept = np.zeros(mixture.prototypes_.shape), 0
    for begin in range(0, n_bootstrap, 10):  # ten at a time share each reading
        size = min(10, n_bootstrap - begin)
        # They have the weight that beta was chosen for.
        weights = drawn_again(rng, problem.weights, problem.directions.n_rows, size)
        fits = em.fit(
            problem.model, problem.directions, [start] * size, problem.settings, weights=weights
        )
        for fit in fits:
            if fit.ok:
                clean = problem.model.zero_small(fit.parameters, path.zero_tol)
                times += clean.prototypes != 0.0
                kept += 1
    if not kept:
        raise NoFitError(
            "Every bootstrap lost a component: they do not survive resampling",
            remedies=("take fewer components", "take an earlier {step} of the path"),
        )
    if kept < n_bootstrap:
        warnings.warn(
            NotedWarning(
                "{lost} of {n} bootstraps lost a component and are left out",
                lost=n_bootstrap - kept,
                n=n_bootstrap,
            ),
            stacklevel=2,
        )
    return times / kept
