"""Parameters are counted and criteria computed as in the paper's tables, by hand."""

from __future__ import annotations

import doctest
import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import spheremix as sm
from spheremix.select import CRITERIA, count_parameters, criteria

ROOT = Path(__file__).parents[1]
# Five features: three, one and two non-zeros; features 0 and 4 are nobody's.
PROTOTYPES = np.array([[0, 0.6, 0.64, 0.48, 0], [0, 1.0, 0, 0, 0], [0, 0, 0.6, -0.8, 0]])


@pytest.mark.parametrize("contain", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("kappa", "n_kappas"), [("shared", 1), ("free", 3), ("given", 0)])
@pytest.mark.parametrize(
    ("count", "n_means"),
    [
        ("nonzero", 2 + 1 + 1),  # one non-zero still counts for one
        ("features", 3 * 2),
        ("dense", 3 * 4),
    ],
)
def test_counts(contain, kappa, n_kappas, count, n_means):
    assert count_parameters(contain(PROTOTYPES), kappa, count) == 2 + n_kappas + n_means


def test_other_counts():
    assert count_parameters(PROTOTYPES, "free") == count_parameters(PROTOTYPES, "free", "nonzero")
    one_hot = np.eye(4)[[2, 2, 2]]
    assert count_parameters(one_hot, "shared", "nonzero") == 2 + 1 + 3
    assert count_parameters(one_hot, "shared", "features") == 2 + 1 + 3
    with pytest.raises(ValueError, match=r"count must be 'nonzero', 'features' or 'dense'.*'all'"):
        count_parameters(PROTOTYPES, "free", "all")


def test_criteria():
    got = criteria(-1234.5, 17, 200.0, 50, entropy=7.25)
    log_n, log_d = math.log(200), math.log(50)
    assert got == pytest.approx(
        {
            "aic": 2469 + 2 * 17,
            "bic": 2469 + 17 * log_n,
            "ric": 2469 + 17 * 2 * log_d,
            "ricc": 2469 + 17 * 2 * (log_d + math.log(log_d)),
            "ebic": 2469 + 17 * (log_n + log_d),
            "icl": 2469 + 17 * log_n + 14.5,
        },
        rel=1e-14,
    )
    assert tuple(got) == CRITERIA
    for n in (1e-3, 0.5, 1.0, 2.0):  # weights may sum to next to nothing, and d may be 2
        assert np.isfinite(list(criteria(-1.0, 4, n, 2).values())).all()


LISTED = {
    "docs/choosing.md": lambda: (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8"),
    "--criterion": lambda: (ROOT / "src/spheremix/run/options.py").read_text(encoding="utf-8"),
    "VMFMixture": lambda: sm.VMFMixture.__doc__,
    "VMFPath": lambda: sm.VMFPath.__doc__,
    "VMFPath.select": lambda: sm.VMFPath.select.__doc__,
    "VMFMixtureIC": lambda: sm.VMFMixtureIC.__doc__,
    "VMFCoclustering": lambda: sm.VMFCoclustering.__doc__,
}


@pytest.mark.parametrize("where", LISTED)
def test_every_criterion_is_listed(where):
    """What a criterion needs beside its line of code: tables and lists that people read."""
    named = set(re.findall(r"\w+", LISTED[where]()))
    assert set(CRITERIA) <= named


@pytest.mark.parametrize("function", [count_parameters, criteria])
def test_examples_run(function):
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    for test in finder.find(function, function.__name__, globs={}):
        runner.run(test)
    assert runner.summarize(verbose=False).attempted
    assert runner.summarize(verbose=False).failed == 0
