"""The command itself: simulate and demo, options, help, versions and time left."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from cli_common import refusal, run
from spheremix.run.parsing import parse_df, parse_k, parse_kappa

from spheremix.cli.console import Terminal, duration, printable
from spheremix.reading import Reading
from spheremix.run.options import ExploreOptions
from spheremix.run.run import load_run
from spheremix.run.stages import name_candidates
from spheremix.text.selection import least_documents


def test_simulate(tmp_path):
    arguments = ("simulate", "-o", tmp_path / "one", "-n", 60, "-d", 5, "-k", 2, "--kappa", 20)
    out, _ = run(*arguments)
    assert "60 rows, 5 columns, 2 clusters" in out
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
    assert " . 22 clusters . " in out
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
        (["--k", "many"], "--k must be a number of clusters, as 5, a range, as 2:20, or several"),
        (["--k", "2:"], "--k must be a number of clusters"),
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


def test_help_says_defaults_in_one_way():
    out, _ = run("explore", "--help")
    said = " ".join(re.sub(r"[^\x20-\x7e]+", " ", out).split())
    assert "[default: (" not in said + run("demo", "--help")[0]
    for default in ("en", "advice"):
        assert f"[default: {default}]" in said
    assert "paper" not in said
    rule = (
        "1 below 20 documents, 2 below 120, 3 below 160, 4 below 200, 5 below 6,000, then a "
        "thousandth of the documents, at most 20"
    )
    assert f"[default: {rule}]" in said
    chosen = {n: least_documents(n) for n in (20, 119, 120, 199, 200, 5999, 6000, 19_999, 20_000)}
    assert list(chosen.values()) == [2, 2, 3, 4, 5, 5, 6, 19, 20]  # the rule


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
    listed = {"5": "5 clusters", "2:4": "2 to 4 clusters", "2,8": "2 and 8 clusters"}
    listed |= {"1": "1 cluster", "8,2,4": "2, 4 and 8 clusters", "3,2": "2 to 3 clusters"}
    assert {k: name_candidates(list(parse_k(k))) for k in listed} == listed


def test_time_left_is_that_of_the_stage(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    shown = Terminal(None)
    shown.begin("Walking")
    now[0] = 30.0
    shown.update(0.25, "a quarter")
    assert capsys.readouterr().err.split("\n")[1].split() == [
        "25%",
        "a",
        "quarter",
        "about",
        "2",
        "min",
        "left",
    ]
