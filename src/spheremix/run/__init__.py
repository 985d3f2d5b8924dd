"""Runs as plain files: versioned, no pickle, written atomically, checked when read."""

from __future__ import annotations

from spheremix.run.run import Run, load_run, save_run
from spheremix.run.store import RunError

__all__ = ["Run", "RunError", "load_run", "save_run"]
