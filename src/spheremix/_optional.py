"""The compiled kernels, or None where they were not built or are not wanted."""

from __future__ import annotations

import importlib
import os
import warnings
from typing import Any

kernels: Any = None
# Why there are none, and what to do about it.
absence = "it is not built here. Reinstall spheremix where a C++ compiler is found"
unsaid = False  # whether nobody has been told yet that they are missing against the user's wish
if os.environ.get("SPHEREMIX_PURE") == "1":
    absence = "SPHEREMIX_PURE=1 does without it. Unset this variable"
else:
    try:
        kernels = importlib.import_module("spheremix._kernels")
    except ModuleNotFoundError:  # built without a C++ compiler: the NumPy code serves
        unsaid = True
    except ImportError as error:
        absence = f"it does not load ({error}). Reinstall spheremix"
        warnings.warn(
            f"The extension spheremix._kernels does not load ({error}): the slower NumPy code "
            "serves. Reinstall spheremix.",
            RuntimeWarning,
            stacklevel=2,
        )


def say_once() -> None:
    """Say that the NumPy code serves where the kernels were not built, the first time it does."""
    global unsaid  # noqa: PLW0603 (once a process)
    if unsaid:
        unsaid = False
        warnings.warn(
            "spheremix runs without its compiled kernels, 4 to 11 times slower, since they could "
            "not be compiled when it was installed. Install a C++ compiler (on Debian, Ubuntu and "
            "Raspberry Pi OS: g++ and python3-dev), then spheremix again (pip install "
            "--force-reinstall --no-deps, as you installed it), or set SPHEREMIX_PURE=1 to go on "
            "without this line.",
            RuntimeWarning,
            stacklevel=4,
        )
