"""The map of documents and the counting of words, before and after a change, taking turns.

Run as ``python benchmarks/map_time.py --before TREE``; TREE is a checkout of an earlier version
with its kernels built. It needs the folder of real data, named by SPHEREMIX_DATA, and writes
``benchmarks/results/map_time.json`` and, from it, ``map_time.md``; named cases are measured again,
and the others kept. Both versions get the same rows, groups and texts, one thread unless said, and
a process of their own. Seconds are those of the processor; memory is the largest that the process
had, less what it had before the work began.

Neighbours kept: share of the 10 (100) rows of largest cosine that are among the 10 (100) nearest
points of the map, mean over 1,000 rows. Same group: share of the 10 nearest points that are of the
group of the point. Moved: the median distance of a document between the maps of the two numbers of
groups, as a share of the width of the map. "Rows alone" is the map that no number of groups
changes.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from layout import load_rows, neighbours_kept
from scipy import sparse
from short_texts import made_up_texts, short_texts
from sklearn.metrics import silhouette_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize
from timing import ROOT, machine

FIGURES = ROOT / "benchmarks" / "results" / "map_time.json"
TARGET = FIGURES.with_suffix(".md")
# Cases, and two numbers of groups. The map was designed on the first three.
MAPS = {
    "bbc": (5, 10),
    "filings": (10, 30),
    "searchsnippets": (8, 16),
    "stackoverflow": (10, 20),
    "banking77": (20, 77),
    "embeddings": (5, 8),
}
LARGE = {"200,000 texts": 28, "1,000,000 texts": 28}  # what was before takes many minutes
COUNTS = {"200,000 texts": 200_000, "1,000,000 texts": 1_000_000}


def rows_of(case):
    """Return unit rows without empty ones."""
    from spheremix.text import TextVectorizer  # noqa: PLC0415

    if case in {"bbc", "filings", "embeddings"}:
        return load_rows(case)
    texts = made_up_texts(COUNTS[case]) if case in COUNTS else short_texts(case)[0]
    X = sparse.csr_array(TextVectorizer().fit_transform(texts))
    return sparse.csr_array(normalize(X[np.flatnonzero(X.count_nonzero(axis=1))]))


def memory():
    """Return the megabytes that this process has had at most; Linux tells."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 2**10


def place(given):
    """Return positions for each number of groups, and what they cost; in a process of its own."""
    from spheremix.reading import document_map, document_positions  # noqa: PLC0415

    X, groups, n_threads = given
    before, begin, clock = memory(), time.process_time(), time.perf_counter()
    found = {}
    if hasattr(document_map, "DocumentMap"):
        made = document_map.DocumentMap(X, n_threads=n_threads)
        alone = made.positions()
        seconds = [time.process_time() - begin]
        found["rows alone"] = alone
        for K, labels in groups.items():
            found[K] = made.islands(alone, labels)
            seconds.append(time.process_time() - begin)
    else:
        seconds = []
        for K, labels in groups.items():
            found[K] = document_positions(X, labels)
            seconds.append(time.process_time() - begin)
    cost = np.diff([0.0, *seconds]).tolist()
    return found, cost, time.perf_counter() - clock, memory() - before


def count(texts):
    """Return a checksum of the rows of texts, and what they cost; in a process of its own."""
    import hashlib  # noqa: PLC0415

    from spheremix.text import TextVectorizer  # noqa: PLC0415

    before, begin, clock = memory(), time.process_time(), time.perf_counter()
    vectorizer = TextVectorizer()
    X = vectorizer.fit_transform(texts)
    seconds, clock = time.process_time() - begin, time.perf_counter() - clock
    total = hashlib.sha256("\n".join(vectorizer.vocabulary_).encode())
    for part in (X.data, X.indices, X.indptr):
        total.update(part.tobytes())
    return total.hexdigest(), seconds, clock, memory() - before


def alone(tree, work, given):
    """Do work with the version of a tree, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "given", Path(folder) / "found"
        source.write_bytes(pickle.dumps(given))
        command = [sys.executable, __file__, "--work", work, str(source), str(target)]
        environment = {**os.environ, "PYTHONPATH": str(Path(tree).resolve() / "src")}
        subprocess.run(command, check=True, env=environment)  # noqa: S603
        return pickle.loads(target.read_bytes())  # noqa: S301 (written above)


def judge(X, groups, found):
    """Return how good maps are."""
    figures = {}
    for name, positions in found.items():
        kept = neighbours_kept(X, positions)
        near = NearestNeighbors(n_neighbors=10).fit(positions).kneighbors(return_distance=False)
        one = {"kept_10": round(float(kept[0]), 3), "kept_100": round(float(kept[1]), 3)}
        for K, labels in groups.items():
            if name in {K, "rows alone"}:
                same = float((labels[near] == labels[:, None]).mean())
                apart = silhouette_score(
                    positions, labels, sample_size=min(3000, len(labels)), random_state=0
                )
                one[f"same_{K}"] = round(same, 3)
                one[f"silhouette_{K}"] = round(float(apart), 3)
        figures[str(name)] = one
    maps = [positions for name, positions in found.items() if name != "rows alone"]
    if len(maps) > 1:
        moved = np.linalg.norm(maps[0] - maps[1], axis=1)
        figures["moved"] = round(float(np.median(moved)), 3)
    return figures


def measure_map(case, trees, n_threads):
    """Measure the maps of one case, the versions taking turns."""
    import spheremix as sm  # noqa: PLC0415

    X = rows_of(case)
    numbers = MAPS.get(case) or (LARGE[case],)
    fit = lambda K: sm.VMFMixture(K, n_init=1, random_state=0, n_threads=1).fit(X)  # noqa: E731
    groups = {K: fit(K).labels_ for K in numbers}
    figures = {"n": X.shape[0]}
    for version, tree in trees.items():
        found, cost, clock, megabytes = alone(tree, "place", (X, groups, n_threads))
        figures[version] = {
            **judge(X, groups, found),
            "seconds": [round(one, 1) for one in cost],
            "clock": round(clock, 1),
            "megabytes": round(megabytes),
        }
    return figures


def measure_count(case, trees):
    """Measure the counting of one case, the versions taking turns, the least of two rounds."""
    texts = made_up_texts(COUNTS[case])
    rounds = [{name: alone(tree, "count", texts) for name, tree in trees.items()} for _ in range(2)]
    figures = {"n": len(texts), "same": len({r[name][0] for r in rounds for name in trees}) == 1}
    for name in trees:
        best = min((one[name] for one in rounds), key=lambda one: one[1])
        figures[name] = [round(best[1], 1), round(best[2], 1), round(best[3])]
    return figures


def write_tables(figures):
    """Write the tables."""
    lines = ["# Maps of documents and counts of words, before and after", ""]
    lines += ["Made by `python benchmarks/map_time.py`, which says what is measured."]
    lines += [f"{machine()}, shared with other work: seconds are of the processor.", ""]
    titles = ["case", "documents", "map", "kept of 10", "kept of 100", "same group", "silhouette"]
    titles += ["moved", "CPU seconds", "MB"]
    lines += [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    for case in [*MAPS, *LARGE]:
        found = figures.get(f"map {case}")
        if found is None:
            continue
        numbers = MAPS.get(case) or (LARGE[case],)
        for version in ("before", "after"):
            one = found.get(version)
            if one is None:
                continue
            names = [name for name in ("rows alone", *map(str, numbers)) if name in one]
            for name, seconds in zip(names, one["seconds"], strict=True):
                quality = one[name]
                shown = numbers if name == "rows alone" else (name,)
                same = " / ".join(str(quality[f"same_{K}"]) for K in shown)
                apart = " / ".join(str(quality[f"silhouette_{K}"]) for K in shown)
                last = name == str(numbers[-1])
                called = name if name == "rows alone" else f"{name} groups"
                lines.append(
                    f"| {case} | {found['n']:,} | {version}, {called} | {quality['kept_10']} "
                    f"| {quality['kept_100']} | {same} | {apart} "
                    f"| {one.get('moved', '') if last else ''} | {seconds} "
                    f"| {one['megabytes'] if last else ''} |"
                )
    lines += [
        "",
        "After, seconds of groups come on top of those of the rows alone, which are spent once.",
        "",
        "| counting | version | CPU seconds | clock | MB | same bits |",
        "|---|---|---|---|---|---|",
    ]
    for case in COUNTS:
        found = figures.get(f"count {case}", {})
        for version in ("before", "after"):
            if version in found:
                seconds, clock, megabytes = found[version]
                same = "yes" if found["same"] else "no"
                lines.append(f"| {case} | {version} | {seconds} | {clock} | {megabytes} | {same} |")
    TARGET.write_text("\n".join(lines) + "\n", "utf-8")


def main():
    """Measure, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help="such as 'map bbc' or 'count 200,000 texts'")
    parser.add_argument("--before", help="a checkout of the version before")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work, source, target = arguments.work
        given = pickle.loads(Path(source).read_bytes())  # noqa: S301 (written by the parent)
        Path(target).write_bytes(pickle.dumps({"place": place, "count": count}[work](given)))
        return
    if arguments.before is None:
        parser.error("--before is needed")
    trees = {"before": arguments.before, "after": ROOT}
    figures = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {}
    everything = [f"map {case}" for case in [*MAPS, *LARGE]] + [f"count {case}" for case in COUNTS]
    for name in arguments.cases or everything:
        kind, case = name.split(" ", 1)
        if kind == "count":
            figures[name] = measure_count(case, trees)
        else:
            only = {"after": ROOT} if case in LARGE else trees
            figures[name] = measure_map(case, only, arguments.threads)
        print(name, figures[name], flush=True)
        FIGURES.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
        write_tables(figures)


if __name__ == "__main__":
    main()
