"""Curves of the path and of criteria: what is drawn is what was computed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import spheremix as sm
from spheremix.display import CriteriaDisplay, PathDisplay

pytest.importorskip("matplotlib")
from matplotlib.colors import to_hex
from matplotlib.figure import Figure


@pytest.fixture(scope="module")
def study():
    X, _, _ = sm.datasets.make_vmf_mixture(random_state=0)
    return sm.VMFMixtureIC(n_components=range(2, 6), random_state=0, n_init=4).fit(X)


def canvas(*shape):
    return Figure((8, 6), layout="constrained").subplots(*shape)


def has_curve(ax, x, y):
    wanted = np.column_stack([x, y])
    found = [np.asarray(line.get_xydata(), dtype=float) for line in ax.lines]
    return any(xy.shape == wanted.shape and np.allclose(xy, wanted) for xy in found)


def stars(ax):
    return [line.get_xydata()[0] for line in ax.lines if line.get_marker() == "*"]


class TestPath:
    def test_curves_against_the_steps(self, study):
        path, n = study.best_path_, len(study.labels_)
        display = PathDisplay.from_estimator(study, ["bic"], ax=canvas(2, 2), against="step")
        steps = np.arange(len(path.betas_))
        above = (path.criteria_["bic"] - path.criteria_["bic"].min()) / n
        for ax, values in zip(
            display.ax_,
            (path.betas_, path.sparsity_, path.log_likelihoods_ / n, above),
            strict=True,
        ):
            assert has_curve(ax, steps, values)
            np.testing.assert_allclose(stars(ax), [[path.selected_, values[path.selected_]]])

    def test_curves_against_beta(self, study):
        path, n = study.best_path_, len(study.labels_)
        display = PathDisplay.from_estimator(path, ax=canvas(3, 1))
        sparsity, likelihood, criteria = display.ax_
        assert sparsity.get_xscale() == "log"
        seen = (path.betas_ > 0) & (path.betas_ >= path.betas_[-1] / 200)
        first = min(path.betas_[path.select(name)] for name in ("aic", "bic", "ebic"))
        seen |= (path.betas_ >= first) & (path.betas_ > 0)
        assert has_curve(sparsity, path.betas_[seen], path.sparsity_[seen])
        assert has_curve(likelihood, path.betas_[seen], path.log_likelihoods_[seen] / n)
        for name in ("aic", "bic", "ebic"):
            above = (path.criteria_[name] - path.criteria_[name].min()) / n
            assert has_curve(criteria, path.betas_[seen], above[seen])
            for ax, values in ((sparsity, path.sparsity_), (criteria, above)):
                i = path.select(name)
                assert any(np.allclose(star, [path.betas_[i], values[i]]) for star in stars(ax))
        # The dense mixture is at the left end, under a zero.
        ticks = dict(
            zip(
                [label.get_text() for label in criteria.get_xticklabels()],
                criteria.get_xticks(),
                strict=True,
            )
        )
        assert ticks["0"] < path.betas_[seen][0]
        assert has_curve(sparsity, [ticks["0"]], [path.sparsity_[0]])

    def test_it_says_what_is_chosen(self, study):
        path = study.best_path_
        display = PathDisplay.from_estimator(path, ["aic", "ricc"], ax=canvas(3, 1))
        legend = [text.get_text() for text in display.ax_[-1].get_legend().get_texts()]
        for name, label in zip(("AIC", "RICc", "BIC"), legend, strict=True):  # bic chose
            i = path.select(name.lower())
            words = path.n_nonzero_[i] / 4
            assert label == f"{name}: {words:,.0f} words a group, sparsity {path.sparsity_[i]:.2f}"

    def test_names_of_one_step_do_not_overlap(self):
        values = np.arange(5.0)
        same = {"aic": 2, "bic": 2, "ebic": 2}
        display = PathDisplay(
            values, values / 5, -values, dict.fromkeys(same, (values - 2) ** 2), same
        ).plot(canvas(3, 1))
        boxes = [text.get_window_extent() for text in display.ax_[0].texts]
        assert len(boxes) == 3
        boxes.sort(key=lambda box: box.x0)
        assert all(one.x1 <= other.x0 for one, other in pairwise(boxes))

    def test_a_path_of_the_dense_step_alone(self):
        display = PathDisplay([0.0], [0.1], [-3.0], {"bic": [5.0]}, {"bic": 0}).plot(canvas(3, 1))
        assert len(stars(display.ax_[0])) == 1
        display.figure_.draw_without_rendering()

    def test_one_axes_is_cut_up(self, study):
        ax = canvas()
        display = PathDisplay.from_estimator(study, ax=ax)
        assert len(display.ax_) == 3
        assert all(one.figure is ax.figure for one in display.ax_)
        assert not ax.axison

    def test_refusals(self, study):
        with pytest.raises(ValueError, match="against must be"):
            PathDisplay.from_estimator(study, against="time")
        with pytest.raises(ValueError, match="ax must have 3 axes, one a panel: got 2"):
            PathDisplay.from_estimator(study, ax=canvas(2, 1))


class TestCriteria:
    def test_the_curves_of_a_study(self, study):
        n = len(study.labels_)
        display = CriteriaDisplay.from_estimator(study, ["bic", "ebic"], ax=canvas(1, 3))
        assert display.n_panels == 3
        for ax, name in zip(display.ax_, ("bic", "ebic"), strict=False):
            curve = study.dense_criteria_[name]
            assert has_curve(ax, study.candidates_, (curve - curve.min()) / n)
            [star] = stars(ax)
            best = study.candidates_[curve.argmin()]
            np.testing.assert_allclose(star, [best, 0.0])
            assert ax.get_title() == f"{name.upper()}: K = {study.best_n_components_} chosen" + (
                "" if best == study.best_n_components_ else f", smallest at {best}"
            )
            [chosen] = [line for line in ax.lines if line.get_linestyle() == ":"]
            assert list(chosen.get_xdata()) == [study.best_n_components_] * 2
        assert has_curve(display.ax_[-1], study.candidates_, study.agreement_)

    @pytest.mark.parametrize("n_samples", [1, 10])
    @pytest.mark.parametrize("best", [None, [11.0, 7.0]], ids=["means", "bests"])
    def test_the_band_is_two_standard_deviations(self, best, n_samples):
        """Around the mean of those that converged; below the best of them there is none."""
        values = np.array([[10.0, 40.0, 11.0, 12.0, np.nan], [7.0, 9.0, 8.0, 8.0, 7.5]])
        known = None if best is None else {"bic": best}
        display = CriteriaDisplay([2, 5], known, {"bic": values}, n_samples=n_samples)
        [ax] = display.plot([canvas()]).ax_
        [band] = ax.collections
        corners = band.get_paths()[0].vertices
        rows = [row[np.isfinite(row)] for row in values]
        means = np.array([np.mean(row) for row in rows])
        curve = means if best is None else np.array(best)
        for K, row, mean in zip([2, 5], rows, means, strict=True):
            reach = 2 * np.sqrt(np.sum((row - mean) ** 2) / (len(row) - 1))
            least = mean - reach if best is None else max(mean - reach, row.min())
            heights = corners[corners[:, 0] == K, 1] * n_samples + curve.min()
            np.testing.assert_allclose([heights.min(), heights.max()], [least, mean + reach])
        assert has_curve(ax, [2, 5], (curve - curve.min()) / n_samples)

    @pytest.mark.parametrize(("n", "columns"), [(1, 1), (2, 2), (3, 3), (4, 2), (5, 5), (6, 3)])
    def test_no_place_is_left_empty(self, n, columns):
        names = ["aic", "bic", "ebic", "ric", "ricc"][: min(n, 5)]
        same = [0.5, 0.5] if n == 6 else None
        display = CriteriaDisplay([2, 3], {name: [4.0, 3.0] for name in names}, agreement=same)
        assert (display.n_panels, display.n_columns) == (n, columns)

    @pytest.mark.parametrize(
        ("chosen", "title", "ringed"),
        [
            (4, "AIC: K = 4 chosen", [[4, 0.0]]),
            (3, "AIC: K = 3 chosen, smallest at 4", [[3, 1.0]]),
            (7, "AIC: K = 7 chosen, smallest at 4", []),  # no candidate: a line only
        ],
    )
    def test_the_chosen_number_is_marked(self, chosen, title, ringed):
        display = CriteriaDisplay([2, 3, 4], {"aic": [4.0, 3.0, 1.0]}, chosen=chosen, n_samples=2)
        [ax] = display.plot([canvas()]).ax_
        assert ax.get_title() == title
        rings = [line for line in ax.lines if line.get_markerfacecolor() == "none"]
        assert [[*line.get_xdata(), *line.get_ydata()] for line in rings] == ringed
        assert not ax.collections  # without repetitions there is no band
        assert to_hex(ax.lines[0].get_color()) == "#d55e00"

    def test_a_number_that_never_converged(self):
        values = np.array([[5.0, 4.0], [np.nan, np.nan], [3.0, 2.0]])
        display = CriteriaDisplay([2, 3, 4], repetitions={"ric": values}).plot([canvas()])
        assert np.isnan(display.means["ric"][1])
        assert display.ax_[0].get_title() == "RIC: smallest at K = 4"

    def test_something_is_needed(self):
        with pytest.raises(ValueError, match="Give best, or repetitions"):
            CriteriaDisplay([2, 3])
