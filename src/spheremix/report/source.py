"""What a report is made of: a fitted model, its rows, and the documents behind them."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from spheremix.data.open import as_directions
from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.path import VMFPath
from spheremix.estimators.selection import VMFMixtureIC
from spheremix.estimators.skmeans import SphericalKMeans
from spheremix.reading import Reading
from spheremix.report.partition import NOTE, read_partition
from spheremix.report.remarks import advised, remarked
from spheremix.run.advising import pack_advice
from spheremix.run.growing import read_leaves
from spheremix.run.marks import read_marks
from spheremix.run.run import DAMAGE
from spheremix.run.store import RunError
from spheremix.run.table import Table
from spheremix.text import Corpus, vectorize

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from spheremix.reading.stability import Stability
    from spheremix.run.run import Run
    from spheremix.run.tree_schema import TreeRecord
    from spheremix.text import TextVectorizer

ENDINGS = re.compile(r"(?i)(\.(csv|tsv|tab|jsonl|ndjson|json|parquet|pq|npy|npz|mtx))?(\.gz)?$")


@dataclass(frozen=True, eq=False)
class Source:
    """A fitted model with all that is known about its rows.

    Attributes
    ----------
    model : VMFMixture or VMFPath
        What is read.
    dense : dict of int to VMFMixture
        The candidates that the number of clusters was chosen from, by that number.
    feature_names : list of str or None
        None where columns are coordinates and no words.
    X : array, CSR array or None
        Rows of the documents that were kept; None where they are not known.
    corpus : Corpus or None
        The documents that were kept, in the order of the rows.
    has_texts : bool
        Whether the corpus has texts, not only ids.
    set_aside : list of (str, str)
        Ids of the other documents, and why they have no row.
    vectorizer : TextVectorizer or None
        What made words of the texts.
    counts : (CSR array, list of str), or None
        Occurrences of words in the documents that were kept, and the words, where they were
        counted already and columns are no words.
    agreement : dict of int to float
        Mean adjusted Rand index of the other starts of each candidate with its best one.
    k_criterion : str or None
        What chose the number of clusters, where there were several candidates.
    seed : int or None
        What the starts were drawn with.
    done : list of (str, str)
        What was done to the texts, in words.
    names : list of str or None
        Names that were given to the clusters.
    advice : dict or None
        What is recommended as the number of clusters, and why, as :func:`advised` gives it.
    remarks : list of dict
        What the terminal said about the run: the text, and whether it is a warning.
    tree : TreeRecord or None
        Fine groups and merges of the clusters.
    leaves : ndarray or None
        The fine group of each row.
    firmness : Stability or None
        How often documents, clusters and words stay, where that was measured.
    positions : ndarray of shape (n, 2) or None
        Where the rows stand on the map of the documents; None where that is not known yet.
    run : str or None
        The id of the run, for which edits are exported.
    edits : dict or None
        What people did to the run: notes, marks, and what their edits changed.
    title : str
        Of the report.
    """

    model: VMFMixture | VMFPath
    dense: dict[int, VMFMixture]
    feature_names: list[str] | None
    X: Any = None
    corpus: Corpus | None = None
    has_texts: bool = False
    set_aside: list[tuple[str, str]] = field(default_factory=list)
    vectorizer: TextVectorizer | None = None
    counts: tuple[Any, list[str]] | None = None
    agreement: dict[int, float] = field(default_factory=dict)
    k_criterion: str | None = None
    seed: int | None = None
    done: list[tuple[str, str]] = field(default_factory=list)
    names: list[str] | None = None
    advice: dict[str, Any] | None = None
    remarks: list[dict[str, Any]] = field(default_factory=list)
    tree: TreeRecord | None = None
    leaves: Any = None
    firmness: Stability | None = None
    positions: NDArray[np.float64] | None = None
    run: str | None = None
    edits: dict[str, Any] | None = None
    title: str = "spheremix"

    @property
    def path(self) -> VMFPath | None:
        """The path, where the model has one."""
        return self.model if isinstance(self.model, VMFPath) else None

    @property
    def mixture(self) -> VMFMixture:
        """The chosen mixture."""
        return self.model.best_estimator_ if isinstance(self.model, VMFPath) else self.model

    @property
    def has_noise(self) -> bool:
        """Whether documents may belong to no cluster."""
        return self.mixture.model_.noise is not None


def count_rows(X: Any) -> int:
    """Return the number of rows of an array, a sparse matrix or Directions."""
    return int(X.shape[0] if hasattr(X, "shape") else X.n_rows)


def from_model(
    model: Any,
    documents: Corpus | Sequence[str] | None,
    X: Any,
    feature_names: Iterable[str] | None,
    vectorizer: TextVectorizer | None,
    title: str | None,
) -> Source:
    """Gather a fitted estimator and what belongs to its rows."""
    if isinstance(model, VMFMixtureIC):
        reading: Any = getattr(model, "best_path_", model.best_estimator_)
        dense, k_criterion = dict(model.dense_models_), model.k_criterion.lower()
        same = dict(zip(model.candidates_.tolist(), model.agreement_.tolist(), strict=True))
    elif isinstance(model, VMFMixture | VMFPath | SphericalKMeans) and not _without_fit(model):
        Reading(model)
        reading, dense, k_criterion, same = model, {}, None, {}
    else:
        raise ValueError(
            f"A report takes a fitted VMFMixture, VMFPath, VMFMixtureIC or SphericalKMeans, not "
            f"{_kind(model)}; that of a run is Report.from_run(run)."
        )
    corpus = _as_corpus(documents)
    aside: list[tuple[str, str]] = []
    if vectorizer is not None:
        if corpus is None or X is not None:
            raise ValueError(
                "A vectorizer makes the rows of documents: give it with them, without X."
            )
        found = vectorize(corpus, vectorizer)
        X, corpus = found.X, corpus.take(found.rows.tolist())
        aside = [(one.id, one.reason) for one in found.set_aside]
        feature_names = found.words if feature_names is None else feature_names
    if feature_names is None:
        feature_names = getattr(reading, "feature_names_in_", None)
    names = None if feature_names is None else Reading(reading, feature_names).feature_names
    if corpus is not None and X is None:
        raise ValueError("Documents need their rows: give X, or the vectorizer that makes them.")
    if X is not None and not sparse.issparse(X) and not isinstance(X, np.ndarray):
        X = as_directions(X, engine=model.engine, n_threads=model.n_threads)
    if corpus is not None and len(corpus) != count_rows(X):
        raise ValueError(f"There are {len(corpus)} documents for {count_rows(X)} rows of X.")
    remarks = []
    if isinstance(model, SphericalKMeans):
        reading = read_partition(model, X)
        remarks = [{"text": NOTE, "warning": False, "groups": []}]
    advice = getattr(model, "advice_", None)
    seed = model.random_state if isinstance(model.random_state, int) else None
    return Source(
        reading,
        dense,
        names,
        X,
        corpus,
        has_texts=corpus is not None and any(corpus.texts),
        set_aside=aside,
        vectorizer=vectorizer,
        agreement=same,
        k_criterion=k_criterion,
        seed=seed,
        done=[] if vectorizer is None else _done_by(vectorizer),
        advice=None if advice is None else advised(pack_advice(advice), advice.table()),
        remarks=remarks,
        title=title or _title(corpus) or "spheremix",
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


def from_run(run: Run, title: str | None = None) -> Source:
    """Gather what the folder of a run has."""
    try:
        return _from_run(run, title)
    except RunError:
        raise
    except DAMAGE as error:
        raise RunError(f"{run.folder}: damaged: {type(error).__name__}: {error}") from None


def _from_run(run: Run, title: str | None) -> Source:
    manifest, X, corpus = run.manifest, run.matrix(), run.corpus()
    has_texts, aside, counts = corpus is not None and any(corpus.texts), [], None
    if X is not None:
        table = run.documents or Table()
        ids = table.get("id") or [str(i) for i in range(1, X.shape[0] + 1)]
        corpus = corpus or Corpus([""] * len(ids), ids)
        reasons = table.get("set_aside") or [""] * len(ids)
        aside = [(one, why) for one, why in zip(ids, reasons, strict=True) if why]
        kept = np.arange(X.shape[0])
        if manifest.prepared.kept is not None:
            kept = run.reader.array(manifest.prepared.kept, (X.shape[0],), "i")
        counted = run.counts()
        counts = None if counted is None else (counted[0][kept], counted[1])
        corpus = corpus.take(kept.tolist())
        about = manifest.corpus
        if about is not None:
            corpus = replace(
                corpus, source=about.source, format=about.format, notes=list(about.notes)
            )
    described, edits = manifest.prepared.vectorizer, read_marks(run)
    return Source(
        run.mixture if run.path is None else run.path,
        run.dense,
        run.feature_names,
        X,
        corpus,
        has_texts=has_texts,
        set_aside=aside,
        vectorizer=run.vectorizer(),
        counts=counts,
        agreement={K: v for K, v in manifest.start_agreement.items() if np.isfinite(v)},
        k_criterion=manifest.command.get("k_criterion"),
        seed=manifest.command.get("seed"),
        done=[
            *(
                []
                if described is None
                else _done(
                    described.parameters, asdict(described.thresholds), described.n_words_before
                )
            ),
            *(
                [("last edits", " ".join(edits["changes"]))]
                if edits is not None and edits["changes"]
                else []
            ),
        ],
        names=run.names(),
        advice=advised(manifest.advice, run.read_table("advice")),
        remarks=remarked(run),
        tree=manifest.tree,
        leaves=None if manifest.tree is None else read_leaves(manifest.tree.grown, run.reader),
        firmness=run.firmness(),
        positions=run.positions(),
        run=manifest.fit,
        edits=edits,
        title=title or _title(corpus) or run.folder.resolve().name,
    )


def _done_by(vectorizer: TextVectorizer) -> list[tuple[str, str]]:
    names = ("min_count", "min_df", "max_df")
    known = hasattr(vectorizer, "n_words_")  # not where it was restored
    thresholds = {name: getattr(vectorizer, f"{name}_") for name in names} if known else None
    n_before = getattr(vectorizer, "n_words_", None)
    return _done(vectorizer.get_params(), thresholds, n_before)


def _as_corpus(documents: Corpus | Sequence[str] | None) -> Corpus | None:
    """Return documents as a corpus; those of a list have the ids "1", "2" and so on."""
    if documents is None or isinstance(documents, Corpus):
        return documents
    return replace(Corpus.from_texts(documents), source="")


def _title(corpus: Corpus | None) -> str:
    """Return the name of the file of the documents, without what says how it is written."""
    name = "" if corpus is None else PurePath(corpus.source).name
    return ENDINGS.sub("", name) or name


def _done(
    parameters: dict[str, Any] | None, thresholds: dict[str, Any] | None, n_before: int | None
) -> list[tuple[str, str]]:
    """Say what was done to the texts."""
    if parameters is None:
        return []
    lemmatizer = parameters.get("lemmatizer") or "none"
    said = [
        ("language", str(parameters.get("language", "en"))),
        ("lemmas", lemmatizer if isinstance(lemmatizer, str) else "by a function"),
    ]
    if thresholds:
        said += [
            ("least occurrences of a word", f"{thresholds['min_count']:,}"),
            ("least documents with a word", f"{thresholds['min_df']:,}"),
            ("most documents with a word", f"{thresholds['max_df']:,}"),
        ]
    if n_before is not None:
        said.append(("words before that", f"{n_before:,}"))
    return [*said, ("weighting", str(parameters.get("weighting", "counts")))]
