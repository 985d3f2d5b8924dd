"""How well maps of documents keep neighbours, ours and those of other libraries, and their cost.

Run as ``python benchmarks/layout.py`` (cases such as "bbc" and ``--methods ours`` run those and
keep the others); it needs the folder of real data, named by SPHEREMIX_DATA, and openTSNE,
umap-learn and PaCMAP where they are to be compared. It writes ``benchmarks/results/layout.json``
and, from it, ``layout.md``. All methods get the same rows, one thread and a process of their own;
ours alone knows the groups, and takes 100 leading coordinates of the rows where others get 50.

Neighbours kept: share of the 10 (100) rows of largest cosine that are among the 10 (100) nearest
points of the map, mean over 1,000 rows. Same group: share of the 10 nearest points that are of the
group of the point. Seconds are those of the CPU, from rows to positions; memory is the largest that
the process had, with what the library and the rows need.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import subprocess
import sys
import time
import warnings
from importlib import import_module, metadata

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize
from timing import DATA, ROOT, machine

import spheremix as sm
from spheremix.reading import document_positions
from spheremix.reading.document_map import leading_coordinates
from spheremix.text import TextVectorizer

FIGURES = ROOT / "benchmarks" / "results" / "layout.json"
TARGET = FIGURES.with_suffix(".md")
CASES = {"bbc": 10, "embeddings": 8, "filings": 30, "filings-100k": 30}  # and groups
LIBRARIES = {"openTSNE": "openTSNE", "UMAP": "umap-learn", "PaCMAP": "pacmap"}
METHODS = ("ours", *LIBRARIES, "scikit-learn t-SNE", "two principal components")
COORDINATES = 50  # that the other libraries get, as their authors advise
MEASURED = 1000  # rows whose neighbours are compared
MANY = 100_000


def load_rows(case):
    """Return unit rows."""
    if case == "embeddings":
        return normalize(np.load(DATA / "minilm_bbc" / "embeddings.npy").astype(np.float64))
    folder = "bbc_news" if case == "bbc" else "sec8k_stanford"
    with gzip.open(DATA / folder / "docs.jsonl.gz", "rt") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    X = sparse.csr_array(TextVectorizer().fit_transform(texts))
    X = X[np.flatnonzero(X.count_nonzero(axis=1))]
    if case == "filings-100k":  # copies that each keep 70 per cent of the words of a filing
        rng = np.random.default_rng(0)
        copies = []
        for _ in range(-(-MANY // X.shape[0])):
            copy = X.copy()
            copy.data *= rng.random(copy.nnz) < 0.7
            copy.eliminate_zeros()
            copies.append(copy)
        X = sparse.csr_array(sparse.vstack(copies, format="csr"))
        X = X[np.flatnonzero(X.count_nonzero(axis=1))][:MANY]
    return sparse.csr_array(normalize(X))


def place(method, X, groups):
    """Return positions in the plane."""
    if method == "ours":
        return document_positions(X, groups, n_threads=1)
    if method == "two principal components":
        return leading_coordinates(X, 3)[:, 1:]  # the first one is the mean
    Z = normalize(leading_coordinates(X, COORDINATES)).astype(np.float32)
    if method == "openTSNE":
        return np.asarray(import_module("openTSNE").TSNE(random_state=0, n_jobs=1).fit(Z))
    if method == "UMAP":
        return import_module("umap").UMAP(random_state=0, n_jobs=1).fit_transform(Z)
    if method == "PaCMAP":
        return import_module("pacmap").PaCMAP(random_state=0).fit_transform(Z)
    return import_module("sklearn.manifold").TSNE(random_state=0, n_jobs=1).fit_transform(Z)


def neighbours_kept(X, positions, sizes=(10, 100)):
    """Compare the rows of largest cosine with the nearest points."""
    rows = np.sort(np.random.default_rng(1).permutation(len(positions))[:MEASURED])
    most = max(sizes)
    kept = np.zeros(len(sizes))
    near = NearestNeighbors(n_neighbors=most + 1).fit(positions)
    for start in range(0, len(rows), 100):
        part = rows[start : start + 100]
        cosines = X[part] @ X.T
        cosines = np.asarray(cosines.todense() if sparse.issparse(cosines) else cosines)
        cosines[np.arange(len(part)), part] = -np.inf
        first = np.argpartition(-cosines, most, axis=1)[:, :most]
        order = np.argsort(-np.take_along_axis(cosines, first, axis=1), axis=1, kind="stable")
        alike = np.take_along_axis(first, order, axis=1)
        found = near.kneighbors(positions[part], return_distance=False)
        for own, like, beside in zip(part, alike, found, strict=True):
            others = [i for i in beside.tolist() if i != own]
            for j, size in enumerate(sizes):
                kept[j] += len({*like[:size].tolist()} & {*others[:size]}) / size
    return kept / len(rows)


def measure(case, method):
    """Measure one method on one case, in this process."""
    X = load_rows(case)
    groups = sm.VMFMixture(CASES[case], n_init=1, random_state=0, n_threads=1).fit(X).labels_
    before = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        positions = np.asarray(place(method, X, groups), dtype=np.float64)
    seconds = time.process_time() - before
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    kept = neighbours_kept(X, positions)
    near = NearestNeighbors(n_neighbors=10).fit(positions).kneighbors(return_distance=False)
    return {
        "n": len(positions),
        "kept_10": round(float(kept[0]), 3),
        "kept_100": round(float(kept[1]), 3),
        "same_group": round(float((groups[near] == groups[:, None]).mean()), 3),
        "seconds": round(seconds, 1),
        "megabytes": round(memory),
        "version": metadata.version(LIBRARIES[method]) if method in LIBRARIES else None,
    }


def write_tables(figures):
    """Write the tables."""
    sizes = (
        "openTSNE adds 13 MB to what spheremix needs anyway, UMAP 210 MB and PaCMAP 274 MB, most "
        "of it numba and its compiler, and faiss; ours and scikit-learn's add nothing."
    )
    lines = [
        "# Maps of documents",
        "",
        "Made by `python benchmarks/layout.py`, which says what is measured. " + machine() + ".",
        "",
        sizes,
    ]
    for case, n_groups in CASES.items():
        found = {method: figures[case][method] for method in METHODS if method in figures[case]}
        if not found:
            continue
        n = next(iter(found.values()))["n"]
        lines += [
            "",
            f"## {case}: {n:,} documents, {n_groups} groups",
            "",
            "| method | kept of 10 | kept of 100 | same group | CPU seconds | MB |",
            "|---|---|---|---|---|---|",
        ]
        for method, one in found.items():
            name = f"{method} {one['version']}" if one["version"] else method
            cells = [one[key] for key in ("kept_10", "kept_100", "same_group", "seconds")]
            lines.append(f"| {name} | {' | '.join(map(str, cells))} | {one['megabytes']:,} |")
    TARGET.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--here", action="store_true", help="measure one, and print it")
    options = parser.parse_args()
    if options.here:
        print(json.dumps(measure(options.cases[0], options.methods[0])))
        return
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    for case in options.cases:
        for method in options.methods:
            command = [sys.executable, __file__, case, "--here", "--methods", method]
            done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
            if done.returncode:
                print(case, method, done.stderr.strip().splitlines()[-1:])
                continue
            found = json.loads(done.stdout.strip().splitlines()[-1])
            print(case, method, found, flush=True)
            figures.setdefault(case, {})[method] = found
            FIGURES.write_text(json.dumps(figures, indent=1) + "\n")
    write_tables({case: figures.get(case, {}) for case in CASES})


if __name__ == "__main__":
    main()
