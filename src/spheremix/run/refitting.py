"""Groups merged, split or freed of words, and fitted again from where they stand.

The groups of the mixture without penalty, edited, are the start of EM. It ends with its certificate
as every fit does; documents may move. The groups before are not touched: what is fitted again lies
beside them.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.data.open import as_directions
from spheremix.errors import Explained, Message, ParameterError
from spheremix.estimators.problem import NoFitError
from spheremix.reading import Reading
from spheremix.run.codecs import pack_mixture, unpack_mixture
from spheremix.run.edit_schema import EditedRecord
from spheremix.run.files import EDITED, IDF, KEPT, MIXTURES
from spheremix.run.keys import EditedKeys, dense_mixture
from spheremix.run.matrices import pack_matrix, pack_words
from spheremix.run.prepare import read_material
from spheremix.run.removed import BY_EDIT
from spheremix.run.schema import DenseRecord, PreparedRecord
from spheremix.run.store import RunError
from spheremix.run.typed import FileName
from spheremix.text.vectorizer import NO_WORD_LEFT
from spheremix.wording import count, joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.estimators.mixture import VMFMixture
    from spheremix.run.edit_schema import Edits
    from spheremix.run.folder import RunFolder
    from spheremix.run.keys import Keys
    from spheremix.run.listener import Listener
    from spheremix.run.options import ExploreOptions
    from spheremix.run.prepare import Material
    from spheremix.run.removed import Removed
    from spheremix.run.store import Reader

    Ids = NDArray[np.intp]

FIRST = 10  # words of a group that are compared
HALVES = 2  # of a group that is split


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Groups as they stand: their documents, the mixture without penalty, and its keys."""

    material: Material
    dense: dict[int, VMFMixture]
    best: int
    keys: Keys

    @property
    def record(self) -> type[DenseRecord | EditedRecord]:
        """What the stages of the mixtures leave."""
        return EditedRecord if isinstance(self.keys, EditedKeys) else DenseRecord

    @property
    def mixture(self) -> VMFMixture:
        """The mixture without penalty whose groups they are."""
        return self.dense[self.best]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What becomes of the numbers of groups.

    Attributes
    ----------
    became : list of int
        The number after of each group before. The first of the groups that are merged gives its
        place; the larger part of a group that is split keeps it.
    parts : dict of int to int
        For each group that is split, the number of its other part.
    n_groups : int
        Number of groups after.
    """

    became: list[int]
    parts: dict[int, int]
    n_groups: int

    @classmethod
    def of(cls, edits: Edits, n_groups: int) -> Plan:
        """Plan the edits of some number of groups."""
        first = list(range(n_groups))
        for several in edits.merge:
            for k in several:
                first[k] = min(several)
        places = {k: i for i, k in enumerate(sorted(set(first)))}
        last = len(places)
        parts = {k: last + i for i, k in enumerate(edits.split)}
        return cls([places[k] for k in first], parts, last + len(parts))

    def after(self, labels: Ids) -> Ids:
        """Return the group of each document after; -1 stays, since it is no group."""
        return np.where(labels < 0, -1, np.array(self.became)[labels])


def refit(
    folder: RunFolder,
    groups: Groups,
    edits: Edits,
    number: int,
    options: ExploreOptions,
    listener: Listener,
) -> tuple[Groups, list[str]]:
    """Fit the groups again after edits, as a stage; give them and what changed, in sentences."""
    plan, K = Plan.of(edits, groups.best), groups.best
    changed = [groups.keys.dense(K), edits.merge, edits.split]
    keys = EditedKeys(groups.keys, f"edit-{number}", changed, edits.drop_words, options)
    listener.begin(f"Fitting {count(plan.n_groups, 'group')} again, from the edited ones")
    with folder.beside(EDITED):
        material = groups.material
        if edits.drop_words:
            material = _without_words(folder, groups, edits.drop_words, keys)
        after = Groups(material, {}, plan.n_groups, keys)
        mixture, said = _refitted(folder, groups, after, edits, plan, number, options, listener)
    return replace(after, dense={plan.n_groups: mixture}), said


def _refitted(
    folder: RunFolder,
    groups: Groups,
    after: Groups,
    edits: Edits,
    plan: Plan,
    number: int,
    options: ExploreOptions,
    listener: Listener,
) -> tuple[VMFMixture, list[str]]:
    """Return the mixture after edits, and what changed; made where it is not there."""
    material, keys = after.material, after.keys
    stage, key = keys.dense_stage(plan.n_groups), keys.dense(plan.n_groups)

    def make() -> None:
        mixture, notes = _fit(groups, material, plan, options)
        said = describe(groups, replace(after, dense={plan.n_groups: mixture}), edits, plan)
        writer = folder.writer()
        packed = pack_mixture(mixture, writer, f"{MIXTURES}/{number}")
        record = EditedRecord(mixture=packed, changes=said, notes=notes)
        folder.commit(stage, key, writer, record)
        for note in notes:
            listener.note(note)

    def read(record: EditedRecord, reader: Reader) -> tuple[VMFMixture, list[str]]:
        return unpack_mixture(record.mixture, reader), record.changes

    return folder.stage(stage, key, EditedRecord, make, read)


def _fit(
    groups: Groups, material: Material, plan: Plan, options: ExploreOptions
) -> tuple[VMFMixture, list[Message]]:
    """Run EM from the edited groups."""
    X, labels = material.X, common_rows(groups.mixture.labels_, groups.material, material)
    start = plan.after(labels)
    mixture = dense_mixture(plan.n_groups, options)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for k, part in plan.parts.items():
                start[_smaller_part(X, np.flatnonzero(labels == k), options)] = part
            mixture.set_params(init=start).fit(as_directions(X, n_threads=options.threads))
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


def _smaller_part(X: Any, rows: Ids, options: ExploreOptions) -> Ids:
    """Split rows in two by a search of its own; give those of the smaller part."""
    inside = dense_mixture(HALVES, replace(options, noise=None, max_noise=None)).fit(X[rows])
    sizes = np.bincount(inside.labels_, minlength=HALVES)
    found: Ids = rows[inside.labels_ == (1 if sizes[1] <= sizes[0] else 0)]
    return found


def common_rows(labels: Any, before: Material, after: Material) -> Ids:
    """Return the labels of the rows that are still there."""
    known = np.full(before.n_documents, -1, dtype=np.intp)
    known[before.kept] = labels
    return known[after.kept]


# Words that are left out


def _without_words(folder: RunFolder, groups: Groups, words: list[str], keys: Keys) -> Material:
    """Leave columns out, and set documents aside that have no other; rows have length one again."""
    before, source = groups.material, groups.material.source
    # Read now: rows without other words may lie where these are to be written.
    left = folder.done("matrix", groups.keys.matrix, PreparedRecord)
    if left is None:
        raise RunError(
            "{folder}: damaged: the rows are missing",
            remedies=("make the run again with {force=True}",),
            folder=folder.folder,
        )
    record, reader = left
    idf = None
    if record.vectorizer is not None and record.vectorizer.idf is not None:
        idf = np.array(reader.array(record.vectorizer.idf, (len(before.words or []),)))

    def make() -> None:
        dropped = set(words)
        columns = np.flatnonzero([word not in dropped for word in before.words or []])
        X = before.X[:, columns]
        rows = np.flatnonzero(_lengths(X) > 0.0)
        if len(rows) < groups.best:
            raise ParameterError(
                "{edits}: only {n} would have a word without those of drop_words",
                remedies=("leave out some of them",),
                n=count(len(rows), "document"),
            )
        X, kept = X[rows], before.kept[rows]
        aside = sorted(set(before.kept.tolist()) - set(kept.tolist()))
        writer, vectorizer = folder.writer(), record.vectorizer
        if vectorizer is not None:
            X = _unit(X)
            vectorizer = replace(vectorizer, removed=_edited(vectorizer.removed, before, dropped))
            if idf is not None:
                name = FileName(writer.array(IDF, idf[columns]))
                vectorizer = replace(vectorizer, idf=name)
            if vectorizer.forms is not None:
                writer.entries[vectorizer.forms] = reader.entries[vectorizer.forms]
        packed = replace(
            record,
            matrix=pack_matrix(X, writer),
            vocabulary=pack_words([(before.words or [])[j] for j in columns], writer),
            kept=FileName(writer.array(KEPT, kept.astype(np.int64))),
            set_aside=sorted([*record.set_aside, *((row, NO_WORD_LEFT) for row in aside)]),
            vectorizer=vectorizer,
        )
        folder.commit("matrix", keys.matrix, writer, packed)

    def read(record: PreparedRecord, reader: Reader) -> Material:
        return read_material(record, reader, source)

    return folder.stage("matrix", keys.matrix, PreparedRecord, make, read)


def _edited(removed: Removed, before: Material, dropped: set[str]) -> Removed:
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
    """Bring sparse rows to length one."""
    scaled = X.copy()
    scaled.data = scaled.data / np.repeat(_lengths(X), np.diff(X.indptr))
    return scaled


# What changed


def describe(before: Groups, after: Groups, edits: Edits, plan: Plan) -> list[str]:
    """Say what edits changed: documents, likelihood, words."""
    said = []
    for several in edits.merge:
        into = plan.became[several[0]]
        named = joined([str(k) for k in several])
        said.append(f"Groups {named} were merged into group {into}.")
    for k, part in plan.parts.items():
        said.append(f"Group {k} was split into groups {plan.became[k]} and {part}.")
    if edits.drop_words:
        were = "was" if len(edits.drop_words) == 1 else "were"
        said.append(f"{count(len(edits.drop_words), 'word')} {were} dropped.")
    old = common_rows(before.mixture.labels_, before.material, after.material)
    new = after.mixture.labels_
    stayed = new == plan.after(old)
    for k, part in plan.parts.items():
        stayed |= (old == k) & (new == part)
    moved = int((~stayed).sum())
    said.append(f"{moved:,} of {count(len(new), 'document')} changed group beyond that.")
    if after.mixture.model_.noise is not None:
        belonged, belong = int((old < 0).sum()), int((new < 0).sum())
        said.append(
            f"{count(belonged, 'document')} belonged nowhere without penalty, and now {belong:,}."
        )
    gone = len(before.material.kept) - len(new)
    if gone:
        said.append(f"{count(gone, 'document')} without another word set aside.")
    if edits.drop_words:
        said.append("Without these words likelihoods cannot be compared with those before.")
    else:
        values = [g.mixture.log_likelihood_ / len(g.mixture.labels_) for g in (before, after)]
        said.append(
            "The log-likelihood of a document, without penalty, was "
            f"{values[0]:,.3f} and is {values[1]:,.3f}."
        )
    return [*said, *_words(before, after, plan)]


def _words(before: Groups, after: Groups, plan: Plan) -> list[str]:
    """Say which words entered or left the first ones of each group."""
    if before.material.words is None:
        return []
    old, new = (
        [
            [one.word for one in reading.vocabulary.words(k, FIRST)]
            for k in range(reading.n_clusters)
        ]
        for reading in (Reading(g.mixture, g.material.words) for g in (before, after))
    )
    said = []
    for k, words in enumerate(new):
        origins = [i for i, place in enumerate(plan.became) if place == k]
        origins += [i for i, place in plan.parts.items() if place == k]
        known = [word for i in origins for word in old[i]]
        entered = [word for word in words if word not in known]
        left = [word for word in known if word not in words] if len(origins) == 1 else []
        parts = [f"new: {', '.join(entered)}"] if entered else []
        parts += [f"no longer: {', '.join(left)}"] if left else []
        if parts:
            said.append(f"First words of group {k}, {'; '.join(parts)}.")
    return said
