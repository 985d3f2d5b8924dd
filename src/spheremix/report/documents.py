"""The documents of a report: who they are, where they belong, where they stand on the map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.reading import agreement, contrast_words, document_positions
from spheremix.report.numbers import digits, numbered
from spheremix.report.texts import length
from spheremix.text import TextVectorizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.reading import Documents
    from spheremix.run.run import Run
    from spheremix.text import Corpus

LISTED = 10  # typical and ambiguous documents of a cluster
CONTRASTED = 16  # words that set the texts of a group apart
LARGEST = 2**16 - 1  # what the position 1 is written as


def describe(run: Run, found: Documents | None) -> dict[str, Any] | None:
    """Describe the documents that were kept; None where their rows are not known."""
    if found is None:
        return None
    n, several = len(found.labels), len(run.mixture.weights_) > 1
    corpus = run.kept_corpus
    texts = corpus.texts if corpus is not None and any(corpus.texts) else None
    columns, names, labels = _labels(corpus)
    dates = None if corpus is None else corpus.dates
    ids = list((run.documents or {}).get("id", ())) if corpus is None else corpus.ids
    return {
        "id": list(map(str, ids if len(ids) == n else range(1, n + 1))),
        "title": None if corpus is None else corpus.titles,
        "text": texts,
        "length": None if texts is None else [length(text) for text in texts],
        "date": dates,
        "labels": labels,
        "label_names": names,
        "label_columns": columns,
        "posterior": found.posteriors.astype(np.float32),
        "margin": found.margins.astype(np.float32),
        "log_odds": found.log_odds.astype(np.float32),
        "cosine": found.cosines.astype(np.float32),
        "cluster": numbered(found.labels, len(run.mixture.weights_)).astype(np.uint16),
        "leaf": None
        if run.leaves is None or run.nodes is None
        else numbered(run.leaves, run.nodes[-1].n_leaves).astype(np.uint16),
        "runner_up": found.second_groups.astype(np.uint16) if several else None,
    }


def _labels(
    corpus: Corpus | None,
) -> tuple[list[dict[str, Any]] | None, list[str] | None, list[list[int]] | None]:
    """Return columns of labels, the names of all labels, and the numbers of those of each document.

    The labels of a column follow each other, in the order of the alphabet; the column has the
    number of its first label, and of the one after its last.
    """
    if corpus is None or not corpus.labels:
        return None, None, None
    names: list[str] = []
    columns: list[dict[str, Any]] = []
    found: list[list[int]] = [[] for _ in corpus.ids]
    for column, values in corpus.labels.items():
        own = sorted({one for several in values for one in several})
        places = {name: i for i, name in enumerate(own, len(names))}
        columns.append({"name": column, "start": len(names), "stop": len(names) + len(own)})
        names += own
        for numbers, several in zip(found, values, strict=True):
            numbers += [places[one] for one in several]
    return columns, names, found


def compare(run: Run, found: Documents | None) -> list[dict[str, Any]]:
    """Compare clusters with the labels of each column, where a document has one at most."""
    if run.kept_corpus is None or found is None:
        return []
    compared = []
    for column, labels in run.kept_corpus.labels.items():
        if any(len(several) > 1 for several in labels):
            continue
        same = agreement(found.labels, labels)
        if np.isfinite(same.ari):
            entry = {"column": column, "ari": digits(same.ari), "nmi": digits(same.nmi)}
            compared.append(entry)
    return compared


def listed(found: Documents | None, K: int) -> dict[str, list[list[int]] | None]:
    """List the typical and the ambiguous documents of each cluster."""
    if found is None:
        return {"typical": None, "ambiguous": None}
    between: list[NDArray[np.intp]] = [np.empty(0, dtype=np.intp)] * K
    if K > 1:
        between = [found.ambiguous(LISTED, group=k) for k in range(K)]
    return {
        "typical": [found.typical(k, LISTED).tolist() for k in range(K)],
        "ambiguous": [ids.tolist() for ids in between],
    }


def word_counts(run: Run) -> tuple[Any, list[str]] | None:
    """Count the words of the texts, where columns are no words; those of a run are counted."""
    counted, rows, corpus = run.counts(), run.rows, run.kept_corpus
    if counted is not None and rows is not None:
        return counted[0][rows.kept], counted[1]
    if run.feature_names is not None or corpus is None or not any(corpus.texts):
        return None
    counter = TextVectorizer(lemmatizer=None)
    counts = counter.fit_count(corpus.texts)
    return counts, [str(word) for word in counter.vocabulary_]


def contrast(
    counted: tuple[Any, list[str]] | None, labels: NDArray[Any] | None, K: int
) -> list[list[tuple[str, float]]] | None:
    """Return the words that set the documents of each cluster apart, where words were counted.

    None where they were not, or where the model was fitted to other rows than the report has.
    """
    if counted is None or labels is None or len(labels) != counted[0].shape[0]:
        return None
    words = contrast_words(counted[0], labels, counted[1], CONTRASTED, n_groups=K)
    return [[(one.word, digits(one.z, 4)) for one in several] for several in words]


def layout(run: Run, found: Documents | None) -> dict[str, Any] | None:
    """Return the positions of the documents; None where their rows are not known.

    A run has them already; for a model they are computed. They are written as integers from 0 to
    65,535, x from left to right and y from bottom to top.
    """
    if found is None:
        return None
    positions = run.positions()
    if positions is None:
        positions = document_positions(run.matrix(), found.labels)
    whole = np.rint(np.clip(positions, 0.0, 1.0) * LARGEST).astype(np.uint16)
    return {"x": whole[:, 0].copy(), "y": whole[:, 1].copy()}
