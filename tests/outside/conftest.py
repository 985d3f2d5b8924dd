"""Small runs that several files look at; the advice and the map are not made smaller here."""

from __future__ import annotations

import shutil

import pytest
from forked import server

pytest.importorskip("typer")

from processes import Commands
from small_run import Small

__all__ = ["server"]


@pytest.fixture(scope="module", autouse=True)
def little_advice():
    """Draw documents again as often as a command does; this overrides a fixture of all tests."""


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    return Small(tmp_path_factory.mktemp("small"))


@pytest.fixture
def copy(small, tmp_path):
    """Return a copy of the small run."""
    return shutil.copytree(small.folder, tmp_path / "run")


@pytest.fixture
def commands(server, tmp_path_factory):
    return Commands(server, tmp_path_factory.mktemp("said"))
