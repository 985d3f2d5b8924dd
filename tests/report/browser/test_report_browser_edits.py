"""What the reader changes and takes away, and the page for those who do not see it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

AXE = Path(__file__).parents[3] / ".venv" / "page" / "node_modules" / "axe-core" / "axe.min.js"


def answer(page, text):
    """Answer the question of a dialog."""
    page.locator("#ask-form input, #ask-form textarea").fill(text)
    page.locator("#ask-form [type=submit]").click()


def saved_edits(page):
    """Save the edits; give them."""
    page.locator("#edits-button").click()
    with page.expect_download() as waiting:
        page.locator("#save-edits").click()
    assert waiting.value.suggested_filename == "edits.json"
    page.get_by_role("button", name="close", exact=True).last.click()
    return json.loads(waiting.value.path().read_text(encoding="utf-8"))


def test_a_new_name_is_seen_everywhere_and_saved(open_report):
    opened = open_report("grown", fragment="#tab=labels")
    page = opened.page
    k = opened.group()
    page.get_by_role("button", name="rename").click()
    answer(page, "My <b>group</b>")
    assert page.locator("#group-list .name").first.inner_text() == "My <b>group</b>"
    assert page.locator("#card-name").inner_text() == "My <b>group</b>"
    assert "My <b>group</b>" in opened.texts("#labels tbody th")
    names = {int(row["group"]): row["name"] for row in opened.saved("groups.csv")}
    assert names[k] == "My <b>group</b>"
    assert saved_edits(page)["names"] == {str(k): "My <b>group</b>"}
    # It is still there when the page is opened again.
    page.reload()
    page.locator("body[data-ready]").wait_for()
    assert page.locator("#card-name").inner_text() == "My <b>group</b>"
    page.locator("#edits-button").click()
    page.get_by_role("button", name="undo all").click()
    assert page.locator("#card-name").text_content() == opened.content["names"][k]


def test_an_address_that_is_typed_may_have_groups_that_do_not_go_together(open_report):
    assert open_report("news", fragment="#cut=3").page.locator("#cut-slider").is_hidden()
    page = open_report("grown", fragment="#cut=99").page
    for fragment in ("", "#cut=3&node=2", "#cut=1", "#cut=3&node=-1&group=2", "#group=99&zoom=1,x"):
        page.evaluate("hash => { location.hash = hash }", fragment)
        page.wait_for_timeout(100)
        assert page.locator("#group-list [aria-selected=true]").count() == 1, fragment
        assert page.locator(".document").count() > 0, fragment


def test_merges_notes_words_and_misplaced_documents_are_saved(open_report):
    opened = open_report("grown")
    page = opened.page
    k = opened.group()
    other = next(one for one in range(5) if one != k)
    page.get_by_role("button", name="merge").click()
    assert page.locator("#ask-form [type=submit]").is_disabled()  # nothing is chosen yet
    page.locator("#ask-form select").select_option(str(other))
    page.locator("#ask-form [type=submit]").click()
    assert "To be merged" in page.locator("#card").inner_text()
    for one in (k, other):
        assert "to be merged with" in page.locator(f"#group-{one}").inner_text()
    page.locator("[data-value=all]").click()
    both = sum(int(page.locator(f"#group-{one} .size").inner_text()) for one in (k, other))
    assert page.locator("#document-count").inner_text().startswith(f"{both} documents")
    page.locator("#save").click()
    listed = page.locator("[data-file='documents.csv']").inner_text()
    assert listed == f"Documents listed: {both} (CSV)"
    page.keyboard.press("Escape")
    page.get_by_role("button", name="note").click()
    answer(page, "look at these")
    word = page.locator("#card .word").first
    dropped = word.inner_text()
    word.focus()
    page.keyboard.press("Delete")
    assert dropped not in opened.texts("#card .word")
    page.locator(".document").first.click()
    name = page.locator("#reader .about bdi").first.inner_text()
    page.get_by_role("button", name="misplaced").click()
    assert "Marked as misplaced." in page.locator("#reader").inner_text()
    assert page.locator("#edits-button").inner_text() == "edits: 4"
    assert saved_edits(page) == {
        "format": "spheremix edits",
        "version": 1,
        "run": "abc",
        "names": {},
        "merge": [sorted([k, other])],
        "split": [],
        "drop_words": [dropped],
        "notes": {"groups": {str(k): "look at these"}, "documents": {}},
        "misplaced": [name],
    }


@pytest.mark.parametrize(
    ("tab", "name"),
    [("map", "document-map"), ("prototypes", "words"), ("labels", "labels"), ("time", "time")],
)
def test_figures_are_saved(open_report, tab, name):
    opened = open_report("news", fragment=f"#tab={tab}")
    page = opened.page
    found = {}
    for kind in ("svg", "png"):
        page.locator("#save").click()
        with page.expect_download() as waiting:
            page.locator(f"[data-file='{name}.{kind}']").click()
        found[kind] = waiting.value.path().read_bytes()
    assert found["png"].startswith(b"\x89PNG")
    assert len(found["png"]) > 5_000
    text = found["svg"].decode("utf-8")
    for one in opened.content["names"]:
        assert one.split()[0] in text
    assert "<script" not in text
    page.locator("#tab-corpus").click()
    page.locator("#save").click()
    assert page.locator("[data-file$='.svg']").is_hidden()


def test_the_list_of_documents_is_few_stops_away(open_report):
    """Words, tools and choices are one stop of the tabulator each; the arrows go along them."""
    page = open_report("news").page
    page.keyboard.press("Tab")
    skip = page.get_by_role("button", name="Go to the documents")
    assert skip.is_visible()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "document-list"
    page.locator("#group-list").focus()
    stops = 0
    while page.evaluate("document.activeElement.id") != "document-list":
        page.keyboard.press("Tab")
        stops += 1
        assert stops < 21
    words = page.locator("#card .word-bars").first.locator(".word")
    words.first.focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == words.nth(1).inner_text()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(browser, grown, theme):
    if not AXE.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(f"{AXE} is missing: make page")
        pytest.skip("axe-core is not installed: make page")
    path, _ = grown
    script = AXE.read_text(encoding="utf-8")
    # The policy of the page would refuse a second script.
    context = browser.new_context(color_scheme=theme, bypass_csp=True)
    page = context.new_page()
    found = []
    for fragment in ("", "#tab=labels&document=3", "#tab=time", "#tab=candidates", "#tab=corpus"):
        page.goto("about:blank")
        page.goto(f"{path.as_uri()}{fragment}")
        page.locator("body[data-ready]").wait_for()
        page.evaluate(f"{script}; null")
        result = page.evaluate("axe.run(document)")
        assert len(result["passes"]) > 10
        found += [(fragment, one["id"]) for one in result["violations"]]
    context.close()
    assert found == []
