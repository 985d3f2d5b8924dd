"""The map of documents, the overview of groups and the score that decided, as they are drawn."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from little_advice import ADVICE, with_values

import spheremix as sm
from spheremix.display.advice import AdviceDisplay
from spheremix.display.documents import DocumentMapDisplay, OverviewDisplay
from spheremix.display.run import displays
from spheremix.display.style import GROUPS, MUTED, group_colours

pytest.importorskip("matplotlib")
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

PLACES = [[1.0, 0.0], [0.0, 0.0], [12.0, 0.0], [0.0, 1.0]]


def drawn(display):
    figure = Figure(display.size, layout="constrained")
    return display.plot(figure.subplots())


def cloud(seed=0):
    """Return three clouds far from each other, and one document that belongs nowhere."""
    rng = np.random.default_rng(seed)
    middles = np.array([[0.2, 0.2], [0.8, 0.3], [0.5, 0.8]])
    groups = np.repeat([0, 1, 2], [40, 30, 20])
    positions = np.clip(middles[groups] + rng.normal(scale=0.04, size=(90, 2)), 0, 1)
    return np.vstack([positions, [0.5, 0.5]]), np.append(groups, -1)


def test_points_have_the_colours_of_their_groups():
    positions, groups = cloud()
    one = drawn(DocumentMapDisplay(positions, groups, ["a", "b", "c"], PLACES[:3], "title"))
    points = [c for c in one.ax_.collections if type(c).__name__ == "PathCollection"]
    lost, *own = points
    assert np.allclose(lost.get_offsets(), positions[groups < 0])
    for k, found in enumerate(own):
        assert np.allclose(found.get_offsets(), positions[groups == k])
        assert to_hex(found.get_facecolor()[0]) == group_colours(PLACES)[k]
    assert one.ax_.get_aspect() == 1.0
    assert one.ax_.get_title(loc="left") == "title"
    # Two areas and two lines around each group.
    assert len(one.ax_.collections) == 4 + 2 * 3


def test_lines_hold_half_and_most_of_the_documents():
    rng = np.random.default_rng(0)
    positions = np.clip(rng.normal(0.5, 0.08, size=(2000, 2)), 0, 1)
    one = drawn(DocumentMapDisplay(positions, np.zeros(2000, int), ["a"], PLACES[:1]))
    lines = [c for c in one.ax_.collections if not c.get_fill() or c.get_linewidth()[0] == 0.8]
    outer, inner = lines[-1].get_paths()
    inside = [path.contains_points(positions).mean() for path in (outer, inner)]
    assert inside == pytest.approx([0.88, 0.5], abs=0.03)


def test_names_do_not_cover_each_other():
    rng = np.random.default_rng(1)
    groups = np.arange(400) % 20
    names = [f"a rather long name {k}" for k in range(20)]
    places = [[float(k), 0.0] for k in range(20)]
    one = drawn(DocumentMapDisplay(rng.random((400, 2)), groups, names, places))
    boxes = [text.get_window_extent() for text in one.names_]
    assert 1 < len(boxes) <= 20
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


def test_the_overview_has_a_line_a_group_the_largest_first():
    words = [["sea", "boat", "salt"], ["sky", "star"], ["oven"]]
    one = drawn(OverviewDisplay([10, 40, 20], ["Sea", "sky · star", "Oven"], words, PLACES[:3]))
    widths = [bar.get_width() for bar in one.bars_]
    assert np.allclose(np.array(widths) / widths[0], [1, 0.5, 0.25])
    colours = group_colours(PLACES)
    assert [to_hex(bar.get_facecolor()) for bar in one.bars_] == [colours[k] for k in (1, 2, 0)]
    texts = [text.get_text() for text in one.ax_.texts]
    assert texts == ["sky · star", "40", "", "Oven", "20", "", "Sea", "10", "boat, salt"]


def test_shades_are_paler():
    colour, paler = group_colours([[0.0, 0.0], [0.0, 1.0]])
    assert colour == GROUPS[0]
    assert paler > colour  # nearer to white in its first channel, and so in the others
    assert group_colours([[13.0, 0.0]]) == [MUTED[1]]


@pytest.fixture(scope="module")
def study():
    """Three clear groups, whose number was advised."""
    X, _, _ = sm.datasets.make_vmf_mixture(150, 6, 3, kappa=60.0, random_state=0)
    with with_values(ADVICE):
        return X, sm.VMFMixtureIC(range(2, 6), n_init=2, random_state=0).fit(X)


def test_the_score_that_decided_is_drawn(study):
    _, fitted = study
    one = drawn(AdviceDisplay(fitted.advice_, fitted.best_n_components_))
    table = fitted.advice_.table()
    score = one.ax_[0]
    line = score.get_lines()[0]
    assert score.get_title().startswith("Score, which decides")
    assert line.get_xdata().tolist() == table["n_components"].tolist()
    assert np.allclose(line.get_ydata(), table["score"], equal_nan=True)
    [star] = [line for line in score.get_lines() if line.get_marker() == "*"]
    assert star.get_xdata()[0] == table["n_components"][np.nanargmax(table["score"])]
    rings = [line for line in score.get_lines() if line.get_markerfacecolor() == "none"]
    assert rings[0].get_xdata()[0] == fitted.best_n_components_


def test_a_run_has_them(study, tmp_path):
    X, fitted = study
    names = [f"word{j}" for j in range(6)]
    folder = sm.save_run(tmp_path / "run", fitted, X=X, feature_names=names)
    found = displays(sm.load_run(folder))
    assert isinstance(found["criteria"], AdviceDisplay)
    overview = found["overview"]
    run = sm.load_run(folder)
    assert overview.sizes.tolist() == np.bincount(run.assigned.labels).tolist()
    for group in run.reading.groups():
        own = overview.words[group.group]
        assert set(own) <= {word.word for word in group.words}
