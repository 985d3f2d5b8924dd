"""How stable the result of an exploration is: documents, groups and words that stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from spheremix.data.open import as_directions
from spheremix.estimators.problem import NoFitError
from spheremix.reading.stability import N_REPLICATES, Stability, stability
from spheremix.run.folder.store import key_of
from spheremix.wording import count

if TYPE_CHECKING:
    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.path import VMFPath
    from spheremix.run.stages import Context
    from spheremix.run.stages.rows import Rows


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
