"""Names that people and programs give to groups: checked, recorded, shown everywhere."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from cli_common import run as command
from cli_common import texts, write_lines
from reuse_common import OPTIONS, explore

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.run.names import LONGEST, read_names

GIVEN = {0: "tides & <boats>", 2: "Sterne"}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_lines(tmp_path_factory.mktemp("corpus") / "docs.jsonl", texts(40))


@pytest.fixture(scope="module")
def base(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("base") / "run"
    explore(corpus, folder, k=3)
    return folder


@pytest.fixture
def copy(base, tmp_path):
    return Path(shutil.copytree(base, tmp_path / "run"))


def table(path, rows, *columns):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns or ("group", "name"))
        writer.writerows(rows)
    return path


# Given names


def test_names_are_shown_everywhere_and_recorded(corpus, base, copy, tmp_path):
    automatic = sm.load_run(base)
    file = table(tmp_path / "names.csv", [(k, f" {name} ", "x") for k, name in GIVEN.items()],
                 "group", "name", "remark")  # fmt: skip
    explore(corpus, copy, k=3, names=file)
    run = sm.load_run(copy)
    expected = [*automatic.groups["name"]]
    for i, k in enumerate(automatic.groups["group"]):
        expected[i] = GIVEN.get(k, expected[i])
    assert run.groups["name"] == expected
    by_number = dict(zip(run.groups["group"], expected, strict=True))
    assert run.documents["name"] == [by_number[k] for k in run.documents["group"]]
    assert run.names() == [by_number[k] for k in range(3)]
    assert automatic.names() is None
    assert [one.source for one in run.info.names] == ["names.csv", "spheremix", "names.csv"]
    assert {one.source for one in automatic.info.names} == {"spheremix"}
    reading = sm.reading.Reading.from_run(run)
    assert [one.name for one in reading.groups()] == expected
    assert run.report().content["names"] == run.names()
    assert run.assign([run.corpus().texts[0]])["name"] == [run.documents["name"][0]]
    assert json.loads((copy / "run.json").read_text("utf-8"))["command"]["names"] == {
        "source": "names.csv",
        "names": {"0": GIVEN[0], "2": GIVEN[2]},
        "fit": None,
    }


def test_the_summary_shows_them_for_words_and_for_embeddings(corpus, tmp_path):
    file = table(tmp_path / "names.csv", [(0, "the sailors")])
    options = ("--k", 2, "--starts", 1, "--max-steps", 5)
    assert "the sailors" in command("explore", corpus, "-o", tmp_path / "a", *options,
                                    "--lemmatizer", "none", "--names", file)[0]  # fmt: skip
    rows, _, _ = sm.datasets.make_vmf_mixture(40, 4, 2, kappa=30.0, random_state=0)
    np.save(tmp_path / "rows.npy", rows)
    for more, found in (((), False), (("--names", file), True)):
        out, _ = command("explore", tmp_path / "rows.npy", "-o", tmp_path / "b", *options, *more)
        assert ("the sailors" in out) is found


def test_the_same_file_is_the_same_run_and_another_name_is_not(corpus, copy, tmp_path):
    file = table(tmp_path / "names.csv", [(0, "one")])
    explore(corpus, copy, k=3, names=file)
    assert "finished" in explore(corpus, copy, k=3, names=file).begun[-1]
    table(file, [(0, "two")])
    assert "the path" in explore(corpus, copy, k=3, names=file).told[0]
    assert sm.load_run(copy).names()[0] == "two"
    explore(corpus, copy, k=3)
    assert sm.load_run(copy).names() is None


# Checks


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([(0, "")], "name of group 0 must be a text that is not empty"),
        ([(0, " ")], "name of group 0 must be a text that is not empty"),
        ([(0, "a"), (0, "b")], "group 0 has two names"),
        ([(0, "a"), (1, "a ")], "groups 0 and 1 have the same name, 'a'"),
        ([("one", "a")], "'one' is not the number of a group"),
        ([(-2, "a")], "'-2' is not the number of a group"),
        ([("1.5", "a")], "'1.5' is not the number of a group"),
        ([(0, "x" * (LONGEST + 1))], "has 101 characters, more than 100"),
        ([(0, "a\x1b[31m")], "unprintable character"),
        ([(0, "a\nb")], "unprintable character"),
        ([(0, "a\u202eb")], "unprintable character"),
        ([], "there are no names"),
    ],
)
def test_names_that_cannot_be_used_are_refused_before_any_work(tmp_path, rows, problem):
    file = table(tmp_path / "names.csv", rows)
    with pytest.raises(ParameterError, match=r"names \(names.csv\): ") as raised:
        sm.explore_corpus(["a b"], tmp_path / "run", names=file)
    assert problem in str(raised.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        ({0: 5}, "name of group 0 must be a text"),
        ({True: "a"}, "True is not the number of a group"),
        ({None: "a"}, "None is not the number of a group"),
        ({}, "there are no names"),
        (7, "names must be a file, a mapping from numbers of groups to names, or a function"),
    ],
)
def test_names_in_python_are_checked_too(names, problem):
    with pytest.raises(ParameterError, match=problem):
        read_names(names)


def test_tables_without_the_columns_and_missing_files_are_named(tmp_path):
    with pytest.raises(ParameterError, match="there is no column 'group'"):
        read_names(table(tmp_path / "names.csv", [(0, "a")], "number", "name"))
    rows = [(0, "a", "x"), (1, "b", "y")]
    with pytest.raises(ParameterError, match="'fit' must have one value"):
        read_names(table(tmp_path / "names.csv", rows, "group", "name", "fit"))
    with pytest.raises(sm.text.ReadError, match=r"nowhere\.csv: there is no such file"):
        read_names(tmp_path / "nowhere.csv")


def test_joiners_and_other_scripts_are_names():
    names = {0: "\u0645\u06cc\u200c\u062e", np.int64(1): "音楽 🎵", "2": "l'été"}
    assert list(read_names(names).names) == [0, 1, 2]
    assert list(read_names(names).names.values()) == list(names.values())


def test_clusters_that_are_not_there_and_names_of_others_leave_the_run(corpus, base, copy):
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    with pytest.raises(ParameterError, match="there is no group 3: the run has 3 groups"):
        explore(corpus, copy, k=3, names={3: "a"})
    groups = sm.load_run(base).groups
    first, second = groups["group"][:2]
    with pytest.raises(ParameterError, match=f"is the automatic name of group {second}"):
        explore(corpus, copy, k=3, names={first: groups["name"][1]})
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before
    explore(corpus, copy, k=3, names={first: groups["name"][1], second: groups["name"][0]})
    assert sm.load_run(copy).groups["name"][:2] == groups["name"][1::-1]


# Names belong to a fit


def test_names_of_other_clusters_are_refused(corpus, copy, tmp_path):
    """By the fit that was in the folder when they were given, kills or not."""
    for _ in range(2):  # the second time, the folder is on its way
        with pytest.raises(ParameterError, match="these names were given to other groups"):
            explore(corpus, copy, k=2, names={0: "one"})
    explore(corpus, copy, k=2)
    explore(corpus, copy, k=2, names={0: "one"})
    explore(corpus, copy, k=2, criterion="aic", names={0: "one"})  # the same groups, sparser
    assert sm.load_run(copy).names()[0] == "one"
    explore(corpus, tmp_path / "new", k=3, names={0: "one"})  # nothing was there before


def test_names_of_edited_groups_are_given_with_edit(corpus, copy, tmp_path):
    run = sm.load_run(copy).edit({"merge": [[0, 1]]})
    names = table(tmp_path / "names.csv", [(0, "Both")])
    with pytest.raises(ParameterError, match=rf"with spheremix edit {copy} TABLE\.$"):
        explore(corpus, copy, k=3, names=names)
    assert sm.load_run(copy).info == run.info
    command("edit", copy, names)  # what is advised is done
    assert sm.load_run(copy).names()[0] == "Both"


def test_names_refused_after_new_fits_leave_the_finished_run(corpus, copy, tmp_path):
    names = table(tmp_path / "names.csv", [(0, "Sea")])
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    with pytest.raises(ParameterError, match="given to other groups"):
        explore(corpus, copy, k=4, names=names)  # these groups are not in the folder yet
    assert all(path.read_bytes() == content for path, content in before.items())
    assert len(sm.load_run(copy).groups["group"]) == 3
    explore(corpus, copy, k=3, names=names)
    assert "Sea" in sm.load_run(copy).groups["name"]


def test_a_stated_fit_counts_wherever_the_names_are_given(corpus, base, tmp_path):
    fit = sm.load_run(base).describe_groups()[0]["fit"]
    assert fit == sm.load_run(base).info.fit
    file = table(tmp_path / "names.csv", [(0, "one", fit), (1, "two", fit)], "group", "name", "fit")
    explore(corpus, tmp_path / "run", k=2)
    explore(corpus, tmp_path / "run", k=3, names=file)
    assert sm.load_run(tmp_path / "run").names()[:2] == ["one", "two"]
    with pytest.raises(ParameterError, match=f"those of the fit {fit}, and this is the fit"):
        explore(corpus, tmp_path / "run", k=2, names=file)


# Functions


def test_a_function_gets_plain_values_and_gives_names(corpus, copy):
    seen = []

    def namer(groups):
        seen.append(json.loads(json.dumps(groups)))
        return [f"{one['typical'][0]['id']}: {one['words'][0]['word']}" for one in groups]

    explore(corpus, copy, k=3, names=namer)
    run = sm.load_run(copy)
    [described] = seen
    assert run.names() == [f"{c['typical'][0]['id']}: {c['words'][0]['word']}" for c in described]
    assert {one.source for one in run.info.names} == {"namer"}
    assert [one["group"] for one in described] == [0, 1, 2]
    named = [{**one, "name": None} for one in run.describe_groups()]
    assert named == [{**one, "name": None} for one in described]
    texts_of = dict(zip(run.corpus().ids, run.corpus().texts, strict=True))
    for one in described:
        assert set(one) == {
            *("group", "fit", "size", "name", "words", "only_here", "typical", "labels")
        }
        assert one["size"] == run.documents["group"].count(one["group"])
        assert all(texts_of[document["id"]] == document["text"] for document in one["typical"])
        assert sum(label["documents"] for label in one["labels"]) == one["size"]
        weights = dict(zip(run.feature_names, run.mixture.prototypes_[one["group"]], strict=True))
        assert all(weights[word["word"]] == word["weight"] for word in one["words"])
        assert {word["word"] for word in one["only_here"]} <= set(weights)
    explore(corpus, copy, k=3, names=namer)  # done already: nobody is asked again
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (["a"], "must give a list of 3 names"),
        (None, "it gave None"),
        (["a", "a", "b"], "groups 0 and 1 have the same name"),
        ({5: "a"}, "there is no group 5"),
        (["a", "b", "c\x07"], "unprintable character"),
    ],
)
def test_what_a_function_gives_is_checked(corpus, copy, given, problem):
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    with pytest.raises(ParameterError, match=problem):
        explore(corpus, copy, k=3, names=lambda groups: given)  # noqa: ARG005
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before


def test_a_mapping_of_a_function_leaves_the_others(corpus, copy):
    explore(corpus, copy, k=3, names=lambda groups: {groups[1]["group"]: "second"})
    assert [one.source for one in sm.load_run(copy).info.names] == [
        *("spheremix", "<lambda>", "spheremix")
    ]


# The command


def test_the_command_describes_clusters_and_takes_names_as_json(corpus, base, tmp_path):
    out, _ = command("names", base)
    described = json.loads(out)
    assert described == sm.load_run(base).describe_groups()
    assert out.isascii()
    named = [
        {"group": c["group"], "name": c["words"][0]["word"], "fit": c["fit"]} for c in described
    ]
    (tmp_path / "names.json").write_text(json.dumps(named), encoding="utf-8")
    folder = shutil.copytree(base, tmp_path / "run")
    options = ("--k", 3, "--starts", OPTIONS["starts"], "--max-steps", OPTIONS["max_steps"])
    out, err = command("explore", corpus, "-o", folder, *options, "--lemmatizer", "none",
                       "--names", tmp_path / "names.json")  # fmt: skip
    assert "The words, the matrix, 1 of 1 fit and the path of this folder were reused." in err
    assert all(one["name"] in out for one in named)
    line = command("explore", corpus, "-o", folder, "--names", tmp_path / "none.csv", code=2)[1]
    assert "none.csv: there is no such file" in line


def test_embeddings_without_texts_are_described_by_their_columns(tmp_path):
    rows, _, _ = sm.datasets.make_vmf_mixture(40, 4, 2, kappa=30.0, random_state=0)
    matrix = sm.text.Matrix(rows, None, "rows", "array", [], "")
    run = sm.explore_corpus(matrix, tmp_path / "run", k=2, starts=1, names={1: "one"})
    described = run.describe_groups()
    assert [one["name"] for one in described][1] == "one"
    assert {one["typical"][0]["text"] for one in described} == {""}
    assert all(one["labels"] == [] for one in described)
