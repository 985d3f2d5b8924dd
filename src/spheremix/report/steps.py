"""The steps of a path that a report keeps, and their prototypes in a byte a coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.data.open import as_directions
from spheremix.data.parts import unit_columns
from spheremix.estimators.views import words_of
from spheremix.reading import group_masses, word_shares
from spheremix.reading.words import ONLY_HERE_SHARE
from spheremix.report.documents import numbered
from spheremix.report.packing import digits
from spheremix.select import CRITERIA

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.path import VMFPath
    from spheremix.run.run import Run

    Array = NDArray[np.float64]

MOST = 80  # steps kept
POINTS = 400  # of the curves of the whole path
LEVELS = 127  # of the absolute value of a coordinate


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """The steps that are kept.

    ``only_here`` is 1 for a word that one group alone has and that enough of its documents contain;
    it is None where rows are not known, or where columns are no words.
    """

    entries: list[dict[str, Any]]  # what is said about each
    chosen: int  # the selected one, among them
    values: NDArray[np.int8]  # (S, K, W): prototypes, as quantise gives them
    labels: NDArray[Any] | None  # (S, n): the group of each document; None without rows
    only_here: NDArray[np.uint8] | None  # (S, W)


def read_steps(run: Run, shown: NDArray[np.intp]) -> Steps:
    """Read the steps to keep, one at a time; of a single mixture, itself.

    Of a relaxed path, the refits are shown, which the criteria judge.
    """
    path, mixture = run.path, run.mixture
    chosen = 0 if path is None else int(path.selected_)
    choices = {} if path is None else {name: path.select(name) for name in CRITERIA}
    kept = (
        [0] if path is None else evenly_spaced(path.n_nonzero_, {chosen, *choices.values()}, MOST)
    )
    K = len(mixture.weights_)
    values = np.empty((len(kept), K, len(shown)), dtype=np.int8)
    rows = labels = shown_rows = only_here = None
    if run.matrix() is not None:
        reader: Any = mixture
        rows = as_directions(run.matrix(), engine=reader.engine, n_threads=reader.n_threads)
        narrow = np.uint8 if K + run.reading.has_noise <= 256 else np.uint16
        labels = np.empty((len(kept), rows.n_rows), dtype=narrow)
        if run.feature_names is not None:
            shown_rows, _ = unit_columns(run.words_matrix(), shown)
            only_here = np.zeros((len(kept), len(shown)), dtype=np.uint8)
    entries = []
    for s, step in enumerate(kept):
        model = mixture if path is None else path.model(step)
        words = words_of(model)
        levels, scale = quantise(words.prototypes_)
        values[s] = levels[:, shown]
        sizes = _expected(run, step)
        if labels is not None:
            groups = model.predict(rows)
            labels[s] = numbered(groups, K)
            sizes = np.bincount(labels[s], minlength=K)[:K].tolist()
            if only_here is not None:
                shares = word_shares(shown_rows, groups, n_groups=K)
                only_here[s] = found_only_here(levels[:, shown], shares)
        by = [name for name, choice in choices.items() if choice == step]
        entries.append(_entry(step, model, words, sizes, by) | {"scale": scale})
    return Steps(entries, kept.index(chosen), values, labels, only_here)


def found_only_here(prototypes: NDArray[Any], shares: Array) -> NDArray[np.bool_]:
    """Return which words one group alone has, and enough of its documents contain."""
    has = prototypes != 0.0
    alone = np.count_nonzero(has, axis=0) == 1
    found: NDArray[np.bool_] = alone & (has & (shares >= ONLY_HERE_SHARE)).any(axis=0)
    return found


def evenly_spaced(n_nonzero: ArrayLike, wanted: Iterable[int], most: int) -> list[int]:
    """Choose steps: the wanted ones, the first, the last, others evenly in their non-zeros.

    They are no more than ``most``, unless the wanted ones, the first and the last are.
    """
    counts = np.asarray(n_nonzero)
    kept = sorted({0, len(counts) - 1, *wanted})
    while len(kept) < min(most, len(counts)):
        # The widest gap is halved; of equals in non-zeros, the one of most steps.
        gaps = [
            (abs(int(counts[j]) - int(counts[i])), j - i, -i)
            for i, j in pairwise(kept)
            if j - i > 1
        ]
        _, width, first = max(gaps)
        start, stop = -first, width - first
        middle = (int(counts[start]) + int(counts[stop])) / 2.0
        inside = np.arange(start + 1, stop)
        away = np.abs(counts[inside] - middle)
        nearest = inside[away == away.min()]
        kept = sorted([*kept, int(nearest[len(nearest) // 2])])
    return kept


def quantise(prototypes: Array) -> tuple[NDArray[np.int8], float]:
    """Return coordinates as signed bytes q: scale * (q / 127)**2 with the sign of q, zeros exact.

    Squares, since coordinates of prototypes lie over orders of magnitude; a coordinate that is
    not zero never becomes zero, so that supports are exact.
    """
    scale = float(np.abs(prototypes).max())
    levels = np.rint(LEVELS * np.sqrt(np.abs(prototypes) / scale))
    levels = np.where(prototypes == 0.0, 0.0, np.maximum(levels, 1.0))
    signed: NDArray[np.int8] = np.copysign(levels, prototypes).astype(np.int8)
    return signed, scale


def _entry(
    step: int, model: VMFMixture, words: Any, sizes: list[float], by: list[str]
) -> dict[str, Any]:
    """Describe a step, and its prototypes of words."""
    n_nonzero = int(np.count_nonzero(words.prototypes_))
    return {
        "step": step,
        "beta": float(model.beta),
        "sparsity": digits(1.0 - n_nonzero / words.prototypes_.size),
        "n_nonzero": n_nonzero,
        "log_likelihood": digits(model.log_likelihood_, 12),
        "criteria": {name: digits(model.criteria_[name], 12) for name in CRITERIA},
        "weights": [digits(weight) for weight in model.weights_],
        "kappas": [digits(kappa) for kappa in words.kappas_],
        "masses": [
            digits(mass)
            for mass in group_masses(model.weights_, words.kappas_, words.prototypes_.shape[1])
        ],
        "sizes": sizes,
        "chosen_by": by,
        **count_words(words.prototypes_),
    }


def count_words(prototypes: Array) -> dict[str, list[int]]:
    """Count the words of all prototypes, also those that the page does not show.

    Those of each group, those that no other group has, and those of no group, of one, ..., of all.
    """
    has = prototypes != 0.0
    sharing = np.count_nonzero(has, axis=0)
    return {
        "n_words": np.count_nonzero(has, axis=1).tolist(),
        "n_only_here_words": np.count_nonzero(has & (sharing == 1), axis=1).tolist(),
        "n_words_by_groups": np.bincount(sharing, minlength=len(has) + 1).tolist(),
    }


def _expected(run: Run, step: int) -> list[float]:
    """Return the expected sizes of groups, where it is not known who is in them."""
    if run.path is not None:
        return [digits(size) for size in run.path.sizes_[step]]
    n = len(run.mixture.labels_)
    return [digits(share * n) for share in run.mixture.weights_]


def curves(path: VMFPath | None) -> dict[str, Any] | None:
    """Return the thin lines of the whole path, in no more points than a screen has."""
    if path is None:
        return None
    n = len(path.betas_)
    points = np.unique(np.linspace(0, n - 1, min(n, POINTS)).round().astype(int))
    return {
        "beta": [float(beta) for beta in path.betas_[points]],
        "sparsity": [digits(one) for one in path.sparsity_[points]],
        "log_likelihood": [digits(one, 12) for one in path.log_likelihoods_[points]],
        "criteria": {
            name: [digits(one, 12) for one in path.criteria_[name][points]] for name in CRITERIA
        },
    }
