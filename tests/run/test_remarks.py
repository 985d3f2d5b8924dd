"""What is said about a run: labels, the evidence for the number of clusters, and the help."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from spheremix.run.doubts import (
    _agreement,
    _at_the_end,
    _ended,
    _firmness,
    _lost,
    _set_aside,
    _short,
    doubtful,
    warnings,
)
from spheremix.run.remarks import _advice, _labels, _tree
from spheremix.run.schema import AgreementRecord

from spheremix.run.options import ExploreOptions
from spheremix.text.selection import least_documents
from spheremix.text.trouble import Mending, trouble
from spheremix.text.vectorizer import NO_WORD_LEFT
from spheremix.wording import in_groups, of_documents

# What a reader of the page sees nothing of: options, files, names of columns, clusters.
TYPED = re.compile(r"--\w|\w\.csv|\w_\w|\bclusters?\b|\{")


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
    text, page = _labels(run).render(), _labels(run).page
    assert (said in text) if said else ("The clusters are" not in text)
    told = said.replace("clusters", "groups")
    assert (told in page) if said else ("The groups are" not in page)
    assert not TYPED.search(page)


def test_short_documents_are_told():
    run = SimpleNamespace(documents={"n_words": [4, None, 5, 0, 90]})
    assert _short(run).render().startswith("2 documents have fewer than 5 different words")
    assert "do not rely on their groups" in _short(run).page
    assert _short(SimpleNamespace(documents={"n_words": [5, 7]})) is None
    assert _short(SimpleNamespace(documents=None)) is None
    assert _short(SimpleNamespace(documents={"id": ["of a matrix"]})) is None


def of(**manifest):
    """Return a run with this in its manifest, and ten clusters of twelve that were tried."""
    return SimpleNamespace(
        manifest=SimpleNamespace(**manifest),
        mixture=SimpleNamespace(weights_=[0.1] * 10),
        dense=dict.fromkeys(range(2, 11)),
        feature_names=["word"],
        path=SimpleNamespace(status_="collapsed", betas_=[0.0, 1.0]),
        clusters={"cluster": [1, 0], "name": ["cluster linkage", "x"], "firmness": [0.4996, 0.5]},
        documents={
            "cluster": [1, 1, None],
            "certainty": ["borderline with x", "clearly here", None],
            "n_words": [4, 9, None],
            "set_aside": [None, None, NO_WORD_LEFT],
        },
    )


def doubted():
    """Return a run against which everything speaks."""
    text = "Müller\u2019s of the house and the garden, which is not what it was".encode()
    texts = [f"{text.decode('latin-1')} {i}\nA line of the menu" for i in range(40)]
    texts += ["Der Preis des Hauses ist nicht mehr was er war und ich weiß nicht warum"] * 20
    thresholds = SimpleNamespace(min_count=1, min_df=5)
    found = trouble(texts, [f"3d{i}" for i in range(20)], ("en",), Mending())
    return of(
        prepared=SimpleNamespace(trouble=found, vectorizer=SimpleNamespace(thresholds=thresholds)),
        corpus=SimpleNamespace(n_set_aside=1, n_documents=3),
        start_agreement={10: 0.419},
        firmness=SimpleNamespace(n_lost=2, n_replicates=20),
    )


def test_every_warning_says_on_the_page_in_words_what_to_do():
    run = doubted()
    found = warnings(run)
    assert len(found) == 4 + 7
    typed = " ".join(one.render(lambda name: f"--{name.replace('_', '-')}") for one in found)
    for option in ("mend-encoding", "drop-repeated-lines", "drop-mixed", "language", "min-df"):
        assert f"--{option}" in typed
    for one in [*found, doubtful(run)]:
        page = one.page.replace("cluster linkage", "")  # a name stays as it is
        assert not TYPED.search(page), page
        assert page.endswith(".")
    for one in found[:4]:
        assert "make the run again" in one.page


@pytest.mark.parametrize(
    ("remark", "page"),
    [
        (_set_aside, "(no word is left: words of at least 5 documents are kept)"),
        (_ended, "after 2 steps, when a group lost its documents: the slider of words goes no"),
        (_at_the_end, "The largest number of groups that was tried was chosen"),
        (_agreement, "Restarts of the search agree with these groups by only 41 %"),
        (_firmness, "Group that was often not found again when the documents were drawn anew: "),
        (_firmness, "cluster linkage (49 % found again). Do not rely on it."),
        (_lost, "In 2 of 20 repetitions"),
        (_short, "1 document has fewer than 5 different words of the vocabulary: do not rely on"),
        (doubtful, "1 of 2 documents may as well be in another group. A click on their number"),
    ],
)
def test_what_the_page_says(remark, page):
    assert page in remark(doubted()).page


def test_a_firmness_just_below_a_half_is_not_shown_as_a_half():
    said = _firmness(doubted()).render()
    assert "cluster linkage (cluster 1, firmness 0.49)" in said
    assert "Cluster that was often not found again" in said
    assert "x (" not in said  # half of it is found again


@pytest.mark.parametrize(
    ("n", "K", "page"),
    [
        (20, 10, "the slider of groups merges the 10 groups step by step to two and divides them"),
        (10, 10, "the slider of groups merges the 10 groups step by step to two."),
        (5, 2, "the slider of groups divides the 2 groups into 5 fine groups."),
        (2, 2, "there are no other groups."),
        (3, 1, "the slider of groups divides the group into 3 fine groups."),
    ],
)
def test_the_page_says_where_coarser_and_finer_groups_are(n, K, page):
    nodes = [SimpleNamespace(chosen=i < K) for i in range(2 * n - 1)]
    tree = SimpleNamespace(grown=SimpleNamespace(clusters=[0] * n), nodes=nodes)
    assert page in _tree(of(tree=tree)).page


def test_sentences_are_said_of_groups_and_labels_keep_their_names():
    said = "Clusters of 2 rows: the cluster is nearly the labels 'rows of clusters' (no browser)."
    told = "Groups of 2 documents: the group is nearly the labels 'rows of clusters' (no browser)."
    assert in_groups(said) == told
    assert in_groups('the labels "cluster\'s", one cluster') == 'the labels "cluster\'s", one group'
    assert in_groups("The cluster's rows don't agree.") == "The group's documents don't agree."
    assert of_documents("Rows of 'a row' in a cluster") == "Documents of 'a row' in a cluster"


def test_labels_keep_their_names_in_the_advice():
    first = SimpleNamespace(reading="best", n_clusters=10, sentence="Take 10 clusters.")
    doubts = ["The clusters are nearly the labels 'browser': the rows have them."]
    advice = SimpleNamespace(recommended=[first], certainty="strong", doubts=doubts)
    remark = _advice(of(advice=advice))
    assert "clusters are nearly the labels 'browser': the documents have them." in remark.render()
    assert "groups are nearly the labels 'browser': the documents have them." in remark.page


def test_the_help_of_min_df_is_what_is_done():
    told = ExploreOptions.__dataclass_fields__["min_df"].metadata["found"]
    bounds = re.findall(r"(\d+) below ([\d,]+)", told)
    for least, end in bounds:
        assert least_documents(int(end.replace(",", "")) - 1) == int(least)
        assert least_documents(int(end.replace(",", ""))) == int(least) + 1
    assert [int(least) for least, _ in bounds] == [1, 2, 3, 4, 5]
    assert (least_documents(12_345), least_documents(10**6)) == (12, 20)
