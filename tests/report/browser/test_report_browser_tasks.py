"""What people come for: each with at most three clicks, and what they asked for is in sight."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from PIL import Image

MOST = 3


class Hand:
    """A person who points and types; every click counts, and what is clicked must be in sight."""

    def __init__(self, page):
        self.page = page
        self.clicks = 0

    def click(self, what):
        """Click something that is on the screen, without scrolling to it."""
        box = what.bounding_box()
        assert box is not None, what
        view = self.page.viewport_size
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        assert 0 <= x < view["width"], what
        assert 0 <= y < view["height"], what
        self.clicks += 1
        self.page.mouse.click(x, y)

    def pick(self, select, name):
        """Open a list and click a line of it."""
        assert select.bounding_box() is not None
        self.clicks += 2
        select.select_option(label=name)

    def take(self, name):
        """Take a file from the menu of exports."""
        self.click(self.page.locator("#save"))
        with self.page.expect_download() as waiting:
            self.click(self.page.locator(f"[data-file='{name}']"))
        return waiting.value.path().read_bytes()

    def done(self):
        """Say that a task is done; the next one begins."""
        assert 0 < self.clicks <= MOST
        self.clicks = 0


@pytest.fixture
def hand(open_report):
    """A hand on the report of the five topics, at the size of a small laptop."""
    return Hand(open_report("grown").page)


def seen(locator):
    """Return whether something is in sight without scrolling."""
    box = locator.bounding_box()
    return box is not None and box["y"] >= 0 and box["y"] + box["height"] <= 800


def group(hand, at):
    return hand.page.locator("#group-list li").nth(at)


def button(hand, name):
    return hand.page.locator("#card").get_by_role("button", name=name, exact=True)


def test_find_a_group_and_its_borderline_documents(hand):
    hand.click(group(hand, 1))
    hand.click(hand.page.locator("[data-value=borderline]"))
    hand.done()
    assert seen(hand.page.locator("#borderline-count"))
    assert hand.page.locator("[data-value=borderline]").get_attribute("aria-pressed") == "true"


def test_compare_two_groups(hand):
    hand.click(group(hand, 1))
    names = [hand.page.locator("#group-list .name").nth(i).text_content() for i in (1, 3)]
    hand.pick(hand.page.locator("#compare"), names[1])
    hand.done()
    heads = hand.page.locator(".compared thead th")
    assert sorted(names) == sorted(one for one in heads.all_text_contents() if one)
    assert seen(heads.first)


def test_change_the_number_of_groups_and_of_words(hand):
    sliders = hand.page.locator("#cut"), hand.page.locator("#beta")
    before = [one.input_value() for one in sliders]
    hand.click(sliders[0])
    assert sliders[0].input_value() != before[0]
    hand.click(hand.page.locator("#away button"))
    box = sliders[1].bounding_box()
    hand.clicks += 1
    hand.page.mouse.click(box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2)
    assert sliders[1].input_value() != before[1]
    hand.done()


def test_rename_merge_and_get_the_table(hand):
    hand.click(button(hand, "rename"))
    hand.page.keyboard.type("Mine")
    hand.click(hand.page.locator("#ask-form [type=submit]"))
    hand.done()
    sizes = [int(one) for one in hand.page.locator("#group-list .size").all_inner_texts()]
    hand.click(button(hand, "merge"))
    hand.click(hand.page.locator("#ask-form .asked button").first)
    hand.done()
    table = list(csv.DictReader(io.StringIO(hand.take("groups.csv").decode("utf-8-sig"))))
    hand.done()
    assert len(table) == 4
    [mine] = [row for row in table if "Mine" in row["name"]]
    assert int(mine["size"]) == sizes[0] + sizes[1]


def test_when_did_a_subject_peak(hand):
    hand.click(group(hand, 1))
    hand.click(hand.page.get_by_role("tab", name="Time"))
    hand.done()
    peak = hand.page.locator(".time-row.chosen .peak")
    assert seen(peak)
    assert " in 20" in peak.inner_text()


def test_where_does_a_word_live(hand):
    hand.page.keyboard.press("/")
    hand.page.keyboard.type("referee")
    found = hand.page.locator("#found [role=option]").first
    found.wait_for()
    assert seen(found)
    hand.click(found)
    hand.done()
    assert seen(hand.page.locator("#word-line"))
    assert "referee" in hand.page.locator("#word-line").inner_text()


def test_what_belongs_nowhere(open_report, lost):
    hand = Hand(open_report("lost").page)
    hand.click(hand.page.locator("#group-list [role=option]").last)
    hand.done()
    assert hand.page.locator("#card-name").inner_text() == "belongs nowhere"
    n = np.count_nonzero(lost[1]["documents"]["group"] == lost[1]["model"]["n_groups"])
    assert f"{n} documents" in hand.page.locator("#card-size").inner_text()
    assert seen(hand.page.locator(".document").first)


def test_why_is_this_document_here(hand):
    hand.click(hand.page.locator(".document").first)
    hand.done()
    why = hand.page.locator("#reader .why")
    assert seen(why)
    assert why.locator(".word").count() >= 3


def test_a_figure_for_a_paper_and_one_for_a_slide(hand):
    text = hand.take("document-map.svg").decode("utf-8")
    hand.done()
    assert text.startswith("<svg")
    with Image.open(io.BytesIO(hand.take("document-map.png"))) as picture:
        assert picture.width >= 1920
        assert picture.height >= 1080
    hand.done()
