"""The most probable components of each row."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.estimators import predictions


@pytest.fixture(scope="module")
def rows():
    return sm.datasets.make_vmf_mixture(150, 6, 5, kappa=4.0, random_state=0)[0]


@pytest.fixture(scope="module")
def mixture(rows):
    return sm.VMFMixture.from_parameters(rows[:40], 4.0, np.arange(1.0, 41.0))


@pytest.fixture
def narrow(monkeypatch):
    """Score seven components at a time."""
    monkeypatch.setattr(predictions, "ENTRIES", 1)
    monkeypatch.setattr(predictions, "FEWEST", 7)


def check_top(found, posteriors, k):
    assert found.shape == posteriors.shape
    assert_array_equal(np.diff(found.indptr), k)
    assert found.has_sorted_indices
    kept = found.toarray()
    best = np.sort(posteriors, axis=1)[:, -k:]
    assert_allclose(np.sort(kept, axis=1)[:, -k:], best, rtol=1e-9)
    there = kept > 0.0
    assert_allclose(kept[there], posteriors[there], rtol=1e-9)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("k", [1, 3, 10, 40])
def test_they_are_the_largest_posteriors(rows, mixture, k):
    check_top(mixture.predict_top(rows, k), mixture.predict_proba(rows), k)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("kind", ["csr", "reference", "torch", "dask", "blocks"])
def test_on_every_engine(rows, mixture, kind, tmp_path):
    if kind == "csr":
        given = sparse.csr_array(rows)
    elif kind == "reference":
        given = sm.as_directions(rows, engine="reference")
    elif kind == "torch":
        given = pytest.importorskip("torch").from_numpy(rows)
    elif kind == "dask":
        given = pytest.importorskip("dask.array").from_array(rows, chunks=(64, 6))
    else:
        np.save(tmp_path / "rows.npy", rows)
        given = sm.as_directions(tmp_path / "rows.npy", block_rows=64)
    check_top(mixture.predict_top(given, 4), mixture.predict_proba(rows), 4)


def test_no_more_scores_are_held_than_allowed(rows, mixture, monkeypatch):
    monkeypatch.setattr(predictions, "ENTRIES", 1)
    monkeypatch.setattr(predictions, "FEWEST", 3)
    directions, widths = sm.as_directions(rows), []
    whole = directions.map_rows

    def watched(scorer, want):
        widths.append(scorer.n_components)
        return whole(scorer, want)

    monkeypatch.setattr(directions, "map_rows", watched)
    mixture.predict_top(directions, 2)
    assert max(widths) == 3
    assert sum(widths) == 40


def test_noise_counts_and_is_no_column(rows):
    noisy = sm.VMFMixture(3, noise="uniform", max_noise=None, random_state=0, n_init=2).fit(rows)
    found = noisy.predict_top(rows)
    assert found.shape == (150, 3)
    assert_allclose(found.toarray(), noisy.predict_proba(rows), rtol=1e-9)
    left = 1.0 - np.asarray(found.sum(axis=1)).ravel()
    assert_allclose(left, noisy.predict_noise(rows), atol=1e-9)


def test_a_number_of_components_is_needed(rows, mixture):
    with pytest.raises(ParameterError, match="k must be"):
        mixture.predict_top(rows, 0)
