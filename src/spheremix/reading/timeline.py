"""Groups against time: documents by month or by year, and their shares with intervals.

The interval of a share is that of Wilson (1927), "Probable inference, the law of succession, and
statistical inference", for as many documents as there are in the period. Shares of documents that
can be in several groups vary less than those of documents that are in one: with s_i the share of a
group in each of N documents, and m_i the mean of its period, of which there are P, the number of
documents is divided by

    N / (N - P) sum_i (s_i - m_i)^2 / sum_i m_i (1 - m_i),

which is 1, at most, and so it is where each document is in one group. The groups are held.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from scipy.stats import norm

from spheremix.reading.labels import as_groups, count_groups, is_missing
from spheremix.text.values import iso_date

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

Period = Literal["auto", "month", "year"]

MANY_MONTHS = 60  # beyond them, time is counted in years
LEAST_RATIO = 1e-3  # of variances; and documents of a period that has none
_UNITS = {"month": "M", "year": "Y"}


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """Documents of each group by period.

    Attributes
    ----------
    periods : tuple of str
        "2016-10" or "2016", from the first to the last that has documents, without gaps.
    counts : ndarray of shape (K, n_periods)
        Documents of the group in the period.
    n_undated : int
        Documents without date.
    totals : ndarray of shape (n_periods,)
        Documents of all groups in the period.
    squares : ndarray of shape (K,)
        Sums of the squared shares of the group in dated documents: ``counts`` summed, where each
        document is in one group.
    """

    periods: tuple[str, ...]
    counts: NDArray[Any]
    n_undated: int
    totals: NDArray[np.intp]
    squares: NDArray[np.float64]

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of the group in the documents of the period; 0 where there are none."""
        found: NDArray[np.float64] = self.counts / np.maximum(self.totals, 1)
        return found

    def bounds(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the ends of the intervals of the shares; 0 and 1 where there are no documents.

        Examples
        --------
        >>> from spheremix.reading import timeline
        >>> low, high = timeline([0] * 5 + [1] * 5, ["2016"] * 10, period="year").bounds()
        >>> low.round(3).tolist(), high.round(3).tolist()
        ([[0.237], [0.237]], [[0.763], [0.763]])
        """
        shares, n = self.shares, self.totals
        chance = (n * shares * (1.0 - shares)).sum(axis=1)
        spread = self.squares - (n * shares**2).sum(axis=1)
        free = n.sum() - np.count_nonzero(n)
        chance *= free / max(n.sum(), 1)
        one = np.ones_like(chance)
        ratio = np.clip(np.divide(spread, chance, out=one, where=chance > 0.0), LEAST_RATIO, 1.0)
        z2 = norm.ppf(0.5 + level / 2.0) ** 2
        weight = z2 / (np.maximum(n, LEAST_RATIO) / ratio[:, None])
        middle = (shares + weight / 2.0) / (1.0 + weight)
        half = np.sqrt(weight * shares * (1.0 - shares) + weight**2 / 4.0) / (1.0 + weight)
        return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)

    def peaks(self, level: float = 0.95) -> NDArray[np.intp]:
        """Return the period of each group whose share is surely largest: by its lower bound."""
        found: NDArray[np.intp] = self.bounds(level)[0].argmax(axis=1)
        return found


def timeline(
    groups: ArrayLike,
    dates: Iterable[Any],
    *,
    period: Period = "month",
    n_groups: int | None = None,
    shares: NDArray[np.float64] | None = None,
) -> Timeline:
    """Count the documents of each group by month or by year.

    Parameters
    ----------
    groups : array-like of shape (n,)
        Group of each document; documents without one (-1) are left out.
    dates : iterable of length n
        NumPy or Python dates (a time of day is dropped, without change of time zone), strings that
        begin with a date ("2016", "2016-10", "2016-10-12", "20161012", with or without a time
        after it) or years. None, NaN, NaT and empty strings are no date.
    period : {"auto", "month", "year"}, default="month"
        What to count by; "auto" counts by month, or by year where there are more than 60 months or
        a date is only a year. By month, a date that is only a year counts as its first month.
    n_groups : int, default=None
        K, where the last groups may be empty.
    shares : ndarray of shape (n, K), default=None
        Shares of the groups in each document, where it can be in several: it counts in each group
        for its share.

    Returns
    -------
    Timeline
        The table.

    Examples
    --------
    >>> from spheremix.reading import timeline
    >>> table = timeline([0, 0, 1], ["2016-10-12", "2016-12", "2016-12-24"])
    >>> table.periods, table.counts.tolist()
    (('2016-10', '2016-11', '2016-12'), [[1, 0, 1], [0, 0, 1]])
    """
    if period not in get_args(Period):
        raise ValueError(f"period must be one of {', '.join(get_args(Period))}, got {period!r}.")
    ids = as_groups(groups)
    given = dates if isinstance(dates, np.ndarray) else list(dates)
    days = parse_dates(given)
    if ids.shape != days.shape:
        raise ValueError(f"There are {len(days)} dates for {len(ids)} documents.")
    K = count_groups(ids, n_groups)
    kept = ids >= 0
    dated = kept & ~np.isnat(days)
    n_undated = int(kept.sum() - dated.sum())
    if not dated.any():
        none = np.zeros((K, 0), dtype=np.intp)
        return Timeline((), none, n_undated, np.zeros(0, dtype=np.intp), np.zeros(K))
    if period == "auto":
        months = days[dated].astype("datetime64[M]")
        many = int(np.ptp(months).astype(int)) >= MANY_MONTHS
        period = "year" if many or _has_years(given, dated) else "month"
    periods = days[dated].astype(f"datetime64[{_UNITS[period]}]")
    first, last = periods.min(), periods.max()
    places = (periods - first).astype(np.intp)
    every = np.arange(first, last + 1)
    counts: NDArray[Any] = np.zeros((K, len(every)), dtype=np.intp)
    totals = np.bincount(places, minlength=len(every))
    if shares is None:
        np.add.at(counts, (ids[dated], places), 1)
        squares = counts.sum(axis=1).astype(np.float64)
    else:
        counts = np.zeros((len(every), K))
        np.add.at(counts, places, shares[dated])
        counts, squares = counts.T, (shares[dated] ** 2).sum(axis=0)
    return Timeline(tuple(str(one) for one in every), counts, n_undated, totals, squares)


def _has_years(dates: Any, dated: NDArray[np.bool_]) -> bool:
    """Return whether some of these dates are years only, whose month nobody knows."""
    if isinstance(dates, np.ndarray) and dates.dtype.kind == "M":
        return bool(dates.dtype == np.dtype("datetime64[Y]"))
    return any(len(_known(one)) == 4 for one, known in zip(dates, dated, strict=True) if known)


def parse_dates(dates: Iterable[Any]) -> NDArray[np.datetime64]:
    """Return dates as days.

    Parameters
    ----------
    dates : iterable
        As in :func:`timeline`.

    Returns
    -------
    ndarray of datetime64[D]
        NaT where there is no date.

    Examples
    --------
    >>> from spheremix.reading import parse_dates
    >>> parse_dates(["2016-10-12", "2016-12", None]).astype(str).tolist()
    ['2016-10-12', '2016-12-01', 'NaT']
    """
    if isinstance(dates, np.ndarray) and dates.dtype.kind == "M":
        return dates.astype("datetime64[D]")
    days = [_known(date, i) for i, date in enumerate(dates)]
    return np.array(days, dtype="datetime64[D]").reshape(-1)


def _known(date: Any, i: int = 0) -> str:
    """Return a date as far as it is known, in the form that NumPy reads without guessing."""
    try:
        return (None if is_missing(date) else iso_date(date)) or "NaT"
    except ValueError as error:
        raise ValueError(
            f"Document {i} has the date {str(date)[:40]!r}, which is not understood: write it as "
            "year-month-day, like 2016-10-12."
        ) from error
