"""Runs of these tests have no figures, unless a module asks for them."""

from __future__ import annotations

from forked import server
from undrawn import undrawn

__all__ = ["server", "undrawn"]
