"""Corpora, contents and opened pages for the tests of the report in a browser."""

from __future__ import annotations

import csv
import datetime as dt
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.text import Corpus

if TYPE_CHECKING:
    from playwright.sync_api import Page

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


def dequantise(levels, scale):
    """Return the coordinates of prototypes in signed bytes, as the page does."""
    part = levels.astype(np.float64) / 127
    return scale * part * np.abs(part)


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
      seen[row.getAttribute("aria-posinset") - 1] = row.querySelector(".id").title;
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
        """Return the texts of all elements of a selector."""
        return self.page.locator(selector).all_inner_texts()

    def numbers(self, selector):
        """Return the texts as numbers."""
        return [parse(text) for text in self.texts(selector)]

    def picture(self):
        """Return the map as it is drawn."""
        return self.page.evaluate("document.getElementById('map').toDataURL()")

    def group(self):
        """Return the number of the chosen group."""
        chosen = self.page.locator("#group-list [aria-selected=true]")
        return int(chosen.get_attribute("id").removeprefix("group-"))

    def unroll(self, selector):
        """Open what is rolled up."""
        self.page.locator(f"{selector} > summary").click()

    def step_to(self, index):
        """Move the slider; what is below the first screen follows when it rests."""
        self.page.locator("#beta").fill(str(index))
        self.page.wait_for_timeout(150)

    def listed(self):
        """Return the ids of all documents of the list, scrolling through it."""
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


def grow(content):
    """Return a content a tree, stability, advice and remarks, by hand.

    Each group has two leaves, its even and its odd documents; the groups are merged one after
    the other.
    """
    K, labels = content["model"]["n_groups"], content["documents"]["group"].astype(int)
    L, n = 2 * K, len(labels)
    leaf = 2 * labels + np.arange(n) % 2
    parents = [L + i // 2 for i in range(L)]
    parents += [L + K + max(0, k - 1) for k in range(K)]
    parents += [L + K + i + 1 for i in range(K - 2)] + [-1]
    sizes = [*np.bincount(leaf, minlength=L), *([0] * (L - 1))]
    for node, parent in enumerate(parents[:-1]):
        sizes[parent] += sizes[node]
    groups = [*(i // 2 for i in range(L)), *range(K), *([-1] * (K - 1))]
    tree = {
        "levels": [],
        "leaves": L,
        "chosen": K,
        "parents": parents,
        "heights": [0.0] * L + [float(i + 1) for i in range(L - 1)],
        "sizes": [int(size) for size in sizes],
        "names": [f"node {node}" for node in range(2 * L - 1)],
        "words": [[f"word{node}", "goal"] for node in range(2 * L - 1)],
        "sibling_words": [[] for _ in range(2 * L - 1)],
        "only": [[f"only{node}"] for node in range(2 * L - 1)],
        "groups": groups,
        "is_chosen": [L <= node < L + K for node in range(2 * L - 1)],
    }
    stability = {
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
            {"n_groups": K, "level": "fine", "sentence": f"{K} groups: the best."},
            {"n_groups": 3, "level": "broad", "sentence": "3 broad groups: stable."},
        ],
        "certainty": "fair",
        "doubts": ["One doubt."],
        "evidence": {
            "n_groups": [3, K],
            "agreement": [0.9, 0.4],
            "coming_back": [0.9, None],
        },
    }
    remarks = [
        {"text": "Words: some are kept.", "warning": False, "groups": []},
        {"text": "3 of 9 documents set aside.", "warning": True, "groups": []},
    ]
    documents = content["documents"] | {"leaf": leaf.astype(np.uint16)}
    more = {"tree": tree, "stability": stability, "advice": advice, "remarks": remarks}
    return content | more | {"documents": documents, "run": "abc"}
