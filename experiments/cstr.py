"""Section 5.3: the abstracts of the computer science technical reports.

A case is one repetition at one K: the same 50 random starts for four methods, the best run of each
by its own measure, and the path from the best mixture with a shared concentration. One more case
starts from the true classes.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import confusion_matrix

import spheremix as sm
from experiments import printed
from experiments.data import TRUE_K, ari, cstr, n_converged
from experiments.runner import is_sketch, main, repetitions
from spheremix.select import criteria

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from experiments.runner import Case, Tables

NAME = "cstr"
VERSION = 2
SEEDS = "repetition i draws its starts with random_state i, the same rows for every method"
FULL = 50  # repetitions
STARTS = 50
ROWS, COLUMNS = 475, 1000
CRITERIA = ("aic", "bic", "ebic", "ric", "ricc")
METHODS = {
    "skmeans": (sm.SphericalKMeans, {}),
    "shared": (sm.VMFMixture, {"kappa": "shared"}),
    "free": (sm.VMFMixture, {"kappa": "free"}),
    "dbmovmfs": (sm.VMFCoclustering, {"kappa": "free"}),
}


def cases(scale: float) -> list[Case]:
    """Return the start from the classes, then one case a repetition and K."""
    sketch = is_sketch(scale, FULL)
    size = {"n_init": 5 if sketch else STARTS, "increase": 1e-2 if sketch else 1e-3}
    n = repetitions(scale, FULL)
    Ks = [3, 4, 5] if sketch else list(range(2, 9))
    starts = {"starts": [1, 5, 10], "Ks": Ks, "repetitions": n}
    return [{"start": "classes and iterates"}, starts] + [
        {"repetition": i, "K": K} | size for i in range(n) for K in Ks
    ]


def solve(case: Case) -> Tables:
    """Solve one case."""
    if "start" in case:
        return _from_classes()
    return _few_starts(**case) if "starts" in case else _repetition(**case)


def _from_classes() -> Tables:
    """Run each method from the true classes: the most that a clustering can find of them."""
    X, labels = cstr()
    agreement, confusion = [], []
    for method, (estimator, settings) in METHODS.items():
        model = estimator(TRUE_K, init=labels, n_threads=1, **settings).fit(X)
        agreement.append({"method": method, "ari": ari(labels, model.labels_)})
        confusion += [
            {"method": method, "class": k + 1} | {str(j + 1): n for j, n in enumerate(row)}
            for k, row in enumerate(confusion_matrix(labels, model.labels_))
        ]
    return {"classes": agreement, "confusion": confusion, "lloyd": _iterates(X, labels)}


def _iterates(X: Any, labels: NDArray[np.intp]) -> list[dict[str, Any]]:
    """Follow spherical k-means from the classes until no row moves, in plain NumPy."""
    rows, found = X.take(np.arange(len(labels))), labels
    table = []
    for iteration in itertools.count(1):
        sums = np.array([rows[found == k].sum(axis=0) for k in range(TRUE_K)])
        cosines = rows @ (sums / np.linalg.norm(sums, axis=1, keepdims=True)).T
        before, found = found, cosines.argmax(axis=1)
        moved = int(np.sum(found != before))
        apart = np.abs(confusion_matrix(labels, found) - np.array(printed.CONFUSION)).sum() // 2
        table.append(
            {"iteration": iteration, "moved": moved, "ari": ari(labels, found), "apart": apart}
        )
        if not moved:
            return table
    raise AssertionError


def _few_starts(starts: list[int], Ks: list[int], repetitions: int) -> Tables:
    """Run spherical k-means from fewer starts: what their number changes."""
    _, labels = cstr()
    rows = []
    for K in Ks:
        for n_init in starts:
            models = [fitted("skmeans", K, i, n_init) for i in range(repetitions)]
            agreement = [ari(labels, model.labels_) for model in models]
            row = {"K": K, "n_init": n_init, "ari": float(np.mean(agreement))}
            rows.append(row | {"sd": float(np.std(agreement, ddof=1))})
    return {"starts": rows}


def _repetition(repetition: int, K: int, n_init: int, increase: float) -> Tables:
    X, labels = cstr()
    dense, models = [], {}
    place = {"repetition": repetition, "K": K}
    for method in METHODS:
        models[method] = model = fitted(method, K, repetition, n_init)
        row = place | {"method": method, "ari": np.nan, "converged": 0, "quality": np.nan}
        row |= dict.fromkeys(CRITERIA, np.nan)
        if model is not None:
            row["ari"], row["converged"] = ari(labels, model.labels_), n_converged(model)
            row["quality"] = model.coherence_ if method == "skmeans" else model.log_likelihood_
            row |= {name: getattr(model, "criteria_", {}).get(name, np.nan) for name in CRITERIA}
        dense.append(row)
    path = sm.VMFPath(K, init=models["shared"], min_relative_increase=increase, n_threads=1).fit(X)
    sparse = []
    for name in CRITERIA:
        i = path.select(name)
        chosen = path.model(i)
        sparse.append(
            place
            | {
                "criterion": name,
                "ari": ari(labels, chosen.predict(X)),
                "sparsity": path.sparsity_[i],
                "beta": path.betas_[i],
                "value": path.criteria_[name][i],
                "step": i,
                "steps": len(path.betas_),
            }
        )
    tables = {"dense": dense, "sparse": sparse}
    if K == TRUE_K:
        shown = {"dbmovmfs": models["dbmovmfs"], "dense": models["shared"]}
        shown["bic"] = path.model(path.select("bic"))
        tables["blocks"] = [
            {"repetition": repetition, "model": name} | blocks(model.prototypes_)
            for name, model in shown.items()
            if model is not None
        ]
    return tables


def blocks(prototypes: NDArray[np.float64]) -> dict[str, int]:
    """Count the columns that are non-zero in so many prototypes."""
    users = np.count_nonzero(prototypes, axis=0)
    return {str(n): int(np.sum(users == n)) for n in range(len(prototypes) + 1)}


def dense_count(table: Any) -> Any:
    """Return a table of dbmovMFs with criteria that count d - 1 numbers a prototype."""
    n_parameters = table["K"] * (COLUMNS - 1) + 2 * table["K"] - 1
    values = criteria(table["quality"], n_parameters, ROWS, COLUMNS)
    return table.assign(**{name: values[name] for name in CRITERIA})


def fitted(method: str, K: int, repetition: int, n_init: int = STARTS) -> Any:
    """Return the best of the repetition's runs of a method; None where all of them failed."""
    X, _ = cstr()
    estimator, settings = METHODS[method]
    model = estimator(
        K, init="random", n_init=n_init, random_state=repetition, n_threads=1, **settings
    )
    try:
        return model.fit(X)
    except RuntimeError:
        return None


if __name__ == "__main__":
    main("experiments.cstr")
