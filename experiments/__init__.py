"""The paper, redone: one module a study, `python -m experiments.cstr --scale 0.1` and the like."""

from __future__ import annotations
