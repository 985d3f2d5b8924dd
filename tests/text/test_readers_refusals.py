"""Bad files of documents: read as far as they can be, or refused in one line."""

from __future__ import annotations

import codecs
import contextlib
import copy
import csv
import gzip
import json
import os
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from readers_common import error_of, write, write_csv, write_json, write_parquet

from spheremix.errors import Said
from spheremix.text import ReadError, read_documents, read_matrix


class TestBadFiles:
    def test_nothing_there(self, tmp_path):
        assert error_of(tmp_path / "no.csv") == ": there is no such file or folder."
        assert error_of(write(tmp_path / "a.csv", "")) == ": the file is empty."
        for content in ("text,id\n", "\n\n", "text\n"):
            assert "there are no documents in it" in error_of(write(tmp_path / "a.csv", content))
        assert "there are no documents in it" in error_of(write(tmp_path / "a.jsonl.gz", "\n \n"))
        assert "there are no documents in it" in error_of(write(tmp_path / "a.json", "[]"))

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("a.docx", "the format '.docx' is not known: use .csv, .tsv"),
            ("a", "the format '' is not known"),
            ("a.parquet.gz", "is not known"),
            ("a.npz", "this is a matrix, not documents: use read_matrix"),
            ("a.txt", "put one file a document into a folder"),
            ("a.txt", "for a document a line, make it JSON lines or a CSV with the header text."),
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
            ("u,v\nab,bc\n", ": no column is obviously the text; there are 'u', 'v': say which"),
            ("text,id\rhello,1\r", "broken CSV (new-line character seen in unquoted field"),
        ],
    )
    def test_csv(self, tmp_path, content, message):
        assert message in error_of(write(tmp_path / "a.csv", content))

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("text,id\na,1\nb,2\nc,1\n", "line 4: the id '1' is already that of line 2: give"),
            ("text,id\na,1\nb,\n", "line 3: the id is missing: fill it in"),
            ('{"text": "a", "id": {}}\n', "line 1: the id is an object"),
        ],
    )
    def test_ids_are_refused_where_they_are_asked_for_alone(self, tmp_path, content, message):
        path = write(tmp_path / ("a.csv" if content[0] == "t" else "a.jsonl"), content)
        place, _, what = message.partition(": ")
        assert f": {place}: column 'id': {what}" in error_of(path, id="id")
        said = f"Column 'id' is not used as the id: {message}"
        assert any(note.startswith(said) for note in read_documents(path).notes)

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

    @pytest.mark.parametrize(
        ("name", "start"),
        [
            *((name, b'{"text": "\xc3\xa9"}\n') for name in ("a.jsonl", "a.jsonl.gz")),
            *((name, b"text\n") for name in ("a.csv", "a.tsv")),
            ("a.csv", b"\xef\xbb\xbftext\n"),  # behind the mark of UTF-8
        ],
    )
    def test_an_encoding_error_names_the_byte(self, tmp_path, name, start):
        path = write(tmp_path / name, start + b'{"text": "th\x81 noir"}\n')
        offset = len(start) + 12
        message = error_of(path)
        assert f": line 2: byte 0x81 at offset {offset} is not UTF-8: save the file as" in message

    def test_other_encodings(self, tmp_path):
        for code, name in (("UTF-16", "a.jsonl"), ("UTF-32", "a.csv")):
            path = write(tmp_path / name, "text\nhello\n".encode(code))
            assert error_of(path) == f": byte 0: the encoding is {code}: save it as UTF-8."
        cut = write(tmp_path / "a.csv", "text\nhello\n".encode("utf-16")[:-1])
        assert ": damaged text ('utf-16-le' codec can't decode" in error_of(cut)
        big = write(tmp_path / "a.csv", codecs.BOM_UTF32_BE + "text\nhello\n".encode("utf-32-be"))
        assert error_of(big) == ": byte 0: the encoding is UTF-32: save it as UTF-8."

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
        error = ReadError.at("a.csv", "bad\n{what}", "line 3", remedies=("drop {id}",), what="a\nb")
        again = pickle.loads(pickle.dumps(error))  # noqa: S301
        assert str(again) == "a.csv: line 3: bad a b: drop id."
        assert again.message == error.message

    def test_names_of_files_and_columns_are_not_taken_for_parameters(self, tmp_path):
        path = write(tmp_path / "{id}.csv", "text,{date}\na,b\n")
        with pytest.raises(ReadError) as caught:
            read_documents(path, id="{text}")
        assert str(caught.value) == (
            f"{path}: there is no column '{{text}}'; there are 'text', '{{date}}'."
        )

    def test_remedies_are_said_with_the_options_of_a_command(self, tmp_path):
        path = write(tmp_path / "a.csv", "text,id\na,1\nb,1\n")
        with pytest.raises(ReadError) as caught:
            read_documents(path, id="id")
        said = "the id '1' is already that of line 2: give each document its own, name another "
        assert said + "column with id, or use none with id=False." in str(caught.value)
        (note,) = (note for note in read_documents(path).notes if isinstance(note, Said))
        for message in (caught.value.message, note.message, copy.copy(note).message):
            shown = message.render({"id": "--id"}.get)
            assert said + "column with --id, or use none with --id none." in shown


@given(st.binary(max_size=200), st.sampled_from(["a.csv", "a.tsv", "a.jsonl", "a.json", "a.npz"]))
def test_any_bytes_are_read_or_refused(tmp_path_factory, content, name):
    path = tmp_path_factory.mktemp("any") / name
    path.write_bytes(content)
    reader = read_matrix if name == "a.npz" else read_documents
    with contextlib.suppress(ReadError):
        reader(path)
