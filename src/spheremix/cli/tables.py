"""The tables of a run, for people and spreadsheets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.explore import Reading, contingency, timeline
from spheremix.io.documents import csv_lines
from spheremix.select import CRITERIA

if TYPE_CHECKING:
    from spheremix.cli.material import Material
    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.path import VMFPath
    from spheremix.explore import Documents
    from spheremix.io.files import Writer

YEARS_FROM = 60  # months: beyond them, time is counted in years


def write_tables(
    writer: Writer, material: Material, dense: dict[int, VMFMixture], path: VMFPath
) -> dict[str, str]:
    """Write every table; give their names."""
    reading = Reading(path, material.words)
    documents = reading.documents(material.X)
    ids = material.source.ids
    tables = {
        "documents": ("documents.csv", document_columns(documents, ids, material)),
        "clusters": ("clusters.csv", cluster_columns(reading)),
        "words": ("words.csv", reading.vocabulary.table()),
        "typical": ("tables/typical.csv", typical_columns(reading, documents, ids, material)),
        "dense": ("tables/dense.csv", dense_columns(dense)),
        "path": ("tables/path.csv", path_columns(path)),
    }
    clusters = all_clusters(documents, material)
    if material.source.labels is not None:
        labels = label_columns(clusters, material.source.labels, reading.n_clusters)
        tables["labels"] = ("tables/labels.csv", labels)
    if material.source.dates is not None:
        times = time_columns(clusters, material.source.dates, reading.n_clusters)
        tables["time"] = ("tables/time.csv", times)
    return {key: writer.text(name, csv_lines(columns)) for key, (name, columns) in tables.items()}


def all_clusters(documents: Documents, material: Material) -> Any:
    """Give the cluster of each document, -1 for those set aside."""
    clusters = np.full(material.n_documents, -1, dtype=np.intp)
    clusters[material.kept] = documents.labels
    return clusters


def document_columns(documents: Documents, ids: list[str], material: Material) -> dict[str, Any]:
    """List the documents as they came, those set aside with the reason and without cluster."""
    columns: dict[str, Any] = {
        "cluster": documents.labels,
        "posterior": documents.posteriors,
        "margin": documents.margins,
        "runner_up": [None if k < 0 else int(k) for k in documents.runners_up],
        "log_odds": documents.log_odds,
        "cosine": documents.cosines,
    }
    spread: dict[str, Any] = {"id": ids}
    for name, values in columns.items():
        spread[name] = [None] * material.n_documents
        for row, value in zip(material.kept, values, strict=True):
            spread[name][row] = value
    reasons = material.reasons
    spread["set_aside"] = [reasons.get(row, "") for row in range(material.n_documents)]
    return spread


def cluster_columns(reading: Reading) -> dict[str, Any]:
    """Sum up the clusters, by weight."""
    clusters = reading.clusters(n_listed=20)
    return {
        "cluster": [one.cluster for one in clusters],
        "name": [one.name for one in clusters],
        "size": [one.size for one in clusters],
        "weight": [one.weight for one in clusters],
        "kappa": [one.kappa for one in clusters],
        "n_words": [one.n_words for one in clusters],
        "n_own_words": [one.n_own_words for one in clusters],
        "own_words": [" ".join(word.word for word in one.own_words) for one in clusters],
        "shared_words": [" ".join(word.word for word in one.shared_words) for one in clusters],
    }


def typical_columns(
    reading: Reading, documents: Documents, ids: list[str], material: Material
) -> dict[str, Any]:
    """List the documents nearest to each prototype."""
    rows = [
        (int(k), rank, ids[material.kept[i]], documents.cosines[i])
        for k in reading.layout.clusters
        for rank, i in enumerate(documents.typical(int(k), 10), 1)
    ]
    names = ("cluster", "rank", "id", "cosine")
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def dense_columns(dense: dict[int, VMFMixture]) -> dict[str, Any]:
    """Give the criteria of the dense mixtures, which the number of clusters was chosen by."""
    models = list(dense.values())
    return {
        "n_components": list(dense),
        "log_likelihood": [model.log_likelihood_ for model in models],
        "n_nonzero": [int(np.count_nonzero(model.prototypes_)) for model in models],
        "n_converged": [sum(run.status == "converged" for run in m.runs_) for m in models],
        **{name: [model.criteria_[name] for model in models] for name in CRITERIA},
    }


def path_columns(path: VMFPath) -> dict[str, Any]:
    """Give the steps of the path."""
    steps = np.arange(len(path.betas_))
    return {
        "step": steps,
        "beta": path.betas_,
        "n_nonzero": path.n_nonzero_,
        "sparsity": path.sparsity_,
        "log_likelihood": path.log_likelihoods_,
        **path.criteria_,
        "n_iter": path.n_iters_,
        "status": path.statuses_,
        "selected": [int(step == path.selected_) for step in steps],
    }


def label_columns(clusters: Any, labels: Any, K: int) -> dict[str, Any]:
    """Count the labels of each cluster."""
    found = contingency(clusters, labels, n_clusters=K)
    rows, columns = np.nonzero(found.counts)
    return {
        "cluster": rows,
        "label": [found.labels[j] for j in columns],
        "documents": found.counts[rows, columns],
        "share_of_cluster": found.share_of_cluster[rows, columns],
        "share_of_label": found.share_of_label[rows, columns],
    }


def time_columns(clusters: Any, dates: Any, K: int) -> dict[str, Any]:
    """Count the documents of each cluster by month, or by year where there are many months."""
    found = timeline(clusters, dates, n_clusters=K)
    if len(found.periods) > YEARS_FROM:
        found = timeline(clusters, dates, period="year", n_clusters=K)
    rows, columns = (axis.ravel() for axis in np.indices(found.counts.shape))
    return {
        "cluster": rows,
        "period": [found.periods[j] for j in columns],
        "documents": found.counts[rows, columns],
    }
