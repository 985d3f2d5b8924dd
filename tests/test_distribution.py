from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from scipy import integrate, sparse, stats

from spheremix.bessel import concentration_banerjee, mean_length, mean_length_gap
from spheremix.distribution import VonMisesFisher

FIVE_SIGMA = 5.7e-7  # the p-value of a Gaussian deviation of 5 standard errors


def direction(d, seed=0):
    mu = np.random.default_rng(seed).standard_normal(d)
    return mu / np.linalg.norm(mu)


def angles(X, mu):
    """Angle to mu, without the cancellation of the arc cosine near 0."""
    return 2 * np.arcsin(np.minimum(np.linalg.norm(X - mu, axis=1) / 2, 1))


def angle_cdf(d, kappa):
    """Numerically integrated distribution of the angle to the mean direction."""

    def log_density(theta):
        with np.errstate(divide="ignore"):
            log_sine = np.log(np.sin(theta)) if d > 2 else np.zeros_like(theta)
        return -2 * kappa * np.sin(theta / 2) ** 2 + (d - 2) * log_sine

    theta = np.linspace(0, np.pi, 20_001)
    for _ in range(4):  # narrow down on the part that has mass
        values = log_density(theta)
        inside = np.flatnonzero(values > values.max() - 60)
        low, high = max(inside[0] - 1, 0), min(inside[-1] + 1, len(theta) - 1)
        theta = np.linspace(theta[low], theta[high], 20_001)
    values = log_density(theta)
    cdf = integrate.cumulative_trapezoid(np.exp(values - values.max()), theta, initial=0)
    return lambda x: np.interp(x, theta, cdf / cdf[-1])


class TestDensity:
    @pytest.mark.parametrize("d", [2, 3])
    @pytest.mark.parametrize("kappa", [0.1, 1.0, 30.0])
    def test_scipy_agrees_in_low_dimension(self, d, kappa):
        mu = direction(d)
        X = np.vstack([direction(d, seed) for seed in range(1, 20)])
        ours, theirs = VonMisesFisher(mu, kappa), stats.vonmises_fisher(mu, kappa)
        np.testing.assert_allclose(ours.logpdf(X), theirs.logpdf(X), rtol=1e-12)
        np.testing.assert_allclose(ours.pdf(X), theirs.pdf(X), rtol=1e-12)

    @pytest.mark.parametrize(
        ("d", "kappa"), [(1000, 0.5), (1000, 700.0), (70000, 30.0), (70000, 30000.0), (3, 1e6)]
    )
    def test_arbitrary_precision_agrees(self, d, kappa, log_c):
        mu, x = direction(d), direction(d, 1)
        expected = log_c(d, kappa) + kappa * (mu @ x)
        assert VonMisesFisher(mu, kappa).logpdf(x) == pytest.approx(expected, rel=1e-13)

    @pytest.mark.parametrize("kappa", [0.0, 0.3, 5.0, 200.0])
    def test_integral_is_one(self, kappa):
        circle = VonMisesFisher([0.6, 0.8], kappa)
        theta = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
        points = np.column_stack([np.cos(theta), np.sin(theta)])
        assert circle.pdf(points).mean() * 2 * np.pi == pytest.approx(1, rel=1e-12)

        ball = VonMisesFisher([0.0, 0.6, 0.8], kappa)
        nodes, weights = np.polynomial.legendre.leggauss(200)
        z, phi = np.meshgrid(nodes, np.linspace(0, 2 * np.pi, 400, endpoint=False), indexing="ij")
        sine = np.sqrt(1 - z**2)
        points = np.stack([sine * np.cos(phi), sine * np.sin(phi), z], axis=-1).reshape(-1, 3)
        total = (ball.pdf(points).reshape(z.shape).mean(axis=1) @ weights) * 2 * np.pi
        assert total == pytest.approx(1, rel=1e-10)

    def test_one_vector_gives_a_number_and_sparse_rows_the_same_values(self):
        vmf = VonMisesFisher(direction(6), 4.0)
        X = np.eye(6)
        assert isinstance(vmf.logpdf(X[2]), float)
        assert isinstance(vmf.pdf(X[2]), float)
        assert vmf.logpdf(X[2]) == pytest.approx(vmf.logpdf(X)[2], rel=1e-15)
        for container in (sparse.csr_array, sparse.csc_matrix):
            np.testing.assert_allclose(vmf.logpdf(container(X)), vmf.logpdf(X), rtol=1e-15)
        np.testing.assert_allclose(vmf.logpdf(X.astype(np.float32)), vmf.logpdf(X), rtol=1e-15)

    def test_density_out_of_range_is_infinite_without_a_warning(self):
        mu = direction(5000)
        vmf = VonMisesFisher(mu, 1e4)
        assert vmf.pdf(mu) == np.inf
        assert np.isfinite(vmf.logpdf(mu))

    def test_entropy(self):
        kappa = 7.0  # closed form in three dimensions
        log_c = np.log(kappa / (4 * np.pi * np.sinh(kappa)))
        expected = -log_c - kappa * (1 / np.tanh(kappa) - 1 / kappa)
        assert VonMisesFisher([1, 0, 0], kappa).entropy() == pytest.approx(expected, rel=1e-13)
        assert VonMisesFisher([1, 0, 0], 0).entropy() == pytest.approx(np.log(4 * np.pi))
        # In three dimensions and far from uniform, 1 - log c - kappa.
        far = 1 - np.log(1e9 / (2 * np.pi))
        assert VonMisesFisher([1, 0, 0], 1e9).entropy() == pytest.approx(far, abs=1e-6)

    @pytest.mark.parametrize(("d", "kappa"), [(2, 3.0), (50, 40.0), (2000, 900.0)])
    def test_entropy_is_minus_the_mean_of_the_log_density(self, d, kappa):
        vmf = VonMisesFisher(direction(d), kappa)
        values = -vmf.logpdf(vmf.rvs(4000, random_state=1))
        error = values.std(ddof=1) / np.sqrt(len(values))
        assert abs(values.mean() - vmf.entropy()) < 5 * error

    def test_mean_resultant_length(self):
        vmf = VonMisesFisher(direction(40), 12.0)
        assert vmf.mean_resultant_length() == mean_length(40, 12.0)


class TestDraws:
    @pytest.mark.parametrize("d", [2, 3, 10, 700, 20_000, 100_000])
    @pytest.mark.parametrize("kappa", [0.0, 0.01, 5.0, 300.0, 8000.0, 1e6, 1e9])
    def test_the_cosine_has_its_distribution(self, d, kappa):
        # The cosine alone is cheap: enough draws to see an error of 0.6 % in the distribution.
        gaps = VonMisesFisher(np.ones(d), kappa)._draw_gaps(np.random.default_rng(1), 200_000)
        theta = 2 * np.arcsin(np.sqrt(gaps / 2))
        assert stats.kstest(theta, angle_cdf(d, kappa)).pvalue > FIVE_SIGMA

    @pytest.mark.parametrize(
        ("d", "kappa"),
        [(2, 0.0), (2, 0.01), (2, 1e9), (3, 4.0), (10, 1e6), (700, 300.0), (20_000, 8000.0)],
    )
    def test_the_angle_of_the_points_has_its_distribution(self, d, kappa):
        vmf = VonMisesFisher(direction(d), kappa)
        X = vmf.rvs(10_000 if d < 1000 else 1000, random_state=2)
        np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-13)
        assert stats.kstest(angles(X, vmf.mu), angle_cdf(d, kappa)).pvalue > FIVE_SIGMA

    @pytest.mark.parametrize(("d", "kappa"), [(2, 2.0), (5, 1e4), (100, 17.0), (4377, 1000.0)])
    def test_the_mean_is_mu_times_the_mean_length(self, d, kappa):
        vmf = VonMisesFisher(direction(d), kappa)
        X = vmf.rvs(2000, random_state=3)
        gaps = ((X - vmf.mu) ** 2).sum(axis=1) / 2
        error = gaps.std(ddof=1) / np.sqrt(len(gaps))
        assert abs(gaps.mean() - mean_length_gap(d, kappa)) < 5 * error
        # Across mu: a squared length of mean (1 - E cos^2) / n, on d - 1 equal directions.
        across = X.mean(axis=0) - X.mean(axis=0) @ vmf.mu * vmf.mu
        variance = np.mean(gaps * (2 - gaps)) / len(X) / (d - 1)
        assert across @ across / variance < stats.chi2(d - 1).isf(FIVE_SIGMA)

    @pytest.mark.parametrize(
        "mu", [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, 0, -1], [-1e-9, 1, 0], [0.3, -0.5, 0.8]]
    )
    def test_the_angle_around_the_mean_is_uniform(self, mu):
        vmf = VonMisesFisher(mu, 5.0)
        X = vmf.rvs(5000, random_state=4)
        basis = np.linalg.svd(vmf.mu[None])[2][1:]
        azimuth = np.arctan2(*(X @ basis.T).T)
        uniform = stats.uniform(-np.pi, 2 * np.pi)
        assert stats.kstest(azimuth, uniform.cdf).pvalue > FIVE_SIGMA
        assert np.mean(X @ vmf.mu) == pytest.approx(vmf.mean_resultant_length(), abs=0.02)

    def test_the_circle_has_two_sides(self):
        vmf = VonMisesFisher([1.0, 2.0], 3.0)
        X = vmf.rvs(10_000, random_state=5)
        side = np.mean(X @ [2.0, -1.0] > 0)
        assert abs(side - 0.5) < 5 * 0.005

    def test_extreme_concentration(self):
        X = VonMisesFisher(direction(7), 1e300).rvs(3, random_state=0)
        np.testing.assert_allclose(X, np.tile(direction(7), (3, 1)), atol=1e-15)

    def test_a_seed_gives_the_same_points(self):
        vmf = VonMisesFisher(direction(300), 50.0)
        expected = vmf.rvs(2000, random_state=7)
        np.testing.assert_array_equal(vmf.rvs(2000, random_state=7), expected)
        rng = np.random.default_rng(7)
        np.testing.assert_array_equal(vmf.rvs(2000, random_state=rng), expected)
        assert not np.array_equal(vmf.rvs(2000, random_state=rng), expected)
        legacy = [vmf.rvs(3, random_state=np.random.RandomState(7)) for _ in range(2)]
        np.testing.assert_array_equal(*legacy)
        assert not np.array_equal(vmf.rvs(3), vmf.rvs(3))

    def test_sizes(self):
        vmf = VonMisesFisher([1, 1], 1.0)
        assert vmf.rvs().shape == (1, 2)
        assert vmf.rvs(0).shape == (0, 2)
        with pytest.raises(ValueError, match="size must be >= 0, got -1"):
            vmf.rvs(-1)


class TestFit:
    @pytest.mark.parametrize(("d", "kappa"), [(2, 0.5), (3, 10.0), (100, 17.0), (3000, 1000.0)])
    def test_parameters_come_back(self, d, kappa):
        vmf = VonMisesFisher(direction(d), kappa)
        n = 2000
        X = vmf.rvs(n, random_state=8)
        fitted = VonMisesFisher.fit(X)
        # Maximum likelihood: the mean length is matched exactly, and it alone.
        rho = np.linalg.norm(X.mean(axis=0))
        assert fitted.mean_resultant_length() == pytest.approx(rho, rel=1e-12)
        # The squared mean length of n draws is rho^2 + (1 - rho^2) / n: it is biased upwards.
        a = vmf.mean_resultant_length()
        unbiased = np.sqrt((n * rho**2 - 1) / (n - 1))
        error = np.std(X @ vmf.mu) / np.sqrt(n)
        assert abs(unbiased - a) < 5 * error

    def test_banerjee(self):
        X = VonMisesFisher(direction(3), 10.0).rvs(500, random_state=9)
        rho = np.linalg.norm(X.mean(axis=0))
        approximate = VonMisesFisher.fit(X, kappa_solver="banerjee")
        assert approximate.kappa == pytest.approx(concentration_banerjee(3, float(rho)))
        assert approximate.kappa != pytest.approx(VonMisesFisher.fit(X).kappa, rel=1e-3)

    def test_weights_are_repetitions_and_sparse_rows_are_rows(self):
        X = VonMisesFisher(direction(5), 3.0).rvs(20, random_state=10)
        counts = np.arange(20) % 3
        repeated = VonMisesFisher.fit(np.repeat(X, counts, axis=0))
        for rows in (X, sparse.csr_array(X), sparse.coo_matrix(X)):
            weighted = VonMisesFisher.fit(rows, sample_weight=counts)
            np.testing.assert_allclose(weighted.mu, repeated.mu, rtol=1e-12)
            assert weighted.kappa == pytest.approx(repeated.kappa, rel=1e-12)

    @pytest.mark.filterwarnings("ignore:kappa is at its cap")
    @pytest.mark.parametrize("solver", ["exact", "banerjee"])
    def test_identical_rows_stop_at_the_cap(self, solver):
        for seed in range(50):  # more than half of them have a mean length >= 1
            d = 2 + seed
            X = np.tile(direction(d, seed), (1 + 7 * seed, 1))
            fitted = VonMisesFisher.fit(X, kappa_solver=solver)
            assert mean_length_gap(d, fitted.kappa) == pytest.approx(1e-6, rel=1e-6)
            np.testing.assert_allclose(fitted.mu, X[0], atol=1e-15)
            assert VonMisesFisher.fit(X, kappa_solver=solver, kappa_max=1e9).kappa == 1e9

    @pytest.mark.filterwarnings("ignore:kappa is at its cap")
    def test_the_cap_holds_below_infinity_too(self):
        X = VonMisesFisher(direction(4), 1e4).rvs(50, random_state=0)
        assert VonMisesFisher.fit(X, kappa_max=100.0).kappa == 100.0

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"X": np.ones((3, 2))}, r"3 of 3 rows of X have not norm 1, first row 0 with .* 1.41"),
            ({"X": [[1, 0], [0, np.nan]]}, r"1 of 2 rows .* first row 1 with norm nan: divide"),
            ({"X": sparse.csr_array(2 * np.eye(2))}, r"2 of 2 rows .* norm 2"),
            ({"X": [[1, 0], [0, 0]]}, r"first row 1 with norm 0"),
            ({"X": [[1, 0], [-1, 0]]}, "cancel out"),
            ({"X": [[1.0], [1.0]]}, r"at least 1 row and 2 columns, got shape \(2, 1\)"),
            ({"X": np.ones((0, 3))}, r"got shape \(0, 3\)"),
            ({"X": [1.0, 0.0]}, r"got shape \(2,\)"),
            ({"X": np.eye(2), "sample_weight": [1]}, r"sample_weight must have shape \(2,\)"),
            ({"X": np.eye(2), "sample_weight": [1, -1]}, "sample_weight must be finite and >= 0"),
            ({"X": np.eye(2), "sample_weight": [0, 0]}, "with a positive sum"),
            ({"X": np.eye(2), "kappa_solver": "newton"}, "kappa_solver must be .* got 'newton'"),
            ({"X": np.eye(2), "kappa_max": 0}, "kappa_max must be .* got 0"),
        ],
    )
    def test_bad_input_is_named(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            VonMisesFisher.fit(**arguments)


class TestValue:
    def test_mu_is_normalised_copied_and_frozen(self):
        given = np.array([3.0, 4.0])
        vmf = VonMisesFisher(given, 2)
        given[:] = 0
        np.testing.assert_array_equal(vmf.mu, [0.6, 0.8])
        with pytest.raises(ValueError, match="read-only"):
            vmf.mu[0] = 1
        with pytest.raises(AttributeError):
            vmf.kappa = 3.0
        np.testing.assert_allclose(VonMisesFisher([1e300, 1e300], 1).mu, np.sqrt([0.5, 0.5]))
        np.testing.assert_allclose(VonMisesFisher([1e-300, 1e-300], 1).mu, np.sqrt([0.5, 0.5]))

    def test_copies_and_pickles(self):
        vmf = VonMisesFisher([3, 4], 2)
        for other in (copy.deepcopy(vmf), pickle.loads(pickle.dumps(vmf))):  # noqa: S301
            np.testing.assert_array_equal(other.mu, vmf.mu)
            assert other.kappa == 2.0

    @pytest.mark.parametrize(
        ("mu", "kappa", "message"),
        [
            ([0.0, 0.0], 1.0, "mu is the zero vector"),
            ([np.nan, 1.0], 1.0, "mu has a NaN or infinite"),
            ([np.inf, 1.0], 1.0, "mu has a NaN or infinite"),
            ([1.0], 1.0, r"mu must be a vector of at least 2 numbers, got shape \(1,\)"),
            ([[1.0, 0.0]], 1.0, r"got shape \(1, 2\)"),
            ([1.0, 0.0], -1.0, r"kappa must be finite and >= 0, got -1.0"),
            ([1.0, 0.0], np.inf, "kappa must be finite"),
            ([1.0, 0.0], np.nan, "kappa must be finite"),
        ],
    )
    def test_bad_parameters_are_named(self, mu, kappa, message):
        with pytest.raises(ValueError, match=message):
            VonMisesFisher(mu, kappa)

    @pytest.mark.parametrize(
        ("X", "message"),
        [
            (np.eye(3), "X has 3 columns, mu has 2"),
            ([2.0, 0.0], "1 of 1 rows .* norm 2"),
            (np.ones((1, 1, 2)), "one vector, got shape"),
        ],
    )
    def test_bad_points_are_named(self, X, message):
        with pytest.raises(ValueError, match=message):
            VonMisesFisher([1, 0], 1).logpdf(X)
