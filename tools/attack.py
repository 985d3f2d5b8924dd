"""Random attacks on the folders of runs, for a given time: nothing of others may change.

Each round draws one attack. A round is made of the seed and its number alone, except for where
kills hit and who of several commands comes first: `--round N` does one again.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from attack_arena import Arena, FoundError, everything
from attack_edits import attack_chains, attack_edit_files, attack_memory, attack_pairs
from attack_folders import (
    attack_inputs,
    attack_kills,
    attack_others,
    attack_reuse,
    attack_tampering,
    attack_together,
)

ATTACKS = (
    *(attack_others, attack_kills, attack_reuse, attack_together, attack_tampering, attack_inputs),
    *(attack_chains, attack_edit_files, attack_memory, attack_pairs),
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
