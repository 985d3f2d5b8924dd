"""Section 6 re-told on the filings of another bank: `python -m experiments.filings`.

A case is one seed: dense models of every candidate K. The first one goes on: it chooses models,
follows the path, and gives the tables the page is written from. The command then draws the figures
and writes the page.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import spheremix as sm
from experiments import filings_figures, filings_page, runner
from experiments.filings_excerpts import excerpts
from experiments.filings_models import (
    CRITERIA,
    candidates,
    filings,
    follow,
    place,
    references,
    search,
    smallest,
    turn,
)
from spheremix.reading import agreement, align_partitions, contingency, timeline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from experiments.filings_models import Chosen, Filings, Search
    from experiments.runner import Case, Row, Tables

NAME = "filings"
VERSION = 3
SEEDS = "case i draws its starts with random_state i, the same rows for every method"
FULL = 5  # seeds
STARTS = 50
CANDIDATES = range(2, 21)
BEYOND = range(25, 46, 5)  # looked at once, to see whether the RICc turns at all
THRESHOLDS = (1, 5, 10)  # least occurrences of a word
DOCS = Path(__file__).resolve().parents[1] / "docs"


def cases(scale: float) -> list[Case]:
    """Return one case a seed, the one that is analysed first."""
    sketch = runner.is_sketch(scale, FULL)
    size = {
        "Ks": list(range(2, 7)) if sketch else list(CANDIDATES),
        "beyond": [8] if sketch else list(BEYOND),
        "n_init": 5 if sketch else STARTS,
        "corpus": hashlib.sha256(place().read_bytes()).hexdigest(),
    }
    return [{"seed": seed} | size for seed in range(runner.repetitions(scale, FULL))]


def solve(case: Case) -> Tables:
    """Fit the dense models of one seed, and analyse those of the first one."""
    begin = time.process_time()
    data = filings()
    found = search(data.rows, case["Ks"], case["n_init"], case["seed"])
    tables = {"dense": candidates(found, case["seed"])}
    if not case["seed"]:
        tables |= _analysis(data, found, case)
    # Unlike the time on the clock, it does not depend on what else the machine does.
    spent = {"seed": case["seed"], "processor_seconds": round(time.process_time() - begin, 1)}
    return tables | {"times": [spent]}


def _analysis(data: Filings, found: Search, case: Case) -> Tables:
    """Choose models and read them."""
    chosen = references(found)
    ricc = found.mixtures.dense_criteria_["ricc"]
    dense = found.mixtures.dense_models_
    chosen["sparse"], reading = follow(data, dense[turn(case["Ks"], ricc)])
    chosen["smallest"], _ = follow(data, dense[smallest(case["Ks"], ricc)])
    return {
        "corpus": [_corpus(data)],
        "labels": _labels(data),
        "beyond": _beyond(data, case),
        "chosen": [_chosen(name, model) for name, model in chosen.items()],
        "sizes": [
            {"model": name, "cluster": k + 1, "size": size}
            for name, model in chosen.items()
            for k, size in enumerate(model.sizes)
        ],
        "agreement": _agreement(chosen, dense[chosen["sparse"].K].labels_),
        "common": _common(chosen),
        "path": _path(chosen["sparse"].model),
        "clusters": _clusters(chosen["sparse"], reading, data),
        "words": _words(chosen["sparse"], reading),
        "events": [row for name in chosen for row in _events(name, chosen[name], data)],
        "months": [row for name in chosen for row in _months(name, chosen[name], data)],
        "thresholds": list(_thresholds(chosen["sparse"], case["n_init"])),
        "excerpts": excerpts(data, chosen["sparse"], reading),
    }


def _corpus(data: Filings) -> Row:
    lengths = np.array([len(text) for text in data.corpus.texts])
    vectorizer, dates = data.vectorized.vectorizer, sorted(data.corpus.dates or ())
    return {
        "filings": len(data.corpus),
        "set_aside": len(data.vectorized.set_aside),
        "first": str(dates[0]),
        "last": str(dates[-1]),
        "longest": lengths.max(),
        "cut": int(np.sum(lengths == lengths.max())),
        "words_before": vectorizer.n_words_,
        "words": len(data.vectorized.words),
        "nonzeros": data.vectorized.X.nnz,
        "min_count": vectorizer.min_count_,
        "min_df": vectorizer.min_df_,
    }


def _labels(data: Filings) -> list[Row]:
    """Count the events: one cluster of all filings."""
    found = contingency(np.zeros(len(data.corpus), dtype=int), data.events)
    return [
        {"event": label, "filings": n}
        for label, n in zip(found.labels, found.label_sizes, strict=True)
    ]


def _beyond(data: Filings, case: Case) -> list[Row]:
    """Look at the criteria beyond the candidates."""
    start = {"init": "random", "n_init": case["n_init"]}
    start |= {"random_state": case["seed"], "n_threads": 1}
    study = sm.VMFMixtureIC(case["beyond"], max_steps=1, **start).fit(data.rows)
    return [
        {"K": int(K)} | {name: study.dense_criteria_[name][i] for name in CRITERIA}
        for i, K in enumerate(study.candidates_)
    ]


def _chosen(name: str, chosen: Chosen) -> Row:
    model, row = chosen.model, {"model": name, "K": chosen.K}
    path = hasattr(model, "betas_")
    i = model.selected_ if path else 0
    return row | {
        "steps": len(model.betas_) if path else 0,
        "end": model.status_,
        "step": i,
        "beta": model.betas_[i] if path else np.nan,
        "sparsity": model.sparsity_[i] if path else np.nan,
        "kappa": model.kappas_[i][0] if path else np.nan,
    }


def _agreement(chosen: dict[str, Chosen], dense: Any) -> list[Row]:
    labels = {name: model.labels for name, model in chosen.items()} | {"dense": dense}
    names = list(labels)
    return [
        {"model": one, "other": other, "ari": agreement(labels[one], labels[other]).ari}
        for i, one in enumerate(names)
        for other in names[i + 1 :]
    ]


def _common(chosen: dict[str, Chosen]) -> list[Row]:
    """Count the filings that clusters of two models have in common."""
    rows = []
    pairs = [("skmeans", "dbmovmfs")] + [("sparse", name) for name in chosen if name != "sparse"]
    for one, other in pairs:
        old, new = chosen[one], chosen[other]
        similar = align_partitions(old.labels, new.labels, n_before=old.K, n_after=new.K)
        table = contingency(old.labels, new.labels.tolist(), n_groups=old.K)
        places = {label: j for j, label in enumerate(table.labels)}
        rows += [
            {
                "model": one,
                "other": other,
                "cluster": k + 1,
                "other_cluster": j + 1,
                "filings": table.counts[k, places[j]] if j in places else 0,
                "similarity": similar.similarities[k, j],
            }
            for k in range(old.K)
            for j in range(new.K)
        ]
    return rows


def _path(path: Any) -> list[Row]:
    return [
        {
            "step": i,
            "beta": path.betas_[i],
            "sparsity": path.sparsity_[i],
            "nonzeros": path.n_nonzero_[i],
            "log_likelihood": path.log_likelihoods_[i],
            **{name: path.criteria_[name][i] for name in CRITERIA},
        }
        for i in range(len(path.betas_))
    ]


def _clusters(chosen: Chosen, reading: Any, data: Filings) -> list[Row]:
    listed = {group.group: group for group in reading.groups()}
    lengths = np.array([len(text) for text in data.corpus.texts])
    return [
        {
            "cluster": place + 1,
            "size": listed[k].size,
            "words": listed[k].n_words,
            "own": listed[k].n_only_here_words,
            "characters": float(np.median(lengths[chosen.labels == place])),
        }
        for place, k in enumerate(chosen.order.tolist())
    ]


def _words(chosen: Chosen, reading: Any) -> list[Row]:
    """Return every word of every cluster, the heaviest ones first."""
    table = reading.vocabulary.table()
    places = np.argsort(chosen.order)[table["group"]] + 1
    rows = [
        {"cluster": cluster, "word": word, "weight": weight, "exit_beta": beta, "clusters": n}
        for cluster, word, weight, beta, n in zip(
            places,
            *(table[name] for name in ("word", "weight", "exit_beta", "n_groups")),
            strict=True,
        )
    ]
    return sorted(rows, key=lambda row: (row["cluster"], -abs(row["weight"]), -row["exit_beta"]))


def _events(name: str, chosen: Chosen, data: Filings) -> Iterator[Row]:
    found = contingency(chosen.labels, data.events, n_groups=chosen.K)
    for k, counts in enumerate(found.counts):
        for label, n in zip(found.labels, counts, strict=True):
            yield {"model": name, "cluster": k + 1, "event": label, "filings": n}


def _months(name: str, chosen: Chosen, data: Filings) -> Iterator[Row]:
    """Count filings by month; months without any are left out."""
    found = timeline(chosen.labels, data.corpus.dates or (), n_groups=chosen.K)
    for k, j in np.argwhere(found.counts):
        n = found.counts[k, j]
        yield {"model": name, "cluster": k + 1, "month": found.periods[j], "filings": n}


def _thresholds(chosen: Chosen, n_init: int) -> Iterator[Row]:
    """Fit the chosen K again with fewer words: what the threshold changes."""
    for least in THRESHOLDS:
        data = filings(least)
        dense = sm.VMFMixture(
            chosen.K, init="random", n_init=n_init, random_state=0, n_threads=1
        ).fit(data.rows)
        again, _ = follow(data, dense)
        i = again.model.selected_
        yield {
            "min_count": least,
            "words": len(data.vectorized.words),
            "sparsity": again.model.sparsity_[i],
            "ari": agreement(chosen.labels, again.labels).ari,
        }


def main(arguments: list[str] | None = None) -> None:
    """Run the study, draw its figures and write its pages."""
    parser = argparse.ArgumentParser(prog="python -m experiments.filings", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help=f"share of the {FULL} seeds")
    parser.add_argument("--results", type=Path, default=runner.RESULTS)
    parser.add_argument("--cache", type=Path, default=runner.CACHE)
    parser.add_argument("--docs", type=Path, default=DOCS, help="folder of the page")
    parser.add_argument("--workers", type=int, default=runner.WORKERS, help="processes")
    given = parser.parse_args(arguments)
    if not place().exists():
        parser.error(f"no {place()}: set SPHEREMIX_DATA to the folder of real data")
    runner.run(
        "experiments.filings",
        given.scale,
        results=given.results,
        cache=given.cache,
        workers=given.workers,
    )
    filings_figures.draw(given.docs / "figures" / "filings", given.results)
    page = filings_page.text(given.results)
    (given.docs / "filings.md").write_text(page, encoding="utf-8")
    drawn = os.path.relpath(given.docs / "figures", given.results)
    full = filings_page.full(given.results, drawn)
    (given.results / "filings.md").write_text(full, encoding="utf-8")


if __name__ == "__main__":
    main()
