"""VMFMixtureIC: the number of components, then the sparsity, by information criteria."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from spheremix.errors import NotedWarning, ParameterError
from spheremix.estimators import validation as check
from spheremix.estimators.agreement import agreement
from spheremix.estimators.convergence import ConvergenceWarning
from spheremix.estimators.fitted import set_fitted_attributes
from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.path import VMFPath
from spheremix.estimators.problem import (
    NoFitError,
    best_of,
    build_problem,
    is_capped,
    print_runs,
    run_all,
    summaries,
    warn_of_cap,
)
from spheremix.estimators.refit import refit_on_support
from spheremix.estimators.selected import SelectedMixture
from spheremix.estimators.starts import draw_all, follow
from spheremix.select import CRITERIA, count_parameters, criteria

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike, NDArray

    from spheremix import em
    from spheremix.estimators.problem import Problem, Restart
    from spheremix.models.vmf import VMFModel, VMFParameters
    from spheremix.resultants import Resultants

    Array = NDArray[np.float64]
    Fits = list[em.Fit[VMFParameters] | None]

PATHS = ("best", "all", "none")


class VMFMixtureIC(SelectedMixture):
    """Mixture of von Mises-Fisher distributions, its size and sparsity chosen by criteria.

    The methodology of the paper's section 3.6: dense mixtures for each candidate number of
    components, the number chosen on them by one criterion, then the path of ``beta`` at that
    number and the step chosen by another criterion. No single criterion is to be trusted: look at
    the whole curves.

    Parameters
    ----------
    n_components : iterable of int, default=(2, 3, 4, 5, 6, 7, 8)
        Candidates.
    k_criterion : {"aic", "bic", "ric", "ricc", "ebic", "icl"}, default="ebic"
        Chooses the number of components, on the dense mixtures; the smaller one of equals.
    beta_criterion : {"aic", "bic", "ric", "ricc", "ebic", "icl"}, default="bic"
        Chooses the step of the path; the sparser one of equals.
    paths : {"best", "all", "none"}, default="best"
        Follow the path at the chosen number only, at every candidate, or at none: the dense
        mixture is chosen then.
    refit : bool, default=False
        Fit again without penalty on the support that was chosen. The mixture keeps the ``beta``
        that chose the support.
    min_relative_increase, max_steps, max_sparsity, beta_min_ratio, refine
        As in :class:`VMFPath`.
    feature_weights, kappa, kappa_solver, m_step, kappa_max, e_step, init, n_init, max_iter, tol, \
zero_tol, random_state, n_threads, engine, verbose
        As in :class:`VMFMixture`; ``init`` names a kind of random start.
    callback : callable or None, default=None
        As in :class:`VMFPath`.

    Attributes
    ----------
    candidates_ : ndarray of shape (n_candidates,)
        The numbers of components tried, increasing.
    dense_criteria_ : dict of ndarray of shape (n_candidates,)
        Criteria of the best dense mixture of each number: the curves to look at.
    best_n_components_ : int
        Where ``k_criterion`` is smallest.
    dense_models_ : dict of int to VMFMixture
        The best dense mixture of each number.
    paths_ : dict of int to VMFPath
        The paths followed.
    best_path_ : VMFPath
        The one at ``best_n_components_``, where paths are followed.
    best_estimator_ : VMFMixture
        The chosen step of it, fitted again on its support with ``refit=True``.
    labels_ : ndarray of shape (n,)
        Its clusters.
    table_ : dict of ndarray
        A row a dense run: ``n_components``, ``restart``, ``seed``, ``status``, ``n_iter``,
        ``objective``, ``log_likelihood``, ``n_nonzero`` and the criteria. A DataFrame in waiting.
    agreement_ : ndarray of shape (n_candidates,)
        Mean adjusted Rand index between the partition of the best restart and those of the others:
        how far the answer depends on the start. NaN for a single restart.
    total_weight_ : float
        Of the rows: what the criteria take for their number.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, _, _ = sm.datasets.make_vmf_mixture(random_state=0)
    >>> study = sm.VMFMixtureIC(n_components=range(2, 7), random_state=0).fit(X)
    >>> study.best_n_components_
    4
    """

    def __init__(
        self,
        n_components: Iterable[int] = tuple(range(2, 9)),
        *,
        k_criterion: str = "ebic",
        beta_criterion: str = "bic",
        paths: str = "best",
        refit: bool = False,
        min_relative_increase: float = 1e-3,
        max_steps: int | None = None,
        max_sparsity: float = 1.0,
        beta_min_ratio: float = 1e-5,
        refine: float | None = None,
        feature_weights: ArrayLike | None = None,
        kappa: str | float = "shared",
        kappa_solver: str = "exact",
        m_step: str = "exact",
        kappa_max: float | str = "auto",
        e_step: str = "soft",
        init: str = "merge",
        n_init: int | str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-7,
        zero_tol: float = 1e-8,
        random_state: Any = None,
        n_threads: int | None = None,
        engine: str = "auto",
        verbose: int = 0,
        callback: Callable[[Any], None] | None = None,
    ) -> None:
        self.n_components = n_components
        self.k_criterion = k_criterion
        self.beta_criterion = beta_criterion
        self.paths = paths
        self.refit = refit
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
        self.e_step = e_step
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.zero_tol = zero_tol
        self.random_state = random_state
        self.n_threads = n_threads
        self.engine = engine
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Fit dense mixtures of every size, choose one, follow its path.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or Directions
            Rows are normalised; X is not changed.
        y : ignored
            For scikit-learn's conventions.
        sample_weight : array-like of shape (n,), default=None
            Non-negative; a weight of 2 is the row twice. Their sum is the number of rows that the
            criteria and ``beta`` see: multiply shares by n.

        Returns
        -------
        VMFMixtureIC
            Itself.
        """
        candidates = self._check_parameters()
        largest = VMFMixture(**{**self._shared(VMFMixture), "n_components": int(candidates[-1])})
        problem = build_problem(largest, X, sample_weight)
        problems = {int(K): replace(problem, n_components=int(K)) for K in candidates}
        callback = follow(self.callback)
        drawn = dict(
            zip(
                problems,
                draw_all(
                    list(problems.values()), self.init, self.n_init, self.random_state, callback
                ),
                strict=True,
            )
        )
        # Every candidate and every restart in one batch: they share each reading of the data.
        flat = [start for starts in drawn.values() for start in starts]
        fits = iter(run_all(problem, flat, self.random_state, callback))
        each: dict[int, Fits] = {K: [next(fits) for _ in starts] for K, starts in drawn.items()}
        runs = {K: summaries(problem.model, drawn[K], each[K]) for K in each}
        if self.verbose:
            for K, reports in runs.items():
                print_runs(reports, f"K = {K}, ")
        agreements = {K: agreement(problem, drawn[K], each[K]) for K in each}
        models = self._dense_models(problems, each, runs)
        for K, model in models.items():
            model.agreement_ = agreements[K]
        curves = {
            name: np.array([models[K].criteria_[name] if K in models else np.nan for K in each])
            for name in CRITERIA
        }
        best = int(candidates[np.nanargmin(curves[self.k_criterion])])
        paths = self._follow_all(problems, models, best)
        chosen = paths[best].best_estimator_ if paths else models[best]
        if self.refit:
            chosen = refit_on_support(chosen, problem)
        # Only a fit that has succeeded changes the estimator.
        check.remember_columns(self, problem.columns)
        self.candidates_, self.table_ = candidates, self._table(problem, each, runs)
        self.agreement_ = np.array(list(agreements.values()))
        self.dense_models_, self.dense_criteria_ = models, curves
        self.best_n_components_, self.paths_, self.best_estimator_ = best, paths, chosen
        self.__dict__.pop("best_path_", None)
        if paths:
            self.best_path_ = paths[best]
        weights, n_rows = problem.weights, problem.directions.n_rows
        self.total_weight_ = float(n_rows if weights is None else weights.sum())
        return self

    def _dense_models(
        self,
        problems: dict[int, Problem[VMFModel]],
        each: dict[int, Fits],
        runs: dict[int, list[Restart]],
    ) -> dict[int, VMFMixture]:
        """Give the best dense mixture of each number of components that has one."""
        models, failures = {}, []
        for K, problem in problems.items():
            try:
                best = best_of(self, problem, each[K], runs[K])
            except NoFitError as error:
                failures.append(error)
                continue
            models[K] = self._dense_model(problem, best, runs[K])
            if is_capped(problem.model, best.parameters):
                warn_of_cap(K, problem.model.kappa_max, stacklevel=4)
        if not models:
            raise failures[0]
        for failed in failures:
            warnings.warn(NotedWarning(failed.message), stacklevel=3)
        unfinished = [K for K, model in models.items() if model.status_ == "max_iter"]
        if unfinished:
            warnings.warn(
                ConvergenceWarning(
                    "EM stopped at its limit of {n} iterations at K = {unfinished}: the criteria "
                    "there are not final",
                    remedies=("raise {max_iter}", "raise {tol}"),
                    n=self.max_iter,
                    unfinished=", ".join(map(str, unfinished)),
                ),
                stacklevel=3,
            )
        return models

    def _check_parameters(self) -> NDArray[np.intp]:
        check.require_choice("k_criterion", self.k_criterion, CRITERIA)
        check.require_choice("beta_criterion", self.beta_criterion, CRITERIA)
        check.require_choice("paths", self.paths, PATHS)
        if check.require_flag("refit", self.refit) and self.paths == "none":
            raise ParameterError(
                "{refit=True} is for the zeros of a path, and {paths='none'} leaves none"
            )
        if not isinstance(self.init, str):
            raise ParameterError("{init} must name a kind of random start: a given start fixes K")
        if not isinstance(self.kappa, str) and np.ndim(self.kappa):
            raise ParameterError("{kappa} must be 'shared', 'free' or a number: an array fixes K")
        given: Any = self.n_components
        listed = list(given) if np.iterable(given) else [given]
        if not listed:
            raise ParameterError("{n_components} must list at least one number of components")
        return np.unique([check.require_integer("n_components", K, 1) for K in listed])

    def _shared(self, kind: type) -> dict[str, Any]:
        """Give the parameters that another estimator has too."""
        names = kind().get_params()
        return {name: v for name, v in self.get_params(deep=False).items() if name in names}

    def _table(
        self, problem: Problem[VMFModel], each: dict[int, Fits], runs: dict[int, list[Restart]]
    ) -> dict[str, NDArray[Any]]:
        rows = []
        for K, fits in each.items():
            swept = self._softly(problem, fits)
            for restart, (fit, soft, run) in enumerate(zip(fits, swept, runs[K], strict=True)):
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
                if fit is not None and soft is not None:
                    clean = problem.model.zero_small(fit.parameters, self.zero_tol)
                    row["log_likelihood"] = soft.log_likelihood
                    row["n_nonzero"] = int(np.count_nonzero(clean.prototypes))
                    row |= criteria(
                        soft.log_likelihood,
                        count_parameters(clean.prototypes, problem.model.kappa_mode),
                        soft.weight,
                        problem.directions.n_features,
                        soft.entropy,
                    )
                rows.append(row)
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    def _softly(self, problem: Problem[VMFModel], fits: Fits) -> list[Resultants | None]:
        """Give the soft resultants of the fits that did not fail; a hard one is swept again."""
        swept = [fit.resultants if fit is not None and fit.ok else None for fit in fits]
        if self.e_step == "hard":
            good = [i for i, one in enumerate(swept) if one is not None]
            scorers = [
                problem.model.scorer(fit.parameters) for i in good if (fit := fits[i]) is not None
            ]
            again = problem.directions.sweep(scorers, problem.weights) if scorers else []
            for i, soft in zip(good, again, strict=True):
                swept[i] = soft
        return swept

    def _dense_model(
        self, problem: Problem[VMFModel], best: em.Fit[VMFParameters], runs: list[Restart]
    ) -> VMFMixture:
        shared = self._shared(VMFMixture)
        mixture = VMFMixture(**{**shared, "n_components": problem.n_components})
        mixture.runs_ = runs
        set_fitted_attributes(mixture, problem, best)
        return mixture

    def _follow_all(
        self, problems: dict[int, Problem[VMFModel]], models: dict[int, VMFMixture], best: int
    ) -> dict[int, VMFPath]:
        """Follow the path of the chosen size, then those of the others; Ctrl-C ends them all."""
        if self.paths == "none":
            return {}
        others = [K for K in models if best != K and self.paths == "all"]
        paths: dict[int, VMFPath] = {}
        for K in (best, *others):
            paths[K] = self._follow(problems[K], models[K])
            if paths[K].status_ == "interrupted":
                break
        return dict(sorted(paths.items()))

    def _follow(self, problem: Problem[VMFModel], dense: VMFMixture) -> VMFPath:
        path = VMFPath(
            **{
                **self._shared(VMFPath),
                "n_components": problem.n_components,
                "criterion": self.beta_criterion,
                "init": dense,
            }
        )
        with warnings.catch_warnings():  # of weights and dense mixtures it has been said already
            for said in ("sample_weight sums to", "A kappa of the mixture"):
                warnings.filterwarnings("ignore", said)
            path.fit(problem.directions, sample_weight=problem.weights)
        # What it can be cloned by is how the study itself started.
        path.init = path.best_estimator_.init = self.init
        path.runs_ = path.best_estimator_.runs_ = dense.runs_
        path.agreement_ = path.best_estimator_.agreement_ = dense.agreement_
        check.remember_columns(path, problem.columns)
        check.remember_columns(path.best_estimator_, problem.columns)
        return path
