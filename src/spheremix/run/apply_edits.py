"""Edits made to the groups that an exploration found, one after the other.

The base is always what was explored: an edit that is taken back is one that is not made. Edits are
part of the keys of the fits after them, so nothing is fitted twice. The groups of the mixture
without penalty, edited, are the start of EM, which ends with its certificate as every fit does.

Names and colours that people have seen do not change by themselves: groups that an edit does not
touch keep theirs. Edits of another run follow their groups by the documents they had; what cannot
follow is said.
"""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.data.open import as_directions
from spheremix.errors import Explained, Message, ParameterError
from spheremix.estimators.problem import NoFitError
from spheremix.reading import align_partitions
from spheremix.run.colour_places import add_places
from spheremix.run.edits import EditNotes, Edits, EditStep, check_edits, n_wishes, refusal
from spheremix.run.folder.fitted import stored_parameters
from spheremix.run.folder.store import key_of
from spheremix.run.names import AUTOMATIC, Name, told_apart
from spheremix.run.stages.dense import DenseFit, dense_mixture
from spheremix.run.stages.rows import BY_EDIT, Rows
from spheremix.run.stages.tree import Tree, labels_key
from spheremix.text.corpus import shown
from spheremix.text.vectorizer import NO_WORD_LEFT
from spheremix.wording import count, joined

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from spheremix.estimators.mixture import VMFMixture
    from spheremix.run.colour_places import Place
    from spheremix.run.edits import UpdateRecord
    from spheremix.run.options import ExploreOptions
    from spheremix.run.run import Run
    from spheremix.run.stages import Context
    from spheremix.run.stages.rows import Removed
    from spheremix.text import Corpus

    Ids = NDArray[np.intp]

FIRST = 10  # words of a group that are compared
HALVES = 2  # of a group that is split
FIT = 16  # digits of a checksum by which people tell fits apart
SAME = 2 / 3  # share of common documents, of those in either, from which a group is the same
OTHERS = (
    "None of the documents that were edited is in this run: documents are known by their ids, by "
    "their texts if they have none, or by the values of their rows if there are no texts."
)


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Groups between two edits: their rows, the mixtures without penalty, and their stages."""

    rows: Rows
    rows_key: str
    dense: dict[int, VMFMixture]
    best: int
    stages: dict[int, str]  # of the mixtures

    @property
    def mixture(self) -> VMFMixture:
        """The mixture without penalty whose groups they are."""
        return self.dense[self.best]

    @property
    def key(self) -> str:
        """The key of this mixture."""
        return self.stages[self.best].rpartition("-")[2]

    @property
    def fit(self) -> str:
        """What the numbers of the groups belong to: the checksum of the dense prototypes."""
        prototypes = np.ascontiguousarray(self.mixture.prototypes_, dtype="<f8")
        return hashlib.sha256(prototypes.tobytes()).hexdigest()[:FIT]

    @property
    def on(self) -> dict[str, str]:
        """The stages of these groups, by which edits find them again."""
        return {"rows": f"rows-{self.rows_key}", "dense": self.stages[self.best]}


@dataclass(frozen=True, slots=True)
class Marks:
    """What was said of groups and documents, in the numbers of now."""

    names: dict[int, Name] = field(default_factory=dict)
    notes: EditNotes = field(default_factory=EditNotes)
    misplaced: tuple[str, ...] = ()
    colours: list[Place] | None = None  # None where nobody has seen any
    sizes_before: tuple[int, ...] = ()  # of the groups of the run that was brought up to date
    nowhere_before: int | None = None  # its documents that belonged nowhere

    def seen(self, step: EditStep) -> Marks:
        """Take the names and colours that people saw before an edit."""
        names = {**dict(enumerate(step.names)), **self.names}  # others may be given since
        return replace(self, names=names, colours=step.colours or self.colours)

    def also(self, edits: Edits, source: str) -> Marks:
        """Add those of an edit; what is said again is what counts."""
        names = {k: Name(name=name, source=source) for k, name in edits.names.items()}
        notes = EditNotes(
            groups={**self.notes.groups, **edits.notes.groups},
            documents={**self.notes.documents, **edits.notes.documents},
        )
        misplaced = tuple(dict.fromkeys((*self.misplaced, *edits.misplaced)))
        return replace(self, names={**self.names, **names}, notes=notes, misplaced=misplaced)

    def after(self, update: UpdateRecord) -> Marks:
        """Add what the groups were like before an update."""
        sizes, nowhere = tuple(update.sizes), update.n_nowhere
        return replace(self, sizes_before=sizes, nowhere_before=nowhere, colours=update.colours)

    def moved(self, plan: Plan, edits: Edits) -> Marks:
        """Take them to the numbers after an edit.

        Of groups that are merged, the first in the list that is named by this edit gives the name,
        else the first that people named; all notes stay, and the first colour. Automatic names of
        groups that were merged or split, or that have a dropped word, are made anew.
        """
        order = [k for several in edits.merge for k in several]
        touched = {*order, *edits.split}
        order += [k for k in range(len(plan.became)) if k not in set(order)]
        dropped = set(edits.drop_words)
        names: dict[int, Name] = {}
        notes: dict[int, str] = {}
        for k in sorted(order, key=lambda k: k not in edits.names):
            one = self.names.get(k)
            if one is None or (
                one.source == AUTOMATIC
                and (k in touched or dropped & set(one.name.replace(",", " ").split()))
            ):
                continue
            names.setdefault(plan.became[k], one)
        for k in order:
            place = plan.became[k]
            if k in self.notes.groups:
                note = self.notes.groups[k]
                notes[place] = f"{notes[place]}\n{note}" if place in notes else note
        colours = self.colours
        if colours is not None:
            kept: dict[int, Place] = {}
            for place, colour in zip(plan.became, colours, strict=True):
                kept[place] = min(kept.get(place, colour), colour)
            colours = add_places([kept[k] for k in sorted(kept)], len(plan.parts))
        sizes = () if edits.merge or edits.split else self.sizes_before
        notes_now = replace(self.notes, groups=notes)
        return replace(self, names=names, notes=notes_now, sizes_before=sizes, colours=colours)

    def along(self, nodes: Nodes) -> Marks:
        """Take them to groups that are nodes of the tree.

        A group of several has the first of their given names, all of their notes and their first
        colour. The largest part of a group keeps a given name, its notes and its colour.
        """
        names: dict[int, Name] = {}
        notes: dict[int, str] = {}
        for place, origins in enumerate(nodes.kept):
            found = [self.names[k] for k in origins if k in self.names]
            if not nodes.same[place]:
                found = [one for one in found if one.source != AUTOMATIC]
            names.update({place: found[0]} if found else {})
            said = [self.notes.groups[k] for k in origins if k in self.notes.groups]
            notes.update({place: "\n".join(said)} if said else {})
        colours = self.colours
        if colours is not None:
            seen: Counter[int] = Counter()  # parts of a group
            before, colours = colours, []
            for k, origins in zip(nodes.within, nodes.kept, strict=True):
                number, shade = min(before[one] for one in (origins or [k]))
                if not origins:
                    seen[k] += 1
                    shade += seen[k]
                colours.append([number, shade])
        notes_now = replace(self.notes, groups=notes)
        return replace(self, names=names, notes=notes_now, colours=colours, sizes_before=())

    def check(self, source: str) -> None:
        """Refuse a name that two groups would have."""
        seen: dict[str, int] = {}
        for k, one in self.names.items():
            if one.name in seen:
                raise ParameterError(
                    "{edits} ({source}): groups {first} and {second} have the same name, {name}",
                    remedies=("give one of them another name",),
                    source=source,
                    first=seen[one.name],
                    second=k,
                    name=shown(one.name),
                )
            seen[one.name] = k

    def apart(self) -> tuple[Marks, list[str]]:
        """Tell groups apart that have the same name since edits followed them; say which."""
        names: dict[int, Name] = {}
        said = []
        for k, one in sorted(self.names.items()):
            name = told_apart(one.name, {other.name for other in names.values()})
            names[k] = replace(one, name=name)
            if name != one.name:
                said.append(
                    f"Two groups would have the name {shown(one.name)}: group {k} is called "
                    f"{shown(name)}."
                )
        return replace(self, names=names), said


@dataclass(frozen=True, slots=True, eq=False)
class PendingStep:
    """An edit that is to be made; one of another run with the groups that its documents had."""

    step: EditStep
    before: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Edited:
    """Groups after edits."""

    groups: Groups
    marks: Marks = field(default_factory=Marks)
    steps: tuple[EditStep, ...] = ()
    n_fits: int = 0
    fresh: frozenset[str] = frozenset()  # names that are given just now


def changes_fit(edits: Edits) -> bool:
    """Return whether edits ask for other groups or other words."""
    return bool(edits.nodes or edits.merge or edits.split or edits.move or edits.drop_words)


def make_edits(x: Context, state: Edited, pending: Sequence[PendingStep], *, asked: bool) -> Edited:
    """Make all edits to what was explored.

    The last edit is refused where it cannot be made and is ``asked`` for just now; of others, what
    cannot be made is said and left out.
    """
    for i, one in enumerate(pending):
        step, fit = one.step, state.groups.fit
        lost: list[str] = []
        strict = asked and i == len(pending) - 1
        if step.edits.run != fit:
            same = x.start is not None and step.update is not None  # groups keep their numbers
            edits, lost = follow(step.edits, one.before or {}, state.groups, same_numbers=same)
            step = EditStep(source=step.source, edits=replace(edits, run=fit), update=step.update)
        try:
            state, renamed = _make(x, state, step, lost, strict=strict)
            lost = lost if asked else [*lost, *renamed]  # said when it happens
        except ParameterError as error:
            if strict:
                raise
            lost = [*lost, f"Could not be kept: the edits of {step.source}: {error}"]
        for line in lost:
            x.listener.note(Message("{line}", {"line": line.removesuffix(".")}))
    return state


def _make(
    x: Context, state: Edited, step: EditStep, lost: list[str], *, strict: bool
) -> tuple[Edited, list[str]]:
    """Make one edit; say which groups got another name. Strict: a name that is taken is refused."""
    edits, groups = step.edits, state.groups
    if not n_wishes(edits) and step.update is None:
        return state, []
    rows, labels, n_groups = groups.rows, groups.mixture.labels_, groups.best
    check_edits(
        step,
        run=edits.run,
        n_groups=n_groups,
        words=rows.words,
        ids=rows.corpus.ids,
    )
    marks = state.marks.seen(step)
    if edits.nodes:
        nodes = Nodes.of(_tree_before(x, step), edits.nodes, n_groups, step.source)
        edits, labels, n_groups = nodes.renumbered(edits), nodes.labels, len(nodes.kept)
        marks = marks.along(nodes)
    plan = Plan.of(edits, n_groups)
    marks, said = marks.also(edits, step.source), describe(step.edits, plan)
    if step.update is not None:
        said = []
        if x.start is not None:  # not where the groups were searched for anew
            marks = marks.after(step.update)
    refitted = changes_fit(step.edits)
    marks = marks.moved(plan, edits) if refitted else marks
    renamed: list[str] = []
    if strict:
        marks.check(step.source)
    else:
        marks, renamed = marks.apart()
    n_fits = state.n_fits + refitted
    after = refit(x, groups, labels, edits, plan, n_fits) if refitted else groups
    if edits.move:
        marks, told = _came_back(marks, edits, plan, after)
        said.append(told)
    changes = step.changes or [*said, *lost, *renamed]
    done = replace(step, changes=changes, on={**groups.on, **step.on})
    marks = replace(marks, names={**marks.names, **step.named})
    fresh = state.fresh | (set(edits.names.values()) if strict else set())
    return Edited(after, marks, (*state.steps, done), n_fits, fresh), renamed


def _tree_before(x: Context, step: EditStep) -> Tree:
    """Return the tree of the groups that are edited, which the cache keeps with the edit."""
    called = step.on.get("tree", "")
    found: Tree | None = x.store.stored("tree", called[-16:], Tree) if called else None
    if found is None:
        raise refusal(
            step.source,
            "nodes: the tree of the groups that were edited is not there",
            "export the edits again from the report of this run",
        )
    return found


def _came_back(marks: Marks, edits: Edits, plan: Plan, after: Groups) -> tuple[Marks, str]:
    """Mark documents that were moved and did not stay; say how many."""
    now = dict(zip(after.rows.kept.tolist(), after.mixture.labels_.tolist(), strict=True))
    ids = {one: i for i, one in enumerate(after.rows.corpus.ids)}
    gone = [one for one, to in edits.move.items() if now.get(ids[one]) != plan.became[to]]
    n = count(len(edits.move), "document")
    said = f"{n} moved by hand, of which {len(edits.move) - len(gone):,} stayed"
    if gone:
        said += "; the others fit another group better and are marked as misplaced"
    misplaced = tuple(dict.fromkeys((*marks.misplaced, *gone)))
    return replace(marks, misplaced=misplaced), f"{said}."


def count_moved(edited: Edited, before: Mapping[str, int], labels: Ids) -> Edited:
    """Count the documents of before an update that are in another group, of those that have one."""
    update = edited.steps[0].update if edited.steps else None
    if update is None or update.n_moved is not None:
        return edited
    rows = edited.groups.rows
    known = zip(identities(rows.corpus, rows), rows.spread(labels).tolist(), strict=True)
    pairs = [(before[one], k) for one, k in known if k >= 0 and before.get(one, -1) >= 0]
    moved = sum(old != new for old, new in pairs)
    update = replace(update, n_moved=moved, n_grouped=len(pairs))
    first = replace(edited.steps[0], update=update)
    return replace(edited, steps=(first, *edited.steps[1:]))


# Groups fitted again


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What becomes of the numbers of groups.

    The first of the groups that are merged gives its number, and the larger part of a group that is
    split keeps it. All others keep theirs, but the last ones take those that a merge has freed.
    """

    became: list[int]  # the number after of each group before
    parts: dict[int, int]  # for each group that is split, the number of its other part
    n_groups: int  # after

    @classmethod
    def of(cls, edits: Edits, n_groups: int) -> Plan:
        """Plan the edits of some number of groups."""
        first = list(range(n_groups))
        for several in edits.merge:
            for k in several:
                first[k] = min(several)
        kept = sorted(set(first))
        last = len(kept)
        free = iter(k for k in range(last) if k not in set(kept))
        places = {k: k if k < last else next(free) for k in kept}
        parts = {k: last + i for i, k in enumerate(edits.split)}
        return cls([places[k] for k in first], parts, last + len(parts))

    def after(self, labels: Ids) -> Ids:
        """Return the group of each document after; -1 stays, since it is no group."""
        return np.where(labels < 0, -1, np.array(self.became)[labels])


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """Nodes of the tree as groups.

    A node of whole groups has the smallest of their numbers, and the largest part of a group its
    number; the others come last. The last ones take numbers that are free.
    """

    numbers: dict[int, int]  # of each node
    labels: Ids  # the group of each row; -1 where it belongs nowhere
    kept: list[list[int]]  # the groups that each gets name and notes from; none: a smaller part
    within: list[int]  # the group that it is, or is a part of; of several, the first
    same: list[bool]  # whether it is this group

    @classmethod
    def of(cls, tree: Tree, nodes: list[int], n_groups: int, source: str) -> Nodes:
        """Find the groups; nodes that leave fine groups out or have them twice are refused."""
        members: list[list[int]] = [[i] for i in range(len(tree.groups))]
        for left, right in tree.pairs.tolist():
            members.append([*members[left], *members[right]])
        known = [node for node in dict.fromkeys(nodes) if 0 <= node < len(members)]
        held = sorted(leaf for node in known for leaf in members[node])
        if len(known) < len(nodes) or held != list(range(len(tree.groups))):
            raise refusal(
                source,
                "nodes: they must hold each fine group of tables/tree.csv once",
                "take the nodes of a cut of this tree",
            )
        sizes = np.bincount(tree.leaves[tree.leaves >= 0], minlength=len(tree.groups))
        owners = {node: np.unique(tree.groups[members[node]]).tolist() for node in known}
        n_leaves = np.bincount(tree.groups, minlength=n_groups)
        whole = {
            node: len(own) > 1 or len(members[node]) == n_leaves[own[0]]
            for node, own in owners.items()
        }
        order = sorted(known, key=lambda node: (-sizes[members[node]].sum(), node))
        first: dict[int, int] = {}  # the largest node with a group
        for node in order:
            first.setdefault(owners[node][0], node)
        wanted = {node: owners[node][0] for node in known if first[owners[node][0]] == node}
        numbers = {node: k for node, k in wanted.items() if k < len(known)}
        free = iter(k for k in range(len(known)) if k not in set(numbers.values()))
        for node in sorted(set(known) - set(numbers), key=lambda one: (one not in wanted, one)):
            numbers[node] = next(free)
        by_leaf = np.full(len(tree.groups) + 1, -1, dtype=np.intp)
        for node in known:
            by_leaf[members[node]] = numbers[node]
        listed = sorted(known, key=numbers.__getitem__)
        return cls(
            numbers,
            by_leaf[tree.leaves],
            [owners[node] if whole[node] or node in wanted else [] for node in listed],
            [owners[node][0] for node in listed],
            [whole[node] and len(owners[node]) == 1 for node in listed],
        )

    def renumbered(self, edits: Edits) -> Edits:
        """Return edits of nodes in the numbers of groups."""
        n = self.numbers
        return replace(
            edits,
            nodes=[],
            names={n[k]: name for k, name in edits.names.items()},
            merge=[[n[k] for k in several] for several in edits.merge],
            split=[n[k] for k in edits.split],
            move={one: n[k] for one, k in edits.move.items()},
            notes=replace(edits.notes, groups={n[k]: v for k, v in edits.notes.groups.items()}),
        )


def refit(x: Context, groups: Groups, labels: Ids, edits: Edits, plan: Plan, number: int) -> Groups:
    """Fit the groups again after edits, as a stage; ``labels`` are those before."""
    K, rows, rows_key = plan.n_groups, groups.rows, groups.rows_key
    x.listener.begin(f"Fitting {count(K, 'group')} again, from the edited ones")
    if edits.drop_words:
        rows_key = key_of(groups.rows_key, "dropped", edits.drop_words)
        kept = x.store.stage(
            "rows", rows_key, Rows, lambda: _without_words(groups, edits.drop_words)
        )
        rows = replace(kept, corpus=groups.rows.corpus, meaning=groups.rows.meaning)
    wanted = stored_parameters(dense_mixture(K, x.options))
    key = key_of(
        groups.key, labels_key(labels), edits.merge, edits.split, edits.move, rows_key, wanted
    )

    def make() -> DenseFit:
        start = common_rows(labels, groups.rows, rows)
        mixture, notes = _fit(start, rows, plan, edits, x.options)
        for note in notes:
            x.listener.note(note)
        return DenseFit(mixture, notes)

    fit = x.store.stage(f"edit-{number}", key, DenseFit, make)
    if fit.mixture is None:
        raise ParameterError("{edits}: the edited groups cannot be fitted")
    return Groups(rows, rows_key, {K: fit.mixture}, K, {K: f"edit-{number}-{key}"})


def _fit(
    labels: Ids, rows: Rows, plan: Plan, edits: Edits, options: ExploreOptions
) -> tuple[VMFMixture, list[Message]]:
    """Run EM from the edited groups."""
    start = plan.after(labels)
    mixture = dense_mixture(plan.n_groups, options)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for k, part in plan.parts.items():
                start[_smaller_part(rows, np.flatnonzero(labels == k), options)] = part
            moved = [edits.move.get(rows.corpus.ids[i]) for i in rows.kept] if edits.move else []
            for i, to in enumerate(moved):
                start[i] = start[i] if to is None else plan.became[to]
            mixture.set_params(init=start).fit(as_directions(rows.views, n_threads=options.threads))
    except (NoFitError, ValueError) as error:
        raise ParameterError(
            "{edits}: the edited groups cannot be fitted ({why})",
            remedies=("leave out some of the edits",),
            why=str(error).removesuffix("."),
        ) from None
    messages = [one.message for one in caught]
    return mixture, [
        one.message if isinstance(one, Explained) else Message("{note}", {"note": str(one)})
        for one in messages
    ]


def _smaller_part(rows: Rows, places: Ids, options: ExploreOptions) -> Ids:
    """Split rows in two by a search of its own; return those of the smaller part."""
    both = dense_mixture(HALVES, replace(options, noise=None, max_noise=None))
    inside = both.fit(rows.taken(places))
    sizes = np.bincount(inside.labels_, minlength=HALVES)
    found: Ids = places[inside.labels_ == (1 if sizes[1] <= sizes[0] else 0)]
    return found


def common_rows(labels: Any, before: Rows, after: Rows) -> Ids:
    """Return the labels of the rows that are still there."""
    return before.spread(labels)[after.kept]


def _without_words(groups: Groups, words: list[str]) -> Rows:
    """Leave columns out, and set documents aside that have no other; rows have length one again."""
    before, dropped = groups.rows, set(words)
    known = before.words or []
    columns = np.flatnonzero([word not in dropped for word in known])
    X = before.X[:, columns]
    there = _lengths(X) > 0.0
    if before.meaning is not None:
        there |= before.meaning[before.kept].any(axis=1)
    rows = np.flatnonzero(there)
    if len(rows) < groups.best:
        raise ParameterError(
            "{edits}: only {n} would have a word without those of drop_words",
            remedies=("leave out some of them",),
            n=count(len(rows), "document"),
        )
    X, kept = X[rows], before.kept[rows]
    aside = set(before.kept.tolist()) - set(kept.tolist())
    how = before.vectorization
    if how is not None:
        X = _unit(X)
        idf = None if how.idf is None else how.idf[columns]
        how = replace(how, removed=_edited(how.removed, before, dropped), idf=idf)
    return replace(
        before,
        X=X,
        words=[known[j] for j in columns],
        kept=kept,
        reasons=dict(sorted({**before.reasons, **dict.fromkeys(aside, NO_WORD_LEFT)}.items())),
        vectorization=how,
    )


def _edited(removed: Removed, before: Rows, dropped: set[str]) -> Removed:
    """Add words that are dropped to those that are left out already."""
    columns = {word: j for j, word in enumerate(before.words or []) if word in dropped}
    documents = np.bincount(before.X.indices, minlength=before.X.shape[1])
    found = {word: int(documents[j]) for word, j in columns.items()}
    return {**removed, BY_EDIT: {**removed.get(BY_EDIT, {}), **found}}


def _lengths(X: Any) -> NDArray[np.float64]:
    values = X.astype(np.float64)
    lengths: NDArray[np.float64] = np.sqrt(np.asarray((values * values).sum(axis=1)).ravel())
    return lengths


def _unit(X: Any) -> Any:
    """Bring sparse rows to length one; empty ones stay so."""
    scaled = X.copy()
    scaled.data = scaled.data / np.repeat(_lengths(X), np.diff(X.indptr))
    return scaled


# What changed


def describe(edits: Edits, plan: Plan) -> list[str]:
    """Say what was asked for: merges, splits, words, names, notes and marks."""
    said = []
    if edits.nodes:
        said.append(f"The groups were made from {count(len(edits.nodes), 'node')} of the tree.")
    for several in () if edits.nodes else edits.merge:
        named = joined([str(k) for k in several])
        said.append(f"Groups {named} were merged into group {plan.became[several[0]]}.")
    for k, part in () if edits.nodes else plan.parts.items():
        said.append(f"Group {k} was split into groups {plan.became[k]} and {part}.")
    if edits.drop_words:
        were = "was" if len(edits.drop_words) == 1 else "were"
        said.append(f"{count(len(edits.drop_words), 'word')} {were} dropped.")
    notes = len(edits.notes.groups) + len(edits.notes.documents)
    parts = [count(len(edits.names), "name")] if edits.names else []
    parts += [count(notes, "note")] if notes else []
    were = "was" if len(edits.names) + notes == 1 else "were"
    said += [f"{joined(parts)} {were} given."] if parts else []
    if edits.misplaced:
        marked = count(len(edits.misplaced), "document")
        said.append(f"{marked} marked as misplaced, which changes no group.")
    return said


def compare_tables(before: Run, after: Run, edits: Edits) -> list[str]:
    """Say what edits changed in the tables of a run: documents, likelihood, words."""
    rows, n_groups = after.rows, before.info.n_groups
    if before.rows is None or before.assigned is None or rows is None or after.assigned is None:
        return []
    labels, origins = before.assigned.labels, [[k] for k in range(n_groups)]
    if edits.nodes and before.fine_tree is not None:
        nodes = Nodes.of(before.fine_tree, edits.nodes, n_groups, "")
        edits, labels = nodes.renumbered(edits), nodes.labels
        origins = [own or [k] for own, k in zip(nodes.kept, nodes.within, strict=True)]
    plan = Plan.of(edits, len(origins))
    old = common_rows(labels, before.rows, rows)
    new = after.assigned.labels
    wanted = plan.after(old)
    for place, i in enumerate(rows.kept if edits.move else ()):
        to = edits.move.get(rows.corpus.ids[i])
        wanted[place] = wanted[place] if to is None else plan.became[to]
    stayed = new == wanted
    for k, part in plan.parts.items():
        stayed |= (old == k) & (new == part)
    n, moved = count(len(new), "document"), int((~stayed).sum())
    said = [f"{moved:,} of {n} changed group beyond that."]
    if after.reading.has_noise:
        belonged, belong = int((old < 0).sum()), int((new < 0).sum())
        said.append(f"{count(belonged, 'document')} belonged nowhere, and now {belong:,}.")
    if len(before.rows.kept) > len(new):
        gone = count(len(before.rows.kept) - len(new), "document")
        said.append(f"{gone} without another word set aside.")
    if edits.drop_words:
        said.append("Without these words likelihoods cannot be compared with those before.")
    else:
        was, now = (one.mixture.log_likelihood_ / len(new) for one in (before, after))
        said.append(f"The log-likelihood of a document was {was:,.3f} and is {now:,.3f}.")
    return [*said, *_words(before, after, plan, origins)]


def first_words(run: Run, n: int = FIRST) -> list[list[str]]:
    """Return the first words of each group, by number; none where columns are no words."""
    if run.feature_names is None:
        return []
    words, K = run.reading.vocabulary, run.info.n_groups
    return [[one.word for one in words.words(k, n)] for k in range(K)]


def _words(before: Run, after: Run, plan: Plan, groups: list[list[int]]) -> list[str]:
    """Say which words entered or left the first ones of each group."""
    old, said = first_words(before), []
    for k, words in enumerate(first_words(after)):
        origins = [i for i, place in enumerate(plan.became) if place == k]
        origins += [i for i, place in plan.parts.items() if place == k]
        own = sorted({one for i in origins for one in groups[i]})
        known = [word for i in own for word in old[i]]
        entered = [word for word in words if word not in known]
        left = [word for word in known if word not in words] if len(own) == 1 else []
        parts = [f"new: {', '.join(entered)}"] if entered else []
        parts += [f"no longer: {', '.join(left)}"] if left else []
        if parts:
            said.append(f"First words of group {k}, {'; '.join(parts)}.")
    return said


# Edits that follow their groups


def identities(corpus: Corpus, rows: Rows | None = None) -> list[str]:
    """Return what documents are known by.

    These are their ids, or their texts where ids are only numbers, or their rows where there are no
    texts.
    """
    if any(one != str(i) for i, one in enumerate(corpus.ids, 1)):
        return list(corpus.ids)
    known: Iterable[bytes] = () if rows is None else rows.row_bytes()
    if any(corpus.texts):
        known = (text.encode("utf-8", "surrogatepass") for text in corpus.texts)
    seen: Counter[str] = Counter()  # equal ones are told apart by their order
    found = []
    for one in known:
        digest = hashlib.sha256(one).hexdigest()[:16]
        seen[digest] += 1
        found.append(digest if seen[digest] == 1 else f"{digest}-{seen[digest]}")
    return found


def follow(
    edits: Edits, before: Mapping[str, int], groups: Groups, *, same_numbers: bool = False
) -> tuple[Edits, list[str]]:
    """Bring edits to the groups of another run; say what could not follow.

    A group is the same where at least two thirds of the documents in either are in both; documents
    that only one of the runs has do not count. With ``same_numbers``, those of an update, it is
    the group of the same number.
    """
    source, words = groups.rows.corpus, groups.rows.words
    known = identities(source, groups.rows)
    places = {one: i for i, one in reversed(list(enumerate(known)))}
    now = groups.rows.spread(groups.mixture.labels_)
    common = [one for one in before if one in places]
    old = np.array([before[one] for one in common], dtype=np.intp)
    new = now[[places[one] for one in common]] if common else np.empty(0, dtype=np.intp)
    n_before = max(before.values(), default=-1) + 1
    found = align_partitions(old, new, n_before=n_before, n_after=groups.best)
    became = {one.before: one.after for one in found.matches if one.score >= SAME}
    if same_numbers:
        became = {k: k for k in range(min(n_before, groups.best))}
    numbers = {str(i): one for i, one in enumerate(before, 1)}
    # Ids are their own identities, numbers are not.
    ids = {**numbers, **{one: one for one in before}}
    there = {one: source.ids[places[name]] for one, name in ids.items() if name in places}
    followed, lost = _followed(edits, became, there, set(words or ()))
    return followed, [*lost, OTHERS] if lost and not common else lost


def _followed(
    edits: Edits, became: dict[int, int], ids: dict[str, str], words: set[str]
) -> tuple[Edits, list[str]]:
    """Return edits whose groups and documents have other numbers and ids now, and what is lost."""
    lost: list[str] = []
    if edits.nodes:
        lost.append("groups along the tree, with their names and notes: they belong to that tree")
        left = replace(edits.notes, groups={})
        edits = replace(edits, nodes=[], names={}, merge=[], split=[], move={}, notes=left)

    def by_group(what: str, values: dict[int, Any]) -> dict[int, Any]:
        lost.extend(
            f"{what.format(shown(value))} of the earlier group {k}: no group shares two thirds of "
            "its documents"
            for k, value in values.items()
            if k not in became
        )
        return {became[k]: value for k, value in values.items() if k in became}

    def known(listed: list[str], there: Collection[str], what: str) -> list[str]:
        gone = ", ".join(shown(one) for one in listed if one not in there)
        lost.extend([what.format(gone)] if gone else [])
        return [one for one in listed if one in there]

    names = by_group("the name {}", edits.names)
    notes = by_group("the note {}", edits.notes.groups)
    beside = edits.notes.documents
    lost += [
        f"the note {shown(note)} on document {shown(one)}, which is not there"
        for one, note in beside.items()
        if one not in ids
    ]
    merge = []
    for several in edits.merge:
        found = [became[k] for k in several if k in became]  # the first gives its name
        merge += [found] if len(found) > 1 else []
        if len(found) < len(several):
            gone = joined([str(k) for k in several if k not in became])
            kept = ", so the others are merged" if len(found) > 1 else ""
            lost.append(
                f"the merge of the earlier groups {joined([str(k) for k in several])}: no group "
                f"has the same documents, or nearly, as {gone}{kept}"
            )
    split = by_group("its split", dict.fromkeys(edits.split))
    drop = known(
        edits.drop_words, words, "the dropping of {}, which this run does not have as a word"
    )
    move = {one: became[k] for one, k in edits.move.items() if k in became and one in ids}
    if len(move) < len(edits.move):
        n = count(len(edits.move) - len(move), "document")
        lost.append(f"the move of {n}: the document or its group is not there")
    marked = known(edits.misplaced, ids, "the marks of documents {}, which are not there")
    followed = replace(
        edits,
        names=names,
        notes=EditNotes(
            groups=notes, documents={ids[one]: note for one, note in beside.items() if one in ids}
        ),
        merge=merge,
        split=list(split),
        move={ids[one]: k for one, k in move.items()},
        drop_words=drop,
        misplaced=[ids[one] for one in marked],
    )
    return followed, [f"Could not be kept: {what}." for what in lost]
