"""How many clusters, and in how many words: a walk through a small corpus.

    python examples/plot_choosing.py [OUTPUT]

Six hundred simulated documents about the sea, the kitchen, the sky and music. Neighbouring subjects
share words, all of them share the words of every text, and most of the vocabulary is nobody's. The
figures go to OUTPUT-k.png and OUTPUT-beta.png.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

import spheremix as sm

if TYPE_CHECKING:
    from numpy.typing import NDArray

OUTPUT = Path(__file__).parents[1] / "docs" / "figures" / "choosing"
SUBJECTS = {
    "sea": "anchor beach boat captain coral current deck dock gull harbour island lighthouse mast "
    "oar port reef sail sailor shore tide",
    "kitchen": "apron bake bowl bread butter cake chef cook cream dough flour garlic kettle oven "
    "pan pepper recipe soup spoon sugar",
    "sky": "asteroid astronomer comet constellation cosmos crater dwarf eclipse galaxy gravity "
    "lunar meteor moon nebula observatory orbit planet star sun telescope",
    "music": "chord choir composer concert duet fiddle flute guitar lyric melody opera orchestra "
    "piano quartet rhythm singer sonata symphony tempo violin",
}
# Words of a subject and of the next one; the last subject is next to the first.
SHARED = ("fish oyster salt", "dish heat mass", "harmony resonance scale", "bass pitch wave")
COMMON = (
    "time day people place part work long great small hand old new way find give begin keep turn "
    "show call name side end point line year word thing help need"
)
N_RARE = 178
# Okabe and Ito's colours, which colour-blind readers tell apart; lines differ in style too.
STYLES = {
    "aic": {"color": "#D55E00", "linestyle": "--"},
    "bic": {"color": "#0072B2", "linestyle": "-"},
    "ebic": {"color": "#009E73", "linestyle": "-."},
    "ric": {"color": "#CC79A7", "linestyle": ":"},
    "ricc": {"color": "#56B4E9", "linestyle": (0, (5, 1, 1, 1, 1, 1))},
}
NAMES = {"aic": "AIC", "bic": "BIC", "ebic": "EBIC", "ric": "RIC", "ricc": "RICc"}
INK = "#333333"


def vocabulary() -> NDArray[np.str_]:
    """List the words: of each subject, shared, common, rare."""
    groups = [*SUBJECTS.values(), *SHARED, COMMON]
    rare = [f"rare{i:03d}" for i in range(N_RARE)]
    return np.array([word for group in groups for word in group.split()] + rare)


def corpus(
    n_documents: int = 600, seed: int = 0
) -> tuple[sparse.csr_array, NDArray[np.str_], NDArray[np.intp]]:
    """Simulate counts of words; give them with the words and the subject of each document."""
    words = vocabulary()
    position = {word: j for j, word in enumerate(words)}
    rng = np.random.default_rng(seed)
    subjects = np.zeros((4, len(words)))
    for k, own in enumerate(SUBJECTS.values()):
        listed = [position[word] for word in own.split()]
        subjects[k, listed] = rng.permutation(1.0 / np.arange(1.0, len(listed) + 1.0) ** 0.7)
        shared = [position[word] for word in f"{SHARED[k]} {SHARED[k - 1]}".split()]
        subjects[k, shared] = 0.5
    subjects /= subjects.sum(axis=1, keepdims=True)
    subjects = 0.9 * subjects + 0.1 * subjects.mean(axis=0)  # a document strays now and then
    common = np.zeros(len(words))
    common[[position[word] for word in COMMON.split()]] = 1.0 / np.arange(1.0, 31.0)
    rare = np.zeros(len(words))
    rare[-N_RARE:] = 1.0 / N_RARE
    labels = rng.integers(4, size=n_documents)
    counts = []
    for k in labels:
        mean = 0.50 * subjects[k] + 0.35 * common / common.sum() + 0.15 * rare
        # A document has its own words within its subject: it repeats some, and never has others.
        shares = rng.dirichlet(20.0 * mean + 1e-9)
        counts.append(rng.multinomial(5 + rng.poisson(25.0), shares))
    return sparse.csr_array(np.array(counts)), words, labels


def excess(values: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Give what a criterion has above its smallest value, per document."""
    return (values - np.nanmin(values)) / n


def draw_sizes(study: sm.VMFMixtureIC, n: int) -> Figure:
    """Draw each criterion against the number of clusters, and how far restarts agree."""
    figure = Figure(figsize=(9.6, 5.6), layout="constrained")
    axes = figure.subplots(2, 3, sharex=True)
    sizes = study.candidates_
    runs = study.table_
    for ax, (name, style) in zip(axes.flat, STYLES.items(), strict=False):
        best = study.dense_criteria_[name]
        each = [runs[name][runs["n_components"] == K] for K in sizes]
        mean = np.array([np.nanmean(values) for values in each])
        spread = 2.0 * np.array([np.nanstd(values) for values in each])
        low = best.min()
        bottom, top = (mean - spread - low) / n, (mean + spread - low) / n
        ax.fill_between(sizes, bottom, top, color=style["color"], alpha=0.18, lw=0)
        ax.plot(sizes, (mean - low) / n, color=style["color"], lw=1.0, ls="--")
        each_low = (runs[name] - low) / n
        ax.plot(runs["n_components"], each_low, ".", ms=3, color=style["color"], alpha=0.6)
        ax.plot(sizes, excess(best, n), color=style["color"], lw=2.0, marker="o", ms=4)
        ax.plot(
            sizes[best.argmin()],
            0.0,
            marker="*",
            ms=15,
            color=style["color"],
            mec="white",
            zorder=5,
        )
        ax.set_title(f"{NAMES[name]}: smallest at K = {sizes[best.argmin()]}", fontsize=11)
        ax.axvline(study.best_n_components_, color=INK, lw=0.8, ls=":", zorder=0)
    agreement = axes.flat[5]
    agreement.plot(sizes, study.agreement_, color=INK, lw=2.0, marker="o", ms=4)
    agreement.axvline(study.best_n_components_, color=INK, lw=0.8, ls=":", zorder=0)
    agreement.set_title("Agreement of the restarts (ARI)", fontsize=11)
    agreement.set_ylim(0.0, 1.05)
    for ax in axes[1]:
        ax.set_xlabel("number of clusters K")
    figure.supylabel("criterion above its smallest value, per document", fontsize=11)
    for ax in axes.flat:
        ax.set_xticks(sizes)
        ax.spines[["top", "right"]].set_visible(False)
    figure.suptitle(
        f"Dense mixtures: {NAMES[study.k_criterion]} chooses K = {study.best_n_components_}\n"
        "line: the best restart; dots: every restart; dashes and band: their mean, two standard "
        "deviations",
        fontsize=11,
    )
    return figure


def draw_path(path: sm.VMFPath, n: int) -> Figure:
    """Draw sparsity, log-likelihood and criteria against beta; mark what each criterion chooses."""
    figure = Figure(figsize=(9.6, 7.0), layout="constrained")
    axes = figure.subplots(3, 1, sharex=True)
    betas = path.betas_
    seen = betas >= betas[-1] / 200.0  # below that, nothing happens
    curves = {"sparsity": path.sparsity_, "likelihood": path.log_likelihoods_ / n}
    left = betas[seen][0] / 1.6  # the dense mixture has its place on a logarithmic axis too
    for ax, values in zip(axes, curves.values(), strict=False):
        ax.plot(betas[seen], values[seen], color=INK, lw=1.8)
        ax.plot([left, betas[seen][0]], [values[0], values[seen][0]], color=INK, lw=0.8, ls=":")
        ax.plot(left, values[0], "o", ms=6, color=INK)
    for name in ("aic", "bic", "ebic"):
        style, i = STYLES[name], path.select(name)
        values = excess(path.criteria_[name], n)
        words = path.n_nonzero_[i] / path.kappas_.shape[1]
        label = f"{NAMES[name]}: {words:.0f} words a cluster, sparsity {path.sparsity_[i]:.2f}"
        axes[2].plot(betas[seen], values[seen], lw=1.8, label=label, **style)
        axes[2].plot(left, values[0], "o", ms=6, color=style["color"])
        for ax, height in zip(axes, [*curves.values(), values], strict=True):
            ax.axvline(betas[i], color=style["color"], lw=0.9, ls=":", zorder=0)
            ax.plot(betas[i], height[i], "*", ms=14, color=style["color"], mec="white", zorder=5)
    dense = max(excess(path.criteria_[name], n)[0] for name in ("aic", "bic", "ebic"))
    axes[0].set(ylabel="sparsity", xscale="log", ylim=(0.0, 1.04))
    axes[1].set(ylabel="log-likelihood\nper document")
    axes[2].set(ylabel="criterion above its\nsmallest, per document", xlabel=r"$\beta$")
    axes[2].set_ylim(-0.08 * dense, 1.9 * dense)
    ticks = [beta for beta in (10, 20, 50, 100, 200, 500, 1000) if left < beta / 1.2 < betas[-1]]
    axes[2].set_xticks([left, *ticks], ["0", *map(str, ticks)])
    axes[2].minorticks_off()
    axes[2].legend(frameon=False, loc="upper left", bbox_to_anchor=(0.03, 1.05))
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    figure.suptitle(
        f"The path at K = {path.kappas_.shape[1]}: {len(betas)} steps, from the dense mixture "
        "(dots) to one word a cluster\nstars: the step that each criterion chooses",
        fontsize=11,
    )
    return figure


def read(
    path: sm.VMFPath, step: int, words: NDArray[np.str_], n_words: int = 8
) -> list[dict[str, Any]]:
    """Give for each cluster the words that stay longest, its own and those it shares.

    Words that leave together, as they do where a prototype collapses, are in the order of their
    coordinates.
    """
    prototypes = path.model(step).prototypes_
    order = np.lexsort((-np.abs(prototypes), -path.exit_betas_), axis=1)
    support = prototypes != 0.0
    shared = support.sum(axis=0) > 1
    return [
        {
            "size": path.sizes_[step, k],
            "own": [str(words[j]) for j in order[k] if support[k, j] and not shared[j]][:n_words],
            "shared": [str(words[j]) for j in order[k] if support[k, j] and shared[j]][:n_words],
        }
        for k in range(len(support))
    ]


def report(
    study: sm.VMFMixtureIC, clusters: list[dict[str, Any]], frequencies: NDArray[np.float64]
) -> None:
    """Print what was chosen, and the words of each cluster."""
    path = study.best_path_
    step = path.selected_
    print(f"EBIC chooses {study.best_n_components_} clusters among {study.candidates_}")
    print(
        f"BIC chooses step {step} of {len(path.betas_)}: beta {path.betas_[step]:.1f}, "
        f"sparsity {path.sparsity_[step]:.2f}"
    )
    support = path.model(step).prototypes_ != 0.0
    for k, cluster in enumerate(clusters):
        firm = (frequencies[k, support[k]] >= 0.9).sum()
        print(
            f"\ncluster {k}: {cluster['size']:.0f} documents, {support[k].sum()} words, "
            f"{firm} of them in 90 % of the bootstraps"
        )
        print("  own    ", " ".join(cluster["own"]))
        print("  shared ", " ".join(cluster["shared"]))


def main(
    output: str | Path | None = None, n_bootstrap: int = 20
) -> tuple[dict[str, Figure], sm.VMFMixtureIC, list[dict[str, Any]], NDArray[np.float64]]:
    """Choose K, then beta; print the words of each cluster; draw both choices."""
    counts, words, _ = corpus()
    X = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    study = sm.VMFMixtureIC(
        n_components=range(2, 9), k_criterion="ebic", beta_criterion="bic", random_state=0
    ).fit(X)
    path = study.best_path_
    frequencies = sm.stability_selection(path, X, n_bootstrap, random_state=0)
    clusters = read(path, path.selected_, words)
    report(study, clusters, frequencies)
    n = X.shape[0]
    figures = {"k": draw_sizes(study, n), "beta": draw_path(path, n)}
    for name, figure in figures.items():
        figure.savefig(f"{OUTPUT if output is None else output}-{name}.png", dpi=120)
    return figures, study, clusters, frequencies


if __name__ == "__main__":
    main(*sys.argv[1:2])
