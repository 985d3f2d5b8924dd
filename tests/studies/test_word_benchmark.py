"""The measures of benchmarks/words.py and the questionnaire of benchmarks/intrusion.py."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from scipy import sparse

from spheremix.reading import Vocabulary


@pytest.fixture(scope="module", name="modules")
def scripts(benchmark_scripts):
    return benchmark_scripts("words", "intrusion")


@pytest.fixture(scope="module")
def intrusion(modules):
    return modules[1]


def test_measures_by_hand(modules):
    words, _ = modules
    has = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 1]])
    measures = words.Measures(sparse.csr_array(has * 3))
    together = np.log((2 / 4) / (3 / 4 * 2 / 4)) / -np.log(2 / 4)
    once = np.log((1 / 4) / (3 / 4 * 2 / 4)) / -np.log(1 / 4)
    assert measures.npmi([0, 1]) == pytest.approx(together)
    assert measures.npmi([0, 1, 2]) == pytest.approx((together + once - 1.0) / 3)  # 1, 2: never
    found = measures.of([[0, 1], [0, 2]], [[0], [2]], np.array([[1.0, 0.5, 0], [0.25, 0, 0.75]]))
    assert found["diversity"] == 3 / 4
    assert found["coverage"] == pytest.approx((1.0 + 0.5 + 0.25 + 0.75) / 4)
    assert found["npmi"] == pytest.approx((together + once) / 2)


def test_class_tfidf_by_hand(modules):
    words, _ = modules
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
