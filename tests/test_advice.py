"""Advice on the number of groups, on made evidence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from spheremix.advice import APART, DETAIL, SEPARATE, STABLE, Evidence, advise


def made(agreement, *, first=2, back=None, **others):
    """Make evidence with an agreement for each number of groups, and what comes back."""
    agreement = np.array(agreement, dtype=float)
    n = len(agreement)
    back = agreement if back is None else np.array(back, dtype=float)
    candidates = np.arange(first, first + n)
    values = {"apart": 50.0, "valley": 0.8, "largest": np.full(n, 0.4), **others}
    return Evidence(candidates, agreement, agreement, back, candidates, n_rows=1000, **values)


def levels(advice):
    return {one.level: one.n_clusters for one in advice.recommended}


def test_the_fine_number_has_the_largest_agreement_and_detail():
    evidence = made([0.6, 0.6, 0.7, 0.95, 0.6, 0.6])
    assert_allclose(evidence.scores[3], 0.95 + DETAIL * np.log(5))
    advice = advise(evidence)
    assert levels(advice) == {"fine": 5}
    assert advice.n_clusters == advice.best_candidate == advice.broad == advice.finest == 5
    assert (advice.certainty, advice.doubts) == ("clear", ())
    assert "5 groups: halves of the documents give the same ones (agreement 0.95)." in str(advice)


def test_detail_is_worth_a_little_agreement():
    """Twice as many groups are worth DETAIL log 2, so 8 groups lead and 4 are the broad ones."""
    price = DETAIL * np.log(2)
    ahead = made([0.5, 0.5, 0.9, 0.5, 0.5, 0.5, 0.9 - 0.9 * price])
    assert levels(advise(ahead)) == {"fine": 8, "broad": 4}
    behind = made([0.5, 0.5, 0.9, 0.5, 0.5, 0.5, 0.9 - 1.1 * price])
    assert levels(advise(behind)) == {"fine": 4}


# Agreement of halves of speeches in passages, and of articles that were glued together from five
# classes, at 2 to 10, 12, 14, 17, 20, 24, 29, 35 and 40 groups.
NUMBERS = np.array([*range(2, 11), 12, 14, 17, 20, 24, 29, 35, 40])
SPEECHES = [0.90, 0.91, 0.68, 0.61, 0.51, 0.50, 0.45, 0.44, 0.46]
SPEECHES += [0.51, 0.53, 0.53, 0.54, 0.52, 0.51, 0.49, 0.45]
GLUED = [0.60, 0.59, 0.60, 0.87, 0.73, 0.68, 0.65, 0.64, 0.63]
GLUED += [0.63, 0.65, 0.59, 0.59, 0.56, 0.52, 0.50, 0.47]


def numbers(agreement, **others):
    return replace(made(agreement, back=np.ones(17), **others), candidates=NUMBERS)


def test_subjects_of_passages_may_lie_far_beyond_kinds_of_documents():
    speeches = advise(numbers(SPEECHES, of_passages=True))
    assert (speeches.n_clusters, speeches.broad) == (20, 3)
    assert levels(speeches) == {"fine": 20, "broad": 3, "finest": 40}
    assert "20 groups: beyond a few kinds of documents, halves of the" in str(speeches)
    # The same of whole documents, or where agreement only falls, or where it stays low.
    assert advise(numbers(SPEECHES)).n_clusters == 3
    assert advise(numbers(GLUED, of_passages=True)).n_clusters == 5
    little = [0.9, 0.91, *[0.5] * 7, *np.linspace(0.5, 0.54, 8)]
    assert advise(numbers(little, of_passages=True)).n_clusters == 3
    low = [0.9, 0.91, *np.linspace(0.3, 0.45, 15)]
    assert advise(numbers(low, of_passages=True)).n_clusters == 3


def test_the_finest_number_is_the_last_at_which_most_rows_are_in_groups_that_come_back():
    advice = advise(made([0.5, 0.9, 0.6, 0.6, 0.6], back=[1.0, 1.0, 0.8, 0.9, 0.7]))
    assert levels(advice) == {"fine": 3, "finest": 5}
    assert "Up to 5 groups hold: 5 of them come back" in str(advice)
    assert "90% of the documents" in str(advice)


def test_two_groups_lead_only_where_nothing_finer_is_agreed_on():
    advice = advise(made([0.99, 0.6, 0.5, 0.5]))
    assert advice.n_clusters == 3
    assert advice.certainty == "fair"
    assert "2 groups are more stable" in str(advice)
    assert advise(made([0.99, 0.4, 0.3, 0.4])).n_clusters == 2


def test_no_groups_where_rows_of_the_same_shape_divide_as_well():
    nothing = advise(made([0.3, 0.4, 0.3], apart=APART - 2.0))
    assert levels(nothing) == {"none": 1, "fine": 3}
    assert (nothing.n_clusters, nothing.best_candidate) == (1, 3)
    assert nothing.certainty == "clear"
    assert "\nIf you divide them all the same: 3 groups: " in str(nothing)
    assert advise(made([0.3, 0.4, 0.3], apart=APART - 0.5)).certainty == "fair"
    stable = advise(made([0.7, 0.8, 0.7], apart=APART - 2.0))
    assert stable.certainty == "fair"  # groups that come back may be there all the same
    assert advise(replace(made([0.3, 0.4], apart=0.0), n_rows=60)).certainty == "fair"
    assert advise(made([0.9, 0.8, 0.7], apart=None)).n_clusters == 3


def test_groups_with_nothing_between_them_are_there_whatever_others_gain():
    plain = made([0.6, 0.95, 0.6], apart=0.0, valley=SEPARATE)
    assert (advise(plain).n_clusters, advise(plain).certainty) == (3, "fair")
    assert advise(made([0.6, 0.95, 0.6], apart=0.0, valley=SEPARATE - 0.01)).n_clusters == 1
    assert advise(made([0.6, STABLE - 0.01, 0.6], apart=0.0, valley=1.0)).n_clusters == 1


@pytest.mark.parametrize(
    ("evidence", "certainty", "doubt"),
    [
        (made([0.3, 0.3, 0.45, 0.3]), "weak", "The 4 groups are not stable"),
        (made([0.6, 0.9, 0.9, 0.88, 0.6], valley=0.5), "weak", "one continuous cloud"),
        (made([0.6, 0.9, 0.6, 0.6, 0.6, 0.85]), "fair", "No number of groups stands out"),
        (made([0.6, 0.95, 0.6, 0.6], largest=np.full(4, 0.85)), "clear", "One group has 85%"),
        (
            made([0.6, 0.6, 0.7, 0.95], ended_by="rows"),
            "fair",
            "5 is the largest number that was tried, since there are too few documents for more",
        ),
        (made([0.6, 0.6, 0.7, 0.95], ended_by="candidates"), "fair", "5 is the largest number"),
    ],
)
def test_doubts(evidence, certainty, doubt):
    advice = advise(evidence)
    assert advice.certainty == certainty
    assert doubt in " ".join(advice.doubts)


def test_numbers_nearby_do_not_compete_with_the_first_one():
    """5 beside 4 says the same; 8 beside 4 does not."""
    assert advise(made([0.5, 0.5, 0.9, 0.88, 0.5])).certainty == "clear"
    assert advise(made([0.5, 0.5, 0.9, 0.5, 0.5, 0.5, 0.85])).certainty == "fair"


def test_the_largest_number_that_was_tried_is_never_clear():
    """With too few rows, or candidates, for more: larger numbers might be better."""
    evidence = made([0.5, 0.6, 0.95])
    assert advise(evidence).certainty == "clear"
    for why in ("rows", "candidates"):
        assert advise(replace(evidence, ended_by=why)).certainty == "fair"
        assert advise(replace(made([0.95], first=4), ended_by=why)).certainty == "fair"
        inside = replace(made([0.5, 0.6, 0.95, 0.5]), ended_by=why)
        assert advise(inside).certainty == "clear"


def test_nothing_is_clear_where_far_finer_groups_come_back():
    agreement = [0.9, 0.95, 0.6, 0.6, 0.6, 0.6]
    assert advise(made(agreement, back=[1, 1, 1, 1, 0.95, 0.7])).certainty == "clear"
    assert advise(made(agreement, back=[1, 1, 1, 1, 0.95, 0.95])).certainty == "fair"


@pytest.mark.parametrize(
    ("agreement", "said"), [(0.9, "the same"), (0.6, "similar"), (0.3, "other")]
)
def test_groups_are_called_the_same_only_where_halves_agree(agreement, said):
    assert f"halves of the documents give {said} ones" in str(advise(made([agreement], first=3)))


def test_one_group_that_was_a_candidate_is_taken_where_there_are_no_groups():
    nothing = advise(made([np.nan, 0.5, 0.4], first=1, apart=0.0))
    assert nothing.best_candidate == nothing.n_clusters == 1
    assert advise(made([0.5, 0.4], apart=0.0)).best_candidate == 2
    assert advise(made([np.nan, 0.5, 0.9], first=1)).best_candidate == 3


def test_numbers_that_could_not_be_compared_do_not_lead_by_their_size():
    lost = advise(made([np.nan] * 4, back=[0.0] * 4))
    assert lost.n_clusters == 2
    assert lost.certainty == "weak"
    assert "no other number was tried" not in str(lost)


def test_candidates_without_evidence():
    one = advise(replace(made([np.nan], first=4), apart=None, valley=None))
    assert one.n_clusters == 4
    assert one.certainty == "weak"
    assert "no other number was tried" in str(one)
    lost = advise(made([0.6, 0.9, np.nan, np.nan]))
    assert lost.n_clusters == 3


def test_the_table_has_a_row_for_each_number():
    advice = advise(made([0.5, 0.9, 0.6, 0.6, 0.6], back=[1.0, 1.0, 0.8, 0.9, 0.7]))
    table = advice.table()
    assert_array_equal(table["n_components"], [2, 3, 4, 5, 6])
    assert_array_equal(table["level"], ["", "fine", "", "finest", ""])
    assert_array_equal(table["score"], advice.evidence.scores)
