"""Group: a group of a fitted model in short."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spheremix.reading.vocabulary import Word


@dataclass(frozen=True, slots=True)
class Group:
    """A group in short.

    Attributes
    ----------
    group : int
        Its number in the model.
    name : str
        The name that was given to it, or words that name it.
    weight : float
        Its share in the mixture.
    size : int or None
        Documents of which it is the most probable group; None where the model has no labels.
    kappa : float or None
        Its concentration; None for spherical k-means.
    n_words : int
        Non-zero coordinates of its prototype.
    n_only_here_words : int
        Those that no other prototype has.
    words : tuple of Word
        Its most characteristic words, whoever else has them.
    only_here_words : tuple of Word
        Words that no other prototype has and that at least 5 % of its documents contain (as far as
        the rows are known), the most characteristic ones first.
    shared_words : tuple of Word
        Words that some other prototypes have, too; common words, those of all groups, are in
        neither of these two lists.
    contrast_words : tuple of str
        Words that set its documents apart, where features are no words; else empty.
    """

    group: int
    name: str
    weight: float
    size: int | None
    kappa: float | None
    n_words: int
    n_only_here_words: int
    words: tuple[Word, ...]
    only_here_words: tuple[Word, ...]
    shared_words: tuple[Word, ...]
    contrast_words: tuple[str, ...] = ()
