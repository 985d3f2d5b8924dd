"""The whole method on texts on which nothing was tuned: the chapters of six novels.

    python -m experiments.novels chapters.csv

The table has a column `text` and a column `novel`; experiments/chapters.R makes it. The paper's
way (its section 6): counts of words, random starts, criteria for the number of clusters, the path
of the penalty and the BIC. Our way: `spheremix explore` with its defaults. The novels are used for
the adjusted Rand index only.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import spheremix as sm
from experiments import filings_models as paper
from experiments.data import ari
from experiments.runner import RESULTS
from spheremix.text import read_documents, vectorize

if TYPE_CHECKING:
    from collections.abc import Iterable

NUMBERS = range(2, 13)
STARTS = 10
TARGET = RESULTS / "novels.md"


def table(heads: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> str:
    """Write a table."""
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n"


def papers_way(path: Path, seed: int) -> list[tuple[Any, ...]]:
    """Choose the number of clusters and of words as section 6 of the paper does."""
    corpus = read_documents(path, text="text", label="novel")
    found = vectorize(corpus, min_df=2, max_df=1.0, weighting="counts")
    data = paper.Filings(corpus.take(found.rows), found, sm.as_directions(found.X, n_threads=1))
    novels = np.unique([one[0] for one in data.events], return_inverse=True)[1]
    models = paper.search(data.rows, list(NUMBERS), STARTS, seed)
    K = max(models.indices, key=lambda K: models.indices[K])
    agreement = ari(novels, models.spheres[K].labels_)
    rows = [(f"Sk-means by Calinski-Harabasz, seed {seed}", K, f"{agreement:.2f}", "all")]
    blocks = {K: model for K, model in models.blocks.items() if model is not None}
    if blocks:
        K = min(blocks, key=lambda K: blocks[K].criteria_["aic"])
        agreement = ari(novels, blocks[K].labels_)
        rows.append((f"dbmovMFs by AIC, seed {seed}", K, f"{agreement:.2f}", "one cluster each"))
    else:
        rows.append((f"dbmovMFs, seed {seed}", "none: every start failed", "", ""))
    dense = models.mixtures.dense_models_
    for name in ("bic", "ebic", "ricc"):
        K = paper.turn(list(dense), [dense[K].criteria_[name] for K in dense])
        chosen, reading = paper.follow(data, dense[K])
        words = np.count_nonzero(chosen.model.best_estimator_.prototypes_, axis=1)
        agreement = ari(novels, chosen.model.labels_)
        how = f"mixture, first turn of {name.upper()}, path by BIC, seed {seed}"
        rows.append((how, reading.n_groups, f"{agreement:.2f}", int(np.median(words))))
    return rows


def our_way(path: Path, seed: int) -> list[tuple[Any, ...]]:
    """Let `explore` choose, with its defaults."""
    with tempfile.TemporaryDirectory() as folder:
        run = sm.explore_corpus(
            path, Path(folder) / "run", text="text", label="novel", k="2:12", seed=seed
        )
        K = len(run.groups["size"])
        words = int(np.median(run.groups["n_words"]))
        labels = np.asarray(run.documents["group"])
        novels = np.unique(np.asarray(run.documents["novel"]), return_inverse=True)[1]
        return [(f"explore, seed {seed}", K, f"{ari(novels, labels):.2f}", words)]


def main() -> None:
    """Run both ways and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("chapters", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    heads = ("way", "clusters", "ARI with the novels", "words a cluster (median)")
    rows = [row for seed in range(options.seeds) for row in papers_way(options.chapters, seed)]
    rows += [row for seed in range(options.seeds) for row in our_way(options.chapters, seed)]
    TARGET.write_text(table(heads, rows), encoding="utf-8")
    print(TARGET.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
