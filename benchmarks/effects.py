"""Effects on shares of groups: coverage of intervals in simulations, and two published examples.

Run as ``python benchmarks/effects.py``; the examples need the folder of real data, named by
SPHEREMIX_DATA. It writes ``benchmarks/results/effects.md``. The simulations are made before, a
part at a time, so that several processes can work: ``python benchmarks/effects.py simulate few
many passages curves unstable dimensions topica`` (the last needs the package topica). They are
kept in ``benchmarks/results/effects.json``, and those that are there are not made again.
"""

from __future__ import annotations

import csv
import json
import sys
import warnings

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.feature_extraction.text import TfidfTransformer
from timing import DATA, ROOT

import spheremix as sm

try:
    import topica
except ImportError:
    topica = None

TARGET = ROOT / "benchmarks" / "results" / "effects.md"
KEPT = ROOT / "benchmarks" / "results"
K, D = 4, 30  # true groups, columns
N_SETS = {
    "few": 40,
    "many": 40,
    "passages": 40,
    "curves": 20,
    "unstable": 20,
    "dimensions": 12,
    "topica": 40,
}
OVERLAPS, PLANTED = (0.02, 0.1, 0.2), (0.0, 0.05, 0.15)
N_ROWS = {"few": 100, "many": 600}
NOTE = [
    "Draws from mixtures of four groups in 30 dimensions, two labels. Under one of them the share",
    "of one group is larger by what is planted, those of the others are smaller by a third of it.",
    "Intervals: 95 %, 200 draws of the documents. Covered: share of the intervals that contain",
    "the truth, of the differences of all groups / of the shares under each label. Told: how",
    "often the interval of the planted difference leaves zero out; where nothing is planted, how",
    "many of all differences do, 5 % if all is well. Mean of posteriors: the same difference,",
    "computed the other way. Curves: covered at 25 values, and at the two ends; mean error;",
    "width. Unstable: more components than groups; share of the groups that are not stable, and",
    "how often a difference is told though none is there. Dimensions: planted .15, overlap .1;",
    "intervals of groups that are not stable are hidden from users, and looked at here only.",
    "Topica: simulated texts, and the structural topic model of that package with its",
    "`estimate_effect`, which is the way of the R package stm.",
]


def rows_of(rng, X, y, groups):
    """Return rows of these groups, each taken once."""
    pools = [list(rng.permutation(np.flatnonzero(y == k))) for k in range(K)]
    return X[[pools[k].pop() for k in groups]]


def simulated(seed, n, overlap, planted, n_parts=1, d=D):
    """Return rows, their documents, labels, true shares by label and the true prototypes."""
    rng = np.random.default_rng(seed)
    X, y, truth = sm.datasets.make_vmf_mixture(
        5 * n * n_parts, d, K, overlap=overlap, random_state=seed
    )
    shares = np.full((2, K), 1.0 / K)
    shares[1] -= planted / (K - 1)
    shares[1, 0] = 1.0 / K + planted
    labels = rng.integers(2, size=n)
    if n_parts == 1:
        groups = [rng.choice(K, p=shares[label]) for label in labels]
    else:  # documents differ beyond their label
        own = [rng.dirichlet(4.0 * shares[label]) for label in labels]
        groups = [rng.choice(K, p=one) for one in own for _ in range(n_parts)]
    documents = np.repeat(np.arange(n), n_parts)
    return rows_of(rng, X, y, groups), documents, labels[documents], shares, truth


def matched(mixture, truth):
    """Return the true group of each component."""
    return linear_sum_assignment(mixture.prototypes_ @ truth.prototypes.T, maximize=True)[1]


def judged(seed, n, overlap, planted, n_parts=1):
    """Return what one data set says of the intervals."""
    X, documents, labels, shares, truth = simulated(seed, n, overlap, planted, n_parts)
    mixture = sm.VMFMixture(K, random_state=seed, n_threads=1).fit(X)
    names = matched(mixture, truth)
    column = sm.effects(
        mixture, X, labels, documents=documents, stability=np.ones(K), random_state=seed
    ).columns[0]
    found, true = column.difference(1, 0), (shares[1] - shares[0])[names]
    own = int(np.flatnonzero(names == 0)[0])
    posteriors = mixture.predict_proba(X)[:, own]
    return {
        "differences": float(np.mean((found.low <= true) & (true <= found.high))),
        "shares": float(
            np.mean((column.low <= shares[:, names]) & (shares[:, names] <= column.high))
        ),
        "told": float(found.told.mean() if planted == 0.0 else found.told[own]),
        "estimate": float(found.estimates[own]),
        "posteriors": float(posteriors[labels == 1].mean() - posteriors[labels == 0].mean()),
        "width": float(found.high[own] - found.low[own]),
    }


def curved(seed, n, overlap):
    """Return whether bands contain a planted curve: one group rises and falls with a number."""
    rng = np.random.default_rng(seed)
    X, y, truth = sm.datasets.make_vmf_mixture(5 * n, D, K, overlap=overlap, random_state=seed)
    when = rng.uniform(0.0, 10.0, n)

    def shares_at(times):
        logits = np.zeros((len(times), K))
        logits[:, 0] = 1.5 * np.sin(times / 10.0 * np.pi)
        return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)

    X = rows_of(rng, X, y, [rng.choice(K, p=one) for one in shares_at(when)])
    mixture = sm.VMFMixture(K, random_state=seed, n_threads=1).fit(X)
    names = matched(mixture, truth)
    column = sm.effects(
        mixture, X, {"when": when}, stability=np.ones(K), random_state=seed
    ).columns[0]
    true = shares_at(np.array(column.values))[:, names]
    covered = (column.low <= true) & (true <= column.high)
    return {
        "shares": float(covered.mean()),
        "ends": float(covered[[0, -1]].mean()),
        "error": float(np.abs(column.shares - true).mean()),
        "width": float(np.mean(column.high - column.low)),
    }


def unstable(seed, n, overlap, n_components):
    """Return what is said of groups that are not there: more components than groups."""
    X, _, labels, _, _ = simulated(seed, n, overlap, 0.0)
    mixture = sm.VMFMixture(n_components, random_state=seed, n_threads=1).fit(X)
    found = sm.effects(mixture, X, labels, n_replicates=100, random_state=seed)
    told = found.columns[0].difference(1, 0).told
    return {
        "unstable": float(np.mean(~found.stable)),
        "told": float(told[found.stable].mean()) if found.stable.any() else float("nan"),
    }


def wide(seed, n, d):
    """Return coverage in many dimensions, of groups that are stable and of those that are not."""
    X, _, labels, shares, truth = simulated(seed, n, 0.1, 0.15, d=d)
    mixture = sm.VMFMixture(K, random_state=seed, n_threads=1).fit(X)
    names = matched(mixture, truth)
    groups = sm.stability(mixture, X).groups
    column = sm.effects(mixture, X, labels, stability=np.ones(K), random_state=seed).columns[0]
    found, true = column.difference(1, 0), (shares[1] - shares[0])[names]
    covered, stable = (found.low <= true) & (true <= found.high), groups >= 0.5
    return {
        "stable": float(stable.mean()),
        "covered, stable": float(covered[stable].mean()) if stable.any() else float("nan"),
        "covered, not stable": float(covered[~stable].mean()) if not stable.all() else float("nan"),
    }


def texts_of(seed, n, n_words, planted, n_parts=3, n_vocabulary=300):
    """Return counts of words of passages, their topics, labels, true shares and the topics.

    A document has three passages, a passage one topic; half of the words are of no topic.
    """
    rng = np.random.default_rng(seed)
    common = rng.dirichlet(np.ones(n_vocabulary))
    topics = 0.5 * common + 0.5 * rng.dirichlet(np.full(n_vocabulary, 0.1), K)
    shares = np.full((2, K), 1.0 / K)
    shares[1] -= planted / (K - 1)
    shares[1, 0] = 1.0 / K + planted
    labels = rng.integers(2, size=n)
    own = [rng.dirichlet(4.0 * shares[label]) for label in labels]
    drawn = np.array([rng.choice(K, p=one) for one in own for _ in range(n_parts)])
    counts = np.array([rng.multinomial(n_words, topics[k]) for k in drawn])
    return counts, drawn, labels, shares, topics


def beside_stm(seed, n_words, planted, n=200):
    """Return coverage, estimate and width of the same difference, here and by STM of topica."""
    counts, drawn, labels, shares, topics = texts_of(seed, n, n_words, planted)
    documents, true = np.repeat(np.arange(n), len(drawn) // n), shares[1] - shares[0]
    X = TfidfTransformer(sublinear_tf=True).fit_transform(sparse.csr_array(counts.astype(float)))
    mixture = sm.VMFMixture(K, random_state=seed, n_threads=1).fit(X)
    common = np.zeros((K, K))
    np.add.at(common, (mixture.labels_, drawn), 1.0)
    names = linear_sum_assignment(common, maximize=True)[1]
    given = {"documents": documents, "stability": np.ones(K), "random_state": seed}
    found = sm.effects(mixture, X, labels[documents], **given).columns[0].difference(1, 0)

    words = [
        np.repeat(np.arange(len(topics[0])), counts[documents == i].sum(axis=0)) for i in range(n)
    ]
    model = topica.STM(K, seed=seed)
    by = labels[:, None].astype(float)
    model.fit([[f"w{j}" for j in one] for one in words], prevalence=by)
    vocabulary = [int(word[1:]) for word in model.vocabulary]
    alike = np.corrcoef(model.topic_word, topics[:, vocabulary])[:K, K:]
    theirs = linear_sum_assignment(alike, maximize=True)[1]
    effects = topica.estimate_effect(model, by, nsims=25, feature_names=["label"])
    low, high, size = (
        np.array([getattr(one, name)[1] for one in effects])
        for name in ("ci_low", "ci_high", "coef")
    )
    mine, other = int(np.flatnonzero(names == 0)[0]), int(np.flatnonzero(theirs == 0)[0])
    return {
        "covered": float(np.mean((found.low <= true[names]) & (true[names] <= found.high))),
        "estimate": float(found.estimates[mine]),
        "width": float(found.high[mine] - found.low[mine]),
        "covered, STM": float(np.mean((low <= true[theirs]) & (true[theirs] <= high))),
        "estimate, STM": float(size[other]),
        "width, STM": float(high[other] - low[other]),
    }


def labelled(part):
    n = N_ROWS[part]
    for overlap in OVERLAPS:
        for planted in PLANTED:
            name = f"{n} documents, overlap {overlap}, planted {planted}"
            yield name, lambda s, o=overlap, p=planted: judged(s, n, o, p)


def of_passages():
    for planted in (0.0, 0.15):
        name = f"100 documents of 6 passages, overlap 0.1, planted {planted}"
        yield name, lambda s, p=planted: judged(s, 100, 0.1, p, 6)


CONDITIONS = {  # by part: names, and functions of the seed
    "few": dict(labelled("few")),
    "many": dict(labelled("many")),
    "passages": dict(of_passages()),
    "curves": {f"{n} documents, overlap 0.1": lambda s, n=n: curved(s, n, 0.1) for n in (200, 600)},
    "unstable": {
        f"600 documents, overlap 0.1, {c} components": lambda s, c=c: unstable(s, 600, 0.1, c)
        for c in (4, 6, 8)
    },
    "dimensions": {
        f"{n} documents, {d} dimensions": lambda s, n=n, d=d: wide(s, n, d)
        for n, d in ((300, 100), (300, 300), (1000, 300))
    },
    "topica": {
        f"200 texts of three passages of {w} words, planted {p}": lambda s, w=w, p=p: beside_stm(
            s, w, p
        )
        for w in (40, 15)
        for p in (0.0, 0.15)
    },
}


def simulate(part):
    """Make the simulations of a part that are not there, and keep each as it is done."""
    target = KEPT / "effects.json"
    for name, make in CONDITIONS[part].items():
        kept = json.loads(target.read_text()) if target.exists() else {}
        if name in kept.get(part, {}):
            continue
        each = [make(1000 + seed) for seed in range(N_SETS[part])]
        means = {key: float(np.nanmean([one[key] for one in each])) for key in each[0]}
        kept = json.loads(target.read_text()) if target.exists() else {}
        kept.setdefault(part, {})[name] = means | {"n_sets": N_SETS[part]}
        target.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        print(part, name, {key: round(value, 3) for key, value in means.items()}, flush=True)


def simulation_lines(kept):
    columns = ("differences", "shares", "told", "estimate", "posteriors", "width")
    heads = "covered, differences | covered, shares | told | estimate | mean of posteriors | width"
    for part in ("few", "many", "passages"):
        found = kept.get(part, {})
        if not found:
            continue
        yield f"| | data sets | {heads} |"
        yield "|" + "---|" * 8
        for name in CONDITIONS[part]:
            if name in found:
                cells = " | ".join(f"{found[name][one]:.3f}" for one in columns)
                yield f"| {name} | {found[name]['n_sets']} | {cells} |"
        covered = np.mean([one["differences"] for one in found.values()])
        none = [one["told"] for name, one in found.items() if name.endswith("planted 0.0")]
        yield f"| **all** | | **{covered:.3f}** | | **{np.mean(none):.3f}** where none is | | | |"
        yield ""
    for part, heads in (
        ("curves", ("shares", "ends", "error", "width")),
        ("unstable", ("unstable", "told")),
        ("dimensions", ("stable", "covered, stable", "covered, not stable")),
        ("topica", ("covered", "estimate", "width", "covered, STM", "estimate, STM", "width, STM")),
    ):
        found = kept.get(part, {})
        if found:
            yield f"| {part} | data sets | {' | '.join(heads)} |"
            yield "|" + "---|" * (len(heads) + 2)
            for name, values in found.items():
                cells = " | ".join(f"{values[one]:.3f}".replace("nan", "") for one in heads)
                yield f"| {name} | {values['n_sets']} | {cells} |"
            yield ""


def answers():
    """Return rows, words and covariates of the survey of the R package stm."""
    with (DATA / "survey" / "gadarian.csv").open(encoding="utf-8") as lines:
        table = list(csv.DictReader(lines))
    found = sm.text.vectorize([one["open.ended.response"] for one in table], min_df=3)
    kept = [table[i] for i in found.rows]
    by = {
        "treatment": np.array([int(one["treatment"]) for one in kept]),
        "pid_rep": np.array([float(one["pid_rep"]) for one in kept]),
    }
    return found.X, found.vectorizer.vocabulary_, by


def blogs():
    """Return rows, words and covariates of the political blogs."""
    X = sparse.load_npz(DATA / "poliblog5k" / "X.npz").astype(np.float64)
    words = (DATA / "poliblog5k" / "vocabulary.txt").read_text(encoding="utf-8").split("\n")
    with (DATA / "poliblog5k" / "meta.csv").open(encoding="utf-8") as lines:
        meta = list(csv.DictReader(lines))
    by = {
        "rating": np.array([one["rating"] for one in meta]),
        "day": np.array([one["date"] for one in meta], dtype="datetime64[D]"),
    }
    return TfidfTransformer(sublinear_tf=True).fit_transform(X), words, by


def example(title, X, words, by, n_components):
    mixture = sm.VMFMixture(n_components, random_state=0, n_threads=1).fit(X)
    names = [
        " ".join(words[j] for j in np.argsort(-mixture.prototypes_[k])[:6])
        for k in range(n_components)
    ]
    found = sm.effects(mixture, X, by, names=names)
    yield f"## {title}"
    yield ""
    yield f"{n_components} groups, temperature {found.temperature:.1f}. What `print` says:"
    yield ""
    yield "```text"
    yield str(found)
    yield "```"
    yield ""
    for column in found.columns:
        pairs = list(column.pairs())
        for value, other in pairs[:3]:
            difference = column.difference(value, other)
            yield f"| {column.name}: {value} less {other} | stability | difference | 95 % |"
            yield "|---|---|---|---|"
            for k in range(n_components):
                yield (
                    f"| {names[k]} | {found.stability[k]:.2f} | {difference.estimates[k]:+.3f} "
                    f"| {difference.low[k]:+.3f} to {difference.high[k]:+.3f} |"
                )
            yield ""


def main():
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["simulate"]:
        for part in sys.argv[2:]:
            simulate(part)
        return
    target = KEPT / "effects.json"
    kept = json.loads(target.read_text()) if target.exists() else {}
    lines = ["# Effects", "", "Made by `python benchmarks/effects.py`.", *NOTE, ""]
    lines += ["## Simulations", "", *simulation_lines(kept)]
    lines += example("Survey about immigration (gadarian)", *answers(), 3)
    lines += example("Political blogs (poliblog5k)", *blogs(), 20)
    TARGET.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
