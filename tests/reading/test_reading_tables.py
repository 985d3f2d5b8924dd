"""Tables, timelines, alignments and contrasts on examples one can count by hand."""

from __future__ import annotations

import datetime as dt
import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import binomtest

import spheremix as sm
from spheremix.reading import (
    Agreement,
    Flow,
    Match,
    agreement,
    align_partitions,
    align_prototypes,
    contingency,
    contrast_words,
    group_counts,
    log_odds_contrast,
    moves,
    parse_dates,
    timeline,
)

# ------------------------------------------------------------------------------------------ labels


def test_one_label_a_document():
    table = contingency([0, 0, 1, 1, 1, -1], ["b", "a", "b", "b", None, "a"], n_groups=3)
    assert table.labels == ("b", "a")
    assert_array_equal(table.counts, [[1, 1], [2, 0], [0, 0]])
    assert_array_equal(table.group_sizes, [2, 3, 0])
    assert_array_equal(table.label_sizes, [3, 1])
    assert table.n_unlabelled == 1
    assert_allclose(table.share_of_group, [[1 / 2, 1 / 2], [2 / 3, 0], [0, 0]])
    assert_allclose(table.share_of_label, [[1 / 3, 1], [2 / 3, 0], [0, 0]])


def test_several_labels_a_document():
    events = [["9.01", "2.02"], ("9.01",), {"5.02", "9.01"}, [], np.array(["2.02", "2.02"])]
    table = contingency([0, 0, 1, 1, 1], events)
    assert table.labels == ("9.01", "2.02", "5.02")
    assert_array_equal(table.counts, [[2, 1, 0], [1, 1, 1]])
    assert_array_equal(table.label_sizes, [3, 2, 1])
    assert_array_equal(table.group_sizes, [2, 3])
    assert table.n_unlabelled == 1
    assert_allclose(table.share_of_label.sum(axis=0), 1)
    with pytest.raises(ValueError, match="several labels"):
        agreement([0, 0, 1, 1, 1], events)


def test_what_is_no_label():
    missing = [None, float("nan"), "", pd.NA, pd.NaT, np.nan, [None], [""]]
    table = contingency([0] * 9, [*missing, 0])
    assert table.labels == (0,)
    assert table.n_unlabelled == 8
    assert contingency([], []).counts.shape == (0, 0)
    assert contingency([0], [None]).counts.shape == (1, 0)
    labels = contingency([0, 0], np.array([3, 3])).labels
    assert labels == (3,)
    assert type(labels[0]) is int


def test_agreement():
    assert agreement([0, 0, 1, 1], ["x", "x", "y", "y"]) == Agreement(1.0, 1.0, 4)
    with_gaps = agreement([0, 0, 1, 1, -1, 2], ["x", "x", "y", "y", "x", None])
    assert with_gaps == Agreement(1.0, 1.0, 4)
    rng = np.random.default_rng(0)
    mine, theirs = rng.integers(4, size=200), rng.integers(3, size=200)
    pairs = list(itertools.combinations(range(200), 2))
    same_a = np.array([mine[i] == mine[j] for i, j in pairs])
    same_b = np.array([theirs[i] == theirs[j] for i, j in pairs])
    chance = same_a.sum() * same_b.sum() / len(pairs)
    ari = ((same_a & same_b).sum() - chance) / ((same_a.sum() + same_b.sum()) / 2 - chance)
    assert_allclose(agreement(mine, theirs).ari, ari, atol=1e-12)
    assert agreement(range(60), range(60)).ari == 1.0  # scikit-learn would warn
    assert np.isnan(agreement([-1], ["x"]).ari)


@pytest.mark.parametrize(
    ("groups", "labels", "message"),
    [
        ([0, 1], ["a"], "1 labels for 2 documents"),
        ([0.5, 1], ["a", "b"], "Groups must be integers"),
        ([[0, 1]], ["a"], "Groups must be integers"),
    ],
)
def test_bad_labels(groups, labels, message):
    with pytest.raises(ValueError, match=message):
        contingency(groups, labels)
    with pytest.raises(ValueError, match=message):
        agreement(groups, labels)


def test_too_few_groups():
    with pytest.raises(ValueError, match="group 2, but n_groups=2"):
        contingency([0, 2], "ab", n_groups=2)


# -------------------------------------------------------------------------------------------- time


def test_by_month_and_year():
    dates = ["2015-11-30", "2016-01-02T10:00:00Z", "20160131", None, "2015-11", "2016-01-05"]
    groups = [0, 1, 1, 1, 0, -1]
    table = timeline(groups, dates, n_groups=3)
    assert table.periods == ("2015-11", "2015-12", "2016-01")
    assert_array_equal(table.counts, [[2, 0, 0], [0, 0, 2], [0, 0, 0]])
    assert table.n_undated == 1
    table = timeline(groups, dates, period="year")
    assert table.periods == ("2015", "2016")
    assert_array_equal(table.counts, [[2, 0], [0, 2]])


@pytest.mark.parametrize(("last", "n"), [("2019-12", 60), ("2020-01", 6)])
def test_beyond_sixty_months_auto_counts_years(last, n):
    dates = ["2015-01", None, last, "1980"]
    found = timeline([0, 0, 1, -1], dates, period="auto")  # who has no group does not count
    assert len(found.periods) == n
    assert_array_equal(found.counts.sum(axis=1), [1, 1])
    assert timeline([0], [None], period="auto").periods == ()


def test_forms_of_dates():
    eastern = dt.timezone(dt.timedelta(hours=-5))
    late = dt.datetime(2016, 10, 12, 23, 30, tzinfo=eastern)
    forms = ["2016-10-12", "20161012", "2016-10-12 23:30", " 2016-10-12 ", late, late.date()]
    forms += [pd.Timestamp(late), np.datetime64("2016-10-12T23:30"), 20161012]
    assert set(parse_dates(forms)) == {np.datetime64("2016-10-12")}
    assert set(parse_dates([2016, 2016.0, "2016", "2016-01"])) == {np.datetime64("2016-01-01")}
    assert np.isnat(parse_dates([None, "", np.nan, pd.NaT, np.datetime64("NaT")])).all()
    stamps = pd.Series(["2016-10-12 23:30"], dtype="datetime64[ns]")
    assert_array_equal(parse_dates(stamps), parse_dates(stamps.to_numpy()))
    assert parse_dates([]).shape == (0,)
    assert str(parse_dates([dt.date(987, 1, 2)])[0]) == "0987-01-02"


@pytest.mark.parametrize("date", ["12/10/2016", "2016-13-01", "2016-02-30", "soon", "2016-1-", 3.5])
def test_bad_dates(date):
    with pytest.raises(ValueError, match=r"Document 1 has the date .* not understood"):
        timeline([0, 0], ["2016", date])


def test_bad_timelines():
    with pytest.raises(ValueError, match="period must be one of auto, month, year"):
        timeline([0], ["2016"], period="week")
    with pytest.raises(ValueError, match="1 dates for 2 documents"):
        timeline([0, 1], ["2016"])
    empty = timeline([0, 1], [None, None])
    assert (empty.periods, empty.counts.shape, empty.n_undated) == ((), (2, 0), 2)
    assert [one.shape for one in empty.bounds()] == [(2, 0), (2, 0)]


def test_intervals_of_documents_in_one_group_are_those_of_wilson():
    rng = np.random.default_rng(0)
    groups, years = rng.integers(3, size=80), rng.choice([2000, 2001, 2003], 80)
    found = timeline(groups, [str(one) for one in years], period="year")
    low, high = found.bounds()
    for k in range(3):
        for p, year in enumerate(found.periods):
            here = groups[years == int(year)]
            if not len(here):
                assert (low[k, p], round(high[k, p], 2)) == (0.0, 1.0)
                continue
            ends = binomtest(int((here == k).sum()), len(here)).proportion_ci(method="wilson")
            assert_allclose([low[k, p], high[k, p]], ends, atol=1e-9)
            assert_allclose(found.shares[k, p], np.mean(here == k))


@pytest.mark.parametrize("concentration", [0.5, 4.0, 40.0])
def test_intervals_of_shares_contain_the_truth(concentration):
    """Documents have several groups, the more even the larger the concentration is."""
    rng, covered, widths = np.random.default_rng(1), [], []
    for _ in range(60):
        truth = rng.dirichlet([2.0, 1.0, 5.0], 12)
        n = rng.integers(4, 30, 12)
        years = np.repeat(np.arange(12), n)
        shares = np.array([rng.dirichlet(concentration * truth[year] + 1e-6) for year in years])
        dates = [str(1990 + year) for year in years]
        found = timeline(shares.argmax(axis=1), dates, period="year", shares=shares)
        low, high = found.bounds()
        covered.append((low <= truth.T) & (high >= truth.T))
        widths.append((high - low).mean())
    assert 0.93 <= np.mean(covered) <= 0.975
    assert np.mean(widths) < {0.5: 0.36, 4.0: 0.22, 40.0: 0.09}[concentration]


def test_a_peak_is_not_in_two_documents():
    """All of two documents in 2001, and half of forty in 2002: the peak is in 2002."""
    groups = [0] * 2 + [0] * 20 + [1] * 20 + [1] * 30
    years = ["2001"] * 2 + ["2002"] * 40 + ["2003"] * 30
    found = timeline(groups, years, period="year")
    assert found.shares[0].argmax() == 0
    assert found.peaks().tolist() == [1, 2]


# --------------------------------------------------------------------------------------- alignment


@given(st.permutations(range(6)), st.integers(0, 2**16))
def test_permuted_prototypes_are_found(order, seed):
    before = np.random.default_rng(seed).normal(size=(6, 20))
    found = align_prototypes(before, 3 * before[list(order)])
    assert found.became == {k: order.index(k) for k in range(6)}
    assert_allclose([match.score for match in found.matches], 1.0)
    assert found.lost == found.new == ()


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 2**16))
def test_no_other_matching_is_better(n_before, n_after, seed):
    rng = np.random.default_rng(seed)
    before, after = rng.random((n_before, 5)), rng.random((n_after, 5))
    found = align_prototypes(before, after)
    s = found.similarities
    fewer, more = sorted(s.shape)
    table = s if s.shape[0] == fewer else s.T
    best = max(
        sum(table[i, j] for i, j in enumerate(chosen))
        for chosen in itertools.permutations(range(more), fewer)
    )
    assert_allclose(sum(match.score for match in found.matches), best)
    assert len(found.lost) == n_before - fewer
    assert len(found.new) == n_after - fewer


def test_groups_without_likeness_are_not_matched():
    found = align_prototypes([[1, 0, 0], [0, 1, 0]], [[0, 0, 1], [1, 0, 0], [0, 0, 0]])
    assert found.matches == (Match(0, 1, 1.0),)
    assert (found.lost, found.new) == ((1,), (0, 2))
    with pytest.raises(ValueError, match="2 and 3 features"):
        align_prototypes(np.eye(2), np.eye(3))


def test_partitions():
    before = [0, 0, 0, 0, 1, 1, -1]
    after = [2, 2, 0, 1, 1, 1, 0]
    found = align_partitions(before, after, n_before=3)
    assert found.matches == (Match(0, 2, 2 / 4), Match(1, 1, 2 / 3))
    assert (found.lost, found.new) == ((2,), (0,))
    moved = moves(before, after, found)
    assert moved.documents.tolist() == [2, 3]
    assert moved.flows == (Flow(0, 0, 1), Flow(0, 1, 1))
    with pytest.raises(ValueError, match="Groups of the same documents"):
        moves([0, 1], [0])


def test_moves_along_a_path_are_those_of_the_path():
    X = sm.datasets.make_vmf_mixture(random_state=0)[0]
    path = sm.VMFPath(4, n_init=2, random_state=0).fit(X)
    first, last = path.model(0).predict(X), path.model(-1).predict(X)
    moved = moves(first, last)
    assert_array_equal(moved.documents, path.moved(X, 0, -1))
    assert sum(flow.n_documents for flow in moved.flows) == len(moved.documents)
    assert all(flow.before != flow.after for flow in moved.flows)
    sizes = [flow.n_documents for flow in moved.flows]
    assert sizes == sorted(sizes, reverse=True)
    assert moves(first, first).flows == ()


# ---------------------------------------------------------------------------------------- contrast


def test_contrast_is_the_formula():
    counts = np.array([[4, 1, 0, 0], [3, 2, 1, 0], [0, 5, 4, 0]])
    labels, prior = [0, 0, 1], 2.0
    z = log_odds_contrast(counts, labels, prior=prior)
    inside = np.array([[7, 3, 1, 0], [0, 5, 4, 0]], dtype=float)
    for k, j in itertools.product(range(2), range(3)):
        a = prior * inside[:, j].sum() / inside.sum()
        y, n = inside[k, j], inside[k].sum()
        y_rest, n_rest = inside[1 - k, j], inside[1 - k].sum()
        delta = np.log((y + a) / (n + prior - y - a))
        delta -= np.log((y_rest + a) / (n_rest + prior - y_rest - a))
        assert_allclose(z[k, j], delta / np.sqrt(1 / (y + a) + 1 / (y_rest + a)), rtol=1e-12)
    assert_array_equal(z[:, 3], 0)
    assert_allclose(z[0], -z[1])  # two groups: each is the rest of the other
    by_default = log_odds_contrast(sparse.csr_matrix(counts), labels)
    assert_allclose(by_default, log_odds_contrast(counts, labels, prior=counts.sum() / 3))


def test_planted_words_are_found():
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1, 2], 100)
    frequent = rng.poisson(4.0, size=(300, 5))  # everywhere, and often
    background = rng.poisson(0.3, size=(300, 40))
    planted = rng.poisson(np.where(labels[:, None] == np.repeat([0, 1, 2], 3), 1.0, 0.05))
    once = np.zeros((300, 3), dtype=int)  # one occurrence, in one group
    once[[0, 100, 200], [0, 1, 2]] = 1
    counts = np.hstack([frequent, background, once, planted])
    names = [f"often{i}" for i in range(5)] + [f"some{i}" for i in range(40)]
    names += [f"once{i}" for i in range(3)] + [f"planted{k}{i}" for k in range(3) for i in range(3)]
    for k, words in enumerate(contrast_words(sparse.csr_array(counts), labels, names, 3)):
        assert {word.word for word in words} == {f"planted{k}{i}" for i in range(3)}
        for word in words:
            assert word.group == k
            assert word.z > 5
            assert word.count == counts[labels == k, word.column].sum()
            assert_allclose(word.share, word.count / counts[:, word.column].sum())


def test_contrasts_of_little():
    assert_array_equal(log_odds_contrast(np.zeros((2, 3)), [0, 1]), 0)
    assert_allclose(log_odds_contrast([[3, 1], [1, 2]], [0, 0]), 0, atol=1e-12)  # one group
    assert_array_equal(log_odds_contrast([[3], [2]], [0, 1]), 0)  # one word
    empty = log_odds_contrast([[3, 1], [1, 2]], [0, -1], n_groups=2)
    assert empty.shape == (2, 2)
    assert np.isfinite(empty).all()
    assert contrast_words([[3, 1], [1, 2]], [-1, -1], "ab", n_groups=1) == [[]]
    assert_array_equal(group_counts([[3, 1], [1, 2]], [1, 1]), [[0, 0], [4, 3]])


@pytest.mark.parametrize(
    ("counts", "labels", "message"),
    [
        ([[1, -1]], [0], "finite and non-negative"),
        ([[1, np.nan]], [0], "finite and non-negative"),
        ([[1, 2]], [0, 1], "there are 2 labels"),
        (["a text", "and another"], [0, 1], "a table of counts, one row a document, as Count"),
        ([["words"], ["in", "lists"]], [0, 1], "counts must be a table of counts"),
    ],
)
def test_bad_counts(counts, labels, message):
    with pytest.raises(ValueError, match=message):
        log_odds_contrast(counts, labels)


def test_bad_contrasts():
    with pytest.raises(ValueError, match="prior must be a positive number"):
        log_odds_contrast([[1, 2]], [0], prior=0.0)
    with pytest.raises(ValueError, match="1 words for 2 columns"):
        contrast_words([[1, 2]], [0], ["a"])


def test_years_are_counted_by_year_however_few_they_are():
    for dates in (["1990", "1992"], [1990, 1992], [1990.0, 1992.0], ["1990", "1992-05-01"]):
        found = timeline([0, 0], dates, period="auto")
        assert found.periods == ("1990", "1991", "1992")
    found = timeline([0, 0], np.array(["1990", "1992"], dtype="M8[Y]"), period="auto")
    assert found.periods == ("1990", "1991", "1992")
    assert timeline([0, 0], ["1990-05", "1990-06"], period="auto").periods == ("1990-05", "1990-06")
    # Without a group, or without a date, nothing is decided.
    assert timeline([-1, 0, 0], ["1990", None, "1990-06"], period="auto").periods == ("1990-06",)
