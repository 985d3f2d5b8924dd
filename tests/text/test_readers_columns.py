"""Which column is the text, the id, the date and the label: guessed, named and parsed."""

from __future__ import annotations

import pytest
from readers_common import error_of, write_json

from spheremix.text import read_documents
from spheremix.text.columns import parse_date, parse_labels, write_labels
from spheremix.text.corpus import Cleaning


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
        assert parse_labels(write_labels(expected), Cleaning()) == expected
