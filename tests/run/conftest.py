"""Runs of these tests have no figures, unless a module asks for them."""

from __future__ import annotations

from undrawn import undrawn

__all__ = ["undrawn"]
