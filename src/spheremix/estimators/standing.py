"""By what the runs of a fit are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from spheremix import em


def is_capped(model: Any, parameters: Any) -> bool:
    """Return whether an estimated concentration is at its cap."""
    return model.kappa_mode != "given" and bool(np.any(parameters.kappas >= model.kappa_max))


def is_runaway(model: Any, parameters: Any) -> bool:
    """Return whether a free concentration is at its cap, so that the likelihood has no meaning.

    With free concentrations a component of one or two rows has no largest likelihood: what a run
    with such a component reaches is a matter of the cap.
    """
    return getattr(model, "kappa_mode", None) == "free" and is_capped(model, parameters)


def standing(model: Any, fit: em.Fit[Any]) -> tuple[bool, float]:
    """Say by what runs are compared: the larger is the better; a runaway loses to all others."""
    return not is_runaway(model, fit.parameters), fit.objective
