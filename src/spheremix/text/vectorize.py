"""From a corpus to directions, with every document accounted for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from spheremix.errors import ParameterError
from spheremix.text.corpus import Corpus, check_texts
from spheremix.text.vectorizer import TextVectorizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy import sparse


NO_WORD_LEFT = "no word of the vocabulary"


@dataclass(frozen=True, slots=True)
class SetAside:
    """A document without direction, and why."""

    row: int
    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Vectorized:
    """The documents that have a direction, and those that have none.

    Attributes
    ----------
    X : CSR array of shape (n, d)
        Unit rows, none of them empty.
    words : ndarray of str, shape (d,)
        The word of each column.
    rows : ndarray of int, shape (n,)
        Position of each row of X in the corpus.
    ids : list of str
        Id of each row of X.
    set_aside : list of SetAside
        The other documents: ``len(rows) + len(set_aside)`` is the number of documents.
    vectorizer : TextVectorizer
        Fitted.
    """

    X: sparse.csr_array
    words: NDArray[Any]
    rows: NDArray[np.intp]
    ids: list[str]
    set_aside: list[SetAside]
    vectorizer: TextVectorizer


def vectorize(
    corpus: Corpus | Sequence[str], vectorizer: TextVectorizer | None = None, **parameters: Any
) -> Vectorized:
    """Return the directions of the documents of a corpus.

    Parameters
    ----------
    corpus : Corpus or list of str
        Documents; those of a list have the ids "1", "2" and so on.
    vectorizer : TextVectorizer or None
        A fitted one is used as it is: for new documents. None makes a new one.
    **parameters
        Those of :class:`TextVectorizer`, for a new one.

    Returns
    -------
    Vectorized
        Rows, words, and the documents set aside: those without text, without words, or without any
        word that was chosen.

    Examples
    --------
    >>> import spheremix as sm
    >>> texts = ["Heart and blood.", "The blood of the heart.", "42"]
    >>> found = sm.text.vectorize(texts, lemmatizer=None, min_count=1, min_df=1, max_df=1.0)
    >>> found.words.tolist(), found.X.shape
    (['blood', 'heart'], (2, 2))
    >>> [(one.id, one.reason) for one in found.set_aside]
    [('3', 'no word but stop words, numbers or single letters')]
    """
    if not isinstance(corpus, Corpus):
        texts = check_texts(corpus)
        corpus = Corpus(texts, [str(i) for i in range(1, len(texts) + 1)])
    if vectorizer is None:
        vectorizer = TextVectorizer(**parameters)
    elif parameters:
        raise ParameterError("Give either {vectorizer} or the parameters of a new one, not both")
    try:
        check_is_fitted(vectorizer)
        X = vectorizer.transform(corpus.texts)
    except NotFittedError:
        X = vectorizer.fit_transform(corpus.texts)
    full = np.diff(X.indptr) > 0
    rows = np.flatnonzero(full)
    aside = [
        SetAside(int(i), corpus.ids[i], _reason(corpus.texts[i], vectorizer))
        for i in np.flatnonzero(~full)
    ]
    ids = [corpus.ids[i] for i in rows]
    return Vectorized(X[rows], vectorizer.vocabulary_, rows, ids, aside, vectorizer)


def _reason(text: str, vectorizer: TextVectorizer) -> str:
    if not text.strip():
        return "no text"
    if not vectorizer.words(text):
        return "no word but stop words, numbers or single letters"
    return NO_WORD_LEFT
