"""The compiled kernels, or None where they were not built or are not wanted."""

from __future__ import annotations

import importlib
import os
import warnings
from typing import Any

kernels: Any = None
# Why there are none, and what to do about it.
absence = "it is not built here. Reinstall spheremix where a C++ compiler is found"
if os.environ.get("SPHEREMIX_PURE") == "1":
    absence = "SPHEREMIX_PURE=1 does without it. Unset this variable"
else:
    try:
        kernels = importlib.import_module("spheremix._kernels")
    except ModuleNotFoundError:  # built without a C++ compiler: the NumPy code serves
        pass
    except ImportError as error:
        absence = f"it does not load ({error}). Reinstall spheremix"
        warnings.warn(
            f"The extension spheremix._kernels does not load ({error}): the slower NumPy code "
            "serves. Reinstall spheremix.",
            RuntimeWarning,
            stacklevel=2,
        )
