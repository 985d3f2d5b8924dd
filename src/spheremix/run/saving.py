"""Runs written and read: a fitted estimator as a folder, and a folder as a Run."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from spheremix._files import MANIFEST
from spheremix.errors import ParameterError
from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.path import VMFPath
from spheremix.estimators.selection import VMFMixtureIC
from spheremix.estimators.tree import VMFTree
from spheremix.run.codecs import pack_mixture, unpack_mixture
from spheremix.run.columns import TABLES
from spheremix.run.documents import csv_lines, is_of_kind
from spheremix.run.files import MIXTURES, PATH, TREE
from spheremix.run.folder import RunFolder
from spheremix.run.matrices import pack_matrix, pack_words, unpack_words
from spheremix.run.path_codecs import pack_path, unpack_path
from spheremix.run.run import DAMAGE, Run
from spheremix.run.schema import FORMAT, VERSION, Manifest, PreparedRecord
from spheremix.run.store import Reader, RunError, read_json
from spheremix.run.tree_codecs import pack_tree, unpack_tree
from spheremix.run.typed import FileName, decode, encode
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from spheremix.run.writer import Writer


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
    model : VMFMixture, VMFPath, VMFMixtureIC or VMFTree
        Fitted. Of a tree, the cuts made so far are saved; its nested levels and its advice are not.
    feature_names : iterable of str, default=None
        The vocabulary, one name for each column.
    X : array or sparse matrix of shape (n, d), default=None
        The rows, where they should be kept beside the model.
    documents : dict of sequences, default=None
        Columns about the documents, all of one length, which is that of X where it is given. The
        columns that docs/run-folder.md lists for documents.csv have the types that it lists.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ParameterError
        For what could not be read back; nothing is written then.

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
    elif isinstance(model, VMFTree):
        check_is_fitted(model, "hierarchy_")
        dense, path = model.cuts_, None
    elif isinstance(model, VMFPath):
        dense, path = {}, model
    elif isinstance(model, VMFMixture):
        dense, path = {len(model.prototypes_): model}, None
    else:
        raise RunError(f"A {type(model).__name__} cannot be saved as a run.")
    chosen = getattr(model, "best_estimator_", model)
    names = None if feature_names is None else list(feature_names)
    _check_beside(chosen.n_features_in_, names, X, documents)
    home = RunFolder(place)
    with _naming_folder(), home.locked():
        home.claim_new()
        writer = home.writer()
        tables = {}
        if documents is not None:
            file = TABLES["documents"].file
            tables["documents"] = FileName(writer.text(file, csv_lines(documents)))
        manifest = Manifest(
            dense={
                K: pack_mixture(mixture, writer, f"{MIXTURES}/{K}") for K, mixture in dense.items()
            },
            fitted_tree=pack_tree(model, writer, TREE) if isinstance(model, VMFTree) else None,
            path=None if path is None else pack_path(path, writer, PATH),
            best_n_components=len(chosen.weights_),
            prepared=PreparedRecord(
                vocabulary=None if names is None else pack_words(names, writer),
                matrix=None if X is None else pack_matrix(X, writer),
            ),
            tables=tables,
        )
        finish(writer, manifest)
    return place


@contextmanager
def _naming_folder() -> Iterator[None]:
    """Let errors about the folder of a run call it as save_run does."""
    try:
        yield
    except RunError as error:
        values = {"out": "folder", **error.message.values}
        raise RunError(replace(error.message, values=values)) from None


def _check_beside(
    d: int, names: list[str] | None, X: Any, documents: Mapping[str, Sequence[Any]] | None
) -> None:
    """Refuse what does not belong to a model of d columns, before anything is written."""
    if names is not None and len(names) != d:
        raise ParameterError(
            "{feature_names} must be {wanted}, one for each column of the model; got {got}",
            wanted=count(d, "name"),
            got=f"{len(names):,}",
        )
    shape: tuple[int, ...] | None = None if X is None else tuple(getattr(X, "shape", ()))
    if shape is not None and (len(shape) != 2 or shape[0] == 0 or shape[1] != d):
        raise ParameterError(
            "{X} must be an array or a sparse matrix of shape (n, {d}), as the model has it, with "
            "one row or more; got {got}",
            d=d,
            got=f"the shape {shape}" if shape else f"a {type(X).__name__}",
        )
    if documents is not None:
        _check_columns(documents, None if shape is None else shape[0])


def _check_columns(documents: Mapping[str, Sequence[Any]], n: int | None) -> None:
    """Refuse columns that are no table, or that have other types than documents.csv."""
    lengths = {name: len(column) for name, column in documents.items()}
    if not lengths:
        raise ParameterError("{documents} must have one column or more; got none")
    first, wanted = next(iter(lengths.items()))
    for name, length in lengths.items():
        if length != wanted:
            raise ParameterError(
                "The columns of {documents} must have one length; got {one} and {other}",
                one=f"{wanted:,} values of {first!r}",
                other=f"{length:,} of {name!r}",
            )
    if n is not None and wanted != n:
        raise ParameterError(
            "{documents} must have one value for each of the {rows} of {X}; got {got}",
            rows=count(n, "row"),
            got=f"{wanted:,}",
        )
    known = TABLES["documents"].columns
    for name in known.keys() & documents.keys():
        kind = known[name].kind
        wrong = (value for value in documents[name] if not is_of_kind(value, kind))
        for value in wrong:
            raise ParameterError(
                "The column {name} of {documents} must have {wanted}, since documents.csv of a run "
                "has them there; got {got}",
                remedies=("give the column another name",),
                name=repr(name),
                wanted="whole numbers" if kind is int else "numbers",
                got=repr(value),
            )


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
    _check_clusters(manifest, where)
    names = None
    if manifest.prepared.vocabulary is not None:
        names = unpack_words(reader, manifest.prepared.vocabulary)
        if len(names) != chosen.n_features_in_:
            raise RunError(f"{where}: damaged: {len(names)} words for the columns of the model.")
    tree = None
    if manifest.fitted_tree is not None:
        tree = unpack_tree(manifest.fitted_tree, reader, dense, best)
    return Run(place, manifest, chosen, path, dense, names, reader, tree)


def _check_clusters(manifest: Manifest, where: str) -> None:
    """Refuse what is said of another number of clusters than was chosen."""
    best = manifest.best_n_components
    if manifest.contrast is not None and len(manifest.contrast) != best:
        raise RunError(f"{where}: damaged: contrast words of another number of clusters.")
    if manifest.names is not None and len(manifest.names) != best:
        raise RunError(f"{where}: damaged: names of another number of clusters.")
    if manifest.tree is not None and any(
        one.cluster is not None and one.cluster >= best for one in manifest.tree.nodes
    ):
        raise RunError(f"{where}: damaged: a tree of another number of clusters.")
    if not set(manifest.tables) <= set(TABLES):
        raise RunError(f"{where}: damaged: tables that no run has.")
