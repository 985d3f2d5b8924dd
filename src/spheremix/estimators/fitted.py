"""The one place that sets fitted attributes: after fits, batches, paths, selections and loading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.models.vmf import count_distinct
from spheremix.path import exit_betas
from spheremix.select import count_from_sizes, count_parameters, criteria

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from spheremix.em import Fit
    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.path import VMFPath
    from spheremix.estimators.problem import Problem, Restart
    from spheremix.models.vmf import VMFModel, VMFParameters
    from spheremix.path import PathPoint, PathState

    Array = NDArray[np.float64]
    Labels = NDArray[np.intp]

COLUMNS = ("n_features_in_", "feature_names_in_")


def set_fitted(estimator: BaseEstimator, attributes: dict[str, Any]) -> None:
    """Set fitted attributes; those that an earlier fit has left are removed."""
    known = vars(estimator)
    for name in [name for name in known if name.endswith("_") and not name.startswith("_")]:
        del known[name]
    known.update(attributes)


def columns_of(estimator: BaseEstimator) -> dict[str, Any]:
    """Return what a fitted estimator remembers of its columns: their number, and names if any."""
    return {name: vars(estimator)[name] for name in COLUMNS if name in vars(estimator)}


def set_columns(estimator: BaseEstimator, columns: dict[str, Any]) -> None:
    """Tell an estimator that was fitted to open rows what they knew of their columns."""
    vars(estimator).update(columns)


# Mixtures


@dataclass(frozen=True, slots=True, eq=False)
class FitSummary:
    """How a mixture was fitted to rows, and how well it suits them: attributes of VMFMixture."""

    status: str
    n_iter: int
    objective: float
    stationarity_gap: float
    kkt_residual: float
    log_likelihood: float
    criteria: dict[str, float]
    runs: list[Restart]
    agreement: float


@dataclass(frozen=True, slots=True, eq=False)
class FittedMixture:
    """All that a fitted VMFMixture knows, wherever it comes from.

    Attributes
    ----------
    model : VMFModel
        In force.
    prototypes, kappas, weights : ndarray of shape (K, d), (K,) and (K,)
        The parameters.
    columns : dict
        ``n_features_in_``, and ``feature_names_in_`` where the columns have names.
    summary : FitSummary or None
        None for parameters that were not fitted to rows, or to other rows since.
    labels : ndarray of shape (n,) or None
        None where the rows are not at hand.
    n_iter : int or None
        EM iterations, those of ``partial_fit`` included; None for those of the summary.
    n_samples_seen : int or None
        Rows of the fit and of the batches since; None where ``partial_fit`` cannot go on.
    """

    model: VMFModel
    prototypes: Array
    kappas: Array
    weights: Array
    columns: dict[str, Any]
    summary: FitSummary | None = None
    labels: Labels | None = None
    n_iter: int | None = None
    n_samples_seen: int | None = None

    @classmethod
    def of_fit(
        cls,
        problem: Problem[VMFModel],
        best: Fit[VMFParameters],
        runs: list[Restart],
        agreement: float,
        labels: Labels | None = None,
    ) -> FittedMixture:
        """Describe a mixture by the rows that it was fitted to.

        ``labels``, where they are not those of the most probable components.
        """
        model, directions, reached = problem.model, problem.directions, best.parameters
        scorer = model.scorer(model.parameters(reached.prototypes, reached.kappas, reached.weights))
        soft = best.resultants
        if problem.settings.e_step == "hard":  # its sweep gives the completed likelihood
            (soft,) = directions.sweep([scorer], problem.weights)
        summary = FitSummary(
            status=best.status,
            n_iter=best.n_iter,
            objective=best.objective,
            stationarity_gap=best.gap,
            kkt_residual=model.kkt_residual(best.resultants, reached),
            log_likelihood=soft.log_likelihood,
            criteria=criteria(
                soft.log_likelihood,
                count_parameters(reached.prototypes, model.kappa_mode) + model.n_noise,
                soft.weight,
                directions.n_features,
                soft.entropy,
            ),
            runs=runs,
            agreement=agreement,
        )
        return cls(
            model,
            reached.prototypes,
            reached.kappas,
            reached.weights,
            problem.columns,
            summary,
            scorer.clusters_of(directions.map_rows(scorer, "labels")) if labels is None else labels,
        )

    def set_on(self, mixture: VMFMixture) -> None:
        """Set the fitted attributes of an estimator."""
        found: dict[str, Any] = {
            "model_": self.model,
            "kappa_max_": self.model.kappa_max,
            "prototypes_": self.prototypes,
            "kappas_": self.kappas,
            "weights_": self.weights,
            "n_distinct_prototypes_": count_distinct(self.prototypes),
            **self.columns,
        }
        if self.summary is not None:
            names = self.summary.__dataclass_fields__
            found |= {f"{name}_": getattr(self.summary, name) for name in names}
        for name in ("labels", "n_iter", "n_samples_seen"):
            if getattr(self, name) is not None:
                found[f"{name}_"] = getattr(self, name)
        set_fitted(mixture, found)


# Paths


def set_start_of_path(path: VMFPath, state: PathState) -> None:
    """Set where a fit with ``warm_start`` goes on."""
    set_fitted(path, {"state_": state})


def criteria_of(points: Sequence[PathPoint], model: VMFModel) -> dict[str, Array]:
    """Return the criteria of points of a path."""
    return criteria(
        np.array([point.log_likelihood for point in points]),
        count_from_sizes(np.array([point.support_sizes for point in points]), model.kappa_mode)
        + model.n_noise,
        points[0].weight,
        points[0].n_features,
        np.array([point.entropy for point in points]),
    )


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
    ``label`` gives the labels of the mixture that is chosen, beside the dense one, and the level of
    the noise in predictions where it is not that of the fits.
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
    path.selected_ = path.select(path.criterion)
    state.noise_level = None
    state.noise_level, labels = label(path.model(path.selected_), path.model(0))
    path.best_estimator_ = path.model(path.selected_)
    path.best_estimator_.labels_ = labels
