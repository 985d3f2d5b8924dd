"""Rows that belong nowhere: a start that makes room for them, and how many there may be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from spheremix import em
from spheremix.estimators import validation as check
from spheremix.estimators.starts import Start
from spheremix.models.base import DegenerateError
from spheremix.search import Search

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.estimators.options import MixtureOptions
    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel, VMFParameters

    Array = NDArray[np.float64]
    Fitted = em.Fit[VMFParameters]

BEYOND = 2.33  # robust standard deviations beyond which a row is noise: 1 % of a normal tail
QUARTILE = 0.6744897501960817  # from the median of a normal distribution, in standard deviations
ROUNDS = 30  # of lowering the level of the noise and fitting again, at most
SETTLED = 0.05  # robust standard deviations by which the level may still be too high
LEAST_STEP = 0.1  # nats by which the level is lowered at least


def noise_start(problem: Problem[VMFModel], options: MixtureOptions) -> Start:
    """Search for one cluster more, and give the loosest one up to the noise.

    A search without noise gathers much noise in a cluster of its own, and a cluster of the rows is
    lost to it. It is the one with the smallest mean length.
    """
    model, K = problem.model, problem.n_components
    search: Search[VMFParameters] = Search(
        model.for_search()[0], problem.directions, problem.weights
    )
    seeds = check.draw_seeds(options.random_state, options.n_init)
    found = [one for one in search.run([K + 1], seeds)[0] if one is not None]
    if model.noise is None or not found:
        return Start(None, "noise")
    best = max(found, key=lambda one: one.value).resultants
    lengths = np.linalg.norm(best.vectors, axis=1)
    loosest = int((lengths / best.mass).argmin())
    kept = np.arange(K + 1) != loosest
    try:
        start = model.from_partition(
            replace(best, mass=best.mass[kept], vectors=best.vectors[kept])
        )
    except DegenerateError:
        return Start(None, "noise")
    shares = model.noise.weights(start.weights, float(best.mass[loosest] / best.mass[kept].sum()))
    return Start(replace(start, weights=shares), "noise")


def settle_noise(
    options: MixtureOptions, problem: Problem[VMFModel], fit: Fitted
) -> tuple[Problem[VMFModel], Fitted]:
    """Lower the level of the noise until no more rows are noise than may be; fit again each time.

    A level is held while EM runs, so each fit has its objective and its certificate. Levels only
    fall, and every round ends in a fit.
    """
    if problem.model.noise is None or options.max_noise is None:
        return problem, fit
    for _ in range(ROUNDS):
        noise = problem.model.noise
        step = too_high(problem, fit, options.max_noise)
        if noise is None or step <= 0.0:
            break
        lower = replace(problem.model, noise=replace(noise, level=noise.level - step))
        (again,) = em.fit(
            lower,
            problem.directions,
            [fit.parameters],
            problem.settings,
            weights=problem.weights,
        )
        if not again.ok:
            break
        problem = replace(problem, model=lower)
        fit = em.evaluate(
            lower,
            problem.directions,
            again,
            lower.zero_small(again.parameters, options.zero_tol),
            problem.settings,
            weights=problem.weights,
        )
    return problem, fit


def too_high(problem: Problem[VMFModel], fit: Fitted, most: float | str) -> float:
    """Give by how much the level of the noise is to be lowered, in nats; 0 where it is right."""
    scorer = problem.model.scorer(fit.parameters)
    directions, clusters = problem.directions, scorer.clusters()
    densities = directions.map_rows(clusters, "log_density")
    odds = (scorer.biases[-1] + scorer.offset) - densities  # of noise, against all clusters
    lost = directions.map_rows(scorer, "labels") == scorer.n_clusters
    weights = np.ones(len(odds)) if problem.weights is None else problem.weights
    if most == "auto":
        if not (weights[~lost] > 0.0).any():
            return 0.0
        middle, upper = quantiles(odds[~lost], weights[~lost], (0.5, 0.75))
        deviation = (upper - middle) / QUARTILE
        step = middle + BEYOND * deviation
        return step if step > max(SETTLED * deviation, 0.0) else 0.0
    if weights @ lost <= float(most) * weights.sum():
        return 0.0
    (step,) = quantiles(odds, weights, (1.0 - float(most),))
    return max(step, LEAST_STEP)


def quantiles(values: Array, weights: Array, shares: tuple[float, ...]) -> list[float]:
    """Give the smallest values up to which so much of the weight is."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    places = np.searchsorted(reached, np.array(shares) * reached[-1] * (1.0 - 1e-12))
    return [float(values[order[min(place, len(order) - 1)]]) for place in places]


def keep_level(problem: Problem[VMFModel], model: VMFModel) -> Problem[VMFModel]:
    """Take over the level that was settled before, where the noise is otherwise the same."""
    now, before = problem.model.noise, model.noise
    if now is None or before is None or now.most != before.most:
        return problem
    return replace(problem, model=replace(problem.model, noise=before))
