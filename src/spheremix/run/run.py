"""A run: what was fitted, on what, and how to repeat it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.path import VMFPath
from spheremix.estimators.selection import VMFMixtureIC
from spheremix.run.codecs import pack_mixture, unpack_mixture
from spheremix.run.documents import csv_lines, unpack_corpus, unpack_table
from spheremix.run.fields import Fields
from spheremix.run.matrices import pack_matrix, pack_words, unpack_matrix
from spheremix.run.path_codecs import pack_path, unpack_path
from spheremix.run.store import FORMAT, MANIFEST, VERSION, Reader, RunError, Writer, read_json
from spheremix.select import CRITERIA
from spheremix.text.vectorizer import TextVectorizer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray
    from scipy import sparse

    from spheremix.text.corpus import Corpus

# What estimators raise for parameters that no estimator ever had.
DAMAGE = (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError)


@dataclass(frozen=True, eq=False)
class Run:
    """A run read from its folder.

    Estimators and words are attributes, there at once. Documents, texts, rows and words of a
    contrast are methods: they read their file each time they are called.

    Attributes
    ----------
    folder : Path
        Where it lies.
    info : dict
        What ``run.json`` says beside the estimators: command, corpus, versions, and for labels the
        agreement with the clusters.
    mixture : VMFMixture
        The chosen mixture, ready to predict.
    path : VMFPath or None
        The path it was chosen on.
    dense : dict of int to VMFMixture
        The dense mixtures, by number of components.
    dense_criteria : dict of str to ndarray
        Criteria of the dense mixtures, one entry a number of components.
    table : dict of str to ndarray
        Every dense restart, column by column: ``pandas.DataFrame(run.table)``.
    feature_names : list of str or None
        The vocabulary; None for embeddings.
    reader : Reader
        For what is read only when asked for.

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
    info: dict[str, Any]
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

    def documents(self) -> dict[str, list[str]] | None:
        """Read the table of documents.

        Returns
        -------
        dict of list of str, or None
            Column by column, as written; None where the run has no documents.
        """
        name = self.info.get("documents")
        if name is None:
            return None
        return unpack_table(self.reader, name)

    def corpus(self) -> Corpus | None:
        """Read the documents themselves: texts, ids, dates and labels.

        Returns
        -------
        Corpus or None
            Those set aside included; None where the run does not have them.
        """
        name = self.info.get("texts")
        return None if name is None else unpack_corpus(self.reader, name)

    def matrix(self) -> sparse.csr_array | NDArray[Any] | None:
        """Open the rows that were clustered.

        Returns
        -------
        CSR array, ndarray or None
            Mapped from the disk; None where the run does not have them.
        """
        content = self.info.get("matrix")
        return None if content is None else unpack_matrix(self._fields("matrix"), self.reader)

    def vectorizer(self) -> TextVectorizer | None:
        """Make the vectoriser of the texts again.

        Returns
        -------
        TextVectorizer or None
            Its ``transform`` gives the rows of texts; None where the run had a ready matrix.
        """
        described = self.info.get("vectorizer")
        if described is None:
            return None
        try:
            parameters, name = described["parameters"], described["idf"]
            idf = None if name is None else self.reader.array(name, (self.mixture.n_features_in_,))
            return TextVectorizer.restore(self.feature_names or [], idf, **parameters)
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
        content = self.info.get("contrast")
        if content is None:
            return None
        fields = self._fields("contrast")
        found = [fields.listing(str(k)) for k in range(len(self.mixture.weights_))]
        if not all(isinstance(word, str) for words in found for word in words):
            raise RunError(f"{fields.where}: damaged: words are needed.")
        return found

    def _fields(self, name: str) -> Fields:
        return Fields(self.info.get(name), f"{self.folder / MANIFEST}: {name}")


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
        Made where it is missing; one that holds a run already is refused.
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
    if (place / MANIFEST).exists():
        raise RunError(f"{place}: there is a run already: choose another folder or remove it.")
    writer = Writer(place)
    content: dict[str, Any] = {}
    if isinstance(model, VMFMixtureIC):
        dense, path = model.dense_models_, getattr(model, "best_path_", None)
    elif isinstance(model, VMFPath):
        dense, path = {}, model
    elif isinstance(model, VMFMixture):
        dense, path = {len(model.prototypes_): model}, None
    else:
        raise RunError(f"A {type(model).__name__} cannot be saved as a run.")
    content["dense"] = {
        str(K): pack_mixture(mixture, writer, f"dense/{K}") for K, mixture in dense.items()
    }
    if path is not None:
        content["path"] = pack_path(path, writer, "path")
    chosen = getattr(model, "best_estimator_", model)
    content["best_n_components"] = len(chosen.weights_)
    if feature_names is not None:
        content["vocabulary"] = pack_words(feature_names, writer)
    if X is not None:
        content["matrix"] = pack_matrix(X, writer)
    if documents is not None:
        content["documents"] = writer.text("documents.csv", csv_lines(documents))
    finish(writer, content)
    return place


def finish(writer: Writer, content: dict[str, Any]) -> None:
    """Write the manifest, which makes the folder a run."""
    writer.commit(writer.folder / MANIFEST, {"format": FORMAT, "version": VERSION, **content})


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


def _read(place: Path, info: dict[str, Any], where: str) -> Run:
    reader = Reader(place, info.pop("files", None))
    fields = Fields(info, where)
    best = fields.integer("best_n_components", 1)
    dense = {}
    listed = fields.inside("dense")
    for key in sorted(listed.content, key=lambda key: (len(key), key)):
        mixture = unpack_mixture(listed.inside(key), reader)
        dense[len(mixture.weights_)] = mixture
    path = unpack_path(fields.inside("path"), reader, dense) if "path" in info else None
    chosen = dense.get(best) if path is None else path.best_estimator_
    if chosen is None or len(chosen.weights_) != best:
        raise RunError(f"{where}: damaged: the chosen mixture is not there.")
    if len({model.n_features_in_ for model in [chosen, *dense.values()]}) != 1:
        raise RunError(f"{where}: damaged: mixtures of different dimensions.")
    names = None
    if info.get("vocabulary") is not None:
        names = reader.text(info["vocabulary"]).split("\n")[:-1]
        if len(names) != chosen.n_features_in_:
            raise RunError(f"{where}: damaged: {len(names)} words for the columns of the model.")
    info = {key: info[key] for key in info if key not in {"dense", "path"}}
    return Run(place, info, chosen, path, dense, names, reader)


def dense_table(dense: Mapping[int, VMFMixture]) -> dict[str, NDArray[Any]]:
    """List every dense restart, column by column."""
    rows = [
        (K, i, -1 if run.seed is None else run.seed, run.status, run.n_iter, run.objective)
        for K, model in dense.items()
        for i, run in enumerate(model.runs_)
    ]
    names = ("n_components", "restart", "seed", "status", "n_iter", "objective")
    return {name: np.array([row[i] for row in rows]) for i, name in enumerate(names)}
