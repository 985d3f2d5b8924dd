"""Write the goldens of tests/outside: `python tests/outside/make_golden.py [CORPUS ...]`."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "common")]

from corpora import MAKERS  # noqa: E402
from story import packed, short, tell  # noqa: E402


def main():
    """Do all that the tests do, and write what was seen."""
    for name in sys.argv[1:] or MAKERS:
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as place:
            states, _ = tell(MAKERS[name](Path(place)), Path(place))
        text = json.dumps(packed(short(states)), ensure_ascii=False, separators=(",", ":"))
        path = HERE / "golden" / f"{name}.json"
        path.write_text(text.replace('},"', '},\n"') + "\n", encoding="utf-8")
        seconds = time.monotonic() - begin
        print(f"{path.name}: {path.stat().st_size:,} bytes, {seconds:.1f} seconds")  # noqa: T201


if __name__ == "__main__":
    main()
