"""Processes for the tests of runs."""

from __future__ import annotations

from forked import server

__all__ = ["server"]
