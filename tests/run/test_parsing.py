"""Options given as text or numbers: what is neither is refused with the name of the option."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from spheremix.errors import ParameterError
from spheremix.run.options import ExploreOptions


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (np.arange(2, 5), (2, 3, 4)),
        (np.int64(3), (3,)),
        (np.array([4, 2], dtype=np.uint8), (2, 4)),
        (range(2, 4), (2, 3)),
        ({5, 2}, (2, 5)),
        (iter([2]), (2,)),
        ("auto", None),
    ],
)
def test_numbers_of_clusters_come_in_many_forms(given, read):
    assert ExploreOptions(k=given).k == read


@pytest.mark.parametrize(
    "given",
    [
        *(True, [True], 2.0, np.array([2.0, 3.0]), np.array(3), np.eye(2, dtype=int), np.bool_(1)),
        *(b"ab", b"5", [[2]], [None], [], "", "2:", range(1, 10**9), 0, -1),
    ],
    ids=repr,
)
def test_other_numbers_of_clusters_are_refused(given):
    with pytest.raises(ParameterError, match=r"^k must"):
        ExploreOptions(k=given)


@pytest.mark.parametrize("name", ["min_df", "max_df"])
@pytest.mark.parametrize(
    "given",
    [
        *([1], True, np.bool_(0), -3, -0.5, "-3", "-1%", "nan%", "inf%", "nan.", math.nan),
        *(math.inf, "many", "", "%", b"5", 1j, np.array([1, 2]), "1.0e999", b"5"),
    ],
    ids=repr,
)
def test_other_thresholds_are_refused(name, given):
    with pytest.raises(ParameterError, match=f"^{name} must be a number of documents"):
        ExploreOptions(**{name: given})


def test_thresholds_keep_numbers_and_shares_apart():
    for given, read in ((np.int32(5), 5), (np.float32(0.5), 0.5), (Fraction(1, 4), 0.25), ("5", 5)):
        found = ExploreOptions(min_df=given).min_df
        assert found == read
        assert type(found) is type(read)
    json.dumps(ExploreOptions(k=np.arange(2, 4), min_df=np.int64(2)).command())


@pytest.mark.parametrize(
    "given",
    [True, np.bool_(1), None, [3], np.array([3.0]), "nan", -1, 0, math.inf, 10**400, b"3", "own"],
    ids=lambda value: repr(value)[:20],
)
def test_other_concentrations_are_refused(given):
    with pytest.raises(ParameterError, match=r"^kappa must be shared, free or a number above 0"):
        ExploreOptions(kappa=given)
