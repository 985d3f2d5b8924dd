"""Long documents as passages: the rows of an exploration, and the shares of the documents."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray  # noqa: TC002 (types are read when decoding)

from spheremix.data.open import as_directions
from spheremix.reading.shares import document_shares
from spheremix.run.folder.store import key_of
from spheremix.text import Corpus
from spheremix.text.boilerplate import repeated_lines, without_lines
from spheremix.text.passages import split, split_long

if TYPE_CHECKING:
    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.path import VMFPath
    from spheremix.run.options import ExploreOptions
    from spheremix.run.stages import Context
    from spheremix.run.stages.rows import Rows
    from spheremix.text import Matrix
    from spheremix.text.passages import Passages

WHOLE = "none"  # the way to split that leaves documents whole


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Cut:
    """Where the passages of an exploration come from."""

    documents: NDArray[np.int64]  # number of the document of each passage
    places: NDArray[np.int64]  # place of each passage in its document, from 1
    n_words: NDArray[np.int64]  # words of each passage, about
    whole: Corpus  # the documents, without their texts
    lines: dict[str, int] = field(default_factory=dict)  # left out before, and documents with them

    @property
    def n_passages(self) -> NDArray[np.int64]:
        """Passages of each document."""
        return np.bincount(self.documents, minlength=len(self.whole)).astype(np.int64)

    def means(self, values: NDArray[np.float64], rows: Rows) -> list[float | None]:
        """Return the mean of values of the rows in each document, weighted by their words."""
        own, n_words = self.documents[rows.kept], np.maximum(self.n_words[rows.kept], 1)
        totals = np.bincount(own, n_words, minlength=len(self.whole))
        sums = np.bincount(own, n_words * values, minlength=len(self.whole))
        both = zip(sums.tolist(), totals.tolist(), strict=True)
        return [a / b if b else None for a, b in both]

    def shares(
        self,
        model: VMFMixture | VMFPath,
        rows: Rows,
        *,
        temperature: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> Shares:
        """Find the shares of the groups in each document, from its passages that have a row."""
        mixture: Any = getattr(model, "best_estimator_", model)
        shares = np.zeros((len(self.whole), len(mixture.weights_)))
        if not len(rows.kept):
            return Shares(shares=shares, temperature=temperature or 1.0)
        found = document_shares(
            model,
            as_directions(rows.views, n_threads=threads),
            self.documents[rows.kept],
            lengths=np.maximum(self.n_words[rows.kept], 1),
            temperature=temperature,
            random_state=seed,
        )
        shares[found.documents] = found.shares
        return Shares(shares=shares, temperature=float(found.temperature))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Shares:
    """Shares of the groups in the documents, by their passages."""

    shares: NDArray[np.float64]  # (documents, groups): rows sum to one; zeros where none is grouped
    temperature: float

    @property
    def groups(self) -> NDArray[np.intp]:
        """The group with the largest share in each document, -1 where no passage has a group."""
        return np.where(self.shares.any(axis=1), self.shares.argmax(axis=1), -1)


def cut_source(
    source: Corpus | Matrix, options: ExploreOptions
) -> tuple[Corpus | Matrix, Cut | None]:
    """Make passages of documents, where that is asked for and some document is long enough.

    Lines that many documents have are left out before: cut to pieces, they could not be known.
    """
    if options.split == WHOLE or not isinstance(source, Corpus):
        return source, None
    lines = {} if options.keep_boilerplate else repeated_lines(source.texts)
    how = "auto" if options.split is None else options.split
    found = split([without_lines(text, lines) for text in source.texts], how)
    if found.n_split or found.n_left or options.split is not None:
        source = replace(source, notes=[*source.notes, str(found)])
    return cut_corpus(source, found, lines) if found.n_split else (source, None)


def cut_new(corpus: Corpus, how: Any, lines: dict[str, int]) -> tuple[Corpus, Cut]:
    """Make passages of new documents, as those of a run were made."""
    texts = [without_lines(text, lines) for text in corpus.texts]
    return cut_corpus(corpus, split_long(texts) if how is None else split(texts, how), lines)


def cut_corpus(corpus: Corpus, found: Passages, lines: dict[str, int]) -> tuple[Corpus, Cut]:
    """Return passages as documents of their own, and where they come from."""
    documents = found.documents.astype(np.int64)
    n_passages = np.bincount(documents, minlength=len(corpus))
    places = (np.arange(len(documents)) - (np.cumsum(n_passages) - n_passages)[documents]) + 1
    each = list(zip(documents.tolist(), places.tolist(), strict=True))
    titles = corpus.titles
    if titles is not None:
        titles = [
            f"{titles[i]}, passage {place}" if titles[i] and n_passages[i] > 1 else titles[i]
            for i, place in each
        ]
    passages = replace(
        corpus.take(documents.tolist()),
        texts=found.texts,
        ids=[f"{corpus.ids[i]}#{place}" for i, place in each],
        titles=titles,
    )
    whole = replace(corpus, texts=[""] * len(corpus), notes=[])
    n_words = found.n_words.astype(np.int64)
    where = {"documents": documents, "places": places.astype(np.int64), "n_words": n_words}
    return passages, Cut(**where, whole=whole, lines=lines)


def find_shares(
    x: Context, rows: Rows, cut: Cut, model: VMFMixture | VMFPath, model_key: str
) -> Shares:
    """Find the shares of the groups in each document, and keep them."""
    options = x.options

    def make() -> Shares:
        x.listener.begin("Finding the shares of the groups in the documents")
        return cut.shares(model, rows, seed=options.seed, threads=options.threads)

    by: list[Any] = [
        options.criterion,
        options.max_noise,
        cut.documents.tolist(),
        cut.n_words.tolist(),
    ]
    return x.store.stage("shares", key_of(model_key, *by, options.seed), Shares, make)
