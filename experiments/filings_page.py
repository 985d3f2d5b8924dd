"""The page on filings and the full one, written from the result files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from experiments import filings_prose
from experiments.drawing import read
from experiments.filings_beside import CORPUS, K_RICC, MIN_COUNT
from experiments.filings_clusters import MODELS, clusters, others
from experiments.filings_models import PATH, smallest, turn
from experiments.filings_stories import EVENTS, told
from experiments.page import record, table

if TYPE_CHECKING:
    from pathlib import Path

ENDS = {
    "collapsed": "a component has lost its filings",
    "maximal_sparsity": "every prototype has one word left",
    "max_steps": "that number is reached",
}


def text(results: Path) -> str:
    """Write the page."""
    return filings_prose.PAGE.format(**_values(results))


def full(results: Path, drawn: str = "../../docs/figures") -> str:
    """Write all steps, with all figures and tables."""
    return filings_prose.FULL.format(**_values(results)).replace("(figures/", f"({drawn}/")


def _values(results: Path) -> dict[str, Any]:
    """Return what the pages quote."""
    corpus, number = read(results, "filings_corpus").iloc[0], _number(results)
    return dict(
        record=record(results, "filings"),
        processor=read(results, "filings_times")["processor_seconds"].sum() / 60,
        paper_corpus=CORPUS,
        rate=CORPUS // MIN_COUNT,
        n=int(corpus["filings"]),
        aside="none" if not corpus["set_aside"] else int(corpus["set_aside"]),
        cut=int(corpus["cut"]),
        longest=int(corpus["longest"]),
        before=int(corpus["words_before"]),
        words=int(corpus["words"]),
        first=corpus["first"][:4],
        last=corpus["last"][:4],
        **{name: int(corpus[name]) for name in ("nonzeros", "min_count", "min_df")},
        thresholds=_thresholds(results),
        **_events(results, int(corpus["filings"])),
        **_references(results),
        **number,
        **_sparsity(results),
        **clusters(results),
        **others(results, number["K"]),
        doubt=_doubt(results),
    )


def _thresholds(results: Path) -> str:
    rows = [
        (int(row.min_count), f"{int(row.words):,}", f"{row.sparsity:.1%}", f"{row.ari:.2f}")
        for row in read(results, "filings_thresholds").itertuples()
    ]
    return table(("least occurrences", "words", "sparsity", "ARI with the one below"), rows)


def _events(results: Path, n: int) -> dict[str, Any]:
    labels = pd.read_csv(results / "filings_labels.csv", dtype={"event": str})
    rows = [
        (row.event, EVENTS.get(row.event, ""), row.filings, f"{row.filings / n:.0%}")
        for row in labels.itertuples()
    ]
    exhibits = ""
    if labels["event"][0] == "9.01" and labels["filings"][0] > n / 2:
        exhibits = (
            "As in the paper, *Financial Statements and Exhibits* comes with most filings: it says "
            "that something is attached."
        )
    return {
        "exhibits": exhibits,
        "events": table(("item", "event", "filings", "share"), rows),
        "labels_per": labels["filings"].sum() / n,
        "n_events": len(labels),
    }


def _references(results: Path) -> dict[str, Any]:
    """Tell what the reference models are."""
    chosen = read(results, "filings_chosen").set_index("model")["K"]
    dense = read(results, "filings_dense")
    sizes = read(results, "filings_sizes")
    by_seed = dense.groupby("seed")
    spheres = [int(_of(one, "skmeans")["calinski_harabasz"].idxmax()) for _, one in by_seed]
    blocks = [int(_of(one, "dbmovmfs")["aic"].idxmin()) for _, one in by_seed]
    first = _of(dense.query("seed == 0"), "dbmovmfs")
    failed = [int(K) for K in first.index[first["converged"] == 0]]
    pair = read(results, "filings_common").query("model == 'skmeans'")
    crossed = pair.pivot_table("filings", "cluster", "other_cluster").astype(int)
    listed = {name: sizes[sizes["model"] == name]["size"] for name in ("skmeans", "dbmovmfs")}
    ari = read(results, "filings_agreement").set_index(["model", "other"])["ari"]
    widest = max(map(len, listed.values()))
    return {
        "low": dense["K"].min(),
        "high": dense["K"].max(),
        "starts": _starts(results),
        "seeds": len(spheres),
        "sk_K": chosen["skmeans"],
        "sk_seeds": ", whatever the seed" if len(set(spheres)) == 1 else f" ({_tally(spheres)})",
        "db_K": chosen["dbmovmfs"],
        "db_failed": _failed(failed, first, _starts(results)),
        "db_choices": _tally(blocks)
        + (": the luck of the starts matters more than K" if len(set(blocks)) > 1 else ""),
        "reference_sizes": table(
            ("", *range(1, widest + 1)),
            [
                (MODELS[name], *found, *["-"] * (widest - len(found)))
                for name, found in listed.items()
            ],
        ),
        "crossed": table(("", *crossed.columns), [(k, *row) for k, row in crossed.iterrows()]),
        "ari_references": ari["skmeans", "dbmovmfs"],
        "parted": _parted(results),
    }


def _parted(results: Path) -> str:
    """Say how the reference models part the clusters that are told further down."""
    sizes, common = read(results, "filings_sizes"), read(results, "filings_common")
    largest = sizes.groupby("model")["size"].max() / sizes.groupby("model")["size"].sum()
    said = ""
    if min(largest["skmeans"], largest["dbmovmfs"]) > 0.5:
        said = "In both, one cluster has most of the filings. "
    parts = []
    for name in ("skmeans", "dbmovmfs"):
        pair = common[(common["model"] == "sparse") & (common["other"] == name)]
        home = pair.loc[pair.groupby("cluster")["filings"].idxmax()].groupby("other_cluster")
        inside = {int(k): ", ".join(map(str, found["cluster"])) for k, found in home}
        listed = "; ".join(f"{found} in its cluster {k}" for k, found in inside.items())
        parts.append(f"{MODELS[name]} has the largest part of clusters {listed}")
    return f"{said}Of the clusters that are told further down, {', and '.join(parts)}."


def _starts(results: Path) -> int:
    """Return the number of starts: all of those of spherical k-means converge."""
    return int(read(results, "filings_dense").query("method == 'skmeans'")["converged"].max())


def _failed(failed: list[int], first: pd.DataFrame, starts: int) -> str:
    """Say how many starts of dbmovMFs fail."""
    numbers = {0: "none", 1: "one"}
    low, middle = first.index[0], first.index[len(first) // 2]
    runs = {K: int(first["converged"][K]) for K in (low, middle)}
    said = f"{runs[low]} of {starts} runs converge at K = {low}, "
    said += f"{numbers.get(runs[middle], runs[middle])} at K = {middle}"
    if failed:
        said += f", none at {len(failed)} of the {len(first)} candidates"
    return f"{said}; the others lose a component or its words."


def _number(results: Path) -> dict[str, Any]:
    """Tell how K was chosen."""
    dense = read(results, "filings_dense").query("method == 'shared'")
    each = [part for _, part in dense.groupby("seed")]
    Ks = list(each[0]["K"])
    minima = [smallest(list(one["K"]), list(one["ricc"])) for one in each]
    turns = [turn(list(one["K"]), list(one["ricc"])) for one in each]
    beyond = read(results, "filings_beyond")
    within = each[0]["ricc"].min()
    further = smallest(list(beyond["K"]), list(beyond["ricc"]))
    end = f"is smallest at K = {_tally(minima)}"
    said = f"{end}: the end of the range, or near it." if min(minima) > Ks[-1] * 0.7 else f"{end}."
    looked = f"Up to K = {beyond['K'].max()}, fitted once to see, it is smallest at K = {further}"
    looked += (
        ", and lower still: its smallest value chooses no K."
        if beyond["ricc"].min() < within
        else ", and no lower."
    )
    after = dense[dense["K"] >= turns[0]].groupby("K")["ricc"]
    fall = (after.mean().iloc[0] - after.mean().iloc[-1]) / max(1, len(after) - 1)
    return {
        "K": turns[0],
        "turns": _tally(turns),
        "paper_K": K_RICC,
        "ricc_end": said,
        "ricc_beyond": looked,
        "agreement_K": int(dense.groupby("K")["agreement"].mean().idxmax()),
        "smallest_K": minima[0],
        "fall": fall,
        "spread": after.std().mean(),
    }


def _sparsity(results: Path) -> dict[str, Any]:
    chosen = read(results, "filings_chosen").set_index("model")
    step = chosen.loc["sparse"]
    ari = read(results, "filings_agreement").set_index(["model", "other"])["ari"]
    return {
        "max_steps": PATH["max_steps"],
        "increase": PATH["min_relative_increase"],
        "steps": int(step["steps"]),
        "end": ENDS.get(step["end"], step["end"]),
        "step": int(step["step"]),
        "beta": step["beta"],
        "sparsity": step["sparsity"],
        "ari_dense": ari["sparse", "dense"],
        "kappa": step["kappa"],
        "kappa_smallest": chosen.loc["smallest", "kappa"],
    }


def _doubt(results: Path) -> str:
    """Warn of clusters that say more of the conversion of filings than of the bank."""
    titles = {found[0].title: k for k, found in told(results).items() if found}
    if not {"Slides for investors", "Covers of such slides"} <= set(titles):
        return ""
    return (
        f"- Clusters {titles['Slides for investors']} and {titles['Covers of such slides']} differ "
        "by what was converted to text, not by what the filings are about.\n"
    )


def _of(one: pd.DataFrame, method: str) -> pd.DataFrame:
    return one[one["method"] == method].set_index("K")


def _tally(values: list[int]) -> str:
    """Write values with how often they occur, the most frequent first."""
    counts = pd.Series(values).value_counts(sort=False)
    if len(counts) == 1:
        return str(values[0])
    order = sorted(counts.index, key=lambda value: (-counts[value], value))
    times = {1: "once", 2: "twice"}
    return ", ".join(f"{v} ({times.get(counts[v], f'{counts[v]} times')})" for v in order)
