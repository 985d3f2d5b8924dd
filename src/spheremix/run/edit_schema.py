"""Edits of people as files: every key of ``edits.json``, once, with its meaning.

These classes belong to those of :mod:`spheremix.run.schema`, and are written and read in the same
way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spheremix.errors import Message  # noqa: TC001 (types are read when decoding)
from spheremix.run.schema import CorpusRecord, MixtureRecord  # noqa: TC001
from spheremix.run.typed import about

EDITS_FORMAT, EDITS_VERSION = "spheremix edits", 1
HISTORY_FORMAT = "spheremix edits of a run"


@dataclass(frozen=True, slots=True, kw_only=True)
class EditNotes:
    """Notes of people."""

    groups: dict[int, str] = about("By number of the group.", default_factory=dict)
    documents: dict[str, str] = about("By id of the document.", default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """What people want to be different: the file that the report exports and ``edit`` takes.

    Groups have the numbers of clusters.csv.
    """

    format: str = about(f"Always {EDITS_FORMAT!r}.", default=EDITS_FORMAT)
    version: int = about("Version of the format.", default=EDITS_VERSION)
    run: str = about("Id of the run whose groups are meant.")
    names: dict[int, str] = about("Names, by number of the group.", default_factory=dict)
    merge: list[list[int]] = about(
        "Groups that become one: for each merge two numbers or more.", default_factory=list
    )
    split: list[int] = about("Groups that become two.", default_factory=list)
    drop_words: list[str] = about("Words that are left out.", default_factory=list)
    notes: EditNotes = about("Notes on groups and documents.", default_factory=EditNotes)
    misplaced: list[str] = about(
        "Ids of documents that people find misplaced. They are listed; no group changes.",
        default_factory=list,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingEdits:
    """All that was asked for at once, where a later run could not have all of it.

    It is made again when its groups come back.
    """

    edits: Edits = about("The edits as they were before some could not be kept.")
    groups: str = about("The group of each document then, as in the steps.")
    documents: list[str] = about("What these documents were known by.")
    lost: list[str] = about("What could not be kept, in sentences.")


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
        "Places of all groups on the circle of colours, from 0 to 1, each with 0 or 1 for dark or "
        "light; those of the run before are kept."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EditStep:
    """Edits that were made to a run at once."""

    source: str = about("The file that they came from.")
    edits: Edits = about("The edits themselves, in the numbers of this run.")
    groups: str = about(
        "The group of each document when the edits were made, in the order of documents.csv, - for "
        "none: by their documents, edits find their groups again in another run."
    )
    changes: list[str] = about("What they changed, in sentences.", default_factory=list)
    waiting: WaitingEdits | None = about(
        "All that was asked for, where not all of it could be kept in this run.", default=None
    )
    update: UpdateRecord | None = about(
        "If these are the names, notes and marks of a run that was brought up to date: that run.",
        default=None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EditHistory:
    """The content of ``edits.json`` in the folder of a run: all edits that were made to it."""

    format: str = about(f"Always {HISTORY_FORMAT!r}.", default=HISTORY_FORMAT)
    version: int = about("Version of the format.", default=EDITS_VERSION)
    steps: list[EditStep] = about("The edits, in the order in which they were made.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedEdits:
    """Edits on their way to a run: what a killed process needs to go on with them."""

    steps: list[EditStep] = about("The edits, in their order.")
    documents: list[str] = about("What the documents were known by when the edits were made.")
    undoing: bool = about("Whether this is what is left after edits were taken back.")


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginRecord:
    """Where an edited run comes from: what its stages do not say."""

    command: dict[str, Any] = about("The options, and checksums of the input.")
    versions: dict[str, str] = about("Versions of the libraries.")
    corpus: CorpusRecord = about("Where the documents come from.")
    names: dict[int, str] = about("Names that were given with the options.")
    names_source: str = about("Who gave them.")
    names_fit: str | None = about(
        "The fit whose groups have these names, where it is not the one that was explored.",
        default=None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedRecord:
    """A mixture that was fitted again after edits."""

    mixture: MixtureRecord = about("The mixture without penalty.")
    changes: list[str] = about("What changed, in sentences.")
    notes: list[Message] = about("What should be said about the fit.", default_factory=list)
