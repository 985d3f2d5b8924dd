"""Documents to unit rows: words of any script, lemmas, thresholds, weights; nothing is lost."""

from __future__ import annotations

import pickle
import sys
from collections import Counter
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from text_common import TEXTS, plain

import spheremix as sm
from spheremix.run.options import ExploreOptions
from spheremix.text import Corpus, TextVectorizer, vectorize
from spheremix.text.selection import Thresholds
from spheremix.text.stopwords import WORDS, stop_words
from spheremix.text.vectorizer import WEIGHTING
from spheremix.text.words import LONGEST, forms

PERSIAN = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"  # with a joiner


class TestWords:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("Don't STOP-me now_please", ["Don", "t", "STOP", "me", "now", "please"]),
            ("l'été à Nîmes", ["l", "été", "à", "Nîmes"]),
            ("e\u0301te\u0301", ["été"]),  # decomposed
            ("Straße ÉCOLE", ["Straße", "ÉCOLE"]),
            ("שלום, עולם!", ["שלום", "עולם"]),
            ("كِتَاب جديد", ["كِتَاب", "جديد"]),  # vowel signs stay within words
            ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
            (PERSIAN, [PERSIAN]),
            ("Привет_мир", ["Привет", "мир"]),
            ("🙂👩\u200d👩\u200d👧 ok", ["ok"]),
            ("3d x2 42 ٤٢", ["3d", "x2", "42", "٤٢"]),
            ("", []),
            ("\0 \u2028\ufeff", []),
        ],
    )
    def test_forms(self, text, expected):
        assert forms(text) == expected

    @given(st.text())
    def test_forms_of_anything(self, text):
        for form in forms(text):
            assert form
            assert not set(form) & set("_ -.,;!?\n")

    def test_a_form_is_lemmatised_once(self):
        asked = []

        def lemma(form):
            asked.append(form)
            return form.removesuffix("s")

        vectorizer = plain(lemmatizer=lemma, stop_words={"the", "be"})
        vectorizer.fit(["The dogs, the dog, the bes; 42 a s as", "Dogs dog"])
        assert asked == ["dogs", "dog", "bes", "as"]
        # "bes" gives a stop word; "as" gives "a", which is too short to be a word.
        assert vectorizer.words("Dogs dog bes as") == ["dog", "dog", "as"]
        assert asked == ["dogs", "dog", "bes", "as"]

    def test_numbers(self):
        assert plain(keep_numbers=True).fit(["y2k"]).words("on 1999, 3d .") == ["1999", "3d"]
        assert plain().fit(["y2k"]).words("on 1999, ٤٢, 3d") == ["3d"]

    def test_what_is_too_long_is_no_word(self):
        def lemma(form):
            assert len(form) <= LONGEST
            return form

        vectorizer = plain(lemmatizer=lemma)
        vectorizer.fit(["x" * 10_000_000 + " y" * LONGEST + " fine"])
        assert list(vectorizer.vocabulary_) == ["fine"]

    def test_stop_words(self):
        assert {"the", "of", "don", "was"} <= stop_words("en")
        assert {"les", "été", "qu"} <= stop_words("fr")
        assert len(stop_words("en")) > 300
        assert len(stop_words("fr")) > 300
        assert stop_words("xx") == set()
        for language in WORDS:
            assert all(forms(word) == [word] and len(word) > 1 for word in stop_words(language))


class TestVectorizer:
    def test_rows_have_the_indices_that_scikit_learn_takes(self):
        rows = TextVectorizer(lemmatizer=None).fit_transform(TEXTS)
        assert rows.indices.dtype == rows.indptr.dtype == np.int32

    def test_counts(self):
        vectorizer = plain(lemmatizer=lambda word: word.removesuffix("s"), weighting="counts")
        X = vectorizer.fit_transform(TEXTS)
        assert list(vectorizer.get_feature_names_out()) == ["cat", "dig", "dogs", "mat", "sat"]
        assert isinstance(X, sparse.csr_array)
        assert X.dtype == np.float64
        expected = [[2, 0, 0, 2, 1], [1, 0, 2, 0, 0], [0, 1, 1, 0, 0], [0] * 5, [0] * 5]
        lengths = np.array([3, np.sqrt(5), np.sqrt(2), 1, 1])
        np.testing.assert_allclose(X.toarray() * lengths[:, None], expected, rtol=1e-15)
        np.testing.assert_array_equal(vectorizer.transform(TEXTS).toarray(), X.toarray())
        assert vectorizer.n_words_ == 5
        assert vectorizer.idf_ is None

    def test_binary(self):
        X = plain(weighting="binary").fit_transform(["a cat cat dog", "cat"]).toarray()
        np.testing.assert_allclose(X, [[0.5**0.5, 0.5**0.5], [1, 0]])

    @pytest.mark.parametrize("sublinear", [False, True])
    def test_tfidf_is_that_of_scikit_learn(self, sublinear):
        rng = np.random.default_rng(0)
        texts = [" ".join(f"w{i}" for i in rng.poisson(5, 30)) for _ in range(40)]
        ours = plain(weighting="sublinear-tfidf" if sublinear else "tfidf", min_df=3, max_df=0.9)
        X = ours.fit_transform(texts)
        theirs = TfidfVectorizer(sublinear_tf=sublinear, min_df=3, max_df=0.9)
        expected = theirs.fit_transform(texts)
        assert list(ours.vocabulary_) == list(theirs.get_feature_names_out())
        np.testing.assert_allclose(X.toarray(), expected.toarray(), rtol=1e-14)
        np.testing.assert_allclose(ours.idf_, theirs.idf_)
        new = ["w3 w3 w4", "nothing known"]
        np.testing.assert_allclose(
            ours.transform(new).toarray(), theirs.transform(new).toarray(), rtol=1e-14
        )
        np.testing.assert_allclose(np.linalg.norm(X.toarray(), axis=1), 1)

    def test_thresholds(self):
        texts = ["apple apple apple pear", "pear plum", "pear fig"]
        assert list(plain(min_count=3).fit(texts).vocabulary_) == ["apple", "pear"]
        assert list(plain(min_df=2).fit(texts).vocabulary_) == ["pear"]
        assert list(plain(min_df=0.5).fit(texts).vocabulary_) == ["pear"]
        assert list(plain(max_df=2).fit(texts).vocabulary_) == ["apple", "fig", "plum"]
        assert list(plain(max_df=0.99).fit(texts).vocabulary_) == ["apple", "fig", "plum"]

    @pytest.mark.parametrize(
        ("n", "expected"),
        [
            (1, (1, 1)),
            (19, (1, 19)),
            (20, (2, 10)),
            (119, (2, 59)),
            (120, (3, 60)),
            (240, (5, 120)),
            (5_999, (5, 2_999)),
            (6_000, (6, 3_000)),
            (20_947, (20, 10_473)),
            (90_000, (20, 45_000)),
        ],
    )
    def test_thresholds_left_open(self, n, expected):
        found = Thresholds.choose(n, None, None, None)
        assert (found.min_df, found.max_df) == expected
        assert found.min_count == 1

    def test_what_thresholds_cost_adds_up(self):
        rng = np.random.default_rng(0)
        texts = [" ".join(f"w{i}" for i in {*rng.geometric(0.03, 30)}) for _ in range(300)]
        vectorizer = TextVectorizer(lemmatizer=None, min_count=9, min_df=4, max_df=0.4).fit(texts)
        documents = Counter(word for text in texts for word in set(text.split()))
        assert vectorizer.cost_ == {
            "min_df": sum(k < 4 for k in documents.values()),
            "min_count": sum(4 <= k < 9 for k in documents.values()),
            "max_df": sum(k > 120 for k in documents.values()),
        }
        kept = vectorizer.n_words_ - sum(vectorizer.cost_.values())
        assert kept == len(vectorizer.vocabulary_)
        assert all(vectorizer.cost_.values())

    def test_common_words_are_bounded_unless_nothing_else_is_there(self):
        texts = ["common rare" if i % 3 else "common" for i in range(60)]
        found = TextVectorizer(lemmatizer=None).fit([*texts, "half words", "half words"])
        assert found.vocabulary_.tolist() == ["half", "words"]
        assert found.cost_["max_df"] == 2
        assert found.removed_["common"] == {"common": 60, "rare": 40}
        same = TextVectorizer(lemmatizer=None).fit(["similar words"] * 30)
        assert same.vocabulary_.tolist() == ["similar", "words"]
        assert same.max_df_ == 30
        with pytest.raises(ValueError, match="raise max_df"):
            TextVectorizer(lemmatizer=None, max_df=0.5).fit(["similar words"] * 30)

    def test_languages(self):
        texts = ["The dog and les chiens et", "un chien, a dog"]
        assert "les" in plain().fit(texts).vocabulary_
        assert list(plain(language="en,fr").fit(texts).vocabulary_) == ["chien", "chiens", "dog"]
        assert "the" in plain(stop_words=None).fit(texts).vocabulary_
        assert "dog" not in plain(stop_words=["dog"]).fit(texts).vocabulary_

    def test_stop_words_of_scikit_learn(self):
        texts = ["We have the three bills of fire", "cry, fire and sincere computer"]
        ours = plain(stop_words="english").fit(texts).vocabulary_.tolist()
        assert ours == list(
            CountVectorizer(stop_words="english").fit(texts).get_feature_names_out()
        )

    def test_words_to_leave_out(self, tmp_path):
        texts = ["said the cats", "cat said no", "Mr Dog of the press"]
        stem = {"lemmatizer": lambda word: word.removesuffix("s")}
        file = tmp_path / "unwanted.txt"
        file.write_text("\ufeffCat\n\n press \r\n", encoding="utf-8")
        assert plain(drop="Said, mr", stop_words=None).fit(texts).vocabulary_[0] == "cat"
        assert plain(drop=file, **stem).fit(texts).vocabulary_.tolist() == ["dog", "mr"]
        found = plain(drop=["cats"], stop_words=file, **stem).fit(texts)
        assert found.vocabulary_.tolist() == ["dog", "mr", "no", "of", "said", "the"]
        assert found.words("a cat, cats, presses") == ["presse"]

    def test_tokenizer(self):
        vectorizer = plain(tokenizer=list, min_length=1, language="zh")
        assert list(vectorizer.fit(["中文", "文字"]).vocabulary_) == ["中", "字", "文"]

    def test_simplemma(self):
        pytest.importorskip("simplemma", reason="simplemma is not installed")
        vectorizer = TextVectorizer().fit(["The companies were merging", "a company merged"])
        assert list(vectorizer.vocabulary_) == ["companies", "merged"]
        vectorizer = TextVectorizer(language="fr").fit(["Les chevaux étaient là", "le cheval"])
        assert list(vectorizer.vocabulary_) == ["cheval"]
        vectorizer = TextVectorizer(language="de").fit(["Die HÄUSER", "ein Haus"])
        assert list(vectorizer.vocabulary_) == ["haus"]
        with pytest.raises(ValueError, match="language=xx: do without lemmas with lemmatizer=None"):
            TextVectorizer(language="xx").fit(["x"])

    def test_without_simplemma(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "simplemma", None)
        with pytest.raises(ImportError, match=r"pip install simplemma or do .* lemmatizer=None"):
            TextVectorizer().fit(["some text"])
        assert TextVectorizer(lemmatizer="none").fit(["some text"]).vocabulary_ == ["text"]

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"weighting": "idf"}, "weighting must be one of 'counts', 'binary', 'tfidf'"),
            ({"min_count": 0}, "min_count must be an integer of at least 1, got 0"),
            ({"min_df": 0}, "min_df must be an integer of at least 1, got 0"),
            ({"max_df": 1.5}, r"max_df must be a share in \[0, 1\] or an integer, got 1.5"),
            ({"min_length": 0}, "min_length must be an integer of at least 1"),
            ({"lemmatizer": "stem"}, 'lemmatizer must be "simplemma", "none", None or a callable'),
            ({"stop_words": "dutch"}, 'stop_words must be "auto", "english", None, words or the'),
            ({"stop_words": [1]}, "stop_words must be words; got 1"),
            ({"drop": ["a", 2]}, "drop must be words; got 2"),
            ({"drop": Path("nowhere.txt")}, "nowhere.txt: there is no such file"),
            ({"language": "english"}, "language must be a code such as \"en\", got 'english'"),
            ({"language": None}, "language must be a code"),
        ],
    )
    def test_bad_parameters(self, parameters, message):
        with pytest.raises(ValueError, match=message):
            plain(**parameters).fit(TEXTS)
        with pytest.raises(ValueError, match=message):
            plain(**parameters).check_parameters()  # before there is any text
        plain().check_parameters()

    @pytest.mark.parametrize(
        ("texts", "parameters", "message"),
        [
            ([], {}, "There are no texts"),
            ("one text", {}, "Texts must be a list of strings, got one string"),
            (["a", None], {}, "Text 1 must be a string, got NoneType"),
            (["", " \n"], {}, "No word in 2 texts: all are empty"),
            (
                ["", "the 12 x !"],
                {},
                "of which 1 are empty and the others have only",
            ),
            (TEXTS, {"min_count": 100}, r"min_count=100 leaves 0, .*: lower min_count\.$"),
            (TEXTS, {"min_df": 4}, r"min_df=4 leaves 0, .*: lower min_df\.$"),
            (TEXTS, {"max_df": 0.1}, r"max_df=0 leaves 0: raise max_df\.$"),
            (
                ["x1 x1 x2", "x2"],
                {"min_count": 2, "max_df": 1, "min_df": 2},
                r"alone, min_df=2 leaves 1, min_count=2 leaves 2, max_df=1 leaves 1: lower min_df",
            ),
        ],
    )
    def test_nothing_left_is_explained(self, texts, parameters, message):
        with pytest.raises(ValueError, match=message):
            plain(**parameters).fit(texts)

    def test_trouble_of_a_callable_is_not_hidden(self):
        def lemma(form):
            raise ValueError(f"no lemma of {form}")

        with pytest.raises(ValueError, match="no lemma of cat"):
            plain(lemmatizer=lemma).fit(["cat"])

    def test_a_failed_fit_changes_nothing(self):
        vectorizer = plain().fit(TEXTS)
        before = dict(vars(vectorizer))
        with pytest.raises(ValueError):
            vectorizer.fit(["", ""])
        assert vars(vectorizer) == before

    def test_scikit_learn(self):
        vectorizer = plain(weighting="tfidf")
        copy = clone(vectorizer)
        assert copy.get_params() == vectorizer.get_params()
        with pytest.raises(Exception, match="not fitted"):
            copy.transform(TEXTS)
        texts = ["cat dog cat", "dog cat", "star moon", "moon star sun"] * 3
        pipeline = make_pipeline(copy, sm.VMFMixture(2, random_state=0, n_init=3))
        labels = pipeline.fit(texts).predict(texts)
        assert labels[0] == labels[1] != labels[2] == labels[3]
        again = pickle.loads(pickle.dumps(copy))  # noqa: S301
        np.testing.assert_array_equal(
            again.transform(texts).toarray(), copy.transform(texts).toarray()
        )
        pipeline.set_params(textvectorizer__weighting="binary").fit(texts)
        assert copy.fit(np.array(texts)).vocabulary_.dtype == object

    def test_library_and_command_weigh_alike(self):
        assert TextVectorizer().weighting == WEIGHTING == "sublinear-tfidf"
        assert ExploreOptions().vectorizer()["weighting"] == WEIGHTING
        told = {one.name: one.metadata for one in fields(ExploreOptions)}["weighting"]
        assert told["found"] == WEIGHTING

    @pytest.mark.parametrize("weighting", ["counts", "binary", "tfidf", "sublinear-tfidf"])
    def test_restore(self, weighting):
        fitted = plain(weighting=weighting).fit(TEXTS)
        again = TextVectorizer.restore(fitted.vocabulary_, fitted.idf_, **fitted.get_params())
        new = [*TEXTS, "cat cat dog unknown"]
        np.testing.assert_array_equal(
            again.transform(new).toarray(), fitted.transform(new).toarray()
        )
        wrong = None if fitted.idf_ is not None else np.ones(len(fitted.vocabulary_))
        with pytest.raises(ValueError, match="idf must be given for tf-idf only"):
            TextVectorizer.restore(fitted.vocabulary_, wrong, **fitted.get_params())

    def test_restore_refuses(self):
        with pytest.raises(ValueError, match="each of them once"):
            TextVectorizer.restore(["a", "a"], lemmatizer=None)
        with pytest.raises(ValueError, match="at least one word"):
            TextVectorizer.restore([], lemmatizer=None)
        for idf in ([1.0], [1.0, np.nan]):
            with pytest.raises(ValueError, match="idf must have 2 finite numbers"):
                TextVectorizer.restore(["a", "b"], idf, lemmatizer=None, weighting="tfidf")

    def test_occurrences(self):
        texts = ["boat boat star", "star comet", "...", "boat comet comet comet"]
        vectorizer = plain(weighting="tfidf")
        counts = vectorizer.fit_count(texts)
        assert vectorizer.vocabulary_.tolist() == ["boat", "comet", "star"]
        assert counts.toarray().tolist() == [[2, 0, 1], [0, 1, 1], [0, 0, 0], [1, 3, 0]]
        assert counts.dtype.kind == "i"
        rows = plain(weighting="tfidf").fit_transform(texts)
        assert (vectorizer.transform(texts) != rows).nnz == 0


def test_rows_add_up():
    ids = ["a", "b", "c", "d", "e"]
    found = vectorize(Corpus(TEXTS, ids), plain(min_df=2))
    assert list(found.words) == ["cat", "dogs"]
    assert len(found.rows) + len(found.set_aside) == len(TEXTS)
    assert found.X.shape == (len(found.rows), len(found.words))
    assert found.ids == [ids[i] for i in found.rows]
    assert (np.diff(found.X.indptr) > 0).all()
    reasons = {aside.id: aside.reason for aside in found.set_aside}
    assert reasons["d"] == "no text"
    assert reasons["e"] == "no word but stop words, numbers or single letters"
    assert all(found.set_aside[i].row == ids.index(a.id) for i, a in enumerate(found.set_aside))


def test_new_documents():
    fitted = vectorize(TEXTS, lemmatizer=None, min_df=1).vectorizer
    found = vectorize(["a dog", "an elephant", " "], fitted)
    assert found.vectorizer is fitted
    assert found.ids == ["1"]
    assert [aside.reason for aside in found.set_aside] == [
        "no word of the vocabulary",
        "no text",
    ]
    nothing = vectorize(["elephant"], fitted)
    assert nothing.X.shape == (0, len(fitted.vocabulary_))


def test_either_a_vectorizer_or_parameters():
    with pytest.raises(ValueError, match="either vectorizer or the parameters"):
        vectorize(TEXTS, plain(), min_df=2)
