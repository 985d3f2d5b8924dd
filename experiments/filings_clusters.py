"""What the page on filings says of the clusters, and of other models beside them."""

from __future__ import annotations

import calendar
from typing import TYPE_CHECKING, Any

from experiments.drawing import read
from experiments.filings_beside import beside
from experiments.filings_stories import event_table, month_table, told
from experiments.page import table

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

MODELS = {
    "skmeans": "Sk-means",
    "dbmovmfs": "dbmovMFs",
    "dense": "the dense mixture",
    "smallest": "the sparse mixture of the smallest RICc",
}
OWN, HEAVY = 5, 5  # words shown of a cluster
FRAME = {"astoria", "financial", "corporation", "registrant", "undersign", "hereunto"}


def clusters(results: Path) -> dict[str, str]:
    """Show the clusters: sizes, words, events, months, stories and excerpts."""
    every, words = read(results, "filings_clusters"), read(results, "filings_words")
    own = words[words["clusters"] == 1]
    rows = []
    for row in every.itertuples():
        lists = [part[part["cluster"] == row.cluster]["word"] for part in (own, words)]
        shown = [
            ", ".join(part.head(n)) or "-" for part, n in zip(lists, (OWN, HEAVY), strict=True)
        ]
        rows.append((row.cluster, row.size, row.words, row.own, *shown))
    header = ("cluster", "filings", "words", "own", "own words, the first", "all words, the first")
    common = words[words["clusters"] == len(every)].groupby("word")["weight"].sum()
    events = event_table(results, "sparse")
    months = month_table(results, "sparse").pivot_table(
        "filings", "cluster", "of_year", aggfunc="sum", fill_value=0
    )
    months = months.reindex(columns=range(1, 13), fill_value=0)
    names = [calendar.month_abbr[month] for month in months]
    listed = ", ".join(f"*{w}*" for w in common.sort_values(ascending=False).index)
    frame = ""
    if set(common.index) >= FRAME:
        frame = " Most are the name of the company or the frame of a filing."
    return {
        "clusters": table(header, rows),
        "common": f"{listed or 'none'}.{frame}",
        "cluster_events": table(("", *events.columns), _numbers(events)),
        "cluster_months": table(("", *names), _numbers(months)),
        "stories": _stories(results),
        "excerpts": _excerpts(results),
    }


def _numbers(counts: pd.DataFrame) -> list[tuple[Any, ...]]:
    return [(k, *(n or "" for n in row)) for k, row in counts.iterrows()]


def _stories(results: Path) -> str:
    """Tell what the clusters are, where a story holds."""
    lines = []
    for k, found in told(results).items():
        if found is None:
            lines.append(f"{k}. No story holds: see its words, events and months.")
        else:
            story, facts = found
            lines.append(f"{k}. **{story.title}.** {story.tell(facts)}")
    return "\n".join(lines)


def _excerpts(results: Path) -> str:
    quoted = []
    for row in read(results, "filings_excerpts").itertuples():
        codes = str(row.events).split()
        quoted.append(
            f"Cluster {row.cluster}, filed on {row.date} with item{'s'[: len(codes) - 1]} "
            f"{' and '.join(codes)}; cosine {row.cosine:.2f} with its prototype. What tells it "
            f"from cluster {row.rival}, the next in line, are above all the words "
            f"{', '.join(f'*{word}*' for word in str(row.terms).split())}.\n\n> {row.excerpt}"
        )
    return "\n\n".join(quoted)


def others(results: Path, K: int) -> dict[str, str]:
    """Compare with the other models, and with the paper."""
    ari = read(results, "filings_agreement")
    pairs = ari[(ari["model"] == "sparse") | (ari["other"] == "sparse")]
    rows = []
    for row in pairs.itertuples():
        other = row.other if row.model == "sparse" else row.model
        rows.append((MODELS[other], f"{row.ari:.2f}"))
    findings = beside(results, K)
    header = ("", "the paper, Wells Fargo", "here, Astoria Financial", "")
    return {
        "agreements": table(("model", "ARI"), rows),
        "nested": _nested(results),
        "beside": table(header, [finding.cells() for finding in findings]),
    }


def _nested(results: Path) -> str:
    """Say what more clusters bring: how they lie in ours, and which are of one event."""
    common = read(results, "filings_common").query("model == 'sparse' and other == 'smallest'")
    counts = common.pivot_table("filings", "cluster", "other_cluster")
    inside = counts.max().sum() / counts.to_numpy().sum()
    events = event_table(results, "smallest")
    sizes = read(results, "filings_sizes").query("model == 'smallest'").set_index("cluster")["size"]
    pure = {}
    for event in [e for e in sorted(events) if e not in {"8.01", "9.01"}]:
        of_event = sizes[events[event] == sizes]
        if len(of_event):
            listed = ", ".join(str(k) for k in of_event.index)
            pure[event] = f"item {event} (cluster {listed}, {of_event.sum()} filings)"
    said = (
        f"With K = {len(sizes)} the clusters are parts of the {len(counts)} above, as far as "
        f"{inside:.0%} of the filings: so many are where the largest part of their cluster is. The "
        f"smallest has {sizes.min()} filings."
    )
    if pure:
        said += (
            " Some of them are of one event through and through, leaving items 8.01 and 9.01 "
            f"aside: {', '.join(pure.values())}."
        )
    if "5.07" in pure:
        said += " The paper, too, has a cluster of nothing but votes (item 5.07)."
    return said
