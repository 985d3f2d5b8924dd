"""How stable a run is: the stage, the columns, what is said of it, and what the report has."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import spheremix as sm
from spheremix.run.sentences import remarks
from spheremix.run.stages import stability as stage

OPTIONS = {"k": 3, "max_steps": 30, "starts": 2, "threads": 1, "min_count": 1, "min_df": 1}
WORDS = ["apple pear plum fig cherry", "river lake sea pond creek", "red blue green grey pink"]


@pytest.fixture(scope="module", autouse=True)
def little_advice():
    """All draws."""


def texts():
    rng = np.random.default_rng(0)
    each = [words.split() for words in WORDS]
    found = [" ".join(rng.choice(each[i % 3], 6)) for i in range(90)]
    return [*found, ""]  # the last one is set aside


@pytest.fixture(scope="module")
def explored(tmp_path_factory):
    return sm.explore_corpus(texts(), tmp_path_factory.mktemp("stable") / "run", **OPTIONS)


def test_repetitions_that_lost_a_group_are_said(explored):
    found = explored.stability()
    assert found.n_lost == 0
    assert not any("lost all its documents" in one.render() for one in remarks(explored))
    run = sm.load_run(explored.folder)
    run._parts["stability"] = replace(found, n_lost=3)
    said = [one.render() for one in remarks(run)]
    assert any(one.startswith("In 3 of 12 repetitions") for one in said)


def test_every_table_has_the_stability_that_the_library_measures(explored):
    found = explored.stability()
    expected = sm.stability(explored.path, explored.matrix(), random_state=0)
    assert_array_equal(found.documents, expected.documents)
    assert_array_equal(found.groups, expected.groups)
    assert_array_equal(found.words.toarray(), expected.words.toarray())
    assert found.n_replicates == expected.n_replicates == 12
    documents, groups, words = explored.documents, explored.groups, explored.words
    assert documents["stability"][-1] is None  # set aside
    assert_allclose(documents["stability"][:-1], found.documents, rtol=1e-5)
    assert_allclose(groups["stability"], found.groups[groups["group"]], rtol=1e-5)
    shares = found.words.toarray()[words["group"], words["feature"]]
    assert_allclose(words["stability"], shares, rtol=1e-5)


def test_the_report_has_it_for_the_words_that_it_shows(explored):
    content = explored.report().content
    found, entry = explored.stability(), content["stability"]
    assert_allclose(entry["documents"], found.documents, rtol=1e-6)
    assert_allclose(entry["groups"], found.groups, rtol=1e-3)
    words = entry["words"]
    assert words["ends"][-1] == len(words["places"]) == len(words["shares"]) == found.words.nnz
    for k in range(3):
        part = slice(*words["ends"][k : k + 2])
        names = [content["words"][j] for j in words["places"][part]]
        own = np.flatnonzero(explored.mixture.prototypes_[k])
        assert names == [explored.feature_names[j] for j in own]
        assert_allclose(words["shares"][part], found.words.toarray()[k, own], rtol=1e-6)
    assert sm.Report(explored.mixture, X=explored.matrix()).content["stability"] is None


def test_it_is_measured_again_only_if_the_model_or_the_seed_changes(
    explored, tmp_path, monkeypatch
):
    folder = tmp_path / "run"
    shutil.copytree(explored.folder, folder)
    calls = []
    measure = stage.stability
    monkeypatch.setattr(
        stage, "stability", lambda *given, **more: calls.append(1) or measure(*given, **more)
    )
    again = sm.explore_corpus(texts(), folder, names={0: "first"}, **OPTIONS)
    assert not calls
    assert_array_equal(again.stability().documents, explored.stability().documents)
    named = {"names": {0: "first"}}
    dense = sm.explore_corpus(texts(), folder, criterion="none", **named, **OPTIONS)
    assert len(calls) == 1
    listed = [one for one in dense.words["stability"] if one is not None]
    assert len(listed) == dense.stability().words.nnz == len(dense.words["word"])


@pytest.fixture(scope="module")
def loose(tmp_path_factory):
    """Four groups of documents that have one."""
    place = tmp_path_factory.mktemp("loose")
    rows = sm.datasets.make_vmf_mixture(120, 8, 1, kappa=8.0, random_state=0)[0]
    np.save(place / "rows.npy", rows)
    return sm.explore_corpus(place / "rows.npy", place / "run", k=4, starts=2, threads=1)


def test_groups_that_other_documents_would_not_have_are_named(explored, loose):
    often = "dissolved more often than not when the documents were drawn again: "
    assert not any(often in one.render() for one in remarks(explored))
    [said] = [one for one in remarks(loose) if often in one.render()]
    weak = {k: one for k, one in enumerate(loose.stability().groups) if one < 0.5}
    assert weak
    names = dict(zip(loose.groups["group"], loose.groups["name"], strict=True))
    shares = [f"{names[k]} (stability {int(100 * one)} %)" for k, one in weak.items()]
    assert all(one in said.render() and one in said.page for one in shares)
    assert [k for k, _ in said.groups] == sorted(weak, key=weak.get)
    assert all(words.startswith(names[k]) and words in said.page for k, words in said.groups)


def test_every_document_has_a_certainty_and_borderline_ones_are_counted(explored, loose):
    said = [one.render() for one in remarks(explored)]
    assert "Borderline documents: none of 90 documents." in said
    table = loose.documents
    stable = np.array(table["stability"])
    borderline = stable < 0.5
    names = dict(zip(loose.groups["group"], loose.groups["name"], strict=True))
    for i, sure in enumerate(table["certainty"]):
        expected = "clearly here" if stable[i] >= 0.75 else "probably here"
        if borderline[i]:
            expected = f"borderline with {names[table['second_group'][i]]}"
        assert sure == expected
    most = np.bincount(np.array(table["group"])[borderline])
    text = (
        f"Borderline documents: {borderline.sum()} of 120 documents may as well be in another "
        f"group ({most.max()} of them in {names[most.argmax()]})."
    )
    [said] = [one for one in remarks(loose) if one.render().startswith(text)]
    words = f"{most.max()} of them in {names[most.argmax()]}"
    assert said.groups == ((most.argmax(), words),)
    assert f"({words})" in said.page


def test_labels_of_some_documents_give_all_of_them_a_probability(tmp_path):
    rng = np.random.default_rng(0)
    each = [words.split() for words in WORDS]
    kinds = [["fruit", "water", "colour"][i % 3] for i in range(240)]
    wrong = rng.random(240) < 0.2
    said = [("other" if bad else kind) for kind, bad in zip(kinds, wrong, strict=True)]
    known = [one if i < 120 else "" for i, one in enumerate(said)]
    rows = [" ".join(rng.choice(each[i % 3], 6)) for i in range(240)]
    frame = pd.DataFrame({"text": rows, "topic": known, "year": range(240)})
    options = {**OPTIONS, "text": "text", "label": "topic"}
    run = sm.explore_corpus(frame, tmp_path / "run", **options)
    table = run.documents
    expected = sm.calibrate(run.path, run.matrix(), labels=known, random_state=0).posteriors
    own = expected[np.arange(240), table["group"]]
    assert_allclose(table["label_probability"], own, rtol=1e-5)
    assert abs(np.mean(own) - np.mean(~wrong)) < 0.1
    named = run.edit({"names": {"0": "first"}})
    assert named.documents["label_probability"] == table["label_probability"]
    assert "label_probability" not in run.assign(rows[:3])
    frame["topic"] = said  # nobody is left whose label is to be learnt
    whole = sm.explore_corpus(frame, tmp_path / "whole", **options)
    assert "label_probability" not in whole.documents
