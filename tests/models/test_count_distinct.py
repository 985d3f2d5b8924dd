"""How many prototypes differ, against a comparison of all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from spheremix.models.vmf import count_distinct


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("n", "d"), [(1, 3), (15, 2), (15, 7), (60, 40)])
def test_prototypes_that_coincide_count_once(seed, n, d):
    rng = np.random.default_rng(seed)
    drawn = unit(rng.standard_normal((n, d)))[rng.integers(0, n, n)]
    prototypes = unit(drawn + 1e-9 * rng.standard_normal((n, d)))
    different = []
    for one in prototypes:
        if all(np.linalg.norm(one - other) > 1e-5 for other in different):
            different.append(one)
    assert count_distinct(prototypes) == len(different)


def test_near_prototypes_are_not_the_same():
    angles = np.array([0.0, 1e-4, 2e-4, 1.0])
    prototypes = np.column_stack([np.cos(angles), np.sin(angles)])
    assert count_distinct(prototypes) == 4
    assert count_distinct(np.repeat(prototypes, 2, axis=0)) == 4


def test_prototypes_of_two_views_are_longer():
    rng = np.random.default_rng(0)
    views = [unit(rng.standard_normal((5, 4))) for _ in range(2)]
    prototypes = np.hstack(views)
    assert count_distinct(np.vstack([prototypes, prototypes[:2]])) == 5
