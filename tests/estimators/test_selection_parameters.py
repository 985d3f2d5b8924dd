"""The parameters of a study: its paths, weights, refit on a support, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

import spheremix as sm
from spheremix import em
from spheremix.bessel import log_normalizer
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.problem import build_problem
from spheremix.estimators.selection import refit_on_support
from spheremix.estimators.strategies import PathProgress
from spheremix.models.maximise import maximise_in_python
from spheremix.penalties import L1


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
        ({"n_components": None}, "n_components must be an integer of at least 1, got None"),
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
