"""The kernels for dense float32 rows on a CUDA device, beyond what the conformance suite asks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spheremix.scorer import Scorer

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("needs a CUDA device", allow_module_level=True)
pytest.importorskip("triton")

from spheremix.data import triton_dense, triton_tiles  # noqa: E402
from spheremix.data.torch_gpu import open_torch  # noqa: E402

rng = np.random.default_rng(0)


def draw(n_components, d, lengths=60.0, assignment="soft"):
    prototypes = rng.normal(size=(n_components, d))
    prototypes *= lengths / np.linalg.norm(prototypes, axis=1, keepdims=True)
    return Scorer(prototypes, rng.normal(size=n_components), assignment=assignment)


@pytest.mark.parametrize("precision", ["highest", "tf32", "bf16"])
@pytest.mark.parametrize(
    ("assignment", "d", "n_components"),
    [
        (assignment, d, n_components)
        for assignment in ("soft", "hard")
        for d, n_components in [(384, 100), (300, 20), (384, 200)]
    ]
    + [("soft", 128, 700), ("hard", 128, 700)],
)
def test_rows_kept_in_16_bits_change_no_bit(monkeypatch, precision, assignment, d, n_components):
    X = torch.randn(20_011, d, device="cuda")
    scorers = [draw(n_components, d, assignment=assignment)]
    weights = rng.uniform(size=len(X))
    kept = open_torch(X, precision)
    found = [kept.sweep(scorers), kept.sweep(scorers, weights)]
    assert kept._rows.kept[torch.bfloat16 if precision == "bf16" else torch.float16] is not None
    monkeypatch.setattr(triton_tiles, "KEPT", 0.0)
    exact = open_torch(X, precision)
    for [one], [two] in zip(
        found, [exact.sweep(scorers), exact.sweep(scorers, weights)], strict=True
    ):
        np.testing.assert_array_equal(one.vectors, two.vectors)
        np.testing.assert_array_equal(one.mass, two.mass)
        assert one.log_likelihood == two.log_likelihood
        assert one.entropy == two.entropy
    assert list(exact._rows.kept.values()) == [None]


@pytest.mark.parametrize(
    ("precision", "error"), [("highest", 1e-6), ("tf32", 1e-3), ("bf16", 1e-2)]
)
@pytest.mark.parametrize("n_components", [100, 300])
def test_every_precision_is_as_exact_as_it_says(precision, error, n_components):
    X = torch.randn(5000, 200, device="cuda")
    scorer = draw(n_components, 200, 10.0)
    [found] = open_torch(X, precision).sweep([scorer])
    [exact] = open_torch(X.double()).sweep([scorer])
    largest = np.abs(exact.vectors).max()
    np.testing.assert_allclose(found.vectors, exact.vectors, rtol=0, atol=error * largest)
    np.testing.assert_allclose(found.mass, exact.mass, rtol=0, atol=error * exact.mass.max())
    assert found.log_likelihood == pytest.approx(exact.log_likelihood, abs=5000 * error)


def test_rows_are_not_kept_where_they_need_much_of_the_free_memory(monkeypatch):
    X = torch.randn(1000, 128, device="cuda")
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (4 * 1000 * 128 * 4 - 1, 0))
    rows = open_torch(X)
    rows.sweep([draw(5, 128)])
    assert list(rows._rows.kept.values()) == [None]


@pytest.mark.parametrize("counts", [[100], [7, 16, 10]])
def test_prototypes_of_every_length_are_split_exactly(counts):
    scorers = [draw(K, 150, np.exp(rng.normal(size=(K, 1)) * 10)) for K in counts]
    scorers[0].matrix[0] = 0.0
    slots = triton_dense.Slots.of(scorers)
    X = torch.empty(1, 150, device="cuda")
    _, (high, low, unscale, biases) = triton_dense.prepare(
        scorers, slots, np.ones(sum(counts)), X, "highest"
    )
    whole = (high.double() + low.double()) * (unscale.double() * 2.0**8)[:, None]
    found = whole.cpu().numpy()[slots.filled]
    given = np.concatenate([scorer.matrix for scorer in scorers])
    largest = np.abs(given).max(axis=1, keepdims=True)
    assert (np.abs(found[:, :150] - given) <= 2.0**-21 * largest).all()
    assert not found[:, 150:].any()
    empty = np.setdiff1d(np.arange(slots.padded), slots.filled)
    assert not high.cpu().numpy()[empty].any()
    assert (biases.cpu().numpy()[empty] == np.float32(-1e30)).all()


@pytest.mark.parametrize("tiles", [3, 5000])
def test_sums_of_tiles_are_added_up_in_float64(tiles):
    scorers = [draw(7, 150), draw(16, 150), draw(10, 150)]
    slots = triton_dense.Slots.of(scorers)
    scale = rng.uniform(size=33)
    X = torch.empty(1, 150, device="cuda")
    given, _ = triton_dense.prepare(scorers, slots, scale, X, "tf32")
    sums = (
        torch.rand(tiles, slots.padded, device="cuda"),
        torch.randn(44, slots.padded, 256, device="cuda"),
        torch.rand(tiles, slots.groups, 2, dtype=torch.float64, device="cuda"),
    )
    mass, vectors, totals = triton_dense.collect(sums, given, (33, 150), 3)
    parts = [part.double().cpu().numpy().sum(axis=0) for part in sums]
    np.testing.assert_allclose(mass, parts[0][slots.filled] * scale / 2.0**15, rtol=1e-13)
    np.testing.assert_allclose(
        vectors, parts[1][slots.filled, :150] * scale[:, None] / 2.0**23, rtol=1e-9, atol=1e-18
    )
    np.testing.assert_allclose(totals, parts[2][:3], rtol=1e-13)


@pytest.mark.parametrize("d", [64, 128, 200, 384])
@pytest.mark.parametrize("weighted", [False, True])
def test_hard_sweeps_with_many_components_are_sums_by_label(d, weighted):
    X = torch.randn(7_013, d, device="cuda")
    scorer = draw(1_003, d, 10.0, assignment="hard")
    weights = rng.uniform(size=len(X)) * (rng.uniform(size=len(X)) > 0.1) if weighted else None
    rows = open_torch(X)
    [found] = rows.sweep([scorer], weights)
    own = np.ones(len(X)) if weights is None else weights
    unit = X.double().cpu().numpy()
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    scores = unit @ scorer.matrix.T + scorer.biases
    labels = scores.argmax(1)
    vectors = np.zeros((1_003, d))
    np.add.at(vectors, labels, own[:, None] * unit)
    np.testing.assert_allclose(found.vectors, vectors, rtol=0, atol=1e-5)
    np.testing.assert_allclose(found.mass, np.bincount(labels, own, 1_003), rtol=1e-12)
    best = own @ scores.max(1) + own.sum() * scorer.offset
    np.testing.assert_allclose(found.log_likelihood, best, rtol=1e-6)
    assert found.entropy == 0
    [again] = rows.sweep([scorer], weights)
    np.testing.assert_array_equal(found.vectors, again.vectors)


def test_the_first_of_equal_components_is_chosen():
    X = torch.randn(500, 128, device="cuda")
    prototypes = np.repeat(rng.normal(size=(100, 128)), 4, axis=0)
    [found] = open_torch(X).sweep([Scorer(prototypes, np.zeros(400), assignment="hard")])
    assert found.mass[::4].sum() == 500


@pytest.mark.parametrize(("precision", "ties"), [("highest", 1e-3), ("tf32", 1e-2)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("d", "n_components"), [(128, 9), (384, 300)])
def test_rows_are_assigned_by_variation_as_torch_does(d, n_components, weighted, precision, ties):
    X = torch.randn(3_011, d, device="cuda")
    weights = 5 * rng.uniform(size=len(X)) if weighted else None
    matrix = 10 * rng.normal(size=(n_components, d)) / np.sqrt(d)
    rates = rng.uniform(0.01, 0.2, size=n_components)  # a row changes the prototypes very much
    scorer = Scorer(matrix, rng.normal(size=n_components), assignment="variation", rates=rates)
    [found] = open_torch(X, precision).sweep([scorer], weights)
    [expected] = open_torch(X.double()).sweep([scorer], weights)
    [hard] = open_torch(X.double()).sweep([replace(scorer, assignment="hard")], weights)
    total = expected.mass.sum()
    assert np.abs(found.mass - expected.mass).sum() <= ties * total
    assert np.abs(hard.mass - expected.mass).sum() > 0.03 * total
    np.testing.assert_allclose(found.log_likelihood, expected.log_likelihood, rtol=1e-3)
