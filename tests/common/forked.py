"""Commands in processes of their own that have imported everything: many of them in little time."""

from __future__ import annotations

import multiprocessing

import pytest

# One server serves all modules of a test session, hence one list. typer imports pydantic if it is
# there; what is missing is left out.
PRELOADED = [
    "spheremix.cli.main",
    "spheremix.cli.summary",
    "spheremix.report.report",
    "spheremix.run.assign",
    "spheremix.run.editing",
    "spheremix.run.explore",
    "pydantic",
    "pytest",
    "simplemma",
]


@pytest.fixture(scope="session")
def server():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context
