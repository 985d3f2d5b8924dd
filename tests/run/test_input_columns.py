"""What came with the documents: in the corpus of a run, in documents.csv, and read again."""

from __future__ import annotations

import pytest
from cli_common import TOPICS, rows

import spheremix as sm
from spheremix.run.columns import input_columns, renamed_columns
from spheremix.run.folder.schema import explain
from spheremix.text import Corpus
from spheremix.text.columns import parse_labels
from spheremix.text.corpus import Cleaning

OPTIONS = {"k": 2, "starts": 1, "min_count": 1, "min_df": 1, "lemmatizer": "none", "max_steps": 9}


def documents():
    """Return twelve documents of two topics with everything that a corpus can have."""
    names = ["sea", "sky"] * 6
    texts = [" ".join(TOPICS[name].split()[i % 5 : i % 5 + 4]) for i, name in enumerate(names)]
    return Corpus(
        [*texts, "!"],
        [f"d{i}" for i in range(13)],
        dates=[*(str(1990 + i) for i in range(12)), None],
        labels={
            "topic": [*((name,) for name in names), ()],
            "who": [("Ann", "Ben")] * 6 + [("Cleo;Dora", "Ben")] * 7,
            "group": [("x",)] * 13,
        },
        titles=[*(f"Title {i}" for i in range(12)), ""],
        metadata={
            "name": ["=1+1"] * 13,
            "name_input": [None] * 13,
            "part": [0.1234567890123456] * 13,
            "=cmd": [{"a": [1, None, "é"]}] * 13,
            "open": [True, False] * 6 + [None],
        },
    )


class TestColumns:
    def test_names_that_are_ours_get_an_end(self):
        corpus = documents()
        found = input_columns(corpus)
        assert list(found) == [
            *("topic", "who", "group_input"),
            *("name_input_input", "name_input", "part", "=cmd", "open"),
        ]
        said = "in documents.csv, which has a column of that name already."
        assert renamed_columns(corpus) == [
            f"Column 'group' is called 'group_input' {said}",
            f"Column 'name' is called 'name_input_input' {said}",
        ]

    def test_values_are_written_with_all_they_have(self):
        found = input_columns(documents())
        assert found["part"][0] == "0.1234567890123456"
        assert float(found["part"][0]) == 0.1234567890123456
        assert found["=cmd"][0] == '{"a": [1, null, "é"]}'
        assert found["open"] == ["true", "false"] * 6 + [None]
        assert found["who"][0] == "Ann; Ben"
        assert parse_labels(found["who"][-1], Cleaning()) == ("Cleo;Dora", "Ben")

    def test_they_are_explained(self):
        legend = "".join(explain({"documents": ["id", "group", "topic", "x" * 60]}))
        said = "Column of the input: first the labels, then the others."
        assert said in " ".join(legend.split())
        assert f"  topic, {'x' * 60}\n" in legend
        assert max(map(len, legend.splitlines())) <= 100


class TestRuns:
    def test_everything_comes_back(self, tmp_path):
        corpus = documents()
        run = sm.explore_corpus(corpus, tmp_path / "run", **OPTIONS)
        again = run.corpus()
        for name in ("texts", "ids", "dates", "labels", "titles", "metadata"):
            assert getattr(again, name) == getattr(corpus, name), name
        table = run.documents
        assert list(table)[:3] == ["id", "title", "date"]
        assert table["date"] == [*(str(1990 + i) for i in range(12)), ""]
        assert table["title"][:2] == ["Title 0", "Title 1"]
        assert table["name_input_input"] == ["=1+1"] * 13
        assert table["=cmd"][0] == '{"a": [1, null, "é"]}'
        assert "'=1+1" in (run.folder / "documents.csv").read_text(encoding="utf-8")
        assert ",'=cmd," in (run.folder / "documents.csv").read_text(encoding="utf-8")
        assert "Column 'group' is called 'group_input'" in " ".join(run.info.corpus.notes)

    def test_labels_of_each_column_are_compared(self, tmp_path):
        run = sm.explore_corpus(documents(), tmp_path / "run", **OPTIONS)
        agreement = run.info.label_agreement
        assert set(agreement) == {"topic", "group"}  # "who" has several a document
        assert agreement["topic"].ari == 1.0
        assert agreement["topic"].n_documents == 12
        found = rows(run.folder / "tables" / "labels.csv")
        counted = {
            (one["label_column"], one["label"]): int(one["documents"])
            for one in found
            if one["group"] == "0"
        }
        groups = run.documents["group"]
        for column, values in documents().labels.items():
            for label in {one for several in values for one in several}:
                there = sum(
                    label in several and k == 0 for several, k in zip(values, groups, strict=True)
                )
                assert counted.get((column, label), 0) == there

    def test_typical_documents_have_titles_dates_and_labels(self, tmp_path):
        run = sm.explore_corpus(documents(), tmp_path / "run", **OPTIONS)
        typical = run.read_table("typical")
        assert list(typical) == [
            *("group", "rank", "id", "title", "date", "labels", "cosine", "text"),
        ]
        i = int(typical["id"][0][1:])
        assert typical["title"][0] == f"Title {i}"
        assert typical["date"][0] == str(1990 + i)
        topic = "sky" if i % 2 else "sea"
        assert typical["labels"][0].startswith(f"topic: {topic}; who: ")

    def test_years_are_the_periods(self, tmp_path):
        run = sm.explore_corpus(documents(), tmp_path / "run", **OPTIONS)
        assert sorted(set(run.read_table("time")["period"])) == [str(1990 + i) for i in range(12)]

    def test_another_value_is_another_run(self, tmp_path):
        corpus = documents()
        sm.explore_corpus(corpus, tmp_path / "run", **OPTIONS)
        sm.explore_corpus(documents(), tmp_path / "run", **OPTIONS)
        corpus.metadata["open"][0] = None
        with pytest.raises(sm.RunError, match="of other documents"):
            sm.explore_corpus(corpus, tmp_path / "run", **OPTIONS)

    def test_new_documents_bring_their_columns(self, tmp_path):
        run = sm.explore_corpus(documents(), tmp_path / "run", **OPTIONS)
        new = Corpus(["boat harbour", "?"], ["a", "b"], titles=["A", "B"], metadata={"n": [1, 2]})
        assert run.assign(new)["n"] == ["1", "2"]
        none = run.assign(new.take([1]))
        assert (none["title"], none["group"], none["n"]) == (["B"], [None], ["2"])
        assert list(none) == list(run.assign(new))
