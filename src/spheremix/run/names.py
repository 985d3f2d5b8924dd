"""Names that people or programs give to groups: read, checked, and put in place of the automatic.

The numbers of groups mean something for one fit only. Names therefore belong to a fit: to the one
whose checksum the file states in a column ``fit``, else to the one that was in the folder when the
names were given. Other groups are not called by them.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spheremix.errors import ParameterError
from spheremix.run.folder.archive import about
from spheremix.run.folder.files import is_path
from spheremix.text.corpus import shown
from spheremix.text.files import reading
from spheremix.text.formats import open_table
from spheremix.wording import count, joined

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    Namer = Callable[[list[dict[str, Any]]], Any]

AUTOMATIC = "spheremix"  # who gave the names that nobody gave
UPDATE = "update of "  # a run, from which names were taken over
LONGEST = 100  # characters of a name
JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"  # not printable, and needed in words


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """The name of a group."""

    name: str = about("The name.")
    source: str = about("The file or the function that gave it; spheremix for automatic names.")


@dataclass(frozen=True, slots=True)
class GivenNames:
    """Names that were given, or who gives them."""

    source: str  # the name of the file or of the function; "mapping" for names in Python
    names: dict[int, str]  # by number of the group; empty where a function gives them
    namer: Namer | None = None  # gets what Run.describe_groups returns, and gives names
    fit: str | None = None  # the fit whose groups were named, where that was said

    def command(self) -> dict[str, Any]:
        """Return what the result depends on, as JSON can say it."""
        names = {str(group): name for group, name in self.names.items()}
        return {"source": self.source, "names": names, "fit": self.fit}

    def records(
        self, n_groups: int, fit: str, seen: str | None, edited: Path | None = None
    ) -> dict[int, Name]:
        """Return the names that a file or a mapping has, by number; none where a function names.

        Names of other groups than those of this fit are refused: they are of the fit that they
        state, or else of the one that people saw in the folder. ``edited`` is the folder, where
        the groups that they saw there were edited.
        """
        named = None if self.namer is not None else self.fit or seen
        if named is not None and named != fit:
            remedy = "first run without {names} and look at the groups"
            if edited is not None and named == seen:
                remedy = "give names to groups that were edited with spheremix edit {run} TABLE"
            raise ParameterError(
                "{names} ({source}): these names were given to other groups: to those of the fit "
                "{named}, and this is the fit {fit}",
                remedies=(remedy,),
                source=self.source,
                named=named,
                fit=fit,
                run=edited,
            )
        return self._recorded(self.names, n_groups)

    def ask(self, n_groups: int, describe: Callable[[], list[dict[str, Any]]]) -> dict[int, Name]:
        """Return the names that a function has for groups that are described; else none."""
        if self.namer is None:
            return {}
        pairs = _pairs(self.source, self.namer(describe()), n_groups)
        return self._recorded(check_names(self.source, pairs), n_groups)

    def _recorded(self, names: dict[int, str], n_groups: int) -> dict[int, Name]:
        for group in names:
            if group >= n_groups:
                raise _refusal(
                    self.source,
                    f"there is no group {group}: the run has "
                    f"{count(n_groups, 'group')}, numbered from 0",
                )
        return {k: Name(name=name, source=self.source) for k, name in names.items()}


def names_of(command: dict[str, Any]) -> dict[int, Name]:
    """Return the names that the options of a run gave, as ``run.json`` keeps them."""
    given = command.get("names")
    given = given if isinstance(given, dict) else {}
    names, source = given.get("names"), str(given.get("source"))
    return {
        int(k): Name(name=str(name), source=source)
        for k, name in (names.items() if isinstance(names, dict) else ())
        if k.isdecimal()
    }


def put_names(
    automatic: list[str], given: Mapping[int, Name], older: Collection[str] = ()
) -> list[Name]:
    """Name all groups; those without a given name keep the automatic one.

    An automatic name yields to a given one that is older, given to earlier groups; any other that
    is an automatic name is refused.
    """
    for one in given.values():
        others = [k for k, name in enumerate(automatic) if name == one.name and k not in given]
        if others and one.name not in older:
            raise _refusal(
                one.source,
                f"{shown(one.name)} is the automatic name of group {others[0]}: give that one "
                "another name, too",
            )
    taken = {one.name for one in given.values()}
    return [
        given.get(k, Name(name=told_apart(name, taken), source=AUTOMATIC))
        for k, name in enumerate(automatic)
    ]


def told_apart(name: str, taken: Collection[str]) -> str:
    """Return a name, with a number where others have it."""
    found = name
    for i in itertools.count(2):
        if found not in taken:
            break
        found = f"{name[: LONGEST - 10]} ({i})"
    return found


def taken_over_names(names: Iterable[str]) -> list[str]:
    """Return automatic names as people could give them: none too long, each different."""
    found: list[str] = []
    for name in names:
        shown_ones = "".join(c if c.isprintable() or c in JOINERS else " " for c in name)
        found.append(told_apart(shown_ones[:LONGEST].strip() or "?", found))
    return found


def read_names(names: Any) -> GivenNames | None:
    """Take names as they are given: a file, a mapping, a function, or None."""
    if names is None:
        return None
    if is_path(names):
        return _read_file(Path(fspath(names)))
    if isinstance(names, Mapping):
        return GivenNames("mapping", check_names("mapping", names.items()))
    if callable(names):
        return GivenNames(str(getattr(names, "__name__", type(names).__name__)), {}, names)
    raise ParameterError(
        "{names} must be a file, a mapping from numbers of groups to names, or a function; got "
        "{got}",
        got=f"a {type(names).__name__}",
    )


def _read_file(path: Path) -> GivenNames:
    with reading(path):
        records = [record for _, record in open_table(path).records()]
    for column in ("group", "name"):
        short = next((record for record in records if column not in record), None)
        if short is not None:
            there = joined([shown(name) for name in short])
            raise _refusal(path.name, f"there is no column {column!r}; there are {there}")
    fits = {str(record["fit"]).strip() for record in records if record.get("fit")}
    if len(fits) > 1:
        raise _refusal(path.name, "the column 'fit' must have one value: names are of one fit")
    # A table of groups may end with the documents that belong nowhere.
    named = [record for record in records if str(record["group"]).strip() != "-1"]
    pairs = ((record["group"], record["name"]) for record in named)
    return GivenNames(path.name, check_names(path.name, pairs), fit=next(iter(fits), None))


def _pairs(source: str, found: Any, n_groups: int) -> Iterable[tuple[Any, Any]]:
    """Take what a function gave: a name for each group, or names by number."""
    if isinstance(found, Mapping):
        return found.items()
    if isinstance(found, list | tuple) and len(found) == n_groups:
        return enumerate(found)
    raise _refusal(
        source,
        f"a function must give a list of {count(n_groups, 'name')}, or a mapping from "
        f"numbers of groups to names; it gave {shown(found)}",
    )


def check_names(source: str, pairs: Iterable[tuple[Any, Any]]) -> dict[int, str]:
    """Check names that were given, whoever gave them."""
    found: dict[int, str] = {}
    owners: dict[str, int] = {}
    for number, given in pairs:
        group = _number(source, number)
        name = given.strip() if isinstance(given, str) else ""
        of = f"the name of group {group}"
        printable = all(c.isprintable() or c in JOINERS for c in name)
        for sound, problem in (
            (name, f"{of} must be a text that is not empty"),
            (len(name) <= LONGEST, f"{of} has {len(name):,} characters, more than {LONGEST}"),
            (printable, f"{of} has an unprintable character: {shown(name)}"),
            (group not in found, f"group {group} has two names"),
            (
                name not in owners,
                f"groups {owners.get(name)} and {group} have the same name, {shown(name)}",
            ),
        ):
            if not sound:
                raise _refusal(source, problem)
        found[group], owners[name] = name, group
    if not found:
        raise _refusal(source, "there are no names")
    return found


def _number(source: str, number: Any) -> int:
    """Return the number of a group; in a table it may be a text."""
    try:
        found = int(number) if isinstance(number, str) else operator.index(number)
    except (ValueError, TypeError):
        found = -1
    if found < 0 or isinstance(number, bool):
        raise _refusal(source, f"{shown(number)} is not the number of a group")
    return found


def _refusal(source: str, problem: str) -> ParameterError:
    return ParameterError("{names} ({source}): {problem}", source=source, problem=problem)
