"""The number of groups in an exploration: its stages, its table, and what is said of it."""

from __future__ import annotations

import numpy as np
import pytest
from little_advice import STEPS, with_values
from numpy.testing import assert_allclose

import spheremix as sm
from spheremix.estimators import advice as measured
from spheremix.run.sentences import headline, remarks

OPTIONS = {"max_steps": 3, "starts": 2, "threads": 1, "criterion": "none"}


@pytest.fixture(scope="module", autouse=True)
def little_advice():
    """All of it, but half of the sets of rows without groups."""
    with with_values([(measured, "CHANCE_SETS", 5), *STEPS]):
        yield


def rows(n_clusters=3):
    if n_clusters == 1:
        return sm.datasets.make_vmf_mixture(200, 8, 1, kappa=8.0, random_state=0)[0]
    return sm.datasets.make_vmf_mixture(200, 8, n_clusters, overlap=0.01, random_state=0)[0]


def matrix(X, folder):
    path = folder / "rows.npy"
    np.save(path, X)
    return path


@pytest.fixture(scope="module")
def explored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("advised")
    return sm.explore_corpus(matrix(rows(), folder), folder / "run", **OPTIONS)


def test_the_advice_chooses_and_is_written(explored):
    assert len(explored.mixture.weights_) == 3
    advice = explored.advice
    assert advice.recommended[0].n_clusters == 3
    assert advice.certainty == "clear"
    table = explored.read_table("advice")
    assert table["n_groups"] == list(explored.dense)
    assert table["recommended"][table["n_groups"].index(3)] == 1
    assert_allclose(table["bic"], explored.dense_criteria["bic"], rtol=1e-5)


def test_the_range_ends_where_groups_explain_nothing(explored):
    assert min(explored.dense) == 2
    assert 6 <= max(explored.dense) < 20


def test_the_summary_says_how_many_and_how_sure(explored):
    said = " ".join(one.render() for one in remarks(explored))
    assert "How many: 3 groups: in another sample the groups are the same" in said
    assert "The evidence for it is clear" in said
    assert "3 groups (by advice" in headline(explored)


def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(explored, tmp_path, monkeypatch):
    path, calls = matrix(rows(), tmp_path), []
    measure = measured.measure_stability

    def killed(problem, sizes, seed):
        calls.append(sizes)
        if sizes == [4]:
            raise KeyboardInterrupt
        return measure(problem, sizes, seed)

    monkeypatch.setattr(measured, "measure_stability", killed)
    with pytest.raises(KeyboardInterrupt):
        sm.explore_corpus(path, tmp_path / "run", **OPTIONS)
    assert calls == [[2], [3], [4]]
    calls.clear()

    def followed(problem, sizes, seed):
        calls.append(sizes)
        return measure(problem, sizes, seed)

    monkeypatch.setattr(measured, "measure_stability", followed)
    run = sm.explore_corpus(path, tmp_path / "run", **OPTIONS)
    assert calls[0] == [4]
    name = "tables/advice.csv"
    assert (run.folder / name).read_bytes() == (explored.folder / name).read_bytes()


def test_no_groups_are_said(tmp_path):
    run = sm.explore_corpus(matrix(rows(1), tmp_path), tmp_path / "run", k="2:4", **OPTIONS)
    assert run.advice.recommended[0].n_clusters == 1
    assert len(run.mixture.weights_) in {2, 3, 4}
    assert any("There seem to be no groups" in one.render() for one in remarks(run))


def test_a_criterion_needs_no_draws(tmp_path, monkeypatch):
    monkeypatch.setattr(measured, "measure_stability", None)
    source = matrix(rows(), tmp_path)
    run = sm.explore_corpus(source, tmp_path / "run", k="4:6", k_criterion="bic", **OPTIONS)
    assert run.advice is None
    assert run.read_table("advice") is None
    assert len(run.mixture.weights_) == 4
    said = " ".join(one.render() for one in remarks(run))
    assert "The smallest number of groups that was tried was chosen" in said


def test_two_groups_that_are_the_folders_of_the_documents(tmp_path):
    rng = np.random.default_rng(0)
    vocabularies = ("river lake sea boat sail port", "bread soup oven salt cook dish")
    for i in range(60):
        place = tmp_path / "texts" / ("east", "west")[i % 2]
        place.mkdir(parents=True, exist_ok=True)
        words = rng.choice(f"{vocabularies[i % 2]} day people time".split(), 12)
        (place / f"{i}.txt").write_text(" ".join(words), encoding="utf-8")
    run = sm.explore_corpus(tmp_path / "texts", tmp_path / "run", k="2:4", **OPTIONS)
    assert run.advice.recommended[0].n_clusters == 2
    said = " ".join(one.render() for one in remarks(run))
    assert "The two groups are nearly the labels 'folder' (ARI 1.00)" in said


def test_the_summary_says_where_coarser_and_finer_groups_are(explored):
    said = [one.render() for one in remarks(explored)]
    assert (
        "Coarser and finer: tables/tree.csv merges the 3 groups step by step to two and divides "
        "them into 6 fine groups." in said
    )
