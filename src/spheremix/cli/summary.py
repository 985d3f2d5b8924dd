"""The summary of a run: clusters, sizes, words, and what to open next."""

from __future__ import annotations

import webbrowser
from typing import TYPE_CHECKING

from spheremix.cli.console import remark, say, table
from spheremix.cli.naming import option_name
from spheremix.reading import Reading
from spheremix.run.columns import FIGURES, PAGE
from spheremix.run.remarks import feature_name, headline, remarks
from spheremix.run.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    from spheremix.reading import Cluster
    from spheremix.run.run import Run

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


def summarise(run: Run, *, open_page: bool = False) -> None:
    """Print what was found, and open the report where that was asked."""
    reading = Reading.from_run(run)
    say()
    say(headline(run), bold=True)
    say()
    clusters = reading.clusters(n_listed=8)
    if run.feature_names is None:
        _embedded(run, clusters)
    else:
        _words(reading, clusters)
        common = reading.vocabulary.common_words(COMMON)
        if common and len(clusters) > 1:
            say()
            say(f"Words of all clusters: {', '.join(common)}")
    for message in remarks(run):
        say()
        say(message.render(option_name))
    _open_next(run)
    if open_page:
        show_page(run)


def show_page(run: Run, page: Path | None = None) -> None:
    """Open the report in the browser, where there is one."""
    path = page or run.folder / PAGE
    if not webbrowser.open(path.resolve().as_uri()):
        remark(f"no browser was found: open {path}.")


def _open_next(run: Run) -> None:
    """List what a person may open, and what is in it."""
    say()
    say("Open next:")
    tables = run.manifest.tables
    feature = feature_name(run)
    path = "" if run.path is None else ", path"
    criteria = ", criteria" if len(run.dense) > 1 else ""
    listed = {
        PAGE: "all of it on one page, which opens in any browser",
        f"{FIGURES}/": f"maps of prototypes and documents{path}{criteria}, to print",
        "clusters.csv": f"size, name and {feature}s of every cluster",
        "documents.csv": "the cluster of every document, how surely (certainty), and the runner-up",
        "words.csv": f"every {feature} of every prototype",
        "tables/": ", ".join(what for name, what in TABLES.items() if name in tables),
        "README.txt": "what every column means",
        f"spheremix assign {run.folder} NEW": "clusters new documents",
    }
    for name, what in listed.items():
        say(f"  {name if ' ' in name else run.folder / name}: {what}")


def _words(reading: Reading, clusters: list[Cluster]) -> None:
    """Show clusters by their words; without a penalty, only those that no document has are zero."""
    lists = {"characteristic words": [one.words[:8] for one in clusters]}
    if reading.path is not None:
        lists["only here"] = [one.only_here_words[:5] for one in clusters]
    rows = [
        (
            f"{one.size:,}",
            str(one.cluster),
            one.name,
            *(", ".join(word.word for word in each[i]) or "-" for each in lists.values()),
        )
        for i, one in enumerate(clusters)
    ]
    table(("size", "cluster", "name", *lists), rows, right=(0, 1))


def _embedded(run: Run, clusters: list[Cluster]) -> None:
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
        what = [", ".join(name for name, *_ in found.get(k.cluster, [])[:SHOWN]) for k in clusters]
    else:
        column = "characteristic words of its texts"
        what = [", ".join(one.contrast_words) or "-" for one in clusters]
    named = run.names() is not None
    rows = [
        (f"{k.size:,}", str(k.cluster), *([k.name] if named else []), text)
        for k, text in zip(clusters, what, strict=True)
    ]
    table(("size", "cluster", *(["name"] if named else []), column), rows, right=(0, 1))
    quoted = [
        (str(one.cluster), *document)
        for one in clusters
        for document in found.get(one.cluster, [])[:QUOTED]
    ]
    if any(text for *_, text in quoted):
        say()
        table(("cluster", "typical document", *known, "begins"), quoted, right=(0,))
