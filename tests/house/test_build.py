"""Installation: with a compiler the extension is there, without one everything still works."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WINDOWS = sys.platform == "win32"

# What the build of the extension needs of a compiler, and nothing of ours.
PROBE = """
import sysconfig
from setuptools import Extension
from setuptools.dist import Distribution

include = sysconfig.get_path("include")
probe = Extension("probe", ["probe.cpp"], include_dirs=[include], language="c++")
build = Distribution({"name": "probe", "ext_modules": [probe]}).get_command_obj("build_ext")
build.inplace = True
build.ensure_finalized()
build.run()
"""

# In a process that sees the copy installed in sys.argv[1] before any other spheremix.
FIT = """
import json, sys
from importlib.util import find_spec
sys.path.insert(0, sys.argv[1])
import numpy as np
import spheremix as sm

X, labels, truth = sm.datasets.make_vmf_mixture(200, 5, 3, kappa=20.0, random_state=0)
mix = sm.VMFMixture(n_components=3, beta=1.0, n_init=3, random_state=0).fit(X)
try:
    sm.as_directions(X, engine="compiled")
except ImportError as error:
    advice = str(error)
print(json.dumps({
    "file": sm.__file__,
    "extension": find_spec("spheremix._kernels") is not None,
    "engine": type(sm.as_directions(X)).__name__,
    "advice": advice,
    "status": mix.status_,
    "gap": mix.stationarity_gap_,
    "purity": sum(int(np.bincount(labels[mix.labels_ == k]).max()) for k in range(3)) / 200,
}))
"""


def run(*command, cwd, **variables):
    """Run Python on its own: no path, no wish for pure Python from the surroundings."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "SPHEREMIX_"))}
    return subprocess.run(  # noqa: S603
        [sys.executable, *command],
        cwd=cwd,
        env=inherited | variables,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def copy_sources(to):
    """Copy what belongs to the project, and nothing that an earlier build left behind."""
    leave = shutil.ignore_patterns(
        *[".*", "__pycache__", "*.egg-info", "*.so", "*.pyd", "build", "dist", "_build"]
    )
    shutil.copytree(ROOT, to, ignore=leave)


def broken_compiler(folder):
    """Return a compiler that notes that it was called and fails, as environment variables."""
    if WINDOWS:  # the surroundings are said to be a compiler's, and are not
        return {"DISTUTILS_USE_SDK": "1", "MSSdk": "1", "PATH": str(Path(sys.executable).parent)}
    script = folder / "broken"
    script.write_text(f"#!/bin/sh\necho called >>'{folder}/calls'\nexit 1\n", encoding="utf-8")
    script.chmod(0o755)
    return {"CC": str(script), "CXX": str(script)}


@pytest.fixture(scope="module")
def pure(tmp_path_factory):
    """Install a copy with a broken compiler; give the folder it is installed in."""
    folder = tmp_path_factory.mktemp("build")
    copy_sources(folder / "sources")
    arguments = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", "pure"]
    built = run(
        *["-m", "pip", "install", *arguments, str(folder / "sources")],
        cwd=folder,
        **broken_compiler(folder),
    )
    assert built.returncode == 0, built.stdout + built.stderr
    assert WINDOWS or (folder / "calls").exists(), "The compiler was not even tried."
    return folder / "pure"


def test_installs_without_compiler(pure):
    names = {path.name for path in (pure / "spheremix").iterdir()}
    assert {"__init__.py", "py.typed", "em.py", "data", "models", "estimators"} <= names
    assert not [name for name in names if name.startswith("_kernels")]
    whole = pure / "spheremix" / "report" / "page"
    page = {path.relative_to(whole).as_posix() for path in whole.rglob("*")}
    assert {"index.html", "style.css", "app/main.js", "lib/dom.js"} <= page
    assert "types.d.ts" not in page  # what only the type check reads is not shipped


def test_fits_without_extension(pure, tmp_path):
    done = run("-I", "-c", FIT, str(pure), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert Path(found["file"]).is_relative_to(pure)
    assert not found["extension"]
    assert found["engine"] == "ReferenceDirections"
    assert "engine='reference'" in found["advice"]
    assert found["status"] == "converged"
    assert 0.0 <= found["gap"] < 1e-7
    assert found["purity"] > 0.9


def test_compiler_gives_extension(tmp_path):
    """The extension is optional to setuptools, which would hide that it no longer compiles."""
    (tmp_path / "probe.cpp").write_text(
        "#include <Python.h>\n#include <vector>\n"
        'static PyModuleDef module = {PyModuleDef_HEAD_INIT, "probe"};\n'
        "PyMODINIT_FUNC PyInit_probe() { return PyModule_Create(&module); }\n",
        encoding="utf-8",
    )
    if run("-c", PROBE, cwd=tmp_path).returncode:
        pytest.skip("no C++ compiler that can build an extension of Python")
    spec = find_spec("spheremix._kernels")
    assert spec is not None, "csrc does not compile: see pip install --verbose --editable ."
    newest = max((ROOT / "csrc").iterdir(), key=lambda path: path.stat().st_mtime)
    assert Path(spec.origin).stat().st_mtime >= newest.stat().st_mtime, (
        f"{newest.name} is newer than the extension: it was not rebuilt, or does not compile."
    )


def test_sdist_can_be_built_from(tmp_path):
    copy_sources(tmp_path / "sources")
    build = "from setuptools.build_meta import build_sdist; build_sdist('..')"
    done = run("-c", build, cwd=tmp_path / "sources")
    assert done.returncode == 0, done.stderr
    [archive] = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        sizes = {entry.name.partition("/")[2]: entry.size for entry in tar if entry.isfile()}
    wanted = {path.relative_to(ROOT).as_posix() for path in (ROOT / "csrc").iterdir()}
    wanted |= {"setup.py", "pyproject.toml", "LICENSE", "CITATION.cff", "src/spheremix/py.typed"}
    assert wanted <= sizes.keys()
    assert not {name: size for name, size in sizes.items() if size > 1_000_000}


def test_simd_level():
    kernels = pytest.importorskip("spheremix._kernels")
    assert kernels.simd_level() in {"avx512", "avx2", "neon", "baseline"}
