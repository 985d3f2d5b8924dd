"""What is new in a batch of documents: the result of a comparison, in arrays and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

UNSTABLE = 0.02  # share of documents that would change group, from which on there is a caution
LISTED = 3  # documents of a new group that are named
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Check:
    """One of the four checks of a batch.

    Attributes
    ----------
    name : str
        "new group", "fit", "shares" or "words".
    p_value : float
        Probability of such a result, or one farther away, if nothing has changed.
    alarm : bool
        Whether it is at most a quarter of the rate of false alarms.
    sentence : str
        What was found.
    """

    name: str
    p_value: float
    alarm: bool
    sentence: str


@dataclass(frozen=True, slots=True, eq=False)
class NewGroup:
    """A group that is suggested: documents that are nearer to each other than to any group.

    Attributes
    ----------
    members : ndarray of int
        Their numbers in the batch, from 0.
    words : list of str
        Its characteristic words, the first ones first; empty where columns are no words.
    so_far : dict of int to int
        The groups that are nearest to these documents, with their numbers, largest first.
    """

    members: Ids
    words: list[str]
    so_far: dict[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class GroupChanges:
    """What a batch says of the groups; each attribute has one entry a group.

    Attributes
    ----------
    found : ndarray of int
        New documents of the group, without those of suggested groups and those that belong nowhere.
    expected : ndarray of float
        As many as its share of the past.
    share_changed, words_changed : ndarray of bool
        Whether the difference is beyond chance.
    share_p_values, word_p_values : ndarray of float
        Probability that any group differs so much by chance. NaN where there are fewer than two
        documents.
    more, fewer : list of list of str
        Of groups whose words have changed: words of which there is more, or less, than before.
    """

    found: Ids
    expected: Array
    share_changed: NDArray[np.bool_]
    words_changed: NDArray[np.bool_]
    share_p_values: Array
    word_p_values: Array
    more: list[list[str]]
    fewer: list[list[str]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BatchComparison:
    """What is new in a batch of documents; ``print`` shows it.

    Attributes
    ----------
    n_past : int
        Documents of the fit.
    level : float
        The rate of false alarms of all checks together.
    labels : ndarray of int, shape (m,)
        The most probable group of each document; -1 if it belongs nowhere, in a mixture with noise.
    cosines : ndarray of float, shape (m,)
        With its prototype.
    p_values : ndarray of float, shape (m,)
        Share of the documents of the past that fit as badly, or worse.
    new_group : ndarray of int, shape (m,)
        Number of the suggested group in ``new_groups``, -1 for none.
    checks : tuple of Check
        New group, fit, shares and words.
    new_groups : list of NewGroup
        The suggested groups, clearest first.
    groups : GroupChanges
        Shares and words of the groups.
    nowhere : (int, float) or None
        New documents that belong nowhere and to no suggested group, and how many one expects; None
        in a mixture without noise.
    unstable : float
        Share of the documents of the fit that would change group if they were left out of it. Where
        it is not small, groups follow single documents, and more false alarms come.
    """

    n_past: int
    level: float
    labels: Ids
    cosines: Array
    p_values: Array
    new_group: Ids
    checks: tuple[Check, ...]
    new_groups: list[NewGroup]
    groups: GroupChanges
    nowhere: tuple[int, float] | None
    unstable: float

    @property
    def alarms(self) -> list[str]:
        """The names of the checks that raise an alarm."""
        return [one.name for one in self.checks if one.alarm]

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def documents_table(self) -> dict[str, NDArray[Any]]:
        """Return what is known of the documents, column by column: ready for a data frame.

        Returns
        -------
        dict of ndarray
            ``group``, ``cosine``, ``fit_p_value`` and ``new_group``; a row a document.
        """
        return {
            "group": self.labels,
            "cosine": self.cosines,
            "fit_p_value": self.p_values,
            "new_group": self.new_group,
        }

    def groups_table(self) -> dict[str, Any]:
        """Return what is known of the groups, column by column: ready for a data frame.

        Returns
        -------
        dict of sequences
            ``group``, ``found``, ``expected``, ``share_p_value``, ``words_p_value``,
            ``more_words`` and ``fewer_words``; a row a group.
        """
        groups = self.groups
        return {
            "group": np.arange(len(groups.found)),
            "found": groups.found,
            "expected": groups.expected,
            "share_p_value": groups.share_p_values,
            "words_p_value": groups.word_p_values,
            "more_words": [", ".join(words) for words in groups.more],
            "fewer_words": [", ".join(words) for words in groups.fewer],
        }

    def lines(
        self, names: Sequence[str] | None = None, documents: Sequence[str] | None = None
    ) -> list[str]:
        """Say what is new, in lines.

        Parameters
        ----------
        names : sequence of str, default=None
            The names of the groups.
        documents : sequence of str, default=None
            What the documents of the batch are called.

        Returns
        -------
        list of str
            The checks, the suggested groups, and the groups one by one.
        """
        raise_ = "raises" if len(self.alarms) == 1 else "raise"
        raised = f"{len(self.alarms)} of {len(self.checks)} checks {raise_} an alarm."
        return [
            f"{count(len(self.labels), 'new document')} compared with {self.n_past:,} of the past: "
            + (raised if self.alarms else "nothing is new."),
            *self._check_lines(),
            *self._new_lines(names, documents),
            *self._group_lines(names),
        ]

    def _check_lines(self) -> list[str]:
        found = [
            f"  {'ALARM' if one.alarm else 'ok':5}  {one.name:9}  {one.sentence} "
            f"(p = {one.p_value:.2g})"
            for one in self.checks
        ]
        rate = f"{100 * self.level:.3g}"
        return [
            *found,
            f"  Of 100 batches in which nothing is new, at most about {rate} raise an alarm.",
            *([] if self.unstable < UNSTABLE else [self._caution()]),
        ]

    def _caution(self) -> str:
        return (
            f"  CAUTION: {self.unstable:.0%} of the documents of the past would change group if "
            "they were left out of the fit. Such groups follow single documents, and more batches "
            "raise an alarm: take fewer groups, or more documents."
        )

    def _new_lines(self, names: Sequence[str] | None, documents: Sequence[str] | None) -> list[str]:
        lines = []
        for letter, one in zip(LETTERS, self.new_groups, strict=False):
            about = f": {', '.join(one.words)}" if one.words else ""
            lines += ["", f"New group {letter}, {count(len(one.members), 'document')}{about}"]
            so_far = [f"{n:,} in group {_called(k, names)}" for k, n in one.so_far.items()]
            lines.append(f"  nearest groups: {', '.join(so_far)}")
            if documents is not None:
                closest = [documents[i] for i in one.members[:LISTED]]
                more = ", ..." if len(one.members) > LISTED else ""
                lines.append(f"  documents: {', '.join(closest)}{more}")
        return lines

    def _group_lines(self, names: Sequence[str] | None) -> list[str]:
        groups = self.groups
        each = [
            f"  {groups.found[k]:6,}  {groups.expected[k]:8,.1f}  {_called(k, names)}"
            f"{self._changed(k)}"
            for k in range(len(groups.found))
        ]
        if self.nowhere is not None:
            found, expected = self.nowhere
            each.append(f"  {found:6,}  {expected:8,.1f}  none: they belong nowhere")
        return ["", "   found  expected  group", *each]

    def _changed(self, k: int) -> str:
        groups, said = self.groups, ""
        if groups.share_changed[k]:
            said += "; MORE" if groups.found[k] > groups.expected[k] else "; FEWER"
            said += " than chance allows"
        if groups.words_changed[k]:
            parts = [f"more {', '.join(groups.more[k])}"] if groups.more[k] else []
            parts += [f"less {', '.join(groups.fewer[k])}"] if groups.fewer[k] else []
            said += f"; OTHER WORDS{': ' if parts else ''}{'; '.join(parts)}"
        return said


def _called(k: int, names: Sequence[str] | None) -> str:
    return f"{k}" if names is None else f"{k} ({names[k]})"
