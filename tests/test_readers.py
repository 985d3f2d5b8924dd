"""Files to documents and matrices: every format, every guess, every kind of bad file."""

from __future__ import annotations

import contextlib
import csv
import gzip
import hashlib
import json
import os
import pickle
import sys
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import io, sparse

from spheremix.text import Corpus, ReadError, read_documents, read_matrix
from spheremix.text.columns import parse_date, parse_labels
from spheremix.text.corpus import Cleaning

TEXTS = ["One, two.\nThree!", "שלום עולם 🙂", '"quoted"; and | more', ""]
ROWS = [
    {"id": f"d{i}", "text": text, "date": f"2020-0{i + 1}-15", "label": "a;b" if i else "c"}
    for i, text in enumerate(TEXTS)
]
DATES = [date(2020, i, 15) for i in range(1, 5)]
LABELS = [("c",), ("a", "b"), ("a", "b"), ("a", "b")]


def write(path, content):
    """Write text or bytes, gzipped where the name says so."""
    content = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def write_csv(path, rows, delimiter=","):
    with path.with_name("plain").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return write(path, path.with_name("plain").read_bytes())


def write_json(path, rows):
    return write(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def write_parquet(path, table):
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table(table), path)
    return path


def error_of(path, **columns):
    """Give the message of a refusal, which is one line and begins with the file."""
    with pytest.raises(ReadError) as caught:
        read_documents(path, **columns)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


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
        assert corpus.labels == LABELS
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
        assert corpus.dates == [date(2001, 1, 1), date(2002, 1, 1)]
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
        assert corpus.dates == [date(2001, 2, 3), None]
        assert corpus.labels == [("a", "b"), ()]
        assert read_documents(path, date="day").dates == [date(1970, 1, 1)] * 2

    def test_without_pyarrow(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        message = error_of(write(tmp_path / "a.parquet", b"PAR1"))
        assert 'pip install "spheremix[explore]"' in message

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

    def test_real_files(self, data_folder):
        corpus = read_documents(data_folder / "bbc_news" / "docs.jsonl.gz")
        assert len(corpus) == 2225
        assert corpus.dates is None
        assert set(corpus.labels) == {
            (name,) for name in ("business", "entertainment", "politics", "sport", "tech")
        }
        corpus = read_documents(data_folder / "sec8k_stanford" / "AF_only.jsonl.gz")
        assert len(corpus) == 252
        assert corpus.labels[-1] == ("5.07", "8.01", "9.01")
        assert corpus.dates[-1] == date(2013, 5, 16)


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
        assert corpus.labels == [("a",), ("a",), ("b",)]
        assert any("2 other files" in note for note in corpus.notes)
        assert read_documents(tmp_path, label=False).labels is None
        before = corpus.checksum
        assert read_documents(tmp_path).checksum == before
        write(tmp_path / "b" / "2.txt", "three")
        assert read_documents(tmp_path).checksum != before

    def test_names_without_suffix(self, tmp_path):
        for name in ("51060", "51119"):
            write(tmp_path / name, name)
        corpus = read_documents(tmp_path)
        assert corpus.texts == ["51060", "51119"]
        assert corpus.labels is None

    def test_trouble_names_the_file(self, tmp_path):
        assert "there are no files in this folder" in error_of(tmp_path)
        write(tmp_path / "a.txt", b"first\nsecond \xff")
        with pytest.raises(ReadError, match=r"a\.txt: line 2: byte 0xff at offset 13 is not UTF-8"):
            read_documents(tmp_path)
        (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"x" * 99)[:-9])
        (tmp_path / "a.txt").unlink()
        with pytest.raises(ReadError, match=r"a\.txt\.gz: damaged or cut gzip file"):
            read_documents(tmp_path)
        assert "a folder has no columns: leave out text='body'" in error_of(tmp_path, text="body")


class TestColumns:
    @pytest.mark.parametrize(
        ("header", "part", "column"),
        [
            ("Body", "texts", 0),
            ("FULL text", "texts", 0),
            ("abstract", "texts", 0),
            ("x", "texts", 0),  # much longer than the others
        ],
    )
    def test_texts_are_found(self, tmp_path, header, part, column):
        rows = [{header: "a rather long text, " * 9, "short": "yes", "n": "3"}]
        corpus = read_documents(write_json(tmp_path / "a.jsonl", rows))
        assert getattr(corpus, part) == [list(rows[0].values())[column]]
        assert f"Column {header!r} is read as the text (guessed)." in corpus.notes

    def test_named_columns(self, tmp_path):
        rows = [{"text": "no", "y": "yes", "id": 1, "k": "u", "year": 1999, "t": "2001", "z": "a"}]
        path = write_json(tmp_path / "a.jsonl", rows)
        corpus = read_documents(path, text="y", id="k", date="t", label="z")
        assert (corpus.texts, corpus.ids, corpus.labels) == (["yes"], ["u"], [("a",)])
        assert corpus.dates == [date(2001, 1, 1)]
        assert corpus.notes == [
            "Column 'y' is read as the text.",
            "Column 'k' is read as the id.",
            "Column 't' is read as the date.",
            "Column 'z' is read as the label.",
        ]
        bare = read_documents(path, id=False, date=False, label=False)
        assert (bare.ids, bare.dates, bare.labels) == (["1"], None, None)
        assert "Documents have no ids: they are numbered from 1." in bare.notes

    def test_a_column_has_one_part(self, tmp_path):
        rows = [{"text": "a", "body": "b"}]
        corpus = read_documents(write_json(tmp_path / "a.jsonl", rows), label="text")
        assert (corpus.texts, corpus.labels) == (["b"], [("a",)])

    def test_several_labels_are_preferred(self, tmp_path):
        rows = [{"text": "a", "label": "x", "labels": ["x", "y", "x", None]}]
        corpus = read_documents(write_json(tmp_path / "a.jsonl", rows))
        assert corpus.labels == [("x", "y")]

    def test_columns_that_some_lines_lack(self, tmp_path):
        rows = [{"text": "a"}] * 200 + [{"text": None, "label": "late"}, {"label": "x"}]
        corpus = read_documents(write_json(tmp_path / "a.jsonl", rows), label="label")
        assert corpus.texts[-3:] == ["a", "", ""]
        assert corpus.labels[-3:] == [(), ("late",), ("x",)]
        message = error_of(tmp_path / "a.jsonl", label="lable")  # codespell:ignore
        assert (
            message == ": there is no column 'lable'; there are 'text', 'label'."
        )  # codespell:ignore

    def test_a_wrong_guess_of_dates_is_dropped_and_said(self, tmp_path):
        rows = [{"text": "a", "time": "2001-01-01"}, {"text": "b", "time": "noon"}]
        path = write_json(tmp_path / "a.jsonl", rows)
        corpus = read_documents(path)
        assert corpus.dates is None
        assert any("'time' is not used: line 2: 'noon' is not a date" in n for n in corpus.notes)
        assert ": line 2: column 'time': 'noon' is not a date: write" in error_of(path, date="time")

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            ("2013-06-07", date(2013, 6, 7)),
            ("2013/6/7", date(2013, 6, 7)),
            ("20130607", date(2013, 6, 7)),
            (20130607, date(2013, 6, 7)),
            ("2013-06-07T23:59:59Z", date(2013, 6, 7)),
            ("2013-06-07 10:00:00.123+02:00", date(2013, 6, 7)),
            (" 2013-06 ", date(2013, 6, 1)),
            ("2013", date(2013, 1, 1)),
            (2013, date(2013, 1, 1)),
            ("2013.0", date(2013, 1, 1)),
            *((missing, None) for missing in (None, "", "NA", "NaT", float("nan"))),
        ],
    )
    def test_dates(self, value, expected):
        assert parse_date(value, Cleaning()) == expected

    @pytest.mark.parametrize(
        "value",
        ["07/06/2013", "2013-13-01", "2013-02-30", "0000", "201306", 1371600000, True, [2013], "x"],
    )
    def test_no_dates(self, value):
        with pytest.raises(ValueError, match="is not a date: write YYYY-MM-DD"):
            parse_date(value, Cleaning())

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            ("a", ("a",)),
            ("a; b|c ;", ("a", "b", "c")),
            ('["a;b", 2]', ("a;b", "2")),
            ("[broken]", ("[broken]",)),
            (3, ("3",)),
            ([], ()),
            (None, ()),
        ],
    )
    def test_labels(self, value, expected):
        assert parse_labels(value, Cleaning()) == expected


class TestBadFiles:
    def test_nothing_there(self, tmp_path):
        assert error_of(tmp_path / "no.csv") == ": there is no such file or folder."
        assert error_of(write(tmp_path / "a.csv", "")) == ": the file is empty."
        for content in ("text,id\n", "\n\n", "text\n"):
            assert "there are no documents in it" in error_of(write(tmp_path / "a.csv", content))
        assert "there are no documents in it" in error_of(write(tmp_path / "a.jsonl.gz", "\n \n"))
        assert "there are no documents in it" in error_of(write(tmp_path / "a.json", "[]"))

    def test_one_document(self, tmp_path):
        assert read_documents(write(tmp_path / "a.csv", "text\nhello")).texts == ["hello"]

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("a.docx", "the format '.docx' is not known: use .csv, .tsv"),
            ("a", "the format '' is not known"),
            ("a.parquet.gz", "is not known"),
            ("a.npz", "this is a matrix, not documents: use read_matrix"),
            ("a.txt", "put one file a document into a folder"),
        ],
    )
    def test_formats_that_are_not_read(self, tmp_path, name, message):
        assert message in error_of(write(tmp_path / name, b"something"))

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ('text,id\na,1\n"b\nc",2,3\n', ": line 3: 3 fields where the header has 2: quote"),
            ('text,id\n"a""\n"x,y\n', "broken CSV"),
            ('text,id\na,1\n"b" c,2\n', ": line 3: broken CSV ('"),
            ('text,id\na,1\n"b,2\nc,3\n', ": line 3: broken CSV (unexpected end of data)"),
            ("text,text\na,b\n", ": line 1: two columns are called 'text': rename one."),
            ("u,v\nab,bc\n", ": no column is obviously the text: say which of 'u', 'v' it is"),
            ("text,id\na,1\nb,2\nc,1\n", ": line 4: the id '1' is already that of line 2: give"),
            ("text,id\na,1\nb,\n", ": line 3: column 'id': the id is missing: fill it in"),
            ("text,id\rhello,1\r", "broken CSV (new-line character seen in unquoted field"),
        ],
    )
    def test_csv(self, tmp_path, content, message):
        assert message in error_of(write(tmp_path / "a.csv", content))

    def test_missing_columns_are_listed(self, tmp_path):
        path = write(tmp_path / "a.csv", "text,id\na,1\n")
        assert error_of(path, text="body") == ": there is no column 'body'; there are 'text', 'id'."
        many = {f"c{i}": "x" for i in range(20)}
        message = error_of(write_json(tmp_path / "a.jsonl", [many]), text="text")
        assert message.endswith("'c11' and 8 more.")
        assert "documents without text cannot be read" in error_of(path, text=False)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (
                '{"text": "a"}\n{"text": "b"\n',
                ": line 2: broken JSON (Expecting ',' delimiter at c",
            ),
            ('{"text": "a"}\n\n[1, 2]\n', ": line 3: [1, 2] is not an object"),
            ('{"text": ["a"]}\n', ": line 1: column 'text': the text is a list, where a string"),
            ('{"text": true}\n', "the text is true or false"),
            ('{"text": "a", "id": {}}\n', "the id is an object"),
            ('{"text": "a", "label": {}}\n', "a label is an object"),
            ("[" * 100_000 + "\n", ": line 1: broken JSON ("),
            ('{"text": ' + "1" * 5000 + "}\n", ": line 1: broken JSON ("),
        ],
    )
    def test_json_lines(self, tmp_path, content, message):
        assert message in error_of(write(tmp_path / "a.jsonl", content))

    def test_json_list(self, tmp_path):
        path = write(tmp_path / "a.json", '[{"text": "a"},\n {"text": }]')
        assert ": line 2: broken JSON (Expecting value at column 11)" in error_of(path)
        assert ": object 2: 3 is not an object" in error_of(write(path, '[{"text": "a"}, 3]'))

    @pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.csv", "a.tsv"])
    def test_an_encoding_error_names_the_byte(self, tmp_path, name):
        start = b"text\n" if "sv" in name else b'{"text": "\xc3\xa9"}\n'
        path = write(tmp_path / name, start + b'{"text": "th\xe9 noir"}\n')
        offset = len(start) + 12
        message = error_of(path)
        assert f": line 2: byte 0xe9 at offset {offset} is not UTF-8: save the file as" in message

    def test_a_bad_byte_behind_the_mark(self, tmp_path):
        path = write(tmp_path / "a.csv", b"\xef\xbb\xbfte\xffxt\n")
        assert ": line 1: byte 0xff at offset 5 is not UTF-8" in error_of(path)

    def test_other_encodings(self, tmp_path):
        path = write(tmp_path / "a.csv", "text\nhello\n".encode("utf-16"))
        assert error_of(path) == ": byte 0: the encoding is UTF-16: save it as UTF-8."

    def test_what_cannot_be_written_again_is_replaced_and_said(self, tmp_path):
        for name, content in [
            ("a.csv", 'text,id\n"a\0b",\0x\n'),
            ("a.jsonl", '{"text": "a\0b", "id": "\\u0000x"}\n'),
        ]:
            corpus = read_documents(write(tmp_path / name, content))
            assert corpus.texts == ["a b"]
            assert corpus.ids == ["x"]
            assert corpus.notes[-1] == "2 NUL characters replaced by spaces."
        corpus = read_documents(write(tmp_path / "a.jsonl", '{"text": "\\ud83d \\ud83d\\ude42"}'))
        assert corpus.texts == ["\ufffd 🙂"]
        assert corpus.notes[-1] == "1 lone surrogate replaced by U+FFFD."

    @pytest.mark.parametrize("name", ["a.csv", "a.tsv.gz", "a.jsonl"])
    def test_a_long_line(self, tmp_path, name):
        long = "word " * 2_000_000
        limit = csv.field_size_limit()
        path = tmp_path / name
        if "sv" in name:
            write_csv(path, [{"text": long, "id": "1"}], "\t" if "tsv" in name else ",")
        else:
            write_json(path, [{"text": long, "id": "1"}])
        assert read_documents(path).texts == [long]
        assert csv.field_size_limit() == limit

    def test_damaged_gzip(self, tmp_path):
        path = tmp_path / "a.jsonl.gz"
        packed = gzip.compress(json.dumps({"text": "a" * 999}).encode() * 9)
        for content in (packed[:-12], packed[:30], packed[:20] + b"\xff" * 9 + packed[29:]):
            path.write_bytes(content)
            assert "gzip" in error_of(path)

    def test_damaged_parquet(self, tmp_path):
        path = write_parquet(tmp_path / "a.parquet", {"text": ["some text"] * 50})
        content = path.read_bytes()
        for bad in (b"nothing", content[:-20], b"PAR1" + b"\0" * 50 + content[54:]):
            path.write_bytes(bad)
            error_of(path)

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
    def test_a_file_that_may_not_be_read(self, tmp_path):
        path = write(tmp_path / "a.csv", "text\na\n")
        path.chmod(0)
        assert "cannot be read: Permission denied" in error_of(path)

    def test_errors_travel(self):
        error = ReadError.at("a.csv", "bad\nthing", "line 3")
        assert str(pickle.loads(pickle.dumps(error))) == "a.csv: line 3: bad thing"  # noqa: S301


# Any text a file can hold: all but surrogates; NUL becomes a space.
ANY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(st.lists(ANY, min_size=1, max_size=5))
def test_texts_come_back(tmp_path_factory, texts):
    folder = tmp_path_factory.mktemp("any")
    rows = [{"text": text, "id": str(i)} for i, text in enumerate(texts)]
    assert read_documents(write_json(folder / "a.jsonl", rows)).texts == texts
    assert read_documents(write_csv(folder / "a.csv", rows)).texts == texts


@given(st.binary(max_size=200), st.sampled_from(["a.csv", "a.tsv", "a.jsonl", "a.json", "a.npz"]))
def test_any_bytes_are_read_or_refused(tmp_path_factory, content, name):
    path = tmp_path_factory.mktemp("any") / name
    path.write_bytes(content)
    reader = read_matrix if name == "a.npz" else read_documents
    with contextlib.suppress(ReadError):
        reader(path)


class TestCorpus:
    def test_take(self):
        corpus = Corpus(["a", "b", "c"], ["1", "2", "3"], labels=[("x",), (), ("y", "z")])
        part = corpus.take([2, 0])
        assert (part.texts, part.ids, part.labels) == (["c", "a"], ["3", "1"], [("y", "z"), ("x",)])
        assert part.dates is None

    def test_said_in_one_line(self):
        corpus = Corpus(["a" * 500, "b"], ["1", "2"], source="docs.csv")
        assert repr(corpus) == "Corpus(2 documents, from docs.csv)"
        labelled = Corpus(["a"], ["1"], labels=[("x",)], dates=[None])
        assert repr(labelled) == "Corpus(1 document, with dates, with labels)"

    def test_lists_go_together(self):
        with pytest.raises(ValueError, match="2 labels for 1 texts"):
            Corpus(["a"], ["1"], labels=[(), ()])


class TestMatrices:
    X = sparse.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]))

    @pytest.mark.parametrize("name", ["x.npz", "x.mtx", "x.mtx.gz"])
    def test_sparse(self, tmp_path, name):
        path = tmp_path / name
        if "npz" in name:
            sparse.save_npz(path, self.X.tocsc())
        else:
            io.mmwrite(tmp_path / "x.mtx", self.X)
            write(path, (tmp_path / "x.mtx").read_bytes())
        bare = read_matrix(path)
        assert bare.X.format == "csr"
        np.testing.assert_array_equal(bare.X.toarray(), self.X.toarray())
        assert bare.vocabulary is None
        assert bare.checksum == hashlib.sha256(path.read_bytes()).hexdigest()
        write(tmp_path / "vocabulary.txt", "un\r\ndeux\r\ntrois\r\n")
        found = read_matrix(path)
        assert found.vocabulary == ["un", "deux", "trois"]
        assert found.notes == ["Columns are named by vocabulary.txt (found beside the matrix)."]
        write(tmp_path / "vocabulary.txt", "un\n")
        assert read_matrix(path).vocabulary is None
        assert "has 1 term for 3 columns" in read_matrix(path).notes[0]
        with pytest.raises(ReadError, match=r"1 term for 3 columns of .* one term a line"):
            read_matrix(path, tmp_path / "vocabulary.txt")
        with pytest.raises(ReadError, match=r"words\.txt: there is no such file"):
            read_matrix(path, tmp_path / "words.txt")
        write(tmp_path / "words.txt", "a\na\nb\n")
        assert (
            read_matrix(path, tmp_path / "words.txt").notes[-1] == "1 term repeated in words.txt."
        )

    def test_embeddings(self, tmp_path):
        np.save(tmp_path / "e.npy", np.ones((4, 3), dtype=np.float32))
        write(tmp_path / "vocabulary.txt", "a\nb\nc\n")
        matrix = read_matrix(tmp_path / "e.npy")
        assert isinstance(matrix.X, np.memmap)
        assert matrix.X.dtype == np.float32
        assert matrix.vocabulary is None

    def test_real_files(self, data_folder):
        matrix = read_matrix(data_folder / "classic3" / "X.npz")
        assert matrix.X.shape == (3891, 4303)
        assert matrix.vocabulary[0] == "contribution"
        assert read_matrix(data_folder / "cstr" / "X.npz").X.nnz == 16157
        assert read_matrix(data_folder / "minilm_bbc" / "embeddings.npy").X.shape == (2225, 384)

    @staticmethod
    def refused(path, message):
        with pytest.raises(ReadError, match=message) as caught:
            read_matrix(path)
        assert str(caught.value).startswith(str(path))
        assert "\n" not in str(caught.value)

    def test_bad_arrays(self, tmp_path):
        path = tmp_path / "x.npy"
        self.refused(path, "there is no such file")
        self.refused(write(path, b""), "the file is empty")
        self.refused(write(path, b"nothing"), "damaged, or not such a file")
        sparse.save_npz(tmp_path / "x.npz", self.X)
        self.refused(write(path, (tmp_path / "x.npz").read_bytes()), "damaged, or not such a file")
        np.save(path, np.array([[{}]]), allow_pickle=True)
        self.refused(path, "damaged, or not such a file")
        for bad, message in [
            (np.ones(3), r"the shape \(3,\) is not"),
            (np.ones((0, 3)), r"the shape \(0, 3\) is not"),
            (np.ones((2, 2), dtype=complex), "numbers are needed; the values are complex128"),
            (np.array([["a"]]), "numbers are needed"),
        ]:
            np.save(path, bad)
            self.refused(path, message)
        np.save(path, np.ones((40, 30)))
        path.write_bytes(path.read_bytes()[:-10])
        self.refused(path, "damaged, or not such a file")
        write(path, path.read_bytes().replace(b"(40, 30)", b"(4" + b"0" * 9 + b", 30)"))
        self.refused(path, "damaged, or not such a file")
        self.refused(write(tmp_path / "x.txt", b"1"), "not a matrix: .npz, .mtx")

    @pytest.mark.parametrize(
        ("part", "value", "message"),
        [
            ("indices", [0, 9, 1], "damaged: "),
            ("indices", [0, -1, 1], "damaged: "),
            ("indptr", [0, 7, 3], "damaged"),
            ("indptr", [0, 2], "damaged"),
            ("data", [1.0, np.nan, 2.0], "row 0: the value nan is not finite"),
            ("data", [1.0, 1.0, np.inf], "row 1: the value inf is not finite"),
            ("shape", [2, -3], "damaged"),
            ("shape", [10**12, 10**12], "damaged"),
            ("format", b"xyz", "damaged"),
            ("data", [{}, {}, {}], "damaged"),
        ],
    )
    def test_bad_sparse(self, tmp_path, part, value, message):
        path = tmp_path / "x.npz"
        sparse.save_npz(path, self.X)
        with np.load(path) as file:
            parts = {**file, part: np.array(value)}
        np.savez(path, **parts)
        self.refused(path, message)

    def test_cut_archives(self, tmp_path):
        path = tmp_path / "x.npz"
        sparse.save_npz(path, self.X)
        content = path.read_bytes()
        for end in range(1, len(content), 37):
            path.write_bytes(content[:end])
            self.refused(path, "damaged, or not such a file")

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("nothing", "damaged, or not such a file"),
            ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n3 1 1\n", "damaged"),
            ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n", "damaged|declared"),
            (
                "%%MatrixMarket matrix coordinate real general\n9 9 999999999999\n1 1 1\n",
                "999999999999 entries are declared in a file of",
            ),
            (
                "%%MatrixMarket matrix coordinate real general\n999999999 9 1\n1 1 1\n",
                "a shape of 999999999 x 9 is declared for 1 entries",
            ),
            ("%%MatrixMarket matrix array real general\n9999 9999\n1\n", "entries are declared"),
        ],
    )
    def test_bad_market(self, tmp_path, content, message):
        self.refused(write(tmp_path / "x.mtx", content), message)
