"""The content of a report, against what the models and the vectoriser say themselves."""

from __future__ import annotations

import json
import re
from datetime import date

import numpy as np
import pytest
from report_common import dequantise

import spheremix as sm
from spheremix.reading import Reading, contrast_words, explain
from spheremix.report import content as contents
from spheremix.report.documents import LEVELS
from spheremix.report.packing import packed_size
from spheremix.select import CRITERIA
from spheremix.text import Corpus, TextVectorizer, vectorize
from spheremix.text.writing import learn_writing

TOPICS = {
    "sea": "boats harbour sailors waves anchors island fishes storms",
    "sky": "stars planets moon telescopes comets orbits galaxies eclipse",
    "food": "breads cheese soup pepper kitchens recipes onions butter",
}
SHARED = "people mornings story little numbers places world water"


def written(n=90, seed=0):
    """Return documents of three topics; the last one is empty and has no direction."""
    rng = np.random.default_rng(seed)
    topics = [list(TOPICS)[i % 3] for i in range(n)]
    texts = [
        " ".join([*rng.choice(TOPICS[one].split(), 9), *rng.choice(SHARED.split(), 5)])
        for one in topics
    ]
    texts[-1] = "!!!"
    return Corpus(
        texts,
        [f"doc {i}" for i in range(n)],
        [None if i % 7 == 0 else date(2010 + i % 4, 1 + i % 9, 11) for i in range(n)],
        {"topic": [(one,) if i % 5 else () for i, one in enumerate(topics)]},
        source="folder/topics.jsonl",
        format="jsonl",
        notes=["A note."],
    )


@pytest.fixture(scope="module")
def corpus():
    return written()


@pytest.fixture(scope="module")
def vectorizer(corpus):
    stem = TextVectorizer(lemmatizer=lambda word: word.removesuffix("s"), weighting="tfidf")
    return stem.fit(corpus.texts)


@pytest.fixture(scope="module")
def rows(corpus, vectorizer):
    return vectorize(corpus, vectorizer)


@pytest.fixture(scope="module")
def study(rows):
    return sm.VMFMixtureIC([2, 3, 4], n_init=3, random_state=0).fit(rows.X)


@pytest.fixture(scope="module")
def content(study, corpus, vectorizer):
    return sm.Report(study, corpus, vectorizer=vectorizer).content


@pytest.fixture(scope="module")
def mixture(rows):
    return sm.VMFMixture(3, beta=2.0, n_init=2, random_state=0).fit(rows.X)


def test_every_key_is_explained(content):
    """In the docstring of what writes the file, those of objects too, except words."""
    explained = sm.Report.write_json.__doc__
    objects = [content]
    for key, value in content.items():
        first = value[0] if isinstance(value, list) and value else value
        objects += [first] if isinstance(first, dict) and key != "forms" else []
    keys = {key for one in objects for key in one}
    assert len(keys) > 90
    unknown = {key for key in keys if not re.search(rf"``{key}\b", explained)}
    assert not unknown


# Steps


def test_the_steps_chosen_by_criteria_are_kept(content, study):
    path = study.best_path_
    steps = content["steps"]
    for name in CRITERIA:
        [index] = [entry["step"] for entry in steps if name in entry["chosen_by"]]
        assert index == path.select(name)
    kept = [entry["step"] for entry in steps]
    assert kept == sorted(set(kept))
    assert {0, len(path.betas_) - 1} <= set(kept)
    assert kept[content["chosen"]] == path.selected_


def test_numbers_of_steps_are_those_of_the_path(content, study, rows):
    path = study.best_path_
    for s, entry in enumerate(content["steps"]):
        i = entry["step"]
        model = path.model(i)
        assert entry["beta"] == path.betas_[i]
        assert entry["n_nonzero"] == path.n_nonzero_[i]
        assert np.isclose(entry["sparsity"], path.sparsity_[i])
        assert np.isclose(entry["log_likelihood"], path.log_likelihoods_[i], rtol=1e-11)
        for name in CRITERIA:
            assert np.isclose(entry["criteria"][name], path.criteria_[name][i], rtol=1e-11)
        assert np.allclose(entry["kappas"], model.kappas_, rtol=1e-6)
        labels = model.predict(rows.X)
        assert (content["labels"][s] == labels).all()
        assert entry["sizes"] == np.bincount(labels, minlength=3).tolist()
        # Whose words are whose is exact at every step, values to the error of the levels.
        found = dequantise(content["values"][s], entry["scale"])
        assert ((found != 0) == (model.prototypes_ != 0)).all()
        assert np.abs(found - model.prototypes_).max() <= entry["scale"] / 100
    assert np.allclose(content["prototypes"], path.best_estimator_.prototypes_, atol=1e-7)
    assert np.allclose(content["exit_betas"], path.exit_betas_, rtol=1e-6)


def test_the_curve_of_the_path_has_its_ends_and_no_more_points_than_a_screen(content, study):
    path = study.best_path_
    assert content["path"]["beta"][0] == path.betas_[0]
    assert content["path"]["beta"][-1] == path.betas_[-1]
    assert len(content["path"]["beta"]) == min(len(path.betas_), 400)
    assert set(content["path"]["criteria"]) == set(CRITERIA)


# Corpus, model, candidates


def test_the_corpus_is_accounted_for(content):
    said = content["corpus"]
    assert (said["n_documents"], said["n_kept"], said["n_set_aside"]) == (90, 89, 1)
    assert said["set_aside"] == [["doc 89", "no word but stop words, numbers or single letters"]]
    assert said["notes"] == ["A note."]
    assert dict(said["done"])["weighting"] == "tfidf"
    assert dict(said["done"])["lemmas"] == "by a function"
    assert content["title"] == "topics"


def test_the_model_and_the_candidates(content, study, rows, corpus, vectorizer):
    model = content["model"]
    chosen = study.best_n_components_
    assert (model["n_groups"], model["criterion"], model["k_criterion"]) == (
        chosen,
        "bic",
        "advice",
    )
    assert model["kappa"] == "shared"
    assert [one["n_groups"] for one in content["candidates"]] == [2, 3, 4]
    assert [one["chosen"] for one in content["candidates"]] == [chosen == K for K in (2, 3, 4)]
    for one in content["candidates"]:
        dense = study.dense_models_[one["n_groups"]]
        order = np.argsort(-dense.weights_, kind="stable")
        sizes = np.bincount(dense.labels_, minlength=one["n_groups"])
        assert [group["size"] for group in one["groups"]] == sizes[order].tolist()
        assert np.isclose(one["criteria"]["bic"], dense.criteria_["bic"], rtol=1e-11)
        assert one["n_starts"] == len(dense.runs_)
        same = study.agreement_[study.candidates_.tolist().index(one["n_groups"])]
        assert one["agreement"] == pytest.approx(same, rel=1e-6)
        assert all(len(group["words"]) == 10 for group in one["groups"])
    writing = learn_writing(corpus.texts, vectorizer)
    reading = Reading(study, content["words"], X=rows.X, writing=writing)
    assert content["names"] == [reading.group_name(k) for k in range(chosen)]


# Documents


def test_documents_are_those_that_were_kept(content, corpus, rows, study):
    found = content["documents"]
    truth = Reading(study, content["words"]).documents(rows.X)
    assert found["id"] == corpus.ids[:-1]
    assert found["text"] == corpus.texts[:-1]
    assert found["length"] == [len(text) for text in corpus.texts[:-1]]
    assert found["date"][0] is None
    assert found["date"][1] == "2011-02-11"
    assert found["label_names"] == ["food", "sea", "sky"]
    for i, several in enumerate(corpus.labels["topic"][:-1]):
        assert [found["label_names"][j] for j in found["labels"][i]] == list(several)
    assert (found["group"] == truth.labels).all()
    assert (found["second_group"] == truth.second_groups).all()
    assert np.allclose(found["log_odds"], truth.log_odds, rtol=1e-6)
    for k in range(3):
        assert content["typical"][k] == truth.typical(k, 10).tolist()
        assert content["ambiguous"][k] == truth.ambiguous(10, group=k).tolist()
    [agreement] = content["model"]["agreement"]
    assert agreement["column"] == "topic"
    assert 0.9 < agreement["ari"] <= 1.0


def test_words_of_documents_explain_their_scores(content, rows, study):
    """Where no word was cut, bias and terms of the rows add up to the log-odds."""
    found, mixture = content["rows"], study.best_estimator_
    for i in (0, 7, 88):
        part = slice(found["indptr"][i], found["indptr"][i + 1])
        words = found["words"][part].astype(int)
        values = found["scale"][i] * found["values"][part] / LEVELS
        row = rows.X[[i]].toarray()[0]
        assert np.abs(values - row[words]).max() <= row.max() / LEVELS
        assert set(words) == set(np.flatnonzero(row))
        truth = explain(row, mixture.scorer_, content["words"])
        lines = mixture.kappas_[:, None] * mixture.prototypes_[:, words] * values
        terms = lines[truth.label].sum() - lines[truth.rival].sum()
        assert np.isclose(truth.bias + terms, truth.log_odds, atol=1e-2)


def test_forms_are_the_features_that_the_vectoriser_gives(content, corpus, vectorizer):
    forms, words = content["forms"], content["words"]
    assert forms["boat"] == forms["boats"] == words.index("boats")
    tokens = {token for text in corpus.texts for token in text.split()}
    for token in tokens:
        row = vectorizer.transform([token])
        assert row.indices.tolist() == ([forms[token]] if token in forms else [])


def test_a_report_cuts_texts_to_the_room_that_the_rest_leaves(monkeypatch, mixture, corpus, rows):
    monkeypatch.setattr(contents, "LEAST_TEXT", 400)
    monkeypatch.setattr(contents, "BUDGET", 0)
    report = sm.Report(mixture, corpus.take(rows.rows), X=rows.X, feature_names=rows.words)
    found = report.content["documents"]
    assert packed_size({"text": found["text"]}) <= 400
    assert all(full > len(text) for full, text in zip(found["length"], found["text"], strict=True))


# What may be missing


def test_a_single_mixture_is_a_path_of_one_step(mixture, rows):
    content = sm.Report(mixture, X=rows.X, feature_names=rows.words).content
    assert content["path"] is None
    assert content["exit_betas"] is None
    assert [entry["step"] for entry in content["steps"]] == [0]
    assert content["steps"][0]["chosen_by"] == []
    assert content["steps"][0]["beta"] == content["model"]["beta"] == 2.0
    assert content["documents"]["text"] is None
    assert content["documents"]["id"][:2] == ["1", "2"]
    assert content["forms"] is None
    assert content["corpus"]["n_kept"] == 89


def test_a_model_without_rows_says_what_it_knows(study, rows):
    content = sm.Report(study.best_path_, feature_names=rows.words).content
    for name in ("labels", "documents", "rows", "typical", "ambiguous"):
        assert content[name] is None
    chosen = content["steps"][content["chosen"]]
    assert np.allclose(chosen["sizes"], study.best_path_.sizes_[study.best_path_.selected_])
    assert content["corpus"]["n_kept"] == 89
    assert len(content["candidates"]) == 1


def test_embeddings_are_named_by_the_words_of_their_documents(corpus):
    rng = np.random.default_rng(0)
    X = np.eye(3)[np.arange(90) % 3] @ rng.normal(size=(3, 8)) + 0.1 * rng.normal(size=(90, 8))
    mixture = sm.VMFMixture(3, n_init=5, random_state=0).fit(X)
    content = sm.Report(mixture, corpus, X=X).content
    assert content["kind"] == "coordinates"
    assert content["rows"] is None
    assert content["words"] == [f"x{j}" for j in range(8)]
    for k, name in enumerate(content["names"]):
        topics = corpus.labels["topic"]
        [topic] = {topics[i] for i in content["typical"][k] if topics[i]}
        assert set(name.lower().split(" · ")) <= set(TOPICS[topic[0]].split())
        assert all(z > 0 for _, z in content["contrast"][k])
        assert content["contrast"][k][0][0] == name.lower().split(" · ")[0]
    bare = sm.Report(mixture, X=X).content
    assert bare["names"] == ["group 0", "group 1", "group 2"]
    assert bare["contrast"] is None


def test_other_numbers_of_groups_of_embeddings_have_words_too(corpus):
    rng = np.random.default_rng(0)
    X = np.eye(3)[np.arange(90) % 3] @ rng.normal(size=(3, 8)) + 0.1 * rng.normal(size=(90, 8))
    study = sm.VMFMixtureIC([2, 3], n_init=2, max_steps=5, random_state=0).fit(X)
    content = sm.Report(study, corpus, X=X).content
    counter = TextVectorizer(lemmatizer=None)
    counts = counter.fit_count(corpus.texts)
    for one in content["candidates"]:
        dense = study.dense_models_[one["n_groups"]]
        best = contrast_words(counts, dense.labels_, counter.vocabulary_, 16)
        for place, k in enumerate(np.argsort(-dense.weights_, kind="stable")):
            assert one["groups"][place]["words"] == [word.word for word in best[k]]
            assert best[k]
    # Documents that the model was not fitted to: sizes are of the fit, words of nobody.
    content = sm.Report(study, corpus.take(list(range(60))), X=X[:60]).content
    assert [len(one["words"]) for one in content["candidates"][0]["groups"]] == [0, 0]
    assert all(content["contrast"])


def test_one_group_has_no_second_group(rows):
    path = sm.VMFPath(1, n_init=1, max_steps=20, random_state=0).fit(rows.X)
    report = sm.Report(path, X=rows.X, feature_names=rows.words)
    found = report.content["documents"]
    assert found["second_group"] is None
    assert np.isposinf(found["log_odds"]).all()
    assert report.content["ambiguous"] == [[]]
    study = sm.VMFMixtureIC([1], n_init=1, max_steps=2, random_state=0).fit(rows.X)
    only = sm.Report(study, X=rows.X, feature_names=rows.words).content
    assert only["model"]["k_criterion"] is None  # nothing was chosen
    assert only["candidates"][0]["agreement"] is None  # of one start: with which other one?
    assert json.loads(json.dumps(report.to_dict()))["documents"]["log_odds"][0] == "Infinity"


def test_of_many_words_those_that_survive_longest_are_shown(monkeypatch, study, rows):
    monkeypatch.setattr(contents, "MAX_WORDS", 12)
    path = study.best_path_
    shown = contents.shown_words(sm.Run.from_model(path))
    exits = path.exit_betas_.max(axis=0)
    assert (np.diff(shown) > 0).all()
    assert exits[shown].min() >= np.delete(exits, shown).max()
    content = sm.Report(study, X=rows.X, feature_names=rows.words).content
    assert content["words"] == [rows.words[j] for j in shown]
    assert content["corpus"]["n_words_dropped"] == rows.X.shape[1] - 12
    assert content["values"].shape[1:] == content["prototypes"].shape == (3, 12)
    assert content["rows"]["words"].max() < 12


def test_numbers_of_words_are_those_of_the_model_where_the_page_shows_fewer(
    monkeypatch, study, rows, content
):
    monkeypatch.setattr(contents, "MAX_WORDS", 12)
    path, d = study.best_path_, rows.X.shape[1]
    capped = sm.Report(study, X=rows.X, feature_names=rows.words).content
    assert (capped["model"]["n_words"], capped["model"]["n_words_shown"]) == (d, 12)
    keys = ("n_words", "n_only_here_words", "n_words_by_groups")
    for entry, whole in zip(capped["steps"], content["steps"], strict=True):
        prototypes = path.model(entry["step"]).prototypes_
        supports = [{j for j in range(d) if row[j] != 0.0} for row in prototypes]
        others = [set().union(*supports[:k], *supports[k + 1 :]) for k in range(3)]
        assert entry["n_words"] == [len(one) for one in supports]
        assert entry["n_only_here_words"] == [
            len(one - rest) for one, rest in zip(supports, others, strict=True)
        ]
        owners = [sum(j in one for one in supports) for j in range(d)]
        assert entry["n_words_by_groups"] == [owners.count(m) for m in range(4)]
        assert [entry[key] for key in keys] == [whole[key] for key in keys]
    kept = np.diff(capped["rows"]["indptr"])
    total = (rows.X.toarray() != 0.0).sum(axis=1)
    assert (kept < total).any()
    assert (capped["rows"]["n_words"] == total).all()


def test_a_data_frame_brings_its_names(rows):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows.X.toarray(), columns=[str(word) for word in rows.words])
    mixture = sm.VMFMixture(2, n_init=1, random_state=0).fit(frame)
    content = sm.Report(mixture, X=frame).content
    assert content["kind"] == "words"
    assert content["words"] == rows.words.tolist()


def test_what_does_not_fit_together_is_refused(mixture, corpus, rows, vectorizer):
    kept = corpus.take(rows.rows)
    with pytest.raises(ValueError, match="Documents need their rows: give X"):
        sm.Report(mixture, corpus)
    with pytest.raises(ValueError, match="There are 90 documents for 89 rows of X"):
        sm.Report(mixture, corpus, X=rows.X)
    with pytest.raises(ValueError, match="without X"):
        sm.Report(mixture, kept, X=rows.X, vectorizer=vectorizer)
    means = sm.SphericalKMeans(2, random_state=0).fit(rows.X)
    with pytest.raises(ValueError, match="SphericalKMeans needs the rows of its fit: give X"):
        sm.Report(means)
    with pytest.raises(ValueError, match=r"not a VMFMixture of given parameters \(fit one from it"):
        sm.Report(means.as_mixture(), X=rows.X)
    for model in (means, sm.VMFMixture(2, random_state=0).fit(rows.X)):
        model.partial_fit(rows.X)
        name = type(model).__name__
        with pytest.raises(ValueError, match=rf"not a {name} after partial_fit .* {name}\(K, init"):
            sm.Report(model, X=rows.X)
    assert sm.Report(sm.VMFMixture(2, init=means).fit(rows.X)).content["steps"]
    with pytest.raises(ValueError, match=r"of shape \(n, 30\).*\(89, 5\)"):
        sm.Report(mixture, kept, X=np.ones((89, 5)))
    assert (
        repr(sm.Report(mixture, title="news")) == f"Report('news', {len(mixture.weights_)} groups)"
    )
    with pytest.raises(ValueError, match="names"):
        sm.Report(mixture, feature_names=["a"])


def test_a_relaxed_path_shows_its_refits(study, rows):
    start = study.dense_models_[3]
    path = sm.VMFPath(3, init=start, min_relative_increase=0.1, relaxed=True).fit(rows.X)
    content = sm.Report(path, X=rows.X).content
    assert content["model"]["relaxed"] is True
    for s, entry in enumerate(content["steps"]):
        refit = path.model(entry["step"], refit=True)
        assert np.isclose(entry["log_likelihood"], refit.log_likelihood_, rtol=1e-11)
        found = dequantise(content["values"][s], entry["scale"])
        assert np.abs(found - refit.prototypes_).max() <= entry["scale"] / 100
    middle = content["steps"][len(content["steps"]) // 2]
    shrunk = path.model(middle["step"], refit=False)
    assert middle["log_likelihood"] > shrunk.log_likelihood_ + 0.1
    assert np.allclose(content["prototypes"], path.best_estimator_.prototypes_, atol=1e-7)
    plain = sm.VMFPath(3, init=start, max_steps=3).fit(rows.X)
    assert sm.Report(plain, X=rows.X).content["model"]["relaxed"] is False
