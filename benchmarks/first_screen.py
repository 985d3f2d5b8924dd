"""How much the first screen of a report says: its words, and its controls, at 1280 x 800.

    python benchmarks/first_screen.py gallery/*/report.html

Counted as tests/report/browser/test_report_browser_layout.py counts, where the aims stand: at most
200 words and 35 controls. A word is counted where it is seen: nothing covers its middle, and
nothing cuts it off. Numbers are no words; names of groups and the beginnings of documents are.
Names on the map are painted, and so not counted. A control is what the tabulator stops at.
"""

from __future__ import annotations

import runpy
import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright
from timing import ROOT

TEST = ROOT / "tests" / "report" / "browser" / "test_report_browser_layout.py"


def main(reports: list[Path]) -> None:
    """Print a line for each report."""
    count = runpy.run_path(str(TEST))["SAID"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for report in reports:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(report.resolve().as_uri())
            page.locator("body[data-ready]").wait_for()
            page.wait_for_timeout(800)
            words, controls = page.evaluate(count)
            print(f"{report.parent.name}: {words} words, {controls} controls")
            page.close()
        browser.close()


if __name__ == "__main__":
    main([Path(one) for one in sys.argv[1:]])
