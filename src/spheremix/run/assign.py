"""New documents in the clusters of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.errors import ParameterError
from spheremix.reading import Reading
from spheremix.run.carried import carried_columns, renamed
from spheremix.run.columns import OF_THE_RUN, TABLES
from spheremix.run.documents import csv_lines
from spheremix.run.prepare import MATRICES, Material, check_rows, is_matrix
from spheremix.run.store import RunError, replacing
from spheremix.run.table import Table
from spheremix.run.tables import document_columns, known_columns
from spheremix.text import Corpus, ReadError, read_documents, read_matrix, vectorize
from spheremix.text.trouble import Mending, mend
from spheremix.wording import count

if TYPE_CHECKING:
    from os import PathLike

    from spheremix.run.listener import Listener
    from spheremix.run.run import Run


def assign_documents(
    run: Run,
    new: Any,
    listener: Listener,
    *,
    text: str | None = None,
    id: str | None = None,  # noqa: A002
) -> Table:
    """Give the clusters of new documents, in the columns of ``documents.csv``.

    Columns that only documents of the run have are left out.

    Words are those of the run. Documents that have none of them have no cluster and a reason.
    """
    material = _rows(run, new, listener, text, id)
    reading = Reading.from_run(run)
    for note in renamed(material.source):
        listener.inform(note)
    if len(material.kept):
        return Table(document_columns(reading, reading.documents(material.X), material))
    corpus, n = material.source, material.n_documents
    columns = Table(id=corpus.ids) | known_columns(corpus)
    others = {"id", "title", "date", *OF_THE_RUN}
    fitted = [name for name in TABLES["documents"].columns if name not in others]
    columns |= {name: [None] * n for name in fitted}
    columns["set_aside"] = [material.reasons[i] for i in range(n)]
    return Table(columns | carried_columns(corpus))


def write_assigned(table: Table, output: Path) -> None:
    """Write assigned documents as a table for people."""
    with replacing(output) as file:
        for line in csv_lines(table, short=True):
            file.write(line.encode("utf-8"))


def _rows(run: Run, new: Any, listener: Listener, text: str | None, name: str | None) -> Material:
    """Give the rows of new documents in the columns of the run."""
    if not isinstance(new, str) and not hasattr(new, "__fspath__"):
        return _texts(run, new if isinstance(new, Corpus) else Corpus.from_texts(new))
    path = Path(new)
    if not path.exists():  # before it is said to be of the wrong kind
        raise ReadError.at(path, "there is no such file or folder.")
    on_texts = run.manifest.prepared.vectorizer is not None
    if on_texts and is_matrix(path):
        raise RunError(f"{path}: {run.folder} is a run on texts: give documents, not a matrix.")
    if on_texts:
        corpus = read_documents(path, text=text, id=_or_none(name), label=False)
        for note in corpus.notes:
            listener.inform(note)
        return _texts(run, corpus)
    if not is_matrix(path):
        raise _needs_matrix(run, path)
    for parameter, given in (("text", text), ("id", name)):
        if given is not None:
            raise ParameterError(
                f"{{path}}: is a matrix: it has no columns for {{{parameter}}}", path=path
            )
    return _matrix(run, path)


def _or_none(name: str | None) -> Any:
    return False if name == "none" else name


def _texts(run: Run, corpus: Corpus) -> Material:
    vectorizer = run.vectorizer()
    if vectorizer is None:
        raise _needs_matrix(run, corpus.source or "These texts")
    mending = Mending(
        encoding=bool(run.manifest.command.get("mend_encoding")),
        lines=frozenset(run.manifest.prepared.dropped_lines),
    )
    found = vectorize(mend(corpus, mending), vectorizer)
    reasons = {one.row: one.reason for one in found.set_aside}
    return Material(found.X, run.feature_names, found.rows, reasons, corpus)


def _needs_matrix(run: Run, where: str | PathLike[str]) -> RunError:
    embed = "; embed new texts with the same model" if run.feature_names is None else ""
    return RunError(
        f"{where}: {run.folder} is a run on a matrix: give one of "
        f"{run.mixture.n_features_in_:,} columns ({', '.join(MATRICES)}){embed}."
    )


def _matrix(run: Run, path: Path) -> Material:
    matrix = read_matrix(path)
    n, d = matrix.X.shape
    if d != run.mixture.n_features_in_:
        raise ReadError.at(path, f"{d} columns, not the {run.mixture.n_features_in_} of the run.")
    kept, reasons = check_rows(matrix)
    ids = [str(i) for i in range(1, n + 1)]
    return Material(matrix.X[kept], None, kept, reasons, Corpus([""] * n, ids))


def describe_assigned(run: Run, table: Table) -> list[str]:
    """Say how many documents each cluster got, in lines."""
    reading = Reading.from_run(run)
    labels = np.array([k for k in table["cluster"] if k is not None], dtype=np.intp)
    sizes = np.bincount(labels[labels >= 0], minlength=reading.n_clusters)
    without = table.n_rows - len(labels)
    assigned = count(int(sizes.sum()), "document")
    nowhere = int((labels < 0).sum())
    lost = f", {nowhere:,} that {'belongs' if nowhere == 1 else 'belong'} nowhere"
    return [
        f"{assigned} assigned{lost * reading.has_noise}, {without:,} without a cluster.",
        *(
            f"{sizes[k]:7,}  cluster {k}: {reading.cluster_name(int(k))}"
            for k in reading.layout.clusters
        ),
    ]
