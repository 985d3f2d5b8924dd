"""The scikit-learn skin."""

from __future__ import annotations
