"""Edits from the page to the run and back: made, saved, applied, and seen in the new page."""

from __future__ import annotations

import pytest
from cli_common import rows, run, texts, write_lines
from edit_common import explore


@pytest.fixture
def explored(tmp_path):
    """A run of three groups."""
    corpus = write_lines(tmp_path / "docs.jsonl", texts(60))
    return explore(corpus, tmp_path / "run")[0]


@pytest.fixture
def page(browser, explored):
    """The page of the run; it must stay silent."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page, errors = context.new_page(), []
    page.set_default_timeout(8000)
    page.on("pageerror", lambda error: errors.append(str(error)))
    open_page(page, explored.folder)
    yield page
    context.close()
    assert errors == []


def open_page(page, folder):
    page.goto((folder / "report.html").as_uri())
    page.locator("body[data-ready]").wait_for()


def choose(page, k):
    page.locator(f"#group-{k}").click()


def answer(page, text):
    page.locator("#ask-form input").fill(text)
    page.locator("#ask-form [type=submit]").click()


def save(page, folder):
    """Save the edits of the page as a person does; give the file."""
    page.locator("#edits-button").click()
    with page.expect_download() as waiting:
        page.locator("#save-edits").click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def topics(folder):
    """Return the set of topics of the documents of each group, by the name of the group."""
    found = {}
    for row in rows(folder / "documents.csv"):
        found.setdefault(row["name"], set()).add(row["topic"])
    return found


def group_of(folder, topic):
    """Return the number of the group that has the documents of a topic."""
    [k] = {row["group"] for row in rows(folder / "documents.csv") if row["topic"] == topic}
    return int(k)


def shown(page):
    """Return the name of the group of each document, as the page shows and saves it."""
    page.locator(".filters > summary").click()
    page.locator("#scope").select_option("all")
    page.locator("[data-value=all]").click()
    page.locator("#save").click()
    with page.expect_download() as waiting:
        page.locator("[data-file='documents.csv']").click()
    return {row["id"]: row["shown_group"] for row in rows(waiting.value.path())}


def part_names(page):
    """Return the name and the size of each group of the list."""
    listed = page.locator("#group-list li")
    names, sizes = (listed.locator(one).all_text_contents() for one in (".name", ".size"))
    return dict(zip(names, map(int, sizes), strict=True))


def test_what_the_page_shows_is_what_the_edits_make(page, explored, tmp_path):
    """A split into the tree's parts, a part merged with another group, names, and one untouched."""
    folder = explored.folder
    nodes = explored.nodes
    own = {one.group: i for i, one in enumerate(nodes) if one.chosen}
    k = next(k for k in own if any(one.parent == own[k] for one in nodes))
    other, left = (one for one in own if one != k)
    choose(page, k)
    page.get_by_role("button", name="split", exact=True).click()
    part = page.locator("#group-list li").evaluate_all("all => all.map(li => +li.id.slice(6))")
    [part] = [one for one in part if one not in own]
    choose(page, part)
    page.get_by_role("button", name="rename").click()
    answer(page, "The smaller part")
    choose(page, other)
    page.get_by_role("button", name="rename").click()
    answer(page, "Another one")
    kept = part_names(page)
    before = shown(page)
    run("edit", folder, save(page, tmp_path), "--threads", 1)
    open_page(page, folder)
    now = part_names(page)
    assert len(now) == len(kept) == 4
    untouched = explored.groups["name"][explored.groups["group"].index(left)]
    assert {"The smaller part", "Another one", untouched} <= set(now) & set(kept)
    after = {row["id"]: row["name"] for row in rows(folder / "documents.csv")}
    same = sum(before[one] == after[one] for one in after if before[one] in now)
    assert same >= 0.9 * sum(name in now for name in before.values())
    for name in ("The smaller part", "Another one", untouched):
        assert abs(now[name] - kept[name]) <= 0.2 * kept[name]


@pytest.mark.slow
def test_names_and_merges_of_the_page_become_those_of_the_run(page, explored, tmp_path):
    folder = explored.folder
    sea, sky, food = (group_of(folder, topic) for topic in ("sea", "sky", "food"))
    choose(page, food)
    page.get_by_role("button", name="rename").click()
    answer(page, "Kitchen")
    choose(page, sea)
    page.get_by_role("button", name="rename").click()
    answer(page, "Outside")
    page.get_by_role("button", name="merge").click()
    page.locator(f"#ask-form [data-group='{sky}']").click()
    # The tables of the page know it already.
    page.locator(".filters > summary").click()
    page.locator("#scope").select_option("all")
    page.locator("[data-value=all]").click()
    page.locator("#save").click()
    with page.expect_download() as waiting:
        page.locator("[data-file='documents.csv']").click()
    told = {row["topic"]: row["name"] for row in rows(waiting.value.path())}
    assert told == {"sea": "Outside", "sky": "Outside", "food": "Kitchen"}
    run("edit", folder, save(page, tmp_path))
    assert topics(folder) == {"Outside": {"sea", "sky"}, "Kitchen": {"food"}}
    assert [row["name"] for row in rows(folder / "groups.csv")] == ["Outside", "Kitchen"]
    # The new page has two groups, and the edits of the old one are not waiting in it.
    open_page(page, folder)
    names = page.locator("#group-list .name").all_text_contents()
    assert sorted(names) == ["Kitchen", "Outside"]
    assert page.locator("#edits-button").inner_text() == "edits"
    page.locator("#edits-button").click()
    assert "The run was edited" in page.locator("#edits").inner_text()
    run("edit", folder, "--undo")
    assert len(rows(folder / "groups.csv")) == 3


@pytest.mark.slow
def test_splits_and_dropped_words_of_the_page_become_those_of_the_run(page, explored, tmp_path):
    folder = explored.folder
    sea = group_of(folder, "sea")
    choose(page, sea)
    page.get_by_role("button", name="split", exact=True).click()
    assert "fitted again" in page.locator("#card").inner_text()
    word = page.locator("#card .word").first
    dropped = word.text_content()  # it may be out of sight, and then not laid out
    word.focus()
    page.keyboard.press("Delete")
    before = {row["word"] for row in rows(folder / "words.csv")}
    run("edit", folder, save(page, tmp_path))
    assert before - {row["word"] for row in rows(folder / "words.csv")} >= {dropped}
    assert len(rows(folder / "groups.csv")) == 4
    parts = [name for name, found in topics(folder).items() if "sea" in found]
    assert len(parts) == 2
    open_page(page, folder)
    assert page.locator("#group-list [role=option]").count() == 4
    page.locator("#search").fill(dropped)
    page.wait_for_timeout(400)
    assert page.locator(f"#found [role=option] >> text='{dropped}'").count() == 0
