"""What the tests of new documents share: documents like those of the past, and an event."""

from __future__ import annotations

import numpy as np
from cli_common import SHARED, texts

EVENT = "election minister party vote parliament tax budget campaign"


def quiet(n=24, seed=9):
    """Return documents of the topics of the past."""
    return [{**one, "id": f"new {one['id']}"} for one in texts(n, seed=seed)]


def event(n=12, seed=5):
    """Return documents of a topic that the past does not have."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        words = [*rng.choice(EVENT.split(), 9), *rng.choice(SHARED.split(), 5)]
        yield {"id": f"event {i}", "text": " ".join(words), "topic": "law", "date": "2015-01-01"}


def by_number(run, column):
    """Return a column of the table of groups by their numbers."""
    return dict(zip(run.groups["group"], run.groups[column], strict=True))
