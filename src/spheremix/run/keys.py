"""What each stage of an exploration depends on, as a key: equal keys stand for equal results.

A key is the SHA-256 of the keys of the stages before, and of the parameters that the stage hands to
the vectoriser or to the estimator. Whatever changes a result is therefore in the key by itself; an
option that only chooses among results, or names them, is in none.
"""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.path import VMFPath
from spheremix.run.codecs import UNSTORED
from spheremix.run.command import versions
from spheremix.run.options import DENSE
from spheremix.run.parsing import FREE
from spheremix.run.path_codecs import CHOSEN_BY
from spheremix.text import Corpus
from spheremix.text.corpus import digest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from spheremix.estimators.options import Kappa
    from spheremix.run.options import ExploreOptions
    from spheremix.text import Matrix


def key_of(*parts: Any) -> str:
    """Return the key of what a stage depends on, in plain values."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class Keys:
    """The keys of the stages of an exploration.

    Parameters
    ----------
    source : Corpus or Matrix
        What is explored.
    options : ExploreOptions
        How.
    start : str or None
        What tells the groups that the fit starts from, where it does not search for them.
    """

    def __init__(
        self, source: Corpus | Matrix, options: ExploreOptions, start: str | None = None
    ) -> None:
        self._source, self._options, self.start = source, options, start

    @cached_property
    def documents(self) -> str:
        """All that is known of the documents: texts, ids, dates and labels."""
        source = self._source
        corpus = source if isinstance(source, Corpus) else source.documents
        return key_of(versions(), None if corpus is None else corpus.content_checksum())

    @cached_property
    def matrix(self) -> str:
        """The words and the rows: those of the same texts, whatever is known beside them."""
        source, counting = self._source, self._options.vectorizer()
        if isinstance(source, Corpus):
            return key_of(versions(), _digest(source.texts), counting)
        words = None if source.vocabulary is None else _digest(source.vocabulary)
        counted = None  # words beside embeddings
        if words is None and source.documents is not None:
            counted = (_digest(source.documents.texts), counting)
        return key_of(versions(), source.checksum, words, counted)

    def dense_stage(self, K: int) -> str:
        """Name the stage of the mixture without penalty of one number of clusters."""
        return f"dense-{K}"

    def dense(self, K: int) -> str:
        """Return the key of the mixture without penalty of one number of clusters."""
        start = () if self.start is None else (self.start,)
        return key_of(self.matrix, _parameters(dense_mixture(K, self._options)), *start)

    def path(self, K: int) -> str:
        """Return the key of the path from this mixture; a criterion only chooses on it.

        So does the share of the documents that may belong nowhere, which is for predictions.
        """
        parameters = _parameters(sparse_path(K, self._options, self.dense(K)))
        return key_of({name: v for name, v in parameters.items() if name not in CHOSEN_BY})

    @cached_property
    def chance(self) -> str:
        """The comparison of the rows with rows without clusters."""
        return key_of(self.matrix, "chance", self._options.kappa, self._options.seed)

    def stability(self, K: int) -> str:
        """Return the key of what rows drawn again say of one number of clusters."""
        return key_of(self.matrix, "stability", K, self._options.kappa, self._options.seed)

    def tree(self, labels: NDArray[np.intp], n_leaves: int) -> str:
        """Return the key of the tree over the chosen clusters, which are told by their labels."""
        options = self._options
        return key_of(self.matrix, "tree", _told(labels), n_leaves, options.kappa, options.seed)

    def firmness(self, K: int) -> str:
        """Return the key of what stays of the chosen mixture when documents are drawn again."""
        options = self._options
        chosen = self.dense(K) if options.criterion == DENSE else self.path(K)
        by = [options.criterion, *([] if options.max_noise is None else [options.max_noise])]
        return key_of(chosen, "firmness", *by, options.seed)

    def layout(self, labels: NDArray[np.intp]) -> str:
        """Return the key of the map of the documents: it depends on rows and clusters."""
        return key_of(self.matrix, "layout", _told(labels))

    def fits(self, sizes: Iterable[int]) -> set[str]:
        """Return the keys of all that is fitted with these numbers of clusters."""
        kinds = (self.dense, self.path, self.stability, self.firmness)
        return {*(key(K) for K in sizes for key in kinds), self.chance}


class KnownKeys(Keys):
    """The keys of a folder whose first stages are done, without the documents at hand.

    Parameters
    ----------
    matrix, documents : str
        The keys of the rows and of the documents, as their stages state them.
    options : ExploreOptions
        Those of the run.
    start : str or None
        As in :class:`Keys`.
    """

    def __init__(
        self, matrix: str, documents: str, options: ExploreOptions, start: str | None = None
    ) -> None:
        self._options, self.start = options, start
        self.__dict__.update(matrix=matrix, documents=documents)  # in place of computing them


class EditedKeys(KnownKeys):
    """The keys of what is fitted again after edits.

    Parameters
    ----------
    before : Keys
        Those of what was edited.
    stage : str
        Where the mixture without penalty is, the only one.
    edits : list
        What was changed, in plain values.
    dropped : list of str
        Words that were left out.
    options : ExploreOptions
        Those of the run.
    """

    def __init__(
        self,
        before: Keys,
        stage: str,
        edits: list[Any],
        dropped: list[str],
        options: ExploreOptions,
    ) -> None:
        matrix = key_of(before.matrix, "dropped", dropped) if dropped else before.matrix
        super().__init__(matrix, before.documents, options)
        self._before, self._stage, self._edits = before, stage, edits

    def dense_stage(self, K: int) -> str:  # noqa: ARG002
        """Name the stage of the mixture without penalty."""
        return self._stage

    def dense(self, K: int) -> str:
        """Return the key of the mixture without penalty: that of an edit of the one before."""
        return key_of(self._edits, self.matrix, _parameters(dense_mixture(K, self._options)))

    def fits(self, sizes: Iterable[int]) -> set[str]:
        """Return the keys of all that was fitted before the edits, which can be taken back."""
        return self._before.fits(sizes)


def kappa_of(options: ExploreOptions) -> Kappa:
    """Return the concentration of an exploration, which its options have checked."""
    return cast("Kappa", options.kappa)


def _noise_of(options: ExploreOptions, *, final: bool = True) -> dict[str, Any]:
    """Return what an exploration says of documents that belong nowhere.

    A share limits those of the mixture that is shown, the final one: where a path follows a
    mixture, it finds its noise as if there were no limit. A free share is free in all fits.
    """
    if options.noise is None:
        return {}
    if options.max_noise == FREE:
        return {"noise": options.noise, "max_noise": None}
    most = options.max_noise if final else None
    return {"noise": options.noise, "max_noise": most or "auto"}


def dense_mixture(K: int, options: ExploreOptions) -> VMFMixture:
    """Return the estimator of a mixture without penalty."""
    return VMFMixture(
        K,
        kappa=kappa_of(options),
        **_noise_of(options, final=options.criterion == DENSE),
        n_init=options.starts,
        random_state=options.seed,
        n_threads=options.threads,
    )


def sparse_path(K: int, options: ExploreOptions, init: Any) -> VMFPath:
    """Return the estimator of the path that begins with a dense mixture."""
    return VMFPath(
        n_components=K,
        criterion=str(options.criterion),  # completed by now
        min_relative_increase=options.min_relative_increase,
        max_steps=options.max_steps,
        relaxed=options.relaxed,
        kappa=kappa_of(options),
        **_noise_of(options),
        init=init,
        random_state=options.seed,
        n_threads=options.threads,
        warm_start=True,
    )


def _parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters that the solution depends on."""
    found = estimator.get_params(deep=False).items()
    return {name: value for name, value in found if name not in UNSTORED}


def _digest(lines: Iterable[str]) -> str:
    return digest(line.encode("utf-8", "surrogatepass") for line in lines)


def _told(labels: NDArray[np.intp]) -> str:
    """Tell clusters from others by the documents that are in them."""
    return digest([np.ascontiguousarray(labels, dtype="<i8").tobytes()])
