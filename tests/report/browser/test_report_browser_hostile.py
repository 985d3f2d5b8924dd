"""A corpus that attacks: everything in it is shown as text, and nothing of it runs."""

from __future__ import annotations

import pytest

INJECT = """() => {
  const script = document.createElement("script");
  script.textContent = "window.pwned = 'inline'";
  document.body.append(script);
  const button = document.createElement("button");
  button.setAttribute("onclick", "window.pwned = 'handler'");
  document.body.append(button);
  button.click();
  const frame = document.createElement("iframe");
  frame.src = "javascript:parent.pwned = 'address'";
  document.body.append(frame);
}"""

LABELS_OF = "groups => groups.map((one) => one.label)"


def test_everything_hostile_is_shown_as_text(open_report, hostile):
    opened = open_report("hostile", fragment="#scope=all&list=all&sort=given")
    _, content = hostile
    page = opened.page
    assert page.title() == "<script>window.pwned=7</script>"
    assert page.locator("#title").inner_text() == "<script>window.pwned=7</script>"
    assert page.locator(".document .id").first.inner_text() == content["documents"]["title"][0]
    for i in range(10):
        page.keyboard.press("j")
        assert page.locator("#reader-name").text_content() == content["documents"]["title"][i]
        assert (
            page.locator("#reader .about bdi").first.text_content()
            == (content["documents"]["id"][i])
        )
        shown = page.locator("#reader .text").text_content()
        assert content["documents"]["text"][i].startswith(shown)
    columns = [one["name"] for one in content["documents"]["label_columns"]]
    assert page.locator("#filter-label optgroup").evaluate_all(LABELS_OF) == columns
    headings = page.locator("#card h3 bdi").all_text_contents()
    assert headings == columns
    words = {word for word in content["words"] if not word.startswith("word")}
    page.get_by_role("button", name="show all").first.click()
    assert words & set(page.locator("#card .word-bars bdi").all_text_contents())
    grown = "main img:not(#printed, .printed-map), main iframe, main b, main i, main u, main script"
    assert page.locator(grown).count() == 0


def test_hostile_words_on_the_map_and_in_the_search(open_report, hostile):
    opened = open_report("hostile", fragment="#tab=prototypes")
    _, content = hostile
    page = opened.page
    box = page.locator("#marks").bounding_box()
    for x in range(110, 900, 30):
        page.mouse.move(box["x"] + x, box["y"] + 100)
    for word in ("<img", "__proto__", "constructor", "{{title}}"):
        page.locator("#search").fill(word)
        page.locator("#found li").first.wait_for()
        page.wait_for_timeout(200)
        page.keyboard.press("Enter")
    assert "onmouseover" in page.locator("#word-line").text_content()
    assert content["words"][5] == "__proto__"


def test_a_label_called_proto_filters_like_any_other(open_report):
    opened = open_report("hostile", fragment="#scope=all&list=all")
    opened.unroll(".filters")
    opened.page.locator("#filter-label").select_option(label="__proto__: 6")
    assert opened.page.locator("#document-count").inner_text() == "6 documents of all groups"
    opened.page.get_by_role("tab", name="Corpus").click()
    assert "<u>note</u>" in opened.page.locator("#corpus").inner_text()


def test_saved_tables_hold_no_formula(open_report):
    opened = open_report("hostile", fragment="#scope=all")
    opened.page.locator("#save").click()
    with opened.page.expect_download() as waiting:
        opened.page.locator("[data-file='words.csv']").click()
    text = waiting.value.path().read_text(encoding="utf-8")
    assert "'=HYPERLINK(1)" in text
    assert ",=HYPERLINK" not in text
    weights = [row["weight"] for row in opened.saved("words.csv")]
    assert all(float(weight) for weight in weights)  # numbers stay numbers


def test_a_long_document_is_opened_at_once_and_says_that_it_is_cut(open_report, hostile):
    opened = open_report("hostile", fragment="#document=7")
    _, content = hostile
    shown = opened.page.locator("#reader .text").text_content()
    assert len(shown) <= 20_000
    assert content["documents"]["length"][7] > len(content["documents"]["text"][7]) == 50_000
    reader = opened.page.locator("#reader").inner_text()
    assert "show the 50,000 characters in this report" in reader
    assert "Shortened here" in reader


def test_directions_of_writing_do_not_leak(open_report):
    opened = open_report("hostile", fragment="#scope=all&sort=given")
    isolated = opened.page.locator(".document .id").evaluate_all(
        "all => all.map(one => getComputedStyle(one).unicodeBidi)"
    )
    assert set(isolated) == {"isolate"}


@pytest.mark.parametrize("name", ["news", "hostile"])
def test_the_policy_refuses_what_is_put_into_the_page(open_report, name):
    opened = open_report(name)
    opened.page.evaluate(INJECT)
    opened.page.wait_for_timeout(100)
    assert opened.page.evaluate("window.pwned") is None
    refused = [line for line in opened.errors if "Content Security Policy" in line]
    assert len(refused) >= 2
    opened.errors.clear()


def test_the_policy_lets_nothing_out(open_report):
    opened = open_report("news")
    tried = opened.page.evaluate(
        """async () => {
          const image = new Image();
          const picture = new Promise((done) => {
            image.onerror = () => done("refused");
            image.onload = () => done("shown");
          });
          image.src = "https://example.org/picture.png";
          const asked = await fetch("https://example.org/").then(() => "answered", () => "refused");
          return [await picture, asked];
        }"""
    )
    assert tried == ["refused", "refused"]
    refused = [line for line in opened.errors if "Content Security Policy" in line]
    assert len(refused) >= 2
    opened.errors.clear()
    opened.requests.clear()
