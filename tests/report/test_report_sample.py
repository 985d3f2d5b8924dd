"""A page of very many documents: a sample of them, beside counts of all."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import spheremix as sm
from spheremix.report import content, documents, sample
from spheremix.report.documents import describe
from spheremix.report.sample import Catalogue, Shown, sentence
from spheremix.text import Corpus

MOST = 60


@pytest.fixture(scope="module")
def run():
    rng = np.random.default_rng(0)
    subjects = ["apple pear plum fig", "rain wind cloud storm", "bolt nut screw nail"]
    n = 400
    which = rng.choice(3, n, p=[0.7, 0.25, 0.05])
    texts = [" ".join(rng.choice(subjects[k].split(), 6)) for k in which]
    corpus = replace(
        Corpus.from_texts(texts),
        labels={"kind": [(f"kind {rng.integers(5)}",) for _ in texts]},
        dates=[f"20{rng.integers(10, 13)}-0{rng.integers(1, 9)}-11" for _ in texts],
    )
    return sm.explore_corpus(corpus, None, k=3, min_count=1, min_df=1, max_df=1.0, max_steps=5)


def test_every_stratum_has_its_share_and_its_typical_documents(run):
    shown = Shown(run, run.assigned, MOST)
    assert len(shown.rows) < len(shown.strata)
    assert_array_equal(shown.rows, np.unique(shown.rows))
    sizes, sampled = np.bincount(shown.strata), np.bincount(shown.strata[shown.rows])
    assert (sampled >= np.ceil(sizes * MOST / len(shown.strata))).all()
    listed = shown.listed()
    for k in range(3):
        for name in ("typical", "ambiguous"):
            rows = shown.rows[listed[name][k]]
            assert (run.assigned.labels[rows] == k).all()
        assert_array_equal(shown.rows[listed["typical"][k]], run.assigned.typical(k, 10))
    assert_array_equal(Shown(run, run.assigned, MOST).rows, shown.rows)
    assert "of the 400 documents" in sentence(shown)


@pytest.fixture(scope="module")
def split_run():
    rng = np.random.default_rng(0)
    subjects = ["apple pear plum fig", "rain wind cloud storm", "bolt nut screw nail"]

    def passage():
        words = rng.choice(subjects[rng.choice(3, p=[0.7, 0.25, 0.05])].split(), 30)
        return " ".join(words).capitalize() + "."

    texts = ["\n\n".join(passage() for _ in range(rng.integers(1, 6))) for _ in range(160)]
    how = {"split": "paragraphs", "min_count": 1, "min_df": 1, "max_df": 1.0, "max_steps": 5}
    return sm.explore_corpus(texts, None, k=3, **how)


def test_documents_that_were_split_are_drawn_whole(split_run):
    n = len(split_run.assigned.labels)
    shown = Shown(split_run, split_run.assigned, MOST)
    whole, part = Shown(split_run, split_run.assigned), describe(shown)["passages"]
    assert 0 < len(shown.rows) < n
    documents, weights = part["document"], part["weight"]
    drawn = np.unique(documents)
    assert 0.25 * MOST < len(drawn) < 160
    assert_allclose(np.bincount(documents, weights)[drawn], 1.0, rtol=1e-5)
    passages = np.bincount(describe(whole)["passages"]["document"])
    assert_array_equal(np.bincount(documents)[drawn], passages[drawn])
    assert_allclose(shown.counted(None, None)["sizes"].sum(), 160, rtol=1e-5)
    said = f"have {len(drawn)} of the 160 documents ({len(shown.rows)} of the {n} passages), drawn"
    assert said in sentence(shown)


def test_labels_and_dates_are_counted_of_all_documents(run):
    shown = Shown(run, run.assigned, MOST)
    found = describe(shown)
    cells, names = found["counted"], found["label_names"]
    assert cells["n_documents"] == 400
    assert_array_equal(cells["sizes"], np.bincount(shown.strata))
    assert_array_equal(cells["of"], shown.strata[shown.rows])
    corpus = run.kept_corpus
    known = Counter(
        (s, one)
        for s, own in zip(shown.strata.tolist(), corpus.labels["kind"], strict=True)
        for one in own
    )
    labels = cells["labels"]
    parts = zip(*(labels[name].tolist() for name in ("stratum", "value", "n")), strict=True)
    assert {(s, names[v]): n for s, v, n in parts} == known
    known = Counter(
        (s, date[:7]) for s, date in zip(shown.strata.tolist(), corpus.dates, strict=True)
    )
    dates = cells["dates"]
    parts = zip(*(dates[name].tolist() for name in ("stratum", "value", "n")), strict=True)
    assert {(s, dates["names"][v]): n for s, v, n in parts} == known


def test_everything_of_a_document_is_that_of_the_same_document(run, monkeypatch):
    whole = content.build(run)
    monkeypatch.setattr(content, "Shown", lambda run, found: Shown(run, found, MOST))
    part = content.build(run)
    rows = Shown(run, run.assigned, MOST).rows
    one, other = part["documents"], whole["documents"]
    assert whole["corpus"]["sampled"] is None
    assert other["counted"] is None
    for name, values in other.items():
        if isinstance(values, np.ndarray):
            assert_array_equal(one[name], values[rows])
        elif name in {"id", "text", "date", "labels", "length"}:
            assert one[name] == [values[i] for i in rows]
    assert one["label_names"] == other["label_names"]
    for axis in ("x", "y"):
        assert_array_equal(part["layout"][axis], whole["layout"][axis][rows])
    assert_array_equal(part["labels"], whole["labels"][:, rows])
    assert_array_equal(part["rows"]["n_words"], whole["rows"]["n_words"][rows])
    assert_array_equal(part["stability"]["documents"], whole["stability"]["documents"][rows])
    for name in ("names", "words", "tree", "steps", "contrast", "model"):
        assert part[name] == whole[name]
    assert part["corpus"]["n_kept"] == whole["corpus"]["n_kept"] == 400


def test_points_are_all_documents_with_whole_texts(run, tmp_path, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(content, "Shown", lambda run, found: Shown(run, found, MOST))
    monkeypatch.setattr(documents, "LONGEST", 20)  # characters of a text of a page
    report = run.report()
    assert max(map(len, report.content["documents"]["text"])) == 20
    path = report.write_parquet(tmp_path / "points.parquet")
    found = parquet.read_table(path).to_pydict()
    corpus, whole = run.kept_corpus, run.assigned
    assert found["id"] == corpus.ids
    assert found["text"] == corpus.texts
    assert found["date"] == corpus.dates
    assert found["kind"] == [one for (one,) in corpus.labels["kind"]]
    assert_array_equal(found["group"], whole.labels)
    assert_array_equal(found["second_group"], whole.second_groups)
    assert_allclose(found["posterior"], whole.posteriors, rtol=1e-6)
    assert_allclose(np.transpose([found["x"], found["y"]]), run.positions(), atol=1e-5)
    assert_allclose(found["stability"], run.stability().documents, rtol=1e-6)


def test_a_page_of_no_more_documents_has_all(run):
    assert Shown(run, run.assigned, 400).rows is None
    assert sentence(Shown(run, run.assigned)) is None
    assert sample.MOST == 100_000


def test_all_documents_of_a_group_page_by_page(run):
    whole, found = Catalogue(run), run.assigned
    strata = Shown(run, found).strata
    corpus = run.kept_corpus
    own = np.unique(strata[found.labels == 1]).tolist()
    listed, n = [], np.isin(strata, own).sum()
    for start in range(0, n, 40):
        page = whole.list(own, start, 40)
        assert page["n"] == n
        listed += page["documents"]
    ids = [one["id"] for one in listed]
    assert sorted(ids) == sorted(np.array(corpus.ids)[np.isin(strata, own)])
    place = {one: i for i, one in enumerate(corpus.ids)}
    cosines = found.cosines[[place[one] for one in ids]]
    assert (np.diff(cosines) <= 0.0).all()
    i = place[ids[0]]
    assert listed[0]["text"] == corpus.texts[i]
    assert listed[0]["about"] == [corpus.dates[i], *corpus.labels["kind"][i]]
    assert whole.texts([ids[0], "no such id"]) == {ids[0]: corpus.texts[i]}
    assert whole.list([999], 0, 40) == {"n": 0, "documents": []}
    assert whole.list(own, n, 40)["documents"] == []
