"""A run: what was fitted, on what, and how to repeat it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.path import VMFPath
from spheremix.estimators.selection import VMFMixtureIC
from spheremix.io.documents import csv_lines, unpack_corpus, unpack_table
from spheremix.io.fields import Fields
from spheremix.io.files import FORMAT, MANIFEST, VERSION, Reader, RunError, Writer, read_json
from spheremix.io.models import pack_mixture, unpack_mixture
from spheremix.io.paths import pack_path, unpack_path
from spheremix.select import CRITERIA

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

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
    info : dict
        What ``run.json`` says beside the estimators: command, corpus, versions.
    mixture : VMFMixture
        The chosen mixture, ready to predict.
    path : VMFPath or None
        The path it was chosen on.
    dense : dict of int to VMFMixture
        The dense mixtures, by number of components.
    feature_names : list of str or None
        The vocabulary.
    reader : Reader
        For what is read only when asked for.
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
        """Criteria of the dense mixtures, one entry a number of components."""
        return {
            name: np.array([model.criteria_[name] for model in self.dense.values()])
            for name in CRITERIA
        }

    @property
    def table(self) -> dict[str, NDArray[Any]]:
        """Every dense restart: a data frame in waiting, by columns."""
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
    """
    place = Path(folder)
    if (place / MANIFEST).exists():
        raise RunError(f"{place}: there is a run already: choose another folder or remove it.")
    writer = Writer(place)
    content: dict[str, Any] = {}
    if isinstance(model, VMFMixtureIC):
        dense, path = model.dense_models_, model.best_path_
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
    content["best_n_components"] = len((model if path is None else path.best_estimator_).weights_)
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
    """
    place = Path(folder)
    if not place.is_dir():
        raise RunError(f"{place}: there is no such folder.")
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


# Parts of a run


def pack_words(words: Iterable[str], writer: Writer) -> str:
    """Write a vocabulary, one word a line; ends of lines within words become spaces."""
    return writer.text("vocabulary.txt", (f"{' '.join(str(w).split(chr(10)))}\n" for w in words))


def pack_matrix(X: Any, writer: Writer) -> dict[str, Any]:
    """Write rows, sparse or dense; give their description."""
    shape = [int(size) for size in X.shape]
    if not hasattr(X, "tocsr"):
        return {"shape": shape, "rows": writer.array("matrix/rows.npy", X)}
    rows = X.tocsr()
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr}
    names = {name: writer.array(f"matrix/{name}.npy", array) for name, array in parts.items()}
    return {"shape": shape, **names}


def unpack_matrix(fields: Fields, reader: Reader) -> sparse.csr_array | NDArray[Any]:
    """Open rows, mapped from the disk."""
    shape = fields.listing("shape")
    if len(shape) != 2 or not all(isinstance(size, int) and 0 < size < 2**62 for size in shape):
        raise fields.bad("shape")
    n, d = shape
    if "rows" in fields.content:
        return reader.array(fields.string("rows"), (n, d), "fiub", mapped=True)
    indptr = reader.array(fields.string("indptr"), (n + 1,), "i")
    if indptr[0] != 0 or np.any(np.diff(indptr) < 0):
        raise fields.bad("indptr")
    size = (int(indptr[-1]),)
    data = reader.array(fields.string("data"), size, "fiub", mapped=True)
    indices = reader.array(fields.string("indices"), size, "i", mapped=True)
    if indices.size and (indices.min() < 0 or indices.max() >= d):
        raise fields.bad("indices")
    return sparse.csr_array((data, indices, indptr), shape=(n, d))


def dense_table(dense: Mapping[int, VMFMixture]) -> dict[str, NDArray[Any]]:
    """List every dense restart, column by column."""
    rows = [
        (K, i, -1 if run.seed is None else run.seed, run.status, run.n_iter, run.objective)
        for K, model in dense.items()
        for i, run in enumerate(model.runs_)
    ]
    names = ("n_components", "restart", "seed", "status", "n_iter", "objective")
    return {name: np.array([row[i] for row in rows]) for i, name in enumerate(names)}
