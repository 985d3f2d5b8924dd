"""What the advice measures: groups of halves, rows without groups, valleys; and who asks for it."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from tree_common import themes
from views_common import planted as planted_views
from views_common import unit as unit_rows

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.estimators import advice
from spheremix.estimators.advice import (
    Adviser,
    agreement_of,
    apart_from_chance,
    cloud_around_mean,
    draws_of,
    few_rows_cloud,
    grouped,
    halved,
    long_cloud,
    numbers_up_to,
    read_some,
    same_words,
    tyler_shape,
    valley_between,
)
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.problem import build_problem
from spheremix.metrics import count_common, jaccard


@pytest.fixture(scope="module", autouse=True)
def little_advice():
    """All of it."""


def problem_of(X, kappa="shared", weights=None):
    options = MixtureOptions.of(sm.VMFMixture(1, kappa=kappa, n_threads=1))
    return build_problem(options, X, weights)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def four():
    return sm.datasets.make_vmf_mixture(300, 8, 4, overlap=0.02, random_state=0)[0]


def test_agreement_and_similarity_of_two_partitions():
    rng = np.random.default_rng(0)
    first, second = rng.integers(4, size=60), rng.integers(4, size=60)
    common = count_common(first, second, (5, 5))
    assert common[1, 2] == np.sum((first == 1) & (second == 2))
    assert_allclose(agreement_of(common), adjusted_rand_score(first, second))
    both, either = np.sum((first == 3) & (second == 0)), np.sum((first == 3) | (second == 0))
    assert_allclose(jaccard(common)[3, 0], both / either)
    assert agreement_of(count_common(first, first, (5, 5))) == 1.0
    assert_array_equal(jaccard(common)[4], 0.0)  # a group without rows


def test_halves_share_no_row_and_have_all_that_count():
    weights = np.array([0.0, 1.0, 2.0, 0.5] * 25)
    X = np.random.default_rng(0).normal(size=(100, 3))
    first, second = halved(problem_of(X, weights=weights), np.random.default_rng(1))
    assert_array_equal(np.sort(np.r_[first, second]), np.flatnonzero(weights))
    assert abs(len(first) - len(second)) <= 1


def test_rows_of_a_document_are_in_one_half():
    documents = np.arange(100) // 7
    problem = problem_of(np.random.default_rng(0).normal(size=(100, 3)))
    first, second = halved(problem, np.random.default_rng(1), documents)
    assert len(np.unique(documents[first])) == 7
    assert not set(documents[first]) & set(documents[second])
    assert_array_equal(np.sort(np.r_[first, second]), np.arange(100))


def test_passages_of_one_document_agree_less_if_it_is_halved_whole():
    # Every document has a direction of its own: other documents do not have these groups.
    rng = np.random.default_rng(0)
    documents = np.repeat(np.arange(12), 25)
    X = rng.normal(size=(12, 30))[documents] + 0.3 * rng.normal(size=(300, 30))
    problem = problem_of(X)
    by_rows = Adviser(problem, 0, [12]).evidence()
    whole = Adviser(problem, 0, [12], documents=documents).evidence()
    assert by_rows.agreement[0] > 0.95
    assert whole.agreement[0] < 0.8
    assert whole.of_passages
    assert not by_rows.of_passages


@pytest.mark.parametrize("kappa", ["shared", "free", 20.0])
def test_halves_give_groups_to_all_rows(four, kappa):
    problem = problem_of(four, kappa)
    rng = np.random.default_rng(5)
    whole = sm.VMFMixture(4, kappa=kappa, random_state=0).fit(four).labels_
    for half in halved(problem, rng):
        found = grouped(problem, half, 10, [2, 4, 10, 11], rng)
        assert {K: len(labels) for K, labels in found.items()} == {2: 300, 4: 300, 10: 300}
        assert adjusted_rand_score(found[4], whole) > 0.9


def test_numbers_of_groups_that_are_tried():
    assert numbers_up_to(5) == [2, 3, 4, 5]
    found = numbers_up_to(320)
    assert found[:9] == list(range(2, 11))
    assert found[-1] == 320
    assert all(after <= max(before + 1, 1.22 * before) for before, after in pairwise(found))


def test_the_true_number_and_its_evidence(four):
    found = Adviser(problem_of(four), 0).advise()
    assert (found.n_clusters, found.certainty) == (4, "clear")
    evidence = found.evidence
    assert evidence.n_rows == 300
    assert_array_equal(evidence.candidates, numbers_up_to(300 // advice.FEW))
    at = list(evidence.candidates).index(4)
    assert evidence.agreement[at] > 0.9
    assert evidence.n_coming_back[at] == 4
    assert evidence.coming_back[at] == 1.0


def test_more_groups_are_tried_while_they_come_back(monkeypatch):
    monkeypatch.setattr(advice, "FIRST_LEAVES", 12)
    X, y, _ = sm.datasets.make_vmf_mixture(600, 20, 18, overlap=0.001, random_state=0)
    found = Adviser(problem_of(X), 0).advise()
    assert max(found.evidence.candidates) > 20  # 12, then 24 and perhaps more
    assert found.n_clusters in {17, 20}  # numbers beyond 10 are tried in steps
    assert len(np.unique(y)) == 18


def test_candidates_that_are_asked_for(four):
    found = Adviser(problem_of(four), 0, [3, 1, 6]).advise()
    assert_array_equal(found.evidence.candidates, [1, 3, 6])
    assert np.isnan(found.evidence.agreement[0])
    assert found.n_clusters in {3, 6}


def test_more_candidates_than_a_half_has_rows():
    """A half of 20 rows has no 15 groups: smaller numbers are compared all the same."""
    rng = np.random.default_rng(0)
    rows = unit(np.repeat(np.eye(6)[:3], [7, 7, 6], axis=0) + rng.normal(size=(20, 6)) * 0.05)
    found = Adviser(problem_of(rows), 0, range(2, 16)).evidence()
    assert_array_equal(found.candidates, range(2, 16))
    assert found.candidates[found.fine] == 3
    assert found.agreement[1] == 1.0
    assert np.isnan(found.agreement[-1])
    none = Adviser(problem_of(rows), 0, [30, 31]).evidence()
    assert_array_equal(none.candidates, [30, 31])
    assert np.isnan(none.agreement).all()


def test_the_same_seed_gives_the_same_evidence_whatever_the_threads(four):
    one = Adviser(problem_of(four), 3, range(2, 7)).evidence()
    options = MixtureOptions.of(sm.VMFMixture(1, n_threads=2))
    again = Adviser(build_problem(options, four, None), 3, range(2, 7)).evidence()
    assert_array_equal(one.agreement, again.agreement)
    assert (one.apart, one.valley) == (again.apart, again.valley)


def test_weights_of_zero_are_rows_that_are_not_there(four):
    rng = np.random.default_rng(0)
    rubbish = unit(rng.normal(size=(200, 8)))
    weights = np.r_[np.ones(300), np.zeros(200)]
    found = Adviser(problem_of(np.vstack([four, rubbish]), weights=weights), 0).advise()
    assert (found.n_clusters, found.evidence.n_rows) == (4, 300)


def test_large_data_are_read_in_a_sample(four, monkeypatch):
    monkeypatch.setattr(advice, "READ_ROWS", 120)
    weights = np.arange(300.0)
    part, ids = read_some(problem_of(four, weights=weights), 0)
    assert part.directions.n_rows == 120
    kept = part.weights.astype(int)
    assert_array_equal(kept, ids)
    assert_allclose(part.directions.take(np.arange(120)), unit(four)[kept])

    class Elsewhere:  # an engine that cannot return some of its rows as an engine
        n_rows, n_features, n_threads = 300, 8, 1

        def take(self, ids):
            return unit(four)[ids]

    problem = replace(problem_of(four, weights=weights), directions=Elsewhere())
    again, _ = read_some(problem, 0)
    assert_allclose(again.directions.take(np.arange(120)), unit(four)[again.weights.astype(int)])
    monkeypatch.undo()  # few rows: all that count, so that they can be halved
    copied, ids = read_some(problem, 0)
    assert_array_equal(ids, np.arange(1, 300))
    assert_allclose(copied.directions.part([5]).take([0]), unit(four)[[6]])


# Rows without groups


def test_tyler_shape_is_the_fixed_point_and_finds_the_shape():
    rng = np.random.default_rng(0)
    scales = np.array([3.0, 1.0, 0.5, 0.2])
    heavy = rng.standard_t(2, size=(20_000, 1)) * rng.normal(size=(20_000, 4)) * scales
    shape = tyler_shape(unit(heavy))
    wanted = scales**2 / scales.dot(scales) * 4
    assert_allclose(np.diag(shape), wanted, rtol=0.06, atol=0.004)
    rows = unit(heavy[:50])
    found = tyler_shape(rows, n_steps=500)
    again = sum(np.outer(x, x) / (x @ np.linalg.inv(found) @ x) for x in rows)
    again *= 4 / np.trace(again)
    assert_allclose(found, 0.999 * again + 0.001 * np.eye(4), atol=2e-3)


@pytest.mark.parametrize("shape", [long_cloud, cloud_around_mean])
def test_clouds_have_the_moments_of_the_rows(shape):
    rng = np.random.default_rng(1)
    centre = np.zeros(6)
    centre[0] = 0.0 if shape is long_cloud else 3.0
    rows = unit(centre + rng.normal(size=(6000, 6)) * np.array([1.0, 1.0, 0.7, 0.5, 0.3, 0.1]))
    drawn = shape(rows)(rng)
    assert_allclose(np.linalg.norm(drawn, axis=1), 1.0)
    assert_allclose(drawn.mean(axis=0), rows.mean(axis=0), atol=0.03)
    assert_allclose(drawn.T @ drawn / 6000, rows.T @ rows / 6000, atol=0.03)


def test_a_long_cloud_stays_on_the_side_of_the_mean_direction():
    """Directions and their opposites would be two groups, and hide those of the rows."""
    rng = np.random.default_rng(4)
    centre = np.r_[2.0, np.zeros(7)]
    rows = unit(centre + 0.5 * rng.normal(size=(500, 8)))
    rows[:50] *= -1.0
    mean = rows.sum(axis=0)
    drawn = long_cloud(rows)(rng)
    assert_allclose(np.mean(drawn @ mean > 0.0), np.mean(rows @ mean > 0.0), atol=0.04)


def test_a_cloud_around_the_mean_is_as_long_as_rows_in_groups():
    """Radii in the metric of the shape are large for small groups, and went round the sphere."""
    rng = np.random.default_rng(0)
    centres = 0.7 * np.eye(100)[0] + unit(rng.normal(size=(25, 100)) * np.arange(1, 101.0) ** -0.5)
    shares = 1.0 / np.arange(1, 26.0)
    groups = rng.choice(25, 400, p=shares / shares.sum())
    rows = unit(centres[groups] + 0.04 * rng.normal(size=(400, 100)))
    mean = unit(rows.sum(axis=0, keepdims=True))[0]
    drawn = cloud_around_mean(rows)(rng)
    assert_allclose(np.sort(drawn @ mean), np.sort(rows @ mean), atol=1e-9)


@pytest.mark.parametrize("sizes", [(200, 200, 200, 200), (600, 40, 40, 40)])
def test_groups_around_a_common_mean_are_apart_from_chance(sizes):
    rng = np.random.default_rng(5)
    centres = unit(1.5 * np.eye(30)[0] + 0.6 * unit(rng.normal(size=(4, 30))))
    spread = rng.normal(size=(sum(sizes), 30)) * 0.05
    problem = problem_of(unit(np.repeat(centres, sizes, axis=0) + spread))
    assert apart_from_chance(problem, 4, 0) > 8.0


def test_a_long_cloud_of_few_rows_is_not_apart_from_chance():
    rng = np.random.default_rng(6)
    noise = rng.normal(size=(150, 100)) * np.arange(1, 101.0) ** -0.5
    assert apart_from_chance(problem_of(unit(noise)), 4, 0) < 4.0
    centres = unit(rng.normal(size=(4, 100)))[rng.integers(4, size=150)]
    assert apart_from_chance(problem_of(unit(centres + 0.4 * noise)), 4, 0) > 8.0


def test_a_cloud_of_few_rows_has_their_very_moments():
    rng = np.random.default_rng(8)
    rows = unit(rng.normal(size=(60, 90)) * np.arange(1, 91.0) ** -1.0)
    drawn = few_rows_cloud(rows)(rng)
    assert_allclose(np.linalg.norm(drawn, axis=1), 1.0)
    axes = np.linalg.svd(rows)[2]
    assert_allclose(
        ((drawn @ axes.T) ** 2).sum(axis=0),
        ((rows @ axes.T) ** 2).sum(axis=0),
        rtol=0.02,
        atol=1e-3,
    )
    assert np.abs(drawn @ rows.T).max() < 0.999  # and are other rows


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_a_long_cloud_of_fewer_rows_than_columns_is_not_apart_from_chance(power):
    rows = np.random.default_rng(6).normal(size=(150, 400)) * np.arange(1, 401.0) ** -power
    assert apart_from_chance(problem_of(unit(rows)), 4, 0) < 4.0


def test_texts_without_groups_keep_lengths_and_frequencies():
    rng = np.random.default_rng(0)
    dense = (rng.random((400, 40)) < np.linspace(0.05, 0.5, 40)) * rng.random((400, 40))
    dense[:, 0] += 0.1  # no row is empty
    rows = sparse.csr_array(unit(dense))
    mixed = same_words(rows)(rng)
    assert_array_equal(np.diff(mixed.indptr), np.diff(rows.indptr))
    assert_allclose(np.linalg.norm(mixed.toarray(), axis=1), 1.0)
    has, had = (mixed != 0).sum(axis=0), (rows != 0).sum(axis=0)
    assert np.corrcoef(has, had)[0, 1] > 0.95
    assert not np.array_equal(mixed.indices, rows.indices)


def topics(n_words):
    """Return texts of five plain topics, most of whose words no other text has."""
    rng = np.random.default_rng(3)
    about, each = rng.integers(5, size=800), np.arange(800)[:, None]
    said = about[:, None] * 40 + rng.integers(40, size=(800, 12))
    rare = 200 + rng.integers(n_words - 200, size=(800, 12))
    words = np.hstack([said, rare])
    rows = sparse.csr_array((np.ones(words.size), ((each + 0 * words).ravel(), words.ravel())))
    rows.resize(800, n_words)
    rows.data /= np.repeat(np.sqrt(rows.power(2).sum(axis=1)), np.diff(rows.indptr))
    return rows


def test_a_large_vocabulary_does_not_hide_groups():
    """Compared are as many rows as of a small one: they are never dense as a whole."""
    problem = problem_of(topics(100_000))
    rows = advice._taken(problem, 700, np.random.default_rng(0))
    assert sparse.issparse(rows)
    assert rows.shape == (700, 100_000)
    assert apart_from_chance(problem, 5, 0) > 8.0


def test_words_that_no_row_has_are_never_drawn():
    rows = topics(5000)
    used = np.unique(rows.indices)
    mixed = same_words(rows)(np.random.default_rng(0))
    assert_array_equal(np.diff(mixed.indptr), np.diff(rows.indptr))
    assert np.isin(mixed.indices, used).all()
    assert mixed.has_canonical_format


def test_rows_are_sparse_or_dense_as_a_whole(monkeypatch):
    """The first rows that are read may be full where the others are not."""
    dense = np.eye(6)[np.arange(60) % 6]
    dense[:6] = unit(np.ones((6, 6)))
    monkeypatch.setattr(advice, "CHANCE_ENTRIES", 36)
    found = advice.light_rows(problem_of(dense).directions, np.arange(60))
    assert sparse.issparse(found)
    assert_allclose(found.toarray(), dense)
    full = advice.light_rows(problem_of(dense[:6]).directions, np.arange(6))
    assert isinstance(full, np.ndarray)


def kinds(name, seed):
    """Return rows without groups that a search divides all the same."""
    rng = np.random.default_rng([9, seed])
    if name == "long":
        return unit(rng.normal(size=(600, 30)) * np.arange(1, 31.0) ** -1.0)
    if name == "heavy":
        centre = np.zeros(30)
        centre[0] = 2.0
        return unit(centre + rng.standard_t(2.5, size=(600, 30)) * 0.5)
    if name == "curved":
        angle = rng.uniform(-1, 1, 600) * np.pi / 2
        rows = np.zeros((600, 20))
        rows[:, 0], rows[:, 1] = np.cos(angle), np.sin(angle)
        return unit(rows + rng.normal(size=(600, 20)) * 0.1)
    shares = 1.0 / np.arange(1, 301)
    lengths = np.exp(rng.normal(3, 1, 600)).astype(int) + 3
    counts = [rng.multinomial(length, shares / shares.sum()) for length in lengths]
    return sparse.csr_array(unit(np.log1p(np.array(counts, dtype=float))))


@pytest.mark.parametrize("name", ["long", "heavy", "curved", "lengths"])
def test_rows_without_groups_are_not_called_groups(name):
    found = Adviser(problem_of(kinds(name, 0)), 0).advise()
    assert found.n_clusters == 1 or found.certainty == "weak"
    if name == "curved":  # more than a cloud, but without a gap
        assert found.n_clusters > 1
        assert "one continuous cloud" in str(found)


def test_groups_are_apart_from_chance_and_have_valleys(four):
    assert apart_from_chance(problem_of(four), 4, 0) > 8.0
    one = sm.datasets.make_vmf_mixture(300, 8, 1, kappa=8.0, random_state=0)[0]
    assert apart_from_chance(problem_of(one), 3, 0) < 4.0
    assert valley_between(problem_of(four), 4, 0) > 0.7
    assert 0.4 < valley_between(problem_of(kinds("curved", 1)), 4, 0) < 0.6
    assert valley_between(problem_of(four[:30]), 4, 0) is None


def around(centres, sizes, spreads, rng):
    """Return rows around some centres."""
    noise = rng.normal(size=(sum(sizes), centres.shape[1])) * np.repeat(spreads, sizes)[:, None]
    return unit(np.repeat(centres, sizes, axis=0) + noise)


def test_groups_inside_groups_have_valleys():
    """Their own neighbours are as near in all directions: nothing lies between them and others."""
    rng = np.random.default_rng(7)
    broad = np.repeat(unit(rng.normal(size=(3, 30))), 4, axis=0)
    centres = unit(broad + 0.35 * unit(rng.normal(size=(12, 30))))
    rows = around(centres, [70] * 12, [0.03] * 12, rng)
    assert valley_between(problem_of(rows), 12, 0) == 1.0


@pytest.mark.parametrize("kind", ["concentrations", "outliers"])
def test_plain_groups_are_seen_whatever_their_concentrations_and_outliers(kind):
    rng = np.random.default_rng(7)
    centres = unit(rng.normal(size=(5, 20)))
    if kind == "concentrations":
        rows = around(centres, [160] * 5, [0.03, 0.05, 0.08, 0.12, 0.2], rng)
    else:
        apart = unit(rng.normal(size=(240, 20)))
        rows = np.vstack([around(centres, [112] * 5, [0.1] * 5, rng), apart])
    found = Adviser(problem_of(rows), 0).advise()
    assert found.n_clusters > 1
    assert found.certainty == "fair"  # rows of their shape gain as much


def test_rows_that_cancel_out_cannot_be_compared():
    axes = np.vstack([np.eye(3), -np.eye(3)])
    assert apart_from_chance(problem_of(np.tile(axes, (20, 1))), 2, 0) is None


# Who asks for it


def test_a_study_takes_its_advice(four):
    study = sm.VMFMixtureIC(range(2, 8), random_state=0).fit(four)
    assert study.best_n_components_ == study.advice_.best_candidate == 4
    assert_array_equal(study.advice_.table()["n_components"], range(2, 8))


def test_a_study_needs_numbers_to_choose_from(four):
    with pytest.raises(ParameterError, match="must list the numbers to choose from, got 5"):
        sm.VMFMixtureIC(5).fit(four)
    assert not hasattr(sm.VMFMixtureIC([3], random_state=0).fit(four), "advice_")


@pytest.fixture(scope="module")
def planted():
    rows, chosen, topics = themes(n=40)
    return rows, chosen, topics, sm.VMFTree(12, random_state=0, n_threads=1).fit(rows)


def reloaded(tree):
    return pickle.loads(pickle.dumps(tree))  # noqa: S301


def test_a_tree_sees_both_levels_of_a_hierarchy(planted):
    rows, chosen, topics, tree = planted
    assert {3, 9} <= {one.n_clusters for one in tree.advice_.recommended}
    taken = sm.VMFTree(12, n_clusters="advice", random_state=0, n_threads=1).fit(rows)
    assert str(taken.advice_) == str(tree.advice_)
    truth = {3: chosen, 9: topics}[taken.n_clusters_]
    assert adjusted_rand_score(taken.labels_, truth) == 1.0


def test_advice_is_saved_or_made_when_the_rows_are_back(planted):
    rows, _, _, tree = planted
    assert str(reloaded(tree).advice_) == str(tree.advice_)
    loaded = reloaded(sm.VMFTree(12, random_state=0, n_threads=1).fit(rows))
    with pytest.raises(ParameterError, match="attach"):
        loaded.advice_  # noqa: B018
    assert str(loaded.attach(rows).advice_) == str(tree.advice_)


def test_what_cannot_be_advised_on(planted):
    rows = planted[0]
    with pytest.raises(ParameterError, match="n_clusters must be"):
        sm.VMFTree(4, n_clusters="best").fit(rows)
    single = sm.VMFTree(1, n_clusters="advice", random_state=0).fit(rows)
    assert single.n_clusters_ == 1
    with pytest.raises(ParameterError, match="A tree of one leaf"):
        single.advice_  # noqa: B018


# Several views


def test_the_advice_on_the_number_of_groups_hears_all_views():
    X, _ = planted_views(400, noise=0.15)
    found = Adviser(problem_of(X), 0).advise()
    assert found.n_clusters == 4
    assert found.evidence.apart > 8.0
    alone = Adviser(problem_of(X["words"]), 0).advise()
    assert alone.n_clusters < 4
    shuffled = np.random.default_rng(1).permutation(400)
    lacking = {"words": X["words"].toarray(), "meaning": X["meaning"].copy()}
    lacking["words"][shuffled[:20]] = 0.0  # these rows have a meaning alone
    again = Adviser(problem_of(lacking), 0).advise()
    assert again.n_clusters == 4


def test_views_without_groups_have_none():
    rng = np.random.default_rng(0)
    words = sparse.random_array((500, 60), density=0.1, rng=rng).tocsr()
    X = {"words": words, "meaning": rng.normal(size=(500, 8)) + 3.0 * np.eye(8)[0]}
    assert Adviser(problem_of(X), 0).advise().n_clusters == 1


def test_rows_without_groups_have_the_shapes_of_their_views():
    rng = np.random.default_rng(0)
    words = sparse.random_array((200, 30), density=0.2, rng=rng).tolil()
    words[[3, 7]] = 0.0
    X = {"words": words.tocsr(), "meaning": unit_rows(rng.normal(size=(200, 5)) + 1.0)}
    draws = list(draws_of(X))
    assert len(draws) == 2  # two shapes of the meaning, one of the words
    for draw in draws:
        drawn = draw(np.random.default_rng(1))
        rows = {name: unit_rows(part) for name, part in drawn.items()}
        assert_array_equal(
            np.diff(sparse.csr_array(drawn["words"]).indptr), np.diff(X["words"].indptr)
        )
        assert not rows["words"][[3, 7]].any()
        assert_allclose(rows["meaning"], drawn["meaning"], atol=1e-12)
        assert not np.allclose(rows["meaning"], X["meaning"])


def test_the_valley_weighs_views_as_the_scores_do():
    """With one view repeated, densities and margins are those of the view alone."""
    X, _, _ = sm.datasets.make_vmf_mixture(400, 8, 4, overlap=0.05, random_state=0)
    one = valley_between(problem_of(X), 4, 0)
    two = valley_between(problem_of({"words": X, "meaning": X}), 4, 0)
    assert_allclose(one, two, atol=0.03)  # the searches differ a little
