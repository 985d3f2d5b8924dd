"""The parameters of VMFMixture: starts, penalty, weights, M-steps, and who watches a fit."""

from __future__ import annotations

import re

import numpy as np
import pytest
from mixture_common import assert_same_fit, mixture
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import adjusted_rand_score

import spheremix as sm
from spheremix.em import Progress


@pytest.mark.parametrize("init", ["random", "k-means++", "spherical-k-means"])
def test_named_starts(clouds, init):
    X, labels = clouds(noise=0.1)
    mix = mixture(init=init, n_init=5).fit(X)
    assert adjusted_rand_score(labels, mix.labels_) == 1.0
    assert len(mix.runs_) == 5


def test_given_starts_mean_one_run(clouds):
    X, labels = clouds(noise=0.3)
    first = mixture(kappa="free").fit(X)
    starts = {
        "labels": labels,
        "list of labels": labels.tolist(),
        "prototypes": 7.0 * first.prototypes_,
        "model": first,
    }
    for name, init in starts.items():
        mix = mixture(kappa="free", init=init, n_init=4).fit(X)
        assert len(mix.runs_) == 1, name
        assert mix.runs_[0].seed is None
        assert_allclose(mix.objective_, first.objective_, atol=1e-5, err_msg=name)
    assert_array_equal(mixture(init=labels).fit(X).labels_, labels)
    assert mix.n_iter_ == 1  # from the solution itself


def test_start_of_another_kind_of_kappa(clouds):
    X, _ = clouds(noise=0.5)
    free = mixture(kappa="free").fit(X)
    shared = mixture(kappa="shared", init=free).fit(X)
    assert len(set(shared.kappas_)) == 1
    assert shared.status_ == "converged"
    assert shared.stationarity_gap_ < 1e-7


def test_starts_from_other_models(clouds):
    X, _ = clouds()
    kmeans = sm.SphericalKMeans(3, random_state=0).fit(X)
    path = sm.VMFPath(3, random_state=0, max_steps=2).fit(X)
    for init in (kmeans, path, FrozenEstimator(path.best_estimator_)):
        assert sm.VMFMixture(3, init=init).fit(X).status_ == "converged"
    frozen = clone(sm.VMFMixture(3, init=FrozenEstimator(path.best_estimator_)))
    assert frozen.fit(X).status_ == "converged"
    with pytest.raises(ValueError, match="FrozenEstimator"):
        clone(sm.VMFMixture(3, init=path.best_estimator_)).fit(X)


def test_feature_weights(clouds):
    """No weight keeps a feature, a huge one removes it, ones are nothing, twos double beta."""
    X, labels = clouds(noise=0.8)
    weights = np.array([0.0, 0.0, 1e9, 1e9, 1.0, 1.0, 1.0, 1.0])
    mix = mixture(init=labels, beta=10.0, feature_weights=weights).fit(X)
    assert np.all(mix.prototypes_[:, :2] != 0)
    assert_array_equal(mix.prototypes_[:, 2:4], 0)
    plain = mixture(init=labels, beta=10.0).fit(X)
    assert_same_fit(mixture(init=labels, beta=10.0, feature_weights=np.ones(8)).fit(X), plain)
    assert_same_fit(mixture(init=labels, beta=5.0, feature_weights=[2] * 8).fit(X), plain)


def test_more_penalty_is_sparser(clouds):
    X, labels = clouds(noise=0.8)
    counts = [
        np.count_nonzero(mixture(init=labels, beta=beta).fit(X).prototypes_)
        for beta in (0.0, 10.0, 30.0, 1e4)
    ]
    assert counts[0] == 24
    assert counts[0] > counts[1] > counts[2] > counts[3] == 3


@pytest.mark.parametrize("m_step", ["exact", "paper"])
@pytest.mark.parametrize("kappa_solver", ["exact", "banerjee"])
def test_all_four_m_steps(clouds, m_step, kappa_solver):
    X, labels = clouds(noise=0.5)
    options = {"init": labels, "beta": 4.0}
    mix = mixture(m_step=m_step, kappa_solver=kappa_solver, **options).fit(X)
    best = mixture(**options).fit(X)
    assert mix.status_ == "converged"
    assert best.objective_ + 120 * best.tol >= mix.objective_ > best.objective_ - 5
    assert_array_equal(mix.labels_, best.labels_)


@pytest.mark.parametrize("contain", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kappa", ["shared", "free"])
def test_weights_are_repetition(clouds, contain, kappa):
    """From the same start, and rows of weight zero are not there."""
    X, labels = clouds(n=90, noise=0.8)
    counts = np.random.default_rng(0).integers(0, 4, 90)
    options = {"kappa": kappa, "beta": 5.0, "tol": 1e-10}
    weighted = mixture(init=labels, **options).fit(contain(X), sample_weight=counts)
    again = np.repeat(np.arange(90), counts)
    repeated = mixture(init=labels[again], **options).fit(contain(X[again]))
    assert_same_fit(weighted, repeated)
    assert_array_equal(weighted.labels_[again], repeated.labels_)
    assert_allclose(weighted.log_likelihood_, repeated.log_likelihood_, rtol=1e-9)
    assert weighted.criteria_ == pytest.approx(repeated.criteria_, rel=1e-9)
    # A common factor changes the scale of beta alone.
    options["beta"] = 15.0
    scaled = mixture(init=labels, **options).fit(contain(X), sample_weight=3.0 * counts)
    assert_allclose(scaled.prototypes_, weighted.prototypes_, atol=1e-7)
    assert_allclose(scaled.objective_, 3 * weighted.objective_, rtol=1e-9)


def test_warm_start(clouds):
    X, _ = clouds(n=150, noise=0.9)
    mix = mixture(warm_start=True, n_init=4).fit(X)
    cold = mix.n_iter_
    assert len(mix.runs_) == 4 + 3  # and the crossings
    mix.fit(X)
    assert (len(mix.runs_), mix.n_iter_) == (1, 1)
    mix.set_params(beta=0.5).fit(X)
    assert mix.n_iter_ < cold
    assert mix.stationarity_gap_ < 1e-7
    with pytest.raises(ValueError, match=r"warm_start.*another number of components or features"):
        mix.set_params(n_components=2).fit(X)


def test_verbose_prints_a_line_a_restart(clouds, capsys):
    X, _ = clouds()
    mix = mixture(n_init=3).fit(X)
    assert capsys.readouterr().out == ""
    mixture(n_init=3, verbose=1).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 + 2  # and the crossings
    for i, (line, run) in enumerate(zip(lines, mix.runs_, strict=True)):
        number, start, status, n_iter, objective, gap = re.fullmatch(
            r"run (\d)/5 \((\w+)\): (\w+) after (\d+) iterations, objective (\S+), gap (\S+)", line
        ).groups()
        assert (int(number), start) == (i + 1, run.start)
        assert (status, int(n_iter)) == (run.status, run.n_iter)
        assert float(objective) == pytest.approx(run.objective, abs=1e-6)
        assert float(gap) == pytest.approx(run.stationarity_gap, rel=0.1)


def test_callback(clouds):
    X, _ = clouds()
    seen = []
    mix = mixture(init="random", n_init=3, callback=seen.append).fit(X)
    assert all(isinstance(progress, Progress) for progress in seen)
    assert len(seen) == max(run.n_iter for run in mix.runs_) + 1
    assert (seen[0].n_running, seen[0].n_runs) == (3, 3)
    searched = []
    mixture(n_init=3, callback=searched.append).fit(X)
    assert (searched[0].n_running, searched[0].n_runs) == (3, 3)
    assert [progress.n_sweeps for progress in searched] == list(range(1, len(searched) + 1))


def test_callback_can_stop_a_fit(clouds):
    def stop(_):
        raise KeyboardInterrupt

    mix = mixture(callback=stop)
    with pytest.raises(KeyboardInterrupt):
        mix.fit(clouds()[0])
    with pytest.raises(NotFittedError):
        mix.predict(clouds()[0])
