"""Filings in the order of their dates, compared with those before them, for benchmarks/news.py."""

from __future__ import annotations

import numpy as np
from news_data import CHECKS, texts

import spheremix as sm
from spheremix.reading.batch import Past
from spheremix.text import TextVectorizer

N_PAST, N_BATCH, K = 1000, 100, 12  # filings before, filings of a batch, groups
NOVEL = ("new group", "fit")
ITEMS = ("2.02", "5.02", "1.01")  # of filings: results of operations, officers, agreements
VOTES, VOTES_FROM = "5.07", ("2010-02-01", "2010-06-15")  # results of votes: an item since 2010
N_WINDOWS, N_CUTS, N_TIMES = 25, 4, 8


def filings():
    """Return the filings in the order of their dates."""
    found = [one for one in texts("sec8k_stanford") if len(one["text"]) > 200]
    return sorted(found, key=lambda one: (one["date"], one["id"]))


def known_past(documents, ids):
    """Return what a batch is compared with, and what makes rows of it."""
    vectorizer = TextVectorizer()
    X = vectorizer.fit_transform([documents[i]["text"] for i in ids])
    X = X[np.diff(X.indptr) > 0]
    past = Past(sm.VMFMixture(K, n_init=2, random_state=0, n_threads=1).fit(X), X)

    def compare(batch, item):
        rows = vectorizer.transform([documents[i]["text"] for i in batch])
        used = np.diff(rows.indptr) > 0
        result = past.compare(rows[used], feature_names=None, false_alarms=0.05)
        event = np.array([item in documents[i]["labels"] for i in np.asarray(batch)[used]])
        first = result.new_groups[0].members if result.new_groups else []
        right = int(event[np.asarray(first, dtype=int)].sum())
        return [
            documents[batch[0]]["date"],
            item,
            int(event.sum()),
            result.alarms,
            len(first),
            right,
        ]

    return compare


def starts_of(documents):
    """Return the times at which filings are compared with those before them."""
    return np.linspace(2 * N_PAST, len(documents) - 2 * N_BATCH, N_WINDOWS).astype(int)


def by_time():
    """Compare filings with those before them, as they come."""
    documents = filings()
    return [one for start in starts_of(documents) for one in as_they_come(documents, start)]


def without_items():
    """Compare filings with those before them that do not have an item."""
    documents = filings()
    times = starts_of(documents)[:: N_WINDOWS // N_TIMES][:N_TIMES]
    return [without_item(documents, start, item) for item in ITEMS for start in times]


def as_they_come(documents, start):
    """Compare halves of the next filings, cut again and again."""
    compare, found = known_past(documents, range(start - N_PAST, start)), []
    for seed in range(N_CUTS):
        order = start + np.random.default_rng(seed).permutation(2 * N_BATCH)
        halves = (np.sort(order[:N_BATCH]), np.sort(order[N_BATCH:]))
        found += [compare(half, "") for half in halves]
    return found


def without_item(documents, start, item):
    """Compare the next filings with the last ones that do not have an item."""
    before = [i for i in range(start) if item not in documents[i]["labels"]]
    compare = known_past(documents, before[-N_PAST:])
    return compare(np.arange(start, start + N_BATCH), item)


def real_event():
    """Compare the batches of some months with the filings before them."""
    documents = filings()
    dates = [one["date"] for one in documents]
    start, end = (int(np.searchsorted(dates, one)) for one in VOTES_FROM)
    compare = known_past(documents, range(start - N_PAST, start))
    batches = [np.arange(i, i + N_BATCH) for i in range(start, end, N_BATCH)]
    return [compare(batch, VOTES) for batch in batches]


def alarmed(batches, checks):
    """Return the share of the batches with an alarm of one of these checks."""
    return np.mean([any(check in checks for check in one[3]) for one in batches])


def report_time(found):
    kinds = [*((check,) for check in CHECKS), NOVEL, CHECKS]
    odd = sorted({one[0] for one in found if set(one[3]) & set(NOVEL)})
    return [
        "## By time, as they come",
        "",
        f"sec8k_stanford in the order of dates. The past is the last {N_PAST:,} filings, in {K}",
        f"groups. {len(found)} batches of {N_BATCH}: halves of the {2 * N_BATCH} filings after the",
        f"past, at {N_WINDOWS} times from 2005 to 2013. Shares of the batches with an alarm for:",
        "",
        f"| {' | '.join(CHECKS)} | new group or fit | any |",
        f"|{'---|' * (len(CHECKS) + 2)}",
        f"| {' | '.join(f'{alarmed(found, one):.3f}' for one in kinds)} |",
        "",
        "Shares and words of groups change with the seasons of the reports. Batches with an alarm",
        f"for a new group or the fit begin at {', '.join(odd) or 'no date'}.",
        "",
    ]


def report_without(found):
    lines = [
        "## By time, a topic removed",
        "",
        "sec8k_stanford: filings with an item are left out of the past, and the next",
        f"{N_BATCH} filings come as they are. Right: the share of the documents of the first new",
        "group that have the item, and the share of those with the item that it has.",
        "",
        "| item | filings with it in a batch | batches | new group or fit | right |",
        "|---|---|---|---|---|",
    ]
    for item in ITEMS:
        for low, high in ((1, 10), (10, 20), (20, N_BATCH)):
            own = [one for one in found if one[1] == item and low <= one[2] < high]
            groups = [one for one in own if one[4]]
            right = "-"
            if groups:
                precision = np.mean([one[5] / one[4] for one in groups])
                right = f"{precision:.2f}, {np.mean([one[5] / one[2] for one in groups]):.2f}"
            if own:
                alarms = f"{alarmed(own, NOVEL):.2f}"
                lines.append(f"| {item} | {low} to {high - 1} | {len(own)} | {alarms} | {right} |")
    return [*lines, ""]


def report_event(found):
    return [
        "## By time, a real event",
        "",
        f"sec8k_stanford: item {VOTES} (results of votes) exists since March 2010. The past is",
        f"{N_PAST:,} filings before {VOTES_FROM[0]}; batches of {N_BATCH} come as they are.",
        "",
        f"| batch from | filings with {VOTES} | alarms | first new group | of these with {VOTES} |",
        "|---|---|---|---|---|",
        *(
            f"| {day} | {n_event} | {', '.join(alarms) or '-'} | {size} | {right} |"
            for day, _, n_event, alarms, size, right in found
        ),
        "",
    ]
