"""Runs without figures: drawing takes ten times as long as all the rest of a small run."""

from __future__ import annotations

import pytest

from spheremix.run import render


def draw(run, folder):  # noqa: ARG001
    folder.mkdir()
    (folder / "prototypes.svg").write_text("<svg/>")


@pytest.fixture(scope="module", autouse=True)
def undrawn():
    """Write one small file where the figures of a run would be; a module may override this."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(render, "draw", draw)
        yield


def undraw():
    """Draw nothing in this process, as in one of its own."""
    render.draw = draw
