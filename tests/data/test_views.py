"""Engines of several views: the compiled one against the reference, bits, tiles, listed rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from views_common import unit

pytest.importorskip("spheremix._kernels")

import spheremix as sm
from spheremix.data import views as module
from spheremix.data.compiled import CompiledDirections
from spheremix.data.rows import open_rows
from spheremix.data.views import CompiledViews, ReferenceViews
from spheremix.scorer import Scorer
from spheremix.testing import assert_resultants_close, assert_resultants_same_bits
from spheremix.testing.suite import ASSIGNMENTS, draw_rows, draw_scorer

N, WANTS = 1500, ("labels", "posteriors", "scores", "log_density")


def two_views(dtype=np.float64, *, lacking=True, seed=0):
    """Return words and meaning; some rows have nothing in one of them."""
    rng = np.random.default_rng(seed)
    words, meaning = draw_rows(rng, N, 40), draw_rows(rng, N, 13)
    if lacking:
        words[[5, *range(700, 705)]] = 0.0
        meaning[9] = 0.0
    return {"words": sparse.csr_array(words.astype(dtype)), "meaning": meaning.astype(dtype)}


def both_engines(X, n_threads=1):
    compiled = sm.as_directions(X, engine="compiled", n_threads=n_threads)
    reference = sm.as_directions(X, engine="reference")
    assert isinstance(compiled, CompiledViews)
    assert isinstance(reference, ReferenceViews)
    return compiled, reference


def tolerance(dtype):
    return 1e-10 if dtype == np.float64 else 1e-4


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("lacking", [True, False])
@pytest.mark.parametrize("tile", [module.TILE_SCORES, 6000])
def test_the_compiled_engine_is_the_reference(dtype, lacking, tile, monkeypatch):
    monkeypatch.setattr(module, "TILE_SCORES", tile)
    compiled, reference = both_engines(two_views(dtype, lacking=lacking))
    rng = np.random.default_rng(1)
    weights = rng.exponential(size=N)
    for K in (1, 9, 20):
        for how in ASSIGNMENTS:
            scorer = draw_scorer(rng, K, compiled.n_features, how)
            other = draw_scorer(rng, 4, compiled.n_features)
            [expected] = reference.sweep([scorer], weights)
            for scorers in ([scorer], [scorer, other]):
                found = compiled.sweep(scorers, weights)[0]
                assert_resultants_close(found, expected, scorer, tolerance(dtype))
            for want in WANTS[1:]:
                close = 1e-9 if dtype == np.float64 else 1e-4
                actual = compiled.map_rows(scorer, want)
                assert_allclose(actual, reference.map_rows(scorer, want), close, close)
            same = compiled.map_rows(scorer, "labels") == reference.map_rows(scorer, "labels")
            assert same.mean() > (0.999 if dtype == np.float64 else 0.99)


@pytest.mark.parametrize("how", ASSIGNMENTS)
def test_bits_depend_neither_on_threads_nor_on_tiles(how, monkeypatch):
    X = two_views(np.float32)
    scorer = draw_scorer(np.random.default_rng(2), 20, 55, how)
    weights = np.random.default_rng(3).exponential(size=N)
    [expected] = sm.as_directions(X, n_threads=1).sweep([scorer], weights)
    labels = sm.as_directions(X, n_threads=1).map_rows(scorer, "labels")
    for n_threads in (1, 2):
        for tile in (512 * 20, 1024 * 20):
            monkeypatch.setattr(module, "TILE_SCORES", tile)
            rows = sm.as_directions(X, n_threads=n_threads)
            assert_resultants_same_bits(rows.sweep([scorer], weights)[0], expected)
            assert_array_equal(rows.map_rows(scorer, "labels"), labels)


@pytest.mark.parametrize("tile", [module.TILE_SCORES, 6000])
@pytest.mark.parametrize("how", ["soft", "hard"])
def test_listed_rows_are_those_of_the_reference(tile, how, monkeypatch):
    monkeypatch.setattr(module, "TILE_SCORES", tile)
    compiled, reference = both_engines(two_views())
    rng = np.random.default_rng(4)
    scorer, weights = draw_scorer(rng, 9, 55, how), rng.exponential(size=N)
    ids = np.sort(rng.choice(N, 600, replace=False))
    [onto] = reference.sweep([scorer], weights)
    (_, _, owners) = compiled.sweep_listed([scorer], weights)
    held = np.where(np.arange(N) % 3 == 0, -1, owners[0]).astype(np.int32)
    for rows in (None, ids):
        read = np.arange(N) if rows is None else rows
        for options in ({}, {"held": held, "clear": 1.0}):
            before = None if rows is None else onto
            found = compiled.sweep_listed([scorer], weights, rows, before, **options)
            expected = reference.sweep_listed([scorer], weights, rows, before, **options)
            assert_resultants_close(found[0][0], expected[0][0], scorer, 1e-10)
            assert_allclose(found[1][:, read], expected[1][:, read], 1e-9, 1e-9)
            assert_array_equal(found[2][:, read], expected[2][:, read])
    lacking = [5, 9, *range(700, 705)]
    assert (compiled.sweep_listed([scorer], weights)[1][:, lacking] == -np.inf).all()


def test_rows_that_are_added_to_their_owners():
    compiled, reference = both_engines(two_views())
    rng = np.random.default_rng(5)
    rows, owners = np.sort(rng.choice(N, 300, replace=False)), rng.integers(4, size=300)
    sums = []
    for engine in (compiled, reference):
        vectors, mass = np.ones((4, 55)), np.zeros(4)
        factors = rng.normal(size=300) if not sums else sums[0][2]
        engine.add_listed(rows, owners.astype(np.int32), factors, vectors, mass)
        sums.append((vectors, mass, factors))
    assert_allclose(sums[0][0], sums[1][0], atol=1e-12)
    assert_allclose(sums[0][1], sums[1][1], atol=1e-12)


def test_a_row_is_one_unit_vector_for_each_view_and_says_what_it_lacks():
    X = two_views()
    for rows in both_engines(X):
        taken = rows.take(np.arange(N))
        assert taken.shape == (N, 40 + 13 + 2)
        words, meaning, absent = taken[:, :40], taken[:, 40:53], taken[:, 53:]
        assert_array_equal(np.flatnonzero(absent[:, 0]), [5, *range(700, 705)])
        assert_array_equal(np.flatnonzero(absent[:, 1]), [9])
        assert_allclose(np.linalg.norm(words, axis=1), 1.0 - absent[:, 0])
        assert_allclose(np.linalg.norm(meaning, axis=1), 1.0 - absent[:, 1])
        some = rows.part([5, 8, 9])
        assert_array_equal(some.take([0, 1, 2]), taken[[5, 8, 9]])


def test_sums_of_parts_of_the_rows_add_up():
    rows = sm.as_directions(two_views())
    scorer = draw_scorer(np.random.default_rng(6), 7, 55)
    [whole] = rows.sweep([scorer])
    [one], [other] = (rows.part(ids).sweep([scorer]) for ids in (np.arange(800), np.arange(800, N)))
    assert_resultants_close(one + other, whole, scorer, 1e-12)


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_a_fit_that_leaves_rows_out_is_one_that_reads_them_all(kind):
    rng = np.random.default_rng(7)
    groups = rng.integers(6, size=4000)
    words = np.eye(60)[groups] + 0.1 * rng.normal(size=(4000, 60))
    meaning = np.eye(30)[groups] + 0.1 * rng.normal(size=(4000, 30))
    words[::50] = 0.0
    X = {"words": sparse.csr_array(words) if kind == "sparse" else words, "meaning": meaning}
    rows = sm.as_directions(X)
    labels = np.where(rng.random(4000) < 0.7, groups, rng.integers(6, size=4000))
    kept = []

    class Plain:
        """The same rows without a memory."""

        def __getattr__(self, name):
            if name == "remember":
                raise AttributeError(name)
            return getattr(rows, name)

    for directions in (rows, Plain()):
        fit = sm.VMFMixture(6, init=labels, tol=1e-12).fit(directions)
        kept.append(fit)
    assert_allclose(kept[0].objective_, kept[1].objective_, rtol=1e-12)
    assert_allclose(kept[0].prototypes_, kept[1].prototypes_, atol=1e-7)
    memory = rows.remember()
    scorer = kept[0].scorer_
    for _ in range(3):
        [found] = memory.sweep([scorer], None, [0])
    assert memory.left_out(0) > 3000
    assert_resultants_close(found, rows.sweep([scorer])[0], scorer, 1e-10)


def test_a_column_of_absences_takes_a_view_out_of_the_score():
    rows = sm.as_directions(two_views())
    scorer = draw_scorer(np.random.default_rng(8), 3, 55)
    matrix = scorer.matrix.copy()
    matrix[:, 53] = [10.0, 20.0, 30.0]
    scores = rows.map_rows(replace(scorer, matrix=matrix), "scores")
    plain = rows.map_rows(
        Scorer(np.where(np.arange(55) == 53, 0.0, matrix), scorer.biases), "scores"
    )
    difference = scores - plain - scorer.offset
    assert_allclose(difference[5], [10.0, 20.0, 30.0])
    assert_allclose(difference[[6, 9]], 0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ({"a": np.eye(2), "b": np.eye(2)}, {"block_rows": 512}, "block_rows"),
        ({"a": np.eye(2), "b": np.eye(2)}, {"engine": "torch"}, "several views"),
        ({"a": np.eye(2), "b": "rows.parquet"}, {}, "View 'b' is no table"),
        ({"a": np.eye(2), "b": iter([np.eye(2)])}, {}, "View 'b' is no table"),
        ({"a": np.eye(2), "b": sm.as_directions(np.eye(2))}, {}, "View 'b' is no table"),
    ],
)
def test_what_views_are_not_read_from(X, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        sm.as_directions(X, **options)


def test_scores_that_are_given_to_kernels_fit_the_rows_and_the_components():
    X = two_views()
    part = CompiledDirections(*open_rows(X["meaning"][10:20]))
    scorer = draw_scorer(np.random.default_rng(9), 3, 13)
    sums = part.begin([scorer], None, 10)
    for given in (np.zeros((9, 3)), np.zeros((10, 4)), np.zeros((10, 3), np.float32)):
        with pytest.raises(ValueError, match="given scores"):
            sums.add(part, 0, given=given)
    with pytest.raises(ValueError, match="must be given"):
        sums.add(part, 0, complete=True)
    # Zeros change nothing, and the scores of the rows are left in their place.
    given = np.zeros((10, 3))
    sums.add(part, 0, given=given)
    assert_allclose(given + scorer.offset, part.map_rows(scorer, "scores"), rtol=1e-12)
    assert_resultants_close(sums.resultants()[0], part.sweep([scorer])[0], scorer, 1e-12)


def test_a_view_can_be_an_array_on_disk(tmp_path):
    X = two_views(np.float32)
    np.save(tmp_path / "meaning.npy", X["meaning"])
    scorer = draw_scorer(np.random.default_rng(10), 6, 55)
    mapped = sm.as_directions({**X, "meaning": tmp_path / "meaning.npy"})
    assert_resultants_same_bits(mapped.sweep([scorer])[0], sm.as_directions(X).sweep([scorer])[0])
    with pytest.raises(FileNotFoundError):
        sm.as_directions({**X, "meaning": tmp_path / "nothing.npy"})


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_some_rows_of_each_view(engine):
    rng = np.random.default_rng(0)
    words = sparse.random_array((20, 9), density=0.3, rng=rng).tolil()
    words[4] = 0.0
    X = {"words": words.tocsr(), "meaning": rng.normal(size=(20, 3)).astype(np.float32)}
    rows = sm.as_directions(X, engine=engine, n_threads=1)
    found = rows.take_views([2, 4, 5])
    assert sparse.issparse(found["words"])
    for name, part in X.items():
        assert_allclose(unit(found[name]), unit(part[[2, 4, 5]]), atol=1e-7)
        lengths = np.linalg.norm(unit(found[name]), axis=1)
        assert_allclose(lengths, [1.0, name == "meaning", 1.0])
