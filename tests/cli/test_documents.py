"""Documents of every kind: any format, script and length, and those that cannot be clustered."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest
from cli_common import TOPICS, refusal, rows, run, texts, write_lines
from readers_common import write_workbook

from spheremix.run.run import load_run


def test_a_sheet_of_a_workbook(tmp_path):
    pytest.importorskip("python_calamine")
    answers = [["answer", "section"], *([one["text"], one["topic"]] for one in texts(30))]
    path = write_workbook(tmp_path / "survey.xlsx", {"About": [["text"]], "Answers": answers})
    said = refusal("explore", path, "-o", tmp_path / "run", "--sheet", "answers")
    assert "there is no sheet 'answers'; there are 'About', 'Answers'." in said
    where = ("-o", tmp_path / "run", "--sheet", "Answers", "--text", "answer", "-k", 3)
    out, _ = run("explore", path, *where, "--label", "section")
    assert "30 documents" in out
    csv_file = tmp_path / "a.csv"
    csv_file.write_text("text\nhello\n", encoding="ascii")
    said = refusal("explore", csv_file, "-o", tmp_path / "other", "--sheet", "A")
    assert "--sheet is for workbooks (.xlsx), and this is a CSV file." in said


HOSTILE = {
    "hebrew": "שלום עולם טוב מאוד",
    "arabic": "مرحبا بالعالم الجميل جدا",
    "emoji": "party 😀 balloon 🎉 confetti music",
    "accents": "naïve café résumé olé",
    "nul": "engine\0wheel gear brake",
    "controls": "red\x1b[31m alarm \x07 bell",
}


def test_any_script_and_any_character(tmp_path):
    documents = [
        {"id": f"{name} \u202e\x1b[2J {i}", "text": f"{text} {text.split()[i % 3]}"}
        for name, text in HOSTILE.items()
        for i in range(6)
    ]
    source = write_lines(tmp_path / "docs.jsonl", documents)
    out, err = run("explore", source, "-o", tmp_path / "run", "--lemmatizer", "none", "-k", 6)
    assert "36 documents" in out
    assert "\x1b" not in out + err
    assert "replaced by spaces" in err
    found = rows(tmp_path / "run" / "documents.csv")
    assert [one["id"] for one in found] == [one["id"].replace("\0", " ") for one in documents]
    groups = [{one["group"] for one in found[i : i + 6]} for i in range(0, 36, 6)]
    assert [len(one) for one in groups] == [1] * 6


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        (b"", [], "the file is empty"),
        (b"\n\n", [], "no documents"),
        (
            b'{"text": "a lonely sailor"}\n',
            [],
            "At least 4 documents are needed",
        ),
        (
            b'{"text": "a lonely sailor"}\n',
            ["-k", "2"],
            "since there is 1 document with words: lower --k",
        ),
        (b'{"text": "the same old story"}\n' * 30, [], "all the same"),
        (b'{"text": "the same old story"}\n' * 30, ["-k", "3"], "lower --k to 1"),
        (b'{"text": ""}\n{"text": "..."}\n', [], "No word in 2 texts"),
        (b'{"text": "star"}\n' * 3 + b'{"text": "boat"}\n', ["-k", "9"], "lower --k to 2"),
        (b'{"text": "star"}\n' * 4, [], "there are 4 documents with words, all the same"),
        (b'{"text": "star"}\n{"text": \n', [], "line 2: broken JSON"),
        (b'{"text": "star"}\n{"text": "ol\xe9"}\n', [], "line 2: byte 0xe9 at offset"),
        (b'{"body": "star"}\n', ["--text", "words"], "no column 'words'"),
        (b'{"text": "star boat"}\n' * 9, ["--min-df", "10"], "--min-df 10 leaves 0"),
    ],
)
def test_documents_that_cannot_be_clustered(tmp_path, content, options, words):
    (tmp_path / "docs.jsonl").write_bytes(content)
    line = refusal("explore", tmp_path / "docs.jsonl", "-o", tmp_path / "run", *options)
    assert words in line
    assert not [path for path in tmp_path.rglob("run/*") if path.name not in {"cache", ".lock"}]


def test_one_document_where_it_is_asked_for(tmp_path):
    source = write_lines(tmp_path / "docs.jsonl", [{"text": "a lonely sailor"}])
    out, err = run("explore", source, "-o", tmp_path / "run", "-k", 1)
    assert out.splitlines()[1].startswith("1 document in 1 group. Each keeps ")
    assert "Counting the words of 1 document\n" in err
    out, _ = run("assign", tmp_path / "run", source, "-o", tmp_path / "new.csv")
    assert out.startswith("1 document assigned, 0 without a group.\n")
    np.save(tmp_path / "E.npy", np.ones((1, 3)))
    _, err = run("explore", tmp_path / "E.npy", "-o", tmp_path / "rows", "-k", 1)
    assert "Checking 1 row\n" in err


def test_repeats_are_said_and_typical_once(tmp_path):
    documents = list(texts(40))
    documents += [{**one, "id": f"again {one['id']}"} for one in documents]
    source = write_lines(tmp_path / "docs.jsonl", documents)
    _, err = run("explore", source, "-k", 2, "--starts", 2, "-o", tmp_path / "run")
    assert "40 documents of 80 repeat the text of another one, for example 'again " in err
    known = {one["id"]: one["text"] for one in documents}
    typical = [known[one["id"]] for one in rows(tmp_path / "run" / "tables" / "typical.csv")]
    assert len(typical) == len(set(typical)) == 20
    cosines = {one["id"]: float(one["cosine"]) for one in rows(tmp_path / "run" / "documents.csv")}
    for k in ("0", "1"):
        inside = [
            one["id"] for one in rows(tmp_path / "run" / "documents.csv") if one["group"] == k
        ]
        nearest = dict.fromkeys(known[i] for i in sorted(inside, key=lambda i: -cosines[i]))
        table = rows(tmp_path / "run" / "tables" / "typical.csv")
        listed = {known[one["id"]] for one in table if one["group"] == k}
        assert listed == set(list(nearest)[:10])


def test_progress_is_said_in_lines_and_counts_passes(tmp_path, monkeypatch):
    """Without a terminal."""
    monkeypatch.setattr("spheremix.cli.console.EVERY", 0.0)
    source = write_lines(tmp_path / "docs.jsonl", texts(30))
    _, err = run("explore", source, "-k", 2, "--starts", 2, "-o", tmp_path / "run")
    for said in ("Reading", "words of 30", "Fitting 2 groups", "Following", "Writing", "(guessed)"):
        assert said in err
    assert re.search(r"K = 2, 1 pass over the documents", err)
    assert re.search(r"K = 2, 2 passes over the documents", err)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], " (in 1 no word is left: words of at least 2 documents are kept; lower min_df)."),
        (
            ["--min-count", "5"],
            " (in 1 no word is left: words of at least 5 occurrences are kept; lower min_count).",
        ),
        (["--min-df", "1"], "."),
    ],
)
def test_the_summary_says_why_no_word_is_left(tmp_path, options, said):
    documents = list(texts(60))
    documents[3]["text"], documents[4]["text"] = "", "zeppelin zeppelin"
    source = write_lines(tmp_path / "docs.jsonl", documents)
    command = ("explore", source, "-k", 3, "--criterion", "none", "--starts", 2, *options)
    out, _ = run(*command, "-o", tmp_path / "run")
    [line] = [line for line in out.splitlines() if "set aside" in line]
    n = f"{1 if '--min-df' in options else 2} of 60 documents set aside"
    assert line.startswith(n)
    lower = said.partition("; lower ")[2].replace("min_", "--min-")
    assert line.endswith(f" (in 1 no word is left: lower {lower}" if lower else n + ".")
    told = " ".join((tmp_path / "run" / "README.txt").read_text(encoding="utf-8").split())
    assert f"{n}: see set_aside in documents.csv{said}" in told


def test_where_all_that_is_set_aside_has_one_reason(tmp_path):
    documents = list(texts(60))
    documents[4]["text"] = "zeppelin"
    source = write_lines(tmp_path / "docs.jsonl", documents)
    out, _ = run("explore", source, "-k", 3, "--starts", 2, "-o", tmp_path / "run")
    assert "1 of 60 documents set aside (no word is left: lower --min-df)." in out


def test_notes_name_the_number_of_groups_once_and_advise_options(tmp_path):
    rng = np.random.default_rng(0)
    rows = np.concatenate([np.ones((9, 5)), rng.normal(size=(30, 5))])
    np.save(tmp_path / "E.npy", rows)
    options = ("-k", "3,5", "--kappa", "free")
    _, err = run("explore", tmp_path / "E.npy", *options, "-o", tmp_path / "run")
    assert "Fitting 3 and 5 groups, 5 runs each\n" in err
    notes = [line for line in err.splitlines() if "at its cap" in line]
    assert notes
    for note in notes:
        assert note.startswith("A kappa of the mixture of K = ")
        assert note.endswith(": drop identical rows or give --kappa a number.")


def test_an_unknown_kind_of_file(tmp_path):
    (tmp_path / "docs.xyz").write_text("x", encoding="utf-8")
    line = refusal("explore", tmp_path / "docs.xyz", "-o", tmp_path / "run")
    assert all(kind in line for kind in (".csv", ".parquet", ".npz", ".npy", ".mtx"))


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ([2], "row 3 (counted from 1) has NaN or infinity: drop it"),
        ([2, 4, 5], "row 3 (counted from 1) and 2 more have NaN or infinity: drop them"),
    ],
)
def test_rows_that_are_not_finite(tmp_path, bad, said):
    vectors, place = np.ones((6, 4)), tmp_path / "bad.npy"
    vectors[bad, 1] = [np.nan, np.inf, -np.inf][: len(bad)]
    np.save(place, vectors)
    line = refusal("explore", place, "-o", tmp_path / "run")
    assert line == f"error: {place}: {said}."
    beside = write_lines(tmp_path / "docs.jsonl", texts(6))
    line = refusal("explore", place, "--texts", beside, "-o", tmp_path / "run")
    assert line == f"error: {place}: {said} here and in the documents."
    assert not (tmp_path / "run").exists()


# Folders of dated text files, and several labels

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
    assert "The groups are mostly the labels 'topic'." in out
    told = " ".join((tmp_path / "run" / "README.txt").read_text(encoding="utf-8").split())
    assert re.search(r"with the labels: 'desk' -?0\.\d\d; 'topic' 1\.00 ", told)
    found = load_run(tmp_path / "run")
    page = tmp_path / "run" / "report.html"
    before = page.read_bytes()
    run("report", tmp_path / "run")
    assert page.read_bytes() == before  # whatever the order in run.json
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
    names = list(TOPICS)
    lines = [{**one, "title": f"T{i}"} for i, one in enumerate(texts(30))]
    path = write_lines(tmp_path / "docs.jsonl", lines)
    noise = np.random.default_rng(0).normal(scale=0.1, size=(30, 6))
    X = np.eye(3, 6)[[names.index(one["topic"]) for one in lines]] + noise
    np.save(tmp_path / "E.npy", X.astype(np.float32))
    given = ("--texts", path, "--meaning-only", "--label", "topic", *QUICK)
    out, _ = run("explore", tmp_path / "E.npy", *given, "-o", tmp_path / "run")
    assert "30 documents in 3 groups, by 6 columns." in out
    found = load_run(tmp_path / "run")
    assert found.groups["name"][0] in out


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
