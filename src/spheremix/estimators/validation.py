"""What every estimator checks before it fits: parameters, data, weights, seeds."""

from __future__ import annotations

import numbers
import warnings
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from spheremix.data.block_sources import is_source
from spheremix.data.containers import as_table, is_views
from spheremix.data.open import as_directions
from spheremix.errors import NotedWarning, ParameterError
from spheremix.parameters import (
    require_choice,
    require_criterion,
    require_flag,
    require_integer,
    require_number,
    require_vector,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.data.base import Directions

    Array = NDArray[np.float64]

__all__ = [
    "check_weights",
    "draw_seeds",
    "open_again",
    "open_data",
    "refuse_views",
    "require_choice",
    "require_concentrations",
    "require_criterion",
    "require_flag",
    "require_integer",
    "require_kappa",
    "require_number",
    "require_rows",
    "require_vector",
    "warn_of_shares",
    "weighted_mean",
]
# Given concentrations, and the sum of the weights: products of them are squared in an M-step, and
# beyond these bounds the squares leave the range of float64.
LEAST, LARGEST = 1e-50, 1e50


def require_kappa(kappa: Any, n_components: int) -> Any:
    """Return "shared", "free", a positive number, or one for each component."""
    if isinstance(kappa, str):
        return require_choice("kappa", kappa, ("shared", "free"))
    given = require_concentrations("kappa", kappa, n_components)
    extreme = [float(value) for value in np.atleast_1d(given) if not LEAST <= value <= LARGEST]
    if extreme:
        raise ParameterError(
            "{kappa} must be between {least} and {largest}, got {got}",
            remedies=(
                "give 1e-10 for a component that is practically uniform",
                "give 'shared' to have it estimated",
            ),
            least=f"{LEAST:g}",
            largest=f"{LARGEST:g}",
            got=f"{extreme[0]:g}",
        )
    return given


def require_concentrations(name: str, kappa: Any, n_components: int) -> Any:
    """Return a positive number, or one for each component."""
    if np.ndim(kappa) == 0:
        value = kappa.item() if isinstance(kappa, np.ndarray) else kappa
        return require_number(name, value, above=0.0)
    values = require_vector(name, kappa, n_components, "component")
    if not values.all():
        raise ParameterError(f"{{{name}}} must be above 0: a component of kappa 0 has no prototype")
    return values


def open_data(X: Any, engine: Any, n_threads: Any) -> tuple[Directions, dict[str, Any]]:
    """Open X.

    Also returns what scikit-learn remembers of the columns, for the end of the fit: an estimator
    whose fit fails is left as it was.
    """
    X = as_table(X)
    directions = as_directions(X, engine=engine, n_threads=n_threads)
    if is_views(X) or hasattr(directions, "views"):
        sizes = _sizes_of_views(directions, X)
        return directions, {"n_features_in_": sum(sizes.values()), "views_in_": sizes}
    if directions is X or is_source(X):
        return directions, {"n_features_in_": directions.n_features}
    witness = BaseEstimator()
    validate_data(witness, X, skip_check_array=True)
    return directions, vars(witness)


def refuse_views(X: Any, estimator: str) -> None:
    """Say that an estimator is for one table of rows."""
    if (is_views(X) and len(X) > 1) or hasattr(X, "views"):
        raise ValueError(
            f"{estimator} takes one table of rows, and X has several views: use VMFMixture, or one "
            "of the views."
        )


def _sizes_of_views(directions: Directions, X: Any) -> dict[str, int]:
    """Return how many columns each view has, by name."""
    views = getattr(directions, "views", None)
    if views is not None:
        return dict(zip(views.names, views.sizes, strict=True))
    (name,) = X
    return {name: directions.n_features}


def _open_views_again(estimator: Any, X: Any, views_in: dict[str, int]) -> Directions:
    """Open the views of a fit again, in their order."""
    names = X.views.names if hasattr(X, "views") else tuple(X) if is_views(X) else ()
    if set(names) != set(views_in):
        wanted = ", ".join(map(repr, views_in))
        got = ", ".join(map(repr, names)) if names else "one table of rows"
        raise ValueError(
            f"{type(estimator).__name__} was fitted to the views {wanted}, and X has {got}. Give a "
            "dictionary of these views; zeros stand for a view that a row does not have."
        )
    if is_views(X):
        X = {name: X[name] for name in views_in}
    directions = as_directions(X, engine=estimator.engine, n_threads=estimator.n_threads)
    sizes = _sizes_of_views(directions, X)
    for name, size in views_in.items():
        if sizes[name] != size:
            raise ValueError(
                f"View {name!r} of X has {sizes[name]} features, but {type(estimator).__name__} is "
                f"expecting {size} features as input."
            )
    return directions


def open_again(estimator: Any, X: Any) -> Directions:
    """Open X for a fitted estimator, if its columns are those of the fit."""
    X = as_table(X)
    views_in = getattr(estimator, "views_in_", None)
    if views_in is not None and (len(views_in) > 1 or is_views(X)):
        return _open_views_again(estimator, X, views_in)
    if is_views(X) or hasattr(X, "views"):
        raise ValueError(
            f"{type(estimator).__name__} was fitted to one table of rows, and X has views by name: "
            "give the table."
        )
    tabular = len(getattr(X, "shape", ())) == 2
    if tabular:  # another number of columns is the first thing to say
        validate_data(estimator, X, reset=False, skip_check_array=True)
    directions = as_directions(X, engine=estimator.engine, n_threads=estimator.n_threads)
    if directions is not X and not tabular and not is_source(X):
        validate_data(estimator, X, reset=False, skip_check_array=True)
    if directions.n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {directions.n_features} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    return directions


def check_weights(sample_weight: Any, n_rows: int) -> Array | None:
    """Return the weights as a vector, or None where every row counts once."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Real):
        sample_weight = np.full(n_rows, float(cast("float", sample_weight)))
    weights = require_vector("sample_weight", sample_weight, n_rows, "row")
    if not weights.any():
        raise ParameterError("{sample_weight} is zero for every row: nothing is left to fit")
    total = weights.sum()
    if not LEAST <= total <= LARGEST:
        raise ParameterError(
            "{sample_weight} sums to {total}, and sums between {least} and {largest} can be fitted",
            remedies=("divide the weights by their mean, so that they sum to the number of rows",),
            total=f"{total:.3g}",
            least=f"{LEAST:g}",
            largest=f"{LARGEST:g}",
        )
    return weights


def weighted_mean(values: Array, sample_weight: Any) -> float:
    """Return the mean of the values of the rows."""
    return float(np.average(values, weights=check_weights(sample_weight, len(values))))


def warn_of_shares(weights: Array | None) -> None:
    """Warn of weights that look like shares of the rows: criteria take their sum for n."""
    if weights is not None and weights.sum() < 2.0 < np.count_nonzero(weights):
        warnings.warn(
            NotedWarning(
                "{sample_weight} sums to {total}, which is taken for the number of rows",
                remedies=("multiply weights that are shares by the number of rows",),
                total=f"{weights.sum():.3g}",
            ),
            stacklevel=4,
        )


def require_rows(n_components: int, directions: Directions, weights: Array | None) -> None:
    """Refuse more components than rows that count."""
    n = directions.n_rows if weights is None else int(np.count_nonzero(weights))
    if n_components > n:
        raise ParameterError(
            f"{{n_components={n_components}}} is more than the n_samples={{n}} rows{{positive}}",
            remedies=("lower {n_components} to at most {n}",),
            n=n,
            positive="" if weights is None else " of positive weight",
        )


def draw_seeds(random_state: Any, n: int) -> list[int]:
    """Return one seed for each run; the first ones are the same whatever their number."""
    if isinstance(random_state, np.random.Generator):
        return [int(seed) for seed in random_state.integers(2**31, size=n)]
    return [int(seed) for seed in check_random_state(random_state).randint(2**31 - 1, size=n)]
