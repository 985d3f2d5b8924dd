"""The end of an exploration: tables, and the manifest that makes the folder a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.estimators.path import VMFPath
from spheremix.reading import Reading, agreement, contrast_words
from spheremix.run.fields import number
from spheremix.run.folder import versions
from spheremix.run.run import finish
from spheremix.run.tables import all_clusters, write_tables
from spheremix.text import Corpus

if TYPE_CHECKING:
    from spheremix.estimators.mixture import VMFMixture
    from spheremix.reading import ContrastWord
    from spheremix.run.folder import RunFolder
    from spheremix.run.prepare import Material
    from spheremix.run.stages import Dense
    from spheremix.text import Matrix

CONTRASTED = 100  # words of a cluster in the table of contrasts
NAMING = 20  # those that are kept beside the model


def finish_run(
    folder: RunFolder,
    material: Material,
    dense: Dense,
    model: VMFMixture | VMFPath,
    command: dict[str, Any],
    source: Corpus | Matrix,
) -> None:
    """Write the tables and ``run.json``, which lists every file of every stage.

    The model is the one that was chosen: a path, or the dense mixture where none was followed.
    """
    writer = folder.writer()
    contrast = _contrast(material, model)
    reading = Reading(model, material.words, contrast=contrast)
    tables = write_tables(writer, material, reading, dense, contrast)
    content: dict[str, Any] = {}
    mixtures: dict[str, Any] = {}
    stages = ["matrix", *(f"dense-{K}" for K in dense.mixtures)]
    for stage in [*stages, "path"] if isinstance(model, VMFPath) else stages:
        left = folder.done(stage)
        if left is None:
            raise RuntimeError(f"{folder.folder}: what was written cannot be read again.")
        fields, reader = left
        writer.entries.update(reader.entries)
        if stage == "matrix":
            content |= fields.content
        elif stage == "path":
            content["path"] = fields.content
        else:
            mixtures[stage.removeprefix("dense-")] = fields.content["mixture"]
    writer.entries = dict(sorted(writer.entries.items()))
    aside = content.pop("set_aside")
    beside = None if isinstance(source, Corpus) else source.documents
    content |= {
        "command": command,
        "versions": versions(),
        "corpus": {
            "source": source.source,
            "format": source.format,
            "checksum": source.checksum,
            "texts": None if beside is None else beside.source,
            "notes": list(source.notes),
            "n_documents": material.n_documents,
            "n_set_aside": len(aside),
        },
        "dense": mixtures,
        "best_n_components": reading.n_clusters,
        "start_agreement": {str(K): number(value) for K, value in dense.agreement.items()},
        "documents": tables["documents"],
        "tables": tables,
        "agreement": _agreement(material, model),
    }
    if reading.contrast is not None:
        content["contrast"] = {str(k): words[:NAMING] for k, words in enumerate(reading.contrast)}
    finish(writer, content)


def _agreement(material: Material, model: VMFMixture | VMFPath) -> dict[str, Any] | None:
    """Compare with labels, where each document has one at most."""
    labels = material.source.labels
    if labels is None or any(len(several) > 1 for several in labels):
        return None
    found = agreement(model.labels_, [labels[row] for row in material.kept])
    if not np.isfinite(found.ari):
        return None
    return {"ari": found.ari, "nmi": found.nmi, "n_documents": found.n_documents}


def _contrast(material: Material, model: VMFMixture | VMFPath) -> list[list[ContrastWord]] | None:
    """Find the words of clusters whose columns are no words, in the texts beside."""
    if material.counts is None or material.terms is None:
        return None
    K = Reading(model).n_clusters
    clusters = all_clusters(model.labels_, material)
    return contrast_words(material.counts, clusters, material.terms, CONTRASTED, n_clusters=K)
