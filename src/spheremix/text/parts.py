"""Texts where they are: in memory as one part, or in the partitions of a Dask collection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

from scipy import sparse

from spheremix.errors import ParameterError
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


class DaskParts:
    """Parts of a Dask bag or of a column of a Dask data frame; what is made stays on the workers.

    They are the workers of the active client; without one, Dask's threads. Partitions are read
    where they are, and only counts come into this process. What a lost worker held is made again
    by Dask.
    """

    def __init__(self, parts: Iterable[Any]) -> None:
        self._parts = list(parts)

    @classmethod
    def of_texts(cls, X: Any) -> Self:
        """Open a bag, or a column of a data frame; each partition is read when it is needed."""
        from dask.delayed import delayed  # noqa: PLC0415 (only who has such texts has Dask)

        if getattr(X, "ndim", 1) != 1:
            raise ParameterError(
                "The texts are a Dask data frame of {n} columns: give the one with the texts, as "
                '{frame["text"]}',
                n=len(X.columns),
            )
        read = delayed(read_part, pure=True)
        return cls(read(part, i) for i, part in enumerate(X.to_delayed()))

    def each(self, work: Callable[..., Any], *shared: Any) -> list[Any]:
        """Return the work on each part."""
        import dask  # noqa: PLC0415

        return list(dask.compute(*self._lazily(work, shared)))

    def keep(self, work: Callable[..., Any], *shared: Any) -> DaskParts:
        """Leave the work on each part on its worker."""
        import dask  # noqa: PLC0415

        return DaskParts(dask.persist(*self._lazily(work, shared)))

    def matrix(self) -> Any:
        """Return sparse matrices as one Dask array, a block a part."""
        import dask.array as da  # noqa: PLC0415

        shapes = self.each(shape_of)
        meta = sparse.csr_array((0, 0), dtype=shapes[0][1])
        blocks = [
            da.from_delayed(part, shape, kind, meta=meta)
            for part, (shape, kind) in zip(self._parts, shapes, strict=True)
            if shape[0]
        ]
        return da.concatenate(blocks)

    def _lazily(self, work: Callable[..., Any], shared: tuple[Any, ...]) -> list[Any]:
        """Return tasks that share what is sent to a worker once."""
        from dask.delayed import delayed  # noqa: PLC0415

        sent = [delayed(one) for one in shared]
        call = delayed(work, pure=True)
        return [call(part, *sent) for part in self._parts]


# Tasks that run where the parts are


def read_part(partition: Iterable[Any], number: int) -> list[str]:
    """Return the texts of a partition."""
    texts = list(partition)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise ParameterError(
                "Text {i} of partition {number} must be a string, got {kind}",
                i=i,
                number=number,
                kind=type(text).__name__,
            )
    return texts


def shape_of(rows: Any) -> tuple[tuple[int, int], Any]:
    """Return the shape and the type of a matrix."""
    return rows.shape, rows.dtype


# Opening, and adding up


def open_texts(X: Any) -> Parts:
    """Return texts as parts; those of a Dask collection stay on its workers."""
    return DaskParts.of_texts(X) if is_lazy(X) else Here(check_texts(X))


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
