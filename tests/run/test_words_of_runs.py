"""What a run keeps of its words: forms, thresholds, phrases, unwanted words."""

from __future__ import annotations

import pytest

import spheremix as sm
from spheremix.cli.naming import option_name
from spheremix.run.sentences import kept_words, remarks
from spheremix.run.stages.rows import _removed_words
from spheremix.run.tables import removed_columns
from spheremix.text.selection import MOST_LISTED

TEXTS = [
    "Red apples and an apple pie",
    "The apples of the united farmers",
    "A farmer unites apples",
    "Blue skies over the sea",
    "The sky and the deep sea",
    "Seas are blue, skies are blue",
]
OPTIONS = {"k": 2, "starts": 2, "max_steps": 20, "min_df": 1, "criterion": "none"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    pytest.importorskip("simplemma", reason="simplemma is not installed")
    return sm.explore_corpus(TEXTS, tmp_path_factory.mktemp("words") / "run", **OPTIONS)


def test_forms_are_kept(run):
    vectorizer = sm.load_run(run.folder).vectorizer()
    assert vectorizer.forms_["skies"] == vectorizer.forms_["sky"] == "skies"
    assert set(vectorizer.vocabulary_) <= set(vectorizer.forms_)
    assert (vectorizer.transform(TEXTS) != run.matrix()).nnz == 0


def test_new_documents_need_no_lemma_of_a_known_form(run, monkeypatch):
    expected = run.assign(["an apple", "a sky"])["group"]
    monkeypatch.setattr("spheremix.text.lexicon.Simplemma.__call__", lambda _, form: form)
    assert sm.load_run(run.folder).assign(["an apple", "a sky"])["group"] == expected


def test_the_run_says_what_its_thresholds_cost(tmp_path):
    texts = [f"common {'left' if i % 2 else 'right'} word{i % 7}" for i in range(42)] + ["unique"]
    run = sm.explore_corpus(texts, tmp_path / "run", k=2, lemmatizer="none", criterion="none")
    used = run.rows.vectorization.thresholds
    assert (used.min_df, used.max_df) == (2, 21)
    assert used.cost == {"min_df": 1, "min_count": 0, "max_df": 1}
    assert run.rows.vectorization.removed["common"] == {"common": 42}
    assert run.read_table("removed_words") == {
        "word": ["common", "unique"],
        "documents": [42, 1],
        "reason": ["common", "rare"],
    }
    said = (
        "Words: 9 of 11 are kept. Of the others, 1 is in fewer than 2 documents and 1 is in more "
        "than 21 (common)"
    )
    assert kept_words(run).render().startswith(said)
    assert remarks(run)[0] == kept_words(run)
    readme = (run.folder / "README.txt").read_text(encoding="utf-8")
    assert said in " ".join(readme.split())


def test_unwanted_words_are_kept_with_the_run(tmp_path):
    pytest.importorskip("simplemma", reason="simplemma is not installed")
    file = tmp_path / "stop.txt"
    file.write_text("sky\n", encoding="utf-8")
    options = {**OPTIONS, "stop_words": file, "drop": "Apple,pie"}
    run = sm.explore_corpus(TEXTS, tmp_path / "run", **options)
    assert run.info.command["stop_words"] == ["sky"]
    assert run.info.command["drop"] == ["apple", "pie"]
    assert not {"apples", "skies", "pie"} & set(run.feature_names)
    assert run.read_table("removed_words") == {
        "word": ["sky", "apple", "pie"],
        "documents": [3, 3, 1],
        "reason": ["stop word", "dropped", "dropped"],
    }
    said = "Left out as asked: apple (3 documents), sky (3), pie (1)."
    assert said in [one.render() for one in remarks(run)]
    file.write_text("sea\n", encoding="utf-8")
    assert run.assign(["apple skies", "the deep sea"])["group"][0] is None
    other = sm.explore_corpus(TEXTS, tmp_path / "run", **options)
    assert "skies" in other.feature_names
    assert "sea" not in other.feature_names


def test_words_asked_for_that_no_document_has_are_named(tmp_path):
    options = {**OPTIONS, "lemmatizer": "none", "drop": "pears,apple pie,pie"}
    run = sm.explore_corpus(TEXTS, tmp_path / "run", **options)
    said = [one.render(option_name) for one in remarks(run)]
    assert (
        "Left out as asked: pie (1 document). No document has apple pie, pears (phrases are found "
        "only with --ngrams 2)."
    ) in said


def test_rare_words_of_the_table_are_bounded():
    rare = {f"w{i:04}": 1 for i in range(MOST_LISTED)} | {"often": 2}
    found = _removed_words({"rare": rare, "common": {}, "dropped": {}, "mixed": rare}, ())
    assert [len(found[reason]) for reason in ("rare", "mixed")] == [MOST_LISTED, MOST_LISTED]
    assert removed_columns(found)["word"][0] == "often"
    assert f"w{MOST_LISTED - 1:04}" not in found["rare"]


def test_phrases_are_kept(tmp_path):
    texts = [f"{word} interest rates" for word in ("low", "high", "rising", "falling")]
    texts += ["interest in art", "rates of art", "art and music"]
    options = {
        "k": 2,
        "lemmatizer": "none",
        "criterion": "none",
        "min_df": 2,
        "ngrams": 2,
        "kappa": 50,
    }
    run = sm.explore_corpus(texts, tmp_path / "run", **options)
    assert "interest rates" in run.feature_names
    again = sm.load_run(run.folder).vectorizer()
    assert again.words("interest rates of interest") == ["interest rates", "interest"]
    kept = [i for i, why in enumerate(run.documents["set_aside"]) if not why]
    assert (again.transform(texts)[kept] != run.matrix()).nnz == 0


def test_trouble_is_named_and_mended_as_asked(tmp_path):
    subjects = ("apple pie", "green apple", "apple tree", "deep sea", "blue sea", "sea water")
    texts = [f"Toggle Button\nthe {subjects[i % 6]} {i % 4}m" for i in range(36)]
    options = {"k": 2, "lemmatizer": "none", "criterion": "none", "kappa": 50}
    run = sm.explore_corpus(texts, tmp_path / "kept", keep_boilerplate=True, **options)
    assert not any("Toggle" in one.render() for one in remarks(run))
    assert run.rows.dropped_lines == []
    run = sm.explore_corpus(texts, tmp_path / "run", drop_mixed=True, **options)
    told = (
        "Left out as no subject: repeated lines in 36 documents. Lines that are repeated: "
        "'Toggle Button' (36)."
    )
    assert any(one.render().startswith(told) for one in remarks(run))
    readme = " ".join((run.folder / "README.txt").read_text(encoding="utf-8").split())
    assert told in readme
    assert "keep_boilerplate=True" in readme
    assert run.rows.dropped_lines == ["Toggle Button"]
    assert "Toggle" in run.corpus().texts[0]  # texts stay whole
    assert not {"button", "toggle", "2m"} & set(run.feature_names)
    assert run.assign(["Toggle Button\nsea", "Toggle Button"])["group"][1] is None
