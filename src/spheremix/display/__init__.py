"""Figures of models: computed values in, ``plot()`` draws, ``from_estimator`` computes and draws.

Nothing here is needed to fit or to read a model. matplotlib is loaded when something is drawn.
"""

from __future__ import annotations

from spheremix.display.criteria import CriteriaDisplay
from spheremix.display.curves import PathDisplay
from spheremix.display.effects import EffectsDisplay
from spheremix.display.maps import DataDisplay, PrototypesDisplay
from spheremix.display.run import draw_run
from spheremix.display.sphere import SphereDisplay
from spheremix.display.tables import LabelsDisplay, TimelineDisplay
from spheremix.display.tree import TreeDisplay
from spheremix.display.words import WordsDisplay

__all__ = [
    "CriteriaDisplay",
    "DataDisplay",
    "EffectsDisplay",
    "LabelsDisplay",
    "PathDisplay",
    "PrototypesDisplay",
    "SphereDisplay",
    "TimelineDisplay",
    "TreeDisplay",
    "WordsDisplay",
    "draw_run",
]
