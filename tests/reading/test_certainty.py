"""How surely documents belong to clusters, in words."""

from __future__ import annotations

import math

import numpy as np
import pytest

from spheremix.reading.certainty import certainties
from spheremix.reading.documents import Documents

NAMES = ["apples", "boats"]


@pytest.mark.parametrize(
    ("label", "other", "odds", "firm", "said"),
    [
        (0, 1, 50.0, 1.0, "clearly here"),
        (0, 1, 50.0, 0.75, "clearly here"),
        (0, 1, 50.0, 0.7, "probably here"),
        (0, 1, 50.0, 0.5, "probably here"),
        (0, 1, 50.0, 0.45, "borderline with boats"),
        (1, 0, math.log(8.9), 1.0, "borderline with apples"),
        (1, 0, math.log(9.1), 1.0, "clearly here"),
        (0, -1, math.inf, 1.0, "clearly here"),
        (0, -1, math.inf, 0.2, "borderline"),
        (-1, 0, 50.0, 1.0, "belongs nowhere"),
    ],
)
def test_certainty_combines_odds_and_firmness(label, other, odds, firm, said):
    some = np.array([1.0])
    documents = Documents(np.array([label]), np.array([other]), some, some, np.array([odds]), some)
    assert certainties(documents, np.array([firm]), NAMES) == [said]
