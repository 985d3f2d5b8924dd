"""What is said about a run: labels, the evidence for the number of clusters, and the help."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from spheremix.run.options import ExploreOptions
from spheremix.run.remarks import _labels, _short
from spheremix.run.schema import AgreementRecord
from spheremix.text.thresholds import least_documents


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"a": 0.39}, ""),
        ({"a": 0.4}, "The clusters are partly the labels 'a'"),
        ({"a": 0.51, "b": 0.1}, "The clusters are partly the labels 'a'"),
        ({"a": 0.8}, "The clusters are mostly the labels 'a'"),
        ({"a": 0.5, "b": 0.9}, "The clusters are mostly the labels 'b' and partly the labels 'a'"),
    ],
)
def test_clusters_are_mostly_or_partly_the_labels(found, said):
    agreed = {k: AgreementRecord(ari=ari, nmi=0.0, n_documents=9) for k, ari in found.items()}
    run = SimpleNamespace(manifest=SimpleNamespace(label_agreement=agreed))
    text = _labels(run).render()
    assert (said in text) if said else ("The clusters are" not in text)


def test_short_documents_are_told():
    run = SimpleNamespace(documents={"n_words": [4, None, 5, 0, 90]})
    assert _short(run).render().startswith("2 documents have fewer than 5 different words")
    assert _short(SimpleNamespace(documents={"n_words": [5, 7]})) is None
    assert _short(SimpleNamespace(documents=None)) is None
    assert _short(SimpleNamespace(documents={"id": ["of a matrix"]})) is None


def test_the_help_of_min_df_is_what_is_done():
    told = ExploreOptions.__dataclass_fields__["min_df"].metadata["found"]
    bounds = re.findall(r"(\d+) below ([\d,]+)", told)
    for least, end in bounds:
        assert least_documents(int(end.replace(",", "")) - 1) == int(least)
        assert least_documents(int(end.replace(",", ""))) == int(least) + 1
    assert [int(least) for least, _ in bounds] == [1, 2, 3, 4, 5]
    assert (least_documents(12_345), least_documents(10**6)) == (12, 20)
