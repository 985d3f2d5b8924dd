"""VMFPath: the mixture at every level of sparsity."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spheremix.errors import ParameterError
from spheremix.estimators import validation as check
from spheremix.estimators.fitted import (
    FitSummary,
    FittedMixture,
    add_fitted,
    columns_of,
    set_fitted,
)
from spheremix.estimators.mixture import SelectedMixture, VMFMixture
from spheremix.estimators.noise import (
    STILL,
    keep_level,
    known_level,
    limit_noise,
    noise_leads,
    quantiles,
)
from spheremix.estimators.options import SEED_WEIGHT, MixtureOptions, PathOptions
from spheremix.estimators.parameter_docs import documented
from spheremix.estimators.problem import build_problem, is_capped
from spheremix.estimators.restarts import restarts, warn_of_cap, warn_of_lost
from spheremix.estimators.seeds import with_seeds
from spheremix.estimators.strategies import (
    count_converged,
    follow,
    go_on,
    path_solver,
    warn_of_steps,
)
from spheremix.path import PathState, exit_betas
from spheremix.select import CRITERIA, count_from_sizes, criteria

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from spheremix.data.base import Directions, Engine
    from spheremix.estimators.options import (
        Auto,
        EStep,
        Init,
        Kappa,
        KappaSolver,
        MStep,
        Noise,
        Strategy,
    )
    from spheremix.estimators.problem import Problem
    from spheremix.estimators.restarts import Restart
    from spheremix.estimators.seeds import GivenSeeds
    from spheremix.models.vmf import VMFModel
    from spheremix.path import PathPoint, PathSolver

    Array = NDArray[np.float64]
    Labels = NDArray[np.intp]


@documented
class VMFPath(SelectedMixture):
    """Mixture of von Mises-Fisher distributions at every level of sparsity.

    Starts from the best dense mixture and raises ``beta`` event by event, each solution starting
    from the previous one, until each prototype has one coordinate left (Algorithm 3). It is a path
    of local optima.

    Parameters
    ----------
    {n_components}
    criterion : {"aic", "bic", "ric", "ricc", "ebic", "icl"}, default="bic"
        Chooses the mixture used to predict.
    {min_relative_increase, max_steps, max_sparsity}
    betas : array-like or None, default=None
        An increasing grid to visit instead of the events.
    {beta_min_ratio, refine}
    relaxed : bool, default=False
        Fit every step again without penalty, its zeros kept. Criteria then judge these refits and
        not the prototypes that the penalty has shrunk: they choose fewer words. Betas, events and
        zeros are those of the path without refits.
    strategy : {"path", "dense", "random", "grid"}, default="path"
        How each beta is started: from the previous solution; from the dense one; from ``n_init``
        starts of the kind of ``init`` (the paper's are random); or 50 evenly spaced betas up to the
        largest of the path, from the dense solution. The last three are for comparison, and follow
        the path first where ``betas`` is not given.
    {feature_weights, kappa, kappa_solver, m_step, kappa_max, kappa_prior, noise, max_noise, e_step}
    {init, n_init, max_iter, tol, zero_tol, view_weights, sparse_views, seeds, seed_weight}
    {random_state, n_threads, engine}
    verbose : int, default=0
        1 prints a line for each restart of the dense mixture, and every 100 steps.
    warm_start : bool, default=False
        Go on with the path of the previous call to ``fit`` from its last step, after raising
        ``max_steps`` or ``max_sparsity``: the same bits as one long run.
    {path_callback}

    Attributes
    ----------
    betas_, log_likelihoods_, objectives_, n_nonzero_, sparsity_, entropies_, n_iters_, \
stationarity_gaps_, n_distinct_prototypes_, n_converged_ : ndarray of shape (n_steps,)
        One entry for each step: of the mixture that ``model`` gives, which is the refit if
        ``relaxed``, but for ``betas_`` and ``n_converged_``. Non-zeros are counted over all
        prototypes; sparsity is the share of zeros; ``n_converged_`` counts the runs that converged,
        where there are random starts. A refit has no penalty, so that its objective is its
        log-likelihood, its gap is that of the M-step on its support, and it takes no iteration
        where the support is that of the step before.
    statuses_ : list of str
        ``converged`` or ``max_iter``, one for each step. A refit that loses a component has the
        status of that failure and a gap of NaN: the step keeps its penalised mixture.
    kappas_, weights_, sizes_ : ndarray of shape (n_steps, K)
        Sizes are expected numbers of rows.
    criteria_ : dict of ndarray of shape (n_steps,)
        Smaller is better. Of the refits if ``relaxed``.
    exit_betas_ : ndarray of shape (K, d)
        The smallest beta from which a coordinate is zero at all later steps: how important a
        feature is to a component. 0 if it is zero without penalty, infinite if it is non-zero at
        the last step. Of the path itself, with or without refits.
    status_ : str
        Why the path ended: ``maximal_sparsity``, ``max_steps``, ``max_sparsity``, ``grid_end``,
        ``interrupted``, ``no_restart`` (random starts that all failed), or the status of the fit
        that failed.
    selected_ : int
        Index chosen by ``criterion``.
    best_estimator_ : VMFMixture
        The mixture at that index.
    labels_ : ndarray of shape (n,)
        Its clusters.
    runs_ : list of Restart
        The runs of the dense mixture.
    agreement_ : float
        Mean adjusted Rand index of the other dense runs, crossings aside, with the best one.
    state_ : PathState
        The steps themselves, and what is needed to go on from the last one.

    Notes
    -----
    Which rows are noise is decided in the dense mixture; later steps keep its level, and may have
    more noise, since sparse prototypes fit less tightly. If ``max_noise`` is a number, steps are
    fitted as with "auto". If the one that is chosen has more noise than the dense mixture or than
    the number, the level is lowered for the predictions of all steps until it has not (but not with
    None); ``score``, ``aic`` and ``bic`` then differ from ``log_likelihoods_`` and ``criteria_``,
    which belong to the fits.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, _, _ = sm.datasets.make_vmf_mixture(random_state=0)
    >>> path = sm.VMFPath(n_components=4, random_state=0).fit(X)
    >>> path.status_
    'maximal_sparsity'
    """

    state_: PathState
    status_: str
    runs_: list[Restart]
    agreement_: float
    kappa_max_: float
    betas_: Array
    log_likelihoods_: Array
    entropies_: Array
    objectives_: Array
    n_nonzero_: Labels
    sparsity_: Array
    n_iters_: Labels
    stationarity_gaps_: Array
    n_distinct_prototypes_: Labels
    n_converged_: Labels
    statuses_: list[str]
    kappas_: Array
    weights_: Array
    sizes_: Array
    exit_betas_: Array
    criteria_: dict[str, Array]
    selected_: int

    def __init__(
        self,
        n_components: int = 8,
        *,
        criterion: str = "bic",
        min_relative_increase: float = 1e-3,
        max_steps: int | None = None,
        max_sparsity: float = 1.0,
        betas: ArrayLike | None = None,
        beta_min_ratio: float = 1e-5,
        refine: float | None = None,
        relaxed: bool = False,
        strategy: Strategy = "path",
        feature_weights: ArrayLike | None = None,
        kappa: Kappa = "shared",
        kappa_solver: KappaSolver = "exact",
        m_step: MStep = "exact",
        kappa_max: float | Auto = "auto",
        kappa_prior: ArrayLike | None = None,
        noise: Noise | None = None,
        max_noise: float | Auto | None = "auto",
        e_step: EStep = "soft",
        init: Init = "merge",
        n_init: int | Auto = "auto",
        max_iter: int = 1000,
        tol: float = 1e-7,
        zero_tol: float = 1e-8,
        view_weights: Mapping[str, float] | None = None,
        sparse_views: Sequence[str] | None = None,
        seeds: GivenSeeds | None = None,
        seed_weight: float = SEED_WEIGHT,
        random_state: Any = None,
        n_threads: int | None = None,
        engine: Engine = "auto",
        verbose: int = 0,
        warm_start: bool = False,
        callback: Callable[[Any], None] | None = None,
    ) -> None:
        self.n_components = n_components
        self.criterion = criterion
        self.min_relative_increase = min_relative_increase
        self.max_steps = max_steps
        self.max_sparsity = max_sparsity
        self.betas = betas
        self.beta_min_ratio = beta_min_ratio
        self.refine = refine
        self.relaxed = relaxed
        self.strategy = strategy
        self.feature_weights = feature_weights
        self.kappa = kappa
        self.kappa_solver = kappa_solver
        self.m_step = m_step
        self.kappa_max = kappa_max
        self.kappa_prior = kappa_prior
        self.noise = noise
        self.max_noise = max_noise
        self.e_step = e_step
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.zero_tol = zero_tol
        self.view_weights = view_weights
        self.sparse_views = sparse_views
        self.seeds = seeds
        self.seed_weight = seed_weight
        self.random_state = random_state
        self.n_threads = n_threads
        self.engine = engine
        self.verbose = verbose
        self.warm_start = warm_start
        self.callback = callback

    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        sample_weight: ArrayLike | None = None,
        labels: ArrayLike | None = None,
    ) -> Self:
        """Follow the path.

        Parameters
        ----------
        {X, y, sample_weight, labels}

        Returns
        -------
        VMFPath
            Itself. Interrupted by Ctrl-C, it keeps the steps it has and warns.
        """
        options, route = MixtureOptions.of(self).along_path(), PathOptions.of(self)
        problem = with_seeds(options, build_problem(options, X, sample_weight), labels)
        if self.warm_start and hasattr(self, "state_"):
            problem = keep_level(problem, self.state_.model)
            solver = path_solver(options, route, problem)
            state = go_on(self.state_, problem, solver, route)
            # A stored state comes without these.
            runs, agreed = getattr(self, "runs_", []), getattr(self, "agreement_", float("nan"))
        else:
            leveled = known_level(options, problem)
            dense = restarts(options, leveled, None)
            runs, agreed = dense.runs, dense.agreement(problem)
            if leveled is not problem:  # a fitted mixture whose level is known
                problem, best = leveled, dense.best
            else:
                problem, best = limit_noise(options, problem, dense.best)
            solver = path_solver(options, route, problem)
            state = PathState.begin(solver, best, count_converged(runs), relaxed=route.relaxed)
        _finish(self, options, route, problem, solver, state, runs, agreed)
        warn_of_lost(runs, problem.n_components)
        if is_capped(problem.model, state.dense.parameters):
            warn_of_cap(problem.n_components, problem.model.kappa_max)
        warn_of_steps(state, options.max_iter)
        return self

    # Reading the path

    def select(
        self,
        criterion: str | None = None,
        *,
        n_words: float | None = None,
        sparsity: float | None = None,
    ) -> int:
        """Choose a step.

        Parameters
        ----------
        criterion : {"aic", "bic", "ric", "ricc", "ebic", "icl"}, optional
            The step where it is smallest; the sparser one of equals.
        n_words : float, optional
            The first step with at most so many non-zeros a prototype, on average.
        sparsity : float, optional
            The first step that is as sparse.

        Returns
        -------
        int
            An index on the path.
        """
        check_is_fitted(self, "betas_")
        if sum(given is not None for given in (criterion, n_words, sparsity)) != 1:
            raise ParameterError("Give one of {criterion}, {n_words} and {sparsity}")
        if criterion is not None:
            values = self.criteria_[check.require_criterion("criterion", criterion, CRITERIA)]
            return len(values) - 1 - int(values[::-1].argmin())
        if n_words is not None:
            words = self.n_nonzero_ / self.kappas_.shape[1]
            reached, best = words <= n_words, f"{words.min():.1f} words a prototype"
        else:
            least = cast("float", sparsity)
            reached, best = self.sparsity_ >= least, f"a sparsity of {self.sparsity_.max():.3f}"
        if not reached.any():
            raise ParameterError(
                "The path goes no further than {best} ({status})",
                remedies=("ask for that", "fit a longer path"),
                best=best,
                status=self.status_,
            )
        return int(reached.argmax())

    def model(self, i: int, *, refit: bool | None = None) -> VMFMixture:
        """Return the mixture of one step.

        Parameters
        ----------
        i : int
            Index on the path.
        refit : bool, optional
            True for the refit on the support of the step, which a path with ``relaxed=True`` has;
            False for the penalised mixture. By default the one that the criteria judge: the refit
            where there is one.

        Returns
        -------
        VMFMixture
            Fitted; without what needs the rows: ``labels_``, ``n_samples_seen_``, and
            ``kkt_residual_``, which is NaN. ``beta`` of a refit says where its zeros come from.
        """
        check_is_fitted(self, "betas_")
        if not -len(self.betas_) <= i < len(self.betas_):
            raise IndexError(f"step {i} is not on the path, which has {len(self.betas_)} steps.")
        state = self.state_
        refit = state.relaxed if refit is None else check.require_flag("refit", refit)
        if refit and not state.relaxed:
            raise ParameterError(
                "{refit=True} is for a path whose steps were fitted again on their supports",
                remedies=("fit the path with {relaxed=True}",),
            )
        step, known = (state.refits if refit else state.steps)[i], VMFMixture().get_params()
        given = self.get_params(deep=False)
        shared = {name: value for name, value in given.items() if name in known}
        mixture = VMFMixture(**{**shared, "beta": step.beta, "warm_start": False})
        model, beta = state.model, 0.0 if refit else step.beta
        criteria = criteria_of([step], model)
        if model.noise is not None and state.noise_level is not None:
            model = replace(model, noise=replace(model.noise, level=state.noise_level))
        FittedMixture(
            replace(model, l1=replace(model.l1, beta=beta)),
            step.prototypes.toarray(),
            step.kappas.copy(),
            step.weights.copy(),
            columns_of(self),
            FitSummary(
                status=step.status,
                n_iter=step.n_iter,
                objective=step.objective,
                stationarity_gap=step.gap,
                kkt_residual=float("nan"),
                log_likelihood=step.log_likelihood,
                criteria={name: float(values[0]) for name, values in criteria.items()},
                runs=self.runs_,
                agreement=self.agreement_,
            ),
        ).set_on(mixture)
        return mixture

    def moved(self, X: Any, i: int, j: int) -> NDArray[np.intp]:
        """Return which rows change cluster between two steps.

        Parameters
        ----------
        {new_X}
        i, j : int
            Indices on the path.

        Returns
        -------
        ndarray
            Numbers of the rows.
        """
        check_is_fitted(self, "betas_")
        rows = check.open_again(self, X)
        return np.flatnonzero(self.model(i).predict(rows) != self.model(j).predict(rows))


def follow_from(
    options: MixtureOptions,
    route: PathOptions,
    problem: Problem[VMFModel],
    dense: VMFMixture,
    path: VMFPath,
) -> VMFPath:
    """Follow the path from a dense mixture, and set the fitted attributes of the estimator."""
    start = problem.model.parameters(dense.prototypes_, dense.kappas_, dense.weights_)
    solver = path_solver(options, route, problem)
    again = restarts(options, problem, start)
    converged = count_converged(again.runs)
    state = PathState.begin(solver, again.best, converged, relaxed=route.relaxed)
    _finish(path, options, route, problem, solver, state, dense.runs_, dense.agreement_)
    warn_of_steps(state, options.max_iter, stacklevel=5)
    return path


def _finish(
    path: VMFPath,
    options: MixtureOptions,
    route: PathOptions,
    problem: Problem[VMFModel],
    solver: PathSolver,
    state: PathState,
    runs: list[Restart],
    agreement: float,
) -> None:
    """Take the steps that are left, and set the fitted attributes."""
    follow(options, route, problem, solver, state, runs)
    rows, weights = problem.directions, problem.weights
    set_path_attributes(
        path,
        state,
        runs,
        agreement,
        problem.columns,
        lambda chosen, dense: label_chosen(chosen, dense, rows, weights),
    )


def criteria_of(points: Sequence[PathPoint], model: VMFModel) -> dict[str, Array]:
    """Return the criteria of points of a path."""
    return criteria(
        np.array([point.log_likelihood for point in points]),
        _counts(points, model),
        points[0].weight,
        points[0].n_features,
        np.array([point.entropy for point in points]),
    )


def _counts(points: Sequence[PathPoint], model: VMFModel) -> NDArray[np.intp]:
    """Count the free parameters at points of a path: weights once, and what each view has."""
    K = len(points[0].kappas)
    parts = [
        count_from_sizes(np.array([point.sizes_in(columns) for point in points]), mode)
        for columns, mode in zip(model.columns, model.kappa_modes, strict=True)
    ]
    total: NDArray[np.intp] = sum(parts) - (len(parts) - 1) * (K - 1) + model.n_noise
    return total


def set_path_attributes(
    path: VMFPath,
    state: PathState,
    runs: list[Restart],
    agreement: float,
    columns: dict[str, Any],
    label: Callable[[VMFMixture, VMFMixture], tuple[float | None, Labels]],
) -> None:
    """Set what a path knows of its steps.

    What describes mixtures describes those that are judged: the refits of a relaxed path.
    ``label`` returns the level of the noise in predictions where it is not that of the fits, and
    the labels of the mixture that is chosen, beside the dense one.
    """
    steps = state.steps
    judged = state.refits or steps

    def each(name: str) -> NDArray[Any]:
        return np.array([getattr(step, name) for step in judged])

    set_fitted(
        path,
        {
            **columns,
            "state_": state,
            "runs_": runs,
            "agreement_": agreement,
            "status_": state.status,
            "kappa_max_": state.model.kappa_max,
            "betas_": each("beta"),
            "log_likelihoods_": each("log_likelihood"),
            "entropies_": each("entropy"),
            "objectives_": each("objective"),
            "n_nonzero_": each("n_nonzero"),
            "sparsity_": each("sparsity"),
            "n_iters_": each("n_iter"),
            "stationarity_gaps_": each("gap"),
            "n_distinct_prototypes_": each("n_distinct"),
            "n_converged_": np.array([step.n_converged for step in steps]),
            "statuses_": [step.status for step in judged],
            "kappas_": each("kappas"),
            "weights_": each("weights"),
            "sizes_": each("sizes"),
            "exit_betas_": exit_betas(steps),
            "criteria_": criteria_of(judged, state.model),
        },
    )
    selected = path.select(path.criterion)
    state.noise_level = None
    state.noise_level, labels = label(path.model(selected), path.model(0))
    best = path.model(selected)
    add_fitted(best, {"labels_": labels})
    add_fitted(path, {"selected_": selected, "best_estimator_": best})


def label_chosen(
    mixture: VMFMixture, dense: VMFMixture, rows: Directions, weights: Array | None
) -> tuple[float | None, NDArray[np.intp]]:
    """Return the labels of the mixture that was chosen on a path, whose noise has a held level.

    Sparse prototypes fit all rows less tightly, which makes no row noise. So where more rows are
    noise than in the dense mixture, or than a number allows, the level is lowered for predictions
    until they are not, and comes back; otherwise it is None. The parameters stay as they are.
    """
    most = mixture.max_noise if mixture.noise is not None else None
    scorer, base = mixture.scorer_, np.ones(rows.n_rows) if weights is None else weights
    labels = scorer.clusters_of(rows.map_rows(scorer, "labels"))
    noise = mixture.model_.noise
    if most is None or noise is None:
        return None, labels
    before = dense.scorer_.clusters_of(rows.map_rows(dense.scorer_, "labels"))
    usual = float(base @ (before < 0) / base.sum())
    most = usual if isinstance(most, str) else min(most, usual)
    if base @ (labels < 0) <= most * base.sum():
        return None, labels
    (tied,) = quantiles(noise_leads(scorer, rows), base, (1.0 - most,))
    lowered = tied + STILL  # the row in question stays in its cluster
    biases = np.append(scorer.biases[:-1], scorer.biases[-1] - lowered)
    labels = scorer.clusters_of(rows.map_rows(replace(scorer, biases=biases), "labels"))
    return noise.level - lowered, labels
