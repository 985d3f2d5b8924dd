"""What a report says about its run: the advice with its evidence, remarks and warnings."""

from __future__ import annotations

import pytest
from cli_common import texts, write_lines

import spheremix as sm
from spheremix.run.sentences import remarks, warnings

OPTIONS = {"starts": 2, "threads": 1, "criterion": "none", "k": "2:3", "min_df": 1}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two topics, the largest number of groups chosen, and a document without words."""
    folder = tmp_path_factory.mktemp("remarks")
    path = write_lines(folder / "news.jsonl", [*texts(60), {"id": "empty", "text": ""}])
    return sm.explore_corpus(path, folder / "run", **OPTIONS)


def test_the_page_says_what_the_terminal_says(run):
    found = run.report().content["remarks"]
    assert len(found) == len(remarks(run))
    warned = [one["text"] for one in found if one["warning"]]
    assert len(warned) == len(warnings(run)) > 1
    assert any("1 of 61 documents set aside" in text for text in warned)
    assert any("largest number of groups" in text for text in warned)
    assert not any(text.startswith("Words:") for text in warned)
    assert [one["groups"] for one in found] == [list(map(list, one.groups)) for one in remarks(run)]


def test_the_page_says_in_words_what_the_terminal_says_with_options_and_files(run):
    typed = " ".join(one.render(lambda name: f"--{name}") for one in remarks(run))
    shown = " ".join(one["text"] for one in run.report().content["remarks"])
    for named in ("--k 3:6", "documents.csv"):
        assert named in typed
        assert named not in shown
    assert "make the run again and try larger numbers too" in shown


def test_the_advice_has_its_evidence(run):
    advice = run.report().content["advice"]
    table = run.read_table("advice")
    record = run.advice
    assert advice["certainty"] == record.certainty
    assert [one["sentence"] for one in advice["recommended"]] == [
        one.sentence for one in record.recommended
    ]
    assert "3 groups" in advice["recommended"][0]["sentence"]
    assert "cluster" not in " ".join(one["sentence"] for one in advice["recommended"])
    for name in ("n_groups", "stability", "score"):
        expected = [None if value is None else pytest.approx(value) for value in table[name]]
        assert advice["evidence"][name] == expected


def test_advice_of_an_estimator_and_none_where_there_is_none():
    X, _, _ = sm.datasets.make_vmf_mixture(150, 8, 2, overlap=0.01, random_state=0)
    model = sm.VMFMixtureIC([2, 3], n_init=2, random_state=0).fit(X)
    content = sm.Report(model, X=X).content
    assert content["advice"]["recommended"][0]["n_groups"] == model.advice_.n_clusters
    stability = model.advice_.table()["stability"]
    assert content["advice"]["evidence"]["stability"] == pytest.approx(list(stability))
    assert content["remarks"] == []
    alone = sm.VMFMixture(2, n_init=1, random_state=0).fit(X)
    assert sm.Report(alone, X=X).content["advice"] is None
