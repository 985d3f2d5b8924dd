"""From resultants to parameters: pure K x d mathematics."""

from __future__ import annotations
