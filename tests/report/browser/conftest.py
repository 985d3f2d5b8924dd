"""Reports of small corpora in a real browser: Chromium, as the system has it."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from little_advice import ADVICE, with_values
from playwright.sync_api import sync_playwright
from report_common import HOSTILE, TOPICS, Opened, grow, make_corpus
from scipy import sparse

import spheremix as sm
from spheremix.report import content as contents
from spheremix.report.html import page
from spheremix.text import Corpus, TextVectorizer, vectorize

# Each window brings the list below its address bar as a page of its own, which takes a second. The
# last flag of this name counts: the others are those of playwright that matter here.
UNUSED = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup")
UNUSED += ("MediaRouter", "OptimizationHints", "PaintHolding")
FLAGS = [
    f"--disable-features={','.join(UNUSED)}",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="module", autouse=True)
def little_advice():
    """Little advice, but all steps of the map: its places are pointed at."""
    with with_values(ADVICE):
        yield


@pytest.fixture(scope="session")
def browser():
    """Chromium of the system, without a window."""
    place = os.environ.get("SPHEREMIX_CHROMIUM") or shutil.which("chromium")
    if place is None:
        reason = "no Chromium: apt-get install chromium, or set SPHEREMIX_CHROMIUM"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=place, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def open_report(browser, request):
    """Open the report of a fixture; at the end it must have asked for nothing, and be silent."""
    opened = []

    def open_report(name, *, width=1280, height=800, fragment="", theme="light", touch=False):
        path, content = request.getfixturevalue(name)
        view = {"width": width, "height": height}
        context = browser.new_context(
            viewport=view, color_scheme=theme, has_touch=touch, is_mobile=touch
        )
        one = Opened(context.new_page(), content)
        one.page.set_default_timeout(8000)
        context.on("request", lambda asked: one.requests.append(asked.url))
        one.page.on("pageerror", lambda error: one.errors.append(str(error)))
        one.page.on("dialog", lambda box: (one.dialogs.append(box.message), box.dismiss()))
        one.page.on("console", one.listen)
        one.page.goto(f"{Path(path).as_uri()}{fragment}")
        one.page.locator("body[data-ready]").wait_for()
        opened.append(one)
        return one

    yield open_report
    for one in opened:
        at_end = one.page.evaluate("window.pwned")
        one.page.context.close()
        assert at_end is None
        assert one.errors == []
        assert one.dialogs == []
        assert [url for url in one.requests if not re.match(r"file:///\S+\.html|blob:", url)] == []


@pytest.fixture(scope="session")
def write(tmp_path_factory):
    """Return what writes the page of a model, and gives its path and its content."""
    folder = tmp_path_factory.mktemp("report")

    def write(name, model, corpus, **material):
        report = sm.Report(model, corpus, **material)
        return report.write_html(folder / f"{name}.html"), report.content

    return write


@pytest.fixture(scope="session")
def rewrite(tmp_path_factory):
    """Return what writes the page of a content that was changed, and gives both."""
    folder = tmp_path_factory.mktemp("report")

    def rewrite(name, content):
        path = folder / f"{name}.html"
        path.write_text(page(content), encoding="utf-8")
        return path, content

    return rewrite


def count(corpus, lemmatizer=None):
    """Return a vectoriser, and the words of a corpus counted by it."""
    vectorizer = TextVectorizer(lemmatizer=lemmatizer, weighting="counts", max_df=1.0)
    return vectorizer, vectorize(corpus, vectorizer.fit(corpus.texts))


def follow(K, X, **options):
    """Follow a path in few steps."""
    quick = {"init": "random", "n_init": 2, "random_state": 0, "min_relative_increase": 0.2}
    return sm.VMFPath(K, **{**quick, **options}).fit(X)


@pytest.fixture(scope="session")
def study():
    """Five topics, K chosen of three, and the path."""
    corpus = make_corpus(TOPICS, 60)
    vectorizer, rows = count(corpus)
    model = sm.VMFMixtureIC(
        n_components=[4, 5, 6],
        k_criterion="ebic",
        init="random",
        n_init=5,
        random_state=0,
        min_relative_increase=0.05,
    ).fit(rows.X)
    return corpus, vectorizer, rows, model


@pytest.fixture(scope="session")
def news(study, write):
    """The report of the five topics."""
    corpus, vectorizer, _, model = study
    return write("news", model, corpus, vectorizer=vectorizer)


@pytest.fixture(scope="session")
def grown(news, rewrite):
    """The five topics with a tree, stability, advice and remarks."""
    return rewrite("grown", grow(news[1]))


@pytest.fixture(scope="session")
def capped(study, write):
    """The same, with room for 30 words only."""
    corpus, vectorizer, _, model = study
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contents, "MAX_WORDS", 30)
        return write("capped", model, corpus, vectorizer=vectorizer)


@pytest.fixture(scope="session")
def nineteen(news, rewrite):
    """The same, as if 2 to 20 groups had been tried, the two of them from one start."""
    _, content = news
    parts = [group for one in content["candidates"] for group in one["groups"]] * 2
    tried = [
        content["candidates"][0]
        | {
            "n_groups": K,
            "chosen": K == 5,
            "agreement": None if K == 2 else 1 / K,
            "groups": parts[:K],
        }
        for K in range(2, 21)
    ]
    return rewrite("nineteen", content | {"candidates": tried})


@pytest.fixture(scope="session")
def two(write):
    """Two groups of words without texts: a matrix."""
    corpus = make_corpus({name: TOPICS[name] for name in ("sport", "money")}, 40)
    _, rows = count(corpus)
    path = follow(2, rows.X, min_relative_increase=0.1)
    return write("two", path, None, X=rows.X, feature_names=rows.words)


@pytest.fixture(scope="session")
def forty(write):
    """Forty groups, with long names."""
    topics = {
        f"topic {i}": " ".join(f"interdisciplinary{i:02d}{letter}" for letter in "abcdef")
        for i in range(40)
    }
    corpus = make_corpus(topics, 12)
    vectorizer, rows = count(corpus)
    truth = np.array([int(label[0].split()[1]) for label in corpus.labels["desk"]])
    path = follow(40, rows.X, init=truth, min_relative_increase=0.3)
    return write("forty", path, corpus, vectorizer=vectorizer)


def embedded(centres, scale):
    """Return texts of five topics, and rows around the centre of each topic."""
    corpus = make_corpus(TOPICS, 20)
    noise = np.random.default_rng(2).normal(scale=scale, size=(len(corpus.texts), 16))
    return corpus, noise + centres[[[*TOPICS].index(one[0]) for one in corpus.labels["desk"]]]


@pytest.fixture(scope="session")
def embeddings(write):
    """Coordinates with texts: what sets groups apart is found in the texts."""
    corpus, X = embedded(np.random.default_rng(1).normal(size=(5, 16)), 0.3)
    return write("embeddings", follow(5, X, n_init=10), corpus, X=X)


@pytest.fixture(scope="session")
def unpenalised(write):
    """Coordinates with texts and without a path, as explore leaves embeddings."""
    corpus, X = embedded(np.eye(5, 16), 0.1)
    X[:, -1] = 0.0  # a column of nobody: zero without any penalty
    mixture = sm.VMFMixture(5, n_init=3, random_state=0).fit(X)
    return write("unpenalised", mixture, corpus, X=X)


@pytest.fixture(scope="session")
def nameless(write):
    """Rows of coordinates that are never negative, and nothing else about the documents."""
    X = np.abs(sm.datasets.make_vmf_mixture(n_samples=80, n_features=8, random_state=0)[0])
    return write("nameless", follow(3, X), None, X=X)


@pytest.fixture(scope="session")
def inflected(write):
    """Texts in which words are inflected or accented; the source is somewhere on a disk."""
    corpus = make_corpus({name: TOPICS[name] for name in ("sport", "money")}, 30)
    plural = [
        text.replace("coach", "co\u0302ach") if i % 3 else re.sub(r"\bstriker\b", "strikers", text)
        for i, text in enumerate(corpus.texts)
    ]
    corpus = replace(corpus, texts=plural, source="/somebody/at/home/news.csv")
    vectorizer, rows = count(corpus, lambda word: word.removesuffix("s"))
    return write("inflected", follow(2, rows.X), corpus, vectorizer=vectorizer)


@pytest.fixture(scope="session")
def bare(write):
    """One mixture, and nothing else: no path, no rows, no names."""
    X, _, _ = sm.datasets.make_vmf_mixture(n_samples=60, n_features=8, random_state=0)
    return write("bare", sm.VMFMixture(3, n_init=2, random_state=0).fit(X), None)


@pytest.fixture(scope="session")
def single(write):
    """One group only: there is no other one to compare with."""
    corpus = make_corpus({"sport": TOPICS["sport"]}, 20)
    vectorizer, rows = count(corpus)
    return write("single", follow(1, rows.X, n_init=1), corpus, vectorizer=vectorizer)


@pytest.fixture(scope="session")
def hostile(write):
    """Words, ids, labels and texts that try to be more than text, one of them long."""
    words = [*HOSTILE, *(f"word{i}" for i in range(30))]
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.3, size=(60, len(words)))
    counts[:30, : len(HOSTILE)] += rng.poisson(2, size=(30, len(HOSTILE)))
    counts[30:, len(HOSTILE) : 25] += rng.poisson(2, size=(30, 15))
    texts = [f"{HOSTILE[i % len(HOSTILE)]} and word{i % 30} again" for i in range(60)]
    texts[7] = "<b>long</b> " * (2**20 // 12)
    labels = [(HOSTILE[i % len(HOSTILE)], "<i>label</i>") for i in range(60)]
    ids = [f"{HOSTILE[i % len(HOSTILE)]} {i}" for i in range(60)]
    columns = {HOSTILE[0]: labels, HOSTILE[1]: [("x",)] * 60}
    corpus = Corpus(
        *(texts, ids, None, columns, "<b>source</b>"), notes=["<u>note</u>"], titles=ids[::-1]
    )
    X = sparse.csr_array(counts.astype(float))
    path = follow(2, X, n_init=3)
    title = "<script>window.pwned=7</script>"
    return write("hostile", path, corpus, X=X, feature_names=words, title=title)


@pytest.fixture(scope="session")
def lost(write):
    """Three groups of directions and some at random, by a path; columns have names."""
    X, _, _ = sm.datasets.make_vmf_mixture(150, 12, 3, kappa=80.0, random_state=0)
    noise = np.random.default_rng(0).normal(size=(15, 12))
    X = np.vstack([X, noise / np.linalg.norm(noise, axis=1, keepdims=True)])
    options = {"noise": "uniform", "n_init": 2, "min_relative_increase": 0.3, "max_steps": 6}
    path = sm.VMFPath(3, random_state=0, **options).fit(X)
    return write("lost", path, None, X=X, feature_names=[f"word{j}" for j in range(12)])
