"""Stability selection: the share of bootstraps that keep a coordinate."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import spheremix as sm
from spheremix import em
from spheremix.estimators import replicates


def test_stability_is_a_share_of_bootstraps(rows, path):
    shares = sm.stability_selection(path, rows, n_bootstrap=12, random_state=0)
    assert shares.shape == (4, 10)
    assert np.all((shares >= 0) & (shares <= 1))
    assert_array_equal(shares * 12, np.round(shares * 12))
    assert_array_equal(shares, sm.stability_selection(path, rows, n_bootstrap=12, random_state=0))
    other = sm.stability_selection(path, rows, n_bootstrap=12, random_state=1)
    assert not np.array_equal(shares, other)
    # What stays longest on the path is the most stable.
    strong = path.exit_betas_ >= np.quantile(path.exit_betas_, 0.5)
    assert np.all(shares[strong] > 0.9)
    assert shares[strong].mean() > shares[~strong].mean()


def test_stability_from_its_definition(rows, path):
    """Each bootstrap is the mixture of rows drawn again, from the path's solution."""
    i = path.selected_
    shares = sm.stability_selection(path, rows, n_bootstrap=3, random_state=7)
    seed = np.random.RandomState(7).randint(2**31 - 1, size=1)[0]
    draws = np.random.default_rng(seed).multinomial(500, np.full(500, 1 / 500), size=3)
    times = np.zeros((4, 10))
    for weights in draws:
        assert weights.sum() == 500
        mixture = clone(path.model(i)).set_params(init=path.model(i))
        times += mixture.fit(rows, sample_weight=weights).prototypes_ != 0
    assert_array_equal(shares, times / 3)


def test_stability_at_another_step(rows, path):
    last = len(path.betas_) - 1
    shares = sm.stability_selection(path, rows, n_bootstrap=5, step=last, random_state=0)
    assert_allclose(shares.sum(axis=1), 1)  # one coordinate a prototype in each bootstrap
    dense = sm.stability_selection(path, rows, n_bootstrap=5, step=0, random_state=0)
    assert np.all(dense == 1)


def test_stability_reads_weights_and_copies_no_row(rows, path, monkeypatch):
    seen = []
    fit = em.fit

    def spy(model, directions, starts, settings, **options):
        seen.append((directions, options["weights"].shape))
        return fit(model, directions, starts, settings, **options)

    monkeypatch.setattr(replicates.em, "fit", spy)
    sm.stability_selection(path, rows, n_bootstrap=12, random_state=0)
    assert [shape for _, shape in seen] == [(10, 500), (2, 500)]
    assert len({id(directions) for directions, _ in seen}) == 1
    assert seen[0][0].n_rows == 500


def test_stability_refuses(rows, path):
    with pytest.raises(NotFittedError):
        sm.stability_selection(sm.VMFPath(), rows)
    with pytest.raises(ValueError, match="n_bootstrap must be an integer of at least 1"):
        sm.stability_selection(path, rows, n_bootstrap=0)
    with pytest.raises(ValueError, match="7 features"):
        sm.stability_selection(path, rows[:, :7])


def test_stability_without_a_bootstrap_left(rows, path, monkeypatch):
    def failed(_model, _directions, starts, _settings, **_):
        return [em.Fit(start, None, 0.0, np.nan, "collapsed", 1, []) for start in starts]

    monkeypatch.setattr(replicates.em, "fit", failed)
    with pytest.raises(RuntimeError, match="Every bootstrap lost a component"):
        sm.stability_selection(path, rows, n_bootstrap=2)


def test_stability_of_weights_is_that_of_repeated_rows(rows):
    mix = sm.VMFMixture(4, random_state=0).fit(rows)
    options = {"n_components": 4, "init": mix, "betas": [40.0]}
    weighted = sm.VMFPath(**options).fit(rows, sample_weight=np.full(len(rows), 3.0))
    repeated = sm.VMFPath(**options).fit(np.repeat(rows, 3, axis=0))
    one = sm.stability_selection(
        weighted, rows, 200, step=1, sample_weight=np.full(len(rows), 3.0), random_state=0
    )
    two = sm.stability_selection(repeated, np.repeat(rows, 3, axis=0), 200, step=1, random_state=1)
    assert np.abs(one - two).max() < 5 * np.sqrt(2 * 0.25 / 200)
