"""What the summary of a run shows: its clusters as tables, and what to open next."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from spheremix.reading import Reading
from spheremix.run.columns import TABLES as SCHEMAS
from spheremix.run.files import FIGURES, LEGEND, PAGE
from spheremix.run.headline import feature_name
from spheremix.run.table import Table

if TYPE_CHECKING:
    from spheremix.reading import Group
    from spheremix.run.run import Run

LISTED = 8  # characteristic words of a cluster that are shown
ONLY_HERE = 5  # words only here that are shown
COMMON = 15  # words listed as those of all clusters
SHOWN = 5  # typical documents of a cluster that are named
QUOTED = 2  # those whose first words are shown
TABLES = {
    "dense": "criteria",
    "path": "steps of the path",
    "tree": "tree of groups",
    "typical": "typical documents",
    "contrast": "contrasts",
    "removed_words": "words left out",
    "labels": "labels",
    "time": "time",
}


class Shown(NamedTuple):
    """A table for people: headers, cells, and the numbers of the columns that end at the right."""

    headers: tuple[str, ...]
    rows: list[tuple[str, ...]]
    right: tuple[int, ...]


def cluster_tables(run: Run) -> list[Shown]:
    """Show clusters by their words, or embeddings by their documents and the words of those."""
    reading = Reading.from_run(run)
    clusters = reading.groups(n_listed=LISTED)
    if run.feature_names is None:
        return _embedded(run, clusters)
    return [_words(reading, clusters)]


def common_words(run: Run) -> list[str]:
    """Return the words that all clusters have, the heaviest first."""
    reading = Reading.from_run(run)
    if run.feature_names is None or len(reading.layout.groups) < 2:
        return []
    return list(reading.vocabulary.common_words(COMMON))


def what_to_open(run: Run) -> dict[str, str]:
    """List what a person may open, and what is in it."""
    tables = run.manifest.tables
    feature = feature_name(run)
    path = "" if run.path is None else ", path"
    criteria = ", criteria" if len(run.dense) > 1 else ""
    listed = {
        PAGE: "all of it on one page, which opens in any browser",
        f"{FIGURES}/": f"maps of prototypes and documents{path}{criteria}, to print",
        SCHEMAS["clusters"].file: f"size, name and {feature}s of every cluster",
        SCHEMAS["documents"].file: "the cluster of every document, how surely (certainty), and the "
        "runner-up",
        SCHEMAS["words"].file: f"every {feature} of every prototype",
        "tables/": ", ".join(what for name, what in TABLES.items() if name in tables),
        LEGEND: "what every column means",
    }
    return {
        **{str(run.folder / name): what for name, what in listed.items()},
        f"spheremix assign {run.folder} NEW": "clusters new documents",
    }


def _words(reading: Reading, clusters: list[Group]) -> Shown:
    """Show clusters by their words; without a penalty, only those that no document has are zero."""
    lists = {"characteristic words": [one.words[:LISTED] for one in clusters]}
    if reading.path is not None:
        lists["only here"] = [one.only_here_words[:ONLY_HERE] for one in clusters]
    rows = [
        (
            f"{one.size:,}",
            str(one.group),
            one.name,
            *(", ".join(word.word for word in each[i]) or "-" for each in lists.values()),
        )
        for i, one in enumerate(clusters)
    ]
    return Shown(("size", "cluster", "name", *lists), rows, (0, 1))


def _embedded(run: Run, clusters: list[Group]) -> list[Shown]:
    """Show embeddings by their documents, and by words of those: a coordinate is no word."""
    typical = run.read_table("typical") or Table(cluster=[], id=[], text=[])
    titles = typical.get("title") or [""] * typical.n_rows
    known = [name for name in ("date", "labels") if name in typical]
    found: dict[int, list[tuple[str, ...]]] = {}
    for i, k in enumerate(typical["cluster"]):
        names = (titles[i] or typical["id"][i], *(typical[name][i] for name in known))
        found.setdefault(k, []).append((*names, typical["text"][i]))
    if run.contrast() is None:
        column = "typical documents"
        what = [", ".join(name for name, *_ in found.get(k.group, [])[:SHOWN]) for k in clusters]
    else:
        column = "characteristic words of its texts"
        what = [", ".join(one.contrast_words) or "-" for one in clusters]
    named = run.names() is not None
    rows = [
        (f"{k.size:,}", str(k.group), *([k.name] if named else []), text)
        for k, text in zip(clusters, what, strict=True)
    ]
    shown = [Shown(("size", "cluster", *(["name"] if named else []), column), rows, (0, 1))]
    quoted = [
        (str(one.group), *document)
        for one in clusters
        for document in found.get(one.group, [])[:QUOTED]
    ]
    if any(text for *_, text in quoted):
        shown.append(Shown(("cluster", "typical document", *known, "begins"), quoted, (0,)))
    return shown
