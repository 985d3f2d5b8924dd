"""Parameters are counted and criteria computed as in the paper's tables, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

from spheremix.select import count_parameters, criteria

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


def test_the_paper_s_count_is_the_default():
    assert count_parameters(PROTOTYPES, "free") == count_parameters(PROTOTYPES, "free", "nonzero")


def test_prototypes_of_one_feature():
    one_hot = np.eye(4)[[2, 2, 2]]
    assert count_parameters(one_hot, "shared", "nonzero") == 2 + 1 + 3
    assert count_parameters(one_hot, "shared", "features") == 2 + 1 + 3


def test_unknown_count():
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


def test_every_criterion_prefers_the_likelier_of_two_equals():
    worse, better = criteria(10.0, 5, 30, 4), criteria(11.0, 5, 30, 4)
    assert all(better[name] == pytest.approx(worse[name] - 2) for name in worse)
