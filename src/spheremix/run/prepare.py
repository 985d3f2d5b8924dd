"""What an exploration works on: documents of a file, or rows of a matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.errors import ParameterError
from spheremix.run.documents import pack_corpus
from spheremix.run.files import COUNTS, IDF, KEPT, TERMS
from spheremix.run.matrices import (
    pack_forms,
    pack_matrix,
    pack_words,
    unpack_matrix,
    unpack_words,
)
from spheremix.run.removed import removed_words
from spheremix.run.schema import DocumentsRecord, PreparedRecord, Thresholds, VectorizerRecord
from spheremix.run.store import RunError
from spheremix.run.typed import FileName
from spheremix.text import (
    Corpus,
    Matrix,
    ReadError,
    TextVectorizer,
    read_documents,
    read_matrix,
    vectorize,
)
from spheremix.text.matrices import not_finite
from spheremix.text.trouble import Mending, mend, repeated_lines, trouble
from spheremix.wording import count

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from spheremix.run.folder import RunFolder
    from spheremix.run.keys import Keys
    from spheremix.run.listener import Listener
    from spheremix.run.options import ExploreOptions
    from spheremix.run.store import Reader

MATRICES = (".npz", ".npy", ".mtx", ".mtx.gz")
IN_TABLES = ("text", "id", "title", "date", "label")
FOR_COLUMNS = (*IN_TABLES, "sheet", "date_from", "label_from", "metadata")
FOR_MATRICES = ("vocabulary", "texts")
FOR_WORDS = (
    "language",
    "lemmatizer",
    "stop_words",
    "drop",
    "ngrams",
    "drop_mixed",
    "drop_repeated_lines",
    "mend_encoding",
    "min_count",
    "min_df",
    "max_df",
)


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Documents with their rows.

    Attributes
    ----------
    X : CSR array or ndarray of shape (n, d)
        Rows of the documents that have a direction.
    words : list of str or None
        Names of the columns; None for embeddings.
    kept : ndarray of int of shape (n,)
        Positions of these documents among all.
    reasons : dict of int to str
        Why the others have no direction, by position.
    source : Corpus
        All documents; for a matrix without texts, their numbers only.
    counts : CSR array or None
        Occurrences of words in all documents, where the columns have no names and texts are beside.
    terms : list of str or None
        These words.
    """

    X: Any
    words: list[str] | None
    kept: NDArray[np.intp]
    reasons: dict[int, str]
    source: Corpus
    counts: Any = None
    terms: list[str] | None = None

    @property
    def n_distinct(self) -> int:
        """Rows that differ."""
        X = self.X
        if not hasattr(X, "tocsr"):
            return len({hash(row.tobytes()) for row in X})
        ends = X.indptr.tolist()
        parts = (slice(start, end) for start, end in pairwise(ends))
        return len({hash((X.indices[p].tobytes(), X.data[p].tobytes())) for p in parts})

    @property
    def n_documents(self) -> int:
        """Documents, with or without direction."""
        return len(self.kept) + len(self.reasons)


def is_matrix(path: Path) -> bool:
    """Return whether a file is a ready matrix, by its name."""
    return path.name.lower().endswith(MATRICES)


def check_options(source: Path | Corpus | Matrix, options: ExploreOptions) -> None:
    """Refuse options that would do nothing for the kind of source, before a file is read."""
    if isinstance(source, Corpus | Matrix):
        _check_in_memory(source, options)
    else:
        _check_file(source, options)


def _check_in_memory(source: Corpus | Matrix, options: ExploreOptions) -> None:
    where = source.source or "documents in memory"
    for name in (*FOR_COLUMNS, *FOR_MATRICES):
        _refuse(where, options, name, "nothing is read from a file here", "is for files alone")
    if isinstance(source, Corpus):
        TextVectorizer(**options.vectorizer()).check_parameters()
        return
    _refuse(where, options, "weighting", "is a matrix, used as it is", "is for texts alone")
    if source.documents is None:
        for name in FOR_WORDS:
            _refuse(where, options, name, "is a matrix without documents", "is for texts alone")
    else:
        _check_words_beside(where, source, options)


def _check_words_beside(where: Any, matrix: Matrix, options: ExploreOptions) -> None:
    """Check the options about words of a matrix with documents beside it."""
    if matrix.vocabulary is not None:
        for name in FOR_WORDS:
            _refuse(where, options, name, "its columns are words", "is for counting those of texts")
    TextVectorizer(**options.vectorizer()).check_parameters()


def _check_file(path: Path, options: ExploreOptions) -> None:
    if not is_matrix(path):
        for name, what in (("vocabulary", "names the columns"), ("texts", "are beside the rows")):
            if getattr(options, name) is not None:
                raise ParameterError(
                    f"{{path}}: is not a matrix: {{{name}}} {what} of one", path=path
                )
        TextVectorizer(**options.vectorizer()).check_parameters()
        return
    _refuse(path, options, "weighting", "is a matrix, used as it is", "is for texts alone")
    if options.texts is None:
        for name in (*FOR_COLUMNS, *FOR_WORDS):
            _refuse(path, options, name, "is a matrix", "is for texts: give them with {texts}")
    else:
        TextVectorizer(**options.vectorizer()).check_parameters()


def read_source(path: Path, options: ExploreOptions) -> Corpus | Matrix:
    """Read the file, and the texts beside it."""
    if not is_matrix(path):
        return read_documents(path, **options.reading())
    matrix = read_matrix(path, options.vocabulary)
    if options.texts is None:
        return matrix
    _check_words_beside(path, matrix, options)
    return matrix.beside(read_documents(options.texts, **options.reading()))


def _refuse(where: Any, options: ExploreOptions, name: str, because: str, purpose: str) -> None:
    """Refuse an option that would do nothing."""
    given = getattr(options, name)
    if given is not None and given is not False:
        raise ParameterError(f"{{where}}: {because}: {{{name}}} {purpose}", where=where)


def prepare(
    folder: RunFolder,
    source: Corpus | Matrix,
    options: ExploreOptions,
    mending: Mending,
    keys: Keys,
    listener: Listener,
) -> Material:
    """Return rows to documents that were mended, or take up those that were."""
    documents = source if isinstance(source, Corpus) else source.documents

    def make() -> None:
        if isinstance(source, Corpus):
            listener.begin(f"Counting the words of {count(len(source), 'document')}")
            _vectorize(folder, source, options, mending, keys.matrix)
        else:
            listener.begin(f"Checking {count(source.X.shape[0], 'row')}")
            _take_rows(folder, source, options, mending, keys.matrix)

    def read(record: PreparedRecord, reader: Reader) -> Material:
        return read_material(record, reader, documents)

    material = folder.stage("matrix", keys.matrix, PreparedRecord, make, read)
    if documents is not None:
        _keep_documents(folder, documents, keys.documents)
    return material


def _keep_documents(folder: RunFolder, documents: Corpus, key: str) -> None:
    """Write the documents beside their rows, or leave those that are there."""

    def make() -> None:
        writer = folder.writer()
        folder.commit(
            "documents", key, writer, DocumentsRecord(texts=pack_corpus(documents, writer))
        )

    folder.stage("documents", key, DocumentsRecord, make, lambda record, _: record)


def read_material(record: PreparedRecord, reader: Reader, documents: Corpus | None) -> Material:
    """Read the rows again; the documents are at hand, or their numbers stand for them."""
    if record.matrix is None or record.kept is None:
        raise RunError(f"{reader.folder}: damaged: the rows are missing.")
    X = unpack_matrix(record.matrix, reader)
    kept = reader.array(record.kept, (X.shape[0],), "i").astype(np.intp)
    reasons = {int(row): str(why) for row, why in record.set_aside}
    if documents is None:
        numbers = [str(i) for i in range(1, len(kept) + len(reasons) + 1)]
        documents = Corpus([""] * len(numbers), numbers)
    return Material(
        X,
        None if record.vocabulary is None else unpack_words(reader, record.vocabulary),
        kept,
        reasons,
        documents,
        None if record.counts is None else unpack_matrix(record.counts, reader),
        None if record.terms is None else unpack_words(reader, record.terms),
    )


def mended(
    source: Corpus | Matrix, options: ExploreOptions, known: frozenset[str] = frozenset()
) -> tuple[Corpus | Matrix, Mending]:
    """Mend the texts of what was read, as far as that is asked for; say what was done.

    Lines that are known to be repeated, from a run of part of the documents, are left out too.
    """
    corpus = source if isinstance(source, Corpus) else source.documents
    if corpus is None or not (options.mend_encoding or options.drop_repeated_lines):
        return source, Mending()
    corpus = mend(corpus, Mending(encoding=options.mend_encoding))
    lines = Mending()
    if options.drop_repeated_lines:
        lines = Mending(lines=known | frozenset(repeated_lines(corpus.texts)))
    corpus = mend(corpus, lines)
    done = replace(lines, encoding=options.mend_encoding)
    if isinstance(source, Corpus):
        return corpus, done
    return replace(source, documents=corpus, notes=[*source.notes, *corpus.notes]), done


def _vectorize(
    folder: RunFolder, corpus: Corpus, options: ExploreOptions, mending: Mending, key: str
) -> None:
    parameters = options.vectorizer()
    found = vectorize(corpus, **parameters)
    if not len(found.rows):
        raise ReadError.at(corpus.source, "no document has a word that was kept.")
    writer, used = folder.writer(), found.vectorizer
    record = PreparedRecord(
        matrix=pack_matrix(found.X, writer),
        vocabulary=pack_words(found.words, writer),
        kept=FileName(writer.array(KEPT, found.rows.astype(np.int64))),
        set_aside=[(one.row, one.reason) for one in found.set_aside],
        dropped_lines=sorted(mending.lines),
        trouble=trouble(corpus.texts, found.words, options.languages(), mending),
        vectorizer=VectorizerRecord(
            parameters=parameters,
            thresholds=Thresholds(
                min_count=int(used.min_count_),
                min_df=int(used.min_df_),
                max_df=int(used.max_df_),
                cost=used.cost_,
            ),
            n_words_before=int(used.n_words_),
            idf=None if used.idf_ is None else FileName(writer.array(IDF, used.idf_)),
            forms=pack_forms(used.forms_, writer),
            phrases=[(one.left, one.right, one.word, one.npmi) for one in used.phrases_],
            removed=removed_words(used.removed_, options.stop_words or ()),
        ),
    )
    folder.commit("matrix", key, writer, record)


def _take_rows(
    folder: RunFolder, matrix: Matrix, options: ExploreOptions, mending: Mending, key: str
) -> None:
    kept, reasons = check_rows(matrix)
    if not kept.size:
        raise ReadError.at(matrix.source or "The matrix", "every row is empty.")
    writer, documents = folder.writer(), matrix.documents
    record = PreparedRecord(
        matrix=pack_matrix(matrix.X[kept] if reasons else matrix.X, writer),
        vocabulary=None if matrix.vocabulary is None else pack_words(matrix.vocabulary, writer),
        kept=FileName(writer.array(KEPT, kept.astype(np.int64))),
        set_aside=list(reasons.items()),
    )
    if documents is not None and matrix.vocabulary is None:
        counter = TextVectorizer(**{**options.vectorizer(), "weighting": "counts"})
        counts = counter.fit_count(documents.texts)
        record = replace(
            record,
            counts=pack_matrix(counts, writer, COUNTS),
            terms=pack_words(counter.vocabulary_, writer, TERMS),
            dropped_lines=sorted(mending.lines),
            trouble=trouble(documents.texts, counter.vocabulary_, options.languages(), mending),
        )
    folder.commit("matrix", key, writer, record)


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
