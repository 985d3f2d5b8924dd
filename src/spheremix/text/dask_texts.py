"""Texts in the partitions of a Dask bag or of a column of a Dask data frame.

Partitions are read where they are. What is made of them, numbers of words and rows, stays on the
workers; only counts come into this process. What a lost worker held is made again by Dask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import dask
import dask.array as da
from dask.delayed import delayed
from scipy import sparse

from spheremix.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class DaskParts:
    """Parts on the workers of the active client; without one, in Dask's threads."""

    def __init__(self, parts: Iterable[Any]) -> None:
        self._parts = list(parts)

    @classmethod
    def of_texts(cls, X: Any) -> Self:
        """Open a bag, or a column of a data frame; each partition is read when it is needed."""
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
        return list(dask.compute(*self._lazily(work, shared)))

    def keep(self, work: Callable[..., Any], *shared: Any) -> DaskParts:
        """Leave the work on each part on its worker."""
        return DaskParts(dask.persist(*self._lazily(work, shared)))

    def matrix(self) -> Any:
        """Return sparse matrices as one Dask array, a block a part."""
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
