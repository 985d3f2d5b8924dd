"""What the paper reports of its own bank, beside what is found here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.drawing import read
from experiments.filings_stories import event_table

if TYPE_CHECKING:
    from pathlib import Path

# Section 6, as printed
CORPUS, MIN_COUNT = 37_238, 100
ROWS, COLUMNS = 672, 4377
EVENTS, EXHIBITS = 7, 658
K_BLOCKS, K_SPHERES, K_RICC = 3, 2, 14
LARGEST = {"dbmovmfs": 597, "skmeans": 570}
ARI_REFERENCES, ARI_SPARSE = 0.80, 0.09
BETA, SPARSITY = 1072.253, 0.8216
WITHOUT_OWN = 2
COMMON = ("security", "company", "any", "well", "fargo")
SMALLEST, BIGGEST = 4, 156


@dataclass(frozen=True)
class Beside:
    """A finding of the paper, ours, and whether they are the same."""

    what: str
    paper: str
    here: str
    same: bool | None = None

    def cells(self) -> tuple[str, str, str, str]:
        """Give a row of the table; nothing is said where there is nothing to agree on."""
        verdict = {None: "", True: "same", False: "differs"}[self.same]
        return self.what, self.paper, self.here, verdict


def beside(results: Path, turn: int) -> list[Beside]:
    """Give the comparison, finding by finding."""
    corpus = read(results, "filings_corpus").iloc[0]
    chosen = read(results, "filings_chosen").set_index("model")
    clusters, words = read(results, "filings_clusters"), read(results, "filings_words")
    sizes = read(results, "filings_sizes").groupby("model")["size"].max()
    n = int(corpus["filings"])
    totals = event_table(results, "sparse").sum().sort_values(ascending=False)
    ari = read(results, "filings_agreement").set_index(["model", "other"])["ari"]
    references = ari["skmeans", "dbmovmfs"]
    sparse = [ari[name, "sparse"] for name in ("dbmovmfs", "skmeans")]
    alike = read(results, "filings_common").query("model == 'sparse' and other == 'dbmovmfs'")
    closest = alike["similarity"].max()
    shares = {name: sizes[name] / n for name in LARGEST}
    ends = int(read(results, "filings_dense")["K"].max())
    silent = int((clusters["own"] == 0).sum())
    common = words.loc[words["clusters"] == len(clusters)].groupby("word")["weight"].sum()
    first = common.sort_values(ascending=False).index[: len(COMMON)]
    step = chosen.loc["sparse"]
    where = ", the end of the range" if chosen["K"]["smallest"] == ends else ""
    return [
        Beside("filings and words", f"{ROWS} and {COLUMNS:,}", f"{n} and {int(corpus['words']):,}"),
        Beside("events that occur", str(EVENTS), str(len(totals))),
        Beside(
            "the most frequent event",
            f"9.01, {EXHIBITS / ROWS:.0%}",
            f"{totals.index[0]}, {totals.iloc[0] / n:.0%}",
            totals.index[0] == "9.01",
        ),
        Beside(
            "K of Sk-means by Calinski-Harabasz",
            str(K_SPHERES),
            str(chosen["K"]["skmeans"]),
            chosen["K"]["skmeans"] == K_SPHERES,
        ),
        Beside(
            "K of dbmovMFs by AIC",
            str(K_BLOCKS),
            str(chosen["K"]["dbmovmfs"]),
            chosen["K"]["dbmovmfs"] == K_BLOCKS,
        ),
        Beside(
            "share of the largest cluster, Sk-means and dbmovMFs",
            f"{LARGEST['skmeans'] / ROWS:.0%} and {LARGEST['dbmovmfs'] / ROWS:.0%}",
            f"{shares['skmeans']:.0%} and {shares['dbmovmfs']:.0%}",
            min(shares.values()) > 0.5,
        ),
        Beside(
            "ARI between the two",
            f"above {ARI_REFERENCES:.2f}",
            f"{references:.2f}",
            references > ARI_REFERENCES,
        ),
        Beside(
            "K by the smallest RICc",
            str(K_RICC),
            f"{chosen['K']['smallest']}{where}; it first turns at {turn}",
            not where and chosen["K"]["smallest"] == K_RICC,
        ),
        Beside(
            "beta and sparsity of the chosen step",
            f"{BETA:,.1f} and {SPARSITY:.1%}",
            f"{step['beta']:,.1f} and {step['sparsity']:.1%} (beta goes with the number of rows)",
            abs(step["sparsity"] - SPARSITY) < 0.05,
        ),
        Beside(
            "ARI of the sparse mixture with dbmovMFs and Sk-means",
            f"below {ARI_SPARSE:.2f}",
            f"{sparse[0]:.2f} and {sparse[1]:.2f}: low too, but not so low"
            if max(sparse) < 0.3
            else f"{sparse[0]:.2f} and {sparse[1]:.2f}",
            max(sparse) < ARI_SPARSE,
        ),
        Beside(
            "a cluster that dbmovMFs finds too",
            "one, identical",
            "one, identical"
            if closest == 1.0
            else f"none; the nearest two share {closest:.0%} of their filings",
            closest == 1.0,
        ),
        Beside(
            "clusters without a word of their own",
            f"{WITHOUT_OWN} of {K_RICC}",
            f"{silent} of {len(clusters)}",
            silent > 0,
        ),
        Beside(
            "words of all clusters, the first",
            ", ".join(COMMON),
            ", ".join(first),
            {"security", "company"} <= set(common.index),
        ),
        Beside(
            "smallest and largest cluster",
            f"{SMALLEST} and {BIGGEST}",
            f"{clusters['size'].min()} and {clusters['size'].max()}",
        ),
    ]
