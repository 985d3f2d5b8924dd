"""Figures of the study of filings, drawn from its tables by the displays of the package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np

from experiments.drawing import read
from experiments.filings_models import CRITERIA, turn
from experiments.filings_stories import event_table, month_table, told
from spheremix.display import (
    CriteriaDisplay,
    LabelsDisplay,
    PathDisplay,
    PrototypesDisplay,
    TimelineDisplay,
)
from spheremix.display.style import save
from spheremix.reading import Contingency, Timeline, layout

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def draw(folder: Path, results: Path) -> list[str]:
    """Draw every figure; give their names."""
    for name, display in FIGURES.items():
        figure = display(results).plot().figure_
        save(figure, folder, name)
        plt.close(figure)
    return list(FIGURES)


def names(results: Path) -> list[str]:
    """Name the clusters: their numbers, and their stories where they have one."""
    found = told(results)
    return [f"{k} {story[0].title}" if story else f"cluster {k}" for k, story in found.items()]


def criteria(method: str, shown: tuple[str, ...]) -> Callable[[Path], Any]:
    """Return the display of the criteria of dense models, one repetition a seed."""

    def display(results: Path) -> CriteriaDisplay:
        table = read(results, "filings_dense").query(f"method == '{method}'")
        each = {name: table.pivot_table(name, "K", "seed", dropna=False) for name in shown}
        Ks = each[shown[0]].dropna(how="all").index
        chosen, agreement = int(table.query("seed == 0").set_index("K")[shown[0]].idxmin()), None
        if method == "shared":
            first = table.query("seed == 0")
            chosen = turn(list(first["K"]), list(first["ricc"]))
            agreement = table.groupby("K")["agreement"].mean()
        return CriteriaDisplay(
            Ks,
            {name: values.loc[Ks, 0] for name, values in each.items()},
            {name: values.loc[Ks] for name, values in each.items()},
            chosen=chosen,
            agreement=agreement,
            n_samples=float(read(results, "filings_corpus")["filings"].iloc[0]),
        )

    return display


def path(results: Path) -> PathDisplay:
    """Return the display of the path."""
    steps = read(results, "filings_path")
    K = len(read(results, "filings_clusters"))
    shown = {name: steps[name].to_numpy() for name in ("aic", "bic", "ricc")}
    return PathDisplay(
        steps["beta"],
        steps["sparsity"],
        steps["log_likelihood"],
        shown,
        {name: int(values.argmin()) for name, values in shown.items()},
        n_nonzero=steps["nonzeros"] / K,
        n_samples=float(read(results, "filings_corpus")["filings"].iloc[0]),
    )


def prototypes(results: Path) -> PrototypesDisplay:
    """Return the display of the sparse prototypes."""
    words = read(results, "filings_words").pivot_table("weight", "cluster", "word", fill_value=0.0)
    sizes = read(results, "filings_clusters")["size"].to_numpy()
    n_words = int(read(results, "filings_corpus")["words"].iloc[0])
    nobodys = n_words - words.shape[1]  # which words they are makes no difference to the picture
    values = np.hstack([words.to_numpy(), np.zeros((len(words), nobodys))])
    return PrototypesDisplay(
        values,
        layout(values, sizes / sizes.sum()),
        sizes,
        names=names(results),
        words=[*words.columns, *[""] * nobodys],
    )


def events(model: str) -> Callable[[Path], Any]:
    """Return the display of the events by cluster."""

    def display(results: Path) -> LabelsDisplay:
        table = event_table(results, model)
        counts = table.to_numpy()
        sizes = read(results, "filings_sizes").query(f"model == '{model}'")["size"].to_numpy()
        found = Contingency(tuple(table.columns), counts, sizes, counts.sum(axis=0), 0)
        return LabelsDisplay(found, _named(results, model, len(sizes)))

    return display


def months(model: str) -> Callable[[Path], Any]:
    """Return the display of the clusters by month."""

    def display(results: Path) -> TimelineDisplay:
        table = month_table(results, model)
        every = np.arange(
            np.datetime64(table["month"].min(), "M"), np.datetime64(table["month"].max(), "M") + 1
        )
        K = int(table["cluster"].max())
        counts = np.zeros((K, len(every)), dtype=np.intp)
        places = np.searchsorted(every, table["month"].to_numpy(dtype="datetime64[M]"))
        counts[table["cluster"] - 1, places] = table["filings"]
        totals = counts.sum(axis=0)
        sizes = counts.sum(axis=1).astype(np.float64)  # each filing is in one cluster
        found = Timeline(tuple(str(month) for month in every), counts, 0, totals, sizes)
        return TimelineDisplay(found, _named(results, model, K))

    return display


def _named(results: Path, model: str, K: int) -> list[str]:
    if model == "sparse":
        return names(results)
    return [f"cluster {k}" for k in range(1, K + 1)]


FIGURES: dict[str, Callable[[Path], Any]] = {
    "criteria-dbmovmfs": criteria("dbmovmfs", ("aic", "bic", "ebic")),
    "events-dbmovmfs": events("dbmovmfs"),
    "months-dbmovmfs": months("dbmovmfs"),
    "criteria": criteria("shared", CRITERIA),
    "path": path,
    "prototypes": prototypes,
    "events": events("sparse"),
    "months": months("sparse"),
}
