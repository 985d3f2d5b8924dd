"""``spheremix assign`` and ``update``: new documents, by a run that there is."""

from __future__ import annotations

import numpy as np
import pytest
from cli_common import refusal, rows, run, texts, write_lines
from news_common import event, quiet


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
    assert "24 documents were added to 90. Groups keep their numbers." in out
    old, new = rows(explored / "documents.csv"), rows(tmp_path / "later" / "documents.csv")
    assert [one["id"] for one in new[:90]] == [one["id"] for one in old]
    line = refusal("update", explored, source, "-o", explored)
    assert "-o is the folder of the run that is updated" in line


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
    assert "is a folder: name a file in it" in refusal("assign", explored, corpus, "-o", tmp_path)
    assert "no column 'body'" in refusal("assign", explored, corpus, "--text", "body")
