"""Two filings with their words marked, in excerpts short enough to quote."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from experiments.filings_models import Chosen, Filings
    from spheremix.reading import Reading

WORDS = 50  # of an excerpt
TERMS = 5  # words that tell the cluster from the next one
EVENT = "5.02"  # departures of directors, the paper's second example
MARKS = {"own": "**", "common": "*"}
SPECIAL = re.compile(r"([\\`*_\[\]<>|#$])")


def excerpts(data: Filings, chosen: Chosen, reading: Reading) -> list[dict[str, Any]]:
    """Quote the filing nearest to the prototype of two clusters.

    They are, as in the paper, the smallest cluster and the one with most departures of directors;
    where that is the same, the next smallest.
    """
    departures = [EVENT in labels for labels in data.events]
    second = int(np.bincount(chosen.labels[departures], minlength=chosen.K).argmax())
    first = max(k for k in range(chosen.K) if k != second and chosen.sizes[k])
    documents = reading.documents(data.rows)
    rows = []
    for k in (first, second):
        row = int(documents.typical(int(chosen.order[k]), 1)[0])
        why = reading.why(data.vectorized.X[[row]])
        told = [term.word for term in why.terms if term.difference > 0][:TERMS]
        rows.append(
            {
                "cluster": k + 1,
                "date": str(data.corpus.dates[row]) if data.corpus.dates else "",
                "events": " ".join(data.events[row]) if data.events else "",
                "cosine": float(documents.cosines[row]),
                "rival": int(np.argsort(chosen.order)[why.rival]) + 1,
                "log_odds": why.log_odds,
                "terms": " ".join(told),
                "excerpt": marked(data, reading, row, int(chosen.order[k])),
            }
        )
    return rows


def marked(data: Filings, reading: Reading, row: int, cluster: int) -> str:
    """Quote the part of a filing that has most of the cluster's own words, words marked.

    A word is marked by what its lemma is to the cluster: its own, or common to all.
    """
    places = {word: j for j, word in enumerate(reading.feature_names)}
    roles = reading.vocabulary.roles(cluster)
    pieces = data.corpus.texts[row].split()
    found = []
    for piece in pieces:
        lemmas = data.vectorized.vectorizer.words(piece)
        kinds = {str(roles[places[lemma]]) for lemma in lemmas if lemma in places}
        found.append(next((kind for kind in MARKS if kind in kinds), ""))
    own = np.cumsum([0] + [kind == "own" for kind in found])
    starts = max(1, len(pieces) - WORDS + 1)
    gains = [own[min(i + WORDS, len(pieces))] - own[i] for i in range(starts)]
    start = int(np.argmax(gains))
    # An excerpt begins with a word of interest, or where the filing does.
    part = slice(start, start + WORDS)
    words = [_mark(w, kind) for w, kind in zip(pieces[part], found[part], strict=True)]
    before = "[…] " if start else ""
    after = " […]" if start + WORDS < len(pieces) else ""
    return before + " ".join(words) + after


def _mark(piece: str, kind: str) -> str:
    """Mark a word, the signs around it left out; what Markdown would read is escaped."""
    head, word, tail = re.fullmatch(r"(\W*)(.*?)(\W*)", piece, re.DOTALL).groups()
    mark = MARKS.get(kind, "") if word else ""
    head, word, tail = (SPECIAL.sub(r"\\\1", part) for part in (head, word, tail))
    return f"{head}{mark}{word}{mark}{tail}"
