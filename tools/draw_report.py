"""Take the two pictures of the report that the pages quote.

    spheremix demo -o demo-run
    python tools/draw_report.py demo-run/report.html [NUMBER]

Opens the report in headless Chromium and writes docs/figures/report.png (the first screen) and
docs/figures/report-reader.png: the group at this place of the list (3 by default), its borderline
documents, and the first of them with its words, beside the map of words.
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Page

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
COLOURS = 256  # of a palette, which keeps a picture below 200 kB


def save(page: Page, name: str) -> None:
    """Save what the browser shows, in few colours."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(FIGURES / f"{name}.png", optimize=True)


def main(report: Path, number: int = 3) -> None:
    """Open the report, take the first screen, choose a document, take the second."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(report.resolve().as_uri())
        page.get_by_role("button", name="borderline").wait_for()
        page.wait_for_timeout(1000)
        save(page, "report")
        page.locator("#cluster-list").get_by_role("option").nth(number - 1).click()
        page.get_by_role("tab", name="Words").click()
        page.get_by_role("button", name="borderline").click()
        page.keyboard.press("j")  # the next document of the list
        page.mouse.move(0, 0)
        page.evaluate("document.activeElement.blur()")
        page.wait_for_timeout(500)
        save(page, "report-reader")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
