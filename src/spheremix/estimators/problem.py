"""What a fit works on: open rows, weights and a model for their dimension; and why it may fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

import numpy as np
from sklearn.exceptions import ConvergenceWarning as SklearnConvergenceWarning

from spheremix.bessel import concentration, log_normalizer
from spheremix.distribution import MEAN_LENGTH_MAX
from spheremix.errors import Explained, NotedWarning, ParameterError
from spheremix.estimators import validation as check
from spheremix.estimators.views import build_views_model, for_one_view
from spheremix.models.vmf import Noise, VMFModel
from spheremix.penalties import L1

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix import em
    from spheremix.data.base import Directions
    from spheremix.estimators.options import MixtureOptions
    from spheremix.models.maximise import Kappa

    Array = NDArray[np.float64]

    class AnyRun(Protocol):
        """A run of any model."""

        @property
        def status(self) -> str:
            """How it ended."""
            ...


M = TypeVar("M")


class ConvergenceWarning(NotedWarning, SklearnConvergenceWarning):
    """A fit has not reached a maximum; filters of scikit-learn's class of this name see it too."""


class NoFitError(Explained, RuntimeError):
    """Every run of EM failed, so there is no model."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem(Generic[M]):
    """All that a fit works on, checked."""

    model: M
    settings: em.Settings
    directions: Directions
    weights: Array | None
    n_components: int
    columns: dict[str, Any]  # n_features_in_, feature_names_in_ or views_in_ where there are names

    @property
    def n_features(self) -> int:
        """Columns of X: of all views, where there are several."""
        return int(self.columns["n_features_in_"])

    @property
    def row_weights(self) -> Array:
        """A weight for each row, ones where none are given."""
        return np.ones(self.directions.n_rows) if self.weights is None else self.weights


def build_problem(options: MixtureOptions, X: Any, sample_weight: Any) -> Problem[VMFModel]:
    """Open and check the data, and make the model for its dimension."""
    directions, columns = check.open_data(X, options.engine, options.n_threads)
    model = model_for(options, directions, columns)
    weights = check.check_weights(sample_weight, directions.n_rows)
    check.require_rows(options.n_components, directions, weights)
    check.warn_of_shares(weights)
    return Problem(model, options.settings, directions, weights, options.n_components, columns)


def model_for(options: MixtureOptions, directions: Directions, columns: dict[str, Any]) -> VMFModel:
    """Make the model for the rows: of one view, or of several."""
    views = getattr(directions, "views", None)
    if views is not None:
        for name, n in zip(views.names, getattr(directions, "n_present", ()), strict=False):
            if n == 0:
                raise ValueError(f"View {name!r} of X has zeros only: leave it out.")
        found = build_views_model(options, views, directions.n_threads, build_model)
        return cast(
            "VMFModel", found
        )  # which does all that estimators ask of the model of one view
    options = for_one_view(options, columns.get("views_in_"))
    return build_model(options, directions.n_features, directions.n_threads)


def build_model(options: MixtureOptions, n_features: int, n_threads: int) -> VMFModel:
    """Make the model for the dimension of the data; checks what depends on it."""
    if options.zero_tol >= n_features**-0.5:
        raise ParameterError(
            "{zero_tol} must be below 1 / sqrt({d}), or nothing could be left of a prototype; "
            "got {got}",
            d=n_features,
            got=repr(options.zero_tol),
        )
    if isinstance(options.kappa_max, str):
        check.require_choice("kappa_max", options.kappa_max, ("auto",))
        kappa_max = float(concentration(n_features, MEAN_LENGTH_MAX))
    else:
        kappa_max = check.require_number("kappa_max", options.kappa_max, above=0.0)
    weights = options.feature_weights
    if weights is not None:
        weights = check.require_vector("feature_weights", weights, n_features, "feature")
    return VMFModel(
        n_features,
        cast("Kappa", options.kappa),
        L1(options.beta, weights),
        kappa_max,
        options.m_step,
        options.kappa_solver,
        n_threads,
        options.kappa_prior,
        build_noise(options, n_features),
    )


def build_noise(options: MixtureOptions, n_features: int) -> Noise | None:
    """Return the noise that the options ask for, at the level of the uniform distribution."""
    if options.noise is None:
        return None
    level = float(log_normalizer(n_features, 0.0))
    most = options.max_noise
    return Noise(level, most) if isinstance(most, float) else Noise(level)


def is_capped(model: Any, parameters: Any) -> bool:
    """Return whether an estimated concentration is at its cap."""
    if hasattr(model, "is_capped"):
        return bool(model.is_capped(parameters))
    return model.kappa_mode != "given" and bool(np.any(parameters.kappas >= model.kappa_max))


def is_runaway(model: Any, parameters: Any) -> bool:
    """Return whether a free concentration is at its cap, so that the likelihood has no meaning.

    With free concentrations a component of one or two rows has no largest likelihood: what a run
    with such a component reaches is a matter of the cap.
    """
    return getattr(model, "kappa_mode", None) == "free" and is_capped(model, parameters)
