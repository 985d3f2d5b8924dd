"""Measure the house: lines, files, and what an exploration, a rename and an update pass through.

python tools/house.py [--corpus PATH]

Prints Markdown tables. Lines and files are those that git tracks. Each call is made in a process of
its own, on three folders one after the other. Its processor seconds are those of the first time,
imports included, and of the second, without them; its modules are those of which a function runs
the third time. The size of a run folder is compared with that of its input: 200 short texts, and
the corpus at PATH where one is given, such as the folder of the BBC news.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import spheremix as sm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ROOT = Path(__file__).parents[1]
PACKAGE = Path(sm.__file__).parent
OPTIONS: dict[str, Any] = {
    "k": 4,
    "min_df": 2,
    "min_count": 2,
    "lemmatizer": "none",
    "threads": 1,
}
FRESH, WARM, WATCHED = "fresh", "warm", "watched"  # run folders, and what is measured there


def main() -> None:
    """Print the tables, or make one call and print what it passed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--corpus", help="what spheremix explore takes; its run is measured too")
    parser.add_argument("--call", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.call:
        name, folder = given.call
        print(json.dumps(measured(CALLS[name], Path(folder))))
        return
    print(table(("code", "lines", "files"), code()))
    print(table(("call (200 texts)", "modules", "of run/", "CPU, fresh", "CPU, warm"), calls()))
    print(table(("run of", "input", "folder", "times", "files"), run_folders(given.corpus)))


def table(head: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> str:
    """Write rows as a table of Markdown."""
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


# ------------------------------------------------------------------------------------------ code


def tracked(*places: str) -> dict[Path, str]:
    """Return the text of the files that git knows in some folders."""
    listed = subprocess.run(  # noqa: S603
        ["git", "ls-files", "-z", *places],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found = {}
    for name in filter(None, listed.stdout.split("\0")):
        content = (ROOT / name).read_bytes() if (ROOT / name).is_file() else b"\0"
        if b"\0" not in content:
            found[Path(name)] = content.decode("utf-8")
    return found


def code() -> list[tuple[Any, ...]]:
    """Count lines and files of the library, of each of its folders, and of the tests."""
    texts, tests = tracked("src", "csrc"), tracked("tests")
    written = [path for path in tests if path.suffix in {".py", ".mjs"}]
    rows: list[tuple[Any, ...]] = [("src + csrc", *size(texts, texts))]
    folders = sorted({folder(path) for path in texts})
    for name in folders:
        inside = [path for path in texts if folder(path) == name]
        rows.append((f"`{name}`", *size(texts, inside)))
    fullest, n = Counter(path.parent for path in texts).most_common(1)[0]
    rows.append((f"fullest folder: `{fullest.as_posix()}`", "", n))
    rows.append(("tests", *size(tests, written)))
    giving = sum(starts_with_give(text) for path, text in texts.items() if path.suffix == ".py")
    rows.append(('docstrings that begin with "Give"', giving, ""))
    return rows


def folder(path: Path) -> str:
    """Return the folder of the package, or the one beside it, that a file belongs to."""
    return "/".join(path.parts[:3] if len(path.parts) > 3 else path.parts[:-1])


def size(texts: dict[Path, str], paths: Iterable[Path]) -> tuple[str, int]:
    """Count lines and files."""
    each = [len(texts[path].splitlines()) for path in paths]
    return f"{sum(each):,}", len(each)


def starts_with_give(text: str) -> int:
    """Count the docstrings of a module that begin with "Give"."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
    return sum((ast.get_docstring(node) or "").startswith("Give") for node in nodes)


# ----------------------------------------------------------------------------------------- calls


def texts_of(start: int, step: int, n: int) -> list[str]:
    """Return short texts, the same ones at every call."""
    return [text[:400] for text in sm.datasets.load_docstrings().texts[start::step]][:n]


def explore(folder: Path) -> Callable[[str], Any]:
    """Return what explores 200 texts."""
    texts = texts_of(0, 12, 200)
    return lambda name: sm.explore_corpus(texts, folder / name, **OPTIONS)


def rename(folder: Path) -> Callable[[str], Any]:
    """Return what names a group of that run."""
    return lambda name: sm.load_run(folder / name).edit({"names": {0: "First"}})


def update(folder: Path) -> Callable[[str], Any]:
    """Return what adds 40 texts to it."""
    new = texts_of(5, 60, 40)
    return lambda name: sm.load_run(folder / name).update(new, folder / f"{name}-updated")


CALLS = {"explore": explore, "rename": rename, "update": update}


def measured(prepare: Callable[[Path], Callable[[str], Any]], folder: Path) -> dict[str, Any]:
    """Make a call three times: processor seconds of two of them, modules of the last."""
    call = prepare(folder)
    seconds = {}
    for name in (FRESH, WARM):
        start = time.process_time()
        call(name)
        seconds[name] = time.process_time() - start
    seen = set()

    def watch(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            seen.add(frame.f_code.co_filename)

    sys.setprofile(watch)
    try:
        call(WATCHED)
    finally:
        sys.setprofile(None)
    passed = [Path(name) for name in seen if name.startswith(f"{PACKAGE}/")]
    modules = [path.relative_to(PACKAGE) for path in passed]
    return {
        "modules": len(modules),
        "of_run": sum(path.parts[0] == "run" for path in modules),
        **seconds,
    }


def calls() -> list[tuple[Any, ...]]:
    """Measure each call in a process of its own, one after the other in the same folders."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for name in CALLS:
            done = subprocess.run(  # noqa: S603
                [sys.executable, __file__, "--call", name, place],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                sys.exit(f"{name}:\n{done.stderr}")
            found = json.loads(done.stdout.splitlines()[-1])
            seconds = (f"{found[one]:.2f} s" for one in (FRESH, WARM))
            rows.append((name, found["modules"], found["of_run"], *seconds))
    return rows


# ----------------------------------------------------------------------------------- run folders


def run_folders(corpus: str | None) -> list[tuple[Any, ...]]:
    """Compare run folders with their input."""
    texts = texts_of(0, 12, 200)
    rows = [run_folder("200 texts", texts, sum(len(text.encode()) for text in texts), **OPTIONS)]
    if corpus is not None:
        place = Path(corpus)
        files = (
            [place] if place.is_file() else [file for file in place.rglob("*") if file.is_file()]
        )
        n_bytes = sum(file.stat().st_size for file in files)
        rows.append(run_folder(place.name, place, n_bytes))
    return rows


def run_folder(title: str, source: Any, n_bytes: int, **options: Any) -> tuple[Any, ...]:
    """Explore; return the bytes of the input and of the run, and how many files this has."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "run"
        sm.explore_corpus(source, out, **options)
        sizes = [file.stat().st_size for file in out.rglob("*") if file.is_file()]
    shown = (f"{n / 1e6:.2f} MB" for n in (n_bytes, sum(sizes)))
    return title, *shown, f"{sum(sizes) / n_bytes:.1f}", len(sizes)


if __name__ == "__main__":
    main()
