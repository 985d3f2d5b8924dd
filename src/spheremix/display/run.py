"""All the figures of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.display.advice import AdviceDisplay
from spheremix.display.criteria import CriteriaDisplay
from spheremix.display.curves import PathDisplay
from spheremix.display.documents import DocumentMapDisplay, OverviewDisplay
from spheremix.display.effects import EffectsDisplay
from spheremix.display.maps import DataDisplay, PrototypesDisplay
from spheremix.display.sphere import SphereDisplay
from spheremix.display.style import group_names, in_style, save, words_of
from spheremix.display.tables import LabelsDisplay, TimelineDisplay
from spheremix.display.words import WordsDisplay
from spheremix.reading import contingency
from spheremix.run.options import ADVICE

if TYPE_CHECKING:
    from os import PathLike


def draw_run(run: Any, folder: str | PathLike[str]) -> list[str]:
    """Draw what a run has: maps, overview, words, path, criteria, labels, time.

    Parameters
    ----------
    run : Run
        As :func:`spheremix.load_run` returns it.
    folder : str or path
        Where the figures go, as SVG and as PNG; made where it is missing.

    Returns
    -------
    list of str
        Names of the files.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, _, _ = sm.datasets.make_vmf_mixture(100, 5, 2, kappa=20.0, random_state=0)
    >>> folder = sm.save_run("drawn", sm.VMFMixture(2, random_state=0).fit(X))
    >>> "prototypes.svg" in sm.draw_run(sm.load_run(folder), folder / "figures")
    True
    """
    files: list[str] = []
    for name, display in displays(run).items():
        with in_style():
            from matplotlib.figure import Figure  # noqa: PLC0415

            figure = Figure(display.size, layout="constrained")
            n = getattr(display, "n_axes", None)
            display.plot(figure.subplots() if n is None else figure.subplots(n, squeeze=False))
            figure.draw_without_rendering()
            figure.set_layout_engine("none")  # once for both files
        files += save(figure, folder, name)
    return files


def displays(run: Any) -> dict[str, Any]:
    """Compute the figures that a run has the values for, by name; nothing is drawn."""
    reading = run.reading
    features = "features" if words_of(reading) is None else "words"
    found: dict[str, Any] = {"prototypes": PrototypesDisplay.of(reading)}
    X = run.matrix()
    if X is not None:
        found["data"] = DataDisplay.of(reading, X)
        if run.words_matrix().shape[1] == 3:
            found["sphere"] = SphereDisplay.of(reading.model, X)
    if features == "words":
        found["words"] = WordsDisplay.of(reading)
    if run.path is not None:
        found["path"] = PathDisplay.of(run.path, features=features)
    if run.advice is not None and run.info.command.get("k_criterion") == ADVICE:
        found["criteria"] = AdviceDisplay(run.advice, reading.n_groups)
    elif len(run.dense) > 1:
        agreement = [run.start_agreement[K] for K in run.dense]
        found["criteria"] = CriteriaDisplay(
            list(run.dense),
            {name: run.dense_criteria[name] for name in ("aic", "bic", "ebic", "ric", "ricc")},
            chosen=reading.n_groups,
            agreement=agreement if np.isfinite(agreement).all() else None,
            n_samples=len(run.mixture.labels_)
            if run.path is None
            else float(run.path.sizes_[0].sum()),
        )
    return _overview(run) | found | _about_documents(run, group_names(reading))


def _overview(run: Any) -> dict[str, Any]:
    """Return the map of the documents and the overview of the groups, where rows are known."""
    found: dict[str, Any] = {}
    if run.assigned is None:
        return found
    reading, labels = run.reading, run.assigned.labels
    names, K = group_names(reading), reading.n_groups
    positions = run.positions()
    if positions is not None:
        found["document-map"] = DocumentMapDisplay(positions, labels, names, run.colours, run.title)
    words = reading.contrast
    if words_of(reading) is not None:
        listed = {one.group: one.words for one in reading.groups(n_listed=12)}
        words = [[word.word for word in listed[k]] for k in range(K)]
    if words is not None:
        sizes = np.bincount(labels[labels >= 0], minlength=K)
        found["overview"] = OverviewDisplay(sizes, names, words, run.colours, run.title)
    return found


def _about_documents(run: Any, names: list[str]) -> dict[str, Any]:
    """Return the figures of labels and dates, where the run has the documents."""
    if run.rows is None or run.corpus() is None:
        return {}
    corpus, groups, shares = run.whole_documents()
    found: dict[str, Any] = {}
    if (effects := run.told_effects) is not None:
        found |= {
            "effects" if i == 1 else f"effects-{i}": EffectsDisplay(effects, one.name)
            for i, one in enumerate(effects.columns, 1)
        }
    for i, (column, values) in enumerate(corpus.labels.items(), 1):
        labels = contingency(groups, values, n_groups=len(names), shares=shares)
        if labels.labels:
            title = column if len(corpus.labels) > 1 else None
            found["labels" if i == 1 else f"labels-{i}"] = LabelsDisplay(labels, names, title)
    if corpus.dates is not None:
        times = TimelineDisplay.of(groups, corpus.dates, names, shares=shares)
        if times.table.periods:
            found["timeline"] = times
    return found
