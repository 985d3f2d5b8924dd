"""The report of spherical k-means in a browser: its groups, its documents, and a remark."""

from __future__ import annotations

import numpy as np
import pytest

import spheremix as sm

K = 3


@pytest.fixture(scope="session")
def partition(tmp_path_factory):
    """Three groups of directions, of different sizes; columns have names."""
    X, _, _ = sm.datasets.make_vmf_mixture(
        150, 12, K, kappa=80.0, weights=[0.6, 0.3, 0.1], random_state=0
    )
    means = sm.SphericalKMeans(K, random_state=0).fit(X)
    report = sm.Report(means, X=X, feature_names=[f"word{j}" for j in range(12)])
    folder = tmp_path_factory.mktemp("report")
    return report.write_html(folder / "partition.html"), report.content


def test_groups_and_documents_can_be_opened(open_report, partition):
    _, content = partition
    groups = content["documents"]["group"]
    opened = open_report("partition")
    assert opened.page.locator("#group-title").inner_text().startswith("3 groups")
    largest = int(np.bincount(groups).argmax())
    opened.page.locator("#group-list [role=option]").first.click()
    assert opened.group() == largest
    ids = [content["documents"]["id"][i] for i in np.flatnonzero(groups == largest)]
    assert sorted(opened.listed()) == sorted(ids)
    opened.page.locator("#document-list").press("j")
    assert opened.page.locator("table.contributions").count() == 1


@pytest.mark.usefixtures("partition")
def test_the_page_says_where_the_numbers_come_from(open_report):
    opened = open_report("partition", fragment="#tab=corpus")
    shown = opened.page.locator("#corpus").inner_text()
    assert "groups of spherical k-means, which has no probabilities" in shown
