"""The command: what it writes, says and refuses, on real files."""

from __future__ import annotations

import csv
import gzip
import json
import re
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("typer")
pytest.importorskip("rich")

from typer.testing import CliRunner

from spheremix.cli.console import Progress, duration, printable
from spheremix.cli.main import app
from spheremix.cli.options import Options, parse_df, parse_k, parse_kappa
from spheremix.explore import Reading
from spheremix.io import RunError, load_run
from spheremix.text import read_documents

TOPICS = {
    "sea": "boat harbour sailor wave anchor island fish storm",
    "sky": "star planet moon telescope comet orbit galaxy eclipse",
    "food": "bread cheese soup pepper kitchen recipe onion butter",
}
SHARED = "people morning story little number place world water"


def run(*arguments, code=0):
    """Run the command in this process; give its output, and its remarks."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert found.exit_code == code, found.output
    assert "Traceback" not in found.output
    return found.stdout, found.stderr


def refusal(*arguments):
    """Run a command that must be refused; give its one line."""
    out, err = run(*arguments, code=2)
    assert out == ""
    lines = [line for line in err.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1
    assert err.splitlines()[-1] == lines[0]
    return lines[0]


def texts(n=90, seed=0):
    rng = np.random.default_rng(seed)
    for i in range(n):
        topic = list(TOPICS)[i % 3]
        words = [*rng.choice(TOPICS[topic].split(), 9), *rng.choice(SHARED.split(), 5)]
        yield {
            "id": f"doc {i}",
            "text": " ".join(words),
            "topic": topic,
            "date": f"20{10 + i % 4}-0{1 + i % 9}-11",
        }


def write_lines(path, documents):
    lines = (json.dumps(document, ensure_ascii=False) for document in documents)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    documents = list(texts())
    documents[5]["text"] = ""
    documents[40]["text"] = "the 12 of ..."
    return write_lines(tmp_path_factory.mktemp("cli") / "docs.jsonl", documents)


@pytest.fixture(scope="module")
def explored(corpus):
    folder = corpus.parent / "run"
    run("explore", corpus, "-o", folder, "--k", "2:4", "--label", "topic", "--starts", 5)
    return folder


# What explore writes and says


def test_documents_add_up(explored):
    documents = rows(explored / "documents.csv")
    assert [one["id"] for one in documents] == [f"doc {i}" for i in range(90)]
    aside = {one["id"]: one["set_aside"] for one in documents if one["cluster"] == ""}
    assert aside == {
        "doc 5": "no text",
        "doc 40": "no word but stop words, numbers or single letters",
    }
    kept = [one for one in documents if one["cluster"]]
    assert len(kept) == 88
    assert all(one["set_aside"] == "" for one in kept)
    assert all(0.0 <= float(one["margin"]) <= float(one["posterior"]) <= 1.0 for one in kept)
    assert all(one["runner_up"] != one["cluster"] for one in kept)
    sizes = {one["cluster"]: int(one["size"]) for one in rows(explored / "clusters.csv")}
    assert sizes == {k: sum(one["cluster"] == k for one in kept) for k in sizes}


def test_the_clusters_are_the_topics(explored):
    found = load_run(explored)
    assert found.info["agreement"]["ari"] == 1.0
    assert found.info["best_n_components"] == 3
    own = {one["own_words"] for one in rows(explored / "clusters.csv")}
    assert {frozenset(words.split()) & {"boat", "star", "bread"} for words in own} == {
        frozenset({"boat"}),
        frozenset({"star"}),
        frozenset({"bread"}),
    }


def test_the_run_is_what_the_tables_say(explored):
    found = load_run(explored)
    documents = rows(explored / "documents.csv")
    X = found.matrix()
    labels = [int(one["cluster"]) for one in documents if one["cluster"]]
    assert np.array_equal(found.mixture.predict(X), labels)
    assert np.array_equal(found.path.labels_, labels)
    posteriors = [float(one["posterior"]) for one in documents if one["cluster"]]
    read = Reading(found.path, found.feature_names).documents(X)
    assert posteriors == pytest.approx(read.posteriors, rel=1e-5)
    words = rows(explored / "words.csv")
    assert len(words) == found.path.n_nonzero_[found.path.selected_]
    steps = rows(explored / "tables" / "path.csv")
    assert len(steps) == len(found.path.betas_)
    assert [i for i, step in enumerate(steps) if step["selected"] == "1"] == [found.path.selected_]
    assert [one["n_components"] for one in rows(explored / "tables" / "dense.csv")] == list("234")
    labelled = rows(explored / "tables" / "labels.csv")
    assert sum(int(one["documents"]) for one in labelled) == 88
    assert sum(int(one["documents"]) for one in rows(explored / "tables" / "time.csv")) == 88
    assert len(rows(explored / "tables" / "typical.csv")) == 30
    assert not (explored / "progress").exists()
    assert not list(explored.rglob(".*"))


def test_the_documents_are_in_the_run(explored):
    corpus = load_run(explored).corpus()
    documents = list(texts())
    assert corpus.ids == [one["id"] for one in documents]
    assert corpus.texts[3] == documents[3]["text"]
    assert corpus.labels[3] == (documents[3]["topic"],)
    assert str(corpus.dates[3]) == documents[3]["date"]
    found = load_run(explored)
    found.reader.entries["corpus.jsonl.gz"]["unpacked"] -= 1
    with pytest.raises(RunError, match="longer than it was said"):
        found.corpus()


def test_run_json_says_how_to_repeat_it(explored):
    info = json.loads((explored / "run.json").read_text(encoding="utf-8"))
    assert info["command"]["k"] == "2:4"
    assert info["command"]["seed"] == 0
    assert info["corpus"]["checksum"] == info["command"]["checksum"]
    assert info["corpus"]["n_documents"] == 90
    assert {"spheremix", "numpy", "scipy", "scikit-learn", "kernels"} <= set(info["versions"])
    assert info["vectorizer"]["thresholds"]["min_df"] == 2
    assert "threads" not in info["command"]


def test_the_summary_and_what_is_said_twice(explored, corpus):
    before = {p: p.read_bytes() for p in explored.rglob("*") if p.is_file()}
    command = ("explore", corpus, "-o", explored, "--k", "2:4", "--label", "topic", "--starts", 5)
    out, err = run(*command, "--threads", 1)
    assert "holds this run already, finished" in out
    assert "K = 3 (by EBIC, 3 tried)" in out
    assert "ARI 1.000" in out
    assert "2 of 90 documents set aside" in out
    assert re.search(r"^\s+30\s+\d+  .*boat", out, re.MULTILINE)
    assert "spheremix assign" in out
    for name in ("clusters.csv", "documents.csv", "words.csv", "README.txt"):
        assert f"{explored / name}: " in out
    for one in rows(explored / "clusters.csv"):
        assert one["name"].split()[0] in out
    assert "Fitting" not in err
    assert {p: p.read_bytes() for p in explored.rglob("*") if p.is_file()} == before


def test_a_missing_legend_is_written_again(explored, corpus, tmp_path):
    folder = shutil.copytree(explored, tmp_path / "run")
    (folder / "README.txt").unlink()
    command = ("explore", corpus, "-o", folder, "--k", "2:4", "--label", "topic", "--starts", 5)
    run(*command)
    assert (folder / "README.txt").read_bytes() == (explored / "README.txt").read_bytes()
    assert "shared_words" in (folder / "README.txt").read_text(encoding="utf-8")


def test_another_run_is_refused_and_replaced_by_force(explored, corpus, tmp_path):
    folder = shutil.copytree(explored, tmp_path / "run")
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    line = refusal("explore", corpus, "-o", folder, "--k", 2)
    assert "starts was 5 and is 10" in line
    assert "--force" in line
    other = write_lines(tmp_path / "other.jsonl", texts(seed=1))
    line = refusal("explore", other, "-o", folder, "--k", "2:4", "--starts", 5, "--label", "topic")
    assert "of other documents" in line
    assert load_run(folder).info["command"]["k"] == "2:4"
    assert not (folder / "progress").exists()
    run("explore", other, "-o", folder, "--k", 2, "--force", "--label", "none")
    assert load_run(folder).info["command"]["k"] == "2"
    assert not (folder / "tables" / "labels.csv").exists()
    assert (folder / "notes.txt").read_text(encoding="utf-8") == "mine"


def test_folders_with_other_files_are_left_alone(corpus, tmp_path):
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    assert "holds other files" in refusal("explore", corpus, "-o", tmp_path)
    assert "holds other files" in refusal("explore", corpus, "-o", tmp_path, "--force")
    assert "a file of this name" in refusal("explore", corpus, "-o", tmp_path / "thesis.txt")
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]


def test_progress_is_said_in_lines_without_a_terminal(corpus, tmp_path):
    _, err = run("explore", corpus, "-o", tmp_path / "run", "--k", 3, "--starts", 2)
    for said in (
        "Reading",
        "Counting the words of 90",
        "Fitting 3 clusters",
        "Following",
        "Writing",
    ):
        assert said in err
    assert "(guessed)" in err


def test_a_damaged_run_can_be_made_again(explored, corpus, tmp_path):
    folder = shutil.copytree(explored, tmp_path / "run")
    (folder / "words.csv").write_text("", encoding="utf-8")
    (folder / "path" / "values.npy").write_bytes(b"x")
    command = ("explore", corpus, "-o", folder, "--k", "2:4", "--label", "topic", "--starts", 5)
    _, err = run(*command, code=2)
    assert "values.npy: damaged" in err
    assert "--force" in err
    run(*command, "--force")
    for path in explored.rglob("*"):
        if path.is_file():
            assert (folder / path.relative_to(explored)).read_bytes() == path.read_bytes()


# Other kinds of input


def test_csv_folder_and_parquet(tmp_path):
    documents = list(texts(30))
    with gzip.open(tmp_path / "docs.csv.gz", "wt", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(documents[0]))
        table.writeheader()
        table.writerows(documents)
    for one in documents:
        path = tmp_path / "folder" / one["topic"] / f"{one['id']}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(one["text"], encoding="utf-8")
    sources = [tmp_path / "docs.csv.gz", tmp_path / "folder"]
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pd.DataFrame(documents).to_parquet(tmp_path / "docs.parquet")
    sources.append(tmp_path / "docs.parquet")
    for source in sources:
        out, _ = run("explore", source, "-o", tmp_path / f"run-{source.name}", "-k", 3)
        assert "30 documents" in out


def test_ready_matrices_and_embeddings(explored, tmp_path):
    found = load_run(explored)
    X = sparse.csr_array(found.matrix()).copy()
    X.data[X.indptr[3] : X.indptr[4]] = 0.0
    X.eliminate_zeros()
    sparse.save_npz(tmp_path / "X.npz", X)
    words = tmp_path / "words.txt"
    words.write_text("".join(f"{word}\n" for word in found.feature_names), encoding="utf-8")
    out, _ = run(
        *("explore", tmp_path / "X.npz", "--vocabulary", words, "-k", 3, "-o", tmp_path / "counts")
    )
    assert "boat" in out
    assert "1 of 88 documents set aside" in out
    assert rows(tmp_path / "counts" / "documents.csv")[3]["set_aside"] == "empty row"
    np.save(tmp_path / "E.npy", found.matrix().toarray().astype(np.float32))
    out, _ = run("explore", tmp_path / "E.npy", "-k", 3, "-o", tmp_path / "dense")
    assert "typical documents" in out
    assert rows(tmp_path / "dense" / "words.csv")[0]["word"].startswith("x")
    run("assign", tmp_path / "dense", tmp_path / "E.npy", "-o", tmp_path / "again.csv")
    again = (tmp_path / "again.csv").read_bytes()
    assert again == (tmp_path / "dense" / "documents.csv").read_bytes()
    assert "is for texts" in refusal("explore", tmp_path / "E.npy", "--weighting", "tfidf")
    assert "is for texts" in refusal("explore", tmp_path / "E.npy", "--label", "topic")
    new = write_lines(tmp_path / "new.jsonl", texts(9))
    assert "give one of 32 columns" in refusal("assign", tmp_path / "dense", new)
    line = refusal(
        "assign", tmp_path / "dense", tmp_path / "E.npy", "--id", "name", "-o", new, "--force"
    )
    assert "no columns for --id" in line
    bad = np.ones((5, 3))
    bad[2, 1] = np.nan
    np.save(tmp_path / "bad.npy", bad)
    line = refusal("explore", tmp_path / "bad.npy", "-o", tmp_path / "bad")
    assert "row 3" in line
    assert not (tmp_path / "bad").exists()


# Assign


def test_assign_gives_documents_of_the_run_their_cluster(explored, corpus, tmp_path):
    out, _ = run("assign", explored, corpus, "-o", tmp_path / "new.csv")
    assert "88 documents assigned, 2 without a cluster" in out
    new, known = rows(tmp_path / "new.csv"), rows(explored / "documents.csv")
    for one, two in zip(new, known, strict=True):
        for name in ("id", "cluster", "runner_up", "set_aside"):
            assert one[name] == two[name]
        if one["cluster"]:  # words of a row are added in another order
            for name in ("posterior", "margin", "log_odds", "cosine"):
                assert float(one[name]) == pytest.approx(float(two[name]), rel=1e-5)


def test_assign_new_documents(explored, tmp_path):
    new = [
        {"text": "A boat, a sailor and the harbours!"},
        {"text": "telescopes"},
        {"text": ""},
        {"text": "quantum zzz"},
    ]
    source = write_lines(tmp_path / "new.jsonl", new)
    run("assign", explored, source, "-o", tmp_path / "new.csv")
    found = rows(tmp_path / "new.csv")
    known = {one["cluster"]: one["own_words"] for one in rows(explored / "clusters.csv")}
    assert "boat" in known[found[0]["cluster"]]
    assert "telescope" in known[found[1]["cluster"]]
    reasons = [(one["cluster"], one["set_aside"]) for one in found[2:]]
    assert reasons == [("", "no text"), ("", "no word of the vocabulary")]
    assert "there already" in refusal("assign", explored, source, "-o", tmp_path / "new.csv")
    write_lines(source, new[2:])
    run("assign", explored, source, "-o", tmp_path / "new.csv", "--force")
    assert [one["cluster"] for one in rows(tmp_path / "new.csv")] == ["", ""]


def test_assign_checks_run_and_input_before_the_output(corpus, explored, tmp_path):
    there = tmp_path / "there.csv"
    there.write_text("mine", encoding="utf-8")
    assert "no such folder" in refusal("assign", tmp_path / "none", corpus, "-o", there)
    assert "no such file" in refusal("assign", explored, tmp_path / "none.csv", "-o", there)
    assert "there already" in refusal("assign", explored, corpus, "-o", there)


def test_assign_refuses_what_is_no_run(corpus, explored, tmp_path):
    assert "no such folder" in refusal("assign", tmp_path / "none", corpus)
    assert "a file, not the folder of a run" in refusal("assign", corpus, explored)
    assert "not a finished run" in refusal("assign", tmp_path, corpus)
    assert "no such file" in refusal("assign", explored, tmp_path / "none.npy")
    np.save(tmp_path / "E.npy", np.eye(4))
    assert "a run on texts" in refusal("assign", explored, tmp_path / "E.npy")
    assert "is a folder: name the table" in refusal("assign", explored, corpus, "-o", tmp_path)
    assert "no column 'body'" in refusal("assign", explored, corpus, "--text", "body")
    broken = shutil.copytree(explored, tmp_path / "run")
    (broken / "vocabulary.txt").write_text("x\n", encoding="utf-8")
    assert "vocabulary.txt: damaged" in refusal("assign", broken, corpus)


# Simulate, demo


def test_simulate(tmp_path):
    arguments = ("simulate", "-o", tmp_path / "one", "-n", 60, "-d", 5, "-k", 2, "--kappa", 20)
    out, _ = run(*arguments)
    assert "60 rows, 5 columns, 2 clusters" in out
    assert np.load(tmp_path / "one" / "X.npy").shape == (60, 5)
    truth = np.load(tmp_path / "one" / "truth.npz", allow_pickle=False)
    assert truth["prototypes"].shape == (2, 5)
    assert "there already" in refusal(*arguments)
    before = (tmp_path / "one" / "X.npy").read_bytes()
    run(*arguments, "--force")
    assert (tmp_path / "one" / "X.npy").read_bytes() == before
    assert "sparsity" in refusal("simulate", "-o", tmp_path / "two", "--sparsity", 2)


def test_demo_makes_sense(tmp_path):
    out, _ = run("demo", "-o", tmp_path / "demo")
    assert "K = 10" in out
    found = load_run(tmp_path / "demo")
    reading = Reading(found.path, found.feature_names)
    top = [{w.word for w in reading.vocabulary.words(k, 15, by="weight")} for k in range(10)]
    for word in ("polynomial", "cdf", "sparse", "fft"):
        assert sum(word in words for words in top) == 1, word
    assert found.info["agreement"]["ari"] > 0.2


# Documents of every kind


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
    clusters = [{one["cluster"] for one in found[i : i + 6]} for i in range(0, 36, 6)]
    assert [len(one) for one in clusters] == [1] * 6


def test_a_line_of_ten_megabytes(tmp_path):
    documents = list(texts(12))
    documents[3]["text"] += " storm" * 1_800_000
    source = write_lines(tmp_path / "docs.jsonl", documents)
    assert source.stat().st_size > 10_000_000
    run("explore", source, "-o", tmp_path / "run", "-k", 2, "--starts", 2)
    assert len(rows(tmp_path / "run" / "documents.csv")) == 12


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        (b"", [], "the file is empty"),
        (b"\n\n", [], "no documents"),
        (b'{"text": "a lonely sailor"}\n', [], "1 document with words: at least 4"),
        (b'{"text": "the same old story"}\n' * 30, [], "all the same"),
        (b'{"text": "the same old story"}\n' * 30, ["-k", "3"], "Lower --k to 1"),
        (b'{"text": ""}\n{"text": "..."}\n', [], "No word in 2 texts"),
        (b'{"text": "star"}\n' * 3 + b'{"text": "boat"}\n', ["-k", "9"], "Lower --k to 2"),
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
    assert not (tmp_path / "run").exists()


def test_one_document_where_it_is_asked_for(tmp_path):
    source = write_lines(tmp_path / "docs.jsonl", [{"text": "a lonely sailor"}])
    out, _ = run("explore", source, "-o", tmp_path / "run", "-k", 1)
    assert out.splitlines()[1].startswith("1 document . 2 words . K = 1")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--k", "0"], "--k must be 1 or more"),
        (["--k", "0:4"], "--k must be 1 or more"),
        (["--k", "5:2"], "--k must be a range that goes up, as 2:5"),
        (["--k", "many"], "--k must be a number of clusters, as 5, or a range, as 2:20"),
        (["--k", "2:"], "--k must be a number of clusters"),
        (["--k", "2:9999"], "--k must have 1,000 numbers at most"),
        (["--criterion", "best"], "--criterion must be one of aic"),
        (["--k-criterion", "best"], "--k-criterion must be one of aic"),
        (["--kappa", "big"], "--kappa must be shared, free or a number above 0"),
        (["--kappa", "-3"], "--kappa must be shared, free or a number above 0"),
        (["--kappa", "nan"], "--kappa must be shared, free or a number above 0"),
        (["--min-df", "few"], "--min-df must be a number of documents"),
        (["--min-df", "1.5"], "--min-df must be a share in [0, 1]"),
        (["--min-count", "0"], "--min-count must be an integer of at least 1"),
        (["--weighting", "heavy"], "--weighting must be one of counts"),
        (["--lemmatizer", "magic"], "--lemmatizer must be one of simplemma, none"),
        (["--language", "xx"], "no language 'xx'"),
        (["--language", "english"], "--language must be a code"),
        (["--vocabulary", "words.txt"], "is not a matrix"),
        (["--texts", "docs.csv"], "is not a matrix"),
        (["--starts", "0"], "--starts must be an integer of at least 1"),
        (["--max-steps", "0"], "--max-steps must be an integer of at least 1"),
    ],
)
def test_options_that_make_no_sense(tmp_path, options, words):
    """They are refused before the file is read: this one cannot be."""
    (tmp_path / "docs.jsonl").write_text("{", encoding="utf-8")
    _, err = run("explore", tmp_path / "docs.jsonl", "-o", tmp_path / "run", *options, code=2)
    assert words in err
    assert "Reading" not in err
    assert not (tmp_path / "run").exists()


def test_a_column_without_any_date_is_not_used(tmp_path):
    place = tmp_path / "docs.csv"
    place.write_text("text,date\nheart and blood,\nwing and flow,-\n", encoding="utf-8")
    found = read_documents(place)
    assert found.dates is None
    assert "Column 'date' has no date: it is not used." in found.notes
    assert not [note for note in found.notes if "read as the date" in note or " of 2" in note]


def test_an_unknown_kind_of_file(tmp_path):
    (tmp_path / "docs.xyz").write_text("x", encoding="utf-8")
    line = refusal("explore", tmp_path / "docs.xyz", "-o", tmp_path / "run")
    assert all(kind in line for kind in (".csv", ".parquet", ".npz", ".npy", ".mtx"))


def test_a_missing_file(tmp_path):
    line = refusal("explore", tmp_path / "none.csv", "-o", tmp_path / "run")
    assert line.endswith("none.csv: there is no such file or folder.")


# The command itself


@pytest.mark.parametrize("command", ["explore", "assign", "simulate", "demo"])
def test_help(command):
    out, _ = run(command, "--help")
    assert "--output" in out
    assert command in run("--help")[0]


def test_help_does_not_wait_for_heavy_libraries():
    code = """
import sys
sys.argv = ["spheremix", "explore", "--help"]
from spheremix.__main__ import main
try:
    main()
finally:
    print(sorted({"numpy", "scipy", "sklearn"} & set(sys.modules)))
"""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_version_and_wrong_usage():
    assert run("--version")[0].startswith("spheremix 0.")
    assert "Missing argument" in run("explore", code=2)[1]
    _, err = run("explore", "x", "--clusters", "3", code=2)
    assert "No such option" in err
    assert "--k" in err


def test_without_typer_it_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; from spheremix.__main__ import main; main()"
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == (
        'error: the command takes the package typer: pip install "spheremix[explore]"\n'
    )


def test_small_parts():
    assert parse_k("2:4") == [2, 3, 4]
    assert parse_k("7,3,3") == [3, 7]
    assert (parse_df("x", "5"), parse_df("x", "0.5"), parse_df("x", "50%")) == (5, 0.5, 0.5)
    assert parse_df("x", None) is None
    assert (parse_kappa("free"), parse_kappa("12")) == ("free", 12.0)
    assert (duration(3.2), duration(100), duration(9000)) == ("3 s", "2 min", "2.5 h")
    assert printable("a\x1b[0m\n") == "a?[0m?"
    sizes = {4: [2], 30: [2, 3], 300: list(range(2, 10)), 10**6: list(range(2, 21))}
    assert {n: Options().candidates(n, n) for n in sizes} == sizes


def test_time_left_is_that_of_the_stage(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    shown = Progress(None)
    shown.begin("Walking")
    now[0] = 30.0
    shown.update(0.25, "a quarter")
    assert capsys.readouterr().err.split("\n")[1].split() == [
        "25%",
        "a",
        "quarter",
        "about",
        "2",
        "min",
        "left",
    ]
