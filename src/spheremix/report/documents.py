"""The documents of a report: who they are, where they belong, their texts and heaviest words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.data.containers import is_views
from spheremix.data.parts import unit_columns
from spheremix.estimators.views import MEANING
from spheremix.reading import agreement, contrast_words, document_positions
from spheremix.report.packing import digits, packed_size
from spheremix.text import TextVectorizer
from spheremix.text.words import forms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from spheremix.reading import Documents
    from spheremix.report.sample import Shown
    from spheremix.run.run import Run
    from spheremix.text import Corpus

    Array = NDArray[np.float64]

CONTRASTED = 16  # words that set the texts of a group apart
LARGEST = 2**16 - 1  # what the position 1 is written as
WHOLE = 10_000  # what a share of 1 is written as
MOST_WORDS = 60  # of a document
LEVELS = 2**16 - 1  # of a coordinate, up to the largest of its document
LONGEST = 50_000  # characters of one text, for a page that stays quick
MOST_CHARACTERS = 40_000_000  # of all texts, however well they pack


def describe(shown: Shown) -> dict[str, Any] | None:
    """Describe the documents that are shown; None where their rows are not known."""
    run, found = shown.run, shown.found
    if found is None:
        return None
    n, several = len(found.labels), len(run.mixture.weights_) > 1
    corpus = shown.corpus
    texts = corpus.texts if corpus is not None and any(corpus.texts) else None
    columns, names, labels = _labels(run.kept_corpus, corpus)
    dates = None if corpus is None else corpus.dates

    def of(values: Any) -> Any:
        return shown.of(values).astype(np.float32)

    return {
        "id": shown.of(_ids(run, n)) if corpus is None else list(corpus.ids),
        "title": None if corpus is None else corpus.titles,
        "text": texts,
        "length": None if texts is None else [length(text) for text in texts],
        "date": dates,
        "labels": labels,
        "label_names": names,
        "label_columns": columns,
        "posterior": of(found.posteriors),
        "margin": of(found.margins),
        "log_odds": of(found.log_odds),
        "cosine": of(found.cosines),
        "group": numbered(shown.of(found.labels), len(run.mixture.weights_)).astype(np.uint16),
        "leaf": None
        if run.leaves is None or run.nodes is None
        else numbered(shown.of(run.leaves), run.nodes[-1].n_leaves).astype(np.uint16),
        "second_group": shown.of(found.second_groups).astype(np.uint16) if several else None,
        "passages": _passages(shown, names, columns),
        "counted": shown.counted(names, columns),
    }


def meaning_terms(shown: Shown) -> dict[str, Any] | None:
    """Return what the meaning of each document adds to the scores of its two best groups.

    As the words add to them: kappa times the cosine with the prototype. None where there are only
    words, or no second group.
    """
    run, found = shown.run, shown.found
    X = run.matrix()
    if found is None or not is_views(X) or len(run.mixture.weights_) < 2:
        return None
    view = run.mixture.views_[MEANING]
    vectors = X[MEANING].astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = (vectors / np.where(lengths > 0.0, lengths, 1.0)) @ view.prototypes_.T
    terms = view.weight * view.kappas_ * cosines
    rows = np.arange(len(terms))
    best, second = np.maximum(found.labels, 0), found.second_groups
    return {
        "own": shown.of(terms[rows, best].astype(np.float32)),
        "rival": shown.of(terms[rows, second].astype(np.float32)),
    }


def _passages(
    shown: Shown, names: list[str] | None, columns: list[dict[str, Any]] | None
) -> dict[str, Any] | None:
    """Say of which document each passage is, and what is known of these; None for whole documents.

    Documents are those with a passage that has a group. They are counted by their shares, which are
    those of the tables; passages, of which a page may have a sample, say where they lie.
    """
    run = shown.run
    cut, rows, split = run.cut, run.rows, run.by_passages
    if cut is None or rows is None or split is None:
        return None
    grouped, own = np.unique(cut.documents[rows.kept], return_inverse=True)
    n_words = np.maximum(cut.n_words[rows.kept], 1)
    whole = cut.whole.take(grouped.tolist())
    return {
        "document": shown.of(own).astype(np.uint32),
        "weight": shown.of(n_words / np.bincount(own, n_words)[own]).astype(np.float32),
        "n_documents": len(cut.whole),
        "n_grouped": len(grouped),
        "shares": np.rint(WHOLE * split.shares[grouped]).astype(np.uint16).ravel(),
        "labels": None if names is None else _numbers(whole, names, columns or []),
        "date": whole.dates,
    }


def _ids(run: Run, n: int) -> list[str]:
    """Return the ids of documents without texts: of the table beside the model, or numbers."""
    table = run.documents
    known = None if table is None else table.get("id")
    return [str(one) for one in known or range(1, n + 1)]


def _labels(
    whole: Corpus | None, corpus: Corpus | None
) -> tuple[list[dict[str, Any]] | None, list[str] | None, list[list[int]] | None]:
    """Return columns of labels, the names of all labels, and the numbers of those of each document.

    The labels of a column follow each other, in the order of the alphabet; the column has the
    number of its first label, and of the one after its last.
    """
    if whole is None or corpus is None or not corpus.labels:
        return None, None, None
    names: list[str] = []
    columns: list[dict[str, Any]] = []
    for column, values in whole.labels.items():
        own = sorted({one for several in values for one in several})
        columns.append({"name": column, "start": len(names), "stop": len(names) + len(own)})
        names += own
    return columns, names, _numbers(corpus, names, columns)


def _numbers(
    corpus: Corpus, names: list[str], columns: Sequence[dict[str, Any]]
) -> list[list[int]]:
    """Return the numbers of the labels of each document."""
    found: list[list[int]] = [[] for _ in corpus.ids]
    for column in columns:
        start, stop = column["start"], column["stop"]
        places = {name: i for i, name in enumerate(names[start:stop], start)}
        for numbers, several in zip(found, corpus.labels[column["name"]], strict=True):
            numbers += [places[one] for one in several]
    return found


def compare(run: Run, found: Documents | None) -> list[dict[str, Any]]:
    """Compare groups with the labels of each column, where a document has one at most."""
    if run.kept_corpus is None or found is None:
        return []
    compared = []
    corpus, groups, _ = run.whole_documents()
    for column, labels in corpus.labels.items():
        if any(len(several) > 1 for several in labels):
            continue
        same = agreement(groups, labels)
        if np.isfinite(same.ari):
            entry = {"column": column, "ari": digits(same.ari), "nmi": digits(same.nmi)}
            compared.append(entry)
    return compared


def word_counts(run: Run) -> tuple[Any, list[str]] | None:
    """Count the words of the texts, where columns are no words; those of a run are counted."""
    counted, rows, corpus = run.counts(), run.rows, run.kept_corpus
    if counted is not None and rows is not None:
        return counted[0][rows.kept], counted[1]
    if run.feature_names is not None or corpus is None or not any(corpus.texts):
        return None
    counter = TextVectorizer(lemmatizer=None)
    counts = counter.fit_count(corpus.texts)
    return counts, [str(word) for word in counter.vocabulary_]


def contrast(
    counted: tuple[Any, list[str]] | None, labels: NDArray[Any] | None, K: int
) -> list[list[tuple[str, float]]] | None:
    """Return the words that set the documents of each group apart, where words were counted.

    None where they were not, or where the model was fitted to other rows than the report has.
    """
    if counted is None or labels is None or len(labels) != counted[0].shape[0]:
        return None
    words = contrast_words(counted[0], labels, counted[1], CONTRASTED, n_groups=K)
    return [[(one.word, digits(one.z, 4)) for one in several] for several in words]


def layout(shown: Shown) -> dict[str, Any] | None:
    """Return the positions of the documents; None where their rows are not known.

    A run has them already; for a model they are computed. They are written as integers from 0 to
    65,535, x from left to right and y from bottom to top.
    """
    run, found = shown.run, shown.found
    if found is None:
        return None
    positions = run.positions()
    if positions is None:
        positions = document_positions(run.matrix(), found.labels)
    whole = np.rint(np.clip(shown.of(positions), 0.0, 1.0) * LARGEST).astype(np.uint16)
    return {"x": whole[:, 0].copy(), "y": whole[:, 1].copy()}


def numbered(labels: NDArray[np.intp], n_groups: int) -> NDArray[np.intp]:
    """Return labels without a sign: who belongs nowhere has the number after the last group."""
    return np.where(labels < 0, n_groups, labels)


# The words of the documents: those that weigh most in their scores


def heaviest(X: Any, weights: Array, columns: NDArray[np.intp]) -> dict[str, Any]:
    """Return the rows of documents, cut to their heaviest words among those that are shown.

    ``weights`` says how much each word weighs; where its first line is equal, the next one decides.
    In the result ``words`` are positions in ``columns``, which increase, and ``n_words`` says how
    many different words each document has, before it is cut.
    """
    rows, n_words = unit_columns(X, columns)
    owners = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    values = rows.data
    size = np.abs(values)
    keys = [-(line[columns][rows.indices] * size) for line in weights]
    order = np.lexsort((*keys[::-1], owners))
    ranks = np.arange(len(order)) - rows.indptr[owners[order]]
    kept = np.sort(order[(ranks < MOST_WORDS) & (size[order] > 0.0)])
    counts = np.bincount(owners[kept], minlength=rows.shape[0])
    packed, scale = _levels(values[kept], owners[kept], rows.shape[0])
    narrow = np.uint16 if len(columns) <= 2**16 else np.uint32
    return {
        "indptr": np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32),
        "words": rows.indices[kept].astype(narrow),
        "values": packed,
        "scale": scale,
        "n_words": n_words,
    }


def _levels(
    values: Array, owners: NDArray[np.intp], n: int
) -> tuple[NDArray[Any], NDArray[np.float32] | None]:
    """Return values in two bytes, as shares of the largest of row; as floats if some are < 0."""
    if (values < 0.0).any():
        return values.astype(np.float32), None
    scale = np.zeros(n)
    np.maximum.at(scale, owners, values)
    shares = values / scale[owners]
    return np.maximum(np.rint(shares * LEVELS), 1.0).astype(np.uint16), scale.astype(np.float32)


# The texts: cut evenly where they are too much, and how their tokens became words


def shorten(texts: Sequence[str], budget: int) -> list[str]:
    """Cut texts to a common length at which, packed, they fit the budget.

    The length is the largest one, to a few per cent: how texts pack depends on where they are cut.
    """
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    longest = _common_length(lengths, MOST_CHARACTERS)
    while True:
        cut = [text[:longest] for text in texts]
        size = packed_size({"text": cut})
        if size <= budget:
            return cut
        shown = int(np.minimum(lengths, longest).sum())
        longest = min(longest - 1, _common_length(lengths, int(0.98 * shown * budget / size)))


def _common_length(lengths: NDArray[np.int64], room: int) -> int:
    """Return the largest length at which cut texts have so many characters at most."""
    low, high = 0, LONGEST
    while low < high:
        middle = (low + high + 1) // 2
        if np.minimum(lengths, middle).sum() <= room:
            low = middle
        else:
            high = middle - 1
    return low


def length(text: str) -> int:
    """Count the characters of a text as JavaScript does, in units of UTF-16."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def token_forms(
    texts: Sequence[str], vectorizer: TextVectorizer, places: Mapping[str, int]
) -> dict[str, int]:
    """Return the position of the word of each form that the vectoriser met or that texts have.

    Forms are in lower case; where a language tells cases apart, the more frequent one decides.
    """
    cut = vectorizer.tokenizer or forms
    tokens = Counter(token for text in texts for token in cut(text))
    met = vectorizer.forms_.items()
    found = {form: places[word] for form, word in met if word is not None and word in places}
    for token, _ in tokens.most_common():
        if token.lower() in vectorizer.forms_:
            continue
        for word in vectorizer.words(token):
            if word in places:
                found.setdefault(token.lower(), places[word])
    return dict(sorted(found.items()))
