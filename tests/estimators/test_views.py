"""Several views of the rows: the fit against an EM written down a second time, and what is said."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from views_common import brute_force, concentration, log_c, planted, unit

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.merging import merge
from spheremix.reading import explain


def mixture(n_components=4, **parameters):
    return sm.VMFMixture(n_components, **{"random_state": 0, "n_threads": 1, **parameters})


def overlapping(n=150, seed=3):
    """Return two views of three groups that overlap, and first labels that are half wrong."""
    rng = np.random.default_rng(seed)
    groups = np.arange(n) % 3
    words = np.maximum(np.eye(9)[groups] + 0.5 * rng.normal(size=(n, 9)), 0.0)
    meaning = np.eye(5)[groups] + 0.6 * rng.normal(size=(n, 5))
    labels = np.where(rng.random(n) < 0.5, groups, rng.integers(3, size=n))
    return {"words": sparse.csr_array(words), "meaning": meaning}, labels


# Against brute force


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize("kappa", ["shared", "free"])
@pytest.mark.parametrize("omega", [None, {"words": 0.5, "meaning": 1.5}])
def test_a_fit_is_that_of_an_em_written_down_a_second_time(engine, kappa, omega):
    X, labels = overlapping()
    words = X["words"].toarray()
    words[[4, 50]] = 0.0
    X["words"] = sparse.csr_array(words)
    X["meaning"][7] = 0.0
    weights = np.random.default_rng(5).exponential(size=150)
    fit = mixture(3, init=labels, kappa=kappa, view_weights=omega, engine=engine, tol=1e-13)
    fit.fit(X, sample_weight=weights)
    trace, prototypes, kappas, shares, posteriors = brute_force(
        X, labels, 600, kappa=kappa, weights=weights, view_weights=omega
    )
    assert_allclose(fit.log_likelihood_, trace[-1], rtol=1e-9)
    assert_allclose(fit.weights_, shares, atol=1e-5)
    assert_allclose(fit.predict_proba(X), posteriors, atol=1e-4)
    for name, view in fit.views_.items():
        assert_allclose(view.kappas_, kappas[name], rtol=1e-4)
        assert_allclose(view.prototypes_, prototypes[name], atol=1e-4)
        assert_allclose(np.linalg.norm(view.prototypes_, axis=1), 1.0)


def test_the_first_steps_are_those_of_brute_force_to_rounding():
    X, labels = overlapping()
    for n in (1, 2, 5):
        with pytest.warns(sm.estimators.problem.ConvergenceWarning):
            fit = mixture(3, init=labels, max_iter=n, tol=0.0).fit(X)
        trace, *_ = brute_force(X, labels, n + 1)
        assert_allclose(fit.objective_, trace[-1], rtol=1e-12)


def test_log_densities_add_up_over_the_views():
    X, _labels = overlapping()
    fit = mixture(1, init=np.zeros(150, dtype=int)).fit(X)
    parts = [
        sm.VonMisesFisher(view.prototypes_[0], view.kappas_[0]).logpdf(unit(X[name]))
        for name, view in fit.views_.items()
    ]
    assert_allclose(fit.score_samples(X), sum(parts), rtol=1e-9)


def test_the_objective_never_falls_and_the_gap_is_what_a_step_gains():
    X, labels = overlapping()
    before, gap = -np.inf, 0.0
    for n in range(1, 12):
        with pytest.warns(sm.estimators.problem.ConvergenceWarning):
            fit = mixture(3, init=labels, beta=150.0, max_iter=n, tol=0.0).fit(X)
        assert fit.objective_ - before >= gap * 150 - 1e-9
        before, _gap = fit.objective_, fit.stationarity_gap_
    end = mixture(3, init=labels, beta=150.0, tol=1e-10).fit(X)
    assert end.status_ == "converged"
    assert end.stationarity_gap_ < 1e-10
    assert end.objective_ >= before - 1e-9
    assert (end.views_["words"].prototypes_ == 0.0).any()
    assert (end.views_["meaning"].prototypes_ != 0.0).all()


# Bits, weights, blocks


def test_one_view_by_name_is_the_table_itself_to_the_bit():
    X, _ = overlapping()
    named = mixture(3).fit({"words": X["words"]})
    plain = mixture(3).fit(X["words"])
    assert_array_equal(named.prototypes_, plain.prototypes_)
    assert_array_equal(named.kappas_, plain.kappas_)
    assert_array_equal(named.labels_, plain.labels_)
    assert named.objective_ == plain.objective_
    assert_array_equal(named.views_["words"].prototypes_, plain.prototypes_)
    assert_array_equal(named.predict({"words": X["words"]}), plain.labels_)
    assert_array_equal(named.predict(X["words"]), plain.labels_)


def test_a_view_of_weight_zero_changes_nothing():
    X, _ = overlapping()
    alone = mixture(3, tol=1e-11).fit(X["words"])
    both = mixture(3, view_weights={"meaning": 0.0}, tol=1e-11).fit(X)
    assert_allclose(both.objective_, alone.objective_, rtol=1e-10)
    assert_array_equal(both.labels_, alone.labels_)
    assert_allclose(both.views_["words"].prototypes_, alone.prototypes_, atol=1e-5)
    # It is described all the same: the directions of the groups that the words make.
    posteriors = alone.predict_proba(X["words"])
    sums = posteriors.T @ (X["meaning"] / np.linalg.norm(X["meaning"], axis=1, keepdims=True))
    lengths = np.linalg.norm(sums, axis=1)
    meaning = both.views_["meaning"]
    assert_allclose(meaning.prototypes_, sums / lengths[:, None], atol=1e-5)
    assert_allclose(meaning.kappas_, concentration(5, lengths.sum() / 150), rtol=1e-5)


def test_the_order_of_the_views_does_not_matter():
    X, _ = overlapping()
    turned = {"meaning": X["meaning"], "words": X["words"]}
    one, other = mixture(3).fit(X), mixture(3).fit(turned)
    assert_allclose(one.objective_, other.objective_, rtol=1e-9)
    assert adjusted_rand_score(one.labels_, other.labels_) == 1.0
    assert_array_equal(one.predict(turned), one.labels_)


@pytest.mark.parametrize("parameters", [{}, {"kappa": "free"}, {"beta": 3.0}])
def test_threads_give_the_same_bits(parameters):
    X, _ = overlapping(n=3000)
    X["meaning"] = X["meaning"].astype(np.float32)
    one = mixture(3, n_init=2, **parameters).fit(X)
    two = mixture(3, n_init=2, **parameters).set_params(n_threads=2).fit(X)
    assert_array_equal(one.prototypes_, two.prototypes_)
    assert one.objective_ == two.objective_


def test_a_weight_of_two_is_the_row_twice():
    X, labels = overlapping()
    weights = np.where(np.arange(150) < 40, 2.0, 1.0)
    twice = {name: _stacked(part, part[:40]) for name, part in X.items()}
    one = mixture(3, init=labels).fit(X, sample_weight=weights)
    two = mixture(3, init=np.concatenate([labels, labels[:40]])).fit(twice)
    assert_allclose(one.objective_, two.objective_, rtol=1e-10)
    assert_allclose(one.prototypes_, two.prototypes_, atol=1e-6)


def _stacked(one, other):
    return (
        sparse.vstack([one, other], format="csr")
        if sparse.issparse(one)
        else np.vstack([one, other])
    )


def test_three_views_of_which_two_are_dense():
    X, labels = overlapping()
    X["third"] = np.random.default_rng(0).normal(size=(150, 3)) + np.eye(3)[np.arange(150) % 3]
    fit = mixture(3, init=labels, tol=1e-12).fit(X)
    trace, _, kappas, *_ = brute_force(X, labels, 400)
    assert_allclose(fit.log_likelihood_, trace[-1], rtol=1e-9)
    assert_allclose(fit.views_["third"].kappas_, kappas["third"], rtol=1e-4)


# What it is for


def test_groups_that_neither_view_shows_are_found():
    X, groups = planted()
    assert adjusted_rand_score(mixture().fit(X).labels_, groups) > 0.95
    for name in X:
        assert adjusted_rand_score(mixture().fit(X[name]).labels_, groups) < 0.6


@pytest.mark.parametrize("kappa", ["shared", "free"])
def test_a_row_without_words_is_grouped_by_its_meaning(kappa):
    X, _ = overlapping()
    fit = mixture(3, kappa=kappa).fit(X)
    E = X["meaning"]
    nothing = {"words": sparse.csr_array(X["words"].shape), "meaning": E}
    view = fit.views_["meaning"]
    alone = sm.VMFMixture.from_parameters(view.prototypes_, view.kappas_, fit.weights_)
    assert_allclose(fit.predict_proba(nothing), alone.predict_proba(E), atol=1e-9)
    assert_allclose(fit.score_samples(nothing), alone.score_samples(E), rtol=1e-9)


def test_a_group_whose_rows_have_no_words_at_all():
    rng = np.random.default_rng(1)
    groups = np.arange(90) % 3
    words = np.eye(8)[groups] + 0.2 * rng.normal(size=(90, 8))
    words[groups == 2] = 0.0
    X = {"words": words, "meaning": np.eye(4)[groups] + 0.1 * rng.normal(size=(90, 4))}
    for kappa in ("shared", "free"):
        for beta in (0.0, 2.0):
            fit = mixture(3, kappa=kappa, beta=beta).fit(X)
            assert adjusted_rand_score(fit.labels_, groups) == 1.0
            assert fit.status_ == "converged"
            assert np.isfinite(fit.criteria_["bic"])


def test_a_search_hears_both_views_at_any_scale_of_their_concentrations():
    X, groups = planted(n=400, noise=0.12)
    # Words in many dimensions have a concentration that is many times that of the meaning.
    wide = np.hstack(
        [X["words"].toarray(), 0.08 * np.random.default_rng(0).normal(size=(400, 300))]
    )
    fit = mixture().fit({"words": wide, "meaning": X["meaning"]})
    assert fit.views_["words"].kappas_[0] > 3.0 * fit.views_["meaning"].kappas_[0]
    assert adjusted_rand_score(fit.labels_, groups) > 0.95


def test_a_word_of_manner_in_every_text_does_not_lead_the_search():
    rng = np.random.default_rng(0)
    groups, manners, rows = rng.integers(6, size=600), rng.integers(6, size=600), np.arange(600)
    words = np.zeros((600, 66))
    words[rows, manners] = 1.3
    for _ in range(2):
        words[rows, 6 + 10 * groups + rng.integers(10, size=600)] += 1.0
    X = {"words": words, "meaning": np.eye(24)[groups] + 0.2 * rng.normal(size=(600, 24))}
    fit = mixture(6).fit(X)
    assert adjusted_rand_score(fit.labels_, groups) > 0.99
    # The likelihood would rather have groups by manner, which EM keeps if it begins there.
    other = mixture(6, init=manners).fit(X)
    assert other.objective_ > fit.objective_
    assert adjusted_rand_score(other.labels_, manners) > 0.99


def test_views_with_zeros_count_a_tenth_in_the_search_beside_others():
    X, _ = overlapping()
    for weights, named, searched in (
        (None, None, (0.1, 1.0)),
        ({"words": 2.0, "meaning": 0.5}, None, (0.2, 0.5)),
        (None, (), (1.0, 1.0)),
        (None, ("words", "meaning"), (1.0, 1.0)),
        ({"meaning": 0.0}, None, (1.0, 0.0)),
    ):
        model = mixture(3, view_weights=weights, sparse_views=named).fit(X).model_
        assert_allclose([one.view_weights for one in model.for_starts()], [searched])


def test_the_start_that_the_search_thinks_most_of_goes_on_alone():
    X, _ = overlapping()
    fit = mixture(3, n_init=4).fit(X)
    assert [run.status for run in fit.runs_].count("outdone") == len(fit.runs_) - 1
    assert 0.0 < fit.agreement_ <= 1.0


# Counts and other methods


def test_criteria_count_what_is_estimated():
    X, labels = overlapping()
    fit = mixture(3, init=labels, kappa={"words": "shared", "meaning": "free"}, beta=150.0).fit(X)
    words, meaning = (view.prototypes_ for view in fit.views_.values())
    sizes = np.count_nonzero(words, axis=1)
    assert sizes.min() < 9
    means = (
        np.maximum(sizes - 1, 1).sum() + np.maximum(np.count_nonzero(meaning, axis=1) - 1, 1).sum()
    )
    assert fit.n_parameters_ == 2 + 1 + 3 + means
    bic = np.log(150) * fit.n_parameters_ - 2.0 * fit.score_samples(X).sum()
    assert_allclose(fit.criteria_["bic"], bic)
    assert_allclose(fit.bic(X), bic)
    d = 14  # columns of both views
    assert_allclose(
        fit.criteria_["ric"] - fit.criteria_["aic"], 2 * (np.log(d) - 1) * fit.n_parameters_
    )


def test_given_concentrations_stay():
    X, labels = overlapping()
    fit = mixture(3, init=labels, kappa={"words": 4.0, "meaning": [3.0, 5.0, 7.0]}).fit(X)
    assert_array_equal(fit.views_["words"].kappas_, 4.0)
    assert_array_equal(fit.views_["meaning"].kappas_, [3.0, 5.0, 7.0])
    searched = mixture(3, kappa={"meaning": [3.0, 5.0, 7.0]}).fit(X)
    assert_array_equal(np.sort(searched.views_["meaning"].kappas_), [3.0, 5.0, 7.0])


def test_at_the_cap_nothing_is_advised_that_views_do_not_have():
    X = {"words": np.repeat(np.eye(4)[:2], 9, axis=0), "meaning": np.repeat(np.eye(3)[:2], 9, 0)}
    with pytest.warns(sm.estimators.problem.ConvergenceWarning, match="at its cap") as found:
        mixture(2).fit(X)
    assert not any("kappa_prior" in str(one.message) for one in found)


def test_samples_have_the_views_and_come_back_to_their_components():
    X, _groups = planted(noise=0.1)
    fit = mixture().fit(X)
    drawn, labels = fit.sample(500, random_state=1)
    assert {name: part.shape for name, part in drawn.items()} == {
        "words": (500, 12),
        "meaning": (500, 7),
    }
    assert (fit.predict(drawn) == labels).mean() > 0.98


def test_batches_of_views():
    X, groups = planted(n=600)
    fit = mixture()
    for start in range(0, 600, 200):
        fit.partial_fit({name: part[start : start + 200] for name, part in X.items()})
    assert fit.n_samples_seen_ == 600
    assert adjusted_rand_score(fit.predict(X), groups) > 0.9


def test_a_fit_goes_on_from_another_and_from_itself():
    X, _ = planted()
    fit = mixture().fit(X)
    again = mixture(init=fit).fit(X)
    assert_allclose(again.objective_, fit.objective_, rtol=1e-9)
    warm = fit.set_params(warm_start=True).fit(X)
    assert len(warm.runs_) == 1


def test_random_starts_hear_both_views():
    X, groups = planted(noise=0.1)
    assert adjusted_rand_score(mixture(init="random", n_init=20).fit(X).labels_, groups) > 0.95


# Refusals


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ({}, "without a view"),
        ({"words": np.eye(3), "meaning": np.eye(4)}, "'words' 3, 'meaning' 4"),
        (
            {"words": [[0, 0], [1, 2], [0, 0]], "meaning": [[1, 0], [1, 0], [0, 0]]},
            "zeros only.*: 2",
        ),
        ({"words": np.eye(3), "meaning": [[1, np.nan], [1, 1], [1, 2]]}, "View 'meaning'.*row 0"),
        ({"words": np.eye(3), "meaning": [["a", "b"]] * 3}, "View 'meaning'"),
        ({"words": np.eye(3), 3: np.eye(3)}, "names of views"),
        ({"words": np.zeros((3, 2)), "meaning": np.eye(3)}, "View 'words' of X has zeros only"),
    ],
)
def test_views_that_cannot_be_opened(X, message):
    with pytest.raises((ValueError, TypeError), match=message):
        mixture(2).fit(X)


def test_rows_that_do_not_fit_the_model():
    X, _ = overlapping()
    fit, plain = mixture(3).fit(X), mixture(3).fit(X["meaning"])
    with pytest.raises(ValueError, match=r"fitted to the views 'words', 'meaning'.*one table"):
        fit.predict(X["meaning"])
    with pytest.raises(ValueError, match="and X has 'words'"):
        fit.predict({"words": X["words"]})
    with pytest.raises(ValueError, match=r"View 'meaning' of X has 4 features.*expecting 5"):
        fit.predict({**X, "meaning": X["meaning"][:, :4]})
    with pytest.raises(ValueError, match="fitted to one table"):
        plain.predict(X)
    with pytest.raises(AttributeError, match="without views"):
        _ = plain.views_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"view_weights": {"word": 1.0}}, "view_weights.*'word'.*words, meaning"),
        ({"view_weights": {"words": 0.0, "meaning": 0.0}}, "zero for every view"),
        ({"view_weights": 2.0}, "dictionary"),
        ({"kappa": {"sound": "free"}}, "kappa.*'sound'"),
        ({"sparse_views": "sound"}, "sparse_views.*'sound'"),
        ({"beta": 1.0, "sparse_views": ()}, "none is named"),
        ({"feature_weights": {"meaning": np.ones(5)}}, "'meaning', which has no zeros"),
        ({"feature_weights": np.ones(8)}, "feature_weights"),
        ({"noise": "uniform"}, "noise"),
        ({"m_step": "paper"}, "m_step"),
        ({"kappa_solver": "banerjee"}, "kappa_solver"),
        ({"kappa_prior": (1, 0.5)}, "kappa_prior"),
        ({"init": "k-means++"}, "init"),
        ({"init": np.ones((3, 14))}, "init"),
        ({"engine": "torch"}, "torch"),
    ],
)
def test_parameters_that_views_do_not_have(parameters, message):
    X, _ = overlapping()
    with pytest.raises((ParameterError, ValueError), match=message):
        mixture(3, **parameters).fit(X)


def test_parameters_by_view_are_for_views():
    X, _ = overlapping()
    with pytest.raises(ParameterError, match=r"kappa.*one table"):
        mixture(3, kappa={"words": "free"}).fit(X["words"])
    named = mixture(3, kappa={"words": "free"}).fit({"words": X["words"]})
    assert len(np.unique(named.kappas_)) == 3


# Paths, trees, selections


def test_a_path_takes_words_away_and_leaves_the_meaning():
    X, groups = planted()
    path = sm.VMFPath(4, random_state=0, n_threads=1, min_relative_increase=0.2).fit(X)
    assert path.n_nonzero_[0] == 48
    assert path.n_nonzero_[-1] == 4
    assert path.sparsity_[-1] == 1 - 4 / 48
    assert path.status_ == "maximal_sparsity"
    chosen = path.model(path.select("bic"))
    assert_allclose(chosen.criteria_["bic"], chosen.bic(X), rtol=1e-9)
    assert np.count_nonzero(chosen.views_["words"].prototypes_) < 20
    assert (chosen.views_["meaning"].prototypes_ != 0.0).all()
    assert adjusted_rand_score(path.predict(X), groups) > 0.9
    one = path.model(path.select(n_words=2))
    assert np.count_nonzero(one.views_["words"].prototypes_) <= 8


def test_words_are_counted_where_a_column_of_the_meaning_is_zero():
    X, _ = planted()
    X["meaning"][:, 0] = 0.0
    path = sm.VMFPath(4, random_state=0, n_threads=1, min_relative_increase=0.5).fit(X)
    words = path.model(0).views_["words"].prototypes_
    assert path.n_nonzero_[0] == np.count_nonzero(words) == 48
    assert path.n_nonzero_[-1] == 4


def test_a_relaxed_path_refits_on_the_words_that_are_left():
    X, _ = planted()
    path = sm.VMFPath(4, random_state=0, n_threads=1, min_relative_increase=0.5, relaxed=True).fit(
        X
    )
    i = len(path.betas_) // 2
    penalised, refit = path.model(i, refit=False), path.model(i)
    assert refit.log_likelihood_ >= penalised.log_likelihood_
    assert_array_equal(refit.prototypes_ != 0.0, penalised.prototypes_ != 0.0)


def test_trees_and_selections_of_views():
    X, groups = planted()
    tree = sm.VMFTree(8, random_state=0, n_threads=1).fit(X)
    assert adjusted_rand_score(tree.cut(4).labels_, groups) > 0.95
    levels = tree.cut(levels=[2, 4])
    assert_array_equal(levels.parents[0][levels[4].labels_], levels[2].labels_)
    candidates = range(2, 6)
    study = sm.VMFMixtureIC(
        candidates, k_criterion="bic", paths="none", random_state=0, n_threads=1
    )
    assert study.fit(X).best_n_components_ == 4
    assert adjusted_rand_score(study.predict(X), groups) > 0.95
    advised = sm.VMFMixtureIC(candidates, paths="none", random_state=0, n_threads=1).fit(X)
    assert advised.best_n_components_ == 4
    assert tree.fit(X).advice_.n_clusters == 4


def test_merging_loses_what_the_classification_likelihood_loses():
    X, groups = planted(n=80)
    fit = mixture(4, init=groups, kappa=5.0).fit(X)
    rows = sm.as_directions(X)
    [found] = rows.sweep(
        [
            fit.model_.scorer(
                fit.model_.parameters(fit.prototypes_, fit.kappas_, fit.weights_), "hard"
            )
        ]
    )
    value = fit.model_.cluster_value(found)
    merging = merge(found, value, 3)
    a, b = merging.pairs[0]
    joint = found.vectors[a] + found.vectors[b]

    def worth(mass, vector):
        parts = (vector[:12], vector[12:19])
        logs = [mass * log_c(len(part), 5.0) + 5.0 * np.linalg.norm(part) for part in parts]
        return mass * np.log(mass) + sum(logs)

    lost = worth(found.mass[a], found.vectors[a]) + worth(found.mass[b], found.vectors[b])
    lost -= worth(found.mass[a] + found.mass[b], joint)
    assert_allclose(merging.losses[0], lost, rtol=1e-9)


@pytest.mark.parametrize("estimator", [sm.SphericalKMeans(3), sm.VMFCoclustering(3)])
def test_estimators_for_one_table_say_so(estimator):
    X, _ = overlapping()
    with pytest.raises(ValueError, match=f"{type(estimator).__name__} takes one table of rows"):
        estimator.fit(X)


def test_a_data_frame_of_columns_of_lists_is_a_dictionary_of_views():
    pandas = pytest.importorskip("pandas")
    X, _ = overlapping()
    dense = {"words": X["words"].toarray(), "meaning": X["meaning"]}
    frame = pandas.DataFrame({name: list(part) for name, part in dense.items()})
    fit, same = mixture(3).fit(frame), mixture(3).fit(dense)
    assert_array_equal(fit.prototypes_, same.prototypes_)
    assert_array_equal(fit.predict(frame), same.labels_)
    with pytest.raises(ValueError, match="only columns of lists"):
        mixture(3).fit(frame.assign(number=1.0))


def test_why_a_document_is_in_its_group_word_by_word_and_the_meaning_as_one():
    X, _ = overlapping()
    fit = mixture(3).fit(X)
    names = [f"word {j}" for j in range(9)]
    for row in (0, 1, 2):
        document = {name: part[[row]] for name, part in X.items()}
        why = explain(document, fit.scorer_, names)
        assert why.label == fit.labels_[row]
        odds = np.log(fit.predict_proba(document)[0])
        assert_allclose(why.log_odds, odds[why.label] - odds[why.rival], rtol=1e-9)
        assert_allclose(why.bias + sum(term.difference for term in why.terms), why.log_odds)
        (meaning,) = (term for term in why.terms if term.feature == -1)
        view = fit.views_["meaning"]
        direction = unit(document["meaning"])[0]
        expected = view.kappas_[why.label] * (view.prototypes_[why.label] @ direction)
        assert meaning.word == "meaning"
        assert_allclose(meaning.term, expected, rtol=1e-9)
        assert {term.word for term in why.terms if term.feature >= 0} <= set(names)
    wordless = {"words": np.zeros((1, 9)), "meaning": X["meaning"][[0]]}
    why = explain(wordless, mixture(3, kappa="free").fit(X).scorer_, names)
    assert [term.word for term in why.terms] == ["meaning"]
    assert_allclose(why.bias + why.terms[0].difference, why.log_odds)


def test_groups_of_views_come_back_in_other_samples():
    X, _ = planted(noise=0.1)
    found = sm.stability(mixture().fit(X), X, random_state=0)
    assert found.groups.min() > 0.9
    assert (found.documents > 0.5).mean() > 0.95
    assert not found.words.toarray()[:, 12:].any()
