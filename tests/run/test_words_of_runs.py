"""What a run keeps of its words: forms, thresholds, phrases, unwanted words."""

from __future__ import annotations

import gzip

import pytest

import spheremix as sm
from spheremix.run.columns import FORMS

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
    assert run.manifest.prepared.vectorizer.forms == FORMS
    kept = gzip.decompress((run.folder / FORMS).read_bytes()).decode()
    assert "apple\tapples\n" in kept
    vectorizer = sm.load_run(run.folder).vectorizer()
    assert vectorizer.forms_["skies"] == vectorizer.forms_["sky"] == "skies"
    assert set(vectorizer.vocabulary_) <= set(vectorizer.forms_)
    assert (vectorizer.transform(TEXTS) != run.matrix()).nnz == 0


def test_new_documents_need_no_lemma_of_a_known_form(run, monkeypatch):
    expected = run.assign(["an apple", "a sky"])["cluster"]
    monkeypatch.setattr("spheremix.text.lemmas.Simplemma.__call__", lambda _, form: form)
    assert sm.load_run(run.folder).assign(["an apple", "a sky"])["cluster"] == expected
