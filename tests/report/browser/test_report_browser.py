"""The report in use: what is seen is what was computed, at every step of the slider."""

from __future__ import annotations

from urllib.parse import parse_qs

import numpy as np
import pytest

from spheremix.reading import Reading, layout


def hover(opened, x, y):
    """Point at a place of the map, from its upper left corner."""
    box = opened.page.locator("#marks").bounding_box()
    opened.page.mouse.move(box["x"] + x, box["y"] + y)
    return opened.page.locator("#tooltip")


WORDS = "#tab=prototypes"  # the map of words
GUTTER = 184  # pixels for the names of groups, left of the map

POINT_AT_EACH = """(columns) => {
  const marks = document.getElementById("marks");
  const { left, top } = marks.getBoundingClientRect();
  return columns.map((x) => {
    const place = { clientX: left + x, clientY: top + 150 };
    marks.dispatchEvent(new PointerEvent("pointermove", place));
    return document.querySelector("#tooltip .strong").textContent;
  });
}"""


# The first screen


def test_the_first_screen_tells_how_many_how_big_in_which_words(open_report, news):
    opened = open_report("news")
    _, content = news
    assert "300 documents" in opened.page.locator("#facts").inner_text()
    assert opened.page.locator("#how-many").inner_text() == "5 groups"
    said = opened.page.locator("#how-sure").text_content()
    # The agreement of the starts.
    assert "All groups together: restarts agree by 70 % (partly the same groups)" in said
    assert 0.695 <= next(c["agreement"] for c in content["candidates"] if c["chosen"]) < 0.705
    chosen = content["steps"][content["chosen"]]
    order = np.argsort(-np.array(chosen["weights"]), kind="stable")
    assert opened.numbers("#group-list .size") == [chosen["sizes"][k] for k in order]
    shown = opened.page.locator("#group-list .name").all_text_contents()
    assert shown == [content["names"][k] for k in order]
    for k, words in zip(order, opened.texts("#group-list .words"), strict=True):
        named = content["names"][k].lower().split(" ")
        assert words
        assert not set(words.split()) & set(named)
    for selector in ("#group-list", "#document-map", "#beta", "#card", "#documents"):
        box = opened.page.locator(selector).bounding_box()
        assert box["y"] + box["height"] <= 800


def test_words_stand_in_the_papers_order(open_report, study):
    """Hover every column; the words read are those of the layout, in its order."""
    _, _, rows, model = study
    opened = open_report("news", fragment=WORDS)
    mixture = model.best_estimator_
    placed = layout(mixture.prototypes_, mixture.weights_)
    names = [rows.words[j] for j in placed.features]
    width = opened.page.locator("#frame").evaluate("e => e.clientWidth") - GUTTER - 1
    n_active = int((placed.n_sharing > 0).sum())
    idle = len(names) - n_active
    # Nobody's words share at most 12 % of the width.
    narrow = min(1.0, 0.12 / 0.88 * n_active / idle) if idle else 1.0
    unit = width / (n_active + narrow * idle)
    columns = [GUTTER + (place + 0.5) * unit for place in range(n_active)]
    assert opened.page.evaluate(POINT_AT_EACH, columns) == names[:n_active]


def test_the_tooltip_has_the_values_of_the_prototypes(open_report, study):
    _, _, rows, model = study
    opened = open_report("news", fragment=WORDS)
    mixture = model.best_estimator_
    text = hover(opened, GUTTER + 4, 150).inner_text()  # the first column: a word of most groups
    word = layout(mixture.prototypes_, mixture.weights_).features[0]
    values = mixture.prototypes_[:, word]
    assert text.startswith(rows.words[word])
    assert f"in {np.count_nonzero(values)} of 5 groups" in text
    shown = opened.numbers("#tooltip .number")
    assert shown == pytest.approx(sorted(values[values != 0], reverse=True), rel=5e-3)


@pytest.mark.parametrize(("tab", "kept"), [("map", "view"), ("prototypes", "zoom"), ("corpus", "")])
def test_keys_zoom_what_is_shown_and_nothing_that_is_hidden(open_report, tab, kept):
    page = open_report("grown", fragment=f"#tab={tab}").page

    def changed():
        return {"view", "zoom"} & set(parse_qs(page.evaluate("location.hash.slice(1)")))

    for key in ("+", "]"):
        page.keyboard.press(key)
        page.wait_for_timeout(500)
        assert changed() == ({kept} if kept else set())
    page.keyboard.press("0")
    page.wait_for_timeout(500)
    assert changed() == set()


# The slider


def test_the_slider_redraws_map_words_and_sizes(open_report, news, study):
    opened = open_report("news", fragment=WORDS)
    _, content = news
    _, _, rows, model = study
    before = opened.picture()
    last = len(content["steps"]) - 2
    opened.step_to(last)
    entry = content["steps"][last]
    assert opened.picture() != before
    assert f"sparsity {100 * entry['sparsity']:.0f} %" in opened.page.locator("#told").inner_text()
    order = np.argsort(-np.array(entry["weights"]), kind="stable")
    assert opened.numbers("#group-list .size") == [entry["sizes"][k] for k in order]
    reading = Reading(model.best_path_, rows.words, step=entry["step"], X=rows.X)
    alone = {word.word for word in reading.vocabulary.only_here_words(opened.group())}
    assert set(opened.texts("#card [data-kind=own] bdi")) == alone
    opened.page.locator("#away button").click()
    opened.page.wait_for_timeout(150)
    assert opened.picture() == before


def test_numbers_of_words_are_true_where_the_page_has_room_for_few(open_report, capped, study):
    """30 words are shown; what is counted is every word of the model, and the limit is told."""
    opened = open_report("capped", fragment=WORDS)
    _, content = capped
    path, d = study[3].best_path_, content["model"]["n_words"]
    page = opened.page
    assert d > 30
    assert f"30 of {d} words shown" in page.locator("#how-sure").text_content()
    for step in (0, content["chosen"]):
        opened.step_to(step)
        has = path.model(content["steps"][step]["step"]).prototypes_ != 0.0
        sharing = has.sum(axis=0)
        left, alone = (sharing > 0).sum(), (sharing == 1).sum()
        told = f"{left} words left, {alone} of them in one group only"
        assert told in page.locator("#told").inner_text()
        k = opened.group()
        own = (has[k] & (sharing == 1)).sum()
        assert (
            f"{has[k].sum()} words, {own} only here" in page.locator(".facts-line").text_content()
        )
        assert f"{left} words in at least one" in page.locator("#marks").get_attribute("aria-label")
        table = {int(row["group"]): row for row in opened.saved("groups.csv")}
        assert [int(table[k]["n_words"]) for k in range(5)] == has.sum(axis=1).tolist()
        assert [int(table[k]["n_only_here_words"]) for k in range(5)] == (
            (has & (sharing == 1)).sum(axis=1).tolist()
        )
    opened.step_to(0)
    k = opened.group()
    hidden = content["steps"][0]["n_words"][k] - np.count_nonzero(content["values"][0, k])
    limit = page.locator(".hidden-words").inner_text()
    assert f"This group has {hidden} more words, not listed here" in limit
    assert f"the report shows 30 of {d} words." in limit
    page.locator("#tab-corpus").click()
    assert f"30 of {d} words: those that stay longest" in page.locator("#corpus").inner_text()
    page.locator("#search").fill("zzz")
    page.get_by_text(f"No word begins with this; the report shows 30 of {d} words.").wait_for()
    page.locator(".document").first.click()
    i = int(page.locator(".document[aria-selected=true]").get_attribute("id").rpartition("-")[2])
    kept, total = np.diff(content["rows"]["indptr"])[i], content["rows"]["n_words"][i]
    assert (
        f"has {kept} of the {total} different words" in page.locator(".kept-words").text_content()
    )


def test_enter_looks_for_what_is_typed_and_not_for_what_was_found_before(open_report):
    opened = open_report("news", fragment=WORDS)
    page = opened.page
    field = page.locator("#search")
    field.fill("striker")
    page.locator("#found [role=option]").first.wait_for()
    field.press("Enter")
    assert page.locator("#word-line .strong").inner_text() == "striker"
    field.fill("banker")  # the list is still that of the word before
    field.fill("inflation")
    field.press("Enter")
    assert page.locator("#word-line .strong").inner_text() == "inflation"


def test_the_header_tells_how_many_documents_have_changed_group(open_report, news):
    """Names stay those of the chosen step: how far to trust them is told, and nothing jumps."""
    opened = open_report("news", fragment=WORDS)
    _, content = news
    labels, chosen = content["labels"], content["chosen"]
    away = opened.page.locator("#away")
    place = opened.page.locator("#frame").bounding_box()
    assert away.is_hidden()
    shares = (labels != labels[chosen]).mean(axis=1)
    told = set()
    for step in (0, int(shares.argmax()), len(shares) - 2):
        opened.step_to(step)
        n = int((labels[step] != labels[chosen]).sum())
        which = f"{100 * shares[step]:.0f} % of the documents have"
        if n < 3:
            which = ["No documents have", "1 document has", "2 documents have"][n]
        said = f"{which} changed group, compared with the chosen number of words. back"
        assert away.inner_text().replace("\n", " ") == said
        told.add(said)
        assert opened.page.locator("#frame").bounding_box() == place
    assert shares.max() > 0.01
    assert len(told) > 1
    away.get_by_role("button").click()
    assert away.is_hidden()


def test_criteria_are_marked_where_they_choose(open_report, news):
    opened = open_report("news", fragment=WORDS)
    opened.unroll("#path")
    _, content = news
    for index, entry in enumerate(content["steps"]):
        if not entry["chosen_by"]:
            continue
        names = ", ".join({"ricc": "RICc"}.get(one, one.upper()) for one in entry["chosen_by"])
        opened.page.locator("#choices button", has_text=names).first.click()
        assert opened.page.locator("#beta").input_value() == str(index)
    used = opened.page.locator("#choices .used").inner_text()
    assert "BIC" in used


# Words


def test_a_word_is_found_and_marked(open_report):
    opened = open_report("news", fragment=WORDS)
    marked = "document.getElementById('marks').toDataURL()"
    before = opened.page.evaluate(marked)
    opened.page.locator("#search").fill("strik")
    opened.page.locator("#found .found-word", has_text="striker").click()
    line = opened.page.locator("#word-line").inner_text()
    assert line.startswith("striker is in 1 of 5 groups: ")
    assert opened.page.evaluate(marked) != before
    for _ in range(2):  # all groups, and the word
        opened.page.keyboard.press("Escape")
    assert opened.page.locator("#word-line").is_hidden()
    assert opened.page.evaluate(marked) == before


def test_zoom_by_buttons_wheel_and_drag(open_report):
    opened = open_report("news", fragment=WORDS)
    whole = opened.picture()
    opened.page.locator("#zoom button", has_text="+").click()
    zoomed = opened.picture()
    assert zoomed != whole
    box = opened.page.locator("#marks").bounding_box()
    opened.page.mouse.move(box["x"] + 500, box["y"] + 200)
    opened.page.mouse.down()
    opened.page.mouse.move(box["x"] + 300, box["y"] + 200, steps=4)
    opened.page.mouse.up()
    panned = opened.picture()
    assert panned not in {whole, zoomed}
    opened.page.locator("#zoom button", has_text="all").click()
    assert opened.picture() == whole
    opened.page.wait_for_function("() => !location.hash.includes('zoom')")
    opened.page.mouse.move(box["x"] + 500, box["y"] + 200)
    opened.page.keyboard.down("Control")
    opened.page.mouse.wheel(0, -300)
    opened.page.keyboard.up("Control")
    opened.page.wait_for_function("() => location.hash.includes('zoom')")
    assert opened.picture() != whole


# Other candidates, the corpus


def test_other_numbers_of_groups_are_one_click_away(open_report, news):
    opened = open_report("news", fragment=WORDS)
    _, content = news
    opened.page.get_by_role("tab", name="Other numbers").click()
    opened.page.locator(".ticks button", has_text="4").click()
    other = next(one for one in content["candidates"] if one["n_groups"] == 4)
    sizes = [int(text) for text in opened.texts("#candidates .group-list .size")]
    assert sizes == [one["size"] for one in other["groups"]]
    names = opened.texts("#candidates .group-list bdi")
    assert names == [" ".join(one["words"]) for one in other["groups"]]
    assert "characteristic words" in opened.page.locator("#candidates").inner_text()
    opened.page.get_by_role("tab", name="Corpus").click()
    assert "news.csv" in opened.page.locator("#corpus").inner_text()


def test_the_groups_of_a_chosen_k_come_into_sight(open_report):
    """From the curves, which they are below, and from any row of a long table."""
    opened = open_report("nineteen", fragment="#tab=candidates")
    page = opened.page
    box = page.locator("#candidates").bounding_box()
    tick, row = ".ticks button", ".criteria tbody button"
    opened.unroll(".criteria")
    for choose, K in ((tick, 20), (row, 3), (row, 19), (tick, 2)):
        page.locator(choose, has_text=str(K)).first.click()
        heading = page.locator("#candidates h3").last
        assert (
            heading.inner_text()
            == f"The {K} groups of this number, before words were dropped, by size"
        )
        first = page.locator("#candidates .group-list li").first
        top, end = heading.bounding_box()["y"], first.bounding_box()
        assert box["y"] - 1 <= top
        assert end["y"] + end["height"] <= box["y"] + box["height"]
        assert page.locator("#candidates .group-list li").count() == K
        shown = page.locator(".criteria .shown th").text_content()
        assert shown.removesuffix(" (chosen)") == str(K)
        assert opened.texts(".ticks [aria-pressed=true]") == [str(K)]
        page.locator(row).last.scroll_into_view_if_needed()
        page.locator(tick).first.scroll_into_view_if_needed()


def test_how_well_starts_agree_stands_in_the_table(open_report, study):
    opened = open_report("news", fragment="#tab=candidates")
    model = study[3]
    opened.unroll(".criteria")
    heads = opened.texts(".plain-table thead th")
    at = heads.index("starts agree") + 1
    cells = opened.texts(f".plain-table tbody tr > :nth-child({at})")
    assert cells == [f"{int(100 * value)} %" for value in model.agreement_]  # rounded down
    meaning = "mean adjusted Rand index between the best start and the other starts"
    head = opened.page.locator(f".plain-table thead th:nth-child({at})")
    assert meaning in head.get_attribute("title")
    assert meaning in opened.page.locator(".criteria > p").last.inner_text()
    saved = opened.saved("candidates.csv")
    assert [float(row["agreement"]) for row in saved] == pytest.approx(model.agreement_, rel=1e-6)


def test_starts_that_cannot_agree_have_a_dash(open_report):
    opened = open_report("nineteen", fragment="#tab=candidates")
    opened.unroll(".criteria")
    cells = opened.texts(".plain-table tbody tr > :nth-child(3)")
    assert cells[:3] == ["\u2013", "33 %", "25 %"]
    # Of one path nothing is known about the starts: there is no column of dashes.
    alone = open_report("two", fragment="#tab=candidates")
    assert "starts agree" not in alone.texts(".plain-table thead th")


def test_a_given_number_of_groups_was_not_chosen(open_report):
    opened = open_report("two", fragment="#tab=candidates")
    text = opened.page.locator("#candidates").inner_text()
    assert "The number of groups was given (2), and no other number was tried." in text
    assert "(chosen)" not in text
    assert opened.page.locator("#candidates button").count() == 0


def test_why_the_path_ends_is_told_in_words(open_report, news, unpenalised):
    opened = open_report("news", fragment="#tab=corpus")
    _, content = news
    assert content["model"]["status"] == "maximal_sparsity"
    text = opened.page.locator("#corpus").inner_text()
    assert "why the path ends\nevery prototype is as sparse as it can be (maximal_sparsity)" in text
    assert "status" not in text
    _, content = unpenalised
    assert content["model"]["status"] == "converged"
    text = open_report("unpenalised", fragment="#tab=corpus").page.locator("#corpus").inner_text()
    assert "why the fit ended\nit converged (converged)" in text
    assert "β, the penalty\nnone" in text


def test_the_data_map_is_drawn_in_the_same_order(open_report):
    opened = open_report("news", fragment=WORDS)
    prototypes = opened.picture()
    opened.page.get_by_role("button", name="documents", exact=True).click()
    data = opened.picture()
    assert data != prototypes
    opened.step_to(0)
    assert opened.picture() != data
