"""Build the compiled kernels; everything else about the package is in pyproject.toml.

The extension is optional: where no C++ compiler works, installation succeeds and the pure-Python
engine serves.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pybind11.setup_helpers import Pybind11Extension
from setuptools import setup

if sys.platform == "win32":
    flags = ["/O2", "/fp:precise"]
else:
    # Contraction is off so that a fused multiply-add appears only where a kernel asks for it.
    flags = ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fvisibility=hidden", "-pthread"]
    flags += ["-Wno-psabi"]  # wide vectors never cross a function that is not inlined

kernels = Pybind11Extension(
    "spheremix._kernels",
    sorted(str(path) for path in Path("csrc").glob("*.cpp")),
    depends=sorted(str(path) for path in Path("csrc").glob("*.hpp")),
    cxx_std=17,
    extra_compile_args=flags,
    optional=True,
)

setup(ext_modules=[kernels])
