"""The command says how far the starts of a number of clusters agree."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cli_common import rows, run, texts, write_lines

import spheremix as sm


@pytest.fixture(scope="module")
def noise(tmp_path_factory):
    """Documents without topics: every start finds other clusters."""
    rng = np.random.default_rng(0)
    words = [f"{a}{b}o" for a in "bdfgklmnprst" for b in "aeiou"]
    documents = ({"id": i, "text": " ".join(rng.choice(words, 30))} for i in range(150))
    return write_lines(tmp_path_factory.mktemp("noise") / "docs.jsonl", documents)


def test_starts_that_disagree_are_said(noise, tmp_path):
    folder = tmp_path / "run"
    options = ("--lemmatizer", "none", "--starts", "4", "--criterion", "none")
    options += ("--k-criterion", "ebic")
    out, _ = run("explore", noise, "-o", folder, "--k", "5,6", *options)
    table = {
        int(row["n_groups"]): float(row["agreement"])
        for row in rows(folder / "tables" / "dense.csv")
    }
    study = sm.VMFMixtureIC([5, 6], k_criterion="ebic", paths="none", n_init=4, random_state=0)
    study.fit(sm.load_run(folder).matrix())
    assert list(table.values()) == pytest.approx(study.agreement_, abs=2e-3)
    found = sm.load_run(folder)
    assert list(found.start_agreement) == [5, 6]
    chosen = found.start_agreement[found.info.n_groups]
    assert chosen < 0.6
    shown = math.floor(100 * chosen)  # rounded down: what is below 60 % looks so
    assert f"agree with these groups by only {shown} % (adjusted Rand index)" in " ".join(
        out.split()
    )


@pytest.mark.parametrize(("starts", "expected"), [("3", "number"), ("1", "nan")])
def test_starts_that_agree_are_not(tmp_path, starts, expected):
    """Nor is a single one, which agrees with nobody."""
    corpus, folder = write_lines(tmp_path / "docs.jsonl", texts()), tmp_path / "run"
    options = ("--lemmatizer", "none", "--criterion", "none", "--starts", starts)
    out, _ = run("explore", corpus, "-o", folder, "--k", "3", *options)
    assert "agree with these groups" not in out
    (row,) = rows(folder / "tables" / "dense.csv")
    if expected == "nan":
        assert row["agreement"] == "nan"
    else:
        assert float(row["agreement"]) > 0.6
