"""What several test files share: real data, independent Bessel functions, small data and fits."""

from __future__ import annotations

import functools
import os
import signal
from pathlib import Path

import flint
import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from little_advice import little_advice
from scipy import sparse
from scipy.special import gammaln, logsumexp

import spheremix as sm
from spheremix.data.reference import ReferenceDirections
from spheremix.data.rows import open_rows

__all__ = ["little_advice"]  # for all tests

# Their assertions say as much as those of the tests.
pytest.register_assert_rewrite("cli_common", "mixture_common", "readers_common", "report_common")

# The same examples at every run, and no clock: a failure here is a failure everywhere.
settings.register_profile(
    "spheremix",
    deadline=None,
    derandomize=True,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("spheremix")


@pytest.fixture(scope="session", autouse=True)
def unsynced():
    """Let the system write files when it likes: no test cuts the power, and a run waits often."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(scope="session")
def data_folder():
    """Where the real data sets are: SPHEREMIX_DATA, or shared/data beside the repository."""
    root = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("SPHEREMIX_DATA", root.parent / "shared" / "data"))
    if not (folder / "cstr" / "X.npz").is_file():
        reason = f"no data in {folder}; set SPHEREMIX_DATA"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


@pytest.fixture(scope="session")
def cstr(data_folder):
    """The 475 abstracts in 4 true classes, numbered from 0."""
    rows = sparse.load_npz(data_folder / "cstr" / "X.npz")
    labels = np.load(data_folder / "cstr" / "labels.npy").astype(int)
    return rows, labels - labels.min()


@functools.cache
def _log_c(d, kappa):
    nu = flint.arb(d) / 2 - 1
    log_iv = flint.arb(kappa).bessel_i(nu).log()
    value = nu * flint.arb(kappa).log() - flint.arb(d) / 2 * (2 * flint.arb.pi()).log() - log_iv
    assert float(value.rad()) < 1e-9
    return float(value.mid())


@pytest.fixture(scope="session")
def log_c():
    """Return log c_d(kappa) by interval arithmetic: exact, some milliseconds a value."""

    def log_c(d, kappa):
        flint.ctx.prec = 200
        return _log_c(int(d), float(kappa))

    return log_c


@pytest.fixture(scope="session")
def mean_length_oracle():
    """Return A_d(kappa) = I_{d/2}(kappa) / I_{d/2-1}(kappa) by interval arithmetic."""

    def mean_length_oracle(d, kappa):
        flint.ctx.prec = 200
        nu = flint.arb(int(d)) / 2
        kappa = flint.arb(float(kappa))
        return float((kappa.bessel_i(nu) / kappa.bessel_i(nu - 1)).mid())

    return mean_length_oracle


@pytest.fixture(scope="session")
def log_c_grid():
    """Return log c_d on a grid of kappas by Gauss-Legendre quadrature over the polar angle."""
    nodes, weights = np.polynomial.legendre.leggauss(800)

    def log_c_grid(d, kappas):
        # Beyond `reach` the integrand is below exp(-50) of its value at zero: kappa theta^2 / 4.
        reach = np.minimum(np.pi, 2 * np.sqrt((50 + d) / np.asarray(kappas, dtype=float)))[:, None]
        angles = reach / 2 * (nodes + 1)
        exponents = (
            np.asarray(kappas, dtype=float)[:, None] * (np.cos(angles) - 1)
            + (d - 2) * np.log(np.sin(angles))
            + np.log(weights * reach / 2)
        )
        log_area = np.log(2) + (d - 1) / 2 * np.log(np.pi) - gammaln((d - 1) / 2)
        return -(log_area + logsumexp(exponents, axis=1) + kappas)

    return log_c_grid


@pytest.fixture(scope="session")
def open_reference():
    """Open rows with the engine that is the specification."""

    def open_reference(X):
        return ReferenceDirections(*open_rows(X))

    return open_reference


@pytest.fixture(scope="session")
def clouds():
    """Return unit rows around a few random directions, and the cloud of each row."""

    def clouds(n=120, d=8, n_clouds=3, noise=0.25, seed=0):
        rng = np.random.default_rng(seed)
        centres = rng.normal(size=(n_clouds, d))
        centres /= np.linalg.norm(centres, axis=1, keepdims=True)
        labels = np.arange(n) % n_clouds
        X = centres[labels] + noise * rng.normal(size=(n, d)) / np.sqrt(d) * 2
        return X / np.linalg.norm(X, axis=1, keepdims=True), labels

    return clouds


@pytest.fixture(scope="session")
def rows():
    """Section 4.2 of the paper: d = 10, four components, 5 % of overlap, 500 rows."""
    return sm.datasets.make_vmf_mixture(random_state=0)[0]


@pytest.fixture(scope="session")
def path(rows):
    """The path of these rows."""
    return sm.VMFPath(n_components=4, random_state=0).fit(rows)


@pytest.fixture(scope="session")
def wide():
    """Sparse rows in more dimensions: some hundreds of steps."""
    rng = np.random.default_rng(5)
    means = rng.gamma(0.3, size=(3, 60))
    counts = rng.poisson(6 * means[rng.integers(3, size=150)])
    counts[counts.sum(axis=1) == 0, 0] = 1
    return sparse.csr_array(counts.astype(float))


@pytest.fixture(scope="session")
def long_path(wide):
    """The path of the sparse rows."""
    return sm.VMFPath(n_components=3, random_state=0).fit(wide)


def pytest_sessionstart():
    """Let Ctrl-C mean what it means to a person, also in tests that run in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def cluster():
    """Two Dask workers in processes of their own, with one thread each."""
    import dask  # noqa: PLC0415
    from dask_common import QUIET  # noqa: PLC0415 (it needs Dask)
    from distributed import LocalCluster  # noqa: PLC0415

    unwatched = {"distributed.worker.profile.enabled": False}  # looks at stacks all the time
    with (
        dask.config.set(unwatched),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **QUIET) as cluster,
    ):
        yield cluster


@pytest.fixture
def client(cluster):
    from distributed import Client  # noqa: PLC0415

    with Client(cluster) as client:
        yield client
