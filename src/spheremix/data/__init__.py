"""The only place that touches rows."""

from __future__ import annotations
