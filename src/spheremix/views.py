"""Several views of a row, such as its words and its meaning: their columns lie side by side.

A row has a unit vector for each view, one after another, and at the end a column for each view
that is one where the row has nothing in that view (its part is zero there) and zero elsewhere. With
these columns a score of the views is still one affine function of the row, and the resultants say
how much of a component has no part in a view.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise


@dataclass(frozen=True, slots=True)
class Views:
    """The names of the views, and how many columns each has."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]

    @property
    def n_features(self) -> int:
        """Columns of all views."""
        return sum(self.sizes)

    @property
    def width(self) -> int:
        """Columns of a row: those of the views, and one a view for what is absent."""
        return self.n_features + len(self.sizes)

    @property
    def columns(self) -> tuple[slice, ...]:
        """The columns of each view."""
        ends = accumulate(self.sizes, initial=0)
        return tuple(slice(a, b) for a, b in pairwise(ends))

    @property
    def absences(self) -> slice:
        """The columns that say which views a row has nothing in."""
        return slice(self.n_features, self.width)
