"""SphericalKMeans: Lloyd's iterations with the cosine, and clusters that lose all their rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from spheremix import em
from spheremix.bessel import concentration
from spheremix.distribution import MEAN_LENGTH_MAX
from spheremix.estimators import validation as check
from spheremix.estimators.fitted import add_fitted, columns_of, set_fitted
from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.options import count_runs
from spheremix.estimators.parameter_docs import documented
from spheremix.estimators.predictions import Customary
from spheremix.estimators.problem import Problem
from spheremix.estimators.restarts import OUTDONE, agreement, failure, warn_of_limit, warn_of_lost
from spheremix.estimators.starts import Start, count_sweeps, draw, first_alike, given_start
from spheremix.estimators.streaming import PartialFit, Stream
from spheremix.models.skmeans import SphericalKMeansModel
from spheremix.seeding import largest_cosines, put_on_rows
from spheremix.vectors import as_dense, as_sparse, divided, lengths, most_entries, suited

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from spheremix.data.base import Directions, Engine, Want
    from spheremix.estimators.options import Auto, KMeansInit
    from spheremix.estimators.streaming import Batch
    from spheremix.models.base import Model
    from spheremix.scorer import Assignment, Scorer

    Array = NDArray[np.float64]
    Labels = NDArray[np.intp]

STARTS = ("merge", "random", "k-means++")
SEARCH_TOL = 1e-7  # cosines per unit of weight: a sweep that gains less ends a refinement
LEAST_TOL = 1e-13  # rounding, per unit of weight
LEAST_MEAN = 1e-6  # cosine: where clusters have no direction, their mixture is nearly uniform
RESEEDINGS = 20  # of one run, at most


@documented
class SphericalKMeans(
    Customary,
    PartialFit,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
):
    """Spherical k-means: K unit prototypes and a partition of the largest coherence.

    The coherence is the sum of the cosines of the rows to the prototypes of their clusters. Lloyd's
    iterations raise it: every row goes to the prototype of the largest cosine (the first one where
    several are equal), every prototype becomes the direction of the sum of its rows. A cluster left
    without rows is put on the row served worst, the one whose largest cosine is the smallest.

    Parameters
    ----------
    {n_components}
    init : {"merge", "random", "k-means++"}, array or fitted model, default="merge"
        "merge" searches: clusters around 3K rows are merged to K by the least loss of coherence,
        rows are moved with their own part in the prototypes counted (first variation), and runs
        are crossed with each other before Lloyd's iterations end them. "random" takes K rows as
        prototypes, the same ones as in :class:`VMFMixture`, "k-means++" spreads them out, in
        proportion to one minus the cosine. A 1-D integer array gives labels 0..K-1, a 2-D array or
        CSR array of shape (K, d) or a model with ``prototypes_`` gives prototypes. A given start
        means one run.
    n_init : int or "auto", default="auto"
        Runs; they share each reading of the data and the largest coherence wins. "auto" is 5 for
        "merge", to which 4 crossings are added, and 10 for the others. On large data the search
        reads a sample, as in :class:`VMFMixture`.
    {max_iter}
    tol : float, default=1e-7
        In cosines per unit of weight: a run has converged when its coherence changes by less and
        another update of the prototypes gains less. With 0 it goes on until no row moves.
    {random_state, n_threads, engine, verbose, warm_start, callback}
    sparse_prototypes : bool, default=False
        Whether ``prototypes_`` is a CSR array. With thousands of clusters of sparse rows in memory
        a fit then never makes a dense (K, d) array; without this option it makes one at the end,
        which is 8 GB for 10,000 clusters in 100,000 dimensions. Such a fit needs
        ``init="random"`` or a sparse start.

    Attributes
    ----------
    prototypes_ : ndarray or CSR array of shape (K, d)
        Unit vectors.
    labels_ : ndarray of shape (n,)
        Cluster of each row.
    coherence_ : float
        Sum of the weighted cosines of the rows to their prototypes.
    inertia_ : float
        Sum of the weighted squared distances of the unit rows to their prototypes, as KMeans
        reports it: twice the total weight minus twice the coherence.
    status_ : str
        ``converged`` or ``max_iter``.
    stationarity_gap_ : float
        What another update of the prototypes gains, per unit of weight: zero up to rounding when
        no row moves any more.
    n_iter_ : int
        Iterations of the best run, and steps of ``partial_fit`` since.
    n_samples_seen_ : int
        Rows of the fit, and of the batches since.
    agreement_ : float
        Mean adjusted Rand index of the other runs, crossings aside, with the best one; on large
        data, on the sample.
    runs_ : list of KMeansRestart
        Every run, failed ones included, with the number of clusters re-seeded.
    n_features_in_ : int
        d.

    Notes
    -----
    To judge a partition: ``silhouette_score(X, labels, metric="cosine")``,
    ``adjusted_rand_score`` and ``normalized_mutual_info_score`` of scikit-learn, and
    :func:`spheremix.metrics.calinski_harabasz_cosine`.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, labels, _ = sm.datasets.make_vmf_mixture(random_state=0)
    >>> sm.SphericalKMeans(n_components=4, random_state=0).fit(X).status_
    'converged'
    """

    prototypes_: Array
    labels_: Labels
    status_: str
    coherence_: float
    inertia_: float
    stationarity_gap_: float
    n_iter_: int
    n_samples_seen_: int
    agreement_: float
    runs_: list[KMeansRestart]

    def __init__(
        self,
        n_components: int = 8,
        *,
        init: KMeansInit = "merge",
        n_init: int | Auto = "auto",
        max_iter: int = 1000,
        tol: float = 1e-7,
        random_state: Any = None,
        n_threads: int | None = None,
        engine: Engine = "auto",
        verbose: int = 0,
        warm_start: bool = False,
        callback: Callable[[em.Progress], None] | None = None,
        sparse_prototypes: bool = False,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_threads = n_threads
        self.engine = engine
        self.verbose = verbose
        self.warm_start = warm_start
        self.callback = callback
        self.sparse_prototypes = sparse_prototypes

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Find the prototypes and the clusters.

        Parameters
        ----------
        {X, y, sample_weight}

        Returns
        -------
        SphericalKMeans
            Itself.
        """
        n_components = check.require_integer("n_components", self.n_components, 1)
        count_runs(self.n_init, self.init)
        check.require_flag("warm_start", self.warm_start)
        check.require_flag("sparse_prototypes", self.sparse_prototypes)
        settings = em.Settings(
            tol=max(check.require_number("tol", self.tol), LEAST_TOL),
            max_iter=check.require_integer("max_iter", self.max_iter, 1),
            e_step="hard",
        )
        check.refuse_views(X, "SphericalKMeans")
        directions, columns = check.open_data(X, self.engine, self.n_threads)
        weights = check.check_weights(sample_weight, directions.n_rows)
        check.require_rows(n_components, directions, weights)
        model = SphericalKMeansModel()
        problem = Problem(model, settings, directions, weights, n_components, columns)
        callback = count_sweeps(self.callback)
        starts = self._starts(problem, callback)
        first = first_alike(starts)
        distinct = em.in_batches(
            [start.parameters if first[i] == i else None for i, start in enumerate(starts)],
            lambda start: most_entries(directions, start),
            lambda _, batch: lloyd(directions, batch, settings, weights, callback),
        )
        reached = [distinct[i] for i in first]
        runs = [summary(start, result) for start, result in zip(starts, reached, strict=True)]
        if self.verbose:
            for i, run in enumerate(runs):
                print(line_of(i, len(runs), run))  # noqa: T201
        fits = [result[0] for result in reached if result is not None and result[0].ok]
        if not fits:
            raise failure(
                runs,
                f"{n_components} clusters",
                ("lower {n_components}", "spread the starts with {init='k-means++'}"),
                why="; there may be fewer different rows than clusters",
            )
        best = max(fits, key=lambda fit: fit.objective)
        every = [None if result is None else result[0] for result in reached]
        set_fitted(
            self,
            {
                **columns,
                "prototypes_": self._in_form(best.parameters),
                "coherence_": best.objective,
                "inertia_": 2.0 * (best.resultants.weight - best.objective),
                "stationarity_gap_": best.gap,
                "status_": best.status,
                "n_iter_": best.n_iter,
                "n_samples_seen_": directions.n_rows,
                "labels_": directions.map_rows(model.scorer(best.parameters), "labels"),
                "runs_": runs,
                "agreement_": agreement(problem, starts, every),
            },
        )
        self._stream = Stream(best.resultants, directions.n_rows)
        warn_of_lost(runs, n_components, "spherical k-means")
        if best.status == "max_iter":
            warn_of_limit(self.max_iter, ", and rows still move", what="Spherical k-means")
        return self

    def _starts(
        self,
        problem: Problem[SphericalKMeansModel],
        callback: Callable[[em.Progress], None] | None,
    ) -> list[Start]:
        """Draw the starts, or take the given one."""
        init = self if self.warm_start and hasattr(self, "prototypes_") else self.init
        if isinstance(init, str):
            check.require_choice("init", init, STARTS)
        else:
            init = given_start(init)
            init = getattr(init, "prototypes_", init)  # of a mixture too
        return draw(problem, init, self.n_init, self.random_state, callback, SEARCH_TOL)

    def _in_form(self, prototypes: Array) -> Array:
        """Return prototypes as users want them."""
        return as_sparse(prototypes) if self.sparse_prototypes else as_dense(prototypes)

    def _streamed(self, directions: Directions) -> tuple[Model[Any], Array, Assignment]:
        """Return what a batch is swept with."""
        return SphericalKMeansModel(), suited(directions, self.prototypes_), "hard"

    def _adopt(self, model: Model[Any], parameters: Array, batch: Batch) -> None:
        """Take the parameters of a step."""
        set_fitted(
            self,
            {
                **columns_of(self),
                "prototypes_": self._in_form(parameters),
                "n_iter_": batch.n_iter,
                "n_samples_seen_": batch.n_rows,
                "labels_": batch.directions.map_rows(model.scorer(parameters), "labels"),
            },
        )

    @property
    def scorer_(self) -> Scorer:
        """What engines read rows with: the prototypes."""
        check_is_fitted(self, "prototypes_")
        return SphericalKMeansModel().scorer(self.prototypes_)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the cluster of the largest cosine of each row.

        Parameters
        ----------
        {new_X}

        Returns
        -------
        ndarray of shape (n,)
            Integers in 0..K-1.
        """
        check_is_fitted(self)
        return self._mapped(X, "labels")

    def transform(self, X: Any) -> Array:
        """Return the cosines of the rows to the prototypes.

        Parameters
        ----------
        {new_X}

        Returns
        -------
        ndarray of shape (n, K)
            In -1..1.
        """
        check_is_fitted(self)
        return self._mapped(X, "scores")

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:  # noqa: ARG002
        """Return the mean coherence: the mean of the largest cosines of the rows.

        Parameters
        ----------
        {new_X, y, mean_weight}

        Returns
        -------
        float
            Larger is better.
        """
        check_is_fitted(self)
        directions = check.open_again(self, X)
        cosines = largest_cosines(directions, suited(directions, self.prototypes_))
        return check.weighted_mean(cosines, sample_weight)

    def as_mixture(self) -> VMFMixture:
        """Return the mixture with these prototypes, equal weights and one concentration.

        Its labels are the same. Its posteriors say how sure they are, if all clusters are equally
        large and equally tight. A report does not need this step: ``Report(model, X=X)``.

        Returns
        -------
        VMFMixture
            With dense prototypes. Its concentration is the most likely one of the rows in their
            clusters.
        """
        check_is_fitted(self)
        rows = self._stream.resultants
        mean = np.clip(lengths(rows.vectors).sum() / rows.mass.sum(), LEAST_MEAN, MEAN_LENGTH_MAX)
        kappa = float(concentration(self.n_features_in_, mean))
        mixture = VMFMixture.from_parameters(self.prototypes_, kappa)
        add_fitted(mixture, columns_of(self))
        return mixture

    def _mapped(self, X: Any, want: Want) -> NDArray[Any]:
        """Say of each row what is wanted."""
        directions = check.open_again(self, X)
        scorer = SphericalKMeansModel().scorer(suited(directions, self.prototypes_))
        return directions.map_rows(scorer, want)

    @property
    def _n_features_out(self) -> int:
        return int(self.prototypes_.shape[0])


@dataclass(frozen=True, slots=True)
class KMeansRestart:
    """How one run of spherical k-means went: how it started, and the coherence at both ends.

    The status is "outdone" where, on large data, the search found a better start in another run,
    and Lloyd's iterations did not go on from this one.
    """

    seed: int | None
    status: str
    n_iter: int
    coherence: float
    n_reseeded: int
    start: str
    start_coherence: float


def lloyd(
    directions: Directions,
    starts: list[Array],
    settings: em.Settings,
    weights: Array | None = None,
    callback: Callable[[em.Progress], None] | None = None,
) -> list[tuple[em.Fit[Array], int]]:
    """Run spherical k-means from each start, re-seeding clusters that lose all their rows.

    All runs share their sweeps; those that lost a cluster go on together once the others are done.
    Prototypes are in the form that the directions work with best. Returns the fit of each
    start, and how many prototypes were re-seeded.
    """
    model = SphericalKMeansModel()
    starts = [suited(directions, start) for start in starts]
    fits = em.fit(model, directions, starts, settings, weights=weights, callback=callback)
    reseeded = [0] * len(fits)
    for _ in range(RESEEDINGS):
        moved = {}
        for i, fit in enumerate(fits):
            stopped = not fit.ok and fit.n_iter < settings.max_iter
            if stopped and (found := reseed(directions, fit, weights)) is not None:
                moved[i], n = found
                reseeded[i] += n
        if not moved:
            break
        used = max(fits[i].n_iter for i in moved)
        left = replace(settings, max_iter=settings.max_iter - used)
        again = em.fit(
            model, directions, list(moved.values()), left, weights=weights, callback=callback
        )
        for i, fit in zip(moved, again, strict=True):
            before = fits[i]
            fits[i] = replace(
                fit, n_iter=before.n_iter + fit.n_iter, trace=before.trace + fit.trace
            )
    return list(zip(fits, reseeded, strict=True))


def reseed(
    directions: Directions, fit: em.Fit[Array], weights: Array | None = None
) -> tuple[Array, int] | None:
    """Update the prototypes that have rows, and put the others on the rows served worst.

    The coherence does not fall by the re-seeding of an empty cluster, whose prototype was nobody's.
    None where every row lies on a prototype already, and there is nothing to win.
    """
    sizes = lengths(fit.resultants.vectors)
    lost = sizes == 0.0  # empty, or rows that cancel out
    prototypes = divided(fit.resultants.vectors, np.where(lost, 1.0, sizes))
    found = put_on_rows(directions, prototypes, lost, weights)
    return None if found is None else (found, int(lost.sum()))


def summary(start: Start, result: tuple[em.Fit[Array], int] | None) -> KMeansRestart:
    """Say how the run from a start went; None where there was none."""
    if result is None:
        status = OUTDONE if start.is_outdone else "no_start"
        return KMeansRestart(start.seed, status, 0, np.nan, 0, start.kind, np.nan)
    fit, n_reseeded = result
    first = start.first_value if start.masses else fit.trace[0]
    reached = (fit.status, fit.n_iter, fit.objective, n_reseeded)
    return KMeansRestart(start.seed, *reached, start.kind, first)


def line_of(i: int, n: int, run: KMeansRestart) -> str:
    """Return the line about a run that ``verbose`` prints."""
    return (
        f"run {i + 1}/{n} ({run.start}): {run.status} after {run.n_iter} iterations, "
        f"coherence {run.coherence:.6f}"
        + (f", {run.n_reseeded} clusters re-seeded" if run.n_reseeded else "")
    )
