"""Documents that were split: the page counts them as the tables of the run do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import spheremix as sm
from spheremix.text import Corpus

PAGE = Path(sm.__file__).parent / "report" / "page"
WORDS = [
    "boat harbour wave sailor anchor island",
    "star planet moon comet telescope orbit",
    "bread butter sugar oven kitchen recipe",
]
# What the page computes of its content: for its own groups, and for the first two as one.
SCRIPT = """
import { readFileSync } from "node:fs";
import { sharesOf } from "PAGE/documents/passages.js";
import { countLabels, countPeriods } from "PAGE/tabs/counts.js";
const { documents } = JSON.parse(readFileSync(0, "utf8"));
const firstOf = documents.passages.date.map((_, d) => documents.passages.document.indexOf(d));
const each = [documents.group, documents.group.map((k) => (k === 1 ? 0 : k))].map((labels) => {
  const ids = [...new Set(labels)].sort();
  const { counts, totals, sizes } = countLabels(documents, labels, ids);
  return {
    labels: counts.map((one) => [...one]), totals: [...totals], sizes: [...sizes],
    shares: firstOf.map((i) => sharesOf(documents, labels, i)),
    ...{ time: countPeriods(documents, labels, ids) },
  };
});
console.log(JSON.stringify(each));
"""


@pytest.fixture(scope="module")
def node():
    """Return node, which is installed with the tests."""
    beside = Path(sys.executable).parent
    found = shutil.which("node", path=f"{beside}{os.pathsep}{os.environ['PATH']}")
    if found is None or subprocess.run([found, "--version"], check=False).returncode:  # noqa: S603
        pytest.skip("there is no node to run it")
    return found


@pytest.fixture(scope="module")
def run():
    """Return a run of documents whose passages are often of two groups alike."""
    rng = np.random.default_rng(1)
    subjects = [words.split() for words in WORDS]
    texts = []
    for _ in range(50):
        wanted = rng.dirichlet([0.5, 0.5, 0.5])
        parts = []
        for k in rng.choice(3, 6, p=wanted):
            of = np.where(rng.random(12) < 0.6, k, rng.integers(3, size=12))
            parts.append(" ".join(rng.choice(subjects[j]) for j in of).capitalize() + ".")
        texts.append("\n\n".join(parts))
    ids = [f"d{i}" for i in range(50)]
    dates = [None if i == 7 else f"{2000 + i % 5}" for i in range(50)]
    labels = {"party": [(("left", "right")[i % 2],) for i in range(50)]}
    corpus = Corpus(texts, ids, dates=dates, labels=labels)
    return sm.explore_corpus(corpus, None, k=3, split="paragraphs", min_df=1, starts=2)


def test_the_page_counts_documents_as_the_tables_do(node, run, tmp_path):
    content = json.loads(run.report().write_json(tmp_path / "report.json").read_text())
    command = [node, "--input-type=module", "-e", SCRIPT.replace("PAGE", PAGE.as_uri())]
    told = subprocess.run(  # noqa: S603
        command, input=json.dumps(content), capture_output=True, text=True, check=True
    )
    own, joined = json.loads(told.stdout)
    shares = np.array([run.shares[f"group_{k}"] for k in range(3)], dtype=float).T
    near = {"abs": 2e-4}

    found = np.zeros((50, 3))
    for i, several in enumerate(own["shares"]):
        for k, share in several:
            found[i, k] = share
    assert found == pytest.approx(shares, **near)
    first = [several[0] for several in own["shares"]]
    assert [k for k, _ in first] == run.documents["group"]
    assert [share for _, share in first] == pytest.approx(run.documents["share"], **near)
    hard = np.zeros((50, 3))  # what would be counted otherwise
    documents = content["documents"]
    np.add.at(hard, (documents["passages"]["document"], documents["group"]), 1 / 6)
    assert np.abs(hard - shares).max() > 0.05

    table, names = run.read_table("labels"), content["documents"]["label_names"]
    for k, label, n in zip(table["group"], table["label"], table["documents"], strict=True):
        assert own["labels"][k][names.index(label)] == pytest.approx(n, rel=2e-4)
    table, periods = run.read_table("time"), own["time"]["periods"]
    for k, period, n in zip(table["group"], table["period"], table["documents"], strict=True):
        assert own["time"]["counts"][k][periods.index(period)] == pytest.approx(n, abs=5e-3)
    assert sum(own["time"]["totals"]) == pytest.approx(49)
    assert own["time"]["undated"] == 1

    assert joined["sizes"] == pytest.approx([shares[:, :2].sum(), shares[:, 2].sum()], rel=2e-4)
    assert joined["totals"] == pytest.approx([25, 25])
