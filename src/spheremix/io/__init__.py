"""Runs as plain files: versioned, no pickle, written atomically, checked when read."""

from __future__ import annotations

from spheremix.io.files import RunError
from spheremix.io.run import Run, load_run, save_run

__all__ = ["Run", "RunError", "load_run", "save_run"]
