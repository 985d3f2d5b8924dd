"""When a step of a path is close enough: seconds, and what is chosen, by EM's tolerance.

Run as ``python benchmarks/path_tolerance.py``, in some minutes. It needs the folder of real data,
named by SPHEREMIX_DATA, and writes ``benchmarks/results/path_tolerance.md``. Every path is that of
``spheremix explore`` at the true number of groups, on one thread, from the same dense mixture; the
seconds are those of the processor. The tolerance was chosen on the sets of CHOSEN.
"""

from __future__ import annotations

import time

import numpy as np
from sets import load
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from timing import ROOT, machine

import spheremix as sm
from spheremix.run.options import ExploreOptions
from spheremix.run.stages.path import CLOSE_ENOUGH, sparse_path

TARGET = ROOT / "benchmarks" / "results" / "path_tolerance.md"
CHOSEN = ("stackoverflow", "searchsnippets", "tweet", "banking77")
HELD = ("bbc", "german", "cstr", "classic3", "news4", "20 newsgroups")
FINE = 1e-7  # the default of the library
ABOUT = f"""# When a step of a path is close enough

Made by `python benchmarks/path_tolerance.py`, which says what is measured. {machine()}.
The tolerance {CLOSE_ENOUGH:g} was chosen on the sets of the first table; the second took no part.
Seconds and steps of the path, then what is chosen on it: the number of words that its groups have,
the share of words that both have of all that one has, the agreement of its groups with those of
the tolerance {FINE:g} (ARI), and with the classes (NMI).
"""
HEAD = """
## {}

| set | tolerance | seconds | steps | words | words in both | ARI with the finest | NMI |
|---|---|---|---|---|---|---|---|
"""


def measured(name, tolerances):
    """Yield a line of the table for each tolerance, the finest one first."""
    X, classes = load(name)
    K = len(np.unique(classes))
    rows = sm.as_directions(X, n_threads=1)
    dense = sm.VMFMixture(K, random_state=0, n_threads=1).fit(rows)
    options = ExploreOptions(threads=1).completed(words=True, n_documents=len(classes))
    finest = None
    for tol in tolerances:
        path = sparse_path(K, options, dense).set_params(tol=tol)
        begin = time.process_time()
        path.fit(rows)
        seconds = time.process_time() - begin
        chosen = path.best_estimator_
        words = chosen.prototypes_ != 0.0
        finest = finest or (words, chosen.labels_)
        both = np.sum(words & finest[0]) / np.sum(words | finest[0])
        yield (
            f"| {name} | {tol:g} | {seconds:.2f} | {len(path.betas_)} | {words.sum():,} | "
            f"{both:.4f} | {adjusted_rand_score(finest[1], chosen.labels_):.4f} | "
            f"{normalized_mutual_info_score(classes, chosen.labels_):.4f} |\n"
        )


def main():
    """Measure all sets, and write the tables."""
    text = ABOUT
    for title, names, tolerances in (
        ("Chosen on", CHOSEN, (FINE, 1e-5, CLOSE_ENOUGH, 1e-3)),
        ("Not used for choosing", HELD, (FINE, CLOSE_ENOUGH)),
    ):
        text += HEAD.format(title)
        for name in names:
            for line in measured(name, tolerances):
                print(line, end="", flush=True)
                text += line
    TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
