"""Random attacks on the folders of runs, for a given time: nothing of others may change.

Each round draws one attack. A round is made of the seed and its number alone, except for where
kills hit and who of several commands comes first: `--round N` does one again.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
import urllib.request
from http import HTTPStatus
from pathlib import Path

import numpy as np
from attack_arena import (
    N_DOCUMENTS,
    OPTIONS,
    TOKEN,
    UNDO,
    Arena,
    FoundError,
    everything,
    is_whole,
    notes_of,
    odd_names,
    outputs,
    read_table,
    tamper,
    warped_text,
)

# Names that people use, and those of the outputs of a run.
THEIRS = ("notes.txt", "figures/holiday.png", "tables/mine.csv", "deep/er/still.txt", ".hidden")
OUTPUTS = ("README.txt", "report.html", "documents.csv", "words.csv", "tables/typical.csv")
KINDS = ("file", "link", "link to a folder", "broken link", "pipe", "hard link")


def plant(rng: np.random.Generator, folder: Path, outside: Path) -> str | None:
    """Put something of others into a folder; return its name."""
    name, kind = str(rng.choice([*THEIRS, *OUTPUTS])), str(rng.choice(KINDS))
    path = folder / name
    if os.path.lexists(path) and (path.is_symlink() or not path.is_dir()):
        path.unlink()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    if kind == "file":
        path.write_bytes(rng.bytes(20))
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
    """Killed any number of times, in any command, it ends with the same outputs."""
    folder = place / "run"
    for _ in range(rng.integers(1, 6)):
        force = () if rng.random() < 0.7 else ("--force",)
        arena.kill(rng, *arena.explore(folder, 0, *force))
        if (folder / "run.json").exists() and rng.random() < 0.5:
            arena.kill(rng, "report", str(folder))
    arena.run(*arena.explore(folder), codes={0})
    arena.same(folder, 0)


def attack_reuse(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Other options one after the other, killed or not: the last ones give what a calm run has."""
    folder = place / "run"
    while arena.begin(rng, folder) == "killed update":
        shutil.rmtree(folder, ignore_errors=True)
    others = arena.others()
    for _ in range(rng.integers(1, 6)):
        command = arena.explore(folder, int(rng.integers(2)), *others[rng.integers(len(others))])
        if rng.random() < 0.6:
            arena.kill(rng, *command)
        else:  # names that were given to other groups are refused
            arena.run(*command, codes={0, 2})
    seed = int(rng.integers(2))
    arena.run(*arena.explore(folder, seed), codes={0})
    arena.same(folder, seed)


def attack_together(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Commands at once: each succeeds or is refused, and what is left is one of the results."""
    folder, table = place / "run", place / "table.csv"
    while arena.begin(rng, folder) == "killed update":
        shutil.rmtree(folder, ignore_errors=True)
    chosen = [
        one
        for one in arena.commands(rng, folder, int(rng.integers(2, 6)))
        if one[0] != "update"  # a run of more documents is not replaced by others
    ]
    chosen += [arena.assign(int(rng.integers(2)), table, "--force") for _ in range(2)]
    started = [arena.start(*command) for command in chosen]
    if len(started) > 3 and rng.random() < 0.3:  # one of them is killed on the way
        process, _ = started[0]
        process.join(float(rng.uniform(0.0, arena.seconds)))
        process.kill()
        process.join()
        arena.tried["kills"] += 1
        started = started[1:]
    for one in started:
        arena.end(one, {0, 2})
    arena.tried["commands at once"] += len(chosen)
    arena.run(*arena.assign(1, place / "other.csv"), codes={0})
    if table.read_bytes() not in {arena.table.read_bytes(), (place / "other.csv").read_bytes()}:
        raise FoundError("a table of several commands")
    arena.run(*arena.explore(folder, 0, "--force"), codes={0})
    arena.same(folder, 0)


def attack_tampering(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Own files with other bytes: one line of refusal, or the result; never a traceback."""
    folder = place / "run"
    while arena.begin(rng, folder) == "missing":
        pass
    arena.tried["files tampered with"] += len(list(tamper(rng, folder, 3, lambda _: False)))
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
    before = outputs(folder)
    arena.run(*command, codes={0})
    if outputs(folder) != before:
        raise FoundError("the second run is another one")
    n = len(read_table(folder / "documents.csv")["id"])
    if n != N_DOCUMENTS:
        raise FoundError(f"{n} documents out of {N_DOCUMENTS}")


# Edits


def draw_edits(rng: np.random.Generator, arena: Arena, folder: Path, path: Path, i: int) -> str:
    """Write edits of a finished run that can be made; return the note that tells them apart."""
    groups = read_table(arena.groups(folder))
    order = [int(k) for k in rng.permutation([int(k) for k in next(iter(groups.values()))])]
    note, K = f"note {i}", len(order)
    edits: dict[str, object] = {"notes": {"groups": {}, "documents": {f"d{10 + i}": note}}}
    if rng.random() < 0.5:
        edits["names"] = {str(order[0]): f"called {note}"}
    if rng.random() < 0.3:
        edits["misplaced"] = [f"d{j}" for j in rng.choice(N_DOCUMENTS, 3, replace=False)]
    if rng.random() < 0.2:  # the groups are others, and so are their numbers
        edits |= {"nodes": cut_of(rng, folder), "names": {}}
    elif K > 2 and rng.random() < 0.5:
        edits["merge"] = [order[:2]]
    elif K < 4 and rng.random() < 0.5:
        edits["split"] = [order[-1]]
    elif rng.random() < 0.3:
        edits["move"] = {f"d{j}": order[-1] for j in rng.choice(N_DOCUMENTS, 3, replace=False)}
    if rng.random() < 0.3:
        known = sorted(set(read_table(folder / "words.csv")["word"]))
        edits["drop_words"] = [str(rng.choice(known))]
    arena.write_edits(path, folder, **edits)
    return note


def cut_of(rng: np.random.Generator, folder: Path) -> list[int]:
    """Return nodes of the tree of a run that hold each fine group once: 2 to 4 of them."""
    tree = read_table(folder / "tables" / "tree.csv")
    parents = {int(k): int(own or -1) for k, own in zip(tree["node"], tree["parent"], strict=True)}
    cut = [node for node, parent in parents.items() if parent < 0]
    for _ in range(rng.integers(1, 4)):
        inner = [node for node in cut if node in parents.values()]
        if inner:
            chosen = inner[int(rng.integers(len(inner)))]
            cut.remove(chosen)
            cut += [node for node, parent in parents.items() if parent == chosen]
    return cut


def attack_chains(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Edits made and taken back, killed, failing or not: each counts, and all can be taken back."""
    folder, notes = place / "run", list[str]()
    shutil.copytree(arena.finished[0], folder)
    for i in range(rng.integers(2, 6)):
        if notes and rng.random() < 0.4:
            command, wanted = ("edit", str(folder), UNDO), notes[:-1]
        else:
            path = place / f"edits{i}.json"
            note = draw_edits(rng, arena, folder, path, i)
            command, wanted = ("edit", str(folder), str(path)), [*notes, note]
        for _ in range(rng.integers(3)):
            if rng.random() < 0.5:
                arena.kill(rng, *command)
            else:
                arena.fail(rng, folder, *command)
            if is_whole(folder) and notes_of(folder) == wanted:
                break
        else:
            arena.run(*command, codes={0})
        notes = wanted
        if notes_of(folder) != notes:
            raise FoundError(f"{command}: the notes are {notes_of(folder)}, not {notes}")
        arena.tried["edits made or taken back"] += 1
    arena.sound(folder, refit=rng.random() < 0.3)
    arena.same(folder, 0)


def attack_edit_files(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Files of edits with anything in them are refused and change nothing, or can be taken back."""
    folder, path = place / "run", place / "edits.json"
    shutil.copytree(arena.finished[0], folder)
    for i in range(4):
        path.unlink(missing_ok=True)
        draw_edits(rng, arena, folder, path, i)
        data, how = bytearray(path.read_bytes()), int(rng.integers(6))
        if how < 3:
            for _ in range(rng.integers(1, 4)):
                data = warped_text(rng, data)
        elif how == 3:
            data = data[: int(rng.integers(len(data)))]
        elif how == 4:
            data = bytearray(rng.bytes(200))
        path.unlink()
        if how == 5:
            os.mkfifo(path)
        else:
            path.write_bytes(data)
        before = outputs(folder)
        code = arena.run("edit", str(folder), str(path), codes={0, 2})
        if code and outputs(folder) != before:
            raise FoundError("edits that were refused changed the run")
        arena.tried["files of edits tampered with"] += 1
    arena.same(folder, 0)


def attack_memory(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Damage any file but those that have a note: it survives until it is taken back."""
    folder = place / "run"
    shutil.copytree(arena.edited, folder)

    def has_note(path: Path) -> bool:
        return TOKEN.encode() in path.read_bytes()

    arena.tried["files tampered with"] += len(list(tamper(rng, folder, 2, has_note)))
    for command in arena.commands(rng, folder, 3):
        if UNDO in command:
            continue
        if rng.random() < 0.3:
            arena.kill(rng, *command)
        else:
            arena.run(*command, codes={0, 2})
        kept = [path for path in folder.rglob("*.json") if path.is_file() and has_note(path)]
        if not kept:
            raise FoundError(f"{command}: the note is lost")
    arena.tried["notes kept"] += 1


def attack_pairs(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Edits at once: each is made or refused, none is lost, and all can be taken back."""
    folder = place / "run"
    shutil.copytree(arena.finished[0], folder)
    commands = []
    for i in range(rng.integers(2, 5)):
        draw_edits(rng, arena, folder, place / f"edits{i}.json", i)
        commands.append(("edit", str(folder), str(place / f"edits{i}.json")))
    started = [arena.start(*one) for one in commands]
    codes = [arena.end(one, {0, 2})[0] for one in started]
    made = [f"note {i}" for i, code in enumerate(codes) if code == 0]
    if notes_of(folder) != made:
        raise FoundError(f"{codes}: the notes are {notes_of(folder)}")
    arena.tried["edits at once"] += len(commands)
    arena.same(folder, 0)


def attack_served(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Edits by the page of a server that is killed at any moment: made, or not made at all."""
    folder, note = place / "run", ""
    shutil.copytree(arena.finished[0], folder)
    process, said = arena.start("serve", str(folder), "--threads", "1")
    address = b""
    while process.is_alive() and not address.endswith(b"/\n"):
        time.sleep(0.05)
        address = said.read_bytes().partition(b"\n")[0] + b"\n" if said.exists() else b""
    note = draw_edits(rng, arena, folder, place / "edits.json", 0)
    request = urllib.request.Request(  # noqa: S310 (this machine)
        address.decode().strip() + "edits",
        (place / "edits.json").read_bytes(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        if answer.status != HTTPStatus.ACCEPTED:
            raise FoundError(f"the server answered {answer.status}")
    process.join(float(1.5 * arena.seconds * rng.random() ** 2))
    process.kill()
    process.join()
    said.unlink(missing_ok=True)
    arena.run("report", str(folder), codes={0})
    if notes_of(folder) not in ([], [note]):
        raise FoundError(f"the notes are {notes_of(folder)}")
    arena.tried["edits by a page"] += 1
    arena.sound(folder)
    arena.same(folder, 0)


# Updates, names and system calls


def attack_updates(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Kill updates or let them fail: they have nothing to undo, and end as calm ones."""
    folder = place / "run"
    for _ in range(rng.integers(1, 4)):
        if rng.random() < 0.6:
            arena.kill(rng, *arena.update(folder))
        else:
            arena.fail(rng, folder, *arena.update(folder))
        if (folder / "run.json").exists():
            break
        probe = [("edit", str(folder), UNDO), ("edit", str(folder), str(arena.edits))]
        probe += [("report", str(folder)), ("names", str(folder))]
        command = probe[int(rng.integers(len(probe)))]
        if arena.run(*command, codes={0, 2}) == 0:
            if (folder / "run.json").exists():  # it was written, and had only to get its names
                break
            raise FoundError(f"{command} worked in an update that is not finished")
        arena.tried["commands in an unfinished update"] += 1
    arena.run(*arena.update(folder), codes={0})
    arena.equal(folder, arena.updated)
    if outputs(arena.edited) != arena.before:
        raise FoundError("an update changed the run before it")
    arena.sound(folder)
    arena.tried["updates"] += 1


def attack_names(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Odd names of folders and files: it works or is refused, and the run can be used after it."""
    home = place / "names"
    home.mkdir()
    names = odd_names(home)
    corpus, folder, edits, new = (
        f"./{names[i]}{end}" if rng.random() < 0.8 else f"plain{end}"
        for i, end in zip(  # the first one, which is no text, more often
            np.maximum(rng.integers(-6, len(names), size=4), 0),
            (".jsonl", "", ".json", ".new.jsonl"),
            strict=True,
        )
    )
    if rng.random() < 0.1:
        folder = folder.removeprefix("./")  # it may be read as an option
    try:
        shutil.copy(arena.corpus, home / corpus)
        shutil.copy(arena.new, home / new)
        (home / edits).write_bytes(b"")
    except OSError:
        return  # too long with its ending
    try:
        use_names(arena, rng, home, (corpus, folder, edits, new))
    except FoundError as error:
        raise FoundError(f"{corpus!a} {folder!a} {edits!a} {new!a}: {error}") from None
    arena.tried["odd names"] += 1


def use_names(
    arena: Arena, rng: np.random.Generator, home: Path, names: tuple[str, str, str, str]
) -> None:
    """Explore, edit, update and undo with these names of files."""
    corpus, folder, edits, new = names
    run, how = home / folder, {"codes": {0, 2}, "place": home}
    code = arena.run("explore", corpus, "-o", folder, "--seed", "0", *OPTIONS, **how)
    if code or not (run / "run.json").exists():
        return
    arena.equal(run, arena.finished[0], (".csv",))
    before = outputs(run)
    note = draw_edits(rng, arena, run, home / edits, 0)
    code = arena.run("edit", folder, edits, **how)
    if notes_of(run) != ([] if code else [note]) or not is_whole(run):
        raise FoundError(f"edits ended with {code}, the notes are {notes_of(run)}")
    arena.run("update", folder, new, "-o", "updated", **how)
    if (home / "updated" / "run.json").exists() and not is_whole(home / "updated"):
        raise FoundError("an update that is never whole")
    arena.undo_all(run)
    if outputs(run) != before:
        raise FoundError("not as it was before the edits")


def attack_calls(arena: Arena, rng: np.random.Generator, place: Path) -> None:
    """Let a system call fail once: the command says so or works; then it ends as ever."""
    folder = place / "run"
    what = str(rng.choice(["explore", "force", "undo", "update", "report"]))
    before = {"force": arena.finished[1], "undo": arena.edited, "report": arena.finished[0]}
    if what in before:
        shutil.copytree(before[what], folder)
    command, calm = {
        "explore": (arena.explore(folder), arena.finished[0]),
        "force": (arena.explore(folder, 0, "--force"), arena.finished[0]),
        "undo": (("edit", str(folder), UNDO), arena.finished[0]),
        "update": (arena.update(folder), arena.updated),
        "report": (("report", str(folder)), arena.finished[0]),
    }[what]
    worked = False
    for _ in range(rng.integers(1, 4)):
        worked = arena.fail(rng, folder, *command)
        if worked:
            break
    if not worked and outputs(folder) != outputs(calm):
        arena.run(*command, codes={0})
    arena.equal(folder, calm)


ATTACKS = (
    *(attack_others, attack_kills, attack_reuse, attack_together, attack_tampering, attack_inputs),
    *(attack_chains, attack_edit_files, attack_memory, attack_pairs, attack_updates, attack_names),
    *(attack_calls, attack_calls, attack_served),
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
    try:
        chosen(arena, rng, place)
    except FoundError as error:
        raise FoundError(f"{chosen.__name__}: {error}") from None
    if everything(outside) != before:
        raise FoundError(f"{chosen.__name__}: a file outside was changed")
    shutil.rmtree(place)


def main() -> None:
    """Attack until the time is over; list what was tried and what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--round", type=int, default=None)
    parser.add_argument(
        "--patience", type=float, default=600.0, help="seconds after which a command hangs"
    )
    told = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="spheremix-attack-"))
    arena = Arena(home, told.patience)
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
