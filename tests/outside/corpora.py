"""Five small corpora with clear groups of unequal sizes, made by seeded generators.

Each is written into a folder as files, as somebody would have them; so are its new documents.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

TOPICS = {
    "sea": "boat harbour sailor wave anchor island fish storm rope sail tide coral",
    "sky": "star planet moon telescope comet orbit galaxy eclipse rocket meteor crater dust",
    "food": "bread cheese soup pepper kitchen recipe onion butter flour oven garlic plate",
    "law": "court judge trial witness lawyer verdict appeal crime prison evidence jury sentence",
    "music": "violin piano melody concert orchestra singer rhythm chord opera drum flute tempo",
}
SHARED = "people morning story little number place world water evening letter window street"
NOWHERE = [f"{a}{b}{c}" for a in "qxzj" for b in ("ulo", "arv", "epi") for c in ("m", "st", "ng")]
OPTIONS = {"min_df": 2, "min_count": 2, "lemmatizer": "none", "threads": 1, "starts": 3}
OPTIONS |= {"min_relative_increase": 0.01}  # with which the goldens were made


@dataclass(frozen=True)
class Case:
    """A corpus on the disk, and what is done with it."""

    name: str
    source: Path
    new: Path
    options: dict[str, object]
    other: dict[str, object]
    merge: list[int]
    split: int
    drop: list[str] | None  # None: groups have no words of their own
    texts: list[str] = field(default_factory=list)  # for estimators that are saved
    update: dict[str, object] = field(default_factory=dict)


def written(rng, topic, n_own=10, n_shared=5):
    """Return a text of a topic; early words of the topic are frequent."""
    own = TOPICS[topic].split()
    shares = 1 / (3 + np.arange(len(own)))
    words = [
        *rng.choice(own, n_own, p=shares / shares.sum()),
        *rng.choice(SHARED.split(), n_shared),
    ]
    return " ".join(words)


def documents(sizes, seed, prefix="d", **lengths):
    """Return documents of topics of given sizes, mixed, as dictionaries."""
    rng = np.random.default_rng(seed)
    topics = rng.permutation([topic for topic, n in sizes.items() for _ in range(n)])
    return [
        {"id": f"{prefix}{i}", "text": written(rng, str(topic), **lengths), "topic": str(topic)}
        for i, topic in enumerate(topics)
    ]


def write_lines(path, rows):
    """Write JSON lines."""
    path.write_text("".join(f"{json.dumps(one)}\n" for one in rows), encoding="utf-8")
    return path


def plain_texts(place):
    """Texts and nothing else; two documents are the same, one is empty."""
    rows = documents({"sea": 34, "sky": 25, "food": 16}, 1)
    texts = [one["text"] for one in rows]
    texts[40], texts[60] = texts[3], ""
    new = documents({"sea": 9, "food": 7, "law": 12}, 2)
    return Case(
        "texts",
        write_lines(place / "texts.jsonl", [{"text": text} for text in texts]),
        write_lines(place / "new.jsonl", [{"text": one["text"]} for one in new]),
        {**OPTIONS, "k": 3, "max_steps": 40},
        {"criterion": "aic"},
        [0, 2],
        0,
        ["boat", "people"],
        texts,
    )


def dated_folder(place):
    """A folder of text files: days in their names, labels in the names of folders."""

    def write(folder, rows, year):
        for i, one in enumerate(rows):
            path = folder / one["topic"] / f"{year + i % 3}-{1 + i % 5:02}-{1 + i % 28:02} n{i}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(one["text"], encoding="utf-8")
        return folder

    rows = documents({"sky": 30, "law": 22, "music": 14}, 3)
    new = documents({"sky": 8, "law": 6, "music": 5}, 4)
    return Case(
        "dated",
        write(place / "dated", rows, 2015),
        write(place / "new", new, 2018),
        {**OPTIONS, "k": 3, "max_steps": 30, "date_from": "name", "label_from": "folder"},
        {"relaxed": False},
        [1, 2],
        1,
        ["court"],
        [one["text"] for one in rows],
    )


def projected(texts, seed=5, n_columns=24):
    """Return embeddings of texts: counts of words, projected at random."""
    known = sorted({word for topic in (*TOPICS.values(), SHARED) for word in topic.split()})
    counts = np.array([[text.split().count(word) for word in known] for text in texts], float)
    rows = np.sqrt(counts) @ np.random.default_rng(seed).normal(size=(len(known), n_columns))
    return rows.round(4)


def embeddings(place):
    """Rows of numbers, with the texts beside them."""
    rows = documents({"food": 33, "sea": 24, "music": 17}, 6, n_own=12, n_shared=3)
    new = documents({"food": 7, "music": 6}, 7, prefix="n", n_own=12, n_shared=3)
    np.save(place / "rows.npy", projected([one["text"] for one in rows]))
    np.save(place / "new.npy", projected([one["text"] for one in new]))
    return Case(
        "embeddings",
        place / "rows.npy",
        place / "new.npy",
        {
            "k": 3,
            "threads": 1,
            "min_relative_increase": 0.01,
            "starts": 3,
            "texts": str(write_lines(place / "texts.jsonl", rows)),
            "meaning_only": True,
        },
        {"k": "3:4", "k_criterion": "bic"},
        [0, 1],
        0,
        None,
        update={"texts": str(write_lines(place / "new-texts.jsonl", new))},
    )


def noise(place):
    """Documents of three topics, and some that belong nowhere."""
    rows = documents({"law": 36, "food": 27, "sky": 18}, 8)
    rng = np.random.default_rng(9)
    for i in range(6):  # each has words of its own, and hardly one of a topic
        own = [f"{word}{'aeiouy'[i]}" for word in rng.choice(NOWHERE, 2)]
        rows.insert(
            11 * i, {"id": f"odd{i}", "text": " ".join([*own * 5, *NOWHERE[5 * i : 5 * i + 5] * 2])}
        )
    new = documents({"law": 8, "food": 6}, 10, prefix="n")
    new.append({"id": "n odd", "text": " ".join(NOWHERE[2:30:3] * 2)})
    return Case(
        "noise",
        write_lines(place / "noise.jsonl", rows),
        write_lines(place / "new.jsonl", new),
        {**OPTIONS, "k": 3, "max_steps": 30, "noise": "uniform", "max_noise": "0.1", "min_df": 1},
        {"max_noise": "0.02"},
        [0, 1],
        2,
        ["judge"],
        [one["text"] for one in rows],
    )


def several_sizes(place):
    """Five topics, and several numbers of groups to choose from."""
    sizes = {"sea": 34, "sky": 28, "food": 23, "law": 18, "music": 14}
    rows = documents(sizes, 11)
    new = documents({"sea": 9, "music": 8, "law": 5}, 12, prefix="n")
    return Case(
        "sizes",
        write_lines(place / "sizes.jsonl", rows),
        write_lines(place / "new.jsonl", new),
        {**OPTIONS, "k": "2:6", "max_steps": 20, "label": "topic"},
        {"k_criterion": "bic", "k": "2:5"},
        [1, 3],
        2,
        ["star", "window"],
        [one["text"] for one in rows],
    )


MAKERS = {
    "texts": plain_texts,
    "dated": dated_folder,
    "embeddings": embeddings,
    "noise": noise,
    "sizes": several_sizes,
}
