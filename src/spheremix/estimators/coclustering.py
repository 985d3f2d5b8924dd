"""VMFCoclustering: the diagonal block mixture dbmovMFs, which clusters rows and columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spheremix import em
from spheremix.bessel import concentration
from spheremix.distribution import MEAN_LENGTH_MAX
from spheremix.errors import ParameterError
from spheremix.estimators import validation as check
from spheremix.estimators.fitted import set_fitted
from spheremix.estimators.options import Algorithm
from spheremix.estimators.parameter_docs import documented
from spheremix.estimators.predictions import MixturePredictions
from spheremix.estimators.problem import Problem
from spheremix.estimators.restarts import failure, print_runs, summaries, warn_of_limit
from spheremix.estimators.starts import Start, draw, given_start, known_seeds, other_shape
from spheremix.models.coclustering import (
    CoclusteringModel,
    CoclusteringParameters,
    DrawnModel,
    StochasticState,
)
from spheremix.select import criteria

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from spheremix.data.base import Engine
    from spheremix.estimators.options import BlockInit, Kappa
    from spheremix.estimators.restarts import Restart
    from spheremix.scorer import Scorer

    Array = NDArray[np.float64]
    Labels = NDArray[np.intp]
    Fit = em.Fit[CoclusteringParameters]

ALGORITHMS = get_args(Algorithm)
HARD = ("cem", "caem")
STARTS = ("random", "k-means++", "spherical-k-means")


@documented
class VMFCoclustering(MixturePredictions):
    """Diagonal block mixture of von Mises-Fisher distributions (dbmovMFs).

    Clusters rows and columns together: the columns are partitioned into one block a component, and
    a prototype is ``1 / sqrt(size of its block)`` on its own block (minus that where the sum of its
    rows is negative there) and zero elsewhere.

    Each iteration assigns the rows, moves columns, then estimates weights and concentrations. A
    column goes to the block where ``kappa_k r_kj / sqrt(size_k)`` is largest, r_kj being its sum
    over the rows of component k (times the sign of the prototype), sizes and concentrations the
    present ones. All such moves at once can lower the likelihood, since they change the sizes: then
    only the better half of them is tried, and so on, so that EM never goes down. The model is for
    non-negative data: elsewhere a column still goes where the product is largest, be it negative,
    columns of both signs meet in a block, and many starts collapse.

    Parameters
    ----------
    n_components : int, default=8
        Number K of components, and of blocks of columns.
    algorithm : {"em", "cem", "sem", "saem", "caem"}, default="em"
        How rows are assigned. "em": softly, until convergence. "cem": to the best component, until
        convergence, maximising the likelihood of the completed data. "sem": to a component drawn
        from the posteriors, for ``n_drawn`` iterations; the result is what had the largest
        likelihood among the parameters met. "saem" and "caem": ``n_drawn`` drawn iterations, then
        "em" or "cem" from the parameters of the largest likelihood met.
        The last three are there to compare with the references of the paper: for
        :class:`VMFMixture`, drawn assignments lost to plain restarts on all eight data sets tried.
    kappa : {"free", "shared"}, number or array-like of shape (K,), default="free"
        One concentration a component, one for all, or given values.
    weights : {"estimated", "equal"}, default="estimated"
        Mixture weights: estimated, or 1 / K.
    conscience : bool, default=False
        Handicap large clusters, so that sizes become more even: component k competes for rows with
        the concentration ``kappa n / (K n_k)``, where kappa is the pooled one, its mass is n_k and
        n is the total. This is our reading of frequency-sensitive competition for this model. It
        maximises no likelihood: the objective can fall, and a fit has converged when it hardly
        changes any more.
    count : {"mixture", "columns"}, default="mixture"
        Parameters counted by ``criteria_``: weights (K - 1, none when equal) and estimated
        concentrations only, or the d assignments of the columns as well.
    init : {"random", "k-means++", "spherical-k-means"}, array or fitted model, default="random"
        "random" takes K rows as prototypes. Rows go to the nearest prototype and columns to the
        component whose mean row has most of them. A 1-D integer array gives labels 0..K-1 of the
        rows, a 2-D array of shape (K, d) or another model gives prototypes, and a fitted
        VMFCoclustering all its parameters. A given start means one run.
    n_init : int, default=10
        Restarts; they share each reading of the data and the best objective wins.
    n_drawn : int, default=50
        Drawn iterations of "sem", "saem" and "caem", ``max_iter`` not counting them.
    {max_iter, tol, random_state, n_threads, engine, verbose, warm_start, callback}

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Most probable component of each row.
    column_labels_ : ndarray of shape (d,)
        Component of each column.
    prototypes_ : ndarray of shape (K, d)
        Unit vectors, constant on a block and zero elsewhere.
    kappas_ : ndarray of shape (K,)
        Concentrations; under a conscience those of the competition, whose harmonic mean is the
        pooled concentration.
    weights_ : ndarray of shape (K,)
        Mixture weights.
    log_likelihood_ : float
        Relative to the surface measure of the sphere; under a conscience, of the mixture with the
        pooled concentration. So are ``criteria_``, ``score_samples`` and ``score``.
    objective_ : float
        What was compared: the log-likelihood, of the completed data for "cem" and "caem", of the
        handicapped scores under a conscience.
    criteria_ : dict
        ``aic``, ``bic``, ``ric``, ``ricc``, ``ebic``, ``icl``; smaller is better.
    n_parameters_ : int
        As counted there.
    status_ : str
        ``converged`` or ``max_iter``; "sem" always ends with ``max_iter``, its drawings made.
    stationarity_gap_ : float
        What the next iteration gains at least, in nats per unit of weight.
    n_iter_ : int
        Iterations of the best run, drawn ones included.
    runs_ : list of Restart
        Every restart, failed ones included: ``collapsed`` where a component lost its rows or its
        columns, ``vanished`` where the rows of a component have nothing in its columns.
    n_features_in_ : int
        d.

    Examples
    --------
    >>> import numpy as np
    >>> import spheremix as sm
    >>> X = np.kron(np.eye(2), np.ones((5, 3))) + 0.1
    >>> sm.VMFCoclustering(n_components=2, random_state=0).fit(X).status_
    'converged'
    """

    prototypes_: Array
    kappas_: Array
    weights_: Array
    labels_: Labels
    status_: str
    log_likelihood_: float
    objective_: float
    criteria_: dict[str, float]
    stationarity_gap_: float
    n_iter_: int
    runs_: list[Restart]
    model_: CoclusteringModel
    column_labels_: Labels
    n_parameters_: int

    def __init__(
        self,
        n_components: int = 8,
        *,
        algorithm: Algorithm = "em",
        kappa: Kappa = "free",
        weights: Literal["estimated", "equal"] = "estimated",
        conscience: bool = False,
        count: Literal["mixture", "columns"] = "mixture",
        init: BlockInit = "random",
        n_init: int = 10,
        n_drawn: int = 50,
        max_iter: int = 1000,
        tol: float = 1e-7,
        random_state: Any = None,
        n_threads: int | None = None,
        engine: Engine = "auto",
        verbose: int = 0,
        warm_start: bool = False,
        callback: Callable[[em.Progress], None] | None = None,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.kappa = kappa
        self.weights = weights
        self.conscience = conscience
        self.count = count
        self.init = init
        self.n_init = n_init
        self.n_drawn = n_drawn
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_threads = n_threads
        self.engine = engine
        self.verbose = verbose
        self.warm_start = warm_start
        self.callback = callback

    # Fitting

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Estimate the mixture and its blocks.

        Parameters
        ----------
        {X, y, sample_weight}

        Returns
        -------
        VMFCoclustering
            Itself.
        """
        problem = self._build_problem(X, sample_weight)
        starts = self._starts(problem)
        own = known_seeds(starts, self.random_state)
        fits = em.in_batches(
            [start.parameters for start in starts],
            lambda start: start.prototypes.size,
            lambda members, batch: self._run(problem, batch, [own[i] for i in members]),
        )
        runs = summaries(problem.model, starts, fits)
        if self.verbose:
            print_runs(runs)
        reached = [fit for fit in fits if fit is not None and fit.ok]
        if not reached:
            what = f"a block mixture of {problem.n_components} components"
            remedies = ("lower {n_components}", "raise {n_init}", "give a start as {init}")
            raise failure(runs, what, remedies)
        best = max(reached, key=lambda fit: fit.objective)
        set_fitted(self, {**self._describe(problem, best), "runs_": runs})
        if best.status == "max_iter" and self.algorithm != "sem":
            gap = f" with a stationarity gap of {best.gap:.1e} per row"
            warn_of_limit(self.max_iter, gap)
        return self

    def _build_problem(self, X: Any, sample_weight: Any) -> Problem[CoclusteringModel]:
        """Check every parameter and the data."""
        n_components = check.require_integer("n_components", self.n_components, 1)
        check.require_integer("n_init", self.n_init, 1)
        check.require_integer("n_drawn", self.n_drawn, 1)
        check.require_choice("algorithm", self.algorithm, ALGORITHMS)
        check.require_choice("weights", self.weights, ("estimated", "equal"))
        check.require_choice("count", self.count, ("mixture", "columns"))
        settings = em.Settings(
            tol=check.require_number("tol", self.tol),
            max_iter=check.require_integer("max_iter", self.max_iter, 1),
            e_step="hard" if self.algorithm in HARD else "soft",
            certified=not self.conscience,
        )
        conscience = check.require_flag("conscience", self.conscience)
        check.require_flag("warm_start", self.warm_start)
        kappa = check.require_kappa(self.kappa, n_components)
        if conscience and np.ndim(kappa):
            raise ParameterError(
                "{conscience=True} makes the concentrations unequal itself: {kappa} must be one "
                "number at most"
            )
        check.refuse_views(X, "VMFCoclustering")
        directions, columns = check.open_data(X, self.engine, self.n_threads)
        weights = check.check_weights(sample_weight, directions.n_rows)
        check.require_rows(n_components, directions, weights)
        check.warn_of_shares(weights)
        d = directions.n_features
        if n_components > d:
            raise ParameterError(
                f"{{n_components={n_components}}} is more than the {{d}} features, and every "
                "component has columns of its own",
                remedies=("lower {n_components} to at most {d}",),
                d=d,
            )
        kappa_max = float(concentration(d, MEAN_LENGTH_MAX))
        model = CoclusteringModel(d, kappa, self.weights == "equal", conscience, kappa_max)
        return Problem(model, settings, directions, weights, n_components, columns)

    def _starts(self, problem: Problem[CoclusteringModel]) -> list[Start]:
        """Draw the starts, or take the given one."""
        init: Any = self if self.warm_start and hasattr(self, "prototypes_") else self.init
        if not isinstance(init, str):
            init = given_start(init)
            if hasattr(init, "column_labels_"):
                shape = (len(init.kappas_), len(init.column_labels_))
                if shape != (problem.n_components, problem.model.n_features):
                    raise other_shape(shape, problem)
                return [Start(_parameters(problem.model, init))]
            init = getattr(init, "prototypes_", init)
        else:
            check.require_choice("init", init, STARTS)
        return draw(problem, init, self.n_init, self.random_state)

    def _run(
        self,
        problem: Problem[CoclusteringModel],
        starts: list[CoclusteringParameters],
        seeds: list[int],
    ) -> list[Fit]:
        """Run the algorithm from some starts, all sharing their sweeps."""
        model, directions = problem.model, problem.directions
        weights, settings = problem.weights, problem.settings
        if self.algorithm in {"em", "cem"}:
            return em.fit(
                model, directions, starts, settings, weights=weights, callback=self.callback
            )
        # Below any tolerance: nothing but an emptied cluster ends drawings before their number.
        walks = em.fit(
            DrawnModel(model),
            directions,
            [
                StochasticState.from_start(start, seed)
                for start, seed in zip(starts, seeds, strict=True)
            ],
            em.Settings(tol=-1.0, max_iter=self.n_drawn),
            weights=weights,
            callback=self.callback,
        )
        met = [walk.parameters.best_with(walk.objective) for walk in walks]
        if self.algorithm == "sem":  # one more sweep, for the resultants of what was met
            settings = replace(settings, max_iter=0)
        fits = em.fit(model, directions, met, settings, weights=weights, callback=self.callback)
        return [
            replace(
                fit,
                # Drawings that emptied a cluster are a failure of sem, and only of sem: the others
                # go on from what was met before.
                status=walk.status if self.algorithm == "sem" and not walk.ok else fit.status,
                n_iter=walk.n_iter + fit.n_iter,
                trace=walk.trace + fit.trace,
            )
            for walk, fit in zip(walks, fits, strict=True)
        ]

    def _describe(self, problem: Problem[CoclusteringModel], best: Fit) -> dict[str, Any]:
        """Return the fitted attributes, but the restarts."""
        model, directions, reached = problem.model, problem.directions, best.parameters
        signs = np.sign(reached.prototypes.sum(axis=1))
        parameters = model.parameters(reached.columns, signs, reached.kappas, reached.weights)
        soft = best.resultants
        if self.algorithm in HARD or self.conscience:  # their sweeps give no log-likelihood
            density = model.scorer(model.density(parameters))
            (soft,) = directions.sweep([density], problem.weights)
        kappas = {"free": problem.n_components, "shared": 1, "given": 0}[model.kappa_mode]
        n_parameters = (
            (0 if model.equal_weights else problem.n_components - 1)
            + kappas
            + (model.n_features if self.count == "columns" else 0)
        )
        return {
            **problem.columns,
            "model_": model,
            "column_labels_": reached.columns,
            "prototypes_": reached.prototypes,
            "kappas_": reached.kappas,
            "weights_": reached.weights,
            "status_": best.status,
            "n_iter_": best.n_iter,
            "objective_": best.objective,
            "stationarity_gap_": best.gap,
            "log_likelihood_": soft.log_likelihood,
            "n_parameters_": n_parameters,
            "criteria_": criteria(
                soft.log_likelihood, n_parameters, soft.weight, model.n_features, soft.entropy
            ),
            "labels_": directions.map_rows(model.scorer(parameters), "labels"),
        }

    def _parameters(self) -> CoclusteringParameters:
        return _parameters(self.model_, self)

    @property
    def scorer_(self) -> Scorer:
        """What rows are assigned by."""
        check_is_fitted(self, "prototypes_")
        return self.model_.scorer(self._parameters())

    def _density(self) -> Scorer:
        """Return the mixture of densities: the same without a conscience."""
        return self.model_.scorer(self.model_.density(self._parameters()))


def _parameters(model: CoclusteringModel, fitted: Any) -> CoclusteringParameters:
    """Return the parameters of a fitted estimator."""
    signs = np.sign(fitted.prototypes_.sum(axis=1))
    return model.parameters(fitted.column_labels_, signs, fitted.kappas_, fitted.weights_)
