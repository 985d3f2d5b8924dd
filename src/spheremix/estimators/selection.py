"""VMFMixtureIC: the number of components, then the sparsity, by information criteria."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, get_args

import numpy as np

from spheremix.errors import NotedWarning, ParameterError
from spheremix.estimators import validation as check
from spheremix.estimators.advice import ADVICE, Adviser
from spheremix.estimators.fitted import FittedMixture, count_of, set_fitted
from spheremix.estimators.mixture import SelectedMixture, VMFMixture
from spheremix.estimators.noise import add_noise_start, limit_noise
from spheremix.estimators.options import MixtureOptions, PathOptions, Paths
from spheremix.estimators.parameter_docs import documented
from spheremix.estimators.path import VMFPath, follow_from
from spheremix.estimators.problem import NoFitError, build_problem, is_capped
from spheremix.estimators.restarts import (
    agreement,
    best_of,
    print_runs,
    run_all,
    summaries,
    warn_of_cap,
    warn_of_limit,
    warn_of_lost,
)
from spheremix.estimators.starts import count_sweeps, draw_all
from spheremix.path import PathSolver
from spheremix.select import CRITERIA, criteria

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from spheremix import em
    from spheremix.advice import Advice
    from spheremix.data.base import Engine
    from spheremix.estimators.options import (
        Auto,
        EStep,
        KappaName,
        KappaSolver,
        MStep,
        Noise,
        SearchStart,
    )
    from spheremix.estimators.problem import Problem
    from spheremix.estimators.restarts import Restart
    from spheremix.models.vmf import VMFModel, VMFParameters
    from spheremix.resultants import Resultants

    Array = NDArray[np.float64]
    Labels = NDArray[np.intp]
    Fits = list[em.Fit[VMFParameters] | None]

K_CRITERIA = (ADVICE, *CRITERIA)
PATHS = get_args(Paths)


@documented
class VMFMixtureIC(SelectedMixture):
    """Mixture of von Mises-Fisher distributions, its size and sparsity chosen by criteria.

    The methodology of the paper's section 3.6: dense mixtures for each candidate number of
    components, the number chosen on them by one criterion, then the path of ``beta`` at that
    number and the step chosen by another criterion. No single criterion is to be trusted, so the
    default takes advice from several kinds of evidence (``advice_``). The fit warns where the
    number that was chosen is at an end of the candidates. Every number of components decides anew
    which rows are noise.

    Parameters
    ----------
    n_components : iterable of int, default=(2, 3, 4, 5, 6, 7, 8)
        Candidates.
    k_criterion : {"advice", "aic", "bic", "ric", "ricc", "ebic", "icl"}, default="advice"
        Chooses the number of components. "advice" groups halves of the rows and takes the number
        that ``spheremix.advice.Advice`` recommends; a criterion takes its smallest value on the
        dense mixtures, and the smaller one of equals.
    beta_criterion : {"aic", "bic", "ric", "ricc", "ebic", "icl"}, default="bic"
        Chooses the step of the path; the sparser one of equals.
    paths : {"best", "all", "none"}, default="best"
        Follow the path at the chosen number only, at every candidate, or at none: the dense
        mixture is chosen then.
    refit : bool, default=False
        Fit again without penalty on the support that was chosen. The mixture keeps the ``beta``
        that chose the support.
    relaxed : bool, default=False
        Fit every step of a path again without penalty on its support, and let ``beta_criterion``
        judge these refits, as in :class:`VMFPath`. The chosen mixture is a refit then, so that
        ``refit`` is left out.
    {min_relative_increase, max_steps, max_sparsity, beta_min_ratio, refine, feature_weights}
    {scalar_kappa}
    {kappa_solver, m_step, kappa_max, kappa_prior, noise, max_noise, e_step}
    init : {"merge", "random", "k-means++", "spherical-k-means"}, default="merge"
        The kind of start, as in :class:`VMFMixture`.
    {n_init, max_iter, tol, zero_tol, view_weights, sparse_views, random_state}
    {n_threads, engine}
    verbose : int, default=0
        1 prints a line for each restart, and every 100 steps of a path.
    {path_callback}

    Attributes
    ----------
    candidates_ : ndarray of shape (n_candidates,)
        The numbers of components tried, increasing.
    dense_criteria_ : dict of ndarray of shape (n_candidates,)
        Criteria of the best dense mixture of each number: the curves to look at.
    best_n_components_ : int
        The number that ``k_criterion`` chose.
    advice_ : Advice
        The recommended number, a broader and a finer one, with reasons and doubts, and the
        evidence for every candidate; with ``k_criterion="advice"`` and several candidates.
    dense_models_ : dict of int to VMFMixture
        The best dense mixture of each number.
    paths_ : dict of int to VMFPath
        The paths followed.
    best_path_ : VMFPath
        The one at ``best_n_components_``, where paths are followed.
    best_estimator_ : VMFMixture
        The chosen step of it, fitted again on its support with ``refit=True`` or
        ``relaxed=True``.
    labels_ : ndarray of shape (n,)
        Its clusters.
    table_ : dict of ndarray
        A row for each dense run: ``n_components``, ``restart``, ``seed``, ``status``, ``n_iter``,
        ``objective``, ``log_likelihood``, ``n_nonzero`` and the criteria. Give it to
        ``pandas.DataFrame``.
    agreement_ : ndarray of shape (n_candidates,)
        Mean adjusted Rand index between the partition of the best restart and those of the others:
        1 where different starts give the same clusters. NaN for a single restart.
    total_weight_ : float
        The summed weight of the rows, which the criteria take for their number.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, _, _ = sm.datasets.make_vmf_mixture(random_state=0)
    >>> study = sm.VMFMixtureIC(n_components=range(2, 7), random_state=0).fit(X)
    >>> study.best_n_components_
    4
    """

    candidates_: Labels
    dense_criteria_: dict[str, Array]
    best_n_components_: int
    advice_: Advice
    dense_models_: dict[int, VMFMixture]
    paths_: dict[int, VMFPath]
    best_path_: VMFPath
    table_: dict[str, NDArray[Any]]
    agreement_: Array
    total_weight_: float

    def __init__(
        self,
        n_components: Iterable[int] = tuple(range(2, 9)),
        *,
        k_criterion: str = "advice",
        beta_criterion: str = "bic",
        paths: Paths = "best",
        refit: bool = False,
        relaxed: bool = False,
        min_relative_increase: float = 1e-3,
        max_steps: int | None = None,
        max_sparsity: float = 1.0,
        beta_min_ratio: float = 1e-5,
        refine: float | None = None,
        feature_weights: ArrayLike | None = None,
        kappa: KappaName | float = "shared",
        kappa_solver: KappaSolver = "exact",
        m_step: MStep = "exact",
        kappa_max: float | Auto = "auto",
        kappa_prior: ArrayLike | None = None,
        noise: Noise | None = None,
        max_noise: float | Auto | None = "auto",
        e_step: EStep = "soft",
        init: SearchStart = "merge",
        n_init: int | Auto = "auto",
        max_iter: int = 1000,
        tol: float = 1e-7,
        zero_tol: float = 1e-8,
        view_weights: Mapping[str, float] | None = None,
        sparse_views: Sequence[str] | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
        engine: Engine = "auto",
        verbose: int = 0,
        callback: Callable[[Any], None] | None = None,
    ) -> None:
        self.n_components = n_components
        self.k_criterion = k_criterion
        self.beta_criterion = beta_criterion
        self.paths = paths
        self.refit = refit
        self.relaxed = relaxed
        self.min_relative_increase = min_relative_increase
        self.max_steps = max_steps
        self.max_sparsity = max_sparsity
        self.beta_min_ratio = beta_min_ratio
        self.refine = refine
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
        self.random_state = random_state
        self.n_threads = n_threads
        self.engine = engine
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Fit dense mixtures of every size, choose one, follow its path.

        Parameters
        ----------
        {X, y, sample_weight}

        Returns
        -------
        VMFMixtureIC
            Itself.
        """
        candidates = self._check_parameters()
        given = MixtureOptions.of(self, n_components=int(candidates[-1]))
        options = given if self.paths == "none" else given.along_path()
        route = PathOptions.of(self, criterion=self.beta_criterion)
        problem = build_problem(options, X, sample_weight)
        problems = {int(K): replace(problem, n_components=int(K)) for K in candidates}
        callback, sizes = count_sweeps(self.callback), list(problems.values())
        begun = draw_all(sizes, self.init, self.n_init, self.random_state, callback)
        drawn = dict(zip(problems, begun, strict=True))
        for K, starts in drawn.items():
            add_noise_start(starts, problems[K], options)
        # Every candidate and every restart in one batch: they share each reading of the data.
        flat = [start for starts in drawn.values() for start in starts]
        fits = iter(run_all(problem, flat, callback))
        each: dict[int, Fits] = {K: [next(fits) for _ in starts] for K, starts in drawn.items()}
        runs = {K: summaries(problem.model, drawn[K], each[K]) for K in each}
        if self.verbose:
            for K, reports in runs.items():
                print_runs(reports, f"K = {K}, ")
        agreements = {K: agreement(problem, drawn[K], each[K]) for K in each}
        models = self._dense_models(options, problems, each, runs, agreements)
        curves = {
            name: np.array([models[K].criteria_[name] if K in models else np.nan for K in each])
            for name in CRITERIA
        }
        criterion = self.k_criterion.lower()
        advice = None
        if criterion == ADVICE and len(models) > 1:
            seed = check.draw_seeds(self.random_state, 1)[0]
            advice = Adviser(problem, seed, list(models)).advise()
            best = advice.best_candidate
        elif criterion == ADVICE:
            (best,) = models
        else:
            best = int(candidates[np.nanargmin(curves[criterion])])
        warn_of_ends(best, list(models), criterion, advice, stacklevel=3)
        paths = self._follow_all(options, route, problems, models, best)
        chosen = paths[best].best_estimator_ if paths else models[best]
        if self.refit:
            chosen = refit_on_support(chosen, problems[best])
        # Only a fit that has succeeded changes the estimator.
        weights, n_rows = problem.weights, problem.directions.n_rows
        found = {
            **problem.columns,
            "candidates_": candidates,
            "table_": candidate_table(problem, each, runs, options.zero_tol),
            "agreement_": np.array(list(agreements.values())),
            "dense_models_": models,
            "dense_criteria_": curves,
            "best_n_components_": best,
            "paths_": paths,
            "best_estimator_": chosen,
            "total_weight_": float(n_rows if weights is None else weights.sum()),
        }
        if advice is not None:
            found["advice_"] = advice
        if paths:
            found["best_path_"] = paths[best]
        set_fitted(self, found)
        return self

    def _dense_models(
        self,
        options: MixtureOptions,
        problems: dict[int, Problem[VMFModel]],
        each: dict[int, Fits],
        runs: dict[int, list[Restart]],
        agreements: dict[int, float],
    ) -> dict[int, VMFMixture]:
        """Return the best dense mixture of each number; problems take the level of their noise."""
        models, failures = {}, []
        for K in list(problems):
            try:
                best = best_of(options, problems[K], each[K], runs[K])
            except NoFitError as error:
                failures.append(error)
                continue
            problem, best = limit_noise(options, problems[K], best)
            problems[K] = problem
            models[K] = VMFMixture(**{**self._shared(VMFMixture), "n_components": K})
            FittedMixture.of_fit(problem, best, runs[K], agreements[K]).set_on(models[K])
            warn_of_lost(runs[K], K, stacklevel=4)
            if is_capped(problem.model, best.parameters):
                warn_of_cap(K, problem.model.kappa_max, stacklevel=4)
        if not models:
            raise failures[0]
        for failed in failures:
            warnings.warn(NotedWarning(failed.message), stacklevel=3)
        unfinished = [str(K) for K, model in models.items() if model.status_ == "max_iter"]
        if unfinished:
            where = f" at K = {', '.join(unfinished)}: the criteria there are not final"
            warn_of_limit(self.max_iter, where, stacklevel=4)
        return models

    def _check_parameters(self) -> NDArray[np.intp]:
        check.require_criterion("k_criterion", self.k_criterion, K_CRITERIA)
        check.require_criterion("beta_criterion", self.beta_criterion, CRITERIA)
        check.require_choice("paths", self.paths, PATHS)
        for name, given in (("refit", self.refit), ("relaxed", self.relaxed)):
            if check.require_flag(name, given) and self.paths == "none":
                raise ParameterError(
                    f"{{{name}=True}} is for the zeros of a path, and {{paths='none'}} leaves none"
                )
        if self.refit and self.relaxed:
            raise ParameterError(
                "{refit=True} fits again what {relaxed=True} has fitted again already",
                remedies=("leave {refit} out",),
            )
        if self.refit and self.noise is not None and isinstance(self.max_noise, float):
            raise ParameterError(
                "{refit=True} does not keep to a limit of the noise, and {max_noise} is {got}",
                remedies=("use {relaxed=True} instead", 'set {max_noise="auto"}'),
                got=repr(self.max_noise),
            )
        if not isinstance(self.init, str):
            raise ParameterError("{init} must name a kind of random start: a given start fixes K")
        if not isinstance(self.kappa, str) and np.ndim(self.kappa):
            raise ParameterError("{kappa} must be 'shared', 'free' or a number: an array fixes K")
        if not np.iterable(self.n_components):
            raise ParameterError(
                "{n_components} must list the numbers to choose from, got {got}",
                remedies=("give {n_components=range(2, 9)}", "use VMFPath for a single number"),
                got=repr(self.n_components),
            )
        listed = list(self.n_components)
        if not listed:
            raise ParameterError("{n_components} must list at least one number of components")
        return np.unique([check.require_integer("n_components", K, 1) for K in listed])

    def _follow_all(
        self,
        options: MixtureOptions,
        route: PathOptions,
        problems: dict[int, Problem[VMFModel]],
        models: dict[int, VMFMixture],
        best: int,
    ) -> dict[int, VMFPath]:
        """Follow the path of the chosen size, then those of the others; Ctrl-C ends them all."""
        if self.paths == "none":
            return {}
        others = [K for K in models if best != K and self.paths == "all"]
        paths: dict[int, VMFPath] = {}
        for K in (best, *others):
            parameters = {"n_components": K, "criterion": route.criterion}
            path = VMFPath(**{**self._shared(VMFPath), **parameters})
            paths[K] = follow_from(options, route, problems[K], models[K], path)
            if paths[K].status_ == "interrupted":
                break
        return dict(sorted(paths.items()))


def warn_of_ends(
    best: int,
    candidates: Sequence[int],
    criterion: str,
    advice: Advice | None,
    stacklevel: int,
) -> None:
    """Warn of a number at an end of three candidates or more, and where there are no clusters."""
    if advice is not None and advice.n_clusters == 1 and best > 1:
        warnings.warn(NotedWarning(advice.recommended[0].sentence), stacklevel=stacklevel)
    tested = 1 if advice is None else 2  # numbers below which nothing is left to try
    at_an_end = best in {min(candidates), max(candidates)}
    if len(candidates) < 3 or not at_an_end or best <= tested:
        return
    largest = best == max(candidates)
    warnings.warn(
        NotedWarning(
            "{best} components are at the {end} end of the candidates, by {k_criterion} "
            "{criterion}: this is no answer yet",
            remedies=("try {other} numbers with {n_components}",),
            best=best,
            end="upper" if largest else "lower",
            criterion=criterion,
            other="larger" if largest else "smaller",
        ),
        stacklevel=stacklevel,
    )


def candidate_table(
    problem: Problem[VMFModel],
    each: dict[int, Fits],
    runs: dict[int, list[Restart]],
    zero_tol: float,
) -> dict[str, NDArray[Any]]:
    """Return the columns of a table with a row for each restart of each number of components."""
    rows = []
    for K, fits in each.items():
        cleaned = _cleaned(problem, fits, zero_tol)
        swept = _softly(problem, fits, cleaned)
        each_run = zip(cleaned, swept, runs[K], strict=True)
        for restart, (clean, soft, run) in enumerate(each_run):
            row = {
                "n_components": K,
                "restart": restart,
                "seed": run.seed,
                "status": run.status,
                "n_iter": run.n_iter,
                "objective": run.objective,
                "log_likelihood": np.nan,
                "n_nonzero": 0,
                **dict.fromkeys(CRITERIA, np.nan),
            }
            if clean is not None and soft is not None:
                row["log_likelihood"] = soft.log_likelihood
                row["n_nonzero"] = int(np.count_nonzero(clean.prototypes))
                row |= criteria(
                    soft.log_likelihood,
                    count_of(problem.model, clean.prototypes),
                    soft.weight,
                    problem.n_features,
                    soft.entropy,
                )
            rows.append(row)
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _cleaned(problem: Problem[VMFModel], fits: Fits, zero_tol: float) -> list[VMFParameters | None]:
    """Return the parameters of the fits that did not fail, small coordinates set to zero."""
    return [
        problem.model.zero_small(fit.parameters, zero_tol) if fit is not None and fit.ok else None
        for fit in fits
    ]


def _softly(
    problem: Problem[VMFModel], fits: Fits, cleaned: list[VMFParameters | None]
) -> list[Resultants | None]:
    """Return soft resultants of the cleaned parameters; those that differ are swept together."""
    swept = [None if fit is None or not fit.ok else fit.resultants for fit in fits]
    hard = problem.settings.e_step == "hard"
    again = {
        i: clean
        for i, (fit, clean) in enumerate(zip(fits, cleaned, strict=True))
        if fit is not None and clean is not None and (hard or clean is not fit.parameters)
    }
    if again:
        scorers = [problem.model.scorer(clean) for clean in again.values()]
        found = problem.directions.sweep(scorers, problem.weights)
        for i, soft in zip(again, found, strict=True):
            swept[i] = soft
    return swept


def refit_on_support(mixture: VMFMixture, problem: Problem[VMFModel]) -> VMFMixture:
    """Fit a mixture again without penalty, its zeros kept; ``beta`` says where they come from."""
    solver = PathSolver(
        problem.model,
        problem.directions,
        problem.weights,
        problem.settings,
        zero_tol=mixture.zero_tol,
    )
    plain = solver.at(0.0)
    start = plain.parameters(mixture.prototypes_, mixture.kappas_, mixture.weights_)
    scorer = plain.scorer(start, problem.settings.e_step)
    (resultants,) = problem.directions.sweep([scorer], problem.weights)
    support = mixture.prototypes_ != 0.0
    fit = solver.refit(support, start, resultants)
    if not fit.ok:
        raise NoFitError(
            "{refit}: a component of the mixture on the selected support has {status}",
            remedies=("use {refit=False}", "use a {beta_criterion} that keeps more"),
            status=fit.status,
        )
    again = VMFMixture(**mixture.get_params(deep=False))
    # First-order conditions are those of the support: forces outside of it do not count.
    pulls = fit.resultants.vectors.copy()  # those of the noise, if any, come last
    pulls[: len(support)][~support] = 0.0
    inside = replace(fit, resultants=replace(fit.resultants, vectors=pulls))
    FittedMixture.of_fit(
        replace(problem, model=plain), inside, mixture.runs_, mixture.agreement_
    ).set_on(again)
    return again
