"""Fitted estimators as runs: the parts of a run that a model and its rows have."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from spheremix.data.containers import as_table, is_views
from spheremix.data.open import as_directions
from spheremix.errors import ParameterError
from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.path import VMFPath
from spheremix.estimators.selection import VMFMixtureIC
from spheremix.estimators.skmeans import SphericalKMeans
from spheremix.estimators.tree import VMFTree
from spheremix.estimators.validation import open_again
from spheremix.estimators.views import MEANING, WORDS, words_of
from spheremix.reading import Reading
from spheremix.reading.partition import read_partition
from spheremix.run.columns import TABLES
from spheremix.run.folder.schema import RunInfo
from spheremix.run.stages.meaning import GIVEN, Meaning
from spheremix.run.stages.rows import Rows, Vectorization, rows_of_texts
from spheremix.run.tables import is_of_kind
from spheremix.text import Corpus, vectorize
from spheremix.text.values import plain
from spheremix.text.writing import learn_writing
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from spheremix.text import TextVectorizer


def gather(
    model: Any,
    documents: Any,
    X: Any,
    feature_names: Iterable[str] | None,
    vectorizer: TextVectorizer | None,
) -> tuple[RunInfo, dict[str, Any]]:
    """Return what is said of a fitted estimator, and the parts of its run."""
    dense, path, chosen, command = _models(model)
    columns, X, meaning = None, *_views_apart(chosen, X, vectorizer)
    if hasattr(documents, "items"):
        columns = {str(name): _plain_column(name, one) for name, one in documents.items()}
    corpus = None if columns is not None else _as_corpus(documents)
    rows = None
    if vectorizer is not None:
        if corpus is None or X is not None:
            raise ValueError(
                "A vectorizer makes the rows of documents: give it with them, without X."
            )
        how = Vectorization.of(vectorizer, vectorizer.get_params())
        rows = replace(
            rows_of_texts(vectorize(corpus, vectorizer), corpus),
            vectorization=how,
            writing=learn_writing(corpus.texts, vectorizer),
        )
        X, feature_names = rows.X, rows.words if feature_names is None else feature_names
    elif corpus is not None and X is None:
        raise ValueError("Documents need their rows: give X, or the vectorizer that makes them.")
    if feature_names is None:
        feature_names = getattr(chosen, "feature_names_in_", None)
    names = None if feature_names is None else [str(one) for one in feature_names]
    if X is not None and not sparse.issparse(X) and not isinstance(X, np.ndarray):
        X = as_directions(X, engine=model.engine, n_threads=model.n_threads)
    _check_beside(words_of(chosen).prototypes_.shape[1], names, X, columns)
    parts: dict[str, Any] = {"dense": dense, "path": path, "feature_names": names}
    if X is not None:
        rows = rows or _given_rows(X, corpus)
        rows = replace(rows, words=names).beside(corpus, meaning)
        parts |= {"rows": rows, "documents": corpus, "meaning": meaning}
    if isinstance(model, SphericalKMeans):
        chosen = read_partition(model, None if rows is None else rows.X)
        parts["dense"] = {len(chosen.weights_): chosen}
    parts["tree_model"] = model if isinstance(model, VMFTree) else None
    parts["columns"] = columns
    if not isinstance(model, VMFTree):  # its advice would make every cut
        parts["advice"] = getattr(model, "advice_", None)
    return RunInfo(n_groups=len(chosen.weights_), command=command), parts


def _views_apart(chosen: Any, X: Any, vectorizer: Any) -> tuple[Any, Meaning | None]:
    """Return the words of the rows and their meaning, which a mixture of several views has."""
    views_in = getattr(chosen, "views_in_", None) or {}
    if len(views_in) < 2:
        return (next(iter(X.values())) if is_views(X) and len(X) == 1 else X), None
    if set(views_in) != {WORDS, MEANING}:
        raise ValueError(
            f"A run is of documents with the views {WORDS!r} and {MEANING!r}, and the mixture has "
            f"{', '.join(map(repr, views_in))}."
        )
    if vectorizer is not None or not (X is None or is_views(X)):
        raise ValueError(
            f"The mixture has two views: give X as a dictionary with {WORDS!r} and {MEANING!r}, "
            "and the words as feature_names."
        )
    if X is None:
        return None, None
    open_again(chosen, X)  # refuses what are no rows of these views
    vectors = as_table(X[MEANING])
    dense = vectors.toarray() if hasattr(vectors, "toarray") else vectors
    return as_table(X[WORDS]), Meaning.of(np.asarray(dense), GIVEN, "The meaning", np.float32)


def _plain_column(name: Any, values: Iterable[Any]) -> list[Any]:
    """Return values as a run stores them; dates are texts, and NaN is none."""
    try:
        return [plain(one.item() if isinstance(one, np.generic) else one) for one in values]
    except TypeError:
        raise ParameterError(
            "The column {name} of {documents} has values that cannot be stored",
            remedies=("give numbers or texts",),
            name=repr(name),
        ) from None


def _given_rows(X: Any, corpus: Corpus | None) -> Rows:
    """Return rows that are given."""
    n = _shape(X)[0]
    if corpus is not None and len(corpus) != n:
        raise ValueError(f"There are {len(corpus)} documents for {n} rows of X.")
    return Rows(X=X, words=None, kept=np.arange(n), reasons={})


def _models(model: Any) -> tuple[dict[int, VMFMixture], VMFPath | None, Any, dict[str, Any]]:
    """Return the dense mixtures, the path, the chosen mixture, and what chose them."""
    seed = getattr(model, "random_state", None)
    command: dict[str, Any] = {"seed": seed if isinstance(seed, int) else None}
    if isinstance(model, VMFMixtureIC):
        check_is_fitted(model, "dense_models_")
        path = getattr(model, "best_path_", None)
        command["k_criterion"] = model.k_criterion.lower()
        return dict(model.dense_models_), path, model.best_estimator_, command
    if isinstance(model, VMFTree):
        check_is_fitted(model, "hierarchy_")
        return dict(model.cuts_), None, model.best_estimator_, command
    known = isinstance(model, VMFMixture | VMFPath | SphericalKMeans)
    if known and not _without_fit(model):
        Reading(model)
        if isinstance(model, VMFPath):
            return {}, model, model.best_estimator_, command
        dense = {} if isinstance(model, SphericalKMeans) else {len(model.prototypes_): model}
        return dense, None, model, command
    raise ValueError(
        f"A report takes a fitted VMFMixture, VMFPath, VMFMixtureIC or SphericalKMeans, not "
        f"{_kind(model)}; that of a run is Report.from_run(run)."
    )


def _without_fit(model: Any) -> str:
    """Say why a model does not know how it suits the rows of a fit, if it does not."""
    if not hasattr(model, "prototypes_"):
        return ""
    if not hasattr(model, "labels_"):
        return "of given parameters"
    return "" if hasattr(model, "runs_") else "after partial_fit"


def _kind(model: Any) -> str:
    """Say what was given instead of a fitted mixture, and what to type instead."""
    name = type(model).__name__
    if not (why := _without_fit(model)):
        return f"a {name}"
    return f"a {name} {why} (fit one from it: {name}(K, init=model).fit(X))"


def _as_corpus(documents: Corpus | Sequence[str] | None) -> Corpus | None:
    """Return documents as a corpus; those of a list have the ids "1", "2" and so on."""
    if documents is None or isinstance(documents, Corpus):
        return documents
    return replace(Corpus.from_texts(documents), source="")


def _shape(X: Any) -> tuple[int, ...]:
    """Return the shape of an array, a sparse matrix or Directions."""
    return tuple(X.shape) if hasattr(X, "shape") else (X.n_rows, X.n_features)


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
    shape = None if X is None else _shape(X)
    if shape is not None and (len(shape) != 2 or shape[0] == 0 or shape[1] != d):
        raise ParameterError(
            "{X} must be an array or a sparse matrix of shape (n, {d}), as the model has it, with "
            "one row or more; got {got}",
            d=d,
            got=f"the shape {shape}",
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
