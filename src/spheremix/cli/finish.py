"""The end of an exploration: tables, and the manifest that makes the folder a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.cli.folder import versions
from spheremix.cli.tables import write_tables
from spheremix.explore import Reading, agreement
from spheremix.io.run import finish

if TYPE_CHECKING:
    from spheremix.cli.folder import RunFolder
    from spheremix.cli.material import Material
    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.path import VMFPath
    from spheremix.text import Corpus, Matrix

SHOWN = 5  # typical documents of a cluster that the summary names


def finish_run(
    folder: RunFolder,
    material: Material,
    dense: dict[int, VMFMixture],
    path: VMFPath,
    command: dict[str, Any],
    source: Corpus | Matrix,
) -> None:
    """Write the tables and ``run.json``, which lists every file of every stage."""
    writer = folder.writer()
    tables = write_tables(writer, material, dense, path)
    content: dict[str, Any] = {}
    mixtures: dict[str, Any] = {}
    for stage in ["matrix", *(f"dense-{K}" for K in dense), "path"]:
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
    content |= {
        "command": command,
        "versions": versions(),
        "corpus": {
            "source": source.source,
            "format": source.format,
            "checksum": source.checksum,
            "notes": list(source.notes),
            "n_documents": material.n_documents,
            "n_set_aside": len(aside),
        },
        "dense": mixtures,
        "best_n_components": len(path.best_estimator_.weights_),
        "documents": tables["documents"],
        "tables": tables,
        "agreement": _agreement(material, path),
        "typical": _typical(material, path),
    }
    finish(writer, content)


def _agreement(material: Material, path: VMFPath) -> dict[str, Any] | None:
    """Compare with labels, where each document has one at most."""
    labels = material.source.labels
    if labels is None or any(len(several) > 1 for several in labels):
        return None
    found = agreement(path.labels_, [labels[row] for row in material.kept])
    if not np.isfinite(found.ari):
        return None
    return {"ari": found.ari, "nmi": found.nmi, "n_documents": found.n_documents}


def _typical(material: Material, path: VMFPath) -> dict[str, list[str]]:
    """Name the documents nearest to each prototype."""
    reading = Reading(path, material.words)
    documents, ids = reading.documents(material.X), material.source.ids
    return {
        str(k): [ids[material.kept[i]] for i in documents.typical(k, SHOWN)]
        for k in range(reading.n_clusters)
    }
