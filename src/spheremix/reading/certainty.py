"""How surely a document belongs to its cluster, in words: one rule for tables and summaries.

The page of the report follows the same rule, in ``report/page/groups/certainty.js``; both are
tested against one table of cases.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from spheremix.reading.documents import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from spheremix.reading.documents import Documents

FIRM = 0.75  # firmness from which on one can rely on the place of a document
FAIR = 0.5  # firmness below which the document would often be elsewhere
ODDS = 9.0  # posterior of the cluster over that of the next best one; below it is no clear winner
CLEARLY, PROBABLY, BORDERLINE = "clearly here", "probably here", "borderline"


def certainties(
    documents: Documents, firmness: NDArray[np.float64], names: Sequence[str]
) -> list[str]:
    """Say of each document how surely it is in its cluster.

    It is borderline where the odds against the next best cluster are below 9 to 1 or its firmness
    is below 0.5, clearly here where its firmness is 0.75 or more, and probably here between.

    Parameters
    ----------
    documents : Documents
        Where the documents belong.
    firmness : ndarray of shape (n,)
        Of each document.
    names : sequence of str
        Of the clusters.

    Returns
    -------
    list of str
        "clearly here", "probably here", or "borderline with" and the name of the next best cluster;
        "belongs nowhere" for noise.
    """
    found = []
    each = (documents.labels, documents.runners_up, documents.log_odds, firmness)
    for label, other, odds, firm in zip(*(one.tolist() for one in each), strict=True):
        if label < 0:
            found.append(NOWHERE)
        elif odds < math.log(ODDS) or firm < FAIR:
            found.append(f"{BORDERLINE} with {names[other]}" if other >= 0 else BORDERLINE)
        else:
            found.append(CLEARLY if firm >= FIRM else PROBABLY)
    return found
