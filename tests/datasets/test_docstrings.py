"""The corpus of every machine: the documentation of numpy, scipy and scikit-learn."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest

import spheremix as sm

CODE = "import spheremix as sm; print(sm.datasets.load_docstrings().checksum)"


@pytest.fixture(scope="module")
def corpus():
    return sm.datasets.load_docstrings()


def test_documents(corpus):
    assert 2000 < len(corpus) < 5000
    assert len(set(corpus.ids)) == len(corpus)
    assert len(set(corpus.texts)) == len(corpus)
    assert min(len(text.split()) for text in corpus.texts) >= 15
    by_id = dict(zip(corpus.ids, corpus.texts, strict=True))
    assert by_id["numpy.linalg.norm"].startswith("Matrix or vector norm.")
    assert "normal continuous random variable" in by_id["scipy.stats.norm"]
    assert "KMeans" in by_id["sklearn.cluster.KMeans"]
    assert not any("SCIPY_ARRAY_API" in text for text in corpus.texts)
    assert by_id["numpy.add"].startswith("Add arguments element-wise.")  # not with its signature


def test_labels_are_sub_packages(corpus):
    counts = Counter(label for [label] in corpus.labels["package"])
    assert {"numpy", "numpy.linalg", "scipy.stats", "scipy.special", "sklearn.metrics"} <= {*counts}
    assert counts["scipy.stats"] > 200
    for name, [label] in zip(corpus.ids, corpus.labels["package"], strict=True):
        assert name.startswith(f"{label}.")
        assert label.count(".") <= 1


def test_always_the_same(corpus):
    assert sm.datasets.load_docstrings() == corpus
    # Nor does a new process with other hashes differ, and no warning is seen.
    command = [sys.executable, "-W", "error", "-c", CODE]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == corpus.checksum
    assert done.stderr == ""


def test_what_it_says(corpus):
    assert corpus.source.startswith("numpy ")
    assert "sklearn " in corpus.source
    assert corpus.dates is None
    assert corpus.notes


def test_clusters_make_sense(corpus):
    pipeline = {"lemmatizer": None, "weighting": "sublinear-tfidf", "min_df": 5, "max_df": 0.5}
    found = sm.text.vectorize(corpus, **pipeline)
    assert len(found.rows) == len(corpus)
    mixture = sm.VMFMixture(10, random_state=0, n_init=3).fit(found.X)
    tops = [set(found.words[row.argsort()[::-1][:10]]) for row in mixture.prototypes_]
    for telling in ("polynomial", "distribution", "ufunc", "bessel", "estimator"):
        assert sum(telling in top for top in tops) >= 1, telling


def test_experimental_classes_do_not_come_and_go(corpus):
    """Some test or program may have enabled them."""
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401, PLC0415

    assert sm.datasets.load_docstrings() == corpus
