"""Runs as people have them: the advice and the map are not made smaller here."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", autouse=True)
def little_advice():
    """Draw documents again as often as a command does; this overrides a fixture of all tests."""
