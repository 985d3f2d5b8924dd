"""What a report says first: the corpus, the model that was chosen, and the other candidates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.reading import Reading, group_order
from spheremix.report.documents import contrast
from spheremix.report.numbers import digits
from spheremix.report.source import count_rows
from spheremix.select import CRITERIA

if TYPE_CHECKING:
    from spheremix.estimators.mixture import VMFMixture
    from spheremix.report.source import Source

LISTED = 10  # words of a cluster of a candidate


def corpus_entry(source: Source, n_dropped: int) -> dict[str, Any]:
    """Say where the documents come from and what was done to them."""
    corpus = source.corpus
    n_kept = len(source.mixture.labels_) if source.X is None else count_rows(source.X)
    return {
        "source": "" if corpus is None else _file_name(corpus.source),
        "format": "" if corpus is None else corpus.format,
        "n_documents": n_kept + len(source.set_aside),
        "n_kept": n_kept,
        "n_set_aside": len(source.set_aside),
        "set_aside": [list(one) for one in source.set_aside],
        "notes": [] if corpus is None else list(corpus.notes),
        "done": [list(one) for one in source.done],
        "n_words_dropped": n_dropped,
    }


def _file_name(source: str) -> str:
    """Return the name of a file: a report that is sent along tells nothing of its folders."""
    return Path(source).name if Path(source).is_absolute() else source


def model_entry(source: Source, n_shown: int, agreement: list[dict[str, Any]]) -> dict[str, Any]:
    """Say what was chosen, and by what."""
    mixture, path = source.mixture, source.path
    K, d = mixture.prototypes_.shape
    kappa = mixture.kappa if isinstance(mixture.kappa, str) else np.asarray(mixture.kappa)
    return {
        "n_clusters": K,
        "has_nowhere": source.has_noise,
        "n_words": d,
        "n_words_shown": n_shown,
        "beta": float(mixture.beta),
        "sparsity": digits(1.0 - np.count_nonzero(mixture.prototypes_) / mixture.prototypes_.size),
        "kappa": "given" if np.ndim(kappa) else kappa if isinstance(kappa, str) else float(kappa),
        "k_criterion": source.k_criterion if len(source.dense) > 1 else None,
        "criterion": None if path is None else path.criterion.lower(),
        "relaxed": path is not None and path.relaxed,
        "seed": source.seed,
        "status": mixture.status_ if path is None else path.status_,
        "log_likelihood": digits(mixture.log_likelihood_, 12),
        "agreement": agreement,
    }


def candidates(source: Source, counted: tuple[Any, list[str]] | None) -> list[dict[str, Any]]:
    """Describe the numbers of clusters that were tried, each by its dense mixture.

    Clusters of embeddings are named by what was counted in their texts, if anything.
    """
    chosen = len(source.mixture.weights_)
    dense = source.dense
    if chosen not in dense:  # one path, or one mixture: there was one candidate
        dense = {chosen: source.mixture if source.path is None else source.path.model(0)}
    return [
        {
            "n_clusters": K,
            "chosen": chosen == K,
            "n_converged": sum(run.status == "converged" for run in model.runs_),
            "n_starts": len(model.runs_),
            "agreement": _finite(source.agreement.get(K)),
            "log_likelihood": digits(model.log_likelihood_, 12),
            "n_nonzero": int(np.count_nonzero(model.prototypes_)),
            "criteria": {name: digits(model.criteria_[name], 12) for name in CRITERIA},
            "clusters": _clusters(model, source.feature_names, counted),
        }
        for K, model in sorted(dense.items())
    ]


def _finite(value: float | None) -> float | None:
    """Return a number, or None where there is none, as for the agreement of one start."""
    return digits(value) if value is not None and np.isfinite(value) else None


def _clusters(
    model: VMFMixture, feature_names: list[str] | None, counted: tuple[Any, list[str]] | None
) -> list[dict[str, Any]]:
    """List the clusters of a candidate by weight, with their most characteristic words."""
    order = [int(k) for k in group_order(model.weights_)]
    labels = getattr(model, "labels_", None)
    sizes = None if labels is None else np.bincount(labels[labels >= 0], minlength=len(order))
    words: list[list[str]] = [[] for _ in order]
    if feature_names is not None:
        vocabulary = Reading(model, feature_names).vocabulary
        words = [[one.word for one in vocabulary.words(k, LISTED)] for k in order]
    elif (found := contrast(counted, labels, len(order))) is not None:
        words = [[word for word, _ in found[k]] for k in order]
    return [
        {
            "size": None if sizes is None else int(sizes[k]),
            "weight": digits(model.weights_[k]),
            "words": words[i],
        }
        for i, k in enumerate(order)
    ]
