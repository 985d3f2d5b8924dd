"""Which model an exploration chooses: with a penalty or without, and how far its starts agree."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from cli_common import rows, run, texts, write_lines
from numpy.testing import assert_allclose

import spheremix as sm
from spheremix.cli.summary import summarise
from spheremix.display.run import displays
from spheremix.reading import agreement
from spheremix.run.columns import OF_THE_RUN
from spheremix.run.sentences import remarks

OPTIONS = ("-k", "2:4", "--starts", 3, "--max-steps", 40)


@pytest.fixture(scope="module")
def embeddings(tmp_path_factory):
    """Rows near three directions."""
    rng = np.random.default_rng(0)
    rows = np.eye(3, 12)[np.arange(60) % 3] + 0.1 * rng.normal(size=(60, 12))
    place = tmp_path_factory.mktemp("dense") / "E.npy"
    np.save(place, rows)
    return place


@pytest.fixture(scope="module")
def explored(embeddings):
    """A run on embeddings, and what was said."""
    folder = embeddings.parent / "run"
    return folder, *run("explore", embeddings, *OPTIONS, "-o", folder)


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """A run without penalty on texts, and their file."""
    source = write_lines(tmp_path_factory.mktemp("words") / "docs.jsonl", texts())
    folder = source.parent / "run"
    run("explore", source, *OPTIONS, "--criterion", "none", "-o", folder)
    return folder, source


def test_embeddings_keep_the_mixture_without_penalty(explored, embeddings):
    folder, out, err = explored
    found = sm.load_run(folder)
    assert found.path is None
    assert found.info.command["criterion"] == "none"
    mixture = sm.VMFMixture(3, n_init=3, random_state=0).fit(np.load(embeddings))
    groups = [int(one["group"]) for one in rows(folder / "documents.csv")]
    assert groups == mixture.labels_.tolist()
    assert found.mixture.beta == 0.0
    assert "60 documents in 3 groups, by 12 columns.\n" in out
    told = " ".join((folder / "README.txt").read_text(encoding="utf-8").split())
    assert "12 columns . 3 groups (by advice, 3 numbers tried) . no penalty." in told
    assert "path" not in out
    assert "Following" not in err


def test_no_file_and_no_legend_speaks_of_a_path(explored):
    folder, _, _ = explored
    assert [path for path in folder.rglob("*") if "path" in path.name] == []
    legend = (folder / "README.txt").read_text(encoding="utf-8")
    assert "exit_beta" not in legend
    assert "tables/path.csv" not in legend
    assert "tables/dense.csv" in legend


def test_the_score_that_decided_is_drawn(explored, embeddings, tmp_path):
    assert displays(sm.load_run(explored[0]))["criteria"].n_components.tolist() == [2, 3, 4]
    run("explore", embeddings, *OPTIONS, "--k-criterion", "bic", "-o", tmp_path / "run")
    drawn = displays(sm.load_run(tmp_path / "run"))["criteria"]
    assert drawn.n_samples == 60  # criteria are drawn per row


def test_a_criterion_sets_embeddings_on_the_path(explored, embeddings, tmp_path, capsys):
    folder = tmp_path / "run"
    _, err = run("explore", embeddings, *OPTIONS, "--criterion", "bic", "-o", folder)
    told = " ".join((folder / "README.txt").read_text(encoding="utf-8").split())
    assert "of the columns (by BIC)" in told
    assert "no penalty" not in told
    assert "Following the path" in err
    found = sm.load_run(folder)
    assert found.path.criterion == "bic"
    assert len(rows(folder / "tables" / "path.csv")) == len(found.path.betas_)
    assert "exit_beta" in rows(folder / "words.csv")[0]
    # The path begins where the other run ends.
    dense = sm.load_run(explored[0]).mixture
    # No criterion chooses this step: its values are kept to four digits.
    assert_allclose(found.path.model(0).prototypes_, dense.prototypes_, rtol=2.5e-4)
    found.path.status_ = "vanished"
    summarise(found)
    assert "a group lost its direction.\n" in capsys.readouterr().out
    told = [one.render() for one in remarks(found)]
    assert any("lost its direction: columns still there have an exit_beta" in one for one in told)


def test_the_default_is_the_criterion_none(explored, embeddings):
    command = ("explore", embeddings, *OPTIONS, "-o", explored[0])
    assert "holds this run already" in run(*command, "--criterion", "none")[1]


def test_words_without_a_penalty(words):
    folder, source = words
    found = sm.load_run(folder)
    assert found.path is None
    expected = sm.VMFMixture(3, n_init=3, random_state=0).fit(found.matrix())
    assert np.array_equal(found.mixture.prototypes_, expected.prototypes_)
    assert agreement(found.mixture.labels_, [one["topic"] for one in texts()]).ari == 1.0
    named = {one["name"].split()[0] for one in rows(folder / "groups.csv")}
    assert len(named) == 3
    out, _ = run("explore", source, *OPTIONS, "--criterion", "none", "-o", folder)
    assert " in 3 groups, by " in out
    told = (folder / "README.txt").read_text(encoding="utf-8")
    assert "no penalty" in told
    assert "Only here:" not in told
    for k in range(3):  # in order, though lines may be cut
        heaviest = [one["word"] for one in rows(folder / "words.csv") if one["group"] == str(k)]
        assert re.search(r"\W+".join([r"\b", *heaviest[:2]]), told)


def test_assign_by_a_mixture_without_penalty(explored, words, embeddings, tmp_path):
    run("assign", explored[0], embeddings, "-o", tmp_path / "rows.csv")
    expected = rows(explored[0] / "documents.csv")
    for one in expected:
        for name in set(one) & set(OF_THE_RUN):
            del one[name]
    found = rows(tmp_path / "rows.csv")
    for one in found:
        assert 0.0 < float(one.pop("fit_p_value")) <= 1.0
        assert one.pop("new_group") == ""
    assert found == expected
    out, _ = run("assign", *words, "-o", tmp_path / "texts.csv")
    assert "90 documents assigned, 0 without a group" in out
    again = [one["group"] for one in rows(tmp_path / "texts.csv")]
    assert again == [one["group"] for one in rows(words[0] / "documents.csv")]


# Refits, and starts


@pytest.mark.parametrize("flag", [None, "--no-relaxed"])
def test_the_path_is_refitted_unless_told_otherwise(tmp_path, flag):
    documents, folder = write_lines(tmp_path / "docs.jsonl", texts()), tmp_path / "run"
    options = ["-k", 3, "--starts", 2, "--max-steps", 40, *([flag] if flag else [])]
    run("explore", documents, "-o", folder, *options)
    path = sm.load_run(folder).path
    assert path.relaxed is (flag != "--no-relaxed")
    found = [float(one["log_likelihood"]) for one in rows(folder / "tables" / "path.csv")]
    judged = path.state_.refits if path.relaxed else path.state_.steps
    expected = [point.log_likelihood for point in judged]
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.fixture(scope="module")
def noise(tmp_path_factory):
    """Documents without topics: every start finds other groups."""
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
    assert f"agree by only {shown} %: raise --starts or try another --k." in out
    told = " ".join((folder / "README.txt").read_text(encoding="utf-8").split())
    assert f"agree with these groups by only {shown} % (adjusted Rand index)" in told


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
