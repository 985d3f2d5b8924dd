"""Check the folder of a run where `make windows` runs: its lock, its paths and its commits.

The path has a space and letters of other alphabets. A second process must be refused while the
folder is locked, and what is committed must be whole and be replaced by the next commit.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from spheremix._files import RUN_VERSION
from spheremix.run.folder.files import RunError
from spheremix.run.folder.store import Store, key_of

INFO = {"format": "spheremix run", "version": RUN_VERSION}
REFUSED = 3


def work(place: Path, content: bytes) -> Store:
    """Do a stage and commit an output, as a command does; ask a second process in between."""
    store = Store(place)
    with store.locked():
        store.stage("rows", key_of("one"), list[int], lambda: [1, 2])
        second = subprocess.run([sys.executable, __file__, str(place)], check=False)  # noqa: S603
        if second.returncode != REFUSED:
            sys.exit(f"A second process was not refused: it returned {second.returncode}")
        store.commit(INFO, {"tables/a.csv": [content]})
    return store


def main() -> None:
    """Work twice in one folder; with the name of a folder, try to lock it."""
    if len(sys.argv) > 1:
        try:
            with Store(Path(sys.argv[1])).locked():
                return
        except RunError as refusal:
            sys.exit(REFUSED if "another spheremix is at work" in str(refusal) else 1)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "Über uns 文档" / "run"
        for content in (b"first\n", b"second\n"):
            store = work(place, content)
            if store.check() or (place / "tables" / "a.csv").read_bytes() != content:
                sys.exit("What was committed is not there")
    print("The folder of a run: locked, committed and committed again")


if __name__ == "__main__":
    main()
