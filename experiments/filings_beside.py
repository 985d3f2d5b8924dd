"""What the paper reports of its own bank, beside what is found here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.drawing import read
from experiments.filings_stories import event_table

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

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
        """Return a row of the table; nothing is said where there is nothing to agree on."""
        verdict = {None: "", True: "same", False: "differs"}[self.same]
        return self.what, self.paper, self.here, verdict


def beside(results: Path, turn: int) -> list[Beside]:
    """Return the comparison, finding by finding."""
    return [
        *_filings(results),
        *_references(results),
        *_choice(results, turn),
        *_against_references(results),
        *_clusters(results),
    ]


def _filings(results: Path) -> list[Beside]:
    """Compare the filings themselves."""
    corpus = read(results, "filings_corpus").iloc[0]
    n = int(corpus["filings"])
    totals = event_table(results, "sparse").sum().sort_values(ascending=False)
    return [
        Beside("filings and words", f"{ROWS} and {COLUMNS:,}", f"{n} and {int(corpus['words']):,}"),
        Beside("events that occur", str(EVENTS), str(len(totals))),
        Beside(
            "the most frequent event",
            f"9.01, {EXHIBITS / ROWS:.0%}",
            f"{totals.index[0]}, {totals.iloc[0] / n:.0%}",
            totals.index[0] == "9.01",
        ),
    ]


def _references(results: Path) -> list[Beside]:
    """Compare what the reference models find."""
    n = int(read(results, "filings_corpus").iloc[0]["filings"])
    K = read(results, "filings_chosen").set_index("model")["K"]
    sizes = read(results, "filings_sizes").groupby("model")["size"].max()
    shares = {name: sizes[name] / n for name in LARGEST}
    ari = _ari(results)["skmeans", "dbmovmfs"]
    return [
        Beside(
            "K of Sk-means by Calinski-Harabasz",
            str(K_SPHERES),
            str(K["skmeans"]),
            K["skmeans"] == K_SPHERES,
        ),
        Beside(
            "K of dbmovMFs by AIC",
            str(K_BLOCKS),
            str(K["dbmovmfs"]),
            K["dbmovmfs"] == K_BLOCKS,
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
            f"{ari:.2f}",
            ari > ARI_REFERENCES,
        ),
    ]


def _choice(results: Path, turn: int) -> list[Beside]:
    """Compare K, beta and sparsity of the sparse mixture that is chosen."""
    chosen = read(results, "filings_chosen").set_index("model")
    smallest, step = chosen["K"]["smallest"], chosen.loc["sparse"]
    ends = int(read(results, "filings_dense")["K"].max())
    where = ", the end of the range" if smallest == ends else ""
    return [
        Beside(
            "K by the smallest RICc",
            str(K_RICC),
            f"{smallest}{where}; it first turns at {turn}",
            not where and smallest == K_RICC,
        ),
        Beside(
            "beta and sparsity of the chosen step",
            f"{BETA:,.1f} and {SPARSITY:.1%}",
            f"{step['beta']:,.1f} and {step['sparsity']:.1%} (beta goes with the number of rows)",
            abs(step["sparsity"] - SPARSITY) < 0.05,
        ),
    ]


def _against_references(results: Path) -> list[Beside]:
    """Compare how far the sparse mixture agrees with the reference models."""
    ari = _ari(results)
    sparse = [ari[name, "sparse"] for name in ("dbmovmfs", "skmeans")]
    alike = read(results, "filings_common").query("model == 'sparse' and other == 'dbmovmfs'")
    closest = alike["similarity"].max()
    return [
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
    ]


def _clusters(results: Path) -> list[Beside]:
    """Compare the clusters of the sparse mixture and their words."""
    clusters, words = read(results, "filings_clusters"), read(results, "filings_words")
    silent = int((clusters["own"] == 0).sum())
    common = words.loc[words["clusters"] == len(clusters)].groupby("word")["weight"].sum()
    first = common.sort_values(ascending=False).index[: len(COMMON)]
    return [
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


def _ari(results: Path) -> pd.Series:
    """Return the ARI of each pair of models."""
    return read(results, "filings_agreement").set_index(["model", "other"])["ari"]
