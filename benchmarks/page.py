"""How soon the report opens and answers in Chromium, and how fluently the map of documents moves.

    python benchmarks/page.py filings/report.html speeches/report.html    # these, and the map alone
    python benchmarks/page.py                                             # the map alone
    python benchmarks/page.py filings/report.html speeches/report.html --save

Chromium of the system, without a window and without a GPU: all pixels are painted by the processor,
which is the worst case. Opening a report is from the address to the page that answers, in a new
browser each time. The table of its actions has three times for each, the median and the longest of
the repetitions: *answer*, from the action until the next frame is painted; *blocked*, the longest
time in the half second from the action on in which the page could not have answered another one;
and *CPU*, what the main thread of the page used of the processor, which depends least on what else
the machine does. The tables of maps have the frames of a drag and of zooming with the wheel, one
movement a frame, with the contours and the names of the groups: the median time between two frames,
the time that 19 of 20 frames keep, and the time of the processor for one frame, of the main thread
of the page and of all processes of the browser together. The map alone has made-up points in 30
groups. The first line says how busy the machine was: more than its cores means that other programs
took part of the time.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from playwright.sync_api import sync_playwright
from timing import ROOT, machine

from spheremix.report.html import bundle, page_files, policy

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, CDPSession, FloatRect, Page

TARGET = ROOT / "benchmarks" / "results" / "page.md"
SIZES = {"1280 x 800": (1280, 800), "1920 x 1080": (1920, 1080)}

# What is done, as a function of the number of the repetition; gives what is not there in a report.
CLICK = """(i) => {{
  const shown = document.querySelectorAll("{what}");
  shown[(i + 1) % Math.min(shown.length, {first})].click();
}}"""
CHOOSE = """(i) => {{
  const select = document.getElementById("{id}");
  select.selectedIndex = (i + 1) % select.options.length;
  select.dispatchEvent(new Event("change", {{ bubbles: true }}));
}}"""
SLIDE = """(i) => {{
  const slider = document.getElementById("{id}");
  const [low, high] = [Number(slider.min), Number(slider.max)];
  slider.value = String(low + ((i * 7 + 3) % (high - low + 1)));
  slider.dispatchEvent(new Event("input", {{ bubbles: true }}));
}}"""
SEARCH = """(i) => {
  const input = document.getElementById("search");
  input.value = ["c", "rate", "rates", "the", "interest rates"][i % 5];
  input.dispatchEvent(new Event("input", { bubbles: true }));
}"""
FIND = """(i) => {
  const input = document.getElementById("search");
  input.value = ["rate", "the", "company"][i % 3];
  input.dispatchEvent(new Event("focus"));
  document.querySelector("#found .found-documents").click();
}"""
MANY = 1000


def click(what: str, first: int = MANY) -> str:
    """Return the action of clicking on one of the first of these elements."""
    return CLICK.format(what=what, first=first)


# How it is called: the place in the page, what has to be there, and the action.
ACTIONS = {
    "choose a group": ("", "#group-list [role=option]", click("#group-list [role=option]")),
    "choose a word": ("", "#card-body button.word", click("#card-body button.word", 8)),
    "slider of groups": ("", "#cut", SLIDE.format(id="cut")),
    "slider of words": ("", "#beta", SLIDE.format(id="beta")),
    "slider of words, tab Words": ("#tab=prototypes", "#beta", SLIDE.format(id="beta")),
    "type into the search": ("", "#search", SEARCH),
    "documents with a text": ("", "#search", FIND),
    "typical, borderline or all": (
        "",
        "[aria-label='Which documents'] button",
        click("[aria-label='Which documents'] button"),
    ),
    "order of documents, all groups": ("#scope=all&list=all", "#sort", CHOOSE.format(id="sort")),
    "all groups or this one": ("#list=all", "#scope", CHOOSE.format(id="scope")),
    "open a document": ("", "#document-list .document", click("#document-list .document", 6)),
    "another tab": ("", "#tabs [role=tab]", click("#tabs [role=tab]")),
    "colour of the map": ("", "#map-colour", CHOOSE.format(id="map-colour")),
    "dark or light": ("", "#dark", click("#dark")),
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
import { categoricalColours, groupPalette, hex } from "./lib/colours.js";
import { groupContours } from "./map/contours.js";
import { groupLabels } from "./map/labels.js";
import { createDocumentMap } from "./map/map.js";

const { x, y, groups, names } = JSON.parse(document.getElementById("data").textContent);
const palette = groupPalette(names.length);
const contours = groupContours({ x, y }, groups, names.length);
const nothing = () => {};
const map = createDocumentMap({
  x,
  y,
  colours: categoricalColours(groups, palette),
  labels: groupLabels({ x, y }, groups, names).map(({ at, ...label }) => ({
    ...label,
    group: at,
    contour: contours[at],
    colour: hex(palette[at]),
  })),
  describe: (id) => ({ title: `document ${id}`, line: "", note: names[groups[id]] }),
  beside: () => [],
  onSelect: nothing,
  onName: nothing,
  onLasso: nothing,
  onView: nothing,
  onReset: nothing,
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


def opening(browser: Browser, report: Path, rounds: int) -> list[float]:
    """Return the seconds until the page answers, each time in a browser that knows nothing."""
    found = []
    for _ in range(rounds):
        begin = time.perf_counter()
        context, page = open_page(browser, report)
        page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        found.append(time.perf_counter() - begin)
        context.close()
    return found


def open_page(browser: Browser, report: Path, place: str = "") -> tuple[BrowserContext, Page]:
    """Open a report on a screen of 1280 x 800 pixels."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(report.resolve().as_uri() + place)
    page.locator("body[data-ready]").wait_for(timeout=60_000)
    return context, page


def do_actions(browser: Browser, report: Path, rounds: int) -> list[list[str]]:
    """Time every action that the report has; give the rows of a table."""
    rows = []
    for name, (place, needed, action) in ACTIONS.items():
        context, page = open_page(browser, report, place)
        page.wait_for_timeout(1000)
        if not page.locator(needed).count():
            print(f"{name}: not in this report", flush=True)
            context.close()
            continue
        session = context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        found = []
        for i in range(rounds + 1):
            answer, blocked = page.evaluate(f"({TIMED})({action}, {2 * i})")
            before = busy_seconds(session)
            page.evaluate(f"({action})({2 * i + 1})")
            page.wait_for_timeout(500)
            found.append((answer, blocked, 1000 * (busy_seconds(session) - before)))
        context.close()
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
    names = [f"group {k} · of many · in all" for k in range(30)]
    data = json.dumps({"x": x, "y": y, "groups": groups.tolist(), "names": names})
    files = page_files()
    modules = {name: text for name, text in files.items() if name.endswith(".js")}
    script = bundle({**modules, "start.js": MAP}, "start.js")
    size = f"#place {{ width: {width}px; height: {height}px; }}"
    style = files["style.css"] + size
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


def move_map(browser: Browser, page: Page) -> list[list[str]]:
    """Drag the map of a page and zoom; give the rows of a table."""
    canvas = page.locator(".document-map > canvas[tabindex]")
    canvas.wait_for()
    page.wait_for_timeout(1500)
    box = canvas.bounding_box()
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    whole = browser.new_browser_cdp_session()
    rows = []
    for name, kind, events in (
        ("drag", "pointermove", drag(box)),
        ("zoom", "wheel", zoom(box)),
    ):
        page.mouse.move(events[0]["clientX"], events[0]["clientY"])
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
        page.wait_for_timeout(500)
    return rows


def browser_seconds(session: CDPSession) -> float:
    """Return the seconds of the processor that all processes of the browser have used."""
    told = session.send("SystemInfo.getProcessInfo")["processInfo"]
    return sum(one["cpuTime"] for one in told)


def drag(box: FloatRect) -> list[dict[str, float]]:
    """Return the places of a hand that drags the map around."""
    corners = [(0.5, 0.5), (0.8, 0.7), (0.2, 0.3), (0.7, 0.2), (0.5, 0.5)]
    places = np.concatenate(
        [np.linspace(one, other, 40) for one, other in itertools.pairwise(corners)]
    )
    return [_at(box, x, y) for x, y in places]


def zoom(box: FloatRect) -> list[dict[str, float]]:
    """Return the turns of a wheel that zooms in and out."""
    return [{"deltaY": turn, **_at(box, 0.45, 0.55)} for turn in [-30.0] * 80 + [30.0] * 80]


def _at(box: FloatRect, x: float, y: float) -> dict[str, float]:
    return {
        "clientX": box["x"] + float(x) * box["width"],
        "clientY": box["y"] + float(y) * box["height"],
    }


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Write a table."""
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


WAITING = (
    "Where more programs run than there are cores, answers and frames wait for the others; the "
    "columns CPU do not count that."
)
ACTION_HEAD = ["action", "answer, ms", "longest", "blocked, ms", "longest", "CPU, ms", "longest"]
MAP_HEAD = ["gesture", "frames", "a second", "between, ms", "19 of 20"]
MAP_HEAD += ["CPU of the page, ms a frame", "of the browser"]


def measure_report(browser: Browser, report: Path, rounds: int) -> list[str]:
    """Measure a report: opening it, its actions and its map; give the lines about it."""
    seconds = opening(browser, report, rounds)
    context, page = open_page(browser, report)
    facts = page.locator("#facts").inner_text()
    box = page.locator(".document-map").bounding_box()
    moved = move_map(browser, page)
    context.close()
    size = report.stat().st_size / 1e6
    opened = f"{statistics.median(seconds):.1f} s, {max(seconds):.1f} s at the longest"
    return [
        f"## A report of {facts}, {size:.1f} MB",
        "",
        f"It opens in {opened}, of {rounds} times. Each action {rounds} times:",
        "",
        *table(ACTION_HEAD, do_actions(browser, report, rounds)),
        "",
        f"Its map, on {box['width']:.0f} x {box['height']:.0f} pixels:",
        "",
        *table(MAP_HEAD, moved),
        "",
    ]


def main() -> None:
    """Measure reports and the map alone; print, and save where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reports", nargs="*", type=Path)
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--save", action="store_true")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        place = os.environ.get("SPHEREMIX_CHROMIUM") or shutil.which("chromium")
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=place, args=flags)
        lines = [""]
        for report in given.reports:
            lines += measure_report(browser, report, given.rounds)
        for name, (width, height) in SIZES.items():
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto(write_map(Path(folder), given.points, width, height).as_uri())
            lines += [f"## The map alone, {given.points:,} points on {name} pixels", ""]
            lines += [*table(MAP_HEAD, move_map(browser, page)), ""]
            page.close()
        version = browser.version
        browser.close()
    busy = f"{load:.1f} programs at once before, {os.getloadavg()[0]:.1f} after"
    lines[0] = f"{machine()}; headless Chromium {version} without a GPU; {busy}. {WAITING}\n"
    text = "\n".join(lines)
    print(text)
    if given.save:
        TARGET.write_text(text.rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
