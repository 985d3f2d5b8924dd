"""Edits as files and in Python: whatever is wrong is named before anything is done."""

from __future__ import annotations

import json

import pytest

from spheremix.errors import ParameterError
from spheremix.run.edits import LONGEST_NOTE, EditNotes, Edits, check_edits, read_edits
from spheremix.run.folder.archive import encode

HEAD = {"format": "spheremix edits", "version": 1, "run": "abc"}
KNOWN = {"run": "abc", "n_groups": 3, "words": ["boat", "soup", "sea"], "ids": ["a", "b"]}


def given(parts, tmp_path):
    path = tmp_path / "edits.json"
    path.write_text(json.dumps({**HEAD, **parts}), encoding="utf-8")
    return read_edits(path)


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"run": "xyz", "split": [0]}, "made for another run, 'xyz'; this one is abc"),
        ({"names": {"3": "x"}}, "there is no group 3: the run has 3 groups, numbered from 0"),
        ({"notes": {"groups": {"9": "x"}}}, "there is no group 9"),
        ({"merge": [[0, 5]]}, "there is no group 5"),
        ({"split": [7]}, "there is no group 7"),
        ({"merge": [[0, -1]]}, "there is no group -1"),
        ({"merge": [[0, 1], [1, 2]]}, "group 1 is to be merged twice"),
        ({"merge": [[0, 0]]}, "group 0 is to be merged twice"),
        ({"merge": [[1]]}, "is not two groups or more"),
        ({"merge": [[]], "split": [1]}, "is not two groups or more"),
        ({"split": [1, 1]}, "group 1 is to be split twice"),
        ({"split": [1], "merge": [[0, 1]]}, "group 1 is to be merged and to be split"),
        ({"drop_words": ["boot"]}, "drop_words: 'boot' is not a word of the run"),
        ({"drop_words": ["boat", "soup"]}, "drop_words: fewer than two words would be left"),
        ({"notes": {"documents": {"c": "x"}}}, "there is no document with the id 'c'"),
        ({"misplaced": ["a", "z"]}, "there is no document with the id 'z'"),
    ],
    ids=str,
)
def test_what_a_run_does_not_have_is_refused(tmp_path, parts, problem):
    edits = given(parts, tmp_path)
    with pytest.raises(ParameterError, match=r"edits \(edits.json\): ") as raised:
        check_edits(edits, **KNOWN)
    assert problem in str(raised.value)


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({}, "there are no edits in it"),
        ({"notes": {}}, "there are no edits in it"),
        ({"format": "spheremix run"}, "not a file of edits: its format is 'spheremix run'"),
        ({"version": 2}, "version '2' of the format; this spheremix reads version 1"),
        ({"run": 5}, "run: '5' is not what it should be"),
        ({"run": None}, "run: 'None' is not what it should be"),
        (
            {"mergers": [[0, 1]]},
            "'mergers' is not one of drop_words, merge, misplaced, move, names",
        ),
        ({"notes": {"words": {"a": "x"}}}, "notes: 'words' is not one of documents, groups"),
        ({"names": ["x"]}, "names: \"['x']\" is not what it should be"),
        ({"names": {"one": "x"}}, "names: 'one' is not a number"),
        ({"names": {"-1": "x"}}, "names: '-1' is not a number"),
        ({"names": {"1": ""}}, "the name of group 1 must be a text that is not empty"),
        ({"names": {"0": "x", "1": " x"}}, "groups 0 and 1 have the same name"),
        ({"names": {"0": "a\u202eb"}}, "unprintable character"),
        ({"names": {"0": "a\ud800"}}, "unprintable character"),
        ({"names": {"0": "x" * 101}}, "has 101 characters, more than 100"),
        ({"merge": [0, 1]}, "merge: '0' is not what it should be"),
        ({"merge": [[0, True]]}, "merge: 'True' is not what it should be"),
        ({"merge": [[0, 1.5]]}, "merge: '1.5' is not what it should be"),
        ({"split": "0"}, "split: '0' is not what it should be"),
        ({"drop_words": [1]}, "drop_words: '1' is not what it should be"),
        ({"notes": {"groups": {"1": " "}}}, "the note on group 1 is empty"),
        ({"notes": {"documents": {"a": "\x1b[0m"}}}, "the note on document 'a' has an unprintable"),
        (
            {"notes": {"groups": {"1": "x" * (LONGEST_NOTE + 1)}}},
            "has 10,001 characters, more than 10,000",
        ),
    ],
    ids=lambda value: str(value)[:60],
)
def test_files_that_are_no_edits_are_refused(tmp_path, parts, problem):
    with pytest.raises(ParameterError, match=r"edits.json\): |names \(edits.json") as raised:
        given(parts, tmp_path)
    assert problem in str(raised.value)
    assert "damaged" not in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe", b'{"run": NaN}', b"[" * 10**5])
def test_files_that_are_no_json_are_refused(tmp_path, content):
    path = tmp_path / "edits.json"
    path.write_bytes(content)
    with pytest.raises(ParameterError, match=r"edits.json\): (not JSON|an object is needed)"):
        read_edits(path)


def test_missing_files_and_folders_are_named(tmp_path):
    with pytest.raises(ParameterError, match=r"nothing.json.: there is no such file"):
        read_edits(tmp_path / "nothing.json")
    with pytest.raises(ParameterError, match="cannot be read"):
        read_edits(tmp_path)
    with pytest.raises(ParameterError, match="must be a file, a dictionary or an object"):
        read_edits(7)


def test_a_file_a_dictionary_and_an_object_are_the_same_edits(tmp_path):
    parts = {
        "names": {"2": " Sea "},
        "merge": [[1, 0]],
        "drop_words": ["soup", "soup"],
        "notes": {"groups": {"0": "line\nline"}, "documents": {"b": "x"}},
        "misplaced": ["a", "a"],
    }
    expected = Edits(
        run="abc",
        names={2: "Sea"},
        merge=[[1, 0]],
        drop_words=["soup"],
        notes=EditNotes(groups={0: "line\nline"}, documents={"b": "x"}),
        misplaced=["a"],
    )
    file = given(parts, tmp_path)
    assert (file.source, file.edits) == ("edits.json", expected)
    assert read_edits({**HEAD, **parts}).edits == expected
    assert read_edits({**parts, "names": {2: "Sea"}}, "abc").edits == expected
    assert read_edits(expected).edits == expected
    assert read_edits(encode(expected)).edits == expected
    check_edits(file, **KNOWN)


def test_columns_that_are_no_words_cannot_be_dropped(tmp_path):
    edits = given({"drop_words": ["boat"]}, tmp_path)
    with pytest.raises(ParameterError, match="the columns of this run are no words"):
        check_edits(edits, **{**KNOWN, "words": None})
