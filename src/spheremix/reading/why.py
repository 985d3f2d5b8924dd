"""Why a document is where it is: exact terms, word by word."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from spheremix.data.containers import is_views
from spheremix.data.open import as_directions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from spheremix.scorer import Scorer

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Term:
    """What one word adds to the scores of two groups.

    Attributes
    ----------
    word : str
        The name of the feature.
    feature : int
        Its number; -1 for a whole view.
    value : float
        The coordinate of the document, which has length one.
    term : float
        ``kappa_k mu_kj x_j`` of the document's group k.
    rival_term : float
        The same of the other group.
    """

    word: str
    feature: int
    value: float
    term: float
    rival_term: float

    @property
    def difference(self) -> float:
        """What the word says for the group, against the other one when negative."""
        return self.term - self.rival_term


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a document is in its group rather than in another one.

    ``log_odds`` is ``bias`` plus the differences of all the terms: nothing is left out.

    Attributes
    ----------
    label : int
        The group explained, the most probable one unless another was asked for.
    rival : int
        The group it is compared with, the next probable one unless another was asked for.
    posteriors : tuple of float
        Of all groups.
    log_odds : float
        Log of the ratio of the posteriors of ``label`` and ``rival``.
    bias : float
        The part of it that depends on no word: weights and concentrations of the two groups.
    terms : tuple of Term
        One for each word of the document that either prototype has, the largest difference, in
        absolute value, first.
    """

    label: int
    rival: int
    posteriors: tuple[float, ...]
    log_odds: float
    bias: float
    terms: tuple[Term, ...]


def explain(
    x: Any,
    scorer: Scorer,
    names: Sequence[str] | Mapping[str, Sequence[str]],
    *,
    group: int | None = None,
    against: int | None = None,
) -> Explanation:
    """Explain why a document is in its group, word by word.

    Parameters
    ----------
    x : array-like or sparse row of shape (d,) or (1, d), or a dictionary of them by view
        The document; it is normalised.
    scorer : Scorer
        Of a fitted mixture of at least two groups.
    names : sequence of str
        One a feature. With several views, those of the view "words", or a dictionary by view: a
        view without names is one term, under its own name and with the column -1.
    group : int, default=None
        The group to explain, the most probable one by default.
    against : int, default=None
        The group to compare with, the most probable one of the others by default.

    Returns
    -------
    Explanation
        Exact: bias and terms add up to the log-odds.

    Examples
    --------
    >>> import numpy as np
    >>> from spheremix.reading import explain
    >>> from spheremix.scorer import Scorer
    >>> scorer = Scorer.centred(np.array([[9.0, 0.0], [0.0, 9.0]]), np.log([0.5, 0.5]))
    >>> why = explain([3.0, 4.0], scorer, ["heart", "wing"])
    >>> [(term.word, round(term.difference, 1)) for term in why.terms], round(why.log_odds, 1)
    ([('wing', 7.2), ('heart', -5.4)], 1.8)
    """
    K = scorer.n_components
    if K < 2:
        raise ValueError("There is one group only: nothing to compare it with.")
    for given in (group, against):
        if given is not None and not 0 <= given < K:
            raise ValueError(f"There is no group {given}: they are 0 to {K - 1}.")
    row = {name: _one_row(part) for name, part in x.items()} if is_views(x) else _one_row(x)
    directions = as_directions(row, n_threads=1)
    if directions.n_features != scorer.matrix.shape[1]:
        raise ValueError(
            f"The document has {directions.n_features} features, the mixture "
            f"{scorer.matrix.shape[1]}."
        )
    scores = directions.map_rows(replace(scorer, offset=0.0), "scores")[0]
    label = int(scores.argmax()) if group is None else int(group)
    others = scores.copy()
    others[label] = -np.inf
    rival = int(others.argmax()) if against is None else int(against)
    if label == rival:
        raise ValueError(f"Group {label} cannot be compared with itself.")
    unit = directions.take([0])[0]
    pair = scorer.matrix[[label, rival]]
    bias = float(scorer.biases[label] - scorer.biases[rival])
    views = getattr(directions, "views", None)
    if views is None:
        found = _terms(unit, pair, cast("Sequence[str]", names))
    else:
        named = names if isinstance(names, Mapping) else {"words": names}
        found = []
        for name, columns in zip(views.names, views.columns, strict=True):
            if name in named:
                found += _terms(unit[columns], pair[:, columns], named[name])
            elif unit[columns].any():
                found.append(Term(name, -1, 1.0, *(pair[:, columns] @ unit[columns]).tolist()))
        absent = pair[:, views.absences] @ unit[views.absences]
        bias += float(absent[0] - absent[1])
    listed = tuple(sorted(found, key=lambda term: -abs(term.difference)))
    odds = math.fsum([bias, *(term.difference for term in listed)])
    likelihoods = np.exp(scores - scores.max())
    posteriors = tuple((likelihoods / likelihoods.sum()).tolist())
    return Explanation(label, rival, posteriors, odds, bias, listed)


def _terms(unit: Array, pair: Array, names: Sequence[str]) -> list[Term]:
    """Return the words of a document that either of two groups has, and what they add."""
    features = np.flatnonzero((unit != 0.0) & (pair != 0.0).any(axis=0))
    values = unit[features]
    columns = (features, values, *(pair[:, features] * values))
    return [
        Term(names[j], j, value, term, rival_term)
        for j, value, term, rival_term in zip(*(c.tolist() for c in columns), strict=True)
    ]


def _one_row(x: Any) -> Any:
    """Return a document as a table of one row."""
    row: Any = x if hasattr(x, "shape") else np.asarray(x)
    if not row.shape or np.asarray(x).dtype.kind in "US":
        raise ValueError(
            "Give one document as a row of numbers, as the vectoriser makes of a text: got "
            f"{x!r:.40}."
        )
    if len(row.shape) == 1:
        row = row.reshape(1, -1) if hasattr(row, "reshape") else np.atleast_2d(row)
    if row.shape[0] != 1:
        raise ValueError(f"Give one document, a single row: got {row.shape[0]} rows.")
    return row
