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
from spheremix.data.open import as_directions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.data.base import Directions

    Array = NDArray[np.float64]

# Given concentrations, and the sum of the weights: products of them are squared in an M-step, and
# beyond these bounds the squares leave the range of float64.
LEAST, LARGEST = 1e-50, 1e50


def require_integer(name: str, value: Any, least: int) -> int:
    """Give an integer of at least ``least``, or an error that names the parameter."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}.")
    return int(value)


def require_number(name: str, value: Any, *, above: float | None = None) -> float:
    """Give a finite number, at least 0 or strictly above a bound, or a named error."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not np.isfinite(value) or (value < 0 if above is None else value <= above):
        wanted = "at least 0" if above is None else f"above {above:g}"
        raise ValueError(f"{name} must be a finite number {wanted}, got {value!r}.")
    return float(value)


def require_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Give one of the choices, or an error that lists them."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, got {value!r}.")
    return value


def require_vector(name: str, value: Any, length: int, what: str) -> Array:
    """Give a finite, non-negative vector of the right length, or a named error."""
    try:
        vector = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, one a {what}; got {value!r}.") from None
    if vector.shape != (length,):
        raise ValueError(
            f"{name} must have one value a {what}: expected shape ({length},), got {vector.shape}."
        )
    bad = np.flatnonzero(~((vector >= 0.0) & (vector < np.inf)))
    if bad.size:
        raise ValueError(
            f"{name} must be finite and non-negative: {what} {bad[0]} has {vector[bad[0]]}."
        )
    return vector


def require_flag(name: str, value: Any) -> bool:
    """Give True or False, or a named error: most strings would pass for True."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def require_kappa(kappa: Any, n_components: int) -> Any:
    """Give "shared", "free", a positive number or one a component."""
    if isinstance(kappa, str):
        return require_choice("kappa", kappa, ("shared", "free"))
    given = require_concentrations("kappa", kappa, n_components)
    extreme = [float(value) for value in np.atleast_1d(given) if not LEAST <= value <= LARGEST]
    if extreme:
        raise ValueError(
            f"kappa must be between {LEAST:g} and {LARGEST:g}, got {extreme[0]:g}. Give 1e-10 for "
            "a component that is practically uniform, or 'shared' to have kappa estimated."
        )
    return given


def require_concentrations(name: str, kappa: Any, n_components: int) -> Any:
    """Give a positive number, or one a component, or a named error."""
    if np.ndim(kappa) == 0:
        value = kappa.item() if isinstance(kappa, np.ndarray) else kappa
        return require_number(name, value, above=0.0)
    values = require_vector(name, kappa, n_components, "component")
    if not values.all():
        raise ValueError(f"{name} must be above 0: a component of kappa 0 has no prototype.")
    return values


def open_data(estimator: Any, X: Any) -> tuple[Directions, dict[str, Any]]:
    """Open X with the estimator's engine and threads.

    Also gives what scikit-learn remembers of the columns, for the end of the fit: an estimator
    whose fit fails is left as it was.
    """
    directions = as_directions(X, engine=estimator.engine, n_threads=estimator.n_threads)
    if directions is X or is_source(X):
        return directions, {"n_features_in_": directions.n_features}
    witness = BaseEstimator()
    validate_data(witness, X, skip_check_array=True)
    return directions, vars(witness)


def remember_columns(estimator: Any, columns: dict[str, Any]) -> None:
    """Set the number of columns of a fit, and their names where they have some."""
    vars(estimator).pop("feature_names_in_", None)
    vars(estimator).update(columns)


def open_again(estimator: Any, X: Any) -> Directions:
    """Open X for a fitted estimator, if its columns are those of the fit."""
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
    """Give the weights as a vector, or None where every row counts once."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Real):
        sample_weight = np.full(n_rows, float(cast("float", sample_weight)))
    weights = require_vector("sample_weight", sample_weight, n_rows, "row")
    if not weights.any():
        raise ValueError("sample_weight is zero for every row: nothing is left to fit.")
    total = weights.sum()
    if not LEAST <= total <= LARGEST:
        raise ValueError(
            f"sample_weight sums to {total:.3g}, and sums between {LEAST:g} and {LARGEST:g} can be "
            "fitted: divide the weights by their mean, so that they sum to the number of rows."
        )
    return weights


def weighted_mean(values: Array, sample_weight: Any) -> float:
    """Give the mean of one value a row."""
    return float(np.average(values, weights=check_weights(sample_weight, len(values))))


def warn_of_shares(weights: Array | None) -> None:
    """Warn of weights that look like shares of the rows: criteria take their sum for n."""
    if weights is not None and weights.sum() < 2.0 < np.count_nonzero(weights):
        warnings.warn(
            f"sample_weight sums to {weights.sum():.3g}, which is taken for the number of rows: "
            "multiply shares by it.",
            stacklevel=4,
        )


def require_rows(n_components: int, directions: Directions, weights: Array | None) -> None:
    """Refuse more components than rows that count."""
    n = directions.n_rows if weights is None else int(np.count_nonzero(weights))
    if n_components > n:
        positive = "" if weights is None else " of positive weight"
        raise ValueError(
            f"n_components={n_components} is more than the n_samples={n} rows{positive}: "
            f"lower n_components to at most {n}."
        )


def draw_seeds(random_state: Any, n: int) -> list[int]:
    """Give one seed a run, the first ones the same whatever their number."""
    if isinstance(random_state, np.random.Generator):
        return [int(seed) for seed in random_state.integers(2**31, size=n)]
    return [int(seed) for seed in check_random_state(random_state).randint(2**31 - 1, size=n)]
