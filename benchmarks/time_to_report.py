"""The whole way from texts to the page: seconds by stage, memory, and the size of the folder.

Run as ``python benchmarks/time_to_report.py [--before TREE] [--peers] [CASE ...]``; TREE is a
checkout of an earlier version with its kernels built, which takes turns with this one; the table
names both by their commits. It needs the folder of real data, named by SPHEREMIX_DATA, and writes
``benchmarks/results/time_to_report.json`` and, from it, ``time_to_report.md`` and the picture of
growth; named cases are measured again, and the others kept.

Every exploration is one of the command, with its defaults, in a process of its own; but short texts
are grouped by their words alone, as all versions can, and the titles once more by words and
meaning, the default where wordllama is installed. A stage lasts from when it is announced to the
next announcement; the first one is the start of Python and its imports. Seconds are those of the
processor, all threads together, unless said; memory is the largest that the process had. An
exploration that needs more processor seconds than ``--limit`` is stopped, and its stages until then
are kept. The page of this version is opened in Chromium without a window: the seconds until it
answers, by the clock.

Peers get the number of groups that was found, the words of scikit-learn's vectoriser, and write a
plain page: a list of the words and of ten documents of each topic. They do not search the number of
groups, and have no path, stability, tree or map.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any

from short_texts import made_up_texts, short_texts
from timing import DATA, ROOT, machine

FIGURES = ROOT / "benchmarks" / "results" / "time_to_report.json"
TARGET = FIGURES.with_suffix(".md")
OPENS = 120_000  # milliseconds that a page may take to open
PICTURE = ROOT / "docs" / "figures" / "time_to_report.svg"
COUNTS = {f"{n:,} texts": n for n in (10_000, 50_000, 200_000, 1_000_000)}
# What is explored, one command after the other in one folder: each has a name and options.
WHOLE = [("first", {})]
WORDS = [("first", {"meaning": "none"})]
CASES = {
    "bbc": [*WHOLE, ("again", {}), ("8 groups", {"k": 8}), ("a label", {"label": "label"})],
    "bbc, 5 groups": [("first", {"k": 5})],
    "titles": WORDS,
    "titles, words and meaning": [("first", {"meaning": "static"})],
    "filings": WHOLE,
    "speeches in passages": WHOLE,
    "20,000 passages": WHOLE,
    **dict.fromkeys(COUNTS, WORDS),
}
SOME_SPEECHES = 503  # which have 20,000 passages
PEERS = {"bbc": 5, "titles": 20, "10,000 texts": 28, "50,000 texts": 28, "200,000 texts": 28}
BY_DEFAULT = [name for name in CASES if name != "1,000,000 texts"]
# Words of the announcements of stages, and what they are called in the table.
STAGES = {
    "start": "start",
    "Reading": "read",
    "holds this run": "read",
    "Counting": "count words",
    "how many groups": "number of groups",
    "which groups": "number of groups",
    "Fitting": "fit",
    "the path": "path",
    "Dividing": "tree",
    "what stays": "stability",
    "Finding the shares": "shares",
    "Placing": "map",
    "islands": "map",
    "Writing": "tables and page",
}


def source_of(case: str, folder: Path) -> Path:
    """Return the file of documents of a case; texts that are not in one are written first."""
    if case.startswith("bbc"):
        return DATA / "bbc_news" / "docs.jsonl.gz"
    if case == "filings":
        return DATA / "sec8k_stanford" / "docs.jsonl.gz"
    speeches = DATA / "bank_speeches" / "docs.jsonl.gz"
    if case == "speeches in passages":
        return speeches
    if case == "20,000 passages":
        path = folder / "speeches.jsonl"
        with gzip.open(speeches, "rt", encoding="utf-8") as lines:
            path.write_text("".join(islice(lines, SOME_SPEECHES)), "utf-8")
        return path
    texts = made_up_texts(COUNTS[case]) if case in COUNTS else short_texts("stackoverflow")[0]
    path = folder / "texts.jsonl"
    with path.open("w", encoding="utf-8") as lines:
        for text in texts:
            lines.write(json.dumps({"text": text}) + "\n")
    return path


# In a process of its own


def explore(source: str, out: str, options: str, limit: int) -> None:
    """Explore, and print what each stage cost as it ends."""
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    clock = [time.perf_counter()]
    seconds = [0.0]
    stage = ["start"]

    def end() -> None:
        now, processor = time.perf_counter(), time.process_time()
        said = [stage[0], processor - seconds[0], now - clock[0], megabytes()]
        print(json.dumps(said), flush=True)
        clock[0], seconds[0] = now, processor

    from spheremix.run import Listener  # noqa: PLC0415
    from spheremix.run.explore import explore_corpus  # noqa: PLC0415
    from spheremix.run.options import ExploreOptions  # noqa: PLC0415

    class Stages(Listener):
        def begin(self, what):
            end()
            stage[0] = what

        def note(self, message):
            pass

    given = json.loads(options)
    if given.get("meaning") == "none" and not hasattr(ExploreOptions, "meaning"):
        del given["meaning"]  # an earlier version has words alone
    explore_corpus(Path(source), Path(out), listener=Stages(), **given)
    end()


def peer(source: str, out: str, name: str, n_topics: int) -> None:
    """Find topics as scikit-learn's documentation does, write a plain page, say what it cost."""
    from sklearn.decomposition import NMF, LatentDirichletAllocation  # noqa: PLC0415
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer  # noqa: PLC0415

    from spheremix.text import read_documents  # noqa: PLC0415 (the same reader for all)

    clock = time.perf_counter()
    texts = read_documents(Path(source)).texts
    words: dict[str, Any] = {"stop_words": "english", "min_df": 5, "max_df": 0.5}
    if name == "NMF":
        vectorizer, model = TfidfVectorizer(**words), NMF(n_topics, random_state=0)
    else:
        vectorizer = CountVectorizer(**words)
        model = LatentDirichletAllocation(n_topics, random_state=0)
    shares = model.fit_transform(vectorizer.fit_transform(texts))
    terms = vectorizer.get_feature_names_out()
    with Path(out).open("w", encoding="utf-8") as page:
        page.write("<!doctype html><meta charset=utf-8><title>topics</title>")
        for k, weights in enumerate(model.components_):
            listed = ", ".join(terms[weights.argsort()[::-1][:20]])
            page.write(f"<h2>topic {k}</h2><p>{escape(listed)}</p><ol>")
            page.writelines(
                f"<li>{escape(texts[i])}</li>" for i in shares[:, k].argsort()[::-1][:10]
            )
            page.write("</ol>")
    said = ["start", time.process_time(), time.perf_counter() - clock, megabytes()]
    print(json.dumps(said), flush=True)


def megabytes() -> float:
    """Return the megabytes that this process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


# In the first process


def size(folder: Path) -> float:
    """Return the megabytes of the files below a folder."""
    return sum(one.stat().st_size for one in folder.rglob("*") if one.is_file()) / 1e6


def measure(tree: Path, source: Path, out: Path, options: dict, limit: int) -> dict:
    """Explore with the version of a tree, and return what it cost."""
    what = ["--peer", options["peer"]] if "peer" in options else []
    command = [sys.executable, __file__, *what, "--explore", str(source), str(out)]
    command.append(json.dumps(options))
    environment = {**os.environ, "PYTHONPATH": str(tree.resolve() / "src")}
    begin = time.perf_counter()
    done = subprocess.run(  # noqa: S603
        [*command, "--limit", str(limit)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    said = [json.loads(line) for line in done.stdout.splitlines()]
    stages: dict[str, list[float]] = {}
    for what, seconds, clock, _ in said:
        known = [name for words, name in STAGES.items() if words in what]
        total = stages.setdefault(known[0] if known else what, [0.0, 0.0])
        total[0] += seconds
        total[1] += clock
    page = out / "report.html" if out.is_dir() else out
    return {
        "finished": done.returncode == 0,
        "seconds": round(sum(one[0] for one in stages.values()), 1),
        "clock": round(time.perf_counter() - begin, 1),
        "peak_mb": round(max((one[3] for one in said), default=0.0)),
        "folder_mb": round(size(out), 1) if out.is_dir() else None,
        "page_mb": round(page.stat().st_size / 1e6, 1) if page.exists() else None,
        "stages": {name: [round(one, 2) for one in both] for name, both in stages.items()},
    }


def commit_of(tree: Path) -> str:
    """Return the commit of a tree, with a plus where files differ from it."""
    said = ["git", "-C", str(tree), "describe", "--always", "--exclude=*", "--dirty=+"]
    return subprocess.run(said, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603


def seconds_to_open(page: Path) -> float | str:
    """Open a page in Chromium; return the seconds until it answers, if it does."""
    # Explorations, which are run in this file, do without.
    from playwright.sync_api import Error, sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        place = os.environ.get("SPHEREMIX_CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=place, args=["--no-sandbox"])
        opened = browser.new_page()
        begin = time.perf_counter()
        try:
            opened.goto(page.resolve().as_uri(), timeout=OPENS)
            opened.locator("body[data-ready]").wait_for(timeout=OPENS)
        except Error as error:  # it takes too long, or more memory than there is
            return f"does not open: {str(error).splitlines()[0]}"
        return round(time.perf_counter() - begin, 1)


def measure_case(case: str, trees: dict[str, Path], limit: int) -> dict:
    """Measure the commands of one case, the versions taking turns."""
    with tempfile.TemporaryDirectory() as folder:
        source = source_of(case, Path(folder))
        figures: dict[str, dict] = {}
        for name, options in CASES[case]:
            for version, tree in trees.items():
                found = measure(tree, source, Path(folder) / version, options, limit)
                found["commit"] = commit_of(tree)
                page = Path(folder) / version / "report.html"
                if version == "after" and found["finished"]:
                    found["opens"] = seconds_to_open(page)
                figures.setdefault(name, {})[version] = found
                print(case, name, version, json.dumps(found), flush=True)
    return figures


def measure_peers(case: str, limit: int) -> dict:
    """Measure scikit-learn's models on the documents of a case."""
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        source, page = source_of(case, Path(folder)), Path(folder) / "page.html"
        for name in ("NMF", "LDA"):
            options = {"peer": name, "k": PEERS[case]}
            found = {**measure(ROOT, source, page, options, limit), "stages": {}}
            print(case, name, json.dumps(found), flush=True)
            figures[f"{name}, {PEERS[case]} topics"] = {"scikit-learn": found}
    return figures


# The tables


def write_tables(figures: dict) -> None:
    """Write the tables."""
    lines = ["# From texts to the page", ""]
    lines += ["Made by `python benchmarks/time_to_report.py`, which says what is measured."]
    lines += [f"{machine()}, shared with other work: seconds are of the processor."]
    lines += ["What is not finished was stopped in the stage after the last one of its column.", ""]
    titles = ["case", "command", "version", "seconds", "clock", "peak MB", "folder MB", "page MB"]
    titles += ["opens, s"]
    lines += [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    rows = [
        (case, name, version, versions[version])
        for case in CASES
        for name, versions in figures.get(case, {}).items()
        for version in ("before", "after", "scikit-learn")
        if version in versions
    ]
    for case, name, version, one in rows:
        seconds = one["seconds"] if one["finished"] else f"> {one['seconds']}, not finished"
        page = "" if one["page_mb"] is None else one["page_mb"]
        folder = "" if one["folder_mb"] is None else one["folder_mb"]
        commit = f", {one['commit']}" if "commit" in one else ""
        cells = [case, name, f"{version}{commit}", seconds, one["clock"], f"{one['peak_mb']:,}"]
        cells += [folder, page, one.get("opens", "")]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    rows = [row for row in rows if row[2] == "after" and row[3]["stages"]]
    stages = list(dict.fromkeys(STAGES.values()))
    stages += sorted({stage for *_, one in rows for stage in one["stages"]} - set(stages))
    lines += ["", "Processor seconds by stage:", ""]
    heads = [f"{case}, {name}" for case, name, _, _ in rows]
    lines += [f"| stage | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for stage in stages:
        cells = [one["stages"].get(stage) for *_, one in rows]
        if any(cells):
            shown = ["" if cell is None else f"{cell[0]:.1f}" for cell in cells]
            lines.append(f"| {stage} | {' | '.join(shown)} |")
    TARGET.write_text("\n".join(lines) + "\n", "utf-8")


def draw_growth(figures: dict) -> None:
    """Draw seconds by stage and memory against the number of made-up texts."""
    known = [(n, figures[case]["first"]["after"]) for case, n in COUNTS.items() if case in figures]
    known = [(n, one) for n, one in known if one["finished"]]
    if len(known) < 2:
        return
    import matplotlib as mpl  # noqa: PLC0415 (explorations run in this file do not need it)
    from matplotlib.figure import Figure  # noqa: PLC0415

    mpl.rcParams |= {"svg.hashsalt": "spheremix", "font.size": 9}
    figure = Figure(figsize=(8.2, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[2, 1])
    sizes = [n for n, _ in known]
    for stage in [*dict.fromkeys(STAGES.values())][1:]:
        seconds = [one["stages"].get(stage, [0.0])[0] for _, one in known]
        left.plot(sizes, seconds, marker="o", markersize=3, label=stage)
    left.plot(sizes, [one["seconds"] for _, one in known], "k", marker="o", label="all")
    right.plot(sizes, [one["peak_mb"] for _, one in known], "k", marker="o", label="memory")
    right.plot(sizes, [one["folder_mb"] for _, one in known], marker="o", label="folder")
    right.plot(sizes, [one["page_mb"] for _, one in known], marker="o", label="page")
    for ax, what in ((left, "processor seconds"), (right, "megabytes")):
        ax.set(xscale="log", yscale="log", xlabel="documents", ylabel=what)
        ax.grid(alpha=0.3)
        ax.legend(fontsize=7, frameon=False)
    figure.savefig(PICTURE, metadata={"Date": None})


def main() -> None:
    """Measure, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help=f"of {', '.join(CASES)}")
    parser.add_argument("--before", type=Path, help="a checkout of the version before")
    parser.add_argument("--limit", type=int, default=3600, help="processor seconds of a command")
    parser.add_argument("--peers", action="store_true", help="measure scikit-learn, too")
    parser.add_argument("--explore", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        source, out, options = arguments.explore
        peer(source, out, arguments.peer, json.loads(options)["k"])
        return
    if arguments.explore:
        explore(*arguments.explore, arguments.limit)
        return
    if unknown := set(arguments.cases) - set(CASES):
        parser.error(f"not known: {', '.join(sorted(unknown))}")
    trees = {} if arguments.before is None else {"before": arguments.before}
    for case in arguments.cases or BY_DEFAULT:
        found = measure_case(case, {**trees, "after": ROOT}, arguments.limit)
        if arguments.peers and case in PEERS:
            found |= measure_peers(case, arguments.limit)
        figures = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {}
        for name, versions in found.items():
            figures.setdefault(case, {})[name] = versions
        FIGURES.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
        write_tables(figures)
        draw_growth(figures)


if __name__ == "__main__":
    main()
