"""Remarks about a finished run: in the summary of the command, and on the page of the report."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from spheremix.errors import Message
from spheremix.run.changes import updated
from spheremix.run.doubts import doubtful, warnings
from spheremix.run.remark import Remark
from spheremix.run.removed import confirmed, named_common
from spheremix.text.corpus import shown
from spheremix.wording import count, in_groups, joined, of_documents

if TYPE_CHECKING:
    from spheremix.run.run import Run

CHANGES = 12  # sentences about the last edits that are shown
SAME = 0.8  # ARI from which on the clusters are said to be mostly the labels
PARTLY = 0.4  # ARI from which on they are said to be so in part


def remarks(run: Run) -> list[Remark]:
    """Say what a reader of the result should know."""
    found = [
        updated(run),
        edited(run),
        kept_words(run),
        nowhere(run),
        confirmed(run),
        *warnings(run),
        doubtful(run),
        _advice(run),
        _tree(run),
        _labels(run),
    ]
    return [remark for remark in found if remark is not None]


def edited(run: Run) -> Remark | None:
    """Say that people edited the run, what the last edits changed, and how to go back."""
    history = run.edits()
    if history is None or history.steps[-1].update is not None:
        return None
    last = history.steps[-1]
    n_edits = sum(one.update is None for one in history.steps)
    times = "once" if n_edits == 1 else f"{n_edits:,} times"
    changes = last.changes if len(last.changes) <= CHANGES else [*last.changes[:CHANGES], "..."]
    text = "This run was edited {times}. The last edits ({source}): {changes}"
    values = {"times": times, "source": last.source, "changes": " ".join(changes)}
    return Remark(
        Message(f"{text} Taken back by spheremix edit RUN {{undo=True}}", values),
        Message(text, values).render(),
    )


def kept_words(run: Run) -> Remark | None:
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
        text = f"Words: all {kept} are kept"
        return Remark(Message(text), f"{text}.")
    text = "Words: {kept} of {all} are kept. Of the others, {left_out}"
    values = {"kept": kept, "all": before, "left_out": joined(left_out)}
    return Remark(
        Message(f"{text}: see tables/removed_words.csv, {{min_df}} and {{max_df}}", values),
        Message(text, values).render(),
    )


def nowhere(run: Run) -> Remark | None:
    """Say how many documents belong to no cluster, where they may."""
    labels = getattr(run.mixture, "labels_", None)
    if run.mixture.model_.noise is None or labels is None:
        return None
    n = int((labels < 0).sum())
    if not n:
        text = "No document belongs nowhere: every one fits a"
        return Remark(Message(f"{text} cluster"), f"{text} group.")
    belong, are = ("belongs", "is") if n == 1 else ("belong", "are")
    share = f"{100.0 * n / len(labels):.1f} %"
    text = f"{count(n, 'document')} ({share}) {belong} nowhere and {are} in no"
    return Remark(
        Message(f"{text} cluster: see cluster -1 in the table documents.csv"),
        f"{text} group: see the end of the list of groups.",
    )


def _advice(run: Run) -> Remark | None:
    """Say how many groups there are, how sure that is, and which other readings there are."""
    advice = run.manifest.advice
    if advice is None or not advice.recommended:
        return None
    first, *others = advice.recommended
    if first.reading == "none":
        why = first.sentence.partition(": ")[2].removesuffix(".")
        K = len(run.mixture.weights_)
        best = f"The {K} clusters shown are the best of them" if K > 1 else "One cluster is shown"
        text = of_documents(f"There seem to be no clusters: {why}. {best}")
        return Remark(Message("{said}", {"said": text}), f"{in_groups(text)}.")
    said = [f"How many: {first.sentence} The evidence for it is {advice.certainty}."]
    for reading in ("coarser", "finer"):
        numbers = sorted(one.n_clusters for one in others if one.reading == reading)
        if numbers:
            said.append(f"A {reading} reading has {' or '.join(map(str, numbers))} clusters.")
    text = of_documents(" ".join([*said, *advice.doubts]))
    return Remark(Message("{said}", {"said": text}), in_groups(text))


def _tree(run: Run) -> Remark | None:
    """Say what coarser and finer groups there are."""
    tree = run.manifest.tree
    if tree is None:
        return None
    n, K = len(tree.grown.clusters), sum(one.chosen for one in tree.nodes)
    text = (
        f"Coarser and finer: tables/tree.csv merges the {count(K, 'cluster')} step by step to one"
    )
    finer = f"into {count(n, 'fine group')}"
    if n > K:
        text += f", and divides them {finer}"
    parts = [f"merges the {K} groups step by step to two"] if K > 2 else []
    if n > K:
        them = "them" if parts else f"the {count(K, 'group')}" if K > 1 else "the group"
        parts.append(f"divides {them} {finer}")
    page = f"the slider of groups {joined(parts)}" if parts else "there are no other groups"
    return Remark(Message(text), f"Coarser and finer: {page}.")


def _labels(run: Run) -> Remark | None:
    found = run.manifest.label_agreement
    if not found:
        return None
    each = "; ".join(f"{shown(name)} {one.ari:.2f}" for name, one in found.items())
    text = (
        "Agreement of the {clusters} with the labels: {each} (adjusted Rand index: 1 if they are "
        "the same groups, 0 if they agree as by chance)"
    )
    parts = []
    for how, low, high in (("mostly", SAME, math.inf), ("partly", PARTLY, SAME)):
        names = [shown(name) for name, one in found.items() if low <= one.ari < high]
        parts += [f"{how} the labels {joined(names)}"] if names else []
    values = {"each": each, "clusters": "clusters"}
    grouped = {"each": each, "clusters": "groups"}
    if not parts:
        return Remark(Message(text, values), Message(text, grouped).render())
    text += ". The {clusters} are {parts}"
    across = "to find subjects that go across them"
    remedy = f"leave the words of each label out with {{drop}} {across}"
    again = f"make the run again without the words of each label {across}"
    same = {"parts": joined(parts)}
    return Remark(
        Message(text, values | same, (remedy,)), Message(text, grouped | same, (again,)).render()
    )
