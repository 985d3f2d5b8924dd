"""The content of a report: plain values and arrays, from which a page or a program takes all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.display.style import group_names
from spheremix.estimators.views import word_columns, words_of
from spheremix.reading import Reading
from spheremix.reading.words import ONLY_HERE_SHARE
from spheremix.report import documents as docs
from spheremix.report.overview import (
    advice_entry,
    candidate_entries,
    corpus_entry,
    edits_entry,
    effects_entry,
    given_names,
    model_entry,
    remark_entries,
    stability_entry,
    tree_entry,
)
from spheremix.report.packing import packed_size
from spheremix.report.sample import Shown, sentence
from spheremix.report.steps import curves, read_steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.run.run import Run

FORMAT = "spheremix-report"
VERSION = 3
MAX_WORDS = 10_000  # columns shown
# Bytes of a report, packed. Base64 makes four bytes of three, and the page takes 0.2 million: less
# than 10 million in all.
BUDGET = 7_000_000
LEAST_TEXT = 500_000  # of them for texts, whatever the rest takes


def build(run: Run) -> dict[str, Any]:
    """Compute the content of a report; texts are cut to the room that the rest leaves."""
    content = _measured(run)
    documents = content["documents"]
    if documents is not None and documents["text"] is not None:
        texts, documents["text"] = documents["text"], None
        room = max(LEAST_TEXT, BUDGET - packed_size(content))
        documents["text"] = docs.shorten(texts, room)
        vectorizer = run.vectorizer()
        if vectorizer is not None:
            places = {name: i for i, name in enumerate(content["words"])}
            content["forms"] = docs.token_forms(documents["text"], vectorizer, places)
    return content


def _measured(run: Run) -> dict[str, Any]:
    """Compute all but the texts, which are whole, and their tokens."""
    reading, found = run.reading, run.assigned
    sample, shown = Shown(run, found), shown_words(run)
    steps = read_steps(run, shown)
    counted = docs.word_counts(run)
    contrast = docs.contrast(counted, None if found is None else found.labels, reading.n_groups)
    if contrast is not None and reading.contrast is None:  # words that no exploration counted
        telling = [[word for word, _ in words] for words in contrast]
        reading = Reading(run.model, run.feature_names, contrast=telling, names=run.names())
    path = run.path
    names, has_words = group_names(reading), run.feature_names is not None or counted is not None
    exits = None
    if path is not None:
        exits = path.exit_betas_[:, word_columns(path)][:, shown].astype(np.float32)
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": run.title,
        "run": run.info.fit,
        "edits": edits_entry(run),
        "corpus": corpus_entry(run, reading.prototypes.shape[1] - len(shown), sentence(sample)),
        "model": model_entry(run, len(shown), docs.compare(run, found)),
        "candidates": candidate_entries(run, counted),
        "advice": advice_entry(run),
        "effects": effects_entry(run),
        "remarks": remark_entries(run),
        "kind": "coordinates" if run.feature_names is None else "words",
        "words": [reading.feature_names[j] for j in shown],
        "names": names,
        "given_names": given_names(run),
        "tree": tree_entry(run.nodes, names, run.levels, words=has_words),
        "steps": steps.entries,
        "path": curves(path),
        "chosen": steps.chosen,
        "values": steps.values,
        "only_here": steps.only_here,
        "only_here_share": ONLY_HERE_SHARE,
        "prototypes": reading.prototypes[:, shown].astype(np.float32),
        "exit_betas": exits,
        "labels": _labels(sample, steps.labels),
        "documents": docs.describe(sample),
        "layout": docs.layout(sample),
        "rows": _rows(sample, shown),
        "meaning": docs.meaning_terms(sample),
        "forms": None,
        "contrast": contrast,
        "stability": stability_entry(sample, shown),
        **sample.listed(),
    }


def _labels(sample: Shown, labels: NDArray[Any] | None) -> NDArray[Any] | None:
    """Return the groups at each step of the documents that are shown."""
    return labels if labels is None or sample.rows is None else labels[:, sample.rows]


def shown_words(run: Run) -> NDArray[np.intp]:
    """Return the columns that are shown: all of them, or those that survive longest."""
    prototypes = run.reading.prototypes
    d = prototypes.shape[1]
    if d <= MAX_WORDS:
        return np.arange(d)
    weights = np.abs(prototypes).max(axis=0)
    exits = weights
    if run.path is not None:
        exits = run.path.exit_betas_[:, word_columns(run.path)].max(axis=0)
    return np.sort(np.lexsort((-weights, -exits))[:MAX_WORDS])


def _rows(sample: Shown, shown: NDArray[np.intp]) -> dict[str, Any] | None:
    """Return the heaviest words of the documents, in the scores of the chosen step first."""
    run = sample.run
    if run.matrix() is None or run.feature_names is None:
        return None
    mixtures = [run.mixture, *([] if run.path is None else [run.path.model(0)])]
    words = [words_of(one) for one in mixtures]
    weights = [(one.kappas_[:, None] * np.abs(one.prototypes_)).max(axis=0) for one in words]
    return docs.heaviest(sample.of(run.words_matrix()), np.array(weights), shown)
