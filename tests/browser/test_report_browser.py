"""The report in use: what is seen is what was computed, at every step of the slider."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from spheremix.explore import Reading, explain, layout


def step_to(opened, index):
    """Move the slider as a hand does."""
    opened.page.locator("#beta").fill(str(index))
    opened.page.wait_for_timeout(150)  # what is below the first screen follows when it rests


def sizes_seen(opened):
    return [int(text.replace(",", "")) for text in opened.texts("#cluster-list .size")]


def canvas_bytes(opened):
    return opened.page.evaluate("document.getElementById('map').toDataURL()")


def hover(opened, x, y):
    """Point at a place of the map, from its upper left corner."""
    box = opened.page.locator("#marks").bounding_box()
    opened.page.mouse.move(box["x"] + x, box["y"] + y)
    return opened.page.locator("#tooltip")


POINT_AT_EACH = """(columns) => {
  const marks = document.getElementById("marks");
  const { left, top } = marks.getBoundingClientRect();
  return columns.map((x) => {
    const place = { clientX: left + x, clientY: top + 200 };
    marks.dispatchEvent(new PointerEvent("pointermove", place));
    return document.querySelector("#tooltip .strong").textContent;
  });
}"""


def parse(number):
    return float(number.replace(",", "").replace("\u2212", "-").replace("+", ""))


def saved_table(opened, file):
    """Save a table; give it as a list of dictionaries."""
    opened.page.locator("#save").click()
    with opened.page.expect_download() as waiting:
        opened.page.locator(f"[data-file='{file}']").click()
    assert waiting.value.suggested_filename == file
    with waiting.value.path().open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


# The first screen


def test_the_first_screen_tells_how_many_how_big_in_which_words(open_report, news):
    opened = open_report("news")
    _, content = news
    facts = opened.page.locator("#facts").inner_text()
    assert "300 documents" in facts
    assert "K = 5 (EBIC)" in facts
    assert "(BIC)" in facts
    chosen = content["steps"][content["chosen"]]
    order = np.argsort(-np.array(chosen["weights"]), kind="stable")
    assert sizes_seen(opened) == [chosen["sizes"][k] for k in order]
    assert opened.texts("#cluster-list .name") == [content["names"][k] for k in order]
    for selector in ("#cluster-list", "#marks", "#beta"):
        box = opened.page.locator(selector).bounding_box()
        assert box["y"] + box["height"] <= 800


def test_words_stand_in_the_papers_order(open_report, study):
    """Hover every column; the words read are those of the layout, in its order."""
    _, _, rows, model = study
    opened = open_report("news")
    mixture = model.best_estimator_
    placed = layout(mixture.prototypes_, mixture.weights_)
    names = [rows.words[j] for j in placed.features]
    width = opened.page.locator("#frame").evaluate("e => e.clientWidth") - 96 - 1
    n_active = int((placed.n_clusters > 0).sum())
    idle = len(names) - n_active
    # Nobody's words share at most 12 % of the width.
    narrow = min(1.0, 0.12 / 0.88 * n_active / idle) if idle else 1.0
    unit = width / (n_active + narrow * idle)
    columns = [96 + (place + 0.5) * unit for place in range(n_active)]
    assert opened.page.evaluate(POINT_AT_EACH, columns) == names[:n_active]


def test_the_tooltip_has_the_values_of_the_prototypes(open_report, study):
    _, _, rows, model = study
    opened = open_report("news")
    mixture = model.best_estimator_
    text = hover(opened, 100, 200).inner_text()  # the first column: a word of most clusters
    word = layout(mixture.prototypes_, mixture.weights_).features[0]
    values = mixture.prototypes_[:, word]
    assert text.startswith(rows.words[word])
    assert f"in {np.count_nonzero(values)} of 5 clusters" in text
    shown = [parse(one) for one in opened.texts("#tooltip .number")]
    assert shown == pytest.approx(sorted(values[values != 0], reverse=True), rel=5e-3)


# The slider


def test_the_slider_redraws_map_words_and_sizes(open_report, news, study):
    opened = open_report("news")
    _, content = news
    _, _, rows, model = study
    before = canvas_bytes(opened)
    last = len(content["steps"]) - 2
    step_to(opened, last)
    entry = content["steps"][last]
    assert canvas_bytes(opened) != before
    assert f"sparsity {100 * entry['sparsity']:.0f} %" in opened.page.locator("#facts").inner_text()
    order = np.argsort(-np.array(entry["weights"]), kind="stable")
    assert sizes_seen(opened) == [entry["sizes"][k] for k in order]
    reading = Reading(model.best_path_, rows.words, step=entry["step"])
    cluster = int(opened.page.locator("#card .facts-line").inner_text().split(" · ")[0].split()[1])
    own = {word.word for word in reading.vocabulary.own_words(cluster)}
    assert set(opened.texts("#card .chips.own bdi")) == own
    opened.page.get_by_text("back to it").click()
    opened.page.wait_for_timeout(150)
    assert canvas_bytes(opened) == before


def test_criteria_are_marked_where_they_choose(open_report, news):
    opened = open_report("news")
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
    opened = open_report("news")
    marked = "document.getElementById('marks').toDataURL()"
    before = opened.page.evaluate(marked)
    opened.page.locator("#search").fill("strik")
    opened.page.locator("#found [role=option]", has_text="striker").click()
    line = opened.page.locator("#word-line").inner_text()
    assert line.startswith("striker is in 1 of 5 clusters: ")
    assert opened.page.evaluate(marked) != before
    opened.page.keyboard.press("Escape")
    assert opened.page.locator("#word-line").is_hidden()
    assert opened.page.evaluate(marked) == before


def test_the_search_also_leads_to_documents(open_report, study):
    opened = open_report("news")
    corpus, *_ = study
    opened.page.locator("#search").fill("striker")
    n = sum("striker" in text.lower() for text in corpus.texts)
    opened.page.locator("#found [role=option]", has_text=f"{n} documents with").click()
    assert opened.page.locator("#document-count").inner_text() == f"{n} documents"


def test_zoom_by_buttons_wheel_and_drag(open_report):
    opened = open_report("news")
    whole = canvas_bytes(opened)
    opened.page.locator("#zoom button", has_text="+").click()
    zoomed = canvas_bytes(opened)
    assert zoomed != whole
    box = opened.page.locator("#marks").bounding_box()
    opened.page.mouse.move(box["x"] + 500, box["y"] + 200)
    opened.page.mouse.down()
    opened.page.mouse.move(box["x"] + 300, box["y"] + 200, steps=4)
    opened.page.mouse.up()
    panned = canvas_bytes(opened)
    assert panned not in {whole, zoomed}
    opened.page.locator("#zoom button", has_text="all").click()
    assert canvas_bytes(opened) == whole
    opened.page.wait_for_function("() => location.hash === ''")
    opened.page.mouse.move(box["x"] + 500, box["y"] + 200)
    opened.page.keyboard.down("Control")
    opened.page.mouse.wheel(0, -300)
    opened.page.keyboard.up("Control")
    opened.page.wait_for_function("() => location.hash.includes('zoom')")
    assert canvas_bytes(opened) != whole


# Documents


SCROLL_THROUGH = """async () => {
  const box = document.getElementById("document-list");
  const seen = [];
  for (let top = 0; top <= box.scrollHeight; top += 300) {
    box.scrollTop = top;
    box.dispatchEvent(new Event("scroll"));
    for (const row of box.querySelectorAll(".document")) {
      seen[row.getAttribute("aria-posinset") - 1] = row.querySelector(".id").textContent;
    }
  }
  return seen;
}"""


def listed(opened):
    """Give the ids of the documents in the list, scrolling through it."""
    return opened.page.evaluate(SCROLL_THROUGH)


def test_filters_by_cluster_label_date_and_text(open_report, news, study):
    opened = open_report("news")
    corpus, *_ = study
    _, content = news
    labels = content["labels"][content["chosen"]]
    cluster = int(np.argmax(content["steps"][content["chosen"]]["weights"]))
    page = opened.page
    page.get_by_role("button", name="as given").click()
    inside = [i for i in range(300) if labels[i] == cluster]
    assert listed(opened) == [corpus.ids[i] for i in inside]
    page.get_by_role("button", name="all: 300").click()
    assert len(listed(opened)) == 300
    page.locator("#filter-label").select_option(label="film")
    film = [i for i in range(300) if "film" in corpus.labels[i]]
    assert listed(opened) == [corpus.ids[i] for i in film]
    page.locator("#document-controls input[type=date]").first.fill("2021-03-01")
    late = [i for i in film if str(corpus.dates[i]) >= "2021-03-01"]
    assert listed(opened) == [corpus.ids[i] for i in late]
    page.locator("#text-search").fill("oscar")
    page.wait_for_timeout(300)
    oscar = [i for i in late if "oscar" in corpus.texts[i].lower()]
    assert 0 < len(oscar) < len(late)
    assert listed(opened) == [corpus.ids[i] for i in oscar]
    page.get_by_text("clear filters").click()
    assert len(listed(opened)) == 300


def test_typical_and_ambiguous_documents_come_first(open_report, news):
    opened = open_report("news")
    _, content = news
    cluster = int(np.argmax(content["steps"][content["chosen"]]["weights"]))
    ids = content["documents"]["id"]
    assert listed(opened)[:10] == [ids[i] for i in content["typical"][cluster]]
    opened.page.get_by_role("button", name="in between").click()
    assert listed(opened)[:10] == [ids[i] for i in content["ambiguous"][cluster]]


def test_only_rows_in_sight_exist(open_report):
    opened = open_report("news", fragment="#scope=all")
    assert opened.page.locator(".document").count() < 40
    assert opened.page.locator(".document").first.get_attribute("aria-setsize") == "300"


def test_the_reader_marks_words_and_says_why(open_report, study):
    corpus, _, rows, model = study
    reading = Reading(model, rows.words)
    documents = reading.documents(rows.X)
    i = int(documents.ambiguous(1)[0])
    opened = open_report("news", fragment=f"#document={i}&cluster={documents.labels[i]}")
    roles = dict(zip(rows.words, reading.vocabulary.roles(documents.labels[i]), strict=True))
    text = opened.page.locator("#reader .text")
    assert text.inner_text() == corpus.texts[i]
    for role in ("own", "common", "shared"):
        seen = {one.lower() for one in opened.texts(f"#reader .text .mark.{role}")}
        words = corpus.texts[i].lower().rstrip(".").split()
        assert seen == {word for word in words if roles.get(word) == role}
    why = explain(rows.X[[i]], reading.scorer, rows.words)
    table = opened.page.locator(".contributions tbody tr")
    shown = [row.locator("th, td").all_inner_texts() for row in table.all()]
    terms = [(one.word, one.difference) for one in why.terms[:12]]
    assert [cells[0] for cells in shown[:-2]] == [word for word, _ in terms]
    found = [parse(cells[-1]) for cells in shown[:-2]]
    assert found == pytest.approx([value for _, value in terms], rel=6e-3)
    assert parse(shown[-1][-1]) == pytest.approx(why.log_odds, rel=6e-3)
    assert "hardest to place" in opened.page.locator(".verdict").inner_text()


# Other candidates, the corpus


def test_other_numbers_of_clusters_are_one_click_away(open_report, news):
    opened = open_report("news")
    _, content = news
    opened.page.get_by_role("tab", name="Other K").click()
    opened.page.locator(".ticks button", has_text="4").click()
    other = next(one for one in content["candidates"] if one["n_clusters"] == 4)
    sizes = [int(text) for text in opened.texts("#candidates .cluster-list .size")]
    assert sizes == [one["size"] for one in other["clusters"]]
    opened.page.get_by_role("tab", name="Corpus").click()
    assert "news.csv" in opened.page.locator("#corpus").inner_text()


def test_the_data_map_is_drawn_in_the_same_order(open_report):
    opened = open_report("news")
    prototypes = canvas_bytes(opened)
    opened.page.get_by_role("tab", name="Data map").click()
    data = canvas_bytes(opened)
    assert data != prototypes
    step_to(opened, 0)
    assert canvas_bytes(opened) != data


# Keys, themes, addresses, tables


def test_everything_often_looked_at_has_a_key(open_report, news):
    opened = open_report("news")
    _, content = news
    page = opened.page
    chosen = content["chosen"]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#beta").input_value() == str(chosen + 1)
    page.keyboard.press("Home")
    assert page.locator("#beta").input_value() == str(chosen)
    page.keyboard.press("ArrowDown")
    second = page.locator("#cluster-list li").nth(1)
    assert second.get_attribute("aria-selected") == "true"
    assert page.locator("#card-name").inner_text() == second.locator(".name").inner_text()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    first = page.locator(".document").first
    assert first.get_attribute("aria-selected") == "true"
    assert page.locator("#reader-name").inner_text() == first.locator(".id").inner_text()
    page.locator("#document-list").focus()
    page.keyboard.press("ArrowDown")  # along the list that has the focus
    assert page.locator(".document").nth(1).get_attribute("aria-selected") == "true"
    page.keyboard.press("/")
    page.keyboard.type("jd")  # letters go into the field
    assert page.locator("#search").input_value() == "jd"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()


def test_dark_and_light(open_report):
    opened = open_report("news", theme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark, picture = opened.page.evaluate(ground), canvas_bytes(opened)
    opened.page.locator("#dark").click()
    assert opened.page.evaluate(ground) != dark
    assert canvas_bytes(opened) != picture
    opened.page.keyboard.press("d")
    assert opened.page.evaluate(ground) == dark


def test_the_address_restores_the_view(open_report):
    first = open_report("news")
    page = first.page
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.locator("#zoom button", has_text="+").click()
    page.get_by_role("button", name="in between").click()
    page.keyboard.press("j")
    page.keyboard.press("d")
    page.wait_for_timeout(250)
    fragment = page.evaluate("location.hash")
    second = open_report("news", fragment=fragment)
    for selector in ("#facts", "#card", "#reader", "#document-list"):
        assert second.page.locator(selector).inner_text() == page.locator(selector).inner_text()
    assert canvas_bytes(second) == canvas_bytes(first)


@pytest.mark.parametrize(
    "fragment",
    ["#step=999999", "#cluster=-3&document=1e9", "#zoom=3,1&tab=%3Cb%3E", "#%zz&__proto__=1"],
)
def test_an_address_that_makes_no_sense_is_passed_over(open_report, fragment):
    opened = open_report("news", fragment=fragment)
    plain = open_report("news")
    assert canvas_bytes(opened) == canvas_bytes(plain)


def test_tables_are_those_of_the_run(open_report, news, study):
    opened = open_report("news")
    _, _, rows, model = study
    table = Reading(model, rows.words).vocabulary.table()
    saved = saved_table(opened, "words.csv")
    saved.sort(key=lambda row: (int(row["cluster"]), int(row["rank"])))
    for name in ("cluster", "rank", "n_clusters"):
        assert [int(row[name]) for row in saved] == table[name].tolist()
    assert [row["word"] for row in saved] == table["word"].tolist()
    for name in ("weight", "exit_beta"):
        assert [float(row[name]) for row in saved] == pytest.approx(table[name], rel=1e-6)
    _, content = news
    clusters = saved_table(opened, "clusters.csv")
    names = {int(row["cluster"]): row["name"] for row in clusters}
    assert [names[k] for k in range(5)] == content["names"]
    assert len(saved_table(opened, "path.csv")) == len(content["steps"])
    assert len(saved_table(opened, "candidates.csv")) == 3
    opened.page.get_by_role("button", name="all: 300").click()
    documents = saved_table(opened, "documents.csv")
    by_id = {row["id"]: row for row in documents}
    expected = content["documents"]
    assert set(by_id) == set(expected["id"])
    assert [int(by_id[one]["cluster"]) for one in expected["id"]] == expected["cluster"].tolist()
