"""Figures of the studies, drawn from their result tables: `python -m experiments.figures`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from experiments import figures_cstr, pixels
from experiments.drawing import COLOURS, NAMES, boxes, grouped, panels, read
from experiments.runner import RESULTS
from spheremix.display import PathDisplay
from spheremix.display.style import in_style, save

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

ROWS = 500  # of the data sets of section 4.2
FOLDER = Path(__file__).resolve().parents[1] / "docs" / "figures" / "paper"


def draw(folder: Path = FOLDER, results: Path = RESULTS) -> list[str]:
    """Draw every figure whose tables are there; give their names."""
    drawn = []
    with in_style():
        for name, (table, plot) in FIGURES.items():
            if (results / f"{table}.csv").exists():
                save(plot(results), folder, name)
                drawn.append(name)
    return drawn


# Section 4.2


def path_steps(results: Path) -> Figure:
    """Draw beta, sparsity, log-likelihood and BIC along the path of the first data set."""
    steps = read(results, "path_steps").query("data == 0 and m_step == 'exact'")
    display = PathDisplay(
        steps["beta"],
        steps["sparsity"],
        steps["log_likelihood"],
        {"bic": steps["bic"]},
        {"bic": int(steps["bic"].to_numpy().argmin())},
        n_samples=ROWS,
    )
    figure = Figure((8.0, 4.4), layout="constrained")
    display.plot(figure.subplots(2, 2, sharex=True), against="step")
    return figure


def path_converged(results: Path) -> Figure:
    """Draw how many of ten random starts converge at each step of the path."""
    steps = read(results, "path_steps").query("data == 0")
    figure = Figure((8.0, 2.6), layout="constrained")
    titles = {"paper": "the paper's M-step", "exact": "exact M-step"}
    axes = figure.subplots(1, 2, sharey=True)
    for axis, (m_step, title) in zip(axes, titles.items(), strict=True):
        part = steps[steps["m_step"] == m_step]
        axis.bar(part["step"], part["random_converged"], color=COLOURS["bic"])
        axis.set(title=title, xlabel="step of the path")
        axis.xaxis.get_major_locator().set_params(integer=True)
    axes[0].set_ylabel("runs that converge, of 10")
    return figure


def path_grid(results: Path) -> Figure:
    """Draw a regular grid of betas, and the path's own ones on it."""
    grid = read(results, "path_grid")
    steps = read(results, "path_steps").query("data == 0 and m_step == 'exact'")
    figure = Figure((8.0, 2.6), layout="constrained")
    columns = {"sparsity": "sparsity", "log_likelihood": "log-likelihood", "bic": "BIC"}
    for axis, (column, label) in zip(figure.subplots(1, 3), columns.items(), strict=True):
        axis.plot(grid["beta"], grid[column], "-", color="0.4", lw=1, label="grid of 50")
        axis.plot(steps["beta"], steps[column], "o", ms=3, color=COLOURS["dense"], label="path")
        axis.set(xlabel="beta", title=label)
    figure.axes[0].legend(frameon=False)
    return figure


# Section 4.3


def by_configuration(
    table: str, columns: dict[str, str], ylabel: str, where: str
) -> Callable[[Path], Figure]:
    """Return the function that draws distributions of columns as a function of K."""

    def plot(results: Path) -> Figure:
        def panel(axis: Any, part: pd.DataFrame) -> None:
            boxes(axis, *grouped(part, columns))

        return panels(read(results, table).query(where), panel, "K", ylabel)

    return plot


def costs(results: Path) -> Figure:
    """Draw iterations of the dense fits, steps and iterations of the path, for N = 200."""
    table = read(results, "simulation_models").query("n == 200")
    columns = {
        "dense_iterations": "EM iterations, dense",
        "steps": "steps of the path",
        "path_iterations": "EM iterations on the path",
    }
    figure = Figure((9.0, 2.8), layout="constrained")
    for axis, (column, title) in zip(figure.subplots(1, 3), columns.items(), strict=True):
        boxes(axis, *grouped(table, {"bic": column}))
        axis.set(title=title, xlabel="K", ylim=(0, None))
    return figure


def selected(n: int) -> Callable[[Path], Figure]:
    """Return the function that draws how often AIC and BIC choose each K, dense and sparse."""

    def plot(results: Path) -> Figure:
        table = read(results, "simulation_selected").query(f"n == {n}")

        def panel(axis: Any, part: pd.DataFrame) -> None:
            for i, (kind, name) in enumerate(
                (kind, name) for name in ("aic", "bic") for kind in ("dense", "sparse")
            ):
                chosen = part.loc[part["criterion"] == name, kind]
                Ks = np.arange(1, 9)
                share = [np.mean(chosen == K) for K in Ks]
                label = f"{NAMES[name]}, {kind}"
                hatch = "////" if kind == "sparse" else None
                axis.bar(
                    Ks + 0.2 * (i - 1.5),
                    share,
                    0.18,
                    color=COLOURS[name],
                    alpha=0.5 if kind == "dense" else 1.0,
                    hatch=hatch,
                    edgecolor="white",
                    lw=0,
                    label=label,
                )
            axis.set_xticks(range(1, 9))

        return panels(table, panel, "K", "share of data sets")

    return plot


def recovery(n: int) -> Callable[[Path], Figure]:
    """Return the function that draws precision against recall of the planted zeros."""

    def plot(results: Path) -> Figure:
        table = read(results, "simulation_zeros").query(f"n == {n}")

        def panel(axis: Any, part: pd.DataFrame) -> None:
            for name in ("aic", "bic"):
                chosen = part[part["criterion"] == name]
                axis.plot(
                    chosen["recall"],
                    chosen["precision"],
                    "o",
                    ms=3,
                    alpha=0.6,
                    mew=0,
                    color=COLOURS[name],
                    label=NAMES[name],
                )
            axis.set(xlim=(0, 1.02), ylim=(0, 1.02))

        return panels(table, panel, "recall", "precision")

    return plot


def convergence(results: Path) -> Figure:
    """Draw the share of the runs of dbmovMFs that converge, for N = 200 and 1000."""
    table = read(results, "comparison_models").query("weights == 'balanced'")

    def panel(axis: Any, part: pd.DataFrame) -> None:
        for n, style in ((200, "o-"), (1000, "s--")):
            rates = part[part["n"] == n].groupby("K")["converged_dbmovmfs"].mean()
            axis.plot(rates.index, rates, style, ms=3, color=COLOURS["dbmovmfs"], label=f"N = {n}")
        axis.set(ylim=(0, 1.05))

    return panels(table, panel, "K", "converging runs")


ARI = {"dense": "ari_dense", "aic": "ari_aic", "bic": "ari_bic"}
ZEROS = {"aic": "sparsity_aic", "bic": "sparsity_bic"}
THREE = {"mixture": "ari_mixture", "skmeans": "ari_skmeans", "dbmovmfs": "ari_dbmovmfs"}
AGREEMENT = "adjusted Rand index"

FIGURES: dict[str, tuple[str, Callable[[Path], Figure]]] = {
    "path-steps": ("path_steps", path_steps),
    "path-converged": ("path_steps", path_converged),
    "path-grid": ("path_grid", path_grid),
    "simulation-costs": ("simulation_models", costs),
    "simulation-selected-200": ("simulation_selected", selected(200)),
    "simulation-selected-1000": ("simulation_selected", selected(1000)),
    "simulation-ari-200": (
        "simulation_models",
        by_configuration("simulation_models", ARI, AGREEMENT, "n == 200"),
    ),
    "simulation-ari-1000": (
        "simulation_models",
        by_configuration("simulation_models", ARI, AGREEMENT, "n == 1000"),
    ),
    "simulation-sparsity-200": (
        "simulation_models",
        by_configuration("simulation_models", ZEROS, "sparsity", "n == 200"),
    ),
    "simulation-sparsity-1000": (
        "simulation_models",
        by_configuration("simulation_models", ZEROS, "sparsity", "n == 1000"),
    ),
    "simulation-zeros-1000": ("simulation_zeros", recovery(1000)),
    "comparison-converged": ("comparison_models", convergence),
    "comparison-ari-200": (
        "comparison_models",
        by_configuration(
            "comparison_models", THREE, AGREEMENT, "n == 200 and weights == 'balanced'"
        ),
    ),
    "comparison-ari-1000": (
        "comparison_models",
        by_configuration(
            "comparison_models", THREE, AGREEMENT, "n == 1000 and weights == 'balanced'"
        ),
    ),
    "comparison-unbalanced-1000": (
        "comparison_models",
        by_configuration(
            "comparison_models", THREE, AGREEMENT, "n == 1000 and weights == 'unbalanced'"
        ),
    ),
    "cstr-dense": ("cstr_dense", figures_cstr.cstr_dense),
    "cstr-criteria-mixture": ("cstr_dense", figures_cstr.cstr_criteria("shared")),
    "cstr-criteria-dbmovmfs": ("cstr_dense", figures_cstr.cstr_criteria("dbmovmfs")),
    "cstr-sparse": ("cstr_sparse", figures_cstr.cstr_sparse),
    **{f"cstr-{name}": ("cstr_blocks", plot) for name, plot in pixels.FIGURES.items()},
}


def main(arguments: list[str] | None = None) -> None:
    """Draw the figures from the command line."""
    parser = argparse.ArgumentParser(prog="python -m experiments.figures")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args(arguments)
    print("\n".join(draw(chosen.folder, chosen.results)))


if __name__ == "__main__":
    main()
