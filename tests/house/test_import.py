"""spheremix loads NumPy, SciPy and scikit-learn when used, and asks for nothing heavier.

scikit-learn itself loads pandas and rich where it finds them: what counts is who asks.
"""

from __future__ import annotations

import subprocess
import sys

HEAVY = {
    *("dask", "faiss", "jinja2", "matplotlib", "numba", "pandas", "playwright", "polars"),
    *("pyarrow", "rich", "torch", "typer"),
}
CODE = """
import sys

class Witness:
    def find_spec(self, name, path=None, target=None):
        frame = sys._getframe(1)
        while "importlib" in frame.f_globals.get("__name__", ""):
            frame = frame.f_back
        package = name.partition(".")[0]
        print(frame.f_globals.get("__name__", "").partition(".")[0], package)
        if package in {blocked}:
            raise ImportError(name)

sys.meta_path.insert(0, Witness())
import spheremix
{use}
"""
EVERYTHING = "[getattr(spheremix, name) for name in spheremix.__all__]"
USE = """
import numpy as np
X = np.random.default_rng(0).normal(size=(30, 4))
spheremix.VMFMixture(n_components=2, n_init=1).fit(X).predict(X)
"""


def imports(use="", blocked=()):
    """Return what each package asks for, as pairs of names."""
    code = CODE.format(use=use, blocked=sorted(blocked))
    # -I: neither the environment nor the working directory may bring anything in.
    command = [sys.executable, "-I", "-W", "error", "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    return {tuple(line.split()) for line in run.stdout.splitlines()}


def test_import_asks_for_nothing_before_it_is_used():
    """The command answers --help without waiting for NumPy."""
    asked = {name for who, name in imports() if who == "spheremix"}
    assert not {"numpy", "scipy", "sklearn"} & asked


def test_public_names_ask_for_nothing_heavy():
    pairs = imports(EVERYTHING)
    assert {"numpy", "scipy", "sklearn"} <= {name for _, name in pairs}
    asked = {name for who, name in pairs if who == "spheremix"}
    assert not HEAVY & asked
    # Nor does what it asks for, scikit-learn apart.
    assert {who for who, name in pairs if name in HEAVY} - HEAVY <= {"sklearn", "scipy", "joblib"}


def test_names_are_known_before_they_are_loaded():
    check = "assert set(spheremix.__all__) <= set(dir(spheremix)); "
    check += "from spheremix import *; assert VMFPath is spheremix.estimators.path.VMFPath; "
    imports(check + "assert not hasattr(spheremix, 'vmfmixture')")


def test_a_fit_needs_nothing_heavy():
    """Where none of it is installed."""
    assert ("spheremix", "sklearn") in imports(USE, blocked=HEAVY)
