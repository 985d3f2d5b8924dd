"""How soon the report answers in Chromium, and how fluently the map of documents moves.

    python benchmarks/page.py run/report.html      # what people do in this report
    python benchmarks/page.py                      # the map alone, with 100,000 points
    python benchmarks/page.py run/report.html --save

Chromium of the system, without a window and without a GPU: all pixels are painted by the processor,
which is the worst case. The table of a report has three times for each action, the median and the
longest of the repetitions: *answer*, from the action until the next frame is painted; *blocked*,
the longest time in the half second from the action on in which the page could not have answered
another one; and *CPU*, what the main thread of the page used of the processor, which depends least
on what else the machine does. The table of the map has the frames of a drag and of zooming with the
wheel, one movement a frame: the median time between two frames, the time that 19 of 20 frames keep,
and the time of the processor for one frame, of the main thread of the page and of all processes of
the browser together, which depends least on what else the machine does. The first line says how
busy the machine was: more than its cores means that other programs took part of the time.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from playwright.sync_api import sync_playwright
from timing import ROOT, machine

from spheremix.report.html import bundle, page_files, policy

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession

TARGET = ROOT / "benchmarks" / "results" / "page.md"
SIZES = {"1280 x 800": (1280, 800), "1920 x 1080": (1920, 1080)}

# What is done, how often it is repeated, and how: a function of the number of the repetition.
CLICK_GROUP = """(i) => {
  const groups = document.querySelectorAll("#group-list [role=option]");
  groups[(i + 1) % groups.length].click();
}"""
SLIDE = """(i) => {{
  const slider = document.getElementById("{id}");
  const [low, high] = [Number(slider.min), Number(slider.max)];
  slider.value = String(low + ((i * 7 + 3) % (high - low + 1)));
  slider.dispatchEvent(new Event("input", {{ bubbles: true }}));
}}"""
SEARCH = """(i) => {
  const input = document.getElementById("text-search");
  input.value = ["company", "oil", "interest rates", "the", ""][i % 5];
  input.dispatchEvent(new Event("input", { bubbles: true }));
}"""
FIND_WORD = """(i) => {
  const input = document.getElementById("search");
  input.value = ["c", "co", "com", "comp", ""][i % 5];
  input.dispatchEvent(new Event("input", { bubbles: true }));
}"""
SORT = """(i) => {
  const group = document.querySelector("[aria-label='Order of documents']");
  group.querySelectorAll("button")[(i + 1) % 4].click();
}"""
SCOPE = """(i) => {
  const select = document.getElementById("scope");
  select.value = i % 2 ? "group" : "all";
  select.dispatchEvent(new Event("change", { bubbles: true }));
}"""
OPEN = """(i) => document.querySelectorAll("#document-list .document")[i % 6].click()"""
TAB = """(i) => {
  const tabs = document.querySelectorAll("#tabs [role=tab]");
  tabs[(i + 1) % tabs.length].click();
}"""
COLOUR = """(i) => {
  const select = document.getElementById("map-colour");
  select.selectedIndex = (i + 1) % select.options.length;
  select.dispatchEvent(new Event("change", { bubbles: true }));
}"""
THEME = """() => document.getElementById("dark").click()"""
ACTIONS = {
    "choose a group": CLICK_GROUP,
    "slider of groups": SLIDE.format(id="cut"),
    "slider of words": SLIDE.format(id="beta"),
    "slider of words, tab Words": SLIDE.format(id="beta"),
    "find in texts": SEARCH,
    "search a word": FIND_WORD,
    "order of documents, all groups": SORT,
    "all groups or this one": SCOPE,
    "open a document": OPEN,
    "another tab": TAB,
    "colour of the map": COLOUR,
    "dark or light": THEME,
}
START = {
    "slider of words, tab Words": "#tab=prototypes",
    "order of documents, all groups": "#scope=all",
}
TIMED = """async (action, i) => {
  const beats = [];
  const begin = performance.now();
  const quiet = begin + 500;
  const beating = new Promise((done) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      const now = performance.now();
      beats.push(now);
      if (now < quiet) setTimeout(() => channel.port2.postMessage(0), 1);
      else done();
    };
    channel.port2.postMessage(0);
  });
  action(i);
  const answer = await new Promise((done) =>
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => done(performance.now() - begin);
      channel.port2.postMessage(0);
    }),
  );
  await beating;
  let blocked = 0;
  let last = begin;
  for (const beat of beats) {
    blocked = Math.max(blocked, beat - last);
    last = beat;
  }
  return [answer, blocked];
}"""

MAP = """
import { createDocumentMap } from "./document_map.js";
import { categoricalColours, groupPalette } from "./document_map_colours.js";
import { groupLabels } from "./document_map_labels.js";

const { x, y, groups } = JSON.parse(document.getElementById("data").textContent);
const K = Math.max(...groups.slice(0, 1000)) + 1;
const names = Array.from({ length: K }, (_, k) => `group ${k} of many`);
const map = createDocumentMap({
  x,
  y,
  colours: categoricalColours(groups, groupPalette(K)),
  labels: groupLabels({ x, y }, groups, names),
  describe: (id) => `document ${id}`,
});
document.getElementById("place").append(map.element);
"""
# One event a frame, as fast as frames come; gives the times of the frames.
MOVE = """async ([kind, events]) => {
  const canvas = document.querySelector(".document-map > canvas[tabindex]");
  const times = [];
  for (const given of events) {
    times.push(await new Promise((done) => requestAnimationFrame(done)));
    const at = { ...given, bubbles: true, pointerId: 1 };
    canvas.dispatchEvent(kind === "wheel" ? new WheelEvent(kind, at) : new PointerEvent(kind, at));
  }
  return times;
}"""


def do_actions(browser: Browser, report: Path, rounds: int) -> list[list[str]]:
    """Time every action that the report has; give the rows of a table."""
    rows = []
    for name, action in ACTIONS.items():
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(report.resolve().as_uri() + START.get(name, ""))
        page.locator("body[data-ready]").wait_for(timeout=60_000)
        page.wait_for_timeout(1000)
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        found = []
        for i in range(rounds + 1):
            answer, blocked = page.evaluate(f"({TIMED})({action}, {2 * i})")
            before = busy_seconds(session)
            page.evaluate(f"({action})({2 * i + 1})")
            page.wait_for_timeout(500)
            found.append((answer, blocked, 1000 * (busy_seconds(session) - before)))
        page.close()
        columns = zip(*found[1:], strict=True)  # the first one compiles, and is left out
        rows.append([name, *(f"{one:.0f}" for times in columns for one in summary(times))])
        print(rows[-1], flush=True)
    return rows


def busy_seconds(session: CDPSession) -> float:
    """Return the seconds of the processor that the page has used in its main thread."""
    told = session.send("Performance.getMetrics")["metrics"]
    return {one["name"]: one["value"] for one in told}["TaskDuration"]


def summary(times: tuple[float, ...]) -> list[float]:
    """Return the median and the longest."""
    return [statistics.median(times), max(times)]


def write_map(folder: Path, n: int, width: int, height: int) -> Path:
    """Write a page with the map alone: n points in 30 clouds."""
    rng = np.random.default_rng(0)
    centres = rng.uniform(8000, 57000, size=(30, 2))
    groups = rng.integers(30, size=n)
    places = centres[groups] + rng.normal(scale=2600, size=(n, 2))
    x, y = np.clip(places, 0, 65535).astype(int).T.tolist()
    data = json.dumps({"x": x, "y": y, "groups": groups.tolist()})
    files = page_files()
    modules = {name: text for name, text in files.items() if name.endswith(".js")}
    script = bundle({**modules, "start.js": MAP}, "start.js")
    size = f"#place {{ width: {width}px; height: {height}px; }}"
    style = files["style.css"] + files["style_map.css"] + size
    path = folder / f"map-{width}.html"
    path.write_text(
        f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>map</title>
        <meta http-equiv="Content-Security-Policy" content="{policy(script, style)}">
        <style>{style}</style><body><div id="place"></div>
        <script type="application/json" id="data">{data}</script>
        <script type="module">{script}</script></body></html>""",
        encoding="utf-8",
    )
    return path


def move_map(browser: Browser, path: Path, width: int, height: int) -> list[list[str]]:
    """Drag the map and zoom; give the rows of a table."""
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(path.as_uri())
    page.locator(".document-map > canvas").first.wait_for()
    page.wait_for_timeout(1500)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    whole = browser.new_browser_cdp_session()
    rows = []
    for name, kind, events in (
        ("drag", "pointermove", drag(width, height)),
        ("zoom", "wheel", zoom(width, height)),
    ):
        page.mouse.move(width / 2, height / 2)
        if kind == "pointermove":
            page.mouse.down()
        before = busy_seconds(session), browser_seconds(whole)
        times = page.evaluate(MOVE, [kind, events])
        after = busy_seconds(session), browser_seconds(whole)
        page.mouse.up()
        between = sorted(np.diff(times))
        second = 1000 * len(between) / (times[-1] - times[0])
        most = between[int(0.95 * len(between))]
        work = [1000 * (b - a) / len(times) for a, b in zip(before, after, strict=True)]
        cells = [second, statistics.median(between), most, *work]
        rows.append([name, f"{len(times)}", *(f"{one:.0f}" for one in cells)])
        print(rows[-1], flush=True)
    page.close()
    return rows


def browser_seconds(session: CDPSession) -> float:
    """Return the seconds of the processor that all processes of the browser have used."""
    told = session.send("SystemInfo.getProcessInfo")["processInfo"]
    return sum(one["cpuTime"] for one in told)


def drag(width: int, height: int) -> list[dict[str, float]]:
    """Return the places of a hand that drags the map around."""
    corners = [(0.5, 0.5), (0.8, 0.7), (0.2, 0.3), (0.7, 0.2), (0.5, 0.5)]
    places = np.concatenate(
        [np.linspace(one, other, 40) for one, other in itertools.pairwise(corners)]
    )
    return [{"clientX": float(width * x), "clientY": float(height * y)} for x, y in places]


def zoom(width: int, height: int) -> list[dict[str, float]]:
    """Return the turns of a wheel that zooms in and out."""
    place = {"clientX": 0.45 * width, "clientY": 0.55 * height}
    return [{"deltaY": turn, **place} for turn in [-30.0] * 80 + [30.0] * 80]


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Write a table."""
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def main() -> None:
    """Measure a report, the map, or both; print, and save where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", nargs="?", type=Path)
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--save", action="store_true")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        place = os.environ.get("SPHEREMIX_CHROMIUM") or shutil.which("chromium")
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=place, args=flags)
        busy = f"{load:.1f} programs at once before, "
        lines = [""]
        if given.report:
            rows = do_actions(browser, given.report, given.rounds)
            size = given.report.stat().st_size / 1e6
            head = [
                "action",
                "answer, ms",
                "longest",
                "blocked, ms",
                "longest",
                "CPU, ms",
                "longest",
            ]
            lines += [f"A report of {size:.1f} MB, {given.rounds} times each.", ""]
            lines += [*table(head, rows), ""]
        head = ["gesture", "frames", "a second", "between, ms", "19 of 20"]
        head += ["CPU of the page, ms a frame", "of the browser"]
        for name, (width, height) in SIZES.items():
            path = write_map(Path(folder), given.points, width, height)
            lines += [f"The map alone, {given.points:,} points on {name} pixels.", ""]
            lines += [*table(head, move_map(browser, path, width, height)), ""]
        version = browser.version
        browser.close()
    busy += f"{os.getloadavg()[0]:.1f} after"
    lines[0] = f"{machine()}; Chromium {version} without a GPU; {busy}.\n"
    text = "\n".join(lines)
    print(text)
    if given.save:
        TARGET.write_text(text.rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
