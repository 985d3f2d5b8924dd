"""New documents and rows: in the columns of a run, and after its own, before anything is fitted."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from cli_common import run as command
from cli_common import texts, write_lines
from edit_common import Told, explore
from numpy.testing import assert_array_equal
from scipy import sparse

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.run.new_documents import in_columns, read_new
from spheremix.run.sentences import updated
from spheremix.run.stages.rows import check_rows, rows_of_matrix
from spheremix.run.update import join, join_documents
from spheremix.text import Corpus, Matrix, ReadError

WORDS = [f"word{j}" for j in range(12)]
ROWS = {"lemmatizer": None}


def rows_of_groups(n, seed):
    """Rows near three directions, with zeros in their columns."""
    rng = np.random.default_rng(seed)
    return np.eye(3, 12)[np.arange(n) % 3] * 9 + rng.integers(0, 2, (n, 12))


def matrix(X, words=None, source=""):
    return Matrix(X, words, source, "", [], "")


def join_rows(run, rows):
    return join(run, rows, Told())


def add(run, new, texts=None, columns=None, told=None):
    """Read what is new, and put it after the documents of a run."""
    told = told or Told()
    return join(run, read_new(run, new, told, {}, columns or {}, texts), told)


def joined(old, new):
    """Put documents after others; return all, those that were added, and how many were known."""
    found, kept = join_documents(old, new, Told())
    return found, found.take(range(len(old), len(found))), len(new) - len(kept)


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """A run on sparse rows whose columns have names, of single precision."""
    X = sparse.csr_array(rows_of_groups(60, 0).astype(np.float32))
    place = tmp_path_factory.mktemp("named") / "run"
    return explore(matrix(X, WORDS), place, **ROWS)[0]


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    """A run on embeddings with their texts beside."""
    place = tmp_path_factory.mktemp("beside")
    source = write_lines(place / "docs.jsonl", texts(60))
    np.save(place / "E.npy", rows_of_groups(60, 0))
    return explore(
        place / "E.npy", place / "run", texts=source, lemmatizer=None, meaning_only=True
    )[0]


def permuted(X):
    """Return rows with the columns in another order, sorted as in a file, and their names."""
    order = np.random.default_rng(1).permutation(12)
    found = sparse.csr_array(X[:, order])
    found.sort_indices()
    return found, [WORDS[j] for j in order]


def test_columns_in_another_order_are_sorted_and_known_rows_are_found(named):
    X = np.vstack([rows_of_groups(60, 0), rows_of_groups(9, 1)])
    told = Told()
    found = join(named, matrix(*permuted(X)), told)
    assert "60 documents left out that the run has already." in told.told
    assert found.fresh.n_documents == 9
    assert found.fresh.X.has_sorted_indices
    assert_array_equal(found.source.X.toarray(), X)
    # Dense rows are the same rows.
    assert join_rows(named, matrix(X, WORDS)).fresh.n_documents == 9
    # Rows in memory need not be sorted, and stay as they are.
    loose = sparse.csr_array(rows_of_groups(9, 1)[:, ::-1])[:, list(range(11, -1, -1))]
    assert not loose.has_sorted_indices
    before = loose.indices.copy()
    taken = in_columns(matrix(loose, WORDS), WORDS, 12)
    assert taken.X.has_sorted_indices
    assert_array_equal(taken.X.toarray(), rows_of_groups(9, 1))
    assert_array_equal(loose.indices, before)


def test_an_update_with_columns_in_another_order_comes_to_its_end(named, tmp_path):
    X, names = permuted(rows_of_groups(9, 1))
    sparse.save_npz(tmp_path / "new.npz", X)
    (tmp_path / "vocabulary.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    found = named.update(tmp_path / "new.npz", tmp_path / "run", listener=Told())
    assert found.matrix().dtype == np.float32
    assert_array_equal(found.matrix()[60:].toarray(), rows_of_groups(9, 1))


def test_rows_in_memory_that_are_not_sorted_can_be_explored(tmp_path):
    X = rows_of_groups(60, 0)
    loose = sparse.csr_array(X[:, ::-1])[:, list(range(11, -1, -1))]
    found = explore(matrix(loose, WORDS), tmp_path / "run", **ROWS)[0]
    assert_array_equal(found.matrix().toarray(), X)
    assert found.matrix().has_sorted_indices


def test_names_beside_a_dense_matrix_are_read(named, tmp_path):
    X, names = permuted(rows_of_groups(9, 1))
    np.save(tmp_path / "new.npy", X.toarray())
    (tmp_path / "vocabulary.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    told = Told()
    found = add(named, tmp_path / "new.npy", told=told)
    assert_array_equal(found.fresh.X.toarray(), rows_of_groups(9, 1))
    assert not any("no names" in one for one in told.told)
    assert (
        named.assign(tmp_path / "new.npy")["group"] == named.assign(rows_of_groups(9, 1))["group"]
    )


def test_names_in_another_file_are_given_to_the_commands(named, beside, tmp_path):
    X, names = permuted(rows_of_groups(9, 1))
    path, words = tmp_path / "new.npz", tmp_path / "words of january.txt"
    sparse.save_npz(path, X)
    words.write_text("\n".join(names) + "\n", encoding="utf-8")
    how = ("--vocabulary", words, "-o")
    command("assign", named.folder, path, *how, tmp_path / "new.csv")
    with (tmp_path / "new.csv").open(encoding="utf-8", newline="") as file:
        found = [int(row["group"]) for row in csv.DictReader(file)]
    assert found == named.assign(rows_of_groups(9, 1))["group"]
    command("update", named.folder, path, *how, tmp_path / "later")
    later = sm.load_run(tmp_path / "later")
    assert_array_equal(later.matrix()[60:].toarray(), rows_of_groups(9, 1))
    told = " ".join(command("assign", beside.folder, path, *how, tmp_path / "beside.csv"))
    assert "The columns of the run have no names" in " ".join(told.split())
    words.write_text("one\ntwo\n", encoding="utf-8")
    told = " ".join(command("update", named.folder, path, *how, tmp_path / "none", code=2))
    assert "2 terms for 12 columns" in " ".join(told.split())
    assert not (tmp_path / "none").exists()


def test_columns_without_names_are_spoken_of(named, beside, tmp_path):
    path = tmp_path / "new.npy"
    np.save(path, rows_of_groups(9, 1))
    note = f"The columns of {path} have no names: they are taken in the order of the run's."
    told = Told()
    add(named, path, told=told)
    assert note in told.told
    out = " ".join(command("assign", named.folder, path, "-o", tmp_path / "new.csv"))
    assert "they are taken in the order of the run's" in " ".join(out.split())
    (tmp_path / "vocabulary.txt").write_text("one\ntwo\n", encoding="utf-8")
    told = Told()
    add(named, path, told=told)
    assert note in told.told
    told = Told()  # embeddings have no names anyway
    add(beside, path, [f"boat {i}" for i in range(9)], told=told)
    assert not any("names" in one for one in told.told)


def test_columns_that_edits_dropped_may_be_missing(named, tmp_path):
    copy = explore(matrix(named.matrix(), WORDS), tmp_path / "base", **ROWS)[0]
    dropped = copy.edit({"drop_words": ["word11", "word4"]}, listener=Told())
    X = rows_of_groups(9, 1)
    places = [j for j in range(12) if j not in {4, 11}]
    expected = X.copy()
    expected[:, [4, 11]] = 0
    for names in ([WORDS[j] for j in places], None):
        for rows in (X[:, places], sparse.csr_array(X[:, places])):
            told = Told()
            found = join(dropped, matrix(rows, names), told)
            assert_array_equal(found.source.X[60:].toarray(), expected)
            assert_array_equal(found.fresh.X.shape, (9, 10))
            assert any("they are zero in the new rows" in one for one in told.told)
    with pytest.raises(ReadError, match="columns that are missing here: 'word0'"):
        join_rows(dropped, matrix(X[:, places[1:]], [WORDS[j] for j in places[1:]]))


def test_arrays_are_rows(named):
    X = rows_of_groups(9, 1)
    expected = named.assign(matrix(X, WORDS))["group"]
    assert named.assign(X)["group"] == expected
    assert named.assign(sparse.csc_matrix(X))["group"] == expected
    assert add(named, sparse.csc_matrix(X)).fresh.n_documents == 9
    assert add(named, X).source.X.dtype == np.float32
    with pytest.raises(ReadError, match=r"The matrix: the shape \(0, 12\) is not that of rows"):
        named.assign(np.empty((0, 12)))
    with pytest.raises(ReadError, match=r"The matrix: the shape \(12,\) is not that of rows"):
        named.assign(X[0])
    with pytest.raises(ReadError, match="The matrix: numbers are needed; the values are complex"):
        named.assign(X * 1j)
    with pytest.raises(ReadError, match="The matrix: 11 names for 12 columns"):
        named.assign(matrix(X, WORDS[1:]))
    with pytest.raises(ReadError, match="The matrix: every row is empty"):
        join_rows(named, matrix(0 * X, WORDS))
    with pytest.raises(ReadError, match=r"The matrix: row 1 \(counted from 1\) has NaN"):
        join_rows(named, matrix(np.full((1, 12), np.nan), WORDS))


def test_rows_are_copied_only_where_some_are_set_aside():
    X = rows_of_groups(9, 1)
    assert rows_of_matrix(matrix(X)).X is X
    X[4] = 0
    assert_array_equal(rows_of_matrix(matrix(X)).kept, [0, 1, 2, 3, 5, 6, 7, 8])


def test_a_clash_of_ids_is_that_of_the_documents(beside):
    clash = Corpus(["another text"], [beside.corpus().ids[0]], source="new.jsonl")
    rows = matrix(rows_of_groups(1, 1), source="new.npy")
    with pytest.raises(ReadError, match=r"^new\.jsonl: the id .* is that of another document"):
        join_rows(beside, rows.beside(clash))
    with pytest.raises(ReadError, match=r"^The new documents: the id"):
        join_rows(beside, rows.beside(replace(clash, source="")))


def test_columns_of_what_is_in_memory_are_refused(beside, tmp_path):
    rows, corpus = matrix(rows_of_groups(1, 1)), Corpus(["a boat"], ["new"])
    for beside_rows in (corpus, ["a boat"]):
        with pytest.raises(ParameterError, match="id is for files alone: leave out id"):
            add(beside, rows, beside_rows, {"id": "name"})
    with pytest.raises(ParameterError, match=r"^The matrix: is a matrix: it has no columns for id"):
        add(beside, rows, None, {"id": "name"})
    on_texts = explore(
        Corpus([one["text"] for one in texts(60)], list(map(str, range(60)))), tmp_path / "run"
    )[0]
    with pytest.raises(ParameterError, match="text is for files alone: leave out text"):
        add(on_texts, ["a boat"], None, {"text": "body"})
    with pytest.raises(ParameterError, match="text is for files alone: leave out text"):
        on_texts.assign(["a boat"], text="body")
    with pytest.raises(sm.RunError, match="is a run on texts: give documents, not a matrix"):
        on_texts.assign(np.eye(3))


def test_no_column_of_ids_can_be_asked_for(beside, tmp_path):
    # The id is that of another document of the run.
    source = write_lines(tmp_path / "new.jsonl", [{"id": "doc 0", "text": "a new boat"}])
    assert "doc 0" in beside.corpus().ids
    new, told = matrix(rows_of_groups(1, 1)), Told()
    found = beside.update(new, tmp_path / "run", texts=source, id=False, listener=told)
    assert found.documents["id"][60:] == ["61"]
    assert "1 document was added to 60." in updated(found).render()


# Documents after those of a run


@pytest.mark.parametrize(
    ("ids", "new", "added"),
    [
        ("12", "ac", "34"),  # ids that count go on counting
        ("12", "abc", "3"),  # a file that has grown adds its new lines
        ("x4", "de", "35"),  # after ids of any kind
    ],
)
def test_ids_that_count_go_on_counting(ids, new, added):
    old = Corpus(["a", "b"], list(ids))
    found, fresh, n_known = joined(old, Corpus.from_texts(list(new)))
    assert (fresh.ids, n_known) == (list(added), len(new) - len(added))
    assert found.texts == ["a", "b", *new[n_known:]]


def test_documents_that_are_there_are_left_out_and_missing_columns_are_empty():
    old = Corpus(["a", "b"], ["x", "y"], titles=["A", "B"], metadata={"n": [1, 2]})
    new = Corpus(["b", "c"], ["y", "z"], dates=["2020", "2021"], labels={"t": [("p",), ("q",)]})
    found, _, n_known = joined(old, new)
    assert found.ids == ["x", "y", "z"]
    assert n_known == 1
    assert found.titles == ["A", "B", ""]
    assert found.dates == [None, None, "2021"]
    assert found.labels == {"t": [(), (), ("q",)]}
    assert found.metadata == {"n": [1, 2, None]}
    assert found.checksum == found.content_checksum()


def test_an_id_with_braces_is_named_as_it_is():
    old, new = Corpus(["a"], ["{x"]), Corpus(["b"], ["{x"])
    with pytest.raises(ReadError, match=r"the id '\{x' is that of another document of the run"):
        joined(old, new)


# Rows that have a direction


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.float32])
@pytest.mark.parametrize("contain", [np.asarray, sparse.csr_array])
def test_the_least_integer_is_not_empty(dtype, contain):
    """Its absolute value overflows: in int8, abs(-128) is -128, which is less than 0."""
    least = -1e30 if dtype == np.float32 else np.iinfo(dtype).min
    X = np.array([[least, 0, 0], [0, 0, 0], [1, 2, 0], [0, least, 1]], dtype=dtype)
    kept, reasons = check_rows(Matrix(contain(X), None, "rows.npy", "embeddings", [], ""))
    assert kept.tolist() == [0, 2, 3]
    assert reasons == {1: "empty row"}
