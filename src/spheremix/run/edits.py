"""Edits of people: every key of a file of edits, once, with its meaning; read and checked.

A file may come from anywhere: every value has the type that is declared here, and every group, word
and document must be one of the run, before anything is done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from spheremix.errors import ParameterError
from spheremix.run.folder.archive import about, decode, encode
from spheremix.run.folder.files import RunError, is_path, read_json
from spheremix.run.names import JOINERS, Name, check_names, read_names
from spheremix.text.corpus import shown
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

K = TypeVar("K", int, str)
V = TypeVar("V")
EDITS_FORMAT, EDITS_VERSION = "spheremix edits", 1
TABLES = (".csv", ".tsv", ".jsonl")  # names of groups
LONGEST_NOTE = 10_000  # characters
LEAST_WORDS = 2  # a direction needs two columns
HEAD = {"format", "version", "run"}  # what edits say beside what is to be different
EXPORT = "export edits from the report of this run"


@dataclass(frozen=True, slots=True, kw_only=True)
class EditNotes:
    """Notes of people."""

    groups: dict[int, str] = about("By number of the group.", default_factory=dict)
    documents: dict[str, str] = about("By id of the document.", default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """What people want to be different: the file that the report exports and ``edit`` takes.

    Groups have the numbers of groups.csv, or with ``nodes`` those of tables/tree.csv.
    """

    format: str = about(f"Always {EDITS_FORMAT!r}.", default=EDITS_FORMAT)
    version: int = about("Version of the format.", default=EDITS_VERSION)
    run: str = about("Id of the run whose groups are meant.")
    nodes: list[int] = about(
        "Nodes of tables/tree.csv that become the groups, in the place of those of the run. They "
        "hold each fine group once; the other parts then name groups by node.",
        default_factory=list,
    )
    names: dict[int, str] = about("Names, by number of the group.", default_factory=dict)
    merge: list[list[int]] = about(
        "Groups that become one: for each merge two numbers or more.", default_factory=list
    )
    split: list[int] = about("Groups that become two.", default_factory=list)
    move: dict[str, int] = about(
        "Groups that documents are moved to, by id: the fit begins with them there.",
        default_factory=dict,
    )
    drop_words: list[str] = about("Words that are left out.", default_factory=list)
    notes: EditNotes = about("Notes on groups and documents.", default_factory=EditNotes)
    misplaced: list[str] = about(
        "Ids of documents that people find misplaced. They are listed; no group changes.",
        default_factory=list,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateRecord:
    """The run that was brought up to date with new documents, as it was before."""

    before: str = about("Name of its folder.")
    n_before: int = about("Number of its documents.")
    n_added: int = about("Number of new documents.")
    sizes: list[int] = about("Sizes of its groups, by number.")
    names: list[str] = about("Names of its groups, by number.")
    words: list[list[str]] = about("First words of its groups, by number.")
    n_nowhere: int | None = about(
        "Number of its documents that belonged nowhere; null where all had a group.", default=None
    )
    n_unknown: int = about(
        "Number of new documents without a word of it, which were compared with nothing.", default=0
    )
    n_moved: int | None = about(
        "Number of its documents that have another group since; null before the fit.", default=None
    )
    n_grouped: int | None = about(
        "Number of its documents with a group then and now; null before the fit.", default=None
    )
    checks: list[str] = about("What the comparison of the new documents with it found.")
    alarms: list[str] = about("The checks that raised an alarm.")
    colours: list[list[float]] = about(
        "Numbers of all groups in the palette of the report, from 0, each with a shade; those of "
        "the run before are kept."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EditStep:
    """Edits that were made to a run at once, and what people saw before them."""

    source: str = about("The file that they came from.")
    edits: Edits = about("The edits themselves, in the numbers of the groups before them.")
    on: dict[str, str] = about(
        "The stages that have the rows and the groups before them.", default_factory=dict
    )
    names: list[Name] = about("The names of all groups before them.", default_factory=list)
    colours: list[list[float]] = about(
        "The numbers of these groups in the palette of the report, each with a shade.",
        default_factory=list,
    )
    changes: list[str] = about("What they changed, in sentences.", default_factory=list)
    named: dict[int, Name] = about(
        "Names that a function gave to the groups after them.", default_factory=dict
    )
    update: UpdateRecord | None = about(
        "If these are the names, notes and marks of a run that was brought up to date: that run.",
        default=None,
    )


def read_edits(edits: Any, run: str | None = None) -> EditStep:
    """Take edits as they are given: a file, a dictionary, or an object of their type.

    A file states the run that it is for; ``run`` is that of a dictionary or a table of names, where
    it does not say so.
    """
    if is_path(edits):
        path = Path(fspath(edits))
        name = path.name.encode("utf-8", "replace").decode()  # it is written into the run
        return _given(
            name, _names_of(path, run) if path.suffix.lower() in TABLES else _read_file(path)
        )
    if isinstance(edits, Edits):
        return _given("Python", encode(edits))
    if isinstance(edits, Mapping):
        known = {"format": EDITS_FORMAT, "version": EDITS_VERSION, "run": run}
        return _given("Python", {**known, **encode(dict(edits))})
    raise ParameterError(
        "{edits} must be a file, a dictionary or an object of the type Edits; got {got}",
        got=f"a {type(edits).__name__}",
    )


def _names_of(path: Path, run: str | None) -> dict[str, Any]:
    """Read a table of groups and names as edits of these names."""
    try:
        given = read_names(path)
    except ParameterError as error:
        remedy = "give a table with the columns group and name"
        raise refusal(path.name, error.message.values["problem"], remedy) from None
    names = {} if given is None else {str(k): name for k, name in given.names.items()}
    of = run if given is None else given.fit or run
    return {"format": EDITS_FORMAT, "version": EDITS_VERSION, "run": of, "names": names}


def _read_file(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise refusal(str(path), "there is no such file", "export edits from the report of a run")
    try:
        return read_json(path)
    except RunError as error:
        problem = str(error).removeprefix(f"{path}: ").removeprefix("damaged, ")
        problem = problem.removeprefix("damaged: ").removesuffix(".")
        raise refusal(str(path), problem, EXPORT) from None


def _given(source: str, content: dict[str, Any]) -> EditStep:
    """Check the shape of edits that are given."""
    return EditStep(source=source, edits=checked(source, _typed(source, content)))


def checked(source: str, edits: Edits) -> Edits:
    """Check names and notes; return edits with names as they are shown, and everything once."""
    for k, note in edits.notes.groups.items():
        _check_note(source, f"group {k}", note)
    for one, note in edits.notes.documents.items():
        _check_note(source, f"document {shown(one)}", note)
    try:
        names = check_names(source, edits.names.items()) if edits.names else {}
    except ParameterError as error:
        raise refusal(source, error.message.values["problem"], "correct the names") from None
    notes = EditNotes(
        groups=_ordered(edits.notes.groups), documents=_ordered(edits.notes.documents)
    )
    return replace(
        edits,
        names=_ordered(names),
        move=_ordered(edits.move),
        notes=notes,
        drop_words=_once(edits.drop_words),
        misplaced=_once(edits.misplaced),
    )


def _typed(source: str, content: dict[str, Any]) -> Edits:
    """Check the shape of edits: their format, the names of their parts, the types of values."""
    kind, version = (content.get(name) for name in ("format", "version"))
    problem = f"not a file of edits: its format is {shown(str(kind))}, not {EDITS_FORMAT!r}"
    _require(kind == EDITS_FORMAT, source, problem, EXPORT)
    reads = f"this spheremix reads version {EDITS_VERSION}"
    problem = f"version {shown(str(version))} of the format; {reads}"
    _require(version == EDITS_VERSION, source, problem, EXPORT)
    _require_known(source, content, {one.name for one in fields(Edits)}, "")
    notes = content.get("notes")
    if isinstance(notes, dict):
        _require_known(source, notes, {one.name for one in fields(EditNotes)}, "notes: ")
    try:
        edits: Edits = decode(Edits, content, source)
    except RunError as error:
        problem = str(error).removeprefix(f"{source}: ").replace("damaged: ", "")
        raise refusal(source, problem.removesuffix("."), "correct the value") from None
    _require(any(_parts(edits)), source, "there are no edits in it", EXPORT)
    return edits


def _parts(edits: Edits) -> list[Collection[Any]]:
    """List all that edits ask for, part by part."""
    names = [one.name for one in fields(Edits) if one.name not in {*HEAD, "notes"}]
    return [
        *(getattr(edits, name) for name in names),
        *(getattr(edits.notes, one.name) for one in fields(EditNotes)),
    ]


def n_wishes(edits: Edits) -> int:
    """Count what edits ask for."""
    return sum(map(len, _parts(edits)))


def _require_known(source: str, content: dict[str, Any], known: set[str], where: str) -> None:
    listed = ", ".join(sorted(known - HEAD))
    for name in content:
        problem = f"{where}{shown(name)} is not one of {listed}"
        _require(name in known, source, problem, "remove it, or correct its name")


def check_edits(
    given: EditStep,
    *,
    run: str | None,
    n_groups: int,
    words: Collection[str] | None,
    ids: Collection[str],
) -> None:
    """Refuse edits that are not of this run, or name what it does not have.

    ``run`` is the id of the run; ``words`` are None where columns are no words.
    """
    source, edits = given.source, given.edits
    problem = f"made for another run, {shown(edits.run)}; this one is {run}"
    _require(edits.run == run, source, problem, EXPORT)
    merged = [k for several in edits.merge for k in several]
    there = f"the run has {count(n_groups, 'group')}, numbered from 0"
    known, remedy = set(range(n_groups)), "use the numbers of groups.csv"
    if edits.nodes:
        known, remedy = set(edits.nodes), "use the numbers of nodes"
        there = f"nodes has {count(len(known), 'group')}"
    for k in (*edits.names, *edits.notes.groups, *merged, *edits.split, *edits.move.values()):
        problem = f"there is no group {k}: {there}"
        _require(k in known, source, problem, remedy)
    for several in edits.merge:
        problem = f"merge: {several} is not two groups or more"
        _require(len(several) > 1, source, problem, "name all groups that become one")
    for what, numbers in (("merged", merged), ("split", edits.split)):
        for k, times in Counter(numbers).items():
            _require(times == 1, source, f"group {k} is to be {what} twice", "name it once")
    for k in sorted(set(merged) & set(edits.split)):
        problem = f"group {k} is to be merged and to be split"
        raise refusal(source, problem, "leave out one of the two")
    if edits.drop_words:
        _check_words(source, edits.drop_words, words)
    named = (*edits.notes.documents, *edits.misplaced, *edits.move)
    documents = set(ids) if named else set()
    for one in named:
        problem = f"there is no document with the id {shown(one)}"
        _require(one in documents, source, problem, "use the ids of documents.csv")


def _check_words(source: str, dropped: list[str], words: Collection[str] | None) -> None:
    problem = "drop_words: the columns of this run are no words"
    _require(words is not None, source, problem, "leave drop_words out")
    known = set(words or ())
    for word in dropped:
        problem = f"drop_words: {shown(word)} is not a word of the run"
        _require(word in known, source, problem, "use the words of words.csv")
    problem = "drop_words: fewer than two words would be left"
    _require(len(known - set(dropped)) >= LEAST_WORDS, source, problem, "drop fewer words")


def _check_note(source: str, what: str, note: str) -> None:
    _require(note.strip(), source, f"the note on {what} is empty", "leave it out")
    problem = f"the note on {what} has {len(note):,} characters, more than {LONGEST_NOTE:,}"
    _require(len(note) <= LONGEST_NOTE, source, problem, "shorten it")
    printable = all(c.isprintable() or c in f"{JOINERS}\n\t" for c in note)
    problem = f"the note on {what} has an unprintable character: {shown(note)}"
    _require(printable, source, problem, "leave that character out")


def _ordered(values: dict[K, V]) -> dict[K, V]:
    """Return them by key, as ``run.json`` has them: what is made of edits again is the same."""
    return dict(sorted(values.items()))


def _once(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def refusal(source: str, problem: str, remedy: str) -> ParameterError:
    """Say what is wrong with edits, and what to do."""
    return ParameterError(
        "{edits} ({source}): {problem}", remedies=(remedy,), source=source, problem=problem
    )


def _require(sound: Any, source: str, problem: str, remedy: str) -> None:
    if not sound:
        raise refusal(source, problem, remedy)
