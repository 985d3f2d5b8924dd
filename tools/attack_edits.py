"""Attacks on ``spheremix edit``: chains of edits that are killed, hostile files, damaged runs.

Each attack works in an empty place with a folder of victims beside it.
"""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

from attack_arena import (
    N_DOCUMENTS,
    TOKEN,
    UNDO,
    FoundError,
    everything,
    fit_of,
    tamper,
    warped_text,
)

from spheremix import load_run

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from attack_arena import Arena

EDITS, COMMAND = "edits.json", "progress/command.json"


def drawn_edits(rng: np.random.Generator, arena: Arena, folder: Path, note: str) -> dict[str, Any]:
    """Draw edits of a finished run that can be made; one note tells them from others."""
    run = load_run(folder)
    K, words = len(run.mixture.weights_), set(run.feature_names or [])
    order = [int(k) for k in rng.permutation(K)]
    edits: dict[str, Any] = {
        "format": "spheremix edits",
        "version": 1,
        "run": fit_of(folder),
        "notes": {"groups": {}, "documents": {f"d{rng.integers(N_DOCUMENTS)}": note}},
    }
    if rng.random() < 0.5:
        edits["names"] = {str(order[0]): f"called {note}"}
    if rng.random() < 0.3:
        edits["misplaced"] = [f"d{i}" for i in rng.choice(N_DOCUMENTS, 3, replace=False)]
    if K > 2 and rng.random() < 0.5:
        edits["merge"] = [order[:2]]
    elif K < 4 and rng.random() < 0.5:
        edits["split"] = [order[-1]]
    if rng.random() < 0.3:
        edits["drop_words"] = [one for one in rng.choice(arena.words, 2).tolist() if one in words]
    return edits


def history_of(folder: Path) -> list[Any]:
    """List the edits that a finished run says were made to it."""
    path = folder / EDITS
    return list(json.loads(path.read_bytes())["steps"]) if path.exists() else []


def is_done(folder: Path, n: int) -> bool:
    """Return whether a command that was killed had done all that counts: n edits are there."""
    finished = (folder / "run.json").exists() and not (folder / COMMAND).exists()
    return finished and len(history_of(folder)) == n


def attack_chains(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Edits made and taken back, killed or not: each counts once, and all can be taken back."""
    folder, notes = place / "run", list[str]()
    shutil.copytree(arena.finished[0], folder)
    for i in range(rng.integers(2, 6)):
        if notes and rng.random() < 0.4:
            command, wanted = ("edit", str(folder), UNDO), notes[:-1]
        else:
            path, note = place / f"edits{i}.json", f"note {i}"
            path.write_text(json.dumps(drawn_edits(rng, arena, folder, note)))
            command, wanted = ("edit", str(folder), str(path)), [*notes, note]
        done = False
        for _ in range(rng.integers(3)):
            arena.kill(rng, *command)
            done = is_done(folder, len(wanted))
            if done:
                break
        if not done:
            arena.run(*command, codes={0})
        notes = wanted
        made = [
            next(iter(one["edits"]["notes"]["documents"].values())) for one in history_of(folder)
        ]
        if made != notes:
            raise FoundError(f"{command}: the history has {made}, not {notes}")
        arena.tried["edits made or taken back"] += 1
    arena.same(folder, 0)


def attack_edit_files(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Files of edits with anything in them are refused and change nothing, or can be taken back."""
    folder, path = place / "run", place / "edits.json"
    shutil.copytree(arena.finished[0], folder)
    for _ in range(4):
        data = bytearray(json.dumps(drawn_edits(rng, arena, folder, "a note")).encode())
        how = int(rng.integers(6))
        if how < 3:
            for _ in range(rng.integers(1, 4)):
                data = warped_text(rng, data)
        elif how == 3:
            data = data[: int(rng.integers(len(data)))]
        elif how == 4:
            data = bytearray(rng.bytes(200))
        path.unlink(missing_ok=True)
        if how == 5:
            os.mkfifo(path)
        else:
            path.write_bytes(data)
        before = everything(folder)
        code = arena.run("edit", str(folder), str(path), codes={0, 2})
        if code and everything(folder) != before:
            raise FoundError("edits that were refused changed the run")
        arena.tried["files of edits tampered with"] += 1
    arena.same(folder, 0)


def attack_memory(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Damage any file but that of the edits: a note survives until it is taken back."""
    folder = place / "run"
    shutil.copytree(arena.edited, folder)
    arena.tried["files tampered with"] += tamper(rng, folder, 2, frozenset({EDITS}))
    for command in arena.commands(rng, folder, 3):
        if UNDO in command:
            continue
        if rng.random() < 0.3:
            arena.kill(rng, *command)
        else:
            arena.run(*command, codes={0, 2})
        kept = [folder / EDITS, folder / COMMAND]
        if not any(TOKEN in one.read_text("utf-8", "replace") for one in kept if one.exists()):
            raise FoundError(f"{command}: the note is lost")
    arena.tried["notes kept"] += 1


def attack_pairs(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Edits at once: each is made or refused, none is lost, and all can be taken back."""
    folder = place / "run"
    shutil.copytree(arena.edited, folder)
    content, commands = drawn_edits(rng, arena, folder, "a note"), [("edit", str(folder), UNDO)]
    for i in range(rng.integers(1, 4)):
        path = place / f"edits{i}.json"
        path.write_text(json.dumps({**content, "names": {"0": f"name {i}"}}))
        commands.append(("edit", str(folder), str(path)))
    started = [arena.start(*one) for one in commands]
    codes = [arena.end(one, {0, 2}) for one in started]
    undone, *made = (code == 0 for code in codes)
    steps = history_of(folder)
    if len(steps) != 1 - undone + sum(made):
        raise FoundError(f"{codes}: {len(steps)} edits in the history")
    arena.tried["edits at once"] += len(commands)
    arena.same(folder, 0)
