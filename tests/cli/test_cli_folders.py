"""A folder of dated text files, and several labels, on the command line."""

from __future__ import annotations

import csv
import re

import pytest
from cli_common import TOPICS, refusal, rows, run, texts, write_lines

from spheremix.run.run import load_run

QUICK = ("-k", 3, "--starts", 1, "--max-steps", 5, "--lemmatizer", "none", "--threads", 1)


@pytest.fixture(scope="module")
def speeches(tmp_path_factory):
    """Sub-folders of topics; names with a speaker and a year, from 1790 on."""
    folder = tmp_path_factory.mktemp("dated") / "speeches"
    with (folder.with_name("about.csv")).open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["code", "when", "party", "name", "score"])
        for i, one in enumerate(texts(90)):
            speaker = "ABC"[i % 7 % 3]
            path = folder / one["topic"] / f"{speaker}_{1790 + i}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(one["text"], encoding="utf-8")
            table.writerow([path.stem, f"{1790 + i}-05", "PQ"[i % 2], f"Speech {i}", i / 7])
    return folder


def test_dates_and_labels_come_from_the_names(speeches, tmp_path):
    given = ("--date-from", "name", "--label-from", "{topic}/{speaker}_*")
    out, err = run("explore", speeches, *given, *QUICK, "-o", tmp_path / "run")
    assert "Dates are in the names of the files: 90 years, as 1" in err
    assert "Labels are in the names of the files: topic 'food', speaker 'A' of" in err
    assert "'topic' 1.00" in out
    documents = rows(tmp_path / "run" / "documents.csv")
    for one in documents:
        topic, name = one["id"].split("/")
        speaker, year = name.removesuffix(".txt").split("_")
        assert (one["title"], one["date"]) == (f"{speaker}_{year}", year)
        assert (one["topic"], one["speaker"]) == (topic, speaker)
    periods = {one["period"] for one in rows(tmp_path / "run" / "tables" / "time.csv")}
    assert periods == {str(1790 + i) for i in range(90)}
    content = load_run(tmp_path / "run").report().content
    assert content["documents"]["date"][:1] == [documents[0]["date"]]
    assert content["documents"]["title"][:1] == [documents[0]["title"]]
    names = [one["name"] for one in content["documents"]["label_columns"]]
    assert names == ["topic", "speaker"]


def test_a_table_is_joined_by_the_names_of_the_files(speeches, tmp_path):
    about = speeches.with_name("about.csv")
    given = ("--metadata", about, "--date", "when", "--label", "party")
    _, err = run("explore", speeches, *given, *QUICK, "-o", tmp_path / "run")
    assert "Column 'code' of about.csv names the files (found)." in err
    assert "Column 'name' is read as the title (guessed)." in err
    for one in rows(tmp_path / "run" / "documents.csv"):
        i = int(one["title"].removeprefix("Speech "))
        assert one["date"] == f"{1790 + i}-05"
        assert one["party"] == "PQ"[i % 2]
        assert float(one["score"]) == i / 7
        assert one["id"].endswith(f"_{1790 + i}.txt")
    assert (
        "holds this run already"
        in run("explore", speeches, *given, *QUICK, "-o", tmp_path / "run")[1]
    )
    about.write_text(about.read_text(encoding="utf-8").replace("Speech 3,", "Speech three,"))
    said = refusal("explore", speeches, *given, *QUICK, "-o", tmp_path / "run")
    assert "of other documents" in said


def test_several_labels_and_criteria_in_any_case(tmp_path):
    lines = [{**one, "desk": "uv"[i % 2]} for i, one in enumerate(texts(60))]
    path = write_lines(tmp_path / "docs.jsonl", lines)
    labels = ("--label", "topic", "--label", "desk", "--criterion", "BIC", "--k-criterion", "Ebic")
    out, err = run("explore", path, *labels, *QUICK, "-o", tmp_path / "run")
    assert "Column 'desk' is read as a label." in err
    assert re.search(r"with the labels: 'desk' -?0\.\d\d; 'topic' 1\.00 ", out)
    found = load_run(tmp_path / "run")
    assert list(found.corpus().labels) == ["topic", "desk"]
    assert found.info.command["label"] == ["topic", "desk"]
    assert found.info.command["criterion"] == "bic"
    assert set(found.read_table("labels")["label_column"]) == {"topic", "desk"}
    run("explore", path, *labels[2:], *QUICK, "-o", tmp_path / "run")  # other labels, same fits
    assert list(load_run(tmp_path / "run").corpus().labels) == ["desk"]
    assert rows(tmp_path / "run" / "documents.csv")[0]["topic"] == lines[0]["topic"]
    assert refusal("explore", path, "--label", "none", *labels, "-o", tmp_path / "no").startswith(
        "error: --label must be the name of a column, several of them, or none alone; got"
    )


def test_embeddings_are_shown_by_titles(tmp_path):
    np = pytest.importorskip("numpy")
    names = list(TOPICS)
    lines = [{**one, "title": f"T{i}"} for i, one in enumerate(texts(30))]
    path = write_lines(tmp_path / "docs.jsonl", lines)
    noise = np.random.default_rng(0).normal(scale=0.1, size=(30, 6))
    X = np.eye(3, 6)[[names.index(one["topic"]) for one in lines]] + noise
    np.save(tmp_path / "E.npy", X.astype(np.float32))
    given = ("--texts", path, "--label", "topic", *QUICK)
    out, _ = run("explore", tmp_path / "E.npy", *given, "-o", tmp_path / "run")
    table = out.partition("typical document")[2]
    assert "date" in table.splitlines()[0]
    assert "labels" in table.splitlines()[0]
    typical = load_run(tmp_path / "run").read_table("typical")
    assert f" {typical['title'][0]} " in table


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--date-from", "nmae"), "--date-from must be name, folder, or how dates are written"),
        (("--label-from", "Folder"), "--label-from must be folder, or how names are made"),
        (("--date", "when"), "leave out --date, or give a table of the files with --metadata"),
        (("--metadata", "no.csv"), "no.csv: there is no such file or folder"),
    ],
)
def test_refusals_name_the_options(speeches, tmp_path, given, said):
    assert said in refusal("explore", speeches, *given, "-o", tmp_path / "run")
    assert not (tmp_path / "run").exists()
