"""``spheremix assign``: clusters of new documents, by a run that was saved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from spheremix.cli.console import remark, say
from spheremix.cli.guard import guarded
from spheremix.cli.material import Material, check_rows, is_matrix
from spheremix.cli.options import Options
from spheremix.cli.tables import document_columns
from spheremix.explore import Reading
from spheremix.io import RunError, load_run
from spheremix.io.documents import csv_lines
from spheremix.io.files import replacing
from spheremix.text import (
    Corpus,
    ReadError,
    TextVectorizer,
    read_documents,
    read_matrix,
    vectorize,
)

if TYPE_CHECKING:
    from spheremix.io import Run


@guarded
def assign(
    run: Annotated[
        Path, typer.Argument(help="Folder of a run of spheremix explore.", show_default=False)
    ],
    new: Annotated[
        Path,
        typer.Argument(help="New documents, in a file as explore reads.", show_default=False),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The table to write.")] = Path(
        "assigned.csv"
    ),
    text: Annotated[str | None, typer.Option(help="Column of the texts.")] = None,
    id: Annotated[str | None, typer.Option(help="Column of the ids, or none.")] = None,  # noqa: A002
    force: Annotated[bool, typer.Option("--force", help="Replace the table.")] = False,
) -> None:
    """Cluster new documents with a saved run.

    Words are those of the run: documents that have none of them are written with an empty cluster
    and the reason.
    """
    if output.exists() and not force:
        raise RunError(f"{output}: there already: choose another with -o, or --force.")
    known = load_run(run)
    material = _rows(known, new, Options(text=text, id=id, date="none", label="none"))
    reading = Reading(known.mixture if known.path is None else known.path, known.feature_names)
    columns: dict[str, Any] = {}
    if len(material.kept):
        documents = reading.documents(material.X)
        columns = document_columns(documents, material.source.ids, material)
        sizes = documents.sizes(reading.n_clusters)
    else:
        names = ("cluster", "posterior", "margin", "runner_up", "log_odds", "cosine")
        columns = {"id": material.source.ids}
        columns |= {name: [""] * material.n_documents for name in names}
        columns["set_aside"] = [material.reasons[i] for i in range(material.n_documents)]
        sizes = np.zeros(reading.n_clusters, dtype=np.intp)
    with replacing(output) as file:
        for line in csv_lines(columns):
            file.write(line.encode("utf-8"))
    say(f"{len(material.kept):,} documents assigned, {len(material.reasons):,} without a cluster.")
    for k in reading.layout.clusters:
        say(f"{sizes[k]:7,}  cluster {k}: {reading.cluster_name(int(k))}")
    say(f"Open next: {output}")


def _rows(run: Run, new: Path, options: Options) -> Material:
    """Give the rows of new documents in the columns of the run."""
    described = run.info.get("vectorizer")
    if is_matrix(new) != (described is None):
        what = "a matrix" if described is None else "texts"
        raise RunError(f"{new}: {run.folder} is a run on {what}: give documents of the same kind.")
    if described is None:
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
    found = vectorize(corpus, restore_vectorizer(run))
    reasons = {one.row: one.reason for one in found.set_aside}
    return Material(found.X, run.feature_names, found.rows, reasons, corpus)


def restore_vectorizer(run: Run) -> TextVectorizer:
    """Make the vectoriser of a run again out of its plain files."""
    described = run.info["vectorizer"]
    try:
        parameters, name = described["parameters"], described["idf"]
        idf = None if name is None else run.reader.array(name, (run.mixture.n_features_in_,))
        return TextVectorizer.restore(run.feature_names or [], idf, **parameters)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, RunError):
            raise
        raise RunError(f"{run.folder}: damaged: no vectoriser ({error}).") from None
