"""Large data: the search reads a sample of the rows, and EM goes on from its best start."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import spheremix as sm
from spheremix.estimators import starts
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.problem import NoFitError, build_problem
from spheremix.search import Search

N, D, K = 1200, 8, 3
ESTIMATORS = (sm.VMFMixture, sm.SphericalKMeans)


@pytest.fixture(name="X")
def rows_of_mixture():
    rows, _, _ = sm.datasets.make_vmf_mixture(N, D, K, overlap=0.05, random_state=0)
    return rows


@pytest.fixture
def small_is_large(monkeypatch):
    """Let data of 400 rows count as large, and samples have 30 rows a component."""
    monkeypatch.setattr(starts, "LARGE", 400.0 * D * K)
    monkeypatch.setattr(starts, "SAMPLE_ROWS", 30)


@pytest.fixture
def searched(monkeypatch):
    """Note on how many rows, and with how many runs, each search works."""
    noted = []
    run = Search.run

    def noting(self, sizes, seeds):
        noted.append((self.directions.n_rows, len(seeds)))
        return run(self, sizes, seeds)

    monkeypatch.setattr(Search, "run", noting)
    return noted


def problem_of(X, weights=None, n_components=K):
    options = MixtureOptions.of(sm.VMFMixture(n_components, random_state=0, n_threads=1))
    return build_problem(options, X, weights)


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize("make", ESTIMATORS)
def test_the_search_reads_a_sample_and_em_goes_on_from_one_start(X, make, searched):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # runs that are outdone are not lost
        fit = make(K, random_state=0).fit(X)
    assert searched == [(400, 2)]
    assert [run.start for run in fit.runs_] == ["merge", "merge", "cross"]
    assert sorted(run.status for run in fit.runs_) == ["converged", "outdone", "outdone"]
    whole = make(K, n_init=5, random_state=0).fit(X)
    value = "objective_" if make is sm.VMFMixture else "coherence_"
    assert_allclose(getattr(fit, value), getattr(whole, value), rtol=1e-6)
    assert adjusted_rand_score(fit.labels_, whole.labels_) > 0.99


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize("make", ESTIMATORS)
def test_a_number_of_runs_is_a_number_of_runs_on_all_rows(X, make, searched):
    fit = make(K, n_init=5, random_state=0).fit(X)
    assert searched == [(N, 5)]
    assert {run.status for run in fit.runs_} == {"converged"}


@pytest.mark.parametrize("make", ESTIMATORS)
def test_data_that_are_not_large_are_searched_as_ever(X, make, searched):
    auto, five = make(K, random_state=0).fit(X), make(K, n_init=5, random_state=0).fit(X)
    assert searched == [(N, 5), (N, 5)]
    assert auto.prototypes_.tobytes() == five.prototypes_.tobytes()


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize("make", ESTIMATORS)
def test_a_seed_gives_the_same_bytes_for_any_number_of_threads(X, make):
    fits = [make(K, random_state=3, n_threads=n).fit(X) for n in (1, 1, 2)]
    assert len({fit.prototypes_.tobytes() for fit in fits}) == 1
    assert len({fit.agreement_ for fit in fits}) == 1


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize("make", ESTIMATORS)
def test_the_agreement_is_that_of_the_partitions_in_the_sample(make, monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((N, D))  # no clusters: runs differ
    noted = []
    run = Search.run
    monkeypatch.setattr(
        Search, "run", lambda *given: noted.append((given[0], run(*given))) or noted[-1][1]
    )
    fit = make(K, random_state=0).fit(X)
    (search, (found,)) = noted[0]
    best = max(range(3), key=lambda i: found[i].value)
    rows = search.directions.take(np.arange(search.directions.n_rows))

    def labels(partition):
        model = search.model
        scorer = model.scorer(model.from_partition(partition.resultants), "hard")
        return (rows @ scorer.matrix.T + scorer.biases).argmax(axis=1)

    others = [i for i in range(2) if i != best]
    expected = np.mean([adjusted_rand_score(labels(found[best]), labels(found[i])) for i in others])
    assert 0.0 < expected < 0.999
    assert_allclose(fit.agreement_, expected)


def test_how_many_rows_are_drawn(X, monkeypatch):
    problem = problem_of(X)
    assert not starts.is_large(problem)
    monkeypatch.setattr(starts, "LARGE", 300.0 * D * K)
    assert starts.is_large(problem)
    assert starts.sample_rows(problem, 0).directions.n_rows == max(300, starts.SAMPLE_ROWS * K)
    monkeypatch.setattr(starts, "SAMPLE_ROWS", 50)
    assert starts.sample_rows(problem, 0).directions.n_rows == 300
    monkeypatch.setattr(starts, "SAMPLE_ROWS", 150)
    assert starts.sample_rows(problem, 0).directions.n_rows == 450
    monkeypatch.setattr(starts, "SAMPLE_ROWS", 250)  # more than half of the rows: all are read
    assert starts.sample_rows(problem, 0) is problem


@pytest.mark.usefixtures("small_is_large")
def test_rows_of_a_sample_keep_their_weights_and_those_without_weight_are_never_drawn(X):
    weights = np.random.default_rng(0).uniform(0.5, 2.0, N)
    weights[::4] = 0.0
    drawn = starts.sample_rows(problem_of(X, weights), 7)
    rows = drawn.directions.take(np.arange(drawn.directions.n_rows))
    cosines = rows @ (X / np.linalg.norm(X, axis=1, keepdims=True)).T
    ids = cosines.argmax(axis=1)
    assert_allclose(cosines.max(axis=1), 1.0)
    assert len(set(ids)) == len(ids) == 400
    assert not np.any(ids % 4 == 0)
    assert_array_equal(drawn.weights, weights[ids])
    few = np.where(np.arange(N) < 350, 1.0, 0.0)  # the rows that count are not large
    assert not starts.is_large(problem_of(X, few))


@pytest.mark.usefixtures("small_is_large")
def test_weights_count_in_the_fit(X):
    weights = np.where(np.arange(N) % 2, 1.0, 3.0)
    fit = sm.VMFMixture(K, random_state=0).fit(X, sample_weight=weights)
    whole = sm.VMFMixture(K, n_init=5, random_state=0).fit(X, sample_weight=weights)
    assert_allclose(fit.objective_, whole.objective_, rtol=1e-6)


class Plain:
    """Directions that have the three methods of the protocol and nothing else."""

    def __init__(self, inside):
        self.n_rows, self.n_features, self.n_threads = inside.n_rows, inside.n_features, 1
        self.sweep, self.map_rows, self.take = inside.sweep, inside.map_rows, inside.take


@pytest.mark.usefixtures("small_is_large")
def test_engines_that_cannot_give_some_rows_keep_the_search_on_all(X, searched):
    fit = sm.SphericalKMeans(K, random_state=0).fit(Plain(sm.as_directions(X)))
    assert searched == [(N, 5)]
    assert {run.status for run in fit.runs_} == {"converged"}


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize("how", [{"engine": "reference"}, {"block_rows": 512}])
def test_engines_that_can_give_some_rows_draw_the_same_ones(X, how):
    rows = sm.as_directions(X, **how)
    fit, other = (sm.SphericalKMeans(K, random_state=0).fit(one) for one in (rows, X))
    assert_allclose(fit.coherence_, other.coherence_, rtol=1e-9)
    assert_array_equal(fit.labels_, other.labels_)


@pytest.mark.parametrize("how", [{}, {"engine": "reference"}, {"block_rows": 512}])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_part_has_the_rows_asked_for(X, how, kind):
    table = kind(np.where(X > 0.1, X, 0.0) + np.eye(D)[np.arange(N) % D])
    rows = sm.as_directions(table, **how)
    assert rows.n_entries == (table.nnz if sparse.issparse(table) else N * D)
    ids = np.arange(5, N, 17)
    part = rows.part(ids)
    assert part.n_rows == len(ids)
    assert_array_equal(part.take(np.arange(len(ids))), rows.take(ids))
    assert part.n_threads == rows.n_threads


@pytest.mark.usefixtures("small_is_large")
def test_a_study_finds_for_each_number_what_a_mixture_of_it_finds(X):
    study = sm.VMFMixtureIC([2, K], paths="none", k_criterion="bic", random_state=0).fit(X)
    for number in (2, K):
        alone = sm.VMFMixture(number, random_state=0).fit(X)
        assert_allclose(study.dense_models_[number].objective_, alone.objective_, rtol=1e-9)
        assert len(study.dense_models_[number].runs_) == len(alone.runs_)


@pytest.mark.usefixtures("small_is_large")
def test_the_start_that_makes_room_for_noise_reads_a_sample_too(X, searched):
    fit = sm.VMFMixture(K, noise="uniform", random_state=0).fit(X)
    assert searched == [(400, 2), (400, 2)]
    assert {"noise"} < {run.start for run in fit.runs_}


@pytest.mark.usefixtures("small_is_large")
def test_a_runaway_does_not_go_on(monkeypatch):
    problem = problem_of(np.random.default_rng(1).standard_normal((N, D)))  # runs differ
    found = starts.draw(problem, "merge", "auto", 0)
    (kept,) = [start for start in found if start.parameters is not None]
    best = kept.parameters.prototypes
    monkeypatch.setattr(starts, "is_runaway", lambda _, it: np.array_equal(it.prototypes, best))
    again = starts.draw(problem, "merge", "auto", 0)
    (other,) = [start for start in again if start.parameters is not None]
    assert not np.array_equal(other.parameters.prototypes, best)


@pytest.mark.usefixtures("small_is_large")
def test_where_every_start_fails_the_runs_say_so():
    X = np.repeat(np.eye(D)[:2], N // 2, axis=0)  # two different rows
    with pytest.raises(NoFitError, match="2 no_start"):
        sm.VMFMixture(K, random_state=0).fit(X)
