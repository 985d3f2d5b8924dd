"""Importing spheremix loads NumPy, SciPy and scikit-learn, and nothing heavier."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {
    "dask",
    "faiss",
    "jinja2",
    "matplotlib",
    "numba",
    "pandas",
    "playwright",
    "polars",
    "pyarrow",
    "rich",
    "torch",
    "typer",
}
CODE = """
import sys
import spheremix
{use}
print(" ".join(sorted({{name.partition(".")[0] for name in sys.modules}})))
"""
USE = """
import numpy as np
X = np.random.default_rng(0).normal(size=(30, 4))
spheremix.VMFMixture(n_components=2, n_init=1).fit(X).predict(X)
"""


def loaded(use=""):
    # -I: neither the environment nor the working directory may bring anything in.
    command = [sys.executable, "-I", "-W", "error", "-c", CODE.format(use=use)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    return set(run.stdout.split())


def test_import_is_light():
    modules = loaded()
    assert {"spheremix", "numpy", "scipy", "sklearn"} <= modules
    assert not HEAVY & modules


def test_a_fit_is_light_too():
    assert not HEAVY & loaded(USE)
