"""The pixel pictures show the coordinates, in the paper's order, with words that can be read."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

import spheremix as sm
from spheremix.display import DataDisplay, PrototypesDisplay, pixels
from spheremix.display.style import avoid_overlaps, hues, save, shown
from spheremix.reading import layout

pytest.importorskip("matplotlib")
import matplotlib.pyplot as plt
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

PROTOTYPES = np.array(
    [
        [0.5, 0.0, 0.1, 0.0, 0.6, 0.0, 0.0, 0.2, 0.3],
        [0.4, 0.7, 0.0, 0.0, 0.5, 0.0, -0.2, 0.0, 0.1],
        [0.1, 0.0, 0.0, 0.9, 0.2, 0.0, 0.3, 0.0, 0.0],
    ]
)
SIZES = np.array([30, 60, 10])
WORDS = ["the", "sail", "rare", "oven", "and", "nil", "salt", "star", "moon"]
# Of all three (1.3, then 1.0), of 1 and 0, of 1 and 2, own words of 1, of 0, of 2, nobody's.
ORDER = [4, 0, 8, 6, 1, 7, 2, 3, 5]


def drawn(display, size=None, **options):
    figure = Figure(display.size if size is None else size, layout="constrained")
    return display.plot(figure.subplots(), **options)


def picture(display):
    """Return the image, and the rows of pixels of each group from the lines between them."""
    image = np.asarray(display.image_.get_array())
    [lines] = [c for c in display.ax_.collections if c.get_color()[0][0] == pytest.approx(0.2)]
    edges = sorted(segment[0][1] for segment in lines.get_segments())
    return image, np.rint(np.array([0, *edges, 1]) * len(image)).astype(int)


def overlapping(texts):
    boxes = [text.get_window_extent() for text in texts]
    return [
        (one.get_text(), other.get_text())
        for (one, a), (other, b) in combinations(zip(texts, boxes, strict=True), 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 0.5 and min(a.y1, b.y1) - max(a.y0, b.y0) > 0.5
    ]


def visible(texts):
    return [text for text in texts if text.get_text() and text.get_visible()]


def random_prototypes(K, d, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.exponential(size=(K, d)) * (rng.random((K, d)) < rng.beta(0.4, 1.2, size=d))
    return values / np.linalg.norm(values, axis=1, keepdims=True)


@pytest.fixture
def prototypes():
    return PrototypesDisplay(
        PROTOTYPES, layout(PROTOTYPES, SIZES), SIZES, names=["sky", "sea", "food"], words=WORDS
    )


class TestPrototypes:
    def test_the_picture_is_that_of_a_plain_loop(self, prototypes):
        image, edges = picture(drawn(prototypes, gamma=0.7))
        colours = [to_rgb(colour) for colour in hues(3)]
        largest = np.abs(PROTOTYPES).max()
        for row, k in enumerate([1, 0, 2]):
            for column, j in enumerate(ORDER):
                n_j = sum(PROTOTYPES[i, j] != 0 for i in range(3))
                strength = (abs(PROTOTYPES[k, j]) / largest) ** 0.7
                expected = [255 * (1 - strength * (1 - part)) for part in colours[n_j]]
                pixel = image[(edges[row] + edges[row + 1]) // 2, column]
                np.testing.assert_allclose(pixel, expected, atol=1.0)

    def test_heights_go_with_sizes(self, prototypes):
        image, edges = picture(drawn(prototypes))
        np.testing.assert_allclose(np.diff(edges) / len(image), [0.6, 0.3, 0.1], atol=0.02)

    def test_what_is_written(self, prototypes):
        display = drawn(prototypes)
        rows = [label.get_text() for label in display.ax_.get_yticklabels()]
        assert rows == ["sea  60", "sky  30", "food  10"]
        # Where each column is wide enough, it has its word right below; nobody's words have none.
        assert [text.get_text() for text in display.words_] == [WORDS[j] for j in ORDER[:-1]]
        places = [text.get_position()[0] for text in display.words_]
        np.testing.assert_allclose(places, np.arange(8) + 0.5)
        above = {text.get_text() for text in visible(display.ax_.texts)}
        assert {"all: 2", "pairs: 2", "one group: 4", "nobody's: 1"} <= above
        assert {"sea: 1", "sky: 2", "food: 1"} <= above
        assert display.ax_.get_title(loc="left").startswith("9 words")

    def test_weights_serve_for_sizes(self):
        weights = np.array([0.3, 0.6, 0.1])
        display = drawn(PrototypesDisplay(PROTOTYPES, layout(PROTOTYPES, weights), weights))
        rows = [label.get_text() for label in display.ax_.get_yticklabels()]
        assert rows == ["group 1  60.0%", "group 0  30.0%", "group 2  10.0%"]
        assert display.words_ == []
        assert display.ax_.get_title(loc="left").startswith("9 features")

    @pytest.mark.parametrize(("K", "d"), [(2, 300), (40, 3000)])
    def test_nothing_overlaps_and_nothing_is_cut(self, K, d):
        rng = np.random.default_rng(K)
        values = random_prototypes(K, d)
        sizes = np.sort(rng.pareto(1.0, K) * 100 + 1).astype(int)
        words = ["".join(rng.choice(list("abcdeilmnorst"), rng.integers(2, 30))) for _ in range(d)]
        names = [" ".join(rng.choice(words, 3)) for _ in range(K)]
        display = drawn(
            PrototypesDisplay(values, layout(values, sizes), sizes, names=names, words=words)
        )
        display.figure_.draw_without_rendering()
        written = visible(display.ax_.texts)
        assert len(display.words_) > 20
        assert not overlapping(written)
        rows = display.ax_.get_yticklabels()
        assert len(rows) == K
        assert not overlapping(rows)
        page = display.figure_.bbox
        for text in [*written, *rows]:
            box = text.get_window_extent()
            assert page.x0 <= box.x0 < box.x1 <= page.x1 + 1
            assert page.y0 <= box.y0 < box.y1 <= page.y1 + 1

    @pytest.mark.parametrize("K", [5, 18])
    def test_what_is_above_columns_is_about_them(self, K):
        """Each label is within the columns of its group, whatever their number."""
        values = random_prototypes(K, 400)
        found = layout(values)
        display = drawn(PrototypesDisplay(values, found, [9] * K))
        meanings = {2: "pairs", K: "all", 1: "one group", 0: "nobody's"}
        heads = {meanings.get(n, str(n)): columns for n, columns in found.by_sharing.items()}
        top = max(text.get_position()[1] for text in display.ax_.texts)
        labels = [text for text in display.ax_.texts if text.get_position()[1] == top]
        assert len(labels) > 2
        for text in labels:
            head = text.get_text().partition(":")[0].removesuffix(" groups")
            head = "one group" if head == "one" else head
            box = text.get_window_extent().transformed(display.ax_.transData.inverted())
            assert heads[head].start <= box.x0 < box.x1 <= heads[head].stop

    def test_each_block_of_own_words_names_its_heaviest(self):
        values = random_prototypes(4, 400, seed=1)
        found = layout(values)
        display = drawn(
            PrototypesDisplay(values, found, [9, 9, 9, 9], words=list(map(str, range(400))))
        )
        written = {int(text.get_text()) for text in display.words_}
        assert (values[:, sorted(written)] != 0).any(axis=0).all()
        for block in found.blocks:
            if block.n_groups == 1:
                assert found.features[block.start] in written
        places = [text.get_position()[0] for text in display.words_]
        assert places == sorted(places)

    def test_odd_words_are_written_as_they_are(self, tmp_path):
        words = ["$x_1$", "a\nb\tc", "w" * 60, "слово", "語", "$", "_x", "<b>", "\x00"]
        display = drawn(
            PrototypesDisplay(
                PROTOTYPES, layout(PROTOTYPES, SIZES), SIZES, names=["$a$", "_", "%"], words=words
            )
        )
        written = {text.get_text() for text in display.words_}
        assert {"$x_1$", "a b c", "w" * 17 + "…", "слово", "_x", "<b>"} <= written
        assert not any(text.get_parse_math() for text in display.words_)
        # A script that no font has is no reason to warn: the SVG file keeps it.
        save(display.figure_, tmp_path, "odd")
        svg = (tmp_path / "odd.svg").read_text(encoding="utf-8")
        assert all(word in svg for word in ("$x_1$", "слово", "語", "&lt;b&gt;"))

    def test_of_a_path(self):
        X, _, _ = sm.datasets.make_vmf_mixture(sparsity=0.5, random_state=0)
        path = sm.VMFPath(4, random_state=0).fit(X)
        ax = Figure(layout="constrained").subplots()
        display = PrototypesDisplay.from_estimator(path, step=-1, ax=ax)
        assert display.ax_ is ax
        np.testing.assert_array_equal(display.prototypes, path.model(-1).prototypes_)
        assert (display.layout.n_sharing == 0).sum() >= 6
        named = PrototypesDisplay.from_estimator(path, [f"w{j}" for j in range(10)], ax=ax)
        assert {text.get_text() for text in named.words_} <= {f"w{j}" for j in range(10)}

    def test_without_axes_there_is_a_figure(self):
        plt.switch_backend("agg")
        display = PrototypesDisplay(PROTOTYPES, layout(PROTOTYPES, SIZES), SIZES).plot()
        assert display.figure_ is plt.gcf()
        plt.close(display.figure_)


class TestData:
    def test_the_picture_is_that_of_a_plain_loop(self):
        rng = np.random.default_rng(0)
        X = rng.poisson(0.7, size=(60, 9)) + np.eye(9)[rng.integers(9, size=60)]
        labels = rng.choice([0, 1, 2], p=[0.3, 0.6, 0.1], size=60)
        found = layout(PROTOTYPES, np.bincount(labels))
        display = drawn(
            DataDisplay(sparse.csr_array(X), labels, found, np.abs(PROTOTYPES).sum(axis=0)), (6, 5)
        )
        image, edges = picture(display)
        unit = X / np.linalg.norm(X, axis=1, keepdims=True)
        colours = [to_rgb(colour) for colour in hues(3)]
        for band, k in enumerate(found.groups):
            rows = unit[labels == k]
            band_rows = image[edges[band] : edges[band + 1]]
            assert len(band_rows) > len(rows)  # each document has a row of pixels at least
            for i, pixels_of_row in enumerate(band_rows):
                row = rows[i * len(rows) // len(band_rows)]
                for column, j in enumerate(found.features):
                    n_j = np.count_nonzero(PROTOTYPES[:, j])
                    strength = (row[j] / unit.max()) ** 0.3
                    expected = [255 * (1 - strength * (1 - part)) for part in colours[n_j]]
                    # Few levels of intensity.
                    np.testing.assert_allclose(
                        pixels_of_row[column], expected, atol=1 + 255 / DataDisplay.levels / 2
                    )

    def test_nothing_vanishes(self):
        """One value in 4,000 rows of 3,000 columns is seen, wherever it is."""
        found = layout(np.eye(2, 3000) + 0.0)
        labels = np.arange(4000) % 2
        for i, j in ((0, 0), (1999, 1500), (3999, 2999), (17, 2718)):
            X = np.zeros((4000, 3000), dtype=np.float32)
            X[:, 1] = 1.0  # rows need a direction
            X[i, j] = 0.02
            display = drawn(DataDisplay(X, labels, found, np.zeros(3000)), (3, 2))
            image, edges = picture(display)
            assert image.shape[0] < 300
            assert image.shape[1] < 300
            place = int(np.flatnonzero(found.features == j)[0])
            columns = np.arange(image.shape[1]) * 3000 // image.shape[1]
            column = int(np.searchsorted(columns, place, side="right") - 1)
            band = image[edges[i % 2] : edges[i % 2 + 1], column]
            assert (band < 255).any()

    def test_rows_and_words(self):
        X, _, _ = sm.datasets.make_vmf_mixture(200, 10, 3, kappa=20.0, random_state=0)
        mixture = sm.VMFMixture(3, random_state=0).fit(X)
        ax = Figure((8, 6), layout="constrained").subplots()
        display = DataDisplay.from_estimator(mixture, X, [f"w{j}" for j in range(10)], ax=ax)
        rows = [label.get_text().rpartition("  ")[2] for label in ax.get_yticklabels()]
        assert rows == [str(n) for n in sorted(np.bincount(mixture.labels_), reverse=True)]
        assert len(display.words_) == 10


class TestPixels:
    def test_columns_that_share_a_pixel(self):
        rng = np.random.default_rng(0)
        values = rng.random((4, 1000)) * (rng.random((4, 1000)) < 0.1)
        counts = np.sort(rng.integers(5, size=1000))[::-1]
        found, hue_of = pixels.squeeze(values, counts, 37)
        assert found.shape == (4, 37)
        for row in range(4):
            for p in range(37):
                mine = range(p * 1000 // 37, (p + 1) * 1000 // 37)
                best = max(mine, key=lambda j: values[row, j])
                assert found[row, p] == values[row, best]
                assert found[row, p] == 0 or hue_of[row, p] == counts[best]

    def test_heights(self):
        found = pixels.heights([60, 30, 9, 1, 0], 0.05)
        assert found.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(found[3:], 0.05)
        np.testing.assert_allclose(found[:3] / found[0], [1.0, 0.5, 0.15])
        # The share left to the third one falls below the least when the others are served.
        found = pixels.heights([70, 24.9, 5.02, 0.08], 0.05)
        np.testing.assert_allclose(found, [0.9 * 70 / 94.9, 0.9 * 24.9 / 94.9, 0.05, 0.05])
        np.testing.assert_allclose(pixels.heights(np.arange(1, 41), 0.03), 1 / 40)

    def test_what_is_there_is_not_white(self):
        image = pixels.coloured(np.array([[1.0, 1e-9, 0.0]]), np.array([[1, 1, 1]]), 3, 0.5, 255)
        assert (image[0, 1] < 255).all()
        assert (image[0, 2] == 255).all()
        empty = pixels.coloured(np.zeros((1, 2)), np.array([[1, 0]]), 3, 0.5, 255)
        assert (empty == 255).all()

    def test_labels_are_spread(self):
        rng = np.random.default_rng(0)
        for _ in range(20):
            wanted = np.sort(rng.random(12) ** 2 * 100)
            widths = rng.uniform(1, 8, size=12)
            places = avoid_overlaps(wanted, widths, 0, 100)
            starts, stops = places - widths / 2, places + widths / 2
            assert starts[0] > -1e-9
            assert stops[-1] < 100 + 1e-9
            assert np.all(starts[1:] > stops[:-1] - 1e-9)
        np.testing.assert_array_equal(
            avoid_overlaps([10.0, 50.0], [4.0, 4.0], 0, 100), [10.0, 50.0]
        )
        np.testing.assert_allclose(avoid_overlaps([50.0, 50.0], [4.0, 6.0], 0, 100), [47.5, 52.5])

    def test_a_text_in_one_line(self):
        assert shown("a\u202eb \n c\u0000") == "a b c"
        assert shown("x" * 30, 10) == "x" * 9 + "…"
