"""Golden runs: tables, pages and summaries of five small corpora stay what they were.

Where they differ on purpose, `python tests/outside/make_golden.py` writes the goldens again.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("typer")

from comparing import compare_lines, compare_tables, compare_values
from corpora import MAKERS
from story import tell, unpacked

GOLDEN = Path(__file__).parent / "golden"
STATES = (
    *("explore", "again", "other", "rename", "merge", "split", "drop words", "update", "assign"),
    "save",
)


@pytest.fixture(scope="module", params=list(MAKERS))
def told(request, tmp_path_factory):
    """Return what is seen of a corpus now, its checksums, and its golden."""
    place = tmp_path_factory.mktemp(request.param)
    golden = json.loads((GOLDEN / f"{request.param}.json").read_text(encoding="utf-8"))
    return (*tell(MAKERS[request.param](place), place), unpacked(golden))


@pytest.mark.parametrize("state", STATES)
def test_it_is_what_it_was(told, state):
    now, _, golden = told
    assert list(now) == list(golden)
    if state not in golden:
        assert state == "drop words"  # embeddings have none
        return
    found, old = now[state], golden[state]
    assert set(found) == set(old)
    different = compare_tables(old.get("tables", {}), found.get("tables", {}))
    different += compare_values(old.get("page", {}), json_of(found.get("page", {})), "page")
    different += compare_lines(old.get("summary", []), found.get("summary", []))
    different += compare_values(old.get("values", {}), found.get("values", {}), "values")
    assert different == []


def json_of(value):
    """Return a value as it is after it was written and read."""
    return json.loads(json.dumps(value))


@pytest.mark.parametrize(
    ("state", "same"),
    [
        ("again", "explore"),
        ("back", "explore"),
        ("undo merge", "rename"),
        ("undo split", "rename"),
        ("undo drop words", "rename"),
        ("undo all", "explore"),
    ],
)
def test_the_same_command_and_undo_give_the_same_bytes(told, state, same):
    _, sums, _ = told
    if state not in sums:
        assert state == "undo drop words"
        return
    assert sums[state] == sums[same]


def test_what_was_saved_is_loaded(told):
    now, _, _ = told
    assert now["save"]["values"]["same"]
    assert now["assign"]["same"]
