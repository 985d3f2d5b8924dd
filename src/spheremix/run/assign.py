"""New documents in the clusters of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.cli.console import remark, say
from spheremix.reading import Reading
from spheremix.run import RunError, load_run
from spheremix.run.documents import csv_lines
from spheremix.run.legend import TABLES
from spheremix.run.prepare import MATRICES, Material, check_rows, is_matrix
from spheremix.run.store import replacing
from spheremix.run.tables import document_columns
from spheremix.text import Corpus, ReadError, read_documents, read_matrix, vectorize
from spheremix.text.corpus import count

if TYPE_CHECKING:
    from pathlib import Path

    from spheremix.run import Run
    from spheremix.run.options import Options


def run_assign(run: Path, new: Path, options: Options, output: Path, *, force: bool) -> None:
    """Write the clusters of new documents, and say how many went where."""
    known = load_run(run)
    if not new.exists():  # before it is said to be of the wrong kind
        raise ReadError.at(new, "there is no such file or folder.")
    if output.is_dir():
        raise RunError(f"{output}: is a folder: name the table, as -o {output / 'assigned.csv'}.")
    if output.exists() and not force:
        raise RunError(f"{output}: there already: choose another with -o, or --force.")
    material = _rows(known, new, options)
    reading = Reading.from_run(known)
    columns: dict[str, Any] = {}
    if len(material.kept):
        documents = reading.documents(material.X)
        columns = document_columns(reading, documents, material)
        sizes = documents.sizes(reading.n_clusters)
    else:
        columns = {name: [""] * material.n_documents for name in TABLES["documents.csv"][1]}
        columns["id"] = material.source.ids
        columns["set_aside"] = [material.reasons[i] for i in range(material.n_documents)]
        sizes = np.zeros(reading.n_clusters, dtype=np.intp)
    with replacing(output) as file:
        for line in csv_lines(columns, short=True):
            file.write(line.encode("utf-8"))
    assigned = count(len(material.kept), "document")
    say(f"{assigned} assigned, {len(material.reasons):,} without a cluster.")
    for k in reading.layout.clusters:
        say(f"{sizes[k]:7,}  cluster {k}: {reading.cluster_name(int(k))}")
    say(f"Open next: {output}")


def _rows(run: Run, new: Path, options: Options) -> Material:
    """Give the rows of new documents in the columns of the run."""
    described = run.info.get("vectorizer")
    if described is None and not is_matrix(new):
        embed = "; embed new texts with the same model" if run.feature_names is None else ""
        raise RunError(
            f"{new}: {run.folder} is a run on a matrix: give one of "
            f"{run.mixture.n_features_in_:,} columns ({', '.join(MATRICES)}){embed}."
        )
    if described is not None and is_matrix(new):
        raise RunError(f"{new}: {run.folder} is a run on texts: give documents, not a matrix.")
    if described is None:
        for name in ("text", "id"):
            if getattr(options, name) is not None:
                raise ReadError.at(new, f"is a matrix: it has no columns for --{name}.")
        matrix = read_matrix(new)
        n, d = matrix.X.shape
        if d != run.mixture.n_features_in_:
            raise ReadError.at(
                new, f"{d} columns, not the {run.mixture.n_features_in_} of the run."
            )
        kept, reasons = check_rows(matrix)
        ids = [str(i) for i in range(1, n + 1)]
        return Material(matrix.X[kept], None, kept, reasons, Corpus([""] * n, ids))
    corpus = read_documents(new, **options.columns())
    for note in corpus.notes:
        remark(note)
    found = vectorize(corpus, run.vectorizer())
    reasons = {one.row: one.reason for one in found.set_aside}
    return Material(found.X, run.feature_names, found.rows, reasons, corpus)
