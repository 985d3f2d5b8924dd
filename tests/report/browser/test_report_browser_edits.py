"""What the reader changes and takes away, and the page for those who do not see it."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from PIL import Image

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


def choose_answer(page, value):
    page.locator(f"#ask-form [data-group='{value}']").click()


def sizes(page):
    """Return the size that the list has of each group, by number."""
    found = page.locator("#group-list li").evaluate_all(
        "all => all.map(li => [li.id.slice(6), li.querySelector('.size').textContent])"
    )
    return {int(k): int(size.replace(",", "")) for k, size in found}


def test_edits_are_shown_at_once_marked_saved_and_taken_back(open_report):
    opened = open_report("grown")
    page = opened.page
    before = sizes(page)
    k = opened.group()
    other = next(one for one in range(5) if one != k)
    page.get_by_role("button", name="merge").click()
    choose_answer(page, other)
    one, gone = sorted([k, other])
    both = before[k] + before[other]
    assert sizes(page) == {**{i: n for i, n in before.items() if i != gone}, one: both}
    assert opened.group() == one
    assert "Not fitted again yet" in page.locator("#card").inner_text()
    assert page.locator(f"#group-{one} .edited-sign").count() == 1
    page.locator("[data-value=all]").click()
    assert page.locator("#document-count").inner_text().startswith(f"{both} documents")
    assert page.locator("#facts").inner_text().endswith("in 4 groups")
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
    third = next(i for i in before if i not in (k, other))
    page.locator("#move").select_option(str(third))
    assert sizes(page)[third] == before[third] + 1
    assert page.locator("#edits-button").inner_text() == "5 edits"
    wanted = {
        "format": "spheremix edits",
        "version": 1,
        "run": "abc",
        "names": {},
        "merge": [sorted([k, other])],
        "split": [],
        "move": {name: third},
        "drop_words": [dropped],
        "notes": {"groups": {str(one): "look at these"}, "documents": {}},
        "misplaced": [name],
    }
    assert saved_edits(page) == wanted
    # They are there when the page is opened again, and go one by one.
    page.reload()
    page.locator("body[data-ready]").wait_for()
    assert saved_edits(page) == wanted
    page.locator("#edits-button").click()
    for n in range(5, 0, -1):
        undo = page.locator("#edits-body").get_by_role("button", name="undo")
        assert undo.count() == n
        undo.first.click()
    page.get_by_role("button", name="close", exact=True).last.click()
    assert sizes(page) == before
    assert page.locator("#edits-button").inner_text() == "edits"


def test_a_split_shows_the_two_parts_of_the_tree(open_report):
    opened = open_report("grown")
    page = opened.page
    before, k = sizes(page), opened.group()
    colours = page.locator("#group-list .swatch").evaluate_all(
        "all => all.map(one => one.style.background)"
    )
    page.get_by_role("button", name="split", exact=True).click()
    after = sizes(page)
    [part] = set(after) - set(before)
    leaves = [i for i, parent in enumerate(opened.content["tree"]["parents"]) if parent == 10 + k]
    parts = sorted((opened.content["tree"]["sizes"][i] for i in leaves), reverse=True)
    assert [after[k], after[part]] == parts
    assert {i: n for i, n in after.items() if i not in (k, part)} == {
        i: n for i, n in before.items() if i != k
    }
    now = page.locator("#group-list .swatch").evaluate_all(
        "all => all.map(one => one.style.background)"
    )
    assert set(colours) <= set(now)  # all others keep theirs, and the larger part that of the group
    page.locator(f"#group-{part}").click()
    assert page.locator("#card .word").count() > 0
    page.get_by_role("button", name="rename").click()
    answer(page, "The smaller part")
    record = saved_edits(page)
    assert sorted(record["nodes"]) == sorted([*leaves, *(10 + i for i in range(5) if i != k)])
    smaller = min(leaves, key=lambda i: (opened.content["tree"]["sizes"][i], -i))
    assert record["names"] == {str(smaller): "The smaller part"}
    page.locator("#compare").select_option(str(k))
    assert (
        page.locator(".compared th").first.inner_text()
        == page.locator(f"#group-{k} .name").text_content()
    )


def test_another_number_of_groups_has_all_tools_and_is_made_first(open_report):
    opened = open_report("grown")
    page = opened.page
    page.locator("#cut").fill("3")
    shown = list(sizes(page).values())
    assert len(shown) == 3
    assert page.locator("#card .word").count() > 0
    assert "makes them the groups of the run first" in page.locator("#card").inner_text()
    page.locator("#compare").select_option(index=1)
    assert page.locator(".compared th").count() > 2
    # The group of several, as no other has parts.
    several = page.locator("#group-list li").filter(has_text="node").first
    several.click()
    size = several.locator(".size").inner_text()
    page.get_by_role("button", name="rename").click()
    answer(page, "Three together")
    assert list(sizes(page).values()) == shown
    assert page.locator("#cut").input_value() == "3"
    assert page.locator("#group-list [aria-selected=true]").inner_text().startswith("Three")
    assert page.locator("#group-list [aria-selected=true] .size").inner_text() == size
    record = saved_edits(page)
    assert [len(several) for several in record["merge"]] == [3]
    assert list(record["names"].values()) == ["Three together"]
    # Elsewhere on the slider is the tree, and the way back.
    page.locator("#cut").fill("5")
    assert len(sizes(page)) == 5
    page.locator("#cut").fill("3")
    assert "Three together" in opened.texts("#group-list .name")


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1920, 1080)])
def test_the_page_does_not_jump_when_the_slider_of_groups_moves(open_report, width, height):
    opened = open_report("grown", width=width, height=height)
    page = opened.page
    places = """() => ["maps", "documents", "card", "cut", "group-list", "document-map"]
        .map(id => document.getElementById(id).getBoundingClientRect())
        .map(({left, top}) => [left, top])"""
    page.evaluate(
        """() => { window.shift = 0; new PerformanceObserver(list => {
            for (const one of list.getEntries()) window.shift += one.value;
        }).observe({type: "layout-shift"}); }"""
    )
    page.locator("#group-list li").nth(3).click()
    before, first = page.evaluate(places), page.evaluate("scrollY")
    for m in (4, 3, 2, 7, 10, 5):
        page.locator("#cut").fill(str(m))
        page.wait_for_timeout(150)
        assert page.evaluate(places) == before, m
        assert page.evaluate("scrollY") == first
    assert page.evaluate("window.shift") < 0.01  # .1 is called good


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
    with Image.open(io.BytesIO(found["png"])) as picture:
        assert picture.info["dpi"] == pytest.approx((300, 300), abs=0.1)
        assert picture.width >= 1500
        assert len(picture.getcolors(2**24)) > 20
    text = found["svg"].decode("utf-8")
    for one in opened.content["names"]:
        assert one.split()[0] in text
    assert opened.content["title"] in text
    assert "300 documents in 5 groups" in text
    assert "<script" not in text


SVG = "{http://www.w3.org/2000/svg}"


def take(page, name):
    """Take a figure from the menu of exports."""
    page.locator("#save").click()
    with page.expect_download() as waiting:
        page.locator(f"[data-file='{name}.svg']").click()
    return ET.parse(waiting.value.path()).getroot()  # noqa: S314 (it is our own)


@pytest.fixture(scope="session")
def columns(news, rewrite):
    """The five topics with a second column of labels: every third document is odd."""
    _, content = news
    documents = content["documents"]
    names, labels = documents["label_names"], documents["labels"]
    more = {"start": len(names), "stop": len(names) + 2, "name": "second"}
    changed = documents | {
        "label_names": [*names, "even", "odd"],
        "labels": [[*own, len(names) + (i % 3 == 0)] for i, own in enumerate(labels)],
        "label_columns": [*documents["label_columns"], more],
    }
    return rewrite("columns", content | {"documents": changed})


@pytest.mark.usefixtures("columns")
def test_labels_are_saved_and_linked_as_they_are_shown(open_report):
    opened = open_report("columns", fragment="#tab=labels")
    page = opened.page
    page.locator("#label-column").select_option("1")
    page.get_by_role("button", name="documents", exact=True).click()
    page.locator(".heat thead button").nth(1).click()
    page.wait_for_timeout(300)
    rows = page.locator(".heat tbody th").all_inner_texts()
    shown = page.locator(".heat td").all_inner_texts()
    sorted_by = [int(one) for one in shown[1::2]]
    assert sorted_by == sorted(sorted_by, reverse=True)
    figure = [text.text for text in take(page, "labels").iter(f"{SVG}text")]
    cells = [text for text in figure[4:] if text not in rows]  # after titles and names of labels
    assert [text for text in figure if text in rows] == rows
    assert cells == shown
    assert any("second: documents" in text for text in figure)
    again = open_report("columns", fragment=page.evaluate("location.hash")).page
    assert again.locator(".heat tbody th").all_inner_texts() == rows
    assert again.locator(".heat td").all_inner_texts() == shown
    assert again.locator("#label-column").input_value() == "1"


def test_time_is_saved_and_linked_as_it_is_shown(open_report):
    page = open_report("news", fragment="#tab=time").page
    page.locator("[data-value=share]").click()
    page.locator("#time-scale").select_option("one")
    page.locator("#smoothing").select_option("1")
    page.wait_for_timeout(300)
    peaks = page.locator("#time .peak").all_inner_texts()
    assert all("%" in text for text in peaks)
    root = take(page, "time")
    figure = [text.text for text in root.iter(f"{SVG}text")]
    assert [text for text in figure if text in peaks] == peaks
    assert any("one scale, smoothed over 3 months" in text for text in figure)
    again = open_report("news", fragment=page.evaluate("location.hash")).page
    assert again.locator("#time .peak").all_inner_texts() == peaks
    assert again.locator("#time-scale").input_value() == "one"
    assert again.locator("#smoothing").input_value() == "1"


@pytest.mark.parametrize(
    ("tab", "name"), [("map", "document-map"), ("prototypes", "words"), ("time", "time")]
)
def test_a_figure_of_a_dark_page_is_for_white_paper(open_report, tab, name):
    light = take(open_report("news", fragment=f"#tab={tab}").page, name)
    page = open_report("news", fragment=f"#tab={tab}", theme="dark").page
    dark = take(page, name)
    assert ET.tostring(dark) == ET.tostring(light)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_the_overview_and_two_groups_compared_are_saved(open_report):
    opened = open_report("news", fragment="#tab=corpus")
    page = opened.page
    page.locator("#save").click()
    assert page.locator("[data-file='comparison.svg']").count() == 0
    page.keyboard.press("Escape")
    page.locator("#compare").select_option(index=2)
    found = {
        name: [text.text for text in take(page, name).iter(f"{SVG}text")]
        for name in ("overview", "comparison")
    }
    names = page.locator("#group-list .name").all_text_contents()
    assert [text for text in found["overview"] if text in names] == names  # by size
    words = opened.texts(".compared tbody th")
    assert [text for text in found["comparison"] if text in words] == words


def test_a_group_that_stands_out_does_not_dim_the_others_in_a_figure(open_report):
    opened = open_report("grown")
    page = opened.page
    page.locator("#group-list li").nth(1).click()
    page.wait_for_timeout(200)
    paths = take(page, "document-map").iter(f"{SVG}path")
    shares = {p.get("fill-opacity") for p in paths if p.get("class") != "contour"}
    assert len(shares) == 1


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


TABS = ("map", "prototypes", "labels&document=3", "time", "candidates", "corpus")
DIALOGS = ("#help-button", "#edits-button", ".group-tools button:text('rename')")


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_axe_finds_nothing(browser, grown, theme, width):
    if not AXE.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(f"{AXE} is missing: make page")
        pytest.skip("axe-core is not installed: make page")
    path, _ = grown
    script = AXE.read_text(encoding="utf-8")
    # The policy of the page would refuse a second script.
    view = {"width": width, "height": 800}
    context = browser.new_context(color_scheme=theme, bypass_csp=True, viewport=view)
    page = context.new_page()
    found = []

    def examine(where):
        result = page.evaluate("axe.run(document)")
        assert len(result["passes"]) > 10
        found.extend((where, one["id"]) for one in result["violations"])

    for tab in TABS:
        page.goto("about:blank")
        page.goto(f"{path.as_uri()}#tab={tab}")
        page.locator("body[data-ready]").wait_for()
        page.evaluate(f"{script}; null")
        examine(tab)
    for button in DIALOGS:
        page.locator(button).first.click()
        examine(button)
        page.keyboard.press("Escape")
    context.close()
    assert found == []
