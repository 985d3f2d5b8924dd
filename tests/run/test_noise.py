"""Runs with documents that belong nowhere: tables, words, report, new documents, edits, kills."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from edit_common import contents
from reuse_common import Heard

import spheremix as sm
from spheremix.bessel import log_normalizer
from spheremix.errors import ParameterError
from spheremix.report.content import build
from spheremix.run import Listener
from spheremix.run.folder.store import Store
from spheremix.run.names import read_names
from spheremix.run.new_documents import compare_documents
from spheremix.run.options import ExploreOptions
from spheremix.run.sentences import remarks, updated
from spheremix.run.stages import Context
from spheremix.run.stages.dense import dense_key, dense_mixture
from spheremix.run.stages.path import path_key, sparse_path

LETTERS = "abcdefgh"
OPTIONS = {
    "k": 3,
    "starts": 2,
    "noise": "uniform",
    "min_df": 1,
    "max_df": 1.0,
    "min_relative_increase": 0.2,
    "lemmatizer": "none",
    "threads": 1,
}
LOST = 4


def documents(n=90, lost=LOST):
    """Return documents of three topics, and some whose words hardly any other document has."""
    rng = np.random.default_rng(0)
    topics = [[f"{t}{a}{b}" for a in LETTERS[:4] for b in LETTERS] for t in ("kor", "lum", "mip")]
    others = [f"zu{a}{b}{c}" for a in LETTERS for b in LETTERS for c in LETTERS]
    texts = [" ".join(rng.choice(topics[i % 3], 30)) for i in range(n)]
    return texts + [" ".join([*rng.choice(others, 25), topics[0][0]]) for _ in range(lost)]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return sm.explore_corpus(documents(), tmp_path_factory.mktemp("noise") / "run", **OPTIONS)


def said(run):
    return [one.render() for one in remarks(run)]


def is_lost(run):
    return np.array([k == -1 for k in run.documents["group"]])


def test_documents_that_fit_no_group_are_told_apart(run):
    table = run.documents
    assert is_lost(run).tolist() == [False] * 90 + [True] * LOST
    assert set(table["name"][-LOST:]) == {"belongs nowhere"}
    assert all(group is None for group in table["fine_group"][-LOST:])
    assert all(group is not None for group in table["fine_group"][:-LOST])
    assert set(table["set_aside"]) == {""}
    assert all(0 <= k < 3 for k in table["second_group"])  # the nearest group


def test_sizes_add_up_and_nobody_is_lost_in_silence(run):
    groups = run.groups
    assert groups["group"][-1] == -1
    assert groups["name"][-1] == "belongs nowhere"
    assert groups["size"][-1] == LOST
    assert groups["stability"][-1] is None
    assert sum(groups["size"]) == 90 + LOST
    assert sum(groups["weight"]) == pytest.approx(1.0, abs=1e-5)
    assert any(one.startswith("4 documents (4.3 %) belong nowhere") for one in said(run))
    assert "belongs nowhere" in (run.folder / "README.txt").read_text(encoding="utf-8")


def test_the_tree_and_the_typical_documents_are_of_groups_only(run):
    tree = run.read_table("tree")
    assert tree["size"][-1] == 90
    assert set(run.read_table("typical")["group"]) == {0, 1, 2}


@pytest.mark.slow
def test_without_noise_nothing_is_said(tmp_path):
    options = {**OPTIONS, "noise": None, "criterion": "none"}
    plain = sm.explore_corpus(documents(30), tmp_path / "run", **options)
    assert not any("nowhere" in one for one in said(plain))
    assert min(plain.groups["group"]) == 0
    assert not build(plain)["model"]["has_nowhere"]


def test_a_loaded_run_predicts_what_it_says(run):
    again = sm.load_run(run.folder)
    assert (again.mixture.predict(again.matrix()) == np.where(is_lost(run), -1, 9)).sum() == LOST
    assert again.mixture.n_noise_ == LOST


def test_the_report_has_them_as_the_number_after_the_last_group(run):
    content = build(run)
    assert content["model"]["has_nowhere"]
    assert (content["documents"]["group"] == 3).tolist() == is_lost(run).tolist()
    assert (content["documents"]["leaf"] == content["tree"]["leaves"]).tolist() == (
        is_lost(run).tolist()
    )
    chosen = content["steps"][content["chosen"]]
    assert len(chosen["sizes"]) == 3
    assert sum(chosen["sizes"]) == 90
    assert (content["labels"][content["chosen"]] == 3).tolist() == is_lost(run).tolist()


def test_new_documents_may_belong_nowhere(run):
    new = [*documents()[:3], documents()[-1]]
    table = run.assign(new)
    assert table["group"][-1] == -1
    assert min(table["group"][:3]) >= 0
    line = compare_documents(run, new, Listener()).lines()[0]
    assert line == "3 documents assigned, 1 that belongs nowhere, 0 without a group."


@pytest.mark.slow
def test_edits_leave_them_alone(run, tmp_path):
    copy = sm.load_run(shutil.copytree(run.folder, tmp_path / "run"))
    edited = copy.edit({"merge": [[0, 1]], "split": [2]})
    assert is_lost(edited).tolist() == is_lost(run).tolist()
    changes = edited.edits[-1].changes
    assert "4 documents belonged nowhere, and now 4." in changes


def test_a_table_of_groups_can_give_names(run):
    named = read_names(run.folder / "groups.csv")
    assert sorted(named.names) == [0, 1, 2]


@pytest.mark.slow
def test_a_share_is_kept_to(tmp_path):
    """Three of a hundred; the chosen mixture is sparse, and would have more."""
    folder = tmp_path / "run"
    limited = sm.explore_corpus(documents(94, 6), folder, **OPTIONS, max_noise="3%")
    assert limited.info.command["max_noise"] == 0.03
    assert 1 <= is_lost(limited).sum() <= 3
    assert not is_lost(limited)[:94].any()
    labels = sm.load_run(folder).mixture.predict(limited.matrix())
    assert (labels < 0).tolist() == is_lost(limited).tolist()


class KilledError(Exception):
    """In place of a signal."""


class Killer(Listener):
    """Ends a run on its path, once."""

    def update(self, share, text=""):  # noqa: ARG002
        if text.startswith("step"):
            raise KilledError


@pytest.mark.slow
def test_killed_on_the_path_it_goes_on_and_ends_with_the_same_bits(run, tmp_path):
    folder = tmp_path / "run"
    with pytest.raises(KilledError):
        sm.explore_corpus(documents(), folder, listener=Killer(), **OPTIONS, checkpoint=1e-9)
    assert list((folder / "cache").glob("checkpoint-*"))
    heard = Heard()
    sm.explore_corpus(documents(), folder, listener=heard, **OPTIONS)
    assert any("from step" in line for line in heard.begun)
    assert contents(folder) == contents(run.folder)


def test_values_that_make_no_sense_are_refused():
    for given, message in (
        ({"noise": "background"}, "noise must be one of uniform, none; got 'background'"),
        ({"max_noise": 0.1}, "max_noise is for documents that belong nowhere"),
        (
            {"noise": "uniform", "max_noise": 5},
            "max_noise must be auto, free or a share between 0 and 1",
        ),
        ({"noise": "uniform", "max_noise": "few"}, "max_noise must be auto, free or a share"),
        ({"noise": "uniform", "max_noise": True}, "max_noise must be auto, free or a share"),
    ):
        with pytest.raises(ParameterError, match=message):
            ExploreOptions(**given)
    assert ExploreOptions(noise="none").noise is None
    assert ExploreOptions(noise="uniform", max_noise="auto").max_noise == "auto"


def test_a_free_share_is_free_in_all_fits():
    options = {"noise": "uniform", "criterion": "bic"}
    usual, free = (ExploreOptions(**options, max_noise=one) for one in (None, "free"))
    assert (dense_mixture(3, usual).max_noise, dense_mixture(3, free).max_noise) == ("auto", None)
    assert sparse_path(3, free, "merge").max_noise is None
    one, other = (Context(store=Store(None), options=x, listener=Listener()) for x in (usual, free))
    assert dense_key(one, 3) != dense_key(other, 3)
    assert path_key(3, usual, "") == path_key(3, free, "")  # the share only chooses on it


@pytest.mark.slow
def test_a_free_share_leaves_the_noise_uniform(tmp_path):
    found = sm.explore_corpus(documents(), tmp_path / "run", **OPTIONS, max_noise="free")
    uniform = log_normalizer(found.mixture.n_features_in_, 0.0)
    assert found.mixture.model_.noise.level == pytest.approx(uniform, rel=1e-12)
    assert is_lost(found)[-LOST:].all()
    assert is_lost(found).tolist() == (found.mixture.predict(found.matrix()) < 0).tolist()


@pytest.mark.slow
def test_another_share_chooses_anew_and_fits_nothing(run, tmp_path):
    folder = shutil.copytree(run.folder, tmp_path / "run")
    heard = Heard()
    options = {**OPTIONS, "max_noise": 0.02}
    limited = sm.explore_corpus(documents(), folder, listener=heard, **options)
    assert not any("Fitting" in line and "again" in line for line in heard.begun)
    assert "1 of 1 fit and the path" in heard.told[0]
    assert is_lost(limited).sum() == 1
    fresh = sm.explore_corpus(documents(), tmp_path / "fresh", **options)
    fresh, limited = contents(fresh.folder), contents(folder)
    assert {name: limited[name] for name in fresh if name != ".lock"} == {
        name: one for name, one in fresh.items() if name != ".lock"
    }


def test_an_update_counts_documents_that_belong_nowhere_apart(run, tmp_path):
    found = run.update(documents(9, 2), tmp_path / "updated", listener=Heard())
    before = dict(zip(found.groups["group"], found.groups["size_before"], strict=True))
    sizes = dict(zip(run.groups["group"], run.groups["size"], strict=True))
    assert before == {k: sizes.get(k, 0) for k in before}
    assert before[-1] == LOST
    line = updated(found).render()
    lost = int(is_lost(found).sum())
    assert f"; nowhere {LOST} to {lost}." in line
    assert "-1" not in line
    compared = compare_documents(run, documents(9, 2), Listener())
    counted = compared.comparison.labels
    assert np.sum(counted == -1) == np.sum(np.array(compared.table()["group"]) == -1)
