"""The same fits and paths by this version and by another one, taking turns.

Run as ``python benchmarks/versions.py FOLDER``. FOLDER is a checkout of the other version with its
kernels compiled (``git worktree add FOLDER a543e27`` for 0.1.0, and there ``python setup.py
build_ext --inplace``). It writes ``benchmarks/results/versions.txt``. Every fit has its own
process; the least seconds of two rounds count. ``--threads 1`` gives processor time, which says
more on a busy machine; ``--only cstr`` leaves out what has no such word in its name.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings

import numpy as np
from timing import ROOT, load_cstr, load_newsgroups, machine

NAMES = {
    "cstr path": "CSTR, K = 4: the path, relative increase 1e-3",
    "news path": "20 newsgroups, K = 20: the path, relative increase 0.05",
    "news fit 20": "20 newsgroups, K = 20: a fit to convergence",
    "news late 20": "20 newsgroups, K = 20: 30 iterations after 40",
    "news fit 200": "20 newsgroups, K = 200: a fit to convergence",
    "news late 200": "20 newsgroups, K = 200: 15 iterations after 40",
}


def fitted(name, threads):
    """Return what is timed, after what comes before it, and how many iterations it makes."""
    import spheremix as sm  # noqa: PLC0415  (of the version that is timed)

    X = load_cstr()[0] if name.startswith("cstr") else load_newsgroups()
    K = 4 if name.startswith("cstr") else 200 if name.endswith("200") else 20
    chosen = np.random.default_rng(0).choice(X.shape[0], K, replace=False)
    rows = np.asarray(X[chosen].todense())
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)

    def fit(init, **limits):
        return sm.VMFMixture(K, init=init, n_threads=threads, **limits).fit(X)

    if "path" in name:
        dense = fit(rows)
        increase = 1e-3 if name.startswith("cstr") else 0.05
        path = sm.VMFPath(K, init=dense, min_relative_increase=increase, n_threads=threads)
        return lambda: int(path.fit(X).n_iters_.sum())
    if "late" in name:
        middle = fit(rows, max_iter=40)
        return lambda: fit(middle, max_iter=30 if K == 20 else 15, tol=0.0).n_iter_
    return lambda: fit(rows).n_iter_


def child(name, threads):
    """Time one fit in this process."""
    warnings.simplefilter("ignore")
    clock = time.process_time if threads == 1 else time.perf_counter
    job = fitted(name, threads)
    begin = clock()
    n_iter = job()
    print(json.dumps([clock() - begin, n_iter]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="")
    parser.add_argument("--child", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child, given.threads)
        return
    target = ROOT / "benchmarks" / "results" / "versions.txt"
    kind = "processor time" if given.threads == 1 else "time"
    lines = [f"{machine()}; {kind} with {given.threads} threads: the other version, this one"]
    for name, title in NAMES.items():
        if given.only not in name:
            continue
        best = {}
        for _ in range(2):
            for which, folder in (("other", given.folder), ("this", str(ROOT))):
                environment = {**os.environ, "PYTHONPATH": f"{folder}/src"}
                command = [sys.executable, __file__, folder, "--threads", str(given.threads)]
                done = subprocess.run(  # noqa: S603
                    [*command, "--child", name],
                    env=environment,
                    check=True,
                    capture_output=True,
                    text=True,
                )
                found = json.loads(done.stdout.splitlines()[-1])
                best[which] = min(found, best.get(which, found))
        (before, n_before), (now, n_now) = best["other"], best["this"]
        lines.append(
            f"{title:56}{before:8.2f} s {now:8.2f} s {before / now:6.2f} x   "
            f"{n_before} and {n_now} iterations"
        )
        print(lines[-1], flush=True)
        target.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
