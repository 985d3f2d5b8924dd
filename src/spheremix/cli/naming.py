"""How the command names the parameters of the library."""

from __future__ import annotations

from spheremix.run.options import ExploreOptions

# Parameters of the library whose options have other names, and options of other commands.
OPTIONS = {
    "n_components": "--k",
    "n_init": "--starts",
    "random_state": "--seed",
    "n_samples": "--documents",
    "n_features": "--features",
    "overlap": "--overlap",
    "sparsity": "--sparsity",
    "out": "-o",
    "force": "--force",
    "undo": "--undo",
    "false_alarms": "--false-alarms",
}
OPTIONS |= {
    name: f"--{'no-' if one.default is True else ''}{name.replace('_', '-')}"
    for name, one in ExploreOptions.__dataclass_fields__.items()
}


def option_name(parameter: str) -> str | None:
    """Return the option that stands for a parameter; None where the command has none."""
    return OPTIONS.get(parameter)
