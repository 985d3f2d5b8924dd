"""The documents of a report: who they are, where they belong, and words of their clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.reading import agreement, contrast_words
from spheremix.report.numbers import digits
from spheremix.report.texts import length
from spheremix.text import TextVectorizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.reading import Documents
    from spheremix.report.source import Source
    from spheremix.text import Corpus

LISTED = 10  # typical and ambiguous documents of a cluster, contrast words


def describe(source: Source, found: Documents | None) -> dict[str, Any] | None:
    """Describe the documents that were kept; None where their rows are not known."""
    if found is None:
        return None
    n, several = len(found.labels), len(source.mixture.weights_) > 1
    corpus = source.corpus
    texts = corpus.texts if corpus is not None and source.has_texts else None
    names, labels = _labels(corpus)
    dates = None if corpus is None else corpus.dates
    return {
        "id": [str(i) for i in range(1, n + 1)] if corpus is None else list(corpus.ids),
        "text": texts,
        "length": None if texts is None else [length(text) for text in texts],
        "date": None if dates is None else [None if one is None else str(one) for one in dates],
        "labels": labels,
        "label_names": names,
        "posterior": found.posteriors.astype(np.float32),
        "margin": found.margins.astype(np.float32),
        "log_odds": found.log_odds.astype(np.float32),
        "cosine": found.cosines.astype(np.float32),
        "cluster": found.labels.astype(np.uint16),
        "runner_up": found.runners_up.astype(np.uint16) if several else None,
    }


def _labels(corpus: Corpus | None) -> tuple[list[str] | None, list[list[int]] | None]:
    """Give the names of the labels, in the order of the alphabet, and those of each document."""
    if corpus is None or corpus.labels is None:
        return None, None
    names = sorted({str(one) for several in corpus.labels for one in several})
    places = {name: i for i, name in enumerate(names)}
    return names, [[places[str(one)] for one in several] for several in corpus.labels]


def compare(source: Source, found: Documents | None) -> dict[str, float] | None:
    """Compare clusters with labels, where each document has one at most."""
    labels = None if source.corpus is None else source.corpus.labels
    if found is None or labels is None or any(len(several) > 1 for several in labels):
        return None
    same = agreement(found.labels, labels)
    if not np.isfinite(same.ari):
        return None
    return {"ari": digits(same.ari), "nmi": digits(same.nmi)}


def listed(found: Documents | None, K: int) -> dict[str, list[list[int]] | None]:
    """List the typical and the ambiguous documents of each cluster."""
    if found is None:
        return {"typical": None, "ambiguous": None}
    between: list[NDArray[np.intp]] = [np.empty(0, dtype=np.intp)] * K
    if K > 1:
        between = [found.ambiguous(LISTED, cluster=k) for k in range(K)]
    return {
        "typical": [found.typical(k, LISTED).tolist() for k in range(K)],
        "ambiguous": [ids.tolist() for ids in between],
    }


def word_counts(source: Source) -> tuple[Any, list[str]] | None:
    """Count the words of the texts, where columns are no words; those of a run are counted."""
    if source.counts is not None or source.feature_names is not None:
        return source.counts
    if source.corpus is None or not source.has_texts:
        return None
    counter = TextVectorizer(lemmatizer=None)
    counts = counter.fit_count(source.corpus.texts)
    return counts, [str(word) for word in counter.vocabulary_]


def contrast(
    counted: tuple[Any, list[str]] | None, labels: NDArray[Any] | None, K: int
) -> list[list[tuple[str, float]]] | None:
    """Give the words that set the documents of each cluster apart, where words were counted.

    None where they were not, or where the model was fitted to other rows than the report has.
    """
    if counted is None or labels is None or len(labels) != counted[0].shape[0]:
        return None
    words = contrast_words(counted[0], labels, counted[1], LISTED, n_clusters=K)
    return [[(one.word, digits(one.z, 4)) for one in several] for several in words]
