"""The studies of the paper: their parts, what is committed, and each in small, to the page."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from experiments import (
    claims,
    claims_reference,
    claims_simulation,
    comparison,
    cstr,
    figures,
    novels,
    page,
    path_illustration,
    printed,
    runner,
    search,
    simulation,
)
from experiments.drawing import read
from scipy import stats

ROOT = Path(__file__).parents[2]
STUDIES = (path_illustration, simulation, comparison, cstr, search)


def test_a_negative_scale_is_refused(tmp_path, capsys):
    places = ["--results", str(tmp_path / "results"), "--cache", str(tmp_path / "cache")]
    with pytest.raises(SystemExit):
        runner.main("experiments.simulation", ["--scale", "-1", *places])
    assert "--scale must be at least 0" in capsys.readouterr().err


def test_the_scale_is_a_share_of_the_full_size():
    assert len(simulation.cases(1)) == 12 * 100
    assert len(simulation.cases(0.25)) == 12 * 25
    assert len(comparison.cases(1)) == 2 * 12 * 100
    assert len(cstr.cases(1)) == 2 + 50 * 7
    assert len(cstr.cases(0.1)) == 2 + 5 * 7
    assert {case["n_init"] for case in cstr.cases(0.1)[2:]} == {50}


def test_seeds_of_data_sets_differ():
    cases = simulation.cases(1)
    assert len({case["seed"] for case in cases}) == len(cases)
    balanced = [case for case in comparison.cases(1) if case["weights"] == "balanced"]
    assert [case["seed"] for case in balanced] == [case["seed"] for case in cases]


def test_recovery_of_zeros():
    truth = np.array([[1.0, 0.0, 0.0, 0.2], [0.0, 1.0, 0.3, 0.0]])
    found = np.array([[0.1, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])  # the other way round
    scores = simulation.recovery(found, truth)
    # Zeros found: 3 and 2 of which (1, 2) and (4) are planted; planted: 2 + 2.
    assert scores == {"precision": 3 / 5, "recall": 3 / 4}
    assert np.isnan(simulation.recovery(found + 0.5, truth)["precision"])


def test_the_methods_share_their_starts(data_folder, monkeypatch):
    monkeypatch.setenv("SPHEREMIX_DATA", str(data_folder))
    seeds = {
        method: [run.seed for run in cstr.fitted(method, 3, 7, 4).runs_] for method in cstr.METHODS
    }
    assert len(set(map(tuple, seeds.values()))) == 1


def test_no_table_no_figure(tmp_path):
    assert figures.draw(tmp_path / "figures", tmp_path) == []


def test_it_is_up_to_date():
    assert page.PAGE.read_text(encoding="utf-8") == page.text()
    assert (runner.RESULTS / page.FULL).read_text(encoding="utf-8") == page.full()


@pytest.mark.parametrize(
    ("holds", "partly", "verdict"),
    [
        (True, False, "**confirmed**"),
        (False, True, "**partly confirmed**: not all."),
        (False, False, "**not confirmed**: not all."),
    ],
)
def test_a_claim_can_hold_in_part(holds, partly, verdict):
    claim = claims.Claim("It is so.", "it is.", holds, "not all.", partly=partly)
    assert claim.lines()[1] == f"  *Here:* it is. {verdict}"


def test_what_the_committed_results_must_show():
    closeness, _, at_eight, sparse = claims_reference.cstr(runner.RESULTS)[:4]
    for claim in (closeness, at_eight, sparse):
        assert claim.holds, claim.found
    # At K = 4 free kappas are far below; the other three are 0.022 apart, not the 0.02 that
    # was hoped for, and the page says so.
    four = read(runner.RESULTS, "cstr_dense").query("K == 4").groupby("method")["ari"].mean()
    rest = four.drop("free")
    assert four["free"] < rest.min() - 0.2
    assert rest.max() - rest.min() < 0.03


def test_a_difference_the_other_way_round_is_no_agreement():
    tests = claims_reference.t_tests(runner.RESULTS)
    significant = tests[tests["printed"]]
    assert not (significant["agrees"] & (significant["difference"] <= 0)).any()


def test_what_the_printed_means_say_by_themselves():
    """Welch's test by its formula; with it the paper's conclusions about Sk-means hold."""
    tests = claims_reference.t_tests(runner.RESULTS, searched=5)
    (one, sd_one), (two, sd_two) = (printed.DENSE[5][name] for name in ("skmeans", "shared"))
    v, w = sd_one**2 / 50, sd_two**2 / 50
    freedom = (v + w) ** 2 / ((v**2 + w**2) / 49)
    p = 2 * stats.t.sf(abs(one - two) / np.sqrt(v + w), freedom)
    at_five = tests.query("K == 5")
    np.testing.assert_allclose(at_five["p_printed"], p, rtol=1e-9)
    kmeans = tests[tests["pair"].str.startswith("Sk-means")]
    assert ((kmeans["p_printed"] < kmeans["level"]) == kmeans["printed"]).all()


def test_the_page_quotes_the_committed_table():
    """In the order of the seeds: clusters, and agreement with the novels."""
    rows = {}
    for line in novels.TARGET.read_text(encoding="utf-8").splitlines()[2:]:
        way, K, agreement, _ = (cell.strip() for cell in line.strip("|").split("|"))
        rows.setdefault(way.partition(", seed")[0], []).append((K, agreement))
    text = (page.PAGE.parent / "novels.md").read_text(encoding="utf-8")
    for begin, way in {
        "explore": "explore",
        "mixture, first turn of EBIC": "mixture, first turn of EBIC, path by BIC",
        "mixture, first turn of RICc, as in the paper": "mixture, first turn of RICC, path by BIC",
        "mixture, first turn of BIC": "mixture, first turn of BIC, path by BIC",
        "spherical k-means, Calinski-Harabasz": "Sk-means by Calinski-Harabasz",
    }.items():
        clusters, agreements = map(", ".join, zip(*rows[way], strict=True))
        assert f"\n| {begin} | {clusters} | {agreements} |\n" in text


@pytest.mark.filterwarnings("ignore::UserWarning")  # so few words end a path early
def test_three_subjects_are_found_in_the_papers_way(tmp_path, monkeypatch):
    subjects = (
        "sea ship sail wave port",
        "bread oven flour salt yeast",
        "goal team match ball",
    )
    lines = ["novel,text"]
    for name, words in zip("abc", subjects, strict=True):
        own = words.split()
        lines += [f"{name},{' '.join(own[i % 3 :] + own[: i % 2 + 1])}" for i in range(12)]
    path = tmp_path / "chapters.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(novels, "NUMBERS", range(2, 5))
    monkeypatch.setattr(novels, "STARTS", 3)
    rows = {row[0]: row[1:] for row in novels.papers_way(path, 0)}
    assert rows["Sk-means by Calinski-Harabasz, seed 0"][:2] == (3, "1.00")


# All of them at the least scale, from the command to the page


@pytest.fixture(scope="module")
def small(tmp_path_factory, data_folder):
    """Run all studies at the least scale; give the folder of their tables."""
    folder = tmp_path_factory.mktemp("studies")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPHEREMIX_DATA", str(data_folder))
        for study in STUDIES:
            command = ["--scale", "0", "--workers", "1"]
            places = ["--results", str(folder / "results"), "--cache", str(folder / "cache")]
            runner.main(study.__name__, command + places)
    return folder / "results"


@pytest.mark.slow
class TestRunner:
    def command(self, folder, *more):
        places = ["--results", str(folder / "results"), "--cache", str(folder / "cache")]
        return [sys.executable, "-m", "experiments.simulation", "--scale", "0", *places, *more]

    @pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
    def test_a_killed_run_goes_on(self, small, tmp_path):
        n_cases = len(simulation.cases(0))
        cache = tmp_path / "cache" / "simulation"
        killed = subprocess.Popen(  # noqa: S603
            self.command(tmp_path, "--workers", "2"),
            cwd=ROOT,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + 60
        while not list(cache.glob("*.json")) and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(killed.pid, signal.SIGKILL)
        assert killed.wait() == -signal.SIGKILL
        done = {path: path.stat().st_mtime_ns for path in cache.glob("*.json")}
        assert 0 < len(done) < n_cases
        assert not (tmp_path / "results").exists()

        runner.main("experiments.simulation", self.command(tmp_path, "--workers", "1")[3:])
        assert len(list(cache.glob("*.json"))) == n_cases
        assert {path: path.stat().st_mtime_ns for path in done} == done
        for table in ("models", "selected", "zeros"):
            name = f"simulation_{table}.csv"
            assert (tmp_path / "results" / name).read_bytes() == (small / name).read_bytes()

    def test_progress_says_how_long(self, small, tmp_path, capsys):
        shutil.copytree(small.parent / "cache", tmp_path / "cache")
        for path in list((tmp_path / "cache" / "comparison").iterdir())[:2]:
            path.unlink()
        runner.main("experiments.comparison", [*self.command(tmp_path)[3:], "--workers", "1"])
        lines = capsys.readouterr().err.splitlines()
        assert lines[-1] == f"comparison: {len(comparison.cases(0))}/8 cases, 0 s left"
        assert all(re.fullmatch(r"comparison: \d+/8 cases, [\d.]+ (s|min) left", x) for x in lines)
        # What is in the cache is not computed again.
        runner.main("experiments.comparison", self.command(tmp_path)[3:])
        assert capsys.readouterr().err == ""

    def test_records_say_seeds_time_and_versions(self, small):
        for study in STUDIES:
            record = pd.read_json(small / f"{study.NAME}.json", typ="series")
            assert record["seeds"] == study.SEEDS
            assert record["seconds"] > 0
            assert {"numpy", "spheremix"} <= set(record["versions"])


@pytest.mark.slow
class TestPath:
    def test_the_path(self, small):
        steps = read(small, "path_steps")
        for _, part in steps.groupby("m_step"):
            assert np.all(np.diff(part["beta"]) > 0)
            assert np.all(np.diff(part["sparsity"]) > -1e-9)
            assert len(part) > 8
        summary = read(small, "path_summary").set_index("m_step")
        assert summary.loc["exact", "end"] == "maximal_sparsity"
        assert summary.loc["paper", "end"] == "zero_prototype"

    def test_the_strategies(self, small):
        steps = read(small, "path_steps")
        assert (steps["dense_difference"] < path_illustration.SAME).mean() > 0.9
        paper = steps[steps["m_step"] == "paper"]
        assert paper["random_converged"].iloc[0] == 3
        assert paper["random_converged"].iloc[-1] == 0
        summary = read(small, "path_summary")
        assert np.all(summary["dense_iterations"] > summary["path_iterations"])
        assert len(read(small, "path_grid")) == 50


@pytest.mark.slow
class TestSimulation:
    def test_the_tables(self, small):
        models = read(small, "simulation_models")
        assert len(models) == 2 * 2 * 3
        four = models[models["K"] == 4]
        assert (four["ari_dense"] > 0.7).all()
        assert (four["sparsity_bic"] > four["sparsity_aic"]).all()
        selected = read(small, "simulation_selected")
        assert set(selected["criterion"]) == set(simulation.CRITERIA)
        assert (selected["sparse"] >= selected["dense"]).all()


@pytest.mark.slow
class TestComparison:
    def test_the_table(self, small):
        models = read(small, "comparison_models")
        four = models[models["K"] == 4].mean(numeric_only=True)
        assert four["ari_dbmovmfs"] < 0.5 < four["ari_skmeans"]
        assert (models["converged_mixture"] == 1).all()
        rates = models.groupby("K")["converged_dbmovmfs"].mean()
        assert rates[6] < rates[2]

    def test_the_dense_mixture_is_that_of_the_simulation(self, small):
        keys = ["n", "overlap", "sparsity", "data", "K"]
        ours = read(small, "comparison_models").query("weights == 'balanced'").set_index(keys)
        both = ours.join(read(small, "simulation_models").set_index(keys), how="inner")
        assert len(both) == 4  # K = 4 is in both sketches
        np.testing.assert_array_equal(both["ari_mixture"], both["ari_dense"])


@pytest.mark.slow
class TestCSTR:
    def test_from_the_classes(self, small):
        found = read(small, "cstr_classes").set_index("method")["ari"]
        assert found["shared"] == pytest.approx(printed.FROM_CLASSES["shared"], abs=5e-4)
        assert found["free"] == pytest.approx(printed.FROM_CLASSES["free"], abs=5e-4)
        assert found["skmeans"] == pytest.approx(0.843, abs=5e-4)
        confusion = read(small, "cstr_confusion").set_index(["method", "class"])
        assert list(confusion.loc["skmeans"].sum(axis=1)) == [101, 71, 178, 125]
        lloyd = read(small, "cstr_lloyd")
        assert lloyd["moved"].iloc[-1] == 0
        assert lloyd["ari"].iloc[-1] == found["skmeans"]

    def test_the_tables(self, small):
        dense, sparse = read(small, "cstr_dense"), read(small, "cstr_sparse")
        assert set(dense["method"]) == set(cstr.METHODS)
        assert dense["ari"].between(0.2, 0.9).all()
        assert (dense["converged"] == 5).mean() > 0.9
        sparsity = sparse.pivot_table("sparsity", "K", "criterion")
        assert (sparsity["aic"] < sparsity["bic"]).all()
        assert (sparsity["bic"] < sparsity["ricc"]).all()
        blocks = read(small, "cstr_blocks").set_index(["model", "repetition"])
        assert (blocks.sum(axis=1) == 1000).all()
        assert (blocks.loc["dbmovmfs", "1"] == 1000).all()
        assert (blocks.loc["bic", "0"] > blocks.loc["dense", "0"]).all()


@pytest.mark.slow
class TestPictures:
    def test_every_figure(self, small, tmp_path):
        assert figures.draw(tmp_path, small) == list(figures.FIGURES)
        files = list(tmp_path.iterdir())
        assert len(files) == 2 * len(figures.FIGURES)
        sizes = {file.name: file.stat().st_size for file in files}
        assert 1000 < min(sizes.values()) < max(sizes.values()) < 600_000, sizes  # 300 dots an inch


@pytest.mark.slow
class TestPage:
    def test_it_is_written_from_the_results(self, small, tmp_path):
        page.main(["--results", str(small), "--page", str(tmp_path / "page.md")])
        assert (tmp_path / "page.md").read_text(encoding="utf-8") == page.text(small)
        text = (small / page.FULL).read_text(encoding="utf-8")
        shown = set(re.findall(r"figures/paper/([\w-]+)\.svg", text))
        assert shown == set(figures.FIGURES)
        found = read(small, "cstr_dense").query("K == 4 and method == 'free'")["ari"]
        here, theirs = re.findall(r"^\| 4 \| .* ± .*", text, re.MULTILINE)[:2]
        assert f" {found.mean():.3f} ± {found.std():.3f} |" in here
        assert " 0.519 ± 0.045 |" in theirs
        for study in STUDIES:
            assert study.SEEDS in text

    def test_claims_say_why_not(self, small):
        found = [
            *claims.path(small),
            *claims_simulation.simulation(small),
            *claims_reference.comparison(small),
            *claims_reference.cstr(small),
        ]
        assert len(found) > 25
        for claim in found:
            assert claim.holds or claim.why
            assert claim.found.rstrip().endswith(".")
