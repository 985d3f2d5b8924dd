"""Every estimator documents each of its parameters, those that several share included."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys

import pytest

import spheremix as sm
from spheremix.estimators.parameter_docs import PARAMETERS, documented

KINDS = [
    sm.VMFMixture,
    sm.VMFPath,
    sm.VMFMixtureIC,
    sm.VMFTree,
    sm.SphericalKMeans,
    sm.VMFCoclustering,
]


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
