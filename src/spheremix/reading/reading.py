"""Reading: a fitted model with names for its features, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spheremix.data.containers import is_views
from spheremix.errors import ParameterError
from spheremix.estimators.views import WORDS, word_columns, words_of
from spheremix.reading import ordering
from spheremix.reading.documents import read_documents
from spheremix.reading.names import alike, choose_names, name_parts, write_name, write_names
from spheremix.reading.why import explain
from spheremix.reading.words import Vocabulary, group_masses, word_shares
from spheremix.vectors import as_dense

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from spheremix.reading.contrast import ContrastWord
    from spheremix.reading.documents import Documents
    from spheremix.reading.ordering import Layout
    from spheremix.reading.why import Explanation
    from spheremix.reading.words import Word
    from spheremix.scorer import Scorer
    from spheremix.text.writing import Writing

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Group:
    """A group in short.

    Attributes
    ----------
    group : int
        Its number in the model.
    name : str
        The name that was given to it, or words that name it.
    weight : float
        Its share in the mixture.
    size : int or None
        Documents of which it is the most probable group; None where the model has no labels.
    kappa : float or None
        Its concentration, of several views that of the words; None for spherical k-means.
    n_words : int
        Non-zero coordinates of its prototype.
    n_only_here_words : int
        Those that no other prototype has.
    words : tuple of Word
        Its most characteristic words, whoever else has them.
    only_here_words : tuple of Word
        Words that no other prototype has and that at least 5 % of its documents contain (as far as
        the rows are known), the most characteristic ones first.
    shared_words : tuple of Word
        Words that some other prototypes have, too; common words, those of all groups, are in
        neither of these two lists.
    contrast_words : tuple of str
        Words that set its documents apart, where features are no words; else empty.
    """

    group: int
    name: str
    weight: float
    size: int | None
    kappa: float | None
    n_words: int
    n_only_here_words: int
    words: tuple[Word, ...]
    only_here_words: tuple[Word, ...]
    shared_words: tuple[Word, ...]
    contrast_words: tuple[str, ...] = ()


def require_model(model: Any, attribute: str | None = None) -> None:
    """Refuse what is not a fitted estimator, a run above all."""
    if not hasattr(model, "fit"):
        raise TypeError(
            f"A fitted estimator is needed, not a {type(model).__name__}: of a run take run.path "
            "or run.mixture, or Reading.from_run(run), Report.from_run(run), draw_run(run, folder)."
        )
    check_is_fitted(model, attribute)


def names_of_features(model: Any, d: int, given: Iterable[str] | None) -> list[str]:
    """Return the given names of d features, else those of the fit, else "x0", "x1", ..."""
    if given is None:
        given = getattr(model, "feature_names_in_", [f"x{j}" for j in range(d)])
    names = [str(name) for name in given]
    if len(names) != d:
        raise ParameterError(
            "{feature_names} has {n} names, the model {d} features", n=len(names), d=d
        )
    return names


class Reading:
    """A fitted model, with names for its features: what reports and commands ask.

    Nothing is computed before it is asked for.

    Parameters
    ----------
    model : VMFMixture, VMFPath, VMFMixtureIC, VMFCoclustering or SphericalKMeans
        Fitted. Of a path, the selected step is read; spherical k-means has words but no documents,
        since it has no posteriors.
    feature_names : iterable of str, default=None
        The vocabulary; by default the names of the columns of the fit, or "x0", "x1", ...
    step : int, default=None
        Where the model has a path, another step to read than the selected one.
    contrast : sequence of sequences of ContrastWord or str, default=None
        Where features are no words: for each group, the words that set its documents apart, as
        :func:`spheremix.reading.contrast_words` finds them. They name the groups.
    names : sequence of str, default=None
        Names that people gave to the groups, one for each of them, by number. By default
        groups are named by their words.
    X : array-like or sparse matrix of shape (n, d), or Directions, default=None
        The rows of the fit. They tell which share of a group's documents contains a word, and so
        keep words of very few documents out of the lists of words that only one group has.
    beside : Vocabulary, default=None
        Where features are no words: those of texts beside the rows, which name the groups.
    writing : Writing, default=None
        How the words are written and used in the texts, as
        ``spheremix.text.writing.learn_writing`` finds it: names are made of nouns and names
        then, and have the capitals of the texts.

    Attributes
    ----------
    model : estimator
        The mixture that is read.
    path : VMFPath or None
        Its path.
    step : int or None
        Its index there, where it is known.
    feature_names : list of str
        One a feature.
    contrast : list of tuples of str, or None
        The words that were given.
    names : list of str or None
        The names that were given.
    X, beside, writing : what was given, or None

    Examples
    --------
    >>> import numpy as np
    >>> import spheremix as sm
    >>> from spheremix.reading import Reading
    >>> X = np.array([[3, 1, 1, 0], [4, 2, 1, 0], [5, 1, 2, 0], [0, 0, 1, 3], [0, 0, 1, 4]])
    >>> path = sm.VMFPath(2, random_state=0).fit(X)
    >>> reading = Reading(path, ["heart", "blood", "the", "wing"], step=0)
    >>> [group.name for group in reading.groups(n_words=1)]
    ['heart', 'wing']
    >>> reading.vocabulary.common_words()
    ['the']
    """

    def __init__(
        self,
        model: Any,
        feature_names: Iterable[str] | None = None,
        *,
        step: int | None = None,
        contrast: Sequence[Sequence[ContrastWord | str]] | None = None,
        names: Iterable[str] | None = None,
        X: Any = None,
        beside: Vocabulary | None = None,
        writing: Writing | None = None,
    ) -> None:
        require_model(model)
        path: Any = getattr(model, "best_path_", model if hasattr(model, "betas_") else None)
        self.path: Any = path
        self.step: int | None = None
        self.model: Any = getattr(model, "best_estimator_", model)
        if path is not None:
            n_steps = len(path.betas_)
            chosen = path.selected_ if step is None else step
            if not -n_steps <= chosen < n_steps:
                raise ValueError(f"There is no step {step}: the path has {n_steps} steps.")
            self.step = int(chosen) % n_steps
            if step is not None:
                self.model = path.model(self.step)
        elif step is not None:
            raise ValueError("step needs a path: give a fitted VMFPath or VMFMixtureIC.")
        self.feature_names = names_of_features(self.model, self.prototypes.shape[1], feature_names)
        self.contrast: list[tuple[str, ...]] | None = None
        if contrast is not None:
            self.contrast = [
                tuple(one if isinstance(one, str) else one.word for one in few) for few in contrast
            ]
        self.names = None if names is None else [str(name) for name in names]
        for what, given in (("contrast", self.contrast), ("names", self.names)):
            if given is not None and len(given) != self.n_groups:
                raise ValueError(f"{what} has {len(given)} groups, the model {self.n_groups}.")
        self.X, self.beside, self.writing = X, beside, writing
        self._named: dict[int, list[str]] = {}  # by words, for each number of words

    def __repr__(self) -> str:
        kind, n = type(self.model).__name__, len(self.feature_names)
        at = "" if self.step is None else f", step {self.step} of {len(self.path.betas_)}"
        return f"<Reading of {kind}: {self.n_groups} groups, {n:,} features{at}>"

    @classmethod
    def from_run(cls, run: Any, *, step: int | None = None) -> Reading:
        """Read a saved run, with its words, and its rows where the columns are words.

        Parameters
        ----------
        run : Run
            As given by :func:`spheremix.load_run`.
        step : int, default=None
            Where the run has a path, another step to read than the selected one.

        Returns
        -------
        Reading
            Of the path, or of the mixture where there is none.
        """
        model = run.mixture if run.path is None else run.path
        rows = None if run.feature_names is None else run.matrix()
        return cls(
            model,
            run.feature_names,
            step=step,
            contrast=run.contrast(),
            names=run.names(),
            X=rows,
            beside=run.beside,
            writing=run.writing,
        )

    # The model

    @cached_property
    def prototypes(self) -> Array:
        """Of shape (K, d), with exact zeros, dense also where the model has them sparse.

        Of several views, those of the words.
        """
        return as_dense(words_of(self.model).prototypes_)

    @property
    def kappas(self) -> Array | None:
        """Concentrations, of several views those of the words; None for spherical k-means."""
        return getattr(words_of(self.model), "kappas_", None)

    @property
    def n_groups(self) -> int:
        """K."""
        return len(self.prototypes)

    @cached_property
    def weights(self) -> Array:
        """Weights of the mixture; shares of the rows for spherical k-means."""
        if hasattr(self.model, "weights_"):
            return np.asarray(self.model.weights_)
        counts = np.bincount(self.model.labels_, minlength=self.n_groups)
        return np.asarray(counts / counts.sum())

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Whose words are whose."""
        exits = None
        if self.path is not None:
            exits = self.path.exit_betas_[:, word_columns(self.model)]
        masses = group_masses(self.weights, self.kappas, self.prototypes.shape[1])
        return Vocabulary(
            self.prototypes,
            self.feature_names,
            exits,
            masses,
            self.document_shares,
            self.writing,
        )

    @cached_property
    def document_shares(self) -> Array | None:
        """Share of the documents of each group that contain each word; None without rows."""
        if self.X is None:
            return None
        words = self.X[WORDS] if is_views(self.X) else self.X
        return word_shares(words, self.model.predict(self.X), n_groups=self.n_groups)

    @cached_property
    def layout(self) -> Layout:
        """The paper's order of groups and words, and the blocks of shared vocabulary."""
        return ordering.layout(self.prototypes, self.weights)

    @cached_property
    def sizes(self) -> NDArray[np.intp] | None:
        """Documents of each group, in the rows of the fit, where their labels are known."""
        labels = getattr(self.model, "labels_", None)
        if labels is None:
            return None
        return np.bincount(labels[labels >= 0], minlength=self.n_groups)

    @property
    def has_noise(self) -> bool:
        """Whether documents may belong to no group."""
        return getattr(getattr(self.model, "model_", None), "noise", None) is not None

    @cached_property
    def scorer(self) -> Scorer:
        """The scores behind the posteriors, without those of noise."""
        return self._scorer_with_noise.clusters()

    @property
    def _scorer_with_noise(self) -> Scorer:
        if not hasattr(self.model, "predict_proba"):
            raise ValueError(
                f"{type(self.model).__name__} has no posteriors, so that nothing can be said of a "
                "document but its group: read a mixture."
            )
        scorer: Scorer = self.model.scorer_
        return scorer

    # Groups

    def group_name(self, group: int, n_words: int = 3) -> str:
        """Name a group: as people named it, or else by words that no other name has two of.

        The words are those of the contrast, where features are no words, or else those of
        :func:`naming_words`.

        Parameters
        ----------
        group : int
            The group.
        n_words : int, default=3
            How many words.

        Returns
        -------
        str
            The name that was given, or the words, with dots between them.
        """
        k = self.vocabulary.require_group(group)
        return self.names[k] if self.names is not None else self._word_names(n_words)[k]

    def _word_names(self, n_words: int) -> list[str]:
        """Name all groups by their words."""
        if n_words not in self._named:
            words = self.vocabulary if self.beside is None else self.beside
            found = write_names(name_parts(words, n_words), words.names, words.writing)
            if self.contrast is not None and self.beside is None:
                order = self.layout.groups.tolist()
                telling = choose_names(self.contrast, order, n_words, alike)
                found = [
                    write_name([[one] for one in telling[k]], None) or name
                    for k, name in enumerate(found)
                ]
            self._named[n_words] = found
        return self._named[n_words]

    def groups(self, n_words: int = 3, n_listed: int = 10) -> list[Group]:
        """Sum up the groups.

        Parameters
        ----------
        n_words : int, default=3
            Words of a name.
        n_listed : int, default=10
            Words of each kind, listed.

        Returns
        -------
        list of Group
            By decreasing weight.
        """
        words, kappas = self.vocabulary, self.kappas
        alone = words.support & (words.n_sharing == 1)
        return [
            Group(
                int(k),
                self.group_name(k, n_words),
                float(self.weights[k]),
                None if self.sizes is None else int(self.sizes[k]),
                None if kappas is None else float(kappas[k]),
                int(words.support[k].sum()),
                int(alone[k].sum()),
                tuple(words.words(k, n_listed)),
                tuple(words.only_here_words(k, n_listed)),
                tuple(words.shared_words(k, n_listed)),
                () if self.contrast is None else self.contrast[k][:n_listed],
            )
            for k in self.layout.groups
        ]

    # Documents

    def documents(self, X: Any) -> Documents:
        """Assign documents, and measure how surely.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or Directions
            Rows are normalised.

        Returns
        -------
        Documents
            One entry a row; it finds ambiguous and typical documents.
        """
        model = self.model
        scorer = self._scorer_with_noise
        return read_documents(X, scorer, engine=model.engine, n_threads=model.n_threads)

    def why(self, x: Any, *, group: int | None = None, against: int | None = None) -> Explanation:
        """Explain why a document is in its group, word by word.

        Parameters
        ----------
        x : array-like or sparse row of shape (d,) or (1, d)
            The document; it is normalised.
        group : int, default=None
            The group to explain, the most probable one by default.
        against : int, default=None
            The group to compare with, the most probable one of the others by default.

        Returns
        -------
        Explanation
            Exact: bias and terms add up to the log-odds.
        """
        return explain(x, self.scorer, self.feature_names, group=group, against=against)
