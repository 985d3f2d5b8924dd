"""How many groups: the advice on real sets, on rows without groups, and what it costs.

Run as ``python benchmarks/number_of_groups.py --jobs 16``; real sets need the folder of real data
(SPHEREMIX_DATA), embeddings of short texts that of ``benchmarks/views.py`` (SPHEREMIX_EMBEDDINGS).
Names of sets, "views", "derived", "nulls" or "simulations" run those and keep the others. It writes
``benchmarks/results/number_of_groups.json`` and, from it, the tables of ``number_of_groups.md``;
``--tables`` writes the tables again and measures nothing.
The packages evoc and topica are compared where they are installed; "views" needs wordllama.

Derived sets are some classes of a set, in some proportions, drawn by a number: sets with known
classes. The limits on "clear" were set after a look at those of LOOKED_AT; JUDGED took no part.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from memory import RESET, in_use
from scipy import sparse
from sets import SHORT, both_views, embedded, load, short_texts, vectorized
from sklearn.cluster import HDBSCAN
from sklearn.datasets import load_digits
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score, silhouette_score
from timing import DATA, EMBEDDINGS, ROOT, machine

import spheremix as sm
from spheremix.estimators.advice import Adviser, grouped
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.problem import build_problem

try:
    import evoc
    import topica
except ModuleNotFoundError:
    evoc = topica = None

FIGURES = ROOT / "benchmarks" / "results" / "number_of_groups.json"
TARGET = FIGURES.with_suffix(".md")
# What the constants of spheremix.advice were chosen on, and what they are judged on.
CHOSEN_ON = ("banking77", "tweet", "bbc", "classic3", "minilm_bbc")
JUDGED_ON = ("stackoverflow", "searchsnippets", "german", "20 newsgroups", "cstr", "news4")
MOST_ROWS = 8000  # of a set; the others are left out
SEEN = 3000  # rows for the silhouette
VIEW_ROWS = 3000  # of a set in two views
RIGHT = 0.9  # of the best ARI: what "right" means for a number that is called clear
PEERS = ("silhouette", "BIC", "HDBSCAN", "EVoC", "topica")
TOPIC_ROWS = 2000  # documents that topica reads, at most
TOPICS = (3, 5, 8, 12, 17, 24, 40)  # numbers that its search compares
# Sources of derived sets: texts, counts, images, and embeddings by mean word vectors.
TEXTS = ("stackoverflow", "searchsnippets", "20 newsgroups", "banking77", "tweet", "docstrings")
DENSE = ("digits", "stackoverflow_static", "searchsnippets_static", "banking77_static")
LOOKED_AT, JUDGED = (2, 3, 4), (5, 6, 7)  # numbers of derived sets of each source
DERIVED_ROWS = 2000
HEAD = ("set", "classes", "fine, shown first", "broad", "up to", "evidence", "best", *PEERS)
HEAD = (*HEAD, "seconds / one fit", "MB")
N_DRAWS = 200  # of rows without groups, of each kind
N_SIMULATIONS = 60
NOTES = (
    'At most {rows:,} rows of a set. "Up to" is the largest number at which nine rows in ten are '
    "in groups that come back. Seconds are processor seconds of one thread, beside those of one "
    "default fit with as many components as the range has, at most. Silhouette and BIC see the "
    "same numbers of groups; HDBSCAN and, for words, EVoC have the first 50 principal directions; "
    "HDBSCAN takes n / 200 rows for a group. topica is the knee of its `search_k` by LDA, for "
    "words, on {topic_rows:,} documents. MB: by how much the advice raises the peak of memory over "
    "what was in use before, with the rows; a set alone in its process. {machine}. "
    "`python benchmarks/number_of_groups.py`"
)


def problem_of(X):
    """Return the rows and the model of a fit on one thread."""
    options = MixtureOptions.of(sm.VMFMixture(1, n_threads=1))
    return build_problem(options, X, None)


def rows_of(name):
    X, labels = load(name)
    if X.shape[0] > MOST_ROWS:
        drawn = np.random.default_rng(0).choice(X.shape[0], MOST_ROWS, replace=False)
        X, labels = X[np.sort(drawn)], labels[np.sort(drawn)]
    return X, np.unique(labels, return_inverse=True)[1]


def views(name):
    """Measure the advice on short texts by their words and their meaning."""
    X, labels = both_views(name)
    if len(labels) > VIEW_ROWS:
        drawn = np.sort(np.random.default_rng(0).choice(len(labels), VIEW_ROWS, replace=False))
        X, labels = {view: rows[drawn] for view, rows in X.items()}, labels[drawn]
    return measured(X, np.unique(labels, return_inverse=True)[1])


def derived(name, seed):
    """Return some rows of some classes of a source, and their classes."""
    rng = np.random.default_rng([31, seed, (*TEXTS, *DENSE).index(name)])
    source = {"digits": digits, "docstrings": docstrings, "20 newsgroups": newsgroups}.get(name)
    if source is None:
        source = (lambda: embedded(name)) if name in DENSE else (lambda: short_texts(name))
    rows, labels = source()
    labels = np.unique(labels, return_inverse=True)[1]
    most = min(25, labels.max() + 1)
    drawn = rng.choice(labels.max() + 1, int(rng.integers(3, most + 1)), replace=False)
    shares = np.exp(rng.normal(0.0, rng.choice([0.0, 0.7]), len(drawn)))
    many = DERIVED_ROWS * rng.uniform(0.3, 1.0) * shares / shares.sum()
    ids = [
        rng.permutation(np.flatnonzero(labels == k))[: max(20, int(n))]
        for k, n in zip(drawn, many, strict=True)
    ]
    ids = np.sort(np.concatenate(ids))
    if name in TEXTS:
        counts = name == "20 newsgroups"
        X = TfidfTransformer().fit_transform(rows[ids]) if counts else None
        X = sparse.csr_array(vectorized([rows[i] for i in ids]) if X is None else X)
        X = X[:, np.flatnonzero(np.diff(sparse.csc_array(X).indptr) > 1)]
    else:
        X = np.asarray(rows[ids], dtype=float)
    lengths = np.sqrt(np.asarray((X * X).sum(axis=1)).ravel())
    kept = np.flatnonzero(lengths > 0.0)
    X = (
        sparse.csr_array(sparse.diags_array(1 / lengths[kept]) @ X[kept])
        if (sparse.issparse(X))
        else X[kept] / lengths[kept, None]
    )
    return X, np.unique(labels[ids[kept]], return_inverse=True)[1]


def digits():
    return load_digits(return_X_y=True)


def docstrings():
    corpus = sm.datasets.load_docstrings()
    return corpus.texts, np.array([label for (label,) in corpus.labels["package"]])


def newsgroups():
    folder = DATA / "ng20_bydate_cai"
    counts = sparse.csr_array(sparse.load_npz(folder / "X.npz").astype(float))
    return counts, np.load(folder / "labels.npy")


def real(name):
    """Measure the advice on one set."""
    return measured(*rows_of(name))


def measured(X, labels):
    """Measure the advice on rows whose classes are known."""
    problem = problem_of(X)
    RESET.write_text("5")
    before = in_use("VmRSS")
    begin = time.process_time()
    advice = Adviser(problem, 0).advise()
    seconds = time.process_time() - begin
    memory = in_use("VmHWM") - before
    numbers = [int(K) for K in advice.evidence.candidates]
    begin = time.process_time()
    sm.VMFMixture(numbers[-1], random_state=0, n_threads=1).fit(X)
    fit = time.process_time() - begin
    rng = np.random.default_rng(1)
    groups = grouped(problem, np.arange(len(labels)), numbers[-1], numbers, rng, n_runs=2)
    aris = {K: float(adjusted_rand_score(labels, one)) for K, one in groups.items()}
    levels = {"fine": advice.best_candidate, "broad": advice.broad, "finest": advice.finest}
    fitted = {
        K: sm.VMFMixture(K, random_state=0, n_threads=1).fit(X).labels_
        for K in sorted(set(levels.values()))
    }
    at = {K: float(adjusted_rand_score(labels, found)) for K, found in fitted.items()}
    best = max(*aris.values(), *at.values())
    return {
        "n": len(labels),
        "classes": int(labels.max()) + 1,
        "numbers": levels,
        "first": advice.n_clusters,
        "certainty": advice.certainty,
        "ari": {name: at[K] for name, K in levels.items()},
        "best": best,
        "best_number": max(aris, key=aris.get),
        "apart": advice.evidence.apart,
        "valley": advice.evidence.valley,
        "ended_by": advice.evidence.ended_by,
        "seconds": seconds,
        "fit_seconds": fit,
        "memory": memory,
        "others": {} if isinstance(X, dict) else others(X, labels, groups),
    }


def others(X, labels, groups):
    """Return what other ways take, and the adjusted Rand index there."""
    rng = np.random.default_rng(0)
    some = np.sort(rng.choice(X.shape[0], min(SEEN, X.shape[0]), replace=False))
    widths = {
        K: silhouette_score(X[some], one[some], metric="cosine")
        for K, one in groups.items()
        if len(np.unique(one[some])) > 1
    }
    silhouette = max(widths, key=widths.get)
    found = {"silhouette": (silhouette, adjusted_rand_score(labels, groups[silhouette]))}
    tried = [K for K in groups if K <= 40]
    criteria = {
        K: sm.VMFMixture(K, init=groups[K], max_iter=20, n_threads=1).fit(X).criteria_["bic"]
        for K in tried
        if len(np.unique(groups[K])) == K
    }
    bic = min(criteria, key=criteria.get)
    found["BIC"] = (bic, adjusted_rand_score(labels, groups[bic]))
    dense = TruncatedSVD(min(50, X.shape[1] - 1), random_state=0).fit_transform(X)
    dense /= np.maximum(np.linalg.norm(dense, axis=1, keepdims=True), 1e-12)
    noisy = HDBSCAN(min_cluster_size=max(5, X.shape[0] // 200), copy=True).fit_predict(dense)
    found["HDBSCAN"] = (int(noisy.max()) + 1, adjusted_rand_score(labels, noisy))
    if evoc is not None:
        rows = dense if sparse.issparse(X) else X
        layer = evoc.EVoC(random_state=0).fit_predict(rows.astype(np.float32))
        found["EVoC"] = (int(layer.max()) + 1, adjusted_rand_score(labels, layer))
    if topica is not None and sparse.issparse(X):
        some = np.sort(rng.permutation(X.shape[0])[:TOPIC_ROWS])
        words = np.split(X.indices.astype(str), X.indptr[1:-1])
        documents = [words[i].tolist() for i in some]
        numbers = [K for K in TOPICS if max(groups) >= K]
        K = topica.search_k(documents, numbers, iters=200, num_samples=1).best_k()
        model = topica.LDA(K, seed=13)
        model.fit(documents, iters=200)
        topics = np.asarray(model.doc_topic).argmax(axis=1)
        found["topica"] = (K, adjusted_rand_score(labels[some], topics))
    return {name: (int(K), float(ari)) for name, (K, ari) in found.items()}


# Rows without groups


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def null_rows(kind, seed):  # noqa: PLR0911
    """Return 800 rows without groups, of one kind."""
    rng = np.random.default_rng([7, seed])
    n, d = 800, 50
    scales = np.arange(1, d + 1.0)
    centre = np.zeros(d)
    if kind.startswith("elongated, "):
        return unit(rng.normal(size=(n, d)) * scales ** -float(kind.removeprefix("elongated, ")))
    if kind == "elongated around a mean":
        centre[0] = 1.5
        return unit(centre + rng.normal(size=(n, d)) * scales**-0.7)
    if kind == "heavy-tailed":
        centre[0] = 3.0
        radii = rng.standard_t(2, size=(n, 1))
        return unit(centre + radii * rng.normal(size=(n, d)) * scales**-0.5)
    if kind == "heavy-tailed columns":
        centre[0] = 2.0
        return unit(centre + rng.standard_t(2.5, size=(n, d)) * 0.5)
    if kind.startswith("curved, "):
        angles = rng.uniform(-1, 1, n) * np.deg2rad(float(kind.split()[1]) / 2)
        rows = np.zeros((n, d))
        rows[:, 0], rows[:, 1] = np.cos(angles), np.sin(angles)
        return unit(rows + rng.normal(size=(n, d)) * 0.08)
    if kind == "one component":
        return unit(rng.normal(size=(n, d)) + 2.0 * (scales == 1))
    words = 600
    shares = 1.0 / np.arange(1, words + 1)
    if kind == "texts of unequal length":
        lengths = np.exp(rng.normal(3, 1, n)).astype(int) + 3
        counts = [rng.multinomial(length, shares / shares.sum()) for length in lengths]
    else:  # words that change with a date, say
        ends, at = rng.normal(size=(2, words)), rng.uniform(size=(n, 1))
        table = np.exp((1 - at) * ends[0] + at * ends[1]) * shares
        table /= table.sum(axis=1, keepdims=True)
        counts = [rng.multinomial(rng.integers(20, 80), row) for row in table]
    rows = np.log1p(np.array(counts, dtype=float)) * np.log(
        n / np.maximum(1, np.count_nonzero(counts, axis=0))
    )
    rows = rows[np.linalg.norm(rows, axis=1) > 0]
    return sparse.csr_array(unit(rows))


NULLS = (
    "one component",
    "elongated, 0.5",
    "elongated, 1.0",
    "elongated, 2.0",
    "elongated around a mean",
    "heavy-tailed",
    "heavy-tailed columns",
    "curved, 90 degrees",
    "curved, 180 degrees",
    "texts of unequal length",
    "texts whose words drift",
)


def null(kind, seed):
    """Return what the advice says of rows without groups."""
    advice = Adviser(problem_of(null_rows(kind, seed)), seed).advise()
    return advice.n_clusters, advice.certainty


def simulation(i):
    """Return the true number and the advice on one of the simulated samples."""
    rng = np.random.default_rng([2026, i])
    K = (1, 1, 2, 3, 4, 5, 6, 7, 8, 10)[i % 10]
    d, n = int(rng.choice([3, 5, 10, 20, 50, 100])), int(rng.choice([300, 500, 1000]))
    if K == 1:
        how = {"kappa": float(d * rng.choice([0.5, 2.0]))}
    else:
        how = {"overlap": float(rng.choice([0.01, 0.025, 0.05, 0.1]))}
    X, _, _ = sm.datasets.make_vmf_mixture(n, d, K, random_state=i, **how)
    advice = Adviser(problem_of(X), 0, range(2, 14)).advise()
    return K, advice.n_clusters, advice.broad, advice.certainty


# Tables


def ratio(one, level):
    return one["ari"][level] / one["best"]


def summary(part):
    """Return the mean shares of the best ARI, and what was called clear."""
    better = [max(ratio(one, "fine"), ratio(one, "broad")) for one in part]
    clear = [one for one in part if one["certainty"] == "clear"]
    right = sum(one["first"] > 1 and ratio(one, "fine") >= RIGHT for one in clear)
    told = {
        "shown first": f"{np.mean([ratio(one, 'fine') for one in part]):.3f}",
        "better of fine and broad": f"{np.mean(better):.3f}",
        "clear, of these right": f"{len(clear)}, {right}",
        '"no groups"': str(sum(one["first"] == 1 for one in part)),
        "cost in fits": f"{np.mean([one['seconds'] / one['fit_seconds'] for one in part]):.1f}",
    }
    for key in PEERS:
        each = [one["others"][key][1] / one["best"] for one in part if key in one["others"]]
        if each:
            told[key] = f"{np.mean(each):.3f}"
    return told


def derived_table(found):
    """Write a line for each kind of derived sets."""
    said = (
        "Derived sets: some classes of a set, in some proportions, at most 2,000 rows. The limits "
        'on "clear" and "no groups" were set after a look at the first ones; the others took no '
        "part, but some of their sources are above, with all their classes:"
    )
    lines = [said, ""]
    head = None
    for title, seeds in (("looked at", LOOKED_AT), ("judged on", JUDGED)):
        for kind, names in (("words", TEXTS), ("dense", DENSE), ("all", (*TEXTS, *DENSE))):
            keys = [f"{name}, {seed}" for name in names for seed in seeds]
            part = [found[key] for key in keys if key in found]
            if not part:
                continue
            told = summary(part)
            if head is None:
                head = list(told)
                lines += [f"| | sets | {' | '.join(head)} |", "|---" * (len(head) + 2) + "|"]
            cells = " | ".join(told.get(key, "") for key in head)
            lines.append(f"| {title}, {kind} | {len(part)} | {cells} |")
    return [*lines, ""]


def set_table(title, part):
    """Write a line for each set."""
    lines = [
        f"{title} (in brackets the ARI, as a share of the best ARI):",
        "",
        f"| {' | '.join(HEAD)} |",
        "|---" * len(HEAD) + "|",
    ]
    for name, one in sorted(part.items()):
        cells = [
            f"{one['numbers'][level]} ({ratio(one, level):.2f})"
            for level in ("fine", "broad", "finest")
        ]
        peers = [
            f"{one['others'][key][0]} ({one['others'][key][1] / one['best']:.2f})"
            if key in one["others"]
            else ""
            for key in PEERS
        ]
        cost = f"{one['seconds']:.1f} / {one['fit_seconds']:.1f}"
        memory = f"{one['memory'] / 1e6:.0f}" if "memory" in one else ""
        lines.append(
            f"| {name} | {one['classes']} | {' | '.join(cells)} | {one['certainty']} | "
            f"{one['best']:.2f} at {one['best_number']} | {' | '.join(peers)} | {cost} | {memory} |"
        )
    said = "; ".join(f"{key} {value}" for key, value in summary(list(part.values())).items())
    return [*lines, "", f"Mean shares of the best ARI, and cost: {said}.", ""]


def table(figures):
    """Write the figures as tables."""
    beside = {"views", "derived", "nulls", "simulations", "machine"}
    sets = {name: one for name, one in figures.items() if name not in beside}
    chosen = {name: one for name, one in sets.items() if name.startswith(CHOSEN_ON)}
    judged = {name: one for name, one in sets.items() if name.startswith(JUDGED_ON)}
    lines = []
    both = figures.get("views", {})
    for title, part in (
        ("Sets that the rule was judged on", judged),
        ("Sets that the rule was chosen on", chosen),
        (
            "Short texts by words and static vectors, at most 3,000 of a set, which took no part",
            both,
        ),
    ):
        lines += set_table(title, part) if part else []
    if "derived" in figures:
        lines += derived_table(figures["derived"])
    if "nulls" in figures:
        lines += [
            "Rows without groups, called groups (draws in which the certainty is not weak):",
            "",
        ]
        lines += [
            "| kind | draws | called groups, fair or clear | groups, weak |",
            "|---|---|---|---|",
        ]
        for kind in NULLS:
            found = figures["nulls"][kind]
            several = [certainty for K, certainty in found if K > 1]
            weak = sum(one == "weak" for one in several)
            lines.append(f"| {kind} | {len(found)} | {len(several) - weak} | {weak} |")
        lines.append("")
    if "simulations" in figures:
        found = figures["simulations"]
        several = [one for one in found if one[0] > 2]
        clear = [one for one in several if one[3] == "clear"]
        two = [first for K, first, *_ in found if K == 2]
        said = (
            f"Simulated mixtures: with 3 to 10 components the first number is right in "
            f"{sum(first == K for K, first, *_ in several)} of {len(several)}, the broad or the "
            f"first in {sum(K in {first, broad} for K, first, broad, _ in several)}; called clear "
            f"{len(clear)}, of which right {sum(first == K for K, first, *_ in clear)}. With two "
            f"components the first number is 2 in {two.count(2)} of {len(two)}, 3 in "
            f"{two.count(3)}, and no groups are seen in {two.count(1)}. With one "
            f"component: no groups in {sum(first == 1 for K, first, *_ in found if K == 1)} of "
            f"{sum(K == 1 for K, *_ in found)}."
        )
        lines += [said, ""]
    lines.append(NOTES.format(rows=MOST_ROWS, topic_rows=TOPIC_ROWS, machine=figures["machine"]))
    return "\n".join(lines) + "\n"


def run(spec):
    """Do one piece of the work; a set that is not there gives nothing."""
    kind, name, seed = spec
    warnings.simplefilter("ignore")
    try:
        of_derived = lambda *one: measured(*derived(*one))  # noqa: E731
        found = {"real": real, "derived": of_derived, "views": views, "null": null}
        found = (found | {"simulation": simulation})[kind]
        return spec, found(
            *([name] if kind in {"real", "views"} else [seed] if name is None else [name, seed])
        )
    except FileNotFoundError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return spec, None


def main():
    """Measure what is asked for, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--draws", type=int, default=N_DRAWS)
    parser.add_argument("--tables", action="store_true", help="measure nothing")
    given = parser.parse_args()
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    if not given.tables:
        measure(figures, given)
        FIGURES.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n")
    TARGET.write_text(table(figures))


def keep(figures, kind, name, seed, found):
    """Add a result to the figures."""
    if kind in {"real", "views", "derived"}:
        print(name, seed, found["numbers"], found["certainty"], flush=True)
    if kind == "real":
        figures[name] = found
    elif kind == "views":
        figures["views"][name] = found
    elif kind == "derived":
        figures["derived"][f"{name}, {seed}"] = found
    elif kind == "null":
        figures["nulls"].setdefault(name, []).append(found)
    else:
        figures["simulations"].append(found)


def measure(figures, given):
    """Measure what is asked for, and add it to the figures."""
    sets = ["20 newsgroups", *SHORT, "bbc", "classic3", "german", "minilm_bbc", "cstr", "news4"]
    if EMBEDDINGS.is_dir():
        kinds = sorted(path.stem for path in EMBEDDINGS.glob("*_minilm.npy"))
        sets = [*kinds, *sets]
    cases = given.cases or [*sets, "views", "derived", "nulls", "simulations"]
    work = [("real", name, 0) for name in sets if name in cases]
    parts = {
        "views": [("views", name, 0) for name in SHORT],
        "nulls": [("null", kind, seed) for kind in NULLS for seed in range(given.draws)],
        "simulations": [("simulation", None, i) for i in range(N_SIMULATIONS)],
        "derived": [
            ("derived", name, i) for i in (*LOOKED_AT, *JUDGED) for name in (*TEXTS, *DENSE)
        ],
    }
    for name in (name for name in parts if name in cases):
        work += parts[name]
        figures[name] = [] if name == "simulations" else {}
    with ProcessPoolExecutor(given.jobs) as pool:
        for (kind, name, seed), found in pool.map(run, work, chunksize=1):
            if found is not None:
                keep(figures, kind, name, seed, found)
    figures["machine"] = machine()


if __name__ == "__main__":
    main()
