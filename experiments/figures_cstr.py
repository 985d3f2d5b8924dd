"""Figures of section 5.3 that are drawn from its tables; `pixels` has the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from experiments.cstr import CRITERIA, ROWS, dense_count
from experiments.drawing import NAMES, boxes, read
from spheremix.display import CriteriaDisplay

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def cstr_dense(results: Path) -> Figure:
    """Draw the agreement with the classes of four dense methods."""
    table = read(results, "cstr_dense")
    Ks = sorted(table["K"].unique())
    groups = {
        method: [
            table.loc[(table["K"] == K) & (table["method"] == method), "ari"].dropna().to_numpy()
            for K in Ks
        ]
        for method in ("skmeans", "shared", "free", "dbmovmfs")
    }
    figure = Figure((8.0, 3.4), layout="constrained")
    axis = figure.subplots()
    boxes(axis, groups, Ks)
    axis.set(xlabel="K", ylabel="adjusted Rand index")
    axis.legend(frameon=False, ncols=4)
    return figure


def cstr_criteria(method: str) -> Callable[[Path], Figure]:
    """Return the function that draws criteria as functions of K, two standard deviations around."""

    def plot(results: Path) -> Figure:
        table = read(results, "cstr_dense").query(f"method == '{method}'")
        counts = {"": table}
        if method == "dbmovmfs":
            counts = {"2K - 1 parameters\n": table, "Kd + K - 1 parameters\n": dense_count(table)}
        figure = Figure((11.0, 2.4 * len(counts) + 0.2), layout="constrained")
        axes = figure.subplots(len(counts), len(CRITERIA), squeeze=False)
        for row, (label, counted) in zip(axes, counts.items(), strict=True):
            values = {name: counted.pivot_table(name, "K", "repetition") for name in CRITERIA}
            Ks = values["bic"].index
            CriteriaDisplay(Ks, repetitions=values, n_samples=ROWS).plot(row)
            row[0].set_ylabel(f"{label}{row[0].get_ylabel()}")
            for axis in row:
                axis.tick_params(labelsize=7)
        return figure

    return plot


def cstr_sparse(results: Path) -> Figure:
    """Draw agreement and sparsity of what each criterion chooses on the path at K = 4."""
    sparse = read(results, "cstr_sparse").query("K == 4")
    dense = read(results, "cstr_dense").query("K == 4")
    ari = {"dbmovmfs": dense.loc[dense["method"] == "dbmovmfs", "ari"]}
    ari["dense"] = dense.loc[dense["method"] == "shared", "ari"]
    ari |= {name: sparse.loc[sparse["criterion"] == name, "ari"] for name in CRITERIA}
    zeros = {name: sparse.loc[sparse["criterion"] == name, "sparsity"] for name in CRITERIA}
    figure = Figure((8.0, 3.0), layout="constrained")
    axes = figure.subplots(1, 2, width_ratios=(7, 5))
    for axis, values in zip(axes, (ari, zeros), strict=True):
        for place, (name, column) in enumerate(values.items()):
            boxes(axis, {name: [column.dropna().to_numpy()]}, [place])
        axis.set_xticks(range(len(values)), [NAMES[name] for name in values])
        axis.tick_params(axis="x", labelsize=8)
    axes[0].set_ylabel("adjusted Rand index")
    axes[1].set_ylabel("sparsity")
    return figure
