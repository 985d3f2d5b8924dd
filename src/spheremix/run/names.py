"""Names that people or programs give to clusters: read, checked, and put in place of the automatic.

The numbers of clusters mean something for one fit only. Names therefore belong to a fit: to the one
whose checksum the file states in a column ``fit``, else to the one that was in the folder when the
names were given. Other clusters are not called by them.
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
from spheremix.run.schema import NameRecord
from spheremix.text.corpus import shown
from spheremix.text.files import reading
from spheremix.text.tables import open_table
from spheremix.wording import count, joined

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    Namer = Callable[[list[dict[str, Any]]], Any]

AUTOMATIC = "spheremix"  # who gave the names that nobody gave
UPDATE = "update of "  # a run, from which names were taken over
LONGEST = 100  # characters of a name
JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"  # not printable, and needed in words


@dataclass(frozen=True, slots=True)
class GivenNames:
    """Names that were given, or who gives them.

    Attributes
    ----------
    source : str
        The name of the file or of the function; "mapping" for names in Python.
    names : dict of int to str
        By number of the cluster; empty where a function gives them.
    namer : callable or None
        Gets a list of dictionaries, one for each cluster, and gives names.
    fit : str or None
        The fit whose clusters were named, where that was said.
    recorded : bool
        Whether a run had these names already: other clusters are then left without them.
    """

    source: str
    names: dict[int, str]
    namer: Namer | None = None
    fit: str | None = None
    recorded: bool = False

    def command(self) -> dict[str, Any]:
        """Return what the result depends on, as JSON can say it."""
        names = {str(cluster): name for cluster, name in self.names.items()}
        return {"source": self.source, "names": names, "fit": self.fit}

    def records(self, n_clusters: int, fit: str, before: str | None) -> dict[int, NameRecord]:
        """Return the names that a file or a mapping has, by number; none where a function names.

        Parameters
        ----------
        n_clusters : int
            Number of clusters.
        fit : str
            That of the clusters.
        before : str or None
            The fit that people saw in the folder, if there was one.
        """
        if self.recorded and self.fit not in {None, fit}:
            return {}
        self.check_fit(fit, before)
        return self._recorded(self.names, n_clusters)

    def ask(
        self, n_clusters: int, describe: Callable[[], list[dict[str, Any]]]
    ) -> dict[int, NameRecord]:
        """Return the names that a function has for clusters that are described; else none."""
        if self.namer is None:
            return {}
        pairs = _pairs(self.source, self.namer(describe()), n_clusters)
        return self._recorded(check_names(self.source, pairs), n_clusters)

    def _recorded(self, names: dict[int, str], n_clusters: int) -> dict[int, NameRecord]:
        for cluster in names:
            if cluster >= n_clusters:
                raise _refusal(
                    self.source,
                    f"there is no cluster {cluster}: the run has "
                    f"{count(n_clusters, 'cluster')}, numbered from 0",
                )
        return {k: NameRecord(name=name, source=self.source) for k, name in names.items()}

    def check_fit(self, fit: str | None, before: str | None) -> None:
        """Refuse names of other clusters than those that were found; a function gives none yet."""
        named = None if self.namer is not None else self.fit or before
        if named is not None and named != fit:
            raise ParameterError(
                "{names} ({source}): these names were given to other clusters: to those of the fit "
                "{named}, and this is the fit {fit}",
                remedies=("first run without {names} and look at the clusters",),
                source=self.source,
                named=named,
                fit=fit,
            )


def put_names(
    automatic: list[str], given: Mapping[int, NameRecord], older: Collection[str] = ()
) -> list[NameRecord]:
    """Name all clusters; those without a given name keep the automatic one.

    Parameters
    ----------
    automatic : list of str
        A name for each cluster.
    given : dict of int to NameRecord
        Names that people or programs gave.
    older : collection of str
        Those of them that were given to earlier groups: an automatic name yields to them. Others
        that are an automatic name are refused.
    """
    for one in given.values():
        others = [k for k, name in enumerate(automatic) if name == one.name and k not in given]
        if others and one.name not in older:
            raise _refusal(
                one.source,
                f"{shown(one.name)} is the automatic name of cluster {others[0]}: give that one "
                "another name, too",
            )
    taken = {one.name for one in given.values()}
    return [
        given.get(k, NameRecord(name=told_apart(name, taken), source=AUTOMATIC))
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


def carried_names(names: Iterable[str]) -> list[str]:
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
    if isinstance(names, str) or hasattr(names, "__fspath__"):
        return _read_file(Path(fspath(names)))
    if isinstance(names, Mapping):
        return GivenNames("mapping", check_names("mapping", names.items()))
    if callable(names):
        return GivenNames(str(getattr(names, "__name__", type(names).__name__)), {}, names)
    raise ParameterError(
        "{names} must be a file, a mapping from numbers of clusters to names, or a function; got "
        "{got}",
        got=f"a {type(names).__name__}",
    )


def _read_file(path: Path) -> GivenNames:
    with reading(path):
        records = [record for _, record in open_table(path).records()]
    for column in ("cluster", "name"):
        short = next((record for record in records if column not in record), None)
        if short is not None:
            there = joined([shown(name) for name in short])
            raise _refusal(path.name, f"there is no column {column!r}; there are {there}")
    fits = {str(record["fit"]).strip() for record in records if record.get("fit")}
    if len(fits) > 1:
        raise _refusal(path.name, "the column 'fit' must have one value: names are of one fit")
    # A table of clusters may end with the documents that belong nowhere.
    named = [record for record in records if str(record["cluster"]).strip() != "-1"]
    pairs = ((record["cluster"], record["name"]) for record in named)
    return GivenNames(path.name, check_names(path.name, pairs), fit=next(iter(fits), None))


def _pairs(source: str, found: Any, n_clusters: int) -> Iterable[tuple[Any, Any]]:
    """Take what a function gave: a name for each cluster, or names by number."""
    if isinstance(found, Mapping):
        return found.items()
    if isinstance(found, list | tuple) and len(found) == n_clusters:
        return enumerate(found)
    raise _refusal(
        source,
        f"a function must give a list of {count(n_clusters, 'name')}, or a mapping from "
        f"numbers of clusters to names; it gave {shown(found)}",
    )


def check_names(source: str, pairs: Iterable[tuple[Any, Any]]) -> dict[int, str]:
    """Check names that were given, whoever gave them."""
    found: dict[int, str] = {}
    for number, given in pairs:
        cluster = _number(source, number)
        name = given.strip() if isinstance(given, str) else ""
        if not name:
            raise _refusal(
                source, f"the name of cluster {cluster} must be a text that is not empty"
            )
        if len(name) > LONGEST:
            raise _refusal(
                source,
                f"the name of cluster {cluster} has {len(name):,} characters, more than {LONGEST}",
            )
        if not all(c.isprintable() or c in JOINERS for c in name):
            raise _refusal(
                source,
                f"the name of cluster {cluster} has an unprintable character: {shown(name)}",
            )
        if cluster in found:
            raise _refusal(source, f"cluster {cluster} has two names")
        twin = [k for k, other in found.items() if other == name]
        if twin:
            raise _refusal(
                source, f"clusters {twin[0]} and {cluster} have the same name, {shown(name)}"
            )
        found[cluster] = name
    if not found:
        raise _refusal(source, "there are no names")
    return found


def _number(source: str, number: Any) -> int:
    """Return the number of a cluster; in a table it may be a text."""
    try:
        found = int(number) if isinstance(number, str) else operator.index(number)
    except (ValueError, TypeError):
        found = -1
    if found < 0 or isinstance(number, bool):
        raise _refusal(source, f"{shown(number)} is not the number of a cluster")
    return found


def _refusal(source: str, problem: str) -> ParameterError:
    return ParameterError("{names} ({source}): {problem}", source=source, problem=problem)
