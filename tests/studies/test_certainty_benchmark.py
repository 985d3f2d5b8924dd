"""benchmarks/certainty.py: what it measures, and that its tables and the page say what it found."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import spheremix as sm

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def certainty():
    """The benchmark, imported as it is run: from its own folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        yield importlib.import_module("certainty")


@pytest.fixture(scope="module")
def held(certainty):
    """The results on the sets that took no part in the choice of methods."""
    stored = json.loads(certainty.STORE.read_text("utf-8"))
    return {name: stored[name] for name in certainty.HELD}


def test_documents_of_groups_that_other_samples_have_stay(certainty):
    X, _, _ = sm.datasets.make_vmf_mixture(600, 20, 3, overlap=0.001, random_state=0)
    first, second = (certainty.fit(X[i::2], 3, i) for i in (0, 1))
    assert certainty.stays(first.labels_, second, X[::2], 3).mean() > 0.98
    one = certainty.fit(X[1::2], 1, 0)  # a group is not there again in the sum of all
    assert not certainty.stays(first.labels_, one, X[::2], 3).any()


def test_shares_by_limits_and_within_groups(certainty):
    said = np.array([0.1, 0.6, 0.6, 0.9, 0.1, 0.9])
    right = np.array([0.0, 1.0, 0.0, 1.0, 1.0, 1.0])
    found = certainty.by_limits(said, certainty.LIMITS, right)
    assert [n for n, _ in found] == [2, 2, 2]
    assert_allclose([mean for _, mean in found], [0.5, 0.5, 1.0])
    # Group 0 gains .5 (weights 1, 2 and 2, 1), ten times over; group 1 has nothing between.
    many = [np.tile(one, 10) for one in (said, right, np.array([0, 0, 0, 0, 1, 1]))]
    assert_allclose(certainty.within(*many), [0.5, 0.5])
    assert certainty.within(said, right, np.array([0, 0, 0, 0, 1, 1])) == [None, None]
    assert certainty.majority(np.array([0, 0, 0, 1]), np.array([2, 2, 1, 0])).tolist() == [
        True,
        True,
        False,
        True,
    ]


def test_the_tables_are_those_of_the_results(certainty):
    written, stored = list(certainty.written()), certainty.TARGET.read_text("utf-8").split("\n")
    machine = 4  # the line that says where they were measured
    assert written[:machine] + written[machine + 1 :] == stored[:machine] + stored[machine + 1 : -1]


def test_the_page_quotes_them(certainty, held):
    page = " ".join((ROOT / "docs" / "certainty.md").read_text("utf-8").split())
    said, fresh, error = zip(
        *(
            [cell.strip() for cell in (line.split("|")[i] for i in (4, 5, 6))]
            for line in certainty.bin_table(held)
            if line.startswith("| 0")
        ),
        strict=True,
    )
    for values in (said, fresh, error):
        assert " | ".join(value.lstrip("0") for value in values) in page
    differences = [one["said"] - one["fresh"] for *_, one in certainty.runs(held)]
    assert f"by {-np.mean(differences):.3f} on average".replace("0.", ".") in page
    assert f"On {len(differences)} mixtures of {len(held)} sets" in page
    each = [one["posteriors"] for one in held.values() if "posteriors" in one]
    keys = ("fitted", "without", "50", "100", "200")
    for word, value in (("mean", np.mean), ("largest", np.max)):
        row = " | ".join(f"{value([one[key] for one in each]):.3f}".lstrip("0") for key in keys)
        assert f"| {word} | {row} |" in page
    below = sum(one["200"] < 0.05 for one in each)
    assert f"below .05 on {below} of {len(each)} sets" in page
