"""What the paper says of its simulation study, section 4.3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments import printed
from experiments.claims import Claim, listed
from experiments.data import OVERLAPS, SPARSITIES, TRUE_K
from experiments.drawing import NAMES, read

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd


def simulation(results: Path) -> list[Claim]:
    """Return the claims of section 4.3."""
    return [
        *_costs(read(results, "simulation_models")),
        *_overfitting(read(results, "simulation_selected")),
        *_recovery(read(results, "simulation_selected")),
        *_agreement(read(results, "simulation_models")),
        *_zeros(read(results, "simulation_zeros")),
    ]


def _costs(models: pd.DataFrame) -> list[Claim]:
    several = models[models["K"] >= 2]
    columns = ["dense_iterations", "path_iterations", "steps"]
    small, large = (several[several["n"] == n].groupby("K")[columns].median() for n in (200, 1000))
    ratio = small["path_iterations"] / small["dense_iterations"]
    large_ratio = large["path_iterations"] / large["dense_iterations"]
    top = small.index.max()
    growth = {column: float(large[column][top] / small[column][top]) for column in columns}
    return [
        Claim(
            f"The median number of EM iterations of the dense model is above "
            f"{printed.DENSE_ITERATIONS} for K >= 2 (N = 200).",
            f"summed over the ten starts, {listed(small['dense_iterations'], '{:.0f}')} for "
            f"K = {listed(small.index, '{}')}.",
            bool((small["dense_iterations"] > printed.DENSE_ITERATIONS).all()),
            "how many it takes depends on the stopping rule, ours being 1e-7 nats a row; the order "
            "of magnitude is the same.",
        ),
        Claim(
            f"The median number of EM iterations on the path is below {printed.PATH_ITERATIONS}.",
            f"{listed(small['path_iterations'], '{:.0f}')}.",
            bool((small["path_iterations"] < printed.PATH_ITERATIONS).all()),
            "more are needed.",
        ),
        Claim(
            f"The median number of steps is at least {printed.STEPS} for K >= 2.",
            f"{listed(small['steps'], '{:.0f}')}.",
            bool((small["steps"] >= printed.STEPS).all()),
            "with K = 2 the 200 coordinates leave in fewer steps, several of them together.",
        ),
        Claim(
            "The path takes more iterations than the dense model by a factor far below its number "
            f"of steps (in the paper at most some {printed.ITERATIONS_RATIO}).",
            f"{ratio.min():.1f} to {ratio.max():.1f} times, for {small['steps'].min():.0f} to "
            f"{small['steps'].max():.0f} steps.",
            bool((ratio < small["steps"] / 5).all()),
            "the ratio is not far from the number of steps.",
        ),
        Claim(
            "With more observations iterations grow for large K; steps and the ratio of "
            "iterations change little.",
            f"at K = {top}, N = 1000 takes {growth['dense_iterations']:.1f} times the dense "
            f"iterations of N = 200, {growth['path_iterations']:.1f} times those of the path and "
            f"{growth['steps']:.2f} times the steps; the ratio path to dense is "
            f"{large_ratio[top]:.1f} against {ratio[top]:.1f}.",
            growth["dense_iterations"] > 1
            and 0.5 < growth["steps"] < 2
            and 0.5 < large_ratio[top] / ratio[top] < 2,
            "iterations grow, but those of dense models with K too large grow more than those of "
            "the path, so the ratio falls.",
            partly=growth["dense_iterations"] > 1 and 0.5 < growth["steps"] < 2,
        ),
    ]


def _chosen(selected: pd.DataFrame, n: int, criterion: str, kind: str) -> pd.Series:
    """Return the K that a criterion chooses on each data set."""
    return selected.loc[(selected["n"] == n) & (selected["criterion"] == criterion), kind]


def _true_share(selected: pd.DataFrame, n: int, criterion: str, kind: str) -> float:
    """Return the share of data sets on which a criterion chooses the true K."""
    return float((_chosen(selected, n, criterion, kind) == TRUE_K).mean())


def _overfitting(selected: pd.DataFrame) -> list[Claim]:
    """Judge whether sparse models choose more components, and when these are too many."""
    kinds = ("dense", "sparse")
    mean = {
        (name, kind): float(_chosen(selected, 200, name, kind).mean())
        for name in ("aic", "bic")
        for kind in kinds
    }
    found = {kind: _true_share(selected, 200, "bic", kind) for kind in kinds}
    over = {
        (n, kind): float((_chosen(selected, n, "aic", kind) > TRUE_K).mean())
        for n in (200, 1000)
        for kind in kinds
    }
    return [
        Claim(
            "Sparse models favour more components (N = 200).",
            f"mean K chosen by the AIC {mean['aic', 'dense']:.2f} dense and "
            f"{mean['aic', 'sparse']:.2f} sparse; by the BIC {mean['bic', 'dense']:.2f} "
            f"and {mean['bic', 'sparse']:.2f}.",
            mean["aic", "sparse"] > mean["aic", "dense"]
            and mean["bic", "sparse"] > mean["bic", "dense"],
            "not for both.",
        ),
        Claim(
            "This helps the BIC and drives the AIC into overfitting (N = 200).",
            f"the BIC finds K = 4 in {found['dense']:.0%} of the data sets dense and "
            f"{found['sparse']:.0%} sparse; the AIC goes beyond 4 in {over[200, 'dense']:.0%} "
            f"dense and {over[200, 'sparse']:.0%} sparse.",
            found["sparse"] > found["dense"] and over[200, "sparse"] > over[200, "dense"],
            "not for both.",
        ),
        Claim(
            "The AIC overfits even more with N = 1000.",
            f"beyond 4 in {over[1000, 'dense']:.0%} of the data sets dense and "
            f"{over[1000, 'sparse']:.0%} sparse, against {over[200, 'dense']:.0%} and "
            f"{over[200, 'sparse']:.0%} with N = 200.",
            over[1000, "dense"] >= over[200, "dense"]
            and over[1000, "sparse"] >= over[200, "sparse"],
            "not for both kinds of models.",
        ),
    ]


def _recovery(selected: pd.DataFrame) -> list[Claim]:
    """Judge how often each criterion finds the true number of components."""
    others = ("ebic", "ric", "ricc")
    names = ("aic", "bic", *others)
    small = {name: _true_share(selected, 200, name, "sparse") for name in names}
    dense = {name: _true_share(selected, 200, name, "dense") for name in names}
    large = {name: _true_share(selected, 1000, name, "sparse") for name in names[1:]}
    large_dense = _true_share(selected, 1000, "bic", "dense")
    return [
        Claim(
            "The BIC recovers K = 4 with N = 1000, dense and sparse.",
            f"in {large_dense:.0%} and {large['bic']:.0%} of the data sets.",
            min(large_dense, large["bic"]) > 0.9,
            "not always.",
        ),
        Claim(
            "The other criteria do worse than AIC and BIC with N = 200 and as well as the BIC with "
            "N = 1000.",
            "K = 4 found, sparse, N = 200: "
            + ", ".join(f"{NAMES[name]} {value:.0%}" for name, value in small.items())
            + " (dense: "
            + ", ".join(f"{NAMES[name]} {value:.0%}" for name, value in dense.items())
            + "); sparse, N = 1000: "
            + ", ".join(f"{NAMES[name]} {value:.0%}" for name, value in large.items())
            + ".",
            max(small[name] for name in others) <= max(small["aic"], small["bic"])
            and min(large.values()) > large["bic"] - 0.1,
            "some do better somewhere.",
        ),
    ]


def _agreement(models: pd.DataFrame) -> list[Claim]:
    true = models[models["K"] == TRUE_K].copy()
    true["drop"] = true["ari_aic"] - true["ari_bic"]
    small, large = true[true["n"] == 200], true[true["n"] == 1000]
    return [
        Claim(
            "With N = 200 and K = 4 the BIC makes the means too sparse for the ARI.",
            f"mean ARI {small['ari_dense'].mean():.3f} dense, {small['ari_aic'].mean():.3f} by the "
            f"AIC and {small['ari_bic'].mean():.3f} by the BIC.",
            bool(small["ari_bic"].mean() < small["ari_aic"].mean()),
            "the BIC does no worse.",
        ),
        _smaller_drop("more observations", large, small, "N = 1000 and N = 200"),
        _smaller_drop(
            "sparser means (N = 200)",
            small[small["sparsity"] == SPARSITIES[-1]],
            small[small["sparsity"] == SPARSITIES[0]],
            "15 % and 5 % of zeros",
        ),
        _smaller_drop(
            "less overlap (N = 200)",
            small[small["overlap"] == OVERLAPS[0]],
            small[small["overlap"] == OVERLAPS[-1]],
            "2.5 % and 5 % of overlap",
        ),
        Claim(
            "With more observations the chosen models are less sparse.",
            f"at K = 4, AIC {small['sparsity_aic'].mean():.2f} then "
            f"{large['sparsity_aic'].mean():.2f}, BIC {small['sparsity_bic'].mean():.2f} then "
            f"{large['sparsity_bic'].mean():.2f}.",
            bool(
                large["sparsity_aic"].mean() < small["sparsity_aic"].mean()
                and large["sparsity_bic"].mean() < small["sparsity_bic"].mean()
            ),
            "not for both.",
        ),
    ]


def _smaller_drop(what: str, less: pd.DataFrame, more: pd.DataFrame, told: str) -> Claim:
    """Judge a difference of mean drops by twice its standard error."""
    one, two = less["drop"], more["drop"]
    error = float(np.hypot(one.sem(), two.sem()))
    return Claim(
        f"The drop of the ARI from AIC to BIC at K = 4 is smaller with {what}.",
        f"{one.mean():.3f} and {two.mean():.3f} for {told}, the difference having a standard error "
        f"of {error:.3f}.",
        bool(two.mean() - one.mean() > 2 * error),
        "the difference is within two standard errors.",
    )


def _zeros(zeros: pd.DataFrame) -> list[Claim]:
    means = zeros.groupby(["n", "criterion"])[["precision", "recall"]].mean()
    values = {key: (row["precision"], row["recall"]) for key, row in means.iterrows()}

    def told(n: int) -> str:
        return ", ".join(
            f"{NAMES[name]} precision {values[n, name][0]:.2f} and recall {values[n, name][1]:.2f}"
            for name in ("aic", "bic")
        )

    aic, bic = np.array(values[1000, "aic"]), np.array(values[1000, "bic"])
    return [
        Claim(
            "Precision is low: both criteria choose too sparse means. The BIC has a better recall "
            "than the AIC and loses precision (N = 1000).",
            f"{told(1000)}.",
            bool(bic[1] > aic[1] and bic[0] < aic[0] and aic[0] < 0.6),
            "not all of it.",
        ),
        Claim(
            "Smaller data sets are worse in precision and roughly the same in recall.",
            f"N = 200: {told(200)}.",
            all(
                values[200, name][0] < values[1000, name][0]
                and abs(values[200, name][1] - values[1000, name][1]) < 0.15
                for name in ("aic", "bic")
            ),
            "precision is worse, but recall is higher, since sparser models are chosen.",
            partly=all(values[200, name][0] < values[1000, name][0] for name in ("aic", "bic")),
        ),
    ]
