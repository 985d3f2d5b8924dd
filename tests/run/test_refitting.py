"""Groups that are fitted again after edits, against computations of their own."""

from __future__ import annotations

import csv
import shutil

import numpy as np
import pytest
from cli_common import texts, write_lines
from edit_common import explore

import spheremix as sm
from spheremix.distribution import VonMisesFisher
from spheremix.run.sentences import updated


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    place = tmp_path_factory.mktemp("base")
    documents = [*texts(36), {"id": "lone", "text": "boat boat", "topic": "sea", "date": "2010"}]
    return explore(write_lines(place / "docs.jsonl", documents), place / "run")[0]


@pytest.fixture
def run(base, tmp_path):
    return sm.load_run(shutil.copytree(base.folder, tmp_path / "run"))


def log_likelihood(X, prototypes, kappas, weights):
    """Sum over rows of the log of the density of the mixture."""
    each = [
        VonMisesFisher(mu, kappa).logpdf(X) + np.log(weight)
        for mu, kappa, weight in zip(prototypes, kappas, weights, strict=True)
    ]
    return float(np.logaddexp.reduce(each, axis=0).sum())


def test_a_merge_starts_from_the_merged_groups_and_ends_where_em_ends(run):
    """The fit is a fixed point, and not below the merged groups themselves."""
    X, before = run.matrix().toarray(), run.dense[3]
    edited = run.edit({"merge": [[0, 2]]})
    mixture = edited.dense[2]
    assert mixture.status_ == "converged"
    assert 0.0 <= mixture.stationarity_gap_ < 1e-7
    labels = np.array([0, 1, 0])[before.labels_]
    sums = np.array([X[labels == k].sum(axis=0) for k in range(2)])
    start = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    shares = np.bincount(labels) / len(labels)
    value = log_likelihood(X, mixture.prototypes_, mixture.kappas_, mixture.weights_)
    assert value == pytest.approx(mixture.log_likelihood_)
    assert value >= log_likelihood(X, start, mixture.kappas_, shares) - 1e-9
    changes = edited.edits[0].changes
    assert changes[0] == "Groups 0 and 2 were merged into group 0."
    each = [one.mixture.log_likelihood_ / 37 for one in (run, edited)]
    assert f"was {each[0]:,.3f} and is {each[1]:,.3f}." in changes[2]
    by_hand = sm.VMFMixture(2, init=labels, random_state=0).fit(X)
    assert np.allclose(by_hand.prototypes_, mixture.prototypes_, atol=1e-6)


def table(folder):
    """Return the group of each document as people read it."""
    with (folder / "documents.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: row["group"] for row in csv.DictReader(file)}


def test_what_an_edit_says_of_documents_is_what_the_tables_show(tmp_path):
    """The sparse mixture that is chosen moves more of them than the one without penalty."""
    rng = np.random.default_rng(0)
    words = rng.integers(0, 25, size=(100, 6)) + rng.integers(0, 4, size=(100, 1)) * 6
    said = [" ".join(f"word{chr(97 + j // 9)}{chr(97 + j % 9)}" for j in row) for row in words]
    run, _ = explore(said[:80], tmp_path / "run", k=4, max_steps=300, criterion="ebic", min_df=1)
    before, dense = table(run.folder), run.dense[4].labels_
    edited = run.edit({"merge": [[0, 2]]})
    after, became = table(run.folder), {"0": "0", "1": "1", "2": "0", "3": "2"}
    moved = sum(became[k] != after[one] for one, k in before.items())
    assert edited.edits[0].changes[1] == f"{moved} of 80 documents changed group beyond that."
    moved_dense = int((np.array([0, 1, 0, 2])[dense] != edited.dense[3].labels_).sum())
    assert moved != moved_dense  # else it is not seen which of them is told
    later = edited.update(said[80:], tmp_path / "later")
    new = table(later.folder)
    moved = sum(after[one] != new[one] for one in after)
    assert f"{moved} of 80 documents of before changed group" in updated(later).render()


def test_a_split_has_one_group_more_and_a_higher_likelihood(run):
    edited = run.edit({"split": [1]})
    mixture, before = edited.dense[4], run.dense[3]
    assert len(mixture.weights_) == len(edited.groups["name"]) == 4
    assert mixture.log_likelihood_ > before.log_likelihood_
    assert 0.0 <= mixture.stationarity_gap_ < 1e-7
    inside = set(mixture.labels_[before.labels_ == 1].tolist())
    assert inside == {1, 3}
    assert np.bincount(mixture.labels_, minlength=4).min() > 0


def test_rows_without_words_are_those_that_the_vectoriser_gives(run):
    """Columns are removed, rows have length one, and a document without another word is aside."""
    dropped = ["boat", "water"]
    edited = run.edit({"drop_words": dropped})
    words = [word for word in run.feature_names if word not in dropped]
    assert edited.feature_names == words
    assert edited.mixture.n_features_in_ == len(words)
    rows = run.matrix().toarray()[:, [run.feature_names.index(word) for word in words]]
    kept = rows.any(axis=1)
    expected = rows[kept] / np.linalg.norm(rows[kept], axis=1, keepdims=True)
    assert np.allclose(edited.matrix().toarray(), expected)
    assert np.allclose(edited.vectorizer().transform(run.corpus().texts).toarray()[kept], expected)
    assert edited.documents["group"][36] is None
    assert edited.documents["set_aside"][36] == "no word of the vocabulary"
    assert edited.info.corpus.n_set_aside == 1
    changes = edited.edits[0].changes
    assert changes[0] == "2 words were dropped."
    assert "1 document without another word set aside." in changes
    assert not set(dropped) & set(edited.words["word"])
    assert edited.assign(["boat boat"])["group"] == [None]


def test_words_are_dropped_in_two_steps_as_in_one_and_taken_back(run, base, tmp_path):
    once = sm.load_run(shutil.copytree(base.folder, tmp_path / "once" / "run"))
    once = once.edit({"drop_words": ["boat", "star"]})
    first = run.edit({"drop_words": ["boat"]})
    rows = first.matrix().toarray()
    second = first.edit({"drop_words": ["star"]})
    assert list(second.feature_names) == list(once.feature_names)
    np.testing.assert_allclose(second.matrix().toarray(), once.matrix().toarray(), atol=1e-12)
    back = second.undo_edits()
    np.testing.assert_array_equal(back.matrix().toarray(), rows)
    assert list(back.undo_edits().feature_names) == list(base.feature_names)


def test_words_that_entered_and_left_are_told(run):
    edited = run.edit({"drop_words": [run.words["word"][0]]})
    said = [line for line in edited.edits[0].changes if line.startswith("First words")]
    k, gone = run.words["group"][0], run.words["word"][0]
    [line] = [line for line in said if line.startswith(f"First words of group {k},")]
    listed = line.partition("no longer: ")[2].removesuffix(".").split(", ")
    assert gone in listed
    before, after = (
        [word for j, word in zip(r.words["group"], r.words["word"], strict=True) if j == k][:10]
        for r in (run, edited)
    )
    assert set(listed) == set(before) - set(after)


def test_the_path_is_followed_again_as_the_options_say(run):
    edited = run.edit({"merge": [[0, 1]]})
    assert edited.path is not None
    assert edited.path.criterion == run.path.criterion
    assert len(edited.path.betas_) == len(run.path.betas_)
    assert list(edited.dense) == [2]
    by_hand = sm.VMFPath(
        2, init=edited.dense[2], criterion="bic", relaxed=True, max_steps=4,
        min_relative_increase=0.01, random_state=0, n_threads=1,
    ).fit(run.matrix())  # fmt: skip
    assert np.allclose(by_hand.betas_, edited.path.betas_)
