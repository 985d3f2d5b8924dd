"""Fitted attributes are set in one place, and say nothing of an earlier fit."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spheremix as sm
from spheremix.estimators.fitted import set_fitted

SOURCES = Path(sm.__file__).parent
SETS_THEM = {"estimators/fitted.py"}
ESTIMATORS = [*(SOURCES / "estimators").glob("*.py"), SOURCES / "run" / "folder" / "fitted.py"]


def assigned(tree):
    """Return the attributes that a module assigns to, on any object."""
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in targets:
            for one in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(one, ast.Attribute):
                    yield one.attr


@pytest.mark.parametrize("path", ESTIMATORS, ids=lambda path: path.name)
def test_fitted_attributes_are_set_in_one_place(path):
    if path.relative_to(SOURCES).as_posix() in SETS_THEM:
        return
    names = set(assigned(ast.parse(path.read_text(encoding="utf-8"))))
    assert not {name for name in names if name.endswith("_") and not name.startswith("_")}


def test_attributes_of_an_earlier_fit_are_removed():
    estimator = sm.VMFMixture(2)
    estimator.old_, estimator._kept, estimator.new = 1, 2, 3
    set_fitted(estimator, {"fresh_": 4})
    assert not hasattr(estimator, "old_")
    assert (estimator._kept, estimator.new, estimator.fresh_) == (2, 3, 4)
    assert estimator.n_components == 2


@pytest.mark.parametrize(
    "estimator",
    [
        sm.VMFMixture(2, random_state=0),
        sm.VMFPath(2, random_state=0, max_steps=3),
        sm.VMFMixtureIC((2, 3), random_state=0, max_steps=3),
        sm.SphericalKMeans(2, random_state=0),
        sm.VMFCoclustering(2, random_state=0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_names_of_columns_are_those_of_the_last_fit(estimator):
    X = np.kron(np.eye(2), np.ones((10, 3))) + np.random.default_rng(0).random((20, 6)) / 5
    estimator.fit(pd.DataFrame(X, columns=list("abcdef")))
    assert list(estimator.feature_names_in_) == list("abcdef")
    estimator.fit(X)
    assert not hasattr(estimator, "feature_names_in_")
    assert estimator.n_features_in_ == 6


def test_every_origin_of_a_mixture_has_the_same_attributes():
    """Fitted, on a path, chosen, refitted: the same names, but what needs the rows."""
    X, _, _ = sm.datasets.make_vmf_mixture(200, 6, 3, kappa=10.0, random_state=0)
    fitted = sm.VMFMixture(3, random_state=0).fit(X)
    study = sm.VMFMixtureIC((3,), random_state=0, refit=True).fit(X)
    own = {name for name in vars(fitted) if name.endswith("_")}
    for other in (study.dense_models_[3], study.best_path_.best_estimator_, study.best_estimator_):
        assert {name for name in vars(other) if name.endswith("_")} == own - {"n_samples_seen_"}
    step = {name for name in vars(study.best_path_.model(1)) if name.endswith("_")}
    assert step == own - {"n_samples_seen_", "labels_"}
