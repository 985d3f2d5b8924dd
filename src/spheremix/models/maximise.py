"""The exact M-step over all components: compiled where it can be, the specification elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from spheremix._optional import kernels
from spheremix.bessel import log_normalizer
from spheremix.models.profile import FLAT, Profile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.models.profile import KappaPrior
    from spheremix.penalties import L1

    Array = NDArray[np.float64]
    Kappa = Literal["shared", "free"] | float | Array


class Maximum(NamedTuple):
    """The best prototypes and concentrations, and what their value is made of; all (K,) but one."""

    prototypes: Array  # (K, d)
    kappas: Array
    log_normalizers: Array  # log c_d
    dots: Array  # <mu_k, r_k>
    norms: Array  # l1 norms with the penalty's feature weights
    old_dots: Array  # the same of the old prototypes
    old_norms: Array


def per_component(kappa: float | Array, n_components: int) -> Array:
    """Return one concentration for each component, from one number or as many."""
    return np.full(n_components, kappa)


def maximise(
    vectors: Array,
    mass: Array,
    l1: L1,
    kappa: Kappa,
    kappa_max: float,
    old_prototypes: Array,
    old_kappas: Array,
    n_threads: int = 1,
    prior: KappaPrior = FLAT,
) -> Maximum:
    """Maximise sum of mass_k log c_d(kappa_k) + kappa_k <mu_k, r_k> minus the penalty.

    The log-density of the prior is added for each estimated concentration, once for a shared one.
    """
    if kernels is None:
        return maximise_in_python(
            vectors, mass, l1, kappa, kappa_max, old_prototypes, old_kappas, prior
        )
    mode = kappa if isinstance(kappa, str) else "given"
    guess = old_kappas if isinstance(kappa, str) else per_component(kappa, len(mass))
    return Maximum(
        *kernels.maximise(
            vectors,
            mass,
            l1.beta,
            l1.weights,
            mode,
            guess,
            kappa_max,
            *prior,
            old_prototypes,
            n_threads,
        )
    )


def maximise_in_python(
    vectors: Array,
    mass: Array,
    l1: L1,
    kappa: Kappa,
    kappa_max: float,
    old_prototypes: Array,
    old_kappas: Array,
    prior: KappaPrior = FLAT,
) -> Maximum:
    """Specify ``maximise``."""
    if not isinstance(kappa, str):
        kappas = per_component(kappa, len(mass))
    elif kappa == "shared":
        profile = Profile(vectors, float(mass.sum()), l1, prior)
        kappas = np.full(len(mass), profile.maximise(kappa_max, float(old_kappas[0])))
    else:
        kappas = np.array(
            [
                Profile(vectors[k : k + 1], float(mass[k]), l1, prior).maximise(
                    kappa_max, float(guess)
                )
                for k, guess in enumerate(old_kappas)
            ]
        )
    prototypes = l1.directions(kappas, vectors)
    return Maximum(
        prototypes,
        kappas,
        log_normalizer(vectors.shape[1], kappas),
        np.einsum("kj,kj->k", prototypes, vectors),
        l1.norms(prototypes),
        np.einsum("kj,kj->k", old_prototypes, vectors),
        l1.norms(old_prototypes),
    )
