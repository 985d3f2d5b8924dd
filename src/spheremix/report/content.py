"""The content of a report: plain values and arrays, from which a page or a program takes all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.display.style import cluster_names, hues
from spheremix.reading import Reading
from spheremix.reading.words import ONLY_HERE_SHARE
from spheremix.report import documents as docs
from spheremix.report.layout import layout
from spheremix.report.overview import candidates, corpus_entry, model_entry
from spheremix.report.packing import packed_size
from spheremix.report.rows import heaviest
from spheremix.report.stability import stability_entry
from spheremix.report.steps import curves, read_steps
from spheremix.report.texts import shorten, token_forms
from spheremix.report.tree import tree_entry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.report.source import Source

FORMAT = "spheremix-report"
VERSION = 2
MAX_WORDS = 10_000  # columns shown
# Bytes of a report, packed. Base64 makes four bytes of three, and the page takes 0.2 million: less
# than 10 million in all.
BUDGET = 7_000_000
LEAST_TEXT = 500_000  # of them for texts, whatever the rest takes


def build(source: Source) -> dict[str, Any]:
    """Compute the content of a report; texts are cut to the room that the rest leaves."""
    content = _measured(source)
    documents = content["documents"]
    if documents is not None and documents["text"] is not None:
        texts, documents["text"] = documents["text"], None
        room = max(LEAST_TEXT, BUDGET - packed_size(content))
        documents["text"] = shorten(texts, room)
        if source.vectorizer is not None:
            places = {name: i for i, name in enumerate(content["words"])}
            content["forms"] = token_forms(documents["text"], source.vectorizer, places)
    return content


def _measured(source: Source) -> dict[str, Any]:
    """Compute all but the texts, which are whole, and their tokens."""
    reading = Reading(source.model, source.feature_names)
    shown = shown_words(source)
    steps = read_steps(source, shown)
    found = None if source.X is None else reading.documents(source.X)
    counted = docs.word_counts(source)
    contrast = docs.contrast(counted, None if found is None else found.labels, reading.n_groups)
    telling = None if contrast is None else [[word for word, _ in words] for words in contrast]
    named = Reading(
        source.model,
        source.feature_names,
        contrast=telling,
        names=source.names,
        X=None if source.feature_names is None else source.X,  # coordinates are in every document
    )
    K, path = reading.n_groups, source.path
    names, has_words = cluster_names(named), source.feature_names is not None or counted is not None
    exits = None if path is None else path.exit_betas_[:, shown].astype(np.float32)
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": source.title,
        "run": source.run,
        "edits": source.edits,
        "corpus": corpus_entry(source, reading.prototypes.shape[1] - len(shown)),
        "model": model_entry(source, len(shown), docs.compare(source, found)),
        "candidates": candidates(source, counted),
        "advice": source.advice,
        "remarks": source.remarks,
        "kind": "coordinates" if source.feature_names is None else "words",
        "words": [reading.feature_names[j] for j in shown],
        "hues": hues(K),
        "names": names,
        "tree": tree_entry(source.tree, names, words=has_words),
        "steps": steps.entries,
        "path": curves(path),
        "chosen": steps.chosen,
        "values": steps.values,
        "only_here": steps.only_here,
        "only_here_share": ONLY_HERE_SHARE,
        "prototypes": reading.prototypes[:, shown].astype(np.float32),
        "exit_betas": exits,
        "labels": steps.labels,
        "documents": docs.describe(source, found),
        "layout": layout(source, found),
        "rows": _rows(source, shown),
        "forms": None,
        "contrast": contrast,
        "firmness": stability_entry(source, shown),
        **docs.listed(found, K),
    }


def shown_words(source: Source) -> NDArray[np.intp]:
    """Return the columns that are shown: all of them, or those that survive longest."""
    prototypes = source.mixture.prototypes_
    d = prototypes.shape[1]
    if d <= MAX_WORDS:
        return np.arange(d)
    weights = np.abs(prototypes).max(axis=0)
    exits = weights if source.path is None else source.path.exit_betas_.max(axis=0)
    return np.sort(np.lexsort((-weights, -exits))[:MAX_WORDS])


def _rows(source: Source, shown: NDArray[np.intp]) -> dict[str, Any] | None:
    """Return the heaviest words of the documents, in the scores of the chosen step first."""
    if source.X is None or source.feature_names is None:
        return None
    mixtures = [source.mixture, *([] if source.path is None else [source.path.model(0)])]
    weights = [(one.kappas_[:, None] * np.abs(one.prototypes_)).max(axis=0) for one in mixtures]
    return heaviest(source.X, np.array(weights), shown)
