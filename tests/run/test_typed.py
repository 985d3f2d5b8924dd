"""The codec of a run's records: what is written comes back, and nothing else is taken in."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

import pytest
from spheremix.run.store import RunError
from spheremix.run.typed import FileName, decode, encode

FILE = FileName("tables/a.csv")


@dataclass(frozen=True)
class Inner:
    size: int
    share: float = 0.5


@dataclass(frozen=True)
class Record:
    name: str = "a"
    done: bool = False
    count: int = 0
    height: float = 0.0
    file: FileName = FILE
    inner: Inner = Inner(1)
    either: int | str | None = None
    names: tuple[str, ...] = ()
    inners: list[Inner] = field(default_factory=list)
    by_number: dict[int, Inner] = field(default_factory=dict)
    by_name: dict[str, FileName] = field(default_factory=dict)
    anything: Any = None


def through_json(record):
    return decode(type(record), json.loads(json.dumps(encode(record), allow_nan=False)), "run.json")


def test_what_is_written_comes_back():
    record = Record(
        name="é",
        done=True,
        count=2**62 - 1,
        height=0.1,
        file=FileName("vectors.npz"),
        inner=Inner(3, 1.0),
        either="x",
        names=("b", "c"),
        inners=[Inner(4)],
        by_number={12: Inner(5)},
        by_name={"words.csv": FileName("a/b/c.csv")},
        anything={"k": [1, None]},
    )
    assert through_json(record) == record
    assert through_json(Record()) == Record()


def test_tuples_and_lists_keep_their_kind():
    again = through_json(Record(names=("b",), inners=[Inner(1)]))
    assert isinstance(again.names, tuple)
    assert isinstance(again.inners, list)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_are_null(value):
    assert encode(Record(height=value))["height"] is None
    assert math.isnan(through_json(Record(height=value)).height)


def test_a_whole_number_is_a_float_where_a_float_is_declared():
    again = decode(Record, {"height": 3}, "run.json")
    assert isinstance(again.height, float)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", 1),
        ("name", None),
        ("done", 1),
        ("done", "true"),
        ("count", True),
        ("count", -1),
        ("count", 2**62),
        ("count", 1.0),
        ("count", "1"),
        ("count", None),
        ("height", "1"),
        ("height", False),
        ("inner", 1),
        ("inner", {}),
        ("inner", {"size": -1}),
        ("either", 1.5),
        ("either", [1]),
        ("names", "abc"),
        ("names", [1]),
        ("inners", {"size": 1}),
        ("inners", [{"share": 0.5}]),
        ("by_number", {"-1": {"size": 1}}),
        ("by_number", {"1e3": {"size": 1}}),
        ("by_number", {"1" * 10: {"size": 1}}),
        ("by_number", [1]),
    ],
)
def test_a_value_of_another_type_is_refused_by_name(key, value):
    with pytest.raises(RunError, match=rf"run.json: {key}.*damaged"):
        decode(Record, {key: value}, "run.json")


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../a",
        "a/../b",
        "a//b",
        ".hidden",
        "a/.b",
        "a\\b",
        "",
        "a\n",
        "~/a",
        "a" * 101,
        "a/b/c/d/e/f",
        1,
        None,
    ],
)
def test_a_name_that_may_lead_outside_is_refused(name):
    for record in ({"file": name}, {"by_name": {"x": name}}):
        with pytest.raises(RunError, match="is not the name of a file of a run"):
            decode(Record, record, "run.json")


def test_what_has_no_default_must_be_there():
    with pytest.raises(RunError, match=r"run.json: size: damaged: the value is missing"):
        decode(Inner, {"share": 1.0}, "run.json")


@pytest.mark.parametrize("value", [None, [], "x", 1])
def test_a_record_is_an_object(value):
    with pytest.raises(RunError, match="an object is needed"):
        decode(Record, value, "run.json")


def test_keys_of_a_later_version_are_left_aside():
    assert decode(Inner, {"size": 1, "colour": "red"}, "run.json") == Inner(1)
