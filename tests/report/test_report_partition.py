"""The report of spherical k-means, against its own clusters and a mixture written out here."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, special

import spheremix as sm
from spheremix.reading import Reading

N, D, K = 240, 12, 3


@pytest.fixture(scope="module")
def rows():
    """Rows of three groups of very different sizes."""
    rng = np.random.default_rng(5)
    labels = rng.choice(K, N, p=[0.7, 0.2, 0.1])
    made = rng.gamma(0.4, size=(N, D))
    for k in range(K):
        made[labels == k, 4 * k : 4 * k + 4] += 1.5
    return made


@pytest.fixture(scope="module", params=[np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def means(rows, request):
    kind = request.param
    return sm.SphericalKMeans(K, random_state=0, sparse_prototypes=kind is not np.asarray).fit(
        kind(rows)
    )


@pytest.fixture(scope="module")
def report(means, rows):
    texts = [f"text {i}" for i in range(N)]
    return sm.Report(means, texts, X=rows, feature_names=[f"w{j}" for j in range(D)])


def test_groups_are_those_of_k_means(report, means):
    content = report.content
    assert_array_equal(content["documents"]["group"], means.labels_)
    assert_array_equal(content["labels"][content["chosen"]], means.labels_)
    sizes = np.bincount(means.labels_)
    (step,) = content["steps"]
    assert step["sizes"] == sizes.tolist()
    assert_allclose(step["weights"], sizes / N, rtol=1e-5)
    (candidate,) = content["candidates"]
    assert [one["size"] for one in candidate["groups"]] == sorted(sizes, reverse=True)
    read = Reading(means, [f"w{j}" for j in range(D)])  # equal weights would rank other words
    for k, listed in zip(np.argsort(-sizes), candidate["groups"], strict=True):
        assert listed["words"] == [one.word for one in read.vocabulary.words(int(k), 10)]
    assert content["names"] == [read.group_name(k) for k in range(K)]
    assert candidate["n_starts"] == len(means.runs_)
    assert content["model"]["status"] == "converged"


def test_numbers_are_those_of_a_mixture_of_equal_weights(report, means, rows):
    """Densities written out: log of the mean of c exp(kappa cosine), and what is made of them."""
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = unit @ means.prototypes_.T
    (step,) = report.content["steps"]
    kappa = means.as_mixture().kappas_[0]
    assert_allclose(step["kappas"], kappa, rtol=1e-5)
    half = D / 2 - 1
    log_c = (
        half * np.log(kappa)
        - D / 2 * np.log(2 * np.pi)
        - np.log(special.ive(half, kappa))
        - kappa  # the scale of ive
    )
    scores = kappa * cosines + log_c - np.log(K)
    total = special.logsumexp(scores, axis=1).sum()
    assert_allclose(step["log_likelihood"], total, rtol=1e-10)
    n_parameters = K * (D - 1) + 1  # directions and one concentration
    assert_allclose(step["criteria"]["bic"], np.log(N) * n_parameters - 2 * total, rtol=1e-10)
    two = np.sort(cosines, axis=1)[:, -2:]
    documents = report.content["documents"]
    assert_allclose(documents["log_odds"], kappa * (two[:, 1] - two[:, 0]), rtol=1e-4, atol=1e-4)
    assert_allclose(documents["cosine"], two[:, 1], rtol=1e-6)


def test_the_page_says_what_it_shows(report, tmp_path):
    (remark,) = report.content["remarks"]
    assert remark["text"].startswith("These are the groups of spherical k-means")
    assert not remark["warning"]
    html = report.write_html(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<title>" in html
    assert report.to_dict()["model"]["n_groups"] == K
