"""How many clusters, in an exploration: which numbers to try, and the evidence for each of them.

Every number of clusters has a stage of its own, so a killed run goes on after the last one, and a
run with more numbers needs only the new ones.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.data.open import as_directions
from spheremix.estimators.advice import Adviser, Chance, lengths_of
from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.problem import build_problem
from spheremix.estimators.replicates import PartitionStability
from spheremix.reading import agreement
from spheremix.run.keys import kappa_of
from spheremix.run.options import LARGEST
from spheremix.run.schema import AdviceRecord, ChanceRecord, RecommendedRecord, StabilityRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from spheremix.advice import Advice
    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel
    from spheremix.reading import Agreement
    from spheremix.run.folder import RunFolder
    from spheremix.run.keys import Keys
    from spheremix.run.listener import Listener
    from spheremix.run.options import ExploreOptions
    from spheremix.run.prepare import Material


def choose_candidates(
    folder: RunFolder,
    material: Material,
    options: ExploreOptions,
    keys: Keys,
    listener: Listener,
) -> list[int]:
    """Return the numbers of clusters to try: those asked for, or those that the corpus is worth.

    Without any asked for, they end soon after the last number at which a further cluster explains
    more than it would in documents without clusters.
    """
    found = options.candidates(len(material.kept), material.n_distinct)
    if options.k is not None or len(found) < 2:
        return found
    listener.begin("Looking how many clusters may be worth trying")
    end = _adviser(folder, material, options, keys).chance.last_useful or LARGEST
    return [K for K in found if end >= K]


def advise_run(
    folder: RunFolder,
    material: Material,
    dense: dict[int, VMFMixture],
    options: ExploreOptions,
    keys: Keys,
    listener: Listener,
) -> Advice | None:
    """Gather the evidence for each number of clusters; None where there is one only."""
    if len(dense) < 2:
        return None
    missing = [K for K in dense if K > 1 and folder.key(f"stability-{K}") != keys.stability(K)]
    if missing:
        listener.begin("Drawing the documents again, to see which clusters are firm")
    total, done = float(sum(missing) or 1), 0.0

    def progress(K: int) -> None:
        nonlocal done
        if K in missing:
            done += K
            listener.update(done / total, f"K = {K}")

    counts = material.counts
    adviser = _adviser(folder, material, options, keys)
    adviser.progress = progress
    return adviser.advise(
        dense,
        lengths=lengths_of(material.X if counts is None else counts[material.kept]),
        by_label=_by_label(material, dense.get(2)),
    )


def _by_label(material: Material, two: VMFMixture | None) -> tuple[str, float] | None:
    """Return the column of labels that two clusters agree with most, and how far."""
    found = {} if two is None else agreements(material, two.labels_)
    if not found:
        return None
    name = max(found, key=lambda name: found[name].ari)
    return name, found[name].ari


def agreements(material: Material, clusters: NDArray[np.intp]) -> dict[str, Agreement]:
    """Compare clusters with each column of labels in which a document has one at most."""
    each = {}
    for name, labels in material.source.labels.items():
        if any(len(several) > 1 for several in labels):
            continue
        found = agreement(clusters, [labels[row] for row in material.kept])
        if np.isfinite(found.ari):
            each[name] = found
    return each


def pack_advice(advice: Advice) -> AdviceRecord:
    """Return what run.json says of the advice; the evidence is in a table."""
    return AdviceRecord(
        recommended=[
            RecommendedRecord(n_clusters=one.n_clusters, reading=one.reading, sentence=one.sentence)
            for one in advice.recommended
        ],
        certainty=advice.certainty,
        doubts=list(advice.doubts),
    )


def problem_of(material: Material, options: ExploreOptions) -> Problem[VMFModel]:
    """Return the rows and the model of an exploration."""
    directions = as_directions(material.X, n_threads=options.threads)
    mixture = VMFMixture(1, kappa=kappa_of(options), n_threads=options.threads)
    return build_problem(MixtureOptions.of(mixture), directions, None)


def _adviser(folder: RunFolder, material: Material, options: ExploreOptions, keys: Keys) -> Adviser:
    """Return an adviser whose measurements are stages of the run."""

    def remember(name: str, make: Callable[[], Any]) -> Any:
        if name == "chance":
            return folder.stage(
                name,
                keys.chance,
                ChanceRecord,
                lambda: folder.commit(name, keys.chance, folder.writer(), _packed(make())),
                lambda record, _: _unpacked(record),
            )
        key = keys.stability(int(name.removeprefix("stability-")))
        return folder.stage(
            name,
            key,
            StabilityRecord,
            lambda: folder.commit(name, key, folder.writer(), StabilityRecord(**asdict(make()))),
            lambda record, _: PartitionStability(record.mean, record.error, record.n_replicates),
        )

    problem = problem_of(material, options)
    return Adviser(problem, (options.seed, options.seed), remember, most=LARGEST)


def _packed(chance: Chance) -> ChanceRecord:
    return ChanceRecord(
        one=chance.one_cluster,
        most=chance.last_useful or LARGEST,
        sizes=list(chance.sizes),
        gains=chance.gains.tolist(),
        chance_gains=chance.chance_gains.tolist(),
        stability=chance.stability.tolist(),
        n_taken=chance.n_taken,
    )


def _unpacked(record: ChanceRecord) -> Chance:
    return Chance(
        tuple(record.sizes),
        np.array(record.gains),
        np.array(record.chance_gains),
        np.array(record.stability),
        record.n_taken,
        record.one,
        record.most,
    )
