"""What save_run could not read back is refused before anything is written."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import spheremix as sm
from spheremix.errors import ParameterError

X, _, _ = sm.datasets.make_vmf_mixture(60, 5, 2, kappa=20.0, random_state=0)
IDS = [str(i) for i in range(60)]


@pytest.fixture(scope="module")
def mixture():
    return sm.VMFMixture(2, n_init=1, random_state=0).fit(X)


@pytest.mark.parametrize(
    ("beside", "words"),
    [
        ({"feature_names": "abcd"}, "feature_names must be 5 names.*; got 4"),
        ({"feature_names": iter("abcdef")}, "feature_names must be 5 names.*; got 6"),
        ({"X": X[:, :4]}, r"X must be .* \(n, 5\).*\(60, 4\)"),
        ({"X": X[0]}, r"X must be .* shape \(5,\)"),
        ({"X": sparse.csr_array((0, 5))}, "X must be .* one row or more"),
        ({"X": [[1.0] * 5]}, "X must be .*; got a list"),
        ({"documents": {}}, "documents must have one column"),
        ({"documents": {"id": IDS, "name": IDS[1:]}}, "60 values of 'id' and 59 of 'name'"),
        ({"X": X, "documents": {"id": IDS[1:]}}, "each of the 60 rows of X; got 59"),
        ({"documents": {"cluster": ["sport"] * 60}}, "'cluster' of .* whole numbers.*'sport'"),
        ({"documents": {"cluster": np.full(60, 0.5)}}, "'cluster' of .* whole numbers.*another"),
        ({"documents": {"cosine": ["near"] * 60}}, "'cosine' of documents must have numbers"),
    ],
)
def test_what_cannot_be_read_back_is_refused(mixture, beside, words, tmp_path):
    with pytest.raises(ParameterError, match=words):
        sm.save_run(tmp_path / "run", mixture, **beside)
    assert not (tmp_path / "run").exists()


def test_what_is_right_is_read_back(mixture, tmp_path):
    clusters = [None, *mixture.labels_[1:]]
    documents = {"id": IDS, "cluster": clusters, "cosine": np.linspace(-1, 1, 60), "own": IDS}
    place = sm.save_run(
        tmp_path / "run", mixture, feature_names=iter("abcde"), X=X, documents=documents
    )
    found = sm.load_run(place)
    assert found.feature_names == list("abcde")
    assert found.documents["group"] == clusters
    assert found.documents["cosine"] == list(documents["cosine"])


def test_errors_about_the_folder_call_it_as_the_parameter_is_called(mixture, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(sm.RunError, match="choose another place with folder or move them away"):
        sm.save_run(tmp_path, mixture)
    with pytest.raises(sm.RunError, match="choose another with folder"):
        sm.save_run(tmp_path / "notes.txt", mixture)


def test_a_file_is_on_the_disk_before_it_has_its_name(mixture, tmp_path, monkeypatch):
    """Otherwise a power cut could leave a manifest that lists empty files."""
    synced, named = set(), []
    replace = Path.replace

    def fsync(handle):
        found = os.fstat(handle)
        synced.add((found.st_dev, found.st_ino))

    def counted(self, target):
        found = self.stat()
        named.append((Path(target).name, (found.st_dev, found.st_ino) in synced))
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", counted)
    sm.save_run(tmp_path / "run", mixture)
    assert {"run.json", "prototypes.npy"} <= {name for name, _ in named}
    assert all(there for _, there in named)
    if hasattr(os, "O_DIRECTORY"):
        folder = (tmp_path / "run").stat()
        assert (folder.st_dev, folder.st_ino) in synced
