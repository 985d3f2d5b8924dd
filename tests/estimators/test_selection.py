"""VMFMixtureIC: how it chooses, what it keeps, and its parameters."""

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
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score

import spheremix as sm
from spheremix import em
from spheremix.bessel import log_normalizer
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.problem import build_problem
from spheremix.estimators.selection import refit_on_support
from spheremix.estimators.strategies import PathProgress
from spheremix.models.maximise import maximise_in_python
from spheremix.penalties import L1
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
    study = sm.VMFMixtureIC([3], paths="none", n_init=1, random_state=0)
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


# The parameters of a study: its paths, weights, refit on a support, and what it refuses


def problem_of(mixture, X):
    return build_problem(MixtureOptions.of(mixture), X, None)


def test_path_options_pass(rows):
    weights = np.ones(10)
    weights[3] = 0
    study = sm.VMFMixtureIC(
        n_components=[3],
        n_init=1,
        random_state=0,
        beta_criterion="aic",
        max_sparsity=0.5,
        min_relative_increase=0.1,
        refine=0.2,
        kappa="free",
        feature_weights=weights,
    ).fit(rows)
    best = study.best_path_
    assert best.status_ == "max_sparsity"
    assert best.selected_ == best.select("aic")
    assert np.all(np.isinf(best.exit_betas_[:, 3]))
    assert len(np.unique(best.kappas_[0])) == 3
    assert best.refine == 0.2


def test_criteria_are_named_in_any_case(rows):
    options = {"n_components": [2, 3], "n_init": 1, "random_state": 0, "max_steps": 5}
    lower = sm.VMFMixtureIC(k_criterion="aic", beta_criterion="ricc", **options).fit(rows)
    upper = sm.VMFMixtureIC(k_criterion="AIC", beta_criterion="RICc", **options).fit(rows)
    assert upper.best_n_components_ == lower.best_n_components_
    assert upper.best_path_.selected_ == lower.best_path_.selected_
    path = sm.VMFPath(2, criterion="EBIC", n_init=1, random_state=0, max_steps=5).fit(rows)
    assert path.selected_ == path.select("ebic")
    for model in (upper, path):
        entry = sm.Report(model, X=rows).content["model"]
        assert entry["criterion"] in {"ricc", "ebic"}
        assert entry["k_criterion"] in {"aic", None}


def test_paths_at_every_number(rows):
    study = sm.VMFMixtureIC(
        n_components=[2, 3, 4], n_init=2, random_state=0, paths="all", min_relative_increase=0.1
    )
    with pytest.warns(UserWarning, match="4 components are at the upper end"):
        study.fit(rows)
    assert list(study.paths_) == [2, 3, 4]
    for K, path in study.paths_.items():
        assert path.kappas_.shape[1] == K
        assert path.n_nonzero_[-1] == K
    assert study.best_path_ is study.paths_[study.best_n_components_]


def test_weights_are_numbers_of_rows(rows):
    options = {"n_components": [3, 4], "n_init": 3, "random_state": 0, "max_steps": 4}
    light = sm.VMFMixtureIC(**options).fit(rows, sample_weight=np.ones(len(rows)))
    heavy = sm.VMFMixtureIC(**options).fit(rows, sample_weight=np.full(len(rows), 2.0))
    assert_allclose(heavy.table_["log_likelihood"], 2 * light.table_["log_likelihood"], rtol=1e-9)
    assert_allclose(heavy.best_path_.betas_, 2 * light.best_path_.betas_, rtol=1e-9)
    assert_allclose(heavy.best_path_.sizes_.sum(axis=1), 1000)
    counts = 3 - 1 + 1 + 3 * 9
    here = heavy.table_["n_components"] == 3
    expected = np.log(1000) * counts - 2 * heavy.table_["log_likelihood"]
    assert_allclose(heavy.table_["bic"][here], expected[here], rtol=1e-12)


def test_callback_and_feature_names(rows):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(rows, columns=[f"w{j}" for j in range(10)])
    seen = []
    study = sm.VMFMixtureIC(
        n_components=[2, 4], n_init=2, random_state=0, max_steps=5, callback=seen.append, refit=True
    ).fit(frame)
    assert seen[0] == em.Progress(1, 4, 4, seen[0].objective)  # all candidates share each reading
    assert sum(isinstance(one, PathProgress) for one in seen) == 4
    models = [study, study.best_path_, study.best_path_.model(1), study.best_estimator_]
    for model in [*models, *study.dense_models_.values()]:
        assert_array_equal(model.feature_names_in_, frame.columns)
    assert_array_equal(study.predict(frame), study.labels_)


# ------------------------------------------------------------------------------- refit on a support


@pytest.mark.parametrize("kappa", ["shared", "free", 9.0])
def test_refit_keeps_zeros_and_gains_likelihood(rows, kappa):
    options = {"n_components": [4], "kappa": kappa, "random_state": 0, "beta_criterion": "ebic"}
    sparse_one = sm.VMFMixtureIC(**options).fit(rows).best_estimator_
    study = sm.VMFMixtureIC(refit=True, **options).fit(rows)
    again = study.best_estimator_
    support = sparse_one.prototypes_ != 0
    assert 0 < support.sum() < 40
    assert_array_equal(again.prototypes_ != 0, support)
    assert again.beta == sparse_one.beta  # what chose the support
    assert again.log_likelihood_ > sparse_one.log_likelihood_ + 0.1
    assert again.objective_ == again.log_likelihood_
    assert again.criteria_["bic"] < sparse_one.criteria_["bic"]
    assert again.status_ == "converged"
    assert again.stationarity_gap_ < study.tol
    assert_array_equal(study.labels_, again.predict(rows))
    assert study.best_path_.best_estimator_.beta == sparse_one.beta  # the path is as it was
    # Stationary on its support, by one sweep and the specification of the M-step.
    posteriors = again.predict_proba(rows)
    vectors = np.where(support, posteriors.T @ rows, 0.0)
    mass = posteriors.sum(axis=0)
    best = maximise_in_python(
        vectors, mass, L1(), kappa, again.kappa_max_, again.prototypes_, again.kappas_
    )
    assert_allclose(best.prototypes, again.prototypes_, atol=1e-2)
    assert_allclose(best.kappas, again.kappas_, rtol=1e-2)
    assert again.kkt_residual_ < 10 * np.sqrt(study.tol)
    each = rows @ (again.kappas_[:, None] * again.prototypes_).T + np.log(again.weights_)
    each += log_normalizer(10, again.kappas_)
    assert_allclose(again.log_likelihood_, logsumexp(each, axis=1).sum(), rtol=1e-11)


def test_refit_leaves_nothing_below_zero_tol(rows):
    options = {"n_components": [4], "random_state": 0, "zero_tol": 0.15, "beta_criterion": "aic"}
    before = sm.VMFMixtureIC(**options).fit(rows).best_estimator_.prototypes_
    after = sm.VMFMixtureIC(refit=True, **options).fit(rows).best_estimator_
    support = after.prototypes_ != 0
    assert np.abs(after.prototypes_[support]).min() >= 0.15
    assert np.all(before[support] != 0)
    assert_allclose(after.log_likelihood_, after.score_samples(rows).sum(), rtol=1e-11)


def test_refit_that_fails_says_so():
    X = np.repeat(np.eye(3)[:2], 10, axis=0) + 0.01 * np.random.default_rng(0).normal(size=(20, 3))
    mixture = sm.VMFMixture(n_components=2, kappa=500.0, init=np.repeat([0, 1], 10)).fit(X)
    with pytest.raises(RuntimeError, match=r"refit: a component .* has collapsed: use refit=False"):
        refit_on_support(mixture, problem_of(mixture, X[:10]))


def test_refit_of_one_word_a_cluster(rows):
    study = sm.VMFMixtureIC(n_components=[4], random_state=0, beta_criterion="ricc").fit(rows)
    last = study.best_path_.model(-1)
    assert np.count_nonzero(last.prototypes_) == 4
    problem = problem_of(last, rows)
    again = refit_on_support(last, problem)
    assert_allclose(again.prototypes_, last.prototypes_, atol=1e-15)
    assert again.log_likelihood_ >= last.log_likelihood_ - 1e-9


# --------------------------------------------------------------------------- scikit-learn's manners


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k_criterion": "mdl"}, "k_criterion must be one of 'advice', 'aic'"),
        ({"beta_criterion": "mdl"}, "beta_criterion must be one of 'aic'"),
        ({"paths": "some"}, "paths must be one of 'best', 'all'"),
        ({"n_components": []}, "at least one number of components"),
        ({"n_components": [2, 0]}, "n_components must be an integer of at least 1, got 0"),
        ({"n_components": [2.5]}, "n_components must be an integer of at least 1, got 2.5"),
        ({"n_components": None}, "n_components must list the numbers to choose from, got None"),
        ({"n_components": "many"}, "n_components must be an integer of at least 1"),
        ({"n_components": [2, 501]}, "n_components=501 is more than the n_samples=500"),
        ({"init": np.zeros(500, dtype=int)}, "init must name a kind of random start"),
        ({"kappa": [1.0, 2.0]}, "an array fixes K"),
        ({"n_init": 0}, "n_init must be an integer"),
        ({"beta_min_ratio": 2.0}, "beta_min_ratio must be below 1"),
    ],
)
def test_bad_parameters(rows, options, message):
    given = {"n_components": [2], "n_init": 1, **options}
    with pytest.raises(ValueError, match=message):
        sm.VMFMixtureIC(**given).fit(rows)
