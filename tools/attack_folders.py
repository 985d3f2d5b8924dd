"""Attacks on folders of runs: things of others, kills, other options, commands at once, tampering.

Each attack works in an empty place with a folder of victims beside it.
"""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

from attack_arena import N_DOCUMENTS, OPTIONS, FoundError, everything, tamper

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from attack_arena import Arena

NAMES = (
    *("run.json", "derived.json", "README.txt", "report.html", "documents.csv", "notes.txt"),
    *("progress/lock", "progress/command.json", "progress/placing.json", "progress/diary.txt"),
    *("stages/matrix.json", "progress/replaced.json", "figures/holiday.png", "tables/mine.csv"),
    *("stages/dense-2.json", "stages/path.json", "stages/mine.txt", "stages", "path/beta.npy"),
    *("matrix/data.npy", "dense/2/kappas.npy", "deep/er/still.txt", ".report.html.part", "figures"),
    *("figures.draft", "progress", "tables", "dense", ".hidden", "corpus.jsonl.gz", "idf.npy"),
    *("edits.json", "edited", "edited/mine.txt", "stages/edited-path.json", "stages/origin.json"),
)
KINDS = ("file", "empty file", "link", "link to a folder", "broken link", "pipe", "hard link")


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


def attack_others(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Files, links and pipes of others in any folder stay as they are under any command."""
    folder, outside = place / "run", place / "outside"
    arena.begin(rng, folder)
    planted = [plant(rng, folder, outside) for _ in range(rng.integers(1, 4))]
    theirs = {name: seen for name, seen in everything(folder).items() if name in planted}
    for command in arena.commands(rng, folder, int(rng.integers(1, 4))):
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
    arena.same(folder, 0)


def attack_reuse(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Other options one after the other, killed or not: the last ones give the bytes of a calm run.

    Beside them only fits that were kept, and their stability, are left.
    """
    folder = place / "run"
    arena.begin(rng, folder)
    others = arena.others()
    for _ in range(rng.integers(1, 6)):
        command = arena.explore(folder, int(rng.integers(2)), *others[rng.integers(len(others))])
        if rng.random() < 0.6:
            arena.kill(rng, *command)
        else:  # names that were given to other clusters are refused
            arena.run(*command, codes={0, 2})
    seed = int(rng.integers(2))
    arena.run(*arena.explore(folder, seed), codes={0})
    arena.same(folder, seed, kept=("dense/4/", "stages/dense-4.json", "stages/stability-4.json"))


def attack_together(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Commands at once: each succeeds or is refused, and what is left is one of the results."""
    folder, table = place / "run", place / "table.csv"
    arena.begin(rng, folder)
    n = int(rng.integers(2, 6))
    chosen = arena.commands(rng, folder, n)
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
    arena.same(folder, 0)


def attack_tampering(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Own files with other bytes: one line of refusal, or the result; never a traceback."""
    folder = place / "run"
    while arena.begin(rng, folder) == "missing":
        pass
    arena.tried["files tampered with"] += tamper(rng, folder, 3, frozenset())
    for command in arena.commands(rng, folder, 3):
        arena.run(*command, codes={0, 2})


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
    if n != N_DOCUMENTS:
        raise FoundError(f"{n} documents out of {N_DOCUMENTS}")
