"""How long stages say that they still take, on paths that were timed."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.live import Live

from spheremix.cli.console import Pace, Terminal, stretch
from spheremix.run.stages.path import path_behind, places_on_path, time_behind

# Paths of real texts: per cent of the processor time, and where on the path (``places_on_path``).
RECORDED = json.loads((Path(__file__).parent / "timed_paths.json").read_text(encoding="utf-8"))


def said(points, behind):
    """Return seconds that have passed of 100, and the guess of what is left over what is left."""
    pace, found = Pace(0.0), []
    for seconds, *places in points:
        pace.reach(behind(*places), seconds)
        left = pace.left(seconds)
        if left is not None:
            found.append((seconds, left / (100.0 - seconds)))
    return np.array([ratio for seconds, ratio in found if 10.0 <= seconds <= 90.0])


def recorded(name):
    return [tuple(map(float, point.split(":"))) for point in RECORDED[name].split()]


@pytest.mark.parametrize("name", RECORDED)
def test_the_time_left_of_recorded_paths(name):
    """From a tenth of the time to nine tenths, the guess is mostly right within a factor of two.

    Two paths are hard: one says two to three times too much, and one half to a third.
    """
    ratios = said(recorded(name), time_behind)
    hard = name in {"blogs, 6 groups", "3,000 of 20 newsgroups, 20 groups"}
    assert len(ratios) > 12
    assert ratios.min() > (0.28 if hard else 0.4)
    assert ratios.max() < (3.3 if hard else 2.4)
    assert hard or np.mean(np.abs(np.log2(ratios)) < 1.0) > 0.75


def test_the_place_by_beta_is_no_guess_of_the_time():
    """What was shown before: off by up to ten, since the first half of a path takes no time."""
    ratios = said(recorded("20 newsgroups, 20 groups"), lambda by_beta, _: by_beta)
    assert ratios.min() < 0.25


def test_the_later_half_sets_the_pace():
    pace = Pace(10.0)
    assert pace.left(10.0) is None
    pace.reach(0.25, 40.0)
    assert pace.left(40.0) == pytest.approx(90.0)
    pace.reach(0.5, 50.0)  # a quarter in ten seconds
    assert pace.left(50.0) == pytest.approx(20.0)
    pace.reach(0.4, 60.0)  # never back
    assert pace.done == 0.5
    assert pace.left(60.0) == pytest.approx(40.0)
    pace.reach(2.0, 70.0)
    assert pace.left(70.0) == 0.0


def test_what_was_done_before_a_stage_began_does_not_count():
    """A path that goes on at three quarters, and does a tenth in ten seconds, has 15 to go."""
    pace = Pace(0.0)
    pace.reach(0.75, 0.01)
    assert pace.left(5.0) is None
    pace.reach(0.85, 10.0)
    assert pace.left(10.0) == pytest.approx(15.0)


def reached(betas, kappas, resultants, words=(9, 9)):
    """Make the state of a path that has come this far, from so many words to so many."""
    fit = SimpleNamespace(
        parameters=SimpleNamespace(kappas=np.array(kappas)),
        resultants=SimpleNamespace(vectors=np.array(resultants)),
    )
    steps = [SimpleNamespace(beta=beta, n_nonzero=words[1]) for beta in betas]
    steps[0].n_nonzero = words[0]
    model = SimpleNamespace(clusters=lambda sums: sums, columns=(slice(None),))
    return SimpleNamespace(steps=steps, fit=fit, model=model)


@pytest.mark.parametrize(
    ("betas", "words", "places"),
    [
        ([0.0], (8, 8), None),
        ([0.0, 1.0, 2.0], (8, 4), (1 / 2, 1 / 3)),  # log 2 of log 4, log 2 of log 8
        ([0.0, 4.0, 4.0], (8, 4), None),  # the first event is the last one
        ([0.0, 2.0, 4.0], (8, 1), (1.0, 1.0)),
        ([0.0, 1.0, 2.0], (1, 1), None),
    ],
)
def test_the_places_on_a_path(betas, words, places):
    """The prototype keeps its last coordinate, so that the event at 2 * 2 = 4 is the end."""
    state = reached(betas, [2.0], [[1.0, -2.0, 3.0]], words)
    assert places_on_path(state) == (places and pytest.approx(places))


def test_the_ends_of_all_prototypes_count():
    """One ends at 4 and one at 16: the way to 8 is all of the one, and log 8 of log 16."""
    state = reached([0.0, 1.0, 8.0], [2.0, 8.0], [[1.0, -2.0, 3.0], [2.0, 1.0, 5.0]])
    assert places_on_path(state) == pytest.approx((2 * 3 / (3 + 4), 0.0))


def test_the_share_of_a_path_that_is_behind():
    vectors = [[1.0, -2.0, 3.0]]
    assert path_behind(reached([0.0, 1.0], [2.0], vectors), 10) == 0.2  # by the number of steps
    state = reached([0.0, 1.0, 2.0], [2.0], vectors, (9, 3))
    assert path_behind(state, 1000) == time_behind(0.5, 0.5) == pytest.approx(0.76 / 1.76)
    assert path_behind(state, 3) == 1.0  # the last step that is allowed


def test_time_grows_along_a_path():
    places = np.linspace(0.0, 1.0, 50)
    behind = np.array([[time_behind(one, other) for one in places] for other in places])
    assert behind[0, 0] < 1e-3
    assert behind[-1, -1] > 0.999
    assert np.diff(behind, axis=0).min() >= 0.0
    assert np.diff(behind, axis=1).min() >= 0.0


def test_one_bar_for_the_whole_on_one_line_of_80_columns():
    seen = io.StringIO()
    console = Console(file=seen, force_terminal=True, width=80, color_system=None)
    stages = [
        "Reading a/file/with/a/name/that/is/longer/than/the/line/of/a/terminal/has/room/for.csv",
        "Counting the words of 1,000,000 documents",
        "Grouping halves of the documents, to see which groups come back",
        "Following the path to sparse groups",
        "Writing the tables and the report",
    ]
    with Live(console=console, auto_refresh=False, transient=True) as live:
        shown = Terminal(live)
        shares = []
        for what in stages:
            shown.begin(what)
            for share in (0.2, 0.9):
                shown._said = 0.0  # as if time had passed
                shown.update(share, "step 143, and some more words about it")
                shares.append(shown._whole)
    assert shares == sorted(shares)
    assert shares[0] < 0.1
    assert shares[-1] > 0.95
    parts = re.split(r"[\r\n]|\x1b\[[0-9;?]*[A-Za-z]", seen.getvalue())
    lines = [line for line in parts if line.strip()]
    assert max(map(cell_len, lines)) <= 80
    drawn = [line for line in lines if "%" in line]
    assert drawn.pop() == drawn[-1]  # at the end it is drawn once more
    begun = [what.split()[0] for what in stages for _ in range(3)]
    # Each line has its share, and the stage: none was broken.
    assert all(re.search(rf"\d% +{word}", line) for word, line in zip(begun, drawn, strict=True))
    assert all("%" in line or not re.search(r"[a-z]", line) for line in lines)


def test_work_that_is_no_exploration_is_its_own_whole():
    assert stretch("Drawing the figures") == (0.0, 1.0)
    assert stretch("Fitting 4 groups, 5 runs each")[0] == 0.3


def test_the_stages_of_an_exploration_follow_each_other():
    """The bar never falls: a stage that began too late in the whole would hold it there."""
    stages = [
        "Reading news.csv",
        "Finding the meaning of 2,225 texts",
        "Counting the words of 2,225 documents",
        "Grouping halves of the documents, to see which groups come back",
        "Fitting 3 to 20 groups, 5 runs each",
        "Following the path to sparse groups",
        "Dividing the groups into fine ones",
        "Drawing the documents again, to see what stays",
        "Finding the shares of the groups in the documents",
        "Placing the documents on a map",
        "Making islands of the groups",
        "Writing the tables and the report",
    ]
    ends = [place for what in stages for place in stretch(what)]
    assert ends == sorted(ends)
    assert ends[-1] == 1.0
