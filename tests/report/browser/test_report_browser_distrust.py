"""Which documents to distrust, as the page says it: counts, filter, legend, names in full."""

from __future__ import annotations

import re

import numpy as np
import pytest

SURE = ("borderline", "nowhere", "probably", "clearly")
WORDS = {"borderline": "borderline", "probably": "probably here", "clearly": "clearly here"}
LONG = "documents about a very long subject whose name somebody wrote out in full, to the last word"


def levels(content):
    """Return how sure each document of a report is, by the rule of the documentation."""
    stable = content["stability"]["documents"]
    found = np.where(stable >= 0.75, "clearly", "probably")
    return np.where(stable < 0.5, "borderline", found)


@pytest.fixture
def counts(grown):
    """How many documents are what."""
    found = levels(grown[1])
    return {name: int(np.sum(found == name)) for name in WORDS}


def test_the_first_screen_counts_borderline_documents_and_a_click_lists_them(
    open_report, grown, counts
):
    opened = open_report("grown")
    opened.page.locator("#sure-word").click()
    button = opened.page.locator("#distrusted")
    assert button.inner_text() == f"{counts['borderline']} documents are borderline"
    button.click()
    ids = np.array(grown[1]["documents"]["id"])
    assert set(opened.listed()) <= set(ids[levels(grown[1]) == "borderline"])
    told = opened.page.locator("#document-count").inner_text()
    assert told == f"borderline {counts['borderline']} documents of all groups"
    told = opened.page.locator("#borderline-count").inner_text()
    assert told == (
        f"{counts['borderline']} of {len(ids)} documents here are borderline: do not rely on "
        "their group. The least sure come first."
    )
    opened.page.locator("[data-value=all]").click()
    told = opened.page.locator("#document-count").inner_text()
    assert told == f"{len(ids)} documents of all groups"


def test_every_list_has_its_count(open_report, grown, counts):
    opened = open_report("grown", fragment="#scope=all")
    choices = opened.page.locator("#document-controls .segmented button")
    n = len(grown[1]["documents"]["id"])
    assert choices.all_inner_texts() == [
        "Typical",
        f"Borderline {counts['borderline']}",
        f"All {n}",
    ]
    # Of one group, its documents count only.
    opened.unroll(".filters")
    opened.page.locator("#scope").select_option("group")
    own = np.array(grown[1]["documents"]["group"]) == opened.group()
    found = np.sum(levels(grown[1])[own] == "borderline")
    assert choices.all_inner_texts() == ["Typical", f"Borderline {found}", f"All {own.sum()}"]
    labels = opened.page.locator("#filter-label option").all_text_contents()[1:]
    assert all(label.rpartition(": ")[2].isdigit() for label in labels)


def test_no_typical_document_is_borderline(open_report, grown):
    content = grown[1]
    own = np.array(content["documents"]["group"])
    opened = open_report("grown")
    for k in range(content["model"]["n_groups"]):
        opened.page.locator(f"#group-{k}").click()
        found = levels(content)[own == k]
        best = next(one for one in ("clearly", "probably") if one in found)
        ids = np.array(content["documents"]["id"])[(own == k) & (levels(content) == best)]
        assert set(opened.listed()) == set(ids)


def ordered(counts):
    """Return counts in the order of the page: what to distrust comes first."""
    return [(one, counts[one]) for one in SURE if one in counts]


def test_the_colours_of_how_sure_have_a_legend_with_counts(open_report, counts):
    opened = open_report("grown")
    legend = opened.page.locator(".map-legend")
    assert legend.is_hidden()  # names on the map say which colour is which group
    opened.page.locator("#map-colour").select_option("sure")
    expected = [f"{WORDS[one]}: {n}" for one, n in ordered(counts) if n]
    about, *lines = legend.locator("li").all_inner_texts()
    assert about == "colours: how sure; groups are grey"
    assert lines == expected
    backgrounds = legend.locator(".swatch").evaluate_all("all => all.map(s => s.style.background)")
    assert len(set(backgrounds)) == len(expected)
    box, frame = legend.bounding_box(), opened.page.locator("#document-map").bounding_box()
    assert box["y"] >= frame["y"]
    assert box["y"] + box["height"] <= frame["y"] + frame["height"]


@pytest.mark.usefixtures("grown")
def test_groups_are_grey_beside_points_in_other_colours(open_report):
    page = open_report("grown").page

    def colours(selector):
        read = "all => all.map(one => getComputedStyle(one).backgroundColor)"
        return set(page.locator(selector).evaluate_all(read))

    groups = colours("#group-list .swatch")
    assert len(groups) == 5
    page.locator("#map-colour").select_option(label="desk")
    assert len(colours("#group-list :is(.swatch, .bar), #card-swatch, .word-bars .own .bar")) == 1
    assert not groups & colours(".map-legend .swatch")
    page.locator("#tab-prototypes").click()
    assert colours("#group-list .swatch") == groups


def test_the_reader_says_what_makes_a_document_borderline_and_shows_no_odds_beside_it(
    open_report, grown
):
    content = grown[1]
    odds, stable = content["documents"]["log_odds"], content["stability"]["documents"]
    i = int(np.flatnonzero((odds > np.log(1000)) & (stable < 0.5))[0])
    opened = open_report("grown", fragment=f"#scope=all&document={i}")
    reader = opened.page.locator("#reader-body")
    assert stable[i] == 0
    assert "But in none of the 20 redrawn samples its group came back" in reader.inner_text()
    assert "In this fit the document clearly belongs here. But" in reader.inner_text()
    assert "to 1" not in opened.page.locator(".verdict + .why-sure").inner_text()
    opened.unroll("#reader .numbers")
    lines = opened.texts("#reader .numbers li")
    assert lines[0].startswith("Stability: it is in its group in ")
    assert lines[1].startswith("This fit alone: odds of ")


def test_the_least_sure_documents_come_first_by_the_number_that_is_shown(open_report, grown):
    opened = open_report("grown", fragment="#scope=all&list=borderline")
    content = grown[1]
    stable = content["stability"]["documents"]
    ids = content["documents"]["id"]
    expected = sorted(np.flatnonzero(levels(content) == "borderline"), key=lambda i: stable[i])
    rows = opened.texts("#document-list .sure")
    numbers = [int(re.fullmatch(r"(\d+) of 20 samples", row)[1]) for row in rows]
    assert numbers == sorted(numbers)
    assert numbers[0] == 0
    assert opened.listed() == [ids[i] for i in expected]


def test_at_another_number_of_groups_the_page_says_what_certainty_is_about(open_report):
    told = "how sure is told for the 5 groups of the model"
    opened = open_report("grown", fragment="#scope=all&list=all&sort=given")
    count, legend = opened.page.locator("#document-count"), opened.page.locator(".map-legend")
    opened.page.locator("#map-colour").select_option("sure")
    assert told not in count.inner_text()
    assert told not in legend.inner_text()
    opened.page.locator("#sure-word").click()
    opened.page.locator("#how-sure").get_by_role("button", name="3 (broad)").click()
    assert opened.page.locator("#how-many").inner_text() == "3 groups"
    assert told in count.inner_text()
    assert told in legend.inner_text()
    away = opened.page.locator("#away span")
    assert away.inner_text() == "the run has 5"
    assert away.evaluate("one => one.scrollWidth <= one.clientWidth")
    title = opened.page.locator("#document-list .sure").first.get_attribute("title")
    assert title.startswith("For the 5 groups of the model: Borderline with ")


def test_at_another_number_of_words_the_page_says_what_certainty_is_about(open_report, grown):
    content = grown[1]
    chosen, labels = content["documents"]["group"], np.asarray(content["labels"])
    moved = [np.sum(one != chosen) for one in labels.reshape(len(content["steps"]), -1)]
    step = int(np.argmax(moved))
    assert moved[step] > 0
    opened = open_report("grown", fragment=f"#scope=all&step={step}")
    told = "order and how sure are told for the chosen number of words"
    assert told in opened.page.locator("#document-count").inner_text()
    # What changed group is not said to be clearly or probably here.
    i = int(np.flatnonzero(labels.reshape(len(content["steps"]), -1)[step] != chosen)[0])
    opened.page.locator("#search").fill(content["documents"]["id"][i])
    opened.page.locator(".found-documents").click()
    row = opened.page.locator(f"#document-list-{i} .sure")
    assert row.inner_text() == "changed group"
    assert content["names"][chosen[i]] in row.get_attribute("title")
    row.click()
    told = opened.page.locator("#reader .verdict").inner_text()
    assert told.startswith("With the chosen number of words: ")


def test_at_another_number_of_groups_no_row_names_a_second_group(open_report, grown):
    """The second group is one of the model; here a leaf of the tree has the number of one."""
    opened = open_report("grown", fragment="#cut=10&node=0&list=borderline")
    assert grown[1]["tree"]["groups"][0] == 0
    assert opened.page.locator("#document-list .sure.borderline").count() > 0
    assert opened.page.locator("#document-list .snippet .tag:not(.soft)").count() == 0


def test_a_click_on_a_group_lists_its_documents(open_report, grown):
    opened = open_report("grown")
    content = grown[1]
    opened.page.locator("#sure-word").click()
    opened.page.locator("#distrusted").click()
    opened.unroll(".filters")
    count, scope = opened.page.locator("#document-count"), opened.page.locator("#scope")
    every = np.sum(levels(content) == "borderline")
    assert count.inner_text() == f"borderline {every} documents of all groups"
    opened.page.locator("#group-3").click()
    own = content["documents"]["group"] == 3
    borderline = own & (levels(content) == "borderline")
    assert count.inner_text() == f"borderline {borderline.sum()} documents of this group"
    assert scope.input_value() == "group"
    ids = np.array(content["documents"]["id"])
    assert set(opened.listed()) <= set(ids[borderline])
    scope.select_option("all")
    assert count.inner_text() == f"borderline {every} documents of all groups"


@pytest.fixture(scope="session")
def slanted(grown, rewrite):
    """A word of the first group that comes back in few samples, and one that is in most."""
    content = grown[1]
    K = content["model"]["n_groups"]
    weights = np.abs(np.asarray(content["prototypes"], dtype=float).reshape(K, -1))
    first, second = np.argsort(-weights[0])[:2]
    places = np.sort([first, second]).astype(np.uint32)
    shares = np.where(places == first, 0.2, 0.9).astype(np.float32)
    ends = np.array([0, *[2] * K], dtype=np.uint32)
    words = {"ends": ends, "places": places, "shares": shares}
    changed = content | {"stability": content["stability"] | {"words": words}}
    path, changed = rewrite("slanted", changed)
    return path, changed | {"weak": content["words"][first]}


def test_words_in_italics_have_a_legend(open_report, slanted):
    opened = open_report("slanted")
    opened.page.locator("#group-0").click()
    weak = opened.page.locator("#card .word-bars .weak .word")
    assert {word.strip() for word in weak.all_inner_texts()} == {slanted[1]["weak"]}
    assert weak.first.evaluate("one => getComputedStyle(one).fontStyle") == "italic"
    legend = opened.page.locator("#card .italics")
    assert legend.inner_text() == (
        "In italics: words that come back with the group in fewer than half of the 20 "
        "redrawn samples."
    )
    assert legend.locator("i").evaluate("one => getComputedStyle(one).fontStyle") == "italic"
    # Where no word is in italics, there is nothing to explain.
    opened.page.locator("#group-1").click()
    assert legend.count() == 0


def test_the_page_speaks_of_groups_and_names_no_options(open_report):
    opened = open_report("grown")
    said = []
    for tab in opened.page.locator("#tabs [role=tab]").all():
        tab.click()
        said.append(opened.page.locator("body").inner_text())
    opened.unroll("#card .numbers")
    opened.page.locator("#tab-candidates").click()
    opened.unroll("#candidates .criteria")
    said.append(opened.page.locator("body").inner_text())
    titles = "[...document.querySelectorAll('[title]')].map(one => one.title)"
    said += opened.page.evaluate(titles)
    for cut in (3, 7):
        opened.page.locator("#cut").fill(str(cut))
        said.append(opened.page.locator("#card").inner_text())
        said += opened.page.evaluate(titles)
    for text in said:
        assert not re.search(r"\bclusters?\b|--[a-z]", text, re.IGNORECASE), text


def test_names_of_groups_are_shown_in_full(open_report):
    opened = open_report("grown")
    opened.page.get_by_role("button", name="rename").click()
    opened.page.locator("#ask-form input").fill(LONG)
    opened.page.locator("#ask-form input").press("Enter")
    assert opened.page.locator("#card-name").inner_text() == LONG
    name = opened.page.locator("#group-list [aria-selected=true] .name")
    assert name.inner_text() == LONG
    # One line in the list, which ends in an ellipsis; all of it is under the pointer.
    assert name.evaluate("one => one.getClientRects()[0].height < 30")
    box = opened.page.locator("#group-list [aria-selected=true]")
    assert LONG in box.get_attribute("title")
    assert box.evaluate("one => one.scrollWidth <= one.clientWidth")
