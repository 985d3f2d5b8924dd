"""Simulated data whose difficulty is known, the paper's benchmark, and a corpus at hand."""

from __future__ import annotations

from spheremix.datasets.cstr import fetch_cstr
from spheremix.datasets.docstrings import load_docstrings
from spheremix.datasets.simulate import MixtureTruth, calibrate_kappa, make_vmf_mixture

__all__ = ["MixtureTruth", "calibrate_kappa", "fetch_cstr", "load_docstrings", "make_vmf_mixture"]
