"""How sure the result of an exploration is: what stays, and whether labels agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from spheremix.data.open import as_directions
from spheremix.estimators.calibration import calibrate
from spheremix.estimators.problem import NoFitError
from spheremix.reading.stability import N_REPLICATES, Stability, stability
from spheremix.run.folder.store import key_of
from spheremix.wording import count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.path import VMFPath
    from spheremix.run.stages import Context
    from spheremix.run.stages.rows import Rows

LEAST_LABELS = 50  # documents with a label that a probability is learnt from, and without one


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """What the labels of some documents say of the groups."""

    column: str  # of the labels
    probabilities: NDArray[np.float64]  # of each document that was grouped: its group's label


def measure_stability(
    x: Context, rows: Rows, model: VMFMixture | VMFPath, model_key: str
) -> Stability:
    """Draw the documents again, and see which documents, groups and words stay."""
    options = x.options
    documents, whole = x.drawn_whole(rows.kept)

    def follow(n_sweeps: int) -> None:
        x.listener.update(0.0, f"{count(n_sweeps, 'pass', 'passes')} over the documents")

    def make() -> Stability:
        x.listener.begin("Drawing the documents again, to see what stays")
        directions = as_directions(rows.views, n_threads=options.threads)
        try:
            return stability(
                model,
                directions,
                N_REPLICATES,
                documents=documents,
                random_state=options.seed,
                callback=follow,
            )
        except NoFitError:  # no repetition has as many groups: nothing counts as having stayed
            mixture: Any = getattr(model, "best_estimator_", model)
            K, d = mixture.prototypes_.shape
            none = sparse.csr_array((K, d))
            return Stability(
                np.zeros(len(rows.kept)), np.zeros(K), none, N_REPLICATES, N_REPLICATES
            )

    by = [options.criterion, *([] if options.max_noise is None else [options.max_noise])]
    return x.store.stage(
        "stability",
        key_of(model_key, "thirds", N_REPLICATES, *by, options.seed, *whole),
        Stability,
        make,
    )


def learn_from_labels(x: Context, rows: Rows, model: Any, model_key: str) -> Labelled | None:
    """Tell how probably each document has the label of its group; None where labels cannot tell.

    They can where a column has one label for some documents and none for others.
    """
    found = _partly_labelled(rows)
    if found is None:
        return None
    column, labels = found

    def make() -> Labelled:
        directions = as_directions(rows.views, n_threads=x.options.threads)
        sure = calibrate(model, directions, labels=labels, random_state=x.options.seed).posteriors
        nearest = np.where(model.labels_ < 0, sure.argmax(axis=1), model.labels_)
        return Labelled(column, np.take_along_axis(sure, nearest[:, None], axis=1)[:, 0])

    key = key_of(model_key, column, *(one or "" for one in labels), x.options.seed)
    return x.store.stage("labelled", key, Labelled, make)


def _partly_labelled(rows: Rows) -> tuple[str, NDArray[np.object_]] | None:
    """Return the first column that has one label for some documents and none for others."""
    for column, all_labels in rows.corpus.labels.items():
        each = [all_labels[i] for i in rows.kept.tolist()]
        known = [one[0] for one in each if len(one) == 1]
        n_without = len(each) - len(known)
        single = all(len(one) < 2 for one in each)
        often = 2 <= len(set(known)) <= len(known) // 5
        if single and often and min(len(known), n_without) >= LEAST_LABELS:
            return column, np.array([one[0] if one else None for one in each], dtype=object)
    return None
