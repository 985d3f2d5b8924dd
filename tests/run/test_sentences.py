"""What is said about a run: to readers of the summary, and to readers of the page."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

from spheremix.run.folder.schema import AgreementInfo
from spheremix.run.options import ExploreOptions
from spheremix.run.sentences import (
    _advice,
    _agreement,
    _at_the_end,
    _borderline,
    _ended,
    _labels,
    _lost,
    _set_aside,
    _short,
    _stability,
    _tree,
    _trouble,
    _where,
    kept_words,
    warnings,
)
from spheremix.text.selection import least_documents
from spheremix.text.trouble import trouble
from spheremix.text.vectorizer import NO_WORD_LEFT

# What a reader of the page sees nothing of: options, files, names of columns, clusters.
TYPED = re.compile(r"--\w|\w\.csv|\w_\w|\bclusters?\b|\{")


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"a": 0.39}, ""),
        ({"a": 0.4}, "The groups are partly the labels 'a'"),
        ({"a": 0.51, "b": 0.1}, "The groups are partly the labels 'a'"),
        ({"a": 0.8}, "The groups are mostly the labels 'a'"),
        ({"a": 0.5, "b": 0.9}, "The groups are mostly the labels 'b' and partly the labels 'a'"),
    ],
)
def test_groups_are_mostly_or_partly_the_labels(found, said):
    agreed = {k: AgreementInfo(ari=ari, nmi=0.0, n_documents=9) for k, ari in found.items()}
    run = SimpleNamespace(info=SimpleNamespace(label_agreement=agreed), feature_names=["word"])
    text, page = _labels(run).render(), _labels(run).page
    for one in (text, page):
        assert (said in one) if said else ("The groups are" not in one)
    assert not TYPED.search(page)


def test_short_documents_are_told_by_their_stability():
    sure, unsure = "clearly here", "borderline with x"
    table = {
        "group": [0, 0, 1, 1, None],
        "n_words": [4, 2, 9, 3, None],
        "certainty": [unsure, sure, unsure, unsure, None],
    }
    said = _short(of(rows_table=table))
    assert said.render().startswith("2 of 3 documents with fewer than 5 different words of the")
    assert "are borderline: see certainty and n_words" in said.render()
    assert _short(of(rows_table={**table, "certainty": [sure] * 4 + [None]})) is None
    assert _short(of(rows_table=None)) is None
    assert _short(of(rows_table={"id": ["of a matrix"]})) is None


@pytest.mark.parametrize(
    ("documents", "where"),
    [
        ([0, 1, 2], " (3 of them in {x}, which is most of it)"),
        ([0, 1, 8], " (2 of them in {x})"),
        ([0, 4, 8], ""),  # not more than half of them are in one
        ([0, 4, 5, 6, 7], ""),  # no more than by chance
        ([0], ""),
        ([10, 10], ""),  # set aside
        ([], ""),
    ],
)
def test_the_group_that_has_most_of_the_documents_is_named(documents, where):
    groups = {"group": [0, 1], "name": ["{x}", "y"], "size": [4, 6]}
    run = of(rows_table={"group": [0] * 4 + [1] * 6 + [None]}, groups=groups)
    found = _where(run, documents)
    assert found.text == where
    assert found.groups == (((0, where[2:-1]),) if where else ())


def test_trouble_in_texts_names_its_group():
    groups = {"group": [0, 1], "name": ["{x}", "y"], "size": [40, 20]}
    run = doubted()
    run.rows_table, run.groups = {"group": [0] * 40 + [1] * 20}, groups
    said = [one for one in _trouble(run) if "another language" in one.page]
    assert "20 of them in y, which is most of it" in said[0].page
    assert said[0].groups == ((1, "20 of them in y, which is most of it"),)
    assert said[0].message.remedies == ("say so with {language=en,de}",)


def of(**more):
    """Return a run of ten groups, the most of nine numbers that were tried."""
    info = SimpleNamespace(n_groups=10, corpus=SimpleNamespace(n_set_aside=1, n_documents=3))
    run = SimpleNamespace(
        info=info,
        mixture=SimpleNamespace(weights_=[0.1] * 10),
        advice=None,
        dense=dict.fromkeys(range(2, 11)),
        feature_names=["word"],
        path=SimpleNamespace(status_="collapsed", betas_=[0.0, 1.0]),
        groups={
            "group": [1, 0],
            "name": ["cluster linkage", "x"],
            "stability": [0.4996, 0.5],
            "size": [9, 9],
        },
        start_agreement={10: 0.419},
        stability=lambda: SimpleNamespace(n_lost=2, n_replicates=20),
        cut=None,
        meaning=None,
        rows_table={
            "group": [1, 1, None],
            "certainty": ["borderline with x", "clearly here", None],
            "n_words": [4, 9, None],
            "set_aside": [None, None, NO_WORD_LEFT],
        },
    )
    return SimpleNamespace(**{**vars(run), **more})


def doubted():
    """Return a run against which everything speaks."""
    text = "Müller\u2019s of the house and the garden, which is not what it was".encode()
    texts = [f"{text.decode('latin-1')} {i}\nA line of the menu" for i in range(40)]
    texts += ["Der Preis des Hauses ist nicht mehr was er war und ich weiß nicht warum"] * 20
    thresholds = SimpleNamespace(min_count=1, min_df=5)
    found = trouble(texts, [f"3d{i}" for i in range(20)], ("en",))
    how = SimpleNamespace(thresholds=thresholds)
    reasons = {2: NO_WORD_LEFT}
    run = of(rows=SimpleNamespace(trouble=found, vectorization=how, reasons=reasons))
    run.rows_table = {name: one + [None] * (len(texts) - 3) for name, one in run.rows_table.items()}
    return run


def test_every_warning_says_on_the_page_in_words_what_to_do():
    run = doubted()
    found = warnings(run)
    assert len(found) == 3 + 7
    typed = " ".join(one.render(lambda name: f"--{name.replace('_', '-')}") for one in found)
    for option in ("mend-encoding", "drop-mixed", "language", "min-df"):
        assert f"--{option}" in typed
    for one in [*found, _borderline(run)]:
        page = one.page.replace("cluster linkage", "")  # a name stays as it is
        assert not TYPED.search(page), page
        assert page.endswith(".")
    for one in found[:3]:
        assert "make the run again" in one.page


@pytest.mark.parametrize(
    ("remark", "page"),
    [
        (_set_aside, "(no word is left: words of at least 5 documents are kept)"),
        (_ended, "after 2 steps, when a group lost its documents: the slider of words goes no"),
        (_at_the_end, "The largest number of groups that was tried was chosen"),
        (_agreement, "Other runs of the search agree with these groups by only 41 %"),
        (_stability, "One group was dissolved more often than not when the documents were drawn"),
        (_stability, "cluster linkage (stability 49 %). Do not rely on it."),
        (_lost, "In 2 of 20 repetitions"),
        (_short, "1 of 1 document with fewer than 5 different words of the vocabulary is border"),
        (_borderline, "1 of 2 documents may as well be in another group. A click on the word of"),
    ],
)
def test_what_the_page_says(remark, page):
    assert page in remark(doubted()).page


def test_a_stability_just_below_a_half_is_not_shown_as_a_half():
    said = _stability(doubted()).render()
    assert "again: cluster linkage (stability 49 %). See stability in groups.csv." in said
    assert "x (" not in said  # it stays in half of the repetitions


@pytest.mark.parametrize(
    ("n", "K", "page"),
    [
        (20, 10, "the slider of groups merges the 10 groups step by step to two and divides them"),
        (10, 10, "the slider of groups merges the 10 groups step by step to two."),
        (5, 2, "the slider of groups divides both into 5 fine groups."),
        (2, 2, "the slider of groups has no other groups."),
        (3, 1, "the slider of groups divides it into 3 fine groups."),
    ],
)
def test_the_page_says_where_coarser_and_finer_groups_are(n, K, page):
    nodes = [SimpleNamespace(chosen=i < K, n_leaves=n) for i in range(2 * n - 1)]
    assert page in _tree(of(nodes=nodes)).page


def test_the_advice_is_said_with_its_evidence():
    first = SimpleNamespace(level="fine", n_clusters=10, sentence="10 groups: the best.")
    other = SimpleNamespace(level="finest", n_clusters=12, sentence="Up to 12 groups hold.")
    doubts = ["The evidence is flat."]
    whole = SimpleNamespace(of_passages=False)
    advice = SimpleNamespace(
        recommended=[first, other], certainty="strong", doubts=doubts, evidence=whole
    )
    said = "How many: 10 groups: the best. The evidence for it is strong. Up to 12 groups hold."
    for one in (_advice(of(advice=advice)).render(), _advice(of(advice=advice)).page):
        assert one == f"{said} The evidence is flat."
    candidates = np.array([3, 10, 44])
    advice.evidence = SimpleNamespace(of_passages=True, subjects=None, far=2, candidates=candidates)
    assert _advice(of(advice=advice)).render().endswith("For finer subjects: levels=10,44.")


def test_phrases_come_first_among_the_common_words_that_are_named():
    common = {"b": 9, "a": 9, "press release": 6, "c": 8, "d": 7, "e": 7, "f": 7}
    used = SimpleNamespace(min_df=1, min_count=1, max_df=5, cost={"max_df": 7})
    how = SimpleNamespace(thresholds=used, removed={"common": common}, n_words_before=9)
    reading = SimpleNamespace(prototypes=np.zeros((10, 2)))
    run = of(rows=SimpleNamespace(vectorization=how), reading=reading)
    said = "2 of 9 are kept. Of the others, 7 are in more than 5 (press release, a, b, c, d, ...)"
    assert said in kept_words(run).render()


def test_the_help_of_min_df_is_what_is_done():
    told = ExploreOptions.__dataclass_fields__["min_df"].metadata["found"]
    bounds = re.findall(r"(\d+) below ([\d,]+)", told)
    for least, end in bounds:
        assert least_documents(int(end.replace(",", "")) - 1) == int(least)
        assert least_documents(int(end.replace(",", ""))) == int(least) + 1
    assert [int(least) for least, _ in bounds] == [1, 2, 3, 4, 5]
    assert (least_documents(12_345), least_documents(10**6)) == (12, 20)
