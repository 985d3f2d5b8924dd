"""The warning of a fit that has not reached a maximum."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning as SklearnConvergenceWarning

from spheremix.errors import NotedWarning


class ConvergenceWarning(NotedWarning, SklearnConvergenceWarning):
    """A fit has not reached a maximum; filters of scikit-learn's class of this name see it too."""
