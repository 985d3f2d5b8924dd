"""The one door to rich: what is said, tables, and a display of progress."""

from __future__ import annotations

import sys
import time
from bisect import bisect_right
from contextlib import contextmanager
from operator import itemgetter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from spheremix.cli.naming import option_name
from spheremix.errors import Said
from spheremix.run import Listener

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spheremix.errors import Message

EVERY = 10.0  # seconds between lines where there is no terminal
REDRAWN = 0.1  # seconds between drawings where there is one
EARLY = 2.0  # seconds before which nothing is said of the time left
AT_ONCE = 0.1  # seconds: what is done by then was done before the stage began
GRAIN = 0.002  # shares that are nearer to each other are not told apart


def printable(text: str) -> str:
    """Put a question mark for what would move the cursor or change colours."""
    return "".join(c if c.isprintable() else "?" for c in text)


def say(text: str = "", *, bold: bool = False) -> None:
    """Print a line of the answer."""
    _out().print(Text(printable(text), style="bold" if bold else ""), soft_wrap=True)


def remark(text: str) -> None:
    """Print a line about the answer, beside it."""
    _err().print(Text(printable(text)), soft_wrap=True)


def complain(text: str) -> None:
    """Print what went wrong, on one line."""
    line = Text("error: ", style="bold red") + Text(printable(" ".join(text.split())))
    _err().print(line, soft_wrap=True)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """Print a table; the columns named by ``right`` hold numbers."""
    drawn = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for i, column in enumerate(columns):
        drawn.add_column(column, justify="right" if i in right else "left", no_wrap=i in right)
    for row in rows:
        drawn.add_row(*(Text(printable(cell)) for cell in row))
    _out().print(drawn)


def _out() -> Console:
    return Console(markup=False, highlight=False, emoji=False)


def _err() -> Console:
    return Console(stderr=True, markup=False, highlight=False, emoji=False)


class Pace:
    """Guesses how long a stage still takes, at the pace of the later half of what is done."""

    def __init__(self, start: float) -> None:
        self._marks = [(start, 0.0)]
        self.done = 0.0

    def reach(self, share: float, now: float) -> None:
        """Note which share is done; it never falls."""
        self.done = max(self.done, min(share, 1.0))
        start = self._marks[0][0]
        if len(self._marks) == 1 and now - start < AT_ONCE:
            self._marks = [(start, self.done)]
        elif self.done >= self._marks[-1][1] + GRAIN:
            self._marks.append((now, self.done))

    def left(self, now: float) -> float | None:
        """Return the seconds that the stage may still take; None where nothing is known."""
        half = 0.5 * (self._marks[0][1] + self.done)
        since, share = self._marks[max(bisect_right(self._marks, half, key=itemgetter(1)) - 1, 0)]
        gained = self.done - share
        return None if gained <= 0.0 else (now - since) / gained * (1.0 - self.done)


class Terminal(Listener):
    """Says what is being done and how long it may take; drawn on terminals, lines elsewhere."""

    def __init__(self, live: Live | None) -> None:
        self._live = live
        self._what = self._detail = ""
        self._start = self._said = 0.0
        self._pace = Pace(0.0)

    def begin(self, what: str) -> None:
        """Start a stage."""
        self._what, self._detail = what, ""
        self._start = self._said = time.monotonic()
        self._pace = Pace(self._start)
        if self._live is None:
            _err().print(Text(printable(what)), soft_wrap=True)
        else:
            self._draw()

    def update(self, share: float, detail: str = "") -> None:
        """Show which share of the stage is done."""
        now, self._detail = time.monotonic(), detail
        self._pace.reach(share, now)
        if now - self._said < (EVERY if self._live is None else REDRAWN):
            return
        self._said = now
        if self._live is None:
            parts = [f"  {self._pace.done:4.0%}", detail, self._left()]
            _err().print(Text(printable("  ".join(filter(None, parts)))), soft_wrap=True)
        else:
            self._draw()

    def note(self, message: Message) -> None:
        """Say something about the input or the result, in the words of the command."""
        remark(message.render(option_name))

    def inform(self, text: str) -> None:
        """Say a fact about the input."""
        remark(text.message.render(option_name) if isinstance(text, Said) else text)

    def _left(self) -> str:
        """Say how long the stage may still take, going on at its pace."""
        now = time.monotonic()
        left = self._pace.left(now)
        return "" if left is None or now - self._start < EARLY else f"about {duration(left)} left"

    def _draw(self) -> None:
        if self._live is None:
            return
        grid = Table.grid(padding=(0, 2, 0, 0))
        bar = ProgressBar(total=1.0, completed=self._pace.done, width=24)
        words = [printable(text) for text in (self._what, self._detail, self._left())]
        grid.add_row(words[0], bar, *words[1:])
        self._live.update(grid, refresh=True)


@contextmanager
def terminal() -> Iterator[Terminal]:
    """Show progress while something is done."""
    console = _err()
    if not sys.stderr.isatty():
        yield Terminal(None)
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield Terminal(live)


def duration(seconds: float) -> str:
    """Return a time as people say it."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
