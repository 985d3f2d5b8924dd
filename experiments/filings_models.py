"""Section 6 on another bank: its filings, and the models the paper compares on them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import spheremix as sm
from experiments.data import BESIDE, n_converged
from spheremix.metrics import calinski_harabasz_cosine
from spheremix.reading import Reading
from spheremix.text import read_documents, vectorize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from spheremix.text import Corpus, Vectorized

    Ids = NDArray[np.intp]

FILE = Path("sec8k_stanford") / "AF_only.jsonl.gz"
CRITERIA = ("aic", "bic", "ric", "ricc", "ebic")
PATH = {"min_relative_increase": 0.01, "max_steps": 1000}  # as printed


@dataclass(frozen=True)
class Filings:
    """The filings that have a direction, and their rows."""

    corpus: Corpus
    vectorized: Vectorized
    rows: Any

    @property
    def events(self) -> list[tuple[str, ...]]:
        """The events of each filing: the only labels that the file has."""
        return next(iter(self.corpus.labels.values()), [])


@dataclass(frozen=True)
class Search:
    """Models of every candidate K, started from one seed; None where every run failed."""

    mixtures: sm.VMFMixtureIC
    blocks: dict[int, Any]
    spheres: dict[int, Any]
    indices: dict[int, float]  # Calinski-Harabasz, of the partitions of spherical k-means


@dataclass(frozen=True)
class Chosen:
    """A model the study speaks of: clusters are numbered from the largest on."""

    K: int
    model: Any
    order: Ids  # clusters of the model, the largest first

    @property
    def labels(self) -> Ids:
        """Cluster of each filing, 0 for the largest."""
        return np.argsort(self.order)[self.model.labels_]

    @property
    def sizes(self) -> Ids:
        """Filings of each cluster."""
        return np.bincount(self.labels, minlength=self.K)


def place() -> Path:
    """Return the file of the filings."""
    return Path(os.environ.get("SPHEREMIX_DATA", BESIDE)) / FILE


def filings(min_count: int | None = None) -> Filings:
    """Read the filings and count their words, rare words dropped below ``min_count``."""
    return _filings(place(), min_count)


@lru_cache(maxsize=4)
def _filings(path: Path, min_count: int | None) -> Filings:
    corpus = read_documents(path)
    found = vectorize(corpus, min_count=min_count, min_df=2, max_df=1.0, weighting="counts")
    return Filings(corpus.take(found.rows), found, sm.as_directions(found.X, n_threads=1))


def search(rows: Any, Ks: Sequence[int], n_init: int, seed: int) -> Search:
    """Fit the three dense models at every candidate K."""
    start = {"init": "random", "n_init": n_init, "random_state": seed, "n_threads": 1}
    spheres = {K: sm.SphericalKMeans(K, **start).fit(rows) for K in Ks}
    return Search(
        sm.VMFMixtureIC(Ks, k_criterion="ricc", max_steps=1, **start).fit(rows),
        {K: _block(rows, K, start) for K in Ks},
        spheres,
        {K: calinski_harabasz_cosine(rows, model.labels_) for K, model in spheres.items()},
    )


def _block(rows: Any, K: int, start: dict[str, Any]) -> Any:
    try:
        return sm.VMFCoclustering(K, **start).fit(rows)
    except RuntimeError:  # every run lost a component or its columns
        return None


def candidates(found: Search, seed: int) -> list[dict[str, Any]]:
    """Return the table of the dense models: criteria by method and K."""
    rows = []
    every = {"shared": found.mixtures.dense_models_, "dbmovmfs": found.blocks}
    for method, models in (every | {"skmeans": found.spheres}).items():
        for i, (K, model) in enumerate(sorted(models.items())):
            row = {"seed": seed, "method": method, "K": K}
            row |= {name: getattr(model, "criteria_", {}).get(name, np.nan) for name in CRITERIA}
            row["calinski_harabasz"] = found.indices[K] if method == "skmeans" else np.nan
            row["agreement"] = found.mixtures.agreement_[i] if method == "shared" else np.nan
            row["converged"] = 0 if model is None else n_converged(model)
            rows.append(row)
    return rows


def turn(Ks: Sequence[int], values: Sequence[float]) -> int:
    """Return the first K where a criterion is below both neighbours; without one, the smallest."""
    for i in range(1, len(Ks) - 1):
        if values[i] < min(values[i - 1], values[i + 1]):
            return int(Ks[i])
    return smallest(Ks, values)


def smallest(Ks: Sequence[int], values: Sequence[float]) -> int:
    """Return the K of the smallest value."""
    return int(Ks[int(np.nanargmin(values))])


def references(found: Search) -> dict[str, Chosen]:
    """Choose the reference models: spherical k-means by its index, dbmovMFs by the AIC."""
    index = {K: -value for K, value in found.indices.items()}
    aic = {K: np.nan if m is None else m.criteria_["aic"] for K, m in found.blocks.items()}
    chosen = {
        "skmeans": (found.spheres, smallest(list(index), list(index.values()))),
        "dbmovmfs": (found.blocks, smallest(list(aic), list(aic.values()))),
    }
    return {name: _by_size(models[K], K) for name, (models, K) in chosen.items()}


def follow(data: Filings, dense: Any) -> tuple[Chosen, Reading]:
    """Follow the path from a dense mixture; the BIC chooses the step."""
    path = sm.VMFPath(len(dense.prototypes_), criterion="bic", init=dense, n_threads=1, **PATH)
    path.fit(data.rows)
    reading = Reading(path, data.vectorized.words)
    return _by_size(path, reading.n_groups), reading


def _by_size(model: Any, K: int) -> Chosen:
    sizes = np.bincount(model.labels_, minlength=K)
    return Chosen(K, model, np.argsort(-sizes, kind="stable"))
