"""Draw the figures that the pages quote from the gallery.

    python tools/draw_figures.py [NAME ...]

Runs the examples and writes docs/figures/*.png; with names, only the examples of those figures.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import matplotlib as mpl

ROOT = Path(__file__).parents[1]
DPI = 110

# Which figures of which example, counted from one as it draws them.
QUOTED = {
    "plot_benefit": {1: "benefit", 2: "benefit-prototypes"},
    "plot_choosing": {1: "choosing-k", 2: "choosing-beta"},
    "plot_concentrations": {1: "concentrations"},
    "plot_directions": {1: "directions"},
    "plot_path": {2: "path-words"},
    "plot_prototype_map": {1: "prototype-map", 2: "prototype-words"},
    "plot_sphere": {1: "sphere"},
    "plot_tree": {1: "tree"},
    "plot_why": {2: "why"},
}


def draw(example: str, figures: dict[int, str], folder: Path) -> None:
    """Run an example and save the figures that pages quote."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    plt.close("all")
    runpy.run_path(str(ROOT / "examples" / f"{example}.py"))
    for number, name in figures.items():
        plt.figure(number).savefig(folder / f"{name}.png", dpi=DPI, metadata={"Software": None})
    plt.close("all")


def main(wanted: list[str]) -> None:
    """Draw all figures, or the wanted ones."""
    mpl.use("agg")
    folder = ROOT / "docs" / "figures"
    unknown = set(wanted) - {name for figures in QUOTED.values() for name in figures.values()}
    if unknown:
        raise SystemExit(f"No example draws {', '.join(sorted(unknown))}.")
    for example, figures in QUOTED.items():
        if not wanted or set(wanted) & set(figures.values()):
            draw(example, figures, folder)


if __name__ == "__main__":
    main(sys.argv[1:])
