"""How the command names the parameters of the library."""

from __future__ import annotations

# Parameters of the library whose options have other names. Those of explore are its own options.
OPTIONS = {"n_components": "--k", "n_init": "--starts", "random_state": "--seed"}
LIBRARY_ONLY = {
    *("beta", "init", "max_iter", "tol", "zero_tol", "kappa_max", "kappa_solver", "warm_start"),
    *("stop_words", "keep_numbers", "min_length"),
}


def option_name(parameter: str) -> str | None:
    """Give the option that stands for a parameter; None where the command has none."""
    if parameter in LIBRARY_ONLY:
        return None
    return OPTIONS.get(parameter, f"--{parameter.replace('_', '-')}")
