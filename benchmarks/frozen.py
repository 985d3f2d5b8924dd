"""Rows that cannot change: fits whose sweeps leave them out, against fits that read all rows.

Both kinds of fits start at the same place and take turns; the least CPU time of several rounds
counts, since other programs may use the machine. Rows are left out even where the library reads all
of them. Run as ``python benchmarks/frozen.py``; it writes ``benchmarks/results/frozen.txt``.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import numpy as np
from timing import ROOT, load_newsgroups, machine

import spheremix as sm
from spheremix import em
from spheremix.data import frozen
from spheremix.models.skmeans import SphericalKMeansModel
from spheremix.models.vmf import VMFModel
from spheremix.penalties import L1
from spheremix.seeding import draw_starts

ROUNDS = 2
BETA = 3000.0  # penalty of a path at which most coordinates are zero
PLAINLY = np.inf  # work from which on rows are left out: never


def compared(out, title, fit):
    """Time a fit both ways; say how many rows were left out, and that both ends are the same."""
    work, seconds, ends, shares = frozen.LEAST_WORK, {}, {}, []
    sweep = frozen.FrozenRows.sweep

    def counted(self, scorers, weights, runs):
        found = sweep(self, scorers, weights, runs)
        shares.append(np.mean([self.left_out(run) for run in runs]) / self._rows.n_rows)
        return found

    for _ in range(ROUNDS):
        for way in ("all rows", "frozen"):
            frozen.LEAST_WORK = PLAINLY if way == "all rows" else -PLAINLY
            frozen.FrozenRows.sweep = counted if way == "frozen" else sweep
            shares.clear()
            begin = time.process_time()
            ends[way] = fit()
            spent = time.process_time() - begin
            seconds[way] = min(spent, seconds.get(way, np.inf))
    frozen.LEAST_WORK, frozen.FrozenRows.sweep = work, sweep
    plain, fast = ends["all rows"], ends["frozen"]
    line = (
        f"{title:46}{seconds['all rows']:8.2f} s {seconds['frozen']:8.2f} s"
        f"{seconds['all rows'] / seconds['frozen']:6.2f} x   {plain.n_iter} and {fast.n_iter} "
        f"iterations, {np.mean(shares):.0%} of the rows left out, objectives differ by "
        f"{abs(fast.objective / plain.objective - 1.0):.0e}"
    )
    print(line, file=out, flush=True)


def newsgroups(out):
    """Time a whole fit, late iterations, and a step of a path."""
    X = load_newsgroups()
    directions = sm.as_directions(X, n_threads=1)
    model, settings = VMFModel(X.shape[1], "shared"), em.Settings(tol=1e-7)

    def run(model, start, **limits):
        return em.fit(model, directions, [start], replace(settings, **limits))[0]

    for K, n_late in ((20, 30), (100, 10)):
        (start,) = draw_starts(model, directions, K, [0])
        if K == 20:
            title = "20 newsgroups, K = 20: whole fit"
            compared(out, title, lambda start=start: run(model, start))
        late = run(model, start, max_iter=40).parameters
        compared(
            out,
            f"20 newsgroups, K = {K}: {n_late} iterations after 40",
            lambda late=late, n_late=n_late: run(model, late, tol=-1.0, max_iter=n_late),
        )
        if K == 20:
            sparse = run(replace(model, l1=L1(BETA)), run(model, late).parameters)
            zeros = np.mean(sparse.parameters.prototypes == 0.0)
            compared(
                out,
                f"20 newsgroups, K = 20: a step at {zeros:.0%} zeros",
                lambda sparse=sparse: run(replace(model, l1=L1(1.05 * BETA)), sparse.parameters),
            )


def k_means(out):
    """Time spherical k-means on clusters that are apart, and on rows without clusters."""
    for n, d, K, kappa, title in (
        (50_000, 128, 50, 40.0, "clusters apart"),
        (50_000, 128, 50, 1e-3, "no clusters"),
    ):
        X, _, _ = sm.datasets.make_vmf_mixture(n, d, K, kappa=kappa, random_state=0)
        directions = sm.as_directions(X.astype(np.float32), n_threads=1)
        (start,) = draw_starts(SphericalKMeansModel(), directions, K, [0])
        settings = em.Settings(tol=1e-7, max_iter=30, e_step="hard")
        compared(
            out,
            f"k-means, {n} x {d}, K = {K}: {title}",
            lambda directions=directions, start=start, settings=settings: em.fit(
                SphericalKMeansModel(), directions, [start], settings
            )[0],
        )


def main():
    target = ROOT / "benchmarks" / "results" / "frozen.txt"
    with target.open("w") as out:
        print(f"{machine()}; CPU seconds on one thread, all rows and frozen", file=out)
        k_means(out)
        newsgroups(out)
    sys.stdout.write(target.read_text())


if __name__ == "__main__":
    main()
