"""Workbooks: the sheet that is meant, its header, values as people wrote them; hostile files."""

from __future__ import annotations

import datetime as dt
import sys
import zipfile

import pytest
from readers_common import error_of, write, write_workbook

from spheremix.text import read_documents

pytest.importorskip("python_calamine", reason="pip install python-calamine")
DAY, MOMENT = dt.datetime(2020, 1, 2), dt.datetime(2020, 1, 2, 3, 4, 5)  # noqa: DTZ001
SURVEY = [
    ["Survey of 2020"],
    [],
    ["answer", "year", "day", "paid", "section", None, "points"],
    ["Slow & late", 2015, DAY, True, "north", None, 1.5],
    ["Very kind", 2016, MOMENT, False, None, "see letter", 4],
    [],
    ["Too dear", "#N/A", None, None, "south", None, 2e20],
]


def test_values_are_those_that_people_see(tmp_path):
    path = write_workbook(tmp_path / "a.xlsx", {"Answers": SURVEY}, ["A1:G1", "E4:E5"])
    corpus = read_documents(path, text="answer", date="day", label=["section", "year"])
    assert corpus.texts == ["Slow & late", "Very kind", "Too dear"]
    assert corpus.dates == ["2020-01-02", "2020-01-02", None]
    assert corpus.labels == {
        "section": [("north",), ("north",), ("south",)],  # merged downwards
        "year": [("2015",), ("2016",), ()],
    }
    assert corpus.metadata == {
        "day": ["2020-01-02", "2020-01-02 03:04:05", None],
        "paid": [True, False, None],
        "column F": [None, "see letter", None],
        "points": [1.5, 4, 2e20],
    }
    assert corpus.format == "Excel"
    assert corpus.notes[0] == "Row 1 is left out: a title above the table."


def test_sheets(tmp_path):
    sheets = {"Notes": [["text"], ["first"]], "Answers": SURVEY[2:], "Empty": []}
    path = write_workbook(tmp_path / "a.xlsx", sheets)
    first = read_documents(path)
    assert first.texts == ["first"]
    assert first.notes[0] == "Sheet 'Notes' is read; there are also 'Answers', 'Empty'."
    named = read_documents(path, sheet="Answers", text="answer")
    assert len(named) == 3
    assert not any("Sheet" in note for note in named.notes)
    assert error_of(path, sheet="Empty") == ": there are no documents in it."
    assert "there is no sheet 'x'; there are 'Notes', 'Answers', 'Empty'." in error_of(
        path, sheet="x"
    )
    assert ": row 4: column 'answer': the text is true" in error_of(
        write_workbook(tmp_path / "b.xlsx", {"A": [["answer", "n"], ["a", 1], [], [True, 2]]}),
        text="answer",
    )
    plain = write(tmp_path / "a.csv", "text\nhello\n")
    assert "sheet is for workbooks (.xlsx), and this is a CSV file" in error_of(plain, sheet="A")


def test_a_table_of_files_may_be_a_workbook(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.txt").write_text(name)
    rows = [["file", "party"], ["a", "red"], ["b", "blue"]]
    table = write_workbook(tmp_path / "about.xlsx", {"A": [["x"]], "B": rows})
    corpus = read_documents(folder, metadata=table, label="party", sheet="B")
    assert corpus.labels == {"party": [("red",), ("blue",)]}
    assert "sheet is for workbooks (.xlsx), and this is a folder" in error_of(folder, sheet="B")


def test_without_the_package(tmp_path, monkeypatch):
    path = write_workbook(tmp_path / "a.xlsx", {"A": SURVEY})
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    assert error_of(path) == (
        ": workbooks are read with the package python-calamine: install it with pip install "
        "python-calamine or save it as CSV."
    )


def test_damaged_and_hostile_workbooks(tmp_path):
    path = write_workbook(tmp_path / "a.xlsx", {"A": SURVEY})
    content = path.read_bytes()
    for end in range(1, len(content), 97):
        path.write_bytes(content[:end])
        assert "damaged, or not such a file" in error_of(path)
    path.write_bytes(content)
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    # A cell so far off that the reader would ask for 500 GB, and end the process.
    for name, said in (
        (b"XFD1048576", "1,048,576 rows and 16,384"),
        (b"&#88;FD1048576", "damaged"),
    ):
        with zipfile.ZipFile(path, "w") as file:
            for one, part in parts.items():
                far = part.replace(b'r="A7"', b'r = "%s"' % name)
                file.writestr(one, far if one == sheet else part)
        assert said in error_of(path)
    far = parts[sheet].replace(b'<row r="7">', b'<row r="1048576">' + b"<c><v>1</v></c>" * 16384)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for one, part in parts.items():
            file.writestr(one, far if one == sheet else part)
    assert "1,048,576 rows and 16,388 columns" in error_of(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(sheet, bytes(2**26 + 1))
    assert "unpacks to more than 200 times its size, which no table does" in error_of(path)
