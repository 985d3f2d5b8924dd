"""The summary of a run: clusters, sizes, words, and what to open next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spheremix.cli.console import say, table
from spheremix.explore import Reading

if TYPE_CHECKING:
    from spheremix.explore import Cluster
    from spheremix.io import Run

COMMON = 15  # words listed as those of all clusters


def summarise(run: Run) -> None:
    """Print what was found."""
    reading = Reading(run.mixture if run.path is None else run.path, run.feature_names)
    info = run.info
    say()
    say(_headline(run), bold=True)
    corpus = info.get("corpus", {})
    aside = corpus.get("n_set_aside", 0)
    if aside:
        say(
            f"{aside:,} of {corpus['n_documents']:,} documents set aside: see set_aside in "
            "documents.csv."
        )
    say()
    clusters = reading.clusters(n_listed=8)
    if run.feature_names is None:
        _typical(run, clusters)
    else:
        _words(clusters)
        common = reading.vocabulary.common_words(COMMON)
        if common and len(clusters) > 1:
            say()
            say(f"Words of all clusters: {', '.join(common)}")
    if run.path is not None and run.path.status_ in {"collapsed", "vanished"}:
        say()
        say(
            f"The path ended after {len(run.path.betas_)} steps, when a cluster "
            f"{run.path.status_}: words still there have an exit_beta of inf."
        )
    if len(run.dense) > 1 and len(clusters) == max(run.dense):
        say()
        say(
            f"The largest number of clusters was chosen: try more, with --k {len(clusters)}:"
            f"{2 * len(clusters)}."
        )
    agreement = info.get("agreement")
    if agreement:
        say()
        say(
            f"Against the labels: ARI {agreement['ari']:.3f}, NMI {agreement['nmi']:.3f} "
            f"({agreement['n_documents']:,} documents)."
        )
    say()
    say("Open next:")
    listed = {
        "documents.csv": "the cluster of every document, how surely, and the runner-up",
        "words.csv": "every word of every cluster",
        "tables/": "criteria, steps of the path, typical documents"
        + "".join(
            f", {what}"
            for name, what in (("labels", "labels"), ("time", "time"))
            if name in info.get("tables", {})
        ),
    }
    listed[f"spheremix assign {run.folder} NEW"] = "clusters new documents"
    for name, what in listed.items():
        say(f"  {name if ' ' in name else run.folder / name}: {what}")


def _headline(run: Run) -> str:
    """Say in a line what was clustered, and how the model was chosen."""
    mixture, options = run.mixture, run.info.get("command", {})
    n = len(mixture.labels_)
    what = "words" if run.feature_names is not None else "columns"
    parts = [f"{n:,} document{'' if n == 1 else 's'}", f"{mixture.n_features_in_:,} {what}"]
    by = f" (of {len(run.dense)}, by {str(options.get('k_criterion', '')).upper()})"
    parts.append(f"K = {len(mixture.weights_)}{by if len(run.dense) > 1 else ''}")
    if run.path is not None:
        sparsity = run.path.sparsity_[run.path.selected_]
        parts.append(f"beta = {mixture.beta:.4g} ({run.path.criterion.upper()})")
        parts.append(f"sparsity {sparsity:.0%}".replace("%", " %"))
    return " . ".join(parts)


def _words(clusters: list[Cluster]) -> None:
    rows = [
        (
            f"{one.size:,}",
            str(one.cluster),
            ", ".join(word.word for word in one.own_words) or "-",
            ", ".join(word.word for word in one.shared_words[:5]) or "-",
        )
        for one in clusters
    ]
    table(("size", "cluster", "own words", "shared words"), rows, right=(0, 1))


def _typical(run: Run, clusters: list[Cluster]) -> None:
    """Show embeddings by their documents: a coordinate is no word."""
    typical = run.info.get("typical", {})
    rows = [
        (f"{one.size:,}", str(one.cluster), ", ".join(typical.get(str(one.cluster), [])))
        for one in clusters
    ]
    table(("size", "cluster", "typical documents"), rows, right=(0, 1))
