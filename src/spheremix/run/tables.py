"""The tables of a run, for people and spreadsheets, and how they are written."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.estimators.views import words_of
from spheremix.reading import contingency, timeline
from spheremix.reading.documents import NOWHERE, certainties
from spheremix.reading.effects import shown_value
from spheremix.run.columns import TABLES, input_columns
from spheremix.run.folder.files import replacing
from spheremix.run.stages.rows import BY_EDIT, STOP
from spheremix.select import CRITERIA
from spheremix.text.formats import arrow_table, parquet_bytes
from spheremix.text.languages import language_of
from spheremix.text.selection import COMMON, DROPPED, MIXED, RARE, most_frequent
from spheremix.wording import html_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike

    from scipy import sparse

    from spheremix.advice import Advice
    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.path import VMFPath
    from spheremix.reading import ContrastWord, Documents, Reading, Word
    from spheremix.reading.effects import Effects
    from spheremix.run.folder.schema import RunInfo
    from spheremix.run.stages.passages import Cut
    from spheremix.run.stages.rows import Removed, Rows
    from spheremix.run.stages.tree import Node
    from spheremix.text import Corpus

TYPICAL = 10  # documents of a group in the table of typical ones
BEGINNING = 100  # characters of a text that are shown
REASONS = (STOP, DROPPED, BY_EDIT, MIXED, COMMON, RARE)


class Table(dict[str, list[Any]]):
    """Columns by name, all of one length; ``pandas.DataFrame(table)`` takes it as it is.

    A cell that is empty in the file is None, except in columns of texts.
    """

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.values()), []))

    def __repr__(self) -> str:
        return f"Table of {self.n_rows:,} rows: {', '.join(self)}"

    def _repr_html_(self) -> str:
        """Show the first rows in a notebook."""
        return html_table(self)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Hand the columns to whatever reads Arrow: polars, pyarrow, DuckDB."""
        return arrow_table(self).__arrow_c_stream__(requested_schema)

    def write_parquet(self, path: str | PathLike[str]) -> Path:
        """Write the table as a Parquet file.

        Parameters
        ----------
        path : str or path
            Replaced at once when all is written.

        Returns
        -------
        Path
            The file.
        """
        with replacing(Path(path)) as file:
            file.write(parquet_bytes(self))
        return Path(path)


def as_table(key: str, columns: Mapping[str, Any]) -> Table:
    """Return columns of plain values in the types of the schema; no text is an empty one."""
    known = TABLES[key].columns
    found = Table()
    for name, values in columns.items():
        plain = [one.item() if isinstance(one, np.generic) else one for one in values]
        if name not in known or known[name].kind is str:
            plain = ["" if one is None else one for one in plain]
        found[name] = plain
    return found


# Writing


# A spreadsheet runs a cell that begins like this, unless it is a number: an apostrophe makes it
# text. Those that look as if they had one get another, so that tables are read back as they were.
FORMULA = re.compile(r"(?![+-]?[0-9]+(?:\.[0-9]+)?\Z)'*[=+\-@\t\r]")
FIRST = frozenset("'=+-@\t\r")  # one of these begins it


def csv_lines(columns: Mapping[str, Sequence[Any]], *, short: bool = False) -> Iterable[str]:
    """Return a table as lines of CSV.

    Floats are read back to the same bits; short, for people, they have six significant digits, or
    three decimals where those are more: criteria are large, and compared by their differences.
    Texts that a spreadsheet would run as formulas have an apostrophe before them.
    """
    write = _short if short else repr
    lines = _Lines()
    # Before Python 3.13 cells with "\r" are only quoted where it is part of the end of lines.
    table = csv.writer(lines, lineterminator="\r\n")
    table.writerow([_cell(name, write) for name in columns])
    for row in zip(*columns.values(), strict=True):
        table.writerow([_cell(value, write) for value in row])
        if len(lines) >= 2**13:
            yield "".join(lines)
            lines.clear()
    yield "".join(lines)


class _Lines(list[str]):
    """The lines of a table; csv writes one at a time."""

    def write(self, line: str) -> None:
        self.append(line.removesuffix("\r\n") + "\n")


def _cell(value: Any, write: Callable[[float], str]) -> Any:
    if isinstance(value, str):
        return f"'{value}" if value[:1] in FIRST and FORMULA.match(value) else value
    if type(value) is float:
        return write(value)
    if isinstance(value, np.generic):
        value = value.item()
    return "" if value is None else write(value) if isinstance(value, float) else value


def _short(value: float) -> str:
    return f"{value:.6g}" if abs(value) < 1000.0 else f"{value:.3f}"


def is_of_kind(value: Any, kind: type[int | float | str]) -> bool:
    """Return whether a value, once written as a cell, can be read back as this type."""
    try:
        cell = str(_cell(value, repr))
        return not cell or kind(cell) is not None
    except ValueError:
        return False


# Columns


def removed_columns(removed: Removed) -> dict[str, list[str | int]]:
    """List the words by reason, those that most documents have first."""
    rows = [
        (word, n, reason)
        for reason in REASONS
        for word, n in most_frequent(removed.get(reason, {})).items()
    ]
    names = ("word", "documents", "reason")
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def document_columns(
    reading: Reading,
    documents: Documents,
    rows: Rows,
    *,
    stability: Any = None,
    labelled: Any = None,
    leaves: Any = None,
    broad: list[int] | None = None,
    positions: Any = None,
) -> dict[str, Any]:
    """List the documents as they came, those set aside with the reason and without group.

    New documents have neither stability nor broad or fine group nor position.
    """
    names = [*(reading.group_name(k) for k in range(reading.n_groups)), NOWHERE]
    found: dict[str, Any] = documents.table()
    columns = {"group": found.pop("group"), "name": [names[k] for k in documents.labels]}
    if broad is not None:
        columns["broad_group"] = [None if k < 0 else broad[k] for k in documents.labels]
    if leaves is not None:
        columns["fine_group"] = [None if leaf < 0 else int(leaf) for leaf in leaves]
    if stability is not None:
        columns["certainty"] = certainties(documents, stability, names)
        columns["stability"] = stability
    columns |= found
    if labelled is not None:
        columns["label_probability"] = labelled
    if positions is not None:
        columns |= {"x": positions[:, 0], "y": positions[:, 1]}
    columns["second_group"] = [None if k < 0 else int(k) for k in documents.second_groups]
    if rows.words is not None and hasattr(rows.X, "indptr"):
        columns["n_words"] = np.diff(rows.X.indptr).tolist()
    corpus = rows.corpus
    spread: dict[str, Any] = {"id": corpus.ids} | known_columns(corpus)
    for name, values in columns.items():
        column = np.full(rows.n_documents, None, dtype=object)
        column[rows.kept] = values
        spread[name] = column.tolist()
    if any(corpus.texts):
        spread["repeats"] = repeated_ids(corpus)
    reasons = rows.reasons
    spread["set_aside"] = [reasons.get(row, "") for row in range(rows.n_documents)]
    return spread | input_columns(corpus)


def passage_columns(columns: dict[str, Any], cut: Cut) -> dict[str, Any]:
    """List the passages as documents are listed, each with its document and its place in it."""
    ids = cut.whole.ids
    found = {
        "id": columns["id"],
        "document": [ids[i] for i in cut.documents],
        "place": cut.places,
    }
    beside = input_columns(cut.whole)
    return found | {name: own for name, own in columns.items() if name not in {"id", *beside}}


def add_shares(groups: dict[str, Any], shares: Any) -> None:
    """Put the mean share of each group in the documents into the table of groups."""
    grouped = shares[shares.any(axis=1)]
    means = grouped.mean(axis=0) if len(grouped) else np.zeros(shares.shape[1])
    groups["mean_share"] = [None if k < 0 else float(means[k]) for k in groups["group"]]


def sums_of(shares: Any, above: list[int]) -> dict[int, Any]:
    """Return the share of each broader group in the documents: the sum of those of its groups."""
    own = np.array(above)
    return {node: shares[:, own == node].sum(axis=1) for node in dict.fromkeys(above)}


def split_columns(
    reading: Reading,
    shares: Any,
    cut: Cut,
    stability: Any = None,
    broad: list[int] | None = None,
    nodes: list[Node] | None = None,
) -> dict[str, Any]:
    """List documents that were split: their passages, and their first three groups with shares.

    Of broader groups, the one with the largest share.
    """
    m, K = shares.shape
    grouped = shares.any(axis=1)
    order = np.argsort(-shares, axis=1, kind="stable")
    columns: dict[str, Any] = {"id": cut.whole.ids} | known_columns(cut.whole)
    columns["passages"] = cut.n_passages
    for place, start in enumerate(("", "second_", "third_")[:K]):
        own = order[:, place]
        there = grouped & (shares[np.arange(m), own] > 0.0)
        groups = [int(k) if ok else None for k, ok in zip(own, there, strict=True)]
        named = ["" if k is None else reading.group_name(k) for k in groups]
        parts = [None if k is None else float(shares[i, k]) for i, k in enumerate(groups)]
        columns |= {f"{start}group": groups, f"{start}name": named, f"{start}share": parts}
    if broad is not None and nodes is not None:
        sums = sums_of(shares, broad)
        values = np.array(list(sums.values()))
        first = [list(sums)[place] for place in values.argmax(axis=0)]
        largest = zip(first, values.max(axis=0).tolist(), grouped.tolist(), strict=True)
        known = [(one, nodes[one].name, share) if ok else None for one, share, ok in largest]
        for i, (name, empty) in enumerate({"group": None, "name": "", "share": None}.items()):
            columns[f"broad_{name}"] = [empty if one is None else one[i] for one in known]
    if stability is not None:
        columns["stability"] = stability
    columns["set_aside"] = ["" if ok else "no passage has a group" for ok in grouped]
    return columns | input_columns(cut.whole)


def share_columns(
    shares: Any, documents: Corpus, levels: Iterable[list[int]] = ()
) -> dict[str, Any]:
    """Return the shares of all groups in each document; none where no passage has a group.

    Then those of broader groups, nodes of the tree: a level has the node of each group.
    """
    found: dict[str, Any] = {"id": documents.ids}
    grouped = shares.any(axis=1)
    each = {f"group_{k}": column for k, column in enumerate(shares.T)}
    for above in levels:
        each |= {f"node_{node}": column for node, column in sums_of(shares, above).items()}
    for name, column in each.items():
        both = zip(column.tolist(), grouped.tolist(), strict=True)
        found[name] = [one if ok else None for one, ok in both]
    return found


def repeated_ids(corpus: Corpus) -> list[str]:
    """Return the id of the first document that has the text of each; empty where that is itself."""
    first: dict[str, int] = {}
    found = [first.setdefault(text, i) for i, text in enumerate(corpus.texts)]
    same = zip(found, corpus.texts, strict=True)
    return [
        corpus.ids[earlier] if earlier != i and text.strip() else ""
        for i, (earlier, text) in enumerate(same)
    ]


def known_columns(corpus: Corpus) -> dict[str, list[str | None]]:
    """Return titles and dates, where there are any."""
    found: dict[str, Any] = {"title": corpus.titles, "date": corpus.dates}
    return {name: values for name, values in found.items() if values is not None}


def group_columns(
    reading: Reading,
    stability: Any,
    documents: Documents,
    broad: list[int] | None = None,
    nodes: list[Node] | None = None,
) -> dict[str, Any]:
    """Sum up the groups, by weight; last come the documents that belong nowhere, if any may."""
    groups = reading.groups(n_listed=20)
    columns: dict[str, list[Any]] = {
        "group": [one.group for one in groups],
        "name": [one.name for one in groups],
    }
    if broad is not None and nodes is not None:
        columns["broad_group"] = [broad[one.group] for one in groups]
        columns["broad_name"] = [nodes[broad[one.group]].name for one in groups]
    columns |= {
        "size": [one.size for one in groups],
        "stability": [stability[one.group] for one in groups],
        "weight": [one.weight for one in groups],
        "kappa": [one.kappa for one in groups],
    }
    if reading.contrast is not None:
        columns["contrast_words"] = [", ".join(one.contrast_words) for one in groups]
    columns |= {
        "words": [_listed(one.words) for one in groups],
        "only_here_words": [_listed(one.only_here_words) for one in groups],
        "shared_words": [_listed(one.shared_words) for one in groups],
        "n_words": [one.n_words for one in groups],
        "n_only_here_words": [one.n_only_here_words for one in groups],
    }
    if not reading.has_noise:
        return columns
    nowhere = {
        "group": -1,
        "name": NOWHERE,
        "size": int((documents.labels < 0).sum()),
        "weight": 1.0 - float(reading.weights.sum()),
    }
    return {name: [*values, nowhere.get(name)] for name, values in columns.items()}


def _listed(words: tuple[Word, ...]) -> str:
    return ", ".join(word.word for word in words)


def word_columns(reading: Reading, stability: sparse.csr_array) -> dict[str, Any]:
    """List every word of every group; words leave on a path only."""
    found: dict[str, Any] = reading.vocabulary.table()
    if reading.X is None:
        found["document_share"] = [None] * len(found["word"])
    if reading.path is None:
        del found["exit_beta"]
    shares = np.full(stability.shape, np.nan)
    shares[np.repeat(np.arange(len(shares)), np.diff(stability.indptr)), stability.indices] = (
        stability.data
    )
    found["stability"] = [
        None if np.isnan(share) else share for share in shares[found["group"], found["feature"]]
    ]
    named = {"document_share": "share_of_documents"}
    columns = {named.get(name, name): values for name, values in found.items()}
    return {name: columns[name] for name in TABLES["words"].columns if name in columns}


def typical_columns(
    reading: Reading,
    documents: Documents,
    rows: Rows,
    *,
    most: int = BEGINNING,
    cut: Cut | None = None,
    shares: Any = None,
) -> dict[str, Any]:
    """List the documents nearest to each prototype, a text once, and how their texts begin.

    Of documents that were split, the nearest passage of each, with the share of its group.
    """
    corpus = rows.corpus
    ranked = [
        (int(k), rank, i, int(rows.kept[i]))
        for k in reading.layout.groups
        for rank, i in enumerate(typical(documents, int(k), rows, cut), 1)
    ]
    places = [row for *_, row in ranked]
    columns: dict[str, Any] = {
        "group": [k for k, *_ in ranked],
        "rank": [rank for _, rank, *_ in ranked],
        "id": [corpus.ids[row] for row in places],
    }
    if cut is not None:
        own = cut.documents[places]
        columns["document"] = [cut.whole.ids[i] for i in own]
        columns["place"] = cut.places[places]
        columns["share"] = [float(shares[i, k]) for i, (k, *_) in zip(own, ranked, strict=True)]
    columns |= {name: [own[i] for i in places] for name, own in known_columns(corpus).items()}
    if corpus.labels:
        columns["labels"] = [labels_of(corpus, row) for row in places]
    columns["cosine"] = [documents.cosines[i] for _, _, i, _ in ranked]
    columns["text"] = [beginning(i, rows, most) for _, _, i, _ in ranked]
    return columns


def labels_of(corpus: Corpus, row: int) -> str:
    """Return the labels of a document as a line; of several columns, each with its name."""
    several = len(corpus.labels) > 1
    each = [
        f"{name}: {', '.join(own[row])}" if several else ", ".join(own[row])
        for name, own in corpus.labels.items()
        if own[row]
    ]
    return "; ".join(each)


def typical(documents: Documents, group: int, rows: Rows, cut: Cut | None = None) -> list[int]:
    """Find the documents nearest to a prototype; of those with the same text, the first.

    Of documents that were split, the nearest passage of each.
    """
    texts, seen = rows.corpus.texts, set[Any]()
    found: list[int] = []
    for i in documents.typical(group, None).tolist():
        row = int(rows.kept[i])
        own = {texts[row] or i} | (set() if cut is None else {("document", cut.documents[row])})
        if seen.isdisjoint(own):
            found.append(i)
        seen |= own
        if len(found) == TYPICAL:
            break
    return found


def beginning(row: int, rows: Rows, most: int) -> str:
    """Return the first words of the text of a row."""
    words = rows.corpus.texts[rows.kept[row]][: 10 * most].split()
    return shorten(" ".join(words), most)


def shorten(text: str, most: int) -> str:
    """Cut a line at the end of a word, where it is longer than some characters."""
    if len(text) <= most:
        return text
    return f"{text[: most - 3].rpartition(' ')[0] or text[: most - 3]}..."


def contrast_columns(reading: Reading, contrast: list[list[ContrastWord]]) -> dict[str, Any]:
    """List the characteristic words of the texts of each group."""
    rows = [
        (int(k), rank, word.word, word.score, word.z, int(word.count), word.share)
        for k in reading.layout.groups
        for rank, word in enumerate(contrast[k], 1)
    ]
    names = ("group", "rank", "word", "score", "z", "count", "share")
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def dense_columns(dense: dict[int, VMFMixture]) -> dict[str, Any]:
    """Return the criteria of the dense mixtures, which the number of groups was chosen by."""
    models = list(dense.values())
    return {
        "n_groups": list(dense),
        "log_likelihood": [model.log_likelihood_ for model in models],
        "n_nonzero": [int(np.count_nonzero(words_of(model).prototypes_)) for model in models],
        "n_converged": [sum(run.status == "converged" for run in m.runs_) for m in models],
        "agreement": [model.agreement_ for model in models],
        **{name: [model.criteria_[name] for model in models] for name in CRITERIA},
    }


def tree_columns(nodes: list[Node]) -> dict[str, Any]:
    """List the nodes of the tree."""
    return {
        "node": range(len(nodes)),
        "parent": [one.parent for one in nodes],
        "height": [one.height for one in nodes],
        "size": [one.size for one in nodes],
        "n_fine_groups": [one.n_leaves for one in nodes],
        "group": [one.group for one in nodes],
        "chosen": [int(one.chosen) for one in nodes],
        "name": [one.name for one in nodes],
        "words": [", ".join(one.words) for one in nodes],
        "sibling_words": [", ".join(one.sibling_words) for one in nodes],
        "only_here_words": [", ".join(one.only_here_words) for one in nodes],
    }


def level_columns(nodes: list[Node], levels: dict[int, list[int]]) -> dict[str, Any]:
    """List the groups of each level, the broadest first, each with the broader one it lies in."""
    chosen = {one.group: i for i, one in enumerate(nodes) if one.chosen and one.group is not None}
    own = [chosen[k] for k in sorted(chosen)]
    rows: list[tuple[int, int, int | None]] = []
    above: list[int] | None = None
    for M, here in [*levels.items(), (len(own), own)]:
        parents = {node: None if above is None else above[k] for k, node in enumerate(here)}
        order = sorted(parents, key=lambda node: (-nodes[node].size, node))
        rows += [(M, node, parents[node]) for node in order]
        above = here
    return {
        "level": [M for M, *_ in rows],
        "node": [node for _, node, _ in rows],
        "group": [nodes[node].group if nodes[node].chosen else None for _, node, _ in rows],
        "name": [nodes[node].name for _, node, _ in rows],
        "parent": [parent for *_, parent in rows],
        "parent_name": ["" if parent is None else nodes[parent].name for *_, parent in rows],
        "size": [nodes[node].size for _, node, _ in rows],
        "words": [", ".join(nodes[node].words) for _, node, _ in rows],
    }


def path_columns(path: VMFPath) -> dict[str, Any]:
    """Return the steps of the path."""
    steps = np.arange(len(path.betas_))
    return {
        "step": steps,
        "beta": path.betas_,
        "n_nonzero": path.n_nonzero_,
        "sparsity": path.sparsity_,
        "log_likelihood": path.log_likelihoods_,
        **path.criteria_,
        "n_iter": path.n_iters_,
        "status": path.statuses_,
        "selected": [int(step == path.selected_) for step in steps],
    }


def label_columns(
    groups: Any, labels: Mapping[str, list[tuple[str, ...]]], K: int, shares: Any = None
) -> dict[str, Any]:
    """Count the labels of each group, for one column of labels after the other.

    With shares of the groups in documents, a document counts in each group for its share.
    """
    columns: dict[str, list[Any]] = {name: [] for name in TABLES["labels"].columns}
    for name, values in labels.items():
        found = contingency(groups, values, n_groups=K, shares=shares)
        cells = np.nonzero(found.counts)
        columns["label_column"] += [name] * len(cells[0])
        columns["group"] += cells[0].tolist()
        columns["label"] += [found.labels[j] for j in cells[1]]
        columns["documents"] += found.counts[cells].tolist()
        columns["share_of_group"] += found.share_of_group[cells].tolist()
        columns["share_of_label"] += found.share_of_label[cells].tolist()
    return columns


def time_columns(groups: Any, dates: Any, K: int, shares: Any = None) -> dict[str, Any]:
    """Count the documents of each group by month, or by year where there are many months."""
    found = timeline(groups, dates, period="auto", n_groups=K, shares=shares)
    rows, columns = (axis.ravel() for axis in np.indices(found.counts.shape))
    low, high = found.bounds()
    there = found.totals[columns] > 0

    def known(values: Any) -> list[float | None]:
        own = zip(values[rows, columns].tolist(), there.tolist(), strict=True)
        return [one if ok else None for one, ok in own]

    return {
        "group": rows,
        "period": [found.periods[j] for j in columns],
        "documents": found.counts[rows, columns],
        "all_documents": found.totals[columns],
        "share": known(found.shares),
        "low": known(low),
        "high": known(high),
        "peak": (columns == found.peaks()[rows]).astype(int) if len(columns) else [],
    }


def effect_columns(effects: Effects) -> dict[str, Any]:
    """Return the shares of each group at each value of the columns, and their differences."""
    found: dict[str, Any] = effects.table()
    K = len(effects.names)
    values = {
        name: ["" if one is None else shown_value(one) for one in found[name]]
        for name in ("value", "other")
    }
    numbers = {"group": list(range(K)) * (len(found["group"]) // K), "name": found["group"]}
    for name in ("share", "difference", "low", "high"):
        numbers[name] = [None if np.isnan(one) else one for one in found[name]]
    whole = {"column": found["column"], **values, "n_documents": found["n_documents"]}
    return whole | numbers


def advice_columns(advice: Advice) -> dict[str, Any]:
    """Return the evidence for each number of groups."""
    named = {"n_components": "n_groups"}
    return {named.get(name, name): values for name, values in advice.table().items()}


def add_languages(columns: dict[str, Any], texts: Iterable[str], given: str) -> None:
    """Put the language of each document into their table, where there are several."""
    languages = given.split(",")
    if len(languages) > 1:
        columns["language"] = [language_of(text, languages) for text in texts]


def add_marks(each: dict[str, dict[str, Any]], info: RunInfo, ids: list[str]) -> None:
    """Put notes and marks of people into the tables of a run, where there are any."""
    groups, documents = each["groups"], each.get("passages", each["documents"])
    if info.notes.groups:
        groups["note"] = [info.notes.groups.get(k, "") for k in groups["group"]]
    if info.sizes_before:
        before = dict(enumerate(info.sizes_before))
        groups["size_before"] = [
            before.get(k, 0) if k >= 0 else info.nowhere_before for k in groups["group"]
        ]
    if info.notes.documents:
        documents["note"] = [info.notes.documents.get(one, "") for one in ids]
    if info.misplaced:
        wrong = set(info.misplaced)
        documents["misplaced"] = [int(one in wrong) for one in ids]
