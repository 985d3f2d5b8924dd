"""The help and the warnings of the page: where they open, and where they lead."""

from __future__ import annotations

import pytest


def test_how_sure_is_a_button_that_opens_what_the_numbers_mean(open_report):
    opened = open_report("grown", height=500)
    opened.page.locator("#sure-word").click()
    ask = opened.page.get_by_role("button", name="How sure?")
    assert ask.evaluate("one => getComputedStyle(one).textDecorationLine") == "underline"
    ask.click()
    title = opened.page.locator("#help-sure-title")
    assert title.is_visible()
    box, frame = title.bounding_box(), opened.page.locator("#help").bounding_box()
    assert frame["y"] - 1 <= box["y"] < frame["y"] + frame["height"] / 2
    head = opened.page.locator("#help h2").bounding_box()
    assert head["y"] + head["height"] <= box["y"]  # nothing covers it
    assert in_sight(opened.page, "#help-close")
    assert "cluster" not in opened.page.locator("#help-text").inner_text()
    terms = opened.texts("#help-sure dt")
    for term in ("restarts agree", "halves agree", "stability", "words in italics"):
        assert term in terms


def in_sight(page, selector):
    """Return whether the middle of an element is what one sees there."""
    return page.locator(selector).evaluate(
        """one => {
          const { x, y, width, height } = one.getBoundingClientRect();
          const seen = document.elementFromPoint(x + width / 2, y + height / 2);
          return one === seen || one.contains(seen);
        }"""
    )


def test_the_help_opens_at_its_beginning(open_report):
    opened = open_report("grown", height=500)
    page = opened.page
    scrolled = "document.getElementById('help').scrollTop"
    for ask in (lambda: page.keyboard.press("?"), lambda: page.locator("#help-button").click()):
        ask()
        assert page.evaluate(scrolled) == 0
        assert in_sight(page, "#help-title")
        assert in_sight(page, "#help-close")
        page.evaluate("document.getElementById('help').scrollTop = 1e4")  # as a reader leaves it
        assert page.evaluate(scrolled) > 0
        assert in_sight(page, "#help-close")
        page.locator("#help-close").click()
        assert page.locator("#help").is_hidden()


@pytest.fixture(scope="session")
def warned(grown, rewrite):
    """A warning that names one group, and a remark that names another."""
    content = grown[1]
    named = [[k, f"{content['names'][k]} (30 % found again)"] for k in (3, 1)]
    changed = content | {
        "remarks": [
            {"text": f"Not found again: {words}.", "warning": k == 3, "groups": [[k, words]]}
            for k, words in named
        ]
    }
    return rewrite("warned", changed)


def test_groups_that_a_warning_names_can_be_chosen(open_report, warned):
    opened = open_report("warned", fragment="#cut=3&node=0")
    page = opened.page
    page.evaluate("location.hash = ''")
    page.locator("#warnings").click()
    assert opened.group() == 3  # the only one that it names
    assert page.locator("#corpus").is_visible()
    buttons = page.locator("#corpus li button")
    names = warned[1]["names"]
    assert buttons.all_inner_texts() == [f"{names[k]} (30 % found again)" for k in (3, 1)]
    assert page.locator("#corpus .warnings li").inner_text() == (
        f"Not found again: {names[3]} (30 % found again)."
    )
    page.locator("#cut").fill("3")
    buttons.nth(1).click()
    assert opened.group() == 1
    assert page.locator("#how-many").inner_text() == "5 groups"
    assert page.locator("#document-count").inner_text().endswith("of this group")
