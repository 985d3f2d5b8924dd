"""Take the pictures of the report that the pages quote.

    spheremix demo -o demo-run
    python tools/draw_report.py demo-run/report.html run/report.html [NUMBER]

The second report is that of the tutorial docs/complaints.md, whose documents have dates. Opens the
reports in headless Chromium and writes into docs/figures report.png, the first screen, and for the
page about the report one picture of each screen with numbers on it, report-*.png, which the lists
of that page explain. Screens of one group show the one at this place of the list (3 by default).
"""

from __future__ import annotations

import io
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Page

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
FONT = Path(mpl.get_data_path()) / "fonts" / "ttf" / "DejaVuSans-Bold.ttf"
# A palette keeps a picture below 250 kB. It is spread over all colours that the page has, however
# few pixels have them, so that each group keeps its hue.
PALETTE = {
    "colors": 256,
    "method": Image.Quantize.MAXCOVERAGE,
    "kmeans": 1,
    "dither": Image.Dither.NONE,
}
BADGE = 9  # pixels of the radius of a number
VIOLET = "#5b21b6"  # which the report does not use
COMMAND = "spheremix edit run edits.json"  # in the place of a folder of this machine


@dataclass
class Screen:
    """A picture: what is clicked before it is taken, and what its numbers stand at."""

    clicks: tuple[str, ...]
    marks: tuple[str, ...]
    dated: bool = False  # of the report whose documents have dates


SCREENS = {
    "report-first": Screen(
        (),
        (
            "#how-many",
            "#sure-word",
            "#cut-slider",
            "#word-slider",
            "#group-list",
            "#document-map",
            "#map-colour",
            ".document-map-buttons",
            "#card-title",
            "#card .word-bars",
            "#document-controls .segmented",
            "#document-controls .filters",
            ".tools",
        ),
    ),
    "report-reader": Screen(
        ("#tab-prototypes", ".document"),
        ("#frame", "#zoom", "#path", ".why", ".verdict", ".mark", ".reader-line"),
    ),
    "report-labels": Screen(
        ("#tab-labels",),
        ("#labels .segmented", "#labels thead", "#labels tbody td", "#compare", ".compared"),
    ),
    "report-time": Screen(
        ("#tab-time",),
        (
            "#time .segmented",
            "#time-scale",
            "#smoothing",
            "#time-reading",
            ".time-row .bars",
            ".time-row .peak",
            "#chip-list .chip",
        ),
        dated=True,
    ),
    "report-corpus": Screen(
        ("#tab-corpus",),
        ("#warnings", "#corpus section:nth-of-type(1)", "#corpus section:nth-of-type(2)"),
    ),
    "report-numbers": Screen(
        ("#tab-candidates",),
        ("#candidates p", "#candidates svg", "#cut"),
    ),
    "report-edits": Screen(
        (),
        ("#edits ol", "#edits-body p", "#save-edits"),
    ),
}


def save(page: Page, name: str, marks: tuple[str, ...] = ()) -> None:
    """Save what the browser shows, with numbers at some of its parts, in few colours."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    pen = ImageDraw.Draw(picture)
    font = ImageFont.truetype(str(FONT), 11)
    for number, selector in enumerate(marks, 1):
        box = page.locator(selector).first.bounding_box()
        if box is None:
            raise SystemExit(f"{name}: {selector} is not seen.")
        x = max(box["x"] - 5, BADGE + 1)
        y = max(box["y"] - 1, BADGE + 1)
        pen.ellipse((x - BADGE, y - BADGE, x + BADGE, y + BADGE), fill=VIOLET, outline="white")
        pen.text((x, y), str(number), fill="white", font=font, anchor="mm")
    few = picture.quantize(**PALETTE)
    few.save(FIGURES / f"{name}.png", optimize=True)


def prepare(page: Page, name: str, number: int) -> None:
    """Do what a picture shows the effect of."""
    if name != "report-first":
        page.locator("#group-list").get_by_role("option").nth(number - 1).click()
    if name == "report-labels":
        page.locator("#compare").select_option(index=1)
    if name == "report-edits":
        page.get_by_role("button", name="rename").click()
        page.locator("#ask-form input").fill("Distances")
        page.locator("#ask-form [type=submit]").click()
        page.get_by_role("button", name="merge", exact=True).click()
        page.locator("#ask-form .asked button").nth(1).click()
        page.locator("#edits-button").click()
        page.locator("#edits-body code").evaluate(f"e => e.textContent = {COMMAND!r}")
    if name == "report-reader":
        page.locator("[data-value=borderline]").click()
    for click in SCREENS[name].clicks:
        page.locator(click).first.click()
    if name == "report-time":
        bars = page.locator(".time-row.chosen .bars")
        wide = bars.bounding_box()["width"]
        bars.click(position={"x": 0.7 * wide, "y": 20})
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(800)


def main(report: Path, dated: Path, number: int = 3) -> None:
    """Open a report once for each picture."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name, screen in SCREENS.items():
            # A context of its own: edits are kept by the browser.
            page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
            page.goto((dated if screen.dated else report).resolve().as_uri())
            page.locator("body[data-ready]").wait_for()
            prepare(page, name, number)
            if name == "report-first":
                save(page, "report")
            save(page, name, screen.marks)
            page.context.close()
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:]))
