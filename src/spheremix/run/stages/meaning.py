"""The meaning of documents beside their words: which is asked for, and the vectors themselves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray  # noqa: TC002 (types are read when decoding)

from spheremix.run.folder.store import key_of
from spheremix.text import Corpus, Matrix
from spheremix.text.corpus import digest
from spheremix.text.languages import LOOKED_AT
from spheremix.text.matrices import not_finite
from spheremix.text.meaning import STATIC, embed, has_static
from spheremix.text.trouble import foreign
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spheremix.run import Listener
    from spheremix.run.folder.store import Store
    from spheremix.run.options import ExploreOptions

GIVEN = "given"  # vectors that somebody had
NONE = "none"  # words alone
SHORT = 60  # words of half of the texts, up to which their meaning helps: view_lengths.md
FEWEST = 200  # texts, below which nobody has tried whether it does
ENGLISH = "en"  # the language of the static vectors
TOGETHER = 20  # texts whose language is found together: one alone has too few words
HELPS = "The texts are short: they are grouped by their words and their meaning."
WOULD_HELP = (
    "The texts are short, and their meaning would help: pip install wordllama adds English word "
    "vectors, 16 MB."
)
FOREIGN = (
    "The static vectors are for English, and these texts seem to be in another language: a model "
    "that knows it is better."
)
PART = 2**16  # rows that are brought to length one at a time


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Meaning:
    """The meaning of each document as a direction, zeros where it has none; and its model."""

    archive_version: ClassVar[int] = 1

    # Half precision: angles change by a ten-thousandth, and groups do not. Single precision where
    # a mixture was fitted to the vectors as they are: its rows are known by their likelihood.
    vectors: NDArray[Any]
    model: str  # "static", the name of a model, or "given"

    @classmethod
    def of(
        cls, vectors: Any, model: str, source: str = "The embeddings", dtype: Any = np.float16
    ) -> Meaning:
        """Return vectors at length one."""
        short = np.empty(vectors.shape, dtype=dtype)
        for start in range(0, len(vectors), PART):
            part = np.asarray(vectors[start : start + PART], dtype=np.float64)
            largest = np.abs(part).max(axis=1, keepdims=True)
            bad = np.flatnonzero(~np.isfinite(largest))
            if bad.size:
                raise not_finite(source, start + bad, " here and in the documents")
            part = np.divide(part, largest, out=np.zeros_like(part), where=largest > 0.0)
            lengths = np.linalg.norm(part, axis=1, keepdims=True)
            short[start : start + PART] = part / np.where(lengths > 0.0, lengths, 1.0)
        return cls(vectors=short, model=model)


def choose_model(
    source: Corpus | Matrix, given: Matrix | None, options: ExploreOptions
) -> tuple[str | None, list[str]]:
    """Return what finds the meaning of documents, None for words alone; and what is to be said.

    By default it is that of short English texts, where it makes up for the words that they do not
    share.
    """
    if given is not None:
        return GIVEN, []
    if isinstance(source, Matrix) or options.meaning == NONE:
        return None, []
    english = partial(is_english, source.texts, options.languages())
    if options.meaning is not None:
        warned = options.meaning == STATIC and not english()
        return str(options.meaning), [FOREIGN] if warned else []
    if by_words_alone(options) is not None:
        return None, []
    if len(source) < FEWEST or not are_short(source.texts) or not english():
        return None, []
    return (STATIC, [HELPS]) if has_static() else (None, [WOULD_HELP])


def by_words_alone(options: ExploreOptions) -> str | None:
    """Return which of the options that are set is for groups that are found by words alone."""
    if options.noise not in {None, NONE}:
        return "noise"
    return "split" if options.split not in {None, NONE} else None


def are_short(texts: Sequence[str]) -> bool:
    """Return whether half of the texts have few words."""
    return bool(np.median([text.count(" ") + 1 for text in texts]) <= SHORT)


def is_english(texts: Sequence[str], languages: Sequence[str]) -> bool:
    """Return whether texts are English, as it was said and as their stop words say."""
    sample = texts[:: max(1, -(-len(texts) // LOOKED_AT))]
    joined = [" ".join(sample[i : i + TOGETHER]) for i in range(0, len(sample), TOGETHER)]
    return list(languages) == [ENGLISH] and foreign(joined, [ENGLISH]) is None


def meaning_key(source: Corpus | Matrix, model: str) -> str:
    """Return the key of the meaning of documents."""
    if isinstance(source, Matrix):
        return key_of(source.checksum, GIVEN)
    return key_of(_digest(source.texts), model)


def find_meaning(store: Store, source: Corpus | Matrix, model: str, listener: Listener) -> Meaning:
    """Find the meaning of documents once, and keep it."""

    def make() -> Meaning:
        if isinstance(source, Matrix):
            X: Any = source.X
            dense = X.toarray() if hasattr(X, "toarray") else X
            return Meaning.of(dense, GIVEN, source.source or "The embeddings")
        listener.begin(f"Finding the meaning of {count(len(source), 'text')}")
        return Meaning.of(embed(source.texts, model), model)

    return store.stage("meaning", meaning_key(source, model), Meaning, make)


def _digest(lines: Iterable[str]) -> str:
    return digest(line.encode("utf-8", "surrogatepass") for line in lines)
