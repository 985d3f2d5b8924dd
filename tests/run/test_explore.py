"""explore_corpus: what the command does, from Python."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from cli_common import run as command
from cli_common import texts, write_lines
from listening import Told
from reuse_common import OPTIONS as RANGE
from scipy import sparse

import spheremix as sm
from spheremix.cli.naming import option_name

OPTIONS = {"k": 2, "starts": 2, "max_steps": 30, "lemmatizer": "none"}
TYPED = ("-k", 2, "--starts", 2, "--max-steps", 30, "--lemmatizer", "none")
ADVICE = (
    "{} groups had been recommended{}. The advice and tables/advice.csv are of a range of "
    "numbers, and one number was given: to have them again, give --k 2:4."
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "docs.jsonl"
    write_lines(path, texts())
    return path


def test_it_writes_the_bytes_of_the_command(corpus, tmp_path):
    made = sm.explore_corpus(corpus, tmp_path / "library", **OPTIONS)
    command("explore", corpus, "-o", tmp_path / "command", *TYPED)
    for path in sorted((tmp_path / "command").rglob("*")):
        if path.is_file():
            twin = tmp_path / "library" / path.relative_to(tmp_path / "command")
            assert twin.read_bytes() == path.read_bytes(), path.name
    assert made.folder == tmp_path / "library"
    assert made.documents.n_rows == len(made.corpus())
    assert set(made.documents["group"]) == {0, 1}
    assert all(isinstance(size, int) for size in made.groups["size"])


def test_several_files_are_one_table_for_python_and_the_command(corpus, tmp_path):
    lines = corpus.read_text(encoding="utf-8").splitlines(keepends=True)
    parts = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for part, own in zip(parts, (lines[:30], lines[30:]), strict=True):
        part.write_text("".join(own), encoding="utf-8")
    made = sm.explore_corpus([str(part) for part in parts], tmp_path / "run", **OPTIONS)
    whole = sm.explore_corpus(corpus, tmp_path / "whole", **OPTIONS)
    assert made.documents["group"] == whole.documents["group"]
    _, said = command("explore", *parts, "-o", tmp_path / "run", *TYPED)
    assert "holds this run already" in said
    assert sm.load_run(tmp_path / "run").corpus().texts == whole.corpus().texts


def test_called_again_it_reads_what_is_there_and_warns_of_nothing(corpus, tmp_path):
    heard = Told()
    sm.explore_corpus(corpus, tmp_path / "run", listener=heard, **OPTIONS)
    assert any("read as the text" in text for text in heard.told)
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "run").rglob("*") if p.is_file()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = sm.explore_corpus(corpus, tmp_path / "run", **OPTIONS)
    assert {p: p.stat().st_mtime_ns for p in before} == before
    assert again.info.n_groups == 2


def test_new_texts_are_assigned_and_the_run_shows_itself(corpus, tmp_path):
    made = sm.explore_corpus(corpus, tmp_path / "run", **OPTIONS)
    first = made.corpus().texts[0]
    found = made.assign([first, "qqq"])
    assert found["group"] == [made.documents["group"][0], None]
    assert found["set_aside"][1]
    shown = made._repr_html_()
    assert made.groups["name"][0] in shown
    assert made.report().content["model"]["n_groups"] == 2


def test_unknown_options_are_refused():
    with pytest.raises(TypeError, match="groups"):
        sm.explore_corpus(["a b", "c d"], groups=3)


def test_words_and_repeated_texts_of_documents(tmp_path):
    fruit = ["red apple", "apple apple pie", "blue sky", "sky", "red apple", "blue sky and sea"]
    made = sm.explore_corpus(
        sm.text.Corpus(fruit, list("abcdef")), tmp_path, k=2, min_count=1, min_df=1, max_df=6,
        lemmatizer="none",
    )  # fmt: skip
    assert made.documents["repeats"] == ["", "", "", "", "a", ""]
    assert made.documents["n_words"] == [2, 2, 2, 1, 2, 3]


def test_other_content_in_memory_is_another_run(tmp_path):
    """Also where it was taken from what was read, and so has the checksum of the file."""
    fruit = ["red apple", "apple pie", "green apple", "blue sky", "sky and sea", "blue sea"]
    made = sm.text.Corpus(fruit, list("abcdef"), checksum="0")
    options = {"k": 2, "min_count": 1, "min_df": 1, "out": tmp_path / "run"}
    sm.explore_corpus(made, **options)
    sm.explore_corpus(sm.text.Corpus(fruit, list("abcdef")), **options)  # the same content
    for other in (made.take([5, 0, 1, 2, 3, 4]), [text.upper() + " x y" for text in fruit]):
        with pytest.raises(sm.RunError, match="of other documents"):
            sm.explore_corpus(other, **options)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_other_rows_in_memory_are_another_run(tmp_path, container):
    rows, _, _ = sm.datasets.make_vmf_mixture(60, 5, 2, kappa=30.0, random_state=0)
    words = list("abcde") if container is sparse.csr_array else None
    matrix = sm.text.Matrix(container(rows), words, "rows", "array", [], "")
    options = {"k": 2, "starts": 1, "criterion": "none", "out": tmp_path / "run"}
    sm.explore_corpus(matrix, **options)
    sm.explore_corpus(matrix, **options)
    with pytest.raises(sm.RunError, match="of other documents"):
        sm.explore_corpus(replace(matrix, X=container(-rows)), **options)


def test_a_run_in_memory_is_that_of_a_folder(corpus, tmp_path):
    made = sm.explore_corpus(corpus, None, **OPTIONS)
    there = sm.explore_corpus(corpus, tmp_path / "run", **OPTIONS)
    assert made.folder is None
    assert (made.documents, made.groups, made.words) == (there.documents, there.groups, there.words)
    assert made.assign(["boat harbour"]) == there.assign(["boat harbour"])
    for work in (made.undo_edits, made.check, lambda: made.edit({"names": {0: "x"}})):
        with pytest.raises(sm.RunError, match=r"no folder: save it with run.save"):
            work()
    saved = sm.load_run(made.save(tmp_path / "saved"))
    assert saved.documents == there.documents
    assert saved.check() == []
    edited = saved.edit({"names": {0: "x"}, "merge": [[0, 1]]})
    assert edited.names() == ["x"]
    assert edited.undo_edits().documents == there.documents


def test_a_run_among_its_documents(tmp_path, monkeypatch):
    """As `cd texts; spheremix explore .`: our own files are no documents."""
    monkeypatch.chdir(tmp_path)
    for one in texts(30):
        (tmp_path / f"{one['id']}.txt").write_text(one["text"])
    command("explore", ".", *TYPED)
    assert "holds this run already" in "".join(command("explore", ".", *TYPED))
    assert sm.load_run("run").info.corpus.n_documents == 30
    _, err = command("explore", ".", *TYPED, "--seed", "1", "-o", "another")
    assert "1 folder of a run left out: 'run'." in err
    assert sm.load_run("another").info.corpus.n_documents == 30


# What other options lose


class Noting(Told):
    """Keeps the notes as the command shows them."""

    def __init__(self):
        super().__init__()
        self.notes = []

    def note(self, message):
        self.notes.append(message.render(option_name))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lost")
    write_lines(folder / "docs.jsonl", texts(40))
    names = "group,name\n0,the first\n"
    (folder / "names.csv").write_text(names, encoding="utf-8")
    return folder


def explored(place, **more):
    heard = Noting()
    options = {**RANGE, "criterion": "none", **more}
    sm.explore_corpus(place / "docs.jsonl", place / "run", listener=heard, **options)
    return heard


def test_what_other_options_lose_is_said(place):
    assert explored(place).notes == []
    names = place / "names.csv"
    assert explored(place, names=names).notes == []
    heard = explored(place)
    assert heard.notes == [
        "The names of names.csv are no longer used: give --names again to keep them."
    ]
    working = ("Fitting", "Drawing the documents again, to see which")
    assert not any(begun.startswith(working) for begun in heard.begun)
    explored(place, names=names)
    advised = sm.load_run(place / "run").advice.recommended
    first, *others = [str(one.n_clusters) for one in advised]
    assert explored(place, k=2).notes == [
        "The names of names.csv are not used: they are of other groups.",
        ADVICE.format(first, f" (and {' and '.join(others)})" if others else ""),
    ]
    heard = explored(place, k="2:5")
    assert heard.notes == []
    assert "Fitting 5 groups, 2 runs each" in heard.begun
