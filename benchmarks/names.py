"""The names of groups, on six corpora of four kinds, before and after; judged blind.

``python benchmarks/names.py explore WORK`` makes the runs, in the folder WORK; it needs the folder
of real data, named by SPHEREMIX_DATA. ``names VERSION WORK`` names the groups of these runs with
the code that is imported, so that two versions name the same groups, and adds the names to
``benchmarks/results/names.json``. ``sheet SHEET`` writes each group with its typical titles and
its two names in an order that a seed shuffles, for readers who do not know which is which;
``judge ANSWERS`` adds what they answered to the figures, and ``table`` writes ``names.md``.

A reader answers G, S or B for each of the two names: good (one would keep it), so-so, bad (it
misleads, or has no subject).
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from pathlib import Path

from timing import DATA, ROOT

import spheremix as sm
from spheremix.text import Corpus

FIGURES = ROOT / "benchmarks" / "results" / "names.json"
VERSIONS = ("before", "after")
SEED = 20261118
NOTE = (
    "Good: one would keep it. Bad: it misleads, or has no subject. One reader, who also wrote the "
    "rules, judged pairs in random order, without capitals and dots, by three typical texts."
)
WORDS = 14  # of a typical document that are shown
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


def add_names(version: str, work: Path) -> None:
    """Add the names that the imported code gives to the groups of the runs."""
    figures = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {}
    for name in CORPORA:
        run = sm.load_run(work / name)
        typical = run.read_table("typical")
        shown: dict[int, list[str]] = {}
        texts = dict(zip(run.rows.corpus.ids, run.rows.corpus.texts, strict=True))
        for k, one in zip(typical["group"], typical["id"], strict=True):
            text = one if name == "docstrings" else " ".join(texts[str(one)].split()[:WORDS])
            shown.setdefault(k, []).append(text)
        groups = figures.setdefault(name, {})
        for one in run.reading.groups():
            about = {"size": one.size, "titles": shown[one.group][:3]}
            group = groups.setdefault(str(one.group), about)
            if group["size"] != one.size:
                raise SystemExit(f"{name}: the groups are others than those that were named before")
            group[version] = one.name
    write(figures)


def write(figures: dict) -> None:
    """Keep the figures."""
    FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", "utf-8")


def shuffled(figures: dict) -> list[tuple[str, str, list[str]]]:
    """Return the groups in a random order, and the versions of each in a random order."""
    draw = random.Random(SEED)  # noqa: S311 (no secret)
    found = [(name, k, list(VERSIONS)) for name in figures for k in figures[name]]
    draw.shuffle(found)
    for _, _, versions in found:
        draw.shuffle(versions)
    return found


def write_sheet(path: Path) -> None:
    """Write what readers see: names without capitals and dots, which would tell who made them."""
    figures = json.loads(FIGURES.read_text("utf-8"))
    lines = []
    for i, (name, k, versions) in enumerate(shuffled(figures)):
        one = figures[name][k]
        lines += [f"{i} {CORPORA[name][0]}", *(f"    {title}" for title in one["titles"])]
        lines += [f"  {one[version].lower().replace(' · ', ' ')}" for version in versions]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def take_answers(path: Path) -> None:
    """Add the answers of readers: a line a group, its number and two letters."""
    figures = json.loads(FIGURES.read_text("utf-8"))
    order = shuffled(figures)
    answers = [line.split() for line in path.read_text("utf-8").splitlines() if line.strip()]
    if sorted(int(i) for i, _ in answers) != list(range(len(order))):
        raise SystemExit("There must be one line for each group.")
    for i, letters in answers:
        name, k, versions = order[int(i)]
        for version, letter in zip(versions, letters, strict=True):
            figures[name][k][f"{version}_judged"] = {"G": "good", "S": "so-so", "B": "bad"}[letter]
    write(figures)


def write_table() -> None:
    """Write the shares of good and bad names, and all names."""
    figures = json.loads(FIGURES.read_text("utf-8"))
    tuned = [name for name in figures if CORPORA[name][2]]
    others = [name for name in figures if not CORPORA[name][2]]
    parts = {name: [name] for name in figures}
    parts |= {"the rules were made with these": tuned, "these were left aside": others}
    parts |= {"all": list(figures)}
    lines = ["# Names of groups", "", *(__doc__ or "").split("\n\n")[0].split("\n"), ""]
    lines += ["| | names | good before | after | bad before | after |", "|---|---|---|---|---|---|"]
    for called, names in parts.items():
        groups = [one for name in names for one in figures[name].values()]
        row = [
            f"{sum(one[f'{version}_judged'] == grade for one in groups) / len(groups):.0%}"
            for grade in ("good", "bad")
            for version in VERSIONS
        ]
        kind = f"{called}, {CORPORA[called][0]}" if called in CORPORA else f"**{called}**"
        lines.append(f"| {kind} | {len(groups)} | {' | '.join(row)} |")
    lines += ["", NOTE, f"Seed of the order: {SEED}.", ""]
    for name, groups in figures.items():
        lines += [f"## {name}", "", "| size | before | | after | | typical |"]
        lines += ["|---|---|---|---|---|---|"]
        for one in sorted(groups.values(), key=lambda one: -one["size"]):
            shown = "; ".join(" ".join(title.split()[:8]) for title in one["titles"]).replace(
                "|", "/"
            )
            cells = [one[v] for version in VERSIONS for v in (version, f"{version}_judged")]
            lines.append(f"| {one['size']:,} | {' | '.join(cells)} | {shown} |")
        lines.append("")
    FIGURES.with_suffix(".md").write_text("\n".join(lines), "utf-8")


def main() -> None:
    """Do what the command asks."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("verb", choices=["explore", "names", "sheet", "judge", "table"])
    parser.add_argument("arguments", nargs="*")
    asked = parser.parse_args()
    given = asked.arguments
    if asked.verb == "explore":
        for name in given[1:] or CORPORA:
            explore(name, Path(given[0]))
    elif asked.verb == "names":
        add_names(given[0], Path(given[1]))
    elif asked.verb == "sheet":
        write_sheet(Path(given[0]))
    elif asked.verb == "judge":
        take_answers(Path(given[0]))
    else:
        write_table()


if __name__ == "__main__":
    main()
