"""Simulated directions as files, ready for an exploration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.datasets import make_vmf_mixture
from spheremix.run.store import RunError, replacing

if TYPE_CHECKING:
    from pathlib import Path

ROWS, LABELS, TRUTH = "X.npy", "labels.npy", "truth.npz"


def write_simulation(folder: Path, *, force: bool = False, **parameters: Any) -> Any:
    """Draw directions from a mixture, and write them with their labels and the truth.

    Parameters
    ----------
    folder : path
        Gets X.npy, labels.npy, and truth.npz with the prototypes, concentrations and weights.
    force : bool, default=False
        Replace these files.
    **parameters
        Of :func:`spheremix.datasets.make_vmf_mixture`.

    Returns
    -------
    object
        The truth, as that function gives it.
    """
    there = [name for name in (ROWS, LABELS, TRUTH) if (folder / name).exists()]
    if there and not force:
        raise RunError(
            "{path}: there already",
            remedies=("choose another folder with {out}", "replace it with {force=True}"),
            path=folder / there[0],
        )
    X, labels, truth = make_vmf_mixture(**parameters)
    for name, array in ((ROWS, X), (LABELS, labels)):
        with replacing(folder / name) as file:
            np.save(file, array, allow_pickle=False)
    with replacing(folder / TRUTH) as file:
        np.savez(
            file,
            prototypes=truth.prototypes,
            kappas=truth.kappas,
            weights=truth.weights,
            base_kappa=truth.base_kappa,
            overlap=truth.overlap,
        )
    return truth
