"""How firm a run is: the stage, the columns, what is said of it, and what the report has."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from spheremix.run.remarks import remarks

import spheremix as sm
from spheremix.run import firming

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
    return sm.explore_corpus(texts(), tmp_path_factory.mktemp("firm") / "run", **OPTIONS)


def test_repetitions_that_lost_a_cluster_are_said(explored):
    record = explored.manifest.firmness
    assert record.n_lost == 0
    assert not any("lost all its documents" in one.render(str) for one in remarks(explored))
    manifest = replace(explored.manifest, firmness=replace(record, n_lost=3))
    said = [one.render(str) for one in remarks(replace(explored, manifest=manifest))]
    assert any(one.startswith("In 3 of 20 repetitions") for one in said)


def test_every_table_has_the_firmness_that_the_library_measures(explored):
    found = explored.firmness()
    expected = sm.stability(explored.path, explored.matrix(), random_state=0)
    assert_array_equal(found.documents, expected.documents)
    assert_array_equal(found.groups, expected.groups)
    assert_array_equal(found.words.toarray(), expected.words.toarray())
    assert found.n_replicates == expected.n_replicates == 20
    documents, clusters, words = explored.documents, explored.clusters, explored.words
    assert documents["firmness"][-1] is None  # set aside
    assert_allclose(documents["firmness"][:-1], found.documents, rtol=1e-5)
    assert_allclose(clusters["firmness"], found.groups[clusters["cluster"]], rtol=1e-5)
    shares = found.words.toarray()[words["cluster"], words["feature"]]
    assert_allclose(words["firmness"], shares, rtol=1e-5)


def test_the_report_has_it_for_the_words_that_it_shows(explored):
    content = explored.report().content
    found, entry = explored.firmness(), content["firmness"]
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
    assert sm.Report(explored.mixture, X=explored.matrix()).content["firmness"] is None


def test_it_is_measured_again_only_if_the_model_or_the_seed_changes(
    explored, tmp_path, monkeypatch
):
    folder = tmp_path / "run"
    shutil.copytree(explored.folder, folder)
    calls = []
    measure = firming.stability
    monkeypatch.setattr(
        firming, "stability", lambda *given, **more: calls.append(1) or measure(*given, **more)
    )
    again = sm.explore_corpus(texts(), folder, names={0: "first"}, **OPTIONS)
    assert not calls
    assert_array_equal(again.firmness().documents, explored.firmness().documents)
    named = {"names": {0: "first"}}
    dense = sm.explore_corpus(texts(), folder, criterion="none", **named, **OPTIONS)
    assert len(calls) == 1
    listed = [one for one in dense.words["firmness"] if one is not None]
    assert len(listed) == dense.firmness().words.nnz == len(dense.words["word"])


def test_a_stopped_run_goes_on_after_the_firmness_and_ends_with_the_same_bytes(
    explored, tmp_path, monkeypatch
):
    folder = tmp_path / "run"

    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("spheremix.run.explore._finish", stop)
        with pytest.raises(KeyboardInterrupt):
            sm.explore_corpus(texts(), folder, **OPTIONS)
    assert (folder / "firmness" / "documents.npy").exists()
    with monkeypatch.context() as patched:
        patched.setattr(firming, "stability", stop)  # it is there already
        sm.explore_corpus(texts(), folder, **OPTIONS)
    for name in ("documents.csv", "clusters.csv", "words.csv", "run.json", "report.json"):
        assert (folder / name).read_bytes() == (explored.folder / name).read_bytes()


@pytest.fixture(scope="module")
def loose(tmp_path_factory):
    """Four clusters of documents that have one."""
    place = tmp_path_factory.mktemp("loose")
    rows = sm.datasets.make_vmf_mixture(120, 8, 1, kappa=8.0, random_state=0)[0]
    np.save(place / "rows.npy", rows)
    return sm.explore_corpus(place / "rows.npy", place / "run", k=4, starts=2, threads=1)


def test_clusters_that_other_documents_would_not_have_are_named(explored, loose):
    often = "often not found again when the documents were drawn anew: "
    assert not any(often in one.render() for one in remarks(explored))
    [said] = [one for one in remarks(loose) if often in one.render()]
    weak = {k: firm for k, firm in enumerate(loose.firmness().groups) if firm < 0.5}
    assert weak
    names = dict(zip(loose.clusters["cluster"], loose.clusters["name"], strict=True))
    assert all(f"{names[k]} (cluster {k}, firmness" in said.render() for k in weak)
    assert all(
        f"{names[k]} ({int(100 * firm)} % found again)" in said.page for k, firm in weak.items()
    )
    assert "(cluster" not in said.page
    assert [k for k, _ in said.groups] == sorted(weak, key=weak.get)
    assert all(words.startswith(names[k]) and words in said.page for k, words in said.groups)


def test_damaged_places_of_words_are_named(explored, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(explored.folder, folder)
    manifest = json.loads((folder / "run.json").read_text())
    record = manifest["firmness"]
    record["ends"] = record["places"]
    (folder / "run.json").write_text(json.dumps(manifest))
    with pytest.raises(sm.RunError, match=r"places\.npy"):
        sm.load_run(folder).firmness()


def test_every_document_has_a_certainty_and_doubtful_ones_are_counted(explored, loose):
    said = [one.render() for one in remarks(explored)]
    assert "Doubtful documents: none of 90 documents is borderline." in said
    table = loose.documents
    odds, firm = (np.array(table[name]) for name in ("log_odds", "firmness"))
    borderline = (odds < np.log(9)) | (firm < 0.5)
    names = dict(zip(loose.clusters["cluster"], loose.clusters["name"], strict=True))
    for i, sure in enumerate(table["certainty"]):
        expected = "clearly here" if firm[i] >= 0.75 else "probably here"
        if borderline[i]:
            expected = f"borderline with {names[table['runner_up'][i]]}"
        assert sure == expected
    most = np.bincount(np.array(table["cluster"])[borderline])
    text = (
        f"Doubtful documents: {borderline.sum()} of 120 documents may as well be in another "
        f"cluster ({most.max()} of them in {names[most.argmax()]})."
    )
    [said] = [one for one in remarks(loose) if one.render().startswith(text)]
    words = f"{most.max()} of them in {names[most.argmax()]}"
    assert said.groups == ((most.argmax(), words),)
    assert f"({words})" in said.page
