"""What came with the documents: in the corpus of a run, in documents.csv, and read again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_common import TOPICS, rows

import spheremix as sm
from spheremix.run import render
from spheremix.run.carried import carried_columns, renamed
from spheremix.run.documents import pack_corpus, unpack_corpus
from spheremix.run.legend import explain
from spheremix.text import Corpus
from spheremix.text.columns import parse_labels
from spheremix.text.corpus import Cleaning

OPTIONS = {"k": 2, "starts": 1, "min_count": 1, "min_df": 1, "lemmatizer": "none", "max_steps": 9}


@pytest.fixture
    """Figures and pages take longer than all the rest."""
    monkeypatch.setattr(render, "complete", lambda *_: None)
    monkeypatch.setattr("spheremix.run.explore.complete", lambda *_: None)


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
            "cluster": [("x",)] * 13,
        },
        titles=[*(f"Title {i}" for i in range(12)), ""],
        metadata={
            "name": ["=1+1"] * 13,
            "name_input": [None] * 13,
            "share": [0.1234567890123456] * 13,
            "=cmd": [{"a": [1, None, "é"]}] * 13,
            "open": [True, False] * 6 + [None],
        },
    )


class TestColumns:
    def test_names_that_are_ours_get_an_end(self):
        corpus = documents()
        found = carried_columns(corpus)
        assert list(found) == [
            *("topic", "who", "cluster_input"),
            *("name_input_input", "name_input", "share", "=cmd", "open"),
        ]
        said = "in documents.csv, which has a column of that name already."
        assert renamed(corpus) == [
            f"Column 'cluster' is called 'cluster_input' {said}",
            f"Column 'name' is called 'name_input_input' {said}",
        ]

    def test_values_are_written_with_all_they_have(self):
        found = carried_columns(documents())
        assert found["share"][0] == "0.1234567890123456"
        assert float(found["share"][0]) == 0.1234567890123456
        assert found["=cmd"][0] == '{"a": [1, null, "é"]}'
        assert found["open"] == ["true", "false"] * 6 + [None]
        assert found["who"][0] == "Ann; Ben"
        assert parse_labels(found["who"][-1], Cleaning()) == ("Cleo;Dora", "Ben")

    def test_they_are_explained(self):
        legend = "".join(explain({"documents": ["id", "cluster", "topic", "x" * 60]}))
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
        assert "Column 'cluster' is called 'cluster_input'" in " ".join(run.manifest.corpus.notes)

    def test_labels_of_each_column_are_compared(self, tmp_path):
        run = sm.explore_corpus(documents(), tmp_path / "run", **OPTIONS)
        agreement = run.manifest.label_agreement
        assert set(agreement) == {"topic", "cluster"}  # "who" has several a document
        assert agreement["topic"].ari == 1.0
        assert agreement["topic"].n_documents == 12
        found = rows(run.folder / "tables" / "labels.csv")
        counted = {
            (one["label_column"], one["label"]): int(one["documents"])
            for one in found
            if one["cluster"] == "0"
        }
        clusters = run.documents["cluster"]
        for column, values in documents().labels.items():
            for label in {one for several in values for one in several}:
                there = sum(
                    label in several and k == 0 for several, k in zip(values, clusters, strict=True)
                )
                assert counted.get((column, label), 0) == there

    def test_typical_documents_have_titles_dates_and_labels(self, tmp_path):
        run = sm.explore_corpus(documents(), tmp_path / "run", **OPTIONS)
        typical = run.read_table("typical")
        assert list(typical) == [
            *("cluster", "rank", "id", "title", "date", "labels", "cosine", "text"),
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
        assert (none["title"], none["cluster"], none["n"]) == (["B"], [None], ["2"])
        assert list(none) == list(run.assign(new))


class Kept:
    """Lines of a file, in place of what writes and reads those of a run."""

    folder = Path("run")

    def packed(self, _name, lines=None):
        if lines is None:
            return self.lines
        self.lines = list(lines)
        return "corpus.jsonl.gz"


class TestCodec:
    def test_lines_come_back(self):
        kept = Kept()
        name = pack_corpus(documents(), kept)
        found = unpack_corpus(kept, name)
        assert found.content_checksum() == documents().content_checksum()
        bare = Corpus(["a"], ["1"])
        assert unpack_corpus(kept, pack_corpus(bare, kept)) == bare

    @pytest.mark.parametrize(
        "change",
        [
            {"date": "noon"},
            {"date": 1990},
            {"title": 5},
            {"labels": {"topic": ["sea"]}},  # other columns than those of the first line
            {"labels": {"topic": "sea", "who": [], "cluster": []}},
            {"labels": None},
            {"metadata": [1]},
            {"metadata": {}},
            {"text": None},
        ],
    )
    def test_damaged_lines_are_refused(self, change):
        kept = Kept()
        name = pack_corpus(documents(), kept)
        kept.lines[1] = json.dumps({**json.loads(kept.lines[1]), **change})
        with pytest.raises(sm.RunError, match=r"run/corpus\.jsonl\.gz: .*damaged"):
            unpack_corpus(kept, name)

    def test_a_missing_key_and_no_line_are_refused(self):
        kept = Kept()
        name = pack_corpus(documents(), kept)
        first = json.loads(kept.lines[0])
        for lines in ([json.dumps({k: v for k, v in first.items() if k != "labels"})], [], ["["]):
            kept.lines = lines
            with pytest.raises(sm.RunError, match="damaged"):
                unpack_corpus(kept, name)
