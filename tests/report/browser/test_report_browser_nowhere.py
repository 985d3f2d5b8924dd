"""Documents that belong nowhere, in a browser: their entry, their documents, and what it lacks."""

from __future__ import annotations

import numpy as np

K = 3


def test_they_are_an_entry_that_can_be_opened_and_read(open_report, lost):
    _, content = lost
    nowhere = np.flatnonzero(content["documents"]["group"] == K)
    assert len(nowhere) > 10
    opened = open_report("lost")
    assert f"{len(nowhere)} (" in opened.page.locator("#how-sure").text_content()
    assert opened.page.locator("#group-title").inner_text().startswith("3 groups")
    entry = opened.page.locator("#group-list [role=option]").last
    assert "belongs nowhere" in entry.inner_text()
    entry.click()
    assert opened.page.locator("#card-name").inner_text() == "belongs nowhere"
    card = opened.page.locator("#card-body")
    assert "fit no group" in card.inner_text()
    assert card.get_by_role("button", name="merge").count() == 0
    assert card.get_by_role("button", name="split").count() == 0
    ids = [content["documents"]["id"][i] for i in nowhere]
    assert sorted(opened.listed()) == sorted(ids)
    opened.page.locator("#document-list").press("j")
    assert opened.page.locator(".verdict").inner_text().startswith("Belongs nowhere: it fits no")
    assert opened.page.locator("table.contributions").count() == 1


def test_shares_and_merges_are_of_groups_only(open_report, lost):
    _, content = lost
    opened = open_report("lost")
    group = opened.group()
    sizes = content["steps"][content["chosen"]]["sizes"]
    said = opened.page.locator("#card-size").inner_text()
    assert f"{round(100 * sizes[group] / sum(sizes))} %" in said
    opened.page.get_by_role("button", name="merge").click()
    choices = opened.page.locator("dialog[open] .asked bdi").all_inner_texts()
    assert len(choices) == K - 1  # its own group is none
    assert "belongs nowhere" not in choices


def test_saved_tables_have_them_as_minus_one_and_the_address_opens_them(open_report, lost):
    _, content = lost
    first = int(np.flatnonzero(content["documents"]["group"] == K)[0])
    opened = open_report("lost", fragment=f"#group={K}&document={first}&tab=data")
    assert opened.group() == K
    saved = {(row["group"], row["name"]) for row in opened.saved("documents.csv")}
    assert saved == {("-1", "belongs nowhere")}
    opened.step_to(0)
    assert opened.page.locator("#reader-name").inner_text()
