"""What the tests of runs share: processes, and a run that is brought up to date."""

from __future__ import annotations

import pytest
from forked import server
from listening import Told

__all__ = ["server"]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Return a small run with a name, notes and a mark."""
    common = pytest.importorskip("cli_common")
    from edit_common import explore  # noqa: PLC0415

    place = tmp_path_factory.mktemp("base")
    run = explore(common.write_lines(place / "docs.jsonl", common.texts(90)), place / "run")[0]
    marks = {"groups": {1: "look again"}, "documents": {"doc 3": "odd"}}
    return run.edit({"names": {0: "First"}, "notes": marks, "misplaced": ["doc 5"]})


@pytest.fixture(scope="module")
def news(tmp_path_factory):
    """Return new documents, some of them of a topic that the run does not have."""
    common = pytest.importorskip("cli_common")
    from news_common import event, quiet  # noqa: PLC0415

    place = tmp_path_factory.mktemp("news")
    return common.write_lines(place / "new.jsonl", [*quiet(), *event()])


@pytest.fixture(scope="module")
def after(base, news, tmp_path_factory):
    """Return the run with these documents."""
    return base.update(news, tmp_path_factory.mktemp("after") / "run", listener=Told())
