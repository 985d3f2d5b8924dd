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
    corpus = Corpus(texts, [f"d{i}" for i in range(30)])
    folder = tmp_path_factory.mktemp("passages") / "run"
    run = sm.explore_corpus(corpus, folder, k=2, split="paragraphs", min_df=1, starts=1)
    return folder / "report.html", contents.build(run)


def test_a_document_is_shown_whole_with_its_groups(open_report):
    opened = open_report("passages", fragment="#document=1")
    page = opened.page
    assert "120 passages of 30 documents" in page.locator("#facts").inner_text()
    bars = page.locator(".shares span").evaluate_all("all => all.map((one) => one.style.flexGrow)")
    assert [float(one) for one in bars] == pytest.approx([0.75, 0.25], abs=1e-6)
    assert "75 %" in opened.texts(".document-shares p")[0]
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
