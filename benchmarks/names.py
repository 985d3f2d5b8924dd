"""The names of groups, on six corpora of four kinds, before and after; judged blind.

``python benchmarks/names.py explore WORK`` makes the runs, in the folder WORK; it needs the folder
of real data, named by SPHEREMIX_DATA. ``names VERSION WORK`` names the groups of these runs with
the code that is imported, so that two versions name the same groups, and adds the names to
``benchmarks/results/names.json``. ``sheet SHEET`` writes each group with its typical titles and
its two names in an order that a seed shuffles, for readers who do not know which is which;
``judge SHEET ANSWERS`` adds what they answered to the figures, and ``table`` writes ``names.md``.

A reader answers G, S or B for each of the two names: good (one would keep it), so-so, bad (it
misleads, or has no subject).
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

from timing import DATA, ROOT

import spheremix as sm
from spheremix.text import Corpus

FIGURES = ROOT / "benchmarks" / "results" / "names.json"
# The corpora, the number of groups, and whether the rules were made with an eye on them.
CORPORA = {
    "docstrings": ("technical texts", 22, True),
    "stackoverflow": ("titles", 20, True),
    "filings": ("filings, by passages", 25, True),
    "bbc": ("news", 18, False),
    "speeches": ("speeches, by passages", 30, False),
    "minilm_bbc": ("news, by embeddings", 20, False),
}


def texts_of(folder: str) -> tuple[list[str], list[str]]:
    """Return the texts of a corpus and their ids."""
    with gzip.open(DATA / folder / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    found = [one for one in found if one["text"].strip()]
    return [one["text"] for one in found], [str(one["id"]) for one in found]


def explore(name: str, work: Path) -> None:
    """Make the run of a corpus; one that is there is left alone."""
    K = CORPORA[name][1]
    how = {"k": K, "seed": 0, "starts": 3, "min_relative_increase": 0.15}
    out = work / name
    if name == "docstrings":
        sm.explore_corpus(sm.datasets.load_docstrings(), out, **how)
    elif name == "stackoverflow":
        with gzip.open(DATA / "short" / "stackoverflow.tsv.gz", "rt", encoding="utf-8") as lines:
            titles = [line.rstrip("\n").split("\t", 1)[1] for line in lines]
        sm.explore_corpus(titles, out, **how)
    elif name == "minilm_bbc":
        texts = DATA / "bbc_news" / "docs.jsonl.gz"
        path = work / "bbc.jsonl"
        path.write_bytes(gzip.decompress(texts.read_bytes()))
        matrix = DATA / name / "embeddings.npy"
        sm.explore_corpus(matrix, out, texts=path, text="text", id="id", label=["label"], **how)
    else:
        folder, split = {
            "bbc": ("bbc_news", "none"),
            "filings": ("sec8k_stanford", "80"),
            "speeches": ("bank_speeches", "80"),
        }[name]
        texts, ids = texts_of(folder)
        corpus = Corpus(texts, [f"{i}-{one}" for i, one in enumerate(ids)])
        sm.explore_corpus(corpus, out, split=split, **how)


def main() -> None:
    """Do what the command asks."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("verb", choices=["explore", "names", "sheet", "judge", "table"])
    parser.add_argument("arguments", nargs="*")
    asked = parser.parse_args()
    if asked.verb == "explore":
        for name in asked.arguments[1:] or CORPORA:
            explore(name, Path(asked.arguments[0]))


if __name__ == "__main__":
    main()
