"""What stays when rows are drawn again: documents, groups, words."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.estimators.problem import NoFitError
from spheremix.metrics import count_common, jaccard
from spheremix.reading import characteristic_scores, group_masses
from spheremix.reading.stability import _there_again, thirds

stability_module = sys.modules[_there_again.__module__]  # the function has the same name


@pytest.fixture(scope="module")
def four():
    return sm.datasets.make_vmf_mixture(300, 8, 4, overlap=0.005, random_state=0)[0]


@pytest.fixture(scope="module")
def mixture(four):
    return sm.VMFMixture(4, random_state=0, n_init=2).fit(four)


def test_groups_that_are_apart_are_stable_and_so_are_their_documents(four, mixture):
    found = sm.stability(mixture, four)
    assert found.n_replicates == 12
    assert found.groups.min() > 0.95
    assert found.documents.mean() > 0.98
    assert found.documents.shape == (300,)


def test_an_arbitrary_split_of_one_cluster_is_not_stable_and_the_other_cluster_is():
    true = sm.VMFMixture.from_parameters(np.eye(200)[:2], 60.0, [0.7, 0.3])
    rows, truth = true.sample(300, random_state=0)
    mixture = sm.VMFMixture(3, random_state=0, n_init=2).fit(rows)
    parts = [k for k in range(3) if truth[mixture.labels_ == k].mean() < 0.5]
    assert len(parts) == 2  # the large cluster is cut
    found = sm.stability(mixture, rows)
    (whole,) = set(range(3)) - set(parts)
    small = min(parts, key=lambda k: np.sum(mixture.labels_ == k))
    assert found.groups[small] < 0.4
    assert found.groups[whole] > 0.9
    assert found.documents[mixture.labels_ == small].mean() < 0.4
    assert found.documents[mixture.labels_ == whole].mean() > 0.9


def test_a_group_is_there_again_if_most_of_it_is_most_of_a_cluster():
    common = np.array(
        [
            [60.0, 40.0, 0.0, 0.0],  # split: the larger part has stayed
            [0.0, 30.0, 45.0, 0.0],  # most of it is in a cluster that is mostly its own
            [0.0, 0.0, 30.0, 30.0],  # half of it is noise
            [0.0, 0.0, 0.0, 90.0],
        ]
    )
    assert_array_equal(_there_again(common, 3), [0, 2, -1])
    merged = np.array([[50.0, 0.0, 0.0], [40.0, 5.0, 0.0], [0.0, 0.0, 0.0]])
    assert_array_equal(_there_again(merged, 2), [0, -1])


def test_shares_are_those_of_the_replicates_counted_one_by_one(four, mixture):
    found = sm.stability(mixture, four, 5, random_state=3)
    # Mixtures of the same thirds, fitted to these rows alone, row by row and cluster by cluster.
    cut = np.random.RandomState(3).randint(2**31 - 1, size=2)[1]
    stays, similar, words = np.zeros(300), np.zeros(4), np.zeros((4, 8))
    for sample, seed in zip(thirds(np.random.default_rng(cut), None, 300), range(5), strict=False):
        now = sm.VMFMixture(4, random_state=seed).fit(four[sample > 0.0])
        labels = now.predict(four)
        for k in range(4):
            mine = set(np.flatnonzero(mixture.labels_ == k))
            theirs = [set(np.flatnonzero(labels == j)) for j in range(4)]
            index = [len(mine & one) / len(mine | one) for one in theirs]
            j = int(np.argmax(index))
            similar[k] += index[j] / 5
            if len(mine & theirs[j]) > max(len(mine), len(theirs[j])) / 2:
                stays[list(mine & theirs[j])] += 1 / 5
                words[k] += (now.prototypes_[j] != 0.0) / 5  # 8 words: all of them are listed
    assert_allclose(found.groups, similar, atol=1e-2)
    assert np.mean(np.abs(found.documents - stays) > 1e-9) < 0.02
    assert_allclose(found.words.toarray(), words)


def test_words_of_a_mixture_without_penalty_are_the_most_characteristic_ones():
    rows, _, _ = sm.datasets.make_vmf_mixture(200, 60, 2, kappa=60.0, random_state=1)
    mixture = sm.VMFMixture(2, random_state=0, n_init=2).fit(rows)
    found = sm.stability(mixture, rows, 4)
    masses = group_masses(mixture.weights_, mixture.kappas_, 60)
    scores = characteristic_scores(mixture.prototypes_, masses)
    for k in range(2):
        listed = found.words.indices[found.words.indptr[k] : found.words.indptr[k + 1]]
        assert_array_equal(np.sort(listed), np.sort(np.argsort(-scores[k])[:20]))
        first = np.argmax(scores[k])
        assert found.words[k, first] == 1.0


def test_words_of_a_path_are_its_non_zeros_and_heavy_ones_are_stable():
    rows, _, _ = sm.datasets.make_vmf_mixture(300, 40, 3, kappa=80.0, sparsity=0.7, random_state=0)
    options = {"random_state": 0, "n_init": 2, "relaxed": True, "max_steps": 200}
    path = sm.VMFPath(3, **options).fit(rows)
    found = sm.stability(path, rows, 6)
    prototypes = path.best_estimator_.prototypes_
    places = sparse.csr_array(prototypes)
    assert_array_equal(found.words.indptr, places.indptr)
    assert_array_equal(found.words.indices, places.indices)
    heavy = np.abs(prototypes) > 0.15
    assert found.words.toarray()[heavy].min() == 1.0
    study = sm.VMFMixtureIC([3], **options).fit(rows)
    assert_array_equal(sm.stability(study, rows, 3).groups, sm.stability(path, rows, 3).groups)
    dense = sm.VMFMixtureIC([3], random_state=0, n_init=2, paths="none").fit(rows)
    assert sm.stability(dense, rows, 3).words.nnz == 60


def test_words_of_a_refit_are_selected_by_its_penalty_again():
    """Without the penalty every word would be there in every replicate."""
    rows, _, _ = sm.datasets.make_vmf_mixture(300, 40, 3, kappa=80.0, sparsity=0.7, random_state=0)
    path = sm.VMFPath(3, random_state=0, n_init=2, relaxed=True, max_steps=200).fit(rows)
    refit = path.best_estimator_
    assert refit.model_.l1.beta == 0.0
    assert refit.beta > 0.0
    found, whole = sm.stability(refit, rows, 6), sm.stability(path, rows, 6)
    assert found.words.data.min() < 1.0
    assert_allclose(found.words.toarray(), whole.words.toarray(), atol=0.2)


def test_replicates_that_lose_a_group_count_as_none_of_it(four, mixture, monkeypatch):
    whole = sm.stability(mixture, four, 4)
    starts, calls = stability_module.draw, []

    def once(*given):
        calls.append(given)
        return [] if len(calls) == 2 else starts(*given)

    monkeypatch.setattr(stability_module, "draw", once)
    found = sm.stability(mixture, four, 4)
    assert (whole.n_replicates, whole.n_lost) == (4, 0)
    assert (found.n_replicates, found.n_lost) == (4, 1)
    assert found.documents.max() == 0.75
    assert found.groups.max() <= 0.75
    assert found.words.data.max() == 0.75
    monkeypatch.setattr(stability_module, "draw", lambda *_: [])
    with pytest.raises(NoFitError, match="Every sample of a third of the rows lost a component"):
        sm.stability(mixture, four, 4)
    with pytest.raises(NoFitError):  # a third has fewer rows than components
        sm.stability(sm.VMFMixture(5, random_state=0).fit(four[:10]), four[:10], 3)


def test_samples_are_thirds_that_share_no_row():
    weights = np.where(np.arange(13) < 10, 2.0, 0.0)
    first = list(zip(range(6), thirds(np.random.default_rng(0), weights, 13), strict=False))
    samples = np.array([sample for _, sample in first])
    for three in (samples[:3], samples[3:]):
        assert_array_equal(np.sum(three > 0.0, axis=0), np.arange(13) < 10)
        assert_array_equal(np.sort(np.sum(three > 0.0, axis=1)), [3, 3, 4])
        assert_array_equal(three.sum(axis=0), 3.0 * weights)
    assert np.any(samples[0] != samples[3])


def test_a_third_has_whole_documents():
    documents = np.array(list("aabbbccddddeef"))
    codes = np.unique(documents, return_inverse=True)[1]
    drawn = thirds(np.random.default_rng(0), None, 14, codes)
    samples = [next(drawn) for _ in range(6)]
    for sample in samples:
        assert {len(set(sample[codes == one])) for one in range(6)} == {1}
        assert len(set(codes[sample > 0.0])) == 2
    assert_array_equal(sum(samples[:3]), 3.0)


def test_groups_that_are_single_documents_are_not_stable():
    rng = np.random.default_rng(0)
    documents = np.repeat(np.arange(6), 30)
    X = rng.normal(size=(6, 20))[documents] + 0.3 * rng.normal(size=(180, 20))
    mixture = sm.VMFMixture(6, random_state=0).fit(X)
    assert sm.stability(mixture, X).groups.min() > 0.9
    assert sm.stability(mixture, X, documents=documents).groups.max() < 0.9
    with pytest.raises(ValueError, match="documents must have one value a row"):
        sm.stability(mixture, X, documents=documents[1:])


def test_a_third_differs_from_all_rows_as_two_samples_of_all_do():
    rng = np.random.default_rng(0)
    gaps = []
    for _ in range(200):
        values = rng.standard_normal(300)
        sample = next(thirds(rng, None, 300))
        gaps.append(np.average(values, weights=sample) - values.mean())
    assert_allclose(np.var(gaps), 2.0 / 300, rtol=0.3)


def test_the_same_seed_gives_the_same_bits_on_dense_and_sparse_rows(four, mixture):
    one, again = (sm.stability(mixture, four, 4, random_state=1) for _ in range(2))
    assert one.documents.tobytes() == again.documents.tobytes()
    assert one.groups.tobytes() == again.groups.tobytes()
    assert one.words.data.tobytes() == again.words.data.tobytes()
    other = sm.stability(mixture, four, 4, random_state=2)
    assert one.groups.tobytes() != other.groups.tobytes()
    kept = sm.stability(mixture, sparse.csr_array(four), 4, random_state=1)
    assert_allclose(kept.groups, one.groups, atol=0.02)


def test_rows_count_by_their_weights(four):
    weights = np.where(np.arange(300) < 200, 1.0, 0.0)
    part = sm.VMFMixture(4, random_state=0, n_init=2).fit(four, sample_weight=weights)
    found = sm.stability(part, four, 4, sample_weight=weights)
    assert found.documents.shape == (300,)  # rows without weight have a stability too
    alone = sm.VMFMixture(4, random_state=0, n_init=2).fit(four[:200])
    assert_allclose(found.groups, sm.stability(alone, four[:200], 4).groups, atol=0.05)
    one, other = np.array([0, 0, 1]), np.array([0, 1, 1])
    common = count_common(one, other, (2, 2), np.array([2.0, 1.0, 1.0]))
    assert_allclose(jaccard(common), [[2 / 3, 1 / 4], [0.0, 1 / 2]])


def test_noise_corresponds_to_noise(four):
    rng = np.random.default_rng(0)
    rows = np.concatenate([four, rng.standard_normal((40, 8))])
    mixture = sm.VMFMixture(4, noise="uniform", max_noise=None, random_state=0, n_init=2).fit(rows)
    lost = mixture.labels_ == -1
    assert lost[300:].mean() > 0.5
    found = sm.stability(mixture, rows, 5)
    assert found.documents[lost].mean() > 0.7
    assert found.groups.shape == (4,)
    assert found.groups.min() > 0.8


def test_one_group_is_always_there(four):
    found = sm.stability(sm.VMFMixture(1).fit(four), four, 3)
    assert_array_equal(found.groups, 1.0)
    assert_array_equal(found.documents, 1.0)


def test_what_has_no_stability_is_refused(four, mixture):
    with pytest.raises(ParameterError, match=r"model must be a fitted estimator.*got a list"):
        sm.stability([2], four)
    with pytest.raises(ParameterError, match="n_replicates"):
        sm.stability(mixture, four, 0)
    with pytest.raises(ValueError, match="7 features"):
        sm.stability(mixture, four[:, :7])


@pytest.mark.parametrize("engine", ["reference", "dask"])
def test_other_engines_agree(four, mixture, engine):
    if engine == "reference":
        rows = sm.as_directions(four, engine="reference")
    else:
        rows = pytest.importorskip("dask.array").from_array(four, chunks=(100, 8))
    found = sm.stability(mixture, rows, 3)
    assert_allclose(found.groups, sm.stability(mixture, four, 3).groups, atol=0.02)


@pytest.mark.parametrize("kind", [sm.SphericalKMeans, sm.VMFCoclustering, sm.VMFTree, sm.VMFPath])
def test_every_estimator_has_a_stability(four, kind):
    rows = four
    if kind is sm.VMFCoclustering:
        rows = np.kron(np.eye(4), np.ones((75, 2))) + np.random.default_rng(0).uniform(
            0, 0.2, (300, 8)
        )
    cut = {"n_clusters": 4} if kind is sm.VMFTree else {}
    model = kind(6 if cut else 4, random_state=0, **cut).fit(rows)
    found = sm.stability(model, rows, 3)
    assert found.documents.shape == (300,)
    assert found.groups.shape == (4,)
    assert found.groups.min() > 0.6  # some samples of blocks lose one
    assert found.words.shape == (4, 8)


def test_it_prints_itself_in_three_lines(four, mixture):
    lines = repr(sm.stability(mixture, four, 4)).split("\n")
    assert len(lines) == 3
    assert lines[0] == "Stability in 4 samples of a third of the rows."
    assert lines[1].startswith("Groups: 4 of 4 are stable")
    assert lines[2].startswith("Documents: 1.00 on average")
