"""Folders of text files: dates and labels from names, and a table about the files."""

from __future__ import annotations

import unicodedata

import pytest
from readers_common import error_of, write, write_csv, write_json, write_parquet

from spheremix.errors import ParameterError
from spheremix.text import read_documents
from spheremix.text.folders import find_dates


def folder_of(folder, names):
    """Write a text file of each name, and give the folder."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, f"the text of {name}")
    return folder


class TestDates:
    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("2021-03-04.txt", "2021-03-04"),
            ("speech_20210304_b.txt", "2021-03-04"),
            ("a 2021.3.4 b.txt", "2021-03-04"),
            ("2021_03.txt", "2021-03"),
            ("minutes-1790.txt", "1790"),
            ("v12 1999.txt", "1999"),
            ("1918-1939.txt", "1918"),
            ("2021-13-45.txt", "2021"),  # no such day
            ("20211345.txt", None),
            ("12345678901.txt", None),
            ("no date 99.txt", None),
            ("2020/no.txt", None),
        ],
    )
    def test_in_names(self, name, expected):
        assert find_dates(None, [name, "2000.txt"], "name")[0] == [expected, "2000"]

    def test_in_folders(self):
        names = ["2021/03/a.txt", "x/2020-05-06/b.txt", "1999/c.txt", "d 2001.txt"]
        found, notes = find_dates(None, names, "folder")
        assert found == ["2021-03", "2020-05-06", "1999", None]
        assert notes == [
            "Dates are in the folders: 1 year, 1 month, 1 day, as 1999 of '1999/c.txt'.",
            "1 file of 4 without date, as 'd 2001.txt'.",
        ]

    @pytest.mark.parametrize(
        ("form", "name", "expected"),
        [
            ("%d.%m.%Y", "talk 04.03.2021.txt", "2021-03-04"),
            ("%d%m%Y", "04032021.txt", "2021-03-04"),
            ("%Y/%m/%d", "a/2021/3/04.txt", "2021-03-04"),
            ("%d %B %Y", "4 March 2021.txt", "2021-03-04"),
            ("%b%Y", "SEP1999.txt", "1999-09"),
            ("session %Y", "2020 session 1850.txt", "1850"),
        ],
    )
    def test_by_their_form(self, form, name, expected):
        assert find_dates(None, [name], form)[0] == [expected]

    @pytest.mark.parametrize("form", ["nmae", "%d.%m", "%Y-%Y", "%Y-%d", "%Y-%q", "%Y %b %B"])
    def test_what_is_no_form_of_dates(self, form):
        with pytest.raises(ParameterError, match="date_from must be name, folder, or how dates"):
            read_documents(".", date_from=form)

    def test_days_in_every_name_are_guessed_and_said(self, tmp_path):
        folder_of(tmp_path, ["2021-03-04 a.txt", "20210305.txt"])
        corpus = read_documents(tmp_path)
        assert corpus.dates == ["2021-03-04", "2021-03-05"]
        said = "Dates are in the names of the files (guessed): 2 days, as 2021-03-04 of '2021"
        assert any(note.startswith(said) for note in corpus.notes)
        assert read_documents(tmp_path, date=False).dates is None
        folder_of(tmp_path, ["2022.txt"])  # a number as well
        assert read_documents(tmp_path).dates is None
        assert read_documents(tmp_path, date_from="name").dates[-1] == "2022"

    def test_no_date_at_all(self, tmp_path):
        folder_of(tmp_path, ["a.txt", "2020/b.txt"])
        message = error_of(tmp_path, date_from="name")
        assert message == (
            ": no file has a date in its name, as '2020/b.txt': say how dates are written there "
            "with date_from, as %Y-%m-%d."
        )
        assert read_documents(tmp_path, date_from="folder").dates == ["2020", None]


class TestLabels:
    def test_folders(self, tmp_path):
        folder_of(tmp_path, ["a/1.txt", "a/b/2.txt", "3.txt"])
        assert read_documents(tmp_path).labels == {}  # not all files are in one
        corpus = read_documents(tmp_path, label_from="folder")
        assert corpus.ids == ["3.txt", "a/1.txt", "a/b/2.txt"]
        assert corpus.labels == {"folder": [(), ("a",), ("a",)]}
        assert "Labels are in the sub-folders: folder 'a' of 'a/1.txt'." in corpus.notes
        assert "1 file of 3 without label, as '3.txt'." in corpus.notes

    @pytest.mark.parametrize(
        ("form", "expected"),
        [
            ("{party}_{speaker}_*", {"party": "SPD", "speaker": "Schmidt"}),
            (
                "{party}_{speaker}_{year}.txt",
                {"party": "SPD", "speaker": "Schmidt", "year": "2021"},
            ),
            ("{land}/{party}_*", {"land": "Hessen", "party": "SPD"}),
            ("{party}_{rest}", {"party": "SPD", "rest": "Schmidt_2021"}),
            ("*/*_{who}_*", {"who": "Schmidt"}),
        ],
    )
    def test_fields_of_names(self, tmp_path, form, expected):
        folder_of(tmp_path, ["de/Hessen/SPD_Schmidt_2021.txt"])
        corpus = read_documents(tmp_path, label_from=form)
        assert corpus.labels == {name: [(value,)] for name, value in expected.items()}

    def test_names_that_are_made_otherwise(self, tmp_path):
        folder_of(tmp_path, ["a_b.txt", "c.md"])
        corpus = read_documents(tmp_path, label_from="{x}_{y}")
        assert corpus.labels == {"x": [("a",), ()], "y": [("b",), ()]}
        assert "Labels are in the names of the files: x 'a', y 'b' of 'a_b.txt'." in corpus.notes
        assert "1 file of 2 without label, as 'c.md'." in corpus.notes
        message = error_of(tmp_path, label_from="{x}-{y}")
        assert "no file has a name made like '{x}-{y}', as 'a_b.txt': say how" in message
        assert "no file is in a sub-folder" in error_of(tmp_path, label_from="folder")

    @pytest.mark.parametrize("form", ["Folder", "{}", "{a}_{a}", "*"])
    def test_what_is_no_form_of_names(self, form):
        with pytest.raises(ParameterError, match="label_from must be folder, or how names are"):
            read_documents(".", label_from=form)


FILES = ["a/1.txt", "a/x.txt.gz", "b/1.txt", "é.md"]
ROWS = [
    {"file": "a/1.txt", "when": "1990", "party": "P", "title": "One", "n": "5"},
    {"file": unicodedata.normalize("NFD", "é"), "when": "1991", "party": "Q", "title": "", "n": ""},
    {"file": "x", "when": "1992", "party": "P", "title": "Ex", "n": "7"},
    {"file": "gone.txt", "when": "no date", "party": "R", "title": "", "n": ""},
]


class TestMetadata:
    @pytest.mark.parametrize("name", ["meta.csv", "meta.tsv", "meta.jsonl", "meta.parquet"])
    def test_rows_are_found_by_names(self, tmp_path, name):
        texts = folder_of(tmp_path / "texts", FILES)
        if name == "meta.parquet":
            write_parquet(tmp_path / name, {key: [row[key] for row in ROWS] for key in ROWS[0]})
        elif name == "meta.jsonl":
            write_json(tmp_path / name, ROWS)
        else:
            write_csv(tmp_path / name, ROWS, "," if name == "meta.csv" else "\t")
        corpus = read_documents(texts, metadata=tmp_path / name, date="when", label="party")
        assert corpus.ids == FILES
        assert corpus.dates == ["1990", "1992", None, "1991"]
        assert corpus.labels == {"party": [("P",), ("P",), (), ("Q",)]}
        assert corpus.titles == ["One", "Ex", "1", "é"]
        assert corpus.metadata["n"] == ["5", "7", None, ""]
        assert [row["file"] for row in ROWS[:1]] == corpus.metadata["file"][:1]
        assert f"Column 'file' of {name} names the files (found)." in corpus.notes
        assert f"1 file of 4 not in {name}: 'b/1.txt'." in corpus.notes
        assert f"1 row of {name} without a file: 'gone.txt'." in corpus.notes

    def test_the_column_of_names_may_be_said(self, tmp_path):
        folder_of(tmp_path, ["1.txt", "2.txt"])
        rows = [{"n": "1", "code": "2"}, {"n": "2", "code": "1"}]
        path = write_csv(tmp_path / "meta.csv", rows)
        (tmp_path / "plain").unlink()
        assert read_documents(tmp_path, metadata=path).metadata["code"] == ["2", "1"]
        corpus = read_documents(tmp_path, metadata=path, id="code")
        assert corpus.metadata == {"n": ["2", "1"], "code": ["1", "2"]}
        assert corpus.ids == ["1.txt", "2.txt"]
        # The table itself is no file that was left out.
        assert not any("left out" in note for note in corpus.notes)
        with pytest.raises(ValueError, match="there is no column 'no'; there are 'n', 'code'"):
            read_documents(tmp_path, metadata=path, id="no")

    @pytest.mark.parametrize("given", ["./a/1.txt", "a\\1.txt", "texts/a/1.txt", " a/1 "])
    def test_names_are_written_in_many_ways(self, tmp_path, given):
        texts = folder_of(tmp_path / "texts", FILES)
        path = write_json(tmp_path / "meta.jsonl", [{"f": given, "v": 1}])
        assert read_documents(texts, metadata=path).metadata["v"] == [1, None, None, None]

    @pytest.mark.parametrize(
        ("names", "said"),
        [
            (["a/1", "1"], "line 2: '1' may be 'a/1.txt' or 'b/1.txt': write the folder before"),
            (["x", "a/x.txt"], "line 2: the file 'a/x.txt.gz' has another row, line 1: leave one"),
            (["y", "z"], "no column has the names of files, as 'a/1.txt'; there are 'f': write"),
        ],
    )
    def test_rows_that_name_no_file_or_too_many(self, tmp_path, names, said):
        texts = folder_of(tmp_path / "texts", FILES)
        path = write_json(tmp_path / "meta.jsonl", [{"f": name} for name in names])
        with pytest.raises(ValueError, match=said[:7]) as caught:
            read_documents(texts, metadata=path)
        assert str(caught.value).startswith(f"{path}: {said}")

    def test_a_column_without_any_file(self, tmp_path):
        texts = folder_of(tmp_path / "texts", FILES)
        path = write_json(tmp_path / "meta.jsonl", [{"f": "x", "g": "q"}])
        with pytest.raises(
            ValueError, match="no value of column 'g' is the name of a file, as 'q'"
        ):
            read_documents(texts, metadata=path, id="g")

    def test_names_and_a_table_together(self, tmp_path):
        texts = folder_of(tmp_path / "texts", ["p/2001.txt", "q/2002.txt"])
        path = write_csv(tmp_path / "m.csv", [{"name": "2001", "date": "x", "topic": "t"}])
        corpus = read_documents(texts, metadata=path, date_from="name", label_from="folder")
        assert corpus.dates == ["2001", "2002"]
        assert corpus.labels == {"topic": [("t",), ()], "folder": [("p",), ("q",)]}
        assert corpus.titles == ["2001", "2002"]  # the column of file names is no title
        with pytest.raises(ParameterError, match="Dates come from date or from date_from"):
            read_documents(texts, metadata=path, date="date", date_from="name")
        with pytest.raises(ParameterError, match="Two labels are called 'topic'"):
            read_documents(texts, metadata=path, label_from="{topic}")
        with pytest.raises(ValueError, match="a folder has no columns, and 'topic' was asked for"):
            read_documents(texts, label="topic")

    def test_a_value_of_the_table_is_named_by_its_place(self, tmp_path):
        texts = folder_of(tmp_path / "texts", ["1.txt"])
        path = write_csv(tmp_path / "m.csv", [{"f": "0", "d": "?"}, {"f": "1", "d": "noon"}])
        with pytest.raises(ValueError, match=r"m\.csv: line 3: column 'd': 'noon' is not a date"):
            read_documents(texts, metadata=path, date="d")

    def test_the_table_counts_in_the_checksum(self, tmp_path):
        texts = folder_of(tmp_path / "texts", ["1.txt"])
        path = write(tmp_path / "m.csv", "f,n\n1,2\n")
        before = read_documents(texts, metadata=path).checksum
        assert read_documents(texts, metadata=path).checksum == before
        assert read_documents(texts).checksum != before
        write(path, "f,n\n1,3\n")
        assert read_documents(texts, metadata=path).checksum != before
