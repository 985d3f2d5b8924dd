"""What should be said about a finished run: in a line, and as remarks for every front end."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from spheremix.errors import Message
from spheremix.reading.certainty import BORDERLINE
from spheremix.run.changes import updated
from spheremix.run.removed import confirmed, named_common
from spheremix.text.corpus import shown
from spheremix.text.vectorize import NO_WORD_LEFT
from spheremix.wording import count, joined

if TYPE_CHECKING:
    from spheremix.run.folder import RunFolder
    from spheremix.run.run import Run
    from spheremix.run.schema import Manifest

CHANGES = 12  # sentences about the last edits that are shown
NAMED = 5  # clusters that are not firm that are named
SAME = 0.8  # ARI from which on the clusters are said to be mostly the labels
PARTLY = 0.4  # ARI from which on they are said to be so in part
SETTLED = 0.6  # agreement of the runs below which it is said
FEW = 5  # different words: a document with fewer is said to be short
DISSOLVED = 0.5  # firmness below which a cluster is dissolved more often than not


def feature_name(run: Run) -> str:
    """Say what a coordinate of the prototypes is."""
    return "column" if run.feature_names is None else "word"


def headline(run: Run) -> str:
    """Say in a line what was clustered, and how the model was chosen."""
    mixture, options = run.mixture, run.manifest.command
    parts = [count(mixture.n_features_in_, feature_name(run))]
    if hasattr(mixture, "labels_"):
        parts.insert(0, count(len(mixture.labels_), "document"))
    by = f" (by {_criterion(options.get('k_criterion'))}, {len(run.dense)} numbers tried)"
    parts.append(f"{count(len(mixture.weights_), 'cluster')}{by if len(run.dense) > 1 else ''}")
    if run.path is not None:
        kept = f"{1.0 - run.path.sparsity_[run.path.selected_]:.0%}".replace("%", " %")
        criterion = run.path.criterion.upper()
        parts.append(f"each keeps {kept} of the {feature_name(run)}s (by {criterion})")
    else:
        parts.append("no penalty")
    parts += _history(run)
    return " . ".join(parts)


def _history(run: Run) -> list[str]:
    """Say whether the run was brought up to date, and whether it was edited."""
    history = run.edits()
    steps = [] if history is None else history.steps
    updates = [one.update is not None for one in steps]
    return [*(["updated"] if any(updates) else []), *([] if all(updates) else ["edited"])]


def reuse(folder: RunFolder, candidates: list[int], *, words: bool) -> list[str]:
    """Say what of the folder was used again, and what went, since it was of other options."""
    fits = [stage for stage in folder.reused if stage.startswith("dense-")]
    parts = ["the words"] if words and "matrix" in folder.reused else []
    parts += ["the matrix"] if "matrix" in folder.reused else []
    if fits:
        parts.append(f"{len(fits)} of {count(len(candidates), 'fit')}")
    parts += ["the path"] if "path" in folder.reused else []
    gone = [stage for stage in folder.withdrawn if stage.startswith("dense-")]
    left = [count(len(gone), "fit")] if gone else []
    left += ["the path"] if "path" in folder.withdrawn else []
    said = []
    if parts:
        listed = joined(parts)
        were = "were" if len(parts) > 1 else "was"
        said.append(f"{listed[0].upper()}{listed[1:]} of this folder {were} reused.")
    if left:
        said.append(f"Removed, since made with other options: {joined(left)}.")
    return said


def given_up(before: Manifest | None, now: Manifest) -> list[Message]:
    """Say what the run before had in this folder and its options brought, and this one has not."""
    found: list[Message] = []
    if before is None:
        return found
    named = before.command.get("names")
    if isinstance(named, dict) and now.command.get("names") is None:
        values = {"source": str(named.get("source"))}
        if before.fit == now.fit:
            remedies = ("give {names} again to keep them",)
            found.append(Message("The names of {source} are no longer used", values, remedies))
        else:
            found.append(
                Message("The names of {source} are not used: they are of other clusters", values)
            )
    if before.advice is not None and now.advice is None and len(now.dense) == 1:
        first, *others = [str(one.n_clusters) for one in before.advice.recommended]
        found.append(
            Message(
                "{first} clusters had been recommended{others}. The advice and tables/advice.csv "
                "are of a range of numbers, and one number was given",
                {
                    "first": first,
                    "others": f" (and {joined(others)})" if others else "",
                    "range": f"{min(before.dense)}:{max(before.dense)}",
                },
                ("to have them again, give the range, as {k} {range}",),
            )
        )
    return found


def _criterion(name: Any) -> str:
    """Name what chose the number of clusters."""
    return "advice" if name == "advice" else str(name or "").upper()


def _advice(run: Run) -> Message | None:
    """Say how many groups there are, how sure that is, and which other readings there are."""
    advice = run.manifest.advice
    if advice is None or not advice.recommended:
        return None
    first, *others = advice.recommended
    if first.reading == "none":
        text = "There seem to be no clusters: " + first.sentence.partition(": ")[2]
        values = {"K": str(len(run.mixture.weights_))}
        return Message(
            text.removesuffix(".") + ". The {K} clusters shown are the best of them", values
        )
    said = [f"How many: {first.sentence} The evidence for it is {advice.certainty}."]
    for reading in ("coarser", "finer"):
        numbers = sorted(one.n_clusters for one in others if one.reading == reading)
        if numbers:
            said.append(f"A {reading} reading has {' or '.join(map(str, numbers))} clusters.")
    return Message(" ".join([*said, *advice.doubts]).replace("rows", "documents"))


def nowhere(run: Run) -> Message | None:
    """Say how many documents belong to no cluster, where they may."""
    labels = getattr(run.mixture, "labels_", None)
    if run.mixture.model_.noise is None or labels is None:
        return None
    n = int((labels < 0).sum())
    if not n:
        return Message("No document belongs nowhere: every one fits a cluster")
    belong = "belongs" if n == 1 else "belong"
    share = f"{100.0 * n / len(labels):.1f} %"
    return Message(
        "{documents} ({share}) {belong} nowhere and {are} in no cluster: see cluster -1 in the "
        "table documents.csv",
        {
            "documents": count(n, "document"),
            "share": share,
            "belong": belong,
            "are": "is" if n == 1 else "are",
        },
    )


def _tree(run: Run) -> Message | None:
    """Say what coarser and finer groups there are."""
    tree = run.manifest.tree
    if tree is None:
        return None
    n, K = len(tree.grown.clusters), sum(one.chosen for one in tree.nodes)
    text = "Coarser and finer: tables/tree.csv merges the {clusters} step by step to one"
    if n > K:
        text += ", and divides them into {groups}"
    return Message(text, {"clusters": count(K, "cluster"), "groups": count(n, "fine group")})


def remarks(run: Run) -> list[Message]:
    """Say what a reader of the result should know."""
    found = [
        updated(run),
        edited(run),
        kept_words(run),
        nowhere(run),
        confirmed(run),
        *warnings(run),
        _doubtful(run),
        _advice(run),
        _tree(run),
        _labels(run),
    ]
    return [message for message in found if message is not None]


def warnings(run: Run) -> list[Message]:
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
    trouble = run.manifest.prepared.trouble
    return [*trouble, *(message for message in found if message is not None)]


def edited(run: Run) -> Message | None:
    """Say that people edited the run, what the last edits changed, and how to go back."""
    history = run.edits()
    if history is None or history.steps[-1].update is not None:
        return None
    last = history.steps[-1]
    n_edits = sum(one.update is None for one in history.steps)
    times = "once" if n_edits == 1 else f"{n_edits:,} times"
    changes = last.changes if len(last.changes) <= CHANGES else [*last.changes[:CHANGES], "..."]
    return Message(
        "This run was edited {times}. The last edits ({source}): {changes} Taken back by spheremix "
        "edit RUN {undo=True}",
        {"times": times, "source": last.source, "changes": " ".join(changes)},
    )


def kept_words(run: Run) -> Message | None:
    """Say how many words were kept, by which thresholds, and what each of them cost."""
    record, corpus = run.manifest.prepared.vectorizer, run.manifest.corpus
    if record is None or corpus is None:
        return None
    used = record.thresholds
    reasons = {
        "min_df": f"in fewer than {count(used.min_df, 'document')}",
        "min_count": f"written fewer than {used.min_count:,} times",
        "max_df": f"in more than {used.max_df:,} ({named_common(record.removed)})",
    }
    left_out = [
        f"{n:,} {'is' if n == 1 else 'are'} {why}"
        for name, why in reasons.items()
        if (n := used.cost.get(name, 0))
    ]
    kept, before = f"{run.mixture.n_features_in_:,}", f"{record.n_words_before:,}"
    if not left_out:
        return Message("Words: all {kept} are kept", {"kept": kept})
    return Message(
        "Words: {kept} of {all} are kept. Of the others, {left_out}: see tables/removed_words.csv, "
        "{min_df} and {max_df}",
        {"kept": kept, "all": before, "left_out": joined(left_out)},
    )


def _set_aside(run: Run) -> Message | None:
    corpus = run.manifest.corpus
    if corpus is None or not corpus.n_set_aside:
        return None
    text = "{aside} of {all} documents set aside: see set_aside in documents.csv"
    values = {"aside": f"{corpus.n_set_aside:,}", "all": f"{corpus.n_documents:,}"}
    vectorizer, table = run.manifest.prepared.vectorizer, run.documents
    n = 0 if table is None else table.get("set_aside", []).count(NO_WORD_LEFT)
    if vectorizer is None or not n:
        return Message(text, values)
    least, documents = vectorizer.thresholds.min_count, vectorizer.thresholds.min_df
    if max(least, documents) == 1:
        return Message(text, values)
    kept, name = f"{least:,} occurrences", "min_count"
    if documents >= least:  # then it is what drops more words
        kept, name = f"{documents:,} documents", "min_df"
    where = "" if n == corpus.n_set_aside else f"in {n:,} "
    why = f" ({{where}}no word is left: words of at least {{kept}} are kept; lower {{{name}}})"
    return Message(text + why, {**values, "where": where, "kept": kept})


def _ended(run: Run) -> Message | None:
    if run.path is None or run.path.status_ not in {"collapsed", "vanished"}:
        return None
    return Message(
        "The path ended after {steps}, when a cluster {status}: {features} still there have an "
        "exit_beta of inf",
        {
            "steps": count(len(run.path.betas_), "step"),
            "status": run.path.status_,
            "features": f"{feature_name(run)}s",
        },
    )


def _at_the_end(run: Run) -> Message | None:
    K = len(run.mixture.weights_)
    if len(run.dense) < 2 or K not in {min(run.dense), max(run.dense)} or K == 2:
        return None
    if max(run.dense) == K:
        end, other = "largest", f"{K}:{2 * K}"
    else:
        end, other = "smallest", f"2:{K}"
    return Message(
        "The {end} number of clusters that was tried was chosen, which is no answer yet",
        {"end": end, "other": other},
        ("try others, with {k} {other}",),
    )


def _agreement(run: Run) -> Message | None:
    found = run.manifest.start_agreement.get(len(run.mixture.weights_), 1.0)
    if not found < SETTLED:
        return None
    return Message(
        "The runs of the search agree with these clusters at an adjusted Rand index of only "
        "{agreement}, so another {seed} may give others",
        {"agreement": f"{found:.2f}"},
        ("raise {starts}", "try another {k}"),
    )


def _firmness(run: Run) -> Message | None:
    """Name the clusters that other documents would not have."""
    clusters = run.clusters
    if clusters is None or "firmness" not in clusters:
        return None
    columns = (clusters[name] for name in ("cluster", "name", "firmness"))
    each_of = [one for one in zip(*columns, strict=True) if one[0] >= 0]
    weak = [(k, name, firm) for k, name, firm in each_of if firm < DISSOLVED]
    if not weak:
        return None
    weak.sort(key=lambda one: one[2])
    each = [f"{name} (cluster {k}, firmness {firm:.2f})" for k, name, firm in weak[:NAMED]]
    if len(weak) > NAMED:
        each.append(f"{len(weak) - NAMED} more")
    return Message(
        "Clusters that would not survive other documents: {each}. See firmness in clusters.csv",
        {"each": joined(each)},
    )


def _lost(run: Run) -> Message | None:
    """Say how many repetitions lost a cluster: they lower every firmness."""
    record = run.manifest.firmness
    if record is None or not record.n_lost:
        return None
    return Message(
        "In {lost} of {all} repetitions with documents drawn again a cluster lost all its "
        "documents: nothing counts as having stayed there, which lowers every firmness",
        {"lost": str(record.n_lost), "all": str(record.n_replicates)},
        ("try a smaller {k}",),
    )


def _names(run: Run) -> dict[Any, str]:
    """Give the name of each cluster that is in the table."""
    clusters = run.clusters
    if clusters is None or "name" not in clusters:
        return {}
    return dict(zip(clusters["cluster"], clusters["name"], strict=True))


def _doubtful(run: Run) -> Message | None:
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
    values = {"n": f"{found.total():,}", "all": count(n, "document")}
    if not found:
        return Message("Doubtful documents: none of {all} is borderline", values)
    [(cluster, most)] = found.most_common(1)
    name = _names(run).get(cluster, f"cluster {cluster}")
    where = f" ({most:,} of them in {name})" if found.total() > 1 else ""
    return Message(
        "Doubtful documents: {n} of {all} may as well be in another cluster{where}. The column "
        "certainty of documents.csv begins with 'borderline' there",
        {**values, "where": where},
    )


def _short(run: Run) -> Message | None:
    """Warn of documents of few words."""
    words = [] if run.documents is None else run.documents.get("n_words", [])
    n = sum(1 for one in words if one is not None and one < FEW)
    if not n:
        return None
    have = "has" if n == 1 else "have"
    return Message(
        "{documents} {have} fewer than {few} different words of the vocabulary: do not rely on "
        "their clusters (column n_words of documents.csv)",
        {"documents": count(n, "document"), "have": have, "few": str(FEW)},
    )


def _labels(run: Run) -> Message | None:
    found = run.manifest.label_agreement
    if not found:
        return None
    each = "; ".join(f"{shown(name)} {one.ari:.2f}" for name, one in found.items())
    text = (
        "Agreement of the clusters with the labels: {each} (adjusted Rand index: 1 if they are the "
        "same groups, 0 if they agree as by chance)"
    )
    parts = []
    for how, low, high in (("mostly", SAME, math.inf), ("partly", PARTLY, SAME)):
        names = [shown(name) for name, one in found.items() if low <= one.ari < high]
        parts += [f"{how} the labels {joined(names)}"] if names else []
    if not parts:
        return Message(text, {"each": each})
    return Message(
        text + ". The clusters are {parts}",
        {"each": each, "parts": joined(parts)},
        ("leave the words of each label out with {drop} to find subjects that go across them",),
    )
