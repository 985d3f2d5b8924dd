"""Files and folders to documents: every format gives the same."""

from __future__ import annotations

import gzip
import hashlib
import json
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from readers_common import error_of, write, write_csv, write_json, write_parquet

from spheremix.text import Corpus, ReadError, read_documents, read_matrix

TEXTS = ["One, two.\nThree!", "שלום עולם 🙂", '"quoted"; and | more', ""]
ROWS = [
    {"id": f"d{i}", "text": text, "date": f"2020-0{i + 1}-15", "label": "a;b" if i else "c"}
    for i, text in enumerate(TEXTS)
]
DATES = [f"2020-0{i}-15" for i in range(1, 5)]
LABELS = [("c",), ("a", "b"), ("a", "b"), ("a", "b")]


class TestFormats:
    @pytest.mark.parametrize(
        "name",
        [
            *("a.csv", "a.csv.gz", "A.CSV", "a.tsv", "a.tsv.gz"),
            *("a.jsonl", "a.jsonl.gz", "a.ndjson", "a.json", "list.json", "a.parquet"),
        ],
    )
    def test_every_format_gives_the_same(self, tmp_path, name):
        path = tmp_path / name
        if "csv" in name.lower():
            write_csv(path, ROWS)
        elif "tsv" in name:
            write_csv(path, ROWS, "\t")
        elif name == "list.json":
            write(path, json.dumps(ROWS))
        elif name == "a.parquet":
            write_parquet(path, {key: [row[key] for row in ROWS] for key in ROWS[0]})
        else:
            write_json(path, ROWS)
        corpus = read_documents(path)
        assert corpus.texts == TEXTS
        assert corpus.ids == ["d0", "d1", "d2", "d3"]
        assert corpus.dates == DATES
        assert corpus.labels == {"label": LABELS}
        assert corpus.checksum == hashlib.sha256(path.read_bytes()).hexdigest()
        assert corpus.source == str(path)
        assert "Column 'text' is read as the text (guessed)." in corpus.notes
        assert "1 document of 4 without text." in corpus.notes
        assert len(corpus) == 4

    def test_a_packed_file_without_the_name(self, tmp_path):
        path = tmp_path / "a.jsonl"
        path.write_bytes(gzip.compress(b'{"text": "hello"}\n'))
        assert read_documents(path).texts == ["hello"]

    def test_semicolons(self, tmp_path):
        corpus = read_documents(write_csv(tmp_path / "a.csv", ROWS, ";"))
        assert corpus.texts == TEXTS
        assert corpus.format == "CSV with ';'"

    def test_a_mark_before_utf8_and_windows_lines(self, tmp_path):
        path = write(tmp_path / "a.csv", b"\xef\xbb\xbftext,year\r\nhello,2001\r\n\r\nyou,2002\r\n")
        corpus = read_documents(path)
        assert corpus.texts == ["hello", "you"]
        assert corpus.dates == ["2001", "2002"]
        assert corpus.ids == ["1", "2"]

    def test_arrow_types(self, tmp_path):
        arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        moments = np.array(["2001-02-03T04:05:06.000000007", "NaT"], dtype="M8[ns]")
        path = write_parquet(
            tmp_path / "a.parquet",
            {
                "body": arrow.array(["x", None]).dictionary_encode(),
                "when": arrow.array(moments),
                "day": arrow.array([1, 2], arrow.date64()),
                "id": [7, 8],
                "topics": [["a", "b"], []],
            },
        )
        corpus = read_documents(path, date="when")
        assert corpus.texts == ["x", ""]
        assert corpus.ids == ["7", "8"]
        assert corpus.dates == ["2001-02-03", None]
        assert corpus.labels == {"topics": [("a", "b"), ()]}
        assert corpus.metadata["when"] == ["2001-02-03 04:05:06.000000007", None]
        assert read_documents(path, date="day").dates == ["1970-01-01"] * 2

    def test_without_pyarrow(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        message = error_of(write(tmp_path / "a.parquet", b"PAR1"))
        assert message.endswith(
            "Parquet is read with the package pyarrow: install it with pip install pyarrow."
        )

    def test_documents_beside_the_rows(self, tmp_path):
        np.save(tmp_path / "e.npy", np.ones((2, 3)))
        matrix = read_matrix(tmp_path / "e.npy")
        assert matrix.documents is None
        corpus = Corpus(["a", "b"], ["1", "2"], source="docs.csv", notes=["Said."])
        found = matrix.beside(corpus)
        assert found.documents is corpus
        assert found.notes == [*matrix.notes, "Said."]
        assert found.checksum == matrix.checksum
        with pytest.raises(
            ReadError, match=r"e\.npy has 2 rows and docs\.csv 1 document: one docu"
        ):
            matrix.beside(corpus.take([0]))


class TestFolder:
    def test_sub_folders_are_labels(self, tmp_path):
        for name, text in [("b/2.txt", "two"), ("a/1.txt.gz", "one"), ("a/é.md", "été")]:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            write(tmp_path / name, text)
        write(tmp_path / "a" / "picture.png", b"\xff\xfe")
        write(tmp_path / ".hidden.txt", "no")
        corpus = read_documents(tmp_path)
        assert corpus.ids == ["a/1.txt.gz", "a/é.md", "b/2.txt"]
        assert corpus.texts == ["one", "été", "two"]
        assert corpus.labels == {"folder": [("a",), ("a",), ("b",)]}
        assert corpus.titles == ["1", "é", "2"]
        assert any("2 other files" in note for note in corpus.notes)
        assert read_documents(tmp_path, label=False).labels == {}
        before = corpus.checksum
        assert read_documents(tmp_path).checksum == before
        write(tmp_path / "b" / "2.txt", "three")
        assert read_documents(tmp_path).checksum != before

    def test_names_without_suffix(self, tmp_path):
        for name in ("51060", "51119"):
            write(tmp_path / name, name)
        corpus = read_documents(tmp_path)
        assert corpus.texts == ["51060", "51119"]
        assert corpus.labels == {}
        write(tmp_path / "index.csv", "id\n51060\n51119\n")
        corpus = read_documents(tmp_path)
        assert corpus.ids == ["51060", "51119"]
        assert "1 other file left out: hidden, or not .txt, .text or .md." in corpus.notes

    @pytest.mark.parametrize(
        ("names", "said"),
        [
            (["docs.jsonl.gz"], "docs.jsonl.gz: name that file"),
            (["docs.CSV", "LICENSE"], "docs.CSV: name that file"),
            (["E.npy", "paper.pdf"], "E.npy and 1 more: name that file"),
            (["a/1.json", "b/2.json"], "a/1.json and 1 more: name one of them, or put their"),
            (["a.pdf"], "a.pdf: turn such files into plain text (.txt) first"),
            (["a.html", "b.htm", "c.docx"], "a.html and 2 more: turn such files into plain"),
            (["all.tar.gz"], "all.tar.gz: unpack it first"),
            (["docs.xlsx"], "docs.xlsx: name that file"),
            (["docs.ods"], "docs.ods: save it as .xlsx or CSV, and name that"),
        ],
    )
    def test_files_that_are_no_texts(self, tmp_path, names, said):
        for name in names:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text("text\nhello\n", encoding="ascii")
        assert f": no .txt, .text or .md in it; there is {said}" in error_of(tmp_path)

    def test_one_file_and_many(self, tmp_path):
        write(tmp_path / "a.txt", "one")
        [note] = read_documents(tmp_path).notes
        assert note == "The one document is the file of the folder, its id is its path."
        write(tmp_path / "b.txt", "two")
        [note] = read_documents(tmp_path).notes
        assert note == "Documents are the 2 files of the folder, ids are their paths."

    def test_repeated_texts_are_counted(self, tmp_path):
        texts = ["one", "two", "one", " ", " ", "", "one"]
        rows = [{"text": text} for text in texts]
        said = read_documents(write_csv(tmp_path / "a.csv", rows)).notes
        assert (
            "2 documents of 7 repeat the text of another one, for example '3' repeats '1'." in said
        )
        said = read_documents(write_json(tmp_path / "a.jsonl", rows[:3])).notes
        assert (
            "1 document of 3 repeats the text of another one, for example '3' repeats '1'." in said
        )
        said = read_documents(write_json(tmp_path / "a.jsonl", rows[:2])).notes
        assert not any("repeat" in note for note in said)
        for name in ("b.txt", "c.txt"):
            write(tmp_path / name, "one")
        said = read_documents(tmp_path).notes
        assert any(
            note.endswith(" of another one, for example 'c.txt' repeats 'b.txt'.") for note in said
        )

    def test_trouble_names_the_file(self, tmp_path):
        assert "there are no files in this folder" in error_of(tmp_path)
        write(tmp_path / "a.txt", b"first\nsecond \x81")
        with pytest.raises(ReadError, match=r"a\.txt: line 2: byte 0x81 at offset 13 is not UTF-8"):
            read_documents(tmp_path)
        (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"x" * 99)[:-9])
        (tmp_path / "a.txt").unlink()
        with pytest.raises(ReadError, match=r"a\.txt\.gz: damaged or cut gzip file"):
            read_documents(tmp_path)
        assert "a folder has no columns, and 'body' was asked for: leave out text." in error_of(
            tmp_path, text="body"
        )


# Any text a file can hold: all but surrogates; NUL becomes a space.
ANY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(st.lists(ANY, min_size=1, max_size=5))
def test_texts_come_back(tmp_path_factory, texts):
    folder = tmp_path_factory.mktemp("any")
    rows = [{"text": text, "id": str(i)} for i, text in enumerate(texts)]
    assert read_documents(write_json(folder / "a.jsonl", rows)).texts == texts
    assert read_documents(write_csv(folder / "a.csv", rows)).texts == texts


class TestCorpus:
    def test_said_in_one_line(self):
        corpus = Corpus(["a" * 500, "b"], ["1", "2"], source="docs.csv")
        assert repr(corpus) == "Corpus(2 documents, from docs.csv)"
        labelled = Corpus(["a"], ["1"], labels={"of": [("x",)]}, dates=[None])
        assert repr(labelled) == "Corpus(1 document, with dates, with labels)"


class TestSeveralFiles:
    def test_they_are_one_table(self, tmp_path):
        first, second, whole = (tmp_path / f"{name}.csv" for name in ("a", "b", "whole"))
        write_csv(first, ROWS[:2])
        write_csv(second, ROWS[2:])
        write_csv(whole, ROWS)
        found, expected = read_documents([str(first), second]), read_documents(whole)
        assert (found.texts, found.ids, found.labels) == (TEXTS, expected.ids, expected.labels)
        assert found.dates == DATES
        assert found.source == f"{first} and 1 other file"
        assert found.checksum != read_documents([second, first]).checksum
        write_parquet(whole.with_suffix(".parquet"), {key: [ROWS[0][key]] for key in ROWS[0]})
        both = read_documents([second, whole.with_suffix(".parquet")])
        assert (both.ids, both.format) == (["d2", "d3", "d0"], "CSV, Parquet")

    def test_other_columns_are_refused_with_their_names(self, tmp_path):
        first, second = tmp_path / "a.csv", tmp_path / "b.csv"
        write_csv(first, ROWS)
        write_csv(second, [{"id": "x", "text": "hello", "date": "2020-01-01"}])
        with pytest.raises(ReadError, match=r"b\.csv: it has no column 'label', unlike .*a\.csv"):
            read_documents([first, second])
        with pytest.raises(ReadError, match=r"a\.csv: it also has the column 'label'"):
            read_documents([second, first])

    def test_an_id_that_is_twice_is_not_used(self, tmp_path):
        first, second = tmp_path / "a.csv", tmp_path / "b.csv"
        write_csv(first, ROWS)
        write_csv(second, ROWS)
        found = read_documents([first, second])
        assert len(found) == len(set(found.ids)) == 2 * len(ROWS)
        with pytest.raises(ReadError, match="record 5"):
            read_documents([first, second], id="id")

    def test_a_name_that_is_no_file_says_so(self, tmp_path):
        write_csv(tmp_path / "a.csv", ROWS)
        with pytest.raises(ReadError, match=r"^nowhere\.csv: there is no such file"):
            read_documents([str(tmp_path / "a.csv"), "nowhere.csv"])
