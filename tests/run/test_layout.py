"""The files of a run are those that run/columns.py and run/files.py list, each once."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from spheremix.run.files import FILES
from spheremix.run.layout import LAYOUT

import spheremix as sm
from spheremix.run.columns import TABLES
from spheremix.text import Corpus, Matrix

TEXTS = ["red apple", "apple pie", "green apple", "blue sky", "sky and sea", "blue sea"]
RUN = Path(sm.__file__).parent / "run"
LISTED = {*FILES, *(table.file for table in TABLES.values())}


def test_names_are_single_and_the_layout_is_made_of_them():
    assert all(re.fullmatch(r"[A-Za-z.]+/?", name) for name in FILES)
    tops = {name.partition("/")[0] for name in LISTED}
    assert {*tops, "progress"} - {"run.json", "derived.json"} == LAYOUT


@pytest.mark.parametrize("name", sorted(name for name in LISTED if "." in name))
def test_a_name_is_written_in_one_module_of_runs(name):
    holding = [path.name for path in RUN.glob("*.py") if f'"{name}"' in path.read_text("utf-8")]
    assert holding in (["columns.py"], ["files.py"], []), name  # run.json is in _files.py


def test_every_file_of_a_run_is_listed_and_explained(tmp_path):
    rows = np.random.default_rng(0).normal(size=(6, 3))
    matrix = Matrix(rows, None, "rows.npy", "NumPy", [], "0").beside(Corpus(TEXTS, list("abcdef")))
    options = {"k": 2, "min_count": 1, "min_df": 1}
    written = set()
    for source in (TEXTS, matrix):
        run = sm.explore_corpus(source, tmp_path / str(len(written)), **options)
        run = run.edit({"merge": [[0, 1]]})
        legend = (run.folder / "README.txt").read_text(encoding="utf-8")
        assert all(name in legend for name in FILES)
        names = {path.relative_to(run.folder).as_posix() for path in run.folder.rglob("*.*")}
        tops = {f"{name.partition('/')[0]}/" if "/" in name else name for name in names}
        written |= tops
        assert tops - {"tables/"} <= LISTED
        assert {name for name in names if name.startswith("tables/")} <= LISTED
    assert set(FILES) <= written
