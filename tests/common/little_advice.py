"""Little advice: to draw rows again takes longer than all the rest of a small run or study."""

from __future__ import annotations

import pytest

from spheremix.estimators import chance, gathering
from spheremix.run import firming

# How often rows are drawn again, and how many sets of rows without clusters are made.
LITTLE = (
    (gathering, "N_REPLICATES", 3),
    (chance, "DRAWS", 3),
    (chance, "REPLICATES", 2),
    (chance, "STABLE_SETS", 1),
    (firming, "N_REPLICATES", 4),
)


@pytest.fixture(scope="module", autouse=True)
def little_advice():
    """Draw as few as there can be; a module that is about the advice overrides this."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in LITTLE:
            patch.setattr(module, name, value)
        yield
