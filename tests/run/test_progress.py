"""How long stages say that they still take, on paths that were timed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from spheremix.cli.console import Pace
from spheremix.run.stages.path import path_behind, places_on_path, time_behind

# Paths of real texts: per cent of the processor time, and where on the path (``places_on_path``).
RECORDED = {
    "classic3, 3 groups": (
        "2:0.352:0.001 6.9:0.438:0.008 11.7:0.514:0.023 16.7:0.569:0.039 21.3:0.621:0.065 "
        "26.5:0.66:0.093 30.8:0.692:0.127 36.5:0.713:0.154 40.8:0.734:0.185 45.8:0.754:0.216 "
        "50.5:0.766:0.237 54.8:0.776:0.255 60.1:0.795:0.296 64.6:0.813:0.33 69.6:0.832:0.372 "
        "75.2:0.849:0.405 79:0.867:0.452 87.2:0.886:0.497 89:0.896:0.525 94.9:0.925:0.638 "
        "98.2:0.965:0.786"
    ),
    "classic3, 12 groups": (
        "2:0.111:0.001 6.8:0.307:0.043 11.7:0.43:0.106 17.3:0.5:0.159 21.5:0.534:0.19 "
        "28.1:0.561:0.217 31.5:0.579:0.238 36:0.601:0.265 40.5:0.619:0.288 45.3:0.646:0.327 "
        "50.3:0.67:0.36 55.8:0.694:0.398 59.9:0.713:0.428 64.9:0.739:0.473 69.8:0.76:0.508 "
        "74:0.782:0.548 79.2:0.815:0.608 84:0.844:0.656 89.3:0.871:0.7 93.4:0.905:0.776 "
        "98:0.959:0.895"
    ),
    "CSTR, 4 groups": (
        "2:0.501:0.002 6.9:0.562:0.007 11.6:0.589:0.014 16.5:0.615:0.022 21.2:0.649:0.036 "
        "26.1:0.688:0.054 30.9:0.723:0.077 35.7:0.744:0.097 40.5:0.762:0.117 45.3:0.788:0.153 "
        "50.4:0.806:0.183 55.6:0.824:0.225 59.8:0.831:0.243 65:0.841:0.267 70:0.854:0.297 "
        "74.4:0.859:0.314 79.1:0.873:0.354 84.2:0.889:0.408 88.9:0.903:0.457 93.4:0.924:0.518 "
        "98.6:0.969:0.723"
    ),
    "CSTR, 12 groups": (
        "2.1:0.089:0 6.9:0.23:0.002 11.7:0.284:0.009 16.5:0.331:0.021 21.3:0.383:0.039 "
        "26:0.431:0.061 30.9:0.488:0.093 35.7:0.544:0.134 40.6:0.605:0.195 45.3:0.646:0.247 "
        "50.1:0.692:0.316 55:0.725:0.37 60.4:0.754:0.415 64.5:0.773:0.45 70.5:0.79:0.488 "
        "76.7:0.806:0.523 78.8:0.828:0.54 83.7:0.868:0.591 88.5:0.896:0.632 93.8:0.936:0.727 "
        "98.3:0.969:0.856"
    ),
    "blogs, 6 groups": (
        "2:0.279:0.001 6.8:0.339:0.002 11.7:0.384:0.003 16.6:0.434:0.006 21.2:0.459:0.009 "
        "26.3:0.49:0.014 31.4:0.52:0.022 36.2:0.54:0.03 40.8:0.566:0.042 45.6:0.582:0.052 "
        "52.4:0.609:0.077 55:0.625:0.087 60.3:0.645:0.099 64.5:0.667:0.116 69.6:0.696:0.146 "
        "74.1:0.717:0.163 79:0.747:0.19 83.7:0.772:0.212 88.7:0.833:0.257 93.9:0.905:0.303 "
        "98.1:0.976:0.616"
    ),
    "blogs, 15 groups": (
        "2:0.272:0.002 6.8:0.414:0.022 12.2:0.465:0.038 17.2:0.505:0.056 22.1:0.534:0.072 "
        "26.2:0.546:0.08 31.2:0.581:0.111 36:0.605:0.132 42.5:0.618:0.147 46.1:0.627:0.167 "
        "50.5:0.654:0.191 55.2:0.681:0.22 60.3:0.714:0.249 65.1:0.742:0.273 69.7:0.763:0.295 "
        "74.9:0.769:0.305 79.4:0.807:0.325 84.3:0.849:0.343 88.9:0.893:0.372 93.5:0.954:0.427 "
        "98.2:0.99:0.75"
    ),
    "3,000 of 20 newsgroups, 20 groups": (
        "2.1:0.058:0 6.9:0.215:0.005 11.7:0.343:0.014 16.4:0.466:0.05 21.4:0.573:0.142 "
        "26.3:0.603:0.178 31.2:0.641:0.229 36.6:0.674:0.277 42.9:0.696:0.308 45.8:0.71:0.33 "
        "50.6:0.739:0.374 55.9:0.77:0.399 60:0.803:0.423 64.9:0.838:0.453 69.2:0.875:0.481 "
        "74.3:0.915:0.531 79.5:0.949:0.576 83.9:0.966:0.625 89.1:0.981:0.693 93.4:0.991:0.862 "
        "98.1:0.995:0.947"
    ),
    "20 newsgroups, 20 groups": (
        "2:0.073:0 6.8:0.286:0.008 11.7:0.387:0.026 16.7:0.455:0.061 21.3:0.504:0.093 "
        "26.6:0.549:0.129 31.2:0.589:0.166 35.6:0.629:0.209 40.6:0.659:0.246 45.8:0.675:0.266 "
        "50.3:0.718:0.322 56.2:0.747:0.361 61.4:0.764:0.385 65.5:0.775:0.402 69.2:0.78:0.406 "
        "75.7:0.796:0.423 79.9:0.822:0.448 83.7:0.868:0.495 89:0.924:0.551 93.3:0.967:0.636 "
        "98.1:0.994:0.899"
    ),
}


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
    return SimpleNamespace(steps=steps, fit=fit, model=SimpleNamespace(clusters=lambda sums: sums))


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
