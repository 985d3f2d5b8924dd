"""The words of the library: those that engineers know, and options in the command alone."""

from __future__ import annotations

import ast
import pickle
import re
from pathlib import Path

import pytest

import spheremix as sm
from spheremix.cli.naming import option_name
from spheremix.run.folder.files import RunError, check_output

PACKAGE = Path(sm.__file__).parent
OPTION = re.compile(r"(?:^|[\s(`])(?:-o\b|--[a-z])")
TEXTS = ["red apple", "apple pie", "green apple", "blue sky", "sky and sea", "blue sea"]


# Words that hid the ones everybody knows, by how they begin.
PRIVATE = ("firm", "settl", "unsettl", "stranger", "carried", "standing")
PRIVATE += ("on its way", "on their way")


def strings(path):
    """Return the strings of a module: docstrings, and those that are none."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    every = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return (
        [(node.lineno, node.value) for node in every if id(node) in alone],
        [(node.lineno, node.value) for node in every if id(node) not in alone],
    )


def texts():
    """Return the place, the docstrings and the other strings of each module."""
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE)
        yield place, *strings(path)


@pytest.mark.parametrize("word", PRIVATE)
def test_private_words_are_met_nowhere(word):
    pattern = re.compile(rf"(?i)(?:^|[^a-z]){word}")
    assert not [
        place.as_posix()
        for place, documented, said in texts()
        if pattern.search(place.as_posix())
        or any(pattern.search(text) for _, text in (*documented, *said))
    ]


def test_docstrings_return():
    """A function returns; "Give ..." is what a message asks of a user."""
    assert not [
        f"{place}:{line}"
        for place, documented, _ in texts()
        for line, text in documented
        if re.match(r"\s*Gives?\b", text)
    ]


@pytest.mark.parametrize("part", ["run", "text", "estimators"])
def test_no_string_of_the_library_names_an_option_of_the_command(part):
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {text}"
        for path in sorted((PACKAGE / part).rglob("*.py"))
        for line, text in strings(path)[1]
        if OPTION.search(text)
    ]
    assert not found


def test_another_run_in_the_folder_is_told_to_each_in_its_words(tmp_path):
    sm.explore_corpus(TEXTS, tmp_path / "run", k=2, min_count=1, min_df=1)
    with pytest.raises(RunError) as caught:
        sm.explore_corpus(TEXTS[:5], tmp_path / "run", k=2, min_count=1, min_df=2)
    assert str(caught.value).endswith(
        "holds another run (of other documents; min_df is 2 now and was 1 before): choose another "
        "folder with out or replace it with force=True."
    )
    assert caught.value.message.render(option_name).endswith(
        "holds another run (of other documents; --min-df is 2 now and was 1 before): choose "
        "another folder with -o or replace it with --force."
    )


def test_a_file_that_is_there_is_told_to_each_in_its_words(tmp_path):
    there = tmp_path / "table {a}.csv"
    there.touch()
    with pytest.raises(RunError) as caught:
        check_output(there, "assigned.csv", force=False)
    shown = caught.value.message.render(option_name)
    assert shown == f"{there}: there already: choose another with -o or replace it with --force."


def test_braces_of_a_plain_message_are_no_parameters():
    error = RunError("{k}: damaged,\n not {JSON (}")
    assert str(error) == "{k}: damaged, not {JSON (}."
    assert error.message.render(option_name) == str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301
