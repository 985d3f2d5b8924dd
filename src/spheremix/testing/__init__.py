"""Conformance suites: what every engine must do, one small function a property.

A new engine is right when all of these pass::

    from spheremix.data.rows import open_rows
    from spheremix.testing import check_engine

    def make(X, *, first_row=0, n_threads=1):
        return MyDirections(*open_rows(X), first_row=first_row, n_threads=n_threads)

    check_engine(make)

Under pytest, parametrise over ``CONTAINERS`` and ``ENGINE_CHECKS`` instead, to see which property
fails on which container.
Results are compared with the reference engine to 1e-10 on float64 rows and to 2e-5 on float32
rows, of the largest entry for masses and vectors, of the size of the scores for likelihoods. The
tolerance grows with the length of the prototypes beyond 20, as the rounding of the scores does.

Memory is not checked: beyond the input it should be O(K d), K counting the components of all
scorers of the sweep, and never n times K.

A new model is right when ``check_model(model)`` passes.
"""

from __future__ import annotations

import numpy as np

from spheremix.testing import engines  # noqa: F401 - it lists its checks
from spheremix.testing.models import check_model
from spheremix.testing.suite import (
    CONTAINERS,
    ENGINE_CHECKS,
    Make,
    assert_resultants_close,
    assert_resultants_same_bits,
)

__all__ = [
    "CONTAINERS",
    "ENGINE_CHECKS",
    "Make",
    "assert_resultants_close",
    "assert_resultants_same_bits",
    "check_engine",
    "check_model",
]


def check_engine(make: Make, *, seed: int = 0) -> None:
    """Run every check on every container.

    Parameters
    ----------
    make : callable
        ``make(X, *, first_row=0, n_threads=1)`` opens a container with the engine under test.
    seed : int
        Of the data that the checks draw.
    """
    for contain in CONTAINERS.values():
        for check in ENGINE_CHECKS:
            check(make, contain, np.random.default_rng(seed))
