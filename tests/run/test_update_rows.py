"""Runs on matrices brought up to date: the same as for texts, in the columns of the run."""

from __future__ import annotations

import numpy as np
import pytest
from cli_common import refusal, run, texts, write_lines
from edit_common import Told, explore
from news_common import by_number, event, quiet
from numpy.testing import assert_allclose
from scipy import sparse

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.run.sentences import updated
from spheremix.run.update import update_run
from spheremix.text import Corpus, Matrix, ReadError, read_documents

D = 20
ROWS = {"lemmatizer": None}  # nothing is counted


@pytest.fixture(scope="module")
def drawn():
    """Rows of three groups, later ones of the same, and an event."""
    X, labels, _ = sm.datasets.make_vmf_mixture(300, D, 4, overlap=0.001, random_state=0)
    known = X[labels != 3]
    return known[:120], np.vstack([known[120:150], X[labels == 3][:12]])


@pytest.fixture(scope="module")
def base(drawn, tmp_path_factory):
    """A run on rows alone, one of them empty, with a name, notes and a mark."""
    place = tmp_path_factory.mktemp("rows")
    np.save(place / "old.npy", np.insert(drawn[0], 7, 0.0, axis=0).astype(np.float32))
    run = explore(place / "old.npy", place / "run", **ROWS)[0]
    marks = {"groups": {1: "look again"}, "documents": {"4": "odd"}}
    return run.edit({"names": {0: "First"}, "notes": marks, "misplaced": ["6"]}, listener=Told())


@pytest.fixture(scope="module")
def news(drawn, tmp_path_factory):
    path = tmp_path_factory.mktemp("news") / "new.npy"
    np.save(path, drawn[1].astype(np.float32))
    return path


@pytest.fixture(scope="module")
def after(base, news, tmp_path_factory):
    return base.update(news, tmp_path_factory.mktemp("after") / "run", listener=Told())


# Rows alone


def test_groups_keep_numbers_names_notes_marks_and_colours(base, after):
    assert after.documents["group"][:121] == base.documents["group"]
    names, before = by_number(after, "name"), by_number(base, "name")
    assert {k: names[k] for k in range(3)} == before
    assert before[0] == "First"
    assert by_number(after, "note")[1] == "look again"
    assert after.documents["note"][3] == "odd"
    assert after.documents["misplaced"][5] == 1
    assert after.documents["group"][7] is None
    assert base.edits[-1].update is None
    colours = after.colours
    assert len(colours) == 4
    assert len({tuple(one) for one in colours}) == 4


def test_the_event_is_a_new_group_and_the_update_says_so(base, after):
    assert after.documents["group"][-12:] == [3] * 12
    assert by_number(after, "size_before") == {**by_number(base, "size"), 3: 0}
    said = updated(after).render()
    assert said.startswith("This run brings run up to date: 42 documents were added to 121.")
    assert "alarm for: new group" in said
    assert "0 of 120 documents of before changed group" in said
    assert "Words that are new" not in said  # columns are no words


def test_the_rows_are_those_of_before_and_the_new_ones(base, after, drawn):
    rows = after.matrix()
    assert rows.dtype == np.float32
    assert_allclose(rows[:120], base.matrix(), rtol=0)
    assert_allclose(rows[120:], drawn[1].astype(np.float32), rtol=0)
    # The same as a fit from the groups of before, by hand.
    start = np.array([one for one in after.documents["group"] if one is not None])
    mixture = sm.VMFMixture(4, init=start, random_state=0, n_threads=1).fit(rows)
    assert_allclose(after.mixture.prototypes_, mixture.prototypes_, atol=1e-4)


def test_a_file_that_has_grown_adds_its_new_rows(base, after, drawn, tmp_path):
    old = np.insert(drawn[0], 7, 0.0, axis=0).astype(np.float32)
    np.save(tmp_path / "all.npy", np.vstack([old, drawn[1].astype(np.float32)]))
    told = Told()
    found = base.update(tmp_path / "all.npy", tmp_path / "run", listener=told)
    assert "121 documents left out that the run has already." in told.told
    assert found.documents["group"] == after.documents["group"]
    with pytest.raises(ReadError, match="all of these documents are in the run already"):
        found.update(tmp_path / "all.npy", tmp_path / "again", listener=Told())


def test_the_command_tells_how_and_does_it(base, news, after, tmp_path):
    out, _ = run("assign", base.folder, news, "-o", tmp_path / "new.csv")
    assert f"spheremix update {base.folder} NEW\n" in out
    out, _ = run("update", base.folder, news, "-o", tmp_path / "run", "--threads", 1)
    assert "42 documents were added to 121" in " ".join(out.split())
    assert sm.load_run(tmp_path / "run").documents["group"] == after.documents["group"]
    line = refusal("update", base.folder, news, "--id", "name", "-o", tmp_path / "none")
    assert line.endswith("new.npy: is a matrix: it has no columns for --id: leave out --id.")
    table = write_lines(tmp_path / "new.jsonl", texts(3))
    line = refusal("update", base.folder, table, "--text", "body", "-o", tmp_path / "none")
    assert "new.jsonl: " in line
    assert "is a run on a matrix: give one of 20 columns" in line


def test_what_cannot_be_added_is_refused_in_one_line(base, news, tmp_path):
    out = tmp_path / "none"
    with pytest.raises(ReadError, match="3 columns, not the 20 of the run"):
        base.update(Matrix(np.eye(3), None, "few.npy", "", [], ""), out)
    with pytest.raises(ReadError, match="every row is empty"):
        base.update(Matrix(np.zeros((2, D)), None, "empty.npy", "", [], ""), out)
    with pytest.raises(ReadError, match=r"row 2 \(counted from 1\) has NaN"):
        base.update(Matrix(np.array([[1.0] * D, [np.nan] * D]), None, "", "", [], ""), out)
    with pytest.raises(sm.RunError, match="is a run on a matrix: give one of 20 columns"):
        base.update(["a boat"], out)
    with pytest.raises(sm.RunError, match=r"a run on rows alone: leave out texts\."):
        base.update(news, out, texts=["a boat"] * 42)
    with pytest.raises(ReadError, match="there is no such file"):
        base.update(tmp_path / "nothing.npy", out)
    saved = sm.save_run(tmp_path / "saved", sm.VMFMixture(2).fit(np.eye(4)), X=np.eye(4))
    with pytest.raises(sm.RunError, match="was not made by spheremix explore and cannot"):
        update_run(saved, np.eye(4), out)
    assert not out.exists()


# Embeddings with documents beside them


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    """A run on embeddings with their texts beside."""
    place = tmp_path_factory.mktemp("beside")
    source = write_lines(place / "docs.jsonl", texts(90))
    rows = np.eye(3, 12)[np.arange(90) % 3] + 0.1 * np.random.default_rng(0).normal(size=(90, 12))
    np.save(place / "E.npy", rows)
    return explore(
        place / "E.npy", place / "run", texts=source, lemmatizer=None, meaning_only=True
    )[0]


def test_documents_of_new_rows_come_with_them(beside, tmp_path):
    source = write_lines(tmp_path / "new.jsonl", [*quiet(), *event()])
    groups = np.append(np.arange(24) % 3, [3] * 12)
    rows = np.eye(4, 12)[groups] + 0.1 * np.random.default_rng(1).normal(size=(36, 12))
    np.save(tmp_path / "new.npy", rows)
    out, _ = run("assign", beside.folder, tmp_path / "new.npy", "-o", tmp_path / "new.csv")
    assert f"spheremix update {beside.folder} NEW, and its documents with the option texts\n" in out
    found = beside.update(tmp_path / "new.npy", tmp_path / "run", texts=source, listener=Told())
    assert found.documents["group"][:90] == beside.documents["group"]
    assert found.documents["id"][90:92] == ["new doc 0", "new doc 1"]
    assert set(found.documents["group"][-12:]) == {3}
    assert found.corpus().labels["topic"][-1] == ("law",)
    assert found.counts()[0].shape[0] == 126  # words are counted again
    assert {"election", "party"} & set(found.contrast()[3])
    # A document that is there already is left out with its row.
    both = Corpus([*beside.corpus().texts[:2], "a new boat"], [*beside.corpus().ids[:2], "another"])
    matrix = Matrix(rows[:3], None, "", "", [], "").beside(both)
    more = beside.update(matrix, tmp_path / "more", listener=Told())
    assert more.documents["id"][90:] == ["another"]
    assert_allclose(more.matrix()[90:], rows[2:3])


def test_documents_that_are_missing_or_too_many_are_refused(beside, tmp_path):
    rows = Matrix(np.eye(3, 12), None, "three.npy", "", [], "")
    with pytest.raises(sm.RunError, match="run has a document for each row: give the documents of"):
        beside.update(rows, tmp_path / "none")
    with pytest.raises(ReadError, match="one document for each row is needed"):
        beside.update(rows, tmp_path / "none", texts=["a boat"])
    assert not (tmp_path / "none").exists()


# Counts with names of columns


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """A run on counts, and what makes such counts of texts."""
    place = tmp_path_factory.mktemp("counted")
    words = sm.text.TextVectorizer(lemmatizer="none", weighting="counts")
    X = words.fit_transform([one["text"] for one in texts(90)])
    sparse.save_npz(place / "X.npz", sparse.csr_array(X))
    (place / "vocabulary.txt").write_text("\n".join(words.vocabulary_) + "\n", encoding="utf-8")
    return explore(place / "X.npz", place / "run", **ROWS)[0], words


def new_counts(words):
    return sparse.csr_array(words.transform([one["text"] for one in quiet()]))


def test_columns_are_found_by_their_names(counted, tmp_path):
    base, words = counted
    X = new_counts(words)
    X.sort_indices()
    same = base.update(Matrix(X, None, "", "", [], ""), tmp_path / "same", listener=Told())
    order = np.random.default_rng(0).permutation(X.shape[1])
    names = [words.vocabulary_[j] for j in order]
    more = sparse.hstack([sparse.csr_array(np.ones((24, 1))), X[:, order]], format="csr")
    more.sort_indices()  # as files are read
    told = Told()
    mixed = Matrix(more, ["unknown", *names], "mixed", "", [], "")
    other = base.update(mixed, tmp_path / "other", listener=told)
    assert "1 column left out that the run does not have." in told.told
    assert other.documents["group"] == same.documents["group"]
    assert other.feature_names == base.feature_names
    assert (other.matrix() != same.matrix()).nnz == 0
    assert other.matrix().has_sorted_indices
    assert base.assign(mixed)["group"] == base.assign(Matrix(X, None, "", "", [], ""))["group"]
    few = Matrix(X[:, 1:], words.vocabulary_[1:], "few", "", [], "")
    first = words.vocabulary_[0]
    with pytest.raises(ReadError, match=f"few: the run has columns that are missing.*{first}"):
        base.update(few, tmp_path / "none")
    more = sparse.hstack([X, X[:, :1]], format="csr")
    twice = Matrix(more, [*words.vocabulary_, first], "twice", "", [], "")
    with pytest.raises(ReadError, match="twice: names of columns are repeated"):
        base.assign(twice)


def test_words_that_an_edit_dropped_stay_out(counted, tmp_path):
    base, words = counted
    copy = Matrix(base.matrix(), base.feature_names, "", "", [], "")
    copy = explore(copy, tmp_path / "base", **ROWS)[0]
    dropped = copy.edit({"drop_words": ["boat", "star"]}, listener=Told())
    found = dropped.update(
        Matrix(new_counts(words), None, "", "", [], ""), tmp_path / "run", listener=Told()
    )
    assert found.feature_names == dropped.feature_names
    assert "boat" not in found.feature_names
    assert found.matrix().shape == (114, len(base.feature_names) - 2)
    agree = np.mean(np.array(found.documents["group"][:90]) == dropped.documents["group"])
    assert agree > 0.95


def test_a_run_on_texts_takes_no_rows(tmp_path):
    source = write_lines(tmp_path / "docs.jsonl", texts(90))
    base = explore(read_documents(source), tmp_path / "run")[0]
    with pytest.raises(sm.RunError, match="is a run on texts: give documents, not a matrix"):
        base.update(Matrix(np.eye(3), None, "m.npy", "", [], ""), tmp_path / "none")
    np.save(tmp_path / "m.npy", np.eye(3))
    with pytest.raises(sm.RunError, match="is a run on texts: give documents, not a matrix"):
        base.update(tmp_path / "m.npy", tmp_path / "none")
    with pytest.raises(ParameterError, match="texts are beside the rows of a matrix"):
        base.update(["a boat"], tmp_path / "none", texts=["a boat"])
