"""How stable documents, groups and words are, as a report has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.report.numbers import digits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.report.source import Source


def stability_entry(source: Source, shown: NDArray[np.intp]) -> dict[str, Any] | None:
    """Return stability in the chosen step; None where it was not measured.

    ``documents`` has a share for each document and ``groups`` one for each group. ``words`` is
    sparse: the words of group k have the numbers ``places[ends[k]:ends[k + 1]]`` in the list of
    words that are shown, and the shares of the same range.
    """
    found = source.firmness
    if found is None:
        return None
    words = found.words[:, shown].tocsr()
    words.sort_indices()
    return {
        "documents": found.documents.astype(np.float32),
        "groups": [digits(share) for share in found.groups],
        "words": {
            "ends": words.indptr.astype(np.uint32),
            "places": words.indices.astype(np.uint32),
            "shares": words.data.astype(np.float32),
        },
        "n_replicates": found.n_replicates,
    }
