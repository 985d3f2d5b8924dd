"""The report at every width, with two groups or forty, with or without texts, and on paper."""

from __future__ import annotations

import numpy as np
import pytest

OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll("header, main > section")]
    .map((one) => [one.id || one.tagName, one.getBoundingClientRect()]);
  const found = [];
  boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
    const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);
    const high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
    if (wide > 1 && high > 1) found.push(`${a} and ${b}`);
  }));
  return found;
}"""

# Elements whose text sticks out of them sideways, apart from those that end in an ellipsis.
CUT = """() => [...document.querySelectorAll("main *, header *")]
  .filter((one) => one.offsetParent && one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)
  .filter((one) => !["auto", "scroll"].includes(getComputedStyle(one).overflowX))
  .filter((one) => getComputedStyle(one).textOverflow !== "ellipsis")
  .filter((one) => !one.matches(".document-map-said")) // only heard
  .map((one) => `${one.tagName}#${one.id}.${one.className}: ${one.textContent.slice(0, 40)}`)"""


SPACE_LETTERS = """(pixels) => {
  const style = new CSSStyleSheet();
  style.replaceSync(`* { letter-spacing: ${pixels}px !important; }`);
  document.adoptedStyleSheets = [style];
}"""

POINT_DOWN = """(lines) => {
  const marks = document.getElementById("marks");
  const tooltip = document.getElementById("tooltip");
  const { left, top } = marks.getBoundingClientRect();
  return lines.map((y) => {
    marks.dispatchEvent(new PointerEvent("pointermove", { clientX: left + 20, clientY: top + y }));
    return tooltip.hidden ? null : tooltip.querySelector(".strong").textContent;
  }).filter((name) => name !== null);
}"""


def luminance(colour):
    """WCAG 2's relative luminance of a colour such as #1d4fb8."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_from_its_ground(open_report, theme):
    opened = open_report("bare", theme=theme)
    read = "name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()"
    grounds = [opened.page.evaluate(read, f"--{name}") for name in ("panel", "ground", "tint")]
    least = {"ink": 7, "soft": 4.5}
    least["strong-line"] = 3  # edges of what can be clicked
    for name, ratio in least.items():
        text = luminance(opened.page.evaluate(read, f"--{name}"))
        for ground in map(luminance, grounds[: 1 if name == "strong-line" else 3]):
            dark, light = sorted((text, ground))
            assert (light + 0.05) / (dark + 0.05) >= ratio, name


PARTS = ["groups", "maps", "card", "documents", "document-map"]
SIZES = """(ids) => Object.fromEntries(ids.map((id) => {
  const { left, top, right, bottom } = document.getElementById(id).getBoundingClientRect();
  return [id, { left, top, right, bottom, width: right - left, height: bottom - top }];
}))"""


def test_three_columns_at_full_height_and_the_map_has_most_of_it(open_report):
    page = open_report("news").page
    for size, least in (((1280, 800), (600, 640)), ((1920, 1080), (960, 900))):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        boxes = page.evaluate(SIZES, PARTS)
        shown = boxes["document-map"]
        assert (shown["width"] >= least[0], shown["height"] >= least[1]) == (True, True), shown
        assert boxes["groups"]["right"] <= boxes["maps"]["left"] + 1
        assert boxes["maps"]["right"] <= boxes["card"]["left"] + 1
        for column in ("groups", "maps"):
            assert boxes[column]["top"] == boxes["card"]["top"]
            assert boxes[column]["bottom"] == boxes["documents"]["bottom"] == size[1]
    heights = "all => all.map((one) => one.offsetHeight)"
    for line in (".head", ".words"):  # one line each, and few groups have their words below it
        assert 12 < max(page.locator(f"#group-list {line}").evaluate_all(heights)) <= 24


# Words that are seen: nothing covers their middle, and nothing cuts them off; and what the
# tabulator stops at.
SAID = """() => {
  const words = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    for (const { 0: word, index } of text.textContent.matchAll(/[\\p{L}\\p{N}]+/gu)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      const { left, top, right, bottom } = range.getBoundingClientRect();
      const on = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      if (right > left && on?.contains(text.parentElement) && text.parentElement.contains(on))
        words.push(word);
    }
  }
  const stops = [...document.querySelectorAll("button, select, input, summary, a, [tabindex]")]
    .filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility())
    .filter((one) => {
      const { left, top, width, height } = one.getBoundingClientRect();
      const on = document.elementFromPoint(left + width / 2, top + height / 2);
      return on && (one.contains(on) || on.contains(one)) && one.id !== "skip";
    });
  return [words.filter((word) => !/^[0-9]+$/.test(word)).length, stops.length];
}"""


def test_the_first_screen_says_little(open_report):
    """At most 200 words (the names of groups and the first documents among them), 35 controls."""
    for name in ("news", "forty", "grown"):
        words, controls = open_report(name).page.evaluate(SAID)
        assert 20 < words <= 200
        assert 10 < controls <= 35


def test_on_a_phone_the_map_comes_first(open_report):
    page = open_report("news").page
    page.set_viewport_size({"width": 390, "height": 844})
    boxes = page.evaluate(SIZES, PARTS)
    order = ["maps", "groups", "card", "documents"]
    assert sorted(order, key=lambda one: boxes[one]["top"]) == order
    assert boxes["document-map"]["width"] >= 380
    lines = page.locator("#group-list li").evaluate_all("all => all.map((one) => one.clientHeight)")
    assert min(lines) >= 40  # what a finger finds


# What a finger finds, but for words in a line of text.
SMALL = """() => [...document.querySelectorAll("button, select, input, summary, [role=option]")]
  .filter((one) => one.checkVisibility() && !one.matches("#skip, p .plain, li .plain"))
  .filter((one) => {
    const { width, height } = one.getBoundingClientRect();
    return Math.min(width, height) < 40;
  })
  .map((one) => `${one.tagName}#${one.id}.${one.className} ${one.textContent}`)"""
SHIFTS = """window.shifted = 0;
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifted += one.value;
}).observe({ type: "layout-shift", buffered: true });"""


def test_on_a_phone_fingers_find_everything_and_nothing_jumps(browser, grown):
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True
    )
    page = context.new_page()
    page.add_init_script(SHIFTS)
    page.goto(grown[0].as_uri())
    page.locator("body[data-ready]").wait_for()
    page.wait_for_timeout(800)
    assert page.evaluate(SMALL) == []
    assert page.evaluate("window.shifted") < 0.1
    page.locator(".document").first.tap()
    page.wait_for_timeout(300)
    assert page.evaluate(SMALL) == []
    context.close()


@pytest.mark.parametrize("spacing", [-0.5, 0, 0.5])
@pytest.mark.parametrize("name", ["news", "two", "forty", "embeddings", "hostile"])
def test_nothing_overflows_and_nothing_overlaps(open_report, name, spacing):
    """Whatever font a machine has: its letters are narrower or wider than those of this one."""
    page = open_report(name, fragment="#document=1").page
    page.evaluate(SPACE_LETTERS, spacing)
    for width, height in ((1280, 800), (1920, 1080), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        for tab in page.get_by_role("tab").all():
            tab.click()
            scroll, client = page.evaluate("[document.body.scrollWidth, document.body.clientWidth]")
            assert scroll <= client == width
            assert page.evaluate(OVERLAPS) == []
            assert page.evaluate(CUT) == []


def test_a_long_label_is_broken_within_its_column_whatever_the_font(open_report):
    page = open_report("hostile").page
    page.get_by_role("tab", name="Labels").click()
    assert page.locator(".heat thead button").count() > 5
    for spacing in (0, 2, 6):
        page.evaluate(SPACE_LETTERS, spacing)
        assert [one for one in page.evaluate(CUT) if one.startswith("TH")] == [], spacing


@pytest.mark.parametrize("name", ["two", "forty"])
def test_every_group_has_its_row_and_its_line(open_report, name, request):
    opened = open_report(name, fragment="#tab=prototypes")
    _, content = request.getfixturevalue(name)
    K = content["model"]["n_groups"]
    assert opened.page.locator("#group-list li").count() == K
    assert opened.page.locator("#group-list .words:visible").count() == K
    box = opened.page.locator("#marks").bounding_box()
    # Down the gutter at the left, every row tells its name.
    seen = opened.page.evaluate(POINT_DOWN, list(range(40, int(box["height"]), 4)))
    assert set(seen) == set(content["names"])
    for _ in range(K):
        opened.page.keyboard.press("ArrowDown")
    last = opened.page.locator("#group-list li").last
    assert last.get_attribute("aria-selected") == "true"
    lists = opened.page.locator("#group-list").bounding_box()
    line = last.bounding_box()
    assert line["y"] + line["height"] <= lists["y"] + lists["height"] + 1


def test_a_matrix_says_that_it_has_no_texts(open_report):
    opened = open_report("two", fragment="#document=0&from=2020-01-01&label=0")
    assert "no texts" in opened.page.locator("#reader").inner_text()
    assert opened.page.locator(".contributions tbody tr").count() > 2


def test_a_mixture_alone_has_a_report_without_documents(open_report):
    opened = open_report("bare")
    for selector in (
        "#documents",
        "#reader",
        "#path",
        "#word-slider",
        ".foot-line",
        "#cut-slider",
        "#tab-map",
    ):
        assert opened.page.locator(selector).is_hidden()
    assert opened.page.locator("#group-list li").count() == 3
    for fragment in ("#tab=data", "#from=2020-01-01&to=x&rival=1&label=0"):
        assert open_report("bare", fragment=fragment).picture() == opened.picture()
    assert "8 coordinates" in opened.page.locator("#how-sure").text_content()
    opened.page.keyboard.press("j")
    opened.page.keyboard.press("m")


def test_one_group_has_nothing_to_compare_with(open_report):
    opened = open_report("single", fragment="#document=2")
    reader = opened.page.locator("#reader").inner_text()
    assert "rather than" not in reader
    assert opened.page.locator(".mark-legend .mark").count() == 3  # none of a second group
    assert "only here" not in opened.page.locator(".facts-line").text_content()
    told = opened.page.locator("#reader details.numbers li").all_text_contents()
    assert len(told) == 1  # no odds, no posterior: there is no other group
    assert told[0].startswith("Likeness: cosine ")
    assert "Infinity" not in opened.page.locator("body").inner_text()
    assert "NaN" not in opened.page.locator("body").inner_text()
    words = opened.page.locator("#card .word-bars li")
    assert words.count() == min(24, np.count_nonzero(opened.content["prototypes"]))
    sizes = open_report("single", fragment="#tab=candidates").texts("#candidates .size")
    assert sizes == ["100 %"]  # of the dense mixture of a path, documents are not known
    listed = open_report("single", fragment="#rival=0&scope=all").listed()
    assert sorted(listed) == sorted(opened.content["documents"]["id"])


def test_coordinates_are_not_called_words(open_report, embeddings):
    opened = open_report("embeddings", fragment="#document=0&tab=prototypes")
    _, content = embeddings
    assert "16 coordinates" in opened.page.locator("#how-sure").text_content()
    card = opened.page.locator("#card").text_content()
    assert "coordinates" in card
    assert "Only-here words" not in card
    for word, _ in content["contrast"][opened.group()][:5]:
        assert word in card
    assert opened.page.locator("#reader .text").inner_text() == content["documents"]["text"][0]
    assert (content["values"] < 0).any()
    assert "stripes: negative weights" in opened.page.locator("#zoom").inner_text()


def test_coordinates_without_a_path(open_report, unpenalised):
    opened = open_report("unpenalised", fragment="#document=0")
    _, content = unpenalised
    assert content["path"] is None
    assert opened.page.locator("#path").is_hidden()
    header = opened.page.locator("header").inner_text()
    assert "β" not in header
    assert "sparsity" not in header
    card = opened.page.locator("#card").text_content()
    # Every group has every coordinate but the one that nobody has: there is nothing to compare.
    assert content["model"]["sparsity"] == pytest.approx(1 / 16)
    assert "15 coordinates · concentration κ" in card
    assert "All coordinates" in card
    for word in ("Only here", "None", "Common"):
        assert word not in card
    assert opened.page.locator("#card details .word-bars li").count() == 15
    bars = opened.page.locator("#card-body > .part > .word-bars li")  # of the words of its texts
    assert opened.texts("#card-body > .part > .word-bars bdi") == [
        word for word, _ in content["contrast"][opened.group()]
    ]
    assert bars.first.get_attribute("title").startswith("z = ")
    for word, _ in content["contrast"][opened.group()][:5]:
        assert word in card
    assert opened.page.locator("#reader .text").inner_text() == content["documents"]["text"][0]
    assert "kept to the end of the path" not in opened.page.locator("body").inner_text()
    opened.page.locator("#save").click()
    assert opened.page.locator("[data-file='words.csv']").count() == 1
    assert opened.page.locator("[data-file='path.csv']").count() == 0
    assert "β" not in opened.page.locator("#save-menu").inner_text()


def test_help_is_of_what_there_is(open_report):
    """Without a slider, a data map or words, the help does not speak of them."""
    keys = "#help-keys th"
    opened = open_report("news")
    opened.page.keyboard.press("?")
    help_text = opened.page.locator("#help").inner_text()
    for word in ("the groups", "slider", "rows of the map", "last filter"):
        assert word in help_text
    assert len(opened.texts(keys)) == 11
    opened = open_report("unpenalised")
    opened.page.keyboard.press("?")
    help_text = opened.page.locator("#help").inner_text()
    for word in ("slider", "β", "rows of the map", "a word", "share"):
        assert word not in help_text
    assert "There is no penalty" in help_text
    assert "the words of its texts" in help_text
    assert "m" not in opened.texts(keys)
    assert len(opened.texts(keys)) == 8
    opened = open_report("nameless")
    opened.page.keyboard.press("?")
    help_text = opened.page.locator("#help").inner_text()
    assert "keeps few or many coordinates" in help_text
    assert "word" not in help_text


def test_other_k_of_coordinates_has_the_words_of_texts_or_none(open_report, unpenalised):
    _, content = unpenalised
    opened = open_report("unpenalised", fragment="#tab=candidates")
    order = np.argsort(-np.array(content["steps"][0]["weights"]), kind="stable")
    words = [" ".join(word for word, _ in content["contrast"][k]) for k in order]
    assert opened.texts("#candidates .group-list bdi") == words
    assert all(words)
    bare = open_report("bare", fragment="#tab=candidates").page.locator("#candidates")
    assert "Words that name them" not in bare.inner_text()


def test_coordinates_alone(open_report, nameless):
    opened = open_report("nameless", fragment="#document=0&tab=corpus")
    _, content = nameless
    assert len(content["steps"]) > 1
    path = opened.page.locator("#path").text_content()
    assert "coordinates left" in path
    assert "fewest coordinates" in path
    assert opened.page.locator("#beta-label").inner_text() == "Coordinates"
    assert "word" not in path
    assert (content["values"] >= 0).all()
    assert "stripes" not in opened.page.locator("#zoom").text_content()
    assert (
        "data map\nnone, because rows of coordinates" in opened.page.locator("#corpus").inner_text()
    )
    assert opened.page.locator(".snippet").count() == 0
    assert "The run has no texts." in opened.page.locator("#reader").inner_text()
    opened.page.locator("#reader-close").click()
    row = opened.page.locator(".document").first
    row.wait_for()  # the list is drawn again where the text was
    assert row.bounding_box()["height"] == 28


def test_groups_without_words_say_what_to_do(open_report):
    """Bare coordinates leave nothing to read: the card says how to get words."""
    card = open_report("nameless").page.locator("#card").inner_text()
    assert "the groups have no words" in card
    assert "--texts" in card
    assert (
        "the groups have no words"
        not in open_report("embeddings").page.locator("#card").inner_text()
    )


def test_on_paper_there_is_nothing_to_click_and_nothing_is_rolled_up(open_report):
    opened = open_report("news", fragment="#document=3", theme="dark")
    page = opened.page
    page.emulate_media(media="print")
    for selector in (".tools", "#tabs", "#documents", "#beta", ".group-tools >> nth=0"):
        assert page.locator(selector).is_hidden()
    rolled = page.evaluate(
        "[...document.querySelectorAll('main *')]"
        ".filter(one => one.offsetParent && one.scrollHeight > one.clientHeight + 4"
        " && getComputedStyle(one).overflowY === 'auto').map(one => one.id || one.className)"
    )
    assert rolled == []
    assert b"/Subtype /Image" in page.pdf()  # the map
    for tab, picture in (("map", ".printed-map"), ("prototypes", "#printed")):
        page.evaluate("(tab) => { location.hash = `tab=${tab}`; }", tab)
        page.wait_for_timeout(200)
        page.pdf()
        assert page.locator(picture).get_attribute("src").startswith("data:image/png")
        assert page.locator(picture).is_visible()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_the_slider_says_its_value_and_the_focus_is_seen(open_report):
    opened = open_report("news", fragment="#document=3")
    opened.page.locator("#beta").focus()
    assert "words a group" in opened.page.locator("#beta").get_attribute("aria-valuetext")
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    opened.page.keyboard.press("Tab")
    assert opened.page.evaluate(outline) == "solid"


def test_groups_are_readable_beside_many_labels(open_report):
    """A table that is wider than its panel is scrolled; its first column is not squeezed."""
    page = open_report("news").page
    page.get_by_role("tab", name="Labels").click()
    wide = "() => document.querySelector('.heat thead th').getBoundingClientRect().width"
    squeeze = """() => document.querySelectorAll(".heat tr > :not(:first-child)")
      .forEach((one) => { one.style.minWidth = "500px"; })"""
    letter = page.evaluate("() => parseFloat(getComputedStyle(document.body).fontSize) / 2")
    page.evaluate(squeeze)
    assert page.evaluate(wide) >= 12 * letter


def test_titles_alone_need_one_line_each(rewrite, news, browser):
    """Twice as many are seen; a finger still finds them."""
    _, content = news
    documents = content["documents"]
    texts = [" ".join(text.split()[:6]) for text in documents["text"]]
    path, _ = rewrite("titles", content | {"documents": documents | {"text": texts}})
    for width, height in ((1280, 28), (390, 40)):
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.goto(path.as_uri())
        row = page.locator(".document").first
        row.wait_for()
        assert row.bounding_box()["height"] == height
        assert row.locator(".id").inner_text() in texts
        assert row.locator(".tag").count() > 0
        page.close()


TIMES = """() => {
  const boxes = (found) => [...found].map((one) => one.getBoundingClientRect());
  const marks = boxes(document.querySelectorAll(".axis-ticks span"));
  const names = boxes(document.querySelectorAll(".time-row > button"));
  const bars = boxes(document.querySelectorAll(".time-row svg"));
  const panel = document.getElementById("time").getBoundingClientRect();
  return {
    covered: marks.filter((one, i) => i && marks[i - 1].right > one.left + 1).length,
    n: marks.length,
    name: Math.max(...names.map(({ height }) => height)),
    lines: bars.map(({ height }) => height),
    bottom: Math.max(...bars.map(({ bottom }) => bottom)),
    panel: [panel.top, panel.bottom],
  };
}"""


def test_years_do_not_cover_each_other_and_few_groups_are_drawn_large(rewrite, news, browser):
    _, content = news
    documents = content["documents"]
    dates = [f"{1980 + i % 40}-01-01" for i in range(len(documents["id"]))]
    path, _ = rewrite("years", content | {"documents": documents | {"date": dates}})
    for width, high in ((1280, 60), (1920, 100), (390, 34)):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(f"{path.as_uri()}#tab=time")
        page.locator(".time-row svg").first.wait_for()
        shown = page.evaluate(TIMES)
        assert shown["n"] >= 2
        assert shown["covered"] == 0
        assert shown["name"] < 45  # two lines at most
        assert min(shown["lines"]) >= high
        if width > 760:
            assert shown["bottom"] < shown["panel"][1]
        page.close()


def test_the_bars_of_groups_begin_at_one_place_whatever_their_sizes(browser, news, rewrite):
    content = news[1]
    entries = [
        one | {"sizes": [25 * one["sizes"][0], *one["sizes"][1:]]} for one in content["steps"]
    ]
    path, _ = rewrite("thousands", content | {"steps": entries})
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(path.as_uri())
    page.locator("body[data-ready]").wait_for()
    sizes = page.locator("#group-list .size").all_inner_texts()
    assert len({len(size) for size in sizes}) > 1, sizes
    left = "all => all.map((one) => Math.round(one.getBoundingClientRect().left))"
    assert len(set(page.locator("#group-list .track").evaluate_all(left))) == 1
    page.close()
