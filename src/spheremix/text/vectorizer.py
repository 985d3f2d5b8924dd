"""From texts to unit rows: the pipeline of the paper's section 6, every document accounted for."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfTransformer
from sklearn.utils.validation import check_is_fitted

from spheremix.errors import ParameterError
from spheremix.parameters import require_choice, require_flag, require_integer
from spheremix.text.boilerplate import (
    Boilerplate,
    count_lines,
    frequent_lines,
    most_repeated,
)
from spheremix.text.corpus import Corpus, check_texts
from spheremix.text.languages import WithoutStopWords
from spheremix.text.lexicon import Lexicon, Simplemma
from spheremix.text.parts import Here, added, open_texts
from spheremix.text.selection import (
    DROPPED,
    Frequencies,
    Thresholds,
    no_words,
    phrases_of,
    texts_with,
)
from spheremix.text.stopwords import stop_words as stop_words_in
from spheremix.text.terms import Terms, runs_of_words
from spheremix.text.words import UNKNOWN, Cutting, WordRule, Written, growing, word_list
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from spheremix.text.parts import Parts
    from spheremix.text.phrases import Phrase
    from spheremix.text.words import Tokens

NO_WORD_LEFT = "no word of the vocabulary"
NO_SUBJECT = "nothing but addresses, headers or repeated lines"
WEIGHTINGS = ("counts", "binary", "tfidf", "sublinear-tfidf")
WEIGHTING = "sublinear-tfidf"  # what the library and the command use unless they are told otherwise


class TextVectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn texts into unit rows of weighted word counts.

    Runs of letters and digits in lower case are the forms, whatever the script; forms with the same
    lemma are one word, which is shown as the form that the texts have most often ("united" for
    *unite*, *united* and *unites*). Stop words, numbers, rare and common words are dropped; the
    rest is counted, weighted, and rows are put to length one. A text without any word left gives an
    empty row, which :func:`spheremix.text.vectorize` sets aside.

    Parameters
    ----------
    language : str, default="en"
        Code of two or three letters; "en,fr" for texts in either: each is without the stop words of
        the language that it has most stop words of. There are stop words for de, en, es, fr, it, nl
        and pt. In other languages only ``max_df`` drops common words.
    lemmatizer : {"simplemma", "none"}, None or callable, default="simplemma"
        A callable takes a form in lower case and gives its lemma or stem; it is called once for
        each form. A lemma of simplemma is used only where it is a form of the texts or a word of
        its dictionary.
    stop_words : "auto", "english", None, Path or iterable of str, default="auto"
        Forms that are no words, nor are forms whose lemma they are. "auto" takes those of the
        language, "english" those of scikit-learn; a file has one word a line.
    drop : iterable of str, Path or str, default=()
        Words that are left out with all of their forms, besides the stop words; in a string they
        stand between commas, in a file one a line.
    phrases : int, default=1
        Words of a phrase, at most. With 2, neighbouring words that go together (*interest rate*)
        are one word wherever they are neighbours, and their parts are counted only elsewhere.
        Neighbours go together where their normalised pointwise mutual information is at least 0.5
        and ``min_df`` documents have them where no closer pair overlaps;
        ``spheremix.text.phrases`` has the formula.
    ngram_range : tuple of int, default=(1, 1)
        As in scikit-learn: all runs of so many words, at least and at most, are counted, once the
        stop words are left out.
    min_count : int or None, default=None
        Least number of occurrences in the corpus, 100 in the paper. None asks for no more than
        ``min_df``.
    min_df, max_df : int, float or None, default=None
        Least and largest number of documents (int) or share of them (float) with a word, as in
        scikit-learn. None takes for ``min_df`` a 40th of the documents, but 2 at least and 5 at
        most, and a thousandth of them where that is more, 20 at most; for ``max_df`` half of the
        documents. Of fewer than 20 documents no word is too rare or too common.
    weighting : {"counts", "binary", "tfidf", "sublinear-tfidf"}, default="sublinear-tfidf"
        How counts become weights. "tfidf" multiplies a count by the inverse document frequency of
        the word, smoothed as in scikit-learn: rare words weigh more. "sublinear-tfidf" does the
        same with 1 + log(count), so that a word repeated in a text does not outweigh all others.
    keep_numbers : bool, default=False
        Whether what has digits and no letter is a word.
    drop_mixed : bool, default=False
        Whether what has both digits and letters is no word.
    keep_boilerplate : bool, default=False
        Whether words are counted in what is no subject, too: URLs, e-mail addresses, handles, signs
        of retweets, headers of mails but for the subject, page numbers, and repeated lines. A line
        is repeated where at least 10 texts and 2 % of them have it; 10 % for a line of two to four
        words. Lines of one word and texts of one line stay.
    drop_lines : iterable of str, default=()
        Lines that are left out besides, wherever they stand.
    min_length : int, default=2
        Characters of a word, at least. What has more than 100 is never one.
    tokenizer : callable or None, default=None
        From a text to its words in lower case. Needed for Chinese, Japanese and Thai, which do not
        put spaces between words.

    Attributes
    ----------
    vocabulary_ : ndarray of str, shape (d,)
        The word of each column, in alphabetical order: a form that the texts have.
    forms_ : dict of str to str or None
        The word of every form that was met, and of the lemmas; None for forms whose lemma is a stop
        word, and for words of ``drop``. ``transform`` looks here first, so that it does not depend
        on the version of the lemmatiser.
    phrases_ : list of Phrase
        The phrases that were found: two words, how they are written together, and how closely they
        go together.
    idf_ : ndarray of shape (d,), or None
        Weights of the words, with one of the two tf-idf.
    min_count_, min_df_, max_df_ : int
        The thresholds that were used, in occurrences and in documents.
    n_words_ : int
        Words before the thresholds.
    cost_ : dict of str to int
        How many words each threshold cost: those of fewer than ``min_df`` documents, of the others
        those of fewer than ``min_count`` occurrences, and those of more than ``max_df`` documents.
    removed_ : dict of str to dict of str to int
        Words that were left out and the number of documents that have them, by reason: "common",
        "rare" (by ``min_df`` or ``min_count``), "dropped" (by ``drop``; 0 for a word that no
        document has) and "mixed" (by ``drop_mixed``).
    lines_ : dict of str to int
        Lines that were left out, and the number of texts of the fit that have them.
    boilerplate_ : dict of str to int
        What else was left out as no subject, by kind, and the number of texts that have it.

    Examples
    --------
    >>> from spheremix.text import TextVectorizer
    >>> texts = ["Cats purr.", "The cat sleeps.", "Stars shine, the star burns."]
    >>> vectorizer = TextVectorizer(lemmatizer=lambda word: word.removesuffix("s"))
    >>> vectorizer.fit_transform(texts).shape
    (3, 6)
    >>> list(vectorizer.get_feature_names_out())
    ['burns', 'cat', 'purr', 'shine', 'sleeps', 'star']
    """

    def __init__(
        self,
        *,
        language: str = "en",
        lemmatizer: str | Callable[[str], str] | None = "simplemma",
        stop_words: str | PathLike[str] | Iterable[str] | None = "auto",
        drop: str | PathLike[str] | Iterable[str] = (),
        phrases: int = 1,
        ngram_range: tuple[int, int] = (1, 1),
        min_count: int | None = None,
        min_df: float | None = None,
        max_df: float | None = None,
        weighting: str = WEIGHTING,
        keep_numbers: bool = False,
        drop_mixed: bool = False,
        keep_boilerplate: bool = False,
        drop_lines: Iterable[str] = (),
        min_length: int = 2,
        tokenizer: Callable[[str], Iterable[str]] | None = None,
    ) -> None:
        self.language = language
        self.lemmatizer = lemmatizer
        self.stop_words = stop_words
        self.drop = drop
        self.phrases = phrases
        self.ngram_range = ngram_range
        self.min_count = min_count
        self.min_df = min_df
        self.max_df = max_df
        self.weighting = weighting
        self.keep_numbers = keep_numbers
        self.drop_mixed = drop_mixed
        self.keep_boilerplate = keep_boilerplate
        self.drop_lines = drop_lines
        self.min_length = min_length
        self.tokenizer = tokenizer

    def fit(self, X: Iterable[str], y: Any = None) -> Self:
        """Choose the words and weigh them.

        Parameters
        ----------
        X : iterable of str
            Texts.
        y : ignored
            For scikit-learn's conventions.

        Returns
        -------
        TextVectorizer
            Itself.
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Iterable[str], y: Any = None) -> sparse.csr_array:  # noqa: ARG002
        """Choose the words, weigh them, and return the rows of the texts.

        Parameters
        ----------
        X : iterable of str
            Texts; a Dask bag of them or a column of a Dask data frame is read where it is.
        y : ignored
            For scikit-learn's conventions.

        Returns
        -------
        CSR array of shape (n, d), float64
            Rows of length one, or empty; of Dask texts a ``dask.array`` with a block a partition.
        """
        counts = self._fit(open_texts(X))
        rows: sparse.csr_array = counts.keep(weighed, self.weighting, self._weigher).matrix()
        return rows

    def fit_count(self, X: Iterable[str]) -> sparse.csr_array:
        """Choose the words, and count them in the texts, neither weighted nor normalised.

        Parameters
        ----------
        X : iterable of str
            Texts.

        Returns
        -------
        CSR array of shape (n, d), int64
            How often each text has each word of ``vocabulary_``.
        """
        counts: sparse.csr_array = self._fit(open_texts(X)).matrix()
        return counts

    def _fit(self, texts: Parts) -> Parts:
        """Choose the words, and return their counts where the texts are."""
        self.check_parameters()
        several = self.phrases > 1 or self._sizes() != (1, 1)
        if several and not isinstance(texts, Here):
            raise ParameterError(
                "{phrases} and {ngram_range} are for texts in memory, and these are in the "
                "partitions of a Dask collection"
            )
        lemma, drop = self._lemma(), word_list("drop", self.drop)
        n = sum(texts.each(len))
        if not n:
            raise ParameterError("There are no texts")
        thresholds = Thresholds.choose(n, self.min_count, self.min_df, self.max_df)
        self.lines_ = self._lines(texts, n)
        without = None if self.keep_boilerplate else Boilerplate(frozenset(self.lines_))
        written = texts.keep(Written.read, self._cutting(lemma), without and without.cut)
        kinds = added(written.each(kinds_of))
        self.boilerplate_ = dict(sorted(kinds.items(), key=lambda one: (-one[1], one[0])))
        terms, tokens, left_out = Terms.learn(
            written,
            self._cut(lemma),
            self._rule(),
            lemma,
            drop=drop,
            longest=self.phrases,
            least=thresholds.min_df,
        )
        if not terms.names:
            raise no_words(n, sum(texts.each(count_blank)))
        names = terms.names
        if self._sizes() != (1, 1):
            numbers = growing()
            tokens = tokens.keep(runs_of_words, names, self._sizes(), numbers)
            names = list(numbers)
        unwanted = {word: word for word in drop} | phrases_of(drop, terms.phrases, terms.lexicon)
        unused = set(unwanted.values())
        gone = {}
        if unused:
            keys = [name if name in unused else None for name in names]
            gone = added(tokens.each(texts_with, keys))
        places = {name: i for i, name in enumerate(sorted({*names} - unused))}
        table = [places.get(name, UNKNOWN) for name in names]
        counts = tokens.keep(count_terms, table, len(places))
        found = sum(counts.each(Frequencies.of), start=Frequencies.none(len(places)))
        thresholds = thresholds.relaxed(found)
        kept, cost = thresholds.survivors(found)
        vocabulary = np.array(list(places), dtype=object)[kept]
        self._set(terms, vocabulary, self._weigher_of(n, found.documents[kept]))
        self.min_count_, self.n_words_ = thresholds.min_count, len(places)
        self.min_df_, self.max_df_ = thresholds.min_df, thresholds.max_df
        self.cost_ = cost
        left_out[DROPPED] |= {word: gone[name] for word, name in unwanted.items() if name in gone}
        self.removed_ = left_out | thresholds.beyond(list(places), found)
        return counts.keep(columns_of, kept)

    def transform(self, X: Iterable[str]) -> sparse.csr_array:
        """Return the rows of texts; words that were not chosen count for nothing.

        Parameters
        ----------
        X : iterable of str
            Texts.

        Returns
        -------
        CSR array of shape (n, d), float64
            Rows of length one, or empty.
        """
        check_is_fitted(self)
        rows: sparse.csr_array = open_texts(X).keep(transformed, self).matrix()
        return rows

    def _transform(self, texts: list[str]) -> sparse.csr_array:
        tokens = self._terms.read(texts)
        places = defaultdict(lambda: UNKNOWN, {w: i for i, w in enumerate(self.vocabulary_)})
        names = self._terms.names
        if self._sizes() == (1, 1):
            tokens = tokens.renumber([places[name] for name in names])
        else:
            tokens = runs_of_words(tokens, names, self._sizes(), places)
        counts = tokens.counts(len(self.vocabulary_))
        return weighed(counts, self.weighting, self._weigher)

    @classmethod
    def restore(
        cls,
        vocabulary: Sequence[str],
        idf: Any = None,
        forms: Mapping[str, str | None] | None = None,
        known_phrases: Iterable[Phrase] = (),
        **parameters: Any,
    ) -> TextVectorizer:
        """Make a fitted vectoriser again out of what was saved of it.

        Parameters
        ----------
        vocabulary : sequence of str
            ``vocabulary_``.
        idf : array-like of shape (d,) or None
            ``idf_``.
        forms : mapping of str to str or None
            ``forms_``. Without it every word is its own only form.
        known_phrases : iterable of Phrase
            ``phrases_``.
        **parameters
            Those of the constructor.

        Returns
        -------
        TextVectorizer
            Its ``transform`` gives the same rows; thresholds are not known any more.
        """
        self = cls(**parameters)
        require_choice("weighting", self.weighting, WEIGHTINGS)
        weigher = self._new_weigher()
        words = np.array(list(vocabulary), dtype=object)
        if len(set(words)) < len(words) or not len(words):
            raise ParameterError("{vocabulary} must have at least one word, and each of them once")
        weights = None if idf is None else np.asarray(idf, dtype=np.float64)
        if (weights is not None) != weigher.use_idf:
            raise ParameterError(
                f"{{idf}} must be given for tf-idf only; {{weighting={self.weighting!r}}}"
            )
        weigher.fit(sparse.csr_array((1, len(words)), dtype=np.float64))
        if weights is not None:
            if weights.shape != words.shape or not np.isfinite(weights).all():
                raise ParameterError(
                    "{idf} must have {numbers}", numbers=count(len(words), "finite number")
                )
            weigher.idf_ = weights
        known = {word: word for word in words} if forms is None else forms
        lemma = self._lemma()
        lexicon = Lexicon(self._rule(), lemma, known)
        self.lines_ = dict.fromkeys(self.drop_lines, 0)
        self._set(Terms(lexicon, self._cut(lemma), list(known_phrases)), words, weigher)
        return self

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense, before any text is read."""
        require_choice("weighting", self.weighting, WEIGHTINGS)
        self._rule()
        self._lemma()
        word_list("drop", self.drop)
        require_flag("keep_boilerplate", self.keep_boilerplate)
        if self.keep_boilerplate and list(self.drop_lines):
            raise ParameterError("Give either {drop_lines} or {keep_boilerplate}, not both")
        require_integer("phrases", self.phrases, 1)
        if self._sizes() != (1, 1) and self.phrases > 1:
            raise ParameterError("Give either {phrases} or {ngram_range}, not both")
        Thresholds.choose(1, self.min_count, self.min_df, self.max_df)

    def words(self, text: str) -> list[str]:
        """Return the words of a text in their order, those that were not chosen included.

        Parameters
        ----------
        text : str
            One text.

        Returns
        -------
        list of str
            Without stop words; what the texts of the fit did not have is shown as its lemma.
        """
        check_is_fitted(self)
        return self._terms.of(text)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:  # noqa: ARG002
        """Return the word of each column.

        Parameters
        ----------
        input_features : ignored
            For scikit-learn's conventions.

        Returns
        -------
        ndarray of str
            ``vocabulary_``.
        """
        check_is_fitted(self)
        return self.vocabulary_.copy()

    def _set(self, terms: Terms, vocabulary: NDArray[Any], weigher: Any) -> None:
        self.vocabulary_ = vocabulary
        self.forms_ = terms.lexicon.known
        self.phrases_ = terms.phrases
        self.idf_ = weigher.idf_ if weigher.use_idf else None
        self._terms = terms
        self._weigher = weigher

    def _new_weigher(self) -> Any:
        """Return scikit-learn's transformer that weighs counts and puts rows to length one."""
        sublinear = self.weighting.startswith("sublinear")
        return TfidfTransformer(use_idf="tfidf" in self.weighting, sublinear_tf=sublinear)

    def _weigher_of(self, n: int, documents: NDArray[Any]) -> Any:
        """Return what weighs counts, by the numbers of n texts that have each word."""
        weigher = self._new_weigher().fit(sparse.csr_array((1, len(documents)), dtype=np.float64))
        if weigher.use_idf:  # as scikit-learn smooths it
            weigher.idf_ = np.log((n + 1) / (documents + 1.0)) + 1.0
        return weigher

    def _cutting(self, lemma: Any) -> Callable[[str], Iterable[str]]:
        """Return what cuts a text into forms, whatever its subject."""
        cut = self.tokenizer or Cutting(
            signs=self.phrases > 1, cased=getattr(lemma, "cased", False)
        )
        if not self._own_stop_words():
            return cut
        languages, own = self._languages(), self.lemmatizer == "simplemma"
        lemmas = {code: Simplemma((code,)) if own else lemma or str.lower for code in languages}
        return WithoutStopWords(languages, cut, lemmas)

    def _cut(self, lemma: Any) -> Callable[[str], Iterable[str]]:
        """Return what cuts a text into forms, without what is no subject."""
        cut = self._cutting(lemma)
        if self.keep_boilerplate:
            return cut
        return CuttingWithout(Boilerplate(frozenset(self.lines_)), cut)

    def _lines(self, texts: Parts, n: int) -> dict[str, int]:
        """Return the lines that are left out, with the number of texts that have them."""
        if self.keep_boilerplate:
            return {}
        frequent = set[str]().union(*texts.each(frequent_lines))
        found = most_repeated(added(texts.each(count_lines, frequent)) if frequent else {}, n)
        given = set(self.drop_lines)
        if not given:
            return found
        times = added(texts.each(count_given, given))
        return found | {line: times.get(line, 0) for line in self.drop_lines if line not in found}

    def _languages(self) -> tuple[str, ...]:
        """Return the codes of "en,fr"."""
        text = self.language if isinstance(self.language, str) else ""
        languages = tuple(code.strip().lower() for code in text.split(","))
        if not all(code.isalpha() and len(code) in {2, 3} for code in languages):
            raise ParameterError(
                '{language} must be a code such as "en", got {got}', got=repr(self.language)
            )
        return languages

    def _lemma(self) -> Callable[[str], str] | None:
        """Return what finds the lemma of a form; None where forms are left as they are."""
        languages = self._languages()
        if self.lemmatizer is None or self.lemmatizer == "none":
            return None
        if self.lemmatizer == "simplemma":
            return Simplemma(languages)
        if isinstance(self.lemmatizer, str) or not callable(self.lemmatizer):
            raise ParameterError(
                '{lemmatizer} must be "simplemma", "none", None or a callable, got {got}',
                got=repr(self.lemmatizer),
            )
        return self.lemmatizer

    def _own_stop_words(self) -> bool:
        """Return whether each text is without the stop words of its own language alone."""
        lists = [code for code in self._languages() if stop_words_in(code)]
        return self.stop_words == "auto" and len(lists) > 1

    def _stop_words(self) -> frozenset[str]:
        if self._own_stop_words():  # they are left out where texts are cut
            return frozenset()
        if self.stop_words == "auto":
            return frozenset[str]().union(*map(stop_words_in, self._languages()))
        if self.stop_words == "english":
            return frozenset(ENGLISH_STOP_WORDS)
        if isinstance(self.stop_words, str):
            raise ParameterError(
                '{stop_words} must be "auto", "english", None, words or the Path of a file, '
                "got {got}",
                got=repr(self.stop_words),
            )
        return frozenset(word_list("stop_words", self.stop_words or ()))

    def _rule(self) -> WordRule:
        least = require_integer("min_length", self.min_length, 1)
        return WordRule(self._stop_words(), self.keep_numbers, self.drop_mixed, least)

    def _sizes(self) -> tuple[int, int]:
        """Return the least and the largest number of words of a run of words."""
        try:
            low, high = self.ngram_range
            low, high = require_integer("ngram_range", low, 1), require_integer("", high, low)
        except (TypeError, ValueError):
            raise ParameterError(
                "{ngram_range} must be two integers of at least 1, the smaller one first, as "
                "(1, 2); got {got}",
                got=repr(self.ngram_range),
            ) from None
        return low, high


# What is done where texts are


def count_given(texts: list[str], lines: set[str]) -> dict[str, int]:
    """Count the texts that have each of some lines, those of one line included."""
    return Counter(
        line for text in texts for line in lines.intersection(map(str.strip, text.split("\n")))
    )


def kinds_of(written: Written) -> dict[str, int]:
    """Return what was left out of texts."""
    return written.kinds


def count_blank(texts: list[str]) -> int:
    """Count the texts without a sign."""
    return sum(1 for text in texts if not text.strip())


def count_terms(tokens: Tokens, table: list[int], size: int) -> sparse.csr_array:
    """Count how often each text has each of so many words, after other numbers."""
    return tokens.renumber(table).counts(size)


def columns_of(counts: sparse.csr_array, kept: NDArray[np.intp]) -> sparse.csr_array:
    """Return some columns."""
    return counts[:, kept]


def weighed(counts: Any, weighting: str, weigher: Any) -> sparse.csr_array:
    """Turn counts into rows of length one; a row without a word stays empty."""
    rows = sparse.csr_array(counts, dtype=np.float64)
    rows.sort_indices()  # norms are the same bits whether the vectoriser sorted them or not
    if weighting == "binary":
        rows.data[:] = 1.0
    return sparse.csr_array(weigher.transform(rows))


def transformed(texts: list[str], vectorizer: TextVectorizer) -> sparse.csr_array:
    """Return the rows of texts, by a fitted vectoriser."""
    return vectorizer._transform(texts)  # noqa: SLF001


@dataclass(frozen=True, slots=True)
class CuttingWithout:
    """Cuts texts into forms, without what is no subject."""

    boilerplate: Boilerplate
    cut: Callable[[str], Iterable[str]]

    def __call__(self, text: str) -> Iterable[str]:
        """Return the forms of a text."""
        return self.cut(self.boilerplate(text))


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
    if (
        not vectorizer.keep_boilerplate
        and not Boilerplate(frozenset(vectorizer.lines_))(text).strip()
    ):
        return NO_SUBJECT
    if not vectorizer.words(text):
        return "no word but stop words, numbers or single letters"
    return NO_WORD_LEFT
