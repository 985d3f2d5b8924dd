"""VMFMixture: the mixture of von Mises-Fisher distributions with sparse prototypes.

And SelectedMixture: what estimators that choose such a mixture do with it.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spheremix.distribution import VonMisesFisher
from spheremix.errors import NotedWarning, ParameterError
from spheremix.estimators import validation as check
from spheremix.estimators.fitted import FittedMixture, columns_of, count_of
from spheremix.estimators.noise import limit_noise
from spheremix.estimators.options import SEED_WEIGHT, MixtureOptions
from spheremix.estimators.parameter_docs import documented
from spheremix.estimators.predictions import MixturePredictions
from spheremix.estimators.problem import build_model, build_problem, is_capped, model_for
from spheremix.estimators.restarts import restarts, warn_of_cap, warn_of_limit, warn_of_lost
from spheremix.estimators.seeds import with_seeds
from spheremix.estimators.streaming import PartialFit, Stream
from spheremix.estimators.views import views_of
from spheremix.models.vmf import noise_share
from spheremix.select import criteria

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from spheremix.data.base import Directions, Engine
    from spheremix.em import Progress
    from spheremix.estimators.options import (
        Auto,
        EStep,
        Init,
        Kappa,
        KappaSolver,
        MStep,
        Noise,
    )
    from spheremix.estimators.restarts import Restart
    from spheremix.estimators.seeds import GivenSeeds
    from spheremix.estimators.streaming import Batch
    from spheremix.estimators.views import View
    from spheremix.models.base import Model
    from spheremix.models.vmf import VMFModel, VMFParameters
    from spheremix.scorer import Assignment, Scorer

    Array = NDArray[np.float64]
    Labels = NDArray[np.intp]


@documented
class VMFMixture(PartialFit, MixturePredictions):
    """Mixture of von Mises-Fisher distributions with sparse prototypes.

    Maximises the log-likelihood of unit rows minus ``beta`` times the l1 norms of the prototypes,
    by expectation-maximisation with an exact M-step.

    Parameters
    ----------
    {n_components}
    beta : float, default=0.0
        Penalty on the scale of the total log-likelihood: a value tuned on part of the rows is too
        small for all of them.
    {feature_weights, kappa, kappa_solver, m_step, kappa_max, kappa_prior, noise, max_noise, e_step}
    {init, n_init, max_iter, tol, zero_tol, view_weights, sparse_views, seeds, seed_weight}
    {random_state, n_threads, engine, verbose, warm_start, callback}

    Attributes
    ----------
    prototypes_ : ndarray of shape (K, d)
        Unit vectors, with exact zeros. Of several views, theirs side by side.
    kappas_ : ndarray of shape (K,)
        Concentrations. Of several views, of shape (K, views).
    views_ : dict of str to View
        Where X is a dictionary of views: ``views_["words"].prototypes_`` and ``.kappas_``.
    weights_ : ndarray of shape (K,)
        Mixture weights; with noise they sum to ``1 - noise_weight_``.
    noise_weight_ : float
        The weight of the noise; zero without.
    labels_ : ndarray of shape (n,)
        Most probable component of each row; -1 for noise.
    n_noise_ : int
        Rows of the fit whose label is -1.
    log_likelihood_ : float
        Unpenalised, relative to the surface measure of the sphere.
    objective_ : float
        What was maximised: the penalised log-likelihood (of the completed data for a hard E-step),
        plus the logs of the priors of the concentrations and of the seeds, up to a constant.
    criteria_ : dict
        ``aic``, ``bic``, ``ric``, ``ricc``, ``ebic``, ``icl``; smaller is better.
    status_ : str
        ``converged`` or ``max_iter``.
    stationarity_gap_ : float
        What one more exact step gains at least, in nats per unit of weight.
    kkt_residual_ : float
        Largest violation of the first-order conditions of a prototype, relative to kappa_k n_k:
        a diagnostic.
    n_iter_ : int
        EM iterations of the best run, and steps of ``partial_fit`` since.
    n_samples_seen_ : int
        Rows of the fit, and of the batches since.
    n_distinct_prototypes_ : int
        Less than K where prototypes coincide.
    kappa_max_ : float
        The cap in force; of several views, one a view.
    runs_ : list of Restart
        Every run, failed ones included: how it started and what it reached.
    agreement_ : float
        Mean adjusted Rand index of the other runs, crossings aside, with the best one: two fits
        with other seeds agree about as far, or further. On large data it is measured on the
        sample, before EM. NaN where there is one run.
    n_parameters_ : int
        Free parameters, as the criteria count them: K - 1 weights (K with noise), the estimated
        concentrations, and of each prototype the non-zeros less one (at least one).
    model_ : VMFModel
        The model in force: turns parameters into a scorer, and resultants into parameters.
    scorer_ : Scorer
        The fitted mixture as engines take it, for ``Directions.sweep`` and ``map_rows``.
    n_features_in_ : int
        d, of all views together.
    views_in_ : dict of str to int
        Where X is a dictionary of views: how many columns each has.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, labels, _ = sm.datasets.make_vmf_mixture(random_state=0)
    >>> mix = sm.VMFMixture(n_components=4, random_state=0).fit(X)
    >>> mix.status_
    'converged'

    Two views of the same rows, such as their words and their meaning:

    >>> both = sm.VMFMixture(n_components=4, random_state=0).fit({"words": X, "meaning": X[:, :5]})
    >>> both.views_["meaning"].prototypes_.shape
    (4, 5)
    """

    prototypes_: Array
    kappas_: Array
    weights_: Array
    labels_: Labels
    views_in_: dict[str, int]
    status_: str
    log_likelihood_: float
    objective_: float
    criteria_: dict[str, float]
    stationarity_gap_: float
    n_iter_: int
    runs_: list[Restart]
    model_: VMFModel
    kappa_max_: float
    kkt_residual_: float
    n_distinct_prototypes_: int
    n_samples_seen_: int
    agreement_: float

    def __init__(
        self,
        n_components: int = 8,
        *,
        beta: float = 0.0,
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
        callback: Callable[[Progress], None] | None = None,
    ) -> None:
        self.n_components = n_components
        self.beta = beta
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

    @classmethod
    def from_parameters(
        cls, prototypes: ArrayLike, kappas: ArrayLike, weights: ArrayLike | None = None
    ) -> Self:
        """Return the mixture of known parameters: to draw from, to predict with, to start from.

        Parameters
        ----------
        prototypes : array-like of shape (K, d)
            Brought to length one.
        kappas : float or array-like of shape (K,)
            Concentrations, above zero.
        weights : array-like of shape (K,), default=None
            Above zero, brought to the sum of one; equal by default.

        Returns
        -------
        VMFMixture
            Without attributes that describe the rows of a fit: labels, log-likelihood, criteria.

        Examples
        --------
        >>> import spheremix as sm
        >>> mix = sm.VMFMixture.from_parameters([[1, 0, 0], [0, 1, 0]], [20, 50])
        >>> X, labels = mix.sample(100, random_state=0)
        >>> mix.predict([[0.9, 0.1, 0]])
        array([0])
        """
        toarray = getattr(prototypes, "toarray", None)
        rows = np.array(prototypes if toarray is None else toarray(), dtype=np.float64)
        table = rows.ndim == 2 and rows.shape[1] > 1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True) if table else np.zeros(1)
        if not np.all((lengths > 0) & (lengths < np.inf)):
            raise ParameterError(
                "{prototypes} must be a table of at least 2 columns, its rows finite and not "
                "zero; got shape {shape}",
                shape=rows.shape,
            )
        K, d = rows.shape
        given = check.require_concentrations("kappas", kappas, K)
        shares = np.ones(K)
        if weights is not None:
            shares = check.require_vector("weights", weights, K, "component")
        if not shares.all():
            raise ParameterError(
                "{weights} must be above 0", remedies=("leave out components without weight",)
            )
        mixture = cls(n_components=K, kappa="free" if np.ndim(given) else "shared")
        FittedMixture(
            build_model(MixtureOptions.of(mixture), d, 1),
            rows / lengths,
            np.full(K, given, dtype=np.float64),
            shares / shares.sum(),
            {"n_features_in_": d},
        ).set_on(mixture)
        return mixture

    # Fitting

    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        sample_weight: ArrayLike | None = None,
        labels: ArrayLike | None = None,
    ) -> Self:
        """Estimate the mixture.

        Parameters
        ----------
        {X, y, sample_weight, labels}

        Returns
        -------
        VMFMixture
            Itself.
        """
        options = MixtureOptions.of(self)
        problem = build_problem(options, X, sample_weight)
        problem = with_seeds(options, problem, labels)
        start = None
        if self.warm_start and hasattr(self, "prototypes_"):
            if self.prototypes_.shape != (problem.n_components, problem.n_features):
                raise ParameterError(
                    "{warm_start}: the previous solution has another number of components or "
                    "features",
                    remedies=("set {warm_start=False}",),
                )
            shares = problem.model.beside_noise(self.weights_)
            start = problem.model.parameters(self.prototypes_, self.kappas_, shares)
        outcome = restarts(options, problem, start)
        problem, best = limit_noise(options, problem, outcome.best)
        stream = Stream(best.resultants, problem.directions.n_rows)
        agreed = outcome.agreement(problem)
        fitted = FittedMixture.of_fit(problem, best, outcome.runs, agreed)
        replace(fitted, n_samples_seen=stream.n_rows).set_on(self)
        self._stream = stream
        warn_of_lost(outcome.runs, problem.n_components)
        if is_capped(problem.model, best.parameters):
            warn_of_cap(problem.n_components, problem.model.kappa_max)
        if best.status == "max_iter":
            gap = f" with a stationarity gap of {best.gap:.1e} per row"
            warn_of_limit(self.max_iter, gap)
        if self.n_distinct_prototypes_ < len(self.prototypes_):
            warnings.warn(
                NotedWarning(
                    "Only {distinct} of the {K} prototypes are different",
                    remedies=("lower {n_components}", "lower {beta}"),
                    distinct=self.n_distinct_prototypes_,
                    K=len(self.prototypes_),
                ),
                stacklevel=2,
            )
        return self

    def _streamed(self, directions: Directions) -> tuple[Model[Any], VMFParameters, Assignment]:
        """Return what a batch is swept with; parameters of the estimator may have changed."""
        options = MixtureOptions.of(self)
        model = model_for(options, directions, columns_of(self))
        if model.noise is not None and self.model_.noise is not None:
            model = replace(model, noise=self.model_.noise)  # its level is that of the fit
        if self.model_.seeds is not None:
            model = replace(model, seeds=self.model_.seeds)
        shares = model.beside_noise(self.weights_)
        present = model.parameters(self.prototypes_, self.kappas_, shares)
        return model, present, "hard" if self.e_step == "hard" else "soft"

    def _adopt(self, model: Any, parameters: VMFParameters, batch: Batch) -> None:
        """Take the parameters of a step."""
        clean = model.zero_small(parameters, self.zero_tol)
        scorer = model.scorer(clean)
        FittedMixture(
            model,
            clean.prototypes,
            clean.kappas,
            clean.weights,
            columns_of(self),
            labels=scorer.clusters_of(batch.directions.map_rows(scorer, "labels")),
            n_iter=batch.n_iter,
            n_samples_seen=batch.n_rows,
        ).set_on(self)

    # What is known as soon as the parameters are

    @property
    def scorer_(self) -> Scorer:
        """What engines read rows with: log weights, concentrations and prototypes together."""
        check_is_fitted(self, "prototypes_")
        parameters = self.model_.parameters(self.prototypes_, self.kappas_, self.weights_)
        return self.model_.scorer(parameters)

    @property
    def views_(self) -> dict[str, View]:
        """What the mixture has in each view, where it was fitted to a dictionary of them."""
        check_is_fitted(self, "prototypes_")
        views_in = getattr(self, "views_in_", None)
        if views_in is None:
            raise AttributeError("This mixture was fitted to one table of rows, without views.")
        return views_of(views_in, self.model_, self.prototypes_, self.kappas_)

    @property
    def n_parameters_(self) -> int:
        """What the criteria count."""
        check_is_fitted(self, "prototypes_")
        return count_of(self.model_, self.prototypes_)

    @property
    def noise_weight_(self) -> float:
        """The weight of the noise."""
        check_is_fitted(self, "prototypes_")
        return 0.0 if self.model_.noise is None else noise_share(self.weights_)

    @property
    def n_noise_(self) -> int:
        """Rows of the fit that belong to no component."""
        check_is_fitted(self, "labels_")
        return int(np.count_nonzero(self.labels_ < 0))

    def aic(self, X: Any) -> float:
        """Return Akaike's criterion of the fitted mixture on other rows; smaller is better.

        Parameters
        ----------
        {new_X}

        Returns
        -------
        float
            On the rows it was fitted on (without weights), ``criteria_["aic"]``, unless a path
            lowered the level of the noise for predictions.
        """
        return self._criteria_on(X)["aic"]

    def bic(self, X: Any) -> float:
        """Return the Bayesian criterion of the fitted mixture on other rows; smaller is better.

        Parameters
        ----------
        {new_X}

        Returns
        -------
        float
            On the rows it was fitted on (without weights), ``criteria_["bic"]``, unless a path
            lowered the level of the noise for predictions.
        """
        return self._criteria_on(X)["bic"]

    def _criteria_on(self, X: Any) -> dict[str, float]:
        densities = self.score_samples(X)
        return criteria(
            float(densities.sum()), self.n_parameters_, len(densities), self.n_features_in_
        )

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Any, NDArray[np.intp]]:
        """Draw rows from the fitted mixture.

        Parameters
        ----------
        n_samples : int, default=1
            How many.
        random_state : int, RandomState, Generator or None, default=None
            Seeds the draws.

        Returns
        -------
        X : ndarray of shape (n_samples, d), or a dictionary of them by view
            Unit rows, component after component.
        labels : ndarray of shape (n_samples,)
            Their components; -1 for noise, which is drawn uniformly, and comes last.
        """
        check_is_fitted(self)
        rng = np.random.default_rng(check.draw_seeds(random_state, 1)[0])
        if len(getattr(self, "views_in_", ())) > 1:
            sizes = rng.multinomial(check.require_integer("n_samples", n_samples, 1), self.weights_)
            each = {
                name: _drawn(view.prototypes_, view.kappas_, sizes, rng)
                for name, view in self.views_.items()
            }
            return each, np.repeat(np.arange(len(sizes)), sizes)
        shares, kappas, numbers = self.weights_, self.kappas_, np.arange(len(self.weights_))
        prototypes = self.prototypes_
        if self.model_.noise is not None:
            shares, kappas = np.append(shares, self.noise_weight_), np.append(kappas, 0.0)
            prototypes, numbers = np.vstack([prototypes, prototypes[0]]), np.append(numbers, -1)
        sizes = rng.multinomial(check.require_integer("n_samples", n_samples, 1), shares)
        return _drawn(prototypes, kappas, sizes, rng), np.repeat(numbers, sizes)


def _drawn(
    prototypes: Array, kappas: Array, sizes: NDArray[np.intp], rng: np.random.Generator
) -> Array:
    """Draw so many rows from each component, one component after another."""
    rows = [
        VonMisesFisher(mu, float(kappa)).rvs(int(size), random_state=rng)
        for mu, kappa, size in zip(prototypes, kappas, sizes, strict=True)
        if size
    ]
    return np.concatenate(rows)


class SelectedMixture(MixturePredictions):
    """Predictions by ``best_estimator_``, the mixture that was chosen."""

    best_estimator_: VMFMixture

    @property
    def scorer_(self) -> Scorer:
        """What engines read rows with: that of the chosen mixture."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.scorer_

    @property
    def labels_(self) -> NDArray[np.intp]:
        """Most probable component of each row, in the chosen mixture; -1 for noise."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.labels_

    @property
    def n_noise_(self) -> int:
        """Rows of the fit that belong to no component, in the chosen mixture."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.n_noise_

    @property
    def n_iter_(self) -> int:
        """EM iterations that led to the chosen mixture from where it was started."""
        return self.best_estimator_.n_iter_

    def _shared(self, kind: type) -> dict[str, Any]:
        """Return the parameters that another estimator has too."""
        names = kind().get_params()
        return {name: v for name, v in self.get_params(deep=False).items() if name in names}
