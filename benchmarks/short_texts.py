"""As many short texts as are asked for, made up out of public ones of the folder of real data.

A text is a random one of a class with each of its words kept with probability 0.8, and the words of
another one of the class, each with probability 0.5: titles of Stack Overflow and search snippets,
28 classes.
"""

from __future__ import annotations

import gzip
import random

from timing import DATA

SETS = ("stackoverflow", "searchsnippets")
OWN, OTHER = 0.8, 0.5  # probabilities of words


def short_texts(name: str) -> tuple[list[str], list[str]]:
    """Return the texts and the classes of one public set."""
    with gzip.open(DATA / "short" / f"{name}.tsv.gz", "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t", 2) for line in lines]
    return [row[1] for row in rows], [f"{name} {row[0]}" for row in rows]


def made_up_texts(n: int, seed: int = 0) -> list[str]:
    """Return n texts."""
    words: list[list[str]] = []
    classes: list[str] = []
    for name in SETS:
        texts, labels = short_texts(name)
        words += [text.split() for text in texts]
        classes += labels
    members: dict[str, list[int]] = {}
    for i, one in enumerate(classes):
        members.setdefault(one, []).append(i)
    rng = random.Random(seed)  # noqa: S311 (nothing is secret)
    draw, among = rng.random, rng.randrange
    found = []
    for _ in range(n):
        own = among(len(words))
        others = members[classes[own]]
        other = others[among(len(others))]
        kept = [word for word in words[own] if draw() < OWN]
        kept += [word for word in words[other] if draw() < OTHER]
        found.append(" ".join(kept))
    return found
