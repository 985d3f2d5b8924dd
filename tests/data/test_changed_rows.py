"""A CSR matrix that was changed after it was opened is refused, and never read out of bounds."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import spheremix as sm
from spheremix._optional import kernels
from spheremix.scorer import Scorer

ENGINES = ["reference", *(["compiled"] if kernels is not None else [])]
HERE = __file__


def change(rows, how):
    if how == "far":
        rows.indices[:] = 10**8
    elif how == "one too large":
        rows.indices[-1] = rows.shape[1]
    elif how == "negative":
        rows.indices[7] = -(10**8)
    elif how == "pointer":
        rows.indptr[-2] = 2**30
    elif how == "last pointer":
        rows.indptr[-1] = 2**30


CHANGES = ["far", "one too large", "negative", "pointer", "last pointer"]


def ask(engine, how, verb):
    """Open rows, change them, and ask: give the message of the error."""
    rng = np.random.default_rng(0)
    rows = sparse.csr_array(rng.random((700, 50)) * (rng.random((700, 50)) < 0.3))
    directions = sm.as_directions(rows, engine=engine, n_threads=2)
    change(rows, how)
    try:
        if verb == "fit":
            start = np.eye(50)[:3] + 0.1
            sm.VMFMixture(3, init=start, engine=engine).fit(directions)
        elif verb == "narrow":  # columns without prototypes are left out
            directions.sweep([Scorer(np.eye(50)[:3], np.zeros(3))])
        elif verb == "labels":
            directions.map_rows(Scorer(np.ones((3, 50)), np.zeros(3)), "labels")
        else:
            directions.take([5, 0, -1, -2])
    except (RuntimeError, ValueError) as error:
        return str(error)
    return "no error"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_changed_matrix_is_refused(engine):
    """In a process of its own: it may be a crash that is looked for."""
    job = f"""
import sys
sys.path.insert(0, {str(HERE.rpartition("/")[0])!r})
from test_changed_rows import *
for how in CHANGES:
    for verb in ("fit", "narrow", "labels", "take"):
        print(how, verb, ask({engine!r}, how, verb), sep=": ")
"""
    done = subprocess.run([sys.executable, "-c", job], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert len(said) == 4 * len(CHANGES)
    for line in said:
        expected = ("changed after it was opened", "do not fit together")
        seen = any(words in line for words in expected)
        # Rows that were not changed may be taken.
        assert seen or line == "negative: take: no error", line


def test_rows_that_are_as_they_were_are_read_again():
    rows = sparse.csr_array(np.eye(6) + np.eye(6, k=1))
    for engine in ENGINES:
        directions = sm.as_directions(rows, engine=engine)
        taken = directions.take([5, 2])
        assert taken.shape == (2, 6)
        assert np.array_equal(directions.take([5, 2]), taken)
