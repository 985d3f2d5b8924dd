"""What speaks against relying on a finished run: warnings, and documents that are in doubt."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from spheremix.errors import Message
from spheremix.reading.certainty import BORDERLINE
from spheremix.run.headline import feature_name
from spheremix.run.remark import Remark, percent
from spheremix.text.vectorizer import NO_WORD_LEFT
from spheremix.wording import count, joined

if TYPE_CHECKING:
    from spheremix.run.run import Run

NAMED = 5  # clusters that are not firm that are named
SETTLED = 0.6  # agreement of the runs below which it is said
FEW = 5  # different words: a document with fewer is said to be short
DISSOLVED = 0.5  # firmness below which a cluster is dissolved more often than not

# What can be done about trouble in texts, by the parameter that does it.
MENDED = {
    "mend_encoding": "make the run again, with the texts decoded anew",
    "drop_repeated_lines": "make the run again without such lines",
    "drop_mixed": "make the run again without such words",
    "language": "make the run again with the languages of the texts",
}

# How a path ended before its time, by its status.
LOST = {"collapsed": "its documents", "vanished": "its direction"}


def warnings(run: Run) -> list[Remark]:
    """Say what speaks against relying on the result as it is."""
    found = [
        _set_aside(run),
        _ended(run),
        _at_the_end(run),
        _agreement(run),
        _firmness(run),
        _lost(run),
        _short(run),
    ]
    trouble = [_in_texts(message) for message in run.manifest.prepared.trouble]
    return [*trouble, *(remark for remark in found if remark is not None)]


def _in_texts(message: Message) -> Remark:
    """Say what looks wrong in the texts."""
    named = [name for one in message.remedies for name in message.parameters(one)]
    remedies = tuple(MENDED[name] for name in named if name in MENDED)
    return Remark(message, replace(message, remedies=remedies).render())


def _set_aside(run: Run) -> Remark | None:
    corpus = run.manifest.corpus
    if corpus is None or not corpus.n_set_aside:
        return None
    text = "{aside} of {all} documents set aside: see set_aside in documents.csv"
    values = {"aside": f"{corpus.n_set_aside:,}", "all": f"{corpus.n_documents:,}"}
    page = "{aside} of {all} documents set aside: the tab Corpus lists them with the reasons"
    vectorizer, table = run.manifest.prepared.vectorizer, run.documents
    n = 0 if table is None else table.get("set_aside", []).count(NO_WORD_LEFT)
    if vectorizer is None or not n:
        return Remark(Message(text, values), Message(page, values).render())
    least, documents = vectorizer.thresholds.min_count, vectorizer.thresholds.min_df
    if max(least, documents) == 1:
        return Remark(Message(text, values), Message(page, values).render())
    kept, name = f"{least:,} occurrences", "min_count"
    if documents >= least:  # then it is what drops more words
        kept, name = f"{documents:,} documents", "min_df"
    where = "" if n == corpus.n_set_aside else f"in {n:,} "
    values |= {"where": where, "kept": kept}
    why = " ({where}no word is left: words of at least {kept} are kept"
    return Remark(
        Message(f"{text}{why}; lower {{{name}}})", values),
        Message(f"{page}{why}). To keep more, make the run again with less", values).render(),
    )


def _ended(run: Run) -> Remark | None:
    if run.path is None or run.path.status_ not in LOST:
        return None
    steps, status = count(len(run.path.betas_), "step"), run.path.status_
    features = f"{feature_name(run)}s"
    return Remark(
        Message(
            "The path ended after {steps}, when a cluster {status}: {features} still there have an "
            "exit_beta of inf",
            {"steps": steps, "status": status, "features": features},
        ),
        f"The path ended after {steps}, when a group lost {LOST[status]}: the slider of {features} "
        "goes no further.",
    )


def _at_the_end(run: Run) -> Remark | None:
    K = len(run.mixture.weights_)
    if len(run.dense) < 2 or K not in {min(run.dense), max(run.dense)} or K == 2:
        return None
    if max(run.dense) == K:
        end, other, tried = "largest", f"{K}:{2 * K}", "larger"
    else:
        end, other, tried = "smallest", f"2:{K}", "smaller"
    return Remark(
        Message(
            "The {end} number of clusters that was tried was chosen, which is no answer yet",
            {"end": end, "other": other},
            ("try others, with {k} {other}",),
        ),
        f"The {end} number of groups that was tried was chosen, which is no answer yet: make the "
        f"run again and try {tried} numbers too.",
    )


def _agreement(run: Run) -> Remark | None:
    found = run.manifest.start_agreement.get(len(run.mixture.weights_), 1.0)
    if not found < SETTLED:
        return None
    return Remark(
        Message(
            "The runs of the search agree with these clusters at an adjusted Rand index of only "
            "{agreement}, so another {seed} may give others",
            {"agreement": f"{percent(found) / 100:.2f}"},
            ("raise {starts}", "try another {k}"),
        ),
        f"Restarts of the search agree with these groups by only {percent(found)} % (adjusted "
        "Rand index), so another search may give others: make the run again with more starts or "
        "with another number of groups.",
    )


def _firmness(run: Run) -> Remark | None:
    """Name the clusters that other documents would often not have."""
    clusters = run.clusters
    if clusters is None or "firmness" not in clusters:
        return None
    columns = (clusters[name] for name in ("cluster", "name", "firmness"))
    each_of = [one for one in zip(*columns, strict=True) if one[0] >= 0]
    weak = [(k, name, percent(firm)) for k, name, firm in each_of if firm < DISSOLVED]
    if not weak:
        return None
    weak.sort(key=lambda one: one[2])
    each = [f"{name} (cluster {k}, firmness {part / 100:.2f})" for k, name, part in weak[:NAMED]]
    shown = [f"{name} ({part} % found again)" for _, name, part in weak[:NAMED]]
    more = [f"{len(weak) - NAMED} more"] if len(weak) > NAMED else []
    them = "it" if len(weak) == 1 else "them"
    often = "that {} often not found again when the documents were drawn anew: "
    said = often.format("was" if len(weak) == 1 else "were")
    return Remark(
        Message(
            f"Cluster{'s' * (len(weak) > 1)} {said}{{each}}. See firmness in clusters.csv",
            {"each": joined([*each, *more])},
        ),
        f"Group{'s' * (len(weak) > 1)} {said}{joined([*shown, *more])}. Do not rely on {them}.",
        tuple((k, text) for (k, *_), text in zip(weak, shown, strict=False)),
    )


def _lost(run: Run) -> Remark | None:
    """Say how many repetitions lost a cluster: they lower every firmness."""
    record = run.manifest.firmness
    if record is None or not record.n_lost:
        return None
    where = f"In {record.n_lost} of {record.n_replicates} repetitions with documents drawn again"
    return Remark(
        Message(
            f"{where} a cluster lost all its documents: nothing counts as having stayed there, "
            "which lowers every firmness",
            remedies=("try a smaller {k}",),
        ),
        f"{where} a group lost all its documents: nothing counts as found again there, which makes "
        "every group and document look less sure. Make the run again with fewer groups.",
    )


def doubtful(run: Run) -> Remark | None:
    """Say how many documents may as well be in another cluster, and where most of them are."""
    documents = run.documents
    if documents is None or "certainty" not in documents:
        return None
    n = sum(k is not None and k >= 0 for k in documents["cluster"])
    found = Counter(
        k
        for k, sure in zip(documents["cluster"], documents["certainty"], strict=True)
        if sure and sure.startswith(BORDERLINE)
    )
    every = count(n, "document")
    if not found:
        text = f"Doubtful documents: none of {every} is borderline"
        return Remark(Message(text), f"{text}.")
    [(cluster, most)] = found.most_common(1)
    name = _names(run).get(cluster, f"cluster {cluster}")
    where = f"{most:,} of them in {name}" if found.total() > 1 else ""
    values = {"n": f"{found.total():,}", "all": every, "where": where and f" ({where})"}
    text = "Doubtful documents: {n} of {all} may as well be in another"
    return Remark(
        Message(
            f"{text} cluster{{where}}. The column certainty of documents.csv begins with "
            "'borderline' there",
            values,
        ),
        Message(
            f"{text} group{{where}}. A click on their number in the top line lists them", values
        ).render(),
        ((cluster, where),) if where else (),
    )


def _names(run: Run) -> dict[Any, str]:
    """Return the name of each cluster that is in the table."""
    clusters = run.clusters
    if clusters is None or "name" not in clusters:
        return {}
    return dict(zip(clusters["cluster"], clusters["name"], strict=True))


def _short(run: Run) -> Remark | None:
    """Warn of documents of few words."""
    words = [] if run.documents is None else run.documents.get("n_words", [])
    n = sum(1 for one in words if one is not None and one < FEW)
    if not n:
        return None
    have, its = ("has", "its") if n == 1 else ("have", "their")
    text = (
        f"{count(n, 'document')} {have} fewer than {FEW} different words of the vocabulary: do not "
        f"rely on {its}"
    )
    one, each = ("cluster", "group") if n == 1 else ("clusters", "groups")
    return Remark(
        Message(f"{text} {one} (column n_words of documents.csv)"),
        f"{text} {each}. Each of them says so where it is opened.",
    )
