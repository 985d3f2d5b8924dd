"""The meaning of documents beside their words: which is asked for, and the vectors themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray  # noqa: TC002 (types are read when decoding)

from spheremix.run.folder.store import key_of
from spheremix.text import Corpus, Matrix
from spheremix.text.corpus import digest
from spheremix.text.matrices import not_finite
from spheremix.text.meaning import embed
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spheremix.run import Listener
    from spheremix.run.folder.store import Store
    from spheremix.run.options import ExploreOptions

GIVEN = "given"  # vectors that somebody had
NONE = "none"  # words alone
PART = 2**16  # rows that are brought to length one at a time


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Meaning:
    """The meaning of each document as a direction, zeros where it has none; and its model."""

    archive_version: ClassVar[int] = 1

    # Half precision: angles change by a ten-thousandth, and groups do not.
    vectors: NDArray[np.float16]
    model: str  # "static", the name of a model, or "given"

    @classmethod
    def of(cls, vectors: Any, model: str, source: str = "The embeddings") -> Meaning:
        """Return vectors at length one."""
        short = np.empty(vectors.shape, dtype=np.float16)
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
    """Return what finds the meaning of documents, None for words alone; and what is to be said."""
    if given is not None:
        return GIVEN, []
    if isinstance(source, Matrix) or options.meaning in {None, NONE}:
        return None, []
    return str(options.meaning), []


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
