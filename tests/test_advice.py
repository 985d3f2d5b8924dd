"""Advice on the number of clusters, on made evidence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from spheremix.advice import Evidence, advise, bic_turn

N_ROWS = 1000.0


def made(stable, gains, *, chance=0.0, first=2, n_features=2000, **others):
    """Make evidence with a stability and a gain, in nats a row, of each number of clusters."""
    stable, gains = np.array(stable, dtype=float), np.array(gains, dtype=float)
    n = len(stable)
    level = np.full(n, chance)
    return Evidence(
        candidates=np.arange(first, first + n),
        n_rows=N_ROWS,
        n_features=n_features,
        log_likelihoods=100.0 + N_ROWS * np.cumsum(gains),
        one_cluster=100.0,
        n_parameters=10.0 * np.arange(first, first + n),
        criteria={"bic": -np.arange(n, dtype=float)},
        stability=level + stable * (1.0 - level),
        chance=level,
        agreement=np.full(n, 0.9),
        largest=np.full(n, 0.4),
        **others,
    )


def numbers(advice):
    return [one.n_clusters for one in advice.recommended]


def test_stable_clusters_where_the_gain_turns():
    evidence = made([0.6, 0.6, 0.7, 0.95, 0.6, 0.6], [9, 8, 8, 7, 3, 3], chance=0.2)
    assert_allclose(evidence.adjusted_stability, [0.6, 0.6, 0.7, 0.95, 0.6, 0.6])
    assert_allclose(evidence.gains, [9, 8, 8, 7, 3, 3])
    assert_allclose(evidence.turning, [1 / 9, 0, 1 / 8, 4 / 7, 0, 0], atol=1e-12)
    advice = advise(evidence)
    assert advice.n_clusters == advice.best_candidate == 5
    assert advice.certainty == "clear"
    assert advice.doubts == ()
    first = advice.recommended[0]
    assert first.reading == "first"
    assert "0.96 (by chance 0.20)" in first.sentence
    assert "57% less" in first.sentence


def test_two_clusters_that_are_stable_too_are_the_coarser_reading():
    advice = advise(made([0.9, 0.5, 0.95, 0.5, 0.5, 0.8, 0.4], [9, 8, 8, 3, 3, 3, 1]))
    assert numbers(advice) == [4, 7, 2]
    assert [one.reading for one in advice.recommended] == ["first", "finer", "coarser"]
    assert "7 groups (finer)" in str(advice)


@pytest.mark.parametrize(
    ("stable", "gains", "expected"),
    [
        ([0.98, 0.6, 0.88, 0.6, 0.5], [9, 4, 4, 2, 2], [4, 2]),  # 4 are stable
        ([0.75, 0.5, 0.65, 0.5, 0.5], [9, 7, 7, 5, 5], [4, 2]),  # 2 do not stand out from 4
        ([0.98, 0.5, 0.65, 0.5, 0.5], [9, 3, 3, 2, 2], [2, 4]),
        ([0.98, 0.8, 0.4, 0.3, 0.3], [9, 3, 2, 2, 2], [2, 3]),  # 3 are stable, but only beside 2
    ],
)
def test_two_clusters_give_way_to_a_finer_number(stable, gains, expected):
    advice = advise(made(stable, gains))
    assert numbers(advice) == expected
    said = "2 groups stand out more" in advice.recommended[0].sentence
    assert said == (expected[0] != 2)


def test_the_finest_stable_number_is_a_finer_reading():
    advice = advise(made([0.4, 0.95, 0.8, 0.75, 0.4, 0.3], [9, 9, 5, 4.9, 4.8, 4.7]))
    assert numbers(advice) == [3, 5]
    # ... unless it gains no more than by chance.
    low = made([0.4, 0.95, 0.8, 0.75, 0.4, 0.3], [9, 9, 5, 4.9, 4.8, 4.7], chance_gain=6.0)
    assert numbers(advise(low)) == [3]


def test_gains_below_chance_turn_nowhere():
    """Noise after the last true cluster may halve from one number to the next."""
    evidence = made([0.9, 0.9, 0.9, 0.9], [1.0, 0.02, 0.001, 0.02], chance_gain=0.03)
    assert_allclose(evidence.turning[1:], 0.0)
    assert advise(evidence).n_clusters == 2


def test_the_least_gain_is_what_bic_asks_for():
    evidence = made([0.9, 0.9], [1.0, 1.0])
    assert_allclose(evidence.least_gain, 10.0 * np.log(N_ROWS) / (2.0 * N_ROWS))


def test_no_clusters():
    evidence = made([0.1, 0.05, 0.06], [0.1, 0.1, 0.1], apart=0.5)
    advice = advise(evidence)
    assert advice.n_clusters == 1
    assert advice.recommended[0].reading == "none"
    assert advice.best_candidate == 2  # what a model can be shown of
    assert advise(replace(evidence, apart=30.0)).n_clusters == 2
    assert advise(replace(evidence, apart=None)).n_clusters == 2


def test_one_cluster_may_be_a_candidate():
    evidence = made([1.0, 0.9, 0.5, 0.4], [0.0, 5.0, 1.0, 1.0], first=1)
    assert_allclose(evidence.gains, [0.0, 5.0, 1.0, 1.0])
    assert numbers(advise(evidence))[0] == 2
    nothing = advise(replace(evidence, apart=0.0))
    assert nothing.n_clusters == nothing.best_candidate == 1


def test_candidates_with_gaps_compare_gains_of_one_cluster():
    evidence = replace(made([0.5, 0.9, 0.5], [4, 12, 3]), candidates=np.array([2, 5, 8]))
    assert_allclose(evidence.gains, [4, 4, 1])
    assert advise(evidence).n_clusters == 5


@pytest.mark.parametrize(
    ("change", "doubt"),
    [
        ({"largest": np.full(6, 0.9)}, "One group has 90% of everything"),
        ({"stability": np.array([0.1, 0.1, 0.2, 0.4, 0.1, 0.1])}, "not stable"),
        (
            {"candidates": np.arange(5, 11), "stability": np.linspace(1, 0.5, 6)},
            "5 is the smallest",
        ),
        ({"stability": np.linspace(0.1, 1.0, 6)}, "7 is the largest number that was tried"),
        ({"stability": np.full(6, 0.8)}, "The evidence is flat"),
    ],
)
def test_doubts(change, doubt):
    evidence = made([0.6, 0.6, 0.7, 0.95, 0.6, 0.6], [9, 9, 9, 9, 9, 9])
    assert not any(doubt in one for one in advise(evidence).doubts)
    assert any(doubt in one for one in advise(replace(evidence, **change)).doubts)


def test_two_clusters_of_long_and_short_documents_are_doubted():
    evidence = made([0.9, 0.5, 0.5], [9, 3, 3])
    said = "long and short documents"
    assert said not in str(advise(evidence))
    assert said not in str(advise(replace(evidence, by_length=0.5)))
    assert said in str(advise(replace(evidence, by_length=-0.9)))


def test_two_clusters_that_are_labels():
    evidence = made([0.95, 0.4, 0.4, 0.4], [9, 2, 2, 2])
    assert numbers(advise(evidence))[0] == 2
    doubtful = advise(replace(evidence, by_label=("folder", 0.93)))
    assert "The two groups are nearly the labels 'folder' (ARI 0.93)" in doubtful.doubts[0]
    assert not advise(replace(evidence, by_label=("folder", 0.5))).doubts
    three = made([0.4, 0.95, 0.4, 0.4], [9, 8, 2, 2], by_label=("folder", 0.93))
    assert numbers(advise(three))[0] == 3
    assert not advise(three).doubts


def test_the_sentence_says_why_a_steadier_number_is_not_the_first():
    evidence = made([0.4, 0.8, 0.9, 0.4], [9, 8, 2, 2])
    advice = advise(evidence)
    assert numbers(advice)[0] == 3
    assert (
        ", and the fit gains less from here on: a further group would improve it by 75% less "
        "than the last one did. 4 groups agree more (0.90), but what a further group would "
        "add is weighed too, and both together speak for 3."
    ) in advice.recommended[0].sentence
    assert "agree more" not in str(advise(made([0.4, 0.9, 0.9, 0.4], [9, 8, 2, 2])))


def test_bic_counts_where_rows_are_many():
    bic = {"bic": np.array([3.0, 2.0, 1.0, 2.0])}
    evidence = replace(made([0.9, 0.5, 0.6, 0.5], [9, 2, 2, 2], n_features=20), criteria=bic)
    assert bic_turn(evidence) == 2
    advice = advise(evidence)
    assert numbers(advice)[:2] == [2, 4]
    assert any("BIC" in doubt and "4" in doubt for doubt in advice.doubts)
    assert bic_turn(replace(evidence, n_features=500)) is None
    falling = {"bic": -np.arange(4.0)}
    assert bic_turn(replace(evidence, criteria=falling)) is None


def test_merge_costs_count_half_of_the_turning():
    evidence = made([0.8, 0.8, 0.8, 0.8], [4, 4, 4, 4])
    assert_allclose(evidence.turning, 0.0)
    costs = N_ROWS * np.array([4.0, 4.0, 1.0, 1.0])
    assert_allclose(replace(evidence, merge_costs=costs).turning, [0.0, 0.375, 0.0, 0.0])
    advice = advise(replace(evidence, merge_costs=costs))
    assert advice.n_clusters == 3
    assert_array_equal(advice.table()["merge_cost"], costs)


def test_the_first_number_has_no_turning_if_smaller_ones_were_not_tried():
    """What its last cluster added is not known; with the same fits a wider range tells."""
    wide = made([0.6] * 7, [9, 8, 7, 6, 5, 4, 3])
    narrow = replace(
        wide,
        candidates=wide.candidates[3:],
        log_likelihoods=wide.log_likelihoods[3:],
        n_parameters=wide.n_parameters[3:],
        stability=wide.stability[3:],
        chance=wide.chance[3:],
        agreement=wide.agreement[3:],
        largest=wide.largest[3:],
    )
    assert wide.turning[3] > 0.0
    assert narrow.turning[0] == 0.0
    assert_allclose(narrow.turning[1:], wide.turning[4:])


def test_agreement_stands_for_stability_that_is_not_known():
    evidence = replace(made([0.1] * 4, [4, 4, 4, 4]), stability=np.full(4, np.nan))
    evidence = replace(evidence, agreement=np.array([0.5, 0.9, 0.4, np.nan]))
    assert_allclose(evidence.adjusted_stability, [0.5, 0.9, 0.4, 0.0])
    assert "the runs of the search agree at 0.90" in advise(evidence).recommended[0].sentence


def test_the_table_has_a_row_for_each_candidate():
    table = advise(made([0.6, 0.95, 0.6, 0.3], [9, 8, 3, 3])).table()
    assert {len(column) for column in table.values()} == {4}
    assert_array_equal(table["recommended"], [0, 1, 0, 0])
    assert_allclose(table["score"], table["adjusted_stability"] + table["turning"])
