"""How good the search for clusters is, and how far two seeds agree, against ten random starts.

Run as ``python benchmarks/search.py``; it needs the folder of real data, named by SPHEREMIX_DATA.
It writes ``benchmarks/results/search.json`` and, from it, the tables of ``search.md``. Cases such
as "bbc-5" run those and keep the others; ``--time`` measures seconds instead, and wants a quiet
machine. Work is counted in sweeps of K components: a sweep of 3K components counts as three, and
runs that share a sweep count each.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
import warnings
from unittest.mock import patch

import numpy as np
from scipy import sparse
from sets import LABELLED, SETS, Counted, load
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from timing import DATA, ROOT, machine

import spheremix as sm
from spheremix import em, search, seeding
from spheremix.bessel import concentration
from spheremix.distribution import MEAN_LENGTH_MAX
from spheremix.models.vmf import VMFModel
from spheremix.seeding import class_resultants

FIGURES = ROOT / "benchmarks" / "results" / "search.json"
TARGET = FIGURES.with_suffix(".md")
SEEDS = 10  # of the two defaults
PART_SEEDS = 3  # of single parts of the search
LONG = 20  # runs of the search that looks for the best likelihood known
RUNS = 5


# ------------------------------------------------------------------------------- ways of searching


def random_starts(rows, K, seed):
    return fitted(rows, sm.VMFMixture(K, init="random", n_init=10, random_state=seed))


def default(rows, K, seed):
    return fitted(rows, sm.VMFMixture(K, random_state=seed))


def long_search(rows, K, seed):
    return fitted(rows, sm.VMFMixture(K, n_init=LONG, random_state=seed))


def fitted(rows, mixture):
    mixture.fit(rows)
    return mixture.objective_ / rows.n_rows, mixture.labels_


def merged_only(rows, K, seed):
    """Merge, then EM."""
    with patch.object(search, "REFINEMENTS", 0):
        return merged_and_moved(rows, K, seed)


def merged_and_moved(rows, K, seed):
    """Merge, move rows by first variation, then EM: no crossings."""
    model = model_of(rows)
    found = [search.Search(model, rows).run([K], [one])[0][0] for one in seeds_of(seed)]
    return finished(model, rows, [one.resultants for one in found if one is not None])


def moved_only(rows, K, seed):
    """Move rows by first variation from random starts, then EM."""
    model = model_of(rows)
    starts = seeding.draw_starts(model, rows, K, seeds_of(seed))
    scorers = [model.scorer(start, "hard") for start in starts if start is not None]
    better = search.Search(model, rows).refined(rows.sweep(scorers))
    return finished(model, rows, [one.resultants for one in better if one is not None])


def finished(model, rows, partitions):
    """Return the best objective a row that EM reaches from partitions, and its clusters."""
    fits = em.fit(model, rows, [model.from_partition(one) for one in partitions], em.Settings())
    best = max((fit for fit in fits if fit.ok), key=lambda fit: fit.objective)
    labels = rows.map_rows(model.scorer(best.parameters), "labels")
    return best.objective / rows.n_rows, labels


def model_of(rows):
    d = rows.n_features
    return VMFModel(d, "shared", kappa_max=float(concentration(d, MEAN_LENGTH_MAX)))


def seeds_of(seed):
    return [int(one) for one in np.random.default_rng(seed).integers(2**31, size=RUNS)]


WAYS = {
    "ten random starts": (random_starts, SEEDS),
    "5 random, moved": (moved_only, PART_SEEDS),
    "5 merged": (merged_only, PART_SEEDS),
    "5 merged, moved": (merged_and_moved, PART_SEEDS),
    "default": (default, SEEDS),
    "20 runs": (long_search, 1),
}


def measure(X, K, labels):
    """Return for each way objectives a row, sweeps, agreement between seeds and with classes."""
    found = {}
    for name, (way, n_seeds) in WAYS.items():
        values, sweeps, partitions = [], [], []
        for seed in range(n_seeds):
            rows = Counted(X)
            value, partition = way(rows, K, seed)
            values.append(value)
            sweeps.append(rows.swept / K)
            partitions.append(partition)
        pairs = [
            adjusted_rand_score(one, other)
            for i, one in enumerate(partitions)
            for other in partitions[:i]
        ]
        found[name] = {
            "objectives": values,
            "sweeps": float(np.mean(sweeps)),
            "agreement": float(np.mean(pairs)) if pairs else None,
            "ari": None
            if labels is None
            else float(np.mean([adjusted_rand_score(labels, one) for one in partitions])),
        }
    return found


def measure_penalised(X):
    """Return gaps in the penalised objective a row: the search is done without the penalty."""
    found = {}
    for K, beta in ((4, 60.0), (8, 20.0)):
        ways = {
            name: [
                sm.VMFMixture(K, beta=beta, init=init, random_state=seed).fit(X).objective_
                for seed in range(SEEDS)
            ]
            for name, init in (("ten random starts", "random"), ("default", "merge"))
        }
        best = max(max(values) for values in ways.values())
        found[f"K = {K}, beta = {beta:g}"] = {
            name: (best - float(np.mean(values))) / X.shape[0] for name, values in ways.items()
        }
    return found


# ------------------------------------------------------------------------------ spherical k-means


def coherence(rows, labels, K):
    """Return the mean cosine of the rows to the prototypes of a partition."""
    sums = class_resultants(rows, labels, K).vectors
    return float(np.linalg.norm(sums, axis=1).sum() / rows.n_rows)


def kmeans_ways(X, K):
    """Return what finds clusters by cosines: name to a function of the seed, which gives labels."""
    ways = {
        "default": lambda seed: sm.SphericalKMeans(K, random_state=seed).fit(X).labels_,
        "ten random starts": lambda seed: (
            sm.SphericalKMeans(K, init="random", n_init=10, random_state=seed).fit(X).labels_
        ),
        "scikit-learn, best of 10": lambda seed: (
            KMeans(K, n_init=10, random_state=seed).fit(X).labels_
        ),
    }
    try:
        faiss = importlib.import_module("faiss")
    except ModuleNotFoundError:
        return ways

    def by_faiss(seed):
        dense = np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float32)
        options = {"niter": 100, "nredo": 10, "spherical": True, "seed": seed + 1}
        clusters = faiss.Kmeans(
            X.shape[1], K, max_points_per_centroid=len(dense), min_points_per_centroid=1, **options
        )
        clusters.train(dense)
        return clusters.index.search(dense, 1)[1].ravel()

    if X.shape[0] * X.shape[1] < 2**25:
        ways["faiss, best of 10"] = by_faiss
    return ways


def measure_kmeans(X, K):
    rows = sm.as_directions(X)
    return {
        name: float(np.mean([coherence(rows, way(seed), K) for seed in range(PART_SEEDS)]))
        for name, way in kmeans_ways(X, K).items()
    }


# ------------------------------------------------------------------------------------------- time


def timed(X, K, rounds=3):
    """Return the least seconds of a whole fit over rounds with other seeds, ways taking turns."""
    ways = {
        "ten random starts": lambda seed: random_starts(Counted(X), K, seed),
        "default": lambda seed: default(Counted(X), K, seed),
    }
    ways |= {f"k-means: {name}": way for name, way in kmeans_ways(X, K).items()}
    took = {name: [] for name in ways}
    for seed in range(rounds):
        for name, way in ways.items():
            begin = time.perf_counter()
            way(seed)
            took[name].append(time.perf_counter() - begin)
    return {name: float(np.mean(each)) for name, each in took.items()}


# ----------------------------------------------------------------------------------------- tables


def gaps(found):
    """Return the mean gap in nats a row of each way to the best objective of them all."""
    best = max(max(way["objectives"]) for way in found.values())
    return {name: best - float(np.mean(way["objectives"])) for name, way in found.items()}


def table(figures):
    shown = [name for name in WAYS if name != "20 runs"]
    lines = ["Gap in nats a row to the best likelihood seen:", ""]
    lines += [f"| set, K | {' | '.join(shown)} |", "|---" * (len(shown) + 1) + "|"]
    for case, one in figures.items():
        each = gaps(one["mixture"])
        lines.append(f"| {case} | {' | '.join(f'{each[name]:.3f}' for name in shown)} |")
    lines += ["", "Ten random starts, then the default of today:", ""]
    lines += [
        "| set, K | agreement of seeds | ARI with classes | sweeps | seconds |",
        "|---" * 5 + "|",
    ]
    for case, one in figures.items():
        old, new = one["mixture"]["ten random starts"], one["mixture"]["default"]
        took = one.get("seconds")
        cells = [
            f"{old['agreement']:.3f}, {new['agreement']:.3f}",
            "" if old["ari"] is None else f"{old['ari']:.3f}, {new['ari']:.3f}",
            f"{old['sweeps']:.0f}, {new['sweeps']:.0f}",
            f"{took['ten random starts']:.2f}, {took['default']:.2f}" if took else "",
        ]
        lines.append(f"| {case} | {' | '.join(cells)} |")
    penalised = next((one["penalised"] for one in figures.values() if "penalised" in one), {})
    if penalised:
        lines += [
            "",
            "Penalised mixtures of cstr, gap in nats a row to the best objective seen:",
            "",
        ]
        lines += ["| case | ten random starts | default |", "|---|---|---|"]
        for case, one in penalised.items():
            lines.append(f"| {case} | {one['ten random starts']:.3f} | {one['default']:.3f} |")
    names = ["default", "ten random starts", "scikit-learn, best of 10", "faiss, best of 10"]
    lines += [
        "",
        "Mean coherence of spherical k-means (mean cosine to the prototypes) and seconds:",
    ]
    lines += ["", f"| set, K | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for case, one in figures.items():
        found, took = one.get("kmeans", {}), one.get("seconds", {})
        cells = []
        for name in names:
            cell = f"{found[name]:.5f}" if name in found else ""
            seconds = took.get(f"k-means: {name}")
            cells.append(cell + (f" ({seconds:.2f} s)" if seconds else ""))
        lines.append(f"| {case} | {' | '.join(cells)} |")
    return lines


def write(figures, notes):
    order = [f"{name}, {K}" for name, (_, Ks) in SETS.items() for K in Ks]
    figures = {case: figures[case] for case in order if case in figures}
    FIGURES.write_text(json.dumps({"notes": notes, "figures": figures}, indent=1) + "\n")
    lines = table(figures)
    lines += ["", *notes.values()]
    TARGET.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help='such as "bbc-5"; all of them by default')
    parser.add_argument("--time", action="store_true", help="measure seconds, on a quiet machine")
    options = parser.parse_args()
    if not DATA.exists():
        sys.exit(f"no {DATA}: set SPHEREMIX_DATA to the folder of real data")
    warnings.simplefilter("ignore")
    known = json.loads(FIGURES.read_text()) if FIGURES.exists() else {"notes": {}, "figures": {}}
    figures, notes = known["figures"], known["notes"]
    if options.time:
        notes["time"] = f"Seconds are means of three seeds on {machine()}."
    else:
        notes["work"] = (
            f"Means of {SEEDS} seeds (single parts and k-means: {PART_SEEDS}); the best likelihood "
            f"is of all of them and of one search of {LONG} runs. A sweep is one of K components. "
            "`python benchmarks/search.py`"
        )
    for name, (_, Ks) in SETS.items():
        wanted = [K for K in Ks if not options.cases or f"{name}-{K}" in options.cases]
        if not wanted:
            continue
        X, labels = load(name)
        for K in wanted:
            case = figures.setdefault(f"{name}, {K}", {})
            if options.time:
                case["seconds"] = timed(X, K)
            else:
                if (name, K) == ("cstr", 4):
                    case["penalised"] = measure_penalised(X)
                case["mixture"] = measure(X, K, labels if name in LABELLED else None)
                case["kmeans"] = measure_kmeans(X, K)
            write(figures, notes)
            print(f"{name}, {K}", flush=True)
    sys.stdout.write(TARGET.read_text())


if __name__ == "__main__":
    main()
