"""What is said about a finished run: in README.txt, on the page, and in short in the terminal.

Every sentence is written once. What two readers do not share follows it: README.txt names files
and options, the page says where to look on it. The summary of the command has the most important
remarks, in short.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from spheremix.errors import Message
from spheremix.reading.documents import BORDERLINE
from spheremix.reading.names import words_in
from spheremix.run.columns import TABLES
from spheremix.run.stages.rows import STOP
from spheremix.run.tables import Table
from spheremix.text.boilerplate import having_lines
from spheremix.text.corpus import shown
from spheremix.text.selection import COMMON, DROPPED, most_frequent
from spheremix.text.vectorizer import NO_WORD_LEFT
from spheremix.wording import count, joined

if TYPE_CHECKING:
    from spheremix.errors import Naming
    from spheremix.estimators.path import VMFPath
    from spheremix.run.edits import UpdateRecord
    from spheremix.run.run import Run
    from spheremix.text.trouble import Trouble

CHANGES = 12  # sentences about the last edits that are shown
SAME = 0.8  # ARI from which on the groups are said to be mostly the labels
PARTLY = 0.4  # ARI from which on they are said to be so in part
NAMED = 5  # unstable groups, or common words, that are named
AGREED = 0.6  # agreement of the runs below which it is said
FEW = 5  # different words: a document with fewer is said to be short
MORE_OFTEN = 1.5  # how much more often documents are in a group than by chance, where it is told
UNSTABLE = 0.5  # stability below which a group is dissolved more often than not
CONFIRMED = 12  # words that were asked for and are confirmed
FIRST = 5  # words of a group that are compared after an update
LISTED = 8  # groups that are named after an update, and words of a group in README.txt
ONLY_HERE = 5  # words only here in README.txt
EVERYWHERE = 15  # words listed as those of all groups
IN_SHORT = 5  # words of a group in the summary, or typical documents
FIRST_REMARKS = 3  # remarks in the summary
FIRST_NAMED = 2  # changes by edits that the summary names

# What can be done about trouble in texts, by the parameter that does it.
MENDED = {
    "mend_encoding": "make the run again, with the texts decoded anew",
    "drop_mixed": "make the run again without such words",
    "language": "make the run again with the languages of the texts",
}
WEAK = "weak"  # the evidence for a number of groups
# How a path ended before its time, by its status.
LOST = {"collapsed": "its documents", "vanished": "its direction"}


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark on a finished run."""

    message: Message  # as README.txt says it, with files and options by name
    page: str  # as the page says it, whose readers see no files and no options
    short: Message | None = None  # as the summary of the command says it, where it may
    groups: tuple[tuple[int, str], ...] = ()  # that the page names, with the words that name them
    warning: bool = False  # whether it speaks against relying on the result as it is

    def render(self, naming: Naming = str) -> str:
        """Write the whole remark, with parameters named as a front end names them."""
        return self.message.render(naming)


def _say(
    text: str,
    *,
    command: str = "",
    page: str = "",
    short: str = "",
    remedies: Any = (),
    groups: Any = (),
    **values: Any,
) -> Remark:
    """Return a remark: what both readers are told, then what each of them is told."""
    shared = Message(text + page, values).render()
    brief = Message(short, values) if short else None
    return Remark(Message(text + command, values, remedies), shared, brief, groups)


def percent(share: float) -> int:
    """Return a share in percent, rounded down: what is shown as 50 % is not below 50 %."""
    return math.floor(100.0 * share + 1e-9)


def feature_name(run: Run) -> str:
    """Say what a coordinate of the prototypes is."""
    return "column" if run.feature_names is None else "word"


def unit_name(run: Run) -> str:
    """Say what a row of the model is."""
    return "document" if run.cut is None else "passage"


def _rows_file(run: Run) -> str:
    """Return the table that has a row for each row of the model."""
    return TABLES["documents" if run.cut is None else "passages"].file


def remarks(run: Run) -> list[Remark]:
    """Say what a reader of the result should know."""
    found = [
        updated(run),
        edited(run),
        _passages(run),
        kept_words(run),
        left_out(run),
        _nowhere(run),
        _confirmed(run),
        *warnings(run),
        _borderline(run),
        _advice(run),
        _tree(run),
        _labels(run),
    ]
    return [remark for remark in found if remark is not None]


def first_remarks(run: Run) -> list[Message]:
    """Return the few remarks of the summary, in short, the most important ones first."""
    advice = run.advice
    doubtful = advice is not None and (advice.certainty == WEAK or bool(advice.doubts))
    found = [
        updated(run),
        edited(run),
        _advice(run) if doubtful else None,
        _set_aside(run),
        _at_the_end(run),
        _stability(run),
        _agreement(run),
        *_trouble(run),
        _confirmed(run),
        _lost(run),
        _labels(run),
        _nowhere(run),
        _borderline(run),
        _short(run),
        _ended(run),
        None if doubtful else _advice(run),
    ]
    said = [one.short for one in found if one is not None and one.short is not None]
    return said[:FIRST_REMARKS]


def readme_sentences(run: Run) -> list[str]:
    """Say what README.txt tells about this run alone, a paragraph each."""
    said = [f"{headline(run)}.", *(one.render() for one in remarks(run))]
    if (effects := run.told_effects) is not None:
        said += [f"{one.name}: {' '.join(effects.sentences(one))}" for one in effects.columns]
    if common := common_words(run):
        said.append(f"Words of all groups: {', '.join(common)}.")
    return said


def warnings(run: Run) -> list[Remark]:
    """Say what speaks against relying on the result as it is."""
    found = [
        _set_aside(run),
        _ended(run),
        _at_the_end(run),
        _agreement(run),
        _stability(run),
        _lost(run),
        _short(run),
    ]
    said = [*_trouble(run), *(remark for remark in found if remark is not None)]
    return [replace(one, warning=True) for one in said]


# The headline


def result(run: Run) -> str:
    """Say in a short line what was grouped."""
    mixture, updates = run.mixture, [one.update is not None for one in run.edits]
    groups = count(len(mixture.weights_), "group")
    labels = getattr(mixture, "labels_", None)
    of = "" if run.cut is None else f" of {count(len(run.cut.whole), 'document')}"
    rows = "" if labels is None else f"{count(len(labels), unit_name(run))}{of} in "
    said = f"{rows}{groups}"
    done = [*(["updated"] if any(updates) else []), *([] if all(updates) else ["edited"])]
    said += f" ({', '.join(done)})" if done else ""
    features = count(run.reading.prototypes.shape[1], feature_name(run))
    beside = " and meaning" if run.meaning is not None else ""
    if run.path is None:
        return f"{said}, by {features}{beside}."
    by = f", by their words{beside}" if beside else ""
    return f"{said}{by}. Each keeps {_kept(run.path)} of {features}."


def _kept(path: VMFPath) -> str:
    return f"{1.0 - path.sparsity_[path.selected_]:.0%}".replace("%", " %")


def headline(run: Run) -> str:
    """Say in a line what was grouped, and how the model was chosen."""
    mixture, options = run.mixture, run.info.command
    beside = " and the meaning of texts" if run.meaning is not None else ""
    parts = [count(run.reading.prototypes.shape[1], feature_name(run)) + beside]
    if hasattr(mixture, "labels_"):
        of = "" if run.cut is None else f" of {count(len(run.cut.whole), 'document')}"
        parts.insert(0, f"{count(len(mixture.labels_), unit_name(run))}{of}")
    criterion = str(options.get("k_criterion") or "")
    criterion = criterion if criterion == "advice" else criterion.upper()
    tried = len(run.dense) if run.advice is None else len(run.advice.evidence.candidates)
    by = f" (by {criterion}, {tried} numbers tried)" if tried > 1 else ""
    parts.append(f"{count(len(mixture.weights_), 'group')}{by}")
    if run.path is not None:
        criterion = run.path.criterion.upper()
        parts.append(f"each keeps {_kept(run.path)} of the {feature_name(run)}s (by {criterion})")
    else:
        parts.append("no penalty")
    updates = [one.update is not None for one in run.edits]
    parts += [*(["updated"] if any(updates) else []), *([] if all(updates) else ["edited"])]
    return " . ".join(parts)


def _passages(run: Run) -> Remark | None:
    """Say that documents were split, and where their shares are."""
    if run.cut is None:
        return None
    n_passages = run.cut.n_passages
    n, several = len(n_passages), int((n_passages > 1).sum())
    every = f"{several:,} of {count(n, 'document')}"
    lines = _few([f"{shown(line)} ({n:,})" for line, n in run.cut.lines.items()])
    before = "without lines that many documents have: {lines}. Groups" if lines else "and groups"
    return _say(
        f"{every} {'was' if several == 1 else 'were'} split into "
        f"{int(n_passages[n_passages > 1].sum()):,} passages, {before} are groups of passages",
        lines=lines,
        command=". documents.csv and tables/shares.csv have the shares of the groups in each "
        "document. To keep documents whole: {split=none}",
        page=": what is listed and counted here are passages, but labels and time are told of "
        "documents by their shares",
    )


# Edits and updates


def edited(run: Run) -> Remark | None:
    """Say that people edited the run, what the last edits changed, and how to go back."""
    if not run.edits or run.edits[-1].update is not None:
        return None
    last = run.edits[-1]
    n_edits = sum(one.update is None for one in run.edits)
    times = "once" if n_edits == 1 else f"{n_edits:,} times"
    changes = last.changes if len(last.changes) <= CHANGES else [*last.changes[:CHANGES], "..."]
    more = len(last.changes) - FIRST_NAMED
    return _say(
        "This run was edited {times}. The last edits ({source}): {changes}",
        command=" To take them back: spheremix edit RUN {undo=True}",
        short="Edited {times}. {source}: {first}" + " ({more} in README.txt)" * (more > 0),
        times=times,
        source=last.source,
        changes=" ".join(changes),
        first=" ".join(last.changes[:FIRST_NAMED]),
        more=f"{more:,} more" if more > 0 else "",
    )


def keeps_numbers(run: Run) -> bool:
    """Return whether the groups of an updated run have the numbers of the run before it.

    They have other ones if groups were merged or split since, or were searched for anew.
    """
    changed = any(one.edits.merge or one.edits.split for one in run.edits)
    return run.info.command.get("start") is not None and not changed


def updated(run: Run) -> Remark | None:
    """Say what an update changed: sizes, new groups, words, documents that moved."""
    step = run.edits[0] if run.edits else None
    if step is None or step.update is None:
        return None
    before = step.update
    said = ["This run brings {before} up to date: {added} {were} added to {n}"]
    brief = ["{added} {were} added to {n}", "{found}"]
    values = {
        "before": before.before,
        "added": count(before.n_added, "document"),
        "were": "was" if before.n_added == 1 else "were",
        "n": f"{before.n_before:,}",
        "found": _found(before) if run.cut is None else _not_compared(before),
    }
    if keeps_numbers(run):
        values |= _groups_since(run, before)
        said += ["Groups keep their numbers", "{found}", "Sizes before and after: {sizes}"]
        said += ["New: {new}"] if values["new"] else []
        brief += ["New: {new}"] if values["new"] else []
        moved = f"{{moved}} of {{total}} {unit_name(run)}s of before changed group"
        said.append(moved)
        brief.append(moved)
        said += ["Words that are new among the first: {words}"] if values["words"] else []
    else:
        said += ["{found}", "Since then groups were merged, split or searched for anew"]
    lost = [line.removesuffix(".") for line in step.changes if line.startswith("Could not be kept")]
    if lost:
        said.append("{lost}")
        values["lost"] = ". ".join(lost)
    return _say(". ".join(said), short=". ".join(brief), **values)


def _found(before: UpdateRecord) -> str:
    """Say what the comparison of the new documents with the run before found."""
    alarms = f"The new documents raised an alarm for: {', '.join(before.alarms)}"
    n = before.n_unknown
    if not n:
        return alarms if before.alarms else "The new documents are like those of before"
    have = "has" if n == 1 else "have"
    unknown = (
        f"{count(n, 'new document')} {have} no word of the run before and could not be compared"
    )
    if before.alarms:
        return f"{alarms}. {unknown}"
    return unknown if n == before.n_added else f"{unknown}. The others are like those of before"


def _not_compared(before: UpdateRecord) -> str:
    """Say that documents that were split are not compared with those of before."""
    said = "Each new passage is in the group that fits it best; whether new documents are unlike "
    said += "those of before was not tested"
    if not before.n_unknown:
        return said
    have = "has" if before.n_unknown == 1 else "have"
    return f"{said}. {count(before.n_unknown, 'new document')} {have} no word of the run before"


def _groups_since(run: Run, before: UpdateRecord) -> dict[str, str]:
    """Return what has become of the groups, in words."""
    table = run.groups or Table(group=[], name=[], size=[], words=[])
    rows = sorted(zip(*(table[name] for name in ("group", "name", "size")), strict=True))
    nowhere, rows = [n for k, _, n in rows if k < 0], [row for row in rows if row[0] >= 0]
    K = len(before.sizes)
    sizes = [f"{name} ({k}) {before.sizes[k]:,} to {n:,}" for k, name, n in rows[:K]]
    if nowhere and before.n_nowhere is not None:
        sizes.append(f"nowhere {before.n_nowhere:,} to {nowhere[0]:,}")
    new = [f"{name} ({k}) with {count(n, 'document')}" for k, name, n in rows[K:]]
    words = []
    for k, name, listed in sorted(zip(table["group"], table["name"], table["words"], strict=True)):
        if 0 <= k < len(before.words):
            entered = [one for one in listed.split(", ")[:FIRST] if one not in before.words[k]]
            words += [f"{name} ({k}): {', '.join(entered)}"] if entered else []
    return {
        "sizes": "; ".join(sizes),
        "new": joined(new) if new else "",
        "moved": f"{before.n_moved or 0:,}",
        "total": f"{before.n_grouped or 0:,}",
        "words": "; ".join(words if len(words) <= LISTED else [*words[:LISTED], "..."]),
    }


# Words


def kept_words(run: Run) -> Remark | None:
    """Say how many words were kept, by which thresholds, and what each of them cost."""
    how = None if run.rows is None else run.rows.vectorization
    if how is None or how.thresholds is None or run.info.corpus is None:
        return None
    used = how.thresholds
    common = sorted(most_frequent(how.removed.get(COMMON, {})), key=lambda word: " " not in word)
    named = ", ".join(common[:NAMED]) + (", ..." if len(common) > NAMED else "")
    reasons = {
        "min_df": f"in fewer than {count(used.min_df, 'document')}",
        "min_count": f"written fewer than {used.min_count:,} times",
        "max_df": f"in more than {used.max_df:,} ({named})",
    }
    left_out = [
        f"{n:,} {'is' if n == 1 else 'are'} {why}"
        for name, why in reasons.items()
        if (n := used.cost.get(name, 0))
    ]
    kept, every = run.reading.prototypes.shape[1], how.n_words_before or 0
    if not left_out:
        return _say(f"Words: all {kept:,} are kept")
    return _say(
        f"Words: {kept:,} of {every:,} are kept. Of the others, {{left_out}}",
        command=": see tables/removed_words.csv, {min_df} and {max_df}",
        left_out=joined(left_out),
    )


def left_out(run: Run) -> Remark | None:
    """Say in how many documents something was left out as no subject."""
    rows = run.rows
    how = None if rows is None else rows.vectorization
    if rows is None or how is None or not how.boilerplate:
        return None
    unit, where = unit_name(run), Where()
    kinds = [f"{kind} in {count(n, unit)}" for kind, n in how.boilerplate.items()]
    text, values = "Left out as no subject: {kinds}", {"kinds": joined(kinds)}
    if how.lines:
        text += ". Lines that are repeated: {lines}{where}"
        where = _where(run, having_lines(rows.corpus.texts, how.lines))
        values["where"] = where.text
        values["lines"] = _few([f"{shown(line)} ({n:,})" for line, n in how.lines.items()])
    return _say(
        text,
        command=". To count their words, use {keep_boilerplate=True}",
        page=". The texts are shown whole",
        groups=where.groups,
        **values,
    )


def _confirmed(run: Run) -> Remark | None:
    """Confirm which words were left out as asked, and name those that no document has."""
    how = None if run.rows is None else run.rows.vectorization
    asked: dict[str, int] = {}
    for reason in (STOP, DROPPED):
        asked |= how.removed.get(reason, {}) if how is not None else {}
    if not asked or how is None:
        return None
    there = [word for word, n in most_frequent(asked).items() if n]
    missing = [word for word, n in sorted(asked.items()) if not n]
    first = [f"{word} ({count(asked[word], 'document')})" for word in there[:1]]
    text = "Left out as asked: {listed}"
    values = {
        "listed": _few([*first, *(f"{word} ({asked[word]:,})" for word in there[1:])]) or "no word",
        "missing": _few(missing),
    }
    brief = "No document has {missing}, to be left out" if missing else ""
    if missing:
        text += ". No document has {missing}"
    if how.parameters.get("phrases") != 1 or not any(" " in word for word in missing):
        return _say(text, short=brief, **values)
    return _say(
        f"{text} (phrases are found only with ",
        command="{ngrams=2})",
        page="a run that looks for them)",
        short=f"{brief} (phrases are found only with {{ngrams=2}})",
        **values,
    )


def _few(words: list[str]) -> str:
    more = len(words) - CONFIRMED
    return ", ".join(words[:CONFIRMED]) + (f" and {count(more, 'other')}" if more > 0 else "")


# Warnings


def _trouble(run: Run) -> list[Remark]:
    """Say what looks wrong in the texts."""
    return [] if run.rows is None else [_in_texts(run, one) for one in run.rows.trouble]


def _in_texts(run: Run, found: Trouble) -> Remark:
    where = _where(run, found.documents, found.looked_at)
    said, values = found.message, {**found.message.values, "where": where.text}
    message = replace(said, text=said.text + "{where}", values=values)
    named = [name for one in message.remedies for name in message.parameters(one)]
    there = tuple(MENDED[name] for name in named if name in MENDED)
    remedies = there or tuple(one for one in message.remedies if not message.parameters(one))
    return Remark(message, replace(message, remedies=remedies).render(), message, where.groups)


class Where(NamedTuple):
    """The group that something is about, in words, for the page with its number."""

    text: str = ""
    groups: tuple[tuple[int, str], ...] = ()


def _where(run: Run, documents: list[int], looked_at: int = 1) -> Where:
    """Name the group that has more than half of some documents, and more than by chance.

    One of ``looked_at`` documents was looked at.
    """
    columns, table = run.rows_table, run.groups
    if columns is None or table is None:
        return Where()
    groups = [columns["group"][i] for i in documents]
    found = Counter(k for k in groups if k is not None and k >= 0)
    [(group, n)] = found.most_common(1) or [(-1, 0)]
    sizes = dict(zip(table["group"], zip(table["name"], table["size"], strict=True), strict=True))
    if group not in sizes:
        return Where()
    name, size = sizes[group]
    every = len(columns["group"]) / len(documents)
    if n == 1 or 2 * n <= len(documents) or n * every < MORE_OFTEN * size:
        return Where()
    of = "" if 2 * n * looked_at <= size else ", which is most of it"
    told = f"{n:,} of them in {name}{of}"
    return Where(f" ({told})", ((group, told),))


def _set_aside(run: Run) -> Remark | None:
    corpus, rows = run.info.corpus, run.rows
    if corpus is None or not corpus.n_set_aside or rows is None:
        return None
    text = f"{corpus.n_set_aside:,} of {corpus.n_documents:,} {unit_name(run)}s set aside"
    command, page = (
        f": see set_aside in {_rows_file(run)}",
        ": the tab Corpus lists them with the reasons",
    )
    how, n = rows.vectorization, list(rows.reasons.values()).count(NO_WORD_LEFT)
    used = None if how is None else how.thresholds
    if used is None or not n or max(used.min_count, used.min_df) == 1:
        return _say(text, command=command, page=page, short=text)
    kept, name = f"{used.min_count:,} occurrences", "min_count"
    if used.min_df >= used.min_count:  # then it is what drops more words
        kept, name = f"{used.min_df:,} documents", "min_df"
    where = "" if n == corpus.n_set_aside else f"in {n:,} "
    why = f" ({where}no word is left: words of at least {kept} are kept"
    return _say(
        text,
        command=f"{command}{why}; lower {{{name}}})",
        page=f"{page}{why}). To keep more, make the run again with less",
        short=f"{text} ({where}no word is left: lower {{{name}}})",
    )


def _ended(run: Run) -> Remark | None:
    if run.path is None or run.path.status_ not in LOST:
        return None
    steps, feature = count(len(run.path.betas_), "step"), feature_name(run)
    text = f"The path ended after {steps}, when a group lost {LOST[run.path.status_]}"
    return _say(
        text,
        command=f": {feature}s still there have an exit_beta of inf",
        page=f": the slider of {feature}s goes no further",
        short=text,
    )


def _at_the_end(run: Run) -> Remark | None:
    K = run.info.n_groups
    numbers = run.dense if run.advice is None else run.advice.evidence.candidates.tolist()
    if len(numbers) < 2 or K not in {min(numbers), max(numbers)} or K == 2:
        return None
    end, tried, other = ("smallest", "smaller", f"2:{K}")
    if max(numbers) == K:
        end, tried, other = ("largest", "larger", f"{K}:{2 * K}")
    return _say(
        f"The {end} number of groups that was tried was chosen, which is no answer yet",
        page=f": make the run again and try {tried} numbers too",
        short=f"The {end} number of groups tried was chosen: try others, with {{k}} {other}",
        remedies=(f"try others, with {{k}} {other}",),
    )


def _agreement(run: Run) -> Remark | None:
    found = run.start_agreement.get(run.info.n_groups, 1.0)
    if not found < AGREED:
        return None
    return _say(
        f"Other runs of the search agree with these groups by only {percent(found)} % (adjusted "
        "Rand index), so another ",
        command="{seed} may give others",
        page="search may give others: make the run again with more starts or with another number "
        "of groups",
        short=f"Other runs of the search agree by only {percent(found)} %: raise {{starts}} or "
        "try another {k}",
        remedies=("raise {starts}", "try another {k}"),
    )


def _stability(run: Run) -> Remark | None:
    """Name the groups that other documents would often not have."""
    table = run.groups
    if table is None or "stability" not in table:
        return None
    columns = (table[name] for name in ("group", "name", "stability"))
    each = [one for one in zip(*columns, strict=True) if one[0] >= 0]
    weak = sorted(
        ((k, name, percent(stable)) for k, name, stable in each if stable < UNSTABLE),
        key=lambda one: one[2],
    )
    if not weak:
        return None
    said = [f"{name} (stability {part} %)" for _, name, part in weak[:NAMED]]
    more = [f"{len(weak) - NAMED} more"] if len(weak) > NAMED else []
    others = [f"{len(weak) - 1} more"] if len(weak) > 1 else []
    first = [f"{name} ({part} %)" for _, name, part in weak[:1]]
    one = len(weak) == 1
    return _say(
        "{group} dissolved more often than not when the documents were drawn again: {each}",
        command=". See stability in groups.csv",
        page=". Do not rely on {them}",
        short=("One group is" if one else f"{len(weak)} groups are") + " not stable: {first}",
        groups=tuple((k, text) for (k, *_), text in zip(weak, said, strict=False)),
        group="One group was" if one else f"{len(weak)} groups were",
        each=joined([*said, *more]),
        first=joined([*first, *others]),
        them="it" if one else "them",
    )


def _lost(run: Run) -> Remark | None:
    """Say how many repetitions lost a group: they lower every stability."""
    found = run.stability()
    if found is None or not found.n_lost:
        return None
    return _say(
        f"In {found.n_lost} of {found.n_replicates} repetitions with documents drawn again a group "
        "lost all its documents: nothing counts as having stayed there, which lowers every "
        "stability",
        page=". Make the run again with fewer groups",
        short=f"In {found.n_lost} of {found.n_replicates} repetitions a group lost all its "
        "documents: try a smaller {k}",
        remedies=("try a smaller {k}",),
    )


def _short(run: Run) -> Remark | None:
    """Say how many documents of few words are borderline."""
    table = run.rows_table
    if table is None or "n_words" not in table or "certainty" not in table:
        return None
    columns = zip(table["n_words"], table["certainty"], strict=True)
    few = {i: sure for i, (n, sure) in enumerate(columns) if n is not None and n < FEW}
    unsure = [i for i, sure in few.items() if sure and sure.startswith(BORDERLINE)]
    if not unsure:
        return None
    where = _where(run, unsure)
    are = "is" if len(unsure) == 1 else "are"
    text = f"{len(unsure):,} of {count(len(few), unit_name(run))} with fewer than {FEW} "
    return _say(
        f"{text}different words of the vocabulary {are} borderline{{where}}",
        command=f": see certainty and n_words in {_rows_file(run)}",
        page=". Each of them says so where it is opened",
        short=f"{text}words {are} borderline{{where}}",
        groups=where.groups,
        where=where.text,
    )


# What was found


def _nowhere(run: Run) -> Remark | None:
    """Say how many documents belong to no group, where they may."""
    labels = getattr(run.mixture, "labels_", None)
    if run.mixture.model_.noise is None or labels is None:
        return None
    n = int((labels < 0).sum())
    if not n:
        return _say(f"No {unit_name(run)} belongs nowhere: every one fits a group")
    belong, are = ("belongs", "is") if n == 1 else ("belong", "are")
    lost = f"{count(n, unit_name(run))} ({100.0 * n / len(labels):.1f} %)"
    text = f"{lost} {belong} nowhere and {are} in no group"
    return _say(
        text,
        command=f": see group -1 in the table {_rows_file(run)}",
        page=": see the end of the list of groups",
        short=text,
    )


def _borderline(run: Run) -> Remark | None:
    """Say how many documents may as well be in another group, and where most of them are."""
    documents, table, unit = run.rows_table, run.groups, unit_name(run)
    if documents is None or table is None or "certainty" not in documents:
        return None
    n = sum(k is not None and k >= 0 for k in documents["group"])
    found = Counter(
        k
        for k, sure in zip(documents["group"], documents["certainty"], strict=True)
        if sure and sure.startswith(BORDERLINE)
    )
    every = count(n, unit)
    if not found:
        return _say(f"Borderline {unit}s: none of {{all}}", all=every)
    [(group, most)] = found.most_common(1)
    names = dict(zip(table["group"], table["name"], strict=True))
    where = f"{most:,} of them in {names.get(group, group)}" if found.total() > 1 else ""
    return _say(
        f"Borderline {unit}s: {{n}} of {{all}} may as well be in another group{{where}}",
        command=f". The column certainty of {_rows_file(run)} begins with 'borderline' there",
        page=". A click on the word of stability in the top line leads to them",
        short="{n} of {all} may as well be in another group",
        groups=((group, where),) if where else (),
        n=f"{found.total():,}",
        all=every,
        where=where and f" ({where})",
    )


def _advice(run: Run) -> Remark | None:
    """Say how many groups there are, how sure that is, and which other readings there are."""
    advice = run.advice if run.info.corpus is not None else None
    if advice is None or not advice.recommended:
        return None
    first, *others = advice.recommended
    if first.level == "none":
        why = first.sentence.partition(": ")[2].removesuffix(".")
        K = run.info.n_groups
        best = f"The {K} groups shown are the best of them" if K > 1 else "One group is shown"
        none = "There seem to be no groups: {why}"
        return _say(none + ". {best}", short=none, why=why, best=best)
    also = [f"{one.n_clusters} ({one.level})" for one in others]
    said = [f"How many: {first.sentence} The evidence for it is {advice.certainty}."]
    said += [one.sentence for one in others]
    evidence, finer = advice.evidence, ""
    if evidence.of_passages and evidence.subjects is None and evidence.far is not None:
        levels = f"{first.n_clusters},{int(evidence.candidates[evidence.far])}"
        finer = f"For finer subjects: {{levels={levels}}}"
    return _say(
        "{said}",
        command=f" {finer}" if finer else "",
        short="The evidence for {first} is {sure}"
        + "; also: {also}" * bool(also)
        + (f". {finer}" if finer else ""),
        said=" ".join([*said, *advice.doubts]),
        first=count(first.n_clusters, "group"),
        sure=advice.certainty,
        also=joined(also) if also else "",
    )


def _tree(run: Run) -> Remark | None:
    """Say what coarser and finer groups there are."""
    nodes = run.nodes
    if nodes is None:
        return None
    n, K = nodes[-1].n_leaves, sum(one.chosen for one in nodes)
    them = "them" if K > 2 else "it" if K == 1 else "both"
    parts = [f"merges the {K} groups step by step to two"] if K > 2 else []
    parts += [f"divides {them} into {count(n, 'fine group')}"] if n > K else []
    said = joined(parts) if parts else "has no other groups"
    ways = {"command": f"tables/tree.csv {said}", "page": f"the slider of groups {said}"}
    return _say("Coarser and finer: ", **ways)


def _labels(run: Run) -> Remark | None:
    found = run.info.label_agreement
    if not found:
        return None
    text = (
        "Agreement of the groups with the labels: {each} (adjusted Rand index: 1 if they are the "
        "same groups, 0 if they agree as by chance)"
    )
    values = {"each": "; ".join(f"{shown(name)} {one.ari:.2f}" for name, one in found.items())}
    parts = []
    for how, low, high in (("mostly", SAME, math.inf), ("partly", PARTLY, SAME)):
        names = [shown(name) for name, one in found.items() if low <= one.ari < high]
        parts += [f"{how} the labels {joined(names)}"] if names else []
    if not parts:
        return _say(text, **values)
    across = "to find subjects that go across them"
    words = run.feature_names is not None or run.counts() is not None
    return _say(
        f"{text}. The groups are {{parts}}",
        page=f": make the run again without the words of each label {across}" if words else "",
        short="The groups are {parts}",
        remedies=(f"leave the words of each label out with {{drop}} {across}",) if words else (),
        parts=joined(parts),
        **values,
    )


# The groups


class Line(NamedTuple):
    """A group in a line of the summary."""

    name: str
    size: int
    words: list[str]  # that are not in its name; of embeddings without texts, typical documents


def group_lines(run: Run) -> list[Line]:
    """Show each group by its name, its size, and a few words beside those of its name."""
    groups = run.reading.groups(n_listed=LISTED)
    if run.feature_names is not None:
        lists = [[word.word for word in one.words] for one in groups]
    elif run.contrast() is not None:
        lists = [list(one.contrast_words) for one in groups]
    else:
        titles = _typical(run)
        lists = [titles.get(one.group, []) for one in groups]
    lines = []
    for one, words in zip(groups, lists, strict=True):
        named = words_in(one.name)
        new = [word for word in words if word.lower() not in named]
        lines.append(Line(one.name, one.size or 0, new[:IN_SHORT]))
    return lines


def _typical(run: Run) -> dict[int, list[str]]:
    """Return the titles, or else the ids, of typical documents by group."""
    typical = run.read_table("typical") or Table(group=[], id=[])
    titles = typical.get("title") or [""] * typical.n_rows
    found: dict[int, list[str]] = {}
    for k, title, known in zip(typical["group"], titles, typical["id"], strict=True):
        found.setdefault(k, []).append(str(title or known))
    return found


def readme_groups(run: Run) -> dict[str, str]:
    """Show each group as README.txt lists it: number, name and size; then its words."""
    table = run.groups or Table(group=[])
    means = dict(zip(table["group"], table.get("mean_share") or (), strict=False))
    found: dict[str, str] = {}
    for one in run.reading.groups(n_listed=LISTED):
        said = ", ".join(one.contrast_words[:LISTED])
        if run.feature_names is not None:
            said = ", ".join(word.word for word in one.words[:LISTED])
            # Without a penalty, only words that no document of a group has are zero.
            here = [] if run.path is None else [word.word for word in one.only_here_words]
            said += f". Only here: {', '.join(here[:ONLY_HERE])}" if here else ""
        share = f", {100.0 * means[one.group]:.1f} % of the documents" if means else ""
        found[f"{one.group} {one.name} ({one.size:,}{share})"] = said
    return found


def common_words(run: Run) -> list[str]:
    """Return the words that all groups have, the heaviest first."""
    if run.feature_names is None or run.info.n_groups < 2:
        return []
    return list(run.reading.vocabulary.common_words(EVERYWHERE))


def reused(stages: list[str], n_candidates: int, *, words: bool) -> str:
    """Say what of the folder was used again; nothing where all was made anew."""
    fits = [stage for stage in stages if stage.startswith("dense-")]
    parts = ["the words"] if words and "rows" in stages else []
    parts += ["the matrix"] if "rows" in stages else []
    if fits:
        parts.append(f"{len(fits)} of {count(n_candidates, 'fit')}")
    parts += ["the path"] if "path" in stages else []
    if not parts:
        return ""
    listed, were = joined(parts), "were" if len(parts) > 1 else "was"
    return f"{listed[0].upper()}{listed[1:]} of this folder {were} reused."


def given_up(before: Any, now: Any, recommended: list[str]) -> list[Message]:
    """Say what the run before had in this folder and its options brought, and this one has not."""
    found: list[Message] = []
    named = before.command.get("names")
    kept = {one.source for one in now.names or ()}
    given = isinstance(named, dict) and named.get("source") not in kept
    if given and now.command.get("names") is None:
        values, remedies = (
            {"source": str(named.get("source"))},
            (f"give {{{'namer' if 'namer' in named else 'names'}}} again to keep them",),
        )
        same = before.fit == now.fit
        text = "The names of {source} are " + (
            "no longer used" if same else "not used: they are of other groups"
        )
        found.append(Message(text, values, remedies if same else ()))
    if recommended and len(now.dense) == 1:
        first, *others = recommended
        numbers = before.command.get("k")
        asked = "auto" if not numbers else f"{min(numbers)}:{max(numbers)}"
        found.append(
            Message(
                "{first} groups had been recommended{others}. The advice and tables/advice.csv are "
                "of a range of numbers, and one number was given",
                {
                    "first": first,
                    "others": f" (and {joined(others)})" if others else "",
                    "range": asked,
                },
                ("to have them again, give {k} {range}",),
            )
        )
    return found
