"""What `spheremix update` costs beside `explore`, step by step.

Run as ``python benchmarks/update_cost.py --save``; it needs the folder of real data, named by
SPHEREMIX_DATA. Seconds are those of the processor, on one thread. It prints the table, and writes
``benchmarks/results/update_cost.md`` with ``--save``.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
import warnings
from typing import TYPE_CHECKING

import numpy as np
from corpora import texts_of
from timing import ROOT, machine

import spheremix as sm
from spheremix.run import Listener
from spheremix.run.update import update_run

if TYPE_CHECKING:
    from spheremix.errors import Message

N_PAST, N_NEW, K = 1000, 100, 8
LEAST = 0.05  # seconds of a step that is named


class Clock(Listener):
    """Notes when each step begins."""

    def __init__(self) -> None:
        self.marks = [("(beginning)", time.process_time())]

    def begin(self, what: str) -> None:
        """Hear that a step begins."""
        self.marks.append((re.sub(r"\S*/\S+", "FOLDER", what), time.process_time()))

    def note(self, message: Message) -> None:
        """Show nothing."""

    def steps(self) -> list[tuple[str, float]]:
        """Return the seconds of each step."""
        ends = [*(when for _, when in self.marks[1:]), time.process_time()]
        return [(what, end - when) for (what, when), end in zip(self.marks, ends, strict=True)]


def main() -> None:
    warnings.simplefilter("ignore")
    texts, _ = texts_of("bbc_news")
    order = np.random.default_rng(0).permutation(len(texts))[: N_PAST + N_NEW]
    old, new = [texts[i] for i in order[:N_PAST]], [texts[i] for i in order[N_PAST:]]
    clocks = {}
    with tempfile.TemporaryDirectory() as place:
        sm.explore_corpus(old, f"{place}/old", k=K, threads=1, listener=Clock())
        for name, options in (("explore, number chosen", {}), (f"explore, --k {K}", {"k": K})):
            clocks[name] = Clock()
            given = {"threads": 1, "listener": clocks[name], **options}
            sm.explore_corpus(old + new, f"{place}/{len(clocks)}", **given)
            clocks[name] = clocks[name].steps()
        clock = Clock()
        update_run(f"{place}/old", new, f"{place}/new", threads=1, listener=clock)
        clocks["update"] = clock.steps()
    lines = [
        "# The cost of an update",
        "",
        machine(),
        "",
        f"bbc_news: {N_PAST:,} documents of before and {N_NEW} new ones. Seconds of the processor,",
        "one thread. Made by `python benchmarks/update_cost.py --save`.",
        "",
    ]
    for name, steps in clocks.items():
        lines += [f"## {name}: {sum(spent for _, spent in steps):.1f} s", ""]
        lines += ["| step | seconds |", "|---|---|"]
        lines += [f"| {what} | {spent:.2f} |" for what, spent in steps if spent >= LEAST]
        lines.append("")
    text = "\n".join(lines)
    print(text)
    if "--save" in sys.argv:
        (ROOT / "benchmarks" / "results" / "update_cost.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
