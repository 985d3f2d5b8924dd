"""Documents, keys, addresses and tables of the report."""

from __future__ import annotations

import numpy as np
import pytest

from spheremix.reading import Reading, explain

DECOMPOSED = "co\u0302ach"

# Documents


def test_filters_by_group_label_date_and_text(open_report, news, study):
    opened = open_report("news", fragment="#list=all&sort=given")
    corpus, *_ = study
    _, content = news
    labels = content["labels"][content["chosen"]]
    group = int(np.argmax(content["steps"][content["chosen"]]["weights"]))
    page = opened.page
    inside = [i for i in range(300) if labels[i] == group]
    assert opened.listed() == [corpus.ids[i] for i in inside]
    opened.unroll(".filters")
    page.locator("#scope").select_option("all")
    assert len(opened.listed()) == 300
    film = [i for i in range(300) if "film" in corpus.labels["desk"][i]]
    page.locator("#filter-label").select_option(label=f"film: {len(film)}")
    assert opened.listed() == [corpus.ids[i] for i in film]
    page.locator("#document-controls input[type=date]").first.fill("2021-03-01")
    late = [i for i in film if str(corpus.dates[i]) >= "2021-03-01"]
    assert opened.listed() == [corpus.ids[i] for i in late]
    page.locator("#search").fill("oscar")
    page.locator(".found-documents").click()
    oscar = [i for i in late if "oscar" in corpus.texts[i].lower()]
    assert 0 < len(oscar) < len(late)
    assert opened.listed() == [corpus.ids[i] for i in oscar]
    # Escape takes them away, the last one first.
    chips = page.locator("#chip-list .chip")
    assert chips.count() == 4
    page.keyboard.press("Escape")
    assert opened.listed() == [corpus.ids[i] for i in late]
    page.keyboard.press("Escape")
    assert opened.listed() == [corpus.ids[i] for i in film]
    chips.filter(has_text="film").click()
    assert len(opened.listed()) == 300


def test_typical_documents_are_central_and_surely_here(open_report, news):
    opened = open_report("news")
    _, content = news
    group = int(np.argmax(content["steps"][content["chosen"]]["weights"]))
    documents = content["documents"]
    own = np.flatnonzero(documents["group"] == group)
    sure = own[documents["log_odds"][own] >= np.log(99)]
    assert len(sure) > 10
    central = sure[np.argsort(-documents["cosine"][sure], kind="stable")]
    assert opened.listed() == [documents["id"][i] for i in central]
    choices = opened.page.locator("#document-controls .segmented button")
    borderline = (documents["log_odds"][own] < np.log(9)).sum()
    assert choices.all_inner_texts() == ["Typical", f"Borderline {borderline}", f"All {len(own)}"]
    opened.unroll(".filters")
    opened.page.locator("#sort").select_option("unsure")
    assert opened.listed()[:10] == [documents["id"][i] for i in content["ambiguous"][group]]
    assert choices.last.get_attribute("aria-pressed") == "true"


def test_without_titles_the_first_line_is_the_title(open_report, news):
    opened = open_report("news", fragment="#document=3")
    name = opened.page.locator("#reader-name").inner_text()
    text = news[1]["documents"]["text"][3]
    assert name.endswith(" …")
    assert text.startswith(name.removesuffix(" …"))
    assert news[1]["documents"]["id"][3] in opened.page.locator("#reader .about").inner_text()


def test_only_rows_in_sight_exist(open_report):
    opened = open_report("news", fragment="#scope=all&list=all")
    assert opened.page.locator(".document").count() < 40
    assert opened.page.locator(".document").first.get_attribute("aria-setsize") == "300"


def test_the_reader_marks_words_and_says_why(open_report, study):
    corpus, _, rows, model = study
    reading = Reading(model, rows.words)
    documents = reading.documents(rows.X)
    i = int(documents.ambiguous(1)[0])
    opened = open_report("news", fragment=f"#document={i}&group={documents.labels[i]}")
    roles = dict(zip(rows.words, reading.vocabulary.roles(documents.labels[i]), strict=True))
    text = opened.page.locator("#reader .text")
    assert text.inner_text() == corpus.texts[i]
    against = reading.prototypes[documents.second_groups[i]] != 0
    roles |= {word: "rival" for word in rows.words[against] if roles[word] == "other"}
    for role in ("own", "common", "shared", "rival"):
        seen = {one.lower() for one in opened.texts(f"#reader .text .mark.{role}")}
        words = corpus.texts[i].lower().rstrip(".").split()
        assert seen == {word for word in words if roles.get(word) == role}
    assert "rival" in map(roles.get, words)
    assert opened.page.locator(".mark-legend .mark").count() == 4
    assert opened.page.locator(".kept-words").count() == 0  # the report has all of its words
    opened.unroll(".word-by-word")
    why = explain(rows.X[[i]], reading.scorer, rows.words)
    table = opened.page.locator(".contributions tbody tr")
    shown = [row.locator("th").first.inner_text() for row in table.all()]
    values = opened.numbers(".contributions tbody td.number")
    terms = [(one.word, one.difference) for one in why.terms[:12]]
    assert shown[:-2] == [word for word, _ in terms]
    assert values[:-2] == pytest.approx([value for _, value in terms], rel=6e-3)
    assert values[-1] == pytest.approx(why.log_odds, rel=6e-3)
    told = opened.page.locator("#reader details.numbers").text_content()
    assert "This fit alone: odds of " in told


def test_a_list_without_documents_says_so(open_report):
    opened = open_report("news")
    page = opened.page
    page.locator("#search").fill("nothing has this")
    page.locator(".found-documents").click()
    told = page.locator("#no-documents")
    told.wait_for()
    assert told.inner_text() == "No document matches: clear the filters."
    told.get_by_role("button").click()
    page.locator(".document").first.wait_for()
    assert told.is_hidden()
    assert page.locator("#chips").is_hidden()


def test_a_form_of_the_texts_finds_its_word(open_report):
    opened = open_report("inflected")
    opened.page.locator("#search").fill("strikers")
    first = opened.page.locator("#found li").first
    first.wait_for()
    assert first.locator("bdi").first.inner_text() == "striker"
    opened.page.keyboard.press("Escape")
    # Letters may be composed or not.
    i = next(i for i, text in enumerate(opened.content["documents"]["text"]) if DECOMPOSED in text)
    opened.page.evaluate("(i) => { location.hash = `document=${i}`; }", i)
    opened.page.locator("#reader .mark", has_text=DECOMPOSED).first.wait_for()
    opened.page.get_by_role("tab", name="Corpus").click()
    corpus = opened.page.locator("#corpus").inner_text()
    assert "news.csv" in corpus
    assert "somebody" not in corpus


def test_the_search_leads_to_documents_and_clearing_it_clears_them(open_report, study):
    opened = open_report("news", fragment="#tab=prototypes")
    page = opened.page
    page.locator("#search").fill("striker")
    n = sum("striker" in text.lower() for text in study[0].texts)
    page.locator("#found [role=option]", has_text=f"{n} documents with").click()
    assert page.locator("#document-count").inner_text() == f"{n} documents of all groups"
    assert page.locator(".chip", has_text="striker").count() == 1
    page.locator("#search").fill("")
    page.locator(".chip", has_text="striker").wait_for(state="detached")
    assert page.locator("#document-count").inner_text() == "300 documents of all groups"


def test_on_a_telephone_the_document_comes_into_sight(open_report):
    opened = open_report("news", width=390, height=800, touch=True)
    page = opened.page
    reader = page.locator("#reader")
    assert "press j" not in reader.inner_text()
    page.locator(".document").first.tap()
    page.wait_for_function(
        "() => document.getElementById('reader').getBoundingClientRect().top < innerHeight / 2"
    )
    assert "press j" in open_report("news").page.locator("#reader").inner_text()


# Keys, themes, addresses, tables


def test_everything_often_looked_at_has_a_key(open_report, news):
    opened = open_report("news")
    _, content = news
    page = opened.page
    chosen = content["chosen"]
    page.keyboard.press("ArrowLeft")  # fewer words, a later step: the slider moves to the left too
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert page.locator("#beta").input_value() == str(chosen + 1)
    page.keyboard.press("Home")
    assert page.locator("#beta").input_value() == str(chosen)
    page.keyboard.press("ArrowDown")
    second = page.locator("#group-list li").nth(1)
    assert second.get_attribute("aria-selected") == "true"
    assert page.locator("#card-name").inner_text() == second.locator(".name").text_content()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    first = page.locator(".document").first
    assert first.get_attribute("aria-selected") == "true"
    assert page.locator("#reader-name").inner_text() == first.locator(".id").inner_text()
    assert page.locator("#reader-place").inner_text().startswith("1 of ")
    page.locator("#reader-after").click()
    page.locator("#reader-close").click()
    assert page.locator(".document").nth(1).is_visible()
    page.keyboard.press("ArrowDown")  # along the list that has the focus
    assert second.get_attribute("aria-selected") == "true"
    assert page.locator("#reader-name").inner_text() == first.locator(".id").inner_text()
    page.keyboard.press("/")
    page.keyboard.type("jd")  # letters go into the field
    assert page.locator("#search").input_value() == "jd"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()


def test_dark_and_light(open_report):
    opened = open_report("news", fragment="#tab=prototypes", theme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark, picture = opened.page.evaluate(ground), opened.picture()
    opened.page.locator("#dark").click()
    assert opened.page.evaluate(ground) != dark
    assert opened.picture() != picture
    opened.page.keyboard.press("d")
    assert opened.page.evaluate(ground) == dark


def test_the_address_restores_the_view(open_report):
    first = open_report("news", fragment="#tab=prototypes")
    page = first.page
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")
    page.locator("#zoom button", has_text="+").click()
    page.locator("[data-value=borderline]").click()
    page.keyboard.press("j")
    page.keyboard.press("d")
    page.wait_for_timeout(250)
    fragment = page.evaluate("location.hash")
    second = open_report("news", fragment=fragment)
    for selector in ("#facts", "#card", "#reader", "#document-list"):
        assert second.page.locator(selector).inner_text() == page.locator(selector).inner_text()
    assert second.picture() == first.picture()


def test_tables_are_those_of_the_run(open_report, news, study):
    opened = open_report("news")
    _, _, rows, model = study
    table = Reading(model, rows.words).vocabulary.table()
    saved = opened.saved("words.csv")
    saved.sort(key=lambda row: (int(row["group"]), int(row["rank"])))
    for name in ("group", "rank", "n_groups"):
        assert [int(row[name]) for row in saved] == table[name].tolist()
    assert [row["word"] for row in saved] == table["word"].tolist()
    for name in ("score", "weight", "exit_beta"):
        assert [float(row[name]) for row in saved] == pytest.approx(table[name], rel=1e-6)
    _, content = news
    groups = opened.saved("groups.csv")
    names = {int(row["group"]): row["name"] for row in groups}
    assert [names[k] for k in range(5)] == content["names"]
    reading = Reading(model, rows.words, X=rows.X)
    told = {one.group: one for one in reading.groups(n_listed=20)}
    for row in groups:
        one = told[int(row["group"])]
        assert row["words"].split() == [word.word for word in one.words]
        assert row["only_here_words"].split() == [word.word for word in one.only_here_words]
        assert row["shared_words"].split() == [word.word for word in one.shared_words]
    assert len(opened.saved("path.csv")) == len(content["steps"])
    label = opened.page.locator("[data-file='path.csv']").text_content()
    n = len(model.best_path_.betas_)
    some = f" kept here, {len(content['steps'])} of {n:,}" if n > len(content["steps"]) else ""
    assert label == f"Steps of the path{some} (CSV)"
    assert len(opened.saved("candidates.csv")) == 3
    opened.unroll(".filters")
    opened.page.locator("#scope").select_option("all")
    opened.page.locator("[data-value=all]").click()
    documents = opened.saved("documents.csv")
    by_id = {row["id"]: row for row in documents}
    expected = content["documents"]
    assert set(by_id) == set(expected["id"])
    assert [int(by_id[one]["group"]) for one in expected["id"]] == expected["group"].tolist()
