"""What a tree of clusters gives and costs, against a fit for each number of clusters.

Run as ``python benchmarks/tree.py``; it needs the folder of real data, named by SPHEREMIX_DATA. It
writes ``benchmarks/results/tree.json`` and, from it, ``tree.md``. Parts such as "cuts-bbc" run
those and keep the others. Work is counted in components times sweeps; seconds are those of the
process, on one thread.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
import time
import warnings

import numpy as np
from sets import Counted, load
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score
from timing import DATA, ROOT, machine

import spheremix as sm
from spheremix import hierarchy
from spheremix.estimators.cluster_tree import tree_inside
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.problem import build_problem
from spheremix.seeding import class_resultants

FIGURES = ROOT / "benchmarks" / "results" / "tree.json"
TARGET = FIGURES.with_suffix(".md")
LEAVES = 40
NUMBERS = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 40)
SMALL = tuple(range(2, 14))
LEVELS = {"bbc": ((5, 20), (5, 12), (3, 8, 20)), "20 newsgroups": ((6, 20), (7, 20))}
# alt, comp, misc, rec, sci, soc, talk, in the order of the newsgroups' names.
GROUPS = np.repeat(np.arange(7), [1, 5, 1, 4, 4, 1, 4])
RUN = range(2, 21)  # numbers of clusters that a run tries
SEED = 0


@functools.cache
def setting(name):
    """Return rows that count, on one thread, and their classes."""
    X, classes = load(name)
    rows = Counted(X)
    inner = sm.as_directions(X, n_threads=1)
    rows._rows, rows.n_threads = inner, 1  # noqa: SLF001
    rows.map_rows, rows.take = inner.map_rows, inner.take
    return rows, classes


def measured(rows, job):
    """Do a job; give its result, the components it swept and its seconds."""
    swept, begin = rows.swept, time.process_time()
    found = job()
    return found, rows.swept - swept, time.process_time() - begin


@functools.cache
def planted(name):
    rows, _ = setting(name)
    return measured(rows, lambda: sm.VMFTree(LEAVES, random_state=SEED).fit(rows))


@functools.cache
def alone(name, K):
    rows, _ = setting(name)
    return measured(rows, lambda: sm.VMFMixture(K, random_state=SEED).fit(rows))


def figures_of(name, mixture):
    rows, classes = setting(name)
    return {
        "nats": mixture.log_likelihood_ / rows.n_rows,
        "ari": float(adjusted_rand_score(classes, mixture.labels_)),
    }


def cuts(name, numbers=NUMBERS):
    """Compare each cut with the default search for that number of clusters alone, and costs."""
    rows, _ = setting(name)
    tree, tree_swept, tree_took = planted.__wrapped__(name)  # one that has no cuts yet
    mixtures, cuts_swept, cuts_took = measured(rows, lambda: tree.cuts(numbers))
    each = {K: alone(name, K) for K in numbers}
    return {
        "cuts": {K: figures_of(name, one) for K, one in zip(numbers, mixtures, strict=True)},
        "alone": {K: figures_of(name, one[0]) for K, one in each.items()},
        "swept": [tree_swept, cuts_swept, sum(one[1] for one in each.values())],
        "seconds": [tree_took, cuts_took, sum(one[2] for one in each.values())],
        "guess": tree.n_clusters_,
    }


def levels(name):
    """Compare nested levels with free cuts and with the default search."""
    rows, classes = setting(name)
    tree = planted(name)[0]
    found = {}
    for numbers in LEVELS[name]:
        tree.cuts(numbers)
        nested, swept, took = measured(rows, lambda n=numbers: tree.cut(levels=n))
        found[", ".join(map(str, numbers))] = {
            "levels": {
                K: {
                    "nested": figures_of(name, nested[K]),
                    "raw": {"ari": float(adjusted_rand_score(classes, raw_labels(tree, K, rows)))},
                    "cut": figures_of(name, tree.cut(K)),
                    "alone": figures_of(name, alone(name, K)[0]),
                }
                for K in numbers
            },
            "swept": swept,
            "seconds": took,
        }
    return found


def inside(name, K, leaves):
    """Measure the tree of a run over K clusters: its cost, and how good its fine groups are."""
    rows, classes = setting(name)
    chosen = alone(name, K)[0]
    problem = build_problem(MixtureOptions.of(sm.VMFMixture(1)), rows, None)
    job = functools.partial(tree_inside, problem, chosen.labels_, leaves, SEED)
    found, swept, took = measured(rows, job)
    fits = [alone(name, number) for number in RUN]
    free = class_resultants(rows, alone(name, leaves)[0].labels_, leaves)
    best = hierarchy.build(problem.model, free).values[-1]
    return {
        "clusters": K,
        "leaves": leaves,
        "swept": [swept, sum(one[1] for one in fits)],
        "seconds": [took, sum(one[2] for one in fits)],
        "nats": (found.hierarchy.values[-1] - best) / rows.n_rows,
        "ari": float(adjusted_rand_score(classes, found.leaves)),
        "free": figures_of(name, alone(name, leaves)[0])["ari"],
    }


def raw_labels(tree, K, rows):
    """Return the tree's own clusters, merged and not refined."""
    leaves = rows.map_rows(tree.cut(tree.n_leaves_).scorer_, "labels")
    return tree.hierarchy_.nodes_of(K)[1][leaves]


def groups(name="20 newsgroups"):
    """Compare coarse clusters of 20 newsgroups with the first part of their names."""
    rows, codes = setting(name)
    classes = GROUPS[codes - 1]
    joined = np.where(classes == 5, 0, classes)  # alt and soc, both on religion
    tree = planted(name)[0]
    leaves = tree.cut(tree.n_leaves_)
    found = {}
    for K, truth in ((6, joined), (7, classes)):
        ward = AgglomerativeClustering(K, linkage="ward").fit_predict(leaves.prototypes_)
        average = AgglomerativeClustering(K, metric="cosine", linkage="average")
        partitions = {
            "the tree, merged only": raw_labels(tree, K, rows),
            "cut": tree.cut(K).labels_,
            f"nested with 20 (K = {K}, 20)": tree.cut(levels=[K, 20]).labels[0],
            "Ward on the 40 prototypes": ward[leaves.labels_],
            "average linkage on the 40 prototypes (cosine)": average.fit_predict(
                leaves.prototypes_
            )[leaves.labels_],
            "default fit": alone(name, K)[0].labels_,
        }
        found[K] = {way: float(adjusted_rand_score(truth, one)) for way, one in partitions.items()}
    return found


PARTS = {
    "cuts-bbc": lambda: cuts("bbc"),
    "cuts-sec8k": lambda: cuts("sec8k"),
    "small-bbc": lambda: cuts("bbc", SMALL),
    "small-sec8k": lambda: cuts("sec8k", SMALL),
    "cuts-20 newsgroups": lambda: cuts("20 newsgroups"),
    "levels-bbc": lambda: levels("bbc"),
    "levels-20 newsgroups": lambda: levels("20 newsgroups"),
    "groups": groups,
    "inside-bbc": lambda: inside("bbc", 5, 16),
    "inside-sec8k": lambda: inside("sec8k", 13, 26),
}


# ----------------------------------------------------------------------------------------- tables


def both(one):
    return f"{one['nats']:.1f}, {one['ari']:.3f}" if "nats" in one else f"{one['ari']:.3f}"


def cuts_table(figures):
    for part in ("cuts-bbc", "cuts-20 newsgroups"):
        if part not in figures:
            continue
        one, name = figures[part], part.partition("-")[2]
        yield f"Cuts of one tree on {name}, minus a fit with the default search for that K alone:"
        yield ""
        yield "| K | nats a row | ARI with classes: cut, alone |"
        yield "|---" * 3 + "|"
        for K, cut in one["cuts"].items():
            alone = one["alone"][K]
            gap = cut["nats"] - alone["nats"]
            yield f"| {K} | {gap:+.2f} | {cut['ari']:.3f}, {alone['ari']:.3f} |"
        yield ""


def cost_table(figures):
    yield f"Cost of a tree of {LEAVES} leaves, 12 cuts and 12 default fits (components swept):"
    yield ""
    yield "| set, K | swept: tree, cuts, fits | ratio | seconds: tree, cuts, fits | ratio |"
    yield "|---" * 5 + "|"
    for part in ("cuts-bbc", "small-bbc", "cuts-sec8k", "small-sec8k"):
        if part in figures:
            one, name = figures[part], part.partition("-")[2]
            numbers = ", ".join(one["cuts"]) if part.startswith("cuts-") else "2 to 13"
            cells = []
            for what, digits in (("swept", 0), ("seconds", 1)):
                tree, cut, alone = one[what]
                cells.append(f"{tree:,.{digits}f}, {cut:,.{digits}f}, {alone:,.{digits}f}")
                cells.append(f"{(tree + cut) / alone:.2f}")
            yield f"| {name}, {numbers} | {' | '.join(cells)} |"
    yield ""


def inside_table(figures):
    yield "The tree of a run: fine groups inside clusters, against the fits with 2 to 20 clusters"
    yield "(cost) and against a free fit with as many clusters as groups (nats a row of the"
    yield "classification likelihood; ARI with the classes):"
    yield ""
    yield "| set, clusters, groups | swept: tree, fits | seconds | nats | ARI: groups, free fit |"
    yield "|---" * 5 + "|"
    for part, one in figures.items():
        if part.startswith("inside-"):
            name = f"{part.partition('-')[2]}, {one['clusters']}, {one['leaves']}"
            swept = ", ".join(f"{value:,.0f}" for value in one["swept"])
            seconds = ", ".join(f"{value:.1f}" for value in one["seconds"])
            same = f"{one['ari']:.3f}, {one['free']:.3f}"
            yield f"| {name} | {swept} | {seconds} | {one['nats']:+.2f} | {same} |"
    yield ""


def levels_table(figures):
    yield "Nested levels: nats a row minus those of the default fit, and ARI with the classes:"
    yield ""
    yield "| set, levels | K | merged only | nested | free cut | default fit |"
    yield "|---" * 6 + "|"
    for part, found in figures.items():
        if not part.startswith("levels-"):
            continue
        for numbers, one in found.items():
            for K, ways in one["levels"].items():
                base = ways["alone"]["nats"]
                cells = [f"{ways['raw']['ari']:.3f}"]
                cells += [
                    f"{ways[way]['nats'] - base:+.2f}, {ways[way]['ari']:.3f}"
                    for way in ("nested", "cut")
                ]
                cells.append(f"{ways['alone']['ari']:.3f}")
                yield f"| {part.partition('-')[2]}, {numbers} | {K} | {' | '.join(cells)} |"
    yield ""


def groups_table(figures):
    yield "20 newsgroups: ARI of 6 and 7 clusters with the first parts of the newsgroups' names (6:"
    yield "alt and soc are one group):"
    yield ""
    yield "| way | 6 | 7 |"
    yield "|---" * 3 + "|"
    each = list(figures["groups"].values())
    for first, second in zip(each[0].items(), each[1].items(), strict=True):
        way = first[0].partition(" (K")[0]
        yield f"| {way} | {first[1]:.3f} | {second[1]:.3f} |"
    yield ""


def write(figures, notes):
    figures = {part: figures[part] for part in PARTS if part in figures}
    FIGURES.write_text(json.dumps({"notes": notes, "figures": figures}, indent=1) + "\n")
    figures = json.loads(FIGURES.read_text())["figures"]  # keys are texts from here on
    lines = [*cuts_table(figures), *cost_table(figures), *levels_table(figures)]
    lines += inside_table(figures)
    if "groups" in figures:
        lines += groups_table(figures)
    lines += [notes]
    TARGET.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"all by default: {', '.join(PARTS)}")
    options = parser.parse_args()
    if not DATA.exists():
        sys.exit(f"no {DATA}: set SPHEREMIX_DATA to the folder of real data")
    warnings.simplefilter("ignore")
    figures = json.loads(FIGURES.read_text())["figures"] if FIGURES.exists() else {}
    notes = f"One seed, one thread, on {machine()}, beside other work. `python benchmarks/tree.py`"
    for part in options.parts or PARTS:
        figures[part] = PARTS[part]()
        write(figures, notes)
        print(part, json.dumps(figures[part])[:300], flush=True)


if __name__ == "__main__":
    main()
