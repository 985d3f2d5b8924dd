"""Other options on the same documents: what they do not change is reused, to the same bytes."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from pathlib import Path

import pytest
import typer
from cli_common import texts, write_lines
from killing import killed
from reuse_common import Heard, explore
from spheremix.run.command import given_again
from spheremix.run.ownership import Ownership

import spheremix as sm
from spheremix.cli.main import app
from spheremix.cli.naming import option_name
from spheremix.errors import Message

ALL = "The words, the matrix, 3 of 3 fits and the path of this folder were reused."
FITS = "The words, the matrix and 3 of 3 fits of this folder were reused."
BARE = "The words and the matrix of this folder were reused."
GONE = "Removed, since made with other options: 3 fits and the path."
PATH_GONE = "Removed, since made with other options: the path."


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


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def kept(found, expected):
    """Return what a folder has more than another one; all else must be the same bytes."""
    assert [name for name in expected if found.get(name) != expected[name]] == []
    return {name for name in found if name not in expected}


@pytest.mark.parametrize(
    ("more", "told", "extra"),
    [
        ({"k": "2:5"}, ["The words, the matrix, 3 of 4 fits and the path"], set()),
        ({"k": 3}, ["The words, the matrix, 1 of 1 fit and the path"], {2, 4}),
        slow({"k": 2}, ["The words, the matrix and 1 of 1 fit of", PATH_GONE], {3, 4}),
        slow({"criterion": "aic"}, [ALL], set()),
        ({"criterion": "none"}, [FITS], {"path"}),
        slow({"k_criterion": "icl"}, [FITS, PATH_GONE], set()),
        ({"max_steps": 10}, [FITS, PATH_GONE], set()),
        slow({"min_relative_increase": 0.1}, [FITS, PATH_GONE], set()),
        ({"seed": 1}, [BARE, GONE], set()),
        slow({"starts": 1}, [BARE, GONE], set()),
        slow({"kappa": "free"}, [BARE, GONE], set()),
        slow({"kappa": 20.0, "k": 2}, [BARE, GONE], set()),
        ({"label": "half"}, [ALL], set()),
        slow({"label": "none", "date": "none"}, [ALL], set()),
        slow({"id": "none"}, [ALL], set()),
        ({"text": "text", "language": "en"}, [ALL], set()),
        ({"names": {0: "the first"}}, [ALL], set()),
    ],
    ids=str,
)
def test_a_folder_used_again_has_the_bytes_of_a_new_one(
    corpus, base, copy, tmp_path, more, told, extra
):
    heard = explore(corpus, copy, **more)
    assert len(heard.told) == len(told)
    assert all(line.startswith(begin) for line, begin in zip(heard.told, told, strict=True))
    assert explore(corpus, tmp_path / "new" / "run", **more).told == []
    beside = kept(contents(copy), contents(tmp_path / "new" / "run"))
    tops = {name.split("/")[1] for name in beside if name.startswith("dense/")}
    tops |= {"path" for name in beside if name.startswith("path/")}
    assert tops == {str(one) for one in extra}
    advising = {n for n in beside if n.startswith(("stages/stability-", "stages/chance"))}
    assert advising <= set(contents(base))  # kept for whoever comes back to several numbers
    assert {name for name in beside - advising if name.startswith("stages/")} == {
        f"stages/{one if one == 'path' else f'dense-{one}'}.json" for one in extra
    }
    assert all(name.startswith(("dense/", "path/", "stages/")) for name in beside)
    assert not (copy / "progress").exists()
    assert not any(Ownership(copy).others(checked=True))
    assert explore(corpus, copy, **more).begun[-1].endswith("holds this run already, finished.")


def test_coming_back_takes_the_fits_that_were_kept(corpus, base, copy):
    explore(corpus, copy, k=2)
    explore(corpus, copy, k=4, criterion="none")
    heard = explore(corpus, copy)
    assert heard.told[0].startswith("The words, the matrix and 3 of 3 fits")
    assert contents(copy) == contents(base)


def test_force_removes_what_was_kept(corpus, copy, tmp_path):
    explore(corpus, copy, k=2)
    explore(corpus, copy, k=3, force=True)
    explore(corpus, tmp_path / "new" / "run", k=3)
    assert contents(copy) == contents(tmp_path / "new" / "run")


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
    kept(contents(tmp_path / "used" / "run"), contents(tmp_path / "new" / "run"))


def test_other_words_and_other_documents_are_refused(corpus, copy, tmp_path):
    before = contents(copy)
    with pytest.raises(sm.RunError, match="min_df is 3 now and was not given before"):
        explore(corpus, copy, min_df=3)
    with pytest.raises(sm.RunError, match="text is topic now and was not given before"):
        explore(corpus, copy, text="topic", label="none")
    more = write_lines(tmp_path / "more.jsonl", [*texts(40), {"id": "new", "text": "boat wave"}])
    labels = [{**one, "topic": "none"} for one in texts(40)]
    for source in (more, write_lines(tmp_path / "labels.jsonl", labels)):
        with pytest.raises(sm.RunError, match="of other documents"):
            explore(source, copy, k=2)
    assert contents(copy) == before


def test_the_options_of_a_refusal_can_be_copied_into_a_shell():
    before = {"label_from": "{company}/*", "drop": ["press release", "it's"], "k": [2, 3, 4]}
    before |= {"min_df": 1e-5, "label": ["a b", "c"], "stop_words": ["x"], "criterion": "bic"}
    now = {"k": [5, 6, 7], "relaxed": False, "kappa": 100.0, "names": {"source": "my names.csv"}}
    text, values = given_again(before, now)
    told = shlex.split(Message(text, values).render(option_name).removesuffix("."))
    assert told == [
        *("--label", "a b", "--label", "c", "--label-from", "{company}/*", "--stop-words", "FILE"),
        *("--drop", "press release,it's", "--min-df", "0.00001", "--k", "5:7", "--no-relaxed"),
        *("--kappa", "100.0", "--names", "my names.csv"),
    ]
    options = typer.main.get_command(app).commands["explore"].params
    known = {name for option in options for name in option.opts}
    assert {one for one in told if one.startswith("--")} <= known
    assert given_again(before, {**before, "k": [5]}) == ("", {})


def test_the_refusal_repeats_the_options_that_were_left_out(corpus, tmp_path):
    explore(corpus, tmp_path / "run", k=2, min_df=3, drop="boat,wave", drop_mixed=True)
    with pytest.raises(sm.RunError) as refused:
        explore(corpus, tmp_path / "run", k=3, min_df=3)
    said = refused.value.message.render(option_name)
    assert (
        "holds another run (--drop is not given now and was boat,wave before; --drop-mixed is not "
        "given now and was given before; --k is 3 now and was 2 before): choose another folder "
        "with -o, replace it with --force, or keep its words by giving its options again "
        "(--lemmatizer none --drop boat,wave --drop-mixed --min-df 3 --k 3 --starts 2 "
        "--max-steps 20)"
    ) in said
    explore(corpus, tmp_path / "run", k=3, min_df=3, drop="boat,wave", drop_mixed=True)
    assert len(sm.load_run(tmp_path / "run").clusters["cluster"]) == 3


def test_other_versions_of_libraries_are_refused(corpus, copy, monkeypatch):
    monkeypatch.setattr(sm, "__version__", "99")
    before = contents(copy)
    assert explore(corpus, copy).begun[-1].endswith("holds this run already, finished.")
    with pytest.raises(
        sm.RunError,
        match=r"\(spheremix is 99 now and was .* before; k is 2 now and was 2:4 before\): choose",
    ):
        explore(corpus, copy, k=2)
    assert contents(copy) == before


@pytest.mark.parametrize("name", ["documents.csv", "report.html", "dense/2/kappas.npy"])
def test_what_people_edited_is_named_and_stays(corpus, copy, name):
    with (copy / name).open("ab") as file:
        file.write(b"mine")
    before = contents(copy)
    with pytest.raises(sm.RunError, match=f"{name} .changed since"):
        explore(corpus, copy, k=2)
    assert contents(copy) == before


def test_options_that_are_refused_leave_the_run_as_it_was(corpus, copy):
    before = contents(copy)
    with pytest.raises(ValueError, match="41 clusters are too many"):
        explore(corpus, copy, k=41)
    with pytest.raises(ValueError, match="there is no cluster 9"):
        explore(corpus, copy, names={9: "the tenth"})
    assert contents(copy) == before


def test_what_was_removed_is_made_again(corpus, base, copy):
    """Files that somebody deleted are not edits."""
    for name in ("dense/3", "matrix"):
        shutil.rmtree(copy / name)
    (copy / "report.html").unlink()
    explore(corpus, copy, criterion="aic")
    explore(corpus, copy)
    assert contents(copy) == contents(base)


# Kills

WORK = """
from reuse_common import explore
explore({corpus!r}, {folder!r}, **{more!r})
"""


@pytest.mark.parametrize(
    "more",
    [slow({"k": "2:5", "criterion": "aic", "seed": 1}), {"label": "half", "names": {0: "first"}}],
)
def test_killed_at_any_moment_it_is_the_old_run_or_goes_on_to_the_new(
    server, corpus, base, tmp_path, more
):
    """Resumed by the new command, or by the old one, the folder is what it would have been."""
    explore(corpus, tmp_path / "new" / "run", **more)
    new, old, seen, n = contents(tmp_path / "new" / "run"), contents(base), set(), 0
    while True:
        folder = tmp_path / "killed" / "run"
        shutil.copytree(base, folder)
        work = WORK.format(corpus=str(corpus), folder=str(folder), more=more)
        if not killed(server, work, n):
            break
        state = contents(folder)
        seen.add("run.json" in state and json.loads(state["run.json"])["command"]["seed"])
        if "run.json" in state and state["run.json"] == old["run.json"]:
            kept(state, old)
            assert sm.load_run(folder).manifest.best_n_components == 3
        back = Path(shutil.copytree(folder, tmp_path / "back" / "run"))
        explore(corpus, folder, **more)
        assert kept(contents(folder), new) == set(), n
        explore(corpus, back)
        assert all(
            name.startswith(("dense/5", "stages/dense-5")) for name in kept(contents(back), old)
        )
        for one in (folder, back):
            assert not any(Ownership(one).others(checked=True))
            shutil.rmtree(one)
        n += 1 + n
    assert n > 20
    assert False in seen  # neither the old run nor the new one: on its way
    assert os.path.lexists(folder)
