"""What all figures share, and the figures of labels, time, words, the sphere and whole runs."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import spheremix as sm
from spheremix import display
from spheremix.display import style
from spheremix.display.sphere import camera, cap_angle, circle_around
from spheremix.reading import contingency, layout, timeline

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure
from matplotlib.testing.compare import compare_images
from matplotlib.text import Text

IMAGES = Path(__file__).parent / "images"


def canvas(size=(8, 6)):
    return Figure(size, layout="constrained").subplots()


def visible(texts):
    return [text.get_text() for text in texts if text.get_text()]


# Style


def seen_by(colour, matrix):
    """Return CIELAB of a colour as somebody sees it (Machado, Oliveira and Fernandes, 2009)."""
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    linear = np.clip(matrix @ linear, 0, 1)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    ratios = to_xyz @ linear / [0.9505, 1.0, 1.089]
    roots = np.where(ratios > 0.008856, np.cbrt(ratios), 7.787 * ratios + 16 / 116)
    return np.array([116 * roots[1] - 16, 500 * (roots[0] - roots[1]), 200 * (roots[1] - roots[2])])


EYES = {
    "all cones": np.eye(3),
    "deuteranopia": np.array(
        [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]
    ),
    "protanopia": np.array(
        [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]
    ),
    "tritanopia": np.array(
        [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]
    ),
}


class TestHues:
    @pytest.mark.parametrize("eyes", EYES)
    def test_kinds_are_told_apart(self, eyes):
        """Nobody's, own, pairs, some, most, all: each pair well above a visible difference."""
        colours = [style.hues(40)[n] for n in (0, 1, 2, 3, 39, 40)]
        seen = [seen_by(colour, EYES[eyes]) for colour in colours]
        distances = [np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]]
        assert min(distances) > 20

    def test_in_print(self):
        """Without colour, own, pairs and common words differ in lightness."""
        light = [seen_by(style.hues(8)[n], np.eye(3))[0] for n in (1, 2, 8)]
        assert min(abs(a - b) for i, a in enumerate(light) for b in light[:i]) > 15

    def test_more_clusters_are_darker(self):
        light = [seen_by(colour, np.eye(3))[0] for colour in style.hues(40)]
        assert np.all(np.diff(light[3:]) < 0)

    @pytest.mark.parametrize("K", [1, 2, 3, 4, 5, 40])
    def test_there_is_one_for_each(self, K):
        colours = style.hues(K)
        assert len(colours) == K + 1
        assert len(set(colours)) == K + 1
        assert all(len(colour) == 7 and int(colour[1:], 16) >= 0 for colour in colours)
        assert colours[1] == style.OWN
        assert K == 1 or colours[-1] == style.ALL

    def test_refusal(self):
        with pytest.raises(ValueError, match="from 0 to 3: got 4"):
            style.hue(4, 3)

    def test_letters_stand_out(self):
        for colour in style.hues(12):
            channels = np.array(style.rgb(style.readable(colour)))
            linear = np.where(
                channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
            )
            assert 1.05 / (linear @ [0.2126, 0.7152, 0.0722] + 0.05) > 4.45
        assert style.readable(style.ALL) == style.ALL


def test_files_are_the_same_again(tmp_path):
    for folder in ("one", "two"):
        ax = canvas((3, 2))
        display.LabelsDisplay(contingency([0, 1], ["a", "b"])).plot(ax)
        assert style.save(ax.figure, tmp_path / folder, "x") == ["x.svg", "x.png"]
    for name in ("x.svg", "x.png"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert "<text" in (tmp_path / "one" / "x.svg").read_text(encoding="utf-8")


def test_without_matplotlib_one_is_told_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        display.LabelsDisplay.from_groups([0, 1], ["a", "b"])


def test_names_are_public():
    for name in display.__all__:
        assert getattr(sm, name) is getattr(display, name)


# Labels and time


class TestLabels:
    clusters = np.array([1, 1, 1, 0, 0, 1, 2, -1])
    labels = (["a"], ["a", "b"], ["c"], ["b"], ["b"], [], ["c"], ["a"])

    def test_numbers(self):
        found = display.LabelsDisplay.from_groups(
            self.clusters, self.labels, names=["sky", "sea", "$"], ax=canvas()
        )
        rows = [label.get_text() for label in found.ax_.get_yticklabels()]
        assert rows == ["sea  4", "sky  2", "$  1"]
        columns = [label.get_text() for label in found.ax_.get_xticklabels()]
        assert columns == ["b", "a", "c"]
        written = [[text.get_text() for text in row] for row in found.text_]
        assert written == [["1", "2", "1"], ["2", "", ""], ["", "", "1"]]
        shares = [[1 / 4, 2 / 4, 1 / 4], [1, 0, 0], [0, 0, 1]]
        np.testing.assert_allclose(found.image_.get_array(), shares)

    def test_shares_of_labels_and_others(self):
        found = display.LabelsDisplay.from_groups(
            self.clusters, self.labels, ax=canvas(), share="label", n_labels=1
        )
        columns = [label.get_text() for label in found.ax_.get_xticklabels()]
        assert columns == ["b", "2 others"]
        np.testing.assert_allclose(
            found.image_.get_array(), [[1 / 3, 3 / 4], [2 / 3, 0], [0, 1 / 4]]
        )

    def test_refusals(self):
        with pytest.raises(ValueError, match="no label to draw"):
            display.LabelsDisplay.from_groups([0, 1], [None, ""])
        with pytest.raises(ValueError, match="share must be"):
            display.LabelsDisplay.from_groups([0, 1], ["a", "b"], share="row")


class TestTimeline:
    def test_hills(self):
        clusters = [0, 1, 1, 1, 1, 0]
        dates = ["2016-10", "2016-10", "2016-12", "2016-12-24", None, "2017-01-01"]
        found = display.TimelineDisplay.from_groups(clusters, dates, names=["a", "b"], ax=canvas())
        assert found.table.periods == ("2016-10", "2016-11", "2016-12", "2017-01")
        rows = [label.get_text() for label in found.ax_.get_yticklabels()]
        assert rows == ["b  3", "a  2"]
        # The heights of the hills, in documents: the highest is 2.
        for place, expected in enumerate([[1, 0, 2, 0], [1, 0, 0, 1]]):
            corners = found.hills_[place].get_paths()[0].vertices
            base = corners[:, 1].max()
            drawn = np.zeros(4)
            for month in range(4):
                inside = corners[np.isclose(corners[:, 0], month - 0.5)]
                nexts = corners[np.isclose(corners[:, 0], month + 0.5)]
                shared = [y for y in inside[:, 1] if np.isclose(nexts[:, 1], y).any()]
                drawn[month] = (base - min(shared)) / 0.92 * 2
            np.testing.assert_allclose(drawn, expected, atol=1e-9)
        assert "1 without date" in found.ax_.get_title(loc="left")

    def test_many_months_are_years(self):
        found = display.TimelineDisplay.of([0, 0], ["2001-05", "2012-02"])
        assert found.table.periods == tuple(str(year) for year in range(2001, 2013))
        ax = found.plot(canvas()).ax_
        assert visible(ax.get_xticklabels())[0] == "2001"
        assert len(visible(ax.get_xticklabels())) <= 12

    def test_refusal(self):
        with pytest.raises(ValueError, match="no date to draw"):
            display.TimelineDisplay.from_groups([0, 1], [None, ""])


# Words


def test_words_and_their_weights():
    X = np.array([[3, 1, 1, 0], [4, 2, 1, 0], [5, 1, 2, 0], [0, 0, 1, 3], [0, 0, 1, 4.0]])
    path = sm.VMFPath(2, random_state=0).fit(X)
    ax = [canvas(), canvas()]
    found = display.WordsDisplay.from_estimator(
        path, ["heart", "blood", "the", "wing"], step=0, ax=ax
    )
    prototypes = path.model(0).prototypes_
    first = int(np.argmax(path.weights_[0]))
    labels = [[label.get_text() for label in one.get_yticklabels()] for one in found.ax_]
    assert labels == [["heart", "blood", "the (2)"], ["wing", "the (2)"]]
    widths = [[bar.get_width() for bar in bars] for bars in found.bars_]
    np.testing.assert_allclose(widths[0], prototypes[first, [0, 1, 2]])
    np.testing.assert_allclose(widths[1], prototypes[1 - first, [3, 2]])
    # One scale for all panels, which holds every bar; and lines of one height.
    assert len({(one.get_xlim(), one.get_ylim()) for one in found.ax_}) == 1
    assert found.ax_[0].get_xlim()[1] > prototypes.max()
    assert found.ax_[0].get_title(loc="right").startswith("heart · blood")
    few = display.WordsDisplay.from_estimator(path, step=0, n_words=1, n_only_here=0, ax=ax)
    assert [len(bars) for bars in few.bars_] == [1, 1]
    assert few.ax_[0].get_title(loc="right").startswith(f"group {first}")


# The sphere


class TestSphere:
    def test_points_and_arrows(self):
        X, _, _ = sm.datasets.make_vmf_mixture(90, 3, 3, kappa=20.0, random_state=0)
        mixture = sm.VMFMixture(3, random_state=0).fit(X)
        found = display.SphereDisplay.from_estimator(mixture, 7.0 * X, ax=canvas())
        eye = camera()
        for k, arrow in enumerate(found.arrows_):
            ends = [[0.0, 0.0], eye[:2] @ mixture.prototypes_[k]]
            np.testing.assert_allclose(arrow._posA_posB, ends)
        points = np.concatenate([one.get_offsets() for one in found.ax_.collections])
        expected = X @ eye[:2].T
        assert sorted(map(tuple, np.round(points, 9))) == sorted(map(tuple, np.round(expected, 9)))

    def test_the_camera_is_a_rotation(self):
        np.testing.assert_allclose(camera() @ camera().T, np.eye(3), atol=1e-14)
        assert np.linalg.det(camera(10.0, 200.0)) == pytest.approx(1.0)

    @pytest.mark.parametrize("kappa", [0.0, 0.5, 5.0, 150.0, 1e4])
    @pytest.mark.parametrize("mass", [0.5, 0.9])
    def test_caps_hold_their_mass(self, kappa, mass):
        """By the trapezoidal rule over the angle."""
        angles = np.linspace(0.0, np.pi, 400_001)
        density = np.exp(kappa * (np.cos(angles) - 1.0)) * np.sin(angles)
        inside = angles <= cap_angle(kappa, mass)
        assert density[inside].sum() / density.sum() == pytest.approx(mass, abs=2e-3)

    def test_circles(self):
        pole = np.array([0.6, 0.0, 0.8])
        ring = circle_around(pole, 0.3)
        np.testing.assert_allclose(ring @ pole, np.cos(0.3))
        np.testing.assert_allclose(np.linalg.norm(ring, axis=1), 1.0)

    def test_refusals(self):
        X = np.eye(4)
        mixture = sm.VMFMixture(2, n_init=1, random_state=0, kappa=5.0).fit(X)
        with pytest.raises(ValueError, match="3 dimensions, X has 4"):
            display.SphereDisplay.from_estimator(mixture, X)
        with pytest.raises(ValueError, match="has no concentrations"):
            display.SphereDisplay.from_estimator(sm.SphericalKMeans(2, n_init=1).fit(X), X)


# Runs


class TestRun:
    def test_a_study_of_directions(self, tmp_path):
        X, _, _ = sm.datasets.make_vmf_mixture(120, 3, 3, kappa=20.0, random_state=0)
        study = sm.VMFMixtureIC(range(2, 5), n_init=2, random_state=0).fit(X)
        run = sm.load_run(sm.save_run(tmp_path / "run", study, X=X))
        files = sm.draw_run(run, tmp_path / "figures")
        names = ("prototypes", "data", "sphere", "path", "criteria")
        assert files == [f"{name}.{end}" for name in names for end in ("svg", "png")]
        assert sorted(files) == sorted(path.name for path in (tmp_path / "figures").iterdir())

    def test_a_mixture_alone(self, tmp_path):
        X, _, _ = sm.datasets.make_vmf_mixture(80, 5, 2, kappa=20.0, random_state=0)
        model = sm.VMFMixture(2, n_init=1, random_state=0).fit(X)
        run = sm.load_run(sm.save_run(tmp_path / "run", model))
        assert set(sm.display.run.displays(run)) == {"prototypes"}  # features without names
        for kind in (sm.PrototypesDisplay, sm.WordsDisplay, sm.PathDisplay):
            with pytest.raises(TypeError, match=r"not a Run: of a run take run\.path"):
                kind.from_estimator(run)
        with pytest.raises(ValueError, match=r"not a Run; .* Report\.from_run\(run\)"):
            sm.Report(run)


# Layout, by eye once and by comparison since


def example(name):
    """Draw one of the pictures that were looked at."""
    rng = np.random.default_rng(7)
    if name in {"prototypes", "data"}:
        values = rng.exponential(size=(5, 240)) * (rng.random((5, 240)) < rng.beta(0.5, 1.0, 240))
        values /= np.linalg.norm(values, axis=1, keepdims=True)
        words = ["".join(rng.choice(list("aeiolmnrst"), rng.integers(3, 9))) for _ in range(240)]
        names = ["one two three", "four five", "six", "seven eight", "nine"]
        options = {"names": names, "words": words}
        if name == "prototypes":
            sizes = np.array([40, 25, 60, 12, 3])
            return display.PrototypesDisplay(values, layout(values, sizes), sizes, **options)
        labels = rng.choice(5, p=[0.3, 0.2, 0.4, 0.08, 0.02], size=300)
        X = rng.poisson(12 * values[labels] + 0.02)
        found = layout(values, np.bincount(labels))
        return display.DataDisplay(X, labels, found, values.sum(axis=0), **options)
    if name == "path":
        betas = np.concatenate([[0.0], np.geomspace(1.0, 500.0, 80)])
        sparsity = 0.1 + 0.9 * betas / (betas + 60.0)
        fit = -0.01 * betas**1.5
        values = {"aic": -2 * fit + 200 * (1 - sparsity), "bic": -2 * fit + 600 * (1 - sparsity)}
        chosen = {key: int(one.argmin()) for key, one in values.items()}
        return display.PathDisplay(
            betas, sparsity, fit, values, chosen, n_nonzero=300 * (1 - sparsity), n_samples=100
        )
    if name == "criteria":
        Ks = np.arange(2, 9)
        best = {"bic": 30.0 * np.abs(Ks - 4) + 5.0, "ebic": 40.0 * np.abs(Ks - 3) + Ks}
        runs = {key: one[:, None] + rng.exponential(9.0, (7, 6)) for key, one in best.items()}
        agreement = 1.0 / (1.0 + 0.2 * np.abs(Ks - 4))
        return display.CriteriaDisplay(Ks, best, runs, chosen=4, agreement=agreement)
    clusters = rng.choice(4, size=400, p=[0.4, 0.3, 0.2, 0.1])
    if name == "labels":
        labels = np.where(rng.random(400) < 0.7, clusters, rng.integers(6, size=400))
        return display.LabelsDisplay(contingency(clusters, [f"label {i}" for i in labels]))
    days = np.datetime64("2015-02-01") + rng.integers(900, size=400)
    return display.TimelineDisplay(timeline(clusters, days))


EXAMPLES = ["prototypes", "data", "path", "criteria", "labels", "timeline"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_readers_see_groups_and_no_clusters(name):
    shown = example(name).plot()
    said = " ".join(text.get_text() for text in shown.figure_.findobj(Text)).lower()
    assert "cluster" not in said
    assert "group" in said


@pytest.mark.parametrize("name", EXAMPLES)
def test_layout(name, tmp_path):
    """SPHEREMIX_BASELINES=1 accepts the pictures as they are now: look at them first."""
    shown = example(name)
    figure = Figure(shown.size, layout="constrained")
    shown.plot(figure.subplots())
    actual, expected = tmp_path / f"{name}.png", IMAGES / f"{name}.png"
    figure.savefig(actual, dpi=50)
    if os.environ.get("SPHEREMIX_BASELINES") == "1":
        IMAGES.mkdir(exist_ok=True)
        shutil.copy(actual, expected)
    # Where another version of the library shapes letters a little differently, it is no failure.
    assert compare_images(str(expected), str(actual), tol=10.0) is None
