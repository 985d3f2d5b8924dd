"""Simulated data whose difficulty is known, and the paper's benchmark."""

from __future__ import annotations

from spheremix.datasets.cstr import fetch_cstr
from spheremix.datasets.simulate import MixtureTruth, calibrate_kappa, make_vmf_mixture

__all__ = ["MixtureTruth", "calibrate_kappa", "fetch_cstr", "make_vmf_mixture"]
