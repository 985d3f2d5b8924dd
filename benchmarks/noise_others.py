"""Corpora on which no rule for noise was made, for benchmarks/noise.py."""

from __future__ import annotations

import numpy as np
from corpora import ALL, FAR, foreign, newsgroups, planted_texts, texts_of
from noise_figures import known_classes, ours

DRAWS = range(9, 33)  # of newsgroups; the first nine were looked at


def bases():
    """Return texts with their classes, the number of clusters, and corpora to plant in them."""
    pools = {name: texts_of(name)[0] for name in ALL}
    news, topics = texts_of("bbc_news")
    of_topic = {name: [] for name in topics}
    for text, topic in zip(news, topics, strict=True):
        of_topic[topic].append(text)
    classic = {name: pools[name] for name in FAR[1:]}
    blogs = {"blogs": pools["poliblog5k"][:2500]}
    mixed = {name: pools[name][:600] for name in ("MEDLINE", "CRANFIELD")}
    mixed |= {name: of_topic[name] for name in ("sport", "entertainment")}
    near = [of_topic[name] for name in ("tech", "business")]
    files = [pools[name] for name in ("docstrings", "poliblog5k", "sec8k_stanford")]
    return {
        "classic3, K = 3": (classic, 3, [news, *files]),
        "2,500 of poliblog5k, K = 6": (
            blogs,
            6,
            [news, *(pools[name] for name in (*FAR, "sec8k_stanford"))],
        ),
        "MEDLINE, CRANFIELD, two topics of bbc, K = 4": (
            mixed,
            4,
            [*files, pools["CISI"], *near],
        ),
    }


def other_corpora():
    """Plant documents of other corpora in corpora other than bbc."""
    for name, (base, K, pools) in bases().items():
        texts = [text for part in base.values() for text in part]
        labels = [label for label, part in base.items() for _ in part]
        for share in (0.0, 0.05, 0.1, 0.2):
            n = round(len(texts) * share / (1.0 - share))
            rows = planted_texts(texts, labels, foreign(np.random.default_rng(0), n, pools))
            title = f"{name}, {share:.0%} of {len(pools)}"
            for most in ("auto", None):
                yield f"{title}, max_noise={most!r}", [ours(*rows, K, 0, max_noise=most)]
            if share > 0.0:
                yield f"{title}, classes known", [known_classes(*rows)]
    values = [ours(*newsgroups(seed), 4, 0) for seed in DRAWS]
    name = f"1,600 posts of 4 newsgroups, draws {DRAWS[0]} to {DRAWS[-1]}"
    yield f"{name}, mean", values
    yield f"{name}, the one that loses most", [min(values, key=lambda one: one[0])]
