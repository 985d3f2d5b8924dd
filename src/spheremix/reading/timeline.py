"""Groups against time: documents by month or by year."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from spheremix.reading.labels import as_groups, count_groups, is_missing
from spheremix.text.values import iso_date

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

Period = Literal["auto", "month", "year"]

MANY_MONTHS = 60  # beyond them, time is counted in years
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
    """

    periods: tuple[str, ...]
    counts: NDArray[np.intp]
    n_undated: int


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
        return Timeline((), np.zeros((K, 0), dtype=np.intp), n_undated)
    if period == "auto":
        months = days[dated].astype("datetime64[M]")
        many = int(np.ptp(months).astype(int)) >= MANY_MONTHS
        period = "year" if many or _has_years(given, dated) else "month"
    periods = days[dated].astype(f"datetime64[{_UNITS[period]}]")
    first, last = periods.min(), periods.max()
    places = (periods - first).astype(np.intp)
    every = np.arange(first, last + 1)
    counts: NDArray[Any] = np.zeros((K, len(every)), dtype=np.intp)
    if shares is None:
        np.add.at(counts, (ids[dated], places), 1)
    else:
        counts = np.zeros((len(every), K))
        np.add.at(counts, places, shares[dated])
        counts = counts.T
    return Timeline(tuple(str(one) for one in every), counts, n_undated)


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
