"""Build a wheel with each interpreter, install it into an environment of its own, and try it there.

    python tools/wheels.py FOLDER [PYTHON ...]

Without names of interpreters: each of python3.11 to python3.14 and python3.14t that is found and
that can make environments. The wheel must contain the compiled kernels, though a build without a
compiler succeeds as well, and tools/check_kernels.py must pass with it. Prints what that says for
each interpreter, and which interpreters were not found.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INTERPRETERS = ["python3.11", "python3.12", "python3.13", "python3.14", "python3.14t"]


def call(*command: object) -> str:
    """Run a command outside the project, and give what it printed; stop with that if it fails."""
    done = subprocess.run(  # noqa: S603
        [str(part) for part in command],
        cwd=ROOT.anchor,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def works(interpreter: str) -> bool:
    """Return whether there is such an interpreter, and not only a name that leads nowhere."""
    if not shutil.which(interpreter):
        return False
    command = [interpreter, "-c", "import ensurepip, venv"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603


def build(interpreter: str, folder: Path) -> Path:
    """Build a wheel from a copy of the sources, so that no earlier build enters it."""
    sources = folder / "sources"
    shutil.rmtree(sources, ignore_errors=True)
    leave = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.so", "*.pyd")
    shutil.copytree(ROOT / "src", sources / "src", ignore=leave)
    shutil.copytree(ROOT / "csrc", sources / "csrc")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, sources)
    here = folder / "new"
    shutil.rmtree(here, ignore_errors=True)
    call(interpreter, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", here, sources)
    [wheel] = here.glob("*.whl")
    if not any("_kernels" in name for name in zipfile.ZipFile(wheel).namelist()):
        sys.exit(f"{wheel.name} has no compiled kernels")
    return Path(shutil.move(wheel, folder / wheel.name))


def try_out(interpreter: str, wheel: Path, environment: Path) -> str:
    """Install the wheel into a new environment and compare its kernels with their specification."""
    shutil.rmtree(environment, ignore_errors=True)
    call(interpreter, "-m", "venv", environment)
    python = environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    call(python, "-m", "pip", "install", "-q", "--only-binary=numpy,scipy,scikit-learn", wheel)
    return call(python, ROOT / "tools/check_kernels.py")


def main() -> None:
    """Go through the interpreters."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("interpreters", nargs="*", default=INTERPRETERS)
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    tried = 0
    for interpreter in options.interpreters:
        if not works(interpreter):
            print(f"{interpreter}: not found", flush=True)
            continue
        wheel = build(interpreter, folder)
        printed = try_out(interpreter, wheel, folder / Path(interpreter).name)
        print(f"{wheel.name}\n{printed}", flush=True)
        tried += 1
    if not tried:
        sys.exit("No interpreter was found")


if __name__ == "__main__":
    main()
