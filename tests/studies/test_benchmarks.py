"""The measures of the benchmarks against their definitions: words, intruders, calibration."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import spheremix as sm
from spheremix.reading import Vocabulary


def script(name):
    """Return a fixture of a benchmark, imported as it is run: from its own folder."""

    @pytest.fixture(scope="module", name=name)
    def load():
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
            yield importlib.import_module(name)

    return load


words = script("words")
intrusion = script("intrusion")
word_partitions = script("word_partitions")
calibration = script("calibration")
number_of_groups = script("number_of_groups")


def test_measures_by_hand(words):
    has = sparse.csr_array(np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 1]]) * 3)
    together = np.log((2 / 4) / (3 / 4 * 2 / 4)) / -np.log(2 / 4)
    once = np.log((1 / 4) / (3 / 4 * 2 / 4)) / -np.log(1 / 4)
    shares = np.array([[1.0, 0.5, 0], [0.25, 0, 0.75]])
    found = words.measure(has, [[0, 1], [0, 2]], [[0, 1], [1, 2]], shares)
    assert found["diversity"] == 3 / 4
    assert found["coverage"] == pytest.approx((1.0 + 0.5 + 0.25 + 0.75) / 4)
    assert found["npmi"] == pytest.approx((together + once) / 2)
    assert found["names"] == pytest.approx((together - 1.0) / 2)  # 1, 2: never


def test_class_tfidf_by_hand(words):
    counts = sparse.csr_array(np.array([[4, 1], [0, 3], [2, 0]]))
    found = words.class_tfidf(counts, np.array([0, 1, 0]), 2)
    assert found[0, 0] == pytest.approx(6 / 7 * np.log(1 + 5 / 6))
    assert found[1, 1] == pytest.approx(np.log(1 + 5 / 4))


@pytest.fixture(scope="module")
def questions(intrusion):
    draw = np.random.default_rng(3)
    prototypes = np.where(draw.random((6, 400)) < 0.3, draw.random((6, 400)), 0.0)
    vocabulary = Vocabulary(prototypes, [f"w{j}" for j in range(400)])
    return vocabulary, intrusion.ask("small", vocabulary, np.random.default_rng(0))


def test_an_intruder_is_of_another_cluster_and_far_down_in_this_one(intrusion, questions):
    vocabulary, asked = questions
    assert [one["cluster"] for one in asked] == list(range(6))
    for one in asked:
        first = [word.word for word in vocabulary.words(one["cluster"], intrusion.FAR)]
        assert len(set(one["words"])) == intrusion.SHOWN + 1
        assert set(one["words"]) - {one["intruder"]} == set(first[: intrusion.SHOWN])
        assert one["intruder"] not in first
        assert any(
            one["intruder"] in [word.word for word in vocabulary.words(k, intrusion.SHOWN)]
            for k in range(6)
            if k != one["cluster"]
        )
    assert intrusion.ask("small", vocabulary, np.random.default_rng(0)) == asked
    places = {one["words"].index(one["intruder"]) for one in asked}
    assert len(places) > 1  # shuffled


def test_answers_are_scored(intrusion, questions, tmp_path, monkeypatch, capsys):
    _, asked = questions
    monkeypatch.setattr(intrusion, "QUESTIONS", tmp_path / "questions.txt")
    monkeypatch.setattr(intrusion, "KEY", tmp_path / "key.json")
    intrusion.write(asked)
    lines = intrusion.QUESTIONS.read_text("utf-8").splitlines()[-6:]
    assert [line.split()[1:] for line in lines] == [one["words"] for one in asked]
    assert json.loads(intrusion.KEY.read_text("utf-8")) == asked
    right = [f"{i}. {one['intruder']}" for i, one in enumerate(asked, 1)]
    wrong = next(word for word in asked[0]["words"] if word != asked[0]["intruder"])
    answers = tmp_path / "answers.txt"
    answers.write_text("\n".join([f"1 {wrong}", "", *right[1:5]]), "utf-8")  # the last has none
    monkeypatch.setattr(sys, "argv", ["intrusion.py", "--score", str(answers)])
    intrusion.main()
    assert capsys.readouterr().out == "small: 4 of 6 found, 67%\nall: 4 of 6 found, 67%\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("goalkeeper", "No answer: 'goalkeeper'"),
        ("1 a\n1 b", "Question 1 has two answers"),
        ("7 w1", "no question 7: they are 1 to 6"),
        ("1 nothing", "Question 1 has no word 'nothing'"),
    ],
)
def test_what_is_no_answer_is_refused(intrusion, questions, text, message):
    with pytest.raises(ValueError, match=message):
        intrusion.score(questions[1], intrusion.read_answers(text))


# Words of partitions


def test_rankings_of_a_partition(words, word_partitions):
    counts = np.random.default_rng(0).integers(0, 3, size=(30, 6))
    texts = words.Texts(sparse.csr_array(counts), list("abcdef"))
    labels = np.arange(30) % 2
    found = word_partitions.rankings(texts, labels, 2)
    sums = np.array([texts.rows.toarray()[labels == k].sum(axis=0) for k in range(2)])
    mu = sums / np.sqrt((sums**2).sum(axis=1, keepdims=True))
    assert_allclose(found["mean direction"], mu)
    assert_allclose(found["characteristic"], mu**1.5 * sums / sums.sum(axis=0))


def test_rare_and_common_words_are_left_out(words, word_partitions):
    n = 400  # a word must be in 5 documents, and in half of them at most
    documents = [4, 5, 200, 201, 400]
    counts = np.array([[i < most for most in documents] for i in range(n)]).astype(int)
    texts = words.Texts(sparse.csr_array(counts), list("abcde"))
    assert word_partitions.within_bounds(texts).words == ["b", "c"]


def test_a_text_that_is_often_repeated(word_partitions):
    counts = np.ones((40, 12), dtype=int)
    counts[7:, :6] = 0  # seven documents have six words together
    counts[8:20, 0] = 1  # and twelve others one of them
    components = np.array([[1.0] * 10 + [0.0] * 2])
    ((npmi, together, most),) = word_partitions.fixed_texts(sparse.csr_array(counts), components)
    assert (together, most) == (7, 19)
    assert npmi == sm.metrics.npmi([range(10)], counts)[0]


# Calibration


def by_bins(posteriors, labels, bins):
    """Return the expected calibration error by its definition: bin by bin."""
    sure, right = posteriors.max(axis=1), posteriors.argmax(axis=1) == labels
    place = np.minimum((sure * bins).astype(int), bins - 1)
    each = [place == b for b in range(bins) if np.any(place == b)]
    return sum(abs(sure[one].mean() - right[one].mean()) * one.mean() for one in each)


def drawn(rng, n):
    """Return posteriors of two groups that are too sure, and labels."""
    share = rng.uniform(0.5, 1.0, size=n)
    labels = (rng.random(n) > share - 0.15).astype(int)
    return np.column_stack([share, 1.0 - share]), labels


def test_errors_are_those_of_the_definition(calibration):
    posteriors, labels = drawn(np.random.default_rng(0), 400)
    found = calibration.excesses(posteriors, labels, np.arange(2))
    assert calibration.calibration_error(found) == pytest.approx(
        by_bins(posteriors, labels, calibration.BINS), abs=1e-12
    )


def test_the_standard_error_is_what_other_documents_give(calibration):
    rng = np.random.default_rng(1)
    samples = [calibration.excesses(*drawn(rng, 400), np.arange(2)) for _ in range(300)]
    true = np.std([calibration.calibration_error(one) for one in samples])
    told = np.mean([calibration.standard_error([one]) for one in samples[:10]])
    assert told == pytest.approx(true, rel=0.25)
    # The same documents, fitted three times alike: no fit adds evidence.
    alone = calibration.standard_error(samples[:1])
    assert calibration.standard_error([samples[0]] * 3) == pytest.approx(alone, rel=1e-12)


def test_tables_of_the_number_of_groups_are_those_of_the_figures(number_of_groups):
    figures = json.loads(number_of_groups.FIGURES.read_text(encoding="utf-8"))
    assert number_of_groups.table(figures) == number_of_groups.TARGET.read_text(encoding="utf-8")
