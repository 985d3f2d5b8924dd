"""What a mixture was fitted on can be read as documents, wherever its rows are."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import spheremix as sm
from spheremix.data import parts
from spheremix.report import documents as report_documents
from spheremix.report.documents import heaviest

X, _, _ = sm.datasets.make_vmf_mixture(120, 6, 3, kappa=20.0, random_state=0)


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Return the same rows in several places."""
    path = tmp_path_factory.mktemp("rows") / "X.npy"
    np.save(path, X)
    return {
        "path": path,
        "blocks": [X[:50], X[50:]],
        "lists": X.tolist(),
        "directions": sm.as_directions(X),
        "csr": sparse.csr_array(X),
        "float32": X.astype(np.float32),
    }


PLACES = ["path", "blocks", "lists", "directions", "csr", "float32"]


@pytest.mark.parametrize("name", PLACES)
def test_documents_are_read(places, name):
    model = sm.VMFMixture(3, n_init=2, random_state=0).fit(X)
    expected = astuple(sm.reading.Reading(model).documents(X))
    found = astuple(sm.reading.Reading(model).documents(places[name]))
    tolerance = 1e-4 if name == "float32" else 1e-9
    for one, other in zip(found, expected, strict=True):
        assert_allclose(one, other, tolerance, tolerance)


@pytest.mark.parametrize("name", PLACES)
def test_the_heaviest_words_are_found(places, name, monkeypatch):
    monkeypatch.setattr(report_documents, "MOST_WORDS", 3)
    monkeypatch.setattr(parts, "BLOCK_ENTRIES", 6 * 50)  # several blocks
    before = X.copy()
    columns, weights = np.array([0, 2, 3, 5]), np.arange(1.0, 7.0)[None]
    found = heaviest(places[name], weights, columns)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    heavy = np.sort(np.argsort(-np.abs(unit * weights)[:, columns], axis=1)[:, :3], axis=1)
    assert_array_equal(found["words"].reshape(-1, 3), heavy)
    expected = np.take_along_axis(unit[:, columns], heavy, axis=1)
    assert_allclose(found["values"].reshape(-1, 3), expected, rtol=1e-6, atol=1e-6)
    assert_array_equal(before, X)  # nothing of the user's is scaled
    assert_array_equal(places["csr"].toarray(), X)


@pytest.mark.parametrize("name", PLACES)
def test_a_report_is_made(places, name):
    model = sm.VMFMixture(3, n_init=2, random_state=0).fit(X)
    texts = [f"document {i}" for i in range(len(X))]
    words = list("abcdef")
    expected = sm.Report(model, texts, X=X, feature_names=words).to_dict()
    found = sm.Report(model, texts, X=places[name], feature_names=words).to_dict()
    assert found["corpus"] == expected["corpus"]
    assert found["documents"]["group"] == expected["documents"]["group"]
    for part in ("indptr", "words"):
        assert found["rows"][part] == expected["rows"][part]
