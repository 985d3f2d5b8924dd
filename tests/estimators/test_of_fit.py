"""The mixture of any fitted estimator, and rows that are those of its fit or not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.estimators.of_fit import mixture_of, open_rows_of


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return np.kron(np.eye(3), np.ones((40, 3))) + rng.uniform(0.0, 0.8, (120, 9))


def made(kind):
    cut = {"n_clusters": 3} if kind is sm.VMFTree else {}
    number = {sm.VMFTree: 5, sm.VMFMixtureIC: [3]}.get(kind, 3)
    return kind(number, random_state=0, **cut)


KINDS = [
    sm.VMFMixture,
    sm.VMFPath,
    sm.VMFMixtureIC,
    sm.VMFTree,
    sm.SphericalKMeans,
    sm.VMFCoclustering,
]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_and_weights_of_the_fit_are_known_again_and_others_are_refused(kind, rows):
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 120)
    model = made(kind).fit(rows, sample_weight=weights)
    mixture, opened, given = open_rows_of(model, rows, weights)
    assert opened.n_rows == 120
    assert_array_equal(given, weights)
    assert_array_equal(mixture.predict(rows), model.predict(rows))
    order = np.random.default_rng(2).permutation(120)
    for other, its in (
        (rows, None),  # without the weights
        (rows, weights[::-1]),
        (rows[:100], weights[:100]),
        (rows[order], weights[order]),
        (np.abs(rows - 0.2), weights),
    ):
        with pytest.raises(ParameterError, match=r"^X and sample_weight are not the rows"):
            open_rows_of(model, other, its)


@pytest.mark.parametrize(
    "use",
    [
        sm.calibrate,
        sm.stability,
        lambda model, X: sm.compare_batch(model, X, X[:10]),
    ],
)
def test_whoever_needs_the_rows_of_the_fit_refuses_alike(use, rows):
    model = sm.VMFMixture(3, random_state=0).fit(rows)
    with pytest.raises(ParameterError, match="are not the rows and the weights"):
        use(model, rows[:90])
    with pytest.raises(ParameterError, match="must be a fitted estimator of spheremix"):
        use("mixture", rows)
    with pytest.raises(NotFittedError):
        use(sm.VMFMixture(3), rows)


@pytest.mark.parametrize("kind", KINDS)
def test_every_estimator_is_compared_with_a_batch(kind, rows):
    model = made(kind).fit(rows[::2])
    found = sm.compare_batch(model, rows[::2], rows[1::2])
    assert_array_equal(found.labels, model.predict(rows[1::2]))
    assert len(repr(found).split("\n")) == 3


def test_mixtures_that_know_no_rows_take_all(rows):
    given = mixture_of(sm.VMFMixture(3, random_state=0).fit(rows))
    mixture = sm.VMFMixture.from_parameters(given.prototypes_, given.kappas_, given.weights_)
    assert open_rows_of(mixture, rows[:50])[1].n_rows == 50
    given.partial_fit(rows[:30])
    assert open_rows_of(given, rows)[1].n_rows == 120


def test_noise_and_other_engines(rows):
    noisy = np.concatenate([rows, np.random.default_rng(0).uniform(-1.0, 1.0, (20, 9))])
    model = sm.VMFMixture(3, noise="uniform", random_state=0).fit(noisy)
    assert open_rows_of(model, noisy)[1].n_rows == 140
    with pytest.raises(ParameterError, match="are not the rows"):
        open_rows_of(model, noisy[::-1])
    single = sm.VMFMixture(3, random_state=0).fit(rows.astype(np.float32))
    assert open_rows_of(single, rows)[1].n_rows == 120
    assert open_rows_of(single, sm.as_directions(rows, engine="reference"))[1].n_rows == 120
