"""Estimators and runs saved in folders: the same bits come back, and what does not fit is refused.

Damaged and hostile files are in tests/outside.
"""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError
from tree_common import themes

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.run.folder.fitted import (
    dump_choice,
    dump_mixture,
    dump_path,
    dump_state,
    dump_tree,
    load_mixture,
    load_path,
    load_state,
    load_tree,
)
from spheremix.text import Corpus

ROWS, _, _ = sm.datasets.make_vmf_mixture(150, 12, 3, overlap=0.02, random_state=0)
IDS = [f"é{i}" for i in range(150)]
WORDS = [f"word {j}" for j in range(12)]
TEXTS = ["red apple pie", "apple pie", "green apple", "blue sky", "sky and sea", "blue sea sky"] * 3
FEW = {"k": 2, "min_count": 1, "min_df": 1, "threads": 1, "max_steps": 5, "lemmatizer": "none"}


@pytest.fixture(scope="module")
def study():
    return sm.VMFMixtureIC(n_components=range(2, 5), n_init=3, random_state=0).fit(ROWS)


@pytest.fixture(scope="module")
def saved(study, tmp_path_factory):
    documents = {"id": IDS, "group": study.labels_}
    folder = tmp_path_factory.mktemp("io") / "run"
    return sm.save_run(folder, study, feature_names=WORDS, X=ROWS, documents=documents)


@pytest.fixture(scope="module")
def mixture():
    return sm.VMFMixture(2, n_init=1, random_state=0).fit(ROWS)


# Estimators


def test_a_study_predicts_the_same_bits(study, saved):
    run = sm.load_run(saved)
    assert list(run.dense) == [2, 3, 4]
    assert_array_equal(run.mixture.labels_, study.labels_)
    others = np.random.default_rng(0).normal(size=(40, 12))
    pairs = [(run.mixture, study.best_estimator_), (run.path, study.best_path_)]
    pairs += [(run.dense[K], study.dense_models_[K]) for K in run.dense]
    pairs += [(run.path.model(i), study.best_path_.model(i)) for i in (0, 3, -1)]
    for found, model in pairs:
        for X in (ROWS, others):
            assert_array_equal(found.predict_proba(X), model.predict_proba(X))
            assert_array_equal(found.score_samples(X), model.score_samples(X))
    assert run.check() == []


def test_a_path_has_all_its_attributes(study, saved):
    path, found = study.best_path_, sm.load_run(saved).path
    assert set(vars(path)) == set(vars(found))
    for name, value in vars(path).items():
        if isinstance(value, np.ndarray):
            assert_array_equal(value, getattr(found, name), err_msg=name)
    for name, values in path.criteria_.items():
        assert_array_equal(values, found.criteria_[name])
    assert found.runs_ == path.runs_
    assert (found.status_, found.selected_) == (path.status_, path.selected_)
    assert found.best_estimator_.kappa_max_ == path.best_estimator_.kappa_max_


@pytest.mark.parametrize("relaxed", [False, True])
def test_a_path_goes_on_with_the_same_bits(tmp_path, relaxed):
    how = {"random_state": 0, "n_init": 2, "relaxed": relaxed}
    whole = sm.VMFPath(3, **how).fit(ROWS)
    part = sm.VMFPath(3, max_steps=7, **how).fit(ROWS)
    path = sm.load_run(sm.save_run(tmp_path / "run", part)).path
    assert path.relaxed is relaxed
    path.set_params(warm_start=True, max_steps=None).fit(ROWS)
    for name in ("betas_", "exit_betas_", "objectives_", "log_likelihoods_", "labels_"):
        assert_array_equal(getattr(path, name), getattr(whole, name), err_msg=name)
    assert path.statuses_ == whole.statuses_
    for i in range(len(whole.betas_)):
        for refit in {relaxed, False}:
            found, expected = path.model(i, refit=refit), whole.model(i, refit=refit)
            assert_array_equal(found.prototypes_, expected.prototypes_)
            assert found.criteria_ == expected.criteria_


@pytest.fixture(scope="module")
def relaxed():
    return sm.VMFPath(2, relaxed=True, max_steps=4, n_init=1, random_state=0).fit(ROWS)


def test_zeros_that_only_a_refit_has_come_back(relaxed):
    """Of a coordinate that the refit lost, and one step whose refit failed."""
    state, refits = relaxed.state_, list(relaxed.state_.refits)
    for i, status, gap in ((1, "converged", 1e-9), (2, "collapsed", np.nan)):
        kept = np.arange(len(refits[i].places)) != 5
        values, places = refits[i].values[kept], refits[i].places[kept]
        refits[i] = replace(refits[i], values=values, places=places, status=status, gap=gap)
    found = load_state(dump_state(replace(state, refits=refits), {}), state.model).refits
    for one, other in zip(found, refits, strict=True):
        assert_array_equal(one.places, other.places)
        assert_array_equal(one.values, other.values)
        assert one.status == other.status
    assert len(found[1].places) == len(state.steps[1].places) - 1
    assert np.isnan(found[2].gap)


@pytest.mark.parametrize("change", ["refits", "refit", "relaxed"])
def test_refits_that_do_not_belong_are_refused(relaxed, change):
    stored, choice = dump_path(relaxed), dump_choice(relaxed)
    assert_array_equal(load_path(stored, {}, choice).betas_, relaxed.betas_)
    other = {"params": {**stored.params, "relaxed": False}} if change == "relaxed" else {}
    with pytest.raises(sm.RunError, match="damaged: refits"):
        load_path(replace(stored, **(other or {change: None})), {}, choice)


@pytest.mark.parametrize(
    ("name", "array", "words"),
    [
        ("prototypes", np.zeros((2, 12)), "length one"),
        ("prototypes", np.full((2, 12), np.nan), "not finite|length one"),
        ("prototypes", np.eye(12), "another number of groups"),
        ("kappas", np.array([1.0, -1.0]), "above zero"),
        ("kappas", np.array([1.0, np.inf]), "above zero"),
        ("weights", np.array([0.5, 0.7]), "sum to one"),
        ("labels", np.full(150, 2), "labels out of"),
        ("labels", np.full(150, -1), "labels out of"),
    ],
)
def test_parameters_that_make_no_mixture_are_refused(mixture, name, array, words):
    """As somebody could write them who also writes the checksums."""
    state = dump_mixture(mixture)
    assert_array_equal(load_mixture(state).predict_proba(ROWS), mixture.predict_proba(ROWS))
    with pytest.raises(sm.RunError, match=words):
        load_mixture(replace(state, **{name: array}))


def test_steps_that_make_no_path_are_refused(relaxed):
    stored, choice = dump_path(relaxed), dump_choice(relaxed)
    places, floats = stored.steps.places[::-1], stored.steps.floats[:, ::-1]
    for name, wrong, words in (("places", places, "coordinates"), ("floats", floats, "beta does")):
        with pytest.raises(sm.RunError, match=words):
            load_path(replace(stored, steps=replace(stored.steps, **{name: wrong})), {}, choice)


@pytest.mark.parametrize(
    "parameters",
    [
        {"kappa": "free", "beta": 3.0},
        {"kappa": 7.0, "feature_weights": np.linspace(0.0, 2.0, 12), "beta": 1.0},
        {"kappa": [5.0, 6.0, 7.0], "init": np.arange(150) % 3},
        {"m_step": "paper", "kappa_solver": "banerjee", "kappa_max": 100.0},
        {"random_state": np.random.default_rng(0), "n_init": 2},
    ],
    ids="-".join,
)
def test_a_mixture_of_any_parameters_comes_back(parameters, tmp_path):
    model = sm.VMFMixture(3, **{"random_state": 0, "n_init": 2, **parameters}).fit(ROWS)
    run = sm.load_run(sm.save_run(tmp_path / "run", model))
    assert (run.path, run.documents, run.matrix(), run.tree) == (None, None, None, None)
    assert_array_equal(run.mixture.predict_proba(ROWS), model.predict_proba(ROWS))
    assert run.mixture.criteria_ == model.criteria_
    seed = parameters.get("random_state", 0)
    for name, value in model.get_params().items():
        expected = None if name == "random_state" and not isinstance(seed, int) else value
        assert_array_equal(getattr(run.mixture, name), expected, err_msg=name)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    rows, _, _ = themes(n=20)
    model = sm.VMFTree(8, n_clusters=3, random_state=0, n_threads=1).fit(rows)
    model.cut(5)
    return rows, model, sm.save_run(tmp_path_factory.mktemp("trees") / "run", model)


def test_a_tree_is_read_as_it_was(tree):
    rows, model, folder = tree
    run = sm.load_run(folder)
    found = run.tree
    assert isinstance(found, sm.VMFTree)
    assert found.get_params()["n_leaves"] == 8
    for name in ("linkage_", "losses_", "sizes_", "labels_"):
        assert_array_equal(getattr(found, name), getattr(model, name))
    assert sorted(found.cuts_) == sorted(model.cuts_) == sorted(run.dense)
    assert_array_equal(found.predict_proba(rows), model.predict_proba(rows))
    assert found.best_estimator_ is run.mixture
    with pytest.raises(ParameterError, match="attach"):
        found.cut(4)
    assert_array_equal(found.attach(rows).cut(4).prototypes_, model.cut(4).prototypes_)


@pytest.mark.parametrize("change", ["pairs", "values", "origins", "vectors", "repeated"])
def test_a_damaged_tree_is_refused(tree, change):
    _, model, _ = tree
    state = dump_tree(model)
    assert_array_equal(load_tree(state, model.cuts_, 3).labels_, model.labels_)
    name = "pairs" if change == "repeated" else change
    holder = state.tree.leaves if change == "vectors" else state.tree
    wrong = getattr(holder, name).copy()
    if change == "repeated":
        wrong[0, 0] = wrong[1, 0]
    else:
        wrong = wrong[:, :-1] if change == "vectors" else wrong[:-1]
    damaged = replace(holder, **{name: wrong})
    damaged = replace(state.tree, leaves=damaged) if change == "vectors" else damaged
    with pytest.raises(sm.RunError, match="damaged"):
        load_tree(replace(state, tree=damaged), model.cuts_, 3)


def test_a_tree_of_one_leaf_and_one_that_is_not_fitted(tmp_path):
    one = sm.VMFTree(1, random_state=0).fit(np.eye(3) + 1.0)
    assert sm.load_run(sm.save_run(tmp_path / "run", one)).tree.n_leaves_ == 1
    with pytest.raises(NotFittedError):
        sm.save_run(tmp_path / "other", sm.VMFTree(3))


# What lies beside them


def test_what_lies_beside_the_model(saved):
    run = sm.load_run(saved)
    assert run.feature_names == WORDS
    assert run.documents["id"] == IDS
    assert_array_equal(run.matrix(), ROWS)
    assert set(run.table["n_components"]) == {2, 3, 4}
    assert run.dense_criteria["ebic"].shape == (3,)


def test_sparse_rows_and_columns_about_documents_come_back(mixture, tmp_path):
    X = sparse.random_array((60, 8), density=0.6, rng=np.random.default_rng(0), format="csr")
    X = sparse.csr_array(X[np.diff(X.indptr) > 0])
    sm.save_run(tmp_path / "rows", sm.VMFMixture(2, n_init=1, random_state=0).fit(X), X=X)
    assert_array_equal(sm.load_run(tmp_path / "rows").matrix().toarray(), X.toarray())
    groups = [None, *mixture.labels_[1:]]
    documents = {"id": IDS, "group": groups, "cosine": np.linspace(-1, 1, 150), "own": IDS}
    sm.save_run(tmp_path / "run", mixture, feature_names=iter(WORDS), X=ROWS, documents=documents)
    found = sm.load_run(tmp_path / "run")
    assert found.feature_names == WORDS
    assert found.documents["group"] == groups
    assert found.documents["cosine"] == list(documents["cosine"])


@pytest.mark.parametrize(
    ("beside", "words"),
    [
        ({"feature_names": "abcd"}, "feature_names must be 12 names.*; got 4"),
        ({"feature_names": iter("abcdef")}, "feature_names must be 12 names.*; got 6"),
        ({"X": ROWS[:, :4]}, r"X must be .* \(n, 12\).*\(150, 4\)"),
        ({"X": ROWS[0]}, r"X must be .* shape \(12,\)"),
        ({"X": sparse.csr_array((0, 12))}, "X must be .* one row or more"),
        ({"X": [[1.0] * 12]}, "X must be an array .* to be saved, not a list"),
        ({"documents": {}}, "documents must have one column"),
        ({"documents": {"id": IDS, "name": IDS[1:]}}, "150 values of 'id' and 149 of 'name'"),
        ({"X": ROWS, "documents": {"id": IDS[1:]}}, "each of the 150 rows of X; got 149"),
        ({"documents": {"group": ["sport"] * 150}}, "'group' of .* whole numbers.*'sport'"),
        ({"documents": {"group": np.full(150, 0.5)}}, "'group' of .* whole numbers.*another"),
        ({"documents": {"cosine": ["near"] * 150}}, "'cosine' of documents must have numbers"),
    ],
)
def test_what_cannot_be_read_back_is_refused(mixture, beside, words, tmp_path):
    with pytest.raises(ParameterError, match=words):
        sm.save_run(tmp_path / "run", mixture, **beside)
    assert not (tmp_path / "run").exists()


def test_folders_that_are_refused(saved, study, mixture, tmp_path):
    with pytest.raises(sm.RunError, match="there is a run already"):
        sm.save_run(saved, study)
    with pytest.raises(sm.RunError, match="dict cannot be saved"):
        sm.save_run(tmp_path / "other", {})
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(sm.RunError, match="choose another place with folder or move them away"):
        sm.save_run(tmp_path, mixture)
    with pytest.raises(sm.RunError, match="choose another with folder"):
        sm.save_run(tmp_path / "notes.txt", mixture)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(sm.RunError, match="no such folder"):
        sm.load_run(tmp_path / "none")
    with pytest.raises(sm.RunError, match="not a finished run"):
        sm.load_run(tmp_path)


# Runs


def test_a_run_of_a_model_is_saved_and_loaded(mixture, tmp_path):
    texts = [f"text {i}" for i in range(150)]
    run = sm.Run.from_model(mixture, texts, X=ROWS, feature_names=WORDS, title="Mine")
    assert run.folder is None
    assert "in memory" in repr(run)
    assert run.title == "Mine"
    with pytest.raises(sm.RunError, match=r"no folder: save it with run\.save"):
        run.edit({"names": {0: "zero"}})
    found = sm.load_run(run.save(tmp_path / "run"))
    assert_array_equal(found.mixture.predict_proba(ROWS), mixture.predict_proba(ROWS))
    assert found.corpus().texts == texts
    assert_array_equal(found.matrix(), ROWS)
    assert_array_equal(found.assigned.labels, run.assigned.labels)
    assert [one["name"] for one in found.describe_groups()] == [
        one["name"] for one in run.describe_groups()
    ]
    assert found.check() == []
    vectorizer = sm.text.TextVectorizer(lemmatizer="none", min_df=1)
    X = vectorizer.fit_transform(TEXTS)
    model = sm.VMFMixture(2, n_init=1, random_state=0).fit(X)
    run = sm.Run.from_model(model, TEXTS, vectorizer=vectorizer)
    found = sm.load_run(run.save(tmp_path / "texts"))
    assert found.feature_names == list(vectorizer.vocabulary_)
    assert found.assign(["apple pie"])["group"] == run.assign(["apple pie"])["group"]
    assert (found.vectorizer().transform(TEXTS) != X).nnz == 0
    with pytest.raises(ValueError, match="give it with them, without X"):
        sm.Run.from_model(model, TEXTS, X=X, vectorizer=vectorizer)
    with pytest.raises(ValueError, match="Documents need their rows"):
        sm.Run.from_model(model, TEXTS)
    with pytest.raises(ValueError, match="There are 2 documents for 18 rows of X"):
        sm.Run.from_model(model, TEXTS[:2], X=X)


@pytest.mark.parametrize("make", [sm.VMFMixture, sm.VMFPath, sm.VMFTree])
def test_a_run_of_a_model_of_words_and_meaning_is_saved_and_loaded(make, tmp_path):
    vectorizer = sm.text.TextVectorizer(lemmatizer="none", min_df=1)
    meaning = np.repeat(np.eye(5)[:2], 3, axis=0)[np.arange(18) % 6]
    meaning = meaning + 0.2 * np.random.default_rng(0).normal(size=(18, 5))
    X = {"words": vectorizer.fit_transform(TEXTS), "meaning": meaning}
    names = vectorizer.get_feature_names_out()
    model = make(2, random_state=0).fit(X)
    side = [("left",) if i % 6 < 2 else ("right",) for i in range(18)]
    corpus = Corpus(TEXTS, [str(i) for i in range(18)], labels={"side": side})
    run = sm.Run.from_model(model, corpus, X=X, feature_names=names)
    found = sm.load_run(run.save(tmp_path / "run"))
    assert found.check() == []
    assert found.feature_names == list(names)
    # The rows are those of the fit, not rounded.
    assert found.effects("side", n_replicates=10)["side"].difference("left", "right").told.all()
    assert_array_equal(found.assigned.labels, model.labels_)
    assert {"sky", "apple"} <= set(" ".join(g["name"] for g in found.describe_groups()).split())
    assert [part.shape for part in found.matrix().values()] == [X["words"].shape, (18, 5)]
    assert len(run.report().content["meaning"]["own"]) == 18
    with pytest.raises(ParameterError, match=r"must be 7 names, .* got 12"):
        sm.Run.from_model(model, TEXTS, X=X, feature_names=WORDS)
    with pytest.raises(ValueError, match="give X as a dictionary with 'words' and 'meaning'"):
        sm.Run.from_model(model, TEXTS, X=X["words"])
    other = make(2, random_state=0).fit({"words": X["words"], "place": meaning})
    with pytest.raises(ValueError, match="and the mixture has 'words', 'place'"):
        sm.Run.from_model(other, TEXTS, X={"words": X["words"], "place": meaning})


def tables(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*.csv")}


def test_a_copy_of_an_explored_run_is_one(tmp_path):
    run = sm.explore_corpus(TEXTS, tmp_path / "run", **FEW)
    run = run.edit({"names": {0: "zero"}})
    copy = sm.load_run(run.save(tmp_path / "copy"))
    assert tables(copy.folder) == tables(run.folder)
    assert copy.check() == run.check() == []
    assert copy.names() == run.names()
    shutil.rmtree(run.folder)
    assert copy.edit({"merge": [[0, 1]]}).info.n_groups == 1
    assert copy.undo_edits().undo_edits().names() is None


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_explored(tmp_path, library):
    frames = pytest.importorskip(library)
    columns = {"body": TEXTS, "section": ["a", "b"] * 9, "key": [f"k{i}" for i in range(18)]}
    how = {**FEW, "text": "body", "label": "section", "id": "key"}
    frame = frames.DataFrame(columns)
    run = sm.explore_corpus(frame, tmp_path / "run", **how)
    assert run.documents["id"] == columns["key"]
    assert run.documents["group"] == sm.explore_corpus(TEXTS, None, **FEW).documents["group"]
    assert run.corpus().labels == {"section": [(one,) for one in columns["section"]]}
    with pytest.raises(ValueError, match="no column 'words'"):
        sm.explore_corpus(frame, tmp_path / "other", **{**how, "text": "words"})
