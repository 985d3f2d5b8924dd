"""Runs whose documents were split into passages."""

from __future__ import annotations

import csv
import json
from collections import Counter

import numpy as np
import pytest

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.run import Listener
from spheremix.run.explore import check_run
from spheremix.run.new_documents import compare_documents
from spheremix.run.options import ExploreOptions
from spheremix.run.sentences import first_remarks, remarks
from spheremix.text import Corpus

WORDS = {
    "sea": "ship boat sailor harbour wave storm anchor captain island sail",
    "food": "apple pie bread cheese kitchen cook recipe sugar butter oven",
    "law": "court judge trial lawyer verdict jury crime prison appeal evidence",
}
SUBJECTS = {name: words.split() for name, words in WORDS.items()}
FILLER = ["day", "year", "people", "thing", "work", "world", "time", "place", "part", "way"]


def speeches(n=40, seed=0, *, n_parts=12):
    """Make speeches of several subjects; the left speaks of law, the right of the sea."""
    rng = np.random.default_rng(seed)
    texts, truth, parties = [], [], []
    for _ in range(n):
        party = ("left", "right")[rng.integers(2)]
        wanted = [0.2, 0.2, 0.6] if party == "left" else [0.6, 0.2, 0.2]
        subjects = rng.choice(list(SUBJECTS), n_parts, p=wanted)
        paragraphs = [
            " ".join(rng.choice(SUBJECTS[one] if rng.random() < 0.7 else FILLER) for _ in range(80))
            for one in subjects
        ]
        texts.append("\n\n".join(f"{one.capitalize()}." for one in paragraphs))
        truth.append([np.mean(subjects == one) for one in SUBJECTS])
        parties.append((party,))
    corpus = Corpus(
        texts,
        [f"speech {i}" for i in range(n)],
        dates=[f"{1990 + i // 4}" for i in range(n)],
        labels={"party": parties},
        titles=[f"Speech {i}" for i in range(n)],
    )
    return corpus, np.array(truth)


@pytest.fixture(scope="module")
def split_run(tmp_path_factory):
    corpus, truth = speeches()
    run = sm.explore_corpus(corpus, tmp_path_factory.mktemp("split") / "run", k=3)
    return sm.load_run(run.folder), truth


def table(run, name):
    with (run.folder / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def columns_of(run):
    """Return the number of the group of each subject, by its words."""
    words = dict(zip(run.groups["group"], run.groups["words"], strict=True))
    return [next(k for k in words if own[0] in words[k].split(", ")) for own in SUBJECTS.values()]


def shares_of(run):
    found = run.shares
    return np.array([found[f"group_{k}"] for k in range(run.info.n_groups)], dtype=float).T


def test_shares_of_documents_are_those_of_their_subjects(split_run):
    run, truth = split_run
    shares = shares_of(run)
    assert shares.shape == (40, 3)
    assert np.allclose(shares.sum(axis=1), 1.0)
    assert np.abs(shares[:, columns_of(run)] - truth).max() < 0.05


def test_documents_have_their_first_three_groups(split_run):
    run, _ = split_run
    shares, documents = shares_of(run), run.documents
    order = np.argsort(-shares, axis=1, kind="stable")
    for place, name in enumerate(("", "second_", "third_")):
        here = [i for i, k in enumerate(documents[f"{name}group"]) if k is not None]
        assert [documents[f"{name}group"][i] for i in here] == order[here, place].tolist()
        parts = [documents[f"{name}share"][i] for i in here]
        assert np.allclose(parts, shares[here, order[here, place]])
    assert documents["passages"] == [12] * 40
    rows = table(run, "documents.csv")
    assert [row["id"] for row in rows] == [f"speech {i}" for i in range(40)]
    assert "certainty" not in rows[0]
    mean = dict(zip(run.groups["group"], run.groups["mean_share"], strict=True))
    assert np.allclose([mean[k] for k in range(3)], shares.mean(axis=0))


def test_passages_know_their_document_and_their_place(split_run):
    run, _ = split_run
    rows = table(run, "tables/passages.csv")
    assert len(rows) == 480
    assert (rows[13]["id"], rows[13]["document"], rows[13]["place"]) == (
        "speech 1#2",
        "speech 1",
        "2",
    )
    assert rows[13]["title"] == "Speech 1, passage 2"
    assert {row["id"] for row in table(run, "tables/typical.csv")} <= {row["id"] for row in rows}


def test_typical_documents_are_listed_once_with_their_passage_and_share(split_run):
    run, _ = split_run
    rows, passages, shares = run.read_table("typical"), run.read_table("passages"), shares_of(run)
    place = {one: i for i, one in enumerate(passages["id"])}
    for k in range(3):
        here = [i for i, one in enumerate(rows["group"]) if one == k]
        own = [rows["document"][i] for i in here]
        assert len(own) == len(set(own)) == 10
        best = {}
        for i, cosine in enumerate(passages["cosine"]):
            if passages["group"][i] == k:
                document = passages["document"][i]
                best[document] = max(best.get(document, (-1.0, 0)), (cosine, i))
        assert own == sorted(best, key=best.get, reverse=True)[:10]
        for i in here:
            assert place[rows["id"][i]] == best[rows["document"][i]][1]
            assert rows["id"][i] == f"{rows['document'][i]}#{rows['place'][i]}"
            number = int(rows["document"][i].split()[1])
            assert rows["share"][i] == pytest.approx(shares[number, k])


def test_stability_of_a_document_is_the_mean_of_its_passages(split_run):
    run, _ = split_run
    passages, found = run.read_table("passages"), run.documents["stability"]
    words = run.cut.n_words.reshape(40, 12)
    each = np.array(passages["stability"]).reshape(40, 12)
    assert np.allclose(found, (each * words).sum(axis=1) / words.sum(axis=1))


def test_labels_and_time_are_sums_of_shares(split_run):
    run, _ = split_run
    shares, corpus = shares_of(run), speeches()[0]
    party = [one[0] for one in corpus.labels["party"]]
    for row in table(run, "tables/labels.csv"):
        own = shares[[one == row["label"] for one in party], int(row["group"])].sum()
        assert float(row["documents"]) == pytest.approx(own, rel=1e-4)
        assert float(row["share_of_label"]) == pytest.approx(own / party.count(row["label"]), 1e-4)
    for row in table(run, "tables/time.csv"):
        own = shares[[one == row["period"] for one in corpus.dates], int(row["group"])].sum()
        assert float(row["documents"]) == pytest.approx(own, rel=1e-4, abs=1e-5)
        assert row["all_documents"] == "4"
        assert float(row["low"]) <= float(row["share"]) <= float(row["high"])
        assert float(row["share"]) == pytest.approx(own / 4, rel=1e-4, abs=1e-5)


def test_the_run_says_what_was_split(split_run):
    run, _ = split_run
    said = run.info.corpus.notes
    assert "40 of 40 documents split into 480 passages of 80 words on average." in said
    assert "480 passages of 40 documents" in run._repr_html_()
    readme = (run.folder / "README.txt").read_text(encoding="utf-8")
    assert "40 of 40 documents were split into 480 passages" in " ".join(readme.split())


def test_the_page_lists_passages_and_counts_documents(split_run, tmp_path):
    run, _ = split_run
    content = json.loads(run.report().write_json(tmp_path / "report.json").read_text())
    passages = content["documents"]["passages"]
    assert passages["n_documents"] == 40
    assert passages["document"] == np.repeat(np.arange(40), 12).tolist()
    weights = np.bincount(passages["document"], passages["weight"])
    assert np.allclose(weights, 1.0)


def test_new_documents_have_shares(split_run):
    run, _ = split_run
    new, truth = speeches(6, seed=1)
    short = Corpus(
        [*new.texts, "The captain of the ship saw an island.", "xyzzy"], list("abcdefgh")
    )
    found = run.assign(short)
    assert found["passages"] == [12] * 6 + [1, 1]
    places = columns_of(run)
    for i, share in enumerate(truth):
        assert (
            found["group"][i] == places[share.argmax()] or np.sort(share)[-1] == np.sort(share)[-2]
        )
        assert found["share"][i] == pytest.approx(share.max(), abs=0.05)
    assert found["group"][6] == places[0]
    assert found["group"][7] is None
    assert found["set_aside"][7] == "no passage has a group"
    lines = compare_documents(run, short, Listener()).lines()
    assert lines[0] == "7 documents assigned by 73 of 74 passages, 1 without a group."
    means = {line.split("group ")[1][0]: float(line.split("%")[0]) for line in lines[1:4]}
    assert sum(means.values()) == pytest.approx(100.0, abs=0.2)
    assert run.compare_batch(short) is None


def test_no_new_document_need_have_a_known_word(split_run):
    found = split_run[0].assign(["xyzzy", "plugh"])
    assert found["group"] == [None, None]


def test_an_update_keeps_groups_and_gives_shares_to_new_documents(split_run, tmp_path):
    run, truth = split_run
    named = sm.load_run(run.save(tmp_path / "named")).edit({"names": {columns_of(run)[2]: "Law"}})
    old, _ = speeches()
    new, more = speeches(6, seed=1)
    repeated = Corpus([old.texts[3], *new.texts], ["speech 3", *(f"new {i}" for i in range(6))])
    updated = named.update(repeated, tmp_path / "updated")
    assert updated.documents["id"] == [*old.ids, *(f"new {i}" for i in range(6))]
    assert updated.documents["passages"] == [12] * 46
    places = columns_of(run)
    assert columns_of(updated) == places
    assert updated.names()[places[2]] == "Law"
    shares = shares_of(updated)[:, places]
    assert np.abs(shares - np.vstack([truth, more])).max() < 0.05
    said = remarks(updated)[0].render()
    assert "6 documents were added to 40" in said
    assert "whether new documents are unlike those of before was not tested" in said
    assert "0 of 480 passages of before changed group" in said
    assert check_run(updated, refit=True) == []
    assert updated.assign(["The captain of the ship saw an island."])["group"] == [places[0]]
    again = updated.update(["A jury and a judge heard the appeal."], tmp_path / "again")
    assert again.documents["passages"][-1] == 1
    assert shares_of(again)[-1].argmax() == places[2]


def test_an_update_refuses_another_document_of_the_same_id(split_run, tmp_path):
    new, _ = speeches(2, seed=5)
    with pytest.raises(sm.text.ReadError, match="the id 'speech 0' is that of another document"):
        split_run[0].update(new, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_edits_of_groups_of_passages(split_run, tmp_path):
    run, truth = split_run
    sea, food, law = columns_of(run)
    copy = sm.load_run(run.save(tmp_path / "copy"))
    merged = copy.edit({"merge": [[sea, food]], "names": {law: "Justice"}})
    shares = shares_of(merged)
    assert shares.shape == (40, 2)
    justice = next(k for k, one in enumerate(merged.names()) if one == "Justice")
    assert np.abs(shares[:, justice] - truth[:, 2]).max() < 0.05
    assert "Justice" in merged.documents["name"]
    assert shares_of(merged.undo_edits()).shape == (40, 3)


def test_it_is_made_again_to_the_same_bytes(split_run):
    assert check_run(split_run[0], refit=True) == []


def test_short_documents_stay_whole_unless_it_is_asked_for(tmp_path):
    corpus, _ = speeches(12, n_parts=4)
    whole = sm.explore_corpus(corpus, None, k=3)
    assert whole.shares is None
    assert whole.info.corpus.n_documents == 12
    assert not any("split" in note for note in whole.info.corpus.notes)
    asked = sm.explore_corpus(corpus, tmp_path / "asked", k=3, split="paragraphs")
    assert Counter(asked.documents["passages"]) == {4: 12}
    told = sm.explore_corpus(speeches(12)[0], None, k=3, split="none")
    assert told.shares is None


def test_shares_of_broader_groups_are_sums_of_those_of_their_groups():
    run = sm.explore_corpus(speeches()[0], None, levels="2,3")
    (above,) = run.levels.values()
    found, shares = run.shares, shares_of(run)
    sums = {node: shares[:, np.array(above) == node].sum(axis=1) for node in set(above)}
    columns = [*(f"group_{k}" for k in range(3)), *(f"node_{node}" for node in sums)]
    assert sorted(found) == sorted(["id", *columns])
    for node, own in sums.items():
        assert np.allclose(found[f"node_{node}"], own)
    documents = run.documents
    for i, node in enumerate(documents["broad_group"]):
        assert documents["broad_share"][i] == pytest.approx(max(own[i] for own in sums.values()))
        assert sums[node][i] == pytest.approx(documents["broad_share"][i])
        assert documents["broad_name"][i] == run.nodes[node].name


def test_where_no_subjects_lie_beyond_a_few_groups_the_run_says_how_to_have_finer_ones():
    run = sm.explore_corpus(speeches()[0], None)
    evidence = run.advice.evidence
    far = int(evidence.candidates[evidence.far])
    assert evidence.subjects is None
    assert far >= 4 * run.info.n_groups
    told = [one.render(lambda name: f"--{name}") for one in first_remarks(run)]
    assert any(f"For finer subjects: --levels {run.info.n_groups},{far}" in one for one in told)
    assert any("For finer subjects" in one.render() for one in remarks(run))


def test_few_long_documents_stay_whole_and_the_run_says_so():
    short, long = speeches(19, n_parts=2)[0], speeches(1, n_parts=20)[0]
    texts = [*short.texts, *long.texts]
    run = sm.explore_corpus(Corpus(texts, [f"d{i}" for i in range(20)]), None, k=3)
    assert run.shares is None
    (said,) = (note for note in run.info.corpus.notes if "800" in note)
    assert said.startswith("1 of 20 documents has more than 800 words.")
    assert "all stay whole" in said


def test_a_run_that_is_not_split_is_updated_without(tmp_path):
    corpus, _ = speeches(20, n_parts=2)
    run = sm.explore_corpus(corpus, tmp_path / "run", k=3)
    long, _ = speeches(20, seed=3)
    long = Corpus(long.texts, [f"new {i}" for i in range(20)])
    assert run.update(long, tmp_path / "new").cut is None


@pytest.mark.parametrize("value", ["lines", 0, 0.5, "80%"])
def test_ways_to_split_that_are_none(value):
    with pytest.raises(ParameterError, match="split must be auto, none, paragraphs"):
        ExploreOptions(split=value)


def test_groups_by_words_and_meaning_have_no_shares(tmp_path):
    with pytest.raises(ParameterError, match="by words alone"):
        sm.explore_corpus(
            speeches(12)[0], tmp_path / "run", k=3, meaning="static", split="paragraphs"
        )
    assert not (tmp_path / "run").exists()


def test_a_matrix_is_not_split():
    with pytest.raises(ParameterError, match="split is for texts alone"):
        sm.explore_corpus(sm.text.Matrix(np.eye(9), None, "", "", [], ""), None, split=80)


def test_lines_that_many_documents_have_are_left_out_before_these_are_split():
    corpus, _ = speeches(60)
    menu = " ".join(["Home News Contact"] * 80)  # so long that it would be cut to pieces
    texts = [f"{menu}\n\n{text}" if i % 4 == 0 else text for i, text in enumerate(corpus.texts)]
    run = sm.explore_corpus(Corpus(texts, corpus.ids), None, k=3)
    assert run.cut.lines == {menu: 15}
    assert "news" not in run.feature_names
    assert len(run.cut.documents) == 720
    said = run._repr_html_() + " ".join(one.page for one in remarks(run))
    assert "passages, without lines that many documents have: 'Home News" in said
    assert run.assign([f"{menu}\n\n{corpus.texts[0]}"])["passages"] == [12]
    kept = sm.explore_corpus(Corpus(texts, corpus.ids), None, k=3, keep_boilerplate=True)
    assert "news" in kept.feature_names
