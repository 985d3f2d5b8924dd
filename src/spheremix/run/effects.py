"""What the groups of a run depend on: columns of its documents, and :func:`spheremix.effects`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.data.open import as_directions
from spheremix.errors import ParameterError
from spheremix.reading.effects import N_REPLICATES, Effects, effects
from spheremix.reading.timeline import parse_dates
from spheremix.run.folder.files import RunError, check_output, replacing
from spheremix.run.tables import csv_lines
from spheremix.text.corpus import shown
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from spheremix.run import Listener
    from spheremix.run.run import Run
    from spheremix.text import Corpus

DATE, YEAR = "date", "year"  # names of the dates of the documents, where no column has them
YEAR_ALONE = 4  # characters


def run_effects(
    run: Run,
    by: str | Iterable[str],
    listener: Listener,
    *,
    n_replicates: int = N_REPLICATES,
    level: float = 0.95,
) -> Effects:
    """Find out how the shares of the groups of a run depend on columns of its documents."""
    rows, stability = run.rows, run.stability()
    if rows is None or run.corpus() is None:
        raise RunError(f"{run.folder}: the run has no documents: nothing is known beside its rows.")
    corpus, cut, split = run.whole_documents()[0], run.cut, run.by_passages
    documents = rows.kept if cut is None else cut.documents[rows.kept]
    names = [one.strip() for one in by.split(",")] if isinstance(by, str) else list(by)
    columns = {name: column_of(corpus, name)[documents] for name in names}
    listener.begin(f"Drawing {count(len(corpus), 'document')} again, {n_replicates} times")

    def follow(n_done: int) -> None:
        listener.update(n_done / n_replicates, f"{count(n_done, 'draw')} done")

    return effects(
        run.model,
        as_directions(rows.views),
        columns,
        documents=None if cut is None else documents,
        lengths=None if cut is None else np.maximum(cut.n_words[rows.kept], 1),
        names=[run.reading.group_name(k) for k in range(run.info.n_groups)],
        temperature=None if split is None else split.temperature,
        stability=stability,
        n_replicates=n_replicates,
        level=level,
        random_state=run.info.command.get("seed", 0),
        callback=follow,
    )


def write_effects(
    run: Run, by: str, output: Path, listener: Listener, *, n_draws: int, force: bool
) -> Effects:
    """Find out what the groups depend on, and write the shares with their intervals."""
    check_output(output, "effects.csv", force=force)
    found = run_effects(run, by, listener, n_replicates=n_draws)
    with replacing(output) as file:
        for line in csv_lines(found.table(), short=True):
            file.write(line.encode("utf-8"))
    return found


def column_of(corpus: Corpus, name: str) -> Any:
    """Return a column of the documents: labels, dates, years, or another column of the input.

    Text that is a number in every document is a number.
    """
    if name in corpus.labels:
        several = [one for one in corpus.labels[name] if len(one) > 1]
        if several:
            raise ParameterError(
                "{by}: a document has several labels in the column {name} ({labels}), and effects "
                "are of columns with one at most",
                name=shown(name),
                labels=", ".join(several[0][:3]),
            )
        return as_numbers([one[0] if one else None for one in corpus.labels[name]])
    if name in corpus.metadata:
        return as_numbers(corpus.metadata[name])
    if name in {DATE, YEAR} and corpus.dates is not None:
        known = [one for one in corpus.dates if one]
        if name == YEAR or all(len(one) == YEAR_ALONE for one in known):
            years = [None if not one else int(one[:YEAR_ALONE]) for one in corpus.dates]
            return np.array(years, dtype=object)
        return parse_dates(corpus.dates)
    there = [*corpus.labels, *corpus.metadata, *([DATE, YEAR] if corpus.dates is not None else [])]
    raise ParameterError(
        "{by}: the documents of the run have no column {name}; they have {known}",
        remedies=("give the others when you explore, with {label}",),
        name=shown(name),
        known=", ".join(map(shown, there[:20])) or "none",
    )


def as_numbers(values: list[Any]) -> Any:
    """Return values as an array of objects; as numbers, where all that are there are numbers."""
    found = np.array([None] * len(values), dtype=object)
    for i, one in enumerate(values):
        found[i] = None if one == "" else one
    texts = [one for one in found if one is not None]
    if not texts or not all(isinstance(one, str) for one in texts):
        return found
    try:
        numbers = [float(one) for one in texts]
    except ValueError:
        return found
    if not np.isfinite(numbers).all():
        return found
    found[[one is not None for one in found]] = numbers
    return found
