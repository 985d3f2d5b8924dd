"""A run: what was explored or fitted, in memory or in its folder, and what can be done with it."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Self

import numpy as np

import spheremix as sm
from spheremix._files import MANIFEST
from spheremix.advice import Advice
from spheremix.errors import ParameterError
from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.path import VMFPath
from spheremix.estimators.selection import VMFMixtureIC
from spheremix.estimators.skmeans import SphericalKMeans
from spheremix.estimators.tree import VMFTree
from spheremix.estimators.views import words_of
from spheremix.reading import Reading, contrast_words
from spheremix.reading.contrast import text_vocabulary
from spheremix.reading.effects import Effects
from spheremix.reading.partition import NOTE
from spheremix.reading.stability import Stability
from spheremix.run import Listener, tables
from spheremix.run.colour_places import colour_places
from spheremix.run.columns import TABLES
from spheremix.run.fitted_models import gather
from spheremix.run.folder.archive import DAMAGE, decode, encode
from spheremix.run.folder.files import RunError, read_json, require
from spheremix.run.folder.fitted import (
    PathChoice,
    PathStored,
    TreeState,
    dump_choice,
    dump_path,
    dump_tree,
    load_path,
    load_tree,
)
from spheremix.run.folder.schema import FORMAT, PAGE, README, RunInfo, explain
from spheremix.run.folder.store import STAGE, Store, key_of, require_version
from spheremix.run.names import AUTOMATIC
from spheremix.run.stages.dense import DenseFit
from spheremix.run.stages.meaning import Meaning
from spheremix.run.stages.passages import Cut, Shares
from spheremix.run.stages.rows import Rows
from spheremix.run.stages.stability import Labelled
from spheremix.run.stages.tree import Layout, Tree, ancestors, check_tree, describe_tree
from spheremix.run.tables import Table, as_table
from spheremix.select import CRITERIA
from spheremix.text import Corpus

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from spheremix.reading import ContrastWord, Documents, Vocabulary
    from spheremix.reading.batch import BatchComparison
    from spheremix.run.edits import EditStep
    from spheremix.run.stages.tree import Node
    from spheremix.text import TextVectorizer
    from spheremix.text.writing import Writing

CONTRASTED = 100  # words of a group in the table of contrasts
NAMING = 20  # those that names are made of
LISTED = 20  # words of each kind that describe a group
QUOTED = 500  # characters of a typical document that describes a group
ENDINGS = re.compile(
    r"(?i)(\.(csv|tsv|tab|jsonl|ndjson|json|parquet|pq|npy|npz|mtx|xlsx))?(\.gz)?$"
)
# The parts of a run, each of which is a stage, and their types.
PARTS: dict[str, Any] = {
    "rows": Rows,
    "documents": Corpus,
    "meaning": Meaning,
    "passages": Cut,
    "shares": Shares,
    "path": PathStored,
    "choice": PathChoice,
    "advice": Advice,
    "tree": Tree,
    "stability": Stability,
    "labelled": Labelled,
    "effects": Effects,
    "layout": Layout,
    "vocabulary": list[str],
    "columns": dict[str, list[Any]],
    "fitted_tree": TreeState,
}


def _later(module: str, name: str) -> Any:
    """Return what makes something new of a run: its module needs this one."""
    return getattr(import_module(f"spheremix.{module}"), name)


class Run:
    """What was explored or fitted: models, words, documents, and what people said of them.

    It is made by :func:`spheremix.explore_corpus`, read by :func:`spheremix.load_run`, or made of a
    fitted estimator by :meth:`from_model`. Parts that lie in its folder are read when they are
    asked for.

    Attributes
    ----------
    folder : Path or None
        Where it lies; None for a run in memory.
    info : RunInfo
        What ``run.json`` says: options, versions, corpus, names and edits.
    mixture : VMFMixture
        The chosen mixture, ready to predict.
    path : VMFPath or None
        The path it was chosen on.
    dense : dict of int to VMFMixture
        The mixtures without penalty, by number of groups.
    feature_names : list of str or None
        The vocabulary; None for embeddings.
    documents, groups, words, shares : Table or None
        The tables ``documents.csv``, ``groups.csv``, ``words.csv`` and ``tables/shares.csv``, as
        columns; None where the run does not have them. Shares are there if documents were split
        into passages.
    tree : VMFTree or None
        Where a tree was saved: itself, with its cuts. For other cuts, ``attach`` gives it the rows.

    Examples
    --------
    >>> import tempfile
    >>> import spheremix as sm
    >>> X, _, _ = sm.datasets.make_vmf_mixture(90, 5, 2, kappa=20.0, random_state=0)
    >>> path = sm.VMFPath(2, n_init=2, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = sm.load_run(sm.save_run(f"{folder}/run", path, X=X))
    ...     same = bool((run.mixture.predict(run.matrix()) == path.labels_).all())
    >>> same
    True
    """

    def __init__(self, info: RunInfo, store: Store | None = None, **parts: Any) -> None:
        self.info = info
        self.store = store or Store(None)
        self._parts = parts
        self.notes: list[str] = []  # on a model in memory
        self._title = ""

    # Made of a model, saved

    @classmethod
    def from_model(
        cls,
        model: Any,
        documents: Corpus | Sequence[str] | Mapping[str, Sequence[Any]] | None = None,
        *,
        X: Any = None,
        feature_names: Iterable[str] | None = None,
        vectorizer: TextVectorizer | None = None,
        title: str | None = None,
    ) -> Self:
        """Make a run of a fitted estimator and what belongs to its rows.

        Parameters
        ----------
        model : VMFMixture, VMFPath, VMFMixtureIC, VMFTree or SphericalKMeans
            Fitted. Spherical k-means needs the rows, and is read as a mixture with the same groups,
            equal weights and one concentration. Of a tree, the cuts made so far are taken.
        documents : Corpus, list of str or dict of sequences, default=None
            The documents, or columns about them for ``documents.csv``.
        X : array-like or sparse matrix of shape (n, d), path or Directions, default=None
            The rows of the fit, one a document; of a mixture of several views a dictionary with the
            views "words" and "meaning".
        feature_names : iterable of str, default=None
            The words of the columns; without names, columns are coordinates.
        vectorizer : TextVectorizer, default=None
            The fitted vectoriser that made the rows of the documents, in place of X.
        title : str, default=None
            By default the name of the file of the documents.

        Returns
        -------
        Run
            In memory; :meth:`save` writes it.
        """
        info, parts = gather(model, documents, X, feature_names, vectorizer)
        run = cls(info, **parts)
        run.notes = [NOTE] if isinstance(model, SphericalKMeans) else []
        run._title = title or ""
        return run

    def save(self, folder: str | PathLike[str]) -> Path:
        """Write this run into a folder of its own, where it can be edited and updated.

        A run in memory has this folder from then on; of a run that has one already, it is a copy.

        Parameters
        ----------
        folder : str or path
            Made where it is missing; one that holds anything is refused.

        Returns
        -------
        Path
            The folder.
        """
        store = Store(Path(folder))
        try:
            with store.locked():
                store.refuse_run()
                if self.store.folder is None:
                    self._written(store, self._put(store))
                else:
                    own = self.info, self.store
                    self._written(store, self._copy(store))
                    self.info, self.store = own
        except RunError as error:  # here the folder is not called as in an exploration
            values = {"out": "folder", **error.message.values}
            raise RunError(replace(error.message, values=values)) from None
        return store.place

    def _copy(self, store: Store) -> RunInfo:
        """Take over the stages of a run that has a folder."""
        for problem in self.store.check():
            require(not problem.startswith("cache/"), problem.removesuffix("."), self.folder)
        for called in self.info.stages:
            store.take(self.store, called)
        return self.info

    def _put(self, store: Store) -> RunInfo:
        """Write the parts of a run in memory."""
        parts, dense = {}, {}
        values: dict[str, Any] = {name: self._parts.get(name) for name in PARTS}
        if self.path is not None:
            small = self.info.corpus is not None  # as explorations store them
            values |= {"path": dump_path(self.path, small=small), "choice": dump_choice(self.path)}
        if self.tree is not None:
            values["fitted_tree"] = dump_tree(self.tree)
        if values["rows"] is not None and hasattr(values["rows"].X, "sweep"):
            raise ParameterError(
                "{X} must be an array or a sparse matrix to be saved, not a list, path or rows"
            )
        if values["rows"] is None:
            values["vocabulary"] = self.feature_names
        for name, value in values.items():
            if value is not None:
                called = self.info.parts.get(name, f"{name.replace('_', '')}-{key_of(name)}")
                store.put(called[:-17], called[-16:], PARTS[name], value)
                parts[name] = called
        for K, mixture in self.dense.items():
            called = self.info.dense.get(K, f"dense-{K}-{key_of(K)}")
            store.put(called[:-17], called[-16:], DenseFit, DenseFit(mixture))
            dense[K] = called
        return replace(self.info, parts=parts, dense=dense)

    def write(self, what: str = "") -> None:
        """Write the tables, the page and ``run.json`` of an explored run into its folder."""
        if self.folder is not None:
            self._written(self.store, self.info, what)

    def _written(self, store: Store, info: RunInfo, what: str = "") -> None:
        outputs: dict[str, Any] = {}
        columns = self._tables
        for key, values in columns.items():
            lines = tables.csv_lines(values, short=info.corpus is not None)
            outputs[TABLES[key].file] = (line.encode("utf-8", "surrogatepass") for line in lines)
        if info.corpus is not None:
            said = _later("run.sentences", "readme_sentences")(self)
            groups = _later("run.sentences", "readme_groups")(self)
            readme = explain({key: list(values) for key, values in columns.items()}, said, groups)
            outputs[README] = (line.encode("utf-8", "replace") for line in readme)
            outputs[PAGE] = [self.report().to_html().encode("utf-8")]
        store.used = store.used or dict(info.stages)  # of a run whose outputs are written again
        content = encode(info)
        for name in ("outputs", "stages"):
            del content[name]  # the store knows them
        store.commit(content, outputs, what)
        found = store.info() or {}
        self.info = replace(info, outputs=found.get("outputs", {}), stages=found.get("stages", {}))
        self.store = store

    # Parts

    @property
    def folder(self) -> Path | None:
        """Where the run lies; None for a run in memory."""
        return self.store.folder

    def _part(self, name: str) -> Any:
        """Return a part of the run; None where it does not have it."""
        if name not in self._parts:
            called = self.info.parts.get(name)
            self._parts[name] = None if called is None else self.read_stage(called, PARTS[name])
        return self._parts[name]

    def read_stage(self, called: str, kind: Any) -> Any:
        """Read what a stage of this run left, which is as its checksum says."""
        wanted = self.info.stages.get(called) if STAGE.fullmatch(called[:60]) else None
        if wanted is None or self.store.checksum(called) != wanted:
            raise RunError(
                "{where}: missing or damaged: its checksum is not the one of the run",
                remedies=("make the run again with {force=True}",),
                where=self.store.cache / called[:60],
            )
        return self.store.read(called, kind)

    @cached_property
    def rows(self) -> Rows | None:
        """The rows with their documents; None where the run does not have them."""
        rows = self._part("rows")
        if rows is None or rows.corpus is not None:
            return rows
        corpus = self._part("documents")
        all_there = corpus is None or len(corpus) == rows.n_documents
        require(all_there, "the documents are not those of the rows", self.folder)
        rows = rows.beside(corpus, self.meaning)
        sound = rows.is_sound(self.mixture.n_features_in_)
        require(sound, "the rows are not those of the model", self.folder)
        return rows

    @property
    def meaning(self) -> Meaning | None:
        """The meaning of all documents beside their words; None for words or embeddings alone."""
        return self._part("meaning")

    @cached_property
    def dense(self) -> dict[int, VMFMixture]:
        """The mixtures without penalty, by number of groups."""
        known = self._parts.get("dense")
        if known is not None:
            return known
        each = [self._dense(K) for K in sorted(self.info.dense)]
        found = {len(one.weights_): one for one in each if one is not None}
        same = len({one.n_features_in_ for one in found.values()}) <= 1
        require(same, "mixtures of different dimensions", self.folder)
        return found

    def _dense(self, K: int) -> VMFMixture | None:
        """Return the mixture without penalty of one number of groups, and read no other."""
        known = self._parts.get("dense")
        if known is not None:
            return known.get(K)
        name = f"dense-{K}"
        if name not in self._parts and K in self.info.dense:
            self._parts[name] = self.read_stage(self.info.dense[K], DenseFit).mixture
        return self._parts.get(name)

    @cached_property
    def path(self) -> VMFPath | None:
        """The path that the mixture was chosen on."""
        found = self._part("path")
        if not isinstance(found, PathStored):
            return found
        dense = self._dense(self.info.n_groups)
        known = {} if dense is None else {self.info.n_groups: dense}
        try:
            return load_path(found, known, self._part("choice"))
        except DAMAGE as error:
            raise RunError(f"{self.folder}: damaged: {error}") from None

    @cached_property
    def mixture(self) -> VMFMixture:
        """The chosen mixture."""
        found = self._dense(self.info.n_groups) if self.path is None else self.path.best_estimator_
        if found is None or len(found.weights_) != self.info.n_groups:
            raise RunError(f"{self.folder}: damaged: the chosen mixture is not there.")
        return found

    @property
    def model(self) -> VMFMixture | VMFPath:
        """The path, or the mixture where none was followed."""
        return self.mixture if self.path is None else self.path

    @cached_property
    def tree(self) -> VMFTree | None:
        """The tree that was saved, if it was one."""
        state = self._part("fitted_tree")
        if state is None:
            return self._parts.get("tree_model")
        return load_tree(state, self.dense, self.info.n_groups)

    @cached_property
    def feature_names(self) -> list[str] | None:
        """The vocabulary; None for embeddings."""
        if "feature_names" in self._parts:
            return self._parts["feature_names"]
        if self.rows is not None:
            return self.rows.words
        return self._part("vocabulary")

    @property
    def advice(self) -> Advice | None:
        """How many groups are recommended, where the number was not given."""
        return self._part("advice")

    def matrix(self) -> Any:
        """Return the rows that were grouped, as models take them.

        Returns
        -------
        CSR array, ndarray, dict of them or None
            By view where documents have words and a meaning. Large ones are mapped from the disk;
            None where the run does not have them.
        """
        return None if self.rows is None else self.rows.views

    def words_matrix(self) -> Any:
        """Return the rows of the words, or of embeddings alone.

        Returns
        -------
        CSR array, ndarray or None
            None where the run does not have its rows.
        """
        return None if self.rows is None else self.rows.X

    def corpus(self) -> Corpus | None:
        """Return the documents themselves: texts, ids, dates and labels.

        Returns
        -------
        Corpus or None
            Those set aside included; None where the run does not have them.
        """
        return self._part("documents")

    @cached_property
    def kept_corpus(self) -> Corpus | None:
        """The documents that have a row, in the order of the rows; None where rows are unknown."""
        rows, about = self.rows, self.info.corpus
        if rows is None or (self.info.corpus is None and self.corpus() is None):
            return None
        kept = rows.corpus.take(rows.kept.tolist())
        if about is None:
            return kept
        return replace(kept, source=about.source, format=about.format, notes=list(about.notes))

    def counts(self) -> tuple[Any, list[str]] | None:
        """Return the counts of words beside embeddings.

        Returns
        -------
        (CSR array, list of str) or None
            Occurrences in all documents, and the words; None where no texts were given.
        """
        rows = self.rows
        if rows is None or rows.counts is None or rows.terms is None:
            return None
        return rows.counts, rows.terms

    def vectorizer(self) -> TextVectorizer | None:
        """Make the vectoriser of the texts again.

        Returns
        -------
        TextVectorizer or None
            Its ``transform`` gives the rows of texts; None where the run had a ready matrix.
        """
        how = None if self.rows is None else self.rows.vectorization
        try:
            return None if how is None else how.vectorizer(self.feature_names or [])
        except DAMAGE as error:
            raise RunError(f"{self.folder}: damaged: no vectoriser ({error}).") from None

    def positions(self) -> NDArray[np.float64] | None:
        """Return where the rows stand on the map of the documents.

        Returns
        -------
        ndarray of shape (n, 2) or None
            Between 0 and 1; None where the run has no map.
        """
        layout = self._part("layout")
        if layout is None:
            return None
        found = layout.positions
        n = found.shape[:1] if self.rows is None else (len(self.rows.kept),)
        sound = found.shape == (*n, 2) and ((found >= 0.0) & (found <= 1.0)).all()
        require(sound, "the map is not that of the rows", self.folder)
        return found

    def stability(self) -> Stability | None:
        """Return how often documents, groups and words stay when documents are drawn again.

        Returns
        -------
        Stability or None
            Of the documents that were grouped, of the groups, and of their words; None where the
            run does not have it.
        """
        found = self._part("stability")
        if found is not None and self.rows is not None:
            K, d = self.mixture.prototypes_.shape
            shapes = (found.documents.shape, found.groups.shape, found.words.shape)
            same = shapes == ((len(self.rows.kept),), (K,), (K, d))
            require(same, "the stability is of another model", self.folder)
        return found

    @cached_property
    def contrasts(self) -> list[list[ContrastWord]] | None:
        """The words of groups whose columns are no words, in the texts beside."""
        counted = self.counts()
        if counted is None or self.rows is None:
            return None
        groups = self.rows.spread(self.mixture.labels_)
        how = {"n_groups": self.info.n_groups}
        return contrast_words(counted[0], groups, counted[1], CONTRASTED, **how)

    @property
    def writing(self) -> Writing | None:
        """How the words are written and used in the texts; None where there are none."""
        return None if self.rows is None else self.rows.writing

    @cached_property
    def beside(self) -> Vocabulary | None:
        """The words of the texts beside embeddings, by group; None where there are none."""
        counted = self.counts()
        if counted is None or self.rows is None:
            return None
        groups = self.rows.spread(self.mixture.labels_)
        return text_vocabulary(*counted, groups, self.info.n_groups, self.writing)

    def contrast(self) -> list[list[str]] | None:
        """Return the words that set each group apart, where the features are no words.

        Returns
        -------
        list of list of str, or None
            A list a group, the most telling words first; None where no texts were given beside
            embeddings.
        """
        found = self.contrasts
        return None if found is None else [[one.word for one in words][:NAMING] for words in found]

    def names(self) -> list[str] | None:
        """Return the names of the groups that people or programs gave, or that people have seen.

        Returns
        -------
        list of str or None
            One for each group, by its number; None where all names are automatic.
        """
        found = self.info.names
        if found is None or (not self.info.edits and all(one.source == AUTOMATIC for one in found)):
            return None
        return [one.name for one in found]

    def rename(self, info: RunInfo) -> None:
        """Name the groups."""
        self.info = info
        for name in ("nodes", "levels", "_tables"):  # they have the names before
            self.__dict__.pop(name, None)
        self.reading.names = self.names()

    @cached_property
    def reading(self) -> Reading:
        """What the chosen model says, with the names of the groups."""
        rows = None if self.feature_names is None else self.matrix()
        return Reading(
            self.model,
            self.feature_names,
            contrast=self.contrast(),
            names=self.names(),
            X=rows,
            beside=self.beside,
            writing=self.writing,
        )

    @cached_property
    def assigned(self) -> Documents | None:
        """The group of each row, and how surely; None where the rows are not known."""
        return None if self.rows is None else self.reading.documents(self.rows.views)

    @cached_property
    def nodes(self) -> list[Node] | None:
        """The nodes of the tree over the groups; None where there is none."""
        if self.fine_tree is None or self.rows is None:
            return None
        return describe_tree(self.fine_tree, self.rows, self.reading)

    @cached_property
    def levels(self) -> dict[int, list[int]]:
        """The nodes of the tree that the groups lie in, by the broader numbers asked for."""
        if self.nodes is None:
            return {}
        asked = self.info.command.get("levels") or ()
        if not isinstance(asked, list | tuple) or not all(type(M) is int for M in asked):
            raise RunError(f"{self.folder}: damaged: levels are whole numbers of groups.")
        return {M: ancestors(self.nodes, M) for M in asked if 1 < M < self.info.n_groups}

    @cached_property
    def broad_groups(self) -> list[int] | None:
        """The broad group of each group, a node of the tree; None where none are known.

        They are those of the broadest level, or the ones that are advised.
        """
        if self.levels:
            return next(iter(self.levels.values()))
        broad = self.info.n_groups if self.advice is None else self.advice.broad
        if self.nodes is None or not 1 < broad < self.info.n_groups:
            return None
        return ancestors(self.nodes, broad)

    @property
    def leaves(self) -> NDArray[np.int64] | None:
        """The fine group of each row; None where there is no tree."""
        return None if self.fine_tree is None else self.fine_tree.leaves

    @cached_property
    def fine_tree(self) -> Tree | None:
        """The chosen groups, divided into fine ones and merged to one; None where there is none."""
        tree: Tree | None = self._part("tree")
        if tree is not None and self.rows is not None:
            check_tree(tree, len(self.rows.kept), self.info.n_groups)
        return tree

    @cached_property
    def colours(self) -> list[list[float]]:
        """Numbers of the groups in the palette of the report, each with a shade."""
        return self.info.colours or colour_places(self.mixture.weights_)

    @property
    def edits(self) -> list[EditStep]:
        """The edits that people made to this run, in their order."""
        return self.info.edits

    @property
    def start_agreement(self) -> dict[int, float]:
        """How far the other starts agree with the best one, by number of groups."""
        return {K: float(mixture.agreement_) for K, mixture in self.dense.items()}

    @property
    def dense_criteria(self) -> dict[str, NDArray[np.float64]]:
        """Criteria of the dense mixtures, by name; smaller is better."""
        return {
            name: np.array([model.criteria_[name] for model in self.dense.values()])
            for name in CRITERIA
        }

    @property
    def table(self) -> dict[str, NDArray[Any]]:
        """Every dense restart, column by column: ``pandas.DataFrame(run.table)``."""
        rows = [
            (K, i, -1 if run.seed is None else run.seed, run.status, run.n_iter, run.objective)
            for K, model in self.dense.items()
            for i, run in enumerate(model.runs_)
        ]
        names = ("n_components", "restart", "seed", "status", "n_iter", "objective")
        return {name: np.array([row[i] for row in rows]) for i, name in enumerate(names)}

    # Tables

    @property
    def documents(self) -> Table | None:
        """One row a document: its group, how surely, and the second group."""
        return self.read_table("documents")

    @property
    def groups(self) -> Table | None:
        """One row a group: size, name and words."""
        return self.read_table("groups")

    @property
    def words(self) -> Table | None:
        """One row a word of a group."""
        return self.read_table("words")

    @property
    def shares(self) -> Table | None:
        """One row a document: the share of each group; None unless documents were split."""
        return self.read_table("shares")

    @property
    def rows_table(self) -> Table | None:
        """One row for each row of the model: a document, or a passage where they were split."""
        return self.read_table("documents" if self.cut is None else "passages")

    @cached_property
    def cut(self) -> Cut | None:
        """How documents were split into the passages that the rows are; None where they are whole.

        The documents of the rows are the passages then.
        """
        cut: Cut | None = self._part("passages")
        if cut is not None and self.rows is not None:
            n = self.rows.n_documents
            lengths = {len(cut.documents), len(cut.places), len(cut.n_words)}
            places = np.unique(cut.documents)
            sound = lengths == {n} and np.array_equal(places, np.arange(len(cut.whole)))
            require(sound, "the passages are not those of the rows", self.folder)
        return cut

    @cached_property
    def by_passages(self) -> Shares | None:
        """The shares of the groups in the documents; None where these were not split."""
        if self.cut is None:
            return None
        found: Shares | None = self._part("shares")
        wanted = (len(self.cut.whole), self.info.n_groups)
        if found is None or found.shares.shape != wanted:
            raise RunError(f"{self.folder}: damaged: the shares are not those of the documents.")
        return found

    def whole_documents(
        self,
    ) -> tuple[Corpus, NDArray[np.intp], NDArray[np.float64] | None]:
        """Return all documents, as they were before any was split, and their groups.

        Returns
        -------
        documents : Corpus
            Without their texts where they were split.
        groups : ndarray of shape (n,)
            The group of each, or the one with the largest share; -1 where there is none.
        shares : ndarray of shape (n, K) or None
            The shares of the groups, where documents were split.
        """
        if self.cut is not None and self.by_passages is not None:
            return self.cut.whole, self.by_passages.groups, self.by_passages.shares
        if self.rows is None or self.assigned is None:
            raise RunError(f"{self.folder}: the run has no rows.")
        return self.rows.corpus, self.rows.spread(self.assigned.labels), None

    @property
    def told_effects(self) -> Effects | None:
        """The effects that were asked for with the exploration; None where none were."""
        found = self._part("effects")
        return None if found is None else _later("run.effects", "named_effects")(found, self)

    def read_table(self, key: str) -> Table | None:
        """Return one of the tables of the run.

        Parameters
        ----------
        key : str
            As "typical", "labels" or "time".

        Returns
        -------
        Table or None
            None where the run does not have this table.
        """
        return self._tables.get(key)

    @cached_property
    def _tables(self) -> dict[str, Table]:
        """Every table that the run has the values for."""
        if self.info.corpus is None:
            columns = self._part("columns")
            return {} if columns is None else {"documents": as_table("documents", columns)}
        rows, found, stability = self.rows, self.assigned, self.stability()
        if rows is None or found is None or stability is None:
            raise RunError(f"{self.folder}: damaged: an explored run has its rows and stability.")
        reading, K = self.reading, self.info.n_groups
        beside: dict[str, Any] = {"leaves": self.leaves, "positions": self.positions()}
        beside["broad"] = self.broad_groups
        if (labelled := self._part("labelled")) is not None:
            same = labelled.probabilities.shape == rows.kept.shape
            require(same, "the labels are those of other documents", self.folder)
            beside["labelled"] = labelled.probabilities
        corpus, groups, shares = self.whole_documents()
        split: dict[str, Any] = {"cut": self.cut, "shares": shares}
        each: dict[str, dict[str, Any]] = {
            "documents": tables.document_columns(
                reading, found, rows, stability=stability.documents, **beside
            ),
            "groups": tables.group_columns(
                reading, stability.groups, found, self.broad_groups, self.nodes
            ),
            "words": tables.word_columns(reading, stability.words),
            "typical": tables.typical_columns(reading, found, rows, **split),
            "dense": tables.dense_columns(self.dense),
        }
        removed = {} if rows.vectorization is None else rows.vectorization.removed
        optional: dict[str, tuple[Any, Any]] = {
            "tree": (tables.tree_columns, self.nodes),
            "effects": (tables.effect_columns, self.told_effects),
            "levels": (partial(tables.level_columns, self.nodes or []), self.levels or None),
            "path": (tables.path_columns, self.path),
            "advice": (tables.advice_columns, self.advice),
            "contrast": (partial(tables.contrast_columns, reading), self.contrasts),
            "removed_words": (tables.removed_columns, removed if any(removed.values()) else None),
        }
        each |= {key: make(of) for key, (make, of) in optional.items() if of is not None}
        if self.cut is not None and shares is not None:
            each["passages"] = tables.passage_columns(each["documents"], self.cut)
            broad = self.broad_groups
            levels = [*self.levels.values()] or ([] if broad is None else [broad])
            each["shares"] = tables.share_columns(shares, corpus, levels)
            sure = self.cut.means(stability.documents, rows)
            above: dict[str, Any] = {"broad": broad, "nodes": self.nodes}
            each["documents"] = tables.split_columns(reading, shares, self.cut, sure, **above)
            tables.add_shares(each["groups"], shares)
        if corpus.labels:
            each["labels"] = tables.label_columns(groups, corpus.labels, K, shares)
        if corpus.dates is not None:
            each["time"] = tables.time_columns(groups, corpus.dates, K, shares)
        if rows.vectorization is not None:
            given = str(rows.vectorization.parameters["language"])
            tables.add_languages(each["documents"], corpus.texts, given)
        tables.add_marks(each, self.info, rows.corpus.ids)
        for key, columns in each.items():
            unknown = set(columns) - set(TABLES[key].columns)
            if unknown and not TABLES[key].others:
                raise ValueError(f"{TABLES[key].file} has columns without meaning: {unknown}.")
        return {key: as_table(key, columns) for key, columns in each.items()}

    # What it says of itself

    def __repr__(self) -> str:
        """Say in one line what was run; the words and arrays are behind the attributes."""
        n_components, n_features = words_of(self.mixture).prototypes_.shape
        where = "in memory" if self.folder is None else repr(str(self.folder))
        return (
            f"Run({where}: K={n_components}, {n_features:,} features, beta={self.mixture.beta:.4g})"
        )

    def _repr_html_(self) -> str:
        """Show the groups in a notebook."""
        groups = self.groups
        shown = "" if groups is None else groups._repr_html_()
        headline = _later("run.sentences", "headline")(self)
        return f"<p>{html.escape(headline)}</p>{shown}"

    @property
    def title(self) -> str:
        """The name of the file of the documents, without what says how it is written, or a name."""
        source = "" if self.info.corpus is None else self.info.corpus.source
        if not source and (corpus := self.corpus()) is not None:
            source = corpus.source
        name = PurePath(source).name
        folder = "spheremix" if self.folder is None else self.folder.resolve().name
        return self._title or ENDINGS.sub("", name) or name or folder

    def describe_groups(self) -> list[dict[str, Any]]:
        """Describe the groups for somebody who names them, such as a language model.

        Returns
        -------
        list of dict
            One for each group, in plain values: its number, size and name, its words, how its
            typical documents begin, and the shares of its labels.
        """
        rows, found, reading = self.rows, self.assigned, self.reading
        if rows is None or found is None:
            raise RunError(
                f"{self.folder}: the run has no rows: nothing can be said of its groups."
            )
        labelled: dict[int, Any] = {}
        corpus, groups, shares = self.whole_documents()
        split: dict[str, Any] = {"cut": self.cut, "shares": shares}
        typical = _by_group(tables.typical_columns(reading, found, rows, most=QUOTED, **split))
        if corpus.labels:
            labelled = _by_group(
                tables.label_columns(groups, corpus.labels, self.info.n_groups, shares)
            )

        def plain(words: Iterable[Any]) -> list[dict[str, Any]]:
            return [{"word": one.word, "weight": float(one.weight)} for one in words]

        words = reading.vocabulary
        return [
            {
                "group": one.group,
                "fit": self.info.fit,
                "size": one.size,
                "name": one.name,
                "words": list(one.contrast_words) or plain(words.words(one.group, LISTED)),
                "only_here": [] if one.contrast_words else plain(one.only_here_words),
                "typical": typical.get(one.group, []),
                "labels": labelled.get(one.group, []),
            }
            for one in sorted(reading.groups(n_listed=LISTED), key=lambda one: one.group)
        ]

    def report(self) -> sm.Report:
        """Make the report of this run, which shows itself in a notebook.

        Returns
        -------
        Report
            Its ``write_html`` writes the page.
        """
        return sm.Report.from_run(self)

    def widget(self) -> Any:
        """Show the page of this run in a notebook that knows what is chosen on it.

        Returns
        -------
        anywidget.AnyWidget
            With ``group`` and ``documents``, as :meth:`Report.widget` says.
        """
        return self.report().widget()

    def figures(self, folder: str | PathLike[str] | None = None) -> list[str]:
        """Draw the figures of this run.

        Parameters
        ----------
        folder : str or path, default=None
            Where they go, as SVG and as PNG; by default ``figures`` in the folder of the run.

        Returns
        -------
        list of str
            Names of the files.
        """
        return sm.draw_run(self, self.store.place / "figures" if folder is None else folder)

    def check(self) -> list[str]:
        """Compare every file of the run with its checksum.

        Returns
        -------
        list of str
            What is missing, changed or damaged, in sentences; empty where all is well.
        """
        return self.store.check()

    def is_readable(self) -> bool:
        """Return whether all stages of the run can be read: another version may have written it."""
        kinds = {called: PARTS[name] for name, called in self.info.parts.items() if name in PARTS}
        kinds |= dict.fromkeys(self.info.dense.values(), DenseFit)
        try:
            for called, kind in kinds.items():
                self.read_stage(called, kind)
        except RunError:
            return False
        return True

    # What can be done with it

    def edit(self, edits: Any, *, listener: Listener | None = None) -> Run:
        """Make edits to this run: names, notes, merges, splits, dropped words, misplaced documents.

        Names and notes go to the tables and the report. Merged and split groups, and dropped words,
        are fitted again from where the groups are.

        Parameters
        ----------
        edits : str, path, dict or Edits
            The file that the report exports, or what is in it, as ``{"names": {0: "Sport"},
            "merge": [[1, 4]]}``. Numbers are those of ``run.groups``.
        listener : Listener, default=None
            Hears of progress and notes. By default progress is silent and notes are warnings.

        Returns
        -------
        Run
            The edited run, in the same folder. Its ``edits`` say what changed.
        """
        edit = _later("run.explore", "edit_run")
        return edit(self.store.place, edits, run=self.info.fit, listener=listener)

    def undo_edits(self, *, listener: Listener | None = None) -> Run:
        """Take back the last edits that were made to this run.

        Parameters
        ----------
        listener : Listener, default=None
            As in :meth:`edit`.

        Returns
        -------
        Run
            The run as it was before them, to the last byte.
        """
        return _later("run.explore", "undo_edits")(self.store.place, listener=listener)

    def assign(
        self,
        new: Any,
        *,
        text: str | None = None,
        id: str | None = None,  # noqa: A002
        meaning: Any = None,
    ) -> Table:
        """Return the groups of new documents.

        Parameters
        ----------
        new : str, path, list of str, Corpus, Matrix, ndarray, sparse array or data frame
            A file as :func:`spheremix.explore_corpus` reads, or what is in it.
        text, id : str, default=None
            Columns of the texts and of the ids in a table.
        meaning : path or array of shape (n, d), default=None
            Embeddings of the new documents, where those of the run came with embeddings.

        Returns
        -------
        Table
            The columns of ``documents.csv`` but fine_group, stability, x and y; documents without a
            word of the run have no group. If the documents of the run were split, so are the new
            ones, and the columns are those of their shares.
        """
        rows, cut = _later("run.new_documents", "new_rows")(
            self, new, Listener(), text, id, meaning
        )
        return _later("run.new_documents", "assigned")(self, rows, cut)

    def compare_batch(
        self,
        new: Any,
        *,
        text: str | None = None,
        id: str | None = None,  # noqa: A002
        meaning: Any = None,
        false_alarms: float = 0.05,
    ) -> BatchComparison | None:
        """Tell what is new in a batch of documents, with :func:`spheremix.compare_batch`.

        Parameters
        ----------
        new, text, id, meaning
            As in :meth:`assign`.
        false_alarms : float, default=0.05
            Share of the batches without any change that may raise an alarm.

        Returns
        -------
        BatchComparison or None
            Of the documents that have a word of the run; None where there are none, or where the
            run does not have its rows, or has words and meaning.
        """
        compare = _later("run.new_documents", "compare_documents")
        how: dict[str, Any] = {"text": text, "id": id, "false_alarms": false_alarms}
        how["meaning"] = meaning
        return compare(self, new, Listener(), **how).comparison

    def effects(
        self, by: str | Sequence[str], *, n_replicates: int = 200, level: float = 0.95
    ) -> Effects:
        """Tell how the shares of the groups depend on a label, a number or a date.

        It is :func:`spheremix.effects` for the documents of this run. If they were split, documents
        are drawn again with all of their passages.

        Parameters
        ----------
        by : str or sequence of str
            Columns of the documents, as "party" or ["party", "year"]: labels, other columns of the
            input, ``date``, or the ``year`` of the dates. Of several, the effect of each with the
            others held.
        n_replicates : int, default=200
            Draws of the documents.
        level : float, default=0.95
            Of the intervals.

        Returns
        -------
        Effects
            Shares, intervals, differences; ``print`` shows the clearest.
        """
        how: dict[str, Any] = {"n_replicates": n_replicates, "level": level}
        return _later("run.effects", "run_effects")(self, by, Listener(), **how)

    def update(
        self,
        new: Any,
        out: str | PathLike[str] | None = None,
        *,
        texts: Any = None,
        text: str | None = None,
        id: str | bool | None = None,  # noqa: A002
        metadata: str | PathLike[str] | None = None,
        meaning: Any = None,
        listener: Listener | None = None,
    ) -> Run:
        """Make a run of these documents and new ones, with the groups of this run.

        This run stays as it is. Its groups keep their numbers, names, notes and colours; groups
        that :meth:`compare_batch` suggests among the new documents are added after them.

        Parameters
        ----------
        new, text, id, meaning
            As in :meth:`assign`; columns are by default those of the run, and ``id=False`` is no
            column of ids.
        out : str or path, default=None
            Folder of the new run; by default that of this run with "-updated" after its name.
        texts : str, path, list of str or Corpus, default=None
            The documents of new rows, where the run has documents beside its rows.
        metadata : str or path, default=None
            Table with one row for each file of a new folder.
        listener : Listener, default=None
            As in :meth:`edit`.

        Returns
        -------
        Run
            The new run.
        """
        how: dict[str, Any] = {"texts": texts, "text": text, "id": id, "metadata": metadata}
        how |= {"meaning": meaning, "listener": listener}
        return _later("run.update", "update_run")(self.store.place, new, out, **how)


def load_run(folder: str | PathLike[str]) -> Run:
    """Read a run.

    Every part is checked against its checksum, and every array against its shape and type, when it
    is first used.

    Parameters
    ----------
    folder : str or path
        As written by :func:`save_run` or by the command ``spheremix explore``.

    Returns
    -------
    Run
        With estimators that predict the same bits.

    Raises
    ------
    RunError
        One line with the file and what is wrong.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, _, _ = sm.datasets.make_vmf_mixture(100, 5, 2, kappa=20.0, random_state=0)
    >>> mixture = sm.VMFMixture(2, random_state=0).fit(X)
    >>> run = sm.load_run(sm.save_run("run", mixture))
    >>> bool((run.mixture.predict(X) == mixture.labels_).all())
    True
    """
    place = Path(folder)
    if not place.is_dir():
        problem = "a file, not the folder of a run" if place.exists() else "there is no such folder"
        raise RunError(f"{place}: {problem}: give the folder that spheremix explore wrote.")
    store = Store(place)
    if store.is_committing():
        with store.locked(reading=True):
            pass
    if not (place / MANIFEST).exists():
        raise RunError(
            f"{place}: not a finished run: there is no {MANIFEST} in it. A run that was stopped "
            "goes on with the command that began it."
        )
    run = open_run(store)
    run.mixture  # noqa: B018 (read now, so that a damaged run is refused here)
    return run


def open_run(store: Store) -> Run:
    """Read what ``run.json`` says; parts are read when they are asked for."""
    path = store.place / MANIFEST
    content = read_json(path)
    if content.get("format") != FORMAT:
        raise RunError(f"{path}: not a run of spheremix.")
    require_version(store.place, content)
    info: RunInfo = decode(RunInfo, content, str(path))
    K = info.n_groups
    if K < 1 or any(one is not None and len(one) != K for one in (info.names, info.colours)):
        raise RunError(f"{path}: damaged: names or colours of another number of groups.")
    return Run(info, store)


def save_run(
    folder: str | PathLike[str],
    model: Any,
    *,
    feature_names: Iterable[str] | None = None,
    X: Any = None,
    documents: Mapping[str, Sequence[Any]] | None = None,
) -> Path:
    """Save a fitted estimator as a run, in plain files.

    Parameters
    ----------
    folder : str or path
        Made where it is missing; one that holds anything is refused.
    model : VMFMixture, VMFPath, VMFMixtureIC or VMFTree
        Fitted. Of a tree, the cuts made so far are saved; its nested levels and its advice are not.
    feature_names : iterable of str, default=None
        The vocabulary, one name for each column.
    X : array or sparse matrix of shape (n, d), default=None
        The rows, where they should be kept beside the model.
    documents : dict of sequences, default=None
        Columns about the documents, all of one length, which is that of X where it is given. The
        columns that docs/run-folder.md lists for documents.csv have the types that it lists.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ParameterError
        For what could not be read back; nothing is written then.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, _, _ = sm.datasets.make_vmf_mixture(100, 5, 2, kappa=20.0, random_state=0)
    >>> mixture = sm.VMFMixture(2, random_state=0).fit(X)
    >>> sm.save_run("saved", mixture).name
    'saved'
    """
    if not isinstance(model, VMFMixture | VMFPath | VMFMixtureIC | VMFTree):
        raise RunError(f"A {type(model).__name__} cannot be saved as a run.")
    if isinstance(model, VMFMixture) and not hasattr(model, "log_likelihood_"):
        raise RunError(
            "This mixture was made of known parameters, or has seen batches since its fit: fit "
            "another one from it, with init=, or keep its prototypes_, kappas_ and weights_."
        )
    return Run.from_model(model, documents, X=X, feature_names=feature_names).save(folder)


def _by_group(columns: dict[str, Any]) -> dict[int, list[dict[str, Any]]]:
    """Return the rows of a table by the group that they are about."""
    found: dict[int, list[dict[str, Any]]] = {}
    for row in zip(*columns.values(), strict=True):
        values = [getattr(value, "item", lambda value=value: value)() for value in row]
        record = dict(zip(columns, values, strict=True))
        found.setdefault(int(record.pop("group")), []).append(record)
    return found
