"""New documents in the clusters of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.errors import ParameterError
from spheremix.reading import Reading
from spheremix.reading.batch import LETTERS, compare_batch
from spheremix.run.carried import carried_columns, renamed
from spheremix.run.columns import OF_THE_RUN, TABLES
from spheremix.run.documents import csv_lines
from spheremix.run.new_rows import (
    as_matrix,
    in_columns,
    material_of,
    needs_matrix,
    needs_texts,
    read_rows,
)
from spheremix.run.prepare import Material, is_matrix
from spheremix.run.store import replacing
from spheremix.run.table import Table
from spheremix.run.tables import document_columns, known_columns
from spheremix.text import Corpus, Matrix, ReadError, read_documents, vectorize
from spheremix.text.trouble import Mending, mend
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spheremix.reading.batch import BatchComparison
    from spheremix.run.listener import Listener
    from spheremix.run.run import Run

FALSE_ALARMS = 0.05  # share of the batches without any change that raise an alarm


@dataclass(frozen=True, slots=True, eq=False)
class Assigned:
    """New documents in the clusters of a run, compared with its own documents.

    Attributes
    ----------
    run : Run
        The run.
    material : Material
        The new documents.
    comparison : BatchComparison or None
        What is new; None where the run has no rows, or no new document has a word of the run.
    """

    run: Run
    material: Material
    comparison: BatchComparison | None

    def table(self) -> Table:
        """Return the columns of ``documents.csv``, and how well each document fits."""
        found = _assigned(self.run, self.material)
        n, kept = self.material.n_documents, self.material.kept
        fits: list[Any] = [None] * n
        groups = [""] * n
        if self.comparison is not None:
            for i, row in enumerate(kept.tolist()):
                fits[row] = float(self.comparison.p_values[i])
                if self.comparison.new_group[i] >= 0:
                    groups[row] = LETTERS[self.comparison.new_group[i]]
        return Table({**found, "fit_p_value": fits, "new_group": groups})

    def lines(self) -> list[str]:
        """Say how many documents each cluster got, and what is new."""
        reading = Reading.from_run(self.run)
        kept = self.material.kept
        n_without = self.material.n_documents - len(kept)
        found = np.zeros(0, dtype=np.intp)
        if len(kept):
            found = reading.documents(self.material.X).labels
        sizes = np.bincount(found[found >= 0], minlength=reading.n_groups)
        nowhere = int((found < 0).sum())
        lost = f", {nowhere:,} that {'belongs' if nowhere == 1 else 'belong'} nowhere"
        assigned = count(int(sizes.sum()), "document")
        first = f"{assigned} assigned{lost * reading.has_noise}, {n_without:,} without a cluster."
        if self.comparison is None:
            listed = reading.layout.groups
            named = [f"{sizes[k]:7,}  cluster {k}: {reading.group_name(int(k))}" for k in listed]
            return [first, *named]
        names = [reading.group_name(k) for k in range(reading.n_groups)]
        called = [self.material.source.name(int(row)) for row in kept]
        further = []
        if self.comparison.new_groups and self.run.manifest.corpus is not None:
            these = "this group" if len(self.comparison.new_groups) == 1 else "these groups"
            prepared = self.run.manifest.prepared
            beside = prepared.vectorizer is None and prepared.texts is not None
            documents = ", and its documents with the option texts" * beside
            update = f"spheremix update {self.run.folder} NEW{documents}"
            further = ["", f"To make a run with {these}: {update}"]
        return [first, *self.comparison.lines(names, called), *further]


def compare_documents(
    run: Run,
    new: Any,
    listener: Listener,
    *,
    text: str | None = None,
    id: str | None = None,  # noqa: A002
    false_alarms: float = FALSE_ALARMS,
) -> Assigned:
    """Assign new documents, and compare them with those of the run."""
    material = _rows(run, new, listener, text, id)
    for note in renamed(material.source):
        listener.inform(note)
    if run.manifest.prepared.matrix is None:
        listener.inform("The run has no rows, so new documents are compared with nothing.")
    else:
        listener.begin(f"Comparing {count(len(material.kept), 'document')} with those of the run")
    return compare_material(run, material, false_alarms)


def compare_material(run: Run, material: Material, false_alarms: float = FALSE_ALARMS) -> Assigned:
    """Compare documents in the columns of a run with those of the run."""
    past = run.matrix()
    if past is None or not len(material.kept):
        return Assigned(run, material, None)
    how: dict[str, Any] = {"feature_names": run.feature_names, "false_alarms": false_alarms}
    return Assigned(run, material, compare_batch(run.mixture, past, material.X, **how))


def assign_documents(
    run: Run,
    new: Any,
    listener: Listener,
    *,
    text: str | None = None,
    id: str | None = None,  # noqa: A002
) -> Table:
    """Return the clusters of new documents, in the columns of ``documents.csv``.

    Columns that only documents of the run have are left out.

    Words are those of the run. Documents that have none of them have no cluster and a reason.
    """
    material = _rows(run, new, listener, text, id)
    for note in renamed(material.source):
        listener.inform(note)
    return _assigned(run, material)


def _assigned(run: Run, material: Material) -> Table:
    if len(material.kept):
        reading = Reading.from_run(run)
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
    """Return the rows of new documents in the columns of the run."""
    new = as_matrix(new)
    columns = {one: given for one, given in (("text", text), ("id", name)) if given is not None}
    if isinstance(new, Matrix):
        refuse_columns(new, columns)
        return _matrix(run, new, listener)
    if not isinstance(new, str) and not hasattr(new, "__fspath__"):
        corpus = new if isinstance(new, Corpus) else Corpus.from_texts(new)
        refuse_columns(corpus, columns)
        return _texts(run, corpus)
    path = Path(new)
    if not path.exists():  # before it is said to be of the wrong kind
        raise ReadError.at(path, "there is no such file or folder.")
    on_texts = run.manifest.prepared.vectorizer is not None
    if on_texts and is_matrix(path):
        raise needs_texts(run, path)
    if on_texts:
        corpus = read_documents(path, text=text, id=_or_none(name), label=False)
        for note in corpus.notes:
            listener.inform(note)
        return _texts(run, corpus)
    if not is_matrix(path):
        raise needs_matrix(run, path)
    for parameter in columns:
        raise ParameterError(
            f"{{path}}: is a matrix: it has no columns for {{{parameter}}}", path=path
        )
    return _matrix(run, read_rows(run, path), listener)


def refuse_columns(source: Corpus | Matrix, columns: Iterable[str]) -> None:
    """Refuse names of columns for what is in memory already."""
    for name in columns:
        raise ParameterError(
            f"{{where}}: nothing is read from a file here: {{{name}}} is for files alone",
            remedies=(f"leave out {{{name}}}",),
            where=source.source or "The new documents",
        )


def _matrix(run: Run, matrix: Matrix, listener: Listener) -> Material:
    if run.manifest.prepared.vectorizer is not None:
        raise needs_texts(run, matrix.source or "The matrix")
    found = in_columns(matrix, run.feature_names, run.mixture.n_features_in_)
    for note in found.notes:
        listener.inform(note)
    return material_of(found)


def _or_none(name: str | None) -> Any:
    return False if name == "none" else name


def _texts(run: Run, corpus: Corpus) -> Material:
    mending = Mending(
        encoding=bool(run.manifest.command.get("mend_encoding")),
        lines=frozenset(run.manifest.prepared.dropped_lines),
    )
    return replace(vectorized(run, mend(corpus, mending)), source=corpus)


def vectorized(run: Run, corpus: Corpus) -> Material:
    """Return the rows of documents that are mended already, in the words of a run on texts."""
    vectorizer = run.vectorizer()
    if vectorizer is None:
        raise needs_matrix(run, corpus.source or "These texts")
    found = vectorize(corpus, vectorizer)
    reasons = {one.row: one.reason for one in found.set_aside}
    return Material(found.X, run.feature_names, found.rows, reasons, corpus)
