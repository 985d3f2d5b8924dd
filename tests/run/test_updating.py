"""Runs brought up to date: groups stay who they are, new ones are added, nothing is lost."""

from __future__ import annotations

import numpy as np
import pytest
from cli_common import write_lines
from edit_common import Told, contents
from news_common import by_number, quiet
from spheremix.run.changes import updated
from spheremix.run.starting import complete_labels
from spheremix.run.updating import update_run

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.text import ReadError


def test_groups_keep_numbers_names_notes_and_marks(base, after):
    assert len(after.mixture.weights_) == 4
    assert after.documents["cluster"][:90] == base.documents["cluster"]
    names, before = by_number(after, "name"), by_number(base, "name")
    assert {k: names[k] for k in range(3)} == before
    assert before[0] == "First"
    assert by_number(after, "note")[1] == "look again"
    assert after.documents["note"][3] == "odd"
    assert after.documents["misplaced"][5] == 1


def test_a_new_group_has_the_documents_of_the_event_and_its_own_words(base, after):
    groups = after.documents["cluster"]
    assert [one for one, k in zip(after.documents["id"], groups, strict=True) if k == 3] == [
        f"event {i}" for i in range(12)
    ]
    # Words that the run before did not know.
    assert {"election", "party"} & set(by_number(after, "words")[3].split(", "))
    assert "election" not in base.feature_names
    assert by_number(after, "size_before") == {**by_number(base, "size"), 3: 0}


def test_the_update_says_what_changed(base, after):
    said = updated(after).render()
    assert said.startswith("This run brings run up to date: 36 documents were added to 90.")
    assert "new group" in said
    assert f"First (0) {by_number(base, 'size')[0]} to {by_number(after, 'size')[0]}" in said
    assert f"New: {by_number(after, 'name')[3]} (3) with 12 documents" in said
    assert "0 of 90 documents of before changed group" in said
    readme = (after.folder / "README.txt").read_text("utf-8")
    assert said in " ".join(readme.split())
    assert updated(base) is None


def test_columns_of_new_documents_are_joined(after):
    corpus = after.corpus()
    assert corpus.ids[89:92] == ["doc 89", "new doc 0", "new doc 1"]
    assert corpus.labels["topic"][-1] == ("law",)
    assert corpus.dates[-1] == "2015-01-01"


@pytest.mark.slow
def test_an_updated_run_can_be_edited_and_updated_again(after, tmp_path):
    more = [{**one, "id": f"later {one['id']}"} for one in quiet(12, seed=3)]
    source = write_lines(tmp_path / "later.jsonl", more)
    again = update_run(after.folder, source, tmp_path / "again", listener=Told(), threads=1)
    assert again.documents["cluster"][:126] == after.documents["cluster"]
    assert by_number(again, "name") == by_number(after, "name")
    first, second = (one.edits().steps[0].update.colours for one in (after, again))
    assert first == second
    edited = again.edit({"names": {3: "Politics"}}, listener=Told())
    assert by_number(edited, "name")[3] == "Politics"
    assert "brings run up to date" in updated(edited).render()
    assert by_number(edited.undo_edits(), "name") == by_number(after, "name")
    with pytest.raises(sm.RunError, match="an update is not taken back: the run before it is"):
        edited.undo_edits()


def test_a_killed_update_goes_on_and_the_run_before_is_as_it_was(
    base, news, after, tmp_path, monkeypatch
):
    before = contents(base.folder)

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("spheremix.run.explore.place_documents", killed)
        with pytest.raises(KeyboardInterrupt):
            base.update(news, tmp_path / "run", listener=Told())
    assert contents(base.folder) == before
    base.update(news, tmp_path / "run", listener=Told())
    assert contents(base.folder) == before
    assert contents(tmp_path / "run") == contents(after.folder)
    told = Told()
    base.update(news, tmp_path / "run", listener=told)  # again: it is there already
    assert any("finished" in line for line in told.begun)


def test_without_an_event_there_is_no_new_group(base, tmp_path):
    fresh = [one["text"] for one in quiet()]
    corpus = sm.text.Corpus(fresh, [f"n{i}" for i in range(24)])
    found = base.update(corpus, tmp_path / "quiet", listener=Told())
    assert len(found.mixture.weights_) == 3
    assert "The new documents are like those of before" in updated(found).render()
    assert found.corpus().dates[-1] is None
    assert found.corpus().labels["topic"][-1] == ()


def test_what_cannot_be_updated_is_refused(base, tmp_path):
    with pytest.raises(ParameterError, match="out is the folder of the run that is updated"):
        base.update(["a boat"], base.folder)
    known = base.corpus().take([0, 1])
    with pytest.raises(ReadError, match="all of these documents are in the run already"):
        base.update(known, tmp_path / "none")
    other = sm.text.Corpus(["another text"], ["doc 0"])
    with pytest.raises(ReadError, match="the id 'doc 0' is that of another document of the run"):
        base.update(other, tmp_path / "none")
    X, _, _ = sm.datasets.make_vmf_mixture(60, 5, 2, kappa=20.0, random_state=0)
    saved = sm.save_run(tmp_path / "saved", sm.VMFMixture(2, random_state=0).fit(X), X=X)
    with pytest.raises(sm.RunError, match="was not made by spheremix explore and cannot"):
        update_run(saved, ["a boat"], tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_rows_without_a_group_start_in_the_nearest():
    X = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.8, 0.2], [0.1, 0.9]])
    labels = np.array([0, 0, 1, -1, -1])
    assert complete_labels(labels, X).tolist() == [0, 0, 1, 0, 1]
    assert labels.tolist() == [0, 0, 1, -1, -1]
