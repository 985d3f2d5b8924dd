"""Where estimators meet what nobody planned: devices that fail, Ctrl-C, shares for weights."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import spheremix as sm
from spheremix.estimators.strategies import PathProgress

K = 3


@pytest.fixture(scope="module")
def rows():
    return sm.datasets.make_vmf_mixture(
        n_samples=120, n_features=8, n_components=K, overlap=0.02, sparsity=0.4, random_state=3
    )[0]


@pytest.fixture(scope="module")
def path(rows):
    return sm.VMFPath(K, n_init=2, random_state=0).fit(rows)


class Watched:
    """Rows that count their sweeps, and can fail."""

    def __init__(self, X, fails_at=None):
        self.inner = sm.as_directions(X)
        self.n_rows, self.n_features = self.inner.n_rows, self.inner.n_features
        self.n_threads = self.inner.n_threads
        self.n_sweeps, self.fails_at = 0, fails_at

    def sweep(self, scorers, weights=None):
        self.n_sweeps += 1
        if self.fails_at is not None and self.n_sweeps >= self.fails_at:
            raise RuntimeError("the device is gone")
        return self.inner.sweep(scorers, weights)

    def map_rows(self, scorer, want):
        return self.inner.map_rows(scorer, want)

    def take(self, ids):
        return self.inner.take(ids)


# Failures


def test_a_device_that_fails_is_not_a_restart_that_fails(rows):
    calm = Watched(rows)
    path = sm.VMFPath(K, strategy="random", betas=[1.0, 2.0, 4.0], n_init=2, random_state=0)
    path.fit(calm)
    with pytest.raises(RuntimeError, match="the device is gone"):
        path.fit(Watched(rows, fails_at=calm.n_sweeps - 1))
    study = sm.VMFMixtureIC([2, 3], n_init=1, random_state=0)
    with pytest.raises(RuntimeError, match="the device is gone"):
        study.fit(Watched(rows, fails_at=3))


def test_ctrl_c_ends_all_the_paths_of_a_study(rows):
    seen = []

    def stop(state):
        if isinstance(state, PathProgress):
            seen.append(state.n_steps)
            if len(seen) == 3:
                raise KeyboardInterrupt

    study = sm.VMFMixtureIC([2, 3, 4], paths="all", n_init=2, random_state=0, callback=stop)
    with pytest.warns(UserWarning, match="best_path_"):
        study.fit(rows)
    assert seen == [2, 3, 4]
    assert list(study.paths_) == [study.best_n_components_]
    assert study.best_path_.status_ == "interrupted"


def test_rows_that_cancel_out_have_no_direction():
    with pytest.raises(RuntimeError, match=r"a mixture of 1 component .*may cancel out"):
        sm.VMFMixture(1).fit([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


def test_a_concentration_at_its_cap_is_said():
    angles = np.concatenate([np.linspace(0, 1e-4, 20), 1.5 + np.linspace(0, 1, 20)])
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    with pytest.warns(ConvergenceWarning, match=r"at its cap of 5e\+05.* raise kappa_max"):
        capped = sm.VMFMixture(2, kappa="free", random_state=0).fit(X)
    assert capped.kappas_.max() == capped.kappa_max_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        free = sm.VMFMixture(2, kappa="free", random_state=0, kappa_max=1e12).fit(X)
    assert free.kappas_.max() > 1e8
    with pytest.warns(UserWarning, match="at its cap"):
        sm.VonMisesFisher.fit(X[:20])


# Going on


def test_a_stored_trail_is_where_a_path_goes_on(rows, path):
    kept = []

    def keep(state):
        if isinstance(state, PathProgress) and state.n_steps == 5:
            kept.append(state.state)
            raise KeyboardInterrupt

    first = sm.VMFPath(K, n_init=2, random_state=0, callback=keep)
    with pytest.warns(UserWarning, match="interrupted after 5 steps"):
        first.fit(rows)
    second = sm.VMFPath(K, n_init=2, random_state=0, warm_start=True)
    second.state_ = kept[0]
    second.fit(rows)
    np.testing.assert_array_equal(second.betas_, path.betas_)
    np.testing.assert_array_equal(second.labels_, path.labels_)


def test_a_warm_start_is_judged_by_the_penalty_of_now(rows):
    told = []
    mix = sm.VMFMixture(K, beta=5.0, n_init=2, random_state=0, warm_start=True).fit(rows)
    before = mix.log_likelihood_ - 5.0 * 7.0 * np.abs(mix.prototypes_).sum()
    mix.set_params(feature_weights=np.full(8, 7.0), callback=told.append)
    mix.fit(rows)
    assert told[0].objective == pytest.approx(before, rel=1e-12)


def test_a_model_of_a_path_can_be_changed_alone(path):
    before = path.kappas_[0].copy(), path.state_.steps[0].weights.copy()
    taken = path.model(0)
    taken.kappas_[:], taken.weights_[:] = 1.0, 0.0
    np.testing.assert_array_equal(path.state_.steps[0].kappas, before[0])
    np.testing.assert_array_equal(path.state_.steps[0].weights, before[1])


# Starts


def test_starts_by_spherical_k_means_share_their_sweeps(rows):
    one, ten = Watched(rows), Watched(rows)
    settings = {"init": "spherical-k-means", "max_iter": 1, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        sm.VMFMixture(K, n_init=1, **settings).fit(one)
        sm.VMFMixture(K, n_init=10, **settings).fit(ten)
    assert ten.n_sweeps < 3 * one.n_sweeps


# Weights and tolerances


def test_bootstraps_of_shares_are_those_of_the_rows(rows, path):
    shares = np.full(len(rows), 1 / len(rows))
    with pytest.warns(UserWarning, match=r"sums to 1, .* multiply weights that are shares"):
        light = sm.VMFPath(K, init=path.model(0)).fit(rows, sample_weight=shares)
    step = int(np.searchsorted(path.sparsity_, 0.4))
    there = int(np.argmin(np.abs(light.betas_ * len(rows) - path.betas_[step])))
    assert light.betas_[there] * len(rows) == pytest.approx(path.betas_[step], rel=1e-6)
    expected = sm.stability_selection(path, rows, 10, step=step, random_state=1)
    with pytest.warns(UserWarning, match="multiply weights that are shares"):
        found = sm.stability_selection(
            light, rows, 10, step=there, sample_weight=shares, random_state=1
        )
    assert 0.0 < expected.mean() < 1.0
    np.testing.assert_allclose(found, expected, atol=0.11)  # one bootstrap more or less


@pytest.mark.parametrize("kind", [sm.VMFMixture, sm.SphericalKMeans])
def test_scores_can_be_weighted(rows, kind):
    model = kind(K, n_init=1, random_state=0).fit(rows)
    weights = np.arange(len(rows), dtype=float)
    alone = [model.score(rows[i : i + 1]) for i in range(len(rows))]
    expected = (weights * alone).sum() / weights.sum()
    assert model.score(rows, sample_weight=weights) == pytest.approx(expected, rel=1e-10)
    assert model.score(rows) == pytest.approx(np.mean(alone), rel=1e-10)


@pytest.mark.parametrize("kappa", ["shared", "free"])
@pytest.mark.parametrize("beta", [0.0, 10.0])
def test_without_a_tolerance_it_stops_at_rounding(rows, kappa, beta):
    mix = sm.VMFMixture(K, kappa=kappa, beta=beta, tol=0.0, max_iter=5000, n_init=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mix.fit(rows)
    assert mix.status_ == "converged"
    assert mix.stationarity_gap_ < 1e-13 * abs(mix.objective_)


# Words


# Known parameters


def test_a_mixture_of_known_parameters_draws_and_predicts(rows):
    fitted = sm.VMFMixture(K, kappa="free", n_init=2, random_state=0).fit(rows)
    theta = fitted.kappas_[:, None] * fitted.prototypes_
    known = sm.VMFMixture.from_parameters(theta, fitted.kappas_, 10 * fitted.weights_)
    np.testing.assert_allclose(known.score_samples(rows), fitted.score_samples(rows), rtol=1e-12)
    np.testing.assert_array_equal(known.predict(rows), fitted.labels_)
    assert known.bic(rows) == pytest.approx(fitted.criteria_["bic"], rel=1e-12)
    assert known.n_parameters_ == fitted.n_parameters_ == K - 1 + K + K * 7
    drawn, labels = known.sample(4000, random_state=0)
    for k in range(K):
        mean = drawn[labels == k].mean(axis=0)
        assert mean @ known.prototypes_[k] > 0.99 * np.linalg.norm(mean)
    again = sm.VMFMixture(K, kappa="free", init=known).fit(rows)
    assert again.log_likelihood_ == pytest.approx(fitted.log_likelihood_, rel=1e-7)


def test_a_mixture_of_one_kappa_and_equal_weights(tmp_path):
    for prototypes in (np.eye(3), sparse.csr_array(np.eye(3))):
        mix = sm.VMFMixture.from_parameters(prototypes, 10.0)
        np.testing.assert_array_equal(mix.prototypes_, np.eye(3))
        np.testing.assert_array_equal(mix.kappas_, np.full(3, 10.0))
        np.testing.assert_allclose(mix.weights_, 1 / 3)
        assert mix.kappa == "shared"
    with pytest.raises(sm.RunError, match="made of known parameters"):
        sm.save_run(tmp_path / "run", mix)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 0.0], 1.0), "prototypes must be a table"),
        (([[1.0, 0.0], [0.0, 0.0]], 1.0), "prototypes must be a table"),
        ((np.eye(2), [1.0, 0.0]), "kappas must be above 0"),
        ((3.0, 1.0), "prototypes must be a table"),
        ((np.eye(2), [1.0]), "one value for each component"),
        ((np.eye(2), "shared"), "kappas must be a finite number"),
        ((np.eye(2), 1.0, [1.0, 0.0]), "weights must be above 0"),
        ((np.eye(2), 1.0, [1.0, 1.0, 1.0]), "one value for each component"),
    ],
)
def test_parameters_that_are_none(arguments, message):
    with pytest.raises(ValueError, match=message):
        sm.VMFMixture.from_parameters(*arguments)


def test_warnings_come_once_and_at_the_line_of_the_caller(rows):
    twice = np.repeat(rows[:4], 30, axis=0)
    shares = np.full(len(twice), 1 / len(twice))
    for model in (
        sm.VMFMixture(4, kappa="free", init="k-means++", random_state=0),
        sm.VMFPath(4, kappa="free", init="k-means++", max_steps=2, random_state=0),
        sm.VMFMixtureIC([4], kappa="free", init="k-means++", max_steps=2, random_state=0),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(twice, sample_weight=shares)
        said = [str(one.message) for one in caught]
        assert sum("at its cap" in text for text in said) == 1, said
        assert sum("multiply weights that are shares" in text for text in said) == 1, said
        assert {one.filename for one in caught} == {__file__}
