"""Runs brought up to date: groups stay who they are, new ones are added, nothing is lost."""

from __future__ import annotations

import re
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from cli_common import run as command
from cli_common import texts, write_lines
from edit_common import Told, contents, explore
from news_common import by_number, quiet

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.run import update as updating
from spheremix.run.names import LONGEST, taken_over_names
from spheremix.run.new_documents import read_new
from spheremix.run.options import ExploreOptions
from spheremix.run.sentences import updated
from spheremix.run.stages.dense import complete_labels
from spheremix.run.update import update_run
from spheremix.text import Corpus, ReadError


def copied(run, place):
    return sm.load_run(shutil.copytree(run.folder, place / "run"))


def unknown_documents(n=12):
    return Corpus(["zebra xylophone quartz"] * n, [f"strange {i}" for i in range(n)])


def test_groups_keep_numbers_names_notes_and_marks(base, after):
    assert len(after.mixture.weights_) == 4
    assert after.documents["group"][:90] == base.documents["group"]
    names, before = by_number(after, "name"), by_number(base, "name")
    assert {k: names[k] for k in range(3)} == before
    assert before[0] == "First"
    assert by_number(after, "note")[1] == "look again"
    assert after.documents["note"][3] == "odd"
    assert after.documents["misplaced"][5] == 1


def test_a_new_group_has_the_documents_of_the_event_and_its_own_words(base, after):
    groups = after.documents["group"]
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
    assert again.documents["group"][:126] == after.documents["group"]
    assert by_number(again, "name") == by_number(after, "name")
    first, second = (one.colours for one in (after, again))
    assert first == second
    edited = again.edit({"names": {3: "Politics"}}, listener=Told())
    assert by_number(edited, "name")[3] == "Politics"
    assert "brings run up to date" in updated(edited).render()
    assert by_number(edited.undo_edits(), "name") == by_number(after, "name")
    with pytest.raises(sm.RunError, match="an update is not taken back: the run before it is"):
        edited.undo_edits()


def test_the_run_before_is_only_read_and_an_update_is_made_once(base, news, after, tmp_path):
    before, out = contents(base.folder), copied(after, tmp_path).folder
    told = Told()
    base.update(news, out, listener=told)
    assert any("finished" in line for line in told.begun)
    assert contents(out) == contents(after.folder)
    assert contents(base.folder) == before
    assert base.check() == after.check() == []


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


def plain(X):
    """Return rows of one view."""
    return SimpleNamespace(X=X, meaning=None)


def test_rows_without_a_group_start_in_the_nearest():
    X = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.8, 0.2], [0.1, 0.9]])
    labels = np.array([0, 0, 1, -1, -1])
    assert complete_labels(labels, plain(X)).tolist() == [0, 0, 1, 0, 1]
    assert labels.tolist() == [0, 0, 1, -1, -1]


# Edits after an update


def test_edits_after_an_update_stay_or_the_update_is_refused(base, news, after, tmp_path):
    before, later = copied(base, tmp_path / "base"), copied(after, tmp_path / "after")
    later = later.edit({"names": {3: "Politics"}, "notes": {"groups": {3: "watch"}}})
    known = contents(later.folder)
    told = Told()
    again = update_run(before.folder, news, later.folder, listener=told)  # it is done already
    assert any("finished" in line for line in told.begun)
    assert by_number(again, "name")[3] == "Politics"
    before.edit({"names": {2: "Third"}}, listener=Told())
    with pytest.raises(sm.RunError, match=r"holds a run that was edited.*choose another folder"):
        update_run(before.folder, news, later.folder, listener=Told())
    assert contents(later.folder) == known


def test_a_name_given_to_the_run_before_comes_with_the_next_update(base, news, after, tmp_path):
    before, out = copied(base, tmp_path / "base"), copied(after, tmp_path / "after").folder
    before.edit({"names": {2: "Third"}}, listener=Told())
    told = Told()
    found = update_run(before.folder, news, out, listener=told)
    assert by_number(found, "name")[2] == "Third"
    assert found.documents["group"] == after.documents["group"]


def test_after_a_merge_the_numbers_of_before_are_not_shown(after, tmp_path):
    edited = copied(after, tmp_path).edit({"merge": [[0, 1]]}, listener=Told())
    said = updated(edited).render()
    assert said.startswith("This run brings run up to date: 36 documents were added to 90.")
    for words in ("keep their numbers", "Sizes before", "changed group", "New: "):
        assert words not in said
    assert "Since then groups were merged, split or searched for anew" in said
    assert "size_before" not in edited.groups


def test_groups_that_are_searched_anew_have_no_sizes_of_before(after, tmp_path):
    run, _ = explore(after.corpus(), copied(after, tmp_path).folder, k=2, force=True)
    assert run.edits[0].update is not None
    assert "keep their numbers" not in updated(run).render()
    assert "size_before" not in run.groups


# Documents that nothing can be compared with


def test_documents_of_unknown_words_get_a_group_of_their_own(base, tmp_path):
    found = base.update(unknown_documents(), tmp_path / "strange", listener=Told())
    assert set(found.documents["group"][90:]) == {3}
    said = updated(found).render()
    assert "12 new documents have no word of the run before and could not be compared" in said
    assert "like those of before" not in said
    assert re.search(r"New: [A-Za-z ·]+ \(3\) with 12 documents", said)


def test_few_documents_of_unknown_words_start_in_the_largest_group():
    X = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert complete_labels(np.array([1, 1, 0, -1]), plain(X)).tolist() == [1, 1, 0, 1]
    found = updating.group_without_known_words(
        unknown_documents(), np.arange(4), ExploreOptions(), frozenset()
    )
    assert not len(found)


# The new file


def test_columns_that_the_new_file_lacks_are_empty(base, tmp_path):
    fresh = [{"id": one["id"], "text": one["text"]} for one in quiet(6)]
    path = write_lines(tmp_path / "new.jsonl", fresh)
    wanted = ExploreOptions(date="date", label="topic").reading()
    told = Told()
    found = read_new(base, path, told, wanted, {})
    assert found.dates is None
    assert found.labels == {}
    assert "There is no column 'date': the new documents have no date from it." in told.told
    assert "There is no column 'topic': the new documents have no label from it." in told.told
    with pytest.raises(ReadError, match="there is no column 'body'"):
        read_new(base, path, told, {**wanted, "text": "body"}, {})


def test_a_folder_with_a_table_of_its_files_is_updated_with_and_without_one(tmp_path):
    def folder(name, found):
        found = list(found)
        (tmp_path / name).mkdir()
        for one in found:
            (tmp_path / name / f"{one['id']}.txt").write_text(one["text"], encoding="utf-8")
        columns = [{"file": f"{one['id']}.txt", "day": one["date"]} for one in found]
        return tmp_path / name, write_lines(tmp_path / f"{name}.jsonl", columns)

    docs, about = folder("docs", texts(30))
    old, _ = explore(docs, tmp_path / "run", metadata=about, date="day", max_steps=2)
    new, table = folder("new", quiet(6))
    told = Told()
    found = old.update(new, tmp_path / "bare", listener=told)
    assert found.corpus().dates[-6:] == [None] * 6
    said = "The new files have no date from a table: give one with metadata."
    assert said in told.told
    how = ("--metadata", table, "-o", tmp_path / "dated", "--threads", 1)
    command("update", old.folder, new, *how)
    assert sm.load_run(tmp_path / "dated").corpus().dates[-6:] == [x["date"] for x in quiet(6)]


def test_notes_of_the_new_file_are_told_and_those_of_the_old_one_are_not(base, tmp_path):
    fresh = [{**one, "date": "soon"} for one in quiet(6)]
    told = Told()
    found = base.update(write_lines(tmp_path / "new.jsonl", fresh), tmp_path / "out", listener=told)
    about = [line for line in told.told if "'date'" in line and "documents.csv" not in line]
    assert len(about) == 1
    assert "soon" in about[0]
    notes = found.info.corpus.notes
    assert f"Of the documents that were added: {about[0]}" in notes
    assert set(base.info.corpus.notes) <= set(notes)


def test_repeated_lines_stay_out_of_every_later_update(tmp_path):
    menu = "Home page and contact"
    first = [{**one, "text": f"{menu}\n{one['text']}"} for one in texts(30)]
    run, _ = explore(
        write_lines(tmp_path / "docs.jsonl", first),
        tmp_path / "run",
        max_steps=2,
    )
    assert run.rows.dropped_lines == [menu]
    fresh = [{**one, "text": f"{menu}\n{one['text']}"} for one in quiet(6)]
    found = run.update(write_lines(tmp_path / "new.jsonl", fresh), listener=Told())
    assert found.rows.dropped_lines == [menu]
    assert all(menu in text for text in found.corpus().texts)  # texts stay whole
    assert "contact" not in found.feature_names


# Folders, names and sizes


def test_a_run_in_this_folder_is_updated_beside_it(base, tmp_path, monkeypatch):
    run = copied(base, tmp_path)
    monkeypatch.chdir(run.folder)
    known = sm.load_run(".")
    assert updating._output(known, None) == tmp_path.resolve() / "run-updated"
    with pytest.raises(ParameterError, match="out is in the folder of the run that is updated"):
        update_run(".", ["a boat"], "inside")
    assert updating._output(base, None).name == "run-updated"


def test_a_folder_with_another_update_names_remedies_that_there_are(base, after, tmp_path):
    out = copied(after, tmp_path).folder
    with pytest.raises(sm.RunError) as refused:
        base.update([one["text"] for one in quiet(6)], out, listener=Told())
    said = str(refused.value)
    assert "of other documents; from other groups; with other names, notes or marks" in said
    assert "choose another folder" in said
    assert "force" not in said
    assert "start is" not in said


def test_automatic_names_are_carried_as_names_that_can_be_given():
    found = taken_over_names(["a" * 163, "a" * 170, "b\x07c", "plain", "plain"])
    assert found == ["a" * LONGEST, f"{'a' * (LONGEST - 10)} (2)", "b c", "plain", "plain (2)"]
