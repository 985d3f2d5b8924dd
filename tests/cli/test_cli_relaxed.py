"""The command refits the steps of its path, unless it is told not to."""

from __future__ import annotations

import numpy as np
import pytest
from cli_common import rows, run, texts, write_lines

import spheremix as sm


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    return write_lines(tmp_path_factory.mktemp("relaxed") / "docs.jsonl", texts())


@pytest.mark.parametrize("flag", [None, "--no-relaxed"])
def test_the_flag(documents, tmp_path, flag):
    folder = tmp_path / "run"
    options = ["-k", 3, "--starts", 2, "--max-steps", 40, *([flag] if flag else [])]
    run("explore", documents, "-o", folder, *options)
    path = sm.load_run(folder).path
    assert path.relaxed is (flag != "--no-relaxed")
    found = [float(one["log_likelihood"]) for one in rows(folder / "tables" / "path.csv")]
    judged = path.state_.refits if path.relaxed else path.state_.steps
    expected = [point.log_likelihood for point in judged]
    np.testing.assert_allclose(found, expected, rtol=1e-4)
