"""``spheremix serve --mcp``: a run that programs can ask, as assistants with a language model.

``Tools`` answers in plain values: each of its methods is a tool, and its docstring is what a
program reads about it. The package ``mcp`` speaks the protocol; nothing else here knows it.
"""

# ruff: noqa: PLC0415 (help does not wait for SciPy: what works is loaded when there is work)
from __future__ import annotations

import inspect
import secrets
import threading
from functools import wraps
from typing import TYPE_CHECKING, Any

from spheremix.cli.console import say
from spheremix.cli.guard import sentence_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from spheremix.run.run import Run

HOST = "127.0.0.1"
MOST = 50  # items of one answer
LONGEST = 20_000  # characters of a text in one answer
QUOTED = 300  # characters of a document in a list
TERMS = 10  # words that say why a document is where it is
READING = (
    "about",
    "groups",
    "group",
    "search",
    "documents",
    "document",
    "compare",
    "effects",
    "assign",
)
EDITING = ("rename", "merge", "split", "undo")
INSTRUCTIONS = """\
A collection of documents that spheremix grouped by topic. Start with about and groups. Groups have
numbers, which stay the same between answers until an edit; a name is made of words of the group.
Stability (0 to 1) is how often a document stays with its group when documents are drawn again: say
so when you rely on a group below 0.5. Quote documents by their id. Counts are of all documents, not
of those listed: total says how many there are."""


class AnswerError(ValueError):
    """A question that has no answer, with what to ask instead."""


class Tools:
    """What programs can ask of a run, and with ``edit`` change in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: tuple[int, Run] | None = None

    @property
    def run(self) -> Run:
        """The run as it is now: somebody else may have edited it."""
        from spheremix._files import MANIFEST
        from spheremix.run.run import load_run

        written = (self.folder / MANIFEST).stat().st_mtime_ns
        if self._known is None or self._known[0] != written:
            self._known = written, load_run(self.folder)
        return self._known[1]

    # To read

    def about(self) -> dict[str, Any]:
        """Say what the run is about: documents, groups, labels, dates, options and what to mind."""
        from spheremix.run.sentences import headline

        run = self.run
        corpus, groups, _ = run.whole_documents()
        dates = sorted(one for one in corpus.dates or [] if one)
        return {
            "title": run.title,
            "headline": headline(run),
            "documents": len(corpus),
            "documents_in_groups": int((groups >= 0).sum()),
            "groups": run.info.n_groups,
            "advice": None if run.advice is None else str(run.advice),
            "labels": {
                name: sorted({value for each in own for value in each})[:MOST]
                for name, own in corpus.labels.items()
            },
            "dates": [dates[0], dates[-1]] if dates else None,
            "other_columns": sorted(corpus.metadata),
            "split_into_passages": run.cut is not None,
            "edits": len(run.edits),
        }

    def groups(self) -> dict[str, Any]:
        """List all groups, the largest first: number, name, size, stability and words."""
        columns = ("group", "name", "size", "mean_share", "stability", "broad_name")
        each = _records(self.run.groups, columns)
        words = {one.group: _words(one)[:8] for one in self.run.reading.groups()}
        for one in each:
            one["words"] = words.get(one["group"], [])
        return {"groups": sorted(each, key=lambda one: -one["size"])}

    def group(self, group: int) -> dict[str, Any]:
        """Describe one group: words, words of this group only, typical documents, labels, notes."""
        run = self.run
        self._check_group(group)
        found = next(one for one in run.describe_groups() if one["group"] == group)
        row = next(one for one in _records(run.groups) if one["group"] == group)
        notes = [step.edits.notes.groups.get(group) for step in run.edits]
        return found | {
            "stability": row["stability"],
            "broad_group": row.get("broad_name"),
            "notes": [one for one in notes if one],
        }

    def search(self, text: str, limit: int = 20) -> dict[str, Any]:
        """Find documents whose text or title has these words, in any case, and groups with them.

        Returns how many documents of each group have all of the words, and the first documents.
        """
        wanted = text.casefold().split()
        if not wanted:
            raise AnswerError("Give at least one word.")
        run = self.run
        texts = self._texts()
        corpus = run.whole_documents()[0]
        titles = corpus.titles or [""] * len(corpus)
        hits = [
            i
            for i, own in enumerate(texts)
            if all(word in f"{titles[i]} {own}".casefold() for word in wanted)
        ]
        documents = self._table()
        counts: dict[str, int] = {}
        for i in hits:
            name = str(documents["name"][i] or "set aside")
            counts[name] = counts.get(name, 0) + 1
        groups = [
            {"group": one.group, "name": one.name}
            for one in run.reading.groups(n_listed=MOST)
            if all(any(word in own for own in _words(one)) for word in wanted)
        ]
        return {
            "total": len(hits),
            "by_group": counts,
            "groups_with_these_words": groups,
            "documents": [self._listed(i) for i in hits[: _most(limit)]],
        }

    def documents(
        self, group: int, order: str = "typical", start: int = 0, limit: int = 20
    ) -> dict[str, Any]:
        """List documents of a group: order is typical, borderline (least sure first) or file."""
        self._check_group(group)
        table = self._table()
        own = [i for i, k in enumerate(table["group"]) if k == group]
        if order == "typical":
            key = "share" if "share" in table else "cosine"
            own.sort(key=lambda i: -table[key][i])
        elif order == "borderline":
            own.sort(key=lambda i: (table["stability"][i], i))
            if "certainty" in table:
                own = [i for i in own if str(table["certainty"][i]).startswith("borderline")]
        elif order != "file":
            raise AnswerError("order must be typical, borderline or file.")
        shown = own[max(start, 0) :][: _most(limit)]
        return {"total": len(own), "documents": [self._listed(i) for i in shown]}

    def document(self, id: str) -> dict[str, Any]:  # noqa: A002
        """Read one document by its id: text, group, how surely, second group, and why."""
        run = self.run
        corpus = run.whole_documents()[0]
        if id not in corpus.ids:
            raise AnswerError(f"There is no document {id!r}: search or documents list ids.")
        i = corpus.ids.index(id)
        found = {name: own[i] for name, own in self._table().items()}
        text = self._texts()[i]
        found = {name: value for name, value in found.items() if value not in {None, ""}}
        found |= {"text": text[:LONGEST], "characters": len(text), "why": self._why(i)}
        notes = [step.edits.notes.documents.get(id) for step in run.edits]
        return found | {"notes": [one for one in notes if one]}

    def compare(self, group: int, other: int) -> dict[str, Any]:
        """Compare two groups: words of each, words that both have, and how alike they are."""
        run = self.run
        self._check_group(group)
        self._check_group(other)
        each = {one.group: one for one in run.reading.groups(n_listed=MOST)}
        one, two = _words(each[group]), _words(each[other])
        P = run.reading.prototypes
        return {
            "names": [each[group].name, each[other].name],
            "sizes": [each[group].size, each[other].size],
            "only_first": [word for word in one if word not in two][:20],
            "only_second": [word for word in two if word not in one][:20],
            "both": [word for word in one if word in two][:20],
            "cosine_of_prototypes": float(P[group] @ P[other]),
        }

    def effects(self, by: str) -> dict[str, Any]:
        """Tell how the shares of the groups depend on a label, number or date, with 95 % intervals.

        by is one column, or several with commas between: then each with the others held.
        """
        from spheremix.run.tables import effect_columns

        found = self.run.effects([one.strip() for one in by.split(",")])
        return {"summary": str(found), "table": _records(effect_columns(found))}

    def assign(self, texts: list[str]) -> dict[str, Any]:
        """Put new texts into the groups of the run, and say how surely."""
        if not texts:
            raise AnswerError("Give at least one text.")
        return {"documents": _records(self.run.assign(texts))}

    # To change

    def rename(self, group: int, name: str) -> dict[str, Any]:
        """Rename a group."""
        return self._edited({"names": {group: name}})

    def merge(self, groups: list[int]) -> dict[str, Any]:
        """Make one group of several; what is left is fitted again from where it is."""
        return self._edited({"merge": [groups]})

    def split(self, group: int) -> dict[str, Any]:
        """Make two groups of one; they are fitted from its two parts."""
        return self._edited({"split": [group]})

    def undo(self) -> dict[str, Any]:
        """Take back the last edit of the run."""
        before = len(self.run.edits)
        self.run.undo_edits()
        return {"edits": before - 1} | self.groups()

    # How

    def _edited(self, edits: dict[str, Any]) -> dict[str, Any]:
        run = self.run.edit(edits)
        return {"changes": run.edits[-1].changes} | self.groups()

    def _check_group(self, group: int) -> None:
        K = self.run.info.n_groups
        if not 0 <= group < K:
            raise AnswerError(f"There is no group {group}: they have the numbers 0 to {K - 1}.")

    def _table(self) -> Mapping[str, Any]:
        return self.run.documents or {}

    def _texts(self) -> list[str]:
        """Return the texts of the documents; of those that were split, their passages in order."""
        run = self.run
        rows, cut = run.rows, run.cut
        own = [] if rows is None else rows.corpus.texts
        if cut is None:
            return own
        whole: list[list[str]] = [[] for _ in range(len(cut.whole))]
        for text, i in zip(own, cut.documents, strict=True):
            whole[i].append(text)
        return ["\n\n".join(each) for each in whole]

    def _listed(self, i: int) -> dict[str, Any]:
        """Return a document as lists have it."""
        wanted = ("id", "title", "date", "group", "name", "certainty", "share", "stability")
        table = self._table()
        found = {name: table[name][i] for name in wanted if name in table}
        return found | {"text": " ".join(self._texts()[i][:QUOTED].split())}

    def _why(self, i: int) -> list[dict[str, Any]]:
        """Return the words that speak most for the group of a document, against the second."""
        run = self.run
        rows = run.rows
        if rows is None or run.cut is not None or run.info.n_groups < 2:
            return []
        place = {int(row): r for r, row in enumerate(rows.kept)}.get(i)
        if place is None:
            return []
        views = rows.views
        if isinstance(views, dict):
            one = {name: own[[place]] for name, own in views.items()}
        else:
            one = views[[place]]
        terms = run.reading.why(one).terms[:TERMS]
        return [{"word": term.word, "for_its_group": term.difference} for term in terms]


def answering(
    tools: Tools, refusal: type[Exception], *, edit: bool = False
) -> list[Callable[..., Any]]:
    """Return the tools as functions: one at a time, and what goes wrong is a refusal."""
    from spheremix.errors import Explained

    lock = threading.Lock()

    def told(tool: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(tool)
        def ask(*args: Any, **kwargs: Any) -> Any:
            with lock:
                try:
                    return tool(*args, **kwargs)
                except (Explained, OSError, ValueError) as error:
                    raise refusal(sentence_of(error)) from None

        ask.__doc__ = inspect.getdoc(tool)
        return ask

    return [told(getattr(tools, name)) for name in READING + (EDITING if edit else ())]


def serve_programs(folder: Path, port: int | None, *, edit: bool) -> None:
    """Answer programs, on standard input and output, or on loopback where there is a port."""
    import spheremix
    from spheremix.errors import MissingPackageError
    from spheremix.wording import install

    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
        from mcp.types import ToolAnnotations
    except ImportError:
        needs = "{mcp=True} needs the package mcp, 2 or later"
        raise MissingPackageError(needs, remedies=(install("mcp"),)) from None
    server: Any = MCPServer(
        "spheremix", instructions=INSTRUCTIONS, version=spheremix.__version__, log_level="WARNING"
    )
    for tool in answering(Tools(folder), ToolError, edit=edit):
        reads = tool.__name__ in READING
        hints = ToolAnnotations(read_only_hint=reads, open_world_hint=False)
        server.add_tool(tool, annotations=hints, structured_output=True)
    if port is None:
        server.run()
        return
    path = f"/{secrets.token_urlsafe(24)}/mcp"
    say(f"http://{HOST}:{port}{path}", whole=True)
    server.run("streamable-http", host=HOST, port=port, streamable_http_path=path)


def _records(table: Any, columns: tuple[str, ...] | None = None) -> list[dict[str, Any]]:
    """Return the rows of a table as plain values; what is empty is left out."""
    names = [name for name in (table or {}) if columns is None or name in columns]
    rows = zip(*(table[name] for name in names), strict=True)
    plain = ([getattr(value, "item", lambda value=value: value)() for value in row] for row in rows)
    return [
        {name: value for name, value in zip(names, row, strict=True) if value not in {None, ""}}
        for row in plain
    ]


def _words(group: Any) -> list[str]:
    """Return the words that tell a group."""
    return list(group.contrast_words) or [one.word for one in group.words]


def _most(limit: int) -> int:
    return min(max(limit, 1), MOST)
