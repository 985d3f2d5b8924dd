"""The map of the documents of a run: a stage of its own, in a file, a table and the report."""

from __future__ import annotations

import numpy as np
import pytest
from cli_common import texts
from reuse_common import explore
from spheremix.report.source import from_model, from_run

import spheremix as sm
from spheremix.reading import document_positions
from spheremix.report.content import build
from spheremix.run import positions as stage

OPTIONS = {"criterion": "none", "k": 2}


@pytest.fixture(scope="module")
def corpus():
    return [*(one["text"] for one in texts(30)), "?!"]


@pytest.fixture
def folder(corpus, tmp_path):
    explore(corpus, tmp_path / "run", **OPTIONS)
    return tmp_path / "run"


def test_positions_are_those_of_the_rows_and_clusters(folder):
    run = sm.load_run(folder)
    found = run.positions()
    expected = document_positions(run.matrix(), run.mixture.labels_)
    np.testing.assert_array_equal(found, expected.round(5))


def test_the_table_has_them_and_documents_set_aside_have_none(folder):
    run = sm.load_run(folder)
    x, y = run.documents["x"], run.documents["y"]
    assert x[-1] is None
    assert y[-1] is None
    np.testing.assert_allclose(np.column_stack([x[:-1], y[:-1]]), run.positions(), rtol=1e-5)


def test_the_content_of_a_report_has_them_as_small_integers(folder):
    run = sm.load_run(folder)
    found = build(from_run(run))["layout"]
    assert found["x"].dtype == found["y"].dtype == np.uint16
    both = np.column_stack([found["x"], found["y"]]) / 65535.0
    np.testing.assert_allclose(both, run.positions(), atol=1e-5)


def test_a_report_of_a_model_places_its_documents_itself():
    X, _, _ = sm.datasets.make_vmf_mixture(40, 4, 2, kappa=30.0, random_state=0)
    model = sm.VMFMixture(2, random_state=0).fit(X)
    with_rows = from_model(model, None, X, None, None, None)
    positions = document_positions(X, model.labels_)
    x = build(with_rows)["layout"]["x"]
    np.testing.assert_allclose(x / 65535.0, positions[:, 0], atol=1e-5)
    assert build(from_model(model, None, None, None, None, None))["layout"] is None


def test_the_map_is_reused_as_long_as_clusters_are_the_same(corpus, folder, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("placed again")

    before = (folder / "positions.npy").read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(stage, "document_positions", refuse)
        explore(corpus, folder, **{**OPTIONS, "names": {0: "one", 1: "other"}})
    assert (folder / "positions.npy").read_bytes() == before
    heard = explore(corpus, folder, **{**OPTIONS, "k": 3})
    assert "Placing the documents on a map" in heard.begun
    assert (folder / "positions.npy").read_bytes() != before


def test_a_run_without_a_map(tmp_path):
    X, _, _ = sm.datasets.make_vmf_mixture(40, 4, 2, kappa=30.0, random_state=0)
    model = sm.VMFMixture(2, random_state=0).fit(X)
    run = sm.load_run(sm.save_run(tmp_path / "run", model, X=X))
    assert run.positions() is None
    assert build(from_run(run))["layout"] is not None


def test_one_cluster_has_a_map(corpus, tmp_path):
    explore(corpus, tmp_path / "run", criterion="none", k=1)
    assert np.ptp(sm.load_run(tmp_path / "run").positions(), axis=0).max() > 0.9
