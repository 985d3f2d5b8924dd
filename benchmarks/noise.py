"""Documents that belong nowhere: how many are found, and what it costs those that belong.

Run as ``python benchmarks/noise.py``; it needs the folder of real data, named by SPHEREMIX_DATA.
It writes ``benchmarks/results/noise.md``. EVoC is compared where it is installed. With names of
sections, as ``python benchmarks/noise.py command priors``, only these are made again.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import tempfile
import time
import warnings

import numpy as np
from corpora import (
    ALL,
    FAR,
    boilerplate,
    counts,
    embeddings,
    empty,
    foreign,
    newsgroups,
    nonsense,
    planted_texts,
    texts_of,
)
from noise_figures import HEAD, judged, known_classes, ours, table
from noise_others import other_corpora
from noise_simulations import SIMULATED, simulations
from sets import load
from sklearn.cluster import HDBSCAN
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize
from timing import ROOT

import spheremix as sm
from spheremix.estimators.noise import quantiles, valley
from spheremix.estimators.problem import NoFitError
from spheremix.text import vectorize

TARGET = ROOT / "benchmarks" / "results" / "noise.md"
SEEDS = range(3)
SHORT_ROWS = 3000
LIMITS = ("auto", "0.02", "None")
NOTE = [
    "Kept: share of the rows that are no noise and have no label -1. ARI: of the same rows, those",
    "kept, by the mixture with noise and by the one without. Four other corpora: docstrings and",
    "the three of classic3; six: also poliblog5k (politics) and sec8k_stanford (business), so that",
    "a third of the noise has the subject of a class of bbc. Classes known: the F1 of the best",
    "threshold on the cosine with the means of the true classes, each row left out of its own.",
    "Documents of another corpus that resemble each other (139 of each in the 20 % of four) are",
    "clusters at K = 5, and no noise. Parameters known: the F1 of the most probable label if the",
    "directions, concentrations, weights and the share of noise are those of the simulation; and",
    "the best threshold on the true probability of noise. Directions of mean length 0.5 in 10",
    "dimensions overlap with uniform noise: no rule can reach .9 there.",
]


def planted():
    texts, labels = texts_of("bbc_news")
    pools = {name: texts_of(name)[0] for name in ALL}
    far, all_of_them = [pools[name] for name in FAR], list(pools.values())
    found = vectorize(texts)
    words, lengths = found.words, np.diff(found.X.indptr)
    kinds = {
        "5 % of four other corpora": lambda rng: foreign(rng, 117, far),
        "5 % of six": lambda rng: foreign(rng, 117, all_of_them),
        "10 % of six": lambda rng: foreign(rng, 247, all_of_them),
        "20 % of six": lambda rng: foreign(rng, 556, all_of_them),
        "20 % of four": lambda rng: foreign(rng, 556, far),
        "20 %: half four other corpora, half words at random": lambda rng: (
            foreign(rng, 278, far) + nonsense(rng, 278, words, lengths)
        ),
        "20 % words at random": lambda rng: nonsense(rng, 556, words, lengths),
        "10 % texts of one to three words": lambda rng: empty(rng, 247, words),
        "2 % boilerplate, 3 % words at random": lambda rng: (
            boilerplate(rng, 47) + nonsense(rng, 70, words, lengths)
        ),
    }
    for name, draw in kinds.items():
        drawn = [draw(np.random.default_rng(seed)) for seed in SEEDS]
        rows = [planted_texts(texts, labels, noise) for noise in drawn]
        for most in ("auto", 0.2, None):
            values = [ours(*rows[seed], 5, seed, max_noise=most) for seed in SEEDS]
            yield f"{name}, max_noise={most!r}", values
        if "of" in name:
            yield f"{name}, classes known", [known_classes(*one) for one in rows]


def humps():
    """Return the statistic by which "auto" tells noise with a hump of its own from a tail."""
    texts, labels = texts_of("bbc_news")
    pools = [texts_of(name)[0] for name in ALL]
    cases = {"bbc, K = 5": (planted_texts(texts, labels, [])[0], 5)}
    for share, n in ((5, 117), (10, 247), (20, 556)):
        noise = foreign(np.random.default_rng(0), n, pools)
        cases[f"bbc, {share} % of six, K = 5"] = (planted_texts(texts, labels, noise)[0], 5)
    for name, K in (("classic3", 3), ("cstr", 4), ("news4", 4), ("poliblog5k", 6)):
        cases[f"{name}, K = {K}"] = (counts(name)[0], K)
    cases |= {f"minilm_bbc, K = {K}": (embeddings()[0], K) for K in (5, 4)}
    for name, (X, K) in cases.items():
        free = sm.VMFMixture(K, noise="uniform", max_noise=None, random_state=0, n_threads=1).fit(X)
        clusters = sm.as_directions(X).map_rows(free.scorer_.clusters(), "log_density")
        odds = free.scorer_.biases[-1] + free.scorer_.offset - clusters
        (upper,) = quantiles(odds[free.labels_ >= 0], np.ones(sum(free.labels_ >= 0)), (0.75,))
        far = odds[odds > upper] - upper
        usual = sm.VMFMixture(K, noise="uniform", random_state=0, n_threads=1).fit(X)
        lost = [np.mean(one.labels_ < 0) for one in (usual, free)]
        yield name, [np.array([len(far), valley(far, np.ones(len(far)))[0], *lost])]


def own_groups():
    """Return what becomes of documents of four other corpora where there is room for them."""
    texts, labels = texts_of("bbc_news")
    far = [texts_of(name)[0] for name in FAR]
    for K in (5, 9):
        values = []
        for seed in SEEDS:
            noise = foreign(np.random.default_rng(seed), 556, far)
            X, truth = planted_texts(texts, labels, noise)
            found = sm.VMFMixture(K, random_state=seed, n_threads=1).fit(X).labels_
            strange = truth == "noise"
            purity = np.bincount(found[strange], minlength=K) / np.bincount(found, minlength=K)
            apart = np.mean(purity[found[strange]] > 0.9)
            ari = adjusted_rand_score(truth[~strange], found[~strange])
            values.append(np.array([np.sum(purity > 0.9), apart, ari]))
        yield f"20 % of four other corpora, K = {K}, no noise", values


def clean():
    texts, labels = texts_of("bbc_news")
    cases = {("bbc", 5): planted_texts(texts, labels, [])}
    cases |= {(name, K): counts(name) for name, K in (("classic3", 3), ("cstr", 4), ("news4", 4))}
    cases[("poliblog5k", 6)] = counts("poliblog5k")
    cases[("minilm_bbc", 5)] = embeddings()
    cases |= {(f"1,600 posts of 4 newsgroups, draw {i}", 4): newsgroups(i) for i in range(9)}
    for (name, K), (X, truth) in cases.items():
        for most in ("auto", None):
            values = [ours(X, truth, K, seed, max_noise=most) for seed in SEEDS[:1]]
            yield f"{name}, K = {K}, max_noise={most!r}", values


def short():
    """Return what noise costs clean short texts: rows, and the time of the fit."""
    for name, K in (("stackoverflow", 20), ("searchsnippets", 8), ("tweet", 30), ("banking77", 30)):
        X = load(name)[0]
        drawn = np.random.default_rng(0).permutation(X.shape[0])[:SHORT_ROWS]
        X, spent, lost = X[np.sort(drawn)], [], []
        for most in ("no noise", "auto", 0.02, None):
            noise = {} if most == "no noise" else {"noise": "uniform", "max_noise": most}
            begin = time.process_time()
            found = sm.VMFMixture(K, random_state=0, n_threads=1, **noise).fit(X)
            spent.append(time.process_time() - begin)
            lost.append(np.mean(found.labels_ < 0))
        beside = [one / spent[0] for one in spent[1:]]
        yield f"{name}, {X.shape[0]:,} texts, K = {K}", [np.array([*lost[1:], *beside])]


def left_out(X, truth, seed, n):
    """Return four classes and some rows of the fifth, the noise."""
    rng = np.random.default_rng(seed)
    last = str(seed % 5)
    rows = rng.choice(np.flatnonzero(truth == last), min(n, np.sum(truth == last)), replace=False)
    ids = np.concatenate([np.flatnonzero(truth != last), rows])
    return X[ids], np.where(truth == last, "noise", truth)[ids]


def uniform_beside(X, truth, seed, n):
    noise = np.random.default_rng(seed).normal(size=(n, X.shape[1])).astype(X.dtype)
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    return np.vstack([X, noise]), np.append(truth, ["noise"] * n)


def peers():
    X, truth = embeddings()
    X = normalize(X)
    planted = {
        "80 of a fifth class": lambda seed: (*left_out(X, truth, seed, 80), 4),
        "450 directions at random": lambda seed: (*uniform_beside(X, truth, seed, 450), 5),
    }
    for name, make in planted.items():
        values: dict[str, list] = {}
        for seed in range(5) if "class" in name else SEEDS:
            rows, known, K = make(seed)
            values.setdefault("ours", []).append(ours(rows, known, K, seed))
            found = HDBSCAN(min_cluster_size=15).fit(rows.astype(np.float64)).labels_
            values.setdefault("HDBSCAN", []).append(judged(known, found))
            if importlib.util.find_spec("evoc"):
                evoc = importlib.import_module("evoc")
                found = evoc.EVoC(random_state=seed).fit_predict(rows)
                values.setdefault("EVoC", []).append(judged(known, np.asarray(found)))
        for method, results in values.items():
            yield f"{name}: {method}", results


def command():
    """Return what noise does in the command: the mixture that it shows is sparse, fitted again."""
    texts, labels = texts_of("bbc_news")
    pools = [texts_of(name)[0] for name in ALL]
    for name, n_noise, limits in (
        ("bbc", 0, ("auto", 0.02, "free")),
        ("bbc, 20 % of six", 556, ("auto", "free")),
    ):
        noise = foreign(np.random.default_rng(0), n_noise, pools)
        truth = np.array(labels + ["noise"] * len(noise))
        plain = explored(texts + noise)
        for most in limits:
            found = explored(texts + noise, noise="uniform", max_noise=most)
            kept = found > -2  # all but those set aside
            figures = judged(truth[kept], found[kept], plain[kept])
            yield f"{name}, --noise uniform --max-noise {most}", [figures]


def explored(texts, **options):
    """Return the groups that the command finds; -1 belongs nowhere, -2 was set aside."""
    with tempfile.TemporaryDirectory() as folder:
        run = sm.explore_corpus(
            texts, f"{folder}/run", k=5, threads=1, min_relative_increase=0.05, **options
        )
        return np.array([-2 if k is None else k for k in run.documents["group"]])


def small_groups(seed, n_small, size, spread):
    """Return three large clusters, and small ones whose rows are nearly the same."""
    X, labels, _ = sm.datasets.make_vmf_mixture(600, 30, 3, kappa=40.0, random_state=seed)
    rng = np.random.default_rng(seed)
    middles = rng.normal(size=(n_small, 1, 30))
    few = (middles + spread * rng.normal(size=(n_small, size, 30))).reshape(-1, 30)
    truth = np.append(labels, 3 + np.repeat(np.arange(n_small), size))
    return normalize(np.vstack([X, few])), truth


def priors():
    """Fit concentrations of their own with and without a prior, each from the truth."""
    for size, spread in ((3, 0.0), (5, 1e-3), (5, 0.1)):
        for prior in (None, (0.5, 0.0), (1.0, 0.0), (1.0, 0.9)):
            values = []
            for seed in SEEDS:
                X, truth = small_groups(seed, 4, size, spread)
                found = sm.VMFMixture(7, init=truth, kappa="free", kappa_prior=prior, n_threads=1)
                try:
                    found.fit(X)
                except NoFitError:  # a small cluster has lost its rows
                    continue
                capped = np.sum(found.kappas_ >= 0.999 * found.kappa_max_)
                ari = adjusted_rand_score(truth, found.labels_)
                largest = np.median(found.kappas_[3:]) / np.median(found.kappas_[:3])
                values.append(np.array([capped, largest, ari]))
            name = f"3 clusters of 200 rows, 4 of {size} rows, spread {spread:g}"
            yield f"{name}, kappa_prior={prior}", values or [np.full(3, np.nan)]


def many_groups():
    """Fit 40 clusters of their own concentrations to four fifths of bbc, with and without prior."""
    texts, labels = texts_of("bbc_news")
    X, _ = planted_texts(texts, labels, [])
    order = np.random.default_rng(0).permutation(X.shape[0])
    fitted, held_out = X[order[:1780]], X[order[1780:]]
    for init in ("merge", "random"):
        for prior in (None, (1.0, 0.0), (1.0, 0.5), (1.0, 0.9)):
            values = []
            for seed in SEEDS:
                begin = time.process_time()
                found = sm.VMFMixture(
                    40, init=init, kappa="free", kappa_prior=prior, random_state=seed, n_threads=1
                ).fit(fitted)
                spent = time.process_time() - begin
                capped = np.sum(found.kappas_ >= 0.999 * found.kappa_max_)
                runs = np.mean([run.kappa_capped for run in found.runs_])
                scores = found.score(fitted), found.score(held_out)
                values.append(np.array([capped, runs, *scores, spent]))
            yield f"init={init!r}, kappa_prior={prior}", values


SECTIONS = {
    "simulations": ("Uniform noise in simulations, K = 4", simulations, SIMULATED),
    "planted": ("Noise planted in bbc, K = 5", planted, HEAD),
    "humps": (
        "Humps of noise: the statistic of the test, against 1.66",
        humps,
        ("rows", "beyond the quartile", "statistic", "noise by 'auto'", "by None", "seeds"),
    ),
    "others": ("Corpora on which no rule was made", other_corpora, HEAD),
    "groups": (
        "Documents of other corpora as clusters",
        own_groups,
        ("rows", "clusters of these documents", "share of them there", "ARI of bbc", "seeds"),
    ),
    "clean": ("Clean rows", clean, HEAD),
    "short": (
        "Clean short texts: share called noise, and the time of the fit beside one without noise",
        short,
        (
            "rows",
            *(f"{what} {most}" for what in ("lost by", "time of") for most in LIMITS),
            "seeds",
        ),
    ),
    "command": ("The command, K = 5: a path, fitted again without penalty", command, HEAD),
    "peers": ("Embeddings of bbc (minilm_bbc), side by side", peers, HEAD),
    "priors": (
        "A prior on concentrations (kappa free)",
        priors,
        ("rows", "kappas at the cap", "small / large kappa", "ARI", "fits"),
    ),
    "many": (
        "The same for 40 clusters of bbc (four fifths of it; the others are held out)",
        many_groups,
        (
            "fits",
            "kappas at the cap",
            "share of runs with one at the cap",
            "log-likelihood a row",
            "of rows held out",
            "seconds",
            "fits",
        ),
    ),
}


def main():
    warnings.simplefilter("ignore")
    known = {}
    if sys.argv[1:] and TARGET.exists():
        parts = TARGET.read_text(encoding="utf-8").split("\n## ")[1:]
        known = {part.partition("\n")[0]: f"## {part.strip()}" for part in parts}
    lines = ["# Documents that belong nowhere", "", "Made by `python benchmarks/noise.py`.", *NOTE]
    for name, (title, make, head) in SECTIONS.items():
        if name in sys.argv[1:] or title not in known:
            known[title] = "\n".join(table(title, make(), head))
        lines += ["", known[title]]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
