"""Which documents to distrust, as the page says it: counts, filter, legend, names in full."""

from __future__ import annotations

import numpy as np
import pytest

SURE = ("borderline", "nowhere", "probably", "clearly")
WORDS = {"borderline": "borderline", "probably": "probably here", "clearly": "clearly here"}
LONG = "documents about a very long subject whose name somebody wrote out in full, to the last word"


def levels(content):
    """Give how sure each document of a report is, by the rule of the documentation."""
    odds, firm = content["documents"]["log_odds"], content["firmness"]["documents"]
    found = np.where(firm >= 0.75, "clearly", "probably")
    return np.where((odds < np.log(9)) | (firm < 0.5), "borderline", found)


@pytest.fixture
def counts(grown):
    """How many documents are what."""
    found = levels(grown[1])
    return {name: int(np.sum(found == name)) for name in WORDS}


def test_the_first_screen_counts_borderline_documents_and_a_click_lists_them(
    open_report, grown, counts
):
    opened = open_report("grown")
    button = opened.page.locator("#distrusted")
    assert button.inner_text() == f"{counts['borderline']} documents are borderline"
    button.click()
    ids = np.array(grown[1]["documents"]["id"])
    assert set(opened.listed()) <= set(ids[levels(grown[1]) == "borderline"])
    told = opened.page.locator("#document-count").inner_text()
    assert told.startswith(f"{counts['borderline']} documents")
    assert opened.page.locator("#filter-sure").input_value() == "borderline"
    assert "In brackets" in opened.page.locator("#borderline-count").inner_text()
    opened.page.get_by_role("button", name="clear filters").click()
    assert opened.page.locator("#document-count").inner_text().startswith(f"{len(ids)} documents")


def test_every_choice_of_the_filter_has_its_count(open_report, grown, counts):
    opened = open_report("grown", fragment="#scope=all")
    told = opened.page.locator("#filter-sure option").all_inner_texts()
    assert told == ["how sure: any", *(f"{WORDS[one]}: {n}" for one, n in ordered(counts))]
    # Of one group, the filter counts its documents only.
    opened.page.locator("#scope").select_option("cluster")
    told = opened.page.locator("#filter-sure option").all_inner_texts()[1:]
    own = np.array(grown[1]["documents"]["cluster"]) == opened.cluster()
    found = levels(grown[1])[own]
    assert told == [f"{WORDS[one]}: {np.sum(found == one)}" for one in SURE if one in WORDS]
    labels = opened.page.locator("#filter-label option").all_text_contents()[1:]
    assert all(label.rpartition(": ")[2].isdigit() for label in labels)


def ordered(counts):
    """Give counts in the order of the page: what to distrust comes first."""
    return [(one, counts[one]) for one in SURE if one in counts]


def test_the_colours_of_how_sure_have_a_legend_with_counts(open_report, counts):
    opened = open_report("grown")
    legend = opened.page.locator(".map-legend")
    assert legend.is_hidden()  # names on the map say which colour is which group
    opened.page.locator("#map-colour").select_option("sure")
    expected = [f"{WORDS[one]}: {n}" for one, n in ordered(counts) if n]
    assert legend.locator("li").all_inner_texts() == expected
    backgrounds = legend.locator(".swatch").evaluate_all("all => all.map(s => s.style.background)")
    assert len(set(backgrounds)) == len(expected)
    box, frame = legend.bounding_box(), opened.page.locator("#document-map").bounding_box()
    assert box["y"] >= frame["y"]
    assert box["y"] + box["height"] <= frame["y"] + frame["height"]


def test_the_reader_says_what_makes_a_document_borderline_and_shows_no_odds_beside_it(
    open_report, grown
):
    content = grown[1]
    odds, firm = content["documents"]["log_odds"], content["firmness"]["documents"]
    i = int(np.flatnonzero((odds > np.log(1000)) & (firm < 0.5))[0])
    opened = open_report("grown", fragment=f"#scope=all&document={i}")
    reader = opened.page.locator("#reader-body")
    assert f"in only {round(20 * float(firm[i]))} of 20" in reader.inner_text()
    assert "to 1" not in opened.page.locator(".verdict + .why-sure").inner_text()
    opened.unroll("#reader .numbers")
    lines = opened.texts("#reader .numbers li")
    assert lines[0].startswith("Other samples: it stays with its group in ")
    assert lines[1].startswith("This fit alone: odds of ")


def test_names_of_groups_are_shown_in_full(open_report):
    opened = open_report("grown")
    opened.page.get_by_role("button", name="rename").click()
    opened.page.locator("#ask-form input").fill(LONG)
    opened.page.locator("#ask-form input").press("Enter")
    assert opened.page.locator("#card-name").inner_text() == LONG
    name = opened.page.locator("#cluster-list [aria-selected=true] .name")
    assert name.inner_text() == LONG
    assert name.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
    assert name.evaluate("one => one.getClientRects()[0].height > 30")  # more than one line
    box = opened.page.locator("#cluster-list [aria-selected=true]")
    assert box.evaluate("one => one.scrollWidth <= one.clientWidth")
