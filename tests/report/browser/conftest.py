"""Reports of small corpora in a real browser: Chromium, as the system has it."""

from __future__ import annotations

import csv
import datetime as dt
import os
import re
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from little_advice import ADVICE, with_values
from playwright.sync_api import Page, sync_playwright
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

TOPICS = {
    "sport": "goal striker coach league referee penalty stadium champion tennis medal",
    "money": "stock investor profit bank shareholder dividend merger inflation bond audit",
    "politics": "minister election parliament vote party tory cabinet budget treaty senate",
    "film": "actor director cinema oscar comedy premiere script studio actress trailer",
    "science": "planet telescope protein gene neuron laboratory molecule quantum fossil orbit",
}
PAIRS = {"sport": "contract transfer", "money": "contract budgetary", "film": "award transfer"}
NOISE = 0.3  # of the words of a text, beside them, from any topic
COMMON = "year people time world week company report number"

HOSTILE = [
    "</script><script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=2>",
    "<svg onload=window.pwned=3>",
    "\"onmouseover='window.pwned=4' {{title}} ${window.pwned=5}",
    "javascript:window.pwned=6",
    "__proto__",
    "constructor",
    "\u202eright to left\u202c \u2067isolate",
    "\U0001f600 emoji \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "=HYPERLINK(1)",
]


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


@dataclass
class Opened:
    """A page with all that it has said and asked for."""

    page: Page
    content: dict[str, Any]
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def listen(self, line):
        """Keep what the console complains about."""
        if line.type in {"error", "warning"}:
            self.errors.append(line.text)

    def texts(self, selector):
        """Give the texts of all elements of a selector."""
        return self.page.locator(selector).all_inner_texts()

    def numbers(self, selector):
        """Give the texts as numbers."""
        return [parse(text) for text in self.texts(selector)]

    def picture(self):
        """Give the map as it is drawn."""
        return self.page.evaluate("document.getElementById('map').toDataURL()")

    def cluster(self):
        """Give the number of the chosen cluster."""
        chosen = self.page.locator("#cluster-list [aria-selected=true]")
        return int(chosen.get_attribute("id").removeprefix("group-"))

    def unroll(self, selector):
        """Open what is rolled up."""
        self.page.locator(f"{selector} > summary").click()

    def step_to(self, index):
        """Move the slider; what is below the first screen follows when it rests."""
        self.page.locator("#beta").fill(str(index))
        self.page.wait_for_timeout(150)

    def listed(self):
        """Give the ids of all documents of the list, scrolling through it."""
        return self.page.evaluate(SCROLL_THROUGH)

    def saved(self, file):
        """Save a table; give its rows."""
        self.page.locator("#save").click()
        with self.page.expect_download() as waiting:
            self.page.locator(f"[data-file='{file}']").click()
        assert waiting.value.suggested_filename == file
        with waiting.value.path().open(encoding="utf-8", newline="") as lines:
            return list(csv.DictReader(lines))


def parse(number):
    """Read a number as the page writes it."""
    return float(number.replace(",", "").replace("\u2212", "-").replace("+", ""))


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
        one.page.on(
            "console",
            lambda line: (
                one.errors.append(line.text) if line.type in {"error", "warning"} else None
            ),
        )
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


def make_corpus(topics, per_topic, seed=0, length=40):
    """Draw texts: words of a topic, of two, of all, and some from anywhere."""
    rng = np.random.default_rng(seed)
    texts, labels, dates = [], [], []
    everything = " ".join(topics.values()).split()
    for i, (name, own) in enumerate(topics.items()):
        words = own.split()
        extra = PAIRS.get(name, "").split()
        pool = words * 3 + extra * 2 + COMMON.split() * 2
        for _ in range(per_topic):
            drawn = [*rng.choice(pool, length), *rng.choice(everything, int(NOISE * length))]
            texts.append(" ".join(drawn).capitalize() + ".")
            labels.append((name, f"desk {i % 2}"))
            dates.append(dt.date(2020 + int(rng.integers(2)), 1 + int(rng.integers(12)), 5))
    mixed = rng.permutation(len(texts))
    ids = [f"doc-{rank:04d}" for rank in range(len(texts))]
    pick = lambda values: [values[row] for row in mixed]  # noqa: E731
    labels = {"desk": pick(labels)}
    return Corpus(pick(texts), ids, pick(dates), labels, source="news.csv", format="CSV")


def write_report(folder, name, model, corpus, **material):
    """Write a page; give its path and its content."""
    report = sm.Report(model, corpus, **material)
    return report.write_html(folder / f"{name}.html"), report.content


@pytest.fixture(scope="session")
def study():
    """Five topics, K chosen of three, and the path."""
    corpus = make_corpus(TOPICS, 60)
    vectorizer = TextVectorizer(lemmatizer=None, weighting="counts", max_df=1.0).fit(corpus.texts)
    rows = vectorize(corpus, vectorizer)
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
def news(study, tmp_path_factory):
    """The report of the five topics."""
    corpus, vectorizer, _, model = study
    folder = tmp_path_factory.mktemp("report")
    return write_report(folder, "news", model, corpus, vectorizer=vectorizer)


def grow(content):
    """Give a content a tree, firmness, advice and remarks, by hand.

    Each cluster has two leaves, its even and its odd documents; the clusters are merged one after
    the other.
    """
    K, labels = content["model"]["n_clusters"], content["documents"]["cluster"].astype(int)
    L, n = 2 * K, len(labels)
    leaf = 2 * labels + np.arange(n) % 2
    parents = [L + i // 2 for i in range(L)]
    parents += [L + K + max(0, k - 1) for k in range(K)]
    parents += [L + K + i + 1 for i in range(K - 2)] + [-1]
    sizes = [*np.bincount(leaf, minlength=L), *([0] * (L - 1))]
    for node, parent in enumerate(parents[:-1]):
        sizes[parent] += sizes[node]
    clusters = [*(i // 2 for i in range(L)), *range(K), *([-1] * (K - 1))]
    tree = {
        "leaves": L,
        "chosen": K,
        "parents": parents,
        "heights": [0.0] * L + [float(i + 1) for i in range(L - 1)],
        "sizes": [int(size) for size in sizes],
        "names": [f"node {node}" for node in range(2 * L - 1)],
        "words": [[f"word{node}", "goal"] for node in range(2 * L - 1)],
        "sibling_words": [[] for _ in range(2 * L - 1)],
        "only": [[f"only{node}"] for node in range(2 * L - 1)],
        "clusters": clusters,
        "is_chosen": [L <= node < L + K for node in range(2 * L - 1)],
    }
    firmness = {
        "documents": np.linspace(0, 1, n, dtype=np.float32),
        "groups": [0.3, *np.linspace(0.6, 1.0, K - 1).round(2).tolist()],
        "words": {
            "ends": np.zeros(K + 1, dtype=np.uint32),
            "places": np.zeros(0, dtype=np.uint32),
            "shares": np.zeros(0, dtype=np.float32),
        },
        "n_replicates": 20,
    }
    advice = {
        "recommended": [
            {"n_clusters": K, "reading": "first", "sentence": f"{K} clusters: the best."},
            {"n_clusters": 3, "reading": "coarser", "sentence": "3 clusters (coarser): firm."},
        ],
        "certainty": "fair",
        "doubts": ["One doubt."],
        "evidence": {"n_components": [3, K], "stability": [0.9, 0.4], "firmness": [0.9, None]},
    }
    remarks = [
        {"text": "Words: some are kept.", "warning": False},
        {"text": "3 of 9 documents set aside.", "warning": True},
    ]
    documents = content["documents"] | {"leaf": leaf.astype(np.uint16)}
    more = {"tree": tree, "firmness": firmness, "advice": advice, "remarks": remarks}
    return content | more | {"documents": documents, "run": "abc"}


@pytest.fixture(scope="session")
def grown(news, tmp_path_factory):
    """The five topics with a tree, firmness, advice and remarks."""
    content = grow(news[1])
    path = tmp_path_factory.mktemp("report") / "grown.html"
    path.write_text(page(content), encoding="utf-8")
    return path, content


@pytest.fixture(scope="session")
def capped(study, tmp_path_factory):
    """The same, with room for 30 words only."""
    corpus, vectorizer, _, model = study
    folder = tmp_path_factory.mktemp("report")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contents, "MAX_WORDS", 30)
        return write_report(folder, "capped", model, corpus, vectorizer=vectorizer)


@pytest.fixture(scope="session")
def nineteen(news, tmp_path_factory):
    """The same, as if 2 to 20 clusters had been tried, the two of them from one start."""
    _, content = news
    parts = [cluster for one in content["candidates"] for cluster in one["clusters"]] * 2
    tried = [
        content["candidates"][0]
        | {
            "n_clusters": K,
            "chosen": K == 5,
            "agreement": None if K == 2 else 1 / K,
            "clusters": parts[:K],
        }
        for K in range(2, 21)
    ]
    path = tmp_path_factory.mktemp("report") / "nineteen.html"
    path.write_text(page(content | {"candidates": tried}), encoding="utf-8")
    return path, content | {"candidates": tried}


@pytest.fixture(scope="session")
def two(tmp_path_factory):
    """Two clusters of words without texts: a matrix."""
    corpus = make_corpus({name: TOPICS[name] for name in ("sport", "money")}, 40)
    vectorizer = TextVectorizer(lemmatizer=None, weighting="counts", max_df=1.0).fit(corpus.texts)
    rows = vectorize(corpus, vectorizer)
    path = sm.VMFPath(2, init="random", n_init=2, random_state=0, min_relative_increase=0.1).fit(
        rows.X
    )
    folder = tmp_path_factory.mktemp("report")
    return write_report(folder, "two", path, None, X=rows.X, feature_names=rows.words)


@pytest.fixture(scope="session")
def forty(tmp_path_factory):
    """Forty clusters, with long names."""
    topics = {
        f"topic {i}": " ".join(f"interdisciplinary{i:02d}{letter}" for letter in "abcdef")
        for i in range(40)
    }
    corpus = make_corpus(topics, 12)
    vectorizer = TextVectorizer(lemmatizer=None, weighting="counts", max_df=1.0).fit(corpus.texts)
    rows = vectorize(corpus, vectorizer)
    truth = np.array([int(label[0].split()[1]) for label in corpus.labels["desk"]])
    path = sm.VMFPath(40, init=truth, min_relative_increase=0.3).fit(rows.X)
    folder = tmp_path_factory.mktemp("report")
    return write_report(folder, "forty", path, corpus, vectorizer=vectorizer)


@pytest.fixture(scope="session")
def embeddings(tmp_path_factory):
    """Coordinates with texts: what sets clusters apart is found in the texts."""
    corpus = make_corpus(TOPICS, 20)
    topics = list(TOPICS)
    centres = np.random.default_rng(1).normal(size=(5, 16))
    noise = np.random.default_rng(2).normal(scale=0.3, size=(len(corpus.texts), 16))
    X = noise + centres[[topics.index(label[0]) for label in corpus.labels["desk"]]]
    path = sm.VMFPath(5, init="random", n_init=10, random_state=0, min_relative_increase=0.2).fit(X)
    folder = tmp_path_factory.mktemp("report")
    return write_report(folder, "embeddings", path, corpus, X=X)


@pytest.fixture(scope="session")
def unpenalised(tmp_path_factory):
    """Coordinates with texts and without a path, as explore leaves embeddings."""
    corpus = make_corpus(TOPICS, 20)
    noise = np.random.default_rng(2).normal(scale=0.1, size=(len(corpus.texts), 16))
    X = noise + np.eye(5, 16)[[list(TOPICS).index(label[0]) for label in corpus.labels["desk"]]]
    X[:, -1] = 0.0  # a column of nobody: zero without any penalty
    mixture = sm.VMFMixture(5, n_init=3, random_state=0).fit(X)
    return write_report(tmp_path_factory.mktemp("report"), "unpenalised", mixture, corpus, X=X)


@pytest.fixture(scope="session")
def nameless(tmp_path_factory):
    """Rows of coordinates that are never negative, and nothing else about the documents."""
    X = np.abs(sm.datasets.make_vmf_mixture(n_samples=80, n_features=8, random_state=0)[0])
    path = sm.VMFPath(3, init="random", n_init=2, random_state=0, min_relative_increase=0.2).fit(X)
    return write_report(tmp_path_factory.mktemp("report"), "nameless", path, None, X=X)


@pytest.fixture(scope="session")
def inflected(tmp_path_factory):
    """Texts in which words are inflected; the source is somewhere on a disk."""
    corpus = make_corpus({name: TOPICS[name] for name in ("sport", "money")}, 30)
    plural = [
        text if i % 3 else re.sub(r"\bstriker\b", "strikers", text)
        for i, text in enumerate(corpus.texts)
    ]
    corpus = replace(corpus, texts=plural, source="/somebody/at/home/news.csv")
    vectorizer = TextVectorizer(
        lemmatizer=lambda word: word.removesuffix("s"), weighting="counts", max_df=1.0
    ).fit(corpus.texts)
    rows = vectorize(corpus, vectorizer)
    path = sm.VMFPath(2, init="random", n_init=2, random_state=0, min_relative_increase=0.2).fit(
        rows.X
    )
    folder = tmp_path_factory.mktemp("report")
    return write_report(folder, "inflected", path, corpus, vectorizer=vectorizer)


@pytest.fixture(scope="session")
def bare(tmp_path_factory):
    """One mixture, and nothing else: no path, no rows, no names."""
    X, _, _ = sm.datasets.make_vmf_mixture(n_samples=60, n_features=8, random_state=0)
    mixture = sm.VMFMixture(3, n_init=2, random_state=0).fit(X)
    return write_report(tmp_path_factory.mktemp("report"), "bare", mixture, None)


@pytest.fixture(scope="session")
def single(tmp_path_factory):
    """One cluster only: there is no other one to compare with."""
    corpus = make_corpus({"sport": TOPICS["sport"]}, 20)
    vectorizer = TextVectorizer(lemmatizer=None, weighting="counts", max_df=1.0).fit(corpus.texts)
    path = sm.VMFPath(1, n_init=1, min_relative_increase=0.2).fit(vectorize(corpus, vectorizer).X)
    folder = tmp_path_factory.mktemp("report")
    return write_report(folder, "single", path, corpus, vectorizer=vectorizer)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
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
    path = sm.VMFPath(2, init="random", n_init=3, random_state=0, min_relative_increase=0.2).fit(X)
    folder = tmp_path_factory.mktemp("report")
    title = "<script>window.pwned=7</script>"
    return write_report(folder, "hostile", path, corpus, X=X, feature_names=words, title=title)
