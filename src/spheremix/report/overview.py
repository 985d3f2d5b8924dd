"""What a report says first: corpus, model, candidates, advice, remarks, stability and tree."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.estimators.views import words_of
from spheremix.reading import Reading, group_order
from spheremix.reading.effects import shown_value
from spheremix.report.documents import contrast
from spheremix.report.packing import digits
from spheremix.run.names import AUTOMATIC
from spheremix.run.sentences import remarks
from spheremix.select import CRITERIA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from spheremix.estimators.mixture import VMFMixture
    from spheremix.report.sample import Shown
    from spheremix.run.run import Run
    from spheremix.run.stages.tree import Node

NODE_WORDS = 10  # of a node of the tree
LISTED = 10  # words of a group of a candidate
MOST_ASIDE = 1000  # documents set aside that are listed
# Columns of the advice's evidence that the page shows, beside the number of groups.
EVIDENCE = ("agreement", "score", "stability", "coming_back")


def corpus_entry(run: Run, n_dropped: int, sampled: str | None) -> dict[str, Any]:
    """Say where the documents come from and what was done to them."""
    corpus, rows = run.kept_corpus, run.rows
    n_kept = len(run.mixture.labels_) if rows is None else len(rows.kept)
    n_aside, aside = 0 if rows is None else len(rows.reasons), list[list[str]]()
    if rows is not None:
        listed = sorted(rows.reasons)[:MOST_ASIDE]
        aside = [[rows.corpus.ids[i], rows.reasons[i]] for i in listed]
    return {
        "source": "" if corpus is None else _file_name(corpus.source),
        "format": "" if corpus is None else corpus.format,
        "n_documents": n_kept + n_aside,
        "n_kept": n_kept,
        "n_set_aside": n_aside,
        "set_aside": aside,
        "notes": [] if corpus is None else list(corpus.notes),
        "done": _done(run),
        "n_words_dropped": n_dropped,
        "sampled": sampled,
    }


def _file_name(source: str) -> str:
    """Return the name of a file: a report that is sent along tells nothing of its folders."""
    return Path(source).name if Path(source).is_absolute() else source


def model_entry(run: Run, n_shown: int, agreement: list[dict[str, Any]]) -> dict[str, Any]:
    """Say what was chosen, and by what."""
    mixture, path = run.mixture, run.path
    prototypes = run.reading.prototypes
    K, d = prototypes.shape
    kappa = mixture.kappa if isinstance(mixture.kappa, str) else np.asarray(mixture.kappa)
    return {
        "n_groups": K,
        "has_nowhere": run.reading.has_noise,
        "n_words": d,
        "n_words_shown": n_shown,
        "beta": float(mixture.beta),
        "sparsity": digits(1.0 - np.count_nonzero(prototypes) / prototypes.size),
        "kappa": "given" if np.ndim(kappa) else kappa if isinstance(kappa, str) else float(kappa),
        "k_criterion": run.info.command.get("k_criterion") if len(run.dense) > 1 else None,
        "criterion": None if path is None else path.criterion.lower(),
        "relaxed": path is not None and path.relaxed,
        "seed": run.info.command.get("seed"),
        "status": mixture.status_ if path is None else path.status_,
        "log_likelihood": digits(mixture.log_likelihood_, 12),
        "agreement": agreement,
    }


def candidate_entries(run: Run, counted: tuple[Any, list[str]] | None) -> list[dict[str, Any]]:
    """Describe the numbers of groups that were tried, each by its dense mixture.

    Groups of embeddings are named by what was counted in their texts, if anything.
    """
    chosen = len(run.mixture.weights_)
    dense = run.dense
    if chosen not in dense:  # one path, or one mixture: there was one candidate
        dense = {chosen: run.mixture if run.path is None else run.path.model(0)}
    return [
        {
            "n_groups": K,
            "chosen": chosen == K,
            "n_converged": sum(one.status == "converged" for one in model.runs_),
            "n_starts": len(model.runs_),
            "agreement": _finite(run.start_agreement.get(K)),
            "log_likelihood": digits(model.log_likelihood_, 12),
            "n_nonzero": int(np.count_nonzero(words_of(model).prototypes_)),
            "criteria": {name: digits(model.criteria_[name], 12) for name in CRITERIA},
            "groups": _groups(model, run.feature_names, counted),
        }
        for K, model in sorted(dense.items())
    ]


def _finite(value: float | None) -> float | None:
    """Return a number, or None where there is none, as for the agreement of one start."""
    return digits(value) if value is not None and np.isfinite(value) else None


def _groups(
    model: VMFMixture, feature_names: list[str] | None, counted: tuple[Any, list[str]] | None
) -> list[dict[str, Any]]:
    """List the groups of a candidate by weight, with their most characteristic words."""
    order = [int(k) for k in group_order(model.weights_)]
    labels = getattr(model, "labels_", None)
    sizes = None if labels is None else np.bincount(labels[labels >= 0], minlength=len(order))
    words: list[list[str]] = [[] for _ in order]
    if feature_names is not None:
        vocabulary = Reading(model, feature_names).vocabulary
        words = [[one.word for one in vocabulary.words(k, LISTED)] for k in order]
    elif (found := contrast(counted, labels, len(order))) is not None:
        words = [[word for word, _ in found[k]] for k in order]
    return [
        {
            "size": None if sizes is None else int(sizes[k]),
            "weight": digits(model.weights_[k]),
            "words": words[i],
        }
        for i, k in enumerate(order)
    ]


def stability_entry(sample: Shown, shown: NDArray[np.intp]) -> dict[str, Any] | None:
    """Return stability in the chosen step; None where it was not measured.

    ``documents`` has a share for each document and ``groups`` one for each group. ``words`` is
    sparse: the words of group k have the numbers ``places[ends[k]:ends[k + 1]]`` in the list of
    words that are shown, and the shares of the same range.
    """
    found = sample.run.stability()
    if found is None:
        return None
    words = found.words[:, shown].tocsr()
    words.sort_indices()
    return {
        "documents": sample.of(found.documents).astype(np.float32),
        "groups": [digits(share) for share in found.groups],
        "words": {
            "ends": words.indptr.astype(np.uint32),
            "places": words.indices.astype(np.uint32),
            "shares": words.data.astype(np.float32),
        },
        "n_replicates": found.n_replicates,
    }


def tree_entry(
    nodes: list[Node] | None, names: Sequence[str], levels: dict[int, list[int]], *, words: bool
) -> dict[str, Any] | None:
    """Describe the tree, one value a node; ``names`` are those of the chosen groups.

    Without ``words``, nodes are named by coordinates, which say nothing to a reader: these are left
    out, and nodes have numbers. They are numbered as in tables/tree.csv: fine groups first, each
    merge after its parts. ``levels`` has the broader numbers of groups that were asked for, and the
    nodes that the groups lie in.
    """
    if nodes is None:
        return None
    called = [
        one.name if words or one.parent is None else f"node {i}" for i, one in enumerate(nodes)
    ]
    listed = NODE_WORDS if words else 0
    return {
        "leaves": nodes[-1].n_leaves,
        "chosen": sum(one.chosen for one in nodes),
        "parents": [-1 if one.parent is None else one.parent for one in nodes],
        "heights": [digits(one.height) for one in nodes],
        "sizes": [one.size for one in nodes],
        "names": [
            names[one.group] if one.chosen and one.group is not None else name
            for one, name in zip(nodes, called, strict=True)
        ],
        "words": [one.words[:listed] for one in nodes],
        "sibling_words": [one.sibling_words[:listed] for one in nodes],
        "only": [one.only_here_words[:listed] for one in nodes],
        "groups": [-1 if one.group is None else one.group for one in nodes],
        "is_chosen": [one.chosen for one in nodes],
        "levels": [[M, own] for M, own in levels.items()],
    }


def advice_entry(run: Run) -> dict[str, Any] | None:
    """Return the advice on the number of groups, with its evidence for each of them."""
    advice = run.advice
    if advice is None:
        return None
    table = advice.table()
    evidence = {"n_groups": table["n_components"]} | {name: table[name] for name in EVIDENCE}
    return {
        "recommended": [
            {
                "n_groups": one.n_clusters,
                "level": one.level,
                "sentence": one.sentence,
            }
            for one in advice.recommended
        ],
        "certainty": advice.certainty,
        "doubts": list(advice.doubts),
        "evidence": {name: [_finite(one) for one in evidence[name]] for name in evidence},
    }


def effects_entry(run: Run) -> dict[str, Any] | None:
    """Return the effects that were asked for; None where none were.

    Shares and the ends of their intervals have a list a value, with None for groups that are not
    stable.
    """
    found = run.told_effects
    if found is None:
        return None
    return {
        "n_documents": found.n_documents,
        "n_draws": found.n_replicates - found.n_lost,
        "unstable": np.flatnonzero(~found.stable).tolist(),
        "columns": [
            {
                "name": one.name,
                "kind": one.kind,
                "values": [shown_value(v) for v in one.values],
                "n_documents": one.n_documents.tolist(),
                "sentences": found.sentences(one),
                **{
                    name: [[_finite(share) for share in row] for row in rows.tolist()]
                    for name, rows in (("shares", one.shares), ("low", one.low), ("high", one.high))
                },
            }
            for one in found.columns
        ],
    }


def remark_entries(run: Run) -> list[dict[str, Any]]:
    """Return what is said about a run to readers of the page, and whether it warns of something.

    ``groups`` has the groups that are named, each with the words of the text that name it.
    """
    if run.info.corpus is None:
        return [{"text": one, "warning": False, "groups": []} for one in run.notes]
    return [
        {"text": one.page, "warning": one.warning, "groups": [list(pair) for pair in one.groups]}
        for one in remarks(run)
    ]


def edits_entry(run: Run) -> dict[str, Any] | None:
    """Return what people did to a run, in plain values; None where nobody did anything."""
    if not run.edits:
        return None
    info = run.info
    return {
        "n_edits": len(run.edits),
        "colours": info.colours,
        "changes": run.edits[-1].changes,
        "notes": {
            "groups": {str(k): note for k, note in info.notes.groups.items()},
            "documents": dict(info.notes.documents),
        },
        "misplaced": list(info.misplaced),
        "dropped_words": [word for step in run.edits for word in step.edits.drop_words],
    }


def given_names(run: Run) -> list[int]:
    """Return the groups whose names people or programs gave."""
    return [k for k, one in enumerate(run.info.names or ()) if one.source != AUTOMATIC]


def _done(run: Run) -> list[list[str]]:
    """Say what was done to the texts, and what the last edits changed."""
    how = None if run.rows is None else run.rows.vectorization
    said: list[list[str]] = []
    if how is not None:
        lemmatizer = how.parameters.get("lemmatizer") or "none"
        said += [
            ["language", str(how.parameters.get("language", "en"))],
            ["lemmas", lemmatizer if isinstance(lemmatizer, str) else "by a function"],
        ]
        if how.thresholds is not None:
            said += [
                ["least occurrences of a word", f"{how.thresholds.min_count:,}"],
                ["least documents with a word", f"{how.thresholds.min_df:,}"],
                ["most documents with a word", f"{how.thresholds.max_df:,}"],
            ]
        if how.n_words_before is not None:
            said.append(["words before that", f"{how.n_words_before:,}"])
        said.append(["weighting", str(how.parameters.get("weighting", "counts"))])
    if run.edits and run.edits[-1].changes:
        said.append(["last edits", " ".join(run.edits[-1].changes)])
    return said
