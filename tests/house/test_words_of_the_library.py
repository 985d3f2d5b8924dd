"""Messages of the library name its parameters; only the command speaks of options."""

from __future__ import annotations

import ast
import pickle
import re
from pathlib import Path

import pytest

import spheremix as sm
from spheremix.cli.naming import option_name
from spheremix.run.output import check_output
from spheremix.run.store import RunError

PACKAGE = Path(sm.__file__).parent
OPTION = re.compile(r"(?:^|[\s(`])(?:-o\b|--[a-z])")
TEXTS = ["red apple", "apple pie", "green apple", "blue sky", "sky and sea", "blue sea"]


def literals(path):
    """Return the strings of a module, without its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.lineno, node.value


@pytest.mark.parametrize("part", ["run", "text", "estimators"])
def test_no_string_of_the_library_names_an_option_of_the_command(part):
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {text}"
        for path in sorted((PACKAGE / part).rglob("*.py"))
        for line, text in literals(path)
        if OPTION.search(text)
    ]
    assert not found


def test_another_run_in_the_folder_is_told_to_each_in_its_words(tmp_path):
    sm.explore_corpus(TEXTS, tmp_path / "run", k=2, min_count=1, min_df=1)
    with pytest.raises(RunError) as caught:
        sm.explore_corpus(TEXTS, tmp_path / "run", k=2, min_count=1, min_df=2)
    assert str(caught.value).endswith(
        "choose another folder with out, replace it with force=True, or keep its words by giving "
        "its options again (min_count=1 min_df=1 k=2)."
    )
    assert caught.value.message.render(option_name).endswith(
        "choose another folder with -o, replace it with --force, or keep its words by giving its "
        "options again (--min-count 1 --min-df 1 --k 2)."
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
