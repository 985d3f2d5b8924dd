"""How counts of words become the weights of a row."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

WEIGHTINGS = ("counts", "binary", "tfidf", "sublinear-tfidf")
WEIGHTING = "sublinear-tfidf"  # what the library and the command use unless they are told otherwise


def weigher_of(weighting: str) -> Any:
    """Return scikit-learn's transformer that weighs counts and puts rows to length one.

    Parameters
    ----------
    weighting : str
        One of ``WEIGHTINGS``.

    Returns
    -------
    TfidfTransformer
        Not fitted yet.
    """
    return TfidfTransformer(
        use_idf="tfidf" in weighting, sublinear_tf=weighting.startswith("sublinear")
    )


def weigh(counts: Any, weighting: str, weigher: Any) -> sparse.csr_array:
    """Turn counts into rows of length one; a row without a word stays empty.

    Parameters
    ----------
    counts : sparse array of integers, shape (n, d)
        How often each text has each word.
    weighting : str
        One of ``WEIGHTINGS``.
    weigher : TfidfTransformer
        That of the weighting, fitted.

    Returns
    -------
    CSR array of shape (n, d), float64
        The rows; ``counts`` stay as they are.
    """
    rows = sparse.csr_array(counts, dtype=np.float64)
    rows.sort_indices()  # norms are the same bits whether the vectoriser sorted them or not
    if weighting == "binary":
        rows.data[:] = 1.0
    return sparse.csr_array(weigher.transform(rows))
