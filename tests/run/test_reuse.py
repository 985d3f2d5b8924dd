"""Other options on the same documents: what they do not change is reused, and edits follow."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from cli_common import texts, write_lines
from edit_common import contents
from edit_common import explore as small
from reuse_common import Heard, explore

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.run import apply_edits
from spheremix.run.apply_edits import Marks
from spheremix.run.explore import check_run
from spheremix.run.folder.fitted import StepsState
from spheremix.run.names import LONGEST, Name, put_names, told_apart

ALL = "The words, the matrix, 3 of 3 fits and the path of this folder were reused."
FITS = "The words, the matrix and 3 of 3 fits of this folder were reused."
BARE = "The words and the matrix of this folder were reused."


def slow(*values):
    """Return a case that goes the way of another one."""
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    documents = [{**one, "half": i % 2} for i, one in enumerate(texts(40))]
    return write_lines(tmp_path_factory.mktemp("corpus") / "docs.jsonl", documents)


@pytest.fixture(scope="module")
def base(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("base") / "run"
    explore(corpus, folder)
    return folder


@pytest.fixture
def copy(base, tmp_path):
    return Path(shutil.copytree(base, tmp_path / "run"))


@pytest.fixture(scope="module")
def three(corpus, tmp_path_factory):
    """Return a run of three groups."""
    return small(corpus, tmp_path_factory.mktemp("three") / "run", max_steps=2)[0]


@pytest.fixture
def run(three, tmp_path):
    return sm.load_run(shutil.copytree(three.folder, tmp_path / "run"))


# What is reused


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"k": "2:5"}, "The words, the matrix, 3 of 4 fits and the path of this"),
        ({"k": 3}, "The words, the matrix, 1 of 1 fit and the path of this"),
        slow({"k": 2}, "The words, the matrix and 1 of 1 fit of this"),
        slow({"criterion": "aic"}, ALL),
        ({"criterion": "none"}, FITS),
        slow({"k_criterion": "icl"}, FITS),
        ({"max_steps": 10}, FITS),
        slow({"min_relative_increase": 0.1}, FITS),
        ({"seed": 1}, BARE),
        slow({"starts": 1}, BARE),
        slow({"kappa": "free"}, BARE),
        slow({"kappa": 20.0, "k": 2}, BARE),
        ({"label": "half"}, ALL),
        slow({"label": "none", "date": "none"}, ALL),
        slow({"id": "none"}, ALL),
        ({"text": "text", "language": "en"}, ALL),
        ({"names": {0: "the first"}}, ALL),
        ({"min_df": 3}, None),  # other words
    ],
    ids=str,
)
def test_a_folder_used_again_has_the_bytes_of_a_new_one(corpus, copy, tmp_path, more, told):
    heard = explore(corpus, copy, **more)
    assert [line[: len(told or "")] for line in heard.told] == ([told] if told else [])
    assert explore(corpus, tmp_path / "new" / "run", **more).told == []
    assert contents(copy) == contents(tmp_path / "new" / "run")
    assert sm.load_run(copy).check() == []
    assert explore(corpus, copy, **more).begun[-1].endswith("holds this run already, finished.")


def test_coming_back_takes_the_fits_that_were_kept(corpus, base, copy):
    explore(corpus, copy, k=4, criterion="none")
    heard = explore(corpus, copy)
    assert heard.told == [ALL]
    assert contents(copy) == contents(base)


def test_rows_of_a_matrix_are_reused_too(tmp_path):
    rows, _, _ = sm.datasets.make_vmf_mixture(60, 5, 3, kappa=30.0, random_state=0)
    matrix = sm.text.Matrix(rows, None, "rows", "array", [], "")
    for place, steps in (("used", ("2:3", 3)), ("new", (3,))):
        for k in steps:
            heard = Heard()
            folder = tmp_path / place / "run"
            sm.explore_corpus(matrix, folder, k=k, starts=1, listener=heard)
        told = ["The matrix and 1 of 1 fit of this folder were reused."]
        assert heard.told == (told if place == "used" else [])
    assert contents(tmp_path / "used" / "run") == contents(tmp_path / "new" / "run")


def test_a_stage_that_is_missing_or_damaged_is_done_again(corpus, base, copy):
    stages = sorted(path for path in (copy / "cache").iterdir() if path.is_dir())
    for path in stages[::2]:
        shutil.rmtree(path)
    for path in stages[1::2]:
        first = min(path.iterdir())
        first.write_bytes(first.read_bytes()[:-7])
    explore(corpus, copy, criterion="aic")
    explore(corpus, copy)
    assert contents(copy) == contents(base)
    assert sm.load_run(copy).check() == []


def test_other_documents_are_refused_unless_forced(copy, tmp_path):
    before = contents(copy)
    more = write_lines(tmp_path / "more.jsonl", [*texts(40), {"id": "new", "text": "boat wave"}])
    labels = [{**one, "topic": "none"} for one in texts(40)]
    for source in (more, write_lines(tmp_path / "labels.jsonl", labels)):
        with pytest.raises(sm.RunError, match=r"of other documents.*replace it with force=True"):
            explore(source, copy, k=2)
    assert contents(copy) == before
    explore(more, copy, k=2, force=True)
    explore(more, tmp_path / "new" / "run", k=2)
    assert contents(copy) == contents(tmp_path / "new" / "run")


def test_force_makes_a_run_again_whose_stages_cannot_be_read(corpus, base, copy, monkeypatch):
    monkeypatch.setattr(StepsState, "archive_version", 99)  # as of another spheremix
    with pytest.raises(sm.RunError, match="another version of spheremix"):
        sm.load_run(copy)
    explore(corpus, copy, force=True)
    again = sm.load_run(copy)
    assert again.is_readable()
    assert again.check() == []
    assert (copy / "groups.csv").read_bytes() == (base / "groups.csv").read_bytes()


def test_a_run_of_other_versions_is_made_again_and_not_edited(corpus, copy, monkeypatch):
    monkeypatch.setattr(sm, "__version__", "99")
    with pytest.raises(sm.RunError, match=r"made by other versions .*spheremix is 99 now"):
        sm.load_run(copy).edit({"names": {0: "zero"}})
    heard = explore(corpus, copy)
    assert heard.told == []  # nothing was reused
    assert sm.load_run(copy).info.versions["spheremix"] == "99"


def test_options_that_are_refused_leave_the_run_as_it_was(corpus, copy):
    before = contents(copy)
    with pytest.raises(ValueError, match="41 groups are too many"):
        explore(corpus, copy, k=41)
    with pytest.raises(ValueError, match="there is no group 9"):
        explore(corpus, copy, names={9: "the tenth"})
    assert contents(copy) == before


# Edits and other options


def test_edits_come_back_with_their_groups(corpus, run):
    """To two groups and back: what could not be kept is said, and is there again."""
    edits = {"merge": [[1, 2]], "names": {0: "zero", 2: "two"}, "notes": {"groups": {1: "mine"}}}
    before = contents(run.edit(edits).folder)
    fewer, told = small(corpus, run.folder, max_steps=2, k=2)
    assert [line for line in told.told if line.startswith("Could not be kept")]
    assert "zero" in (fewer.names() or [])
    fewer.edit({"misplaced": ["doc 1"]}, listener=told)
    back, told = small(corpus, run.folder, max_steps=2)
    assert not [line for line in told.told if "Could not be kept" in line]
    assert back.names() == ["zero", "two"]
    assert by_group(back, "note") == {0: "", 1: "mine"}
    known = contents(back.folder)
    assert {n: one for n, one in known.items() if n != "run.json"} == {
        n: one for n, one in before.items() if n != "run.json"
    }
    again, _ = small(corpus, run.folder, max_steps=2, k=2)
    assert any(again.documents["misplaced"])


def by_group(run, column):
    return dict(zip(run.groups["group"], run.groups[column], strict=True))


def test_edits_follow_into_other_words(corpus, run):
    run.edit({"names": {0: "zero"}, "notes": {"documents": {"doc 3": "odd"}}})
    told = by_group(run, "words")[0]
    found, said = small(corpus, run.folder, max_steps=2, drop="people,morning")
    assert not [line for line in said.told if "Could not be kept" in line]
    k = next(k for k, name in by_group(found, "name").items() if name == "zero")
    assert set(by_group(found, "words")[k].split(", ")) & set(told.split(", "))
    assert found.documents["note"][3] == "odd"


def test_names_and_colours_of_untouched_groups_stay(run):
    """After a merge, a split and words that are dropped: as people have seen them."""
    names, colours = by_group(run, "name"), run.colours
    merged = run.edit({"merge": [[0, 2]]})
    assert by_group(merged, "name")[1] == names[1]
    assert merged.colours[1] == colours[1]
    split = merged.edit({"split": [0]})
    assert by_group(split, "name")[1] == names[1]
    assert split.colours[1] == colours[1]
    assert len({tuple(one) for one in split.colours}) == 3
    seen = by_group(split, "name")
    unused = next(w for w in run.feature_names if not any(w in name for name in seen.values()))
    dropped = split.edit({"drop_words": [unused]})
    assert by_group(dropped, "name") == seen
    assert dropped.colours == split.colours
    content = dropped.report().content
    assert content["names"] == [seen[k] for k in range(3)]
    back = dropped.undo_edits().undo_edits().undo_edits()
    assert (by_group(back, "name"), back.colours) == (names, colours)


def test_rows_of_another_matrix_get_no_notes(tmp_path):
    """Rows have numbers only: row 3 of another matrix is another document."""
    rows, _, _ = sm.datasets.make_vmf_mixture(60, 5, 3, kappa=30.0, random_state=0)
    other, _, _ = sm.datasets.make_vmf_mixture(60, 5, 3, kappa=30.0, random_state=1)
    paths = {}
    for name, one in {"rows": rows, "other": other, "more": np.vstack([other[:20], rows])}.items():
        paths[name] = tmp_path / f"{name}.npy"
        np.save(paths[name], one)
    how = {"lemmatizer": None, "max_steps": 2, "force": True}
    run, _ = small(paths["rows"], tmp_path / "run", **how)
    run = run.edit({"notes": {"documents": {"3": "this row"}}, "misplaced": ["5"]})
    run.save(tmp_path / "copy")
    run, told = small(paths["other"], run.folder, **how)
    assert "note" not in run.documents
    assert "misplaced" not in run.documents
    assert any("the note 'this row' on document '3', which is not there" in x for x in told.told)
    assert any("None of the documents that were edited is in this run" in x for x in told.told)
    run, told = small(paths["more"], tmp_path / "copy", **how)
    assert [i for i, note in enumerate(run.documents["note"]) if note] == [22]
    assert [i for i, wrong in enumerate(run.documents["misplaced"]) if wrong] == [24]
    assert not [line for line in told.told if "not there" in line]


def test_names_that_clash_since_edits_followed_are_both_kept(corpus, run):
    run.edit({"names": {1: "Sea"}})
    found, told = small(corpus, run.folder, max_steps=2, names={0: "Sea"})
    assert found.names()[:2] == ["Sea", "Sea (2)"]
    line = "Two groups would have the name 'Sea': group 1 is called 'Sea (2)'."
    assert line in told.told
    again = found.edit({"notes": {"groups": {0: "kept"}}})
    assert again.names()[:2] == ["Sea", "Sea (2)"]
    with pytest.raises(ParameterError, match=r"have the same name, 'Sea': give one of them"):
        again.edit({"names": {2: "Sea"}})


def test_an_automatic_name_yields_to_one_that_followed():
    given = {1: Name(name="boat", source="mine.json")}
    with pytest.raises(ParameterError, match="'boat' is the automatic name of group 0"):
        put_names(["boat", "sky"], given)
    found = put_names(["boat", "sky"], given, {"boat"})
    assert [one.name for one in found] == ["boat (2)", "boat"]
    assert told_apart("a", {"a", "a (2)"}) == "a (3)"
    assert len(told_apart("a" * LONGEST, {"a" * LONGEST})) <= LONGEST
    three = {k: Name(name="x", source="f") for k in (2, 0, 1)}
    apart, said = Marks(three).apart()
    assert {k: one.name for k, one in apart.names.items()} == {0: "x", 1: "x (2)", 2: "x (3)"}
    assert len(said) == 2


@pytest.mark.parametrize("parts", [{"misplaced": ["doc 1"]}, {"merge": [[0, 1]]}], ids=str)
def test_names_of_a_function_stay_when_the_run_is_edited_further(corpus, run, parts):
    def namer(groups):
        return [f"called {one['group']}" for one in groups]

    run.edit(parts)
    named, _ = small(corpus, run.folder, max_steps=2, names=namer)
    expected = [f"called {k}" for k in range(len(named.mixture.weights_))]
    assert named.names() == expected
    further = named.edit({"notes": {"groups": {0: "more"}}})
    assert further.names() == expected
    assert further.edit({"merge": [[0, 1]]}).names() == [expected[0], *expected[2:]]
    assert further.undo_edits().names() == expected
    assert check_run(further.undo_edits(), refit=True) == []


def test_a_fit_that_fails_in_another_run_is_said(corpus, run, monkeypatch):
    run.edit({"drop_words": ["boat"], "names": {0: "zero"}})

    def fail(*_):
        raise ParameterError("no such groups")

    monkeypatch.setattr(apply_edits, "_fit", fail)
    found, told = small(corpus, run.folder, max_steps=2, seed=4)
    assert any("no such groups" in line for line in told.told)
    assert "boat" in found.feature_names
    assert found.check() == []


def test_a_word_that_is_left_out_for_another_reason_is_listed_with_it(corpus, tmp_path):
    """By the file of stop words or as asked: the words are the same, and the table is not."""
    word = sm.explore_corpus(corpus, None, k=2, criterion="none", lemmatizer="none").feature_names[
        0
    ]
    how = {"k": 2, "criterion": "none", "lemmatizer": "none", "threads": 1}
    reasons = []
    for asked in ({"drop": [word]}, {"stop_words": [word]}):
        run = sm.explore_corpus(corpus, tmp_path / "run", **how, **asked)
        table = run.read_table("removed_words")
        reasons.append(dict(zip(table["word"], table["reason"], strict=True))[word])
    assert reasons == ["dropped", "stop word"]
