"""What can be done with a run: edits, and new documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from spheremix.run.listener import Listener

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from spheremix.reading.batch import BatchComparison
    from spheremix.run.run import Run
    from spheremix.run.schema import Manifest
    from spheremix.run.table import Table


class RunVerbs:
    """The methods of a :class:`~spheremix.run.run.Run` that make something new of it."""

    if TYPE_CHECKING:
        folder: Path
        manifest: Manifest

    def edit(self, edits: Any, *, listener: Listener | None = None) -> Run:
        """Make edits to this run: names, notes, merges, splits, dropped words, misplaced documents.

        Names and notes go to the tables, the figures and the report. Merged and split groups, and
        dropped words, are fitted again from where the groups stand.

        Parameters
        ----------
        edits : str, path, dict or Edits
            The file that the report exports, or what is in it, as ``{"names": {0: "Sport"},
            "merge": [[1, 4]]}``. Numbers are those of ``run.clusters``.
        listener : Listener, default=None
            Hears of progress and notes. By default progress is silent and notes are warnings.

        Returns
        -------
        Run
            The edited run, in the same folder. Its ``edits()`` say what changed.
        """
        from spheremix.run.editing import edit_run  # noqa: PLC0415 (it needs runs)

        return edit_run(self.folder, edits, run=self.manifest.fit, listener=listener)

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
        from spheremix.run.editing import undo_edits  # noqa: PLC0415 (it needs runs)

        return undo_edits(self.folder, listener=listener)

    def assign(self, new: Any, *, text: str | None = None, id: str | None = None) -> Table:  # noqa: A002
        """Return the clusters of new documents.

        Parameters
        ----------
        new : str, path, list of str, Corpus, Matrix, ndarray or sparse array
            A file as :func:`spheremix.explore_corpus` reads, or what is in it.
        text, id : str, default=None
            Columns of the texts and of the ids in a table.

        Returns
        -------
        Table
            The columns of ``documents.csv`` but fine_group, firmness, x and y; documents
            without a word of the run have no cluster.
        """
        from spheremix.run.assign import assign_documents  # noqa: PLC0415 (it needs runs)

        return assign_documents(cast("Run", self), new, Listener(), text=text, id=id)

    def compare_batch(
        self,
        new: Any,
        *,
        text: str | None = None,
        id: str | None = None,  # noqa: A002
        false_alarms: float = 0.05,
    ) -> BatchComparison | None:
        """Tell what is new in a batch of documents, with :func:`spheremix.compare_batch`.

        Parameters
        ----------
        new, text, id
            As in :meth:`assign`.
        false_alarms : float, default=0.05
            Share of the batches without any change that may raise an alarm.

        Returns
        -------
        BatchComparison or None
            Of the documents that have a word of the run; None where there are none, or where the
            run does not have its rows.
        """
        from spheremix.run.assign import compare_documents  # noqa: PLC0415 (it needs runs)

        how: dict[str, Any] = {"text": text, "id": id, "false_alarms": false_alarms}
        return compare_documents(cast("Run", self), new, Listener(), **how).comparison

    def update(
        self,
        new: Any,
        out: str | PathLike[str] | None = None,
        *,
        texts: Any = None,
        text: str | None = None,
        id: str | bool | None = None,  # noqa: A002
        listener: Listener | None = None,
    ) -> Run:
        """Make a run of these documents and new ones, with the groups of this run.

        This run stays as it is. Its groups keep their numbers, names, notes and colours; groups
        that :meth:`compare_batch` suggests among the new documents are added after them.

        Parameters
        ----------
        new, text, id
            As in :meth:`assign`; columns are by default those of the run, and ``id=False`` is no
            column of ids.
        out : str or path, default=None
            Folder of the new run; by default that of this run with "-updated" after its name.
        texts : str, path, list of str or Corpus, default=None
            The documents of new rows, where the run has documents beside its rows.
        listener : Listener, default=None
            As in :meth:`edit`.

        Returns
        -------
        Run
            The new run.
        """
        from spheremix.run.updating import update_run  # noqa: PLC0415 (it needs runs)

        how: dict[str, Any] = {"texts": texts, "text": text, "id": id, "listener": listener}
        return update_run(self.folder, new, out, **how)
