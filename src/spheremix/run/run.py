"""A run: what was fitted, on what, and how to repeat it."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix._files import MANIFEST
from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.path import VMFPath
from spheremix.estimators.selection import VMFMixtureIC
from spheremix.run.codecs import pack_mixture, unpack_mixture
from spheremix.run.columns import TABLES
from spheremix.run.documents import csv_lines, unpack_corpus
from spheremix.run.folder import RunFolder
from spheremix.run.listener import Listener
from spheremix.run.matrices import pack_matrix, pack_words, unpack_matrix, unpack_words
from spheremix.run.path_codecs import pack_path, unpack_path
from spheremix.run.schema import FORMAT, VERSION, Manifest, PreparedRecord
from spheremix.run.store import Reader, RunError, read_json
from spheremix.run.table import Table, read_table
from spheremix.run.typed import FileName, decode, encode
from spheremix.select import CRITERIA
from spheremix.text.vectorizer import TextVectorizer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray
    from scipy import sparse

    from spheremix.report import Report
    from spheremix.run.writer import Writer
    from spheremix.text.corpus import Corpus

# What estimators raise for parameters that no estimator ever had.
DAMAGE = (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError)


@dataclass(frozen=True, eq=False)
class Run:
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
        return f"<p>{html.escape(repr(self))}</p>{shown}"

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
            return TextVectorizer.restore(self.feature_names or [], weights, **record.parameters)
        except RunError:
            raise
        except DAMAGE as error:
            raise RunError(f"{self.folder}: damaged: no vectoriser ({error}).") from None

    def contrast(self) -> list[list[str]] | None:
        """Give the words that set each cluster apart, where the features are no words.

        Returns
        -------
        list of list of str, or None
            A list a cluster, the most telling words first; None where no texts were given beside
            embeddings.
        """
        return self.manifest.contrast

    def assign(self, new: Any, *, text: str | None = None, id: str | None = None) -> Table:  # noqa: A002
        """Give the clusters of new documents.

        Parameters
        ----------
        new : str, path, list of str or Corpus
            A file as :func:`spheremix.explore_corpus` reads, or texts.
        text, id : str, default=None
            Columns of the texts and of the ids in a table.

        Returns
        -------
        Table
            The columns of ``documents.csv``; documents without a word of the run have no cluster.
        """
        from spheremix.run.assign import assign_documents  # noqa: PLC0415 (it needs this module)

        return assign_documents(self, new, Listener(), text=text, id=id)

    def report(self) -> Report:
        """Make the report of this run, which shows itself in a notebook.

        Returns
        -------
        Report
            Its ``write_html`` writes the page.
        """
        from spheremix.report import Report  # noqa: PLC0415 (the report reads runs)

        return Report.from_run(self)


def save_run(
    folder: str | PathLike[str],
    model: Any,
    *,
    feature_names: Iterable[str] | None = None,
    X: Any = None,
    documents: Mapping[str, Sequence[Any]] | None = None,
) -> Path:
    """Save a fitted estimator as a run, in plain files.

    Parameters
    ----------
    folder : str or path
        Made where it is missing; one that holds anything is refused.
    model : VMFMixture, VMFPath or VMFMixtureIC
        Fitted.
    feature_names : iterable of str, default=None
        The vocabulary.
    X : array or sparse matrix of shape (n, d), default=None
        The rows, where they should be kept beside the model.
    documents : dict of sequences, default=None
        Columns about the documents, all of one length.

    Returns
    -------
    Path
        The folder.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, _, _ = sm.datasets.make_vmf_mixture(100, 5, 2, kappa=20.0, random_state=0)
    >>> mixture = sm.VMFMixture(2, random_state=0).fit(X)
    >>> sm.save_run("saved", mixture).name
    'saved'
    """
    place = Path(folder)
    if isinstance(model, VMFMixture) and not hasattr(model, "log_likelihood_"):
        raise RunError(
            "This mixture was made of known parameters, or has seen batches since its fit: fit "
            "another one from it, with init=, or keep its prototypes_, kappas_ and weights_."
        )
    if isinstance(model, VMFMixtureIC):
        dense, path = model.dense_models_, getattr(model, "best_path_", None)
    elif isinstance(model, VMFPath):
        dense, path = {}, model
    elif isinstance(model, VMFMixture):
        dense, path = {len(model.prototypes_): model}, None
    else:
        raise RunError(f"A {type(model).__name__} cannot be saved as a run.")
    chosen = getattr(model, "best_estimator_", model)
    home = RunFolder(place)
    with home.locked():
        home.claim_new()
        writer = home.writer()
        tables = {}
        if documents is not None:
            file = TABLES["documents"].file
            tables["documents"] = FileName(writer.text(file, csv_lines(documents)))
        manifest = Manifest(
            dense={K: pack_mixture(mixture, writer, f"dense/{K}") for K, mixture in dense.items()},
            path=None if path is None else pack_path(path, writer, "path"),
            best_n_components=len(chosen.weights_),
            prepared=PreparedRecord(
                vocabulary=None if feature_names is None else pack_words(feature_names, writer),
                matrix=None if X is None else pack_matrix(X, writer),
            ),
            tables=tables,
        )
        finish(writer, manifest)
    return place


def finish(writer: Writer, manifest: Manifest) -> None:
    """Write the manifest, which makes the folder a run."""
    writer.entries = dict(sorted(writer.entries.items()))
    content = encode(manifest)
    del content["files"]  # the writer knows them
    writer.commit(writer.folder / MANIFEST, content)


def load_run(folder: str | PathLike[str]) -> Run:
    """Read a run.

    Every file is checked against the checksum, shape and type of the run before it is used.

    Parameters
    ----------
    folder : str or path
        As written by :func:`save_run` or by the command ``spheremix explore``.

    Returns
    -------
    Run
        With estimators that predict the same bits.

    Raises
    ------
    RunError
        One line with the file and what is wrong.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, _, _ = sm.datasets.make_vmf_mixture(100, 5, 2, kappa=20.0, random_state=0)
    >>> mixture = sm.VMFMixture(2, random_state=0).fit(X)
    >>> run = sm.load_run(sm.save_run("run", mixture))
    >>> bool((run.mixture.predict(X) == mixture.labels_).all())
    True
    """
    place = Path(folder)
    if not place.is_dir():
        problem = "a file, not the folder of a run" if place.exists() else "there is no such folder"
        raise RunError(f"{place}: {problem}: give the folder that spheremix explore wrote.")
    if not (place / MANIFEST).exists():
        raise RunError(
            f"{place}: not a finished run: there is no {MANIFEST} in it. A run that was stopped "
            "goes on with the command that began it."
        )
    info = read_json(place / MANIFEST)
    where = str(place / MANIFEST)
    if info.get("format") != FORMAT:
        raise RunError(f"{where}: not a run of spheremix.")
    if info.get("version") != VERSION:
        raise RunError(
            f"{where}: version {str(info.get('version'))[:20]} of the format; this spheremix reads "
            f"version {VERSION}: use the spheremix that wrote it, or run it again."
        )
    try:
        return _read(place, info, where)
    except RunError:
        raise
    except DAMAGE as error:
        raise RunError(f"{where}: damaged: {type(error).__name__}: {error}") from None


def _read(place: Path, content: dict[str, Any], where: str) -> Run:
    manifest = decode(Manifest, content, where)
    reader = Reader(place, manifest.files)
    dense = {}
    for _, record in sorted(manifest.dense.items()):
        mixture = unpack_mixture(record, reader)
        dense[len(mixture.weights_)] = mixture
    path = None if manifest.path is None else unpack_path(manifest.path, reader, dense)
    best = manifest.best_n_components
    chosen = dense.get(best) if path is None else path.best_estimator_
    if chosen is None or len(chosen.weights_) != best:
        raise RunError(f"{where}: damaged: the chosen mixture is not there.")
    if len({model.n_features_in_ for model in [chosen, *dense.values()]}) != 1:
        raise RunError(f"{where}: damaged: mixtures of different dimensions.")
    if manifest.contrast is not None and len(manifest.contrast) != best:
        raise RunError(f"{where}: damaged: contrast words of another number of clusters.")
    if not set(manifest.tables) <= set(TABLES):
        raise RunError(f"{where}: damaged: tables that no run has.")
    names = None
    if manifest.prepared.vocabulary is not None:
        names = unpack_words(reader, manifest.prepared.vocabulary)
        if len(names) != chosen.n_features_in_:
            raise RunError(f"{where}: damaged: {len(names)} words for the columns of the model.")
    return Run(place, manifest, chosen, path, dense, names, reader)


def dense_table(dense: Mapping[int, VMFMixture]) -> dict[str, NDArray[Any]]:
    """List every dense restart, column by column."""
    rows = [
        (K, i, -1 if run.seed is None else run.seed, run.status, run.n_iter, run.objective)
        for K, model in dense.items()
        for i, run in enumerate(model.runs_)
    ]
    names = ("n_components", "restart", "seed", "status", "n_iter", "objective")
    return {name: np.array([row[i] for row in rows]) for i, name in enumerate(names)}
