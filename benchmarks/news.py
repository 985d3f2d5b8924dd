"""New documents: events that are found, false alarms, and what updates keep and cost.

Run as ``python benchmarks/news.py``, or with some of the words ``checks``, ``sizes``, ``time``,
``removed``, ``event``, ``updates`` and ``rows``; it needs the folder of real data, named by
SPHEREMIX_DATA. It writes ``benchmarks/results/news.md``, and the numbers to ``news.json`` beside
it.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import warnings

import numpy as np
from news_data import CHECKS, bbc, embeddings, stacked, texts
from news_time import (
    by_time,
    real_event,
    report_event,
    report_time,
    report_without,
    without_items,
)
from timing import ROOT, machine

import spheremix as sm
from spheremix.reading.alignment import count_common, jaccard
from spheremix.reading.batch import Past

RESULTS = ROOT / "benchmarks" / "results"
N_SPLITS, N_QUIET, N_EVENTS = 10, 10, 5  # splits of each data set, batches of each split
N_PAST, N_BATCH, K = 1000, 100, 12
# Of pasts and batches, and how many batches each past is compared with.
SIZES = ((200, 10, 4), (200, 20, 4), (200, 100, 1), (200, 200, 1), (1000, 500, 1))
N_QUIET_SIZES = 60  # pasts for each
N_FIRST, N_UPDATES, N_ADDED = 400, 10, 40  # of each stream of updates
EVENT, N_EVENT, N_LATER = 4, 15, 8  # batch with the event, its documents, those of later ones


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
        f"A topic is left out of the past ({N_PAST:,} documents, a mixture of {K} groups). A",
        f"batch has {N_BATCH} documents that were in no fit: none, 10 or 20 of the missing topic.",
        "`sm.compare_batch` with its default, at most 5 false alarms in 100 batches. Numbers are",
        "shares of the batches. The last column is for the first new group: the share of its",
        "documents that are of the missing topic, and the share of these documents that it has.",
        "",
        f"| data | documents of the event | batches | any alarm | {' | '.join(CHECKS)} | right |",
        f"|---|---|---|---|{'---|' * len(CHECKS)}---|",
    ]
    kinds = sorted({(name, n) for name, n, *_ in found})
    for name, n_event in [*kinds, ("both", 0)]:
        own = [one for one in found if name in {one[0], "both"} and one[1] == n_event]
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


# Batches that are large beside the past


def sources():
    """Return what draws a past and a batch of one source, with the number of groups."""
    X = embeddings()[1](np.arange(2225))[0]

    def articles(n, seed):
        return X[np.random.default_rng(seed).permutation(len(X))[:n]]

    def simulated(n, seed):
        return sm.datasets.make_vmf_mixture(n, 30, 3, overlap=0.01, random_state=seed)[0]

    return (("minilm_bbc, embeddings", 8, articles), ("simulated, 30 dimensions", 3, simulated))


def sizes():
    """Compare batches without an event with pasts of several sizes; count the alarms."""
    found = []
    for name, n_groups, draw in sources():
        for n, m, n_batches in SIZES:
            for seed in range(N_QUIET_SIZES):
                rows = draw(n + n_batches * m, seed)
                mixture = sm.VMFMixture(n_groups, n_init=2, random_state=0, n_threads=1)
                past = Past(mixture.fit(rows[:n]), rows[:n], seed)
                for start in range(n, len(rows), m):
                    batch = rows[start : start + m]
                    result = past.compare(batch, feature_names=None, false_alarms=0.05)
                    found.append([name, n, m, result.alarms])
            print(name, n, m, flush=True)
    return found


def report_sizes(found):
    lines = [
        "## False alarms by the size of the batch",
        "",
        f"{N_QUIET_SIZES} pasts of one source for each row, each with its own fit, and one or four",
        "batches for each past; nothing is new. Numbers are shares of the batches; each check has",
        "a rate of .0125, all together .05.",
        "",
        f"| data | past | batch | batches | any alarm | {' | '.join(CHECKS)} |",
        f"|---|---|---|---|---|{'---|' * len(CHECKS)}",
    ]
    for name, n, m in dict.fromkeys((one[0], one[1], one[2]) for one in found):
        own = [one[3] for one in found if one[:3] == [name, n, m]]
        shares = [np.mean([check in one for one in own]) for check in CHECKS]
        lines.append(
            f"| {name} | {n:,} | {m} | {len(own)} | {np.mean([bool(one) for one in own]):.3f} | "
            f"{' | '.join(f'{share:.3f}' for share in shares)} |"
        )
    return [*lines, ""]


# Updates


def documents_of_bbc():
    """Return the topics, and what makes a corpus of some documents."""
    documents = texts("bbc_news")

    def corpus(ids):
        return sm.text.Corpus(
            [documents[i]["text"] for i in ids], [documents[i]["id"] for i in ids]
        )

    return np.array([one["label"] for one in documents]), corpus


def rows_of_bbc():
    """Return the topics, and what makes a matrix of some embeddings."""
    labels, rows = embeddings()
    return labels, lambda ids: sm.text.Matrix(rows(ids)[0], None, "", "NumPy", [], "")


def stream(labels, split):
    """Return the first documents, and batches; in the fifth a topic comes that was not there."""
    topic = np.unique(labels)[split]
    order = np.random.default_rng(split).permutation(len(labels))
    known, event = list(order[labels[order] != topic]), list(order[labels[order] == topic])
    first, known = known[:N_FIRST], known[N_FIRST:]
    batches = []
    for i in range(N_UPDATES):
        n_event = 0 if i < EVENT else N_EVENT if i == EVENT else N_LATER
        batches.append(known[: N_ADDED - n_event] + event[:n_event])
        known, event = known[N_ADDED - n_event :], event[n_event:]
    return first, batches, topic


def updates():
    """Bring runs on texts up to date; compare the groups of each with those before."""
    return [one for split in range(5) for one in follow(split, *documents_of_bbc())]


def updates_of_rows():
    """Do the same with runs on embeddings."""
    return [one for split in range(5) for one in follow(split, *rows_of_bbc())]


def follow(split, labels, source):
    """Bring one run up to date again and again."""
    first, batches, topic = stream(labels, split)
    found = []
    with tempfile.TemporaryDirectory() as place:
        options = {"k": 6, "max_steps": 20, "threads": 1}
        run = sm.explore_corpus(source(first), f"{place}/0", **options)
        for i, ids in enumerate(batches):
            after = run.update(source(ids), f"{place}/{i + 1}")
            found.append([split, i, *compare(run, after), *fits(run, after)])
            run = after
            print(found[-1], flush=True)
        own = labels[np.concatenate([first, *batches])] == topic
        groups = np.array(run.documents["group"])
        best = np.bincount(groups[own]).argmax()
        found[-1] += [int((own & (groups == best)).sum()), int(own.sum())]
    return found


def compare(before, after):
    """Count groups, groups that are no longer themselves, and documents that moved."""
    old = np.array(before.documents["group"])
    new = np.array(after.documents["group"])[: len(old)]
    K, more = len(before.mixture.weights_), len(after.mixture.weights_)
    common = count_common(old, new, (K, more))
    swapped = int((jaccard(common).argmax(axis=1) != np.arange(K)).sum())
    names = dict(zip(after.groups["group"], after.groups["name"], strict=True))
    known = zip(before.groups["group"], before.groups["name"], strict=True)
    kept = [names[k] == name for k, name in known]
    return K, more - K, swapped, int((old != new).sum()), len(old), int(sum(kept))


def fits(before, after):
    """Return the seconds of the fit of the update, and of a new one."""
    X, K = after.matrix(), len(after.mixture.weights_)
    start = np.array(after.documents["group"])  # that of the update is a few documents away
    start[: len(before.documents["group"])] = before.documents["group"]
    times = []
    for init in ("merge", start):
        begin = time.process_time()
        sm.VMFMixture(K, init=init, random_state=0, n_threads=1).fit(X)
        times.append(time.process_time() - begin)
    return times[::-1]


def report_updates(found, name="bbc_news", title="Updates"):
    n, groups = len(found), sum(one[2] for one in found)
    swapped, moved, documents, kept = (sum(one[i] for one in found) for i in (4, 5, 6, 7))
    warm, new = (sum(one[i] for one in found) for i in (8, 9))
    quiet = [one for one in found if one[1] < EVENT]
    events = [one for one in found if one[1] == EVENT]
    shares = ", ".join(f"{one[10]} of {one[11]}" for one in found if len(one) > 10)
    return [
        f"## {title}",
        "",
        f"{name}: five streams. Each begins with {N_FIRST} documents of four topics in 6 groups,",
        f"and is brought up to date {N_UPDATES} times with {N_ADDED} documents. The fifth topic",
        f"comes with {N_EVENT} documents of the fifth batch and {N_LATER} of each later one.",
        "",
        f"- {n} updates. Groups whose documents are afterwards mostly those of another number:",
        f"  {swapped} of {groups}. Groups that kept their name: {kept} of {groups}.",
        f"- Documents of before that changed group: {moved / documents:.2%} an update.",
        f"- New groups: {sum(one[3] for one in quiet)} in {len(quiet)} updates before the event;",
        f"  {sum(one[3] > 0 for one in events)} of {len(events)} events got a group at once.",
        f"- Documents of the new topic that are in one group at the end: {shares}.",
        f"- The fit of an update, started from the groups: {warm / n:.3f} s. A new fit (search for",
        f"  starts, EM): {new / n:.3f} s, {new / warm:.0f} times as much.",
        "",
    ]


def report_updates_of_rows(found):
    return report_updates(found, "minilm_bbc", "Updates of embeddings")


PARTS = {
    "checks": (checks, report_checks),
    "time": (by_time, report_time),
    "sizes": (sizes, report_sizes),
    "removed": (without_items, report_without),
    "event": (real_event, report_event),
    "updates": (updates, report_updates),
    "rows": (updates_of_rows, report_updates_of_rows),
}


def main():
    target = RESULTS / "news.json"
    for part, (measure, _) in PARTS.items():
        if part in sys.argv[1:] or not sys.argv[1:]:
            found = measure()
            known = json.loads(target.read_text()) if target.exists() else {}
            target.write_text(json.dumps({**known, part: found}) + "\n")
    known = json.loads(target.read_text())
    lines = ["# New documents", "", machine(), ""]
    for part, (_, report) in PARTS.items():
        lines += report(known[part]) if part in known else []
    (RESULTS / "news.md").write_text("\n".join(lines))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
