"""Little advice and few steps of the map: they take longer than all the rest of a small run."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from spheremix.estimators import advice
from spheremix.reading import document_map
from spheremix.run.stages import stability

# How often rows are halved and drawn again, and how many sets of rows without groups are made.
ADVICE = (
    (advice, "N_SPLITS", 1),
    (advice, "CHANCE_SETS", 3),
    (stability, "N_REPLICATES", 4),
)
STEPS = tuple(  # of the map
    (document_map, name, 20) for name in ("GATHERING", "SPREADING", "LATER", "SORTING", "PARTING")
)
LITTLE = (*ADVICE, *STEPS)


@pytest.fixture(scope="module", autouse=True)
def little_advice():
    """Draw as few as there can be; a module that is about the advice overrides this."""
    with with_values(LITTLE):
        yield


@contextmanager
def with_values(values):
    """Return these constants other values for a while."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in values:
            patch.setattr(module, name, value)
        yield
