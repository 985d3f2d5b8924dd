"""Fitted mixtures as arrays and a description, and back: the same bits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.data.threads import resolve_threads
from spheremix.em import Fit
from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.problem import Restart, build_model
from spheremix.models.vmf import VMFParameters, count_distinct
from spheremix.resultants import Resultants
from spheremix.run.fields import Fields, number
from spheremix.run.store import RunError
from spheremix.select import CRITERIA

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from spheremix.models.vmf import VMFModel
    from spheremix.run.store import Reader, Writer

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
    kind: type, fields: Fields, reader: Reader, dense: Mapping[int, VMFMixture]
) -> Any:
    """Make the estimator again; a start from a dense mixture is one from that of the run."""
    known = kind().get_params()
    values: dict[str, Any] = {}
    for name, value in fields.content.items():
        if name not in known or name in UNSTORED:
            raise RunError(f"{fields.where}: {name[:60]!r} is no parameter of {kind.__name__}.")
        if isinstance(value, dict) and "array" in value:
            values[name] = _any_array(reader, value["array"])
        elif isinstance(value, dict):
            values[name] = dense.get(value.get("dense", -1), "random")
        elif value is None or isinstance(value, bool | int | float | str):
            values[name] = value
        else:
            raise fields.bad(name)
    return kind(**values)


def _any_array(reader: Reader, name: Any) -> NDArray[Any]:
    entry = reader.entries.get(name) if isinstance(name, str) else None
    shape = entry.get("shape") if isinstance(entry, dict) else None
    return reader.array(name, (None,) * (len(shape) if isinstance(shape, list) else 1), "fiu")


# Mixtures


def pack_mixture(mixture: VMFMixture, writer: Writer, prefix: str) -> dict[str, Any]:
    """Write a fitted mixture; give its description."""
    packed = {
        "params": pack_params(mixture, writer, prefix),
        "prototypes": writer.array(f"{prefix}/prototypes.npy", mixture.prototypes_),
        "kappas": writer.array(f"{prefix}/kappas.npy", mixture.kappas_),
        "weights": writer.array(f"{prefix}/weights.npy", mixture.weights_),
        "n_components": len(mixture.prototypes_),
        "n_features": mixture.n_features_in_,
        "log_likelihood": number(mixture.log_likelihood_),
        "objective": number(mixture.objective_),
        "stationarity_gap": number(mixture.stationarity_gap_),
        "kkt_residual": number(mixture.kkt_residual_),
        "kappa_max": number(mixture.kappa_max_),
        "status": mixture.status_,
        "n_iter": int(mixture.n_iter_),
        "criteria": {name: number(value) for name, value in mixture.criteria_.items()},
        "runs": pack_restarts(mixture.runs_),
    }
    if hasattr(mixture, "labels_"):
        packed["labels"] = writer.array(f"{prefix}/labels.npy", mixture.labels_.astype(np.int64))
    return packed


def unpack_mixture(
    fields: Fields, reader: Reader, dense: Mapping[int, VMFMixture] | None = None
) -> VMFMixture:
    """Read a fitted mixture."""
    K, d = fields.integer("n_components", 1), fields.integer("n_features", 2)
    mixture: VMFMixture = unpack_params(VMFMixture, fields.inside("params"), reader, dense or {})
    mixture.prototypes_ = check_prototypes(reader, fields.string("prototypes"), (K, d))
    mixture.kappas_ = check_positive(reader, fields.string("kappas"), (K,))
    mixture.weights_ = check_weights(reader, fields.string("weights"), (K,))
    mixture.log_likelihood_ = fields.real("log_likelihood")
    mixture.objective_ = fields.real("objective")
    mixture.stationarity_gap_ = fields.real("stationarity_gap")
    mixture.kkt_residual_ = fields.real("kkt_residual")
    mixture.status_, mixture.n_iter_ = fields.string("status"), fields.integer("n_iter")
    criteria = fields.inside("criteria")
    mixture.criteria_ = {  # a run saved before there was a criterion does not know it
        name: criteria.real(name) if name in criteria.content else np.nan for name in CRITERIA
    }
    mixture.n_distinct_prototypes_ = count_distinct(mixture.prototypes_)
    mixture.runs_ = unpack_restarts(fields)
    mixture.n_features_in_ = d
    mixture.model_ = model_of(mixture, fields, d)
    mixture.kappa_max_ = mixture.model_.kappa_max
    if "labels" in fields.content:
        mixture.labels_ = check_labels(reader, fields.string("labels"), K)
    return mixture


def model_of(estimator: Any, fields: Fields, n_features: int) -> VMFModel:
    """Give the model that an estimator's parameters stand for, with the cap that was in force."""
    try:
        model = build_model(estimator, n_features, resolve_threads(None))
    except ValueError as error:
        raise RunError(f"{fields.where}: damaged: {error}") from None
    return replace(model, kappa_max=fields.real("kappa_max"))


def pack_restarts(runs: list[Restart]) -> list[dict[str, Any]]:
    """Describe how restarts went."""
    return [
        {
            "seed": run.seed,
            "status": run.status,
            "n_iter": run.n_iter,
            "objective": number(run.objective),
            "stationarity_gap": number(run.stationarity_gap),
            "kappa_capped": run.kappa_capped,
        }
        for run in runs
    ]


def unpack_restarts(fields: Fields) -> list[Restart]:
    """Read how restarts went."""
    runs = []
    for content in fields.listing("runs"):
        run = Fields(content, f"{fields.where}: runs")
        seed = None if content.get("seed") is None else run.integer("seed")
        floats = (run.real("objective"), run.real("stationarity_gap"))
        capped = bool(content.get("kappa_capped"))
        runs.append(Restart(seed, run.string("status"), run.integer("n_iter"), *floats, capped))
    return runs


# Fits: where a path can go on


def pack_fit(fit: Fit[VMFParameters], writer: Writer, prefix: str) -> dict[str, Any]:
    """Write parameters together with their resultants, to go on from them with the same bits."""
    parameters, resultants = fit.parameters, fit.resultants
    arrays = {
        "prototypes": parameters.prototypes,
        "kappas": parameters.kappas,
        "weights": parameters.weights,
        "log_normalizers": parameters.log_normalizers,
        "mass": resultants.mass,
        "vectors": resultants.vectors,
    }
    names = {name: writer.array(f"{prefix}/{name}.npy", array) for name, array in arrays.items()}
    return names | {
        "n_components": len(parameters.kappas),
        "n_features": parameters.prototypes.shape[1],
        "norm": number(parameters.norm),
        "log_likelihood": number(resultants.log_likelihood),
        "entropy": number(resultants.entropy),
        "weight": number(resultants.weight),
        "objective": number(fit.objective),
        "gap": number(fit.gap),
        "status": fit.status,
        "n_iter": fit.n_iter,
    }


def unpack_fit(fields: Fields, reader: Reader) -> Fit[VMFParameters]:
    """Read a fit; of its trace, the end."""
    K, d = fields.integer("n_components", 1), fields.integer("n_features", 2)
    parameters = VMFParameters(
        check_prototypes(reader, fields.string("prototypes"), (K, d)),
        check_positive(reader, fields.string("kappas"), (K,)),
        check_weights(reader, fields.string("weights"), (K,)),
        reader.array(fields.string("log_normalizers"), (K,)),
        fields.real("norm"),
    )
    resultants = Resultants(
        reader.array(fields.string("mass"), (K,)),
        reader.array(fields.string("vectors"), (K, d)),
        fields.real("log_likelihood"),
        fields.real("entropy"),
        fields.real("weight"),
    )
    objective = fields.real("objective")
    status, n_iter = fields.string("status"), fields.integer("n_iter")
    return Fit(
        parameters, resultants, objective, fields.real("gap"), status, n_iter, trace=[objective]
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


def check_weights(reader: Reader, name: str, shape: tuple[int, ...]) -> Array:
    """Read positive rows that sum to one."""
    weights = check_positive(reader, name, shape)
    if np.abs(weights.sum(axis=-1) - 1.0).max() > UNIT:
        raise RunError(f"{reader.folder / name}: damaged: weights do not sum to one.")
    return weights


def check_labels(reader: Reader, name: str, n_components: int) -> NDArray[np.intp]:
    """Read numbers of components."""
    labels = reader.array(name, (None,), "i").astype(np.intp)
    if labels.size and not (labels.min() >= 0 and labels.max() < n_components):
        raise RunError(f"{reader.folder / name}: damaged: labels out of 0..{n_components - 1}.")
    return labels
