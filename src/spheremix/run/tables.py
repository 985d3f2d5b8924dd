"""The tables of a run, for people and spreadsheets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.reading import contingency, timeline
from spheremix.reading.certainty import certainties
from spheremix.reading.documents import NOWHERE
from spheremix.run.carried import carried_columns
from spheremix.run.columns import TABLES
from spheremix.run.documents import csv_lines
from spheremix.run.removed import removed_columns
from spheremix.run.typed import FileName
from spheremix.select import CRITERIA

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from scipy import sparse

    from spheremix.advice import Advice
    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.path import VMFPath
    from spheremix.reading import ContrastWord, Documents, Reading, Word
    from spheremix.reading.stability import Stability
    from spheremix.run.growing import Grown
    from spheremix.run.marks import Marks
    from spheremix.run.prepare import Material
    from spheremix.run.removed import Removed
    from spheremix.run.tree_schema import TreeRecord
    from spheremix.run.writer import Writer
    from spheremix.text import Corpus

TYPICAL = 10  # documents of a cluster in the table of typical ones
BEGINNING = 100  # characters of a text that are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the stages of an exploration found beside the model."""

    advice: Advice | None
    tree: Grown | None
    firmness: Stability
    positions: NDArray[np.float64]
    marks: Marks


def write_tables(
    writer: Writer,
    material: Material,
    reading: Reading,
    dense: dict[int, VMFMixture],
    contrast: list[list[ContrastWord]] | None,
    found: Findings,
    tree: TreeRecord | None,
    removed: Removed,
) -> dict[str, FileName]:
    """Write every table that the run has the values for; give the names of their files."""
    documents = reading.documents(material.X)
    tables = {
        "documents": document_columns(reading, documents, material, found),
        "clusters": cluster_columns(reading, found.firmness.groups, documents),
        "words": word_columns(reading, found.firmness.words),
        "typical": typical_columns(reading, documents, material),
        "dense": dense_columns(dense),
    }
    if tree is not None:
        tables["tree"] = tree_columns(tree)
    if reading.path is not None:
        tables["path"] = path_columns(reading.path)
    if found.advice is not None:
        tables["advice"] = found.advice.table()
    if contrast is not None:
        tables["contrast"] = contrast_columns(reading, contrast)
    if any(removed.values()):
        tables["removed_words"] = removed_columns(removed)
    clusters = all_clusters(documents.labels, material)
    if material.source.labels:
        tables["labels"] = label_columns(clusters, material.source.labels, reading.n_clusters)
    if material.source.dates is not None:
        tables["time"] = time_columns(clusters, material.source.dates, reading.n_clusters)
    found.marks.add_to(tables, material)
    return {key: write_table(writer, key, columns) for key, columns in tables.items()}


def write_table(writer: Writer, key: str, columns: dict[str, Any]) -> FileName:
    """Write a table whose columns are among those that the schema describes."""
    unknown = set(columns) - set(TABLES[key].columns)
    if unknown and not TABLES[key].others:
        raise ValueError(f"{TABLES[key].file} has columns without a meaning: {sorted(unknown)}.")
    return FileName(writer.text(TABLES[key].file, csv_lines(columns, short=True)))


def all_clusters(labels: Any, material: Material) -> Any:
    """Return the cluster of each document, -1 for those set aside."""
    clusters = np.full(material.n_documents, -1, dtype=np.intp)
    clusters[material.kept] = labels
    return clusters


def document_columns(
    reading: Reading, documents: Documents, material: Material, beside: Findings | None = None
) -> dict[str, Any]:
    """List the documents as they came, those set aside with the reason and without cluster."""
    names = [*(reading.cluster_name(k) for k in range(reading.n_clusters)), NOWHERE]
    found: dict[str, Any] = documents.table()
    columns = {"cluster": found.pop("cluster"), "name": [names[k] for k in documents.labels]}
    if beside is not None and beside.tree is not None:
        columns["fine_group"] = [None if leaf < 0 else int(leaf) for leaf in beside.tree.leaves]
    if beside is not None:
        firm = beside.firmness.documents
        columns |= {"certainty": certainties(documents, firm, names), "firmness": firm}
    columns |= found
    if beside is not None:
        columns |= {"x": beside.positions[:, 0], "y": beside.positions[:, 1]}
    columns["runner_up"] = [None if k < 0 else int(k) for k in documents.runners_up]
    if material.words is not None and hasattr(material.X, "indptr"):
        columns["n_words"] = np.diff(material.X.indptr).tolist()
    corpus = material.source
    spread: dict[str, Any] = {"id": corpus.ids} | known_columns(corpus)
    for name, values in columns.items():
        spread[name] = [None] * material.n_documents
        for row, value in zip(material.kept, values, strict=True):
            spread[name][row] = value
    if any(corpus.texts):
        spread["repeats"] = repeated_ids(corpus)
    reasons = material.reasons
    spread["set_aside"] = [reasons.get(row, "") for row in range(material.n_documents)]
    return spread | carried_columns(corpus)


def repeated_ids(corpus: Corpus) -> list[str]:
    """Return the id of the first document that has the text of each; empty where that is itself."""
    first: dict[str, int] = {}
    found = [first.setdefault(text, i) for i, text in enumerate(corpus.texts)]
    same = zip(found, corpus.texts, strict=True)
    return [
        corpus.ids[earlier] if earlier != i and text.strip() else ""
        for i, (earlier, text) in enumerate(same)
    ]


def known_columns(corpus: Corpus) -> dict[str, list[str | None]]:
    """Return titles and dates, where there are any."""
    found: dict[str, Any] = {"title": corpus.titles, "date": corpus.dates}
    return {name: values for name, values in found.items() if values is not None}


def cluster_columns(reading: Reading, firmness: Any, documents: Documents) -> dict[str, Any]:
    """Sum up the clusters, by weight; last come the documents that belong nowhere, if any may."""
    clusters = reading.clusters(n_listed=20)
    columns: dict[str, list[Any]] = {
        "cluster": [one.cluster for one in clusters],
        "name": [one.name for one in clusters],
        "size": [one.size for one in clusters],
        "firmness": [firmness[one.cluster] for one in clusters],
        "weight": [one.weight for one in clusters],
        "kappa": [one.kappa for one in clusters],
    }
    if reading.contrast is not None:
        columns["contrast_words"] = [", ".join(one.contrast_words) for one in clusters]
    columns |= {
        "words": [_listed(one.words) for one in clusters],
        "only_here_words": [_listed(one.only_here_words) for one in clusters],
        "shared_words": [_listed(one.shared_words) for one in clusters],
        "n_words": [one.n_words for one in clusters],
        "n_only_here_words": [one.n_only_here_words for one in clusters],
    }
    if not reading.has_noise:
        return columns
    nowhere = {
        "cluster": -1,
        "name": NOWHERE,
        "size": int((documents.labels < 0).sum()),
        "weight": 1.0 - float(reading.weights.sum()),
    }
    return {name: [*values, nowhere.get(name)] for name, values in columns.items()}


def _listed(words: tuple[Word, ...]) -> str:
    return ", ".join(word.word for word in words)


def word_columns(reading: Reading, firmness: sparse.csr_array) -> dict[str, Any]:
    """List every word of every cluster; words leave on a path only."""
    found: dict[str, Any] = reading.vocabulary.table()
    if reading.X is None:
        found["document_share"] = [None] * len(found["word"])
    if reading.path is None:
        del found["exit_beta"]
    shares = np.full(firmness.shape, np.nan)
    shares[np.repeat(np.arange(len(shares)), np.diff(firmness.indptr)), firmness.indices] = (
        firmness.data
    )
    found["firmness"] = [
        None if np.isnan(share) else share for share in shares[found["cluster"], found["feature"]]
    ]
    named = {"document_share": "share_of_documents"}
    columns = {named.get(name, name): values for name, values in found.items()}
    return {name: columns[name] for name in TABLES["words"].columns if name in columns}


def typical_columns(
    reading: Reading, documents: Documents, material: Material, *, most: int = BEGINNING
) -> dict[str, Any]:
    """List the documents nearest to each prototype, a text once, and how their texts begin."""
    corpus = material.source
    ranked = [
        (int(k), rank, i, int(material.kept[i]))
        for k in reading.layout.clusters
        for rank, i in enumerate(typical(documents, int(k), material), 1)
    ]
    rows = [row for *_, row in ranked]
    columns: dict[str, Any] = {
        "cluster": [k for k, *_ in ranked],
        "rank": [rank for _, rank, *_ in ranked],
        "id": [corpus.ids[row] for row in rows],
    }
    columns |= {name: [own[i] for i in rows] for name, own in known_columns(corpus).items()}
    if corpus.labels:
        columns["labels"] = [labels_of(corpus, row) for row in rows]
    columns["cosine"] = [documents.cosines[i] for _, _, i, _ in ranked]
    columns["text"] = [beginning(i, material, most) for _, _, i, _ in ranked]
    return columns


def labels_of(corpus: Corpus, row: int) -> str:
    """Return the labels of a document as a line; of several columns, each with its name."""
    several = len(corpus.labels) > 1
    each = [
        f"{name}: {', '.join(own[row])}" if several else ", ".join(own[row])
        for name, own in corpus.labels.items()
        if own[row]
    ]
    return "; ".join(each)


def typical(documents: Documents, cluster: int, material: Material) -> list[int]:
    """Find the documents nearest to a prototype; of those with the same text, the first."""
    texts = material.source.texts
    found: dict[str | int, int] = {}
    for i in documents.typical(cluster, None).tolist():
        found.setdefault(texts[material.kept[i]] or i, i)
        if len(found) == TYPICAL:
            break
    return list(found.values())


def beginning(row: int, material: Material, most: int) -> str:
    """Return the first words of the text of a row."""
    words = material.source.texts[material.kept[row]][: 10 * most].split()
    return shorten(" ".join(words), most)


def shorten(text: str, most: int) -> str:
    """Cut a line at the end of a word, where it is longer than some characters."""
    if len(text) <= most:
        return text
    return f"{text[: most - 3].rpartition(' ')[0] or text[: most - 3]}..."


def contrast_columns(reading: Reading, contrast: list[list[ContrastWord]]) -> dict[str, Any]:
    """List the characteristic words of the texts of each cluster."""
    rows = [
        (int(k), rank, word.word, word.score, word.z, int(word.count), word.share)
        for k in reading.layout.clusters
        for rank, word in enumerate(contrast[k], 1)
    ]
    names = ("cluster", "rank", "word", "score", "z", "count", "share")
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def dense_columns(dense: dict[int, VMFMixture]) -> dict[str, Any]:
    """Return the criteria of the dense mixtures, which the number of clusters was chosen by."""
    models = list(dense.values())
    return {
        "n_components": list(dense),
        "log_likelihood": [model.log_likelihood_ for model in models],
        "n_nonzero": [int(np.count_nonzero(model.prototypes_)) for model in models],
        "n_converged": [sum(run.status == "converged" for run in m.runs_) for m in models],
        "agreement": [model.agreement_ for model in models],
        **{name: [model.criteria_[name] for model in models] for name in CRITERIA},
    }


def tree_columns(tree: TreeRecord) -> dict[str, Any]:
    """List the nodes of the tree."""
    nodes = tree.nodes
    return {
        "node": range(len(nodes)),
        "parent": [one.parent for one in nodes],
        "height": [one.height for one in nodes],
        "size": [one.size for one in nodes],
        "n_fine_groups": [one.n_leaves for one in nodes],
        "cluster": [one.cluster for one in nodes],
        "chosen": [int(one.chosen) for one in nodes],
        "name": [one.name for one in nodes],
        "words": [", ".join(one.words) for one in nodes],
        "sibling_words": [", ".join(one.sibling_words) for one in nodes],
        "only_here_words": [", ".join(one.only_here_words) for one in nodes],
    }


def path_columns(path: VMFPath) -> dict[str, Any]:
    """Return the steps of the path."""
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


def label_columns(
    clusters: Any, labels: Mapping[str, list[tuple[str, ...]]], K: int
) -> dict[str, Any]:
    """Count the labels of each cluster, for one column of labels after the other."""
    columns: dict[str, list[Any]] = {name: [] for name in TABLES["labels"].columns}
    for name, values in labels.items():
        found = contingency(clusters, values, n_clusters=K)
        cells = np.nonzero(found.counts)
        columns["label_column"] += [name] * len(cells[0])
        columns["cluster"] += cells[0].tolist()
        columns["label"] += [found.labels[j] for j in cells[1]]
        columns["documents"] += found.counts[cells].tolist()
        columns["share_of_cluster"] += found.share_of_cluster[cells].tolist()
        columns["share_of_label"] += found.share_of_label[cells].tolist()
    return columns


def time_columns(clusters: Any, dates: Any, K: int) -> dict[str, Any]:
    """Count the documents of each cluster by month, or by year where there are many months."""
    found = timeline(clusters, dates, period="auto", n_clusters=K)
    rows, columns = (axis.ravel() for axis in np.indices(found.counts.shape))
    return {
        "cluster": rows,
        "period": [found.periods[j] for j in columns],
        "documents": found.counts[rows, columns],
    }
