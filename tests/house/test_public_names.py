"""Every public name says what it is, and shows it by an example that runs."""

from __future__ import annotations

import dataclasses
import doctest
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest
from little_advice import little_advice

import spheremix as sm

ROOT = Path(__file__).parents[2]

__all__ = ["little_advice"]  # the examples say nothing that hangs on much advice


def public():
    """Return the public names, those of public modules included."""
    for name in sm.__all__:
        found = getattr(sm, name)
        if isinstance(found, ModuleType):
            yield from ((f"{name}.{one}", getattr(found, one)) for one in found.__all__)
        else:
            yield name, found


NAMES = dict(public())
# What functions give back is shown where they are.
RECORDS = {name for name, one in NAMES.items() if dataclasses.is_dataclass(one)}


@pytest.mark.parametrize("name", NAMES)
def test_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = NAMES[name]
    assert inspect.getdoc(found)
    tests = doctest.DocTestFinder(recurse=False).find(found, name, globs={})
    examples = [example for test in tests for example in test.examples]
    assert examples or name in RECORDS, f"{name} has no example"
    if "Display" in name or name == "draw_run":
        pytest.importorskip("matplotlib").use("agg")
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in tests:
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0
    if "Display" in name:
        import matplotlib.pyplot as plt  # noqa: PLC0415

        plt.close("all")


def test_every_name_has_its_page():
    """The reference lists what is public, and nothing that is not there."""
    reference = (ROOT / "docs" / "reference.rst").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   ([\w.]+)$", reference, re.MULTILINE))
    assert set(NAMES) <= listed
    for name in listed - set(NAMES):
        *modules, last = name.split(".")
        module = pytest.importorskip("spheremix." + ".".join(modules))
        assert hasattr(module, last)


CLASSES = [name for name, one in NAMES.items() if inspect.isclass(one)]


def attributes(found):
    """Return the names under "Attributes" of a docstring."""
    whole = re.compile(r"^Attributes\n-+\n(.*?)(?:^\w[\w ]*\n-+\n|\Z)", re.MULTILINE | re.DOTALL)
    section = whole.search(inspect.getdoc(found))
    heads = re.findall(r"^(\w[\w*, ]*?)(?: : .*)?$", section[1], re.MULTILINE) if section else []
    return [name.strip() for head in heads for name in head.split(",")]


@pytest.mark.parametrize("name", CLASSES)
def test_attributes_are_known_to_type_checkers(name):
    """What a class documents, it declares: by an annotation, a property or in its constructor."""
    found = NAMES[name]
    declared = set(dir(found))
    for base in found.__mro__:
        declared |= set(inspect.get_annotations(base))
        if base.__module__.startswith("spheremix"):
            declared |= set(re.findall(r"\bself\.(\w+)(?=[^=(\n]* = )", inspect.getsource(base)))
    assert set(attributes(found)) <= declared


def test_attributes_are_found():
    assert {"labels_", "criteria_", "status_"} <= set(attributes(sm.VMFMixture))
    assert sum(len(attributes(NAMES[name])) for name in CLASSES) > 200
