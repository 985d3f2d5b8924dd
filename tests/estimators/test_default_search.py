"""The search as estimators use it: defaults, what runs_ and agreement_ say, and its promises."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import adjusted_rand_score

import spheremix as sm
from spheremix import em
from spheremix.search import Search

ESTIMATORS = [sm.VMFMixture, sm.VMFPath, sm.VMFMixtureIC, sm.SphericalKMeans]


@pytest.fixture(scope="module")
def rows():
    """Fifteen groups of unequal sizes in twelve dimensions, not well apart."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(15), rng.integers(8, 40, size=15))
    X = rng.normal(size=(15, 12))[labels] + 0.9 * rng.normal(size=(len(labels), 12))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_default_is_the_search(estimator):
    parameters = estimator().get_params()
    assert (parameters["init"], parameters["n_init"]) == ("merge", "auto")


def test_the_number_of_runs(rows):
    starts = [run.start for run in sm.VMFMixture(6, random_state=0).fit(rows).runs_]
    assert starts == ["merge"] * 5 + ["cross"] * 4
    starts = [run.start for run in sm.VMFMixture(6, init="random", random_state=0).fit(rows).runs_]
    assert starts == ["random"] * 10
    starts = [run.start for run in sm.SphericalKMeans(6, n_init=2, random_state=0).fit(rows).runs_]
    assert starts == ["merge"] * 2 + ["cross"]
    given = sm.VMFMixture(6, init=rows[:6]).fit(rows)
    assert [run.start for run in given.runs_] == ["given"]
    assert np.isnan(given.agreement_)
    for wrong in ("many", 0, 2.5):
        with pytest.raises((ValueError, TypeError), match="n_init"):
            sm.VMFMixture(6, n_init=wrong).fit(rows)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"beta": 3.0},
        {"e_step": "hard"},
        {"kappa": "free"},
        {"kappa": 20.0},
        {"kappa": np.linspace(5.0, 40.0, 15)},
        {"m_step": "paper", "kappa_solver": "banerjee"},
    ],
    ids=str,
)
def test_what_is_published_is_the_best_run_and_no_worse_than_its_start(rows, options):
    mix = sm.VMFMixture(15, random_state=0, n_init=3, **options).fit(rows)
    reached = [run for run in mix.runs_ if run.status == "converged"]
    assert_allclose(mix.objective_, max(run.objective for run in reached), rtol=1e-9)
    if "m_step" not in options:
        assert mix.stationarity_gap_ < 1e-7
    if not options.keys() & {"beta", "m_step", "kappa"}:
        # The likelihood of a mixture is at least that of the rows with their clusters.
        assert all(run.objective >= run.start_objective for run in reached)
    assert -0.1 <= mix.agreement_ <= 1.0


def test_it_beats_ten_random_starts_in_fewer_sweeps(rows):
    class Counted:
        n_rows, n_features = rows.shape
        n_threads = 1

        def __init__(self):
            self.inner, self.swept = sm.as_directions(rows), 0
            self.map_rows, self.take = self.inner.map_rows, self.inner.take

        def sweep(self, scorers, weights=None):
            self.swept += sum(scorer.n_components for scorer in scorers)
            return self.inner.sweep(scorers, weights)

    old, new = Counted(), Counted()
    by_chance = [sm.VMFMixture(15, init="random", random_state=s).fit(old) for s in range(3)]
    found = [sm.VMFMixture(15, random_state=s).fit(new) for s in range(3)]
    assert np.mean([mix.objective_ for mix in found]) > np.mean(
        [mix.objective_ for mix in by_chance]
    )
    assert new.swept < old.swept
    agree = [adjusted_rand_score(found[0].labels_, mix.labels_) for mix in found[1:]]
    chance = [adjusted_rand_score(by_chance[0].labels_, mix.labels_) for mix in by_chance[1:]]
    assert np.mean(agree) > np.mean(chance)


def test_agreement_is_that_of_the_runs_with_the_best_crossings_aside(rows):
    mix = sm.VMFMixture(15, n_init=3, random_state=0).fit(rows)
    best = int(np.argmax([run.objective for run in mix.runs_]))
    directions, model, others = sm.as_directions(rows), mix.model_, []
    for i, run in enumerate(mix.runs_):
        if run.start == "merge" and i != best:
            [[found]] = Search(model, directions).run([15], [run.seed])
            start = model.from_partition(found.resultants)
            [fit] = em.fit(model, directions, [start], em.Settings())
            assert_allclose(fit.objective, run.objective, rtol=1e-9)
            labels = directions.map_rows(model.scorer(fit.parameters), "labels")
            others.append(adjusted_rand_score(mix.labels_, labels))
    assert len(others) >= 2
    assert_allclose(mix.agreement_, np.mean(others))
    assert mix.agreement_ < 1.0  # fifteen groups that overlap
    easy = np.repeat(np.eye(4), 10, axis=0) + 0.01 * np.random.default_rng(0).normal(size=(40, 4))
    clear = sm.VMFMixture(4, random_state=0).fit(easy)
    assert clear.agreement_ == 1.0
    assert len({run.objective for run in clear.runs_}) == 1  # EM was run once for all of them


def test_candidates_searched_together_are_what_each_would_be_alone(rows):
    study = sm.VMFMixtureIC([3, 6], paths="none", n_init=3, random_state=0).fit(rows)
    for K, agreement in zip((3, 6), study.agreement_, strict=True):
        alone = sm.VMFMixture(K, n_init=3, random_state=0).fit(rows)
        assert_allclose(study.dense_models_[K].objective_, alone.objective_, rtol=1e-9)
        assert [run.start for run in study.dense_models_[K].runs_] == ["merge"] * 3 + ["cross"] * 2
        assert_allclose([agreement, study.dense_models_[K].agreement_], alone.agreement_)
    assert list(study.table_["restart"]) == [0, 1, 2, 3, 4] * 2
