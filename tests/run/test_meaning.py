"""Runs with two views: words, and a meaning that is given or found."""

from __future__ import annotations

import numpy as np
import pytest
from cli_common import texts, write_lines
from edit_common import contents, explore
from listening import Told

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.run.explore import check_run
from spheremix.run.folder.files import RunError
from spheremix.run.options import ExploreOptions
from spheremix.run.stages import meaning as stage
from spheremix.text import Corpus, ReadError

N = 90
UNKNOWN = 7  # the document whose only word nobody else has


def vectors(n=N, seed=1):
    """Return embeddings that know the topics of the first n documents, and nothing else."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(0).normal(size=(3, 12))[np.arange(n) % 3]
    return (centres + 0.4 * rng.normal(size=(n, 12))).astype(np.float32)


@pytest.fixture(scope="module")
def documents():
    written = [one["text"] for one in texts(N)]
    written[UNKNOWN] = "zyzzyva"
    return written


@pytest.fixture(scope="module")
def base(documents, tmp_path_factory):
    return explore(documents, tmp_path_factory.mktemp("base") / "run", meaning=vectors())[0]


def test_a_document_without_words_is_grouped_by_its_meaning(base):
    table = base.documents
    assert table["n_words"][UNKNOWN] == 0
    assert table["set_aside"][UNKNOWN] == ""
    assert table["group"][UNKNOWN] == table["group"][UNKNOWN + 3]  # of the same topic
    assert sorted(base.groups["size"]) == [30, 30, 30]
    assert "by their words and meaning" in sm.run.sentences.result(base)


def test_a_document_with_neither_is_set_aside(documents, tmp_path):
    nothing = vectors()
    nothing[UNKNOWN] = 0.0
    run, _ = explore(documents, tmp_path / "run", meaning=nothing)
    assert run.documents["set_aside"][UNKNOWN]
    assert run.documents["group"][UNKNOWN] is None
    assert [X.shape[0] for X in run.matrix().values()] == [N - 1, N - 1]


def test_the_file_of_embeddings_can_come_first_or_second(base, documents, tmp_path):
    np.save(tmp_path / "E.npy", vectors())
    lines = [{"text": text} for text in documents]
    beside = write_lines(tmp_path / "docs.jsonl", lines)
    one, _ = explore(tmp_path / "E.npy", tmp_path / "one", texts=beside)
    two, _ = explore(beside, tmp_path / "two", meaning=tmp_path / "E.npy")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert one.documents["group"] == two.documents["group"] == base.documents["group"]
    told = Told()
    again = sm.explore_corpus(  # the same command again finds it done
        beside,
        tmp_path / "two",
        listener=told,
        meaning=tmp_path / "E.npy",
        k=3,
        starts=1,
        max_steps=4,
        lemmatizer="none",
        threads=1,
    )
    assert any("holds this run already" in line for line in told.begun)
    assert again.info == two.info
    alone, _ = explore(tmp_path / "E.npy", tmp_path / "alone", texts=beside, meaning_only=True)
    assert alone.feature_names is None
    assert alone.meaning is None


def test_other_embeddings_of_the_same_documents_are_followed(documents, tmp_path):
    folder = tmp_path / "run"
    fresh, _ = explore(documents, tmp_path / "fresh", meaning=vectors(seed=2))
    explore(documents, folder, meaning=vectors())
    explore(documents, folder, meaning=vectors(seed=2))
    assert sm.load_run(folder).documents == fresh.documents
    alone, _ = explore(documents, folder, meaning="none")
    assert alone.meaning is None


def test_half_precision_changes_no_group(base, documents):
    X, rows = sm.text.vectorize(Corpus.from_texts(documents), lemmatizer="none"), base.matrix()
    assert base.meaning.vectors.dtype == np.float16
    np.testing.assert_array_equal(rows["words"][[0, 1, 2]].toarray(), X.X[[0, 1, 2]].toarray())
    exact = {"words": rows["words"], "meaning": vectors().astype(np.float64)}
    mixture = sm.VMFMixture(3, n_init=1, random_state=0, n_threads=1).fit(exact)
    short = sm.VMFMixture(3, n_init=1, random_state=0, n_threads=1).fit(rows)
    np.testing.assert_array_equal(mixture.labels_, short.labels_)
    np.testing.assert_allclose(mixture.log_likelihood_, short.log_likelihood_, rtol=1e-4)


def test_a_run_that_is_read_again_predicts_the_same_bits(base):
    run = sm.load_run(base.folder)
    assert run.check() == []
    for one, two in ((run.mixture, base.mixture), (run.path.model(1), base.path.model(1))):
        np.testing.assert_array_equal(one.prototypes_, two.prototypes_)
        np.testing.assert_array_equal(one.kappas_, two.kappas_)
        assert one.views_in_ == two.views_in_
        assert (one.predict(run.matrix()) == two.predict(base.matrix())).all()
    assert (run.path.n_nonzero_ == base.path.n_nonzero_).all()
    assert all(
        run.path.criteria_[name] == pytest.approx(base.path.criteria_[name]) for name in ("bic",)
    )


def test_a_run_in_memory_is_saved_and_read(documents, tmp_path):
    run, _ = explore(documents, None, meaning=vectors())
    run.save(tmp_path / "run")
    assert sm.load_run(tmp_path / "run").documents["group"] == run.documents["group"]


def test_a_run_is_made_again_to_the_same_bytes(base):
    assert check_run(sm.load_run(base.folder), refit=True, threads=1) == []


def test_cosines_are_means_by_concentration(base):
    X, mixture = base.matrix(), base.mixture
    words, meaning = (mixture.views_[name] for name in ("words", "meaning"))
    unit = X["meaning"] / np.linalg.norm(X["meaning"], axis=1, keepdims=True)
    group = base.assigned.labels
    pull = words.kappas_ * (X["words"] @ words.prototypes_.T)
    pull += meaning.kappas_ * (unit @ meaning.prototypes_.T)
    means = pull / (words.kappas_ + meaning.kappas_)
    expected = means[np.arange(N), group]
    np.testing.assert_allclose(base.assigned.cosines, expected, atol=1e-5)


def test_words_and_meaning_add_up_to_the_log_odds(base):
    added = base.report().content["meaning"]
    for i in (0, UNKNOWN, 20):
        why = base.reading.why(base.rows.taken([i]))
        (term,) = [one for one in why.terms if one.word == "meaning"]
        assert why.log_odds == pytest.approx(base.assigned.log_odds[i], rel=1e-4)
        assert (added["own"][i], added["rival"][i]) == pytest.approx(
            (term.term, term.rival_term), rel=1e-3
        )


def test_a_page_of_words_alone_has_no_meaning(documents, tmp_path):
    run, _ = explore(documents, tmp_path / "run", meaning="none")
    assert run.report().content["meaning"] is None
    assert run.documents["set_aside"][UNKNOWN]


def test_edits_are_made_and_taken_back(documents, tmp_path):
    folder = tmp_path / "run"
    run, _ = explore(documents, folder, meaning=vectors())
    before = contents(folder)
    edits = {"names": {0: "First"}, "merge": [[1, 2]], "split": [0], "drop_words": ["boat"]}
    edited = run.edit(edits)
    assert edited.info.n_groups == 3
    assert "boat" not in edited.feature_names
    assert edited.matrix()["meaning"].shape == (N, 12)
    assert check_run(sm.load_run(folder), refit=True, threads=1) == []
    sm.load_run(folder).undo_edits()
    assert contents(folder) == before


def test_new_documents_come_with_their_embeddings(base, documents):
    found = base.assign(documents, meaning=vectors())
    assert found["group"] == base.documents["group"]
    with pytest.raises(RunError, match="came from a file of embeddings: give that of the new ones"):
        base.assign(documents)
    with pytest.raises(RunError, match="its embeddings have 12 columns, and the new ones 5"):
        base.assign(documents, meaning=vectors()[:, :5])
    with pytest.raises(RunError, match="give documents, not a matrix, with their embeddings"):
        base.assign(vectors())
    same = base.compare_batch(documents, meaning=vectors())
    assert same.alarms == []
    assert same.labels.tolist() == base.documents["group"]


def test_new_documents_of_another_meaning_raise_an_alarm(base, documents):
    new = vectors()[:30]
    new[:8] = np.random.default_rng(5).normal(size=12) + 0.1 * new[:8]  # as no topic means
    found = base.compare_batch(documents[:30], meaning=new)
    assert "fit" in found.alarms


def labelled(n, names):
    written = [one["text"] for one in texts(n)]
    return Corpus(written, [str(i) for i in range(n)], labels={"side": names})


def test_effects_of_a_column_on_groups_by_words_and_meaning(tmp_path):
    side = [("left",) if i % 3 == 0 or i % 7 == 0 else ("right",) for i in range(N)]
    given = labelled(N, side)
    run, _ = explore(given, tmp_path / "run", meaning=vectors(), effects="side")
    column = run.read_stage(run.info.parts["effects"], sm.reading.effects.Effects)["side"]
    assert column.difference("left", "right").told.any()
    assert run.check() == []


def test_documents_that_are_labelled_in_part_have_probabilities_by_words_and_meaning(tmp_path):
    known = [(str(i % 3),) if i < 60 else () for i in range(120)]
    run, _ = explore(labelled(120, known), tmp_path / "run", meaning=vectors(120))
    assert min(run.documents["label_probability"]) > 0.5


def test_embeddings_of_new_documents_are_refused_by_a_run_on_words(documents, tmp_path):
    run, _ = explore(documents, tmp_path / "run", meaning="none")
    with pytest.raises(ParameterError, match="for runs whose own documents came with embeddings"):
        run.assign(documents, meaning=vectors())


def test_an_update_keeps_groups(base, tmp_path):
    new = [one["text"] for one in texts(30, seed=5)]
    added = vectors(30, seed=3)
    run = base.update(new, tmp_path / "run", meaning=added, listener=Told())
    assert run.meaning.vectors.shape == (N + 30, 12)
    np.testing.assert_array_equal(run.meaning.vectors[:N], base.meaning.vectors)
    assert run.documents["group"][:N] == base.documents["group"]
    assert run.documents["group"][N:] == base.documents["group"][:30]  # of the same topics
    assert run.check() == []


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"meaning": np.ones(4)}, ParameterError, "must be a table of numbers with a row"),
        ({"meaning": np.ones((4, 3))}, ReadError, "one document for each row is needed"),
        ({"meaning": np.full((N, 3), np.nan)}, ReadError, "row 1 .* and 89 more have NaN"),
        ({"meaning": "E.npy"}, ReadError, "E.npy"),
        ({"meaning": vectors(), "split": 80}, ParameterError, "are grouped by words alone"),
        ({"meaning": vectors(), "noise": "uniform"}, ParameterError, "leave out meaning"),
        ({"meaning_only": True}, ParameterError, "is for embeddings with their texts"),
    ],
)
def test_refusals(documents, tmp_path, given, error, said):
    with pytest.raises(error, match=said):
        explore(documents, tmp_path / "run", **given)
    assert not (tmp_path / "run" / "run.json").exists()


def test_a_matrix_has_no_meaning_beside_it(tmp_path):
    np.save(tmp_path / "E.npy", vectors())
    with pytest.raises(ParameterError, match="is a matrix: meaning is for texts"):
        explore(tmp_path / "E.npy", tmp_path / "run", meaning="static")
    with pytest.raises(ParameterError, match="meaning_only leaves out their words"):
        explore(tmp_path / "E.npy", tmp_path / "run", meaning_only=True)


# Found by a model, and by default


SAID = "The {} of the {} is what we talk about with you when it is there."


@pytest.fixture
def embedded(monkeypatch):
    """Count what is embedded; the vectors know the topics."""
    calls = []

    def embed(given, model):
        calls.append((len(given), model))
        topics = [sum(map(ord, text)) % 5 for text in given]
        return np.eye(5, dtype=np.float32)[topics] + 0.1

    monkeypatch.setattr(stage, "embed", embed)
    monkeypatch.setattr(stage, "has_static", lambda: True)
    return calls


def english(n):
    written = [one["text"].split() for one in texts(n)]
    return [SAID.format(words[0], words[1]) for words in written]


def chosen(given, **options):
    corpus = Corpus.from_texts(given)
    return stage.choose_model(corpus, None, ExploreOptions(**options))


def test_short_english_texts_have_a_meaning_by_default(embedded):
    model, said = chosen(english(200))
    assert (model, len(said)) == ("static", 1)
    assert chosen(english(199)) == (None, [])
    assert chosen([f"{text} " * 8 for text in english(200)]) == (None, [])
    assert chosen(english(200), meaning="none") == (None, [])
    assert chosen(english(200), language="de") == (None, [])
    assert chosen(english(200), split="sentences") == (None, [])
    assert chosen(english(200), effects="topic")[0] == "static"
    assert chosen(english(200), noise="uniform") == (None, [])
    assert chosen(english(200), noise="none")[0] == "static"
    assert not embedded  # nothing is embedded to decide


def test_other_languages_are_words_alone_and_warned_of():
    german = ["Die Frage ist ob wir auch mit dem Auto in der Stadt sind"] * 200
    assert chosen(german) == (None, [])
    model, said = chosen(german, meaning="static")
    assert model == "static"
    assert "another language" in said[0]
    assert chosen(english(200), meaning="static") == ("static", [])


def test_without_the_vectors_one_note_says_where_they_are(monkeypatch):
    monkeypatch.setattr(stage, "has_static", lambda: False)
    model, (said,) = chosen(english(200))
    assert model is None
    assert "pip install wordllama" in said


def test_texts_are_embedded_once_and_new_ones_in_the_same_way(embedded, documents, tmp_path):
    run, _ = explore(documents, tmp_path / "run", meaning="a-model")
    explore(documents, tmp_path / "run", meaning="a-model", k=2)
    assert embedded == [(N, "a-model")]
    assert run.info.command["meaning"] == "a-model"
    new = sm.load_run(tmp_path / "run").assign(documents[:5])
    assert embedded[1:] == [(5, "a-model")]
    assert len(new["group"]) == 5
    updated = sm.load_run(tmp_path / "run").update(
        [one["text"] for one in texts(9, seed=4)], tmp_path / "more", listener=Told()
    )
    assert updated.meaning.model == "a-model"


def test_documents_that_belong_nowhere_are_found_by_words_alone(embedded, tmp_path):
    run, _ = explore(english(200), tmp_path / "run", noise="uniform")
    assert run.meaning is None
    assert run.mixture.model_.noise is not None
    assert not embedded


def test_passages_have_words_alone(embedded, documents, tmp_path):
    long = [" ".join(documents[i : i + 3]) + "." for i in range(0, N, 3)]
    with pytest.raises(ParameterError, match="passages are grouped by words alone"):
        explore(long, tmp_path / "run", meaning="a-model", split=20)
    assert not embedded
