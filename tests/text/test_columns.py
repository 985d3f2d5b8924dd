"""Which columns are used, guessed, named and parsed; all other columns go through."""

from __future__ import annotations

import pytest
from readers_common import error_of, write, write_csv, write_json, write_parquet

from spheremix.text import columns, read_documents
from spheremix.text.columns import parse_labels, write_labels
from spheremix.text.corpus import Cleaning
from spheremix.text.dates import parse_dates


class TestColumns:
    # The last one is much longer than the others.
    @pytest.mark.parametrize("header", ["Body", "FULL text", "abstract", "x"])
    def test_texts_are_found(self, tmp_path, header):
        rows = [{header: "a rather long text, " * 9, "short": "yes", "n": "3"}]
        corpus = read_documents(write_json(tmp_path / "a.jsonl", rows))
        assert corpus.texts == [rows[0][header]]
        assert f"Column {header!r} is read as the text (guessed)." in corpus.notes

    def test_named_columns(self, tmp_path):
        rows = [{"text": "no", "y": "yes", "id": 1, "k": "u", "year": 1999, "t": "2001", "z": "a"}]
        path = write_json(tmp_path / "a.jsonl", rows)
        corpus = read_documents(path, text="y", id="k", date="t", label="z")
        assert (corpus.texts, corpus.ids, corpus.labels) == (["yes"], ["u"], {"z": [("a",)]})
        assert corpus.dates == ["2001"]
        assert corpus.notes == [
            "Column 'y' is read as the text.",
            "Column 'k' is read as the id.",
            "Column 't' is read as the date.",
            "Column 'z' is read as the label.",
        ]
        bare = read_documents(path, id=False, date=False, label=False)
        assert (bare.ids, bare.dates, bare.labels) == (["1"], None, {})
        assert "Documents have no ids: they are numbered from 1." in bare.notes

    def test_a_column_has_one_part(self, tmp_path):
        rows = [{"text": "a", "body": "b"}]
        corpus = read_documents(write_json(tmp_path / "a.jsonl", rows), label="text")
        assert (corpus.texts, corpus.labels) == (["b"], {"text": [("a",)]})

    def test_columns_of_few_values_are_offered_as_labels(self, tmp_path):
        parties = ["left", "right", None] * 5
        rows = [
            {"text": f"some text {i}", "party": parties[i], "n": i, "odd": i % 2, "one": 1}
            for i in range(15)
        ]
        path = write_csv(tmp_path / "a.csv", rows)
        said = (
            "Columns 'party', 'odd' have few values: to compare the groups with such labels, give"
        )
        assert f"{said} label=party." in read_documents(path).notes
        for label in (False, "party"):
            assert said not in " ".join(read_documents(path, label=label).notes)
        assert said not in " ".join(read_documents(write_csv(tmp_path / "b.csv", rows[:8])).notes)

    @pytest.mark.parametrize(
        ("values", "labels"),
        [
            (["a"] * 5 + ["b"] * 5, True),
            (["a"] * 6 + ["b"] * 4, False),  # one of them is rare
            ([True] * 5 + [False] * 5, True),
            ([1.0] * 5 + [0.5] * 5 + [None, ""] * 5, True),
            (["a"] * 5 + ["b"] * 5 + [None] * 11, False),  # most are missing
            (["a"] * 10, False),
            (list("abcdefghijklm") * 5, False),  # too many
        ],
    )
    def test_what_may_be_labels(self, values, labels):
        assert columns.may_be_labels(values, len(values)) == labels

    def test_several_labels_are_preferred(self, tmp_path):
        rows = [{"text": "a", "label": "x", "labels": ["x", "y", "x", None]}]
        corpus = read_documents(write_json(tmp_path / "a.jsonl", rows))
        assert corpus.labels == {"labels": [("x", "y")]}
        assert corpus.metadata == {"label": ["x"]}

    def test_columns_that_some_lines_lack(self, tmp_path):
        rows = [{"text": "a"}] * 200 + [{"text": None, "label": "late"}, {"label": "x"}]
        corpus = read_documents(write_json(tmp_path / "a.jsonl", rows), label="label")
        assert corpus.texts[-3:] == ["a", "", ""]
        assert corpus.labels["label"][-3:] == [(), ("late",), ("x",)]
        message = error_of(tmp_path / "a.jsonl", label="lable")  # codespell:ignore
        assert (
            message == ": there is no column 'lable'; there are 'text', 'label'."
        )  # codespell:ignore

    def test_a_wrong_guess_of_dates_is_dropped_and_said(self, tmp_path):
        rows = [{"text": "a", "time": "2001-01-01"}, {"text": "b", "time": "noon"}]
        path = write_json(tmp_path / "a.jsonl", rows)
        corpus = read_documents(path)
        assert corpus.dates is None
        assert any(
            "'time' is not used as the date: line 2: 'noon' is not a date" in n
            for n in corpus.notes
        )
        assert ": line 2: column 'time': 'noon' is not a date: write" in error_of(path, date="time")

    def test_a_guessed_id_that_repeats_is_dropped_and_said(self, tmp_path):
        path = write_csv(tmp_path / "a.csv", [{"text": t, "id": "7"} for t in ("a", "b")])
        corpus = read_documents(path)
        assert corpus.ids == ["1", "2"]
        assert corpus.metadata == {"id": ["7", "7"]}
        said = "Column 'id' is not used as the id: line 3: the id '7' is already that of line 2"
        assert any(note.startswith(said) for note in corpus.notes)

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            ("2013-06-07", "2013-06-07"),
            ("2013/6/7", "2013-06-07"),
            ("20130607", "2013-06-07"),
            (20130607, "2013-06-07"),
            ("2013-06-07T23:59:59Z", "2013-06-07"),
            ("2013-06-07 10:00:00.123+02:00", "2013-06-07"),
            (" 2013-06 ", "2013-06"),
            ("2013", "2013"),
            (2013, "2013"),
            ("2013.0", "2013"),
            *((missing, None) for missing in (None, "", "NA", "NaT", float("nan"))),
        ],
    )
    def test_dates(self, value, expected):
        assert parse_dates([value]) == ([expected], None)

    @pytest.mark.parametrize(
        "value",
        ["2013-13-01", "2013-02-30", "0000", "201306", 137160000, True, [2013], "x"],
    )
    def test_no_dates(self, value):
        with pytest.raises(ValueError, match="is not a date: write YYYY-MM-DD"):
            parse_dates([value])

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
        assert parse_labels(write_labels(expected), Cleaning()) == expected


class TestOtherColumns:
    def test_all_columns_go_through(self, tmp_path):
        rows = [
            {
                "text": "one",
                "id": 7,
                "headline": "First  news",
                "year": 1990,
                "section": "home",
                "n": 3,
                "share": 0.1234567890123,
                "open": True,
                "who": {"name": "Ann", "at": [1, None]},
            },
            {"text": "two", "id": 8, "headline": None, "year": "1991", "late": "x\u0000y"},
        ]
        corpus = read_documents(write_json(tmp_path / "a.jsonl", rows), label="section")
        assert corpus.titles == ["First news", ""]
        assert corpus.dates == ["1990", "1991"]
        assert corpus.labels == {"section": [("home",), ()]}
        assert corpus.metadata == {
            "headline": ["First  news", None],  # written otherwise than the title
            "n": [3, None],
            "share": [0.1234567890123, None],
            "open": [True, None],
            "who": [{"name": "Ann", "at": [1, None]}, None],
            "late": [None, "x y"],
        }
        assert "Column 'headline' is read as the title (guessed)." in corpus.notes
        assert corpus.notes[-1] == "1 NUL character replaced by spaces."

    def test_columns_that_were_read_are_kept_where_they_say_more(self, tmp_path):
        rows = [{"text": "a", "date": "2020-01-02T10:11", "title": "A", "label": "x"}]
        corpus = read_documents(write_csv(tmp_path / "a.csv", rows))
        assert corpus.dates == ["2020-01-02"]
        assert corpus.metadata == {"date": ["2020-01-02T10:11"]}

    def test_several_label_columns(self, tmp_path):
        rows = [
            {"text": "a", "section": "home", "author": "Ann; Ben"},
            {"text": "b", "section": "", "author": "Cleo"},
        ]
        path = write_csv(tmp_path / "a.csv", rows)
        corpus = read_documents(path, label=["section", "author"])
        assert corpus.labels == {
            "section": [("home",), ()],
            "author": [("Ann", "Ben"), ("Cleo",)],
        }
        assert corpus.metadata == {}
        assert corpus.notes[1:3] == [
            "Column 'section' is read as a label.",
            "Column 'author' is read as a label.",
        ]
        assert "1 document of 2 without label 'section'." in corpus.notes
        assert read_documents(path, label="author").metadata == {"section": ["home", ""]}
        assert "there is no column 'desk'; there are" in error_of(path, label=["author", "desk"])

    def test_a_column_without_labels_or_titles_is_not_used(self, tmp_path):
        rows = [{"text": "a", "label": "NA", "title": " ", "date": "-", "other": "x"}]
        corpus = read_documents(write_csv(tmp_path / "a.csv", rows), label=["label", "other"])
        assert corpus.labels == {"other": [("x",)]}
        assert (corpus.titles, corpus.dates) == (None, None)
        for name in ("label", "title", "date"):
            assert f"Column {name!r} has no {name}: it is not used." in corpus.notes
        assert not [note for note in corpus.notes if "read as the date" in note or " of 1" in note]
        assert corpus.metadata == {"label": ["NA"], "title": [" "], "date": ["-"]}

    def test_titles_are_guessed_named_or_left_out(self, tmp_path):
        rows = [{"text": "a", "name": "N", "subject": "S", "x": "X"}]
        path = write_json(tmp_path / "a.jsonl", rows)
        assert read_documents(path).titles == ["S"]
        assert read_documents(path, title="x").titles == ["X"]
        assert read_documents(path, title=False).titles is None
        # The only long column is the text, whatever it is called.
        alone = write_json(tmp_path / "b.jsonl", [{"title": "a long text " * 9, "n": "1"}])
        found = read_documents(alone)
        assert (found.texts, found.titles) == (["a long text " * 9], None)

    def test_a_wrong_guess_of_titles_is_dropped_and_said(self, tmp_path):
        rows = [{"text": "a", "name": ["x", "y"]}]
        path = write_json(tmp_path / "a.jsonl", rows)
        corpus = read_documents(path)
        assert corpus.titles is None
        assert corpus.metadata == {"name": [["x", "y"]]}
        assert any("'name' is not used as the title: line 1" in note for note in corpus.notes)
        assert "the title is a list, where a string is needed" in error_of(path, title="name")

    def test_times_of_parquet_are_kept(self, tmp_path):
        arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        days = arrow.array([0, 86_400], arrow.timestamp("s"))
        moments = arrow.array([1, 2], arrow.timestamp("ms", tz="Europe/Paris"))
        path = write_parquet(
            tmp_path / "a.parquet",
            {"text": ["x", "y"], "date": days, "at": moments, "raw": [b"1", b"2"]},
        )
        corpus = read_documents(path)
        assert corpus.dates == ["1970-01-01", "1970-01-02"]
        assert corpus.metadata == {"at": ["1970-01-01 00:00:00.001Z", "1970-01-01 00:00:00.002Z"]}
        assert any(note.startswith("1 column left out: 'raw'") for note in corpus.notes)
        assert read_documents(path, date="at").dates == ["1970-01-01"] * 2

    def test_keys_that_are_data_do_not_fill_the_memory(self, tmp_path, monkeypatch):
        monkeypatch.setattr(columns, "MOST", 3)
        rows = [{"text": "a", f"key {i}": i} for i in range(5)]
        corpus = read_documents(write_json(tmp_path / "a.jsonl", rows))
        assert list(corpus.metadata) == ["key 0", "key 1", "key 2"]
        assert any(note.startswith("2 columns left out: 'key 3', 'key 4'") for note in corpus.notes)

    def test_names_of_columns_can_be_written(self, tmp_path):
        path = write(tmp_path / "a.csv", ",text,n\0\n5,a,1\n")
        assert read_documents(path).metadata == {"column 1": ["5"], "n": ["1"]}

    @pytest.mark.parametrize("name", ["date_from", "label_from", "metadata"])
    def test_what_is_for_folders_is_refused(self, tmp_path, name):
        path = write(tmp_path / "a.csv", "text\na\n")
        assert f"{name} is for a folder of text files: name a column with date" in error_of(
            path, **{name: "folder"}
        )
