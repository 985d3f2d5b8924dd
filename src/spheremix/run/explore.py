"""An exploration: from documents that were read to the summary of their clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.cli.console import progress, remark, say
from spheremix.cli.guard import in_options
from spheremix.cli.summary import summarise
from spheremix.run import RunError, load_run
from spheremix.run.finish import finish_run
from spheremix.run.folder import RunFolder
from spheremix.run.options import DENSE
from spheremix.run.prepare import prepare
from spheremix.run.render import complete, show
from spheremix.run.stages import fit_dense, follow_path
from spheremix.text import Matrix
from spheremix.text.corpus import digest

if TYPE_CHECKING:
    from pathlib import Path

    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.path import VMFPath
    from spheremix.run.options import Options
    from spheremix.text import Corpus


def run_explore(
    source: Corpus | Matrix,
    options: Options,
    output: Path,
    *,
    force: bool,
    open_page: bool = False,
) -> None:
    """Explore documents that were read, in a folder, from where it was left."""
    folder = RunFolder(output)
    embeddings = isinstance(source, Matrix) and source.vocabulary is None
    options = options.completed(words=not embeddings)
    command = {**options.command(), "checksum": source.checksum}
    if isinstance(source, Matrix):
        words, documents = source.vocabulary, source.documents
        command["vocabulary_checksum"] = None if words is None else digest(map(str.encode, words))
        command["texts_checksum"] = None if documents is None else documents.checksum
    with folder.locked():
        if folder.claim(command, force=force):
            say(f"{output} holds this run already, finished.")
        else:
            for note in source.notes:
                remark(note)
            try:
                _work(folder, source, options, command)
            except Exception:
                folder.discard()
                raise
    try:
        finished = load_run(output)
        page = complete(finished)
    except RunError as error:
        raise RunError(f"{error} Make it again with --force.") from None
    summarise(finished)
    if open_page:
        show(page)


def _work(
    folder: RunFolder, source: Corpus | Matrix, options: Options, command: dict[str, Any]
) -> None:
    with progress() as shown:
        material = prepare(folder, source, options, shown)
        candidates = options.candidates(len(material.kept), material.n_distinct)
        dense, notes = fit_dense(folder, material.X, candidates, options, shown)
        mixtures = dense.mixtures
        values = [model.criteria_[options.k_criterion] for model in mixtures.values()]
        best = list(mixtures)[int(np.argmin(values))]
        model: VMFMixture | VMFPath = mixtures[best]
        if options.criterion != DENSE:
            model = follow_path(folder, material.X, mixtures, best, options, shown)
        shown.begin("Writing the tables")
        finish_run(folder, material, dense, model, command, source)
    for note in notes:
        remark(in_options(note))
    folder.close()
