"""How firm the result of an exploration is, as a stage: documents, clusters and words that stay."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from spheremix.data.open import as_directions
from spheremix.estimators.path import VMFPath
from spheremix.reading.stability import N_REPLICATES, Stability, stability
from spheremix.run.files import FIRMNESS
from spheremix.run.schema import FirmnessRecord
from spheremix.run.store import RunError
from spheremix.run.typed import FileName
from spheremix.wording import count

if TYPE_CHECKING:
    from spheremix.estimators.mixture import VMFMixture
    from spheremix.run.folder import RunFolder
    from spheremix.run.keys import Keys
    from spheremix.run.listener import Listener
    from spheremix.run.options import ExploreOptions
    from spheremix.run.prepare import Material
    from spheremix.run.store import Reader

STAGE = "firmness"


def measure_firmness(
    folder: RunFolder,
    material: Material,
    model: VMFMixture | VMFPath,
    options: ExploreOptions,
    keys: Keys,
    listener: Listener,
) -> Stability:
    """Draw the documents again, and see which documents, clusters and words stay."""
    mixture = model.best_estimator_ if isinstance(model, VMFPath) else model
    key = keys.firmness(len(mixture.weights_))

    def follow(n_sweeps: int) -> None:
        listener.update(0.0, f"{count(n_sweeps, 'pass', 'passes')} over the documents")

    def make() -> None:
        listener.begin("Drawing the documents again, to see what stays")
        rows = as_directions(material.X, n_threads=options.threads)
        found = stability(
            model, rows, n_replicates=N_REPLICATES, random_state=options.seed, callback=follow
        )
        writer = folder.writer()
        arrays = {
            "documents": found.documents,
            "clusters": found.groups,
            "words": found.words.data,
            "places": found.words.indices,
            "ends": found.words.indptr,
        }
        names = {
            name: FileName(writer.array(f"{FIRMNESS}/{name}.npy", array))
            for name, array in arrays.items()
        }
        record = FirmnessRecord(n_replicates=found.n_replicates, n_lost=found.n_lost, **names)
        folder.commit(STAGE, key, writer, record)

    shape = (len(material.kept), *mixture.prototypes_.shape)
    return folder.stage(STAGE, key, FirmnessRecord, make, partial(unpack_firmness, shape=shape))


def unpack_firmness(
    record: FirmnessRecord, reader: Reader, shape: tuple[int, int, int]
) -> Stability:
    """Read what was measured on n documents, for K clusters and d columns."""
    n, K, d = shape
    ends = reader.array(record.ends, (K + 1,), "i").astype(np.int64)
    places = reader.array(record.places, (None,), "i").astype(np.int64)
    if ends[0] != 0 or np.any(np.diff(ends) < 0) or ends[-1] != len(places):
        raise RunError(f"{reader.folder / record.ends}: damaged: words do not follow each other.")
    if places.size and not (places.min() >= 0 and places.max() < d):
        raise RunError(f"{reader.folder / record.places}: damaged: there are no such columns.")
    shares = reader.array(record.words, (len(places),))
    return Stability(
        reader.array(record.documents, (n,)),
        reader.array(record.clusters, (K,)),
        sparse.csr_array((shares, places, ends), shape=(K, d)),
        record.n_replicates,
        record.n_lost,
    )
