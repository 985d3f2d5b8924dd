"""The study of filings: in small on a generated corpus, and what its committed page rests on."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from experiments import (
    filings,
    filings_beside,
    filings_excerpts,
    filings_figures,
    filings_models,
    filings_page,
    filings_stories,
    runner,
)
from experiments.drawing import read
from sklearn.metrics import adjusted_rand_score

ROOT = Path(__file__).parents[2]
PAGE, FULL = ROOT / "docs" / "filings.md", runner.RESULTS / "filings.md"
# Kinds of filings: words of their own, events, months, and how many there are.
KINDS = (
    ("ocean harbor vessel anchor sailor", ("2.02", "9.01"), (1, 7), 16),
    ("garden flower orchard blossom meadow", ("8.01",), (5,), 12),
    ("election chairman pension bonus departure", ("5.02", "9.01"), (3, 9), 8),
)
FRAME = "company security registrant report"


def corpus():
    """Draw filings whose kinds are known: (kind, record), in the order of their dates."""
    rng = np.random.default_rng(0)
    found = []
    for kind, (own, events, months, n) in enumerate(KINDS):
        for i in range(n):
            words = [*rng.choice(own.split(), 12), *rng.choice(FRAME.split(), 8)]
            date = f"{2010 + i // len(months) % 4}-{months[i % len(months)]:02d}-15"
            record = {"text": " ".join(words).capitalize() + ".", "labels": list(events)}
            found.append((kind, record | {"id": f"{kind}-{i}", "date": date}))
    return sorted(found, key=lambda pair: (pair[1]["date"], pair[1]["id"]))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Run the command at the least scale; give its folder."""
    folder = tmp_path_factory.mktemp("filings")
    file = folder / filings_models.FILE
    file.parent.mkdir()
    with gzip.open(file, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(record) + "\n" for _, record in corpus())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPHEREMIX_DATA", str(folder))
        (folder / "docs").mkdir()
        places = [f"--{name}={folder / name}" for name in ("results", "cache", "docs")]
        filings.main(["--scale", "0", "--workers", "1", *places])
    return folder


class TestStudy:
    def test_every_model_finds_the_kinds(self, small):
        sizes = read(small / "results", "filings_sizes")
        for model in ("skmeans", "dbmovmfs", "sparse"):
            assert list(sizes.loc[sizes["model"] == model, "size"]) == [kind[3] for kind in KINDS]
        ari = read(small / "results", "filings_agreement")["ari"]
        assert ari.min() == pytest.approx(1.0)
        # A cluster has the events of its kind, all of its filings have them, and no other.
        events = filings_stories.event_table(small / "results", "sparse")
        for (_, row), (_, expected, _, n) in zip(events.iterrows(), KINDS, strict=True):
            assert row[row > 0].to_dict() == dict.fromkeys(expected, n)

    def test_events_are_counted_once_a_filing(self, small):
        found = pd.read_csv(small / "results" / "filings_labels.csv", dtype={"event": str})
        expected = pd.Series([e for _, r in corpus() for e in r["labels"]]).value_counts()
        assert found.set_index("event")["filings"].to_dict() == expected.to_dict()
        for model in ("skmeans", "dbmovmfs", "sparse", "smallest"):
            table = filings_stories.event_table(small / "results", model)
            assert table.sum().to_dict() == expected.to_dict()

    def test_months_are_those_of_the_filings(self, small):
        found = filings_stories.month_table(small / "results", "sparse")
        expected = pd.Series([record["date"][:7] for _, record in corpus()]).value_counts()
        assert found.groupby("month")["filings"].sum().to_dict() == expected.to_dict()

    def test_own_words_are_those_of_a_kind(self, small):
        words = read(small / "results", "filings_words")
        for _, own in words[words["clusters"] == 1].groupby("cluster")["word"]:
            assert any(set(own) <= set(kind[0].split()) for kind in KINDS)
        common = set(words.loc[words["clusters"] == words["cluster"].max(), "word"])
        assert common <= set(FRAME.split())

    def test_agreements_are_between_the_partitions(self, small, monkeypatch):
        monkeypatch.setenv("SPHEREMIX_DATA", str(small))
        data = filings_models.filings()
        found = filings_models.search(data.rows, [2, 3, 4, 5, 6], 5, 0)
        chosen = filings_models.references(found)
        ari = read(small / "results", "filings_agreement").set_index(["model", "other"])["ari"]
        expected = adjusted_rand_score(chosen["skmeans"].labels, chosen["dbmovmfs"].labels)
        assert ari["skmeans", "dbmovmfs"] == pytest.approx(expected)
        assert [r["id"] for _, r in corpus()] == data.corpus.ids
        pair = read(small / "results", "filings_common").query("model == 'skmeans'")
        table = pair.pivot_table("filings", "cluster", "other_cluster").to_numpy()
        mine, theirs = chosen["skmeans"].labels, chosen["dbmovmfs"].labels
        for k, j in np.ndindex(table.shape):
            assert table[k, j] == np.sum((mine == k) & (theirs == j))

    def test_no_file_no_study(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setenv("SPHEREMIX_DATA", str(tmp_path))
        with pytest.raises(SystemExit):
            filings.main([])
        assert "SPHEREMIX_DATA" in capsys.readouterr().err


class TestChoice:
    def test_a_turn_is_below_both_neighbours(self):
        assert filings_models.turn([2, 3, 4, 5, 6], [9.0, 5.0, 6.0, 2.0, 1.0]) == 3
        assert filings_models.turn([2, 3, 4], [9.0, 8.0, 7.0]) == 4
        assert filings_models.turn([2, 3, 4], [1.0, 8.0, 9.0]) == 2

    def test_what_failed_is_not_chosen(self):
        assert filings_models.smallest([2, 3, 4], [np.nan, 8.0, 7.0]) == 4


class TestExcerpts:
    def test_they_are_short_and_marked(self, small):
        found = read(small / "results", "filings_excerpts")
        assert len(found) == 2
        own = read(small / "results", "filings_words").query("clusters == 1")
        for row in found.itertuples():
            assert len(row.excerpt.replace("[…]", "").split()) <= filings_excerpts.WORDS
            mine = set(own.loc[own["cluster"] == row.cluster, "word"])
            bold = re.findall(r"\*\*(\w+)\*\*", row.excerpt)
            assert {word.lower() for word in bold} <= mine
        assert found["events"].str.contains(filings_excerpts.EVENT).iloc[1]

    @pytest.mark.parametrize(
        ("piece", "kind", "expected"),
        [
            ('"(Notes"),', "own", '"(**Notes**"),'),
            ("a*b", "", r"a\*b"),
            ("$750,000", "", r"\$750,000"),  # no formula
            ("Company's", "common", "*Company's*"),
            ("--", "own", "--"),
        ],
    )
    def test_signs_stay_outside_of_marks(self, piece, kind, expected):
        assert filings_excerpts._mark(piece, kind) == expected


class TestStories:
    def test_a_story_needs_all_its_facts(self):
        found = filings_stories.told(runner.RESULTS)
        for story, facts in found.values():
            assert story.holds(facts)
            for event, (low, high) in story.shares.items():
                share = facts.events[event] / facts.size
                assert low <= share <= high
                other = facts.events | {event: 0 if low > 0 else facts.size}
                assert not story.holds(replace(facts, events=other))
            assert not story.own or not story.holds(replace(facts, own=()))
            assert not story.words or not story.holds(replace(facts, words=()))
            assert not story.seasonal or not story.holds(replace(facts, months={}))
            assert not story.most or not story.holds(replace(facts, most=frozenset()))

    def test_each_cluster_has_one_and_each_story_is_told(self):
        found = filings_stories.told(runner.RESULTS)
        assert None not in found.values()
        titles = [story.title for story, _ in found.values()]
        assert sorted(titles) == sorted(story.title for story in filings_stories.STORIES)

    def test_other_filings_are_not_given_these_words(self, small):
        assert set(filings_stories.told(small / "results").values()) == {None}


class TestPage:
    def test_they_are_up_to_date(self):
        assert PAGE.read_text(encoding="utf-8") == filings_page.text(runner.RESULTS)
        assert FULL.read_text(encoding="utf-8") == filings_page.full(runner.RESULTS)

    def test_they_show_every_figure(self):
        page = PAGE.read_text(encoding="utf-8") + FULL.read_text(encoding="utf-8")
        shown = set(re.findall(r"figures/filings/([\w-]+)\.svg", page))
        assert shown == set(filings_figures.FIGURES)
        folder = ROOT / "docs" / "figures" / "filings"
        assert {file.name for file in folder.iterdir()} == {
            f"{name}.{kind}" for name in shown for kind in ("svg", "png")
        }

    def test_the_small_study_has_a_page_and_figures(self, small):
        page = (small / "docs" / "filings.md").read_text(encoding="utf-8")
        n = len(corpus())
        full = (small / "results" / "filings.md").read_text(encoding="utf-8")
        assert f"{n} filings, none set aside" in full
        assert page.count("No story holds") == len(read(small / "results", "filings_clusters"))
        drawn = list((small / "docs" / "figures" / "filings").iterdir())
        assert len(drawn) == 2 * len(filings_figures.FIGURES)

    def test_fixed_sentences_rest_on_the_results(self):
        page = PAGE.read_text(encoding="utf-8") + FULL.read_text(encoding="utf-8")
        for sentence in (
            "comes with most filings",
            "In both, one cluster has most of the filings.",
            "its smallest value chooses no K.",
            "the name of the company or the frame of a filing",
            "differ by what was converted to text",
            "of one event through and through",
            "a cluster of nothing but votes",
            "the luck of the starts matters more than K",
        ):
            assert sentence in " ".join(page.split()), sentence
        thresholds = read(runner.RESULTS, "filings_thresholds")
        assert thresholds["ari"].min() > 0.9  # the words dropped as rare decide nothing

    def test_numbers_of_the_paper_are_beside_ours(self):
        turn = int(read(runner.RESULTS, "filings_clusters")["cluster"].max())
        found = filings_beside.beside(runner.RESULTS, turn)
        verdicts = {one.what: one.same for one in found}
        assert verdicts["K of Sk-means by Calinski-Harabasz"]
        assert verdicts["beta and sparsity of the chosen step"]
        assert not verdicts["K by the smallest RICc"]
