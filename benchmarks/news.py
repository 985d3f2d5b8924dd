"""New documents: are events found, how often is there a false alarm, and what does an update cost?

Run as ``python benchmarks/news.py``, or with one of the words ``checks``, ``updates``; it needs the
folder of real data, named by SPHEREMIX_DATA. It writes ``benchmarks/results/news.md``, and the
numbers to ``news.json`` beside it.
"""

from __future__ import annotations

import gzip
import json
import sys
import warnings

import numpy as np
from scipy import sparse
from timing import DATA, ROOT, machine

import spheremix as sm
from spheremix.reading.batch import Past
from spheremix.text import TextVectorizer

RESULTS = ROOT / "benchmarks" / "results"
CHECKS = ("new group", "fit", "shares", "words")
N_SPLITS, N_QUIET, N_EVENTS = 10, 10, 5  # splits of each data set, batches of each split
N_PAST, N_BATCH, K = 1000, 100, 12


def texts(name):
    with gzip.open(DATA / name / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def bbc():
    """Give the topics, and what makes rows: the words are those of the past."""
    documents = texts("bbc_news")
    all_texts = np.array([one["text"] for one in documents], dtype=object)

    def rows(past, *others):
        vectorizer = TextVectorizer()
        found = [vectorizer.fit_transform(list(all_texts[past]))]
        return [*found, *(vectorizer.transform(list(all_texts[ids])) for ids in others)]

    return np.array([one["label"] for one in documents]), rows


def embeddings():
    X = np.load(DATA / "minilm_bbc" / "embeddings.npy").astype(np.float64)
    return np.load(DATA / "minilm_bbc" / "labels.npy"), lambda *parts: [X[ids] for ids in parts]


def stacked(*parts):
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.vstack(parts)


def checks():
    """Leave a topic out of the past; draw batches without it and with it."""
    found = []
    for name, load in (("bbc_news, texts", bbc), ("minilm_bbc, embeddings", embeddings)):
        labels, rows = load()
        topics = np.unique(labels)
        for split in range(N_SPLITS):
            rng = np.random.default_rng(split)
            gone = labels == topics[split % len(topics)]
            order = rng.permutation(np.flatnonzero(~gone))
            parts = order[:N_PAST], order[N_PAST:], np.flatnonzero(gone)
            past, quiet, event = rows(*parts)
            known = Past(sm.VMFMixture(K, random_state=0).fit(past), past)
            for n_event, n_batches in ((0, N_QUIET), (10, N_EVENTS), (20, N_EVENTS)):
                for _ in range(n_batches):
                    one = rng.choice(quiet.shape[0], N_BATCH - n_event, replace=False)
                    other = rng.choice(event.shape[0], n_event, replace=False)
                    batch = stacked(quiet[one], event[other])
                    result = known.compare(batch, feature_names=None, false_alarms=0.05)
                    first = result.new_groups[0].members if result.new_groups else []
                    right = int(np.sum(np.asarray(first) >= N_BATCH - n_event))
                    found.append([name, n_event, result.alarms, len(first), right])
            print(name, split, len(found), flush=True)
    return found


def report_checks(found):
    lines = [
        "## Events and false alarms",
        "",
        f"A topic is left out of the past ({N_PAST:,} documents, a mixture of {K} groups); a batch",
        f"has {N_BATCH} documents that were in no fit, none, 10 or 20 of them of the missing topic.",
        "`sm.compare_batch` with its default, at most 5 false alarms in 100 batches. Each number is",
        "a share of the batches. The last column is the share of the documents of the first new",
        "group that are of the missing topic, and the share of this topic that the group has.",
        "",
        f"| data | documents of the event | batches | any alarm | {' | '.join(CHECKS)} | right |",
        f"|---|---|---|---|{'---|' * len(CHECKS)}---|",
    ]
    kinds = sorted({(name, n) for name, n, *_ in found})
    for name, n_event in [*kinds, ("both", 0)]:
        own = [one for one in found if one[0] in {name, *(("both",) if name == "both" else ())}]
        own = [one for one in (found if name == "both" else own) if one[1] == n_event]
        shares = [np.mean([check in one[2] for one in own]) for check in CHECKS]
        groups = [one for one in own if one[3]]
        right = "-"
        if n_event and groups:
            precision = np.mean([one[4] / one[3] for one in groups])
            recall = np.mean([one[4] / n_event for one in groups])
            right = f"{precision:.2f}, {recall:.2f}"
        lines.append(
            f"| {name} | {n_event} | {len(own)} | {np.mean([bool(one[2]) for one in own]):.3f} | "
            f"{' | '.join(f'{share:.3f}' for share in shares)} | {right} |"
        )
    return [*lines, ""]


def main():
    target = RESULTS / "news.json"
    known = json.loads(target.read_text()) if target.exists() else {}
    for part, measure in {"checks": checks}.items():
        if part in sys.argv[1:] or not sys.argv[1:]:
            known[part] = measure()
            target.write_text(json.dumps(known) + "\n")
    lines = ["# New documents", "", machine(), ""]
    for part, report in {"checks": report_checks}.items():
        lines += report(known[part]) if part in known else []
    (RESULTS / "news.md").write_text("\n".join(lines))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
