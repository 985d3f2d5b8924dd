"""How many clusters: the advice against criteria and indices, on real sets and on simulations.

Run as ``python benchmarks/number_of_clusters.py``; real sets need the folder of real data, named by
SPHEREMIX_DATA. Cases such as "bbc" or "simulations" run those and keep the others; ``--gap``
measures the gap statistic alone, and adds it to figures that are there. It writes
``benchmarks/results/number_of_clusters.json`` and, from it, the tables of
``number_of_clusters.md``, which it quotes in ``docs/choosing.md``.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings

import numpy as np
from scipy import sparse
from sets import load
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits
from timing import ROOT

import spheremix as sm

FIGURES = ROOT / "benchmarks" / "results" / "number_of_clusters.json"
TARGET = FIGURES.with_suffix(".md")
PAGE = ROOT / "docs" / "choosing.md"
BEGIN = "<!-- number of clusters: benchmarks/results/number_of_clusters.md -->\n"
END = "<!-- end of number of clusters -->"
# The sets, and the largest number of clusters tried. On the first five, classes are clusters.
CLUSTERED = {"news4": 20, "minilm_bbc": 20, "classic3": 20, "bbc": 20, "cstr": 20}
OTHERS = {"poliblog": 20, "20 newsgroups": 26, "sec8k": 20}
N_SIMULATIONS = 60
SIMULATED_UP_TO = 13
SAMPLE = 3000  # rows for the silhouette
GAP_ROWS = 2000  # rows for the gap statistic
REFERENCES = 5  # sets of rows without clusters for it
RULES = ("advice", "ebic", "bic", "icl", "silhouette", "X-means", "gap")
COMPARED = ("ebic", "bic", "icl")
NOTES = [
    "Candidates are 2 to 20 (20 newsgroups: 26; simulations: 13). Every rule sees the same dense",
    "mixtures, with the default search, except X-means, which is BIC on k-means (best of 3). The",
    "silhouette is that of the cosine, on 3,000 rows at most. Simulations have 1 to 10 components,",
    "3 to 100 columns, 300 to 1,000 rows and overlaps of .01 to .1; two starts and a tolerance of",
    "1e-5. The gap statistic is that of spherical k-means (one run): the dispersion is the sum of",
    "one minus the cosine to the prototype, on 2,000 rows at most, and the reference are 5 sets of",
    "rows with permuted columns for texts, and 5 that are uniform on the sphere for other rows. It",
    "was not measured on the last three sets, since it clusters all reference sets each time.",
    "`python benchmarks/number_of_clusters.py`, then `--gap` with the cases",
]


def simulation(i):
    """Return one of the simulated samples: rows, components, and how it was made."""
    rng = np.random.default_rng([2026, i])
    K = (1, 1, 2, 3, 4, 5, 6, 7, 8, 10)[i % 10]
    d = int(rng.choice([3, 5, 10, 20, 50, 100]))
    n = int(rng.choice([300, 500, 1000]))
    if K == 1:
        X, y, _ = sm.datasets.make_vmf_mixture(
            n, d, 1, kappa=float(d * rng.choice([0.5, 2.0])), random_state=i
        )
        return X, y, {"K": K, "n": n, "d": d, "overlap": None}
    overlap = float(rng.choice([0.01, 0.025, 0.05, 0.1]))
    X, y, _ = sm.datasets.make_vmf_mixture(n, d, K, overlap=overlap, random_state=i)
    return X, y, {"K": K, "n": n, "d": d, "overlap": overlap}


def measure(X, labels, most, **options):
    """Return number that each rule takes, the agreement with the classes there, and evidence."""
    Ks = range(2, most + 1)
    study = sm.VMFMixtureIC(Ks, paths="none", random_state=0, **options).fit(X)
    advice, models = study.advice_, study.dense_models_
    one = sm.VMFMixture(1, init="random", n_init=1).fit(X).criteria_
    taken = {"advice": advice.n_clusters}
    for name in COMPARED:
        curve = study.dense_criteria_[name]
        taken[name] = 1 if one[name] < np.nanmin(curve) else Ks[int(np.nanargmin(curve))]
    rng = np.random.default_rng(0)
    some = np.sort(rng.choice(X.shape[0], min(SAMPLE, X.shape[0]), replace=False))
    widths = {
        K: silhouette_score(X[some], model.labels_[some], metric="cosine")
        for K, model in models.items()
        if len(np.unique(model.labels_[some])) > 1
    }
    taken["silhouette"] = max(widths, key=widths.get)
    taken["X-means"] = by_x_means(X, Ks)
    agreement = {
        K: float(adjusted_rand_score(labels, model.labels_)) for K, model in models.items()
    }
    agreement[1] = 0.0
    return {
        "taken": {name: int(K) for name, K in taken.items()},
        "recommended": [one.n_clusters for one in advice.recommended],
        "certainty": advice.certainty,
        "ari": {str(K): ari for K, ari in agreement.items()},
        "stability": advice.evidence.stability.tolist(),
        "adjusted_stability": advice.evidence.adjusted_stability.tolist(),
        "turning": advice.evidence.turning.tolist(),
        "apart": advice.evidence.apart,
    }


def by_gap(X, most):
    """Return the number that the gap statistic takes: the first within one error of the next."""
    rng = np.random.default_rng(0)
    some = np.sort(rng.choice(X.shape[0], min(GAP_ROWS, X.shape[0]), replace=False))
    rows = normalize(X[some])
    curve = log_dispersions(rows, most)
    drawn = np.array([log_dispersions(reference(rows, rng), most) for _ in range(REFERENCES)])
    gaps = drawn.mean(axis=0) - curve
    errors = drawn.std(axis=0) * np.sqrt(1.0 + 1.0 / REFERENCES)
    enough = np.flatnonzero(gaps[:-1] >= gaps[1:] - errors[1:])
    return int(enough[0]) + 1 if len(enough) else most


def log_dispersions(rows, most):
    """Return the logarithm of the dispersion of 1, 2, ... clusters."""
    found = []
    with threadpool_limits(1):
        for K in range(1, most + 1):
            labels = np.zeros(rows.shape[0], dtype=int)
            if K > 1:
                labels = sm.SphericalKMeans(K, n_init=1, random_state=0).fit(rows).labels_
            members = sparse.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))))
            sums = members @ rows
            sums = sums.toarray() if sparse.issparse(sums) else sums
            found.append(np.log(rows.shape[0] - np.linalg.norm(sums, axis=1).sum()))
    return np.array(found)


def reference(rows, rng):
    """Return as many rows without clusters."""
    n, d = rows.shape
    if not sparse.issparse(rows):
        return normalize(rng.normal(size=(n, d)))
    mixed = sparse.csc_array(rows)
    counts = np.diff(mixed.indptr)
    places = np.concatenate([rng.choice(n, count, replace=False) for count in counts])
    found = sparse.csr_array((mixed.data, (places, np.repeat(np.arange(d), counts))), shape=(n, d))
    return normalize(found[np.diff(found.indptr) > 0])


def by_x_means(X, Ks):
    """Return the number of the smallest BIC of k-means: Gaussian clusters with one variance."""
    n, d = X.shape
    centre = np.asarray(X.mean(axis=0)).ravel()
    norms = X.multiply(X).sum() if sparse.issparse(X) else np.sum(X * X)
    inertia = {1: float(norms - n * centre @ centre)}
    sizes = {1: np.array([n])}
    for K in Ks:
        found = KMeans(K, n_init=3, random_state=0).fit(X)
        inertia[K], sizes[K] = float(found.inertia_), np.bincount(found.labels_, minlength=K)
    values = {}
    for K, within in inertia.items():
        variance = within / (d * max(n - K, 1))
        counts = sizes[K][sizes[K] > 0]
        likelihood = counts @ np.log(counts / n)
        likelihood -= n * d / 2 * np.log(2 * np.pi * variance) + within / (2 * variance)
        values[K] = (K - 1 + K * d + 1) * np.log(n) - 2 * likelihood
    return min(values, key=values.get)


def table(figures):
    """Write the figures as tables."""
    lines = ["The number that each rule takes (ARI with the classes there):", ""]
    names = ["advice, then others", *RULES[1:]]
    lines += [f"| set, classes | ARI at the classes | {' | '.join(names)} |"]
    lines += ["|---" * (len(names) + 2) + "|"]
    for name in [*CLUSTERED, *OTHERS]:
        if name not in figures:
            continue
        one = figures[name]
        cells = []
        for rule in RULES:
            if rule not in one["taken"]:
                cells.append("")
                continue
            K = one["taken"][rule]
            cell = f"{K} ({one['ari'][str(K)]:.2f})"
            others = [str(K) for K in one["recommended"][1:]]
            if rule == "advice" and others:
                cell += f", {', '.join(others)}"
            cells.append(cell)
        true = one["ari"].get(str(one["classes"]))
        shown = "" if true is None else f"{true:.2f}"
        lines.append(f"| {name}, {one['classes']} | {shown} | {' | '.join(cells)} |")
    clustered = [figures[name] for name in CLUSTERED if name in figures]
    if clustered:
        means = [
            np.mean([one["ari"][str(one["taken"].get(rule))] for one in clustered])
            if all(rule in one["taken"] for one in clustered)
            else np.nan
            for rule in RULES
        ]
        true = np.mean([one["ari"][str(one["classes"])] for one in clustered])
        cells = " | ".join("" if np.isnan(mean) else f"{mean:.2f}" for mean in means)
        lines.append(f"| mean of the first {len(clustered)} | {true:.2f} | {cells} |")
    made = [one for name, one in figures.items() if name.startswith("simulation ")]
    if made:
        lines += ["", f"Simulations with the true number, of {len(made)}:", ""]
        lines += ["| | advice, first | first or second | " + " | ".join(RULES[1:]) + " |"]
        lines += ["|---" * (len(RULES) + 2) + "|"]
        for what, some in (
            ("all", made),
            ("one component", [one for one in made if one["classes"] == 1]),
            ("several", [one for one in made if one["classes"] > 1]),
        ):
            cells = [
                sum(one["recommended"][0] == one["classes"] for one in some),
                sum(one["classes"] in one["recommended"][:2] for one in some),
                *(
                    sum(one["taken"].get(rule) == one["classes"] for one in some)
                    for rule in RULES[1:]
                ),
            ]
            lines.append(f"| {what}, {len(some)} | {' | '.join(map(str, cells))} |")
    lines += [
        "",
        *NOTES,
    ]
    return lines


def write(figures):
    """Keep the figures, in order, and the tables made of them."""
    order = [*CLUSTERED, *OTHERS, *(f"simulation {i}" for i in range(N_SIMULATIONS))]
    figures = {case: figures[case] for case in order if case in figures}
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n")
    TARGET.write_text("\n".join(table(figures)) + "\n")
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    quoted = f"{before}{BEGIN}{TARGET.read_text()}{END}{rest.partition(END)[2]}"
    PAGE.write_text(quoted, encoding="utf-8")


def add_gaps(figures, cases):
    """Measure the gap statistic, and add it to what is known of the cases."""
    for case in cases:
        if case == "simulations":
            some = {f"simulation {i}": simulation(i)[0] for i in range(N_SIMULATIONS)}
        else:
            some = {case: load(case)[0]}
        for name, X in some.items():
            most = {**CLUSTERED, **OTHERS}.get(name, SIMULATED_UP_TO)
            figures[name]["taken"]["gap"] = by_gap(X, most)
            sys.stdout.write(f"{name}: {figures[name]['taken']['gap']}\n")
            sys.stdout.flush()
        write(figures)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help='such as "bbc" or "simulations"; all by default')
    parser.add_argument("--gap", action="store_true", help="the gap statistic alone")
    given = parser.parse_args()
    cases = given.cases or [*CLUSTERED, "simulations", *OTHERS]
    warnings.simplefilter("ignore")
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    if given.gap:
        add_gaps(figures, cases)
        return
    for case in cases:
        if case == "simulations":
            for i in range(N_SIMULATIONS):
                X, labels, made = simulation(i)
                found = measure(X, labels, SIMULATED_UP_TO, n_init=2, tol=1e-5)
                figures[f"simulation {i}"] = {"classes": made["K"], "made": made, **found}
                sys.stdout.write(f"simulation {i}: {made} {found['recommended']}\n")
                sys.stdout.flush()
                write(figures)
            continue
        X, labels = load(case)
        found = measure(X, labels, {**CLUSTERED, **OTHERS}[case])
        figures[case] = {"classes": len(np.unique(labels)), **found}
        sys.stdout.write(f"{case}: {found['taken']} {found['recommended']}\n")
        sys.stdout.flush()
        write(figures)


if __name__ == "__main__":
    main()
