"""Names, types and documentation of parameters and attributes, and where attributes are set."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from mixture_common import KINDS

import spheremix as sm
from spheremix.estimators import options, predictions
from spheremix.estimators.fitted import set_fitted
from spheremix.estimators.parameter_docs import PARAMETERS, documented


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_of_other_packages_are_named_as_here(kind):
    known = inspect.signature(kind).parameters
    for elsewhere, here in predictions.ELSEWHERE.items():
        assert here in known or kind is sm.VMFTree
        if elsewhere in known or here not in known:
            continue
        with pytest.raises(TypeError, match=f"no parameter {elsewhere}: it is {here} here"):
            kind(**{elsewhere: 2})
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        kind(colour=2)


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


@pytest.mark.parametrize("kind", KINDS)
def test_every_parameter_is_documented_with_its_default(kind):
    section = re.search(
        r"\nParameters\n-+\n(.*?)\n\nAttributes\n", inspect.getdoc(kind), re.DOTALL
    )[1]
    heads = dict(re.findall(r"^(\w+) : .*default=(.*)$", section, re.MULTILINE))
    known = inspect.signature(kind).parameters
    assert list(heads) == list(known)
    for name, parameter in known.items():
        assert ast.literal_eval(heads[name]) == parameter.default


@pytest.mark.parametrize("kind", KINDS)
def test_methods_document_their_parameters(kind):
    for name, method in inspect.getmembers(kind, inspect.isfunction):
        if name.startswith("_") or not method.__module__.startswith("spheremix"):
            continue
        said = inspect.getdoc(method)
        assert not re.search(r"^ *\{[\w, ]+\}$", said, re.MULTILINE), name
        for parameter in [one for one in inspect.signature(method).parameters if one != "self"]:
            assert re.search(rf"^(\w+, )*\**{parameter}\b.* : ", said, re.MULTILINE), (
                name,
                parameter,
            )


def test_a_name_that_nobody_has_described_is_an_error():
    kind = type("Kind", (), {"__doc__": "One.\n\n    {tol, tolerance}\n"})
    with pytest.raises(KeyError, match="tolerance"):
        documented(kind)
    kind = documented(type("Kind", (), {"__doc__": "One {tol}.\n\n    {tol}\n"}))
    assert kind.__doc__.startswith("One {tol}.\n\n    tol : float, default=1e-7\n        In nats")
    assert PARAMETERS["new_X"].startswith("X : ")


def test_without_docstrings():
    code = "import spheremix; raise SystemExit(spheremix.VMFMixture.__doc__ is not None)"
    subprocess.run([sys.executable, "-OO", "-c", code], check=True)  # noqa: S603


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
