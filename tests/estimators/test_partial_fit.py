"""partial_fit: the steps that are documented, and where they lead."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import spheremix as sm
from spheremix.bessel import concentration
from spheremix.errors import ParameterError
from spheremix.estimators import streaming
from spheremix.estimators.streaming import step_size


@pytest.fixture(scope="module")
def rows():
    X, labels, truth = sm.datasets.make_vmf_mixture(6000, 10, 3, kappa=15.0, random_state=0)
    return X, labels, truth


def batches(X, size, seed=None):
    order = np.arange(len(X)) if seed is None else np.random.default_rng(seed).permutation(len(X))
    return [X[order[start : start + size]] for start in range(0, len(X), size)]


def softmax_resultants(mixture, X):
    """Return masses and vectors of a batch, from the posteriors."""
    posteriors = mixture.predict_proba(X)
    return posteriors.sum(axis=0), posteriors.T @ X


# ------------------------------------------------------------------------------------- the steps


def test_steps_are_those_of_the_formula():
    """Three over t plus two where batches are equal; whatever splits the weight alike is alike."""
    for t in range(2, 50):
        assert_allclose(step_size(250.0 * (t - 1), 250.0), 3 / (t + 2))
    assert_allclose(step_size(10.0, 5.0), step_size(2.0, 1.0))
    steps = 3 / (np.arange(2, 100_000) + 2)
    assert steps.sum() > 25
    assert (steps**2).sum() < 4


def test_a_batch_is_worked_on_until_it_settles(rows, monkeypatch):
    """In the end the parameters are those of the means that they make themselves."""
    X = rows[0]
    mixture = sm.VMFMixture(3, n_init=2, random_state=0, tol=1e-12).fit(X[:600])
    before = mixture.n_iter_
    means = softmax_resultants(mixture, X[:600])
    monkeypatch.setattr(streaming, "LEAST_GAIN", 0.0)
    monkeypatch.setattr(streaming, "SWEEPS", 500)
    mixture.partial_fit(X[600:1200])
    assert mixture.n_iter_ > before + 3
    new = softmax_resultants(mixture, X[600:1200])
    mass, vectors = (0.25 * old + 0.75 * one for old, one in zip(means, new, strict=True))
    lengths = np.linalg.norm(vectors, axis=1)
    assert_allclose(mixture.weights_, mass / mass.sum(), 1e-6)
    assert_allclose(mixture.prototypes_, vectors / lengths[:, None], 0, 1e-6)


def test_beta_is_against_the_weight_seen(rows):
    """On the fitted rows themselves, seen again, beta doubles with the rows."""
    X = rows[0]
    dense = sm.VMFMixture(3, n_init=1, random_state=0, tol=1e-12).fit(X)
    sparse = sm.VMFMixture(3, beta=600.0, init=dense, tol=1e-12, max_iter=5000).fit(X)
    assert (sparse.prototypes_ == 0).any()
    before = sparse.prototypes_
    sparse.set_params(beta=1200.0).partial_fit(X)
    assert_allclose(sparse.prototypes_, before, 0, 1e-6)
    assert_array_equal(sparse.prototypes_ == 0, before == 0)
    # And the same beta is half as strong.
    again = sm.VMFMixture(3, beta=600.0, init=dense, tol=1e-12, max_iter=5000).fit(X)
    again.partial_fit(X)
    assert np.abs(again.prototypes_).sum() > np.abs(before).sum() + 1e-3


# --------------------------------------------------------------------------------- forgetting


@pytest.mark.parametrize("e_step", ["soft", "hard", "k-means"])
@pytest.mark.parametrize("decay", [None, 1.0, 0.3])
def test_a_step_is_the_m_step_of_the_running_sums(rows, monkeypatch, decay, e_step):
    """Stochastic EM, or a decay that lowers the weight of what came before; rows have weights."""
    monkeypatch.setattr(streaming, "SWEEPS", 1)
    sizes = np.random.default_rng(0).integers(0, 3, size=len(rows[0])).astype(float)
    first, second, third = batches(rows[0], 2000)
    each = batches(sizes, 2000)
    kind, options = sm.VMFMixture, {"e_step": e_step, "tol": 1e-12}
    if e_step == "k-means":
        kind, options = sm.SphericalKMeans, {"tol": 1e-12}
    stream = kind(3, n_init=2, random_state=0, **options).fit(first, sample_weight=each[0])

    def resultants(batch, weights):
        """Return masses and vectors of a batch, from the posteriors or the labels."""
        shares = (stream.predict(batch)[:, None] == np.arange(3)).astype(float)
        if e_step == "soft":
            shares = stream.predict_proba(batch)
        return weights @ shares, (weights[:, None] * shares).T @ batch

    mass, vectors = resultants(first, each[0])
    for batch, weights in ((second, each[1]), (third[:500], each[2][:500])):
        new, seen, own = resultants(batch, weights), mass.sum(), weights.sum()
        keep, add = decay, 1.0
        if decay is None:  # a share of the batch in the means; sums are these times all weight
            share = 3 * own / (seen + 3 * own)
            keep, add = (1 - share) * (seen + own) / seen, share * (seen + own) / own
        mass, vectors = keep * mass + add * new[0], keep * vectors + add * new[1]
        stream.partial_fit(batch, sample_weight=weights, decay=decay)
        lengths = np.linalg.norm(vectors, axis=1)
        assert_allclose(stream.prototypes_, vectors / lengths[:, None], 0, 1e-7)
        assert_array_equal(stream.labels_, stream.predict(batch))
        if kind is sm.VMFMixture:
            assert_allclose(stream.weights_, mass / mass.sum(), 1e-9)
            kappa = concentration(10, lengths.sum() / mass.sum())
            assert_allclose(stream.kappas_, kappa, 1e-7)
    assert stream.n_samples_seen_ == 4500


@pytest.mark.parametrize("kind", [sm.VMFMixture, sm.SphericalKMeans])
def test_without_forgetting_resultants_are_as_good_as_rows(kind):
    """Where posteriors are 0 or 1, rows that are not read again count as those of one fit."""
    X, _, _ = sm.datasets.make_vmf_mixture(600, 10, 3, kappa=200.0, random_state=0)
    stream = kind(3, n_init=3, random_state=0).fit(X[:200])
    for start in (200, 400):
        stream.partial_fit(X[start : start + 200], decay=1.0)
    whole = kind(3, init=stream.predict(X), n_init=1).fit(X)
    assert_allclose(stream.prototypes_, whole.prototypes_, 0, 1e-8)
    # The steps of stochastic EM weigh later batches more: they are another answer.
    other = kind(3, n_init=3, random_state=0).fit(X[:200])
    other.partial_fit(X[200:400]).partial_fit(X[400:])
    assert np.abs(other.prototypes_ - whole.prototypes_).max() > 1e-4


def test_groups_follow_rows_that_change():
    """A group moves by 60 degrees in ten batches; with a decay its prototype goes along."""
    rng = np.random.default_rng(0)
    still = sm.VMFMixture.from_parameters(np.eye(2, 10), 100.0)
    first, _ = still.sample(400, random_state=0)
    follows = sm.VMFMixture(2, n_init=2, random_state=0).fit(first)
    lags = pickle.loads(pickle.dumps(follows))  # noqa: S301
    moving = follows.predict(np.eye(2, 10))[1]
    for turn in np.linspace(0.0, np.pi / 3, 10):
        middles = np.eye(2, 10)
        middles[1, 1:3] = np.cos(turn), np.sin(turn)
        batch, _ = sm.VMFMixture.from_parameters(middles, 100.0).sample(
            200, random_state=int(rng.integers(1000))
        )
        follows.partial_fit(batch, decay=0.5)
        lags.partial_fit(batch, decay=1.0)
    assert follows.prototypes_[moving] @ middles[1] > 0.98
    assert lags.prototypes_[moving] @ middles[1] < 0.94
    assert follows.prototypes_[1 - moving] @ middles[0] > 0.99


@pytest.mark.parametrize("kind", [sm.VMFMixture, sm.SphericalKMeans])
def test_a_group_that_ends_stops_no_other(kind):
    """No row comes to the last group any more: it keeps its direction, and the others go on."""
    rng = np.random.default_rng(0)
    centres = np.eye(5)[:4]

    def draw(groups, shift):
        moved = centres[groups] + shift * np.eye(5)[4]
        rows = np.repeat(moved, 30, axis=0)
        return rows + 0.05 * rng.standard_normal(rows.shape)

    stream = kind(4, n_init=5, random_state=0).fit(draw([0, 1, 2, 3], 0.0))
    ended = int(np.argmax(stream.prototypes_[:, 3]))
    before = stream.prototypes_[ended].copy()
    for t in range(60):
        stream.partial_fit(draw([0, 1, 2], t / 100), decay=0.5)
    assert_allclose(stream.prototypes_[ended], before, 0, 1e-12)
    others = np.delete(stream.prototypes_, ended, axis=0)
    assert np.all(others[:, 4] > 0.4)  # the last batches are at .59, of length 1.16


@pytest.mark.parametrize("decay", [0.0, -1.0, 1.5, np.nan, "half", True])
def test_a_decay_is_a_share(rows, decay):
    mixture = sm.VMFMixture(3, n_init=1, random_state=0).fit(rows[0][:200])
    with pytest.raises(ParameterError, match=r"^decay must be"):
        mixture.partial_fit(rows[0][200:400], decay=decay)


# --------------------------------------------------------------------------- where they lead


def test_all_rows_as_one_batch_move_towards_the_batch_fit(rows):
    X = rows[0]
    batch_fit = sm.VMFMixture(3, n_init=5, random_state=0).fit(X)
    start = sm.VMFMixture(3, init="random", n_init=1, random_state=1, max_iter=1)
    with pytest.warns(ConvergenceWarning):
        start.fit(X[:50])
    heights = [start.score(X), *(start.partial_fit(X).score(X) for _ in range(30))]
    assert np.all(np.diff(heights[:6]) > 0)
    assert_allclose(heights[-1], batch_fit.score(X), 0, 1e-3)


@pytest.mark.parametrize("kind", [sm.VMFMixture, sm.SphericalKMeans])
def test_two_epochs_recover_the_batch_fit(rows, kind):
    X = rows[0]
    single = kind(1, n_init=1).fit(X).score(X)
    gain = kind(3, n_init=5, random_state=0).fit(X).score(X) - single
    stream = kind(3, n_init=5, random_state=0)
    for epoch in (0, 1):
        for batch in batches(X, 200, seed=10 + epoch):
            stream.partial_fit(batch)
    assert stream.score(X) - single > 0.99 * gain
    assert stream.n_samples_seen_ == 12_000


# ------------------------------------------------------------------------------ the interface


@pytest.mark.parametrize("kind", [sm.VMFMixture, sm.SphericalKMeans])
def test_first_batch_is_a_fit(kind, rows):
    X = rows[0][:500]
    one, other = kind(3, random_state=0).fit(X), kind(3, random_state=0).partial_fit(X)
    assert_array_equal(one.prototypes_, other.prototypes_)
    assert one.n_samples_seen_ == other.n_samples_seen_ == 500
    assert other.status_ == "converged"


@pytest.mark.parametrize("kind", [sm.VMFMixture, sm.SphericalKMeans])
def test_what_spoke_of_all_rows_is_gone(kind, rows):
    first, second = rows[0][:500], rows[0][500:1000]
    stream = kind(3, n_init=1, random_state=0).partial_fit(first).partial_fit(second)
    of_a_fit = ("log_likelihood_", "objective_", "criteria_", "status_", "stationarity_gap_")
    of_a_fit += ("kkt_residual_", "runs_", "coherence_")
    assert not [name for name in of_a_fit if hasattr(stream, name)]
    assert len(stream.labels_) == 500
    stream.fit(first)
    assert stream.status_ == "converged"
    assert stream.n_samples_seen_ == 500


@pytest.mark.parametrize("kind", [sm.VMFMixture, sm.SphericalKMeans])
def test_state_survives_a_pickle_and_not_a_clone(kind, rows):
    parts = batches(rows[0], 1000)
    stream = kind(3, n_init=1, random_state=0)
    for batch in parts[:3]:
        stream.partial_fit(batch)
    again = pickle.loads(pickle.dumps(stream))  # noqa: S301
    for batch in parts[3:]:
        stream.partial_fit(batch)
        again.partial_fit(batch)
    assert_array_equal(stream.prototypes_, again.prototypes_)
    assert not hasattr(clone(stream), "_stream")


def test_small_batches_and_rows_on_disk(rows, tmp_path):
    X = rows[0]
    np.save(tmp_path / "rows.npy", X[500:1500])
    one = sm.VMFMixture(3, n_init=1, random_state=0).partial_fit(X[:500])
    other = sm.VMFMixture(3, n_init=1, random_state=0).partial_fit(X[:500])
    one.partial_fit(X[500:1500])
    other.partial_fit(tmp_path / "rows.npy")
    assert_array_equal(one.prototypes_, other.prototypes_)
    one.partial_fit(X[:1])
    assert one.labels_.shape == (1,)


def test_refusals(rows):
    X = rows[0]
    with pytest.raises(ValueError, match="n_components=3 is more than the n_samples=2"):
        sm.VMFMixture(3).partial_fit(X[:2])
    stream = sm.VMFMixture(3, n_init=1, random_state=0).partial_fit(X[:500])
    before = stream.prototypes_
    with pytest.raises(ValueError, match="expecting 10 features"):
        stream.partial_fit(X[:, :4])
    with pytest.raises(ValueError, match="row 1 contains NaN"):
        stream.partial_fit([[1.0] * 10, [np.nan] * 10])
    with pytest.raises(ValueError, match="sample_weight"):
        stream.partial_fit(X[:3], sample_weight=[1, -1, 1])
    for one in (stream, sm.SphericalKMeans(3, n_init=1, random_state=0).fit(X[:500])):
        with pytest.raises(ValueError, match="n_components=4 in a stream that began with 3"):
            one.set_params(n_components=4).partial_fit(X)
    assert stream.prototypes_ is before
    assert stream.n_samples_seen_ == 500
    path = sm.VMFPath(3, n_init=1, max_steps=3, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"no running resultants.*as init"):
        path.model(1).partial_fit(X)
    sm.VMFMixture(3, init=path.model(1)).partial_fit(X[:500])


def test_a_component_that_is_lost_keeps_its_prototype(rows):
    """A warning, and the stream goes on: what is lost can come back."""
    X = rows[0][:600]
    stream = sm.VMFMixture(3, random_state=0).fit(X)
    before, lost = stream.prototypes_, int(stream.predict(X[:1])[0])
    others = X[stream.predict_proba(X)[:, lost] < 1e-9]
    with pytest.warns(ConvergenceWarning, match=f"component {lost} has collapsed after"):
        stream.partial_fit(others, sample_weight=1e9)
    assert_array_equal(stream.prototypes_, before)
    stream.partial_fit(X, sample_weight=1e9)
    assert (stream.prototypes_ != before).any()
