"""The map of documents in a real browser, alone in a page with the policy of the report."""

from __future__ import annotations

import base64
import io
import json
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from spheremix.report.html import bundle, page_files, policy

START = """
import { createDocumentMap } from "./map/map.js";
import { categoricalColours, groupPalette } from "./lib/colours.js";
import { groupLabels } from "./map/labels.js";
import { pointsInside } from "./map/view.js";

const { x, y, groups } = JSON.parse(document.getElementById("data").textContent);
window.heard = { selected: [], lassoed: [], named: [], views: [] };
const square = (left) => [left, 0.4, left + 0.2, 0.4, left + 0.2, 0.6, left, 0.6];
const contours = [0, 0.8].map((left) => [[square(left)], [square(left)]]);
window.map = createDocumentMap({
  x,
  y,
  colours: categoricalColours(groups, groupPalette(2)),
  labels: groupLabels({ x, y }, groups, ["left <b>", "right"]).map(({ at, ...label }) => ({
    ...label,
    group: at,
    contour: contours[at],
    colour: ["#1f77b4", "#d62728"][at],
  })),
  describe: (id) => ({ title: `document ${id} <b>`, line: "", note: "left <b>" }),
  beside: () => [],
  onSelect: (id) => window.heard.selected.push(id),
  onName: (group) => window.heard.named.push(group),
  onLasso: (line) => {
    const inside = pointsInside(line, { x, y });
    window.heard.lassoed.push(x.flatMap((_, i) => (inside[i] ? [i] : [])));
    window.map.setLasso(line);
  },
  onView: (view) => window.heard.views.push(view),
  onReset: () => {},
});
document.getElementById("place").append(window.map.element);
"""
# Two groups of nine, each a square of three by three.
STEPS = np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3)
X = [int(corner + 5000 * step) for corner in (0, 55_535) for step in STEPS[0]]
Y = [int(27_767 + 5000 * step) for _ in range(2) for step in STEPS[1]]
NAME = """() => {
  // Where letters of a name are: pixels of its colour on the canvas above.
  const canvas = document.querySelectorAll(".document-map > canvas")[1];
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const found = [];
  for (let i = 0; i < data.length; i += 4)
    if (data[i] > 150 && data[i + 1] < 70 && data[i + 3] > 250) found.push(i / 4);
  const middle = found[found.length >> 1];
  return [middle % canvas.width, Math.floor(middle / canvas.width)];
}"""


@pytest.fixture
def opened(browser, tmp_path):
    files = page_files()
    modules = {name: text for name, text in files.items() if name.endswith(".js")}
    script = bundle({**modules, "start.js": START}, "start.js")
    style = files["style.css"] + "#place { width: 800px; height: 500px; }"
    data = json.dumps({"x": X, "y": Y, "groups": [0] * 9 + [1] * 9})
    path = tmp_path / "map.html"
    path.write_text(
        f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>map</title>
        <meta http-equiv="Content-Security-Policy" content="{policy(script, style)}">
        <style>{style}</style><body><div id="place"></div>
        <script type="application/json" id="data">{data}</script>
        <script type="module">{script}</script></body></html>""",
        encoding="utf-8",
    )
    context = browser.new_context(viewport={"width": 800, "height": 500})
    page, errors = context.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda line: errors.append(line.text))
    page.goto(path.as_uri())
    wait_for_width(page, lambda width: width > 100)
    yield page
    context.close()
    assert errors == []


def wait_for_width(page, wanted):
    """Wait until the canvas is as wide as wanted: the page's policy forbids to poll by a script."""
    for _ in range(200):
        if wanted(page.evaluate("document.querySelector('.document-map > canvas').width")):
            return
        page.wait_for_timeout(50)
    pytest.fail("The canvas has another width.")


def wait_for_rest(page):
    """Wait until the picture stays the same for longer than a map that was moved needs to rest."""
    before = seen(page)
    for _ in range(50):
        page.wait_for_timeout(400)
        if (now := seen(page)) == before:
            return now
        before = now
    pytest.fail("The map never rests.")


def heard(page):
    return page.evaluate("window.heard")


def seen(page):
    """Return the pixels of the points, once the next frame is drawn."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.evaluate("document.querySelector('.document-map > canvas').toDataURL()")


def pixels(picture):
    """Return the pixels of a picture that the page holds as text."""
    png = base64.b64decode(picture.split(",")[1])
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"), dtype=int)


def find(page, number):
    """Move over the map until a document is under the pointer; give the place."""
    for left in range(20, 800, 20):
        for top in range(150, 360, 20):
            page.mouse.move(left, top)
            if page.locator(".document-map-tip bdi").all_text_contents()[:1] == [
                f"document {number} <b>"
            ]:
                return left, top
    raise AssertionError(f"document {number} is nowhere")


def test_hover_and_click_find_the_document(opened):
    left, top = find(opened, 2)
    tip = opened.locator(".document-map-tip")
    assert tip.locator("bdi").all_inner_texts() == ["document 2 <b>", "left <b>"]
    opened.mouse.click(left, top)
    opened.mouse.click(400, 20)  # nothing is there
    assert heard(opened)["selected"] == [2, -1]


def test_a_name_in_the_colour_of_its_group_chooses_it(opened):
    wait_for_rest(opened)
    left, top = opened.evaluate(NAME)
    opened.mouse.move(left, top)
    assert opened.locator(".document-map-tip").is_hidden()
    opened.mouse.click(left, top)
    found = heard(opened)
    assert (found["selected"], found["lassoed"], found["named"]) == ([], [], [1])


def test_groups_that_do_not_stand_out_have_paler_contours(opened):
    plain = seen(opened)
    opened.evaluate("map.setChosen(Uint8Array.from({ length: 18 }, (_, i) => i < 9), [0])")
    assert seen(opened) != plain
    opened.evaluate("map.setChosen(null)")
    assert seen(opened) == plain


def test_a_lasso_holds_one_of_the_groups(opened):
    opened.get_by_role("button", name="Draw around").click()
    opened.mouse.move(5, 100)
    opened.mouse.down()
    for left, top in ((400, 100), (400, 400), (5, 400)):
        opened.mouse.move(left, top, steps=4)
    opened.mouse.up()
    assert heard(opened)["lassoed"] == [list(range(9))]
    assert heard(opened)["selected"] == []
    # The line stays drawn until it is taken away.
    above = "document.querySelectorAll('.document-map > canvas')[1].toDataURL()"
    wait_for_rest(opened)
    with_line = opened.evaluate(above)
    opened.evaluate("map.setLasso(null)")
    wait_for_rest(opened)
    assert opened.evaluate(above) != with_line
    before = seen(opened)
    opened.evaluate("map.setHighlighted(Uint8Array.from({ length: 18 }, (_, i) => i < 9))")
    assert seen(opened) != before
    opened.evaluate("map.setHighlighted(null)")
    assert seen(opened) == before


def test_keys_and_buttons_zoom_and_come_back(opened):
    whole = wait_for_rest(opened)
    canvas = opened.locator(".document-map > canvas[tabindex]")
    assert "18 documents" in canvas.get_attribute("aria-label")
    canvas.focus()
    for key in ("+", "ArrowLeft", "ArrowUp", "-"):
        before = seen(opened)
        opened.keyboard.press(key)
        assert seen(opened) != before
    opened.keyboard.press("0")
    assert wait_for_rest(opened) == whole
    opened.keyboard.press("Enter")
    [chosen] = heard(opened)["selected"]
    assert 0 <= chosen < 18
    opened.get_by_role("button", name="Zoom in").click()
    assert seen(opened) != whole
    opened.get_by_role("button", name="Show all").click()
    assert wait_for_rest(opened) == whole


def test_wheel_and_drag_move_the_map(opened):
    whole = seen(opened)
    opened.mouse.move(300, 200)
    opened.mouse.wheel(0, -300)
    near = seen(opened)
    assert near != whole
    opened.mouse.down()
    opened.mouse.move(360, 240, steps=3)
    opened.mouse.up()
    assert seen(opened) != near
    assert heard(opened)["selected"] == []  # a drag is no click


def test_the_part_that_is_seen_is_told_and_comes_back(opened):
    opened.mouse.move(300, 200)
    opened.mouse.wheel(0, -300)
    near = wait_for_rest(opened)
    told = heard(opened)["views"][-1]
    assert float(told.split(",")[2]) == pytest.approx(np.exp(300 / 400), abs=0.01)
    opened.evaluate("map.setView('')")
    assert wait_for_rest(opened) != near
    assert heard(opened)["views"][-1] == ""
    opened.evaluate("(view) => map.setView(view)", told)
    wait_for_rest(opened)
    assert heard(opened)["views"][-1] == told


def test_a_map_that_was_dragged_is_as_if_painted_there(opened):
    opened.mouse.move(300, 200)
    opened.mouse.wheel(0, -300)
    wait_for_rest(opened)
    opened.mouse.down()
    # Steps of whole pixels: wherever a slow machine pauses and the map is painted anew, the drag
    # goes on from whole pixels.
    opened.mouse.move(370, 165, steps=5)
    opened.mouse.up()
    dragged = seen(opened)
    # With a screen of one pixel a pixel of the page; edges of contours are rounded.
    apart = np.abs(pixels(wait_for_rest(opened)) - pixels(dragged))
    assert apart.max() <= 24
    assert (apart > 0).mean() < 0.01
    opened.evaluate("map.setColours(new Uint32Array(18).fill(0x123456))")
    assert seen(opened) != dragged


def test_the_view_is_a_drawing_and_goes_on_paper(opened):
    text = opened.evaluate("new XMLSerializer().serializeToString(map.figure())")
    root = ET.fromstring(text)  # noqa: S314 (it is our own)
    space = "{http://www.w3.org/2000/svg}"
    paths = list(root.iter(f"{space}path"))
    lines = [path for path in paths if path.get("class") == "contour"]
    assert sum(path.get("d").count("M") for path in paths if path not in lines) == 18
    assert [path.get("fill") for path in lines] == ["#1f77b4"] * 2 + ["#d62728"] * 2
    assert all("M" in path.get("d") for path in lines)
    assert [text.text for text in root.iter(f"{space}text")] == ["left <b>", "right"]
    before = seen(opened)
    opened.evaluate("map.print()")
    printed = opened.evaluate("document.querySelector('.printed-map').src")
    assert pixels(printed).shape == (1000, 1600, 3)
    assert seen(opened) == before


def test_a_map_that_is_shown_later_is_drawn_then(opened):
    opened.evaluate("document.getElementById('place').hidden = true")
    opened.evaluate("document.getElementById('place').hidden = false")
    opened.evaluate("document.getElementById('place').style.width = '400px'")
    wait_for_width(opened, lambda width: width == 400)
    find(opened, 0)
