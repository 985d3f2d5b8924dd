"""The one door to rich: what is said, a line a group, and a display of progress."""

from __future__ import annotations

import re
import sys
import time
from bisect import bisect_right
from contextlib import contextmanager
from operator import itemgetter
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
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

LEAST_NAME = 20  # characters of a name that are shown in any case
EVERY = 10.0  # seconds between lines where there is no terminal
REDRAWN = 0.1  # seconds between drawings where there is one
EARLY = 2.0  # seconds before which nothing is said of the time left
AT_ONCE = 0.1  # seconds: what is done by then was done before the stage began
GRAIN = 0.002  # shares that are nearer to each other are not told apart
BAR, PERCENT = 20, 4  # characters
# Roughly where the stages of an exploration begin in the whole of it, by how they are called.
STAGES = {
    "Reading": 0.0,
    "Collecting": 0.0,
    "Finding the meaning": 0.01,
    "Counting": 0.02,
    "Checking": 0.05,
    "Grouping": 0.06,
    "Fitting": 0.3,
    "Following": 0.36,
    "Dividing": 0.7,
    "Drawing the documents": 0.73,
    "Finding the shares": 0.86,
    "Placing": 0.87,
    "Making": 0.94,
    "Writing the tables": 0.95,
}


def stretch(what: str) -> tuple[float, float]:
    """Return from where to where a stage is in the whole; of other work it is the whole."""
    start = next((at for name, at in STAGES.items() if what.startswith(name)), None)
    if start is None:
        return 0.0, 1.0
    return start, min((at for at in STAGES.values() if at > start), default=1.0)


def printable(text: str) -> str:
    """Put a question mark for what would move the cursor or change colours."""
    return "".join(c if c.isprintable() else "?" for c in text)


def say(text: str = "", *, bold: bool = False, whole: bool = False) -> None:
    """Print a part of the answer; what is to be copied is whole, and never broken into lines."""
    _print(_out(), Text(printable(text), style="bold" if bold else ""), whole=whole)


def remark(text: str) -> None:
    """Print a line about the answer, beside it."""
    _print(_err(), Text(printable(text)))


def complain(text: str) -> None:
    """Print what went wrong, on one line where there is no terminal."""
    _print(_err(), Text("error: ", style="bold red") + Text(printable(" ".join(text.split()))))


def _print(console: Console, text: Text, *, whole: bool = False) -> None:
    """Print a text, broken between words on terminals, and one line in a file or a pipe."""
    broken = not whole and console.is_terminal
    *lines, last = text.divide(breaks(text.plain, console.width)) if broken else [text]
    for line in lines:
        line.rstrip()
    for line in [*lines, last]:
        console.print(line, soft_wrap=True)


def breaks(text: str, width: int) -> list[int]:
    """Return where lines after the first begin; a word that is wider than a line is whole."""
    found, start = [], 0
    for word in re.finditer(r"\S+", text):
        if word.start() > start and cell_len(text[start : word.end()]) > width:
            start = word.start()
            found.append(start)
    return found


def columns(rows: Sequence[tuple[str, str, Sequence[str]]]) -> None:
    """Print a name, a number and words in each row: as many whole words as the line has room for.

    Names that would take more than three eighths of the line are cut.
    """
    console = _out()
    width = console.width
    most = max(3 * width // 8, LEAST_NAME)
    names = [_cut(printable(name), most) for name, *_ in rows]
    named = max(map(cell_len, names), default=0)
    numbered = max((len(number) for _, number, _ in rows), default=0)
    for name, (_, number, words) in zip(names, rows, strict=True):
        line = f"{name}{' ' * (named - cell_len(name))}  {number:>{numbered}}"
        gap = "  "
        for word in map(printable, words):
            if cell_len(line) + len(gap) + cell_len(word) > width:
                break
            line, gap = f"{line}{gap}{word}", ", "
        console.print(Text(line), soft_wrap=True)


def _cut(text: str, most: int) -> str:
    return text if cell_len(text) <= most else f"{set_cell_size(text, most - 3).rstrip()}..."


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
        self._whole = 0.0

    def begin(self, what: str) -> None:
        """Start a stage."""
        self._what, self._detail = what, ""
        self._start = self._said = time.monotonic()
        self._pace = Pace(self._start)
        if self._live is None:
            remark(what)
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
            remark("  ".join(filter(None, parts)))
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
        start, stop = stretch(self._what)
        now = start + (stop - start) * self._pace.done
        self._whole = max(self._whole, now) if stop - start < 1.0 else now
        bar = ProgressBar(total=1.0, completed=self._whole, width=BAR)
        parts = [self._what, self._left().removeprefix("about "), self._detail]
        # One line, whatever the width: words are cut before it breaks.
        room = self._live.console.width - BAR - 2 - PERCENT - 2
        words = _cut(printable("  ".join(filter(None, parts))), max(room, 8))
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_row(bar, f"{self._whole:{PERCENT}.0%}", words)
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
