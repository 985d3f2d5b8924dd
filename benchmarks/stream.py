"""partial_fit on 20 newsgroups: what two epochs of a stream recover of batch fits.

Run as ``python benchmarks/stream.py``; it writes ``benchmarks/results/stream.txt``. Gains are in
log-likelihood over the fit of one component, on all rows.
"""

from __future__ import annotations

import time
import warnings
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from timing import ROOT, load_newsgroups, machine

import spheremix as sm

SEEDS, K, BATCHES, EPOCHS = range(10), 20, (1000, 2500, 5000, 9500), 2


def stream(X, batch, seed):
    """Follow a stream for two epochs, the rows in another order in each."""
    rng = np.random.default_rng(seed)
    mixture = sm.VMFMixture(K, init="random", random_state=seed)
    for _ in range(EPOCHS):
        order = rng.permutation(X.shape[0])
        for ids in np.split(order, range(batch, len(order), batch)):
            mixture.partial_fit(X[ids])
    return mixture


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    X = load_newsgroups()
    n = X.shape[0]
    rows = sm.as_directions(X)
    single = sm.VMFMixture(1, n_init=1).fit(rows).log_likelihood_
    gains = {name: [] for name in (*BATCHES, "one start", "ten starts")}
    seconds = dict.fromkeys(gains, 0.0)
    for seed in SEEDS:
        fits = {batch: partial(stream, X, batch, seed) for batch in BATCHES}
        fits["one start"] = partial(
            sm.VMFMixture(K, init="random", n_init=1, random_state=seed).fit, rows
        )
        fits["ten starts"] = partial(sm.VMFMixture(K, init="random", random_state=seed).fit, rows)
        for name, fit in fits.items():
            begin = time.perf_counter()
            mixture = fit()
            seconds[name] += time.perf_counter() - begin
            gains[name].append(n * mixture.score(rows) - single)
    means = {name: np.mean(each) for name, each in gains.items()}
    with (ROOT / "benchmarks" / "results" / "stream.txt").open("w") as out:
        print(machine(), file=out)
        print(f"20 newsgroups, {n} x {X.shape[1]}, K = {K}, {len(SEEDS)} seeds", file=out)
        print("gain in log-likelihood over one component, in millions of nats", file=out)
        for name, each in gains.items():
            what = f"batch fit, {name}" if isinstance(name, str) else f"two epochs by {name} rows"
            print(
                f"  {what:23}  mean {means[name] / 1e6:.3f}, from {min(each) / 1e6:.3f} to "
                f"{max(each) / 1e6:.3f}, {seconds[name] / len(SEEDS):.1f} s",
                file=out,
            )
        print("mean gain of the stream, of that of a batch fit", file=out)
        for name in ("one start", "ten starts"):
            for batch in BATCHES:
                print(f"  {batch} rows, {name}: {means[batch] / means[name]:.1%}", file=out)


if __name__ == "__main__":
    main()
