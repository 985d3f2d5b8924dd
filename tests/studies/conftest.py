"""Where the studies are, and all of the advice."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))  # the experiments are not installed


@pytest.fixture(scope="module", autouse=True)
def little_advice():
    """All of it: what is tested is committed."""
