"""New documents after those of a run: ids, columns that one of them lacks, documents in both."""

from __future__ import annotations

import pytest
from spheremix.run.joining import join_documents
from spheremix.run.places import add_places, colour_places
from spheremix.run.tree_schema import GrownRecord, NodeRecord, TreeRecord

from spheremix.text import Corpus, ReadError


def test_ids_that_count_go_on_counting():
    found = join_documents(Corpus.from_texts(["a", "b"]), Corpus.from_texts(["a", "c"]))
    assert found.corpus.ids == ["1", "2", "3", "4"]
    assert found.corpus.texts == ["a", "b", "a", "c"]
    assert (found.fresh.ids, found.n_known) == (["3", "4"], 0)


def test_ids_that_count_go_on_after_ids_of_any_kind():
    old = Corpus(["a", "b", "c"], ["x", "4", "y"])
    found = join_documents(old, Corpus.from_texts(["d", "e"]))
    assert found.corpus.ids == ["x", "4", "y", "5", "6"]
    again = join_documents(found.corpus, Corpus.from_texts(["f", "g"]))
    assert again.fresh.ids == ["7", "8"]  # and no id is that of another document


def test_a_file_that_has_grown_adds_its_new_lines():
    found = join_documents(Corpus.from_texts(["a", "b"]), Corpus.from_texts(["a", "b", "c"]))
    assert (found.fresh.ids, found.n_known) == (["3"], 2)


def test_documents_that_are_there_are_left_out_and_missing_columns_are_empty():
    old = Corpus(["a", "b"], ["x", "y"], titles=["A", "B"], metadata={"n": [1, 2]})
    new = Corpus(["b", "c"], ["y", "z"], dates=["2020", "2021"], labels={"t": [("p",), ("q",)]})
    found = join_documents(old, new)
    assert found.corpus.ids == ["x", "y", "z"]
    assert found.n_known == 1
    assert found.corpus.titles == ["A", "B", ""]
    assert found.corpus.dates == [None, None, "2021"]
    assert found.corpus.labels == {"t": [(), (), ("q",)]}
    assert found.corpus.metadata == {"n": [1, 2, None]}
    assert found.corpus.checksum == found.corpus.content_checksum()


def node(parent, size, cluster, *, chosen=False):
    return NodeRecord(
        parent=parent,
        height=0.0,
        size=size,
        n_leaves=1,
        cluster=cluster,
        chosen=chosen,
        name="",
        words=[],
        sibling_words=[],
        only_here_words=[],
    )


def test_places_of_colours_follow_the_leaves_of_the_tree():
    # Leaves 0 and 1 are cluster 0, leaf 2 is cluster 1, the largest; node 3 is cluster 0.
    nodes = [
        node(3, 4, 0),
        node(3, 6, 0),
        node(4, 30, 1, chosen=True),
        node(4, 10, 0, chosen=True),
        node(None, 40, None),
    ]
    grown = GrownRecord(leaves="leaves.npy", clusters=[0, 0, 1], pairs=[[0, 1], [2, 3]], values=[])
    places = colour_places(TreeRecord(grown=grown, nodes=nodes), 2)
    # The order of the leaves is 2, 1, 0: the largest group first.
    assert places == [[(1.5 + 0.5) / 3, 1.0], [0.5 / 3, 0.0]]
    assert colour_places(None, 2) == [[0.0, 0.0], [0.5, 1.0]]


def test_new_groups_get_places_in_the_widest_gaps():
    found = add_places([[0.1, 0.0], [0.4, 1.0], [0.9, 0.0]], 2)
    assert found[:3] == [[0.1, 0.0], [0.4, 1.0], [0.9, 0.0]]
    assert found[3:] == [[0.65, 1.0], [0.25, 0.0]]


def test_an_id_with_braces_is_named_as_it_is():
    old, new = Corpus(["a"], ["{x"]), Corpus(["b"], ["{x"])
    with pytest.raises(ReadError, match=r"the id '\{x' is that of another document of the run"):
        join_documents(old, new)
