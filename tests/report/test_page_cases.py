"""What the library and the page compute both, against one table; the page's half runs in node."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from spheremix.display.style import GROUPS, MUTED
from spheremix.reading import characteristic_scores, layout
from spheremix.reading.documents import Documents, certainties
from spheremix.run.colour_places import colour_places

CASES = json.loads(
    (Path(__file__).parents[1] / "common" / "page_cases.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("case", CASES["places"], ids=lambda case: case["about"])
def test_places_of_colours(case):
    assert colour_places(case["weights"]) == case["places"]


def test_the_palette_of_groups():
    assert [*GROUPS, *MUTED] == CASES["palette"]


ALONE = [[0, -1, np.inf, 1.0, "clearly here"], [0, -1, np.inf, 0.2, "borderline"]]  # one group


@pytest.mark.parametrize(("group", "second", "odds", "stays", "said"), CASES["certainty"] + ALONE)
def test_how_surely_a_document_is_in_its_group(group, second, odds, stays, said):
    one = np.array([1.0])
    documents = Documents(np.array([group]), np.array([second]), one, one, np.array([odds]), one)
    assert certainties(documents, np.array([stays]), ["apples", "boats"]) == [said]


@pytest.mark.parametrize("case", CASES["order"])
def test_order_of_words(case):
    found = layout(case["prototypes"], case["weights"])
    assert found.groups.tolist() == case["groups"]
    assert found.features.tolist() == case["words"]
    assert [[one.start, one.stop, list(one.groups)] for one in found.blocks] == case["blocks"]
    scores = characteristic_scores(case["prototypes"], case["masses"])
    assert_allclose(scores, case["scores"], rtol=1e-8)
