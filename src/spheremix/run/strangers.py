"""New documents without a word of the run, which may be a group of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from spheremix.reading.new_groups import LEAST_OF_A_GROUP
from spheremix.run.prepare import mended
from spheremix.text import Corpus, vectorize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.run.options import ExploreOptions

    Ids = NDArray[np.intp]


def group_of_strangers(
    corpus: Corpus, strangers: Ids, options: ExploreOptions, lines: frozenset[str]
) -> Ids:
    """Return the documents that share words with each other; none where they are too few.

    Words are counted as the new run counts them. A document belongs to the group if it has a word
    that another of them has.

    Parameters
    ----------
    corpus : Corpus
        All documents of the new run.
    strangers : ndarray of int
        Those without a word of the run before.
    options : ExploreOptions
        Of the new run.
    lines : frozenset of str
        Lines that the run before left out of its documents.

    Returns
    -------
    ndarray of int
        The group, by numbers of documents.
    """
    none = np.empty(0, dtype=np.intp)
    if len(strangers) < LEAST_OF_A_GROUP:
        return none
    source, _ = mended(corpus, options, lines)
    if not isinstance(source, Corpus):
        return none
    found = vectorize(source, **options.vectorizer())
    places = np.flatnonzero(np.isin(found.rows, strangers))
    rows = sparse.csr_array(found.X[places])
    several = np.bincount(rows.indices, minlength=rows.shape[1]) > 1  # documents have the word
    shared = rows @ several.astype(np.float64) > 0.0
    group = found.rows[places[shared]]
    return group if len(group) >= LEAST_OF_A_GROUP else none
