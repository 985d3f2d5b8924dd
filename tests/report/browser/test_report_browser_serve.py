"""The page of ``spheremix serve``: edits of a person become those of the run with one click."""

from __future__ import annotations

import json

import pytest
from cli_common import rows, texts, write_lines
from edit_common import explore
from serving import served

import spheremix as sm
from spheremix.report import content
from spheremix.report import documents as docs
from spheremix.report.sample import Shown


@pytest.fixture
def explored(tmp_path):
    """A run of three groups."""
    return explore(write_lines(tmp_path / "docs.jsonl", texts(60)), tmp_path / "run")[0]


@pytest.fixture
def page(browser):
    """A page that must stay silent."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page, said = context.new_page(), []
    page.set_default_timeout(20_000)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda line: said.append(line.text) if line.type == "error" else None)
    yield page
    context.close()
    assert said == []


def ready(page):
    page.locator("body[data-ready]").wait_for()


def rename(page, name):
    page.get_by_role("button", name="rename").click()
    page.locator("#ask-form input").fill(name)
    page.locator("#ask-form [type=submit]").click()


def sizes(page):
    names, numbers = (page.locator(f"#group-list {one}") for one in (".name", ".size"))
    pairs = zip(names.all_inner_texts(), numbers.all_inner_texts(), strict=True)
    return {name: int(size) for name, size in pairs}


def apply(page):
    """Apply the edits; what was said on the way."""
    page.evaluate(
        """() => { window.old = true;
        new MutationObserver(() => {
            const before = JSON.parse(sessionStorage.steps ?? "[]");
            const text = document.querySelector("#applying p").textContent;
            sessionStorage.steps = JSON.stringify([...before, text]);
        }).observe(document.querySelector("#applying"), {subtree: true, childList: true}); }"""
    )
    page.locator("#apply-edits").click()
    page.wait_for_function("() => !window.old")
    ready(page)
    return json.loads(page.evaluate("sessionStorage.steps"))


def test_a_name_and_a_merge_are_applied_with_a_click(page, explored):
    folder = explored.folder
    with served(folder, "--threads", 1) as (address, _):
        page.goto(address)
        ready(page)
        rename(page, "Both together")
        page.get_by_role("button", name="merge", exact=True).click()
        page.locator("#ask-form .asked button").first.click()
        shown = sizes(page)
        # They are still there when the page is opened again.
        page.reload()
        ready(page)
        assert sizes(page) == shown
        page.locator("#edits-button").click()
        assert "spheremix edit" not in page.locator("#edits").inner_text()
        said = apply(page)
        assert said[0] == "Sending the edits"
        assert len(set(said)) > 1  # and the stages, as far as they are seen
        assert sizes(page) == shown
        assert page.locator("#edits-button").inner_text() == "edits"
        assert [row["name"] for row in rows(folder / "groups.csv")].count("Both together") == 1
        assert sm.load_run(folder).info.n_groups == 2


def test_what_is_refused_is_said_and_the_edits_stay(page, explored):
    with served(explored.folder) as (address, process):
        page.goto(address)
        ready(page)
        for at in (0, 1):
            page.locator("#group-list li").nth(at).click()
            rename(page, "The same name")
        page.locator("#edits-button").click()
        page.locator("#apply-edits").click()
        said = page.locator("#applying .warning")
        said.wait_for()
        assert "have the same name, 'The same name'" in said.inner_text()
        assert page.locator("#apply-edits").is_enabled()
        undo = page.locator("#edits-body").get_by_role("button", name="undo")
        undo.last.click()
        assert undo.count() == 1
        apply(page)
        assert "The same name" in sizes(page)
        # Names are of the same groups: what was applied is not waiting any more.
        assert page.locator("#edits-button").inner_text() == "edits"
        process.kill()


def test_a_server_that_is_gone_is_said(browser, explored):
    page = browser.new_page()
    with served(explored.folder) as (address, process):
        page.goto(address)
        ready(page)
        rename(page, "My own")
        process.kill()
        process.wait()
        page.locator("#edits-button").click()
        page.locator("#apply-edits").click()
        page.locator("#applying .warning").wait_for()
        assert "does not answer" in page.locator("#applying").inner_text()
        assert page.locator("#save-edits").is_enabled()
    page.close()


def test_the_file_has_the_policy_without_any_network(page, explored):
    """The page on the disk cannot ask anybody, whatever becomes of its address."""
    page.goto((explored.folder / "report.html").as_uri())
    ready(page)
    policy = page.locator("meta[http-equiv='Content-Security-Policy']").get_attribute("content")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "connect-src" not in policy
    assert page.locator("#apply-edits").count() == 0


def test_of_a_sample_all_documents_are_listed(page, tmp_path, monkeypatch):
    """The page has some; the server has all of them, with their texts; the file says how."""
    folder = explore(write_lines(tmp_path / "docs.jsonl", texts(240)), tmp_path / "run")[0].folder
    monkeypatch.setattr(content, "Shown", lambda run, found: Shown(run, found, 60))
    sm.load_run(folder).report().write_html(folder / "report.html")
    note = page.locator("#borderline-count")
    with served(folder) as (address, _):
        page.goto(f"{address}#list=all")
        ready(page)
        size = int(page.locator("#group-list .size").first.inner_text())
        shown = page.locator("#document-list [role=option]").first.get_attribute("aria-setsize")
        assert int(shown) < size
        assert note.inner_text().startswith(f"{shown} of {size} documents are on this page")
        page.locator("#list-all").click()
        seen = []
        whole = page.locator("#whole")
        while True:
            said = whole.get_by_role("status")
            page.wait_for_function(
                "n => document.querySelector('#whole [role=status]')"
                ".textContent.startsWith(`${n} to`)",
                arg=len(seen) + 1,
            )
            assert said.inner_text().endswith(f" of {size}")
            seen += whole.locator("summary").evaluate_all("all => all.map((one) => one.title)")
            after = whole.get_by_role("button", name="Next")
            if after.is_disabled():
                break
            after.click()
        table = rows(folder / "documents.csv")
        name = page.locator("#card-name").inner_text()
        assert sorted(seen) == sorted(row["id"] for row in table if row["name"] == name)
        line = whole.locator("details").first
        line.locator("summary").click()
        assert len(line.locator(".text").inner_text()) > 10
        whole.get_by_role("button", name="close").click()
    page.goto(f"{(folder / 'report.html').as_uri()}#list=all")
    ready(page)
    assert f"spheremix serve {folder} lists all" in note.inner_text()
    assert page.locator("#list-all").count() == 0


def test_a_text_that_the_page_has_cut_is_whole_where_it_is_served(page, explored, monkeypatch):
    monkeypatch.setattr(docs, "LONGEST", 12)
    run, file = sm.load_run(explored.folder), explored.folder / "report.html"
    run.report().write_html(file)
    page.goto(f"{file.as_uri()}#document=0")
    ready(page)
    said = page.locator("#reader").inner_text()
    assert "Shortened here: 12 of" in said
    assert f"spheremix serve {explored.folder} shows all" in said
    with served(explored.folder) as (address, _):
        page.goto(f"{address}#document=0")
        ready(page)
        whole = run.kept_corpus.texts[0]
        page.wait_for_function(
            "n => document.querySelector('#reader .text').textContent.length === n", arg=len(whole)
        )
        assert page.locator("#reader .text").text_content() == whole
        assert "Shortened" not in page.locator("#reader").inner_text()
