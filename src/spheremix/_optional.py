"""The compiled kernels, or None where they were not built or are not wanted."""

from __future__ import annotations

import importlib
import os
from typing import Any

kernels: Any = None
if os.environ.get("SPHEREMIX_PURE") != "1":
    try:
        kernels = importlib.import_module("spheremix._kernels")
    except ImportError:  # built without a C++ compiler: the NumPy code serves
        kernels = None
