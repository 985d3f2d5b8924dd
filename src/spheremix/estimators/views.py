"""Several views of the rows: parameters that are given by view, and what is fitted in each view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.errors import ParameterError
from spheremix.estimators import validation as check
from spheremix.models.profile import FLAT
from spheremix.models.views import ViewsModel
from spheremix.penalties import L1

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from spheremix.estimators.options import MixtureOptions
    from spheremix.models.vmf import VMFModel
    from spheremix.views import Views

    Array = NDArray[np.float64]

WORDS = "words"  # the view whose prototypes have zeros, unless others are named
MEANING = "meaning"  # the view beside it in a run


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What a mixture has in one view.

    Attributes
    ----------
    prototypes_ : ndarray of shape (K, d)
        Unit vectors, with exact zeros in the views that can have them.
    kappas_ : ndarray of shape (K,)
        Concentrations.
    weight : float
        What the part of the view in the score is multiplied by.
    """

    prototypes_: Array
    kappas_: Array
    weight: float = 1.0


def views_of(
    views_in: Mapping[str, int], model: Any, prototypes: Array, kappas: Array
) -> dict[str, View]:
    """Return what a fitted mixture has in each view, by name."""
    if not isinstance(model, ViewsModel):
        (name,) = views_in
        return {name: View(prototypes, kappas)}
    parts = zip(model.views.names, model.views.columns, model.view_weights, strict=True)
    return {
        name: View(prototypes[:, columns], kappas[:, v], weight)
        for v, (name, columns, weight) in enumerate(parts)
    }


def words_of(mixture: Any) -> Any:
    """Return what has the prototypes and concentrations of words: a view, or the whole mixture."""
    views_in = getattr(mixture, "views_in_", None) or {}
    if len(views_in) < 2:
        return mixture
    if WORDS not in views_in:
        raise ValueError(
            f"The mixture has the views {', '.join(map(repr, views_in))}, and none of them is "
            f"called {WORDS!r}: groups are described by the view of this name."
        )
    return mixture.views_[WORDS]


def word_columns(mixture: Any) -> slice:
    """Return the columns of the words among those of all views."""
    views_in = getattr(mixture, "views_in_", None) or {}
    if len(views_in) < 2:
        return slice(None)
    names = list(views_in)
    start = sum(views_in[name] for name in names[: names.index(WORDS)])
    return slice(start, start + views_in[WORDS])


def by_view(name: str, value: Any, names: tuple[str, ...], default: Any) -> dict[str, Any]:
    """Return a parameter for each view: one for all, or a dictionary by the names of some."""
    if not isinstance(value, Mapping):
        return dict.fromkeys(names, value)
    unknown = [view for view in value if view not in names]
    if unknown:
        raise ParameterError(
            f"{{{name}}} is given for the view {{view}}, and X has the views {{names}}",
            view=repr(unknown[0]),
            names=", ".join(names),
        )
    return {view: value.get(view, default) for view in names}


def for_one_view(options: MixtureOptions, views_in: Mapping[str, int] | None) -> MixtureOptions:
    """Return the options for rows of one view, whose name, if it has one, may have been used."""
    named = {"kappa": "shared", "feature_weights": None, "view_weights": None}
    given = {key: getattr(options, key) for key in named}
    if not any(isinstance(value, Mapping) for value in given.values()):
        return options
    if views_in is None:
        key = next(key for key, value in given.items() if isinstance(value, Mapping))
        raise ParameterError(
            f"{{{key}}} is given by view, and X is one table of rows",
            remedies=("give X as a dictionary of views, {'words': ..., 'meaning': ...}",),
        )
    (name,) = views_in
    found = {key: by_view(key, given[key], (name,), named[key])[name] for key in given}
    return replace(options, **found)


def build_views_model(
    options: MixtureOptions,
    views: Views,
    n_threads: int,
    build: Callable[[MixtureOptions, int, int], VMFModel],
) -> ViewsModel:
    """Make the model of several views; ``build`` makes that of one."""
    _refuse_what_needs_one_view(options)
    names = views.names
    weights = _view_weights(options.view_weights, names)
    named = _named_views(options.sparse_views, names)
    if options.beta > 0.0 and not any(named):
        raise ParameterError(
            "{beta} is for the views that can have zeros, and none is named",
            remedies=("name them in {sparse_views}", "set {beta=0}"),
        )
    kappas = by_view("kappa", options.kappa, names, "shared")
    models = tuple(
        build(
            replace(options, kappa=kappas[name], beta=0.0, feature_weights=None),
            size,
            n_threads,
        )
        for name, size in zip(names, views.sizes, strict=True)
    )
    l1 = L1(options.beta, _feature_weights(options.feature_weights, views, named))
    return ViewsModel(views, models, weights, named, l1, n_threads)


def _refuse_what_needs_one_view(options: MixtureOptions) -> None:
    """Say which parameters several views do not have."""
    for name, value, only in (
        ("noise", options.noise, None),
        ("m_step", options.m_step, "exact"),
        ("kappa_solver", options.kappa_solver, "exact"),
    ):
        if value != only:
            raise ParameterError(
                f"{{{name}={value!r}}} is for rows of one view, and X has several",
                remedies=(f"set {{{name}={only!r}}}",),
            )
    if options.kappa_prior != FLAT:
        raise ParameterError(
            "{kappa_prior} is for rows of one view, and X has several",
            remedies=("set {kappa_prior=None}",),
        )
    if isinstance(options.init, str) and options.init not in {"merge", "random"}:
        raise ParameterError(
            "{init} must be 'merge' or 'random' where X has several views, got {got}",
            got=repr(options.init),
        )


def _view_weights(value: Any, names: tuple[str, ...]) -> tuple[float, ...]:
    """Return the weights of the views, ones by default."""
    if value is not None and not isinstance(value, Mapping):
        raise ParameterError(
            "{view_weights} must be a dictionary of numbers by view, got {got}", got=repr(value)
        )
    each = by_view("view_weights", value or {}, names, 1.0)
    weights = tuple(float(check.require_number("view_weights", each[name])) for name in names)
    if not any(weights):
        raise ParameterError("{view_weights} are zero for every view: nothing is left to fit")
    return weights


def _named_views(value: Any, names: tuple[str, ...]) -> tuple[bool, ...]:
    """Return which views can have zeros: those named, or the words."""
    if value is None:
        return tuple(name == WORDS for name in names)
    wanted = [value] if isinstance(value, str) else list(value)
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise ParameterError(
            "{sparse_views} has {name}, and X has the views {names}",
            name=repr(unknown[0]),
            names=", ".join(names),
        )
    return tuple(name in wanted for name in names)


def _feature_weights(value: Any, views: Views, named: tuple[bool, ...]) -> Array:
    """Return the multipliers of beta for all columns: zero in views that have no zeros."""
    if value is not None and not isinstance(value, Mapping):
        if sum(named) != 1:
            raise ParameterError(
                "{feature_weights} must be a dictionary by view where X has several views with "
                "zeros, or none"
            )
        value = {views.names[named.index(True)]: value}
    each = by_view("feature_weights", value or {}, views.names, None)
    parts = []
    for name, size, sparse in zip(views.names, views.sizes, named, strict=True):
        own = each[name]
        if own is not None and not sparse:
            raise ParameterError(
                "{feature_weights} are given for the view {name}, which has no zeros",
                remedies=("name it in {sparse_views}",),
                name=repr(name),
            )
        if own is not None:
            parts.append(check.require_vector("feature_weights", own, size, "feature"))
        else:
            parts.append(np.full(size, float(sparse)))
    return np.concatenate(parts)
