"""Noise, rows that belong to no cluster: a start that makes room for it, and how much there is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from spheremix import em
from spheremix.bessel import mean_length
from spheremix.estimators import validation as check
from spheremix.estimators.options import count_runs
from spheremix.estimators.starts import SAMPLE_RUNS, Start, is_large, sample_rows
from spheremix.models.base import DegenerateError
from spheremix.models.skmeans import SHARPNESS
from spheremix.scorer import Scorer
from spheremix.search import Search

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.data.base import Directions
    from spheremix.estimators.options import MixtureOptions
    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel, VMFParameters

    Array = NDArray[np.float64]
    Fitted = em.Fit[VMFParameters]

BEYOND = 2.33  # robust standard deviations beyond which a row is noise: 1 % of a normal tail
VARIES = 1.5  # times as much as the mixture says: rows that vary more are not drawn from it
QUARTILE = 0.6744897501960817  # from the median of a normal distribution, in standard deviations
ROUNDS = 30  # of lowering the level of the noise and fitting again, at most
CLOSE_ENOUGH = 0.05  # robust standard deviations by which the level may still be too high
LIMITED = 300  # M-steps with a level that follows them, at most
STILL = 1e-6  # nats: twice what such a level may still move
# What 99 of 100 samples of an exponential distribution stay below.
CRITICAL = 1.66


def add_noise_start(
    starts: list[Start], problem: Problem[VMFModel], options: MixtureOptions
) -> None:
    """Add the start that makes room for the noise, where there is noise and starts are searched."""
    if (
        problem.model.noise is not None
        and isinstance(options.init, str)
        and options.init == "merge"
    ):
        starts.append(_noise_start(problem, options))


def _noise_start(problem: Problem[VMFModel], options: MixtureOptions) -> Start:
    """Search for one cluster more, and leave the loosest one to the noise.

    A search without noise gathers much noise in a cluster of its own, and a cluster of the rows is
    lost to it. It is the one with the smallest mean length. Two runs and their crossing cost a
    third of a search, and that start is one of several.
    """
    model, K = problem.model, problem.n_components
    seeds = check.draw_seeds(options.random_state, count_runs(options.n_init, options.init))
    if isinstance(options.n_init, str) and is_large(problem):
        problem = sample_rows(problem, seeds[-1])
    search: Search[VMFParameters] = Search(
        model.for_search()[0], problem.directions, problem.weights
    )
    found = [one for one in search.run([K + 1], seeds[:SAMPLE_RUNS])[0] if one is not None]
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


def limit_noise(
    options: MixtureOptions, problem: Problem[VMFModel], fit: Fitted
) -> tuple[Problem[VMFModel], Fitted]:
    """Lower the level of the noise where more rows are noise than may be.

    What comes back is a fit of EM at the level that its model has, with its objective and its gap.
    """
    if problem.model.noise is None or options.max_noise is None:
        return problem, fit
    if isinstance(options.max_noise, str):
        return _usual(options, problem, fit)
    return _limited(options, problem, fit, options.max_noise)


def _usual(
    options: MixtureOptions, problem: Problem[VMFModel], fit: Fitted
) -> tuple[Problem[VMFModel], Fitted]:
    """Lower the level until noise is what is unusual; run EM to its end at each level.

    Rows that vary no more than the mixture says are left to it: its uniform noise is right then.
    Where noise makes a hump of its own, the rows that are beyond the valley before it and unusual
    in this first fit say how many there are, and the level follows EM as for a limit of this share.
    Held at the place of the valley, it would not keep them: rows before it go to clusters, make
    these looser, and others would follow.
    """
    for n in range(ROUNDS):
        odds, lost, weights = _odds(problem, fit)
        middle, upper = quantiles(odds[~lost], weights[~lost], (0.5, 0.75))
        deviation = (upper - middle) / QUARTILE
        if deviation <= VARIES * _expected(fit.parameters):
            break
        step = middle + BEYOND * deviation
        if n == 0:
            far = odds > upper
            begins = hump(odds[far] - upper, weights[far])
            if begins is not None:
                beyond = odds > max(step, upper + begins)
                return _limited(options, problem, fit, float(weights @ beyond / weights.sum()))
        if step <= CLOSE_ENOUGH * deviation:
            break
        lower = _lowered(problem, step)
        again = _continued(options, lower, fit, problem.settings)
        if not again.ok:
            break
        problem, fit = lower, again
    return problem, fit


def _limited(
    options: MixtureOptions, problem: Problem[VMFModel], fit: Fitted, most: float
) -> tuple[Problem[VMFModel], Fitted]:
    """Let the level follow EM, so that the share of noise stays at its limit.

    An E-step that may give the noise no more than so much of the rows is one at a lower level. The
    level is found again after each M-step, from the leads of noise, until neither moves: what is
    reached is a fixed point of EM at the last level. Held from the beginning, no level may lead to
    it: rows that go to clusters make these looser, and other rows follow.
    """
    one, lowered, weights = replace(problem.settings, max_iter=1), 0.0, problem.row_weights
    for _ in range(min(LIMITED, problem.settings.max_iter)):
        leads = noise_leads(problem.model.scorer(fit.parameters), problem.directions)
        step = 0.0
        if weights @ (leads > 0.0) > most * weights.sum() or lowered > 0.0:
            (tied,) = quantiles(leads, weights, (1.0 - most,))
            step = max(tied + STILL, -lowered)  # the row in question stays in its cluster
            problem, lowered = _lowered(problem, step), lowered + step
        if abs(step) <= 0.5 * STILL and fit.gap <= problem.settings.tol:
            break
        again = _continued(options, problem, fit, one)
        if not again.ok:
            break
        done = again.gap <= problem.settings.tol
        fit = replace(again, status="converged" if done else "max_iter", n_iter=fit.n_iter + 1)
    return problem, fit


def _odds(problem: Problem[VMFModel], fit: Fitted) -> tuple[Array, NDArray[np.bool_], Array]:
    """Return the log-odds of noise for each row, whether its label is noise, and its weight."""
    scorer, directions = problem.model.scorer(fit.parameters), problem.directions
    densities = directions.map_rows(scorer.clusters(), "log_density")
    odds = (scorer.biases[-1] + scorer.offset) - densities
    lost = directions.map_rows(scorer, "labels") == scorer.n_clusters
    return odds, lost, problem.row_weights


def noise_leads(scorer: Scorer, rows: Directions) -> Array:
    """Return by how much noise leads the best cluster of each row: what decides its label."""
    clusters = scorer.clusters()
    sharp = Scorer(SHARPNESS * clusters.matrix, SHARPNESS * clusters.biases)
    best: Array = rows.map_rows(sharp, "log_density") / SHARPNESS
    return np.asarray(scorer.biases[-1] - best)


def _expected(parameters: VMFParameters) -> float:
    """Return the standard deviation of kappa <mu, x> in the mixture, over the rows of a cluster."""
    kappas, d = parameters.kappas, parameters.prototypes.shape[1]
    lengths = mean_length(d, kappas)
    slopes = np.maximum(1.0 - lengths**2 - (d - 1) * lengths / kappas, 0.0)  # A_d'
    return float(np.sqrt(np.average(kappas**2 * slopes, weights=parameters.weights)))


def _lowered(problem: Problem[VMFModel], step: float) -> Problem[VMFModel]:
    """Return the problem with noise of a lower level."""
    noise = problem.model.noise
    if noise is None:
        return problem
    return replace(
        problem, model=replace(problem.model, noise=replace(noise, level=noise.level - step))
    )


def _continued(
    options: MixtureOptions, problem: Problem[VMFModel], fit: Fitted, settings: em.Settings
) -> Fitted:
    """Run EM from a fit; what is numerically zero at its end is set to zero."""
    model, directions, weights = problem.model, problem.directions, problem.weights
    (again,) = em.fit(model, directions, [fit.parameters], settings, weights=weights)
    if not again.ok:
        return again
    clean = model.zero_small(again.parameters, options.zero_tol)
    return em.evaluate(model, directions, again, clean, settings, weights=weights)


def quantiles(values: Array, weights: Array, shares: tuple[float, ...]) -> list[float]:
    """Return the smallest values up to which so much of the weight is."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    places = np.searchsorted(reached, np.array(shares) * reached[-1] * (1.0 - 1e-12))
    return [float(values[order[min(place, len(order) - 1)]]) for place in places]


def keep_level(problem: Problem[VMFModel], model: VMFModel) -> Problem[VMFModel]:
    """Take over the level that was found before, where the noise is otherwise the same."""
    now, before = problem.model.noise, model.noise
    if now is None or before is None or now.most != before.most:
        return problem
    return replace(problem, model=replace(problem.model, noise=before))


def known_level(options: MixtureOptions, problem: Problem[VMFModel]) -> Problem[VMFModel]:
    """Take over the level of a fitted mixture from which a fit with the same noise starts."""
    init, wanted = options.init, (options.noise, options.max_noise)
    if problem.model.noise is None or not hasattr(init, "model_"):
        return problem
    if (getattr(init, "noise", None), getattr(init, "max_noise", None)) != wanted:
        return problem
    return keep_level(problem, init.model_)


def hump(excesses: Array, weights: Array) -> float | None:
    """Return where a second hump of values above zero begins; None where there is none.

    Values of one unimodal distribution become scarcer ever faster, the further out one looks: the
    hazard, the share of the values left that ends at a place, increases, as it does for every
    log-concave density. The scaled total time on test, the share of all distances that was run
    up to the share p of the values, is then a concave function of p; for an exponential
    distribution, the border of these, it is a uniform empirical process. So the test looks at the
    largest distance to its least concave majorant, times the root of the number of values.

    Parameters
    ----------
    excesses : ndarray of shape (n,)
        Positive values.
    weights : ndarray of shape (n,)
        As often each of them counts.

    Returns
    -------
    float or None
        The middle of the valley: between the value at which the hazard falls below what it is on
        average up to the hump, and the one at which it has made up for that.
    """
    statistic, middle = valley(excesses, weights)
    return middle if statistic > CRITICAL else None


def valley(excesses: Array, weights: Array) -> tuple[float, float]:
    """Return the statistic of the test, and the middle of the deepest valley."""
    there = weights > 0.0  # equal values are one point of the curve, and weights of zero are none
    values, which = np.unique(excesses[there], return_inverse=True)
    base = np.bincount(which, weights=weights[there], minlength=len(values))
    total = base.sum()
    if len(values) < 2 or not total > 0.0 or not values[-1] > 0.0:
        return 0.0, np.nan
    shares = np.concatenate([[0.0], np.cumsum(base) / total])
    left = 1.0 - shares[:-1]  # what is left before each value
    run = np.concatenate([[0.0], np.cumsum(left * np.diff(values, prepend=0.0))])
    run /= run[-1]
    corners = majorant(shares, run)
    gaps = np.interp(shares, shares[corners], run[corners]) - run
    deepest = int(gaps.argmax())
    end = corners[np.searchsorted(corners, deepest)]
    places = np.concatenate([[0.0], values])
    return float(gaps[deepest] * np.sqrt(total)), float(0.5 * (places[deepest] + places[end]))


def majorant(x: Array, y: Array) -> NDArray[np.intp]:
    """Return the corners of the least concave majorant of points in the order of x."""
    corners = [0]
    for i in range(1, len(x)):
        while len(corners) > 1:
            a, b = corners[-2], corners[-1]
            if (y[b] - y[a]) * (x[i] - x[b]) > (y[i] - y[b]) * (x[b] - x[a]):
                break
            corners.pop()
        corners.append(i)
    return np.array(corners)
