"""The parameters of VMFCoclustering: starts, refusals, warnings and scikit-learn's checks."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from coclustering_common import ALGORITHMS, block_mixture, planted
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score

import spheremix as sm


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"n_components": 28}, "more than the 27 features"),
        ({"algorithm": "vem"}, "algorithm must be one of 'em', 'cem', 'sem', 'saem', 'caem'"),
        ({"kappa": "unequal"}, "kappa"),
        ({"kappa": 0.0}, "kappa"),
        ({"kappa": [1.0, 0.0, 1.0]}, "kappa must be above 0"),
        ({"kappa": [1.0, 2.0]}, "kappa must have one value for each component"),
        ({"weights": "even"}, "weights must be one of"),
        ({"count": "dense"}, "count must be one of"),
        ({"n_drawn": 0}, "n_drawn"),
        ({"n_init": 0}, "n_init"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": -1.0}, "tol"),
        ({"init": "spread"}, "init must be one of"),
        ({"init": np.ones((2, 27))}, "prototypes of shape \\(3, 27\\)"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        block_mixture(**parameters).fit(planted()[0])


def test_given_starts():
    X, rows, _ = planted()
    first = block_mixture().fit(X)
    for init in (rows, first, first.prototypes_, sm.SphericalKMeans(3, random_state=0).fit(X)):
        for algorithm in ALGORITHMS:
            fit = block_mixture(init=init, algorithm=algorithm, n_drawn=5).fit(X)
            assert len(fit.runs_) == 1
            assert adjusted_rand_score(rows, fit.labels_) == 1.0
    with pytest.raises(ValueError, match="3 components in 27 dimensions; 2 in 27"):
        block_mixture(n_components=2, init=first).fit(X)


def test_a_block_of_negative_columns():
    X, _, columns = planted()
    first = block_mixture().fit(X)
    signs = np.where(columns == 0, -1.0, 1.0)
    start = SimpleNamespace(**{**vars(first), "prototypes_": first.prototypes_ * signs})
    fit = block_mixture(init=start).fit(X * signs)
    assert fit.n_iter_ <= 1
    assert_array_equal(fit.prototypes_, first.prototypes_ * signs)
    assert_allclose(fit.log_likelihood_, first.log_likelihood_)
    assert_array_equal(fit.predict(X * signs), first.labels_)


@pytest.mark.parametrize("init", ["random", "k-means++", "spherical-k-means"])
def test_named_starts(init):
    X, rows, _ = planted()
    assert adjusted_rand_score(rows, block_mixture(init=init).fit(X).labels_) == 1.0


def test_warm_start():
    X, _, _ = planted(noise=0.8)
    fit = block_mixture(warm_start=True).fit(X)
    likelihood = fit.log_likelihood_
    fit.fit(X)
    assert fit.n_iter_ <= 1
    assert fit.log_likelihood_ >= likelihood - 1e-12 * abs(likelihood)


def test_max_iter_warns():
    with pytest.warns(ConvergenceWarning, match="limit of 2 iterations .* raise max_iter"):
        fit = block_mixture(max_iter=2, tol=0.0).fit(planted(noise=0.6)[0])
    assert (fit.status_, fit.n_iter_) == ("max_iter", 2)


def test_verbose_and_callback(capsys):
    seen = []
    block_mixture(verbose=1, n_init=2, callback=seen.append, algorithm="caem").fit(planted()[0])
    assert capsys.readouterr().out.count("run ") == 2
    assert len(seen) > 50


def test_kappa_at_its_cap_is_flagged():
    X = np.repeat(np.kron(np.eye(2), np.ones((1, 3))), 6, axis=0)
    fit = block_mixture(n_components=2).fit(X)
    assert fit.runs_[0].kappa_capped
    assert_array_equal(np.bincount(fit.labels_), [6, 6])


# ------------------------------------------------------------------------------------- scikit-learn


def test_frames_and_pickle():
    X, _, _ = planted()
    frame = pd.DataFrame(X, columns=[f"word{j}" for j in range(27)])
    fit = block_mixture().set_output(transform="pandas").fit(frame)
    assert list(fit.transform(frame).columns) == [f"vmfcoclustering{k}" for k in range(3)]
    again = pickle.loads(pickle.dumps(fit))  # noqa: S301
    assert_array_equal(again.predict(frame), fit.labels_)
    with pytest.raises(NotFittedError):
        clone(fit).predict(frame)
