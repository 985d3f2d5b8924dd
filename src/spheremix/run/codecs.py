"""Fitted mixtures as arrays and a description, and back: the same bits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.data.threads import resolve_threads
from spheremix.em import Fit
from spheremix.estimators.fitted import FitSummary, FittedMixture
from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.problem import build_model
from spheremix.models.vmf import VMFParameters
from spheremix.resultants import Resultants
from spheremix.run.schema import FitRecord, MixtureRecord, PathRecord
from spheremix.run.store import RunError
from spheremix.run.typed import FileName
from spheremix.select import CRITERIA

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from spheremix.models.vmf import VMFModel
    from spheremix.run.store import Reader
    from spheremix.run.writer import Writer

    Array = NDArray[np.float64]

# What belongs to the machine or to the session, and not to the solution.
UNSTORED = {"callback", "n_threads", "verbose", "warm_start"}
UNIT = 1e-6  # how far from one lengths and sums may be


# Parameters of estimators


def pack_params(estimator: Any, writer: Writer, prefix: str) -> dict[str, Any]:
    """Describe the parameters of an estimator; arrays among them are written."""
    packed: dict[str, Any] = {}
    for name, value in estimator.get_params(deep=False).items():
        if name in UNSTORED:
            continue
        if name == "random_state" and not isinstance(value, int | np.integer):
            packed[name] = None
        elif value is None or isinstance(value, bool | int | float | str):
            packed[name] = value
        elif isinstance(value, np.generic):
            packed[name] = value.item()
        elif hasattr(value, "prototypes_"):
            packed[name] = {"dense": len(value.prototypes_)}
        else:
            packed[name] = {"array": writer.array(f"{prefix}/{name}.npy", value)}
    return packed


def unpack_params(
    kind: type, params: dict[str, Any], reader: Reader, dense: Mapping[int, VMFMixture]
) -> Any:
    """Make the estimator again; a start from a dense mixture is one from that of the run."""
    known = kind().get_params()
    values: dict[str, Any] = {}
    for name, value in params.items():
        if name not in known or name in UNSTORED:
            raise RunError(f"{reader.folder}: {name[:60]!r} is no parameter of {kind.__name__}.")
        if isinstance(value, dict) and "array" in value:
            values[name] = _any_array(reader, value["array"])
        elif isinstance(value, dict):
            values[name] = dense.get(value.get("dense", -1), "random")
        elif value is None or isinstance(value, bool | int | float | str):
            values[name] = value
        else:
            raise RunError(f"{reader.folder}: damaged: {name!r} is not what it should be.")
    return kind(**values)


def _any_array(reader: Reader, name: Any) -> NDArray[Any]:
    entry = reader.entries.get(name) if isinstance(name, str) else None
    shape = entry.get("shape") if isinstance(entry, dict) else None
    return reader.array(name, (None,) * (len(shape) if isinstance(shape, list) else 1), "fiu")


# Mixtures


def pack_mixture(mixture: VMFMixture, writer: Writer, prefix: str) -> MixtureRecord:
    """Write a fitted mixture; give its description."""

    def written(name: str, values: Any) -> FileName:
        return FileName(writer.array(f"{prefix}/{name}.npy", values))

    labels = getattr(mixture, "labels_", None)
    return MixtureRecord(
        params=pack_params(mixture, writer, prefix),
        prototypes=written("prototypes", mixture.prototypes_),
        kappas=written("kappas", mixture.kappas_),
        weights=written("weights", mixture.weights_),
        labels=None if labels is None else written("labels", labels.astype(np.int64)),
        n_components=len(mixture.prototypes_),
        n_features=int(mixture.n_features_in_),
        log_likelihood=float(mixture.log_likelihood_),
        objective=float(mixture.objective_),
        stationarity_gap=float(mixture.stationarity_gap_),
        kkt_residual=float(mixture.kkt_residual_),
        kappa_max=float(mixture.kappa_max_),
        noise_level=level_of(mixture.model_),
        status=mixture.status_,
        n_iter=int(mixture.n_iter_),
        criteria={name: float(value) for name, value in mixture.criteria_.items()},
        runs=mixture.runs_,
        agreement=float(mixture.agreement_),
    )


def unpack_mixture(
    record: MixtureRecord, reader: Reader, dense: Mapping[int, VMFMixture] | None = None
) -> VMFMixture:
    """Read a fitted mixture."""
    K, d = record.n_components, record.n_features
    mixture: VMFMixture = unpack_params(VMFMixture, record.params, reader, dense or {})
    FittedMixture(
        model_of(mixture, record, d, reader),
        check_prototypes(reader, record.prototypes, (K, d)),
        check_positive(reader, record.kappas, (K,)),
        check_weights(reader, record.weights, (K,), noise=record.noise_level is not None),
        {"n_features_in_": d},
        FitSummary(
            status=record.status,
            n_iter=record.n_iter,
            objective=record.objective,
            stationarity_gap=record.stationarity_gap,
            kkt_residual=record.kkt_residual,
            log_likelihood=record.log_likelihood,
            # A run that was saved before a criterion existed does not have its value.
            criteria={name: record.criteria.get(name, np.nan) for name in CRITERIA},
            runs=record.runs,
            agreement=record.agreement,
        ),
        None
        if record.labels is None
        else check_labels(reader, record.labels, K, noise=record.noise_level is not None),
    ).set_on(mixture)
    return mixture


def level_of(model: VMFModel) -> float | None:
    """Return the level of the noise of a model."""
    return None if model.noise is None else float(model.noise.level)


def model_of(
    estimator: Any, record: MixtureRecord | PathRecord, n_features: int, reader: Reader
) -> VMFModel:
    """Return the model that an estimator's parameters stand for, with what was in force."""
    try:
        options = MixtureOptions.of(estimator)
        if isinstance(record, PathRecord):
            options = options.along_path()
        model = build_model(options, n_features, resolve_threads(None))
    except ValueError as error:
        raise RunError(f"{reader.folder}: damaged: {error}") from None
    if (model.noise is None) != (record.noise_level is None):
        raise RunError(f"{reader.folder}: damaged: noise without a level, or a level without.")
    if model.noise is not None and record.noise_level is not None:
        model = replace(model, noise=replace(model.noise, level=record.noise_level))
    return replace(model, kappa_max=record.kappa_max)


# Fits: where a path can go on


def pack_fit(fit: Fit[VMFParameters], writer: Writer, prefix: str) -> FitRecord:
    """Write parameters together with their resultants, to go on from them with the same bits."""

    def written(name: str, values: Any) -> FileName:
        return FileName(writer.array(f"{prefix}/{name}.npy", values))

    parameters, resultants = fit.parameters, fit.resultants
    return FitRecord(
        prototypes=written("prototypes", parameters.prototypes),
        kappas=written("kappas", parameters.kappas),
        weights=written("weights", parameters.weights),
        log_normalizers=written("log_normalizers", parameters.log_normalizers),
        mass=written("mass", resultants.mass),
        vectors=written("vectors", resultants.vectors),
        n_components=len(parameters.kappas),
        n_noise=len(resultants.mass) - len(parameters.kappas),
        n_features=int(parameters.prototypes.shape[1]),
        norm=float(parameters.norm),
        log_likelihood=float(resultants.log_likelihood),
        entropy=float(resultants.entropy),
        weight=float(resultants.weight),
        objective=float(fit.objective),
        gap=float(fit.gap),
        status=fit.status,
        n_iter=int(fit.n_iter),
    )


def unpack_fit(record: FitRecord, reader: Reader) -> Fit[VMFParameters]:
    """Read a fit; of its trace, the end."""
    K, d, all_of_them = record.n_components, record.n_features, record.n_components + record.n_noise
    parameters = VMFParameters(
        check_prototypes(reader, record.prototypes, (K, d)),
        check_positive(reader, record.kappas, (K,)),
        check_weights(reader, record.weights, (K,), noise=record.n_noise > 0),
        reader.array(record.log_normalizers, (K,)),
        record.norm,
    )
    resultants = Resultants(
        reader.array(record.mass, (all_of_them,)),
        reader.array(record.vectors, (all_of_them, d)),
        record.log_likelihood,
        record.entropy,
        record.weight,
    )
    return Fit(
        parameters,
        resultants,
        record.objective,
        record.gap,
        record.status,
        record.n_iter,
        trace=[record.objective],
    )


# Checks


def check_prototypes(reader: Reader, name: str, shape: tuple[int, int]) -> Array:
    """Read unit rows."""
    prototypes = reader.array(name, shape)
    if np.abs(np.linalg.norm(prototypes, axis=1) - 1.0).max() > UNIT:
        raise RunError(f"{reader.folder / name}: damaged: prototypes are not of length one.")
    return prototypes


def check_positive(reader: Reader, name: str, shape: tuple[int, ...]) -> Array:
    """Read values above zero."""
    values = reader.array(name, shape)
    if values.size and values.min() <= 0.0:
        raise RunError(f"{reader.folder / name}: damaged: values must be above zero.")
    return values


def check_weights(
    reader: Reader, name: str, shape: tuple[int, ...], *, noise: bool = False
) -> Array:
    """Read positive rows that sum to one, or to less where there is noise."""
    weights = check_positive(reader, name, shape)
    beyond = weights.sum(axis=-1) - 1.0
    if (beyond.max() if noise else np.abs(beyond).max()) > UNIT:
        raise RunError(f"{reader.folder / name}: damaged: weights do not sum to one.")
    return weights


def check_labels(
    reader: Reader, name: str, n_components: int, *, noise: bool = False
) -> NDArray[np.intp]:
    """Read numbers of components, -1 for noise."""
    labels = reader.array(name, (None,), "i").astype(np.intp)
    least = -1 if noise else 0
    if labels.size and not (labels.min() >= least and labels.max() < n_components):
        raise RunError(
            f"{reader.folder / name}: damaged: labels out of {least}..{n_components - 1}."
        )
    return labels
