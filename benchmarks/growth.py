"""Draw how the time of a sweep grows, from the table of ``benchmarks/results/sweep.txt``.

Run as ``python benchmarks/growth.py`` after ``python benchmarks/sweep.py --save``; it writes
``docs/figures/growth.svg``.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from timing import ROOT


def table():
    """Give factor, time by rows and time by components, of the section "Growth"."""
    lines = (ROOT / "benchmarks" / "results" / "sweep.txt").read_text().splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("Growth")) + 2
    rows = [line.split() for line in lines[begin : begin + 5]]
    return np.array([[float(row[0]), float(row[1]), float(row[3])] for row in rows])


def main():
    factor, by_rows, by_components = table().T
    figure = Figure(figsize=(5.5, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.loglog(factor, by_rows, "o-", color="#0072B2", label="non-zeros (K = 10)")
    axes.loglog(factor, by_components, "s-", color="#D55E00", label="components (4,000 rows)")
    axes.loglog(factor, by_rows[0] * factor, ":", color="0.5", label="proportional")
    axes.set_xticks(factor, [f"{f:.0f}x" for f in factor])
    axes.minorticks_off()
    axes.set(xlabel="size", ylabel="one soft sweep (ms)")
    axes.legend(frameon=False)
    figure.savefig(ROOT / "docs" / "figures" / "growth.svg")


if __name__ == "__main__":
    main()
