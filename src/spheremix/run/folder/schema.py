"""What the folder of a run says about it: each key of run.json and README.txt; how runs differ."""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import operator
import platform
import textwrap
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import spheremix
from spheremix._files import CACHE, LOCK, MANIFEST, RUN, RUN_VERSION
from spheremix._optional import kernels
from spheremix.errors import Message
from spheremix.run.columns import TABLES
from spheremix.run.edits import EditNotes, EditStep  # types are read when decoding
from spheremix.run.folder.archive import about
from spheremix.run.folder.files import RunError
from spheremix.run.folder.store import FIGURES
from spheremix.run.names import Name  # noqa: TC001
from spheremix.run.options import MODEL, RUNNING, ExploreOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

FORMAT, VERSION = RUN, RUN_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusInfo:
    """Where the documents come from."""

    source: str = about("The file or folder that was read.")
    format: str = about("Format in which it was read.")
    checksum: str = about("SHA-256 of its content.")
    texts: str | None = about("The file of the texts beside a matrix.", default=None)
    notes: list[str] = about("Which columns were used, and what was changed.")
    n_documents: int = about("Number of all documents.")
    n_set_aside: int = about("Number of documents without a row.")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementInfo:
    """How the groups agree with the labels."""

    ari: float = about("Adjusted Rand index.")
    nmi: float = about("Normalised mutual information.")
    n_documents: int = about("Number of documents that have a label.")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """The content of ``run.json``, which makes a folder a run."""

    format: str = about(f"Always {FORMAT!r}.", default=FORMAT)
    version: int = about("Version of the format.", default=VERSION)
    command: dict[str, Any] = about(
        "The options that the result depends on, and checksums of the input.", default_factory=dict
    )
    versions: dict[str, str] = about(
        "Versions of the libraries that the last digits depend on.", default_factory=dict
    )
    corpus: CorpusInfo | None = about("Where the documents come from.", default=None)
    fit: str | None = about("What the numbers of the groups belong to.", default=None)
    n_groups: int = about("The number of groups that was chosen.")
    names: list[Name] | None = about("The names of the groups, by number.", default=None)
    base_names: list[Name] | None = about("Their names before all edits.", default=None)
    colours: list[list[float]] | None = about(
        "Numbers of the groups in the palette of the report, from 0, each with a shade: edits and "
        "updates keep them.",
        default=None,
    )
    notes: EditNotes = about("Notes of people.", default_factory=EditNotes)
    misplaced: list[str] = about(
        "Ids of documents that people find misplaced.", default_factory=list
    )
    sizes_before: list[int] = about(
        "Sizes of the groups before an update, by number.", default_factory=list
    )
    nowhere_before: int | None = about(
        "Documents that belonged nowhere before an update.", default=None
    )
    label_agreement: dict[str, AgreementInfo] = about(
        "Agreement with the labels, by their column, where a document has one at most.",
        default_factory=dict,
    )
    edits: list[EditStep] = about(
        "The edits that people made to the run, in their order.", default_factory=list
    )
    earlier_edits: dict[str, list[EditStep]] = about(
        "Edits of other groups in this folder, by their fit: they come back with these groups.",
        default_factory=dict,
    )
    parts: dict[str, str] = about("The stage of each part of the run.", default_factory=dict)
    dense: dict[int, str] = about(
        "The stages of the mixtures without penalty, by number of groups.", default_factory=dict
    )
    outputs: dict[str, Any] = about(
        "Every table and page with its size and checksum.", default_factory=dict
    )
    stages: dict[str, str] = about("Checksums of the stages in cache/.", default_factory=dict)


# The files of a run, and README.txt, which explains them and their columns


PAGE, README = "report.html", "README.txt"
# The files and folders of a run beside its tables.
FILES: dict[str, str] = {
    PAGE: "The report: one page that opens in any browser, without a network.",
    README: "What was found, and what the files and columns of this run mean.",
    MANIFEST: "Description of the run: options, versions, seed, names, edits and checksums.",
    f"{FIGURES}/": "Figures to print, drawn by spheremix figures.",
    f"{CACHE}/": "What each step of the work left: rows, documents, models. With other options, "
    "the next command reuses what they do not change. Please leave it as it is.",
    LOCK: "Keeps two commands from working here at once.",
}
WIDTH = 92
MARGIN = 50  # characters of names that have their meaning beside them
HEAD = """This folder is a run of spheremix explore. In Python, spheremix.load_run opens it. On the
command line, spheremix assign puts new documents into its groups. Numbers in the tables have six
significant digits, or three decimals if that is more; in Python they have all digits. A text that a
spreadsheet would run as a formula (it begins with =, +, - or @) has an apostrophe before it.
"""


def explain(
    tables: Mapping[str, Iterable[str]],
    about: Iterable[str] = (),
    groups: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """Explain the tables of a run, by key, with their columns, and its other files, in lines.

    What there is to say about this run alone comes after the first lines, a paragraph each; its
    groups are the last.
    """
    yield HEAD
    for paragraph in about:
        yield f"\n{textwrap.fill(paragraph, WIDTH)}\n"
    for key, columns in tables.items():
        table = TABLES[key]
        yield f"\n{table.file}\n  {table.about}\n"
        described = table.columns
        alike = groupby(
            columns, key=lambda name: described[name].meaning if name in described else table.others
        )
        yield from _entries({", ".join(several): meaning for meaning, several in alike})
    yield "\nOther files\n"
    alike = groupby(FILES, key=FILES.__getitem__)
    yield from _entries({", ".join(several): meaning for meaning, several in alike})
    if groups:
        yield "\nGroups (number, name and size; characteristic words)\n"
        yield from _entries(groups)


def _entries(meanings: Mapping[str, str]) -> Iterator[str]:
    width = min(MARGIN, max(map(len, meanings))) + 2
    indent = " " * (width + 2)
    for name, meaning in meanings.items():
        lines = textwrap.fill(meaning, WIDTH, initial_indent=indent, subsequent_indent=indent)
        if len(name) <= MARGIN:
            yield f"  {name:{width}}{lines.lstrip()}\n"
        else:  # many columns, or long ones: their meaning is below them
            names = " ".join(name.split())
            yield textwrap.fill(names, WIDTH, initial_indent="  ", subsequent_indent="  ")
            yield f"\n{lines}\n"


# What a run was asked to do and with which libraries, compared with what is asked now


CHECKSUMS = ("checksum", "vocabulary_checksum", "texts_checksum")  # of the documents
LONGEST = 40  # characters of a value that is compared
# What an update adds to a command: checksums, which say nothing to people.
OF_UPDATES = {"start": "from other groups", "taken_over": "with other names, notes or marks"}
# Options that change neither documents nor words.
ABOUT_MODEL = {
    one.name
    for one in dataclasses.fields(ExploreOptions)
    if one.metadata["panel"] in {MODEL, RUNNING}
}
LIBRARIES = ("numpy", "scipy", "scikit-learn", "simplemma")


def versions() -> dict[str, str]:
    """Return what the last digits depend on."""
    found = {"spheremix": spheremix.__version__, "python": platform.python_version()}
    found |= {name: _version(name) for name in LIBRARIES}
    level = "none" if kernels is None else str(kernels.simd_level())
    return {**found, "kernels": level, "machine": platform.machine()}


@functools.cache
def _version(name: str) -> str:
    """Return the version of a library; to look it up takes milliseconds."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def same_documents(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Return whether two commands are about the same documents."""
    return all(before.get(name) == now.get(name) for name in CHECKSUMS)


def differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Say what differs between two commands, or between versions, in the names of the library."""
    texts, values = compared(before, now)
    return [Message(text, values).render().removesuffix(".") for text in texts]


def compared(
    before: dict[str, Any],
    now: dict[str, Any],
    older: dict[str, str] | None = None,
    newer: dict[str, str] | None = None,
) -> tuple[list[str], dict[str, str]]:
    """Say what differs, as parts of a message and its values; what changes words comes first.

    Versions of libraries are compared beside the commands, where they are given.
    """
    known, now = {**before, **(older or {})}, {**now, **(newer or {})}
    found: list[tuple[int, str]] = []
    values: dict[str, str] = {}
    for name in sorted({*known, *now}):
        old, new = known.get(name), now.get(name)
        if old != new and name == "meaning_checksum":
            found.append((0, "with other embeddings"))
        elif old != new and name.endswith("checksum"):
            found.append((-1, "of other documents"))
        elif old != new and name in OF_UPDATES:
            found.append((0, OF_UPDATES[name]))
        elif old != new:
            values |= {f"{name}_was": _short(name, old), f"{name}_is": _short(name, new)}
            text = f"{{{name}}} is {{{name}_is}} now and was {{{name}_was}} before"
            found.append((int(name in ABOUT_MODEL), text))
    return list(
        dict.fromkeys(text for _, text in sorted(found, key=operator.itemgetter(0)))
    ), values


def another_run(folder: Path, there: Any, command: dict[str, Any]) -> RunError:
    """Say that a folder holds another run, in what it differs, and what to do."""
    texts, values = compared(there.command, command, there.versions, versions())
    remedies = ["choose another folder with {out}"]
    if "start" not in command:  # an update replaces no run
        remedies.append("replace it with {force=True}")
    return RunError(
        f"{{folder}}: holds another run ({'; '.join(texts[:3])})",
        remedies=tuple(remedies),
        folder=folder,
        **values,
    )


def as_given(name: str, value: Any) -> str:
    """Write the value of an option as people give it."""
    if name == "names" and isinstance(value, dict):
        return str(value.get("source"))
    if name == "k" and isinstance(value, list) and len(value) > 2:
        first, last = value[0], value[-1]
        if value == list(range(first, last + 1)):
            return f"{first}:{last}"
    if name == "seeds" and isinstance(value, list):
        return ", ".join(f"{one['group']}: {' '.join(one['words'])}" for one in value)
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, float):
        text = f"{value:.12f}".rstrip("0")
        return f"{text}0" if text.endswith(".") else text
    return str(value)


def _short(name: str, value: Any) -> str:
    if value is None or value is False:
        return "not given"
    text = "given" if value is True else as_given(name, value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
