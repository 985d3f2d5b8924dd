"""Texts on the workers of Dask: the same words and the same rows as in memory."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.text import TextVectorizer

bag = pytest.importorskip("dask.bag")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

MENU = "Home | News | Sport | Weather | About this page"


def some_texts(n=240, seed=0):
    """Return texts of three subjects, with a menu, addresses and a few empty ones."""
    rng = np.random.default_rng(seed)
    subjects = [
        "Apples pears plums trees fruit apple pear harvest orchards",
        "Rain winds clouds storm weather cloud rains snow Winters",
        "bolts nut screws nails steel bolt Nuts screw workshop",
    ]
    texts = []
    for i in range(n):
        words = rng.choice(subjects[i % 3].split(), 8)
        text = " ".join(words) + (f" rare{i}" if i % 5 == 0 else "")
        if i % 4 == 0:
            text = f"{MENU}\n{text}\nwrite to someone@example.org"
        texts.append("" if i == 7 else text)
    return texts


TEXTS = some_texts()
ATTRIBUTES = (
    *("forms_", "min_count_", "min_df_", "max_df_", "n_words_", "cost_", "removed_"),
    *("lines_", "boilerplate_", "phrases_"),
)
OPTIONS = [
    {},
    {"lemmatizer": None, "weighting": "counts", "keep_boilerplate": True},
    {"drop": ["apple", "cloud"], "drop_mixed": True, "weighting": "binary", "min_count": 3},
    {"drop_lines": ["write to someone@example.org"], "weighting": "tfidf", "stop_words": None},
]


def together(lazy):
    """Return a Dask array as one sparse matrix."""
    blocks = [lazy.blocks[i].compute() for i in range(lazy.numblocks[0])]
    return sparse.vstack(blocks, format="csr")


def assert_same(ours, lazy, whole, known):
    assert_array_equal(ours.vocabulary_, whole.vocabulary_)
    if whole.idf_ is None:
        assert ours.idf_ is None
    else:
        assert_array_equal(ours.idf_, whole.idf_)
    for name in ATTRIBUTES:
        assert getattr(ours, name) == getattr(whole, name), name
    found = together(lazy)
    assert found.shape == known.shape
    for part in ("data", "indices", "indptr"):
        assert_array_equal(getattr(found, part), getattr(known, part))


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("n_parts", [1, 7])
def test_the_words_and_the_rows_are_those_of_memory(options, n_parts):
    whole, ours = TextVectorizer(**options), TextVectorizer(**options)
    known = whole.fit_transform(TEXTS)
    given = bag.from_sequence(TEXTS, npartitions=n_parts)
    lazy = ours.fit_transform(given)
    assert lazy.numblocks == (given.npartitions, 1)
    assert_same(ours, lazy, whole, known)
    new = some_texts(30, seed=1)
    lazy = ours.transform(bag.from_sequence(new, npartitions=3))
    assert (together(lazy) != whole.transform(new)).nnz == 0


@pytest.mark.usefixtures("client")
def test_a_column_of_parquet_files_is_read_where_it_is(tmp_path):
    for i, start in enumerate(range(0, len(TEXTS), 80)):
        part = pd.DataFrame({"text": TEXTS[start : start + 80], "other": 1})
        part.to_parquet(tmp_path / f"{i}.parquet")
    frame = dd.read_parquet(tmp_path)
    whole, ours = TextVectorizer(), TextVectorizer()
    assert_same(ours, ours.fit_transform(frame["text"]), whole, whole.fit_transform(TEXTS))
    with pytest.raises(ParameterError, match="2 columns"):
        TextVectorizer().fit(frame)


@pytest.mark.usefixtures("client")
def test_the_groups_are_those_of_memory():
    texts = [text for text in TEXTS if text]
    known = sm.VMFMixture(3, random_state=0).fit(TextVectorizer().fit_transform(texts))
    X = TextVectorizer().fit_transform(bag.from_sequence(texts, npartitions=5))
    found = sm.VMFMixture(3, random_state=0).fit(X)
    assert_array_equal(found.labels_, known.labels_)
    np.testing.assert_allclose(found.prototypes_, known.prototypes_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.weights_, known.weights_, rtol=0, atol=1e-10)


def test_without_a_cluster_threads_read_them():
    whole, ours = TextVectorizer(), TextVectorizer()
    lazy = ours.fit_transform(bag.from_sequence(TEXTS, npartitions=4))
    assert_same(ours, lazy, whole, whole.fit_transform(TEXTS))


def test_a_worker_that_is_killed_changes_nothing(tmp_path):
    from dask_common import QUIET  # noqa: PLC0415
    from distributed import Client, LocalCluster  # noqa: PLC0415

    done = tmp_path / "killed"

    def lemma(form):
        return form.removesuffix("s")

    def slowly(text):
        # The first process that reads this text dies while it does so.
        if "rare200" in text and not done.exists():
            done.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return text.lower().split()

    options = {"lemmatizer": lemma, "tokenizer": slowly}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **QUIET) as cluster,
        Client(cluster),
    ):
        ours = TextVectorizer(**options)
        lazy = ours.fit_transform(bag.from_sequence(TEXTS, npartitions=6))
        assert done.exists()
        # What a worker held is lost, too.
        pid = next(iter(Client(cluster).run(os.getpid).values()))
        os.kill(pid, signal.SIGKILL)
        whole = TextVectorizer(**options)
        assert_same(ours, lazy, whole, whole.fit_transform(TEXTS))


@pytest.mark.parametrize("options", [{"phrases": 2}, {"ngram_range": (1, 2)}])
def test_what_needs_all_texts_at_once_is_refused(options):
    with pytest.raises(ParameterError, match="texts in memory"):
        TextVectorizer(**options).fit(bag.from_sequence(TEXTS, npartitions=2))


@pytest.mark.usefixtures("client")
def test_what_is_no_text_is_named():
    with pytest.raises(ParameterError, match="Text 1 of partition 2 must be a string, got int"):
        TextVectorizer().fit(bag.from_sequence(["a b", "c d"] * 2 + ["e f", 3], npartitions=3))
    with pytest.raises(ParameterError, match="all are empty"):
        TextVectorizer().fit(bag.from_sequence(["", " "], npartitions=2))
