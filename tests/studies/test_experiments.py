"""The parts of the studies of the paper, and what their committed results show."""

from __future__ import annotations

import numpy as np
import pytest
from experiments import (
    claims,
    claims_reference,
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
from experiments.data import configurations
from experiments.drawing import read
from scipy import stats

STUDIES = (path_illustration, simulation, comparison, cstr, search)


class TestRunner:
    def test_a_negative_scale_is_refused(self, tmp_path, capsys):
        places = ["--results", str(tmp_path / "results"), "--cache", str(tmp_path / "cache")]
        with pytest.raises(SystemExit):
            runner.main("experiments.simulation", ["--scale", "-1", *places])
        assert "--scale must be at least 0" in capsys.readouterr().err

    def test_the_scale_is_a_share_of_the_full_size(self):
        assert len(simulation.cases(1)) == 12 * 100
        assert len(simulation.cases(0.25)) == 12 * 25
        assert len(comparison.cases(1)) == 2 * 12 * 100
        assert len(cstr.cases(1)) == 2 + 50 * 7
        assert len(cstr.cases(0.1)) == 2 + 5 * 7
        assert {case["n_init"] for case in cstr.cases(0.1)[2:]} == {50}

    def test_seeds_of_data_sets_differ(self):
        cases = simulation.cases(1)
        assert len({case["seed"] for case in cases}) == len(cases)
        balanced = [case for case in comparison.cases(1) if case["weights"] == "balanced"]
        assert [case["seed"] for case in balanced] == [case["seed"] for case in cases]


class TestSimulation:
    def test_recovery_of_zeros(self):
        truth = np.array([[1.0, 0.0, 0.0, 0.2], [0.0, 1.0, 0.3, 0.0]])
        found = np.array([[0.1, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])  # the other way round
        scores = simulation.recovery(found, truth)
        # Zeros found: 3 and 2 of which (1, 2) and (4) are planted; planted: 2 + 2.
        assert scores == {"precision": 3 / 5, "recall": 3 / 4}
        assert np.isnan(simulation.recovery(found + 0.5, truth)["precision"])

    def test_configurations(self):
        assert len(configurations()) == 12


class TestCSTR:
    def test_the_methods_share_their_starts(self, cstr_file, monkeypatch):
        monkeypatch.setenv("SPHEREMIX_DATA", str(cstr_file))
        seeds = {
            method: [run.seed for run in cstr.fitted(method, 3, 7, 4).runs_]
            for method in cstr.METHODS
        }
        assert len(set(map(tuple, seeds.values()))) == 1


class TestPictures:
    def test_no_table_no_figure(self, tmp_path):
        assert figures.draw(tmp_path / "figures", tmp_path) == []


class TestPage:
    def test_it_is_up_to_date(self):
        assert page.PAGE.read_text(encoding="utf-8") == page.text()

    @pytest.mark.parametrize(
        ("holds", "partly", "verdict"),
        [
            (True, False, "**confirmed**"),
            (False, True, "**partly confirmed**: not all."),
            (False, False, "**not confirmed**: not all."),
        ],
    )
    def test_a_claim_can_hold_in_part(self, holds, partly, verdict):
        claim = claims.Claim("It is so.", "it is.", holds, "not all.", partly=partly)
        assert claim.lines()[1] == f"  *Here:* it is. {verdict}"

    def test_what_the_committed_results_must_show(self):
        closeness, _, at_eight, sparse = claims_reference.cstr(runner.RESULTS)[:4]
        for claim in (closeness, at_eight, sparse):
            assert claim.holds, claim.found
        # At K = 4 free kappas are far below; the other three are 0.022 apart, not the 0.02 that
        # was hoped for, and the page says so.
        four = read(runner.RESULTS, "cstr_dense").query("K == 4").groupby("method")["ari"].mean()
        rest = four.drop("free")
        assert four["free"] < rest.min() - 0.2
        assert rest.max() - rest.min() < 0.03

    def test_a_difference_the_other_way_round_is_no_agreement(self):
        tests = claims_reference.t_tests(runner.RESULTS)
        significant = tests[tests["printed"]]
        assert not (significant["agrees"] & (significant["difference"] <= 0)).any()

    def test_what_the_printed_means_say_by_themselves(self):
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


class TestNovels:
    def test_the_page_has_the_committed_table(self):
        text = (page.PAGE.parent / "novels.md").read_text(encoding="utf-8")
        begin = "<!-- novels: experiments/results/novels.md -->\n"
        quoted = text.partition(begin)[2].partition("<!-- end -->")[0]
        assert quoted == novels.TARGET.read_text(encoding="utf-8")

    @pytest.mark.filterwarnings("ignore::UserWarning")  # so few words end a path early
    def test_three_subjects_are_found_in_the_papers_way(self, tmp_path, monkeypatch):
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
