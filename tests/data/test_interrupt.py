"""Ctrl-C ends a long fit, in a sweep and between sweeps, and a path keeps its steps."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

LONG_FIT = """
import numpy as np, spheremix as sm
X = np.random.default_rng(0).standard_normal(({n}, {d}))
mix = sm.VMFMixture({K}, n_init=1, tol=0.0, max_iter=10**9, engine={engine!r},
                    callback=lambda progress: print("swept", flush=True))
try:
    while True:  # few rows converge soon
        mix.fit(X)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""

IN_BLOCKS = """
import threading
import numpy as np, spheremix as sm
class Slow:
    def __iter__(self):
        import time
        for _ in range(10):
            yield np.random.default_rng(0).normal(size=(600, 20))
            time.sleep(0.005)
try:
    sm.VMFMixture(5, n_init=1, tol=0.0, max_iter=10**9,
                  callback=lambda progress: print("swept", flush=True)).fit(Slow())
except KeyboardInterrupt:
    left = [t.name for t in threading.enumerate() if "reader" in t.name]
    print("interrupted", left, flush=True)
"""

PATH = """
import warnings
import numpy as np, spheremix as sm
warnings.simplefilter("ignore")
X, _, _ = sm.datasets.make_vmf_mixture(2000, 300, 4, kappa=20.0, random_state=0)
path = sm.VMFPath(4, n_init=1, min_relative_increase=1e-9,
                  callback=lambda progress: print(
                      "step" if hasattr(progress, "beta") else "swept", flush=True))
path.fit(X)
assert path.status_ == "interrupted", path.status_
assert len(path.betas_) == len(path.criteria_["bic"]) > 1
path.predict(X)
print("kept", flush=True)
"""


def interrupt(code: str, word: str) -> str:
    """Send SIGINT once the program has printed a word; give the rest of its output."""
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip() == word:
                break
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        # Generous on a loaded machine; without the checks in the loops it would run for hours.
        rest, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0, errors
    return rest


@pytest.mark.parametrize(
    ("n", "d", "K", "engine"),
    [(400_000, 50, 40, "auto"), (300, 4, 3, "auto"), (300, 4, 3, "reference")],
)
def test_fit_stops(n, d, K, engine):
    assert "interrupted" in interrupt(LONG_FIT.format(n=n, d=d, K=K, engine=engine), "swept")


def test_no_thread_is_left_that_reads():
    assert "interrupted []" in interrupt(IN_BLOCKS, "swept")


def test_path_keeps_its_steps():
    assert "kept" in interrupt(PATH, "step")
