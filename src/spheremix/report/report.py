"""Report: what was found, as plain values, as JSON, and as one HTML file."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spheremix.errors import MissingPackageError
from spheremix.report.content import build
from spheremix.report.html import page
from spheremix.report.packing import plain, to_json
from spheremix.report.points import point_columns
from spheremix.run.folder.archive import DAMAGE
from spheremix.run.folder.files import RunError, replacing
from spheremix.run.run import Run
from spheremix.text.formats import parquet_bytes
from spheremix.wording import install

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from spheremix.text import Corpus, TextVectorizer

FRAME_HEIGHT = 820  # pixels that the page has in a notebook


class Report:
    """What was found, for people and programs: one offline page, or JSON.

    Parameters
    ----------
    model : VMFMixtureIC, VMFPath, VMFMixture or SphericalKMeans
        Fitted. Spherical k-means needs the rows, and is shown as a mixture with the same groups,
        equal weights and one concentration.
    documents : Corpus or list of str, default=None
        The documents: texts, and with a corpus their ids, dates and labels. They are put into the
        report, long ones cut where they would make it too large.
    X : array-like or sparse matrix of shape (n, d), path or Directions, default=None
        The rows of the fit, one a document; of a mixture of several views a dictionary with the
        views "words" and "meaning".
    feature_names : iterable of str, default=None
        The words of the columns; without names, columns are coordinates.
    vectorizer : TextVectorizer, default=None
        The fitted vectoriser that made the rows of the documents: then neither X nor feature_names
        is needed, and the page can tell which token of a text is which word.
    title : str, default=None
        By default the name of the file of the documents.

    Attributes
    ----------
    run : Run
        What it is the report of.
    content : dict
        All that the report shows: plain values and arrays.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, _, _ = sm.datasets.make_vmf_mixture(random_state=0)
    >>> report = sm.Report(sm.VMFPath(4, random_state=0).fit(X), X=X)
    >>> report.content["model"]["n_groups"]
    4
    """

    def __init__(
        self,
        model: Any,
        documents: Corpus | Sequence[str] | None = None,
        *,
        X: Any = None,
        feature_names: Iterable[str] | None = None,
        vectorizer: TextVectorizer | None = None,
        title: str | None = None,
    ) -> None:
        run = Run.from_model(
            model,
            documents,
            X=X,
            feature_names=feature_names,
            vectorizer=vectorizer,
            title=title,
        )
        self.run = run
        self.content: dict[str, Any] = build(run)

    @classmethod
    def from_run(cls, run: Run, *, title: str | None = None) -> Report:
        """Make the report of a run out of its folder.

        Parameters
        ----------
        run : Run
            As :func:`spheremix.load_run` gives it.
        title : str, default=None
            By default the name of the file of the documents, or of the folder.

        Returns
        -------
        Report
            The same bytes for the same run.
        """
        report = cls.__new__(cls)
        report.run = run
        try:
            report.content = build(run)
        except RunError:
            raise
        except DAMAGE as error:
            if run.folder is None:
                raise
            raise RunError(f"{run.folder}: damaged: {type(error).__name__}: {error}") from None
        if title is not None:
            report.content["title"] = title
        return report

    def __repr__(self) -> str:
        model = self.content["model"]
        return f"Report({self.content['title']!r}, {model['n_groups']} groups)"

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame that is cut off from the notebook.

        The frame runs the page's own script and nothing else: it has another origin, so that
        neither can read or restyle the other.
        """
        source = escape(page(self.content), quote=True)
        return (
            f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{source}" '
            f'title="{escape(self.content["title"], quote=True)}" loading="lazy" '
            f'style="width: 100%; height: {FRAME_HEIGHT}px; border: 1px solid #ccc"></iframe>'
        )

    def widget(self) -> Any:
        """Show the page in a notebook that knows what is chosen on it.

        Needs the package anywidget. The page is cut off from the notebook as ever, and tells it
        two things.

        Returns
        -------
        anywidget.AnyWidget
            Show it as the last line of a cell. Its ``group`` is the number of the chosen group, or
            None for one that the model does not have; its ``documents`` are the ids of the
            documents of that group that pass the filters of the page, or of those that a line is
            drawn around. ``observe`` follows both.
        """
        try:
            from spheremix.report.notebook import PageWidget  # noqa: PLC0415 (optional)
        except ImportError:
            needs = "A widget needs the package anywidget"
            raise MissingPackageError(needs, remedies=(install("anywidget"),)) from None
        return PageWidget(page=page(self.content), title=self.content["title"])

    def to_dict(self) -> dict[str, Any]:
        """Return the content as JSON can say it: arrays as lists, infinity as a string.

        Returns
        -------
        dict
            The content of ``report.json``.
        """
        found: dict[str, Any] = plain(self.content)
        return found

    def write_json(self, path: str | PathLike[str]) -> Path:
        """Write the content as JSON.

        Parameters
        ----------
        path : str or path
            Replaced at once when all is written.

        Returns
        -------
        Path
            The file.

        Notes
        -----
        The file has one object. Groups and steps are numbered from 0, and a *step* is a point on
        the path. There are K groups, S steps, W words and n documents. ``null`` is no value,
        ``"Infinity"`` infinity; there is no NaN. Keys whose names say what they are stand without
        explanation.

        * ``format``, ``version``, ``title``, ``run``: ``"spheremix-report"``, 3, the
          title, the id for edits (null if it is no run).
        * ``edits``: of the run, or null: ``n_edits``, ``colours``, ``changes``
          (sentences), ``notes``, ``misplaced``, ``dropped_words``.
        * ``corpus``: ``source``, ``format``, ``n_documents``, ``n_kept``, ``n_set_aside``,
          ``set_aside`` (pairs of id and reason), ``notes``, ``done``, ``n_words_dropped``,
          ``sampled`` (what is said of a sample of the documents, or null).
        * ``model``: ``n_groups``, ``has_nowhere`` (documents without a group have K in its
          place, and L in that of a leaf), ``n_words``, ``n_words_shown``, ``beta``,
          ``sparsity``, ``relaxed``, ``kappa``, ``k_criterion``, ``criterion``, ``seed``,
          ``status``, ``log_likelihood``, ``agreement`` (for each column of labels:
          ``column``, ``ari``, ``nmi``).
        * ``candidates``: for each number of groups: ``n_groups``, ``chosen``,
          ``n_converged``, ``n_starts``, ``agreement``, ``log_likelihood``, ``n_nonzero``,
          ``criteria``, ``groups`` (``size``, ``weight``, ``words``).
        * ``advice``: or null: ``recommended`` (``n_groups``, ``level``, ``sentence``),
          ``certainty``, ``doubts``, ``evidence`` (columns over ``n_groups``:
          ``agreement``, ``score``, ``stability``, ``coming_back``).
        * ``effects``: or null: ``n_documents``, ``n_draws``, ``unstable`` (groups), and
          ``columns``: ``name``, ``kind``, ``values``, ``n_documents``, ``sentences``,
          ``shares``, ``low``, ``high`` (a list for each value).
        * ``remarks``: ``text``, ``warning``, ``groups``.
        * ``kind``, ``words``: ``"words"`` or ``"coordinates"``; the W names, at most 10,000.
        * ``names``, ``given_names``: K names, and the numbers of those that people gave.
        * ``steps``: S objects: ``step``, ``beta``, ``sparsity``, ``n_nonzero``,
          ``log_likelihood``, ``criteria``, ``weights``, ``kappas``, ``masses``, ``sizes``,
          ``chosen_by``, ``scale``; of all words of the model ``n_words``,
          ``n_only_here_words`` (K each), ``n_words_by_groups`` (K + 1).
        * ``path``, ``chosen``: the curves of the whole path, in 400 points at most; the
          number of the chosen step.
        * ``values``: S x K x W integers q from -127 to 127: a coordinate is ``scale`` (q /
          127)^2 with the sign of q. Zeros are exact.
        * ``only_here``, ``prototypes``, ``exit_betas``: S x W: 1 for a word of one group
          alone (in at least ``only_here_share`` of its documents), or null; K x W of the
          chosen step; K x W: the beta at which the word is dropped.
        * ``labels``: S x n: the group of each document at each step.
        * ``documents``: columns of n: ``id``, ``title``, ``text``, ``length`` (UTF-16
          units), ``date``, ``labels`` (numbers of ``label_names``), ``group``,
          ``posterior``, ``margin``, ``second_group``, ``log_odds``, ``cosine``, ``leaf``;
          also ``label_names``, and ``label_columns`` (``name``, ``start``, ``stop``); if
          rows are passages, ``passages``: the ``document`` of each, its ``weight`` there,
          ``n_documents``; ``counted``: where only a sample is shown, counts of all.
        * ``rows``: the at most 60 heaviest ``words`` of document i, those from ``indptr[i]``
          to before ``indptr[i + 1]``, with coordinates ``scale[i]`` ``values`` / 65535, or
          ``values`` where ``scale`` is null; ``n_words`` has all.
        * ``meaning``: or null: what it adds to the score of the group (``own``) and the
          second group (``rival``).
        * ``forms``: for each token in lower case, the number of its word.
        * ``tree``: or null: ``leaves`` (L), ``chosen``, and for each of 2 L - 1 nodes
          ``parents`` (-1 for the root), ``heights``, ``sizes``, ``names``, ``words``,
          ``sibling_words``, ``only``, ``groups``, ``is_chosen``; ``levels`` that were asked
          for (a number of groups, and its nodes). The groups of a cut into m are the
          nodes below 2 L - m whose parent is not.
        * ``stability``: or null: ``documents``, ``groups``, ``n_replicates``, and
          ``words``: those of group k are ``places[ends[k]:ends[k + 1]]`` with ``shares``.
        * ``layout``: or null: ``x`` and ``y`` of each document, from 0 to 65,535.
        * ``contrast``, ``typical``, ``ambiguous``: for each group: pairs of word and z
          (embeddings); at most 10 documents.
        """
        return _write(path, to_json(self.to_dict()) + b"\n")

    def write_parquet(self, path: str | PathLike[str]) -> Path:
        """Write a row a document: its place on the map, its group and how sure that is.

        All documents that have a row are there, with whole texts, where a page may have a sample
        and shortened ones; where documents were split, each of their passages is a row.

        The columns are id, title, text, x and y (from 0 to 1, y upwards), group and group_name,
        stability (the share of the redrawn samples in which it stays), second_group, posterior,
        date, and one for each column of labels; those that there are. Embedding Atlas and
        DataMapPlot read it.

        Parameters
        ----------
        path : str or path
            Replaced at once when all is written.

        Returns
        -------
        Path
            The file.
        """
        return _write(path, parquet_bytes(point_columns(self.run, self.content["names"])))

    def to_html(self) -> str:
        """Return the page: one file that needs no network and no server."""
        return page(self.content)

    def write_html(self, path: str | PathLike[str]) -> Path:
        """Write the page: one file that needs no network and no server.

        The documents are inside: whoever has the file can read them.

        Parameters
        ----------
        path : str or path
            Replaced at once when all is written.

        Returns
        -------
        Path
            The file.
        """
        return _write(path, self.to_html().encode("utf-8"))


def _write(path: str | PathLike[str], data: bytes) -> Path:
    place = Path(path)
    with replacing(place) as file:
        file.write(data)
    return place
