"""No module imports, through others, itself: type imports and imports in functions included.

The package's own name is not counted: it is loaded before all, and has what it names when it is
asked for. What is imported by the name of a module is one list, that of the methods of a run.
"""

from __future__ import annotations

import ast
from pathlib import Path

import spheremix

PACKAGE = Path(spheremix.__file__).parent


def modules(package):
    """Return the file of each module by its name; a package has the name of its folder."""
    found = {}
    for path in package.rglob("*.py"):
        parts = (package.name, *path.relative_to(package).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(name, path, known):
    """Return the modules that a module imports anywhere in its text."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = name.split(".")[: None if path.name == "__init__.py" else -1]
                above = above[: len(above) - node.level + 1]
                base = ".".join(filter(None, [*above, base]))
            for alias in node.names:
                inside = f"{base}.{alias.name}"
                found.add(inside if inside in known else base)
    return (found & known.keys()) - {name}


def cycles(graph):
    """Return the modules that reach each other, together (Tarjan's components of several)."""
    number, low, stack, found = {}, {}, [], []

    def visit(name):
        number[name] = low[name] = len(number)
        stack.append(name)
        for other in sorted(graph[name]):
            if other not in number:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], number[other])
        if low[name] == number[name]:
            at = stack.index(name)
            members = stack[at:]
            del stack[at:]
            if len(members) > 1:
                found.append(sorted(members))

    for name in sorted(graph):
        if name not in number:
            visit(name)
    return found


def test_no_module_imports_itself_through_others():
    known = modules(PACKAGE)
    graph = {name: imported(name, path, known) - {PACKAGE.name} for name, path in known.items()}
    assert len(graph) > 150
    assert not cycles(graph)


def test_only_a_run_imports_by_name_what_is_made_of_it():
    by_name = {}
    for name, path in modules(PACKAGE).items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = getattr(node, "func", None)
            if isinstance(called, ast.Name) and called.id == "_later":
                by_name.setdefault(name, set()).add(ast.literal_eval(node.args[0]))
    made = {"run.effects", "run.explore", "run.new_documents", "run.sentences", "run.update"}
    assert by_name == {"spheremix.run.run": made}


def test_cycles_are_found_wherever_imports_stand(tmp_path):
    package = tmp_path / "p"
    (package / "q").mkdir(parents=True)
    for name, text in {
        "__init__": "",
        "a": "def f():\n    from p import b\n",
        "b": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.q.c import C\n",
        "q/__init__": "",
        "q/c": "from ..a import A",
        "d": "from .a import A\nimport p.e",
        "e": "from p import nothing",
    }.items():
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    known = modules(package)
    graph = {name: imported(name, path, known) for name, path in known.items()}
    assert cycles(graph) == [["p.a", "p.b", "p.q.c"]]
    assert graph["p.d"] == {"p.a", "p.e"}
    assert graph["p.e"] == {"p"}
