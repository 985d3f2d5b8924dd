"""Whole EM: restarts in one batch, the cost of an iteration, the share of the M-step, memory.

Run as ``python benchmarks/em.py``; it writes ``benchmarks/results/em.txt``.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
from timing import ROOT, interleaved, load_cstr, load_newsgroups, machine

import spheremix as sm
from spheremix import em, seeding
from spheremix.bessel import concentration
from spheremix.models.vmf import VMFModel
from spheremix.penalties import L1


def model_for(directions, beta=0.0, n_threads=1):
    d = directions.n_features
    return VMFModel(d, "shared", L1(beta), concentration(d, 1 - 1e-6), n_threads=n_threads)


def restarts(out):
    X, _ = load_cstr()
    directions = sm.as_directions(X, n_threads=1)
    model, settings = model_for(directions), em.Settings()
    starts = seeding.draw_starts(model, directions, 4, list(range(10)))
    best = interleaved(
        {
            "batch": lambda: em.fit(model, directions, starts, settings),
            "alone": lambda: [em.fit(model, directions, [one], settings) for one in starts],
            "estimator": lambda: sm.VMFMixture(
                4, init="random", n_init=10, random_state=0, n_threads=1
            ).fit(X),
        },
        rounds=20,
    )
    print("CSTR, K = 4, shared kappa, ten restarts to convergence, 1 thread", file=out)
    print(f"  one batch          {best['batch'] * 1e3:6.1f} ms", file=out)
    print(f"  one after another  {best['alone'] * 1e3:6.1f} ms", file=out)
    print(f"  ratio              {best['alone'] / best['batch']:6.2f}", file=out)
    print(f"  VMFMixture.fit     {best['estimator'] * 1e3:6.1f} ms, all told", file=out)


def iteration(out):
    X, labels = load_cstr()
    directions = sm.as_directions(X, n_threads=1)
    model = model_for(directions, beta=50.0)
    start = seeding.from_labels(model, directions, labels - labels.min(), 4)
    n = 50
    endless = em.Settings(tol=-1.0, max_iter=n)
    (scorer,) = [model.scorer(start)]
    (resultants,) = directions.sweep([scorer])
    best = interleaved(
        {
            "em": lambda: em.fit(model, directions, [start], endless),
            "sweep": lambda: [directions.sweep([scorer]) for _ in range(n)],
            "m_step": lambda: [model.m_step(resultants, start) for _ in range(n)],
        },
        rounds=20,
    )
    print("CSTR, K = 4, beta = 50, one EM iteration, 1 thread", file=out)
    print(f"  all told  {best['em'] / (n + 1) * 1e6:6.1f} microseconds", file=out)
    print(f"  sweep     {best['sweep'] / n * 1e6:6.1f}", file=out)
    print(f"  M-step    {best['m_step'] / n * 1e6:6.1f}", file=out)


def newsgroups(out):
    directions = sm.as_directions(load_newsgroups())
    dense = model_for(directions, n_threads=directions.n_threads)
    starts = seeding.draw_starts(dense, directions, 20, [0])
    (fit,) = em.fit(dense, directions, starts, em.Settings(max_iter=30))
    print("20 newsgroups, K = 20, fitted parameters, all threads", file=out)
    for beta in (0.0, 20.0, 200.0):
        model = replace(dense, l1=L1(beta))
        (at,) = em.fit(model, directions, [fit.parameters], em.Settings(max_iter=10))
        scorer = model.scorer(at.parameters)
        best = interleaved(
            {
                "sweep": lambda s=scorer: directions.sweep([s]),
                "m_step": lambda m=model, a=at: m.m_step(a.resultants, a.parameters),
            },
            rounds=15,
        )
        share = best["m_step"] / best["sweep"]
        print(
            f"  beta {beta:5.0f}: sweep {best['sweep'] * 1e3:6.2f} ms, "
            f"M-step {best['m_step'] * 1e3:5.2f} ms, share {share:.2f}",
            file=out,
        )


MEMORY = """
import sys
from pathlib import Path
sys.path.insert(0, "benchmarks")
import numpy as np
import spheremix as sm
from timing import load_newsgroups
kind, K = sys.argv[1], int(sys.argv[2])
if kind == "sparse":
    X = load_newsgroups()
else:
    X = np.random.default_rng(0).standard_normal((200_000, 384), dtype=np.float32)
from spheremix.scorer import Scorer
directions = sm.as_directions(X)
def memory(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))
matrix = np.random.default_rng(0).normal(size=(K, X.shape[1]))
scorer = Scorer(matrix, np.zeros(K))
Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
before = memory("VmRSS")
directions.sweep([scorer])
print((memory("VmHWM") - before) / 1024, K * X.shape[1] * 8 / 2**20)
"""


def memory(out):
    print("peak memory of a sweep beyond the input and the scorer", file=out)
    for kind, n_components in (("sparse", 20), ("sparse", 100), ("dense", 50), ("dense", 500)):
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", MEMORY, kind, str(n_components)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        used, unit = map(float, done.stdout.split())
        print(
            f"  {kind:6s} K = {n_components:3d}: {used:6.1f} MiB; K d doubles are {unit:6.1f} MiB",
            file=out,
        )


def main():
    target = ROOT / "benchmarks" / "results" / "em.txt"
    with target.open("w") as out:
        print(machine(), file=out)
        restarts(out)
        iteration(out)
        newsgroups(out)
        memory(out)
    sys.stdout.write(target.read_text())


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main()
