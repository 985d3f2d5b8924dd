"""CSV files as programs and people write them: delimiters, quotes, encodings, and no header."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from readers_common import error_of, write, write_csv, write_workbook

from spheremix.errors import ParameterError, Said
from spheremix.text import read_documents
from spheremix.text.csv_files import has_header
from spheremix.text.files import is_western

TEXTS = ["Tea; or coffee, at 5|6", 'She said "no"', "It's late", "K\u00e4se\nund Brot", "", "ok"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("form", [{}, {"quotechar": "'"}, {"backslash": True}])
def test_what_python_writes_is_read(tmp_path, delimiter, form):
    options = {"quoting": csv.QUOTE_ALL, **form}
    if options.pop("backslash", False):
        options |= {"doublequote": False, "escapechar": "\\"}
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, **options)
    writer.writerows([["n", "text"], *enumerate(TEXTS)])
    corpus = read_documents(write(tmp_path / "a.csv", file.getvalue()))
    assert corpus.texts == TEXTS


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0\r")), min_size=1),
    st.sampled_from(",;\t|"),
)
def test_any_texts_come_back(tmp_path_factory, texts, delimiter):
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerows([["text", "n"], *((text, i) for i, text in enumerate(texts))])
    path = tmp_path_factory.mktemp("any") / "a.csv"
    path.write_text(file.getvalue(), encoding="utf-8", newline="")
    assert read_documents(path).metadata == {"n": [str(i) for i in range(len(texts))]}


class TestExcel:
    def test_the_line_that_names_the_delimiter(self, tmp_path):
        path = write(tmp_path / "a.csv", "sep=;\r\ntext;a,b\r\nhello, you;1,5\r\nx;2\r\n")
        corpus = read_documents(path)
        assert corpus.texts == ["hello, you", "x"]
        assert corpus.metadata == {"a,b": ["1,5", "2"]}
        broken = write(tmp_path / "b.csv", "sep=;\ntext;n\na;1\nb\n")
        assert ": line 4: 1 field where the header has 2" in error_of(broken)

    def test_delimiters_behind_the_last_column(self, tmp_path):
        path = write(tmp_path / "a.csv", "text;n;;\na;1;;\nb;2;;;\nc;3;;x\n")
        assert read_documents(path).metadata == {
            "n": ["1", "2", "3"],
            "column 4": [None, None, "x"],
        }

    @pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
    def test_encodings(self, tmp_path, encoding):
        content = "Antwort;Stadt\r\nDas Caf\u00e9 hei\u00dft \u201eM\u00f6we\u201c;K\u00f6ln\r\n"
        corpus = read_documents(write(tmp_path / "a.csv", content.encode(encoding)))
        assert corpus.texts == ["Das Caf\u00e9 hei\u00dft \u201eM\u00f6we\u201c"]
        said = [note for note in corpus.notes if "not in UTF-8" in note]
        assert len(said) == (encoding != "utf-8-sig")


@pytest.mark.parametrize(
    ("text", "encoding", "western"),
    [
        (
            "Gr\u00fc\u00dfe aus K\u00f6ln, \u201esagt er\u201c \u2013 f\u00fcr 5 \u20ac",
            "cp1252",
            True,
        ),
        ("Gr\u00fc\u00dfe aus K\u00f6ln", "mac-roman", False),
        ("\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440", "cp1251", False),
        ("\u65e5\u672c\u8a9e\u306e\u6587\u7ae0", "shift-jis", False),
        ("Gr\u00fc\u00dfe aus K\u00f6ln und B\u00e4rlin", "utf-8", False),
    ],
)
def test_bytes_of_windows_are_told_from_others(text, encoding, western):
    assert is_western([text.encode(encoding)]) is western


def test_files_of_windows_in_a_folder(tmp_path):
    (tmp_path / "texts").mkdir()
    write(tmp_path / "texts" / "a.txt", "Gr\u00fc\u00dfe".encode("cp1252"))
    write(tmp_path / "texts" / "b.txt", "Gr\u00fc\u00dfe")
    write(tmp_path / "texts" / "c.txt", "Gr\u00fc\u00dfe".encode("utf-16"))
    corpus = read_documents(tmp_path / "texts")
    assert corpus.texts == ["Gr\u00fc\u00dfe"] * 3
    assert "1 of 3 files not in UTF-8, read as Windows-1252: 'a.txt'." in corpus.notes


LONG = "The first of the documents tells much about the sea"


class TestHeaders:
    @pytest.mark.parametrize(
        ("rows", "expected"),
        [
            ([["text"], [LONG]], True),
            ([["1", LONG], ["2", LONG + "s"]], False),
            ([["2021-03-04", LONG], ["2021-03-05", LONG + "s"]], False),
            ([["sport", LONG], ["sport", LONG], ["work", LONG], ["work", LONG]], False),
            ([["section", "answer given"], ["work", LONG], ["sport", LONG]], True),
            ([["number", LONG], ["1", LONG], ["2", "x"]], True),
            ([["n", "What do you like most about your work here?"], ["1", "x"], ["2", "y"]], True),
            ([[LONG], [LONG + "s"], ["Short"]], False),
            ([["u", "v"], ["ab", "bc"]], True),
            ([[LONG, ""]], True),
        ],
    )
    def test_what_looks_like_one(self, rows, expected):
        assert has_header(rows[0], rows[1:]) is expected

    def test_a_file_without_names(self, tmp_path):
        path = write(tmp_path / "a.csv", f"1,{LONG}\n2,Another one that is about fish and ships\n")
        corpus = read_documents(path)
        assert len(corpus) == 2
        assert corpus.metadata == {"column 1": ["1", "2"]}
        (note,) = (note for note in corpus.notes if isinstance(note, Said))
        assert note.message.render({"header": "--header"}.get) == (
            "Line 1 is read as a document, since it does not look like names of columns; these are "
            "called 'column 1', 'column 2' now: if it has the names, say so with --header yes."
        )
        assert len(read_documents(path, header="yes")) == 1
        named = write(tmp_path / "b.csv", "text,n\na,1\n")
        assert read_documents(named, header="no", text="column 1").texts == ["text", "a"]
        with pytest.raises(ParameterError, match="header must be yes or no, got 'x'"):
            read_documents(named, header="x")
        lines = write(tmp_path / "c.jsonl", '{"text": "a"}\n')
        assert "header is for CSV files and workbooks, and this is neither" in error_of(
            lines, header="no"
        )

    def test_a_sheet_without_names(self, tmp_path):
        rows = [[1, LONG], [2, LONG + "s"]]
        corpus = read_documents(write_workbook(tmp_path / "a.xlsx", {"A": rows}))
        assert corpus.texts == [LONG, LONG + "s"]
        assert corpus.metadata == {"column A": [1, 2]}

    def test_a_text_in_each_line(self, tmp_path):
        path = write(tmp_path / "a.csv", 'answer\nTea, coffee, or "water"\nNo; none\n')
        assert read_documents(path).texts == ['Tea, coffee, or "water"', "No; none"]
        quoted = write_csv(tmp_path / "b.csv", [{"text": "a, b"}, {"text": "c"}])
        assert read_documents(quoted).texts == ["a, b", "c"]
