"""A criterion takes one line of select.py: older runs, commands, figures and reports go on."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from cli_common import rows, run
from little_advice import little_advice

import spheremix as sm
from spheremix.select import CRITERIA

__all__ = ["little_advice"]

X, _, _ = sm.datasets.make_vmf_mixture(60, 5, 2, kappa=20.0, random_state=0)

# As an edit of select.py would, before anything else is imported: Bozdogan's consistent AIC.
ADDED = """
import math
import spheremix.select as select
known = select.prices
select.prices = lambda n, d: {**known(n, d), "caic": math.log(n) + 1.0}
select.CRITERIA = (*select.prices(1.0, 2), "icl")
import matplotlib
matplotlib.use("agg")
import numpy as np
import spheremix as sm
from cli_common import run
from little_advice import LITTLE
from spheremix.display.run import displays
for module, name, value in LITTLE:
    setattr(module, name, value)
"""
USED = """
import sys
old, fresh, documents = sys.argv[1:]
found = sm.load_run(old)
assert np.isnan(found.dense_criteria["caic"]).all()
assert np.isfinite(found.path.criteria_["caic"]).all()  # computed again
run("report", old)
run("assign", old, documents, "-o", fresh + ".csv")
shown = ["caic", "bic"]
display = sm.PathDisplay.from_estimator(found.path, shown)
labels = [text.get_text() for text in display.ax_[-1].get_legend().get_texts()]
assert labels[0].startswith("CAIC"), labels
run("explore", documents, "--k", "2:3", "-o", fresh, "--criterion", "caic", "--max-steps", 20)
made = sm.load_run(fresh)
values = {name: made.dense_criteria[name] for name in shown}
sm.CriteriaDisplay([2, 3], values).plot()
drawn = displays(made)
for name in ("criteria", "path"):
    drawn[name].plot()
assert made.path.select("caic") == made.path.selected_
"""


@pytest.fixture(scope="module")
def explored(tmp_path_factory):
    """Return the folder of a run, and its rows."""
    folder = tmp_path_factory.mktemp("criterion")
    np.save(folder / "X.npy", X)
    sparse = ("--criterion", "bic", "--max-steps", 20)
    run("explore", folder / "X.npy", "--k", "2:3", "-o", folder / "old", *sparse)
    return folder / "old", folder / "X.npy"


def test_everything_goes_on_with_another_criterion(explored, tmp_path):
    old, documents = explored
    (old / "report.html").unlink()
    command = [sys.executable, "-W", "error", "-c", ADDED + USED]
    done = subprocess.run(  # noqa: S603
        [*command, str(old), str(tmp_path / "fresh"), str(documents)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (old / "report.html").exists()
    n = len(rows(tmp_path / "fresh" / "documents.csv"))
    for name in ("tables/dense.csv", "tables/path.csv"):
        for row in rows(tmp_path / "fresh" / name):
            aic, bic, caic = (float(row[one]) for one in ("aic", "bic", "caic"))
            count = (bic - aic) / (math.log(n) - 2.0)
            assert math.isclose(caic, bic + count, rel_tol=1e-4)
    legend = (tmp_path / "fresh" / "README.txt").read_text(encoding="utf-8")
    assert "caic" in legend


def test_a_run_that_lacks_a_criterion_is_read(tmp_path):
    mixture = sm.VMFMixture(2, n_init=2, random_state=0).fit(X)
    del mixture.criteria_["icl"]  # as in the run of a spheremix that did not know it
    found = sm.load_run(sm.save_run(tmp_path / "run", mixture)).mixture.criteria_
    assert tuple(found) == CRITERIA
    assert np.isnan(found.pop("icl"))
    assert found == mixture.criteria_
