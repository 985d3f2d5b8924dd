"""The reader of a report whose documents were split into passages."""

from __future__ import annotations

import numpy as np
import pytest

import spheremix as sm
from spheremix.report import content as contents
from spheremix.text import Corpus

TOPICS = ("boat harbour wave sailor anchor", "star planet moon comet telescope")


@pytest.fixture(scope="module")
def passages(tmp_path_factory):
    """Return the page of documents of four passages, the first of which has three on the sea."""
    rng = np.random.default_rng(0)
    kinds = [(0, 0, 1, 0), *(rng.integers(2, size=4) for _ in range(29))]
    texts = [
        "\n\n".join(" ".join(rng.choice(TOPICS[one].split(), 12)) + "." for one in several)
        for several in kinds
    ]
    dates = [f"{2000 + i % 10}" for i in range(30)]
    parties = {"party": [(("left", "right")[i % 2],) for i in range(30)]}
    corpus = Corpus(texts, [f"d{i}" for i in range(30)], dates=dates, labels=parties)
    folder = tmp_path_factory.mktemp("passages") / "run"
    options = {"split": "paragraphs", "min_df": 1, "starts": 1, "effects": "party,year"}
    run = sm.explore_corpus(corpus, folder, k=2, **options)
    return folder / "report.html", contents.build(run)


def shares_of(content):
    """Return the shares of the groups in each document, which are those of the tables."""
    return content["documents"]["passages"]["shares"].reshape(30, 2) / 10_000


def test_a_document_is_shown_whole_with_its_groups(open_report):
    opened = open_report("passages", fragment="#document=1")
    page = opened.page
    assert "120 passages of 30 documents" in page.locator("#facts").inner_text()
    bars = page.locator(".shares span").evaluate_all("all => all.map((one) => one.style.flexGrow)")
    shares = sorted(shares_of(opened.content)[0], reverse=True)
    assert [float(one) for one in bars] == pytest.approx(shares, abs=1e-6)
    assert f"{100 * shares[0]:.0f} %" in opened.texts(".document-shares p")[0]
    assert opened.texts(".passage-text") == opened.content["documents"]["text"][:4]
    named = opened.texts(".passage button")
    assert named[0] == named[1] == named[3] != named[2]
    assert (
        page.locator(".passage.here .passage-text").inner_text()
        == (opened.content["documents"]["text"][1])
    )
    colours = page.locator(".passage").evaluate_all(
        "all => all.map((one) => getComputedStyle(one).borderInlineStartColor)"
    )
    assert colours[0] == colours[1] != colours[2]
    page.locator(".passage button").nth(2).click()
    assert opened.texts(".passage.here .passage-text") == [opened.content["documents"]["text"][2]]


def test_lists_have_the_share_of_a_document(open_report):
    opened = open_report("passages", fragment="#list=all")
    page, documents = opened.page, opened.content["documents"]
    own, groups = documents["passages"], documents["group"]
    place = {one: i for i, one in enumerate(documents["id"])}

    def rows():
        named = page.locator("#document-list .document .id")
        ids = named.evaluate_all("all => all.map((one) => one.title)")
        shares = [one.split(" %")[0] for one in opened.texts("#document-list .number")]
        return ids, [float(one) for one in shares]

    ids, shares = rows()
    for one, share in zip(ids, shares, strict=True):
        i = place[one]
        known = shares_of(opened.content)[own["document"][i], groups[i]]
        assert share == pytest.approx(100 * known, abs=0.51)
    page.evaluate("location.hash = 'list=all&sort=share'")
    page.wait_for_function("document.querySelector('#sort').value === 'share'")
    page.wait_for_timeout(300)
    ids, shares = rows()
    documents_of = [one.split("#")[0] for one in ids]
    assert len(documents_of) == len(set(documents_of)) > 3
    assert shares == sorted(shares, reverse=True)
    assert opened.texts("#document-count")[0].startswith(
        str(len(set(own["document"][groups == groups[place[ids[0]]]].tolist())))
    )


def test_effects_are_shown_with_their_intervals(open_report):
    opened = open_report("passages", fragment="#tab=labels")
    page, found = opened.page, opened.content["effects"]
    party, year = found["columns"]
    assert found["unstable"] == []
    lines = page.locator(".effect-line").all_inner_texts()
    assert len(lines) == 4
    told = {tuple(one.split("\n")) for one in lines}
    wanted = set()
    for v, value in enumerate(party["values"]):
        for k in range(2):
            share, low, high = (100 * party[name][v][k] for name in ("shares", "low", "high"))
            wanted.add((value, f"{share:.0f} % ({low:.0f} to {high:.0f})"))
    assert told == wanted
    assert opened.texts(".effects li") == party["sentences"]
    page.locator("#tab-time").click()
    bands = page.locator("#time .effects polygon")
    assert bands.count() == 2
    assert bands.first.get_attribute("points").count(",") == 2 * len(year["values"])
    page.get_by_role("button", name="share of the year").click()
    assert all(" to " in one for one in opened.texts("#time .peak"))
