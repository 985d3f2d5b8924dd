"""Build wheels for older C libraries, for musl and for 64-bit ARM, with the compiler zig.

    python tools/portable_wheels.py FOLDER [PYTHON]

zig comes from the package index and has the C libraries of all targets. What asks the processor
for its instructions, which zig lacks, is taken from GCC and needs no C library. auditwheel confirms
that a wheel needs nothing newer than its name says. For a machine with x86-64 and Linux: its own
wheel is tried as in tools/wheels.py; `tools/arm/run.sh FOLDER PYTHON WHEEL` tries the one for ARM
on an emulated CPU. The one for musl is not tried.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from wheels import audit, audit_tools, build, call, make_environment, pack, try_out

TARGETS = {
    "manylinux2014_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux2014_aarch64": "aarch64-linux-gnu.2.17",
    "musllinux_1_2_x86_64": "x86_64-linux-musl",
}

# zig calls the C library of musl by another name than systems with musl and auditwheel do.
NAME_OF_MUSL = """
import subprocess, sys
from pathlib import Path
from auditwheel.wheeltools import InWheelCtx
wheel, name = Path(sys.argv[1]), sys.argv[2]
with InWheelCtx(wheel, wheel):
    [kernels] = Path("spheremix").glob("_kernels*")
    subprocess.run(["patchelf", "--replace-needed", "libc.so", name, kernels], check=True)
"""


def main() -> None:
    """Go through the targets."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("interpreter", nargs="?", default=sys.executable)
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    zig = folder / "zig" / "bin" / "python"
    if not zig.exists():
        zig = make_environment(sys.executable, folder / "zig")
        call(zig, "-m", "pip", "install", "-q", "ziglang")
    ask = "import sys; print('cpython-%d%d' % sys.version_info[:2])"
    version = call(options.interpreter, "-c", ask).strip()
    archive, made = pack(folder), {}
    for name, target in TARGETS.items():
        machine, system, library = target.partition(".")[0].split("-")
        compiler = f"{zig} -m ziglang c++ -target {target}"
        wheel = build(
            options.interpreter,
            archive,
            CC=compiler,
            CXX=compiler,
            LDFLAGS=call("gcc", "-print-libgcc-file-name").strip() if machine == "x86_64" else "",
            _PYTHON_HOST_PLATFORM=f"{system}-{machine}",
            SETUPTOOLS_EXT_SUFFIX=f".{version}-{machine}-{system}-{library}.so",
        )
        if library == "musl":
            audit_tools(folder, "-c", NAME_OF_MUSL, wheel, f"libc.musl-{machine}.so.1")
        made[name] = audit(wheel, folder)
        if name not in made[name].name:
            sys.exit(f"{made[name].name} is not for {name}")
        print(made[name].name, flush=True)
    print(try_out(options.interpreter, made["manylinux2014_x86_64"], folder / "tried"), flush=True)


if __name__ == "__main__":
    main()
