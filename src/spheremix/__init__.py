"""Cluster directions with mixtures of von Mises-Fisher distributions whose prototypes are sparse.

The one rule of the house: a sweep is a function from a scorer to resultants.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spheremix import datasets, metrics, reading, text
    from spheremix.data.open import as_directions
    from spheremix.display import (
        CriteriaDisplay,
        DataDisplay,
        EffectsDisplay,
        LabelsDisplay,
        PathDisplay,
        PrototypesDisplay,
        SphereDisplay,
        TimelineDisplay,
        TreeDisplay,
        WordsDisplay,
        draw_run,
    )
    from spheremix.distribution import VonMisesFisher
    from spheremix.estimators.calibration import calibrate
    from spheremix.estimators.coclustering import VMFCoclustering
    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.path import VMFPath
    from spheremix.estimators.replicates import stability_selection
    from spheremix.estimators.selection import VMFMixtureIC
    from spheremix.estimators.skmeans import SphericalKMeans
    from spheremix.estimators.tree import VMFTree
    from spheremix.reading.batch import compare_batch
    from spheremix.reading.effects import effects
    from spheremix.reading.shares import document_shares
    from spheremix.reading.stability import stability
    from spheremix.report import Report
    from spheremix.run.explore import explore_corpus
    from spheremix.run.folder.files import RunError
    from spheremix.run.run import Run, load_run, save_run

__all__ = [
    "CriteriaDisplay",
    "DataDisplay",
    "EffectsDisplay",
    "LabelsDisplay",
    "PathDisplay",
    "PrototypesDisplay",
    "Report",
    "Run",
    "RunError",
    "SphereDisplay",
    "SphericalKMeans",
    "TimelineDisplay",
    "TreeDisplay",
    "VMFCoclustering",
    "VMFMixture",
    "VMFMixtureIC",
    "VMFPath",
    "VMFTree",
    "VonMisesFisher",
    "WordsDisplay",
    "as_directions",
    "calibrate",
    "compare_batch",
    "datasets",
    "document_shares",
    "draw_run",
    "effects",
    "explore_corpus",
    "load_run",
    "metrics",
    "reading",
    "save_run",
    "stability",
    "stability_selection",
    "text",
]
__version__ = "0.2.0"

# Where a name lives: it is loaded when first asked for, so that the command answers at once.
# The imports above tell the same to type checkers and editors; those missing here are modules.
_HOMES = {
    "VMFCoclustering": "estimators.coclustering",
    "CriteriaDisplay": "display",
    "DataDisplay": "display",
    "EffectsDisplay": "display",
    "LabelsDisplay": "display",
    "PathDisplay": "display",
    "PrototypesDisplay": "display",
    "Report": "report",
    "Run": "run.run",
    "RunError": "run.folder.files",
    "SphereDisplay": "display",
    "SphericalKMeans": "estimators.skmeans",
    "TimelineDisplay": "display",
    "TreeDisplay": "display",
    "VMFMixture": "estimators.mixture",
    "VMFMixtureIC": "estimators.selection",
    "VMFPath": "estimators.path",
    "VMFTree": "estimators.tree",
    "VonMisesFisher": "distribution",
    "WordsDisplay": "display",
    "as_directions": "data.open",
    "calibrate": "estimators.calibration",
    "compare_batch": "reading.batch",
    "document_shares": "reading.shares",
    "draw_run": "display",
    "effects": "reading.effects",
    "explore_corpus": "run.explore",
    "stability": "reading.stability",
    "load_run": "run.run",
    "save_run": "run.run",
    "stability_selection": "estimators.replicates",
}

if not TYPE_CHECKING:  # where types are checked, a name that is not there is a mistake

    def __getattr__(name: str) -> object:
        """Load a public name when it is first asked for."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        home = importlib.import_module(f"{__name__}.{_HOMES.get(name, name)}")
        found = getattr(home, name) if name in _HOMES else home
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        """List the public names, loaded or not."""
        return sorted({*globals(), *__all__})
