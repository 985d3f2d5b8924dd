"""What all estimators do alike: threads, weights, starts, limits, copies, frames, and refusals."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from coclustering_common import ALGORITHMS, planted
from mixture_common import KINDS, assert_same_bits, assert_same_fit, results
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import adjusted_rand_score

import spheremix as sm

FITTED = (sm.VMFMixture, sm.SphericalKMeans, sm.VMFCoclustering)
fitted_once = pytest.mark.parametrize("kind", FITTED)
every = pytest.mark.parametrize("kind", KINDS)
containers = pytest.mark.parametrize("contain", [np.asarray, sparse.csr_array])


def by_name(**cases):
    return pytest.mark.parametrize("estimator", cases.values(), ids=cases)


def value_of(fit):
    return fit.coherence_ if isinstance(fit, sm.SphericalKMeans) else fit.log_likelihood_


# ------------------------------------------------------------------------- the same, and alike


@containers
@by_name(
    mixture=sm.VMFMixture(5, n_init=2),
    hard=sm.VMFMixture(3, e_step="hard", init="k-means++", n_init=2, beta=2.0),
    noise=sm.VMFMixture(3, noise="uniform", n_init=2),
    clusters=sm.SphericalKMeans(7),
    tree=sm.VMFTree(6, n_clusters=3, n_init=2),
    **{one: sm.VMFCoclustering(3, algorithm=one, n_drawn=10, n_init=3) for one in ALGORITHMS},
)
def test_a_seed_gives_the_same_bits_for_any_number_of_threads(estimator, contain):
    X, _, _ = planted(n=(600, 400, 200), noise=0.8)
    fits = [
        clone(estimator).set_params(random_state=0, n_threads=n).fit(contain(X)) for n in (1, 1, 3)
    ]
    for other in fits[1:]:
        assert_same_bits(fits[0], other)


@containers
@by_name(
    shared=sm.VMFMixture(3, beta=5.0, tol=1e-10),
    free=sm.VMFMixture(3, beta=5.0, tol=1e-10, kappa="free"),
    noise=sm.VMFMixture(3, noise="uniform", tol=1e-11),
    little_noise=sm.VMFMixture(3, noise="uniform", tol=1e-11, max_noise=0.05),
    clusters=sm.SphericalKMeans(3),
    blocks=sm.VMFCoclustering(3),
    path=sm.VMFPath(3, tol=1e-10, max_steps=8),
    relaxed=sm.VMFPath(3, tol=1e-11, betas=[2.0, 10.0, 30.0], relaxed=True),
)
def test_weights_are_repetition(estimator, contain):
    """From the same start, and rows of weight zero are not there."""
    X, labels, _ = planted(n=(40, 30, 20), noise=0.8)
    times = np.random.default_rng(1).integers(0, 3, len(X))
    again = np.repeat(np.arange(len(X)), times)
    weighted = clone(estimator).set_params(init=labels).fit(contain(X), sample_weight=times)
    repeated = clone(estimator).set_params(init=labels[again]).fit(contain(X[again]))
    assert_same_fit(weighted, repeated)
    assert_array_equal(weighted.labels_[again], repeated.labels_)


# -------------------------------------------------------------------------------------- starts


@pytest.mark.parametrize("init", ["random", "k-means++", "spherical-k-means", "merge"])
@fitted_once
def test_named_starts(kind, init):
    X, rows, _ = planted()
    if (kind, init) in {(sm.SphericalKMeans, "spherical-k-means"), (sm.VMFCoclustering, "merge")}:
        with pytest.raises(ValueError, match=r"init must be one of .*'random', 'k-means\+\+'"):
            kind(3, init=init).fit(X)
        return
    fit = kind(3, init=init, n_init=5, random_state=0).fit(X)
    assert adjusted_rand_score(rows, fit.labels_) == 1.0
    assert [run.start for run in fit.runs_][:5] == [init] * 5
    assert value_of(fit) == max(value_of_run(run) for run in fit.runs_)


def value_of_run(run):
    return getattr(run, "coherence", None) or run.objective


@fitted_once
def test_given_starts_mean_one_run(kind):
    X, rows, _ = planted()
    first = kind(3, random_state=0).fit(X)
    others = [other(3, random_state=0).fit(X) for other in FITTED]
    path = sm.VMFPath(3, random_state=0, max_steps=2).fit(X)
    given = (rows, rows.tolist(), 7.0 * first.prototypes_, FrozenEstimator(first), path)
    for init in (*given, *others, first):
        fit = kind(3, init=init, n_init=4).fit(X)
        assert [run.start for run in fit.runs_] == ["given"]
        assert fit.runs_[0].seed is None
        assert_allclose(value_of(fit), value_of(first), rtol=1e-6)
    assert fit.n_iter_ <= 1  # from the solution itself
    assert_allclose(value_of(clone(kind(3, init=given[3])).fit(X)), value_of(first), rtol=1e-6)
    with pytest.raises(ValueError, match="FrozenEstimator"):
        clone(kind(3, init=first)).fit(X)
    for strange in (kind(3), KMeans(3, n_init=1).fit(X)):
        with pytest.raises(ValueError, match=r"a model without prototypes_.*cluster_centers_"):
            kind(3, init=strange).fit(X)
    with pytest.raises(ValueError, match=r"init is a model of 3 .*; 2 in 27|of shape \(2, 27\)"):
        kind(2, init=first).fit(X)


@fitted_once
def test_warm_start(kind):
    X, _, _ = planted(noise=0.8)
    fit = kind(3, n_init=4, random_state=0, warm_start=True).fit(X)
    before = value_of(fit)
    fit.fit(X)
    assert (len(fit.runs_), fit.n_iter_ <= 1) == (1, True)
    assert_allclose(value_of(fit), before, rtol=1e-9)
    words = {
        sm.VMFMixture: "warm_start.*another number of components or features",
        sm.SphericalKMeans: r"prototypes of shape \(2, 27\)",
        sm.VMFCoclustering: "a model of 3 components in 27 dimensions; 2 in 27",
    }
    with pytest.raises(ValueError, match=words[kind]):
        fit.set_params(n_components=2).fit(X)


@fitted_once
def test_max_iter_warns_and_says_what_to_do(kind):
    X, _, _ = planted(noise=1.6)
    with pytest.warns(ConvergenceWarning, match=r"limit of 1 iterations.* raise max_iter"):
        fit = kind(3, max_iter=1, tol=0.0, init="random", random_state=0).fit(X)
    assert (fit.status_, fit.n_iter_, fit.converged_) == ("max_iter", 1, False)
    assert fit.stationarity_gap_ > 1e-6


@fitted_once
def test_a_fit_tells_of_its_runs(kind, capsys):
    X, seen = planted()[0], []
    fit = kind(3, n_init=2, random_state=0).fit(X)
    assert capsys.readouterr() == ("", "")
    kind(3, n_init=2, random_state=0, verbose=1, callback=seen.append).fit(X)
    assert len(capsys.readouterr().out.splitlines()) == len(fit.runs_)
    assert (seen[0].n_running, seen[0].n_runs) == (2, 2)
    assert [one.n_sweeps for one in seen] == list(range(1, len(seen) + 1))


# ------------------------------------------------------------------------------ copies and names


@pytest.fixture(scope="module")
def fitted():
    frame = pd.DataFrame(planted()[0], columns=[f"word{j}" for j in range(27)])
    options = {"n_init": 2, "random_state": 0}
    return frame, [
        sm.VMFMixture(3, **options).fit(frame),
        sm.VMFMixture(3, noise="uniform", **options).fit(frame),
        sm.VMFPath(3, max_steps=3, **options).fit(frame),
        sm.VMFMixtureIC([2, 3], k_criterion="bic", max_steps=2, **options).fit(frame),
        sm.VMFTree(6, n_clusters=3, n_init=1, random_state=0).fit(frame),
        sm.SphericalKMeans(3, **options).fit(frame),
        sm.VMFCoclustering(3, **options).fit(frame),
    ]


def test_copies(fitted):
    frame, estimators = fitted
    for estimator in estimators:
        again = pickle.loads(pickle.dumps(estimator))  # noqa: S301
        assert_same_bits(again, estimator)
        assert_array_equal(again.predict(frame), estimator.labels_)
        copy = clone(estimator)
        assert copy.get_params() == estimator.get_params()
        assert not results(copy, object)


def test_columns_keep_their_names(fitted):
    frame, estimators = fitted
    for estimator in estimators:
        parts = [estimator]
        if isinstance(estimator, sm.VMFPath):
            parts += [estimator.best_estimator_, estimator.model(0)]
        if isinstance(estimator, sm.VMFTree):
            parts += [estimator.cut(4), estimator.path(3, max_steps=2)]
            parts += [estimator.cut(levels=[2, 4])[4]]
        for one in parts:
            assert_array_equal(one.feature_names_in_, frame.columns)
        with pytest.raises(ValueError, match="feature names"):
            estimator.predict(frame[frame.columns[::-1]])
        if hasattr(estimator, "transform"):
            names = [f"{type(estimator).__name__.lower()}{k}" for k in range(3)]
            assert list(estimator.get_feature_names_out()) == names


@every
def test_columns_without_names_forget_those_of_the_fit_before(kind):
    X = np.kron(np.eye(2), np.ones((10, 3))) + np.random.default_rng(0).random((20, 6)) / 5
    options = {
        sm.VMFTree: {"n_clusters": 2},
        sm.VMFMixtureIC: {"k_criterion": "bic", "paths": "none"},
    }.get(kind, {})
    components = [2, 3] if kind is sm.VMFMixtureIC else 2
    estimator = kind(components, random_state=0, **options).fit(
        pd.DataFrame(X, columns=[*"abcdef"])
    )
    assert list(estimator.feature_names_in_) == [*"abcdef"]
    estimator.fit(X)
    assert not hasattr(estimator, "feature_names_in_")
    assert estimator.n_features_in_ == 6


@every
def test_what_is_not_fitted_says_so(kind):
    for name in ("scorer_", "cluster_centers_", "converged_"):
        assert not hasattr(kind(), name)
        with pytest.raises(NotFittedError, match="not fitted"):
            getattr(kind(), name)
    arguments = {"predict": (np.eye(3),), "predict_proba": (np.eye(3),), "score": (np.eye(3),)}
    arguments |= {"score_samples": (np.eye(3),), "transform": (np.eye(3),), "aic": (np.eye(3),)}
    arguments |= {"sample": (), "moved": (np.eye(3), 0, 1), "select": ("bic",), "model": (0,)}
    arguments |= {"predict_top": (np.eye(3),), "predict_noise": (np.eye(3),), "cut": (2,)}
    for name, given in arguments.items():
        if hasattr(kind, name):
            with pytest.raises(NotFittedError):
                getattr(kind(), name)(*given)


def test_centres_and_convergence(fitted):
    for estimator in fitted[1]:
        chosen = getattr(estimator, "best_estimator_", estimator)
        assert estimator.cluster_centers_ is chosen.prototypes_
        assert estimator.converged_ is (chosen.status_ == "converged")


def test_type_checkers_know_every_fitted_attribute(fitted):
    """And of each the type that it has: list, dictionary, number, text or array."""
    for estimator in fitted[1]:
        kind = type(estimator)
        declared = {
            name: annotation
            for base in reversed(kind.__mro__)
            for name, annotation in vars(base).get("__annotations__", {}).items()
        }
        for name, value in results(estimator, object).items():
            if name == "feature_names_in_":
                continue
            assert name in declared, (kind.__name__, name)
            shown = declared[name].split("[")[0]
            if shown in {"int", "float", "str", "list", "dict"}:
                plain = {"int": (int, np.integer), "float": (float, np.floating)}.get(shown)
                assert isinstance(value, plain or {"str": str, "list": list, "dict": dict}[shown])
            elif shown in {"Array", "Labels"}:
                assert value.dtype.kind == {"Array": "f", "Labels": "i"}[shown], name
            else:
                assert type(value).__name__ == shown, name


def test_rows_and_readings_show_what_they_are(fitted):
    frame, (mixture, _, path, *_) = fitted
    for engine in ("reference", "auto"):
        shown = repr(sm.as_directions(frame, engine=engine, n_threads=1))
        assert shown.endswith("Directions: 120 directions in 27 dimensions>")
    assert repr(sm.reading.Reading(mixture)) == "<Reading of VMFMixture: 3 groups, 27 features>"
    shown = repr(sm.reading.Reading(path, step=1))
    assert shown == f"<Reading of VMFMixture: 3 groups, 27 features, step 1 of {len(path.betas_)}>"
