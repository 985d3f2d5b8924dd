"""``spheremix report``, ``figures`` and ``check``: what is made of the folder of a run alone."""

from __future__ import annotations

import json
import shutil
import webbrowser

import numpy as np
import pytest
from cli_common import TOPICS, refusal, run, texts, write_lines
from edit_common import contents
from scipy import sparse

import spheremix as sm
from spheremix.reading.names import words_in
from spheremix.report.packing import plain, unpack
from spheremix.run import tables as run_tables
from spheremix.run.sentences import remarks

EXPLORE = ("--k", "2", "--starts", "2", "--max-steps", "30", "--lemmatizer", "none")


def answer(*arguments):
    """Run the command in this process; give what it says."""
    return run(*arguments)[0]


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """A file of 60 documents of two topics, of which one has no words."""
    written = [one for one in texts(90) if one["topic"] != "food"]
    rows = [{**one, "id": f"no {i}", "label": one.pop("topic")} for i, one in enumerate(written)]
    rows[5]["text"] = "12"
    return write_lines(tmp_path_factory.mktemp("documents") / "topics.jsonl", rows)


@pytest.fixture(scope="module")
def explored(documents, tmp_path_factory):
    """A run, and what the command said."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    return folder, answer("explore", documents, "-o", folder, *EXPLORE)


@pytest.fixture
def copy(explored, tmp_path):
    return shutil.copytree(explored[0], tmp_path / "run")


def content(path):
    """Return the content inside a page."""
    text = path.read_text("utf-8")
    return unpack(text.partition('id="content">')[2].partition("</script>")[0])


def test_explore_ends_with_the_report(explored, documents):
    folder, said = explored
    lines = said.splitlines()
    assert lines[-1] == str(folder / "report.html")
    assert lines[1].startswith("59 documents in 2 groups. Each keeps ")
    told = " ".join((folder / "README.txt").read_text("utf-8").split())
    for one in remarks(sm.load_run(folder)):  # what the summary has no room for
        assert " ".join(one.render().split()) in told
    found = content(folder / "report.html")
    saved = sm.load_run(folder)
    assert found["title"] == documents.stem
    assert found["corpus"]["set_aside"] == [["no 5", found["corpus"]["set_aside"][0][1]]]
    assert found["corpus"]["n_documents"] == 60
    assert found["documents"]["id"] == [f"no {i}" for i in range(60) if i != 5]
    [agreement] = found["model"]["agreement"]
    expected = saved.info.label_agreement[agreement["column"]]
    assert agreement["ari"] == pytest.approx(expected.ari)
    assert found["words"] == saved.feature_names
    assert found["forms"]["boat"] == saved.feature_names.index("boat")
    assert [one["n_groups"] for one in found["candidates"]] == [2]
    assert (found["documents"]["group"] == saved.mixture.labels_).all()
    assert dict(found["corpus"]["done"])["least documents with a word"] == "2"


def test_a_report_is_rendered_again_from_the_folder_alone(copy, tmp_path):
    page = copy / "report.html"
    before = page.read_bytes()
    page.unlink()
    assert "report.html" in answer("report", copy)
    assert page.read_bytes() == before
    answer("report", copy, "-o", tmp_path / "mine.html")
    assert (tmp_path / "mine.html").read_bytes() == before
    answer("report", copy, "-o", tmp_path / "mine.json")
    assert plain(content(page)) == json.loads((tmp_path / "mine.json").read_text("utf-8"))
    assert "there already" in refusal("report", copy, "-o", tmp_path / "mine.json")
    answer("report", copy, "-o", tmp_path / "mine.json", "--force")


def test_the_documents_are_points_of_other_programs(copy, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    answer("report", copy, "-o", tmp_path / "points.parquet")
    found = parquet.read_table(tmp_path / "points.parquet").to_pydict()
    known = content(copy / "report.html")
    documents = known["documents"]
    assert found["id"] == documents["id"]
    assert found["text"] == documents["text"]
    assert found["group"] == list(documents["group"])
    assert found["group_name"] == [known["names"][k] for k in documents["group"]]
    for name in ("x", "y"):
        assert found[name] == pytest.approx(
            [one / 65535 for one in known["layout"][name]], abs=1e-6
        )
    assert found["stability"] == pytest.approx(list(known["stability"]["documents"]))


def test_a_forced_run_leaves_no_report_of_another_one(copy, documents):
    before = (copy / "report.html").read_bytes()
    answer("explore", documents, "-o", copy, *EXPLORE, "--seed", "1", "--force")
    assert (copy / "report.html").read_bytes() != before
    assert content(copy / "report.html")["model"]["seed"] == 1


def test_figures_are_drawn_where_asked(copy, tmp_path):
    before = contents(copy)
    said = answer("figures", copy)
    there = {path.name for path in (copy / "figures").iterdir()}
    assert {"prototypes.svg", "words.png", "path.svg", "labels.svg", "timeline.svg"} <= there
    assert all(name in said for name in there)
    svg = (copy / "figures" / "prototypes.svg").read_text(encoding="utf-8")
    assert all(word in svg for topic in ("sea", "sky") for word in TOPICS[topic].split()[:4])
    assert sm.load_run(copy).check() == []
    answer("figures", copy, "-o", tmp_path / "drawn")
    assert {path.name for path in (tmp_path / "drawn").iterdir()} == there
    shutil.rmtree(copy / "figures")
    assert contents(copy) == before
    assert "there is no such folder" in refusal("figures", tmp_path / "gone")


# Check


def test_a_check_finds_what_was_changed(copy):
    said = answer("check", copy)
    assert said == f"{copy}: every file is as it was written.\n"
    (copy / "words.csv").write_text("mine", encoding="utf-8")
    (copy / "tables" / "path.csv").unlink()
    stage = next(path for path in (copy / "cache").iterdir() if path.name.startswith("layout-"))
    first = min(stage.iterdir())
    first.write_bytes(first.read_bytes()[:-1] + b"!")
    for refit in ((), ("--refit",)):
        out, _ = run("check", copy, *refit, code=1)
        assert out.splitlines() == [
            "tables/path.csv: missing.",
            "words.csv: changed or damaged since it was written.",
            f"cache/{stage.name}: missing or damaged.",
        ]


@pytest.mark.parametrize("state", ["plain", "edited", "updated"])
def test_a_run_is_made_again_to_the_same_bytes(copy, tmp_path, state):
    folder = copy
    if state != "plain":
        edits = {"names": {0: "Zero"}, "split": [1], "drop_words": ["water"]}
        sm.load_run(copy).edit({**edits, "notes": {"documents": {"no 3": "odd"}}})
    if state == "updated":
        lines = [{"id": f"new {i}", "text": f"{TOPICS['sky']} {i}"} for i in range(8)]
        new = write_lines(tmp_path / "new.jsonl", lines)
        folder = tmp_path / "later" / "run"
        answer("update", copy, new, "-o", folder)
    before = contents(folder)
    said = answer("check", folder, "--refit", "--threads", 1)
    assert said == f"{folder}: every file is as it was written, and made again to the same bytes.\n"
    assert contents(folder) == before


def test_a_run_that_is_made_again_differs_where_it_was_forged(copy, monkeypatch):
    """Checksums too: only a fit tells."""
    names = iter(["forged"])
    table = run_tables.group_columns
    monkeypatch.setattr(
        run_tables, "group_columns", lambda *a: {**table(*a), "words": [next(names, "x")] * 2}
    )
    found = sm.load_run(copy)
    with found.store.locked():
        found.write()
    monkeypatch.undo()
    assert answer("check", copy)
    out, _ = run("check", copy, "--refit", code=1)
    assert out == "groups.csv: made again, it differs.\n"


def test_only_what_was_explored_can_be_made_again(tmp_path):
    mixture = sm.VMFMixture(2, n_init=1, random_state=0).fit(np.eye(4))
    folder = sm.save_run(tmp_path / "run", mixture)
    assert "every file is as it was written" in answer("check", folder)
    assert "only a run of spheremix explore can be made again" in refusal(
        "check", folder, "--refit"
    )


# Pages of every kind of run


def test_open_shows_the_page_in_the_browser(copy, documents, monkeypatch):
    shown = []
    monkeypatch.setattr(webbrowser, "open", lambda where: bool(shown.append(where)))
    answer("report", copy, "--open")
    answer("explore", documents, "-o", copy, *EXPLORE, "--open")
    assert shown == [(copy / "report.html").resolve().as_uri()] * 2


@pytest.mark.parametrize("name", ["documents", "rows", "path"])
def test_a_damaged_run_is_refused_in_a_line(copy, name):
    stage = next(path for path in (copy / "cache").iterdir() if path.name.startswith(f"{name}-"))
    path = min(stage.iterdir())
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    before = (copy / "report.html").read_bytes()
    line = refusal("report", copy)
    assert line.startswith(f"error: {stage}")
    assert "damaged" in line
    assert (copy / "report.html").read_bytes() == before


def test_what_is_no_run_and_no_report_is_refused(copy, tmp_path):
    assert "there is no such" in refusal("report", tmp_path / "gone")
    line = refusal("report", copy, "-o", tmp_path / "documents.csv")
    assert "a report is a file .html, .json or .parquet" in line


def test_runs_without_texts(tmp_path):
    rng = np.random.default_rng(0)
    X = np.eye(2)[np.arange(40) % 2] @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(40, 6))
    np.save(tmp_path / "embeddings.npy", X)
    answer("explore", tmp_path / "embeddings.npy", "-o", tmp_path / "run", "--k", "2")
    found = content(tmp_path / "run" / "report.html")
    assert found["kind"] == "coordinates"
    assert found["corpus"]["done"] == []
    sparse.save_npz(tmp_path / "counts.npz", sparse.csr_array(np.maximum(np.rint(10 * X), 0) + 1))
    (tmp_path / "vocabulary.txt").write_text("a\nb\nc\nd\ne\nf\n")
    words = ("--vocabulary", tmp_path / "vocabulary.txt")
    answer("explore", tmp_path / "counts.npz", "-o", tmp_path / "words", "--k", "2", *words)
    found = content(tmp_path / "words" / "report.html")
    assert found["kind"] == "words"
    assert found["words"] == list("abcdef")
    assert found["forms"] is None
    assert len(found["rows"]["indptr"]) == 41


def test_embeddings_with_texts_have_the_words_of_the_run(documents, tmp_path):
    rng = np.random.default_rng(0)
    X = np.eye(2)[np.arange(60) % 2] @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(60, 6))
    np.save(tmp_path / "embeddings.npy", X)
    folder = tmp_path / "run"
    given = ("--texts", documents, "--meaning-only", "--k", "2,3")
    answer("explore", tmp_path / "embeddings.npy", *given, "-o", folder)
    found, saved = content(folder / "report.html"), sm.load_run(folder)
    for k, words in enumerate(saved.contrast()):
        listed = [word for word, _ in found["contrast"][k]]
        assert listed[: len(words)] == words[: len(listed)]
        assert set(words_in(found["names"][k])) <= set(words)
        assert found["names"][k] == saved.reading.group_name(k)
    # What was counted for the run serves for the other numbers of groups.
    assert all(group["words"] for one in found["candidates"] for group in one["groups"])


def test_saved_models_without_rows_or_path(tmp_path):
    X, _, _ = sm.datasets.make_vmf_mixture(90, 5, 2, kappa=20.0, random_state=0)
    mixture = sm.VMFMixture(2, n_init=2, random_state=0).fit(X)
    sm.save_run(tmp_path / "bare", mixture)
    found = sm.Report.from_run(sm.load_run(tmp_path / "bare")).content
    assert found["documents"] is None
    assert found["title"] == "bare"
    table = {"id": [f"row {i}" for i in range(90)]}
    sm.save_run(tmp_path / "rows", mixture, X=X, documents=table, feature_names="abcde")
    found = sm.Report.from_run(sm.load_run(tmp_path / "rows"), title="Rows").content
    assert found["documents"]["id"] == table["id"]
    assert found["title"] == "Rows"
    assert found["kind"] == "words"


def test_force_without_a_file_to_replace_is_refused(explored):
    folder, _ = explored
    before = (folder / "report.html").stat().st_mtime_ns
    line = refusal("report", folder, "--force")
    assert line == "error: --force replaces the file of -o: leave it out."
    assert (folder / "report.html").stat().st_mtime_ns == before
