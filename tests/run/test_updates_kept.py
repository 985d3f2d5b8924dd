"""What updates must not lose: later edits, unknown words, columns, notes, dropped lines."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest
from cli_common import texts, write_lines
from edit_common import Told, contents, explore
from news_common import by_number, quiet
from spheremix.run.changes import updated
from spheremix.run.starting import complete_labels
from spheremix.run.store import as_edits
from spheremix.run.updating import update_run

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.run import adding, updating
from spheremix.run.names import LONGEST, carried_names
from spheremix.text import Corpus, ReadError


def copied(run, place):
    return sm.load_run(shutil.copytree(run.folder, place / "run"))


def strangers(n=12):
    return Corpus(["zebra xylophone quartz"] * n, [f"strange {i}" for i in range(n)])


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
    assert found.documents["cluster"] == after.documents["cluster"]


def test_after_a_merge_the_numbers_of_before_are_not_shown(after, tmp_path):
    edited = copied(after, tmp_path).edit({"merge": [[0, 1]]}, listener=Told())
    said = updated(edited).render()
    assert said.startswith("This run brings run up to date: 36 documents were added to 90.")
    for words in ("keep their numbers", "Sizes before", "changed group", "New: "):
        assert words not in said
    assert "Since then groups were merged, split or searched for anew" in said
    assert "size_before" not in edited.clusters


def test_groups_that_are_searched_anew_have_no_sizes_of_before(after, tmp_path):
    run, _ = explore(after.corpus(), copied(after, tmp_path).folder, k=2, force=True)
    assert run.edits().steps[0].update is not None
    assert "keep their numbers" not in updated(run).render()
    assert "size_before" not in run.clusters


def test_a_killed_edit_by_a_table_goes_on(base, tmp_path, monkeypatch):
    run = copied(base, tmp_path)
    table = tmp_path / "names.csv"
    table.write_text("cluster,name\n1,Second\n", encoding="utf-8")

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("spheremix.run.explore.write_tables", killed)
        with pytest.raises(KeyboardInterrupt):
            run.edit(table, listener=Told())
    assert not (run.folder / "run.json").exists()
    found = sm.run.editing.edit_run(run.folder, table, listener=Told())
    assert by_number(found, "name")[1] == "Second"
    assert len(found.edits().steps) == 2


# Documents that nothing can be compared with


def test_documents_of_unknown_words_get_a_group_of_their_own(base, tmp_path):
    found = base.update(strangers(), tmp_path / "strange", listener=Told())
    assert set(found.documents["cluster"][90:]) == {3}
    said = updated(found).render()
    assert "12 new documents have no word of the run before and could not be compared" in said
    assert "like those of before" not in said
    assert re.search(r"New: [a-z ]+ \(3\) with 12 documents", said)


def test_few_documents_of_unknown_words_start_in_the_largest_group():
    X = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert complete_labels(np.array([1, 1, 0, -1]), X).tolist() == [1, 1, 0, 1]
    found = updating.group_of_strangers(
        strangers(), np.arange(4), updating.ExploreOptions(), frozenset()
    )
    assert not len(found)


# The new file


def test_columns_that_the_new_file_lacks_are_empty(base, tmp_path):
    fresh = [{"id": one["id"], "text": one["text"]} for one in quiet(6)]
    path = write_lines(tmp_path / "new.jsonl", fresh)
    options = updating.ExploreOptions(date="date", label="topic")
    told = Told()
    found = adding._read(base, path, options, {}, told)
    assert found.dates is None
    assert found.labels == {}
    assert "There is no column 'date': the new documents have no date from it." in told.told
    assert "There is no column 'topic': the new documents have no label from it." in told.told
    with pytest.raises(ReadError, match="there is no column 'body'"):
        adding._read(base, path, options, {"text": "body"}, told)


def test_notes_of_the_new_file_are_told_and_those_of_the_old_one_are_not(base, tmp_path):
    fresh = [{**one, "date": "soon"} for one in quiet(6)]
    told = Told()
    found = base.update(write_lines(tmp_path / "new.jsonl", fresh), tmp_path / "out", listener=told)
    about = [line for line in told.told if "'date'" in line and "documents.csv" not in line]
    assert len(about) == 1
    assert "soon" in about[0]
    notes = found.manifest.corpus.notes
    assert f"Of the documents that were added: {about[0]}" in notes
    assert set(base.manifest.corpus.notes) <= set(notes)


def test_repeated_lines_stay_out_of_every_later_update(tmp_path):
    menu = "Home page and contact"
    first = [{**one, "text": f"{menu}\n{one['text']}"} for one in texts(30)]
    run, _ = explore(
        write_lines(tmp_path / "docs.jsonl", first),
        tmp_path / "run",
        drop_repeated_lines=True,
        max_steps=2,
    )
    assert run.manifest.prepared.dropped_lines == [menu]
    fresh = [{**one, "text": f"{menu}\n{one['text']}"} for one in quiet(6)]
    found = run.update(write_lines(tmp_path / "new.jsonl", fresh), listener=Told())
    assert found.manifest.prepared.dropped_lines == [menu]
    assert not any(menu in text for text in found.corpus().texts)


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
    assert "of other documents; with other names, notes or marks; from other groups" in said
    assert "choose another folder" in said
    assert "force" not in said
    assert "start is" not in said


def test_automatic_names_are_carried_as_names_that_can_be_given():
    found = carried_names(["a" * 163, "a" * 170, "b\x07c", "plain", "plain"])
    assert found == ["a" * LONGEST, f"{'a' * (LONGEST - 10)} (2)", "b c", "plain", "plain (2)"]


def test_an_update_of_too_many_documents_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("spheremix.run.store.MANIFEST_BYTES", 10)
    with pytest.raises(sm.RunError, match="explore old and new documents together"):
        as_edits(tmp_path / "edits.json", {"documents": ["1", "2", "3"]}, updating=True)
