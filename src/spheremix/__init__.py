"""Cluster directions with mixtures of von Mises-Fisher distributions whose prototypes are sparse.

The one rule of the house: a sweep is a function from a scorer to resultants.
"""

from __future__ import annotations

__version__ = "0.1.0.dev0"
