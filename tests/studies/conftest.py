"""What the tests of the studies share: where the real data are, and the benchmarks as modules."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))  # the experiments are not installed

from experiments.data import BESIDE


@pytest.fixture(scope="module")
def cstr_file():
    """Skip where there is no CSTR, but on the build machine."""
    folder = Path(os.environ.get("SPHEREMIX_DATA", BESIDE))
    if not (folder / "cstr" / "cstr.mat").exists():
        if os.environ.get("CI") == "true":
            pytest.fail("no CSTR file: set SPHEREMIX_DATA to the folder of real data")
        pytest.skip("no CSTR file: set SPHEREMIX_DATA to the folder of real data")
    return folder


@pytest.fixture(scope="module", autouse=True)
def little_advice():
    """All of it: what is tested is committed."""


@pytest.fixture(scope="session")
def benchmark_scripts():
    """Import benchmarks as they are run: from their own folder."""
    folder = str(Path(__file__).resolve().parents[2] / "benchmarks")

    def load(*names):
        return [importlib.import_module(name) for name in names]

    sys.path.insert(0, folder)
    yield load
    sys.path.remove(folder)
