"""What the paper says of the reference models: sections 5.2 (simulated) and 5.3 (CSTR)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import stats

from experiments import printed
from experiments.claims import Claim, listed
from experiments.cstr import CRITERIA, FULL, dense_count
from experiments.data import TRUE_K
from experiments.drawing import NAMES, read

if TYPE_CHECKING:
    from pathlib import Path

CLOSE = 0.03  # of a mean in the dense table
CLOSE_SPARSE = 0.02


def comparison(results: Path) -> list[Claim]:
    """Return the claims of section 5.2."""
    models = read(results, "comparison_models")
    balanced = models[models["weights"] == "balanced"]
    return [
        *_blocks(balanced),
        *_spheres(balanced),
        *_unbalanced(models[models["weights"] == "unbalanced"]),
    ]


def _mean_ari(models: pd.DataFrame) -> pd.DataFrame:
    """Return the mean ARI of each method at each number of rows and of components."""
    columns = ["ari_mixture", "ari_skmeans", "ari_dbmovmfs"]
    return models.groupby(["n", "K"])[columns].mean()


def _blocks(balanced: pd.DataFrame) -> list[Claim]:
    """Judge dbmovMFs: how often it converges, and what it finds."""
    rates = balanced.groupby(["n", "K"])["converged_dbmovmfs"].mean()
    small, large = rates[200], rates[1000]
    others = balanced[["converged_mixture", "converged_skmeans"]].mean()
    four = _mean_ari(balanced).xs(TRUE_K, level="K")
    block, mixture = four["ari_dbmovmfs"], four["ari_mixture"]
    return [
        Claim(
            "dbmovMFs fails to converge from many starts, more so for large K; Sk-means and the "
            "mixture never fail.",
            f"share of converging runs with N = 200: {listed(small)} for "
            f"K = {listed(small.index, '{}')}; mixture {others['converged_mixture']:.3f}, Sk-means "
            f"{others['converged_skmeans']:.3f}.",
            bool(small.iloc[-1] < small.iloc[0] and small.iloc[-1] < 0.8 and others.min() > 0.99),
            "not all of it.",
        ),
        Claim(
            "It is worse with N = 1000.",
            f"{listed(large)}.",
            bool(large.mean() < small.mean()),
            "it is not.",
        ),
        Claim(
            "dbmovMFs cannot recover the planted structure.",
            f"mean ARI at K = 4: {block[200]:.2f} with N = 200 and "
            f"{block[1000]:.2f} with N = 1000, where the mixture has "
            f"{mixture[200]:.2f} and {mixture[1000]:.2f}.",
            bool(block[1000] < mixture[1000] / 2),
            "it does better than that.",
        ),
    ]


def _spheres(balanced: pd.DataFrame) -> list[Claim]:
    """Judge Sk-means against the mixture, components being balanced."""
    means = _mean_ari(balanced)
    four = means.loc[(1000, TRUE_K)]
    ahead = means["ari_mixture"] - means["ari_skmeans"]
    elsewhere = ahead[[key for key in ahead.index if key != (1000, TRUE_K) and key[1] > 2]]
    two = ahead[[key for key in ahead.index if key[1] == 2]]
    return [
        Claim(
            "Sk-means equals the mixture for N = 1000 and K = 4.",
            f"{four['ari_skmeans']:.3f} against {four['ari_mixture']:.3f}.",
            bool(abs(ahead[1000, TRUE_K]) < 0.01),
            "they differ.",
        ),
        Claim(
            "Elsewhere it is below, except for K = 2.",
            f"for K > 2 the mixture is ahead by {elsewhere.min():.3f} to {elsewhere.max():.3f}; "
            f"for K = 2 by {listed(two, '{:.3f}')} (N = 200, N = 1000).",
            bool((elsewhere > 0).all() and (two < 0.01).all()),
            "not everywhere.",
        ),
    ]


def _unbalanced(unbalanced: pd.DataFrame) -> list[Claim]:
    """Judge Sk-means against the mixture, components being unbalanced."""
    means = _mean_ari(unbalanced)
    gap = means["ari_mixture"] - means["ari_skmeans"]
    return [
        Claim(
            "With unbalanced components the mixture is better everywhere (N = 1000), and by more "
            "with N = 200.",
            f"mean lead {listed(gap[1000], '{:.3f}')} for K = {listed(gap[1000].index, '{}')} with "
            f"N = 1000, {listed(gap[200], '{:.3f}')} with N = 200.",
            bool((gap[1000] > 0).all() and gap[200].mean() > gap[1000].mean()),
            _behind(gap),
        ),
    ]


def _behind(gap: pd.Series) -> str:
    """Say where the mixture is not ahead."""
    behind = [str(K) for K, value in gap[1000].items() if value <= 0]
    parts = [f"behind at K = {', '.join(behind)} with N = 1000"] if behind else []
    if gap[200].mean() <= gap[1000].mean():
        parts.append("the mean lead with N = 200 is not larger")
    return "; ".join(parts) + "."


def dense_means(results: Path) -> pd.DataFrame:
    """Return mean and standard deviation of the ARI of each method at each K."""
    table = read(results, "cstr_dense")
    return table.groupby(["K", "method"])["ari"].agg(["mean", "std"])


def sparse_values(results: Path) -> dict[str, pd.Series]:
    """Return the ARI of every repetition at K = 4: references, then what each criterion chooses."""
    dense = read(results, "cstr_dense").query(f"K == {TRUE_K}").set_index("repetition")
    sparse = read(results, "cstr_sparse").query(f"K == {TRUE_K}").set_index("repetition")
    values = {
        "dbmovmfs": dense.loc[dense["method"] == "dbmovmfs", "ari"],
        "dense": dense.loc[dense["method"] == "shared", "ari"],
    }
    for name in printed.SPARSE:
        if name not in values:
            values[name] = sparse.loc[sparse["criterion"] == name, "ari"]
    return values


def _welch(first: str, second: str, K: int) -> float:
    """Test the difference of two printed means by their printed deviations."""
    known = printed.SPARSE | printed.DENSE[K] if K == TRUE_K else printed.DENSE[K]
    (one, sd_one), (two, sd_two) = known[first], known[second]
    found = stats.ttest_ind_from_stats(one, sd_one, FULL, two, sd_two, FULL, equal_var=False)
    return float(found.pvalue)


def t_tests(results: Path, searched: int | None = None) -> pd.DataFrame:
    """Return the paired t-tests that the paper reports, with our differences and p-values.

    With ``searched``, spherical k-means is that of so many runs of the search. ``p_printed`` is
    what the printed means and deviations say by themselves: Welch's test, without pairs.
    """
    table = read(results, "cstr_dense").set_index("repetition")
    if searched is not None:
        other = read(results, "search_models").query(f"runs == {searched}")
        other = other.set_index("repetition").assign(method="skmeans")
        table = pd.concat([table[table["method"] != "skmeans"], other])
    chosen = sparse_values(results)
    rows = []
    for first, second, K, level, significant in printed.T_TESTS:
        at_K = table[table["K"] == K]
        one, two = (
            chosen[name]
            if K == TRUE_K and name in chosen
            else at_K.loc[at_K["method"] == name, "ari"]
            for name in (first, second)
        )
        pairs = pd.concat([one, two], axis=1, keys=["one", "two"]).dropna()
        p = np.nan
        difference = (pairs["one"] - pairs["two"]).mean()
        if len(pairs) > 1 and (pairs["one"] - pairs["two"]).std() > 0:
            p = float(stats.ttest_rel(pairs["one"], pairs["two"]).pvalue)
        rows.append(
            {
                "pair": f"{NAMES[first]} - {NAMES[second]}",
                "K": K,
                "difference": difference,
                "p": p,
                "p_printed": _welch(first, second, K),
                "level": level,
                "printed": significant,
                "found": p < level,
                "agrees": bool(p < level and difference > 0) if significant else not p < level,
            }
        )
    return pd.DataFrame(rows)


def cstr(results: Path) -> list[Claim]:
    """Return the claims of section 5.3 that the tables must show."""
    means = read(results, "cstr_dense").pivot_table("ari", "K", "method")
    both = [
        (K, method, float(means[method][K] - row[method][0]))
        for K, row in printed.DENSE.items()
        for method in ("shared", "skmeans")
        if K in means.index
    ]
    far = [
        f"{NAMES[method]} at K = {K} ({gap:+.3f})" for K, method, gap in both if abs(gap) > CLOSE
    ]
    four = means.loc[TRUE_K]
    rest = four.drop("free")
    last = means.loc[means.index.max()]
    sparse = {name: float(values.mean()) for name, values in sparse_values(results).items()}
    gaps = {name: sparse[name] - row[0] for name, row in printed.SPARSE.items()}
    worst = max(gaps, key=lambda name: abs(gaps[name]))
    missed = ", ".join(
        f"{NAMES[name]} {gap:+.3f}" for name, gap in gaps.items() if abs(gap) > CLOSE_SPARSE
    )
    return [
        Claim(
            f"Shared kappa and Sk-means have the printed means within {CLOSE} for most K.",
            f"{len(both) - len(far)} of {len(both)} means are; "
            + (f"not {', '.join(far)}." if far else "all of them."),
            len(far) < len(both) / 2,
            "too few of them.",
        ),
        Claim(
            "At K = 4 free kappas are clearly the worst, the other three methods the same.",
            ", ".join(f"{NAMES[name]} {four[name]:.3f}" for name in means.columns)
            + f"; the others are within {rest.max() - rest.min():.3f} of each other.",
            bool(four["free"] < rest.min() - 0.1 and rest.max() - rest.min() <= 0.02),
            f"free kappas are the worst by {rest.min() - four['free']:.3f}, but the others are "
            "further apart than 0.02.",
            partly=bool(four["free"] < rest.min() - 0.1),
        ),
        Claim(
            f"dbmovMFs resists best to a K too large (K = {means.index.max()}).",
            ", ".join(f"{NAMES[name]} {last[name]:.3f}" for name in means.columns) + ".",
            bool(last.idxmax() == "dbmovmfs"),
            "another method is first.",
        ),
        Claim(
            f"The sparse models at K = 4 have the printed means within {CLOSE_SPARSE}.",
            f"the largest difference is {gaps[worst]:+.3f} ({NAMES[worst]}).",
            not missed,
            f"beyond it: {missed}.",
        ),
        *_criteria(results),
    ]


def _criteria(results: Path) -> list[Claim]:
    table = read(results, "cstr_dense")
    mixture = table[table["method"] == "shared"].groupby("K")[list(CRITERIA)].mean()
    own = table[table["method"] == "dbmovmfs"]
    block = own.groupby("K")[list(CRITERIA)].mean()
    full = dense_count(own).groupby("K")[list(CRITERIA)].mean()
    path = read(results, "cstr_sparse").pivot_table("value", "K", "criterion")
    best = {name: int(mixture[name].idxmin()) for name in CRITERIA}
    best_block = {name: int(block[name].idxmin()) for name in CRITERIA}
    best_full = {name: int(full[name].idxmin()) for name in CRITERIA}
    best_path = {name: int(path[name].idxmin()) for name in CRITERIA}
    top = int(mixture.index.max())

    def told(chosen: dict[str, int]) -> str:
        return ", ".join(f"{NAMES[name]} {K}" for name, K in chosen.items())

    return [
        Claim(
            "For dense mixtures AIC and BIC fall with K; EBIC or RIC (and possibly RICc) choose K.",
            f"smallest mean criterion at K = {told(best)}.",
            best["aic"] == best["bic"] == top
            and TRUE_K in {best["ebic"], best["ric"], best["ricc"]},
            "the smallest means are elsewhere.",
        ),
        Claim(
            "For dbmovMFs, which has few parameters, the AIC behaves better: it chooses K.",
            "counting weights and concentrations only, the smallest means are at K = "
            f"{told(best_block)}.",
            best_block["aic"] == TRUE_K,
            "with the count of this package the penalty is next to nothing. The paper does not say "
            f"how it counts. Looking afterwards for a count that would agree: {_gains(own)} With "
            f"d - 1 numbers a prototype, as if it were dense, they are at K = {told(best_full)}. "
            "This was chosen because it fits, and shows what the paper may have done, not that it "
            "did.",
        ),
        Claim(
            "When each criterion may also choose beta, all of them fall with K: none chooses K.",
            f"smallest mean criterion on the paths at K = {told(best_path)}.",
            all(top == K for K in best_path.values()),
            "for some criteria the penalty of another component is not made up for.",
        ),
    ]


def _gains(block: pd.DataFrame) -> str:
    """Say how many parameters a component must count for the AIC to choose the true K."""
    gains = block.groupby("K")["quality"].mean().diff()
    if TRUE_K not in gains.index or TRUE_K + 1 not in gains.index:
        return "these results have too few K."
    return (
        f"the log-likelihood gains {gains[TRUE_K]:.0f} nats from the fourth component and "
        f"{gains[TRUE_K + 1]:.0f} from the fifth, so the AIC chooses 4 when a component counts a "
        "number of parameters between the two."
    )
