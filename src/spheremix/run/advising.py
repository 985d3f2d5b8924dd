"""How many clusters, in an exploration: which numbers to try, and the evidence for each of them.

Every number of clusters has a stage of its own, so a killed run goes on after the last one, and a
run with more numbers needs only the new ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from spheremix.advice import Advice, advise
from spheremix.data.open import as_directions
from spheremix.estimators.chance import Chance, last_useful
from spheremix.estimators.gathering import (
    collect_evidence,
    lengths_of,
    measure_chance,
    measure_stability,
    one_cluster,
)
from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.problem import build_problem
from spheremix.estimators.replicates import PartitionStability
from spheremix.reading import agreement
from spheremix.run.keys import kappa_of
from spheremix.run.options import LARGEST
from spheremix.run.schema import AdviceRecord, ChanceRecord, RecommendedRecord, StabilityRecord

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel
    from spheremix.reading import Agreement
    from spheremix.run.folder import RunFolder
    from spheremix.run.keys import Keys
    from spheremix.run.listener import Listener
    from spheremix.run.options import ExploreOptions
    from spheremix.run.prepare import Material
    from spheremix.run.store import Reader


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
    problem = problem_of(material, options)
    end = _chance(folder, problem, options, keys).most
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
    problem = problem_of(material, options)
    missing = [K for K in dense if K > 1 and folder.key(f"stability-{K}") != keys.stability(K)]
    if missing:
        listener.begin("Drawing the documents again, to see which clusters are firm")
    total, done = float(sum(missing) or 1), 0.0
    stability = {}
    for K in dense:
        if K > 1:
            stability[K] = _stability(folder, problem, K, options, keys)
        if K in missing:
            done += K
            listener.update(done / total, f"K = {K}")
    record = _chance(folder, problem, options, keys)
    counts = material.counts
    lengths = lengths_of(material.X if counts is None else counts[material.kept])
    evidence = collect_evidence(
        dense,
        stability,
        _unpacked(record),
        one=record.one,
        n_rows=float(problem.directions.n_rows),
        lengths=lengths,
    )
    return advise(replace(evidence, by_label=_by_label(material, dense.get(2))))


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


def _stability(
    folder: RunFolder, problem: Problem[VMFModel], K: int, options: ExploreOptions, keys: Keys
) -> PartitionStability:
    name, key = f"stability-{K}", keys.stability(K)

    def make() -> None:
        found = measure_stability(problem, [K], options.seed)[K]
        record = StabilityRecord(
            mean=found.mean, error=found.error, n_replicates=found.n_replicates
        )
        folder.commit(name, key, folder.writer(), record)

    def read(record: StabilityRecord, _: Reader) -> PartitionStability:
        return PartitionStability(record.mean, record.error, record.n_replicates)

    return folder.stage(name, key, StabilityRecord, make, read)


def _chance(
    folder: RunFolder, problem: Problem[VMFModel], options: ExploreOptions, keys: Keys
) -> ChanceRecord:
    def make() -> None:
        found = measure_chance(problem, options.seed)
        record = ChanceRecord(one=one_cluster(problem), most=LARGEST)
        if found is not None:
            record = ChanceRecord(
                one=record.one,
                most=last_useful(problem, found, LARGEST, options.seed),
                sizes=list(found.sizes),
                gains=found.gains.tolist(),
                chance_gains=found.chance_gains.tolist(),
                stability=found.stability.tolist(),
                n_taken=found.n_taken,
            )
        folder.commit("chance", keys.chance, folder.writer(), record)

    return folder.stage("chance", keys.chance, ChanceRecord, make, lambda record, _: record)


def _unpacked(record: ChanceRecord) -> Chance | None:
    if not record.sizes:
        return None
    return Chance(
        tuple(record.sizes),
        np.array(record.gains),
        np.array(record.chance_gains),
        np.array(record.stability),
        record.n_taken,
    )
