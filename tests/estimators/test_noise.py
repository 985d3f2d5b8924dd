"""Rows that belong nowhere: mixtures with noise, and the hump that noise makes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from mixture_common import assert_same_bits, assert_same_fit, mixture
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from sklearn.metrics import adjusted_rand_score, f1_score

import spheremix as sm
from spheremix.bessel import log_normalizer
from spheremix.errors import ParameterError
from spheremix.estimators.noise import CRITICAL, hump, majorant, noise_leads, quantiles, valley
from spheremix.estimators.path import label_chosen
from spheremix.reading import Reading

N, N_NOISE = 240, 60


def planted(n_noise=N_NOISE, d=12, kappa=60.0, seed=0):
    """Return three clusters and uniform noise, and the truth."""
    rows, labels, _ = sm.datasets.make_vmf_mixture(N, d, 3, kappa=kappa, random_state=seed)
    noise = np.random.default_rng(seed).normal(size=(n_noise, d))
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    return np.vstack([rows, noise]), np.concatenate([labels, np.full(n_noise, -1)])


X, TRUTH = planted()
NOISE = TRUTH < 0


@pytest.fixture(scope="module")
def noisy():
    return mixture(noise="uniform").fit(X)


def test_planted_noise_is_found_and_the_clusters_are_no_worse(noisy):
    assert noisy.status_ == "converged"
    assert f1_score(NOISE, noisy.labels_ < 0) > 0.9
    plain = mixture().fit(X)
    scores = [adjusted_rand_score(TRUTH[~NOISE], one.labels_[~NOISE]) for one in (noisy, plain)]
    assert scores[0] >= scores[1]
    assert noisy.n_noise_ == np.sum(noisy.labels_ == -1)
    assert_allclose(noisy.noise_weight_, N_NOISE / len(X), atol=0.05)
    assert_allclose(noisy.weights_.sum() + noisy.noise_weight_, 1.0)
    assert plain.n_noise_ == 0
    assert plain.noise_weight_ == 0.0


def test_predictions(noisy):
    assert_array_equal(noisy.predict(X), noisy.labels_)
    posteriors, nowhere = noisy.predict_proba(X), noisy.predict_noise(X)
    assert posteriors.shape == (len(X), 3)
    assert_allclose(posteriors.sum(axis=1) + nowhere, 1.0)
    assert_array_equal(nowhere > posteriors.max(axis=1), noisy.labels_ == -1)
    assert_array_equal(noisy.transform(X), posteriors)
    assert len(noisy.get_feature_names_out()) == 3
    assert not mixture().fit(X).predict_noise(X).any()
    # From the definition: shares times densities, and a constant for the noise.
    densities = [
        np.log(weight) + sm.VonMisesFisher(mu, kappa).logpdf(X)
        for mu, kappa, weight in zip(noisy.prototypes_, noisy.kappas_, noisy.weights_, strict=True)
    ]
    level = noisy.model_.noise.level + np.log(noisy.noise_weight_)
    total = np.logaddexp.reduce([*densities, np.full(len(X), level)])
    assert_allclose(noisy.score_samples(X), total)
    assert_allclose(noisy.log_likelihood_, total.sum())
    assert_allclose(nowhere, np.exp(level - total), atol=1e-12)


def test_it_counts_as_a_parameter(noisy):
    plain = mixture().fit(X)
    assert noisy.n_parameters_ == plain.n_parameters_ + 1
    wanted = noisy.n_parameters_ * np.log(len(X)) - 2 * noisy.log_likelihood_
    assert_allclose(noisy.criteria_["bic"], wanted)
    assert_allclose(noisy.bic(X), wanted)


@pytest.mark.parametrize("most", [0.01, 0.05, 0.1])
def test_a_limit_is_kept_to_and_used(most):
    found = mixture(noise="uniform", max_noise=most).fit(X)
    allowed = int(most * len(X))
    assert allowed - 1 <= found.n_noise_ <= allowed
    assert found.status_ == "converged"
    assert found.stationarity_gap_ <= found.tol
    assert found.noise_weight_ <= most * (1 + 1e-9)
    assert np.all(NOISE[found.labels_ < 0])


def test_a_limit_that_does_not_bind_is_no_limit():
    free = mixture(noise="uniform", max_noise=None).fit(X)
    loose = mixture(noise="uniform", max_noise=0.5).fit(X)
    assert_same_fit(free, loose)
    assert free.n_noise_ == loose.n_noise_


@pytest.mark.parametrize("seed", range(3))
def test_clean_rows_stay_in_their_clusters(seed):
    rows, labels, _ = sm.datasets.make_vmf_mixture(600, 30, 3, overlap=0.01, random_state=seed)
    found = mixture(noise="uniform").fit(rows)
    assert found.n_noise_ <= 0.02 * len(rows)
    kept = found.labels_ >= 0
    plain = mixture().fit(rows)
    assert (
        adjusted_rand_score(labels[kept], found.labels_[kept])
        >= adjusted_rand_score(labels[kept], plain.labels_[kept]) - 1e-9
    )


def test_much_noise_costs_no_cluster():
    """A search without noise gives a cluster to the noise; a start gives it up again."""
    rng = np.random.default_rng(0)
    centres = np.eye(60)[:3]
    centres[2] = (centres[1] + centres[2]) / np.sqrt(2.0)
    truth = np.append(np.arange(240) % 3, np.full(200, -1))
    noise = rng.normal(size=(200, 60))
    noise[:, 5] += 1.0  # of no direction, but for a little
    rows = np.vstack([centres[truth[:240]] + 0.1 * rng.normal(size=(240, 60)), noise])
    plain, found = mixture().fit(rows), mixture(noise="uniform").fit(rows)
    real = truth >= 0
    assert adjusted_rand_score(truth[real], plain.labels_[real]) < 0.6
    assert adjusted_rand_score(truth[real], found.labels_[real]) > 0.99
    assert [run.start for run in found.runs_].count("noise") == 1
    assert f1_score(~real, found.labels_ < 0) > 0.95


@pytest.mark.parametrize(
    "parameters",
    [
        {"e_step": "hard"},
        {"kappa": "free"},
        {"kappa": 40.0},
        {"kappa": [30.0, 40.0, 50.0]},
        {"beta": 8.0},
        {"m_step": "paper", "kappa_solver": "banerjee", "beta": 2.0},
        {"init": "random"},
        {"kappa": "free", "kappa_prior": (1, 0)},
    ],
    ids=str,
)
def test_with_other_parameters(parameters):
    found = mixture(noise="uniform", **parameters).fit(X)
    assert f1_score(NOISE, found.labels_ < 0) > 0.85
    assert found.status_ == "converged"
    assert_array_equal(found.predict(X), found.labels_)


def test_weights_repeat_rows():
    times = np.random.default_rng(1).integers(1, 3, size=len(X))
    parameters = {"noise": "uniform", "init": np.maximum(TRUTH, 0), "tol": 1e-11}
    for most in ("auto", 0.05):
        weighted = mixture(max_noise=most, **parameters).fit(X, sample_weight=times)
        start = np.repeat(np.maximum(TRUTH, 0), times)
        repeated = mixture(max_noise=most, **(parameters | {"init": start})).fit(
            np.repeat(X, times, axis=0)
        )
        assert_same_fit(weighted, repeated)
        assert_array_equal(np.repeat(weighted.labels_, times), repeated.labels_)


def test_threads_pickles_and_starts(noisy):
    assert_same_bits(noisy, mixture(noise="uniform", n_threads=2).fit(X))
    again = pickle.loads(pickle.dumps(noisy))  # noqa: S301
    assert_array_equal(again.predict(X), noisy.labels_)
    from_noisy = mixture(noise="uniform", init=noisy).fit(X)
    assert_allclose(from_noisy.objective_, noisy.objective_, rtol=1e-6)
    from_plain = mixture(noise="uniform", init=mixture().fit(X)).fit(X)
    assert from_plain.n_noise_ > 0
    without = mixture(init=noisy).fit(X)
    assert_allclose(without.weights_.sum(), 1.0)
    warm = mixture(noise="uniform", warm_start=True).fit(X).fit(X)
    assert_array_equal(warm.labels_, noisy.labels_)


def test_drawn_rows_have_noise_among_them(noisy):
    rows, labels = noisy.sample(5000, random_state=0)
    assert_allclose(np.mean(labels == -1), noisy.noise_weight_, atol=0.03)
    assert_allclose(np.linalg.norm(rows, axis=1), 1.0)
    assert np.linalg.norm(rows[labels == -1].mean(axis=0)) < 0.1
    assert np.mean(noisy.predict(rows) == labels) > 0.95


def test_batches_keep_the_level(noisy):
    stream = mixture(noise="uniform").fit(X)
    level = stream.model_.noise.level
    more, truth = planted(seed=5)
    stream.partial_fit(more[:100])
    assert stream.model_.noise.level == level
    assert stream.labels_.min() >= -1
    assert_array_equal(stream.labels_, stream.predict(more[:100]))
    assert np.mean(stream.predict(more[truth < 0]) == -1) > 0.8
    assert noisy.n_samples_seen_ == len(X)


def test_saved_and_loaded(noisy, tmp_path):
    run = sm.load_run(sm.save_run(tmp_path / "run", noisy))
    assert_array_equal(run.mixture.predict(X), noisy.labels_)
    assert_array_equal(run.mixture.labels_, noisy.labels_)
    assert_array_equal(run.mixture.predict_noise(X), noisy.predict_noise(X))
    assert run.mixture.n_noise_ == noisy.n_noise_


# Paths


def test_a_path_with_noise(tmp_path):
    parameters = {"n_components": 3, "noise": "uniform", "n_init": 2, "random_state": 0}
    path = sm.VMFPath(**parameters).fit(X)
    assert path.status_ == "maximal_sparsity"
    assert f1_score(NOISE, path.model(0).predict(X) < 0) > 0.9
    assert path.sizes_.shape == path.weights_.shape == (len(path.betas_), 3)
    assert np.all(path.weights_.sum(axis=1) < 1.0)
    assert np.all(np.array(path.stationarity_gaps_) <= path.tol)
    assert path.n_noise_ == np.sum(path.labels_ == -1)
    assert_array_equal(path.predict(X), path.best_estimator_.labels_)
    run = sm.load_run(sm.save_run(tmp_path / "run", path))
    assert_array_equal(run.path.labels_, path.labels_)
    assert_array_equal(run.path.predict(X), path.labels_)
    short = sm.VMFPath(**parameters, max_steps=3).fit(X)
    short.set_params(max_steps=None, warm_start=True).fit(X)
    assert_array_equal(short.betas_, path.betas_)
    assert_array_equal(short.labels_, path.labels_)


def test_a_path_keeps_to_a_share_where_it_was_chosen(tmp_path):
    """Sparse prototypes fit less tightly: at the level of the dense mixture there is more noise."""
    parameters = {"n_components": 3, "noise": "uniform", "max_noise": 0.1, "n_init": 2}
    path = sm.VMFPath(**parameters, random_state=0).fit(X)
    assert 0.05 * len(X) < path.n_noise_ <= 0.1 * len(X)
    assert path.state_.noise_level < path.state_.model.noise.level
    lowered = path.state_.model.noise.level - path.state_.noise_level
    posteriors = path.best_estimator_.predict_proba(X).max(axis=1)
    odds = np.log(path.best_estimator_.predict_noise(X)) - np.log(posteriors)
    assert np.sum(odds + lowered > 0.0) > 0.1 * len(X)  # what the level of the fits would give
    assert_array_equal(path.model(path.selected_).predict(X), path.labels_)
    run = sm.load_run(sm.save_run(tmp_path / "run", path))
    assert_array_equal(run.path.predict(X), path.labels_)
    roomy = sm.VMFPath(**{**parameters, "max_noise": 0.9}, random_state=0).fit(X)
    assert roomy.state_.noise_level is None


@pytest.mark.parametrize("Estimator", [sm.VMFMixture, sm.VMFPath])
@pytest.mark.parametrize("seed", [0, 3])
def test_rows_between_clusters_count_for_a_small_share(Estimator, seed):
    """Their label compares the noise with one cluster, and not with the sum of both."""
    rng = np.random.default_rng(seed)
    centres = np.repeat([[1.0, 0, 0, 0], [0, 1.0, 0, 0]], 100, axis=0)
    X = np.concatenate([centres + 0.25 * rng.normal(size=(200, 4)), rng.normal(size=(100, 4))])
    options = {"max_steps": 5} if Estimator is sm.VMFPath else {}
    found = Estimator(4, noise="uniform", max_noise=0.003, random_state=0, **options).fit(X)
    labels = getattr(found, "best_estimator_", found).labels_
    assert np.count_nonzero(labels < 0) <= 0.003 * 300


def test_a_path_starts_from_a_model_without_noise():
    start = sm.VMFCoclustering(2, random_state=0).fit(np.abs(X))
    path = sm.VMFPath(2, init=start, max_steps=2).fit(np.abs(X))
    assert path.best_estimator_.labels_.min() >= 0


def test_a_path_takes_over_the_level_of_the_mixture_it_starts_from():
    dense = mixture(noise="uniform").fit(X)
    for most in ("auto", 0.1):
        parameters = {"noise": "uniform", "max_noise": most, "init": dense, "max_steps": 2}
        path = sm.VMFPath(3, **parameters).fit(X)
        assert path.state_.model.noise == dense.model_.noise
        assert_allclose(path.log_likelihoods_[0], dense.log_likelihood_)
        assert path.n_noise_ == (dense.n_noise_ if most == "auto" else 30)


def test_labels_of_a_start_may_be_noise(noisy):
    again = mixture(noise="uniform", init=noisy.labels_).fit(X)
    assert_allclose(again.objective_, noisy.objective_)
    with pytest.raises(ParameterError, match=r"must be in 0\.\.2"):
        mixture(init=noisy.labels_).fit(X)
    with pytest.raises(ParameterError, match=r"must be in -1\.\.2"):
        mixture(noise="uniform", init=noisy.labels_ - 1).fit(X)


# Reading


def test_reading_says_where_noise_would_belong(noisy):
    reading = Reading(noisy)
    documents = reading.documents(X)
    assert_array_equal(documents.labels, noisy.labels_)
    assert_array_equal(documents.sizes(3), np.bincount(noisy.labels_[noisy.labels_ >= 0]))
    assert_array_equal(reading.sizes, documents.sizes(3))
    nowhere = documents.labels < 0
    cosines = X @ noisy.prototypes_.T
    assert_array_equal(
        documents.second_groups[nowhere], (noisy.predict_proba(X)[nowhere]).argmax(axis=1)
    )
    nearest = documents.second_groups[nowhere]
    assert_allclose(documents.cosines[nowhere], cosines[nowhere, nearest], atol=1e-12)
    assert len(reading.groups()) == 3
    assert reading.why(X[0]).label == noisy.labels_[0]


# Refusals, and the parts


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"noise": "pink"}, "noise must be one of 'uniform'"),
        ({"noise": "uniform", "max_noise": 1.0}, "max_noise is a share, below 1"),
        (
            {"max_noise": 0.1},
            "max_noise is for rows that belong to no component",
        ),
        ({"max_noise": None}, "there are none without noise"),
        ({"noise": "uniform", "max_noise": 0.0}, "max_noise must be a finite number above 0"),
        ({"noise": "uniform", "max_noise": "some"}, "max_noise must be one of 'auto'"),
        ({"kappa_prior": 3.0}, "kappa_prior must have one value"),
        ({"kappa_prior": (1.0, 1.0)}, "a mean length in"),
        ({"kappa_prior": (0.0, 0.5)}, "a number of rows above 0"),
        ({"kappa_prior": (1.0, 0.0), "kappa": 4.0}, "kappa is given"),
    ],
    ids=str,
)
def test_refusals(parameters, words):
    with pytest.raises(ParameterError, match=words):
        mixture(**parameters).fit(X)


def test_quantiles_are_those_of_repeated_values():
    rng = np.random.default_rng(0)
    for _ in range(50):
        values, times = rng.normal(size=20), rng.integers(0, 4, size=20)
        times[0] += 1
        sorted_values = np.sort(np.repeat(values, times))
        for share in (0.25, 0.5, 0.95):
            place = int(np.ceil(share * len(sorted_values) - 1e-9)) - 1
            (found,) = quantiles(values, times.astype(float), (share,))
            assert found == sorted_values[max(place, 0)]


def test_unusual_rows_where_rows_vary_more_than_the_mixture_says():
    """Concentrations that differ from row to row: rows of clusters are not lost to the noise."""
    rng = np.random.default_rng(0)
    spreads = np.exp(0.5 * rng.normal(size=(600, 1)))
    rows = np.eye(80)[np.arange(600) % 3] + 0.13 * spreads * rng.normal(size=(600, 80))
    free = mixture(noise="uniform", max_noise=None).fit(rows)
    usual = mixture(noise="uniform").fit(rows)
    assert free.n_noise_ > 0.03 * len(rows)
    assert 0 < usual.n_noise_ < 0.02 * len(rows)
    assert usual.model_.noise.level < free.model_.noise.level
    assert usual.stationarity_gap_ <= usual.tol


def test_a_report_has_noise_beside_the_clusters(noisy):
    content = sm.Report(noisy, X=X).content
    assert content["model"]["has_nowhere"]
    assert_array_equal(content["documents"]["group"] == 3, noisy.labels_ < 0)


# A hump of its own in the tail of a distribution, which tells much noise from a tail


def ones(values):
    return np.ones(len(values))


def by_definition(values):
    """Return the test statistic by its definition: every chord, and sums over all values."""
    values = np.sort(values)
    n = len(values)
    # The total time on test at a value: what all values have run until then.
    run = np.array([0.0, *(np.minimum(values, one).sum() for one in values)])
    run /= run[-1]
    share = np.arange(n + 1) / n
    above = run.copy()
    for a in range(n + 1):
        for b in range(a + 2, n + 1):
            inner = slice(a + 1, b)
            chord = run[a] + (share[inner] - share[a]) / (share[b] - share[a]) * (run[b] - run[a])
            above[inner] = np.maximum(above[inner], chord)
    return (above - run).max() * np.sqrt(n)


def test_the_statistic_is_that_of_the_definition():
    rng = np.random.default_rng(0)
    for seed in range(20):
        values = rng.exponential(size=30) if seed % 2 else rng.random(30) ** 3
        statistic, _ = valley(values, ones(values))
        assert statistic == pytest.approx(by_definition(values), rel=1e-9)
        assert (hump(values, ones(values)) is not None) == (statistic > CRITICAL)


def test_the_statistic_counts_weights_as_repetitions_and_those_of_zero_not_at_all():
    rng = np.random.default_rng(7)
    for _ in range(20):
        values = rng.random(40) ** 3
        counts = rng.integers(0, 4, 40).astype(float)
        repeated = np.repeat(values, counts.astype(int))
        assert_allclose(valley(values, counts), valley(repeated, ones(repeated)), rtol=1e-12)
        bare = values[counts > 0]
        assert valley(values, counts) == valley(bare, counts[counts > 0])


def test_the_majorant_is_concave_and_touches_its_corners():
    rng = np.random.default_rng(1)
    x, y = np.sort(rng.random(40)), rng.random(40)
    corners = majorant(x, y)
    slopes = np.diff(y[corners]) / np.diff(x[corners])
    assert (np.diff(slopes) < 0).all()
    assert (np.interp(x, x[corners], y[corners]) >= y - 1e-12).all()
    assert (corners[0], corners[-1]) == (0, 39)


def test_of_exponential_tails_one_in_a_hundred_has_a_hump():
    rng = np.random.default_rng(2)
    found = [hump(one, ones(one)) is not None for one in rng.exponential(size=(600, 150))]
    assert np.mean(found) <= 0.025  # 6 are expected of 600
    lighter = [np.abs(one) for one in rng.normal(size=(300, 300))]
    assert not any(hump(one, ones(one)) for one in lighter)
    assert pytest.approx(1.66) == CRITICAL


def test_a_second_hump_is_found_and_the_place_before_it():
    rng = np.random.default_rng(3)
    for _ in range(10):
        tail, noise = np.abs(rng.normal(size=400)), rng.normal(6.0, 0.5, size=100)
        begins = hump(np.concatenate([tail, noise]), np.ones(500))
        assert tail.max() * 0.75 < begins < noise.min() * 1.1
        assert hump(tail, ones(tail)) is None


def test_weights_count_as_repetitions_and_little_is_no_evidence():
    rng = np.random.default_rng(4)
    values = np.concatenate([np.abs(rng.normal(size=60)), rng.normal(6.0, 0.5, size=20)])
    weights = rng.integers(1, 4, size=80)
    repeated = np.repeat(values, weights)
    assert_allclose(hump(values, weights.astype(float)), hump(repeated, ones(repeated)), rtol=1e-12)
    assert hump(values, np.full(80, 1e-3)) is None
    for few in (np.empty(0), np.ones(1), np.zeros(5)):
        assert hump(few, ones(few)) is None


def rows_that_vary(seed, n_noise, nearest=0.0):
    """Three clusters whose rows vary more than von Mises-Fisher rows do, and noise.

    Noise is uniform, or lies up to so near to a cluster, whose rows lie around 1.4.
    """
    rng = np.random.default_rng(seed)
    labels = np.arange(900) % 3
    spread = np.exp(0.25 * rng.normal(size=(900, 1)))  # rows of texts are near and far, too
    X = np.eye(3, 100)[labels] * 1.4 + spread * rng.normal(size=(900, 100)) / 10.0
    noise = rng.normal(size=(n_noise, 100)) / 10.0
    noise += np.eye(3, 100)[np.arange(n_noise) % 3] * rng.uniform(0.0, nearest, size=(n_noise, 1))
    X = np.vstack([X, noise])
    return X / np.linalg.norm(X, axis=1, keepdims=True), np.arange(len(X)) >= 900


@pytest.mark.parametrize("n_noise", [0, 60, 225])
def test_auto_finds_much_noise_and_keeps_clean_rows(n_noise):
    X, noise = rows_that_vary(0, n_noise)
    found = sm.VMFMixture(3, noise="uniform", random_state=0, n_threads=1).fit(X)
    lost = found.labels_ < 0
    assert np.mean(~lost[~noise]) >= 0.98
    if n_noise:
        # Without the valley, rows of clusters are lost as well, and this is .97 and .99.
        assert 2 * np.sum(lost & noise) / (lost.sum() + noise.sum()) > 0.995


@pytest.mark.parametrize("n_noise", [100, 225])
def test_as_many_rows_are_noise_as_are_beyond_the_valley_of_uniform_noise(n_noise):
    X, _ = rows_that_vary(0, n_noise, nearest=0.9)  # much of it lies before the valley
    options = {"noise": "uniform", "random_state": 0, "n_threads": 1}
    first = sm.VMFMixture(3, **options, max_noise=None).fit(X)
    clusters = X @ (first.kappas_[:, None] * first.prototypes_).T
    clusters += np.log(first.weights_) + log_normalizer(100, first.kappas_)
    odds = np.log(first.noise_weight_) + log_normalizer(100, 0.0) - logsumexp(clusters, axis=1)
    middle, upper = np.quantile(odds[first.labels_ >= 0], [0.5, 0.75], method="inverted_cdf")
    begins = hump(odds[odds > upper] - upper, ones(odds[odds > upper]))
    beyond = odds > max(upper + begins, middle + 2.33 * (upper - middle) / 0.67449)
    found = sm.VMFMixture(3, **options).fit(X)
    # At this level, held, EM would lose some of them to the clusters.
    assert found.n_noise_ == beyond.sum() > 0.4 * n_noise
    assert found.status_ == "converged"
    assert found.stationarity_gap_ <= found.tol


def test_a_chosen_mixture_has_no_more_noise_than_the_dense_one():
    X, _ = rows_that_vary(0, 60)
    rows = sm.as_directions(X)
    options = {"noise": "uniform", "random_state": 0, "n_threads": 1}
    chosen = sm.VMFMixture(3, **options).fit(X)
    level, labels = label_chosen(chosen, chosen, rows, None)
    assert level is None
    assert np.array_equal(labels, chosen.labels_)
    dense = sm.VMFMixture(3, **options, max_noise=0.02).fit(X)  # fewer rows are noise in it
    assert 0 < dense.n_noise_ < chosen.n_noise_
    level, labels = label_chosen(chosen, dense, rows, None)
    assert level < chosen.model_.noise.level
    strangest = np.argsort(-noise_leads(chosen.scorer_, rows))[: dense.n_noise_]
    assert np.array_equal(np.flatnonzero(labels < 0), np.sort(strangest))
    # Uniform noise is left as it is.
    free = sm.VMFMixture(3, **options, max_noise=None).fit(X)
    assert label_chosen(free, dense, rows, None)[0] is None


def test_a_path_looks_at_its_dense_mixture(monkeypatch):
    X, _ = rows_that_vary(0, 60)
    seen = []

    def look(mixture, dense, *rest):
        seen.append((mixture.beta, dense.beta))
        return label_chosen(mixture, dense, *rest)

    monkeypatch.setattr("spheremix.estimators.path.label_chosen", look)
    path = sm.VMFPath(3, noise="uniform", n_init=2, random_state=0, min_relative_increase=0.3)
    path.fit(X)
    assert seen == [(path.betas_[path.selected_], 0.0)]
    assert path.selected_ > 0


def test_the_number_of_iterations_is_kept_to():
    """The level of the noise follows EM after its end, for as many iterations at most."""
    X, _ = rows_that_vary(0, 225, nearest=0.9)
    short, full = (
        sm.VMFMixture(3, noise="uniform", max_iter=most, n_init=1, random_state=0).fit(X)
        for most in (2, 1000)
    )
    assert short.n_iter_ <= 4
    assert full.n_iter_ > 4
