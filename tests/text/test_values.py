"""Values that come with documents: dates with their precision, and what JSON can say."""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal

import numpy as np
import pytest

from spheremix.text import Corpus
from spheremix.text.values import iso_date, plain


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (dt.date(2016, 10, 12), "2016-10-12"),
        (dt.datetime(2016, 10, 12, 23, 59, tzinfo=dt.UTC), "2016-10-12"),
        (np.datetime64("2016"), "2016"),
        (np.datetime64("2016-10"), "2016-10"),
        (np.datetime64("2016-10-12T04:05:06.7"), "2016-10-12"),
        (np.datetime64("NaT"), None),
        (np.int64(1790), "1790"),
        (1990.0, "1990"),
        (math.nan, None),
        ("1990-5", "1990-05"),
    ],
)
def test_dates_keep_their_precision(value, expected):
    assert iso_date(value) == expected


def test_values_that_json_can_say():
    given = {
        "a": [1, True, None, "x"],
        2: (dt.date(2020, 1, 2), Decimal("1.10"), dt.time(3, 4)),
        "numpy": np.array([1.5, math.nan]),
        "far": math.inf,
        "time": np.datetime64("2020-01-02T03:04:05", "ns"),
    }
    found = plain(given)
    assert found == {
        "a": [1, True, None, "x"],
        "2": ["2020-01-02", "1.10", "03:04:00"],
        "numpy": [1.5, None],
        "far": "inf",
        "time": "2020-01-02T03:04:05.000000000",
    }
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    with pytest.raises(TypeError, match="bytes"):
        plain([b"x"])


class TestCorpusInMemory:
    def test_dates_and_labels_are_put_into_one_form(self):
        corpus = Corpus(
            ["a", "b", "c"],
            ["1", "2", "3"],
            dates=[dt.date(2020, 1, 2), "1990", None],
            labels={"of": ["x", ["y", "z"], None]},
            titles=["A", "", "C"],
            metadata={"n": [np.int64(1), 2.5, None]},
        )
        assert corpus.dates == ["2020-01-02", "1990", None]
        assert corpus.labels == {"of": [("x",), ("y", "z"), ()]}
        assert corpus.metadata == {"n": [1, 2.5, None]}
        assert [corpus.name(i) for i in range(3)] == ["A", "2", "C"]
        part = corpus.take([2, 0])
        assert (part.texts, part.ids, part.titles) == (["c", "a"], ["3", "1"], ["C", "A"])
        assert (part.dates, part.labels) == ([None, "2020-01-02"], {"of": [(), ("x",)]})
        assert part.metadata == {"n": [None, 1]}

    def test_every_part_counts_in_the_checksum(self):
        def checksum(**known):
            return Corpus(["a"], ["1"], **known).content_checksum()

        known = [
            {},
            {"dates": ["1990"]},
            {"dates": ["1990-01-01"]},
            {"labels": {"x": [("a",)]}},
            {"labels": {"y": [("a",)]}},
            {"titles": ["a"]},
            {"metadata": {"x": ["a"]}},
        ]
        assert len({checksum(**one) for one in known}) == len(known)

    @pytest.mark.parametrize(
        ("known", "said"),
        [
            ({"labels": [("x",)]}, "labels must be a dictionary of columns, as labels={'topic'"),
            ({"metadata": [1]}, "metadata must be a dictionary of columns"),
            ({"dates": ["noon"]}, "dates must be dates, or texts such as 2016-10-12.*got 'noon'"),
            ({"metadata": {"x": [b"1"]}}, r"metadata 'x' has a value that JSON cannot say \(bytes"),
            ({"titles": ["a", "b"]}, "titles must be as many as the 1 texts, got 2"),
            ({"labels": {"of": [(), ()]}}, "labels 'of' must be as many as the 1 texts, got 2"),
        ],
    )
    def test_what_cannot_be_kept_is_refused(self, known, said):
        with pytest.raises(ValueError, match=said):
            Corpus(["a"], ["1"], **known)
