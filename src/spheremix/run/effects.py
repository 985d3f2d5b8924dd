"""What the groups of a run depend on: columns of its documents, and :func:`spheremix.effects`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.data.open import as_directions
from spheremix.errors import ParameterError
from spheremix.reading.effects import N_REPLICATES, Effects, effects, read_column
from spheremix.reading.timeline import parse_dates
from spheremix.run.folder.files import RunError, check_output, replacing
from spheremix.run.folder.store import key_of
from spheremix.run.tables import csv_lines, effect_columns
from spheremix.text.corpus import shown
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from spheremix.run import Listener
    from spheremix.run.run import Run
    from spheremix.run.stages import Context
    from spheremix.run.stages.passages import Cut
    from spheremix.run.stages.rows import Rows
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
    rows, split = run.rows, run.by_passages
    if rows is None or run.corpus() is None:
        raise RunError(f"{run.folder}: the run has no documents: nothing is known beside its rows.")
    names = [one.strip() for one in by.split(",")] if isinstance(by, str) else list(by)
    found = effects_of(
        run.model,
        rows,
        run.cut,
        names,
        listener,
        temperature=None if split is None else split.temperature,
        stability=run.stability(),
        n_replicates=n_replicates,
        level=level,
        random_state=run.info.command.get("seed", 0),
    )
    return named_effects(found, run)


def effects_of(
    model: Any,
    rows: Rows,
    cut: Cut | None,
    names: Iterable[str],
    listener: Listener,
    *,
    n_replicates: int = N_REPLICATES,
    threads: int | None = None,
    **how: Any,
) -> Effects:
    """Find out how the shares of groups depend on columns of the documents of these rows."""
    corpus = rows.corpus if cut is None else cut.whole
    documents = rows.kept if cut is None else cut.documents[rows.kept]
    columns = {name: column_of(corpus, name)[documents] for name in names}
    listener.begin(f"Drawing {count(len(corpus), 'document')} again, {n_replicates} times")

    def follow(n_done: int) -> None:
        listener.update(n_done / n_replicates, f"{count(n_done, 'draw')} done")

    return effects(
        model,
        as_directions(rows.views, n_threads=threads),
        columns,
        documents=None if cut is None else documents,
        lengths=None if cut is None else np.maximum(cut.n_words[rows.kept], 1),
        n_replicates=n_replicates,
        callback=follow,
        **how,
    )


def named_effects(found: Effects, run: Run) -> Effects:
    """Return effects with the names that the groups have now."""
    names = tuple(run.reading.group_name(k) for k in range(run.info.n_groups))
    return replace(found, names=names)


def check_columns(corpus: Corpus | None, names: Iterable[str] | None) -> None:
    """Refuse columns that no effect can be told of, before all the work."""
    for name in names or ():
        if corpus is None:
            raise ParameterError("{effects} needs documents: nothing is known beside the rows")
        try:
            read_column(name, column_of(corpus, name), len(corpus))
        except ParameterError as error:
            text = error.message.text.replace("{by}", "{effects}")
            raise ParameterError(
                text, remedies=error.message.remedies, **error.message.values
            ) from None


def measure_effects(
    x: Context, rows: Rows, cut: Cut | None, model: Any, model_key: str, **known: Any
) -> Effects:
    """Return the effects of the columns that were asked for, with the groups of an exploration."""
    options = x.options
    names = list(options.effects or ())
    corpus = rows.corpus if cut is None else cut.whole
    seen = [str(column_of(corpus, name).tolist()) for name in names]
    beside = None if cut is None else (cut.documents.tolist(), cut.n_words.tolist())
    key = key_of(model_key, options.criterion, options.max_noise, names, seen, beside, options.seed)

    def make() -> Effects:
        how = {"random_state": options.seed, "threads": options.threads, **known}
        return effects_of(model, rows, cut, names, x.listener, **how)

    return x.store.stage("effects", key, Effects, make)


def write_effects(
    run: Run, by: str, output: Path, listener: Listener, *, n_draws: int, force: bool
) -> Effects:
    """Find out what the groups depend on, and write shares and differences with intervals."""
    check_output(output, "effects.csv", force=force)
    found = run_effects(run, by, listener, n_replicates=n_draws)
    with replacing(output) as file:
        for line in csv_lines(effect_columns(found), short=True):
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
