"""Shares of groups by labels, numbers and dates."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest
from scipy import sparse

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.reading.effects import ColumnEffects, Effects, fit_proportions, natural_spline
from spheremix.reading.shares import proportions

K = 3
TRUE_DIFFERENCE = 0.270  # of the planted group: the mean over `when` of the two logistic shares
SURE = {"stability": np.ones(K), "temperature": 1.0, "n_replicates": 40}


def planted(seed=0, n=500, overlap=0.1):
    """Return rows, labels and numbers on which the share of one group depends."""
    X, y, truth = sm.datasets.make_vmf_mixture(4 * n, 12, K, overlap=overlap, random_state=seed)
    rng = np.random.default_rng(seed)
    side, when = rng.integers(2, size=n), rng.uniform(0.0, 1.0, n)
    logits = np.zeros((n, K))
    logits[:, 0] = 1.2 * side + 2.0 * (when - 0.5)
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    pools = [list(np.flatnonzero(y == k)) for k in range(K)]
    ids = [pools[rng.choice(K, p=one)].pop() for one in shares]
    return X[ids], y[ids], side, when, truth


@pytest.fixture(scope="module")
def fitted():
    X, _, side, when, truth = planted()
    mixture = sm.VMFMixture(K, random_state=0).fit(X)
    own = int((mixture.prototypes_ @ truth.prototypes[0]).argmax())
    return X, mixture, side, when, own


def test_free_proportions_are_those_of_em():
    """One label: the regression gives the proportions that EM finds within each value."""
    rng = np.random.default_rng(0)
    evidence, cells = np.exp(rng.normal(size=(300, K))), rng.integers(4, size=300)
    weights = rng.uniform(0.5, 2.0, 300)
    design = np.hstack([np.ones((4, 1)), np.eye(4)])
    gamma = fit_proportions(evidence, design, cells, weights)
    eta = np.exp(design @ gamma)
    members = sparse.csr_array((weights, (cells, np.arange(300))), shape=(4, 300))
    expected, _ = proportions(evidence, members, np.full(K, 1e-9))
    np.testing.assert_allclose(eta / eta.sum(axis=1, keepdims=True), expected, atol=0.01)


def test_proportions_are_a_stationary_point():
    """The slope is zero, by differences of the likelihood written out."""
    rng = np.random.default_rng(1)
    evidence, cells = np.exp(rng.normal(size=(200, K))), rng.integers(30, size=200)
    design = np.hstack([np.ones((30, 1)), rng.normal(size=(30, 2))])
    weights = rng.uniform(0.5, 2.0, 200)
    gamma = fit_proportions(evidence, design, cells, weights)

    def value(g):
        total = 0.0
        for i in range(200):
            shares = np.exp(design[cells[i]] @ g)
            total += weights[i] * np.log(evidence[i] @ shares / shares.sum())
        return total - 0.005 * np.sum(g[1:] ** 2)

    step = 1e-4
    for place in np.ndindex(gamma.shape):
        change = np.zeros_like(gamma)
        change[place] = step
        assert abs(value(gamma + change) - value(gamma - change)) / (2 * step) < 0.02


def test_a_planted_effect_is_found(fitted):
    X, mixture, side, _, own = fitted
    found = sm.effects(mixture, X, {"side": side}, **SURE)
    column = found["side"]
    assert column.kind == "label"
    assert column.values == (0, 1)
    assert column.n_documents.tolist() == np.bincount(side).tolist()
    np.testing.assert_allclose(column.shares.sum(axis=1), 1.0)
    difference = column.difference(1, 0)
    assert difference.told[own]
    assert difference.low[own] < difference.estimates[own] < difference.high[own]
    np.testing.assert_allclose(difference.estimates, column.shares[1] - column.shares[0])
    back = column.difference(0, 1)
    np.testing.assert_allclose(back.low, -difference.high)


def test_means_of_posteriors_shrink_and_proportions_do_not():
    """The bias that the proportions are there for: many rows, groups that overlap."""
    X, y, side, _, truth = planted(3, 3000, overlap=0.25)
    mixture = sm.VMFMixture(K, random_state=0).fit(X)
    own = int((mixture.prototypes_ @ truth.prototypes[0]).argmax())
    true = np.mean(y[side == 1] == 0) - np.mean(y[side == 0] == 0)
    posteriors = mixture.predict_proba(X)[:, own]
    mean = posteriors[side == 1].mean() - posteriors[side == 0].mean()
    found = sm.effects(mixture, X, side, **SURE)["value"].difference(1, 0).estimates[own]
    assert mean < 0.8 * true
    assert abs(found - true) < 0.5 * abs(mean - true)


def test_intervals_are_expanded_percentiles():
    """Of a share without doubt of groups they are the t interval, not the narrower normal one."""
    rng = np.random.default_rng(0)
    draws = rng.normal(0.3, 0.01, (100_000, 2, 1)) * np.sqrt(11 / 12)  # a bootstrap of 12 values
    column = ColumnEffects("a", "label", (0, 1), np.array([12, 40]), draws[0], draws, 0.95)
    width = (column.high - column.low)[0, 0]
    np.testing.assert_allclose(width, 2 * 2.201 * 0.01, rtol=0.02)  # t of 11 degrees
    assert (column.high - column.low)[1, 0] < width
    difference = column.difference(0, 1)
    np.testing.assert_allclose(difference.high - difference.low, np.sqrt(2) * width, rtol=0.02)


@pytest.mark.slow
def test_intervals_cover():
    """Of 40 data sets; benchmarks/effects.py has many more."""
    covered, estimates = [], []
    for seed in range(40):
        X, _, side, _, truth = planted(100 + seed, 300)
        mixture = sm.VMFMixture(K, random_state=0).fit(X)
        own = int((mixture.prototypes_ @ truth.prototypes[0]).argmax())
        found = sm.effects(mixture, X, side, **SURE | {"n_replicates": 100}).columns[0]
        difference = found.difference(1, 0)
        covered.append(difference.low[own] <= TRUE_DIFFERENCE <= difference.high[own])
        estimates.append(difference.estimates[own])
    assert 0.85 <= np.mean(covered) <= 1.0
    assert abs(np.mean(estimates) - TRUE_DIFFERENCE) < 0.03


def test_a_curve(fitted):
    X, mixture, _, when, own = fitted
    column = sm.effects(mixture, X, {"when": when}, **SURE)["when"]
    assert column.kind == "number"
    assert column.shares.shape == (25, K)
    assert (np.diff(column.values) > 0.0).all()
    rising = column.shares[:, own]
    assert rising[-1] - rising[0] > 0.2
    assert column.difference(column.values[-1], column.values[0]).told[own]
    inside = (column.low <= column.shares) & (column.shares <= column.high)
    assert inside.mean() > 0.9
    assert column.n_documents.sum() == 500


def test_dates_are_told_as_dates(fitted):
    X, mixture, _, when, _ = fitted
    days = np.datetime64("2000-01-01") + (1000 * when).astype(int)
    as_objects = [dt.date.fromisoformat(str(one)) for one in days]
    one, other, third = (
        sm.effects(mixture, X, {"day": by}, **SURE)["day"]
        for by in (days, as_objects, days.astype(str))
    )
    assert one.kind == other.kind == third.kind == "date"
    np.testing.assert_array_equal(one.shares, third.shares)
    assert one.values == other.values
    assert one.values[0].startswith("2000-01")
    np.testing.assert_array_equal(one.shares, other.shares)


def test_several_columns_are_main_effects(fitted):
    """What hangs on another column is not told as an effect of this one."""
    X, mixture, side, when, own = fitted
    rng = np.random.default_rng(0)
    copy = np.where(rng.random(500) < 0.85, side, 1 - side)  # follows the side, and nothing else
    alone = sm.effects(mixture, X, {"copy": copy}, **SURE)["copy"].difference(1, 0)
    both = sm.effects(mixture, X, {"copy": copy, "side": side, "when": when}, **SURE)
    assert alone.told[own]
    assert not both["copy"].difference(1, 0).told[own]
    assert both["side"].difference(1, 0).told[own]
    for column in both.columns:
        np.testing.assert_allclose(column.shares.sum(axis=1), 1.0)


def test_documents_are_drawn_whole_and_count_once(fitted):
    X, mixture, side, _, own = fitted
    documents = np.repeat(np.arange(100), 5)
    by = side[::5][documents]
    lengths = np.tile([1.0, 2.0, 3.0, 2.0, 1.0], 100)
    found = sm.effects(mixture, X, {"side": by}, documents=documents, lengths=lengths, **SURE)
    assert found.n_documents == 100
    assert found["side"].n_documents.sum() == 100
    # Many copies of one document change nothing if they are one document: it counts once.
    longer = np.r_[np.arange(500), np.tile(np.arange(5), 20)]
    again = sm.effects(
        mixture,
        X[longer],
        {"side": by[longer]},
        documents=documents[longer],
        lengths=lengths[longer],
        **SURE,
    )
    np.testing.assert_allclose(again["side"].shares, found["side"].shares, atol=1e-3)
    # Five rows that always come together are less than five documents: the interval is wider.
    same = np.repeat(np.arange(0, 500, 5), 5)
    whole, parts = (
        sm.effects(mixture, X[same], {"side": by}, documents=one, **SURE)["side"].difference(1, 0)
        for one in (documents, np.arange(500))
    )
    np.testing.assert_allclose(whole.estimates, parts.estimates, atol=1e-3)
    assert (whole.high - whole.low)[own] > 1.5 * (parts.high - parts.low)[own]


def test_missing_values_are_left_out(fitted):
    X, mixture, side, _, _ = fitted
    by = np.array(side, dtype=object)
    by[:100] = None
    found = sm.effects(mixture, X, {"side": by}, **SURE)
    assert (found.n_documents, found.n_missing) == (400, 100)
    assert "100 without a value left out" in str(found)


def test_an_unstable_group_says_so(fitted):
    X, mixture, side, _, own = fitted
    weak = np.ones(K)
    weak[own] = 0.4
    found = sm.effects(mixture, X, {"side": side}, **SURE | {"stability": weak})
    assert not found.stable[own]
    assert np.isnan(found["side"].shares[:, own]).all()
    assert np.isnan(found["side"].low[:, own]).all()
    assert not found["side"].difference(1, 0).told[own]
    assert f"Not stable, so no effect is told: group {own}." in str(found)
    whole = sm.stability(mixture, X, 5)
    by_object = sm.effects(mixture, X, {"side": side}, **SURE | {"stability": whole})
    np.testing.assert_array_equal(by_object.stability, whole.groups)


def test_what_is_printed(fitted):
    X, mixture, side, _, own = fitted
    found = sm.effects(mixture, X, {"side": side}, names=["sea", "sky", "sun"], **SURE)
    lines = str(found).split("\n")
    assert lines[0] == "500 documents, 95 % intervals from 40 draws of the documents."
    assert lines[2].strip().startswith(f"{['sea', 'sky', 'sun'][own]}: ")
    difference = found["side"].difference(1, 0)
    assert f"difference {100 * difference.estimates[own]:+.0f} points" in lines[2]
    assert lines[-1].strip() == "Of 3 differences compared, 0.2 would look so by chance alone."
    none = np.random.default_rng(2).integers(2, size=500)
    quiet = sm.effects(mixture, X, {"coin": none}, **SURE)
    if not quiet["coin"].difference(1, 0).told.any():
        assert "none is beyond chance" in str(quiet)


def test_of_few_documents_no_difference_is_told(fitted):
    """A group that none of them has is in no draw, so its interval would leave zero out."""
    X, mixture, *_, own = fitted
    others = np.flatnonzero(mixture.labels_ != own)
    few = np.isin(np.arange(len(X)), others[:8])
    found = sm.effects(mixture, X, {"side": np.where(few, "few", "many")}, **SURE)
    assert found["side"].difference("few", "many").told[own]
    assert found.sentences(found["side"]) == [
        "Fewer than 15 documents, so no difference is told: few."
    ]
    three = np.where(few, "few", np.where(np.arange(len(X)) % 2, "odd", "even"))
    lines = sm.effects(mixture, X, {"side": three}, **SURE)
    assert not any("few," in line or "= few" in line for line in str(lines).splitlines())
    assert "Of 3 differences compared" in str(lines)


def test_the_table_has_every_share_and_every_difference(fitted):
    X, mixture, side, when, _ = fitted
    found = sm.effects(mixture, X, {"side": side, "when": when}, **SURE)
    table = found.table()
    rows = 3 * K + (len(found["when"].values) + 1) * K
    assert {len(one) for one in table.values()} == {rows}
    assert table["value"][: 3 * K] == [0] * K + [1] * K * 2
    assert table["other"][: 3 * K] == [None] * 2 * K + [0] * K
    shares, differences = slice(2 * K), slice(2 * K, 3 * K)
    assert table["share"][shares] == found["side"].shares.ravel().tolist()
    assert table["low"][shares] == found["side"].low.ravel().tolist()
    assert np.isnan(table["difference"][shares]).all()
    one = found["side"].difference(1, 0)
    assert table["difference"][differences] == one.estimates.tolist()
    assert table["low"][differences] == one.low.tolist()
    assert table["high"][differences] == one.high.tolist()
    assert np.isnan(table["share"][differences]).all()
    ends = found["when"].values
    assert (table["value"][-1], table["other"][-1]) == (ends[-1], ends[0])


@pytest.mark.parametrize("n_values", [2, 5, 6])
def test_many_labels_are_compared_with_the_most_frequent_one(n_values):
    values = tuple("abcdef"[:n_values])
    counts = np.array([9, 12, 8, 7, 6, 5][:n_values])
    nothing = np.zeros((n_values, K))
    column = ColumnEffects("x", "label", values, counts, nothing, nothing[None], 0.95)
    found = list(column.pairs())
    if n_values <= 5:
        assert len(found) == n_values * (n_values - 1) / 2
        assert {frozenset(one) for one in found} == {
            frozenset((a, b)) for a in values for b in values if a < b
        }
    else:
        assert found == [("a", "b"), ("c", "b"), ("d", "b"), ("e", "b"), ("f", "b")]


def test_a_seed_gives_the_same(fitted):
    X, mixture, side, _, _ = fitted
    one, other, third = (
        sm.effects(mixture, X, side, **SURE, random_state=seed)["value"].draws for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(one, third)


def test_other_inputs(fitted):
    pandas = pytest.importorskip("pandas")
    X, mixture, side, when, _ = fitted
    frame = pandas.DataFrame({"side": np.where(side, "left", "right"), "when": when})
    found = sm.effects(mixture, X, frame, **SURE)
    assert [one.name for one in found.columns] == ["side", "when"]
    assert found["side"].values == ("left", "right")
    series = sm.effects(mixture, X, frame["side"], **SURE)
    assert series.columns[0].name == "side"
    path = sm.VMFPath(K, random_state=0, max_steps=3).fit(X)
    assert isinstance(sm.effects(path, X, side, **SURE), Effects)
    done = []
    sm.effects(mixture, X, side, **SURE, callback=done.append)
    assert done == [10, 20, 30, 40]


def test_natural_splines_are_linear_outside_and_smooth():
    knots = np.array([0.0, 0.3, 0.5, 1.0])
    x = np.linspace(-2.0, 3.0, 5001)
    basis = natural_spline(x, knots)
    assert basis.shape == (5001, 3)
    second = np.diff(basis, 2, axis=0) / (x[1] - x[0]) ** 2
    outside = (x[1:-1] < -0.01) | (x[1:-1] > 1.01)
    assert np.abs(second[outside]).max() < 1e-4
    assert np.abs(np.diff(second, axis=0)).max() < 0.2  # no jump of the curvature
    assert np.linalg.matrix_rank(np.column_stack([np.ones(5001), basis])) == 4


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"by": [0, 1]}, "by must have one value a row"),
        ({"by": {}}, "by has no column"),
        ({"by": {"a": ["x"] * 500}}, "two different values"),
        ({"by": {"a": [1.0] * 495 + [2, 3, 4, 5, 6]}}, "nearly all are 1"),
        ({"by": {"a": [f"x{i}" for i in range(500)]}}, "500 different labels in column a"),
        ({"n_replicates": 1}, "n_replicates must be an integer of at least 2"),
        ({"level": 1.0}, "level must be below 1"),
        ({"names": ["a"]}, "one name a group"),
        ({"stability": [1.0]}, "stability must have one value for each group"),
        ({"documents": [1]}, "documents must have one value a row"),
        ({"temperature": -1.0}, "temperature must be"),
    ],
)
def test_what_is_refused(fitted, wrong, message):
    X, mixture, side, _, _ = fitted
    given = {"by": side} | SURE | wrong
    with pytest.raises(ParameterError, match=message):
        sm.effects(mixture, X, given.pop("by"), **given)
    column = sm.effects(mixture, X, side, **SURE | {"n_replicates": 2}).columns[0]
    with pytest.raises(ParameterError, match="must be one of the values"):
        column.difference(0, 7)


def test_a_figure(fitted):
    pytest.importorskip("matplotlib").use("agg")
    X, mixture, side, when, own = fitted
    weak = np.ones(K)
    weak[own] = 0.1
    found = sm.effects(
        mixture, X, {"side": side, "when": when}, **SURE | {"stability": weak, "n_replicates": 5}
    )
    points, curves = (sm.EffectsDisplay(found, one).plot() for one in ("side", "when"))
    for drawn in (points, curves):
        titles = [ax.get_title(loc="left") for ax in drawn.ax_]
        assert [title.endswith("not stable") for title in titles] == [k == own for k in range(K)]
    import matplotlib.pyplot as plt  # noqa: PLC0415

    given = plt.subplots(3)[1]
    assert sm.EffectsDisplay(found).plot(given).ax_[0] is given[0]
    with pytest.raises(ValueError, match="3 axes, one a group"):
        sm.EffectsDisplay(found).plot(given[:2])
    other = (own + 1) % K
    line = points.ax_[other].lines[0]
    np.testing.assert_allclose(line.get_xdata(), found["side"].shares[:, other])
    np.testing.assert_allclose(
        curves.ax_[other].lines[0].get_ydata(), found["when"].shares[:, other]
    )
    plt.close("all")
