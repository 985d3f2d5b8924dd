"""What the clusters of filings are: each story is told of the cluster whose facts bear it out.

A story says which words, events, months and lengths it rests on. It is told of no cluster where
one of them fails, so that other results cannot be given these words.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from experiments.drawing import read

if TYPE_CHECKING:
    from pathlib import Path

FIRST = 60  # of a cluster's words, the heaviest: those that a story may rest on


@dataclass(frozen=True)
class Facts:
    """What the tables say of a cluster."""

    cluster: int
    size: int
    n_own: int
    characters: int
    own: tuple[str, ...]
    words: tuple[str, ...]
    events: dict[str, int]
    most: frozenset[str]  # events that no other cluster has more filings of
    months: dict[int, int]
    years: dict[int, int]


@dataclass(frozen=True)
class Story:
    """A title, a text with places for numbers, and the facts it needs."""

    title: str
    text: str
    own: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    n_own: tuple[int, int] = (0, 10**6)
    shares: dict[str, tuple[float, float]] = field(default_factory=dict)
    most: tuple[str, ...] = ()
    months: tuple[int, ...] = ()
    seasonal: float = 0.0  # least share of the filings in those months
    years: tuple[int, int] = (0, 9999)
    characters: tuple[int, int] = (0, 10**6)

    def holds(self, facts: Facts) -> bool:
        """Return whether a cluster bears the story out."""
        shares = {event: facts.events.get(event, 0) / facts.size for event in self.shares}
        return (
            set(self.own) <= set(facts.own)
            and set(self.words) <= set(facts.words)
            and self.n_own[0] <= facts.n_own <= self.n_own[1]
            and all(low <= shares[event] <= high for event, (low, high) in self.shares.items())
            and set(self.most) <= facts.most
            and self.in_season(facts) >= self.seasonal * facts.size
            and all(self.years[0] <= year <= self.years[1] for year in facts.years)
            and self.characters[0] <= facts.characters <= self.characters[1]
        )

    def in_season(self, facts: Facts) -> int:
        """Count the filings of the story's months."""
        return sum(facts.months.get(month, 0) for month in self.months)

    def tell(self, facts: Facts) -> str:
        """Return the text, with the numbers of a cluster."""
        events = {event: facts.events.get(event, 0) for event in EVENTS}
        return self.text.format(
            n=events | facts.years,
            size=facts.size,
            n_own=facts.n_own,
            seasonal=self.in_season(facts),
            characters=f"{facts.characters:,}",
            own=", ".join(f"*{word}*" for word in self.own),
            words=", ".join(f"*{word}*" for word in self.words),
            last=max(facts.years, default=0),
        )


EVENTS = {
    "1.01": "Entry into a Material Definitive Agreement",
    "2.02": "Results of Operations and Financial Condition",
    "3.03": "Material Modification to Rights of Security Holders",
    "5.02": "Departure of Directors or Certain Officers; Election of Directors; Appointment of "
    "Certain Officers; Compensatory Arrangements of Certain Officers",
    "5.03": "Amendments to Articles of Incorporation or Bylaws; Change in Fiscal Year",
    "5.05": "Amendments to the Registrant's Code of Ethics, or Waiver of a Provision of the Code "
    "of Ethics",
    "5.07": "Submission of Matters to a Vote of Security Holders",
    "7.01": "Regulation FD Disclosure",
    "8.01": "Other Events",
    "9.01": "Financial Statements and Exhibits",
}

STORIES = (
    Story(
        "Investor conferences",
        "{n[8.01]} of {size} filings have item 8.01 and {seasonal} came in February, August or "
        "November. Among the own words are hosts of such meetings ({own}); the shared words "
        "{words} are those of the caution about forward-looking statements that goes with them.",
        own=("fbr", "rbc", "lehman"),
        words=("forward", "anticipate", "statement"),
        shares={"8.01": (0.75, 1.0)},
        months=(2, 8, 11),
        seasonal=0.5,
    ),
    Story(
        "Quarterly results",
        "{n[2.02]} of {size} filings have item 2.02, more than in any other cluster, and "
        "{seasonal} came in January, April, July or October: the press releases of the results, "
        "half of them of {characters} characters or more. The paper finds its quarterly reports "
        "in one cluster too.",
        own=("allowance", "improvement"),
        words=("quarter", "million", "loan"),
        most=("2.02",),
        shares={"2.02": (0.75, 1.0)},
        months=(1, 4, 7, 10),
        seasonal=0.9,
        characters=(15_000, 30_000),
    ),
    Story(
        "When the results will come",
        "{n[8.01]} of {size} filings have item 8.01. They say at what hour results are due and "
        "how to call in ({words}; of its own, {own}), and {seasonal} came in January, March, June "
        "or September, before most of the results themselves.",
        own=("pin", "pm", "domestic", "international"),
        words=("conference", "call", "replay", "et"),
        shares={"8.01": (0.95, 1.0)},
        months=(1, 3, 6, 9),
        seasonal=0.75,
        characters=(0, 4000),
    ),
    Story(
        "Directors, pay and votes",
        "More filings with items 1.01, 5.02 and 5.07 than in any other cluster ({n[1.01]}, "
        "{n[5.02]} and {n[5.07]} of {size}): agreements, who comes and goes, what the shareholders "
        "voted. Own words such as {own} belong to contracts. The paper has two clusters for this: "
        "one of changes in the board, and one of nothing but votes.",
        own=("employment", "vest", "compensatory", "departure"),
        words=("director", "officer", "executive", "plan", "vote"),
        most=("1.01", "5.02", "5.07"),
    ),
    Story(
        "Slides for investors",
        "{n[2.02]} of {size} filings have item 2.02, as the quarterly results do, but {seasonal} "
        "came in February, May, August or November, when the results were out. They hold the "
        "slides themselves: half of them have {characters} characters or more, and own words such "
        "as {own} describe the market of the bank.",
        own=("household", "rank", "median"),
        words=("deposit", "market", "portfolio", "average"),
        shares={"2.02": (0.7, 1.0)},
        months=(2, 5, 8, 11),
        seasonal=0.75,
        characters=(15_000, 30_000),
    ),
    Story(
        "Covers of such slides",
        "{n[2.02]} of {size} filings with item 2.02, {seasonal} in the same four months, but half "
        "of them are no longer than {characters} characters: the page that announces a "
        "presentation ({words}), its slides being left out of the text. It has {n_own} own words: "
        "the clusters of slides and covers differ by what was converted to text, not by subject.",
        words=("investor", "presentation", "material"),
        n_own=(0, 10),
        shares={"2.02": (0.6, 1.0)},
        months=(2, 5, 8, 11),
        seasonal=0.75,
        characters=(0, 2500),
    ),
    Story(
        "Told to the press",
        "All {size} filings have item 9.01: something is attached, often a press release. "
        "{n[5.02]} have item 5.02 and {seasonal} came in May, when the shareholders meet. The "
        "words {words} say that subjects are largely those of the directors' cluster, told to the "
        "public: own words such as {own} belong to portraits and to reports of votes.",
        own=("overwhelmingly", "career", "graduate", "join"),
        words=("director", "officer", "board", "meet", "press", "release"),
        shares={"9.01": (1.0, 1.0), "5.02": (0.2, 1.0), "2.02": (0.0, 0.0)},
        months=(5,),
        seasonal=0.3,
    ),
    Story(
        "A remainder",
        "{size} filings, none after {last}, with {n_own} own words. Slides that were pictures, of "
        "which a *logo* in words is left, stand beside a change of rating (*moody*) and others: "
        "what they share is the frame of a filing. A reader should not look for a subject here.",
        words=("logo", "moody", "report", "exhibit"),
        n_own=(0, 5),
        years=(0, 2009),
    ),
    Story(
        "Letters without exhibit",
        "None of {size} filings has item 9.01, and half of them are no longer than {characters} "
        "characters: the frame makes most of their words. {n[2008]} are of 2008, and own words "
        "such as {own} are those of the Treasury's purchases of that year.",
        own=("cpp", "emergency", "warrant"),
        shares={"9.01": (0.0, 0.0)},
        characters=(0, 2000),
    ),
    Story(
        "Redemption of notes",
        "{size} filings of 2012 and 2013, all with item 8.01, about notes paid back before their "
        "time: {words}, and of its own {own}. Such a small cluster on one subject is what the "
        "paper finds in its two smallest.",
        own=("indenture", "cusip", "irs"),
        words=("note", "redemption", "senior", "holder"),
        shares={"8.01": (1.0, 1.0)},
        years=(2012, 2013),
    ),
)


def event_table(results: Path, model: str) -> pd.DataFrame:
    """Return the filings of each event, clusters in rows, the most frequent event first."""
    events = pd.read_csv(results / "filings_events.csv", dtype={"event": str})
    table = events[events["model"] == model].pivot_table("filings", "cluster", "event")
    return table[sorted(table, key=lambda event: (-table[event].sum(), event))].astype(int)


def month_table(results: Path, model: str) -> pd.DataFrame:
    """Return the filings of each cluster by month, with the year and the month of the year."""
    months = read(results, "filings_months")
    months = months[months["model"] == model]
    day = pd.to_datetime(months["month"])
    return months.assign(year=day.dt.year, of_year=day.dt.month)


def facts(results: Path, model: str = "sparse") -> list[Facts]:
    """Gather what the tables say of each cluster."""
    clusters, words = read(results, "filings_clusters"), read(results, "filings_words")
    table, months = event_table(results, model), month_table(results, model)
    found = []
    for row in clusters.itertuples():
        own, here = (
            part[part["cluster"] == row.cluster] for part in (words[words["clusters"] == 1], words)
        )
        dated = months[months["cluster"] == row.cluster]
        counts = table.loc[row.cluster]
        found.append(
            Facts(
                int(row.cluster),
                int(row.size),
                int(row.own),
                int(row.characters),
                tuple(own["word"]),
                tuple(here["word"])[:FIRST],
                {event: int(n) for event, n in counts.items()},
                frozenset(counts.index[(counts == table.max()) & (counts > 0)]),
                dated.groupby("of_year")["filings"].sum().astype(int).to_dict(),
                dated.groupby("year")["filings"].sum().astype(int).to_dict(),
            )
        )
    return found


def told(results: Path) -> dict[int, tuple[Story, Facts] | None]:
    """Return each cluster its story; None where no story, or more than one, holds."""
    found = {}
    for one in facts(results):
        stories = [story for story in STORIES if story.holds(one)]
        found[one.cluster] = (stories[0], one) if len(stories) == 1 else None
    return found
