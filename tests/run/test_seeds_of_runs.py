"""Groups that are asked for: a codebook beside the documents of a run."""

from __future__ import annotations

import csv
import shutil

import numpy as np
import pytest
from listening import Told

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.run.explore import check_run
from spheremix.run.folder.store import Store
from spheremix.run.options import ExploreOptions
from spheremix.run.seeds import read_seeds
from spheremix.text import Corpus

common = pytest.importorskip("cli_common")

QUICK = {"starts": 3, "max_steps": 40, "min_df": 1, "threads": 2}
CODEBOOK = {"At sea": "Boats, anchor", "In the kitchen": ["bread", "soup", "krill"]}


def documents(n=90):
    each = list(common.texts(n))
    ids, texts = [one["id"] for one in each], [one["text"] for one in each]
    return Corpus(texts, ids, labels={"topic": [(one["topic"],) for one in each]})


def topics_of(run):
    """Return the topic of most documents of each group, and their share."""
    found = {}
    topics = np.array([one["topic"] for one in common.texts(90)])
    groups = np.array(run.documents["group"])
    for k, name in enumerate(run.names()):
        inside = topics[groups == k]
        most = max(set(inside), key=list(inside).count)
        found[name] = (most, float(np.mean(inside == most)))
    return found


def explore(folder, seeds=CODEBOOK, told=None, **options):
    hears = Told() if told is None else told
    return sm.explore_corpus(
        documents(), folder, listener=hears, seeds=seeds, **{**QUICK, **options}
    )


@pytest.fixture(scope="module")
def heard():
    return Told()


@pytest.fixture(scope="module")
def run(tmp_path_factory, heard):
    return explore(tmp_path_factory.mktemp("seeds") / "run", told=heard, free=1)


def test_groups_have_their_names_and_kind_of_texts(run):
    assert run.info.n_groups == 3
    assert run.names()[:2] == ["At sea", "In the kitchen"]
    assert [one.source for one in run.info.names] == ["seeds", "seeds", "spheremix"]
    found = list(topics_of(run).values())
    assert [topic for topic, _ in found] == ["sea", "food", "sky"]
    assert min(share for _, share in found) > 0.95
    assert run.path is not None


def test_the_order_is_that_of_the_codebook(tmp_path):
    turned = dict(reversed(CODEBOOK.items()))
    found = topics_of(explore(tmp_path / "run", turned, free=1))
    assert next(iter(found.items())) == ("In the kitchen", ("food", 1.0))


def test_words_that_are_not_there_are_named_with_their_group(heard):
    (said,) = [line for line in heard.told if "krill" in line]
    assert "(In the kitchen)" in said
    assert "Boats" not in said  # found as boat


def test_a_group_of_which_nothing_is_there_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"'Birds' is in the documents: 'heron'"):
        explore(tmp_path / "run", {**CODEBOOK, "Birds": "heron"})
    assert not (tmp_path / "run" / "run.json").exists()


def test_groups_that_get_no_row_are_named(tmp_path):
    with pytest.raises(ParameterError, match="seeds"):
        explore(tmp_path / "run", {"One": "boat", "Two": "boat"})


def test_ids_of_documents_ask_for_groups(tmp_path):
    seeds = {"Sky": {"ids": ["doc 1", "doc 4", "nobody"]}, "Sea": {"words": "boat"}}
    run = explore(tmp_path / "run", seeds, free=1, criterion="none")
    found = topics_of(run)
    assert (found["Sky"][0], found["Sea"][0]) == ("sky", "sea")
    other = {**seeds, "Sky": {"ids": ["doc 2", "doc 5"]}}
    again = explore(tmp_path / "run", other, free=1, criterion="none")
    assert topics_of(again)["Sky"][0] == "food"
    assert again.info.fit != run.info.fit
    with pytest.raises(ParameterError, match="'doc 1' is in two groups"):
        explore(tmp_path / "two", {"A": {"ids": ["doc 1"]}, "B": {"ids": ["doc 1"]}})


def test_other_seeds_are_another_fit_and_the_same_are_none(run, tmp_path):
    place = tmp_path / "run"
    shutil.copytree(run.folder, place)
    same = explore(place, free=1)
    assert same.info == run.info
    other = explore(place, {**CODEBOOK, "At sea": "sailor"}, free=1)
    assert other.info.fit != run.info.fit
    assert any(one.startswith("rows-") and one in run.info.stages for one in other.info.stages)
    renamed = explore(place, {"Waves": "sailor", "In the kitchen": ["bread", "soup"]}, free=1)
    assert renamed.info.fit == other.info.fit
    assert renamed.names()[0] == "Waves"


def test_a_heavier_seed_is_another_fit_and_stays_with_updates(run, tmp_path):
    place = tmp_path / "run"
    shutil.copytree(run.folder, place)
    heavier = explore(place, free=1, seed_weight=2)
    assert heavier.info.fit != run.info.fit
    assert heavier.mixture.seed_weight == heavier.path.seed_weight == 2.0
    more = Corpus(["boat boat anchor wave"], ["n1"])
    later = sm.load_run(place).update(more, tmp_path / "later", listener=Told())
    assert later.mixture.seed_weight == 2.0


def test_groups_that_are_fitted_again_after_edits_are_updated_without_seeds(run, tmp_path):
    place = tmp_path / "run"
    shutil.copytree(run.folder, place)
    heavier = explore(place, free=1, seed_weight=2)
    edited = heavier.edit({"drop_words": ["anchor"]}, listener=Told())
    later = edited.update(Corpus(["soup bread"], ["n1"]), tmp_path / "later", listener=Told())
    assert later.names()[:2] == run.names()[:2]


def test_made_again_it_is_the_same(run):
    assert check_run(run, refit=True, listener=Told()) == []


def test_an_interrupted_path_goes_on_with_its_seeds(run, tmp_path, monkeypatch):
    kept = []

    def put(store, name, *rest):
        whole(store, name, *rest)
        kept.append(name)
        if kept.count("checkpoint") == 3:
            raise KeyboardInterrupt

    whole = Store.put
    place, hears = tmp_path / "run", Told()
    with monkeypatch.context() as patch:
        patch.setattr(Store, "put", put)
        with pytest.raises(KeyboardInterrupt):
            explore(place, free=1, checkpoint=1e-9)
    assert explore(place, told=hears, free=1).info.outputs == run.info.outputs
    assert any(one.startswith("Following the path, from step") for one in hears.begun)


def test_names_stay_after_edits_and_updates(run, tmp_path):
    place = tmp_path / "run"
    shutil.copytree(run.folder, place)
    more = Corpus(["boat boat anchor wave", "soup bread onion cheese"], ["n1", "n2"])
    later = sm.load_run(place).update(more, tmp_path / "later", listener=Told())
    assert later.names()[:2] == run.names()[:2]
    assert later.documents["group"][-2:] == [0, 1]
    edited = sm.load_run(place).edit({"drop_words": ["anchor"]}, listener=Told())
    assert edited.names()[:2] == run.names()[:2]


def test_names_can_be_given_beside(tmp_path):
    run = explore(tmp_path / "run", names={0: "Ocean"}, free=1, criterion="none")
    assert run.names()[:2] == ["Ocean", "In the kitchen"]


def test_embeddings_have_no_words(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 5))
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(ParameterError, match="embeddings alone"):
        sm.explore_corpus(tmp_path / "X.npy", tmp_path / "run", seeds=CODEBOOK)


def test_ids_of_split_documents_are_refused(tmp_path):
    with pytest.raises(ParameterError, match="split"):
        explore(tmp_path / "run", {"A": {"ids": ["doc 1"]}}, split=5)


# What is asked


def write(path, *lines):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(lines)
    return path


def test_a_codebook_is_read(tmp_path):
    path = write(
        tmp_path / "codebook.csv",
        ("group", "words", "ids"),
        ("Sea", "boat, anchor;wave", ""),
        ("Sky", "", "doc 1; doc 4"),
        ("Sea", "boat sailor", "doc 3"),
    )
    assert read_seeds(path) == (
        {"group": "Sea", "words": ["boat", "anchor", "wave", "sailor"], "ids": ["doc 3"]},
        {"group": "Sky", "words": [], "ids": ["doc 1", "doc 4"]},
    )
    assert read_seeds(read_seeds(path)) == read_seeds(path)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([("name", "words"), ("Sea", "boat")], "must have the column 'group'"),
        ([("group", "word"), ("Sea", "boat")], "'words' or 'ids'"),
        ([("group", "words")], "there are no groups"),
        ([("group", "words"), ("Sea", " ")], "'Sea' has neither words nor ids"),
        ([("group", "words"), ("", "boat")], "no name of a group"),
    ],
)
def test_a_bad_codebook_is_refused(tmp_path, lines, said):
    with pytest.raises(ParameterError, match=said):
        ExploreOptions(seeds=write(tmp_path / "codebook.csv", *lines))


@pytest.mark.parametrize("seeds", [5, ["Sea"], {"Sea": 5}, {"Sea": [5]}, {}])
def test_bad_seeds_are_refused(seeds):
    with pytest.raises(ParameterError, match="seeds"):
        ExploreOptions(seeds=seeds)


def test_numbers_of_groups():
    assert ExploreOptions(seeds=CODEBOOK).k == (2,)
    assert ExploreOptions(seeds=CODEBOOK, free=5).k == (7,)
    assert ExploreOptions(seeds=CODEBOOK, k=4).k == (4,)
    for wrong in ({"k": "2:9"}, {"k": 1}, {"k": 9, "free": 1}, {"free": -1}, {"effects": "topic"}):
        with pytest.raises(ParameterError):
            ExploreOptions(seeds=CODEBOOK, **wrong)
    with pytest.raises(ParameterError, match="seeds"):
        ExploreOptions(free=2)
    with pytest.raises(ParameterError, match="seed_weight is the weight of seeds, which are not"):
        ExploreOptions(seed_weight=0.5)
    with pytest.raises(ParameterError, match="seed_weight must be a finite number above 0"):
        ExploreOptions(seeds=CODEBOOK, seed_weight=0)
