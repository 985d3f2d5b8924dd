"""Tables of a run go to other programs as they are, and show themselves."""

from __future__ import annotations

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import spheremix as sm
from spheremix.run.tables import Table

COLUMNS = {"id": ["a", "<b>", ""], "group": [1, None, 0], "share": [0.5, None, 1 / 3]}


def test_arrow_and_parquet_have_every_value(tmp_path):
    table = Table(COLUMNS)
    assert pa.table(table).to_pydict() == COLUMNS
    assert pl.DataFrame(table).to_dict(as_series=False) == COLUMNS
    path = table.write_parquet(tmp_path / "documents.parquet")
    assert pq.read_table(path).to_pydict() == COLUMNS
    assert [one.name for one in tmp_path.iterdir()] == ["documents.parquet"]


@pytest.mark.parametrize("n", [20, 21])
def test_a_notebook_shows_the_first_rows(n):
    shown = Table({"id": ["<b>"] * n, "share": [1 / 3] * n})._repr_html_()
    assert shown.count("<tr>") == 21
    assert "&lt;b&gt;</td><td>0.3333" in shown
    assert ("20 of 21 rows" in shown) == (n == 21)


def test_advice_and_effects_show_themselves():
    X, labels, _ = sm.datasets.make_vmf_mixture(200, 6, 3, kappa=50.0, random_state=0)
    study = sm.VMFMixtureIC(range(2, 5), k_criterion="advice", random_state=0).fit(X)
    shown = study.advice_._repr_html_()
    assert f"<p>{study.advice_.recommended[0].sentence}</p>" in shown
    assert "<th>agreement</th>" in shown
    by = {"side": [("<left>", "right")[k % 2] for k in labels]}
    found = sm.effects(study, X, by, n_replicates=10)
    assert "<td>&lt;left&gt;</td>" in found._repr_html_()
    assert "<p>200 documents, 95 % intervals" in found._repr_html_()
