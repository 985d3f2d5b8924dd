"""The map of documents: neighbours, forces, and where everything ends."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

import spheremix as sm
from spheremix.estimators.problem import NoFitError
from spheremix.reading import document_map, document_positions
from spheremix.reading.document_map import (
    DocumentMap,
    Graph,
    Moving,
    Repulsion,
    _framed,
    _largest,
    _step,
    attractions,
    leading_coordinates,
    nearest_rows,
)


@pytest.fixture(scope="module", autouse=True)
def little_advice():
    """All steps of the map: it is judged here."""


def mixture(n=120, d=8, K=3, kappa=60.0):
    X, labels, _ = sm.datasets.make_vmf_mixture(n, d, K, kappa=kappa, random_state=0)
    return X, labels


def same_neighbours(X, positions, k):
    """Share of the k nearest rows that are among the k nearest positions."""
    cosines = X @ X.T
    np.fill_diagonal(cosines, -np.inf)
    distances = ((positions[:, None] - positions[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    rows, places = np.argsort(-cosines)[:, :k], np.argsort(distances)[:, :k]
    return np.mean([len({*a} & {*b}) / k for a, b in zip(rows, places, strict=True)])


# Neighbours


def test_leading_coordinates_are_those_of_a_singular_value_decomposition():
    rng = np.random.default_rng(1)
    spectrum = 0.5 ** np.arange(30)
    X = normalize(rng.standard_normal((200, 30)) * spectrum)
    found = leading_coordinates(7.0 * X, 6)
    _, values, vectors = np.linalg.svd(X, full_matrices=False)
    np.testing.assert_allclose(np.linalg.norm(found, axis=0), values[:6], rtol=1e-6)
    expected = X @ vectors[:6].T
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-4)


@pytest.mark.parametrize("kind", ["array", "csr", "directions"])
def test_leading_coordinates_of_every_container(kind):
    X = np.abs(mixture(d=12)[0])
    given = {"array": X, "csr": sparse.csr_array(X), "directions": sm.as_directions(X)}[kind]
    found = leading_coordinates(given, 4)
    reference = TruncatedSVD(4, random_state=0).fit_transform(normalize(X))
    np.testing.assert_allclose(
        np.linalg.norm(found, axis=0), np.linalg.norm(reference, axis=0), rtol=1e-3
    )


def test_rows_of_few_dimensions_are_their_own_coordinates():
    X = mixture()[0]
    np.testing.assert_allclose(leading_coordinates(sparse.csr_array(3.0 * X), 8), X)


def test_of_many_rows_neighbours_are_looked_for_in_near_cells(monkeypatch):
    X, _, _ = sm.datasets.make_vmf_mixture(1500, 10, 6, overlap=0.05, random_state=0)
    X = X.astype(np.float32)
    _, exact = nearest_rows(X, 10)
    monkeypatch.setattr(document_map, "ALL_PAIRS", 100)
    distances, found = nearest_rows(X, 10)
    assert np.mean([len(set(a) & set(b)) for a, b in zip(exact, found, strict=True)]) > 8.5
    assert not np.any(found == np.arange(1500)[:, None])
    assert all(len(set(row)) == 10 for row in found)
    expected = np.linalg.norm(X[:, None] - X[found], axis=2)
    assert_allclose(distances, expected, atol=1e-3)
    assert np.all(np.diff(distances, axis=1) >= 0.0)
    _, again = nearest_rows(X, 10)
    assert again.tobytes() == found.tobytes()
    monkeypatch.setattr(document_map, "BLOCK", 50)  # a row at a time
    assert np.mean(nearest_rows(X, 10)[1] == found) > 0.99  # but for the last digits of cosines
    monkeypatch.setattr(document_map, "CELLS", 1)  # more of them, where one has too few rows
    assert nearest_rows(X, 200)[1].shape == (1500, 200)


def test_nearest_rows_have_the_largest_cosines():
    X = mixture(n=40)[0]
    distances, neighbours = nearest_rows(X.astype(np.float32), 5)
    cosines = X @ X.T
    np.fill_diagonal(cosines, -1.0)
    np.testing.assert_array_equal(neighbours, np.argsort(-cosines)[:, :5])
    expected = np.take_along_axis(cosines, neighbours, axis=1)
    np.testing.assert_allclose(1.0 - distances**2 / 2.0, expected, atol=1e-5)


def test_attractions_have_the_perplexity_that_was_asked_for():
    X = mixture(n=50)[0]
    distances, neighbours = nearest_rows(X.astype(np.float32), 12)
    graph = attractions(distances, neighbours, 4.0, np.ones(50))
    found = sparse.csr_array((graph.strengths, graph.indices, graph.indptr)).toarray()
    assert found.sum() == pytest.approx(1.0)
    assert_allclose(found, found.T, rtol=1e-12)
    # The same, one row at a time, with the rate that a general solver finds.
    from scipy.optimize import brentq  # noqa: PLC0415

    expected = np.zeros((50, 50))
    for i, squares in enumerate(distances.astype(np.float64) ** 2):

        def weights(rate, squares=squares):
            own = np.exp(-rate * (squares - squares[0]))
            return own / own.sum()

        def excess(rate, weights=weights):
            own = weights(rate)
            return -(own * np.log(np.maximum(own, 1e-300))).sum() - np.log(4.0)

        expected[i, neighbours[i]] = weights(brentq(excess, 1e-6, 1e6))
    expected = expected + expected.T
    np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-8)


# Forces


@pytest.mark.parametrize(("scale", "off"), [(1e-3, 1e-9), (1.0, 1e-3), (8.0, 0.1)])
def test_forces_are_those_of_all_pairs(scale, off):
    rng = np.random.default_rng(0)
    places, masses = scale * rng.standard_normal((400, 2)), rng.integers(1, 4, 400).astype(float)
    forces, total = Repulsion(masses)(places)
    between = places[:, None] - places[None]
    closeness = 1.0 / (1.0 + (between**2).sum(axis=2))
    expected = np.einsum("j,ijk,ij->ik", masses, between, closeness**2)
    assert np.linalg.norm(forces - expected) <= off * np.linalg.norm(expected)
    assert total == pytest.approx(masses @ closeness @ masses - masses.sum(), rel=off)


def test_a_grid_serves_positions_that_move():
    rng = np.random.default_rng(0)
    push, masses = Repulsion(np.ones(100)), np.ones(100)
    for scale in (1e-4, 0.1, 3.0, 20.0, 0.5):
        places = scale * rng.standard_normal((100, 2))
        forces, total = push(places)
        again, same = Repulsion(masses)(places)
        np.testing.assert_allclose(forces, again, atol=1e-2)
        assert total == pytest.approx(same, rel=1e-2, abs=1.0)


@pytest.fixture
def compiled():
    if document_map.kernels is None:
        pytest.skip("There are no compiled kernels here.")
    return document_map.kernels


def test_largest_are_those_of_a_sorted_row(compiled):
    rng = np.random.default_rng(0)
    values = rng.integers(0, 9, (30, 200)).astype(np.float32)  # many are equal
    own = rng.integers(0, 200, 30)
    best, places = compiled.largest(values, own, 7)
    masked = values.copy()
    masked[np.arange(30), own] = -np.inf
    expected = np.argsort(-masked, axis=1, kind="stable")[:, :7]
    np.testing.assert_array_equal(places, expected)
    np.testing.assert_array_equal(best, np.take_along_axis(masked, expected, axis=1))
    with pytest.raises(ValueError, match="fewer numbers"):
        compiled.largest(np.full((1, 4), np.nan, dtype=np.float32), np.zeros(1, np.int64), 2)
    with pytest.raises(ValueError, match="k must be"):
        compiled.largest(values, own, 201)


def test_largest_without_kernels(monkeypatch):
    values = np.random.default_rng(0).standard_normal((20, 60)).astype(np.float32)
    own = np.arange(20)
    expected = _largest(values.copy(), own, 5)
    monkeypatch.setattr(document_map, "kernels", None)
    for one, other in zip(_largest(values.copy(), own, 5), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def moving_points(n=300):
    """Points on their way, and a graph of their attractions."""
    rng = np.random.default_rng(0)
    half = sparse.random_array((n, n), density=0.03, rng=rng, format="csr")
    both = sparse.csr_array(half + half.T)
    graph = Graph(both.indptr.astype(np.int64), both.indices.astype(np.int32), both.data)
    places, velocity = 5.0 * rng.standard_normal((2, n, 2))
    return graph, places, rng.integers(1, 4, n).astype(float), velocity, 1.0 + rng.random((n, 2))


@pytest.mark.usefixtures("compiled")
def test_a_step_is_that_of_the_formulas(monkeypatch):
    graph, places, masses, velocity, gains = moving_points()
    moving = Moving(exaggeration=2.0, momentum=0.6, rate=500.0)
    forces = Repulsion(masses).forces(places)
    arguments = graph, forces, masses, moving, places
    found = {}
    for threads in (1, 3):
        speed, gain = velocity.copy(), gains.copy()
        found[threads] = _step(*arguments, speed, gain, threads), speed, gain
    for one, other in zip(found[1], found[3], strict=True):
        assert one.tobytes() == other.tobytes()
    monkeypatch.setattr(document_map, "kernels", None)
    forces_again = Repulsion(masses).forces(places)
    assert_allclose(forces.x, forces_again.x, rtol=1e-9, atol=1e-9)
    after = _step(*arguments, velocity, gains, 1)
    for one, other in zip(found[1], (after, velocity, gains), strict=True):
        assert_allclose(one, other, rtol=1e-9)
    # The first point, by all pairs: the slope of the Kullback-Leibler divergence, scaled.
    dense = np.zeros((300, 300))
    dense[graph.owners, graph.indices] = graph.strengths
    between = places[0] - places
    closeness = 1.0 / (1.0 + (between**2).sum(axis=1))
    pulled = (dense[0] * closeness) @ between / masses[0]
    pushed = (masses * closeness**2) @ between / forces.pairs
    _, _, _, before, gain = moving_points()
    slope = 2.0 * pulled - pushed
    gain = np.where((slope > 0) == (before[0] > 0), 0.8 * gain[0], gain[0] + 0.2)
    moved = 0.6 * before[0] - 500.0 * gain * slope
    moved *= document_map.LONGEST / max(np.linalg.norm(moved), document_map.LONGEST)
    assert_allclose(found[1][0][0], places[0] + moved, rtol=1e-3)


def test_a_density_does_not_depend_on_threads(compiled):
    _, places, masses, _, _ = moving_points()
    low = places.min(axis=0)
    one, many = (compiled.map_density(places, masses, *low, 0.5, 120, t) for t in (1, 5))
    assert one.tobytes() == many.tobytes()
    assert one.sum() == pytest.approx(masses.sum())
    centre = np.array([(one.sum(axis=a) @ np.arange(120)) / masses.sum() for a in (1, 0)])
    assert_allclose((centre - 1.0) * 0.5 + low, masses @ places / masses.sum())  # the mean is kept
    with pytest.raises(ValueError, match="outside the grid"):
        compiled.map_density(places, masses, *low, 0.5, 20, 1)
    places[7] = np.nan
    with pytest.raises(ValueError, match="outside the grid"):
        compiled.map_density(places, masses, *low, 0.5, 120, 2)


@pytest.mark.usefixtures("compiled")
def test_neighbours_that_are_not_there_are_refused():
    graph, places, masses, velocity, gains = moving_points()
    graph.indices[3] = 300
    forces = Repulsion(masses).forces(places)
    with pytest.raises(ValueError, match="neighbours do not fit"):
        _step(graph, forces, masses, Moving(1.0, 0.5, 1.0), places, velocity, gains, 1)


# Positions


def test_groups_are_islands_and_neighbours_stay_together():
    X, labels = mixture(n=300)
    positions = document_positions(X, labels)
    assert positions.shape == (300, 2)
    assert positions.min() >= 0.0
    assert positions.max() <= 1.0
    extent = np.ptp(positions, axis=0)
    assert extent.max() == pytest.approx(1.0)
    assert extent.min() > 0.7  # the map fills a square
    distances = ((positions[:, None] - positions[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances)[:, :5]
    assert (labels[nearest] == labels[:, None]).mean() > 0.97
    assert same_neighbours(X, positions, 10) > 0.3  # 0.03 by chance


def test_the_same_rows_give_the_same_bits_whatever_their_container():
    X, labels = mixture()
    first = document_positions(X, labels)
    np.testing.assert_array_equal(first, document_positions(X.copy(), labels.tolist()))


def test_the_number_of_threads_changes_no_bit():
    X = np.abs(mixture(n=3000, d=150, K=6, kappa=300.0)[0])
    first, other = (document_positions(sparse.csr_array(X), n_threads=t) for t in (1, 3))
    assert first.tobytes() == other.tobytes()


def test_many_documents_are_placed_some_at_a_time(monkeypatch):
    X, labels = mixture(n=900, d=20, K=5, kappa=80.0)
    for name, value in (("FIRST", 50), ("RATIO", 4), ("ALL_PAIRS", 300)):
        monkeypatch.setattr(document_map, name, value)
    shares = []
    positions = document_positions(X, callback=shares.append)
    assert shares == sorted(shares)
    assert same_neighbours(X, positions, 10) > 0.25  # 0.01 by chance
    distances = ((positions[:, None] - positions[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (labels[np.argsort(distances)[:, :5]] == labels[:, None]).mean() > 0.95


def test_a_document_is_found_again_where_it_was_when_the_groups_are_others():
    X, labels = mixture(n=400, d=12, K=6, kappa=60.0)
    found = DocumentMap(X)
    alone = found.positions()
    for groups in (labels, labels // 2, np.zeros(400, dtype=int)):
        positions = found.islands(alone, groups)
        assert np.median(np.linalg.norm(positions - alone, axis=1)) < 0.1  # 0.5 by chance
    np.testing.assert_array_equal(found.islands(alone, labels), document_positions(X, labels))


def test_without_kernels_there_is_a_map_too(monkeypatch):
    X, labels = mixture()
    monkeypatch.setattr(document_map, "kernels", None)
    assert same_neighbours(X, document_positions(X, labels), 10) > 0.3


def test_groups_pull_documents_together():
    X, labels = mixture(kappa=3.0)  # groups that overlap

    def purity(groups):
        positions = document_positions(X, groups)
        distances = ((positions[:, None] - positions[None]) ** 2).sum(axis=2)
        np.fill_diagonal(distances, np.inf)
        return (labels[np.argsort(distances)[:, :5]] == labels[:, None]).mean()

    assert purity(labels) > purity(np.zeros(len(labels), dtype=int)) + 0.05


def test_equal_documents_are_not_one_point():
    X, labels = mixture(n=30)
    X, labels = np.concatenate([X, np.repeat(X[:1], 40, axis=0)]), [*labels, *[labels[0]] * 40]
    positions = document_positions(X, labels)
    equal = [0, *range(30, 70)]
    distances = np.linalg.norm(positions[equal, None] - positions[None, equal], axis=2)
    np.fill_diagonal(distances, np.inf)
    assert distances.min() > 1e-2
    others = np.linalg.norm(positions[1:30] - positions[0], axis=1)
    assert np.linalg.norm(positions[equal] - positions[0], axis=1).max() < np.median(others)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_a_few_documents_have_places_of_their_own(n):
    X, labels = mixture(n=20)
    positions = document_positions(X[:n], labels[:n])
    assert np.isfinite(positions).all()
    assert len(np.unique(positions.round(3), axis=0)) == n


def test_all_documents_equal():
    positions = document_positions(np.ones((25, 3)), np.zeros(25, dtype=int))
    assert len(np.unique(positions.round(3), axis=0)) == 25


def test_documents_that_are_nearly_equal():
    rng = np.random.default_rng(0)
    X = np.repeat(np.eye(10), 40, axis=0) + 1e-4 * rng.standard_normal((400, 10))
    positions = document_positions(X)  # and no warning about groups that nobody asked for
    near = ((positions[:, None] - positions[None]) ** 2).sum(axis=2).argsort()[:, :20]
    assert (near // 40 == np.arange(400)[:, None] // 40).mean() > 0.99


def test_rows_without_groups_have_a_map(monkeypatch):
    def fit(_self, _X):
        raise NoFitError("There is no start.")

    monkeypatch.setattr(sm.VMFMixture, "fit", fit)
    X, labels = mixture()
    assert same_neighbours(X, document_positions(X, labels), 10) > 0.3


def test_a_document_far_out_does_not_make_the_others_small():
    rng = np.random.default_rng(0)
    cloud = rng.standard_normal((400, 2))
    far = np.concatenate([cloud, [[100.0, 0.0], [60.0, 0.0]]])
    framed = _framed(far)
    assert np.ptp(framed[:400], axis=0).max() > 0.2  # 0.06 where nothing is brought nearer
    assert framed[400, 0] > framed[401, 0] > framed[:400, 0].max()


def test_documents_without_a_word_in_common():
    positions = document_positions(np.eye(12), np.arange(12))
    assert len(np.unique(positions.round(3), axis=0)) == 12


def test_noise_is_a_group_like_others():
    X, labels = mixture()
    labels = labels.copy()
    labels[:5] = -1
    assert np.isfinite(document_positions(X, labels)).all()


def test_labels_must_be_those_of_the_rows():
    X, labels = mixture()
    with pytest.raises(ValueError, match="119 labels for 120 rows"):
        document_positions(X, labels[1:])


def test_progress_is_told():
    X, labels = mixture()
    shares = []
    document_positions(X, labels, callback=shares.append)
    assert shares == sorted(shares)
    assert 0.9 < shares[-1] <= 1.0
