"""Random attacks on the folders of runs, for a given time: nothing of others may change.

Each round draws one attack. A round is made of the seed and its number alone, except for where
kills hit and who of several commands comes first: `--round N` does one again.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from spheremix.run.folder import RunFolder

OPTIONS = ("--k", "2:3", "--starts", "2", "--max-steps", "15", "--lemmatizer", "none")
PATIENCE = 120.0  # seconds after which a command is said to hang
# As the command, out of a process that has imported it already; figures would take all the time.
COMMAND = """
import sys
sys.argv = ["spheremix", *{arguments!r}]
sys.stdout = sys.stderr = open({said!r}, "w")
from spheremix.__main__ import main
from spheremix.run import render

def draw(run, folder):
    folder.mkdir()
    for i in range(30):
        (folder / f"picture{{i}}.svg").write_text("<svg/>" * 1000)

render.draw = draw
main()
"""
NAMES = (
    *("run.json", "derived.json", "README.txt", "report.html", "documents.csv", "notes.txt"),
    *("progress/lock", "progress/command.json", "progress/placing.json", "progress/diary.txt"),
    *("stages/matrix.json", "progress/replaced.json", "figures/holiday.png", "tables/mine.csv"),
    *("stages/dense-2.json", "stages/path.json", "stages/mine.txt", "stages", "path/beta.npy"),
    *("matrix/data.npy", "dense/2/kappas.npy", "deep/er/still.txt", ".report.html.part", "figures"),
    *("figures.draft", "progress", "tables", "dense", ".hidden", "corpus.jsonl.gz", "idf.npy"),
)
KINDS = ("file", "empty file", "link", "link to a folder", "broken link", "pipe", "hard link")


class FoundError(AssertionError):
    """An attack found something."""


class Arena:
    """Commands in processes of their own, and what is compared."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.tried: Counter[str] = Counter()
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(["spheremix.cli.main", "spheremix.run.explore"])
        self.corpus = home / "docs.jsonl"
        rng = np.random.default_rng(0)
        topics = [[f"{t}{a}{b}" for a in "abcde" for b in "abcde"] for t in ("kor", "lum", "vo")]
        with self.corpus.open("w", encoding="utf-8") as file:
            for i in range(60):
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

    def explore(self, folder: Path, seed: int = 0, *more: str) -> tuple[str, ...]:
        """Give the command that explores."""
        where = ("-o", str(folder), "--seed", str(seed), "--checkpoint", "0")
        return ("explore", str(self.corpus), *where, *OPTIONS, *more)

    def others(self) -> list[tuple[str, ...]]:
        """Give options that reuse what is in a folder."""
        names = ("--names", str(self.names))
        return [
            ("--k", "3:4"),
            ("--criterion", "aic"),
            ("--kappa", "free"),
            ("--id", "none"),
            names,
        ]

    def assign(self, seed: int, table: Path, *more: str) -> tuple[str, ...]:
        """Give the command that assigns."""
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
        process.join(PATIENCE)
        if process.exitcode is None:
            process.kill()
            raise FoundError(f"hangs: {said.read_text()}")
        text = said.read_text(errors="replace") if said.exists() else ""
        said.unlink(missing_ok=True)
        if "Traceback" in text or "unexpected" in text or process.exitcode not in codes:
            raise FoundError(f"ended with {process.exitcode}: {text}")
        self.tried[f"ended with {process.exitcode}"] += 1
        return process.exitcode or 0

    def run(self, *arguments: str, codes: set[int]) -> int:
        """Run a command to its end."""
        return self.end(self.start(*arguments), codes)

    def kill(self, rng: np.random.Generator, *arguments: str) -> None:
        """Start a command and kill it at any moment."""
        process, said = self.start(*arguments)
        process.join(float(rng.uniform(0.0, 1.3 * self.seconds)))
        self.tried["kills" if process.exitcode is None else "too late to kill"] += 1
        process.kill()
        process.join()
        said.unlink(missing_ok=True)


def everything(folder: Path) -> dict[str, str | bytes]:
    """Give all that can be told of what lies in a folder."""
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


def plant(rng: np.random.Generator, folder: Path, outside: Path) -> str | None:
    """Put something of others into a folder; give its name."""
    name, kind = str(rng.choice(NAMES)), str(rng.choice(KINDS))
    path = folder / name
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    if kind == "file":
        path.write_bytes(rng.bytes(20))
    elif kind == "empty file" and name != "progress/lock":  # beside drafts it would be ours
        path.touch()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "hard link":
        os.link(outside / "victim", path)
    else:
        leads = {"link": "victim", "link to a folder": "."}.get(kind, "nothing")
        path.symlink_to(outside / leads)
    return name


def commands(arena: Arena, rng: np.random.Generator, folder: Path, n: int) -> list[tuple[str, ...]]:
    """Draw commands on a folder."""
    choices = [
        arena.explore(folder),
        arena.explore(folder, 1),
        arena.explore(folder, 0, "--force"),
        arena.explore(folder, 1, "--force"),
        arena.explore(folder, 0, "--min-df", "1000"),
        *(arena.explore(folder, 0, *more) for more in arena.others()),
        ("names", str(folder)),
        ("report", str(folder)),
        ("assign", str(folder), str(arena.corpus), "-o", str(folder / "documents.csv"), "--force"),
    ]
    return [choices[i] for i in rng.integers(len(choices), size=n)]


# Attacks: each on an empty place, with a folder of victims beside it


def begun(arena: Arena, rng: np.random.Generator, folder: Path) -> str:
    """Make a folder that is missing, empty, finished, or was left by a kill."""
    state = str(rng.choice(["missing", "empty", "finished", "killed", "killed by force"]))
    if state == "empty":
        folder.mkdir()
    elif state == "killed":
        arena.kill(rng, *arena.explore(folder))
    elif state != "missing":
        shutil.copytree(arena.finished[0], folder, symlinks=True)
    if state == "killed by force":
        arena.kill(rng, *arena.explore(folder, 1, "--force"))
    return state


def attack_others(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Files, links and pipes of others in any folder stay as they are under any command."""
    folder, outside = place / "run", place / "outside"
    begun(arena, rng, folder)
    planted = [plant(rng, folder, outside) for _ in range(rng.integers(1, 4))]
    theirs = {name: seen for name, seen in everything(folder).items() if name in planted}
    for command in commands(arena, rng, folder, int(rng.integers(1, 4))):
        arena.run(*command, codes={0, 2})
        left = everything(folder)
        gone = [name for name, seen in theirs.items() if left.get(name) != seen]
        if gone:
            raise FoundError(f"{command} changed {gone}")
    arena.tried["things of others planted"] += len(theirs)


def attack_kills(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Killed any number of times, in any command, it ends with the same bytes."""
    folder = place / "run"
    for _ in range(rng.integers(1, 6)):
        force = () if rng.random() < 0.7 else ("--force",)
        arena.kill(rng, *arena.explore(folder, 0, *force))
        if (folder / "run.json").exists() and rng.random() < 0.5:
            arena.kill(rng, "report", str(folder))
    arena.run(*arena.explore(folder), codes={0})
    same(arena, folder, 0)


def attack_reuse(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Other options one after the other, killed or not: the last ones give the bytes of a calm run.

    Beside them only fits that were kept are left.
    """
    folder = place / "run"
    begun(arena, rng, folder)
    others = arena.others()
    for _ in range(rng.integers(1, 6)):
        command = arena.explore(folder, int(rng.integers(2)), *others[rng.integers(len(others))])
        if rng.random() < 0.6:
            arena.kill(rng, *command)
        else:  # names that were given to other clusters are refused
            arena.run(*command, codes={0, 2})
    seed = int(rng.integers(2))
    arena.run(*arena.explore(folder, seed), codes={0})
    same(arena, folder, seed, kept=("dense/4/", "stages/dense-4.json"))


def attack_together(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Commands at once: each succeeds or is refused, and what is left is one of the results."""
    folder, table = place / "run", place / "table.csv"
    begun(arena, rng, folder)
    n = int(rng.integers(2, 6))
    chosen = commands(arena, rng, folder, n)
    chosen += [arena.assign(int(rng.integers(2)), table, "--force") for _ in range(2)]
    started = [arena.start(*command) for command in chosen]
    if rng.random() < 0.3:  # one of them is killed on the way
        process, _ = started[0]
        process.join(float(rng.uniform(0.0, arena.seconds)))
        process.kill()
        process.join()
        arena.tried["kills"] += 1
        started = started[1:]
    for one in started:
        arena.end(one, {0, 2})
    arena.tried["commands at once"] += len(chosen)
    alone = {arena.table.read_bytes()}
    arena.run(*arena.assign(1, place / "other.csv"), codes={0})
    alone.add((place / "other.csv").read_bytes())
    if table.read_bytes() not in alone:
        raise FoundError("a table of several commands")
    arena.run(*arena.explore(folder, 0, "--force"), codes={0})
    same(arena, folder, 0)


def attack_tampering(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Own files with other bytes: one line of refusal, or the result; never a traceback."""
    folder = place / "run"
    while begun(arena, rng, folder) == "missing":
        pass
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    for path in (files[i] for i in rng.integers(len(files), size=3)) if files else ():
        data = bytearray(path.read_bytes())
        how = int(rng.integers(5))
        if how == 0:
            data = data[: int(rng.integers(len(data) + 1))]
        elif how == 1 and data:
            for i in rng.integers(len(data), size=5):
                data[i] = int(rng.integers(256))
        elif how == 2:
            data += rng.bytes(10)
        elif how == 3 and path.suffix == ".json":
            data = bytearray(json.dumps(warped(rng, json.loads(data or b"{}"))).encode())
        else:
            data = bytearray(files[int(rng.integers(len(files)))].read_bytes())
        path.write_bytes(data)
        arena.tried["files tampered with"] += 1
    for command in commands(arena, rng, folder, 3):
        arena.run(*command, codes={0, 2})


def warped(rng: np.random.Generator, value: object) -> object:
    """Give JSON with one value that is another."""
    odd = [
        None,
        -1,
        2**70,
        "",
        "/dev/zero",
        "../../outside/victim",
        [],
        {},
        True,
        "x" * 1000,
        1e308,
    ]
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = str(rng.choice(sorted(value)))
        return {**value, key: warped(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.9:
        i = int(rng.integers(len(value)))
        return [*value[:i], warped(rng, value[i]), *value[i + 1 :]]
    return odd[int(rng.integers(len(odd)))]


def attack_inputs(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Put runs among their documents, killed or not: the documents are the same."""
    texts, folder = place / "texts", place / "texts" / "run"
    texts.mkdir()
    for i, line in enumerate(arena.corpus.read_text(encoding="utf-8").splitlines()):
        (texts / f"{i:02}.txt").write_text(json.loads(line)["text"], encoding="utf-8")
    command = ("explore", str(texts), "-o", str(folder), *OPTIONS)
    for _ in range(rng.integers(0, 3)):
        arena.kill(rng, *command)
    if rng.random() < 0.3:
        os.mkfifo(texts / "pipe.txt")
    arena.run(*command, codes={0})
    before = everything(folder)
    arena.run(*command, codes={0})
    if everything(folder) != before:
        raise FoundError("the second run is another one")
    n = json.loads(before["run.json"])["corpus"]["n_documents"]
    if n != 60:
        raise FoundError(f"{n} documents out of 60")


def same(arena: Arena, folder: Path, seed: int, kept: tuple[str, ...] = ()) -> None:
    """Check that a finished folder has the bytes of a calm run, and else what may be kept."""
    expected = everything(arena.finished[seed])
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


ATTACKS = (
    *(attack_others, attack_kills, attack_reuse, attack_together, attack_tampering),
    attack_inputs,
)


def attack(arena: Arena, seed: int, number: int) -> None:
    """Do one round."""
    rng = np.random.default_rng([seed, number])
    place = arena.home / f"round{number}"
    outside = place / "outside"
    outside.mkdir(parents=True)
    (outside / "victim").write_bytes(b"")
    (outside / "precious.txt").write_text("precious")
    before = everything(outside)
    chosen = ATTACKS[int(rng.integers(len(ATTACKS)))]
    arena.tried[chosen.__name__.replace("attack_", "rounds of ")] += 1
    chosen(arena, rng, place)
    if everything(outside) != before:
        raise FoundError("a file outside was changed")
    shutil.rmtree(place)


def main() -> None:
    """Attack until the time is over; list what was tried, and stop at the first find."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--round", type=int, default=None)
    told = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="spheremix-attack-"))
    arena = Arena(home)
    end, number, found = time.monotonic() + told.seconds, told.round or 0, 0
    while time.monotonic() < end:
        try:
            attack(arena, told.seed, number)
        except FoundError as found_error:
            found += 1
            print(f"round {number} of seed {told.seed}: {found_error} (left in {home})", flush=True)
        number += 1
        if told.round is not None:
            break
    for what, n in sorted(arena.tried.items()):
        print(f"{n:7,}  {what}")
    print(f"{number:,} rounds of seed {told.seed}: {found} found something.")
    if not found:
        shutil.rmtree(home)
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
