"""The documents of a page: all of them, or of very many a sample beside counts of all."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.reading import Documents
    from spheremix.run.run import Run
    from spheremix.text import Corpus

    Ids = NDArray[np.intp]

MOST = 100_000  # documents of a page, or passages: more make it slow to open
LISTED = 10  # typical and ambiguous documents of a group, which a page always has
LONGEST = 20_000  # characters of a text that is listed
SEED = 0


@dataclass(eq=False)
class Shown:
    """The documents that a page shows.

    A sample has its share of every stratum, a fine group where there is a tree, and the typical
    and the ambiguous documents of each group. Where documents were split, whole ones are drawn,
    by their largest groups: a document has all of its passages, or none. What is counted of all
    documents is counted by stratum: so it is known of any groups that are made of fine ones.
    """

    run: Run
    found: Documents | None  # of all documents
    most: int = MOST

    @cached_property
    def rows(self) -> Ids | None:
        """The rows that are shown, in their order; None where all are."""
        if self.found is None or len(self.found.labels) <= self.most:
            return None
        always = np.concatenate([np.empty(0, dtype=np.intp), *self.typical, *self.ambiguous])
        share = self.most / len(self.found.labels)
        if self.owners is None or self.run.by_passages is None:
            return np.union1d(_draw(self.strata, share), always)
        documents, largest = np.unique(self.owners), self.run.by_passages.groups
        drawn = documents[_draw(largest[documents] + 1, share)]
        return np.flatnonzero(np.isin(self.owners, np.union1d(drawn, self.owners[always])))

    def of(self, values: Any) -> Any:
        """Return what belongs to the documents that are shown."""
        if self.rows is None or values is None:
            return values
        if isinstance(values, list):
            return [values[i] for i in self.rows]
        return values[self.rows]

    @cached_property
    def owners(self) -> Ids | None:
        """The document of each row; None where rows are documents."""
        cut, rows = self.run.cut, self.run.rows
        return None if cut is None or rows is None else cut.documents[rows.kept]

    @cached_property
    def corpus(self) -> Corpus | None:
        """The documents that are shown."""
        corpus = self.run.kept_corpus
        if self.rows is None or corpus is None:
            return corpus
        return corpus.take(self.rows.tolist())

    @cached_property
    def typical(self) -> list[Ids]:
        """The typical documents of each group, as rows."""
        found: Any = self.found
        return [found.typical(k, LISTED) for k in range(len(self.run.mixture.weights_))]

    @cached_property
    def ambiguous(self) -> list[Ids]:
        """The ambiguous documents of each group, as rows."""
        K, found = len(self.run.mixture.weights_), self.found
        if found is None or K == 1:
            return [np.empty(0, dtype=np.intp)] * K
        return [found.ambiguous(LISTED, group=k) for k in range(K)]

    def listed(self) -> dict[str, list[list[int]] | None]:
        """List the typical and the ambiguous documents of each group."""
        if self.found is None:
            return {"typical": None, "ambiguous": None}
        return {"typical": self._places(self.typical), "ambiguous": self._places(self.ambiguous)}

    def _places(self, several: list[Ids]) -> list[list[int]]:
        if self.rows is not None:
            several = [np.searchsorted(self.rows, ids) for ids in several]
        return [ids.tolist() for ids in several]

    @cached_property
    def strata(self) -> Ids:
        """The stratum of each document: its fine group, or its group; the last one: nowhere."""
        run, found = self.run, self.found
        if run.leaves is not None and run.nodes is not None:
            labels, n = run.leaves, run.nodes[-1].n_leaves
        else:
            labels, n = found.labels, len(run.mixture.weights_)  # type: ignore[union-attr]
        return np.where(labels < 0, n, labels).astype(np.intp)

    def counted(
        self, names: list[str] | None, columns: list[dict[str, Any]] | None
    ) -> dict[str, Any] | None:
        """Count all documents by stratum, by label and by date; None where all are shown.

        ``labels`` and ``dates`` are cells: the stratum, the number of the label or of the date,
        and the documents, of which passages are parts.
        """
        corpus = self.run.kept_corpus
        if self.rows is None:
            return None
        weights = self._weights()
        sizes = np.bincount(self.strata, weights)
        labels = dates = None
        if corpus is not None and columns is not None and names is not None:
            cells: dict[tuple[int, int], float] = defaultdict(float)
            for column in columns:
                places = {
                    name: i for i, name in enumerate(names) if column["start"] <= i < column["stop"]
                }
                own = corpus.labels[column["name"]]
                for s, several, weight in zip(self.strata.tolist(), own, weights, strict=True):
                    for one in several:
                        cells[s, places[one]] += weight
            labels = _as_arrays(cells)
        if corpus is not None and corpus.dates is not None:
            months = [(date or "")[:7] for date in corpus.dates]
            known = sorted(set(months))
            number = {month: i for i, month in enumerate(known)}
            cells = defaultdict(float)
            for s, month, weight in zip(self.strata.tolist(), months, weights, strict=True):
                cells[s, number[month]] += weight
            dates = _as_arrays(cells) | {"names": [one or None for one in known]}
        return {
            "n_documents": len(self.strata),
            "of": self.of(self.strata).astype(np.uint16),
            "sizes": sizes.astype(np.float32),
            "labels": labels,
            "dates": dates,
        }

    def _weights(self) -> list[float]:
        """Return 1 for each document, or its part of its document for each passage."""
        cut, rows, own = self.run.cut, self.run.rows, self.owners
        if cut is None or rows is None or own is None:
            return [1.0] * len(self.strata)
        n_words = np.maximum(cut.n_words[rows.kept], 1)
        parts: list[float] = (n_words / np.bincount(own, n_words)[own]).tolist()
        return parts


def _draw(strata: Ids, share: float) -> Ids:
    """Draw this share of each stratum, rounded up."""
    n, sizes = len(strata), np.bincount(strata)
    order = np.random.default_rng(SEED).permutation(n)
    order = order[np.argsort(strata[order], kind="stable")]  # shuffled inside each stratum
    rank = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    drawn: Ids = order[rank < np.ceil(share * sizes)[strata[order]]]
    return drawn


def _as_arrays(cells: dict[tuple[int, int], float]) -> dict[str, NDArray[Any]]:
    keys = np.array(sorted(cells), dtype=np.intp).reshape(-1, 2)
    return {
        "stratum": keys[:, 0].astype(np.uint16),
        "value": keys[:, 1].astype(np.uint32),
        "n": np.array([cells[s, v] for s, v in keys.tolist()], dtype=np.float32),
    }


def sentence(shown: Shown) -> str | None:
    """Say what a page with a sample shows; None where it has all documents."""
    rows, owners = shown.rows, shown.owners
    if rows is None:
        return None
    have = f"{len(rows):,} of the {len(shown.strata):,}"
    if owners is None:
        have += " documents"
    else:
        drawn, known = np.unique(owners[rows]), np.unique(owners)
        have = f"{len(drawn):,} of the {len(known):,} documents ({have} passages)"
    return (
        f"The map and the lists have {have}, drawn at random from every group; groups, words, "
        "labels and time are of all of them."
    )


class Catalogue:
    """All documents of a run, and whole texts: what a page that lacks some asks a server for."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._shown = Shown(run, run.assigned)
        self._places: dict[str, int] | None = None

    def texts(self, ids: list[str]) -> dict[str, str]:
        """Return the whole texts of some documents, where they are known."""
        corpus = self._run.kept_corpus
        if corpus is None:
            return {}
        if self._places is None:
            self._places = {one: i for i, one in enumerate(corpus.ids)}
        return {one: corpus.texts[self._places[one]] for one in ids if one in self._places}

    def list(self, strata: list[int], start: int, most: int) -> dict[str, Any]:
        """List some documents of a group that is made of these strata, the most central first."""
        found, corpus = self._shown.found, self._run.kept_corpus
        if found is None or corpus is None:
            return {"n": 0, "documents": []}
        own = np.flatnonzero(np.isin(self._shown.strata, strata))
        order = own[np.argsort(-found.cosines[own], kind="stable")]
        return {
            "n": len(own),
            "documents": [
                {
                    "id": corpus.ids[i],
                    "title": corpus.titles[i] if corpus.titles else "",
                    "text": corpus.texts[i][:LONGEST],
                    "about": [
                        *([corpus.dates[i]] if corpus.dates and corpus.dates[i] else []),
                        *(one for column in corpus.labels.values() for one in column[i]),
                    ],
                }
                for i in order[start : start + most].tolist()
            ],
        }
