"""The beta path: against a plain rendering of Algorithm 3, and at the size of 20 newsgroups.

Run as ``python benchmarks/path.py``; it writes ``benchmarks/results/path.txt`` and the figure
``docs/figures/sweep_cost.svg``.
"""

from __future__ import annotations

import sys
import time

import matplotlib as mpl
import numpy as np
from plain_path import follow
from timing import ROOT, interleaved, load_cstr, load_newsgroups, machine

import spheremix as sm

mpl.use("Agg")
from matplotlib import pyplot as plt


def cstr(out):
    X, _ = load_cstr()
    X = X.multiply(1.0 / np.sqrt(X.multiply(X).sum(axis=1))[:, None]).tocsr()
    dense = sm.VMFMixture(4, init="random", n_init=50, random_state=0).fit(X)
    path = sm.VMFPath(4, init=dense, n_threads=1)
    plain = []

    def run_plain():
        plain[:] = follow(X, dense.prototypes_, dense.kappas_[0], dense.weights_)

    best = interleaved({"spheremix": lambda: path.fit(X), "plain": run_plain}, rounds=3)
    print(
        "CSTR, K = 4, shared kappa, relative increase 1e-3, dense start given, 1 thread", file=out
    )
    print(
        f"  spheremix  {best['spheremix']:.3f} s, {len(path.betas_)} steps, "
        f"{path.n_iters_.sum()} EM iterations, ends at {path.n_nonzero_[-1]} non-zeros",
        file=out,
    )
    print(
        f"  plain      {best['plain']:.3f} s, {len(plain)} steps, "
        f"{sum(step[3] for step in plain)} EM iterations, ends at {plain[-1][1]} non-zeros",
        file=out,
    )
    print(f"  ratio      {best['plain'] / best['spheremix']:.1f}", file=out)


def newsgroups(out):
    X = load_newsgroups()
    dense = sm.VMFMixture(20, init="random", n_init=1, random_state=0).fit(X)
    path = sm.VMFPath(20, init=dense, min_relative_increase=0.05)
    begin = time.perf_counter()
    path.fit(X)
    seconds = time.perf_counter() - begin
    print("20 newsgroups tf-idf, K = 20, shared kappa, relative increase 0.05", file=out)
    print(
        f"  {seconds:.1f} s, {len(path.betas_)} steps, {path.n_iters_.sum()} EM iterations, "
        f"ends by {path.status_} at {path.n_nonzero_[-1]} non-zeros",
        file=out,
    )
    return X, path


def sweep_cost(X, path, out):
    """Time one sweep at steps along the path."""
    directions = sm.as_directions(X)
    steps = np.unique(np.linspace(0, len(path.betas_) - 1, 25).astype(int))
    model = path.state_.model
    seconds = []
    for i in steps:
        mixture = path.model(int(i))
        scorer = model.scorer(
            model.parameters(mixture.prototypes_, mixture.kappas_, mixture.weights_)
        )
        seconds.append(interleaved({"sweep": lambda s=scorer: directions.sweep([s])})["sweep"])
    print("one soft sweep along that path", file=out)
    for i, cost in zip(steps, seconds, strict=True):
        print(f"  sparsity {path.sparsity_[i]:.4f}   {cost * 1e3:6.2f} ms", file=out)
    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    axes.plot(path.sparsity_[steps], np.array(seconds) * 1e3, "o-", color="#0072B2")
    axes.set(xlabel="sparsity of the prototypes", ylabel="one soft sweep (ms)", ylim=(0, None))
    axes.set_title("One sweep along the path (20 newsgroups, K = 20)")
    figure.savefig(ROOT / "docs" / "figures" / "sweep_cost.svg")


def main():
    target = ROOT / "benchmarks" / "results" / "path.txt"
    with target.open("w") as out:
        print(machine(), file=out)
        cstr(out)
        X, path = newsgroups(out)
        sweep_cost(X, path, out)
    sys.stdout.write(target.read_text())


if __name__ == "__main__":
    main()
