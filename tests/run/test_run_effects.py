"""Effects of columns of the documents on the groups of a run."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.run.effects import as_numbers, column_of
from spheremix.run.folder.files import RunError
from spheremix.text import Corpus

TOPICS = ("boat harbour wave sailor anchor", "star planet moon comet telescope")
OPTIONS = {"k": 2, "starts": 1, "min_df": 1, "lemmatizer": "none", "criterion": "none"}


def corpus(n=120, *, n_parts=1):
    """Make documents of two subjects; of the second more with one party, and more with time."""
    rng = np.random.default_rng(0)
    party = np.where(rng.random(n) < 0.5, "left", "right")
    years = 2000 + np.arange(n) % 12
    texts = []
    for one, year in zip(party, years, strict=True):
        chance = 0.15 + 0.5 * (one == "right") + 0.02 * (year - 2000)
        words = [TOPICS[int(rng.random() < chance)].split() for _ in range(n_parts)]
        texts.append("\n\n".join(" ".join(rng.choice(own, 8)) + "." for own in words))
    return Corpus(
        texts,
        [f"d{i}" for i in range(n)],
        dates=[f"{year}-0{1 + i % 9}-01" for i, year in enumerate(years)],
        labels={"party": [(one,) if i else () for i, one in enumerate(party)]},
        metadata={"age": [str(20 + i % 40) for i in range(n)], "=odd": [i % 2 for i in range(n)]},
    )


@pytest.fixture(scope="module")
def explored(tmp_path_factory):
    return sm.explore_corpus(corpus(), tmp_path_factory.mktemp("effects") / "run", **OPTIONS)


def values_of(found):
    return [(one.shares, one.draws) for one in found.columns]


def test_they_are_those_of_the_rows_and_the_columns(explored):
    found = explored.effects(["party", "year"], n_replicates=20)
    documents = corpus()
    by = {
        "party": [one[0] if one else None for one in documents.labels["party"]],
        "year": [int(date[:4]) for date in documents.dates],
    }
    wanted = sm.effects(
        explored.mixture,
        explored.matrix(),
        by,
        stability=explored.stability(),
        n_replicates=20,
        random_state=0,
    )
    for (shares, draws), (own, drawn) in zip(values_of(found), values_of(wanted), strict=True):
        assert_array_equal(shares, own)
        assert_array_equal(draws, drawn)
    assert found.n_missing == 1
    assert found.names == tuple(explored.reading.group_name(k) for k in range(2))
    stars = next(
        k
        for k, name in enumerate(found.names)
        if set(name.lower().split(" · ")) & {*TOPICS[1].split()}
    )
    assert found["party"].difference("right", "left").low[stars] > 0.0
    assert values_of(explored.effects("party,year", n_replicates=20))[1][0].tolist() == (
        found["year"].shares.tolist()
    )


def test_documents_that_were_split_count_once_and_are_drawn_whole():
    documents = corpus(60, n_parts=5)
    run = sm.explore_corpus(documents, None, **OPTIONS, split="paragraphs")
    found = run.effects("party", n_replicates=30)
    assert found.n_documents == 59
    # The groups are clear: proportions are means of the shares of documents.
    shares = np.array([run.shares[f"group_{k}"] for k in range(2)]).T
    party = [one[0] if one else None for one in documents.labels["party"]]
    for v, value in enumerate(found["party"].values):
        means = shares[[one == value for one in party]].mean(axis=0)
        assert_allclose(found["party"].shares[v], means, atol=0.01)


def test_an_exploration_has_them_in_its_table_and_its_readme(tmp_path):
    run = sm.explore_corpus(corpus(), tmp_path / "run", **OPTIONS, effects="party, year")
    found = run.effects(["party", "year"])
    told = sm.load_run(run.folder).told_effects
    for (shares, draws), (own, drawn) in zip(values_of(told), values_of(found), strict=True):
        assert_array_equal(shares, own)
        assert_array_equal(draws, drawn)
    table = run.read_table("effects")
    assert table["value"][:4] == ["left", "left", "right", "right"]
    assert table["group"][:4] == [0, 1, 0, 1]
    assert_allclose(table["low"][:4], told["party"].low.ravel())
    difference = told["party"].difference("right", "left")
    assert (table["value"][4], table["other"][4:6]) == ("right", ["left", "left"])
    assert_allclose(table["difference"][4:6], difference.estimates)
    assert_allclose(table["high"][4:6], difference.high)
    assert table["share"][4:6] == table["difference"][:2] == [None, None]
    readme = " ".join((run.folder / "README.txt").read_text(encoding="utf-8").split())
    assert told.sentences(told["party"])[0] in readme
    names = [one for one in run.figures() if one.startswith("effects")]
    assert names == ["effects.svg", "effects.png", "effects-2.svg", "effects-2.png"]
    named = run.edit({"names": {0: "The sea"}})
    assert "The sea" in named.read_table("effects")["name"]
    assert_array_equal(named.told_effects["party"].draws, told["party"].draws)


def test_columns_that_are_asked_for_are_checked_before_all_the_work(tmp_path):
    with pytest.raises(ParameterError, match="effects: the documents of the run have no column"):
        sm.explore_corpus(corpus(), tmp_path / "run", **OPTIONS, effects="colour")
    assert not (tmp_path / "run").exists()


def test_columns_of_documents():
    documents = corpus(12)
    assert column_of(documents, "party")[0] is None
    assert column_of(documents, "age")[:2].tolist() == [20.0, 21.0]
    assert column_of(documents, "=odd").tolist() == [0, 1] * 6
    assert column_of(documents, "date").dtype.kind == "M"
    assert column_of(documents, "year").tolist() == list(range(2000, 2012))
    years = Corpus(["a", "b"], ["1", "2"], dates=["1990", None])
    assert column_of(years, "date").tolist() == [1990, None]
    assert as_numbers(["1", "", "2.5", None]).tolist() == [1.0, None, 2.5, None]
    assert as_numbers(["1", "nan"]).tolist() == ["1", "nan"]
    assert as_numbers(["1", "b"]).tolist() == ["1", "b"]


def test_what_is_refused(explored):
    with pytest.raises(
        ParameterError, match="no column 'colour'; they have 'party', 'age', '=odd'"
    ):
        explored.effects("colour")
    several = Corpus(["a b", "b a"], ["1", "2"], labels={"who": [("x", "y"), ("x",)]})
    with pytest.raises(ParameterError, match=r"several labels in the column 'who' \(x, y\)"):
        column_of(several, "who")
    rows = np.random.default_rng(0).normal(size=(30, 4))
    alone = sm.explore_corpus(sm.text.Matrix(rows, None, "", "", [], ""), None, k=2)
    with pytest.raises(RunError, match="has no documents"):
        alone.effects("party")


def test_the_command(explored, tmp_path):
    common = pytest.importorskip("cli_common")
    table = tmp_path / "effects.csv"
    how = ("effects", explored.folder, "--by", "party,year", "--draws", 20, "-o", table)
    said, _ = common.run(*how)
    assert "119 documents, 95 % intervals from 20 draws of the documents; 1 without" in said
    assert "difference" in said
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["value"] for row in rows[:4]] == ["left", "left", "right", "right"]
    found = explored.effects(["party", "year"], n_replicates=20)
    assert float(rows[0]["share"]) == pytest.approx(found["party"].shares[0, 0], rel=1e-4)
    assert float(rows[0]["low"]) == pytest.approx(found["party"].low[0, 0], rel=1e-4)
    assert "there already" in common.refusal(*how)
    assert "no column 'colour'" in common.refusal("effects", explored.folder, "--by", "colour")
