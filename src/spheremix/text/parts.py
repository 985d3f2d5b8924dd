"""Texts where they are: in memory as one part, or in the partitions of a Dask collection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from spheremix.text.corpus import check_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping


class Parts(Protocol):
    """Parts of texts, or what was made of them, in order."""

    def each(self, work: Callable[..., Any], *shared: Any) -> list[Any]:
        """Return ``work(part, *shared)`` of each part."""
        ...

    def keep(self, work: Callable[..., Any], *shared: Any) -> Parts:
        """Leave ``work(part, *shared)`` of each part where the part is."""
        ...

    def matrix(self) -> Any:
        """Return parts that are sparse matrices as one."""
        ...


@dataclass(frozen=True, slots=True)
class Here:
    """What is in memory: one part."""

    part: Any

    def each(self, work: Callable[..., Any], *shared: Any) -> list[Any]:
        """Return the work on the part."""
        return [work(self.part, *shared)]

    def keep(self, work: Callable[..., Any], *shared: Any) -> Here:
        """Return the work on the part, as a part."""
        return Here(work(self.part, *shared))

    def matrix(self) -> Any:
        """Return the part."""
        return self.part


def open_texts(X: Any) -> Parts:
    """Return texts as parts; those of a Dask collection stay on its workers."""
    if not is_lazy(X):
        return Here(check_texts(X))
    from spheremix.text.dask_texts import DaskParts  # noqa: PLC0415 (it needs Dask)

    return DaskParts.of_texts(X)


def is_lazy(X: Any) -> bool:
    """Return whether texts are a Dask collection."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed")


def added(counts: Iterable[Mapping[Any, int]]) -> dict[Any, int]:
    """Add counts of parts; keys are in the order in which they are met first."""
    total: dict[Hashable, int] = {}
    for part in counts:
        if not total:
            total = dict(part)
            continue
        for key, n in part.items():
            total[key] = total.get(key, 0) + n
    return total
