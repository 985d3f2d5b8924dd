"""Where random attacks on the folders of runs are fought: commands in processes of their own."""

from __future__ import annotations

import json
import multiprocessing
import shutil
import time
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from spheremix.run.folder import RunFolder

if TYPE_CHECKING:
    from pathlib import Path

N_DOCUMENTS = 60
OPTIONS = ("--k", "2:3", "--starts", "2", "--max-steps", "15", "--lemmatizer", "none")
TOKEN = "a note that nobody may lose"  # noqa: S105 (it is no password)
# As the command, out of a process that has imported it already. Figures, and rows drawn again for
# the advice and the stability, would take all the time.
COMMAND = """
import sys
sys.argv = ["spheremix", *{arguments!r}]
sys.stdout = sys.stderr = open({said!r}, "w")
from spheremix.__main__ import main
from spheremix.estimators import advice
from spheremix.run import firming, render

advice.N_REPLICATES, firming.N_REPLICATES = 3, 4
advice.CHANCE_SETS, advice.CHANCE_REPLICATES, advice.CHANCE_STABLE = 3, 2, 1

def draw(run, folder):
    folder.mkdir()
    for i in range(30):
        (folder / f"picture{{i}}.svg").write_text("<svg/>" * 1000)

render.draw = draw
main()
"""
UNDO = "--undo"


class FoundError(AssertionError):
    """An attack found something."""


class Arena:
    """Commands in processes of their own, and what is compared.

    Parameters
    ----------
    home : path
        A folder for all that is written.
    patience : float
        Seconds after which a command is said to hang.
    """

    def __init__(self, home: Path, patience: float) -> None:
        self.home, self.patience = home, patience
        self.tried: Counter[str] = Counter()
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(
            ["spheremix.cli.main", "spheremix.run.explore", "spheremix.run.editing"]
        )
        self.corpus = home / "docs.jsonl"
        rng = np.random.default_rng(0)
        topics = [[f"{t}{a}{b}" for a in "abcde" for b in "abcde"] for t in ("kor", "lum", "vo")]
        self.words = [word for topic in topics for word in topic]
        with self.corpus.open("w", encoding="utf-8") as file:
            for i in range(N_DOCUMENTS):
                words = [*rng.choice(topics[i % 2], 12), *rng.choice(topics[2], 6)]
                file.write(json.dumps({"id": f"d{i}", "text": " ".join(words)}) + "\n")
        self.finished: dict[int, Path] = {}
        self.names = home / "names.csv"
        self.names.write_text("cluster,name\n0,the first\n1,the second\n")
        for seed in (0, 1):
            self.finished[seed] = home / f"finished{seed}"
            begin = time.monotonic()
            self.run(*self.explore(self.finished[seed], seed), codes={0})
            self.seconds = time.monotonic() - begin
        self.table = home / "table.csv"
        self.run(*self.assign(0, self.table), codes={0})
        self.edited = home / "edited"
        shutil.copytree(self.finished[0], self.edited)
        self.edits = home / "edits.json"
        content = {
            "format": "spheremix edits",
            "version": 1,
            "run": fit_of(self.edited),
            "split": [0],
            "names": {"0": "a name"},
            "notes": {"groups": {"1": TOKEN}},
        }
        self.edits.write_text(json.dumps(content))
        self.run("edit", str(self.edited), str(self.edits), codes={0})

    def explore(self, folder: Path, seed: int = 0, *more: str) -> tuple[str, ...]:
        """Return the command that explores."""
        where = ("-o", str(folder), "--seed", str(seed), "--checkpoint", "0")
        return ("explore", str(self.corpus), *where, *OPTIONS, *more)

    def others(self) -> list[tuple[str, ...]]:
        """Return options that reuse what is in a folder."""
        names = ("--names", str(self.names))
        return [
            ("--k", "3:4"),
            ("--criterion", "aic"),
            ("--kappa", "free"),
            ("--id", "none"),
            names,
        ]

    def assign(self, seed: int, table: Path, *more: str) -> tuple[str, ...]:
        """Return the command that assigns."""
        return ("assign", str(self.finished[seed]), str(self.corpus), "-o", str(table), *more)

    def start(self, *arguments: str) -> tuple[multiprocessing.Process, Path]:
        """Start a command; give its process, and where it says what."""
        self.tried["commands"] += 1
        said = self.home / f"said{self.tried['commands']}"
        code = COMMAND.format(arguments=list(arguments), said=str(said))
        process = self.context.Process(target=exec, args=(code, {}))
        process.start()
        return process, said

    def end(self, started: tuple[multiprocessing.Process, Path], codes: set[int]) -> int:
        """Wait for a command; what it says must be what a command says."""
        process, said = started
        process.join(self.patience)
        if process.exitcode is None:
            process.kill()
            raise FoundError(f"hangs for {self.patience:.0f} seconds: {said.read_text()}")
        text = said.read_text(errors="replace") if said.exists() else ""
        said.unlink(missing_ok=True)
        if "Traceback" in text or "unexpected" in text or process.exitcode not in codes:
            raise FoundError(f"ended with {process.exitcode}: {text}")
        self.tried[f"ended with {process.exitcode}"] += 1
        return process.exitcode or 0

    def run(self, *arguments: str, codes: set[int]) -> int:
        """Run a command to its end."""
        try:
            return self.end(self.start(*arguments), codes)
        except FoundError as error:
            raise FoundError(f"{' '.join(arguments)}: {error}") from None

    def kill(self, rng: np.random.Generator, *arguments: str) -> None:
        """Start a command and kill it at any moment."""
        process, said = self.start(*arguments)
        process.join(float(rng.uniform(0.0, 1.3 * self.seconds)))
        self.tried["kills" if process.exitcode is None else "too late to kill"] += 1
        process.kill()
        process.join()
        said.unlink(missing_ok=True)

    def begin(self, rng: np.random.Generator, folder: Path) -> str:
        """Make a folder that is missing, empty, finished, edited, or was left by a kill."""
        states = ("missing", "empty", "finished", "edited", "killed", "killed by force")
        state = str(rng.choice([*states, "killed edit", "killed undo"]))
        if state == "empty":
            folder.mkdir()
        elif state == "killed":
            self.kill(rng, *self.explore(folder))
        elif state in {"edited", "killed undo"}:
            shutil.copytree(self.edited, folder, symlinks=True)
        elif state != "missing":
            shutil.copytree(self.finished[0], folder, symlinks=True)
        if state == "killed by force":
            self.kill(rng, *self.explore(folder, 1, "--force"))
        elif state == "killed edit":
            self.kill(rng, "edit", str(folder), str(self.edits))
        elif state == "killed undo":
            self.kill(rng, "edit", str(folder), UNDO)
        return state

    def commands(self, rng: np.random.Generator, folder: Path, n: int) -> list[tuple[str, ...]]:
        """Draw commands on a folder."""
        table = str(folder / "documents.csv")
        choices = [
            self.explore(folder),
            self.explore(folder, 1),
            self.explore(folder, 0, "--force"),
            self.explore(folder, 1, "--force"),
            self.explore(folder, 0, "--min-df", "1000"),
            *(self.explore(folder, 0, *more) for more in self.others()),
            ("names", str(folder)),
            ("report", str(folder)),
            ("assign", str(folder), str(self.corpus), "-o", table, "--force"),
            ("edit", str(folder), str(self.edits)),
            ("edit", str(folder), UNDO),
        ]
        return [choices[i] for i in rng.integers(len(choices), size=n)]

    def same(self, folder: Path, seed: int, kept: tuple[str, ...] = ()) -> None:
        """Take all edits back; the bytes are those of a calm run, beside what may be kept."""
        while self.run("edit", str(folder), UNDO, codes={0, 2}) == 0:
            self.tried["edits taken back"] += 1
        expected = everything(self.finished[seed])
        found = {
            name: seen
            for name, seen in everything(folder).items()
            if name in expected or not name.startswith(kept or "\0")
        }
        if found != expected:
            names = {*found, *expected}
            other = sorted(name for name in names if found.get(name) != expected.get(name))
            raise FoundError(f"not the bytes of a calm run: {other[:5]}")
        if any(RunFolder(folder).own.others(checked=True)):
            raise FoundError("a finished run with files that are not its own")


def fit_of(folder: Path) -> str:
    """Return the id of a run that can be read."""
    from spheremix import load_run  # noqa: PLC0415 (after the server was told what to import)

    return str(load_run(folder).manifest.fit)


def everything(folder: Path) -> dict[str, str | bytes]:
    """Return all that can be told of what lies in a folder."""
    found: dict[str, str | bytes] = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file():
            found[name] = path.read_bytes()
        elif not path.is_dir():
            found[name] = "pipe"
    return found


def tamper(rng: np.random.Generator, folder: Path, n: int, spared: frozenset[str]) -> int:
    """Return files of a folder other bytes, or remove them; give how many there were."""
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).as_posix() not in spared
    ]
    chosen = [files[i] for i in rng.integers(len(files), size=n)] if files else []
    for path in chosen:
        if not path.exists():
            continue
        data, how = bytearray(path.read_bytes()), int(rng.integers(6))
        if how == 0:
            data = data[: int(rng.integers(len(data) + 1))]
        elif how == 1 and data:
            for i in rng.integers(len(data), size=5):
                data[i] = int(rng.integers(256))
        elif how == 2:
            data += rng.bytes(10)
        elif how == 3 and path.suffix == ".json":
            data = warped_text(rng, data)
        elif how == 4:
            path.unlink()
            continue
        else:
            other = files[int(rng.integers(len(files)))]
            data = bytearray(other.read_bytes() if other.exists() else b"")
        path.write_bytes(data)
    return len(chosen)


def warped_text(rng: np.random.Generator, data: bytes | bytearray) -> bytearray:
    """Return JSON with one value that is another; anything where it is no JSON."""
    try:
        content = json.loads(data)
    except ValueError:
        return bytearray(b"{}")
    return bytearray(json.dumps(warped(rng, content)).encode())


def warped(rng: np.random.Generator, value: object) -> object:
    """Return a value of JSON with one value inside that is another."""
    odd = [
        *(None, -1, 2**70, 10**9, 7, 1e308, True, "", "x" * 1000, [], {}),
        *("/dev/zero", "../../outside/victim", "9" * 30, "0 1 999999999 -", [[0, 99]], {"99": "x"}),
    ]
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = str(rng.choice(sorted(value)))
        return {**value, key: warped(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.9:
        i = int(rng.integers(len(value)))
        return [*value[:i], warped(rng, value[i]), *value[i + 1 :]]
    return odd[int(rng.integers(len(odd)))]
