from __future__ import annotations

import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from spheremix.bessel import mean_length
from spheremix.datasets import calibrate_kappa, cstr, fetch_cstr, make_vmf_mixture, simulate
from spheremix.distribution import VonMisesFisher


def largest_cosines(prototypes):
    products = prototypes @ prototypes.T
    np.fill_diagonal(products, -1)
    return products.max(axis=1)


class TestCalibration:
    @pytest.mark.parametrize(
        ("d", "overlap", "published"), [(100, 0.025, 17.34), (100, 0.05, 15.09), (10, 0.05, 5.37)]
    )
    def test_the_published_base_kappas(self, d, overlap, published):
        # Over seeds, 400 draws have a standard deviation of 0.16 % of kappa in all three cases:
        # 1 % is 5 of them, and a little for the published values, which have an error too.
        found = calibrate_kappa(d, 4, overlap, n_draws=400, random_state=1)
        assert found == pytest.approx(published, rel=0.01)

    @pytest.mark.parametrize(
        "setting",
        [
            {"n_features": 100, "sparsity": 0.1},
            {"n_features": 10, "overlap": 0.2},
            {"n_features": 10, "n_components": 2, "weights": [4, 1]},
            {"n_features": 2, "n_components": 3},
            {"n_features": 5, "n_components": 9},
        ],
    )
    def test_samples_have_the_overlap_asked_for(self, setting):
        wanted = setting.get("overlap", 0.05)
        reached = [make_vmf_mixture(500, **setting, random_state=i)[2].overlap for i in range(60)]
        # The calibration has an error of its own: a quarter of a per cent of kappa, five times
        # that in the overlap.
        error = np.hypot(np.std(reached, ddof=1) / np.sqrt(len(reached)), 0.0125 * wanted)
        assert abs(np.mean(reached) - wanted) < 5 * error

    @pytest.mark.parametrize(("d", "kappa"), [(2, 0.5), (2, 300.0), (30, 10.0), (3000, 900.0)])
    def test_proposals_weigh_one_on_average(self, d, kappa):
        # With weights of mean 1 the error rate needs no normalisation. A mixture whose second
        # component can never win has the error rate of its weight, exactly that mean.
        rng = np.random.default_rng(0)
        draws = simulate._draw_configurations(rng, d, 2, 0.0, 20)
        draws = draws._replace(means=np.ones_like(draws.means) / np.sqrt(2))
        draws = draws._replace(factors=np.ones((20, 2)), tangents=0 * draws.tangents)
        alpha = np.array([0.6, 0.4])
        # 10,240 weights of relative standard deviation 0.7 at most: 5 standard errors.
        assert simulate._error_rate(d, kappa, alpha, draws) == pytest.approx(0.4, rel=0.035)

    def test_the_second_call_is_free_and_seeds_matter(self):
        first = calibrate_kappa(30, 3, 0.04)
        hits = simulate._calibrated.cache_info().hits
        assert calibrate_kappa(30, 3, 0.04) == first
        assert simulate._calibrated.cache_info().hits == hits + 1
        other = calibrate_kappa(30, 3, 0.04, random_state=1)
        assert other != first
        assert other == pytest.approx(first, rel=0.03)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ((10, 1, 0.05), "A single component overlaps with nothing: give kappa"),
            ((10, 0, 0.05), "n_components must be at least 1, got 0"),
            ((1, 4, 0.05), "n_features must be at least 2, got 1"),
            ((10, 4, 0.0), r"overlap must be in \(0, 1\), got 0.0"),
            ((10, 4, 1.0), r"overlap must be in \(0, 1\), got 1.0"),
            ((10, 4, np.nan), r"overlap must be in \(0, 1\), got nan"),
            ((10, 4, 0.8), "overlap=0.8 cannot be reached.* rate of 0.75"),
            ((10, 4, 0.74999), "overlap=0.74999 is that of a kappa too close to 0"),
            ((10, 4, 1e-6), r"overlap=1e-06 is too rare for 204800 .* n_draws of at least 9766"),
        ],
    )
    def test_bad_input_is_named(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            calibrate_kappa(*arguments)

    def test_no_draws(self):
        with pytest.raises(ValueError, match="n_draws must be at least 1, got 0"):
            calibrate_kappa(10, 4, 0.05, n_draws=0)


class TestSample:
    def test_shapes_and_labels(self):
        X, labels, truth = make_vmf_mixture(random_state=0)
        assert X.shape == (500, 10)
        np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-13)
        assert set(labels) == {0, 1, 2, 3}
        assert truth.prototypes.shape == (4, 10)
        np.testing.assert_array_equal(truth.weights, np.full(4, 0.25))
        assert truth.base_kappa == calibrate_kappa(10, 4, 0.05)

    def test_rows_follow_their_component(self):
        X, labels, truth = make_vmf_mixture(4000, 50, 3, kappa=20.0, random_state=1)
        for k in range(3):
            cosines = X[labels == k] @ truth.prototypes[k]
            error = cosines.std(ddof=1) / np.sqrt(len(cosines))
            assert abs(cosines.mean() - mean_length(50, truth.kappas[k])) < 5 * error

    def test_kappas_are_spread_then_rescaled_with_the_final_means(self):
        ratios = []
        for seed in range(100):
            truth = make_vmf_mixture(1, 8, 4, kappa=10.0, sparsity=0.5, random_state=seed)[2]
            ratios.extend(truth.kappas * (1 - largest_cosines(truth.prototypes)) / 2 / 10.0)
        assert np.mean(ratios) == pytest.approx(1, abs=5 * 0.025 / 20)
        assert np.std(ratios) == pytest.approx(0.025, rel=5 / np.sqrt(2 * 400))

    def test_means_are_separated(self):
        separated = [
            largest_cosines(make_vmf_mixture(1, 100, 4, kappa=1.0, random_state=seed)[2].prototypes)
            for seed in range(50)
        ]
        random = [
            largest_cosines(VonMisesFisher(np.ones(100), 0.0).rvs(4, random_state=seed))
            for seed in range(50)
        ]
        # Each mean after the first is chosen among dozens: well below what chance gives.
        assert np.mean(separated) < np.mean(random) - 0.1

    def test_overlap_is_the_error_of_the_true_posterior(self):
        X, labels, truth = make_vmf_mixture(2000, 5, 3, weights=[5, 3, 2], random_state=2)
        posterior = np.column_stack(
            [
                weight * VonMisesFisher(mu, kappa).pdf(X)
                for weight, mu, kappa in zip(
                    truth.weights, truth.prototypes, truth.kappas, strict=True
                )
            ]
        )
        assert truth.overlap == np.mean(posterior.argmax(axis=1) != labels)
        assert 0.02 < truth.overlap < 0.1
        counts = np.bincount(labels) / 2000
        np.testing.assert_allclose(counts, [0.5, 0.3, 0.2], atol=5 * 0.5 / np.sqrt(2000))

    @pytest.mark.parametrize("sparsity", [0.05, 0.15, 0.5, 0.9])
    def test_zeros_are_counted_over_the_table(self, sparsity):
        for seed in range(20):
            P = make_vmf_mixture(1, 10, 4, kappa=1.0, sparsity=sparsity, random_state=seed)[
                2
            ].prototypes
            assert np.sum(P == 0) == round(sparsity * 40)
            np.testing.assert_allclose(np.linalg.norm(P, axis=1), 1, rtol=1e-13)
            assert largest_cosines(P).max() < 1 - 1e-9

    def test_zeros_are_everywhere(self):
        zero = np.mean(
            [
                make_vmf_mixture(1, 5, 4, kappa=1.0, sparsity=0.3, random_state=i)[2].prototypes
                == 0
                for i in range(500)
            ],
            axis=0,
        )
        np.testing.assert_allclose(zero, 0.3, atol=5 * np.sqrt(0.21 / 500))

    def test_means_that_must_coincide_are_refused(self):
        # Two dimensions have four one-number means; five must coincide.
        with pytest.raises(ValueError, match=r"sparsity=0.5 makes some of 5 means coincide in 2"):
            make_vmf_mixture(1, 2, 5, kappa=1.0, sparsity=0.5, random_state=0)

    def test_one_component(self):
        X, labels, truth = make_vmf_mixture(50, 6, 1, kappa=9.0, sparsity=0.5, random_state=0)
        assert X.shape == (50, 6)
        assert not labels.any()
        assert truth.overlap == 0
        assert truth.kappas == pytest.approx(9.0, rel=0.2)
        with pytest.raises(
            ValueError, match="A single component overlaps with nothing: give kappa"
        ):
            make_vmf_mixture(50, 6, 1)

    def test_a_seed_gives_the_same_sample(self):
        X, labels, truth = make_vmf_mixture(100, 7, 3, sparsity=0.2, random_state=3)
        for source in (3, np.random.default_rng(3)):
            again, labels_again, truth_again = make_vmf_mixture(
                100, 7, 3, sparsity=0.2, random_state=source
            )
            np.testing.assert_array_equal(again, X)
            np.testing.assert_array_equal(labels_again, labels)
            np.testing.assert_array_equal(truth_again.kappas, truth.kappas)
        assert make_vmf_mixture(9, 7, 3, random_state=np.random.RandomState(3))[0].shape == (9, 7)

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"n_samples": 0}, "n_samples must be at least 1, got 0"),
            ({"n_components": 0}, "n_components must be at least 1, got 0"),
            ({"n_features": 1}, "n_features must be at least 2, got 1"),
            ({"overlap": 1.5}, r"overlap must be in \(0, 1\), got 1.5"),
            ({"sparsity": 1.0}, r"sparsity must be in \[0, 1\), got 1.0"),
            ({"sparsity": -0.1}, r"sparsity must be in \[0, 1\), got -0.1"),
            (
                {"sparsity": 0.95},
                r"less than one number for each mean: with 10 features it can be 0.9",
            ),
            ({"kappa": 0.0}, "kappa must be finite and > 0, got 0.0"),
            ({"kappa": np.inf}, "kappa must be finite and > 0, got inf"),
            ({"weights": [1, 1]}, r"weights must have shape \(4,\), got \(2,\)"),
            ({"weights": [1, 1, 1, -1]}, "weights must be finite and > 0"),
            ({"weights": [1, 1, 1, np.nan]}, "weights must be finite and > 0"),
        ],
    )
    def test_bad_input_is_named(self, parameters, message):
        with pytest.raises(ValueError, match=message):
            make_vmf_mixture(**parameters)


class TestFetchCSTR:
    @pytest.fixture
    def retrieved(self, monkeypatch):
        """Stand in for pooch, which records what it is asked for and gives a local file."""
        asked = {}

        def stand_in(path):
            def retrieve(**request):
                asked.update(request)
                return str(path)

            module = SimpleNamespace(retrieve=retrieve, os_cache=lambda name: Path("cache", name))
            monkeypatch.setitem(sys.modules, "pooch", module)
            return asked

        return stand_in

    def test_the_file_of_the_data_folder(self, data_folder, monkeypatch):
        monkeypatch.setenv("SPHEREMIX_DATA", str(data_folder))
        monkeypatch.setitem(sys.modules, "pooch", None)
        X, labels = fetch_cstr()
        assert X.shape == (475, 1000)
        assert X.nnz == 16157
        assert X.format == "csr"
        np.testing.assert_array_equal(np.bincount(labels), [101, 71, 178, 125])
        # tf * log idf: a value over the logarithm of its word's rarity is a whole number.
        counts = X.toarray() / np.log(476 / (X.toarray() > 0).sum(axis=0))
        np.testing.assert_allclose(counts, counts.round(), atol=1e-5)

    @pytest.mark.parametrize("folder", [None, "", "elsewhere"])
    def test_the_download(self, data_folder, monkeypatch, retrieved, tmp_path, folder):
        if folder is None:
            monkeypatch.delenv("SPHEREMIX_DATA", raising=False)
        else:
            monkeypatch.setenv("SPHEREMIX_DATA", folder and str(tmp_path / folder))
        asked = retrieved(data_folder / "cstr" / "cstr.mat")
        assert fetch_cstr()[0].shape == (475, 1000)
        assert asked["url"].startswith("https://")
        assert asked["known_hash"] == f"sha256:{cstr.SHA256}"
        assert asked["path"] == Path("cache", "spheremix")

    def test_pooch_downloads_and_checks(self, data_folder, monkeypatch, tmp_path):
        pooch = pytest.importorskip("pooch", reason="pooch is not installed")
        monkeypatch.delenv("SPHEREMIX_DATA", raising=False)
        monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / name)
        source = tmp_path / "source.mat"
        retrieve = pooch.retrieve

        def from_disk(**request):
            def copy(url, output_file, _pooch):
                assert url == cstr.URL
                shutil.copy(source, output_file)

            return retrieve(**request, downloader=copy)

        monkeypatch.setattr(pooch, "retrieve", from_disk)
        source.write_bytes(b"something else")
        with pytest.raises(ValueError, match="hash"):
            fetch_cstr()
        shutil.copy(data_folder / "cstr" / "cstr.mat", source)
        assert fetch_cstr()[0].shape == (475, 1000)
        source.unlink()
        assert fetch_cstr()[0].shape == (475, 1000)  # from the cache

    def test_another_file_is_refused(self, monkeypatch, tmp_path):
        (tmp_path / "cstr").mkdir()
        (tmp_path / "cstr" / "cstr.mat").write_bytes(b"something else")
        monkeypatch.setenv("SPHEREMIX_DATA", str(tmp_path))
        with pytest.raises(ValueError, match="is not the public CSTR file: its SHA-256 is"):
            fetch_cstr()

    def test_without_file_nor_pooch(self, monkeypatch):
        monkeypatch.delenv("SPHEREMIX_DATA", raising=False)
        monkeypatch.setitem(sys.modules, "pooch", None)
        with pytest.raises(ImportError, match=r"pip install pooch or put https://.* SPHEREMIX_DA"):
            fetch_cstr()
