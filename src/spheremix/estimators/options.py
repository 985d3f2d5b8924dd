"""Parameters of estimators: the values that they can have, and how they are checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, get_args

import numpy as np
from numpy.typing import NDArray

from spheremix import em
from spheremix.errors import ParameterError
from spheremix.estimators import validation as check
from spheremix.models.profile import FLAT, KappaPrior
from spheremix.parameters import LARGEST_INCREASE
from spheremix.select import CRITERIA

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike
    from sklearn.base import BaseEstimator

    from spheremix.models.maximise import Kappa as CheckedKappa

    Array = NDArray[np.float64]

Auto = Literal["auto"]
KappaName = Literal["shared", "free"]
# Not ArrayLike, which takes any text for an array.
OneKappa = KappaName | float | Sequence[float] | NDArray[np.floating[Any] | np.integer[Any]]
Kappa = OneKappa | Mapping[str, OneKappa]
KappaSolver = Literal["exact", "banerjee"]
MStep = Literal["exact", "paper"]
EStep = Literal["soft", "hard"]
Noise = Literal["uniform"]
SearchStart = Literal["merge", "random", "k-means++", "spherical-k-means"]


class WithPrototypes(Protocol):
    """A fitted model."""

    prototypes_: NDArray[np.float64]


class SupportsArray(Protocol):
    """What NumPy takes for an array: a column of a data frame, for example."""

    def __array__(self) -> NDArray[Any]:
        """Return the array."""
        ...


GivenStart = WithPrototypes | SupportsArray | Sequence[int] | Sequence[Sequence[float]]
Init = SearchStart | GivenStart
KMeansInit = Literal["merge", "random", "k-means++"] | GivenStart
BlockInit = Literal["random", "k-means++", "spherical-k-means"] | GivenStart
Strategy = Literal["path", "dense", "random", "grid"]
Paths = Literal["best", "all", "none"]
Algorithm = Literal["em", "cem", "sem", "saem", "caem"]
STRATEGIES = get_args(Strategy)
SEED_WEIGHT = 0.5  # of a group of mean size: what the seeds of a group count as
# Parameters that some of the estimators do not have.
ABSENT = {
    "beta": 0.0,
    "warm_start": False,
    "kappa_prior": None,
    "noise": None,
    "max_noise": "auto",
    "view_weights": None,
    "sparse_views": None,
    "seeds": None,
    "seed_weight": SEED_WEIGHT,
}
AUTO = {"merge": 5}  # runs where n_init is "auto"
RANDOM_AUTO = 10


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MixtureOptions:
    """The parameters that VMFMixture, VMFPath and VMFMixtureIC have in common; their docs say more.

    ``feature_weights`` and a number for ``kappa_max`` depend on the dimension of the data, and are
    checked with it.
    """

    n_components: int
    beta: float
    feature_weights: ArrayLike | None
    kappa: CheckedKappa | Mapping[str, CheckedKappa]
    kappa_solver: KappaSolver
    m_step: MStep
    kappa_max: float | str
    kappa_prior: KappaPrior
    noise: Noise | None
    max_noise: float | Auto | None
    e_step: EStep
    init: Any
    n_init: int | Auto
    max_iter: int
    tol: float
    zero_tol: float
    view_weights: Mapping[str, float] | None
    sparse_views: Sequence[str] | None
    seeds: Any
    seed_weight: float
    random_state: Any
    n_threads: int | None
    engine: str
    verbose: int
    warm_start: bool
    callback: Callable[[Any], None] | None

    @classmethod
    def of(cls, estimator: BaseEstimator, **changes: Any) -> Self:
        """Check the parameters of an estimator, some of them replaced."""
        given = {**ABSENT, **estimator.get_params(deep=False), **changes}
        n_components = check.require_integer("n_components", given["n_components"], 1)
        count_runs(given["n_init"], given["init"])  # what "auto" stands for may depend on the data
        checked: dict[str, Any] = {
            "n_components": n_components,
            "beta": check.require_number("beta", given["beta"]),
            "kappa": _kappa(given["kappa"], n_components),
            "kappa_solver": check.require_choice(
                "kappa_solver", given["kappa_solver"], get_args(KappaSolver)
            ),
            "m_step": check.require_choice("m_step", given["m_step"], get_args(MStep)),
            "kappa_prior": _prior(given["kappa_prior"], given["kappa"]),
            "noise": _noise(given["noise"]),
            "max_noise": _most(given["max_noise"], given["noise"]),
            "e_step": check.require_choice("e_step", given["e_step"], get_args(EStep)),
            "max_iter": check.require_integer("max_iter", given["max_iter"], 1),
            "tol": check.require_number("tol", given["tol"]),
            "zero_tol": check.require_number("zero_tol", given["zero_tol"]),
            "seed_weight": check.require_number("seed_weight", given["seed_weight"], above=0.0),
            "warm_start": check.require_flag("warm_start", given["warm_start"]),
        }
        return cls(**{name: checked.get(name, given[name]) for name in cls.__dataclass_fields__})

    def along_path(self) -> Self:
        """Return what the fits of a path take: a limit of the noise is for its predictions alone.

        At the level that a limit asks for, rows that go to clusters make these looser, and other
        rows follow: held along a path, it would not be kept to.
        """
        limited = isinstance(self.max_noise, float)
        return replace(self, max_noise="auto") if limited else self

    @property
    def settings(self) -> em.Settings:
        """When EM stops, and how it assigns rows."""
        return em.Settings(
            tol=self.tol,
            max_iter=self.max_iter,
            e_step=self.e_step,
            # The other M-steps stop where exact EM would still gain: their gap is reported, and
            # not waited for.
            certified=self.m_step == "exact" and self.kappa_solver == "exact",
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PathOptions:
    """The parameters of VMFPath that say which steps it takes; its documentation says more."""

    criterion: str
    min_relative_increase: float
    max_steps: int | None
    max_sparsity: float
    betas: Array | None
    beta_min_ratio: float
    refine: float | None
    relaxed: bool
    strategy: str

    @classmethod
    def of(cls, estimator: BaseEstimator, **changes: Any) -> Self:
        """Check the parameters of an estimator, some of them replaced."""
        given = {"betas": None, "strategy": "path", **estimator.get_params(deep=False), **changes}
        max_steps, refine = given["max_steps"], given["refine"]
        return cls(
            criterion=check.require_criterion("criterion", given["criterion"], CRITERIA),
            min_relative_increase=check.require_number(
                "min_relative_increase",
                given["min_relative_increase"],
                at_most=LARGEST_INCREASE,
            ),
            max_steps=(
                None if max_steps is None else check.require_integer("max_steps", max_steps, 1)
            ),
            max_sparsity=_share(given["max_sparsity"]),
            betas=_grid(given["betas"]),
            beta_min_ratio=_ratio(given["beta_min_ratio"]),
            refine=None if refine is None else check.require_number("refine", refine, above=0.0),
            relaxed=check.require_flag("relaxed", given["relaxed"]),
            strategy=check.require_choice("strategy", given["strategy"], STRATEGIES),
        )


def _kappa(value: Any, n_components: int) -> Any:
    """Return how concentrations are estimated, for all views or by view."""
    if not isinstance(value, Mapping):
        return check.require_kappa(value, n_components)
    return {name: check.require_kappa(own, n_components) for name, own in value.items()}


def _prior(value: Any, kappa: Any) -> KappaPrior:
    """Return the prior of rows and their mean length, which are the parameter."""
    if value is None:
        return FLAT
    if not isinstance(kappa, str | Mapping):
        raise ParameterError(
            "{kappa_prior} is for concentrations that are estimated, and {kappa} is given",
            remedies=("set {kappa_prior=None}", "set {kappa} to 'shared' or 'free'"),
        )
    pair = check.require_vector("kappa_prior", value, 2, "of the number of rows and mean length")
    n, length = (float(one) for one in pair)
    if not (0.0 < n < np.inf and length < 1.0):
        raise ParameterError(
            "{kappa_prior} must be a number of rows above 0 and a mean length in [0, 1), got {got}",
            got=repr(value),
        )
    return KappaPrior(n, n * length)


def _noise(value: Any) -> Any:
    return None if value is None else check.require_choice("noise", value, get_args(Noise))


def _most(value: Any, noise: Any) -> Any:
    if noise is None and value != "auto":
        raise ParameterError(
            "{max_noise} is for rows that belong to no component, and there are none without "
            "{noise}",
            remedies=("set {noise='uniform'}", "leave out {max_noise}"),
        )
    if value is None:
        return None
    if isinstance(value, str):
        return check.require_choice("max_noise", value, ("auto",))
    if check.require_number("max_noise", value, above=0.0) >= 1.0:
        raise ParameterError("{max_noise} is a share, below 1, got {got}", got=repr(value))
    return float(value)


def _share(value: Any) -> float:
    if check.require_number("max_sparsity", value) > 1.0:
        raise ParameterError("{max_sparsity} is a share, at most 1, got {got}", got=repr(value))
    return float(value)


def _ratio(value: Any) -> float:
    if check.require_number("beta_min_ratio", value) >= 1.0:
        raise ParameterError(
            "{beta_min_ratio} must be below 1, or no event is left; got {got}", got=repr(value)
        )
    return float(value)


def _grid(value: Any) -> Array | None:
    if value is None:
        return None
    betas = check.require_vector("betas", value, np.size(value), "step")
    if not betas.size or np.any(np.diff(betas) <= 0):
        raise ParameterError("{betas} must be a strictly increasing list of at least one value")
    return betas


def count_runs(n_init: Any, init: Any) -> int:
    """Check ``n_init`` and return the number of runs it stands for, where data are not large."""
    if isinstance(n_init, str):
        check.require_choice("n_init", n_init, ("auto",))
        return AUTO.get(init, RANDOM_AUTO) if isinstance(init, str) else 1
    return check.require_integer("n_init", n_init, 1)
