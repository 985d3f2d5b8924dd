"""Groups along the tree, how sure they are, their labels and their time."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest
from report_common import grow

SEEN = """(selector) => {
  const box = document.querySelector(selector).getBoundingClientRect();
  return box.top >= 0 && box.bottom <= innerHeight + 1 && box.height > 100;
}"""


def cut_to(opened, m):
    """Move the slider of groups."""
    opened.page.locator("#cut").fill(str(m))


# How sure


def test_the_header_tells_how_sure_and_what_else_is_possible(open_report):
    opened = open_report("grown")
    word, sure = opened.page.locator("#sure-word"), opened.page.locator("#how-sure")
    assert word.inner_text() == "! unstable"
    assert sure.is_hidden()
    word.click()
    assert "restarts agree by 70 %, ! halves agree by 40 % (other groups)" in sure.inner_text()
    assert "Also possible: 3 (broad)" in sure.inner_text()
    assert sure.get_by_role("button", name="3 (broad)").get_attribute("title") == (
        "3 broad groups: stable."
    )
    opened.page.keyboard.press("Escape")
    assert sure.is_hidden()
    warnings = opened.page.locator("#warnings")
    assert warnings.inner_text() == "! 1 warning"
    warnings.click()
    corpus = opened.page.locator("#corpus").inner_text()
    assert "3 of 9 documents set aside." in corpus
    assert "Words: some are kept." in corpus
    assert "β" not in opened.page.locator("header").inner_text()


def test_the_stability_of_a_group_is_told(open_report, grown):
    opened = open_report("grown")
    _, content = grown
    weak = opened.page.locator("#group-0 .stability")
    assert weak.inner_text() == "! stability 30 %"
    fair = opened.page.locator("#group-1 .stability")
    assert fair.inner_text() == "? stability 60 %"
    stable = opened.page.locator("#group-4 .stability")
    assert stable.inner_text() == "stability 100 %"
    # What the marks mean is a click away, and under the pointer on the card of the group.
    assert opened.page.locator("#how-sure li").all_text_contents()[-2:] == [
        "! stability below 50 %: do not rely on it",
        "? stability below 75 %: look twice",
    ]
    card = opened.page.locator("#card .stability-note")
    ends = {0: "rely on this group (below 50 %).", 1: "rely on it (below 75 %)."}
    for k, end in {**ends, 4: "in 20 redrawn samples: this group is stable."}.items():
        opened.page.locator(f"#group-{k}").click()
        assert card.get_attribute("title").endswith(end)
    # Of the chosen step: at another one it is not known.
    opened.step_to(0)
    assert opened.page.locator("#group-list .stability").count() == 0
    assert "stability below" not in opened.page.locator("#how-sure").text_content()
    assert content["chosen"] != 0


def test_documents_are_clearly_or_borderline(open_report, grown):
    _, content = grown
    names, documents = content["names"], content["documents"]
    first = int(np.flatnonzero(content["stability"]["documents"] < 0.5)[0])
    opened = open_report("grown", fragment=f"#scope=all&list=all&sort=given&document={first}")
    row = opened.page.locator(f"#document-list-{first} .sure")
    samples = round(20 * float(content["stability"]["documents"][first]))
    assert row.inner_text() == f"borderline ({samples} of 20)"
    other = opened.page.locator(f"#document-list-{first} .snippet .tag:not(.soft)").last
    assert other.inner_text() == f"or {names[documents['second_group'][first]]}"
    verdict = opened.page.locator(".verdict").inner_text()
    assert verdict.startswith("Borderline: in ")
    body = opened.page.locator("body").inner_text()
    for jargon in ("10⁻", "posterior", "log-odds against"):
        assert jargon not in body
    opened.unroll("#reader .numbers")
    assert "posterior" in opened.page.locator("#reader").inner_text()


# The slider of groups


def test_groups_merge_along_the_tree(open_report, grown):
    opened = open_report("grown")
    _, content = grown
    tree, leaf = content["tree"], content["documents"]["leaf"]
    for m in (2, 3, 7, 10):
        cut_to(opened, m)
        first = len(tree["parents"]) + 1 - m
        nodes = [
            node
            for node, parent in enumerate(tree["parents"])
            if node < first and (parent < 0 or parent >= first)
        ]
        shown = opened.page.locator("#group-list li").evaluate_all(
            "items => items.map((one) => Number(one.id.slice(6)))"
        )
        assert sorted(shown) == sorted(nodes)
        assert opened.page.locator("#how-many").inner_text() == f"{m} groups"
        sizes = {node: tree["sizes"][node] for node in nodes}
        assert opened.numbers("#group-list .size") == [sizes[node] for node in shown]
        assert f"word{shown[0]}" in opened.page.locator("#group-list .words").first.inner_text()
    chosen = opened.group()
    opened.page.locator("[data-value=all]").click()
    assert len(opened.listed()) == tree["sizes"][chosen]
    inside = {one for one, at in zip(content["documents"]["id"], leaf, strict=True) if at == chosen}
    assert set(opened.listed()) == inside


def test_other_numbers_say_where_the_rest_is_and_lead_back(open_report, grown):
    opened = open_report("grown")
    _, content = grown
    before = opened.texts("#group-list .name")
    opened.page.locator("#sure-word").click()
    opened.page.get_by_role("button", name="3 (broad)").click()
    assert opened.page.locator("#group-list li").count() == 3
    assert "the run has 5" in opened.page.locator("#away").inner_text()
    opened.page.locator("#tab-prototypes").click()
    assert opened.page.locator("#map-note").is_hidden()
    opened.page.get_by_role("button", name="back", exact=True).click()
    assert opened.texts("#group-list .name") == before
    # The slider of words has no meaning for merged groups: it leads back too.
    cut_to(opened, 7)
    opened.step_to(content["chosen"])
    opened.page.keyboard.press("ArrowLeft")
    assert opened.page.locator("#group-list li").count() == 5


def test_the_map_of_words_has_the_groups_that_are_shown(open_report):
    opened = open_report("grown", fragment="#tab=prototypes")
    page = opened.page
    pictures = [opened.picture()]
    for m in (3, 7):
        cut_to(opened, m)
        assert (
            page.locator("#marks")
            .get_attribute("aria-label")
            .startswith(f"Groups against words. {m} groups,")
        )
        pictures.append(opened.picture())
        box = page.locator("#marks").bounding_box()
        for y in (60, box["height"] - 30):  # the largest group, and the smallest one
            page.mouse.click(box["x"] + 60, box["y"] + y)
            sizes = opened.numbers("#group-list .size")
            chosen = page.locator("#group-list [aria-selected=true] .size").inner_text()
            assert int(chosen) == (max(sizes) if y == 60 else min(sizes))
    page.locator("[data-value=data]").click()  # documents as rows
    pictures.append(opened.picture())
    page.locator("[data-value=prototypes]").click()
    cut_to(opened, 5)
    page.get_by_role("button", name="merge", exact=True).click()
    page.locator("#ask .asked button").first.click()
    assert "4 groups," in page.locator("#marks").get_attribute("aria-label")
    pictures.append(opened.picture())
    assert len(set(pictures)) == 5
    assert page.locator("#map-note").is_hidden()


def compared(opened):
    """Return the words of a comparison on the card, and those of its figure."""
    page = opened.page
    words = opened.texts(".compared tbody th")
    page.locator("#save").click()
    with page.expect_download() as waiting:
        page.locator("[data-file='comparison.svg']").click()
    root = ET.parse(waiting.value.path()).getroot()  # noqa: S314 (it is our own)
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    return words, [text for text in texts if text in words]


def test_groups_are_compared_at_every_number_of_groups(open_report, grown):
    opened = open_report("grown")
    for m in (3, 7):
        cut_to(opened, m)
        opened.page.locator("#compare").select_option(index=2)
        words, drawn = compared(opened)
        assert len(words) > 5
        assert drawn == words
        assert set(words) <= set(grown[1]["words"])


@pytest.fixture(scope="session")
def grown_embeddings(embeddings, rewrite):
    """Embeddings with a tree of groups."""
    return rewrite("grown_embeddings", grow(embeddings[1]))


def test_groups_of_embeddings_are_compared_by_the_words_of_their_texts(
    open_report, grown_embeddings
):
    opened = open_report("grown_embeddings")
    content = grown_embeddings[1]
    opened.page.locator("#compare").select_option(index=2)
    other = int(opened.page.locator("#compare").input_value())
    listed = [{word for word, _ in content["contrast"][k]} for k in (opened.group(), other)]
    words, drawn = compared(opened)
    assert drawn == words
    assert set(words) <= listed[0] | listed[1]
    assert len(words) > 5
    cut_to(opened, 3)
    merged = 16  # three groups together, which were not fitted
    if opened.group() == merged:
        opened.page.locator("#group-list li").last.click()
    opened.page.locator("#compare").select_option(str(merged))
    other = merged
    listed = [set(content["tree"]["words"][node]) for node in (opened.group(), other)]
    words, drawn = compared(opened)
    assert drawn == words
    assert set(words) == listed[0] ^ listed[1]


def test_streams_between_numbers_of_groups(open_report):
    opened = open_report("grown", fragment="#tab=candidates")
    flow = opened.page.locator(".alluvial")
    assert flow.locator("rect").count() == 3 + 5 + 10
    total = sum(int(text.split()[0]) for text in flow.locator("path title").all_text_contents())
    assert total == 2 * 300  # every document, from each column to the next
    flow.locator("rect").first.click()
    assert opened.page.locator("#group-list li").count() == 3
    assert "One doubt." in opened.page.locator("#candidates").inner_text()


# Effects of a click


def test_a_click_shows_its_effect_without_scrolling(open_report):
    opened = open_report("grown")
    page = opened.page
    for group in (1, 3):
        page.locator("#group-list li").nth(group).click()
        name = page.locator("#group-list [aria-selected=true] .name").text_content()
        assert page.locator("#card-name").inner_text() == name
        assert page.evaluate(SEEN, "#card")
        assert page.evaluate(SEEN, "#documents")
    page.locator(".document").first.click()
    assert page.evaluate(SEEN, "#reader")
    assert page.locator("#card").is_hidden()
    page.locator("#reader-close").click()
    assert page.evaluate(SEEN, "#card")
    assert page.evaluate("scrollY") == 0


def test_on_a_telephone_the_group_comes_into_sight(open_report):
    page = open_report("grown", width=390, height=844, touch=True).page
    page.locator("#group-list li").nth(1).tap()
    page.wait_for_function(
        "() => Math.abs(document.getElementById('card').getBoundingClientRect().top) < 60"
    )


def test_the_open_document_is_of_the_chosen_group_or_says_that_it_is_not(open_report, grown):
    _, content = grown
    labels = content["documents"]["group"]
    opened = open_report("grown", fragment=f"#group={labels[0]}&document=0")
    page = opened.page
    assert page.locator(".elsewhere").count() == 0
    page.locator(f"#group-{labels[0]}").click()
    assert page.locator("#reader").is_visible()
    other = next(k for k in range(5) if k != labels[0])
    page.locator(f"#group-{other}").click()
    assert page.locator("#reader").is_hidden()
    opened = open_report("grown", fragment=f"#group={other}&document=0")
    told = opened.page.locator(".elsewhere")
    assert "not in the chosen group" in told.inner_text()
    told.get_by_role("button").click()
    assert opened.group() == labels[0]
    assert opened.page.locator(".elsewhere").count() == 0
    # Where all groups are listed, nobody chose one of them.
    opened = open_report("grown", fragment=f"#group={other}&document=0&scope=all")
    assert opened.page.locator("#reader .verdict").is_visible()
    assert opened.page.locator(".elsewhere").count() == 0
    opened.page.locator(".chip", has_text="all groups").click()
    opened.page.locator(".elsewhere").wait_for()
    # Along the tree the verdict is about the groups of the model: the one that is shown is told.
    opened = open_report("grown", fragment="#cut=3&node=0&document=0&scope=all")
    told = opened.page.locator(".elsewhere").inner_text()
    assert told.startswith("This document is in node ")


def test_back_goes_back_within_the_report(open_report):
    opened = open_report("grown")
    page = opened.page
    first = opened.group()
    page.locator("#group-list li").nth(2).click()
    page.wait_for_function("() => location.hash.includes('group')")
    page.locator(".document").first.click()
    page.wait_for_function("() => location.hash.includes('document')")
    opened.step_to(0)  # moves of a slider are no places to go back to
    page.wait_for_function("() => location.hash.includes('step')")
    page.go_back()
    page.wait_for_function("() => !location.hash.includes('document')")
    assert page.locator("#card").is_visible()
    page.go_back()
    page.wait_for_function("() => location.hash === ''")
    assert opened.group() == first


def test_borderline_documents_are_shown_from_the_first_on(open_report, grown):
    """The open document is not looked for: the most ambiguous ones are what was asked for."""
    _, content = grown
    opened = open_report("grown", fragment="#scope=all")
    page = opened.page
    clearest = int(np.argmax(content["documents"]["log_odds"]))
    page.evaluate("(i) => { location.hash = `scope=all&document=${i}`; }", clearest)
    page.locator("#reader-close").click()
    page.locator("[data-value=borderline]").click()
    assert page.locator("#document-list").evaluate("one => one.scrollTop") == 0
    stable = content["stability"]["documents"]
    borderline = np.flatnonzero(stable < 0.5)
    hardest = content["documents"]["id"][borderline[np.argmin(stable[borderline])]]
    assert page.locator(".document .id").first.get_attribute("title") == hardest
    told = page.locator("#borderline-count").inner_text()
    assert told.startswith(f"{len(borderline)} of {len(stable)} documents here are borderline")


# Words, labels, time


def test_bars_of_a_group_fill_the_width(open_report, news):
    opened = open_report("news")
    _, content = news
    words = content["words"]
    for item in opened.page.locator("#group-list li").all():
        item.click()
        opened.page.wait_for_timeout(100)
        k = opened.group()
        largest = np.abs(content["prototypes"][k]).max()
        rows = opened.page.locator("#card .word-bars").first.locator("li")
        for row in rows.all()[:6]:
            weight = content["prototypes"][k, words.index(row.locator("bdi").inner_text())]
            width = float(row.locator(".bar").evaluate("one => parseFloat(one.style.width)"))
            assert width == pytest.approx(100 * weight / largest, rel=1e-3)


def test_a_group_is_compared_with_another(open_report, news):
    opened = open_report("news")
    _, content = news
    k, prototypes = opened.group(), content["prototypes"]
    other = next(one for one in range(5) if one != k)
    opened.page.locator("#compare").select_option(str(other))
    shown = opened.texts(".compared tbody th")
    assert len(shown) == 18
    difference = prototypes[k] - prototypes[other]
    order = np.argsort(-difference, kind="stable")
    assert shown[:9] == [content["words"][j] for j in order[:9]]
    assert shown[9:] == [content["words"][j] for j in order[::-1][: len(shown) - 9]]


def test_labels_of_all_groups_as_shares_and_counts(open_report, study, news):
    opened = open_report("news", fragment="#tab=labels")
    corpus, *_ = study
    _, content = news
    page = opened.page
    groups = content["documents"]["group"]
    labels = opened.texts("#labels thead th")[1:]
    page.get_by_role("button", name="documents", exact=True).last.click()
    names = opened.texts("#labels tbody th")
    table = [row.locator("td").all_inner_texts() for row in page.locator("#labels tbody tr").all()]
    for name, row in zip(names, table, strict=True):
        k = content["names"].index(name)
        for label, cell in zip(labels, row, strict=True):
            n = sum(
                label in several
                for several, one in zip(corpus.labels["desk"], groups, strict=True)
                if one == k
            )
            assert cell == (str(n) if n else "·")
    page.locator("#labels thead button", has_text="film").click()
    at = labels.index("film")
    first = page.locator("#labels tbody tr").first.locator("td").nth(at)
    assert int(first.inner_text()) == max(int(row[at].replace("·", "0")) for row in table)
    first.get_by_role("button").click()
    assert opened.page.locator("#document-count").inner_text().startswith(first.inner_text())


def test_time_of_all_groups_with_every_period(open_report, study, news):
    opened = open_report("news", fragment="#tab=time")
    corpus, *_ = study
    _, content = news
    groups = content["documents"]["group"]
    months = [str(date)[:7] for date in corpus.dates]
    for row in opened.page.locator(".time-row[data-group]").all():
        k = int(row.get_attribute("data-group"))
        own = [month for month, one in zip(months, groups, strict=True) if one == k]
        most = max(own.count(month) for month in set(own))
        n, peak = row.locator(".peak").inner_text().split(" in ")
        assert int(n) == most
        assert own.count(peak) == most
        steps = row.locator("svg path").get_attribute("d").count("L") // 2
        assert steps == 24  # two years of months, none lost
    # A click on a month lists its documents of the group.
    row = opened.page.locator(".time-row[data-group]").nth(1)
    k = int(row.get_attribute("data-group"))
    row.locator(".bars").focus()
    opened.page.keyboard.press("End")
    opened.page.keyboard.press("ArrowLeft")
    month = sorted(set(months))[-2]
    n = sum(one == k and date == month for one, date in zip(groups, months, strict=True))
    assert row.locator(".peak").inner_text() == f"{n} in {month}"
    told = opened.page.locator("#time-reading").inner_text()
    assert told.startswith(f"{month}: {n} of {months.count(month)} documents in")
    opened.page.keyboard.press("Enter")
    assert opened.page.locator("#document-count").inner_text().split()[0] == str(n)
    assert opened.group() == k
    opened.page.locator("#smoothing").select_option("1")
    assert "." in opened.page.locator(".peak").first.inner_text()


# The map of documents


def test_a_group_that_is_chosen_stands_out_on_the_map(open_report):
    opened = open_report("grown")
    page = opened.page
    points = "document.querySelector('.document-map canvas').toDataURL()"
    page.wait_for_timeout(200)
    before = page.evaluate(points)
    page.locator("#group-list li").nth(1).click()
    page.wait_for_timeout(200)
    assert page.evaluate(points) != before
    page.get_by_role("button", name="Show all documents").click()
    page.wait_for_timeout(200)
    assert page.evaluate(points) == before


def test_the_map_follows_the_groups_and_leads_to_documents(open_report, grown):
    opened = open_report("grown")
    _, content = grown
    page = opened.page
    drawn = "[...document.querySelectorAll('.document-map canvas')].map((one) => one.toDataURL())"
    page.wait_for_timeout(200)
    before = page.evaluate(drawn)
    cut_to(opened, 2)
    page.wait_for_timeout(300)
    assert page.evaluate(drawn) != before
    cut_to(opened, 5)
    page.locator("#map-colour").select_option("sure")
    page.wait_for_timeout(200)
    assert page.evaluate(drawn)[0] != before[0]
    box = page.locator(".document-map").bounding_box()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Draw around documents").click()
    corners = [(2, 2), (box["width"] - 2, 2), (box["width"] - 2, box["height"] - 2)]
    corners += [(2, box["height"] - 60)]
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    page.mouse.down()
    for x, y in corners:
        page.mouse.move(box["x"] + x, box["y"] + y, steps=3)
    page.mouse.up()
    told = page.locator("#document-count")
    assert told.inner_text().endswith("drawn around on the map")
    listed = opened.listed()
    assert 0 < len(listed) <= 300
    page.locator(".chip", has_text="drawn around").click()
    assert "drawn around" not in told.inner_text()
    k = int(content["documents"]["group"][7])
    other = next(one for one in range(5) if one != k)
    page.locator(f"#group-{other}").click()
