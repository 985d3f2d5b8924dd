"""K on the dense mixtures, beta on the path: the study recomputed from its parts."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score

import spheremix as sm
from spheremix.select import CRITERIA, count_parameters, criteria


@pytest.fixture(scope="module")
def study(rows):
    return sm.VMFMixtureIC(n_components=range(2, 7), init="random", n_init=5, random_state=0).fit(
        rows
    )


# ------------------------------------------------------------------------------- the pure functions


@st.composite
def supports(draw):
    K, d = draw(st.integers(1, 5)), draw(st.integers(2, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    mu = rng.normal(size=(K, d)) * (rng.random((K, d)) < draw(st.floats(0.05, 1)))
    mu[np.arange(K), rng.integers(d, size=K)] = 1.0
    return mu


@settings(max_examples=80)
@given(
    mu=supports(),
    kappa=st.sampled_from(["shared", "free", "given"]),
    log_likelihood=st.floats(-1e6, 1e6),
    n=st.floats(1, 1e6),
    entropy=st.floats(0, 1e4),
)
def test_criteria_are_their_formulas(mu, kappa, log_likelihood, n, entropy):
    K, d = mu.shape
    used = np.any(mu != 0, axis=0).sum()
    means = {
        "nonzero": sum(max(1, np.count_nonzero(one) - 1) for one in mu),
        "features": K * max(1, used - 1),
        "dense": K * (d - 1),
    }
    for count, expected in means.items():
        total = K - 1 + {"shared": 1, "free": K, "given": 0}[kappa] + expected
        for contain in (np.asarray, sparse.csr_array):
            assert count_parameters(contain(mu), kappa, count) == total
        got = criteria(log_likelihood, total, n, d, entropy)
        assert_allclose(got["aic"], 2 * total - 2 * log_likelihood)
        assert_allclose(got["bic"], np.log(n) * total - 2 * log_likelihood)
        assert_allclose(got["ric"], 2 * np.log(d) * total - 2 * log_likelihood)
        inflated = 2 * (np.log(d) + np.log(np.log(d)))
        assert_allclose(got["ricc"], inflated * total - 2 * log_likelihood)
        assert_allclose(got["ebic"], (np.log(n) + np.log(d)) * total - 2 * log_likelihood)
        assert_allclose(got["icl"], got["bic"] + 2 * entropy)


def test_counts_are_ordered(path):
    """Non-zeros are fewer than the features used, those fewer than all."""
    for i in range(len(path.betas_)):
        mu = path.model(i).prototypes_
        counts = [count_parameters(mu, "shared", count) for count in ("nonzero", "features")]
        assert counts[0] <= counts[1] <= count_parameters(mu, "shared", "dense")


# ---------------------------------------------------------------------------------------- the table


COLUMNS = [
    "n_components",
    "restart",
    "seed",
    "status",
    "n_iter",
    "objective",
    "log_likelihood",
    "n_nonzero",
    *CRITERIA,
]


def test_table_is_a_data_frame_in_waiting(study):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(study.table_)
    assert list(table.columns) == COLUMNS
    assert len(table) == 5 * 5
    assert not table.isna().any().any()
    assert_array_equal(table.groupby("n_components").size(), 5)
    assert_array_equal(table["restart"], np.tile(range(5), 5))
    bands = table.groupby("n_components")["bic"].agg(["mean", "std"])
    assert bands.shape == (5, 2)
    assert np.isfinite(bands.to_numpy()).all()
    best = table.loc[table.groupby("n_components")["objective"].idxmax()]
    for name in CRITERIA:
        assert_allclose(best[name], study.dense_criteria_[name], rtol=1e-12)


def test_table_and_curves_agree_where_much_is_set_to_zero(rows):
    """Criteria of the table are those of the parameters that are published."""
    study = sm.VMFMixtureIC(
        n_components=[2, 3], n_init=3, random_state=0, paths="none", zero_tol=0.15
    ).fit(rows)
    for i, K in enumerate(study.candidates_):
        here = study.table_["n_components"] == K
        best = np.nanargmax(np.where(here, study.table_["objective"], np.nan))
        assert_allclose(study.table_["bic"][best], study.dense_criteria_["bic"][i], rtol=1e-12)


def test_table_agrees_with_single_mixtures(rows, study):
    """All candidates and restarts in one batch are what each would be alone."""
    table = study.table_
    for K in study.candidates_:
        alone = sm.VMFMixture(int(K), init="random", n_init=5, random_state=0).fit(rows)
        here = table["n_components"] == K
        assert_array_equal(table["seed"][here], [run.seed for run in alone.runs_])
        assert_allclose(table["objective"][here], [run.objective for run in alone.runs_], rtol=1e-9)
        assert_array_equal(table["status"][here], [run.status for run in alone.runs_])
        assert_allclose(study.dense_models_[int(K)].objective_, alone.objective_, rtol=1e-9)
        assert [run.seed for run in study.dense_models_[int(K)].runs_] == table["seed"][
            here
        ].tolist()


@pytest.mark.filterwarnings("ignore:. of . restarts")
def test_a_failed_restart_is_a_row_without_criteria(rows):
    study = sm.VMFMixtureIC(
        n_components=[4, 6], init="random", n_init=8, e_step="hard", random_state=0
    ).fit(rows)
    table = study.table_
    failed = ~np.isin(table["status"], ["converged", "max_iter"])
    assert 0 < failed.sum() < 16
    for name in ("log_likelihood", *CRITERIA):
        assert_array_equal(np.isnan(table[name]), failed)
    assert_array_equal(table["n_nonzero"] == 0, failed)
    for name in CRITERIA:
        assert np.isfinite(study.dense_criteria_[name]).all()


@pytest.mark.filterwarnings("ignore:. of . restarts")
def test_hard_criteria_are_those_of_the_likelihood(rows):
    study = sm.VMFMixtureIC(
        n_components=[3, 4], init="random", n_init=4, random_state=0, e_step="hard"
    ).fit(rows)
    table = study.table_
    good = table["status"] == "converged"
    assert not good.all()  # one was left without rows on the way
    for K, dense in study.dense_models_.items():
        here = good & (table["n_components"] == K)
        best = np.nanargmax(np.where(here, table["objective"], np.nan))
        assert_allclose(table["log_likelihood"][best], dense.log_likelihood_, rtol=1e-12)
        assert_allclose(table["bic"][best], dense.criteria_["bic"], rtol=1e-12)
        assert_allclose(dense.criteria_["bic"], dense.bic(rows), rtol=1e-12)
    assert np.all(table["log_likelihood"][good] > table["objective"][good])
    assert np.isnan(table["log_likelihood"][~good]).all()


# --------------------------------------------------------------------------------------- the choice


def test_the_choice_is_the_smallest_on_the_dense_mixtures(study):
    assert_array_equal(study.candidates_, range(2, 7))
    for name in CRITERIA:
        curve = [study.dense_models_[K].criteria_[name] for K in range(2, 7)]
        assert_array_equal(study.dense_criteria_[name], curve)
    assert study.best_n_components_ == 2 + int(np.argmin(study.dense_criteria_["ebic"]))
    assert all(np.all(model.beta == 0) for model in study.dense_models_.values())


@pytest.mark.parametrize("criterion", ["aic", "bic", "ric", "ricc", "ebic", "icl"])
def test_every_criterion_can_choose(rows, study, criterion):
    other = sm.VMFMixtureIC(
        n_components=range(2, 7),
        init="random",
        n_init=5,
        random_state=0,
        k_criterion=criterion,
        max_steps=3,
    ).fit(rows)
    assert_array_equal(other.dense_criteria_[criterion], study.dense_criteria_[criterion])
    assert other.best_n_components_ == 2 + int(np.argmin(study.dense_criteria_[criterion]))
    assert list(other.paths_) == [other.best_n_components_]


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))]
)
def test_recovers_the_true_number(seed):
    X, labels, _ = sm.datasets.make_vmf_mixture(random_state=seed)
    study = sm.VMFMixtureIC(
        n_components=range(2, 8), k_criterion="bic", random_state=0, min_relative_increase=0.05
    ).fit(X)
    assert study.best_n_components_ == 4
    assert adjusted_rand_score(labels, study.labels_) > 0.75


def test_ties_go_to_the_smaller_number(rows, monkeypatch):
    def flat(log_likelihood, *_, **__):
        return dict.fromkeys(CRITERIA, 0.0 * log_likelihood + 1.0)

    monkeypatch.setattr("spheremix.estimators.fitted.criteria", flat)
    study = sm.VMFMixtureIC(
        n_components=[5, 3, 4], k_criterion="ebic", n_init=1, random_state=0, max_steps=2
    )
    with pytest.warns(UserWarning, match="3 components are at the lower end of the candidates, by"):
        study.fit(rows)
    assert_array_equal(study.dense_criteria_["ebic"], [1.0, 1.0, 1.0])
    assert study.best_n_components_ == 3


def test_candidates_in_any_order_and_form(rows):
    for several in ([4, 2, 4], np.array([2, 4]), (k for k in (4, 2)), {2, 4}):
        study = sm.VMFMixtureIC(several, k_criterion="bic", paths="none", n_init=1, random_state=0)
        assert_array_equal(study.fit(rows[:100]).candidates_, [2, 4])
    for one in (3, np.int64(3), [3]):
        study = sm.VMFMixtureIC(one, paths="none", n_init=1, random_state=0)
        assert_array_equal(study.fit(rows[:100]).candidates_, [3])
        assert study.best_n_components_ == 3


def test_a_hopeless_candidate_leaves_the_others(rows):
    """Five distinct rows cannot make six clusters, and can make three."""
    few = np.repeat(rows[:5], 20, axis=0)
    with pytest.warns(UserWarning, match="6 components"):
        study = sm.VMFMixtureIC((2, 3, 6), random_state=0, n_init=2).fit(few)
    assert np.isnan(study.dense_criteria_["bic"][2])
    assert set(study.dense_models_) == {2, 3}
    assert study.best_n_components_ in {2, 3}


def test_unfinished_candidates_are_said(rows):
    study = sm.VMFMixtureIC((2, 3), random_state=0, max_iter=2, n_init=2, max_steps=1, tol=1e-12)
    with warnings.catch_warnings(record=True, action="always") as caught:
        study.fit(rows)
    said = [str(one.message) for one in caught if issubclass(one.category, ConvergenceWarning)]
    assert any("K = 2, 3:" in message and "raise max_iter" in message for message in said)


# ---------------------------------------------------------------------------------- the whole study


def test_the_path_starts_from_the_chosen_dense_mixture(rows, study):
    best = study.best_path_
    assert best is study.paths_[study.best_n_components_]
    dense = study.dense_models_[study.best_n_components_]
    assert_allclose(best.objectives_[0], dense.objective_, atol=1e-4)
    assert_allclose(best.model(0).prototypes_, dense.prototypes_, atol=1e-3)
    assert best.runs_ is dense.runs_
    assert len(best.runs_) == 5
    assert best.status_ == "maximal_sparsity"
    assert best.selected_ == best.select("bic")
    assert study.best_estimator_ is best.best_estimator_
    assert_array_equal(study.labels_, best.model(best.selected_).predict(rows))
    assert_array_equal(study.predict(rows), study.labels_)
    assert study.score(rows) == study.best_estimator_.score(rows)
    assert study.n_iter_ == study.best_estimator_.n_iter_


def test_agreement_is_the_mean_with_the_best_restart(rows, study):
    for K, agreement in zip(study.candidates_, study.agreement_, strict=True):
        seeds = study.table_["seed"][study.table_["n_components"] == K]
        runs = [
            sm.VMFMixture(n_components=int(K), n_init=1, random_state=0, init=start).fit(rows)
            for start in first_prototypes(rows, int(K), seeds)
        ]
        runs.sort(key=lambda run: -run.objective_)
        others = [adjusted_rand_score(runs[0].labels_, run.labels_) for run in runs[1:]]
        assert_allclose(agreement, np.mean(others), atol=1e-12)
    assert study.agreement_[2] > 0.5
    alone = sm.VMFMixtureIC(n_components=[3], n_init=1, random_state=0, max_steps=2).fit(rows)
    assert np.isnan(alone.agreement_).all()


def first_prototypes(X, K, seeds):
    """Return the rows that the seeds draw as starts."""
    from spheremix import seeding  # noqa: PLC0415
    from spheremix.data.open import as_directions  # noqa: PLC0415
    from spheremix.models.vmf import VMFModel  # noqa: PLC0415

    model = VMFModel(X.shape[1], "shared", kappa_max=1e5)
    starts = seeding.draw_starts(model, as_directions(X), K, [int(seed) for seed in seeds])
    return [start.prototypes for start in starts]


def test_clone_params_and_pickle(rows, study):
    copy = clone(study)
    assert copy.get_params() == study.get_params()
    with pytest.raises(NotFittedError):
        copy.predict(rows)
    back = pickle.loads(pickle.dumps(study))  # noqa: S301
    assert_array_equal(back.predict(rows), study.labels_)
    assert_array_equal(back.table_["bic"], study.table_["bic"])
    again = copy.fit(rows)
    assert_array_equal(again.table_["objective"], study.table_["objective"])
    assert_array_equal(again.best_path_.betas_, study.best_path_.betas_)


def test_a_failed_fit_leaves_the_study_as_it_was(rows, study):
    again = copy.deepcopy(study)
    with pytest.raises(RuntimeError):
        again.set_params(n_components=(6, 7), n_init=1).fit(np.repeat(rows[:5], 20, axis=0))
    assert again.best_n_components_ == study.best_n_components_
    assert again.n_features_in_ == study.n_features_in_
    np.testing.assert_array_equal(again.candidates_, study.candidates_)
