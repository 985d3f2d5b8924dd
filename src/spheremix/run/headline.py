"""A finished run in a line: what was clustered, and how the model was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spheremix.wording import count

if TYPE_CHECKING:
    from spheremix.run.run import Run


def feature_name(run: Run) -> str:
    """Say what a coordinate of the prototypes is."""
    return "column" if run.feature_names is None else "word"


def headline(run: Run) -> str:
    """Say in a line what was clustered, and how the model was chosen."""
    mixture, options = run.mixture, run.manifest.command
    parts = [count(mixture.n_features_in_, feature_name(run))]
    if hasattr(mixture, "labels_"):
        parts.insert(0, count(len(mixture.labels_), "document"))
    by = f" (by {_criterion(options.get('k_criterion'))}, {len(run.dense)} numbers tried)"
    parts.append(f"{count(len(mixture.weights_), 'cluster')}{by if len(run.dense) > 1 else ''}")
    if run.path is not None:
        kept = f"{1.0 - run.path.sparsity_[run.path.selected_]:.0%}".replace("%", " %")
        criterion = run.path.criterion.upper()
        parts.append(f"each keeps {kept} of the {feature_name(run)}s (by {criterion})")
    else:
        parts.append("no penalty")
    parts += _history(run)
    return " . ".join(parts)


def _history(run: Run) -> list[str]:
    """Say whether the run was brought up to date, and whether it was edited."""
    history = run.edits()
    steps = [] if history is None else history.steps
    updates = [one.update is not None for one in steps]
    return [*(["updated"] if any(updates) else []), *([] if all(updates) else ["edited"])]


def _criterion(name: Any) -> str:
    """Name what chose the number of clusters."""
    return "advice" if name == "advice" else str(name or "").upper()
