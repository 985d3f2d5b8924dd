"""When EM is close enough: seconds, and what changes, by the tolerance of a default fit.

Run as ``python benchmarks/em_tolerance.py``, in some minutes. It needs the folder of real data,
named by SPHEREMIX_DATA, and writes ``benchmarks/results/em_tolerance.md``. Every fit is a default
one at the number of classes, search included, on one thread; seconds are those of the processor.
"""

from __future__ import annotations

import time

import numpy as np
from scipy.optimize import linear_sum_assignment
from sets import load
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from timing import ROOT, machine

import spheremix as sm

TARGET = ROOT / "benchmarks" / "results" / "em_tolerance.md"
SETS = ("bbc", "minilm_bbc", "stackoverflow", "searchsnippets")
MOST_ROWS = 6000
TOLERANCES = (1e-7, 1e-6, 1e-5)  # the first one is the default
ABOUT = f"""# When EM is close enough

Made by `python benchmarks/em_tolerance.py`, which says what is measured. {machine()}.
At most {MOST_ROWS:,} rows of a set. Moved: rows in another group than by the first tolerance.

| set | K | tolerance | seconds | iterations of the best run | rows moved | NMI | ARI |
|---|---|---|---|---|---|---|---|
"""


def measured(name):
    """Yield a line of the table for each tolerance, the default first."""
    X, classes = load(name)
    if len(classes) > MOST_ROWS:
        drawn = np.random.default_rng(0).choice(len(classes), MOST_ROWS, replace=False)
        X, classes = X[np.sort(drawn)], classes[np.sort(drawn)]
    K, known = len(np.unique(classes)), None
    for tol in TOLERANCES:
        mixture = sm.VMFMixture(K, tol=tol, random_state=0, n_threads=1)
        begin = time.process_time()
        labels = mixture.fit(X).labels_
        seconds = time.process_time() - begin
        known = labels if known is None else known
        common = contingency_matrix(known, labels)
        stayed = common[linear_sum_assignment(common, maximize=True)].sum()
        yield (
            f"| {name} | {K} | {tol:g} | {seconds:.2f} | {mixture.n_iter_} | "
            f"{len(labels) - stayed} of {len(labels):,} | "
            f"{normalized_mutual_info_score(classes, labels):.4f} | "
            f"{adjusted_rand_score(classes, labels):.4f} |\n"
        )


def main():
    """Measure all sets, and write the table."""
    text = ABOUT
    for name in SETS:
        for line in measured(name):
            print(line, end="", flush=True)
            text += line
    TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
