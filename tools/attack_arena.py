"""Where random attacks on the folders of runs are fought: commands in processes of their own.

Only what people have is used: the command and the files that it leaves. A process can be killed at
any moment, or one of its system calls fails once.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import hashlib
import json
import multiprocessing
import os
import shutil
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

N_DOCUMENTS = 60
OPTIONS = ("--k", "2:3", "--starts", "2", "--max-steps", "15", "--lemmatizer", "none")
TOKEN = "a note that nobody may lose"  # noqa: S105 (it is no password)
UNDO = "--undo"
CALLS = ("open", "rename", "remove", "rmdir", "mkdir", "write", "fsync")
CODES = (errno.EIO, errno.ENOSPC, errno.EACCES, errno.EDQUOT, errno.EROFS)
# As the command, out of a process that has imported it already.
COMMAND = """
import builtins, io, os, sys
sys.argv = ["spheremix", *{arguments!r}]
os.chdir({place!r})
sys.stdout = sys.stderr = open({said!r}, "w", encoding="utf-8", errors="backslashreplace")
from spheremix.__main__ import main

call, left, code, count = {call!r}, [{n!r}], {code!r}, open({said!r} + ".count", "w")
place, counted, really = {folder!r}, [0], (os.fsync, os.write, io.open)

def failing(what, path):
    path = os.path.abspath(os.fsdecode(path)) if isinstance(path, (str, bytes)) else place
    if what == call and path.startswith(place):
        counted[0] += 1
        os.pwrite(count.fileno(), str(counted[0]).encode(), 0)
        if counted[0] == left[0]:
            raise OSError(code, os.strerror(code), path)

def watch(event, arguments):
    if event == "open":
        if isinstance(arguments[0], (str, bytes)) and arguments[2] & (os.O_WRONLY | os.O_RDWR):
            failing("open", arguments[0])
    elif event in ("os.rename", "os.remove", "os.rmdir", "os.mkdir"):
        path = arguments[0]
        failing(event[3:], path if isinstance(path, int) else os.fspath(path))

def name(handle):
    try:
        return os.readlink("/proc/self/fd/%d" % handle)
    except OSError:
        return ""

class File(io.FileIO):
    def write(self, data):
        failing("write", name(self.fileno()))
        return super().write(data)

def opened(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True,
           opener=None):
    if buffering == 0 or "+" in mode or not set(mode) & set("wax"):
        return really[2](file, mode, buffering, encoding, errors, newline, closefd, opener)
    raw = File(file, mode.replace("b", "").replace("t", ""), closefd, opener)
    found = io.BufferedWriter(raw)
    if "b" in mode:
        return found
    text = io.TextIOWrapper(found, encoding, errors, newline)
    text.mode = mode
    return text

def fsync(file):
    failing("fsync", name(file if isinstance(file, int) else file.fileno()))
    really[0](file)

def write(handle, data):
    failing("write", name(handle))
    return really[1](handle, data)

if call:
    builtins.open, io.open, os.fsync, os.write = opened, opened, fsync, write
    sys.addaudithook(watch)
main()
"""


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
            ["spheremix.cli.main", "spheremix.run.explore", "spheremix.run.run", "sklearn.cluster"]
        )
        rng = np.random.default_rng(0)
        self.topics = [
            [f"{t}{a}{b}" for a in "abcde" for b in "abcde"] for t in ("kor", "lum", "vo", "mip")
        ]
        self.corpus = home / "docs.jsonl"
        self.write(self.corpus, rng, N_DOCUMENTS, (0, 1), "d")
        self.new = home / "new.jsonl"
        self.write(self.new, rng, 20, (0, 3), "n")
        self.finished: dict[int, Path] = {}
        for seed in (0, 1):
            self.finished[seed] = home / f"finished{seed}"
            begin = time.monotonic()
            self.run(*self.explore(self.finished[seed], seed), codes={0})
            self.seconds = time.monotonic() - begin
        self.seeds = home / "seeds.csv"
        self.seeds.write_text(f"group,words\nMine,{' '.join(self.topics[0][:6])}\n")
        self.names = home / "names.csv"
        key = next(iter(read_table(self.groups(self.finished[0]))))  # the number of a group
        self.names.write_text(f"{key},name\n0,the first\n1,the second\n")
        self.table = home / "table.csv"
        self.run(*self.assign(0, self.table), codes={0})
        self.edited = shutil.copytree(self.finished[0], home / "edited")
        self.edits = home / "edits.json"
        notes = {"groups": {"1": TOKEN}}
        self.write_edits(self.edits, self.edited, split=[0], names={"0": "a name"}, notes=notes)
        self.run("edit", str(self.edited), str(self.edits), codes={0})
        self.before = outputs(self.edited)
        self.updated = home / "updated"
        self.run(*self.update(self.updated), codes={0})

    def write(
        self, path: Path, rng: np.random.Generator, n: int, of: tuple[int, ...], prefix: str
    ) -> None:
        """Write documents of some topics."""
        with path.open("w", encoding="utf-8") as file:
            for i in range(n):
                own = self.topics[of[i % len(of)]]
                words = [*rng.choice(own, 12), *rng.choice(self.topics[2], 6)]
                document = {"id": f"{prefix}{i}", "text": " ".join(words), "side": "ab"[i % 2]}
                file.write(json.dumps(document) + "\n")

    # What is typed

    def explore(self, folder: Path, seed: int = 0, *more: str) -> tuple[str, ...]:
        """Return the command that explores."""
        where = ("-o", str(folder), "--seed", str(seed), "--checkpoint", "0")
        return ("explore", str(self.corpus), *where, *OPTIONS, *more)

    def others(self) -> list[tuple[str, ...]]:
        """Return options that reuse what is in a folder."""
        more = [("--k", "3:4"), ("--criterion", "aic"), ("--kappa", "free")]
        more += [("--names", str(self.names)), ("--seeds", str(self.seeds)), ("--split", "10")]
        return [*more, ("--label", "side"), ("--label", "side", "--effects", "side")]

    def assign(self, seed: int, table: Path, *more: str) -> tuple[str, ...]:
        """Return the command that assigns."""
        return ("assign", str(self.finished[seed]), str(self.corpus), "-o", str(table), *more)

    def update(self, folder: Path) -> tuple[str, ...]:
        """Return the command that brings the edited run up to date."""
        return ("update", str(self.edited), str(self.new), "-o", str(folder))

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
            ("effects", str(folder), "--by", "side", "--draws", "10", "-o", table, "--force"),
            ("assign", str(folder), str(self.corpus), "-o", table, "--force"),
            ("edit", str(folder), str(self.edits)),
            ("edit", str(folder), UNDO),
            self.update(folder),
            ("update", str(folder), str(self.new), "-o", str(folder.with_name("another"))),
        ]
        return [choices[i] for i in rng.integers(len(choices), size=n)]

    # Processes

    def start(
        self,
        *arguments: str,
        place: Path | None = None,
        fail: tuple[str, int, int] = ("", 0, 0),
        folder: Path | None = None,
    ) -> tuple[Any, Path]:
        """Start a command; return its process, and where it says what.

        The n-th call of a kind on files below a folder fails with an error of the system.
        """
        self.tried["commands"] += 1
        said = self.home / f"said{self.tried['commands']}"
        call, n, code = fail
        text = COMMAND.format(
            arguments=list(arguments),
            said=str(said),
            place=str(place or self.home),
            folder=str(folder or self.home),
            call=call,
            n=n,
            code=code,
        )
        process = self.context.Process(target=exec, args=(text, {}))
        process.start()
        return process, said

    def end(self, started: tuple[Any, Path], codes: set[int]) -> tuple[int, str]:
        """Wait for a command; what it says must be what a command says."""
        process, said = started
        process.join(self.patience)
        if process.exitcode is None:
            process.kill()
            raise FoundError(f"hangs for {self.patience:.0f} seconds: {said.read_text()}")
        text = said.read_text(errors="replace") if said.exists() else ""
        said.unlink(missing_ok=True)
        lines = [line for line in text.splitlines() if line.startswith("error: ")]
        odd = "Traceback" in text or "unexpected" in text or len(lines) > 1
        if odd or process.exitcode not in codes or (process.exitcode == 0 and lines):
            raise FoundError(f"ended with {process.exitcode}: {text}")
        self.tried[f"ended with {process.exitcode}"] += 1
        return process.exitcode or 0, text

    def run(self, *arguments: str, codes: set[int], **more: Any) -> int:
        """Run a command to its end."""
        return self.said(*arguments, codes=codes, **more)[0]

    def said(self, *arguments: str, codes: set[int], **more: Any) -> tuple[int, str]:
        """Run a command to its end; return its code and what it said."""
        try:
            return self.end(self.start(*arguments, **more), codes)
        except FoundError as error:
            raise FoundError(f"{' '.join(map(ascii, arguments))}: {error}") from None

    def kill(self, rng: np.random.Generator, *arguments: str) -> None:
        """Start a command and kill it at any moment."""
        process, said = self.start(*arguments)
        process.join(float(1.3 * self.seconds * rng.random() ** 2))  # edits are quicker
        self.tried["kills" if process.exitcode is None else "too late to kill"] += 1
        process.kill()
        process.join()
        said.unlink(missing_ok=True)

    def fail(self, rng: np.random.Generator, folder: Path, *arguments: str) -> bool:
        """Run a command in which a system call fails once; tell whether it said that it worked."""
        call = str(rng.choice(CALLS))
        n, code = int(rng.integers(1, 4) ** rng.integers(1, 6)), int(rng.choice(CODES))
        started = self.start(*arguments, fail=(call, n, code), folder=folder)
        try:
            status, _ = self.end(started, {0, 2})
        except FoundError as error:
            what = f"{' '.join(arguments)} with {errno.errorcode[code]} at {call} {n}"
            raise FoundError(f"{what}: {error}") from None
        counted = started[1].with_name(f"{started[1].name}.count")
        reached = int(counted.read_text() or 0) if counted.exists() else 0
        if reached >= n:
            self.tried[f"failing {call}"] += 1
        return status == 0

    # Folders

    def begin(self, rng: np.random.Generator, folder: Path) -> str:
        """Make a folder that is missing, empty, finished, edited, or was left by a kill."""
        states = ("missing", "empty", "finished", "edited", "killed", "killed by force")
        state = str(rng.choice([*states, "killed edit", "killed undo", "killed update"]))
        if state == "empty":
            folder.mkdir()
        elif state == "killed":
            self.kill(rng, *self.explore(folder))
        elif state == "killed update":
            self.kill(rng, *self.update(folder))
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

    def undo_all(self, folder: Path) -> None:
        """Take back edits until there are none."""
        for _ in range(50):
            if self.run("edit", str(folder), UNDO, codes={0, 2}):
                return
            self.tried["edits taken back"] += 1
        raise FoundError("edits can be taken back for ever")

    def same(self, folder: Path, seed: int) -> None:
        """Take all edits back; the outputs are those of a calm run."""
        self.undo_all(folder)
        self.equal(folder, self.finished[seed])

    def sound(self, folder: Path, *, refit: bool = False) -> None:
        """Every file is as its checksum says, and the run can be made again to the same bytes."""
        self.run("check", str(folder), *(("--refit",) if refit else ()), codes={0})
        self.tried["runs checked" if not refit else "runs made again"] += 1

    @staticmethod
    def equal(folder: Path, calm: Path, suffixes: tuple[str, ...] = ("",)) -> None:
        """Compare outputs with those of a calm run."""
        found, expected = outputs(folder), outputs(calm)
        other = sorted(
            name
            for name in {*found, *expected}
            if found.get(name) != expected.get(name) and name.endswith(suffixes)
        )
        if other:
            raise FoundError(f"not the outputs of a calm run: {other[:5]}")

    @staticmethod
    def groups(folder: Path) -> Path:
        """Return the table of the groups."""
        return next(folder / n for n in ("groups.csv", "clusters.csv") if (folder / n).exists())

    def write_edits(self, path: Path, folder: Path, **parts: Any) -> None:
        """Write edits of a finished run, as its page exports them."""
        _, text = self.said("names", str(folder), codes={0})
        fit = json.loads(text[text.index("[\n") :])[0]["fit"]
        content = {"format": "spheremix edits", "version": 1, "run": fit, **parts}
        path.write_text(json.dumps(content), encoding="utf-8")


def read_table(path: Path) -> dict[str, list[str]]:
    """Return a table as columns."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return {name: [row[i] for row in rows] for i, name in enumerate(header)}


def notes_of(folder: Path) -> list[str]:
    """List the notes on documents: one for each edit that was made."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        return sorted(one for one in read_table(folder / "documents.csv")["note"] if one)
    return []


def outputs(folder: Path) -> dict[str, str]:
    """Return checksums of what people open: tables, page, and what explains them."""
    paths = [*folder.glob("*.csv"), *folder.glob("tables/*.csv"), *folder.glob("*.html")]
    paths += [folder / "README.txt"]
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in paths
        if path.is_file() and not path.is_symlink()
    }


def is_whole(folder: Path) -> bool:
    """Return whether a folder has the run and its page."""
    return all((folder / name).is_file() for name in ("run.json", "report.html", "README.txt"))


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


def tamper(
    rng: np.random.Generator, folder: Path, n: int, spared: Callable[[Path], bool]
) -> Iterable[Path]:
    """Write other bytes into files of a folder, or remove them; return which."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not spared(path)]
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
    return chosen


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
        *(None, -1, 2**70, 10**9, 7, 1e308, True, "", "x" * 1000, [], {}, float("nan")),
        *("/dev/zero", "../../outside/victim", "9" * 30, "0 1 999999999 -", [[0, 99]], {"99": "x"}),
    ]
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = str(rng.choice(sorted(value)))
        return {**value, key: warped(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.9:
        i = int(rng.integers(len(value)))
        return [*value[:i], warped(rng, value[i]), *value[i + 1 :]]
    return odd[int(rng.integers(len(odd)))]


def odd_names(place: Path) -> list[str]:
    """Return names of files that people seldom think of, as far as the system has them."""
    found = []
    for name in (
        *(os.fsdecode(b"not \xff\xfe utf"), "new\nline", "x" * 240, "-dash", "--undo", " space "),
        *(
            "quo'te\"",
            "{0}%s",
            "\x1b[31mred",
            "tab\t",
            "caf\u00e9",
            "cafe\u0301",
            "a;b|c$HOME",
            "~",
        ),
        *("\u202eevil", "\U0001f600", "back\\slash", "#x?y", "con", "*"),
    ):
        with contextlib.suppress(OSError):
            (place / name).touch()
            (place / name).unlink()
            found.append(name)
    return found
