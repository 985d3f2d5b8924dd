"""Explore the real texts of docs/gallery.md, and take its pictures.

    SPHEREMIX_DATA=... python tools/draw_gallery.py build/gallery [NAME...]

Writes the files into the folder, makes each run with the command of the page, opens its report
in headless Chromium, and writes docs/figures/gallery-NAME.png: groups and map, and no document.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
DATA = Path(os.environ.get("SPHEREMIX_DATA", "../shared/data"))
# A palette keeps a picture below 170 kB. It is spread over all colours that the page has, however
# few pixels have them, so that each group keeps its hue.
PALETTE = {
    "colors": 256,
    "method": Image.Quantize.MAXCOVERAGE,
    "kmeans": 1,
    "dither": Image.Dither.NONE,
}

COMMANDS = {
    "titles": "spheremix explore titles.csv --text title --label tag -o titles",
    "speeches": "spheremix explore speeches.jsonl.gz --label speaker --levels 5,30 -o speeches",
    "embeddings": "spheremix explore embeddings.npy --texts news.jsonl.gz "
    "--meaning-only -o embeddings",
    "filings": "spheremix explore filings.jsonl.gz --label labels --date date -k 20 -o filings",
    "survey": "spheremix explore answers.csv --text open.ended.response -k 3 "
    "--effects treatment,pid_rep -o survey",
    "german": "spheremix explore artikel.jsonl.gz --language de -o german",
}
FILES = {  # those that are taken as they are
    "speeches.jsonl.gz": "bank_speeches/docs.jsonl.gz",
    "embeddings.npy": "minilm_bbc/embeddings.npy",
    "news.jsonl.gz": "bbc_news/docs.jsonl.gz",
    "filings.jsonl.gz": "sec8k_stanford/docs.jsonl.gz",
    "answers.csv": "survey/gadarian.csv",
    "artikel.jsonl.gz": "german/docs.jsonl.gz",
}
TABS = {"survey": "#tab-labels"}  # what is shown in the place of the map


def write_files(folder: Path) -> None:
    """Write the files that the commands read."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, source in FILES.items():
        shutil.copyfile(DATA / source, folder / name)
    path = DATA / "short" / "stackoverflow.tsv.gz"
    with (
        gzip.open(path, "rt", encoding="utf-8") as lines,
        (folder / "titles.csv").open("w", encoding="utf-8", newline="") as file,
    ):
        table = csv.writer(file)
        table.writerow(["tag", "title"])
        table.writerows(line.strip().split("\t", 1) for line in lines)


def draw(names: list[str], folder: Path) -> None:
    """Take one picture of each report, left of the group and its documents."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name in names:
            page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
            page.goto((folder / name / "report.html").resolve().as_uri())
            page.locator("body[data-ready]").wait_for()
            page.locator(TABS.get(name, "#tab-map")).click()
            page.mouse.move(0, 0)
            page.wait_for_timeout(800)
            right = page.locator("#card").bounding_box()["x"]
            shot = page.screenshot(clip={"x": 0, "y": 46, "width": right, "height": 754})
            picture = Image.open(io.BytesIO(shot)).convert("RGB")
            few = picture.quantize(**PALETTE)
            few.save(FIGURES / f"gallery-{name}.png", optimize=True)
        browser.close()


def main(folder: Path, names: list[str]) -> None:
    """Make the runs that are not there yet, and their pictures."""
    write_files(folder)
    for name in names:
        command = [sys.executable, "-m", *shlex.split(COMMANDS[name])]
        subprocess.run(command, cwd=folder, check=True)  # noqa: S603
    draw(names, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or list(COMMANDS))
