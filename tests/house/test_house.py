"""What the pages say is true: their code runs, their files and commands exist, versions agree."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import fake_encoder
import pytest

import spheremix

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONAL = re.compile(r"^(?:import|from) (torch|bertopic)\b", re.MULTILINE)
# Paths of somebody's machine, and where somebody's packages came from.
PRIVATE = re.compile(r"(?<![\w.])/(?:home|root|Users|work)/\w|index-url|find-links|pythonhosted")

# Who may import what, as docs/architecture.md says.
DOORS = {
    "anywidget": ("report/notebook.py",),
    "bertopic": ("bertopic.py",),
    "dask": ("data/dask_", "text/parts.py"),
    "distributed": ("data/dask_",),
    "filelock": ("run/folder/store.py",),
    "ftfy": ("text/trouble.py",),
    "matplotlib": ("display/",),
    "mcp": ("cli/programs.py",),
    "narwhals": ("text/formats.py",),
    "pooch": ("datasets/cstr.py",),
    "pyarrow": ("data/block_sources.py", "text/formats.py"),
    "python_calamine": ("text/formats.py",),
    "rich": ("cli/console.py",),
    "simplemma": ("text/lexicon.py",),
    "torch": ("data/torch_", "data/triton_"),
    "triton": ("data/triton_",),
    "typer": ("cli/",),
}


def blocks(page, language):
    """Return the blocks of a language, each with the number of its first line."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        if found[1] == language:
            yield text.count("\n", 0, found.start(2)), found[2]


def name(page):
    return page.relative_to(ROOT).as_posix()


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if any(blocks(p, "python"))], ids=name)
def test_snippets_run(page, tmp_path, monkeypatch):
    """The blocks of a page run one after another, as a reader would type them.

    What is optional may be missing: then the blocks from the first one that imports it on are left
    out. The weights of a sentence encoder are not to be had; a small one stands for it. The figures
    of runs, which take most of the time of a small run, are drawn elsewhere.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "sentence_transformers", fake_encoder.module())
    monkeypatch.setenv("MPLBACKEND", "agg")
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    for line, code in blocks(page, "python"):
        if not all(find_spec(library) for library in OPTIONAL.findall(code)):
            break
        # The empty lines make a traceback point to the line of the page.
        exec(compile("\n" * line + code, str(page), "exec"), module.__dict__)  # noqa: S102


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_exist(page):
    """What a page tells to type with make is a target of the Makefile."""
    typed = {
        word
        for _, code in blocks(page, "sh")
        for command in re.findall(r"^make\b(.*)$", code, re.MULTILINE)
        for word in command.partition("#")[0].split()
        if "=" not in word
    }
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert typed <= set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    assert page.name != "README.md" or {"demo", "test"} <= typed


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_make_knows_what_to_do():
    done = subprocess.run(
        ["make", "--dry-run", "demo", "test"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for step in ("spheremix demo", "ruff check", "mypy", "lint-imports", "node --", "-m pytest"):
        assert step in done.stdout


def test_make_knows_other_machines():
    """Their commands take minutes and are run by hand: at least they name files that exist."""
    done = subprocess.run(
        ["make", "--dry-run", "arm", "clang", "fuzz", "portable", "wheels", "windows"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    named = set(re.findall(r"tools/[\w/]+\.\w+", done.stdout))
    machines = {"tools/arm/run.sh", "tools/wheels.py", "tools/windows/run.sh"}
    assert {*machines, "tools/fuzz_kernels.py", "tools/portable_wheels.py"} <= named
    assert not [path for path in named if not (ROOT / path).exists()]
    for path in machines:
        assert "tools/check_kernels.py" in (ROOT / path).read_text(encoding="utf-8")


def test_every_test_is_run_by_somebody():
    """The tests that `make test` leaves out are those of `make slow`, and CI runs both."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    chosen = re.findall(
        r"^(unit|slow):.*\n\t.*pytest -m (slow|\"not slow\") ", makefile, re.MULTILINE
    )
    assert chosen == [("unit", '"not slow"'), ("slow", "slow")]
    runs = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert {"make test", "make slow"} <= set(runs)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)
    assert not [link for link in links if not (page.parent / link).exists()]
    if page.parent == ROOT / "docs":  # Sphinx knows no other pages
        assert not [link for link in links if re.match(r"\.\./.*\.md$", link)]
    named = re.findall(r"`((?:docs|src|tests|tools|benchmarks|experiments)/[\w./-]+\w)`", text)
    assert not [path for path in named if not (ROOT / path).exists()]


def test_pages_are_short_enough_to_be_read():
    words = {page: len(page.read_text(encoding="utf-8").split()) for page in PAGES}
    assert words[ROOT / "README.md"] <= 1150
    assert sum(n for page, n in words.items() if page.parent == ROOT / "docs") <= 38_850


def test_architecture_names_every_folder():
    """Those of the package; and the folders beside it that the page names are there."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    house = page.partition("\n## The folders\n")[2].partition("```text\n")[2].partition("```")[0]
    package = ROOT / "src" / "spheremix"
    there = {path.parent.name for path in package.glob("*/__init__.py")}
    assert set(re.findall(r"^  (\w+)/ ", house, re.MULTILINE)) == there
    beside = re.findall(r"(\w+)/,? ", "\n".join(re.findall(r"^\w.*", house, re.MULTILINE)))
    assert len(beside) > 5
    assert not [folder for folder in beside if not (ROOT / folder).is_dir()]


def test_the_command_is_thin():
    """It parses, calls and prints: what it shows comes from ``run/``. Servers are apart."""
    files = set((ROOT / "src" / "spheremix" / "cli").glob("*.py"))
    files = {file for file in files if file.name not in {"serve.py", "programs.py"}}
    assert sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files) <= 1000


def test_heavy_libraries_have_their_doors():
    """Those that are imported by name too, which the import contracts do not see."""
    package = ROOT / "src" / "spheremix"
    asked = {library: set() for library in DOORS}
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for words in re.findall(
            r"^ *(?:import|from) +(\w+)|import_module\(\s*\"(\w+)", text, re.MULTILINE
        ):
            for library in set(words) & set(DOORS):
                asked[library].add(path.relative_to(package).as_posix())
    for library, doors in DOORS.items():
        assert asked[library], library
        assert all(name.startswith(doors) for name in asked[library]), (library, asked[library])


def test_versions_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [project["version"]]
    assert spheremix.__version__ == project["version"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    between = project["version"].endswith(".dev0")  # two releases
    assert f"## [{'Unreleased' if between else project['version']}]" in changes


@pytest.mark.skipif(
    shutil.which("git") is None or not (ROOT / ".git").exists(), reason="no git checkout"
)
def test_nothing_private_is_tracked():
    listed = subprocess.run(
        ["git", "ls-files", "-z"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found = []
    for path in filter(None, listed.stdout.split("\0")):
        if path == "tests/house/test_house.py" or not (ROOT / path).is_file():
            continue
        content = (ROOT / path).read_bytes()
        if b"\0" in content:
            continue
        lines = content.decode("utf-8").splitlines()
        found += [f"{path}:{i}" for i, line in enumerate(lines, 1) if PRIVATE.search(line)]
    assert not found


def test_the_readme_quotes_the_times_that_were_measured():
    measured = json.loads((ROOT / "benchmarks/results/time_to_report.json").read_text("utf-8"))
    said = " ".join((ROOT / "README.md").read_text("utf-8").split())
    quoted = {"bbc": "news articles", "titles": "titles", "filings": "filings"}
    for case, what in {**quoted, "200,000 texts": "200,000 short texts"}.items():
        seconds = measured[case]["first"]["after"]["seconds"]
        assert f"{what} {seconds} s" in said, case
