"""What other options in the same folder lose is said, and no work is told that is not done."""

from __future__ import annotations

import pytest
from cli_common import texts, write_lines
from reuse_common import OPTIONS, Heard

import spheremix as sm
from spheremix.cli.naming import option_name

ADVICE = (
    "{} clusters had been recommended{}. The advice and tables/advice.csv are of a range of "
    "numbers, and one number was given: to have them again, give the range, as --k 2:4."
)


class Noting(Heard):
    """Keeps the notes as the command shows them."""

    def __init__(self):
        super().__init__()
        self.notes = []

    def note(self, message):
        self.notes.append(message.render(option_name))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lost")
    write_lines(folder / "docs.jsonl", texts(40))
    names = "cluster,name\n0,the first\n"
    (folder / "names.csv").write_text(names, encoding="utf-8")
    return folder


def explore(place, **more):
    heard = Noting()
    options = {**OPTIONS, "criterion": "none", **more}
    sm.explore_corpus(place / "docs.jsonl", place / "run", listener=heard, **options)
    return heard


def test_what_other_options_lose_is_said(place):
    assert explore(place).notes == []
    names = place / "names.csv"
    assert explore(place, names=names).notes == []
    heard = explore(place)
    assert heard.notes == [
        "The names of names.csv are no longer used: give --names again to keep them."
    ]
    working = ("Fitting", "Drawing the documents again, to see which")
    assert not any(begun.startswith(working) for begun in heard.begun)
    explore(place, names=names)
    advised = sm.load_run(place / "run").manifest.advice.recommended
    first, *others = [str(one.n_clusters) for one in advised]
    assert explore(place, k=2).notes == [
        "The names of names.csv are not used: they are of other clusters.",
        ADVICE.format(first, f" (and {' and '.join(others)})" if others else ""),
    ]
    heard = explore(place, k="2:5")
    assert heard.notes == []
    assert "Fitting 5 clusters, 2 runs each" in heard.begun
