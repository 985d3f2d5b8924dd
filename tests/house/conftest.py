"""What the pages and examples show was made with all of the advice."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", autouse=True)
def little_advice():
    """All of it."""
