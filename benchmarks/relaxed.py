"""What a relaxed path chooses and costs, against the plain one.

Run as ``python benchmarks/relaxed.py``; it needs the folder of real data, named by SPHEREMIX_DATA.
It writes ``benchmarks/results/relaxed.json`` and, from it, the tables of ``relaxed.md``. Names of
sets, such as "bbc", run those and keep the others. Both paths start from the same dense mixture,
fitted to four fifths of the rows, and have one thread; the other rows are held out. Work is counted
in sweeps and in seconds of the process.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
from scipy.optimize import linear_sum_assignment
from sets import Counted, load
from timing import ROOT, machine

import spheremix as sm

FIGURES = ROOT / "benchmarks" / "results" / "relaxed.json"
TARGET = FIGURES.with_suffix(".md")
REAL = {"bbc": 5, "cstr": 4, "classic3": 3, "docstrings": 10}
INCREASE = 0.01
DRAWS = 20
# Rows, columns, components, share of zeros.
SIMULATIONS = {"simulation, d = 50": (1000, 50, 4, 0.7), "simulation, d = 200": (1000, 200, 4, 0.9)}
KINDS = ("plain", "refitted", "relaxed")


def compare(X, held_out, K, truth=None):
    """Follow both paths from one dense mixture; give the figures of the three mixtures."""
    rows = Counted(X)
    rows.n_threads = rows._rows.n_threads = 1  # noqa: SLF001
    dense = sm.VMFMixture(K, random_state=0).fit(rows)
    paths, found = {}, {}
    for kind in ("plain", "relaxed"):
        rows.swept, begin = 0, time.process_time()
        path = sm.VMFPath(
            K, init=dense, min_relative_increase=INCREASE, relaxed=kind == "relaxed"
        ).fit(rows)
        seconds = time.process_time() - begin
        found[kind] = {"sweeps": rows.swept / K, "seconds": seconds, "steps": len(path.betas_)}
        paths[kind] = path
    plain, relaxed = paths["plain"], paths["relaxed"]
    models = {
        "plain": plain.best_estimator_,
        "refitted": relaxed.model(plain.selected_),
        "relaxed": relaxed.best_estimator_,
    }
    for kind, model in models.items():
        found.setdefault(kind, {}).update(
            words=int(np.count_nonzero(model.prototypes_)),
            bic=model.criteria_["bic"],
            held_out=float(model.score(held_out)),
            **({} if truth is None else recovered(model.prototypes_, truth)),
        )
    return found


def recovered(prototypes, truth):
    """Return precision and recall of the planted zeros, components matched by their cosines."""
    match = linear_sum_assignment(prototypes @ truth.T, maximize=True)[1]
    zeros, planted = prototypes == 0, truth[match] == 0
    right = np.count_nonzero(zeros & planted)
    return {
        "precision": right / max(np.count_nonzero(zeros), 1),
        "recall": right / np.count_nonzero(planted),
    }


def real(name):
    X, _ = load(name)
    order = np.random.default_rng(0).permutation(X.shape[0])
    cut = X.shape[0] * 4 // 5
    return compare(X[np.sort(order[:cut])], X[np.sort(order[cut:])], REAL[name])


def simulated(name):
    n, d, K, sparsity = SIMULATIONS[name]
    all_found = []
    for seed in range(DRAWS):
        X, _, truth = sm.datasets.make_vmf_mixture(
            2 * n, d, K, overlap=0.05, sparsity=sparsity, random_state=seed
        )
        all_found.append(compare(X[:n], X[n:], K, truth.prototypes))
    return {
        kind: {key: float(np.mean([one[kind][key] for one in all_found])) for key in values}
        for kind, values in all_found[0].items()
    }


# ------------------------------------------------------------------------------------- the tables


def tables(found):
    lines = [
        "Chosen by BIC: by the plain path, this step fitted again on its support (`refit=True`),",
        "and by the relaxed path. Words are the non-zero coordinates of all prototypes. BIC and",
        "the log-likelihood per held-out row are differences to the plain path:",
        "",
        "| set, K | words | BIC | held out |",
        "|---|---|---|---|",
    ]
    for name, one in found.items():
        plain = one["plain"]
        words = ", ".join(f"{one[kind]['words']:,.0f}" for kind in KINDS)
        bic = ", ".join(f"{one[kind]['bic'] - plain['bic']:+,.0f}" for kind in KINDS[1:])
        held = ", ".join(f"{one[kind]['held_out'] - plain['held_out']:+.3f}" for kind in KINDS[1:])
        lines.append(f"| {label(name)} | {words} | {bic} | {held} |")
    lines += [
        "",
        f"Planted zeros found by the plain and the relaxed path, means of {DRAWS} simulations:",
        "",
        "| set, K | precision | recall |",
        "|---|---|---|",
    ]
    for name in SIMULATIONS:
        one = found.get(name)
        if one is not None:
            lines.append(
                f"| {label(name)} | "
                + " | ".join(
                    f"{one['plain'][what]:.3f}, {one['relaxed'][what]:.3f}"
                    for what in ("precision", "recall")
                )
                + " |"
            )
    lines += [
        "",
        "Cost of the plain path, and of the path with its refits:",
        "",
        "| set, K | steps | sweeps | seconds of the process | ratio of seconds |",
        "|---|---|---|---|---|",
    ]
    for name, one in found.items():
        plain, relaxed = one["plain"], one["relaxed"]
        lines.append(
            f"| {label(name)} | {plain['steps']:,.0f} | {plain['sweeps']:,.0f}, "
            f"{relaxed['sweeps']:,.0f} | {plain['seconds']:.2f}, {relaxed['seconds']:.2f} | "
            f"{relaxed['seconds'] / plain['seconds']:.2f} |"
        )
    return "\n".join(lines) + "\n"


def label(name):
    return f"{name}, {REAL[name] if name in REAL else SIMULATIONS[name][2]}"


def main():
    asked = sys.argv[1:] or [*REAL, *SIMULATIONS]
    known = json.loads(FIGURES.read_text()) if FIGURES.exists() else {"sets": {}}
    for name in asked:
        known["sets"][name] = real(name) if name in REAL else simulated(name)
        known["machine"] = machine()
        order = [one for one in (*REAL, *SIMULATIONS) if one in known["sets"]]
        known["sets"] = {one: known["sets"][one] for one in order}
        FIGURES.write_text(json.dumps(known, indent=1) + "\n")
        print(name, known["sets"][name], flush=True)
    text = tables(known["sets"])
    TARGET.write_text(f"{text}\n{known['machine']}, one thread.\n")


if __name__ == "__main__":
    main()
