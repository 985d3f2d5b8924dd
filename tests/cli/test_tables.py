"""The tables of a run: what they say, in how many digits, and embeddings with texts beside them."""

from __future__ import annotations

import csv
import json
import math
import re
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from cli_common import TOPICS, rows, run, texts
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from spheremix.reading import Reading, log_odds_contrast
from spheremix.reading.names import BETWEEN
from spheremix.run.columns import OF_SHARES, TABLES
from spheremix.run.run import load_run
from spheremix.run.tables import csv_lines, shorten


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    """Texts of three topics, and embeddings that are random but for the topic."""
    folder, rng = tmp_path_factory.mktemp("tables"), np.random.default_rng(0)
    written = [tuple(one.values()) for one in texts(60)]
    with (folder / "docs.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(("name", "body", "topic", "day", "headline"))
        table.writerows((*one, f"About {one[0]}") for one in written)
    centres = rng.normal(size=(3, 12))[np.arange(60) % 3]
    np.save(folder / "E.npy", (centres + 0.4 * rng.normal(size=(60, 12))).astype(np.float32))
    return folder, written


def columns_of(folder):
    names = ("--id", "name", "--label", "topic", "--date", "day")
    words = ("--lemmatizer", "none", "--max-df", "1.0", "--meaning-only")
    return ("--texts", folder / "docs.csv", *names, *words)


@pytest.fixture(scope="module")
def embedded(material):
    folder, _ = material
    command = ("explore", folder / "E.npy", *columns_of(folder), "-k", 3, "-o", folder / "run")
    return folder / "run", command, run(*command)[0]


@pytest.fixture(scope="module")
def sparse_embedded(embedded):
    """The same rows on the path: a run that has every table there is."""
    folder, command, _ = embedded
    sparse_folder = folder.with_name("sparse")
    run(*command[:-1], sparse_folder, "--criterion", "bic", "-k", "2:5")
    return sparse_folder


# Embeddings with texts beside them


def test_rows_have_the_ids_labels_and_texts_beside_them(embedded, material):
    folder, _, _ = embedded
    _, written = material
    assert [one["id"] for one in rows(folder / "documents.csv")] == [one[0] for one in written]
    found = load_run(folder)
    corpus = found.corpus()
    assert corpus.texts == [one[1] for one in written]
    assert corpus.labels == {"topic": [(one[2],) for one in written]}
    assert corpus.dates == [one[3] for one in written]
    assert found.info.label_agreement["topic"].ari == 1.0
    assert found.info.corpus.texts.endswith("docs.csv")
    assert found.feature_names is None
    assert sum(int(one["documents"]) for one in rows(folder / "tables" / "time.csv")) == 60
    known = {one[0]: one[1] for one in written}
    for one in rows(folder / "tables" / "typical.csv"):
        assert known[one["id"]].startswith(one["text"].removesuffix("..."))


def test_words_are_those_of_the_contrast(embedded, material):
    folder, _, out = embedded
    labels = [int(one["group"]) for one in rows(folder / "documents.csv")]
    counted = [Counter(text.split()) for _, text, *_ in material[1]]
    words = sorted(set().union(*counted))
    counts = np.array([[one[word] for word in words] for one in counted])
    z = log_odds_contrast(counts, labels, n_groups=3)
    sums = np.zeros((3, len(words)))
    for k, row in zip(
        labels, TfidfTransformer(sublinear_tf=True).fit_transform(counts), strict=True
    ):
        sums[k] += row.toarray().ravel()
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    scores = (sums / lengths) ** 1.5 * sums / sums.sum(axis=0)
    contrast = rows(folder / "tables" / "contrast.csv")
    for k in range(3):
        listed = [one for one in contrast if one["group"] == str(k)]
        order = [j for j in np.lexsort((-z[k], -scores[k].round(12), z[k] <= 2)) if z[k, j] > 0]
        assert [float(one["score"]) for one in listed] == pytest.approx(scores[k, order], rel=1e-5)
        assert [one["word"] for one in listed] == [words[j] for j in order]
        assert [float(one["z"]) for one in listed] == pytest.approx(z[k, order], rel=1e-5)
        inside = counts[np.array(labels) == k][:, order].sum(axis=0)
        assert [int(one["count"]) for one in listed] == inside.tolist()
        [summed] = [one for one in rows(folder / "groups.csv") if one["group"] == str(k)]
        parts = summed["name"].lower().split(BETWEEN)
        assert set(parts) <= {words[j] for j in order}
        # Parts are worth the root of the score, times how many more documents have the word here.
        shares = np.array([(counts[np.array(labels) == g] > 0).mean(axis=0) for g in range(3)])
        others = (counts[np.array(labels) != k] > 0).mean(axis=0)
        nearest = np.delete(shares, k, axis=0).max(axis=0)
        beyond = np.maximum(shares[k] - nearest, 0) + np.maximum(shares[k] - others, 0)
        worth = np.sqrt(scores[k]) * beyond
        assert worth[words.index(parts[0])] >= 0.5 * worth.max()
        assert summed["contrast_words"].split(", ") == [words[j] for j in order[:20]]
        assert set(parts) <= set(next(t for t in TOPICS.values() if parts[0] in t).split())
        rest = [words[j] for j in order if words[j] not in parts]
        assert f"  {rest[0]}, {rest[1]}" in out  # those of the name are not repeated


def test_a_reading_of_the_run_has_its_names(sparse_embedded):
    folder = sparse_embedded
    found = load_run(folder)
    reading = Reading.from_run(found)
    named = {one["group"]: one["name"] for one in rows(folder / "groups.csv")}
    assert {str(one.group): one.name for one in reading.groups()} == named
    assert Reading.from_run(found, step=0).group_name(1, 1) == named["1"].split(BETWEEN)[0]
    with pytest.raises(ValueError, match="contrast has 2 groups, the model 3"):
        Reading(found.path, contrast=[["a"], ["b"]])
    assert Reading(found.path, contrast=[["a"], [], ["b"]]).group_name(1).startswith("x")


def test_the_same_texts_are_the_same_run_and_others_another(embedded, material, tmp_path):
    folder, command, _ = embedded
    moved = shutil.copy(material[0] / "docs.csv", tmp_path / "moved.csv")
    again = [moved if part == material[0] / "docs.csv" else part for part in command]
    assert "holds this run already" in run(*again)[1]
    Path(moved).write_bytes(Path(moved).read_bytes().replace(b"boat", b"ship"))
    assert "of other documents" in run(*again, code=2)[1]
    assert not (folder / "progress").exists()


def test_rows_without_direction_keep_their_texts_out_of_the_contrast(material, tmp_path):
    folder, written = material
    vectors = np.load(folder / "E.npy")
    vectors[4] = 0.0
    np.save(tmp_path / "E.npy", vectors)
    run(
        *("explore", tmp_path / "E.npy", *columns_of(folder), "--min-df", 1, "-k", 3),
        *("-o", tmp_path / "run"),
    )
    assert rows(tmp_path / "run" / "documents.csv")[4]["set_aside"] == "empty row"
    star = written[4][1].split()[0]
    counted = sum(text.split().count(star) for i, (_, text, *_) in enumerate(written) if i != 4)
    contrast = [
        one for one in rows(tmp_path / "run" / "tables/contrast.csv") if one["word"] == star
    ]
    assert [round(int(one["count"]) / float(one["share"])) for one in contrast] == [counted]
    assert load_run(tmp_path / "run").corpus().texts[4] == written[4][1]


def test_counts_with_names_take_only_ids_and_labels_from_texts(material, tmp_path):
    folder, written = material
    words = sorted({word for _, text, *_ in written for word in text.split()})
    counts = [[text.split().count(word) for word in words] for _, text, *_ in written]
    sparse.save_npz(tmp_path / "X.npz", sparse.csr_array(np.array(counts)))
    (tmp_path / "vocabulary.txt").write_text("\n".join([*words, ""]), encoding="utf-8")
    command = ("explore", tmp_path / "X.npz", "--texts", folder / "docs.csv", "-k", 3)
    command += ("--label", "topic", "--id", "name", "-o", tmp_path / "run")
    assert "is for counting" in run(*command, "--min-df", 2, code=2)[1]
    out, _ = run(*command)
    assert "The groups are mostly the labels 'topic'" in out
    told = " ".join((tmp_path / "run" / "README.txt").read_text(encoding="utf-8").split())
    assert "Only here: " in told
    assert "'topic' 1.00 (adjusted Rand index" in told
    assert rows(tmp_path / "run" / "documents.csv")[7]["id"] == "doc 7"
    assert not (tmp_path / "run" / "tables" / "contrast.csv").exists()
    assert load_run(tmp_path / "run").contrast() is None


# Columns and digits


def test_every_column_is_explained(sparse_embedded):
    folder = sparse_embedded
    legend = (folder / "README.txt").read_text(encoding="utf-8")
    there = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.csv")}
    schemas = {table.file: table for table in TABLES.values()}
    assert set(there) == {*schemas} - {
        "tables/removed_words.csv",  # embeddings have no words
        *("tables/passages.csv", "tables/shares.csv"),  # they are not split
        *("tables/levels.csv", "tables/effects.csv"),  # none were asked for
    }
    for name, path in there.items():
        header = path.read_text(encoding="utf-8").partition("\n")[0].split(",")
        carried = ["topic"] if schemas[name].others else []
        others = {"note", "misplaced", "size_before"}  # of runs that were edited or updated
        others |= {"broad_group", "broad_name"}  # of runs with fewer groups that are more stable
        others |= {"mean_share", *(OF_SHARES if name == "documents.csv" else ())}  # if split
        others |= {"n_words", "language"} if name == "documents.csv" else set()  # of texts
        others |= {"label_probability"} if name == "documents.csv" else set()  # if labelled in part
        others |= {"document", "place", "share"} if name == "tables/typical.csv" else set()
        assert header == [*(one for one in schemas[name].columns if one not in others), *carried]
        part = legend.partition(f"\n{name}\n")[2].partition("\n\n")[0]
        for column in header:
            assert re.search(rf"^  (\w+, )*{column}[, ]", part, re.MULTILINE), (name, column)


def test_numbers_have_six_digits_or_three_decimals(sparse_embedded):
    folder = sparse_embedded
    numbers = [
        cell
        for path in folder.rglob("*.csv")
        for row in rows(path)
        for column, cell in row.items()
        if column not in {"id", "text", "period"} and re.fullmatch(r"-?\d+\.\d+(e-\d+)?", cell)
    ]
    assert len(numbers) > 100
    for cell in numbers:
        mantissa = cell.partition("e")[0].lstrip("-")
        digits = mantissa.replace(".", "").lstrip("0")
        assert len(digits) <= 6 or re.fullmatch(r"\d{4,}\.\d{3}", mantissa), cell
    info = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert info["label_agreement"]["topic"]["nmi"] == 1.0


def test_short_and_exact_lines():
    columns = {
        "a": [1 / 3, math.inf, 1e-9 / 3, 2.0, -12345.67891],
        "b": ["x", None, 3, np.int64(4), ""],
    }
    assert "".join(csv_lines(columns, short=True)) == (
        "a,b\n0.333333,x\ninf,\n3.33333e-10,3\n2,4\n-12345.679,\n"
    )
    exact = [line.partition(",")[0] for line in "".join(csv_lines(columns)).splitlines()[1:]]
    assert [float(cell) for cell in exact] == columns["a"]


def test_a_spreadsheet_runs_no_cell(tmp_path):
    formulas = ["=1+1", "+cmd", "-x", "@sum", "\t=1", "\r=1", "'=1", "--1", "-1e5", "-1\n"]
    texts = ["", "-1", "+2.50", "x=1", "'quoted'", "1-2"]
    columns = {"id": [*formulas, *texts], "score": np.linspace(-1.0, 1.0, 16)}
    name = "documents.csv"
    (tmp_path / name).write_bytes("".join(csv_lines(columns)).encode())
    with (tmp_path / name).open(encoding="utf-8", newline="") as file:
        cells = [row["id"] for row in csv.DictReader(file)]
    assert cells == [f"'{one}" for one in formulas] + texts


def test_lines_are_cut_at_the_end_of_a_word():
    assert shorten("one two three", 13) == "one two three"
    assert shorten("one two three", 12) == "one two..."
    assert shorten("x" * 20, 10) == "x" * 7 + "..."
