"""Cluster directions with mixtures of von Mises-Fisher distributions whose prototypes are sparse.

The one rule of the house: a sweep is a function from a scorer to resultants.
"""

from __future__ import annotations

from spheremix import datasets
from spheremix.data.open import as_directions
from spheremix.distribution import VonMisesFisher
from spheremix.estimators.block import BlockVMFMixture
from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.path import VMFPath
from spheremix.estimators.selection import VMFMixtureIC
from spheremix.estimators.skmeans import SphericalKMeans
from spheremix.estimators.stability import stability_selection
from spheremix.io import load_run

__all__ = [
    "BlockVMFMixture",
    "SphericalKMeans",
    "VMFMixture",
    "VMFMixtureIC",
    "VMFPath",
    "VonMisesFisher",
    "as_directions",
    "datasets",
    "load_run",
    "stability_selection",
]
__version__ = "0.1.0.dev0"
