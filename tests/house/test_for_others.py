"""What strangers, reviewers and other people's machines read: forms, recipes, lists, the paper."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
STATES = ("yes", "a public repository", "a person", "time")

pytestmark = pytest.mark.skipif(
    not (ROOT / ".github").exists(), reason="a source archive has no forms and no recipe"
)


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def table(page, title):
    """Return the cells of the table below a heading."""
    part = text(page).partition(f" {title}\n")[2].partition("\n#")[0]
    rows = re.findall(r"^\| (.*)\|$", part, re.MULTILINE)[1:]
    return [[cell.strip() for cell in row.split("|")] for row in rows]


def least(requirement):
    """Return the name and the oldest version of a requirement."""
    return re.match(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", requirement).groups()


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("LICENSE", "BSD 3-Clause"),
        ("CODE_OF_CONDUCT.md", "Contributor Covenant"),
        ("SECURITY.md", "Report a vulnerability"),
        ("CONTRIBUTING.md", "make test"),
        ("CONTRIBUTING.md", "## Ask, or report something"),
        (".github/PULL_REQUEST_TEMPLATE.md", "CHANGELOG.md"),
    ],
)
def test_files_for_other_people_are_there(path, says):
    assert says in text(path)


def test_readme_has_what_reviewers_look_for():
    readme = text("README.md")
    for said in (
        "# spheremix\n",
        "It is for people who",
        "## Install and run",
        "make test",
        "docs/migrating.md",
        "CITATION.cff",
        "CONTRIBUTING.md",
        "CODE_OF_CONDUCT.md",
        "SECURITY.md",
        "BSD-3-Clause",
    ):
        assert said in readme


def test_forms_and_workflows_can_be_read():
    yaml = pytest.importorskip("yaml", reason="PyYAML reads the forms")
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    assert {form.stem for form in forms} == {"config", "fault", "wish", "question"}
    for form in forms:
        found = yaml.safe_load(form.read_text(encoding="utf-8"))
        if form.stem == "config":
            continue
        assert {"name", "description", "body"} <= found.keys()
        asked = [part for part in found["body"] if part["type"] != "markdown"]
        assert len({part["id"] for part in asked}) == len(asked)
        assert all(part["attributes"]["label"] for part in asked)
    for workflow in (ROOT / ".github" / "workflows").glob("*.yml"):  # actionlint: make workflows
        found = yaml.safe_load(workflow.read_text(encoding="utf-8"))
        assert found["permissions"] == {"contents": "read"}
        assert all("timeout-minutes" in job for job in found["jobs"].values())


def test_documentation_is_built_elsewhere_as_here():
    yaml = pytest.importorskip("yaml", reason="PyYAML reads the settings")
    found = yaml.safe_load(text(".readthedocs.yaml"))
    assert (ROOT / found["sphinx"]["configuration"]).is_file()
    assert found["sphinx"]["fail_on_warning"]
    [install] = found["python"]["install"]
    assert set(install["extra_requirements"]) <= PROJECT["optional-dependencies"].keys()
    assert "docs" in install["extra_requirements"]


def test_recipe_of_conda_asks_for_the_same_versions():
    yaml = pytest.importorskip("yaml", reason="PyYAML reads the recipe")
    recipe = yaml.safe_load(text("conda/recipe.yaml"))
    assert recipe["context"]["version"] == PROJECT["version"]
    assert f">={recipe['context']['python_min']}" == PROJECT["requires-python"]
    assert recipe["about"]["license"] == PROJECT["license"]
    asked = dict(one.split(" >=") for one in recipe["requirements"]["run"] if one.count(" >=") == 1)
    asked["matplotlib"] = asked.pop("matplotlib-base")
    needed = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["explore"]
    assert asked == dict(least(one) for one in needed)
    built = tomllib.loads(text("pyproject.toml"))["build-system"]["requires"]
    host = dict(one.split(" >=") for one in recipe["requirements"]["host"] if " >=" in one)
    assert host == dict(least(one) for one in built)
    typed = [line for test in recipe["tests"] for line in test.get("script", [])]
    known = text("src/spheremix/cli/simulate.py")
    assert {line.split()[0] for line in typed} == set(PROJECT["scripts"])
    assert all(f'"{word}"' in known for word in typed[1].split() if word.startswith("-"))


def test_citation_has_what_readers_of_it_need():
    yaml = pytest.importorskip("yaml", reason="PyYAML reads the citation")
    found = yaml.safe_load(text("CITATION.cff"))
    assert {"cff-version", "message", "title", "authors", "license"} <= found.keys()
    assert found["license"] == PROJECT["license"]
    assert [author["name"] for author in found["authors"]] == [
        author["name"] for author in PROJECT["authors"]
    ]
    paper = found["preferred-citation"]
    assert paper["doi"] in text("README.md")
    assert {"title", "authors", "journal", "year", "volume", "start", "end"} <= paper.keys()


def test_oldest_versions_are_those_of_the_project():
    rows = {row[0]: row[1] for row in table("docs/maintaining.md", "What is supported")}
    oldest = dict(least(one) for one in PROJECT["dependencies"])
    oldest["Python"] = PROJECT["requires-python"].removeprefix(">=")
    assert rows == oldest


@pytest.mark.parametrize("title", ["scikit-learn-contrib", "pyOpenSci", "JOSS"])
def test_items_of_reviewers_are_held_by_tests_that_exist(title):
    """A cell names a file of tests, or one test; an item without is waited for, or says none."""
    rows = table("docs/maintaining.md", title)
    assert len(rows) >= 7
    for item, state, held in rows:
        assert state.startswith(STATES), item
        named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", held)
        assert named or not state.startswith("yes") or state.endswith("none"), item
        for path, test in named:
            assert (ROOT / path).is_file(), path
            assert not test or f"\ndef {test}(" in text(path), test


def test_paper_has_the_form_of_joss():
    yaml = pytest.importorskip("yaml", reason="PyYAML reads the head of the paper")
    _, head, body = text("joss/paper.md").split("---\n", 2)
    head = yaml.safe_load(head)
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= head.keys()
    named = [author["name"] for author in yaml.safe_load(text("CITATION.cff"))["authors"]]
    assert [author["name"] for author in head["authors"]] == named
    assert 750 <= len(body.partition("# References")[0].split()) <= 1750
    titles = re.findall(r"^# (.+)$", body, re.MULTILINE)
    assert titles == [
        "Summary",
        "Statement of need",
        "State of the field",
        "Software design",
        "Research impact statement",
        "Limitations",
        "References",
    ]
    entries = re.findall(r"^@\w+\{(\w+),", text(f"joss/{head['bibliography']}"), re.MULTILINE)
    assert set(re.findall(r"@(\w+)", body)) == set(entries)
    for package in ("QuadratiK", "movMF", "skmeans", "spherecluster", "BERTopic"):
        assert f"`{package}`" in body


def quoted(page):
    """Return the measured numbers of a page, each with the results that are linked beside it.

    Beside it: in the row of the table, else in the paragraph, its list or its table.
    """
    for block in re.split(r"\n\n(?!\||- )", text(page)):
        lines = re.split(r"\n(?=\||- )", block)
        own = [line for line in lines if line.startswith(("|", "- ")) and "results/" in line]
        for part in [*own, "\n".join(line for line in lines if line not in own)]:
            results = re.findall(r"[(`](?:\.\./)?(benchmarks/results/[\w.-]+)[)`]", part)
            if results:
                yield from ((one, results) for one in re.findall(r"\d+\.\d+", part))


@pytest.mark.parametrize("page", ["README.md", "docs/choosing.md"])
def test_pages_quote_what_was_measured(page):
    """Numbers beside a link to results are there, as they are printed."""
    found = list(quoted(page))
    assert len(found) > 5
    assert not [
        (number, results)
        for number, results in found
        if not any(re.search(rf"(?<![\d.]){number}(?!\d)", text(one)) for one in results)
    ]


def test_paper_quotes_what_was_measured():
    """Numbers of the paper are in the files of results, as they are printed there."""
    body = " ".join(text("joss/paper.md").split())
    search = text("benchmarks/results/search.md")
    news = dict(re.findall(r"^\| 20 newsgroups, 20 \| (\S+), (\S+) \|", search, re.MULTILINE))
    assert news
    [(before, after)] = news.items()
    assert f"rises from {float(before):.2f} with ten random starts to {float(after):.2f}" in body
    gaps = re.search(r"^\| 20 newsgroups, 20 \| ([\d.]+) \|.* ([\d.]+) \|$", search, re.MULTILINE)
    assert f"falls from {float(gaps[1]):.1f} to {float(gaps[2]):.1f} nats" in body
    words = text("benchmarks/results/words.md").partition("## bbc, K = 18\n")[2].partition("##")[0]
    for method, said in (
        ("spheremix, characteristic words", "{} for `spheremix`"),
        ("NMF", "{} for non-negative"),
        ("LDA", "{} for latent"),
        ("k-means, c-TF-IDF", "{} for k-means"),
    ):
        [npmi] = re.findall(rf"^\| {re.escape(method)} \| ([\d.]+) \|", words, re.MULTILINE)
        assert said.format(f"{float(npmi):.2f}") in body
    points, worst = re.findall(
        r"^\| all \| all \| ([\d,]+) \| \S+ \| \*\*(\S+?)\*\*",
        text("benchmarks/results/accuracy.md"),
        re.MULTILINE,
    )[0]
    assert f"Over {points} points" in body
    assert f"is {worst}." in body
    assert f"| {points} | " in text("docs/accuracy.md")
    assert f"**{worst}**" in text("docs/accuracy.md")
