"""A run: what was fitted, on what, and how to repeat it."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.run.documents import unpack_corpus
from spheremix.run.headline import headline
from spheremix.run.history import read_history
from spheremix.run.matrices import unpack_forms, unpack_matrix, unpack_words
from spheremix.run.names import AUTOMATIC
from spheremix.run.store import Reader, RunError
from spheremix.run.table import Table, read_table
from spheremix.run.verbs import RunVerbs
from spheremix.select import CRITERIA
from spheremix.text.phrases import Phrase
from spheremix.text.vectorizer import TextVectorizer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray
    from scipy import sparse

    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.path import VMFPath
    from spheremix.estimators.tree import VMFTree
    from spheremix.reading.stability import Stability
    from spheremix.report import Report
    from spheremix.run.edit_schema import EditHistory
    from spheremix.run.schema import Manifest
    from spheremix.text.corpus import Corpus

# What estimators raise for parameters that no estimator ever had.
DAMAGE = (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError)


@dataclass(frozen=True, eq=False)
class Run(RunVerbs):
    """A run read from its folder.

    Attributes
    ----------
    folder : Path
        Where it lies.
    manifest : Manifest
        What ``run.json`` says: options, versions, corpus, and how well the clusters agree with
        labels and between starts.
    mixture : VMFMixture
        The chosen mixture, ready to predict.
    path : VMFPath or None
        The path it was chosen on.
    dense : dict of int to VMFMixture
        The mixtures without penalty, by number of clusters.
    dense_criteria : dict of str to ndarray
        Criteria of the dense mixtures, one entry a number of clusters.
    table : dict of str to ndarray
        Every dense restart, column by column: ``pandas.DataFrame(run.table)``.
    feature_names : list of str or None
        The vocabulary; None for embeddings.
    documents, clusters, words : Table or None
        The tables ``documents.csv``, ``clusters.csv`` and ``words.csv``, as columns; None where
        the run does not have them.
    reader : Reader
        For files that are read only when they are asked for.
    tree : VMFTree or None
        Where a tree was saved: itself, with its cuts. For other cuts, ``attach`` gives it the rows.

    Examples
    --------
    >>> import tempfile
    >>> import spheremix as sm
    >>> X, _, _ = sm.datasets.make_vmf_mixture(90, 5, 2, kappa=20.0, random_state=0)
    >>> path = sm.VMFPath(2, n_init=2, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = sm.load_run(sm.save_run(f"{folder}/run", path, X=X))
    ...     same = bool((run.mixture.predict(run.matrix()) == path.labels_).all())
    >>> same
    True
    """

    folder: Path
    manifest: Manifest
    mixture: VMFMixture
    path: VMFPath | None
    dense: dict[int, VMFMixture]
    feature_names: list[str] | None
    reader: Reader
    tree: VMFTree | None = None

    def __repr__(self) -> str:
        """Say in one line what was run; the words and arrays are behind the attributes."""
        n_components, n_features = self.mixture.prototypes_.shape
        return (
            f"Run({str(self.folder)!r}: K={n_components}, {n_features:,} features, "
            f"beta={self.mixture.beta:.4g})"
        )

    def _repr_html_(self) -> str:
        """Show the clusters in a notebook."""
        clusters = self.clusters
        shown = "" if clusters is None else clusters._repr_html_()
        return f"<p>{html.escape(headline(self))}</p>{shown}"

    @property
    def dense_criteria(self) -> dict[str, NDArray[np.float64]]:
        """Criteria of the dense mixtures, by name; smaller is better."""
        return {
            name: np.array([model.criteria_[name] for model in self.dense.values()])
            for name in CRITERIA
        }

    @property
    def table(self) -> dict[str, NDArray[Any]]:
        """Every dense restart, column by column: a dictionary, ready for a data frame."""
        return dense_table(self.dense)

    @cached_property
    def documents(self) -> Table | None:
        """One row a document: its cluster, how surely, and the runner-up."""
        return self.read_table("documents")

    @cached_property
    def clusters(self) -> Table | None:
        """One row a cluster: size, name and words."""
        return self.read_table("clusters")

    @cached_property
    def words(self) -> Table | None:
        """One row a word of a cluster."""
        return self.read_table("words")

    def read_table(self, key: str) -> Table | None:
        """Read one of the tables that ``run.manifest.tables`` lists.

        Parameters
        ----------
        key : str
            As "typical", "labels" or "time".

        Returns
        -------
        Table or None
            None where the run does not have this table.
        """
        name = self.manifest.tables.get(key)
        return None if name is None else read_table(self.reader, key, name)

    def corpus(self) -> Corpus | None:
        """Read the documents themselves: texts, ids, dates and labels.

        Returns
        -------
        Corpus or None
            Those set aside included; None where the run does not have them.
        """
        name = self.manifest.prepared.texts
        return None if name is None else unpack_corpus(self.reader, name)

    def matrix(self) -> sparse.csr_array | NDArray[Any] | None:
        """Open the rows that were clustered.

        Returns
        -------
        CSR array, ndarray or None
            Mapped from the disk; None where the run does not have them.
        """
        record = self.manifest.prepared.matrix
        return None if record is None else unpack_matrix(record, self.reader)

    def counts(self) -> tuple[Any, list[str]] | None:
        """Open the counts of words beside embeddings.

        Returns
        -------
        (CSR array, list of str) or None
            Occurrences in all documents, and the words; None where no texts were given.
        """
        record, terms = self.manifest.prepared.counts, self.manifest.prepared.terms
        if record is None or terms is None:
            return None
        return unpack_matrix(record, self.reader), unpack_words(self.reader, terms)

    def vectorizer(self) -> TextVectorizer | None:
        """Make the vectoriser of the texts again.

        Returns
        -------
        TextVectorizer or None
            Its ``transform`` gives the rows of texts; None where the run had a ready matrix.
        """
        record = self.manifest.prepared.vectorizer
        if record is None:
            return None
        try:
            idf = record.idf
            weights = (
                None if idf is None else self.reader.array(idf, (self.mixture.n_features_in_,))
            )
            forms = None if record.forms is None else unpack_forms(self.reader, record.forms)
            return TextVectorizer.restore(
                self.feature_names or [],
                weights,
                forms,
                [Phrase(*one) for one in record.phrases],
                **record.parameters,
            )
        except RunError:
            raise
        except DAMAGE as error:
            raise RunError(f"{self.folder}: damaged: no vectoriser ({error}).") from None

    def positions(self) -> NDArray[np.float64] | None:
        """Read where the rows stand on the map of the documents.

        Returns
        -------
        ndarray of shape (n, 2) or None
            Between 0 and 1; None where the run has no map.
        """
        record, rows = self.manifest.layout, self.manifest.prepared.matrix
        if record is None or rows is None:
            return None
        return self.reader.array(record.positions, (rows.shape[0], 2), "f")

    def contrast(self) -> list[list[str]] | None:
        """Return the words that set each cluster apart, where the features are no words.

        Returns
        -------
        list of list of str, or None
            A list a cluster, the most telling words first; None where no texts were given beside
            embeddings.
        """
        return self.manifest.contrast

    def firmness(self) -> Stability | None:
        """Read how often documents, clusters and words stay when documents are drawn again.

        Returns
        -------
        Stability or None
            Of the documents that were clustered, of the clusters, and of their words; None where
            the run does not have it.
        """
        from spheremix.run.firming import unpack_firmness  # noqa: PLC0415 (only when it is asked)

        record = self.manifest.firmness
        if record is None:
            return None
        n_rows = len(self.mixture.labels_)
        return unpack_firmness(record, self.reader, (n_rows, *self.mixture.prototypes_.shape))

    def names(self) -> list[str] | None:
        """Return the names that people or programs gave to the clusters.

        Returns
        -------
        list of str or None
            One for each cluster, by its number; None where all names are automatic.
        """
        found = self.manifest.names
        if found is None or all(one.source == AUTOMATIC for one in found):
            return None
        return [one.name for one in found]

    def edits(self) -> EditHistory | None:
        """Return the edits that people made to this run.

        Returns
        -------
        EditHistory or None
            Its ``steps`` have each edit and what it changed; None for a run that was not edited.
        """
        name = self.manifest.edits
        if name is None:
            return None
        return read_history(self.reader.path(name))

    def describe_clusters(self) -> list[dict[str, Any]]:
        """Describe the clusters for somebody who names them, such as a language model.

        Returns
        -------
        list of dict
            One for each cluster, in plain values: its number, size and name, its words, how its
            typical documents begin, and the shares of its labels.
        """
        # Loaded here, since these modules need this one.
        from spheremix.reading import Reading  # noqa: PLC0415
        from spheremix.run.describe import describe_clusters  # noqa: PLC0415
        from spheremix.run.prepare import read_material  # noqa: PLC0415

        material = read_material(self.manifest.prepared, self.reader, self.corpus())
        return describe_clusters(Reading.from_run(self), material, self.manifest.fit)

    def report(self) -> Report:
        """Make the report of this run, which shows itself in a notebook.

        Returns
        -------
        Report
            Its ``write_html`` writes the page.
        """
        from spheremix.report import Report  # noqa: PLC0415 (the report reads runs)

        return Report.from_run(self)


def dense_table(dense: Mapping[int, VMFMixture]) -> dict[str, NDArray[Any]]:
    """List every dense restart, column by column."""
    rows = [
        (K, i, -1 if run.seed is None else run.seed, run.status, run.n_iter, run.objective)
        for K, model in dense.items()
        for i, run in enumerate(model.runs_)
    ]
    names = ("n_components", "restart", "seed", "status", "n_iter", "objective")
    return {name: np.array([row[i] for row in rows]) for i, name in enumerate(names)}
