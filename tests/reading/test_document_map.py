"""The map of documents: neighbours, forces, and where everything ends."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

import spheremix as sm
from spheremix.reading import document_map, document_positions
from spheremix.reading.document_map import (
    Repulsion,
    _framed,
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
    distances, neighbours = nearest_rows(X * np.arange(1, 41)[:, None], 5)
    cosines = X @ X.T
    np.fill_diagonal(cosines, -1.0)
    np.testing.assert_array_equal(neighbours, np.argsort(-cosines)[:, :5])
    expected = np.take_along_axis(cosines, neighbours, axis=1)
    np.testing.assert_allclose(1.0 - distances**2 / 2.0, expected, atol=1e-5)


def test_attractions_have_the_perplexity_that_was_asked_for():
    X = mixture(n=50)[0]
    distances, neighbours = nearest_rows(X, 12)
    masses, factors = np.ones(50), np.ones((50, 12))
    found = attractions(distances, neighbours, 4.0, masses, factors).toarray()
    assert found.sum() == pytest.approx(0.5)  # each pair stands above the diagonal only
    assert not np.tril(found).any()
    # The same, one row at a time, with the rate that a general solver finds.
    from scipy.optimize import brentq  # noqa: PLC0415

    expected = np.zeros((50, 50))
    for i, squares in enumerate(distances**2):

        def weights(rate, squares=squares):
            own = np.exp(-rate * (squares - squares[0]))
            return own / own.sum()

        def excess(rate, weights=weights):
            own = weights(rate)
            return -(own * np.log(np.maximum(own, 1e-300))).sum() - np.log(4.0)

        expected[i, neighbours[i]] = weights(brentq(excess, 1e-6, 1e6))
    expected = np.triu(expected + expected.T)
    np.testing.assert_allclose(found, expected / expected.sum() / 2.0, atol=1e-8)


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


# Positions


def test_groups_are_islands_and_neighbours_stay_together():
    X, labels = mixture(n=300)
    positions = document_positions(X, labels)
    assert positions.shape == (300, 2)
    assert positions.min() >= 0.0
    assert positions.max() <= 1.0
    extent = np.ptp(positions, axis=0)
    assert extent[0] == pytest.approx(1.0)  # the longer side is the horizontal one
    distances = ((positions[:, None] - positions[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances)[:, :5]
    assert (labels[nearest] == labels[:, None]).mean() > 0.97
    assert same_neighbours(X, positions, 10) > 0.3  # 0.03 by chance


def test_the_same_rows_give_the_same_bits_whatever_their_container():
    X, labels = mixture()
    first = document_positions(X, labels)
    np.testing.assert_array_equal(first, document_positions(X.copy(), labels.tolist()))


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
