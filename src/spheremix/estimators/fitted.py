"""The one place that sets fitted attributes: after fits, batches, paths, selections and loading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spheremix.models.vmf import count_distinct
from spheremix.select import count_parameters, criteria

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from spheremix.em import Fit
    from spheremix.estimators.problem import Problem
    from spheremix.estimators.restarts import Restart
    from spheremix.models.vmf import VMFModel, VMFParameters

    Array = NDArray[np.float64]
    Labels = NDArray[np.intp]

COLUMNS = ("n_features_in_", "feature_names_in_", "views_in_")


def set_fitted(estimator: BaseEstimator, attributes: dict[str, Any]) -> None:
    """Set fitted attributes; those that an earlier fit has left are removed."""
    known = vars(estimator)
    for name in [name for name in known if name.endswith("_") and not name.startswith("_")]:
        del known[name]
    known.update(attributes)


def columns_of(estimator: BaseEstimator) -> dict[str, Any]:
    """Return what a fitted estimator remembers of its columns: their number, and names if any."""
    return {name: vars(estimator)[name] for name in COLUMNS if name in vars(estimator)}


def add_fitted(estimator: BaseEstimator, attributes: dict[str, Any]) -> None:
    """Set fitted attributes beside those that are there."""
    vars(estimator).update(attributes)


def count_of(model: VMFModel, prototypes: Array) -> int:
    """Count the free parameters of a mixture: weights once, and what each view has."""
    parts = [
        count_parameters(prototypes[:, columns], mode)
        for columns, mode in zip(model.columns, model.kappa_modes, strict=True)
    ]
    return sum(parts) - (len(parts) - 1) * (len(prototypes) - 1) + model.n_noise


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
                count_of(model, reached.prototypes),
                soft.weight,
                problem.n_features,
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

    def set_on(self, mixture: BaseEstimator) -> None:
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
