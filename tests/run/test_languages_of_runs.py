"""Languages are found where none is given, told in one remark, and kept with the run."""

from __future__ import annotations

import pytest

import spheremix as sm
from spheremix.run import Listener

GERMAN = [
    "Die Suppe und das Brot sind heiß, und der Käse ist auf dem Tisch.",
    "Der Käse auf dem Brot ist gut, aber die Suppe ist nicht heiß.",
    "Das Schiff ist auf dem Meer, und der Hafen ist nicht zu sehen.",
    "Der Hafen und das Meer sind ruhig, aber das Schiff ist alt.",
]
ENGLISH = [
    "The war was long and the soldiers were tired of the war.",
    "The soldiers of the king were in the war for a long time.",
    "The garden of the house was full of the flowers of the spring.",
    "In the spring the flowers of the garden are before the house.",
]
OPTIONS = {"k": 2, "starts": 1, "min_count": 1, "min_df": 1, "max_df": 1.0, "max_steps": 9}


class Told(Listener):
    """Hears everything."""

    def __init__(self):
        self.said = []

    def inform(self, text):
        self.said.append(text)


def explore(texts, folder, **options):
    told = Told()
    run = sm.explore_corpus(texts, folder, listener=told, **OPTIONS, **options)
    return run, [one for one in told.said if "Documents are in" in one or "documents are in" in one]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return explore([*ENGLISH, *GERMAN], tmp_path_factory.mktemp("languages") / "run")[0]


def test_one_other_language_is_taken_and_told(tmp_path):
    run, said = explore(GERMAN, tmp_path / "run")
    assert said == ["Most documents are in German, and are read so: language=de."]
    assert run.info.command["language"] == "de"
    assert not {"die", "und", "der", "das"}.intersection(run.feature_names)
    assert "language" not in run.documents
    assert explore(GERMAN, tmp_path / "run", language="de")[0].info.fit == run.info.fit


def test_english_is_nothing_to_tell(tmp_path):
    run, said = explore(ENGLISH, tmp_path / "run")
    assert said == []
    assert run.info.command["language"] is None


def test_two_languages_are_both_taken(run):
    assert "English (4) and German (4), and each is read in its own" in " ".join(
        run.info.corpus.notes
    )
    assert "war" in run.feature_names  # a stop word of the German texts alone
    assert not {"the", "was", "die", "und"}.intersection(run.feature_names)
    assert run.documents["language"] == ["en"] * 4 + ["de"] * 4


def test_a_language_that_is_given_is_taken(tmp_path):
    run, said = explore([*ENGLISH, *GERMAN], tmp_path / "run", language="en")
    assert said == []
    assert "und" in run.feature_names


def test_the_run_knows_its_languages(run, tmp_path):
    loaded = sm.load_run(run.folder)
    assert loaded.assign(["Das Brot und die Suppe"])["group"] == run.assign(["Brot Suppe"])["group"]
    new = [*ENGLISH[:2], "Le pain est sur la table et le vin est dans la cave."]
    updated = loaded.update(new, tmp_path / "more", listener=Told())
    assert updated.info.command["language"] == run.info.command["language"]
    edited = loaded.edit({"drop_words": ["king"]})
    assert "war" in edited.feature_names
    assert edited.documents["language"] == run.documents["language"]
