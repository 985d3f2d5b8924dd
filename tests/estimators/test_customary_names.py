"""What people who know other packages type: names of attributes and parameters, and their types."""

from __future__ import annotations

import inspect
import pickle
from typing import get_args

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import spheremix as sm
from spheremix.estimators import options, predictions

KINDS = [
    sm.VMFMixture,
    sm.VMFPath,
    sm.VMFMixtureIC,
    sm.VMFTree,
    sm.SphericalKMeans,
    sm.VMFCoclustering,
]


@pytest.fixture(scope="module")
def rows():
    return sm.datasets.make_vmf_mixture(120, 6, 3, kappa=30.0, random_state=0)[0]


@pytest.fixture(scope="module")
def fitted(rows):
    return [
        sm.VMFMixture(3, n_init=2, random_state=0).fit(rows),
        sm.VMFPath(3, n_init=2, max_steps=3, random_state=0).fit(rows),
        sm.VMFMixtureIC([2, 3], k_criterion="bic", n_init=2, max_steps=2, random_state=0).fit(rows),
        sm.VMFTree(6, n_clusters=3, n_init=1, random_state=0).fit(rows),
        sm.SphericalKMeans(3, n_init=2, random_state=0).fit(rows),
        sm.VMFCoclustering(2, n_init=1, random_state=0).fit(np.abs(rows)),
    ]


def test_centres_and_convergence(fitted):
    for estimator in fitted:
        chosen = getattr(estimator, "best_estimator_", estimator)
        assert estimator.cluster_centers_ is chosen.prototypes_
        assert estimator.converged_ is (chosen.status_ == "converged")


def test_a_fit_that_was_stopped_has_not_converged(rows):
    with pytest.warns(UserWarning, match="stopped at its limit"):
        mixture = sm.VMFMixture(3, init="random", n_init=1, max_iter=1, random_state=0).fit(rows)
    assert mixture.converged_ is False


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_before_a_fit(kind):
    for name in ("cluster_centers_", "converged_"):
        with pytest.raises(NotFittedError):
            getattr(kind(), name)
        assert not hasattr(kind(), name)


def test_inertia_is_that_of_unit_rows(rows):
    """Against the definition of KMeans, with weights and rows of other lengths."""
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(rows))
    lengths = np.random.default_rng(1).uniform(0.1, 9.0, (len(rows), 1))
    fit = sm.SphericalKMeans(3, random_state=0).fit(rows * lengths, sample_weight=weights)
    squares = ((rows - fit.prototypes_[fit.labels_]) ** 2).sum(axis=1)
    assert fit.inertia_ == pytest.approx(weights @ squares, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_of_other_packages_are_named_as_here(kind):
    known = inspect.signature(kind).parameters
    for elsewhere, here in predictions.ELSEWHERE.items():
        assert here in known
        if elsewhere in known:
            continue
        with pytest.raises(TypeError, match=f"no parameter {elsewhere}: it is {here} here"):
            kind(**{elsewhere: 2})
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        kind(colour=2)


def test_copies_are_made_as_before(fitted):
    for estimator in fitted:
        again = pickle.loads(pickle.dumps(estimator))  # noqa: S301
        assert np.array_equal(again.cluster_centers_, estimator.cluster_centers_)
        assert clone(estimator).get_params() == estimator.get_params()


def test_type_checkers_know_every_fitted_attribute(fitted):
    """And of each the type that it has: list, dictionary, number, text or array."""
    for estimator in fitted:
        kind = type(estimator)
        declared = {
            name: annotation
            for base in reversed(kind.__mro__)
            for name, annotation in vars(base).get("__annotations__", {}).items()
        }
        for name, value in vars(estimator).items():
            if not name.endswith("_") or name == "feature_names_in_":
                continue
            assert name in declared, (kind.__name__, name)
            shown = declared[name].split("[")[0]
            if shown in {"int", "float", "str", "list", "dict"}:
                plain = {"int": (int, np.integer), "float": (float, np.floating)}.get(shown)
                assert isinstance(value, plain or {"str": str, "list": list, "dict": dict}[shown])
            elif shown in {"Array", "Labels"}:
                assert value.dtype.kind == {"Array": "f", "Labels": "i"}[shown], name
            else:
                assert type(value).__name__ == shown, name


@pytest.mark.parametrize("kind", KINDS)
def test_values_of_parameters_have_types(kind):
    """``kappa="fre"`` is an error to a type checker: no parameter with names takes any text.

    Criteria are the exception: their names may be in capitals.
    """
    for name, parameter in inspect.signature(kind).parameters.items():
        if not name.endswith("criterion"):
            assert not {"str", "ArrayLike | str"} & set(parameter.annotation.split(" | ")), name
    accepted = get_args(options.Kappa)
    assert float in accepted
    assert str not in accepted
    assert {name for one in accepted for name in get_args(one) if isinstance(name, str)} == {
        "shared",
        "free",
    }


def test_rows_and_readings_show_what_they_are(rows, fitted):
    for engine in ("reference", "auto"):
        shown = repr(sm.as_directions(rows, engine=engine, n_threads=1))
        assert shown.endswith("Directions: 120 directions in 6 dimensions>")
    mixture, path, *_ = fitted
    assert repr(sm.reading.Reading(mixture)) == "<Reading of VMFMixture: 3 groups, 6 features>"
    shown = repr(sm.reading.Reading(path, step=1))
    assert shown == f"<Reading of VMFMixture: 3 groups, 6 features, step 1 of {len(path.betas_)}>"
