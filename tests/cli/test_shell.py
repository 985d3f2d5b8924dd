"""The command itself: options, help, versions, streams, exit codes and environment variables."""

from __future__ import annotations

import csv
import dataclasses
import os
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from cli_common import refusal, run, texts, write_lines
from forked import server
from processes import Commands
from typer import Exit
from typer.testing import CliRunner

from spheremix.__main__ import warn_in_one_line
from spheremix.cli.console import Terminal, duration, printable
from spheremix.cli.guard import guarded
from spheremix.cli.main import app
from spheremix.reading import Reading
from spheremix.run.folder.files import RunError, replacing
from spheremix.run.options import ExploreOptions, parse_df, parse_k, parse_kappa
from spheremix.run.run import load_run
from spheremix.run.stages.dense import name_candidates
from spheremix.text.selection import least_documents

__all__ = ["server"]

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explore.md"


def section():
    text = PAGE.read_text(encoding="utf-8")
    return text.partition("\n## In a shell and in scripts\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("spheremix ex", "explore"), ("spheremix explore --min-d", "--min-df")],
)
def test_commands_and_options_are_completed(typed, offered):
    surroundings = {
        "_SPHEREMIX_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split()) - 1),
    }
    done = CliRunner().invoke(app, [], prog_name="spheremix", env=surroundings)
    assert offered in done.output.split()


SAY = """
from spheremix.cli.console import complain, remark, say
long = "Text seems to be decoded wrongly in 1,439 of 37,411 documents: mend it with --mend-encoding"
say(long, bold=True)
remark(f"{'x' * 30} {'z' * 90} {'y' * 60} {'\u6f22' * 30}")
complain(f"{long}.")
say("a " * 60, whole=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
def test_a_terminal_of_80_columns_gets_whole_words():
    import pty  # noqa: PLC0415 (not on Windows)

    master, slave = pty.openpty()
    surroundings = {**os.environ, "COLUMNS": "80", "TERM": "xterm"}
    command = [sys.executable, "-c", SAY]
    subprocess.run(command, stdout=slave, stderr=slave, env=surroundings, check=True)  # noqa: S603
    os.close(slave)
    text = os.read(master, 10_000).decode()
    os.close(master)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).replace("\r", "").splitlines()
    begin = "Text seems to be decoded wrongly in 1,439 of 37,411 documents: mend it with"
    assert lines[:2] == [begin, "--mend-encoding"]
    assert lines[2:6] == ["x" * 30, "z" * 90, "y" * 60, "\u6f22" * 30]
    assert lines[6:8] == ["error: " + begin.removesuffix(" with"), "with --mend-encoding."]
    assert lines[8] == "a " * 60


def test_exit_codes_are_documented(tmp_path):
    def code(*typed):
        return CliRunner().invoke(app, typed).exit_code

    listed = set(map(int, re.findall(r"^\| (\d+) \|", section(), re.MULTILINE)))
    assert listed == {0, 1, 2, 130}
    assert code("--version") == 0
    assert code("explore", str(tmp_path / "absent.csv")) == 2
    assert code("explore", "--no-such-option") == 2

    @guarded()
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(Exit) as caught:
        interrupted()
    assert caught.value.exit_code == 130


def test_every_variable_is_in_the_table():
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "csrc").iterdir()]
    read = {
        name
        for path in files
        for name in re.findall(r"\"(SPHEREMIX_[A-Z]+)\"", path.read_text(encoding="utf-8"))
    }
    listed = re.findall(r"^\| `(\w+)` \|", section(), re.MULTILINE)
    assert read | {"OMP_NUM_THREADS"} == set(listed)
    assert listed[:-1] == sorted(listed[:-1])


def test_a_warning_is_one_line(monkeypatch):
    monkeypatch.setattr("warnings.formatwarning", warnings.formatwarning)  # put back afterwards
    warn_in_one_line()
    shown = warnings.formatwarning(RuntimeWarning("slow."), RuntimeWarning, "open.py", 108, "x = 1")
    assert shown == "note: slow.\n"


# Interrupted


GOES_ON = "interrupted: start the same command again to go on."


def interrupt(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("command", "where", "said"),
    [
        (("explore", "docs.jsonl"), "spheremix.run.explore.explore_corpus", GOES_ON),
        (("demo",), "spheremix.datasets.load_docstrings", GOES_ON),
        (("assign", "run", "docs.jsonl"), "spheremix.run.run.load_run", "interrupted."),
        (("report", "run"), "spheremix.run.run.load_run", "interrupted."),
        (("simulate",), "spheremix.datasets.make_vmf_mixture", "interrupted."),
    ],
)
def test_only_commands_that_resume_promise_to_go_on(command, where, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "docs.jsonl", texts())
    monkeypatch.setattr(where, interrupt)
    _, err = run(*command, code=130)
    assert err.splitlines()[-1] == said


# Options and help


def test_simulate(tmp_path):
    arguments = ("simulate", "-o", tmp_path / "one", "-n", 60, "-d", 5, "-k", 2, "--kappa", 20)
    out, _ = run(*arguments)
    assert "60 rows, 5 columns, 2 groups" in out
    assert out.endswith(f"explore {tmp_path / 'one' / 'X.npy'} --criterion bic\n")  # zeros to find
    assert np.load(tmp_path / "one" / "X.npy").shape == (60, 5)
    truth = np.load(tmp_path / "one" / "truth.npz", allow_pickle=False)
    assert truth["prototypes"].shape == (2, 5)
    assert "there already" in refusal(*arguments)
    before = (tmp_path / "one" / "X.npy").read_bytes()
    run(*arguments, "--force")
    assert (tmp_path / "one" / "X.npy").read_bytes() == before
    assert "sparsity" in refusal("simulate", "-o", tmp_path / "two", "--sparsity", 2)


@pytest.mark.slow
def test_demo_makes_sense(tmp_path):
    out, _ = run("demo", "-o", tmp_path / "demo")
    assert " in 22 groups. " in out
    found = load_run(tmp_path / "demo")
    reading = Reading(found.path, found.feature_names)
    top = [{w.word for w in reading.vocabulary.words(k, 15, by="weight")} for k in range(22)]
    for word in ("spline", "eigenvalues", "sparse", "fft", "masked", "bessel", "jacobian"):
        assert sum(word in words for words in top) == 1, word
    assert found.info.label_agreement["package"].ari > 0.3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--k", "0"], "--k must be 1 or more"),
        (["--k", "0:4"], "--k must be 1 or more"),
        (["--k", "5:2"], "--k must be a range that goes up, as 2:5"),
        (["--k", "many"], "--k must be a number of groups, as 5, a range, as 2:20, or several"),
        (["--k", "2:"], "--k must be a number of groups"),
        (["--k", "2:9999"], "--k must have 1,000 numbers at most"),
        (
            ["--criterion", "best"],
            "--criterion must be one of aic, bic, ric, ricc, ebic, icl, none",
        ),
        (["--k-criterion", "none"], "--k-criterion must be one of advice, aic, bic"),
        (["--k-criterion", "best"], "--k-criterion must be one of advice, aic"),
        (["--kappa", "big"], "--kappa must be shared, free or a number above 0"),
        (["--kappa", "-3"], "--kappa must be shared, free or a number above 0"),
        (["--kappa", "nan"], "--kappa must be shared, free or a number above 0"),
        (["--min-df", "few"], "--min-df must be a number of documents"),
        (["--min-df", "1.5"], "--min-df must be a share in [0, 1]"),
        (["--min-count", "0"], "--min-count must be an integer of at least 1"),
        (["--weighting", "heavy"], "--weighting must be one of counts"),
        (["--lemmatizer", "magic"], "--lemmatizer must be one of simplemma, none"),
        (["--language", "xx"], "does not know --language xx"),
        (["--language", "english"], "--language must be a code"),
        (["--vocabulary", "words.txt"], "is not a matrix"),
        (["--texts", "docs.csv"], "is not a matrix"),
        (["--starts", "0"], "--starts must be an integer of at least 1"),
        (["--max-steps", "0"], "--max-steps must be an integer of at least 1"),
        *(
            (["--min-relative-increase", value], "increase must be at most 1,000,000")
            for value in ("1e308", "1e7")
        ),
    ],
)
def test_options_that_make_no_sense(tmp_path, options, words):
    """They are refused before the file is read: this one cannot be."""
    (tmp_path / "docs.jsonl").write_text("{", encoding="utf-8")
    _, err = run("explore", tmp_path / "docs.jsonl", "-o", tmp_path / "run", *options, code=2)
    assert words in err
    assert "Reading" not in err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("command", ["explore", "assign", "simulate", "demo"])
def test_help(command):
    out, _ = run(command, "--help")
    assert "--output" in out
    assert command in run("--help")[0]


def test_help_shows_a_dozen_options_and_all_where_they_are_asked_for():
    every = {one.name.replace("_", "-") for one in dataclasses.fields(ExploreOptions)}
    every = {"no-relaxed" if one == "relaxed" else one for one in every}
    every |= {"output", "force", "open", "help", "help-all"}
    listed = re.compile(r"^\W*--([a-z-]+) +(?:-\w +)?<", re.MULTILINE)
    first, _ = run("explore", "--help")
    shown = set(listed.findall(first))
    assert {"output", "text", "k", "help-all"} <= shown < every
    assert len(shown - {"help", "help-all"}) == 13
    assert set(listed.findall(run("explore", "--help-all")[0])) == every
    assert run("explore", "--help")[0] == first
    assert "--help-all" not in run("assign", "--help")[0]


def test_help_says_defaults_in_one_way():
    out, _ = run("explore", "--help-all")
    said = " ".join(re.sub(r"[^\x20-\x7e]+", " ", out).split())
    assert "[default: (" not in said + run("demo", "--help")[0]
    for default in ("simplemma", "advice"):
        assert f"[default: {default}]" in said
    assert "paper" not in said
    rule = (
        "1 below 20 documents, 2 below 120, 3 below 160, 4 below 200, 5 below 6,000, then a "
        "thousandth of the documents, at most 20"
    )
    assert f"[default: {rule}]" in said
    chosen = [least_documents(n) for n in (159, 160, 199, 200)]  # others are in tests/text
    assert chosen == [3, 4, 4, 5]


def test_help_does_not_wait_for_heavy_libraries():
    code = """
import sys
sys.argv = ["spheremix", "explore", "--help"]
from spheremix.__main__ import main
try:
    main()
finally:
    print(sorted({"numpy", "scipy", "sklearn"} & set(sys.modules)))
"""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_version_and_wrong_usage():
    assert run("--version")[0].startswith("spheremix 0.")
    assert "Missing argument" in run("explore", code=2)[1]
    _, err = run("explore", "x", "--clusters", "3", code=2)
    assert "No such option" in err
    assert "--k" in err


def test_without_typer_it_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; from spheremix.__main__ import main; main()"
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == (
        "error: the command takes the packages typer and rich: install them with pip install typer "
        "rich\n"
    )


def test_small_parts():
    assert parse_k("2:4") == (2, 3, 4)
    assert parse_k("7,3,3") == parse_k([7, 3]) == (3, 7)
    assert (parse_df("x", "5"), parse_df("x", "0.5"), parse_df("x", "50%")) == (5, 0.5, 0.5)
    assert parse_df("x", None) is None
    assert (parse_kappa("free"), parse_kappa("12")) == ("free", 12.0)
    assert (duration(3.2), duration(100), duration(9000)) == ("3 s", "2 min", "2.5 h")
    assert printable("a\x1b[0m\n") == "a?[0m?"
    sizes = {4: [2], 30: list(range(2, 16)), 300: list(range(2, 21))}
    assert {n: ExploreOptions().candidates(n, n) for n in sizes} == sizes
    listed = {"5": "5 groups", "2:4": "2 to 4 groups", "2,8": "2 and 8 groups"}
    listed |= {"1": "1 group", "8,2,4": "2, 4 and 8 groups", "3,2": "2 to 3 groups"}
    assert {k: name_candidates(list(parse_k(k))) for k in listed} == listed


def test_time_left_is_that_of_the_stage(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    shown = Terminal(None)
    shown.begin("Walking")
    now[0] = 30.0
    shown.update(0.25, "a quarter")
    said = capsys.readouterr().err.split("\n")[1]
    assert " ".join(said.split()) == "25% a quarter about 2 min left"


# Several at once, full disks and closed streams; explorations at once are in tests/outside

OPTIONS = ("--k", "2", "--starts", "1", "--max-steps", "5", "--lemmatizer", "none")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_lines(tmp_path_factory.mktemp("together") / "docs.jsonl", texts(60))


@pytest.fixture(scope="module")
def explored(corpus):
    folder = corpus.parent / "run"
    run("explore", corpus, "-o", folder, *OPTIONS)
    return folder


@pytest.fixture
def commands(server, tmp_path_factory):
    return Commands(server, tmp_path_factory.mktemp("said"))


@pytest.mark.parametrize("n", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_assigning_to_one_table_at_once(commands, explored, tmp_path, n):
    """Each of different documents: the table is always one of them, whole."""
    tables = []
    for i in range(n):
        new = write_lines(
            tmp_path / f"new{i}.jsonl", [dict(one, id=f"{i} {one['id']}") for one in texts(300)]
        )
        run("assign", explored, new, "-o", tmp_path / f"alone{i}.csv")
        tables.append((tmp_path / f"alone{i}.csv").read_bytes())
    table, seen = tmp_path / "table.csv", set()
    processes = [
        commands.start("assign", explored, tmp_path / f"new{i}.jsonl", "-o", table, "--force")
        for i in range(n)
    ]
    while any(process.exitcode is None for process in processes):
        if table.exists():
            seen.add(table.read_bytes())
        time.sleep(0.002)
    assert {commands.end(process)[0] for process in processes} == {0}
    seen.add(table.read_bytes())
    assert seen <= set(tables)
    assert not list(tmp_path.glob(".*"))


# What fails names its file, and leaves no draft


def test_a_full_disk_is_told_with_the_file(commands, corpus, explored, tmp_path):
    """As far as a limit of the size of files is like a full disk."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))"
    new = write_lines(tmp_path / "new.jsonl", texts(40))
    written = {
        "table.csv": ("assign", explored, new, "-o", tmp_path / "table.csv"),
        "page.html": ("report", explored, "-o", tmp_path / "page.html"),
        "X.npy": ("simulate", "-o", tmp_path / "simulated"),
        "run": ("explore", corpus, "-o", tmp_path / "run", *OPTIONS),
    }
    for name, arguments in written.items():
        code, text = commands.run(*arguments, first=limit)
        assert code == 2
        line = text.splitlines()[-1]
        assert name in line
        assert "cannot be written: " in line
        if name != "X.npy":  # NumPy has words of its own
            assert "File too large: make room for it" in line
        assert not list(tmp_path.rglob("*.part"))
    assert not (tmp_path / "table.csv").exists()
    assert not (tmp_path / "run").exists()  # it failed before anything was fitted


def test_a_file_that_fails_leaves_the_old_one(tmp_path):
    path = tmp_path / "old.txt"
    path.write_text("old")
    error = OSError(5, "Input/output error")
    with pytest.raises(RunError, match=r"old.txt: cannot be written: Input"), replacing(path):
        raise error
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["old.txt"]


@pytest.mark.parametrize(
    "closed", [(0, 1, 2), *(pytest.param(n, marks=pytest.mark.slow) for n in [(1,), (2,), (1, 2)])]
)
def test_closed_streams(explored, tmp_path, closed):
    def close():
        for number in closed:
            os.close(number)

    new = write_lines(tmp_path / "new.jsonl", texts(9))
    table = tmp_path / "table.csv"
    command = ["-m", "spheremix", "assign", str(explored), str(new), "-o", str(table)]
    done = subprocess.run([sys.executable, *command], preexec_fn=close, check=False)  # noqa: S603
    assert done.returncode == 0
    with table.open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 9
