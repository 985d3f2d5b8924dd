"""How long the package takes to import, beside what it stands on.

Run as ``python benchmarks/import_time.py``; it writes ``benchmarks/results/import_time.txt``. Each
import is timed in fresh processes; the least of them counts. Names are loaded when first asked for,
so that the estimators are asked for too.
"""

from __future__ import annotations

import subprocess
import sys

from timing import ROOT, machine

ROUNDS = 7
STATEMENTS = {
    "numpy and scipy.sparse": "import numpy, scipy.sparse",
    "scikit-learn's mixtures": "import sklearn.mixture",
    "spheremix": "import spheremix",
    "spheremix, and VMFMixture": "from spheremix import VMFMixture",
    "spheremix, and every public name": "import spheremix as s; [getattr(s, n) for n in s.__all__]",
}
# scikit-learn imports pandas where it is there, to recognise its data frames.
BARE = "import sys; sys.modules['pandas'] = None; "
TIMED = "{}import time; b = time.perf_counter(); {}; print(time.perf_counter() - b)"


def seconds(statement: str, before: str = "") -> float:
    command = [sys.executable, "-c", TIMED.format(before, statement)]
    return float(subprocess.run(command, capture_output=True, check=True, text=True).stdout)  # noqa: S603


def main() -> None:
    target = ROOT / "benchmarks" / "results" / "import_time.txt"
    lines = [machine(), f"seconds to import, least of {ROUNDS} fresh processes"]
    lines.append(f"  {'':34s} here   without pandas")
    for name, statement in STATEMENTS.items():
        here, bare = (
            min(seconds(statement, before) for _ in range(ROUNDS)) for before in ("", BARE)
        )
        lines.append(f"  {name:34s} {here:.2f}   {bare:.2f}")
    target.write_text("\n".join(lines) + "\n")
    sys.stdout.write(target.read_text())


if __name__ == "__main__":
    main()
