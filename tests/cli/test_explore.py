"""The command on one run: what explore writes and says, what assign and update make of it."""

from __future__ import annotations

import json
import re
import shutil

import numpy as np
import pytest
from cli_common import refusal, rows, run, texts, write_lines
from news_common import event, quiet
from scipy import sparse

from spheremix.reading import Reading
from spheremix.run.run import load_run


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
    aside = {one["id"]: one["set_aside"] for one in documents if one["group"] == ""}
    assert aside == {
        "doc 5": "no text",
        "doc 40": "no word but stop words, numbers or single letters",
    }
    kept = [one for one in documents if one["group"]]
    assert len(kept) == 88
    assert all(one["set_aside"] == "" for one in kept)
    assert all(0.0 <= float(one["margin"]) <= float(one["posterior"]) <= 1.0 for one in kept)
    assert all(one["second_group"] != one["group"] for one in kept)
    sizes = {one["group"]: int(one["size"]) for one in rows(explored / "groups.csv")}
    assert sizes == {k: sum(one["group"] == k for one in kept) for k in sizes}


def test_the_groups_are_the_topics(explored):
    found = load_run(explored)
    assert found.info.label_agreement["topic"].ari == 1.0
    assert found.info.n_groups == 3
    alone = {one["only_here_words"] for one in rows(explored / "groups.csv")}
    assert {frozenset(words.split(", ")) & {"boat", "star", "bread"} for words in alone} == {
        frozenset({"boat"}),
        frozenset({"star"}),
        frozenset({"bread"}),
    }


def test_the_run_is_what_the_tables_say(explored):
    found = load_run(explored)
    documents = rows(explored / "documents.csv")
    X = found.matrix()
    labels = [int(one["group"]) for one in documents if one["group"]]
    assert np.array_equal(found.mixture.predict(X), labels)
    assert np.array_equal(found.path.labels_, labels)
    posteriors = [float(one["posterior"]) for one in documents if one["group"]]
    read = Reading(found.path, found.feature_names).documents(X)
    assert posteriors == pytest.approx(read.posteriors, rel=1e-5)
    words = rows(explored / "words.csv")
    assert len(words) == found.path.n_nonzero_[found.path.selected_]
    steps = rows(explored / "tables" / "path.csv")
    assert len(steps) == len(found.path.betas_)
    assert [i for i, step in enumerate(steps) if step["selected"] == "1"] == [found.path.selected_]
    assert [one["n_groups"] for one in rows(explored / "tables" / "dense.csv")] == list("234")
    labelled = rows(explored / "tables" / "labels.csv")
    assert sum(int(one["documents"]) for one in labelled) == 88
    assert sum(int(one["documents"]) for one in rows(explored / "tables" / "time.csv")) == 88
    assert len(rows(explored / "tables" / "typical.csv")) == 30
    assert {path.name for path in explored.rglob(".*")} == {".lock"}


def test_the_documents_are_in_the_run(explored):
    corpus = load_run(explored).corpus()
    documents = list(texts())
    assert corpus.ids == [one["id"] for one in documents]
    assert corpus.texts[3] == documents[3]["text"]
    assert corpus.labels["topic"][3] == (documents[3]["topic"],)
    assert corpus.dates[3] == documents[3]["date"]


def test_run_json_says_how_to_repeat_it(explored):
    info = json.loads((explored / "run.json").read_text(encoding="utf-8"))
    assert info["command"]["k"] == [2, 3, 4]
    assert info["command"]["seed"] == 0
    assert info["corpus"]["checksum"] == info["command"]["checksum"]
    assert info["corpus"]["n_documents"] == 90
    assert {"spheremix", "numpy", "scipy", "scikit-learn", "kernels"} <= set(info["versions"])
    assert load_run(explored).rows.vectorization.thresholds.min_df == 2
    assert "threads" not in info["command"]


def test_the_summary_and_what_is_said_twice(explored, corpus):
    before = {p: p.read_bytes() for p in explored.rglob("*") if p.is_file()}
    command = ("explore", corpus, "-o", explored, "--k", "2:4", "--label", "topic", "--starts", 5)
    out, err = run(*command, "--threads", 1)
    assert "holds this run already, finished" in err
    assert re.search(r"^\S+ .*[Bb]oat.*  30  \w+, ", out, re.MULTILINE)
    lines = out.splitlines()
    assert lines[1].startswith("88 documents in 3 groups. Each keeps ")
    assert lines.index("", 3) == 3 + 3  # a line a group
    assert all(len(line) <= 80 for line in lines[:-1])
    assert lines[-1] == str(explored / "report.html")
    remarks = lines[lines.index("", 3) + 1 : -2]
    assert 1 <= len(remarks) <= 3
    assert "2 of 90 documents set aside" in " ".join(remarks)
    told = " ".join((explored / "README.txt").read_text(encoding="utf-8").split())
    assert "3 groups (by advice, 3 numbers tried)" in told
    assert "Agreement of the groups with the labels: 'topic' 1.00" in told
    for one in rows(explored / "groups.csv"):
        assert one["name"].split()[0] in out
        assert f"{one['group']} {one['name']} ({one['size']})" in told
    assert "Fitting" not in err
    assert {p: p.read_bytes() for p in explored.rglob("*") if p.is_file()} == before


def test_the_legend_is_true_of_the_run(explored):
    told = " ".join((explored / "README.txt").read_text(encoding="utf-8").split())
    for path in explored.iterdir():
        name = f"{path.name}/" if path.is_dir() else path.name
        assert name == "README.txt" or name in told, name
    assert "or three decimals if that is more" in told
    assert "even for texts of one word" in told
    assert "was chosen" not in told.partition("tables/dense.csv")[2].partition("agreement")[0]


def test_documents_have_the_name_of_their_group(explored, tmp_path):
    names = {one["group"]: one["name"] for one in rows(explored / "groups.csv")}
    new = write_lines(tmp_path / "new.jsonl", [*texts(9), {"text": "", "id": "none"}])
    run("assign", explored, new, "-o", tmp_path / "new.csv")
    for table in (explored / "documents.csv", tmp_path / "new.csv"):
        found = rows(table)
        assert list(found[0])[:4] == ["id", "date", "group", "name"]
        assert all(one["name"] == names.get(one["group"], "") for one in found)
        assert any(one["name"] == "" for one in found)


def test_words_of_all_groups_are_not_called_shared(explored):
    words = rows(explored / "words.csv")
    common = {one["word"] for one in words if one["n_groups"] == "3"}
    some = {one["word"] for one in words if one["n_groups"] == "2"}
    assert common
    found = [set(one["shared_words"].split()) for one in rows(explored / "groups.csv")]
    assert set().union(*found) == some
    assert not any(found_in & common for found_in in found)
    told = (explored / "README.txt").read_text(encoding="utf-8")
    listed = told.partition("Words of all groups: ")[2].partition("\n\n")[0]
    assert common & set(re.findall(r"\w+", listed))
    assert not common & set(re.findall(r"\w+", told.partition("\nGroups (")[2].partition("\n")[2]))


def test_another_run_is_refused_and_replaced_by_force(explored, tmp_path):
    folder = shutil.copytree(explored, tmp_path / "run")
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    other = write_lines(tmp_path / "other.jsonl", texts(seed=1))
    line = refusal("explore", other, "-o", folder, "--k", "2:4", "--starts", 5, "--label", "topic")
    assert "holds other files than those of a run: notes.txt: choose another place" in line
    forced = ("explore", other, "-o", folder, "--k", 2, "--force", "--label", "none")
    line = refusal(*forced)
    assert "holds other files than those of a run: notes.txt: choose another place" in line
    assert (folder / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert "a file of this name" in refusal("explore", other, "-o", folder / "notes.txt")
    (folder / "notes.txt").unlink()
    line = refusal("explore", other, "-o", folder, "--k", "2:4", "--starts", 5, "--label", "topic")
    assert "of other documents" in line
    assert "--force" in line
    assert load_run(folder).info.command["k"] == [2, 3, 4]
    run(*forced)
    assert load_run(folder).info.command["k"] == [2]
    assert not (folder / "tables" / "labels.csv").exists()


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
    assert "Each keeps " in out  # its columns are words
    assert "1 of 88 documents set aside" in out
    assert rows(tmp_path / "counts" / "documents.csv")[3]["set_aside"] == "empty row"
    np.save(tmp_path / "E.npy", found.matrix().toarray().astype(np.float32))
    out, _ = run("explore", tmp_path / "E.npy", "-k", 3, "-o", tmp_path / "dense")
    assert " columns.\n" in out
    typical = load_run(tmp_path / "dense").read_table("typical")
    assert f"  {typical['id'][0]}, " in out
    assert rows(tmp_path / "dense" / "words.csv")[0]["word"].startswith("x")
    assert "is for texts" in refusal("explore", tmp_path / "E.npy", "--weighting", "tfidf")
    assert "is for texts" in refusal("explore", tmp_path / "E.npy", "--label", "topic")
    new = write_lines(tmp_path / "new.jsonl", texts(9))
    line = refusal("assign", tmp_path / "dense", new)
    assert f"give one of {X.shape[1]} columns" in line
    assert line.endswith("; embed new texts with the same model.")
    assert "same model" not in refusal("assign", tmp_path / "counts", new)
    line = refusal(
        "assign", tmp_path / "dense", tmp_path / "E.npy", "--id", "name", "-o", new, "--force"
    )
    assert "no columns for --id" in line


# New documents


def test_assign_gives_documents_of_the_run_their_group(explored, corpus, tmp_path):
    out, _ = run("assign", explored, corpus, "-o", tmp_path / "new.csv")
    assert "88 documents assigned, 2 without a group" in out
    new, known = rows(tmp_path / "new.csv"), rows(explored / "documents.csv")
    for one, two in zip(new, known, strict=True):
        for name in ("id", "group", "second_group", "set_aside"):
            assert one[name] == two[name]
        if one["group"]:  # words of a row are added in another order
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
    known = {one["group"]: one["words"] for one in rows(explored / "groups.csv")}
    assert "boat" in known[found[0]["group"]]
    assert "telescope" in known[found[1]["group"]]
    reasons = [(one["group"], one["set_aside"]) for one in found[2:]]
    assert reasons == [("", "no text"), ("", "no word of the vocabulary")]
    assert "there already" in refusal("assign", explored, source, "-o", tmp_path / "new.csv")
    write_lines(source, new[2:])
    run("assign", explored, source, "-o", tmp_path / "new.csv", "--force")
    left = rows(tmp_path / "new.csv")
    assert [one["group"] for one in left] == ["", ""]
    assert list(left[0]) == list(found[0])


def test_assign_tells_what_is_new(explored, tmp_path):
    source = write_lines(tmp_path / "new.jsonl", [*quiet(), *event()])
    out, _ = run("assign", explored, source, "-o", tmp_path / "new.csv")
    assert "36 new documents compared with 88 of the past" in out
    assert "of 4 checks raise an alarm" in out
    assert "Of 100 batches in which nothing is new, at most about 5 raise an alarm." in out
    found = rows(tmp_path / "new.csv")
    assert {one["new_group"] for one in found[:24]} == {""}
    fits = [float(one["fit_p_value"]) for one in found if one["fit_p_value"]]
    assert all(0.0 < one <= 1.0 for one in fits)
    line = refusal("assign", explored, source, "-o", tmp_path / "b.csv", "--false-alarms", "2")
    assert "--false-alarms must be between 0.01 and 0.5, got 2" in line


def test_update_makes_a_run_of_old_and_new_documents(explored, tmp_path):
    source = write_lines(tmp_path / "new.jsonl", quiet())
    out, _ = run("update", explored, source, "-o", tmp_path / "later", "--threads", "1")
    assert "24 documents were added to 90. The new documents are like those of before." in out
    told = " ".join((tmp_path / "later" / "README.txt").read_text(encoding="utf-8").split())
    assert "24 documents were added to 90. Groups keep their numbers." in told
    old, new = rows(explored / "documents.csv"), rows(tmp_path / "later" / "documents.csv")
    assert [one["id"] for one in new[:90]] == [one["id"] for one in old]
    line = refusal("update", explored, source, "-o", explored)
    assert "-o is the folder of the run that is updated" in line


def test_assign_refuses_what_is_no_run_before_it_looks_at_the_output(corpus, explored, tmp_path):
    there, new = tmp_path / "there.csv", tmp_path / "new.csv"
    there.write_text("mine", encoding="utf-8")
    np.save(tmp_path / "E.npy", np.eye(4))
    for said, output, *arguments in (
        ("no such folder", there, tmp_path / "none", corpus),
        ("a file, not the folder of a run", there, corpus, explored),
        ("not a finished run", there, tmp_path, corpus),
        ("no such file", there, explored, tmp_path / "none.npy"),
        ("there already", there, explored, corpus),
        ("is a folder: name a file in it", tmp_path, explored, corpus),
        ("a run on texts", new, explored, tmp_path / "E.npy"),
        ("no column 'body'", new, explored, corpus, "--text", "body"),
    ):
        assert said in refusal("assign", *arguments, "-o", output)
    assert there.read_text(encoding="utf-8") == "mine"


def test_groups_of_a_codebook(corpus, tmp_path):
    codebook = tmp_path / "codebook.csv"
    codebook.write_text("group,words\nAt sea,boats anchor\nStars,planet krill\n", encoding="utf-8")
    how = ("-o", tmp_path / "run", "--seeds", codebook, "--starts", 2)
    _, said = run("explore", corpus, *how, "--free", 1)
    assert "'krill' (Stars)" in said
    names = [one["name"] for one in rows(tmp_path / "run" / "groups.csv")]
    assert names[:2] == ["At sea", "Stars"]
    assert len(names) == 3
    _, again = run("explore", corpus, *how, "--free", 1)
    assert "holds this run already" in again
    assert "search" in refusal("explore", corpus, *how, "--k", "2:5")
    codebook.write_text("topic,words\nAt sea,boats\n", encoding="utf-8")
    assert "'group'" in refusal("explore", corpus, *how)
