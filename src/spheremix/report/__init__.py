"""Reports: a run as plain values, as JSON, and as one HTML file that opens from disk."""

from __future__ import annotations

from spheremix.report.report import Report

__all__ = ["Report"]
