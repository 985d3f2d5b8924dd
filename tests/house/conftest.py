"""Programs of tools/, and all of the advice: pages and examples were made with it."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest


@pytest.fixture(scope="module", autouse=True)
def little_advice():
    """All of it."""


@pytest.fixture(scope="session")
def load_tool():
    """Return what a program of tools/ defines."""

    def load_tool(name):
        return SimpleNamespace(**runpy.run_path(Path(__file__).parents[2] / "tools" / f"{name}.py"))

    return load_tool
