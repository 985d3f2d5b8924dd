"""Words, meaning, and both: short texts with known classes, the number of groups given.

Run as ``python benchmarks/views.py``; it writes ``benchmarks/results/views.md``. It needs the
folder of real data, named by SPHEREMIX_DATA; ``SET_minilm.npy``, a row a text, lies in the folder
that SPHEREMIX_EMBEDDINGS names. Names of sets run those and keep the others; rows of embeddings
that are not there are kept too.

MiniLM is all-MiniLM-L6-v2 by sentence-transformers; static is the mean of the 256-dimensional word
vectors that the package wordllama carries. Words are those of ``TextVectorizer`` by default. A row
without a word of the vocabulary goes, for the words alone, to the largest group. Every fit has the
default search and the seed 0; k-means is scikit-learn's, the best of three. Seconds are processor
time. NPMI is that of the ten contrast words of each group, by the same texts, the mean over groups.

``--weights`` writes ``benchmarks/results/view_weights.md``: other weights of the words, whether
something that is known without classes tells which one is good, and what the words count in the
search.

``--lengths`` writes ``benchmarks/results/view_lengths.md``: articles cut to their first words.

``--unequal`` writes ``benchmarks/results/view_groups.md``: what becomes of the groups when those
that BIC does not support are merged, and of weights of the views by the spread of their scores.

``--rows 200000`` measures fits to made-up rows of 30 words and 384 dimensions.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from dataclasses import replace
from pathlib import Path

import gsdmm
import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import normalize
from timing import DATA, ROOT, machine

import spheremix as sm
from spheremix.merging import merge
from spheremix.models import views as model_of_views
from spheremix.reading import contrast_words
from spheremix.seeding import class_resultants
from spheremix.text import TextVectorizer
from spheremix.text.meaning import STATIC, embed

EMBEDDINGS = Path(os.environ.get("SPHEREMIX_EMBEDDINGS", DATA / "short"))
FIGURES = ROOT / "benchmarks" / "results" / "views.json"
TARGET = FIGURES.with_suffix(".md")
GROUPS = FIGURES.with_name("view_groups.json")
WEIGHTS = ROOT / "benchmarks" / "results" / "view_weights.json"
SETS = ("stackoverflow", "searchsnippets", "tweet", "banking77")
LONG = "bbc"  # news articles, of which the words are enough
KINDS = ("minilm", "static")
TRIED = (0.1, 0.25, 0.5, 1.0, 2.0)
HEARD = (0.05, 0.1, 0.2, 0.5, 1.0)  # what the words may count in the search
SEEDS = (0, 1, 2)
LENGTHS = (10, 15, 20, 40, 60, 100, 200, None)  # words of articles, None for all
ARTICLES = {"bbc": ("bbc_news", "en"), "german": ("german", "de")}  # folders and languages
LENGTHS_FILE = ROOT / "benchmarks" / "results" / "view_lengths.json"
ROWS = (
    "words",
    "words, GSDMM",
    *(
        row
        for kind in KINDS
        for row in (
            f"{kind}, k-means",
            kind,
            f"words + {kind}",
            f"words + {kind}, free kappas",
        )
    ),
)
PUBLISHED = (
    "## Published figures",
    "",
    "NMI, in brackets ACC, in percent. SCCL fine-tunes a language model (Zhang et al., NAACL",
    "2021); GSDMM is Yin and Wang, KDD 2014. As quoted in FINDINGS 7.3, not checked; but an ACC",
    "with a star is what the list of results of Papers with Code has for SCCL.",
    "",
    "| set | SCCL | GSDMM |",
    "|---|---|---|",
    "| stackoverflow | 74.5 (75.5) | 51.9 |",
    "| searchsnippets | 71.1 (85.2*) | 56.2 |",
    "| tweet | 89.2 (78.2*) | 84.5 |",
)
CHOSEN_ON = ("stackoverflow", "tweet")  # rules are chosen on these and judged on the others


def load(name: str) -> tuple[list[str], np.ndarray]:
    """Return the texts of a set, and their classes."""
    if name in ARTICLES:
        with gzip.open(DATA / ARTICLES[name][0] / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
            documents = [json.loads(line) for line in lines]
        labels = [one["label"] for one in documents]
        return [one["text"] for one in documents], np.unique(labels, return_inverse=True)[1]
    with gzip.open(DATA / "short" / f"{name}.tsv.gz", "rt", encoding="utf-8") as lines:
        pairs = [line.rstrip("\n").split("\t", 1) for line in lines if line.strip()]
    classes = np.unique([label for label, _ in pairs], return_inverse=True)[1]
    return [text.strip() for _, text in pairs], classes


def meanings(name: str, texts: list[str]) -> dict[str, np.ndarray]:
    """Return the embeddings of a set that there are, by kind."""
    file = EMBEDDINGS / f"{name}_minilm.npy"
    if name == LONG:
        file = DATA / "minilm_bbc" / "embeddings.npy"
    found = {"minilm": np.load(file)} if file.exists() else {}
    return found | {"static": embed(texts, STATIC)}


def accuracy(classes: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of the texts whose group is matched with their class, at best."""
    table = np.zeros((classes.max() + 1, labels.max() + 1))
    np.add.at(table, (classes, labels), 1)
    matched = linear_sum_assignment(table, maximize=True)
    return float(table[matched].sum() / len(classes))


def coherence(counts: sparse.csr_array, words: list[str], labels: np.ndarray) -> float:
    """Return the NPMI of the ten contrast words of each group, the mean over groups."""
    found = contrast_words(counts, labels, words, 10)
    listed = [[one.word for one in group] for group in found]
    return float(np.nanmean(sm.metrics.npmi(listed, counts, words)))


def judged(classes: np.ndarray, labels: np.ndarray, seconds: float) -> dict[str, float]:
    """Return how well groups agree with classes, in percent."""
    return {
        "NMI": 100 * float(normalized_mutual_info_score(classes, labels)),
        "ACC": 100 * accuracy(classes, labels),
        "ARI": 100 * float(adjusted_rand_score(classes, labels)),
        "seconds": seconds,
    }


def fitted(K: int, X: object, **parameters: object) -> tuple[sm.VMFMixture, float]:
    """Fit a mixture; return it and the processor time."""
    begin = time.process_time()
    mixture = sm.VMFMixture(K, random_state=0, n_threads=1, **parameters).fit(X)
    return mixture, time.process_time() - begin


def by_words(K: int, T: sparse.csr_array) -> tuple[np.ndarray, float]:
    """Group texts by their words; those without go to the largest group."""
    there = np.diff(T.indptr) > 0
    mixture, seconds = fitted(K, T[there])
    labels = np.full(T.shape[0], np.bincount(mixture.labels_).argmax())
    labels[there] = mixture.labels_
    return labels, seconds


def gibbs(classes: np.ndarray, counts: sparse.csr_array, words: list[str]) -> dict[str, float]:
    """Measure the Gibbs sampler, whose draws matter: the mean over seeds."""
    each = []
    for seed in SEEDS:
        begin = time.process_time()
        rng = np.random.default_rng(seed)
        labels = gsdmm.group(counts, int(classes.max()) + 1, rng)
        seconds = time.process_time() - begin
        own = judged(classes, labels, seconds)
        each.append({**own, "NPMI": coherence(counts, words, labels)})
    return {what: float(np.mean([one[what] for one in each])) for what in each[0]}


def compare(name: str, known: dict) -> dict:
    """Measure one set; rows that cannot be made again are kept."""
    texts, classes = load(name)
    K = int(classes.max()) + 1
    vectorizer = TextVectorizer()
    T = sparse.csr_array(vectorizer.fit_transform(texts))
    counts, words = TextVectorizer().fit_count(texts), list(vectorizer.get_feature_names_out())
    figures = dict(known.get("figures", {}))

    def add(rows: str, labels: np.ndarray, seconds: float) -> None:
        own = coherence(counts, words, labels)
        figures[rows] = {**judged(classes, labels, seconds), "NPMI": own}

    def add_fit(rows: str, X: object, **parameters: object) -> None:
        mixture, seconds = fitted(K, X, **parameters)
        add(rows, mixture.labels_, seconds)

    add("words", *by_words(K, T))
    if name != LONG:
        figures["words, GSDMM"] = gibbs(classes, counts, words)
    for kind, E in meanings(name, texts).items():
        begin = time.process_time()
        plain = KMeans(K, n_init=3, random_state=0).fit(E)
        add(f"{kind}, k-means", plain.labels_, time.process_time() - begin)
        add_fit(kind, E)
        add_fit(f"words + {kind}", {"words": T, "meaning": E})
        add_fit(f"words + {kind}, free kappas", {"words": T, "meaning": E}, kappa="free")
    return {
        "texts": len(texts),
        "classes": K,
        "n_words": T.shape[1],
        "n_wordless": int((np.diff(T.indptr) == 0).sum()),
        "figures": {rows: figures[rows] for rows in ROWS if rows in figures},
    }


def page(results: dict[str, dict]) -> str:
    """Return the tables."""
    lines = [
        "# Words, meaning, and both",
        "",
        f"From `python benchmarks/views.py`. {machine()}; processor seconds, on a busy machine.",
        "K is the number of classes; NMI (arithmetic), accuracy by the best matching, and adjusted",
        "Rand index, in percent. Default `VMFMixture`, seed 0, weights of the views 1. NPMI: that",
        "of the ten contrast words of each group by the same texts, the mean over groups (-: not",
        "measured). GSDMM: our own Gibbs sampler (`benchmarks/gsdmm.py`), 30 iterations, the mean",
        "over the seeds 0, 1 and 2.",
    ]
    for name, one in results.items():
        lines += [
            "",
            f"## {name}: {one['texts']:,} texts, {one['classes']} classes",
            "",
            f"Words: {one['n_words']:,}. Texts without a word: {one['n_wordless']}.",
            "",
            "| rows | NMI | ACC | ARI | NPMI | seconds |",
            "|---|---|---|---|---|---|",
        ]
        for rows, own in one["figures"].items():
            judged_by = " | ".join(f"{own[name]:.1f}" for name in ("NMI", "ACC", "ARI"))
            npmi = f"{own['NPMI']:.3f}" if "NPMI" in own else "-"
            lines.append(f"| {rows} | {judged_by} | {npmi} | {own['seconds']:.1f} |")
    return "\n".join([*lines, "", *PUBLISHED]) + "\n"


# Weights of the views


def weigh(name: str, known: dict) -> dict:
    """Measure other weights of the words, in the model and in the search alone.

    With the weights of the model, what is known of each fit without classes.
    """
    texts, classes = load(name)
    K = int(classes.max()) + 1
    T = sparse.csr_array(TextVectorizer().fit_transform(texts))
    found = dict(known)
    for kind, E in meanings(name, texts).items():
        X = {"words": T, "meaning": E}
        for weight in TRIED:
            mixture, _ = fitted(K, X, view_weights={"words": weight})
            found[f"{kind} {weight}"] = {
                "NMI": 100 * float(normalized_mutual_info_score(classes, mixture.labels_)),
                "agreement of runs": mixture.agreement_,
            }
        found |= {f"{kind}, heard {one}": heard(K, X, classes, one) for one in HEARD}
    return found


def heard(K: int, X: dict, classes: np.ndarray, value: float) -> dict[str, float]:
    """Measure fits whose search counts the words so much: the mean over seeds."""
    default, model_of_views.HEARD = model_of_views.HEARD, value
    fits = [sm.VMFMixture(K, random_state=seed, n_threads=1).fit(X) for seed in SEEDS]
    model_of_views.HEARD = default
    each = [100 * normalized_mutual_info_score(classes, fit.labels_) for fit in fits]
    gains = [fit.log_likelihood_ / len(classes) for fit in fits]
    return {"NMI": float(np.mean(each)), "log-likelihood": float(np.mean(gains))}


def weights_page(results: dict[str, dict]) -> str:
    """Return the tables of weights, and what rules on some sets would have chosen for others."""
    head = " | ".join(f"words x {weight:g}" for weight in TRIED)
    lines = [
        "# Weights of the words beside the meaning",
        "",
        "From `python benchmarks/views.py --weights`. NMI in percent; in brackets the mean",
        "adjusted Rand index between runs, which is known without classes. The last column is the",
        "NMI at the weight where the runs agree most.",
        "",
        f"| set, meaning | {head} | most agreement |",
        "|---|" + "---|" * (len(TRIED) + 1),
    ]
    gains: dict[bool, list[float]] = {True: [], False: []}
    for name, one in results.items():
        for kind in (kind for kind in KINDS if f"{kind} 1.0" in one):
            own = [one[f"{kind} {weight}"] for weight in TRIED]
            cells = " | ".join(f"{x['NMI']:.1f} ({x['agreement of runs']:.2f})" for x in own)
            chosen = max(own, key=lambda x: x["agreement of runs"])["NMI"]
            gains[name in CHOSEN_ON].append(chosen - one[f"{kind} 1.0"]["NMI"])
            lines.append(f"| {name}, {kind} | {cells} | {chosen:.1f} |")
    first = " and ".join(CHOSEN_ON)
    rule = f"Mean gain of that rule over the weight 1: {np.mean(gains[True]):+.1f} on {first},"
    lines += ["", rule, f"{np.mean(gains[False]):+.1f} on the others.", "", *_heard_lines(results)]
    return "\n".join(lines) + "\n"


def _heard_lines(results: dict[str, dict]) -> list[str]:
    """Return the table of what the words count in the search."""
    lines = [
        "## What the words count in the search alone",
        "",
        "The weights of the model are 1; the search counts the words as much as the column says",
        f"(the default is {model_of_views.HEARD:g}). NMI in percent, the mean over the seeds 0, 1",
        "and 2; in brackets the log-likelihood a row, less that of the first column.",
        "",
        "| set, meaning | " + " | ".join(f"{value:g}" for value in HEARD) + " |",
        "|---|" + "---|" * len(HEARD),
    ]
    means: dict[bool, list[list[float]]] = {True: [], False: []}
    for name, one in results.items():
        for kind in (kind for kind in KINDS if f"{kind}, heard {HEARD[0]}" in one):
            own = [one[f"{kind}, heard {value}"] for value in HEARD]
            base = own[0]["log-likelihood"]
            cells = [f"{x['NMI']:.1f} ({x['log-likelihood'] - base:+.2f})" for x in own]
            lines.append(f"| {name}, {kind} | {' | '.join(cells)} |")
            means[name in CHOSEN_ON].append([x["NMI"] for x in own])
    for chosen, what in ((True, "chosen on: mean"), (False, "held out: mean")):
        if not means[chosen]:
            continue
        cells = [f"{value:.1f}" for value in np.mean(means[chosen], axis=0)]
        lines.append(f"| {what} | {' | '.join(cells)} |")
    first = " and ".join(CHOSEN_ON)
    return [*lines, "", f"A value is chosen on {first}; the other two sets are held out."]


# Articles cut short


def shorten(name: str, known: dict) -> dict:  # noqa: ARG001 (all of it is made again)
    """Measure articles of which the first words are left: words, meaning, and both."""
    texts, classes = load(name)
    K, language = int(classes.max()) + 1, ARTICLES[name][1]
    found: dict = {}
    for length in LENGTHS:
        few = [" ".join(text.split()[:length]) for text in texts]
        T = sparse.csr_array(TextVectorizer(language=language).fit_transform(few))
        E = embed(few, STATIC)
        there = np.diff(T.indptr) > 0
        figures: dict[str, list[float]] = {"words": [], "static": [], "words + static": []}
        for seed in SEEDS:
            fits = {
                "words": T[there],
                "static": E,
                "words + static": {"words": T, "meaning": E},
            }
            for rows, X in fits.items():
                own = sm.VMFMixture(K, random_state=seed, n_threads=1).fit(X).labels_
                labels = own
                if rows == "words":
                    labels = np.full(len(few), np.bincount(own).argmax())
                    labels[there] = own
                figures[rows].append(100 * normalized_mutual_info_score(classes, labels))
        found[str(length or "all")] = {rows: float(np.mean(own)) for rows, own in figures.items()}
    return found


def lengths_page(results: dict[str, dict]) -> str:
    """Return the tables of articles cut short."""
    lines = [
        "# Articles cut to their first words",
        "",
        "From `python benchmarks/views.py --lengths`. NMI in percent, K the number of classes, the",
        "mean over the seeds 0, 1 and 2. Static vectors know English alone.",
    ]
    for name, one in results.items():
        lines += ["", f"## {name}", "", "| words of a text | words | static | words + static |"]
        lines += ["|---|---|---|---|"]
        lines += [
            f"| {length} | {' | '.join(f'{value:.1f}' for value in own.values())} |"
            for length, own in one.items()
        ]
    return "\n".join(lines) + "\n"


# Groups that are too many, and weights by the spread of scores


def spread_weights(mixture: sm.VMFMixture, X: dict, labels: np.ndarray) -> dict[str, float]:
    """Return the weight of each view at which its scores are as sure as they should be.

    The difference of a row's scores for its own component and for another is a log ratio of
    densities. If the model holds, its variance within a component is twice its mean, or near it;
    texts spread far more. The weight makes that so, over all pairs of components. A row's own part
    of its prototype is left out.
    """
    K, rows, found = mixture.n_components, np.arange(len(labels)), {}
    ones = (np.ones(len(labels)), (labels, rows))
    assigned = sparse.csr_array(ones, shape=(K, len(labels)))
    mass = np.bincount(labels, minlength=K)[:, None]
    for name, view in mixture.views_.items():
        unit = normalize(X[name])
        sums = assigned @ unit
        sums = sums.toarray() if sparse.issparse(sums) else sums
        lengths = np.maximum(np.linalg.norm(sums, axis=1), 1e-12)
        cosines = np.asarray(unit @ (sums / lengths[:, None]).T)
        pulled = cosines[rows, labels] * lengths[labels]
        others = np.sqrt(np.maximum(lengths[labels] ** 2 - 2.0 * pulled + 1.0, 1e-12))
        cosines[rows, labels] = (pulled - 1.0) / others
        apart = view.kappas_[0] * (cosines[rows, labels][:, None] - cosines)
        means = assigned @ apart / np.maximum(mass, 1)
        variances = assigned @ apart**2 / np.maximum(mass, 1) - means**2
        found[name] = float(2.0 * (mass * means).sum() / (mass * variances).sum())
    return found


def merged(mixture: sm.VMFMixture, X: dict, weights: dict[str, float]) -> dict:
    """Merge pairs until BIC would rise, with these weights of the views; label at some numbers."""
    labels, K = mixture.labels_, mixture.n_components
    model = replace(mixture.model_, view_weights=tuple(weights.values()))
    groups = class_resultants(sm.as_directions(X), labels, K)
    value, size = model.cluster_value(groups), len(labels)
    columns = zip(weights.values(), (part.shape[1] for part in X.values()), strict=True)
    least = 0.5 * np.log(size) * sum(weight * d for weight, d in columns)
    losses = merge(groups, value, 1).losses
    left = K - int(np.argmax(np.append(losses > least, True)))
    return {n: merge(groups, value, n).labels[labels] for n in (left, K // 2, K // 3)}


def regroup(name: str, known: dict) -> dict:
    """Measure merged groups, and weights by the spread of scores."""
    texts, classes = load(name)
    K = int(classes.max()) + 1
    T = sparse.csr_array(TextVectorizer().fit_transform(texts))
    found = dict(known)
    for kind, E in meanings(name, texts).items():
        X = {"words": T, "meaning": E}
        mixture, seconds = fitted(K, X)
        ones, weights = {"words": 1.0, "meaning": 1.0}, spread_weights(mixture, X, mixture.labels_)
        figures = {f"{K} groups": judged(classes, mixture.labels_, seconds)}
        for how, own in (("weights 1", ones), ("spread", weights)):
            for place, (n, labels) in enumerate(merged(mixture, X, own).items()):
                what = f"merged to {n}, {how}" + (", BIC" if place == 0 else "")
                figures[what] = judged(classes, labels, 0.0)
        again, seconds = fitted(K, X, view_weights=weights)
        figures[f"{K} groups, view_weights by spread"] = judged(classes, again.labels_, seconds)
        found[kind] = {"weights": weights, "figures": figures}
    return found


def groups_page(results: dict[str, dict]) -> str:
    """Return the tables of merged groups."""
    lines = [
        "# Groups merged afterwards, and weights by the spread of scores",
        "",
        "From `python benchmarks/views.py --unequal`. NMI, accuracy and adjusted Rand index in",
        "percent. Fits have as many groups as there are classes; pairs are merged with the least",
        "loss of classification likelihood, as far as BIC allows, or to a half and a third.",
        '"spread": each view is weighted so that the variance of its score differences within',
        "groups is twice their mean, as it would be if the model held.",
    ]
    for name, kinds in results.items():
        for kind in (kind for kind in KINDS if kind in kinds):
            one = kinds[kind]
            weights = ", ".join(f"{view} {weight:.3f}" for view, weight in one["weights"].items())
            lines += ["", f"## {name}, {kind} (weights by spread: {weights})", ""]
            lines += ["| groups | NMI | ACC | ARI |", "|---|---|---|---|"]
            lines += [
                f"| {what} | {own['NMI']:.1f} | {own['ACC']:.1f} | {own['ARI']:.1f} |"
                for what, own in one["figures"].items()
            ]
    return "\n".join(lines) + "\n"


# Many rows


def measure_rows(n: int, K: int = 50) -> None:
    """Print the seconds of fits to made-up rows."""
    rng = np.random.default_rng(0)
    groups = rng.integers(K, size=n)
    own = rng.integers(20_000, size=(K, 300))
    words = np.where(
        rng.random((n, 30)) < 0.2,
        own[groups[:, None], rng.integers(300, size=(n, 30))],
        rng.integers(20_000, size=(n, 30)),
    )
    T = sparse.csr_array(
        (np.ones(30 * n), words.ravel(), np.arange(0, 30 * n + 1, 30)), shape=(n, 20_000)
    )
    T.sum_duplicates()
    centres = rng.normal(size=(K, 384)).astype(np.float32)
    E = centres[groups] + 6.0 * rng.standard_normal((n, 384), dtype=np.float32)
    for name, X in (("words", T), ("meaning", E), ("both", {"words": T, "meaning": E})):
        began, spent = time.perf_counter(), time.process_time()
        mixture = sm.VMFMixture(K, random_state=0).fit(X)
        seconds, cpu = time.perf_counter() - began, time.process_time() - spent
        ari = adjusted_rand_score(groups, mixture.labels_)
        print(f"{n:,} rows, {name}: {seconds:.1f} s, processor {cpu:.1f} s, ARI {ari:.3f}")


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "sets", nargs="*", help=f"some of {', '.join((*SETS, LONG))}; all by default"
    )
    parser.add_argument("--weights", action="store_true", help="try other weights of the words")
    parser.add_argument("--lengths", action="store_true", help="cut articles short")
    parser.add_argument("--unequal", action="store_true", help="merge groups afterwards")
    parser.add_argument("--rows", type=int, help="measure fits to so many made-up rows")
    options = parser.parse_args()
    if options.rows:
        measure_rows(options.rows)
        return
    path, one, write = FIGURES, compare, page
    if options.weights:
        path, one, write = WEIGHTS, weigh, weights_page
    if options.unequal:
        path, one, write = GROUPS, regroup, groups_page
    if options.lengths:
        path, one, write = LENGTHS_FILE, shorten, lengths_page
    known = json.loads(path.read_text()) if path.exists() else {}
    every = SETS if options.weights or options.unequal else (*SETS, LONG)
    every = tuple(ARTICLES) if options.lengths else every
    for name in options.sets or every:
        known[name] = one(name, known.get(name, {}))
        ordered = {key: known[key] for key in every if key in known}
        path.write_text(json.dumps(ordered, indent=1) + "\n")
        path.with_suffix(".md").write_text(write(ordered))
        print(name, json.dumps(known[name]))


if __name__ == "__main__":
    main()
