"""The first stage: documents of a file, or rows of a matrix, as rows and words."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray  # noqa: TC002 (types are read when decoding)

from spheremix.data.parts import spread_rows
from spheremix.errors import ParameterError
from spheremix.estimators.views import MEANING, WORDS
from spheremix.run.folder.archive import about, kept_apart
from spheremix.run.folder.files import is_path
from spheremix.run.folder.schema import versions
from spheremix.run.folder.store import key_of
from spheremix.text import (
    Corpus,
    Matrix,
    ReadError,
    TextVectorizer,
    read_documents,
    read_matrix,
    vectorize,
)
from spheremix.text.corpus import digest
from spheremix.text.languages import find_languages, said_of_languages
from spheremix.text.matrices import not_finite
from spheremix.text.phrases import Phrase  # noqa: TC001
from spheremix.text.selection import COMMON, DROPPED, MIXED, MOST_LISTED, RARE, most_frequent
from spheremix.text.trouble import Trouble, mend, trouble
from spheremix.text.writing import Writing, learn_writing
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from spheremix.run import Listener
    from spheremix.run.options import ExploreOptions
    from spheremix.run.stages.meaning import Meaning
    from spheremix.text.vectorizer import Vectorized

MATRICES = (".npz", ".npy", ".mtx", ".mtx.gz")
VECTORS = ".npy"  # a file with the meaning of each document
IN_TABLES = ("text", "id", "title", "date", "label")
FOR_COLUMNS = (*IN_TABLES, "sheet", "header", "date_format", "date_from", "label_from", "metadata")
FOR_MATRICES = ("vocabulary", "texts")
FOR_WORDS = (
    "language",
    "lemmatizer",
    "stop_words",
    "drop",
    "ngrams",
    "drop_mixed",
    "keep_boilerplate",
    "mend_encoding",
    "min_count",
    "min_df",
    "max_df",
)
STOP = "stop word"  # of the file of the user, not of the language
BY_EDIT = "edit"  # dropped by an edit of the run

Removed = dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Thresholds for rare and common words."""

    min_count: int = about("Smallest number of occurrences of a word that was kept.")
    min_df: int = about("Smallest number of documents with a word that was kept.")
    max_df: int = about("Largest number of documents with a word that was kept.")
    cost: dict[str, int] = about(
        "How many words each of them left out; a word counts for the first of min_df, min_count "
        "and max_df that it does not meet.",
        default_factory=dict,
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Vectorization:
    """How texts became rows: what a vectoriser is made of again."""

    parameters: dict[str, Any]
    thresholds: Thresholds | None
    n_words_before: int | None
    idf: NDArray[np.float64] | None
    phrases: list[Phrase]
    forms: dict[str, str | None] | None
    removed: Removed = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)  # left out, and documents that have them
    boilerplate: dict[str, int] = field(default_factory=dict)  # documents that had it, by kind

    @classmethod
    def of(
        cls, used: TextVectorizer, parameters: dict[str, Any], stop: Collection[str] = ()
    ) -> Vectorization:
        """Describe a fitted vectoriser; one that was restored has no thresholds."""
        known = hasattr(used, "n_words_")
        return cls(
            parameters=parameters,
            thresholds=Thresholds(
                min_count=int(used.min_count_),
                min_df=int(used.min_df_),
                max_df=int(used.max_df_),
                cost=dict(used.cost_),
            )
            if known
            else None,
            n_words_before=int(used.n_words_) if known else None,
            idf=used.idf_,
            forms=dict(sorted(used.forms_.items())),
            phrases=list(used.phrases_),
            removed=_removed_words(used.removed_, stop) if known else {},
            lines=dict(used.lines_),
            boilerplate=dict(used.boilerplate_) if known else {},
        )

    def vectorizer(self, words: list[str]) -> TextVectorizer:
        """Make the vectoriser again."""
        parameters = {**self.parameters, "drop_lines": list(self.lines)}
        return TextVectorizer.restore(words, self.idf, self.forms, self.phrases, **parameters)


def _removed_words(found: Mapping[str, Mapping[str, int]], stop: Collection[str]) -> Removed:
    """Return what is kept of the words that a vectoriser left out, by reason."""
    asked, given = found[DROPPED], set(stop)
    return {
        STOP: {word: n for word, n in asked.items() if word in given},
        DROPPED: {word: n for word, n in asked.items() if word not in given},
        MIXED: most_frequent(found[MIXED], MOST_LISTED),
        COMMON: dict(found[COMMON]),
        RARE: most_frequent(found[RARE], MOST_LISTED),
    }


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Rows:
    """Documents with their rows."""

    archive_version: ClassVar[int] = 4

    X: Any  # CSR array or ndarray of shape (n, d): the words of documents, or their embeddings
    words: list[str] | None  # names of the columns; None for embeddings
    kept: NDArray[np.int64]  # positions of these documents among all
    reasons: dict[int, str]  # why the others have no direction, by position
    # Occurrences of words in all documents, where columns have no names and texts are beside them.
    counts: Any = None
    terms: list[str] | None = None  # these words
    vectorization: Vectorization | None = None
    writing: Writing | None = None  # of the words, where there are texts
    trouble: list[Trouble] = field(default_factory=list)  # what looks wrong in the texts
    corpus: Corpus = kept_apart()  # all documents; without texts, their numbers only
    # Beside words, the direction of the meaning of each of all documents, zeros for none.
    meaning: Any = kept_apart()

    @property
    def n_documents(self) -> int:
        """Documents, with or without direction."""
        return len(self.kept) + len(self.reasons)

    @property
    def views(self) -> Any:
        """The rows as models take them: a table, or one for each view of the documents."""
        return self.X if self.meaning is None else self.taken(slice(None))

    def taken(self, places: Any) -> Any:
        """Return some of the rows, by their places among those that were kept."""
        if self.meaning is None:
            return self.X[places]
        meaning = self.meaning[self.kept[places]].astype(np.float32)
        return {WORDS: self.X[places], MEANING: meaning}

    @property
    def n_distinct(self) -> int:
        """Rows that differ."""
        X = self.X
        if not hasattr(X, "tocsr"):
            return len({hash(row.tobytes()) for row in X})
        parts = (slice(start, end) for start, end in pairwise(X.indptr.tolist()))
        found = [hash((X.indices[p].tobytes(), X.data[p].tobytes())) for p in parts]
        if self.meaning is None:
            return len(set(found))
        beside = (hash(row.tobytes()) for row in self.meaning[self.kept])
        return len(set(zip(found, beside, strict=True)))

    def word_places(self) -> Callable[[str], list[int]] | None:
        """Return what finds the columns of a word in any form; None where they are no words."""
        if self.words is None:
            return None
        places = {word: j for j, word in enumerate(self.words)}
        how = self.vectorization
        forms = (lambda word: [word]) if how is None else how.vectorizer(self.words).words
        return lambda word: [places[one] for one in forms(word) if one in places]

    @property
    def dropped_lines(self) -> list[str]:
        """Lines in which no words were counted."""
        return [] if self.vectorization is None else list(self.vectorization.lines)

    def is_sound(self, n_columns: int) -> bool:
        """Return whether the parts belong together, and to a model of so many columns."""
        if self.meaning is not None:
            if self.meaning.shape[0] != self.n_documents or self.meaning.dtype.kind != "f":
                return False
            n_columns -= self.meaning.shape[1]
        if getattr(self.X, "shape", None) != (len(self.kept), n_columns) or not len(self.kept):
            return False
        values = self.X.data if hasattr(self.X, "indptr") else self.X
        ends = (values.min(initial=0.0), values.max(initial=0.0))
        places = np.sort([*self.kept.tolist(), *self.reasons])
        counted, terms = getattr(self.counts, "shape", None), self.terms
        return bool(
            np.isfinite(ends).all()
            and np.array_equal(places, np.arange(self.n_documents))
            and (self.words is None or len(self.words) == n_columns)
            and counted == (None if terms is None else (self.n_documents, len(terms)))
        )

    def spread(self, labels: Any) -> NDArray[np.intp]:
        """Return the group of each document, -1 for those set aside."""
        groups = np.full(self.n_documents, -1, dtype=np.intp)
        groups[self.kept] = labels
        return groups

    def beside(self, documents: Corpus | None, meaning: Meaning | None = None) -> Rows:
        """Return the rows with their documents, or with their numbers in place of them."""
        corpus = numbered(self.n_documents) if documents is None else documents
        vectors = None if meaning is None else meaning.vectors
        return replace(self, corpus=corpus, meaning=vectors)

    def with_meaning(self, meaning: Meaning | None) -> Rows:
        """Return the rows with those of documents without words that have a meaning."""
        if meaning is None:
            return self
        lost = np.array(sorted(self.reasons), dtype=np.intp)
        added = lost[meaning.vectors[lost].any(axis=1)]
        kept = np.sort(np.concatenate([self.kept, added])).astype(np.int64)
        X = spread_rows(self.X, np.searchsorted(kept, self.kept), len(kept))
        there = set(added.tolist())
        reasons = {row: why for row, why in self.reasons.items() if row not in there}
        return replace(self, X=X, kept=kept, reasons=reasons, meaning=meaning.vectors)

    def row_bytes(self) -> Iterator[bytes]:
        """Return the bytes of the row of each document; none for those that were set aside."""
        X: Any = self.X
        places = {int(i): row for row, i in enumerate(self.kept)}
        for i in range(self.n_documents):
            if i not in places:
                yield b""
            elif hasattr(X, "indptr"):
                part = slice(*X.indptr[places[i] : places[i] + 2].tolist())
                yield X.indices[part].astype("<i8").tobytes() + X.data[part].astype("<f8").tobytes()
            else:
                yield X[places[i]].astype("<f8").tobytes()


def numbered(n: int) -> Corpus:
    """Return documents of which nothing but their numbers is known."""
    return Corpus([""] * n, [str(i) for i in range(1, n + 1)])


# What is read, and with which options


def is_matrix(path: Path) -> bool:
    """Return whether a file is a ready matrix, by its name."""
    return path.name.lower().endswith(MATRICES)


def check_options(  # noqa: C901 (one case after another)
    source: Path | Corpus | Matrix, options: ExploreOptions
) -> None:
    """Refuse options that would do nothing for the kind of source, before a file is read."""
    path = None if isinstance(source, Corpus | Matrix) else source
    where: Any = path or getattr(source, "source", "") or "documents in memory"

    def refuse(names: Iterable[str], because: str, purpose: str) -> None:
        for name in names:
            given = getattr(options, name)
            if given is not None and given is not False and (name, given) != ("split", "none"):
                raise ParameterError(f"{{where}}: {because}: {{{name}}} {purpose}", where=where)

    if path is None:
        of_files = (*FOR_COLUMNS, *FOR_MATRICES)
        refuse(of_files, "nothing is read from a file here", "is for files alone")
    if isinstance(source, Corpus) or (path is not None and not is_matrix(path)):
        refuse(["vocabulary"], "is not a matrix", "names the columns of one")
        refuse(["texts"], "is not a matrix", "are beside the rows of one")
        refuse(["meaning_only"], "is not a matrix", "is for embeddings with their texts")
        if has_vectors(options) or options.meaning not in {None, "none"}:
            refuse(["split"], "passages are grouped by words alone", "does not go with {meaning}")
        TextVectorizer(**options.vectorizer()).check_parameters()
        return
    refuse(["split"], "is a matrix, used as it is", "is for texts alone")
    refuse(["meaning"], "is a matrix", "is for texts")
    alone = options.texts is None and getattr(source, "documents", None) is None
    if alone:
        refuse(["meaning_only"], "is a matrix without documents", "leaves out their words")
    if alone or options.meaning_only:
        refuse(["weighting"], "is a matrix, used as it is", "is for texts alone")
    if path is not None and options.texts is None:
        of_texts = (*FOR_COLUMNS, *FOR_WORDS)
        refuse(of_texts, "is a matrix", "is for texts: give them with {texts}")
        return
    if isinstance(source, Matrix) and source.documents is None:
        refuse(FOR_WORDS, "is a matrix without documents", "is for texts alone")
        return
    if isinstance(source, Matrix) and source.vocabulary is not None:
        of_words = (*FOR_WORDS, "weighting", "meaning_only")
        refuse(of_words, "its columns are words", "is for counting those of texts")
    TextVectorizer(**options.vectorizer()).check_parameters()


def read_source(path: Path, options: ExploreOptions) -> Corpus | Matrix:
    """Read the file, and the texts or embeddings beside it."""
    if not is_matrix(path):
        return beside_vectors(read_documents(path, **options.reading()), options)
    matrix = read_matrix(path, options.vocabulary)
    if options.texts is None:
        return matrix
    found = matrix.beside(read_documents(options.texts, **options.reading()))
    files: Any = dict.fromkeys((*FOR_COLUMNS, *FOR_MATRICES))  # they were used
    check_options(found, replace(options, **files))
    return found


def has_vectors(options: ExploreOptions) -> bool:
    """Return whether the meaning is given by a row for each document, and not by a model."""
    given = options.meaning
    return given is not None and not (isinstance(given, str) and not given.endswith(VECTORS))


def beside_vectors(corpus: Corpus, options: ExploreOptions) -> Corpus | Matrix:
    """Return documents, beside their embeddings where these are given."""
    return vectors_beside(corpus, options.meaning) if has_vectors(options) else corpus


def vectors_beside(corpus: Corpus, given: Any) -> Matrix:
    """Return documents beside their embeddings, a file or an array."""
    if is_path(given) or isinstance(given, Matrix):
        return (given if isinstance(given, Matrix) else read_matrix(given)).beside(corpus)
    X = np.asarray(given)
    if X.ndim != 2 or 0 in X.shape or X.dtype.kind not in "biuf":
        raise ParameterError(
            "{meaning} must be a table of numbers with a row for each document; got {got}",
            got=f"the shape {X.shape} of {X.dtype}",
        )
    matrix = Matrix(X, None, "", "", [], "")
    return replace(matrix, checksum=matrix.content_checksum()).beside(corpus)


def mended(source: Corpus | Matrix, options: ExploreOptions) -> Corpus | Matrix:
    """Mend the texts of what was read, where that is asked for."""
    corpus = documents_of(source)
    if corpus is None or not options.mend_encoding:
        return source
    corpus = mend(corpus)
    if isinstance(source, Corpus):
        return corpus
    return replace(source, documents=corpus, notes=[*source.notes, *corpus.notes])


def in_their_languages(
    source: Corpus | Matrix, options: ExploreOptions
) -> tuple[ExploreOptions, list[str]]:
    """Take the languages of the documents where none was given; return also what is to be said."""
    documents = documents_of(source)
    counted = isinstance(source, Corpus) or source.vocabulary is None
    if options.language is not None or documents is None or not counted or options.meaning_only:
        return options, []
    found = find_languages(documents.texts)
    if not found or list(found) == options.languages():
        return options, []
    return replace(options, language=",".join(found)), [said_of_languages(found)]


# Keys, and the stage


def documents_of(source: Corpus | Matrix) -> Corpus | None:
    """Return the documents of a source; None for rows alone."""
    return source if isinstance(source, Corpus) else source.documents


def without_embeddings(
    source: Corpus | Matrix, options: ExploreOptions
) -> tuple[Corpus | Matrix, Matrix | None]:
    """Return documents apart from embeddings beside them, where both are grouped by."""
    if isinstance(source, Corpus) or source.documents is None or source.vocabulary is not None:
        return source, None
    if options.meaning_only:
        return source, None
    return source.documents, source


def rows_key(
    source: Corpus | Matrix,
    options: ExploreOptions,
    lines: Iterable[str] = (),
    meaning: str | None = None,
) -> str:
    """Return the key of the words and rows of the same texts, whatever is known beside them.

    ``meaning`` is the key of their meaning.
    """
    counting = {**options.vectorizer(lines), "stop_words": options.stop_words}
    if isinstance(source, Corpus):
        beside = () if meaning is None else (meaning,)
        return key_of(versions(), _digest(source.texts), counting, *beside)
    words = None if source.vocabulary is None else _digest(source.vocabulary)
    counted = None  # words beside embeddings
    if words is None and source.documents is not None:
        counted = (_digest(source.documents.texts), counting)
    return key_of(versions(), source.checksum, words, counted)


def _digest(lines: Iterable[str]) -> str:
    return digest(line.encode("utf-8", "surrogatepass") for line in lines)


def make_rows(
    source: Corpus | Matrix,
    options: ExploreOptions,
    listener: Listener,
    lines: Iterable[str] = (),
    meaning: Meaning | None = None,
) -> Rows:
    """Make rows of documents that were mended, or check those of a matrix.

    ``lines`` are known to be repeated, from a run of part of the documents. Documents with a
    meaning are kept without words, too.
    """
    if isinstance(source, Corpus):
        listener.begin(f"Counting the words of {count(len(source), 'document')}")
        return _vectorize(source, options, lines).with_meaning(meaning)
    listener.begin(f"Checking {count(source.X.shape[0], 'row')}")
    return _take_rows(source, options)


def _vectorize(corpus: Corpus, options: ExploreOptions, lines: Iterable[str]) -> Rows:
    parameters = options.vectorizer(lines)
    found = vectorize(corpus, **parameters)
    if not len(found.rows):
        raise ReadError.at(corpus.source, "no document has a word that was kept.")
    return replace(
        rows_of_texts(found, corpus),
        vectorization=Vectorization.of(found.vectorizer, parameters, options.stop_words or ()),
        writing=learn_writing(corpus.texts, found.vectorizer),
        trouble=trouble(
            corpus.texts,
            found.words,
            options.languages(),
            spread_rows(found.X, found.rows, len(corpus)),
            mended=options.mend_encoding,
        ),
    )


def rows_of_texts(found: Vectorized, corpus: Corpus) -> Rows:
    """Return the rows that a vectoriser made of documents."""
    return Rows(
        X=found.X,
        words=[str(word) for word in found.words],
        kept=found.rows,
        reasons={one.row: one.reason for one in found.set_aside},
        corpus=corpus,
    )


def _take_rows(matrix: Matrix, options: ExploreOptions) -> Rows:
    rows, documents = rows_of_matrix(matrix), matrix.documents
    if not rows.kept.size:
        raise ReadError.at(matrix.source or "The matrix", "every row is empty.")
    rows = replace(rows, X=_sorted(rows.X))
    if documents is None or matrix.vocabulary is not None:
        return rows
    counter = TextVectorizer(**{**options.vectorizer(), "weighting": "counts"})
    counts = counter.fit_count(documents.texts)
    return replace(
        rows,
        counts=counts,
        terms=[str(word) for word in counter.vocabulary_],
        writing=learn_writing(documents.texts, counter),
        trouble=trouble(
            documents.texts,
            counter.vocabulary_,
            options.languages(),
            counts,
            mended=options.mend_encoding,
        ),
    )


def _sorted(X: Any) -> Any:
    """Return rows whose entries are in the order of their columns, as they are read again."""
    if not hasattr(X, "tocsr"):
        return X
    rows = X.tocsr()
    return rows if rows.has_sorted_indices else rows.sorted_indices()


def rows_of_matrix(matrix: Matrix) -> Rows:
    """Return the rows of a matrix that have a direction, and the documents of all."""
    kept, reasons = check_rows(matrix)
    documents = matrix.documents or numbered(matrix.X.shape[0])
    X = matrix.X[kept] if reasons else matrix.X
    words = None if matrix.vocabulary is None else list(matrix.vocabulary)
    return Rows(X=X, words=words, kept=kept, reasons=reasons, corpus=documents)


def check_rows(matrix: Matrix) -> tuple[NDArray[np.intp], dict[int, str]]:
    """Return the rows that have a direction, and why the others have none."""
    X: Any = matrix.X
    if hasattr(X, "tocsr"):
        # As floats: the absolute value of the least integer of a type is not in that type.
        largest = np.asarray(abs(X.astype(np.float64)).max(axis=1).todense()).ravel()
    else:  # a mapped file: some rows at a time
        size = max(1, 2**22 // X.shape[1])
        starts = range(0, len(X), size)
        parts = [np.abs(X[i : i + size].astype(np.float64)).max(axis=1) for i in starts]
        largest = np.concatenate(parts)
    bad = np.flatnonzero(~np.isfinite(largest))
    if bad.size:
        beside = "" if matrix.documents is None else " here and in {texts}"
        raise not_finite(matrix.source or "The matrix", bad, beside)
    empty = np.flatnonzero(largest == 0)
    return np.flatnonzero(largest), {int(row): "empty row" for row in empty}
