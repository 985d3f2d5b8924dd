"""Data frames of any library give the documents that a file of the same table gives."""

from __future__ import annotations

import datetime as dt
import sys

import numpy as np
import pytest
from readers_common import write_parquet

import spheremix as sm
from spheremix.errors import MissingPackageError
from spheremix.text import ReadError, read_documents

pytest.importorskip("narwhals", reason="pip install narwhals")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

COLUMNS = {
    "id": [7, 8, 9],
    "body": ["One text here", "Two texts", None],
    "when": [dt.datetime(2020, 1, 2), dt.datetime(2020, 1, 2, 3, 4, 5), None],  # noqa: DTZ001
    "label": [1, 2, None],
    "topics": [["a", "b"], [], None],
    "points": [1.5, None, 2.0],
}


class Exchanged:
    """A frame that speaks nothing but the interchange protocol."""

    def __init__(self, table):
        self._table = table

    def __dataframe__(self, **options):
        return self._table.__dataframe__(**options)


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        ("pandas", pd.DataFrame),
        ("pandas", lambda table: pd.DataFrame(table).set_index("id")),
        ("polars", pl.DataFrame),
        ("polars", lambda table: pl.DataFrame(table).lazy()),
        ("pyarrow", pa.table),
        ("pyarrow", pa.RecordBatch.from_pydict),
        ("pyarrow", lambda table: pa.table(table).to_reader()),
    ],
)
def test_every_library_gives_what_a_file_gives(tmp_path, kind, make):
    wanted = {"date": "when", "label": ["label", "topics"]}
    file = read_documents(write_parquet(tmp_path / "a.parquet", COLUMNS), **wanted)
    corpus = read_documents(make(COLUMNS), **wanted)
    assert corpus.labels == {
        "label": [("1",), ("2",), ()],
        "topics": [("a", "b"), (), ()],
    }
    for name in ("texts", "ids", "dates", "labels", "metadata", "notes"):
        assert getattr(corpus, name) == getattr(file, name)
    assert (corpus.source, corpus.format) == (f"{kind} data frame", "data frame")
    assert corpus.checksum == file.content_checksum()


def test_types_of_pandas():
    frame = pd.DataFrame(
        {
            "text": ["a", "b"],
            0: [1, 2],
            "kind": pd.Categorical(["u", None]),
            "month": pd.period_range("2020-01", periods=2, freq="M"),
            "array": [np.array(["x", "y"]), np.array([])],
            "set": [{"b", "a"}, set()],
            "number": pd.array([1, None], dtype="Int64"),
            "at": pd.to_datetime(["2020-01-01T10:00+02:00", None], utc=True),
        }
    )
    corpus = read_documents(frame, date="month", label=["kind", "array", "set", "number"])
    assert corpus.dates == ["2020-01", "2020-02"]
    assert corpus.labels == {
        "kind": [("u",), ()],
        "array": [("x", "y"), ()],
        "set": [("a", "b"), ()],
        "number": [("1",), ()],
    }
    assert corpus.metadata == {"0": [1, 2], "at": ["2020-01-01 08:00:00Z", None]}


def test_the_interchange_protocol():
    frame = Exchanged(pa.table({"text": ["a", "b"], "n": [1, 2]}))
    assert read_documents(frame).metadata == {"n": [1, 2]}


@pytest.mark.parametrize(
    ("frame", "wanted", "said"),
    [
        (pd.DataFrame({"a": [1], "b": [2]}), {}, "no column has texts; there are 'a', 'b'."),
        (
            pl.DataFrame({"a": ["x"], "b": ["y"]}),
            {},
            "no column is obviously the text; there are 'a', 'b': say which one it is with text.",
        ),
        (pl.DataFrame({"a": ["x"]}), {"text": "b"}, "there is no column 'b'; there are 'a'."),
        (pd.DataFrame([["x", "y"]], columns=["a", "a"]), {}, "two columns have the same name"),
        (pd.DataFrame(), {}, "there are no documents in it."),
        (pa.table({"text": ["x"]}), {"metadata": "a.csv"}, "metadata is for a folder"),
        (pa.table({"text": ["x"]}), {"sheet": "A"}, "sheet is for workbooks"),
        (
            pl.DataFrame({"text": ["x", "y"], "id": [1, 1]}),
            {"id": "id"},
            "row 2: column 'id': the id '1' is already",
        ),
        (Exchanged(None), {}, "Exchanged is not one that can be read"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(frame, wanted, said):
    with pytest.raises(ReadError) as caught:
        read_documents(frame, **wanted)
    assert said in str(caught.value)
    assert "data frame: " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_narwhals(monkeypatch):
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(MissingPackageError, match="pip install narwhals"):
        read_documents(pd.DataFrame({"text": ["a"]}))


def test_a_frame_is_explored(tmp_path):
    words = ["red apple pie", "green apple tart", "blue sky above", "blue sea below"]
    frame = pl.DataFrame({"body": words * 3, "section": ["food", "food", "out", "out"] * 3})
    run = sm.explore_corpus(
        frame, tmp_path / "run", text="body", label="section", k=2, criterion="none"
    )
    assert run.documents["section"] == ["food", "food", "out", "out"] * 3
    assert run.info.corpus.source == "polars data frame"
    # A column alone is a list of texts, and options of files are refused.
    with pytest.raises(ValueError, match="nothing is read from a file here: text is for files"):
        sm.explore_corpus(frame["body"], tmp_path / "run", text="body")
    with pytest.raises(ReadError, match="date_from is for a folder of text files"):
        sm.explore_corpus(frame, tmp_path / "run", text="body", date_from="name")
