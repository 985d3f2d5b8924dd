"""What a command says when it is interrupted."""

from __future__ import annotations

import pytest
from cli_common import run, texts, write_lines

GOES_ON = "interrupted: start the same command again to go on."


def interrupt(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("command", "where", "said"),
    [
        (("explore", "docs.jsonl"), "spheremix.run.explore.explore_corpus", GOES_ON),
        (("demo",), "spheremix.datasets.load_docstrings", GOES_ON),
        (("assign", "run", "docs.jsonl"), "spheremix.run.run.load_run", "interrupted."),
        (("report", "run"), "spheremix.run.run.load_run", "interrupted."),
        (("simulate",), "spheremix.datasets.make_vmf_mixture", "interrupted."),
    ],
)
def test_only_commands_that_resume_promise_to_go_on(command, where, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "docs.jsonl", texts())
    monkeypatch.setattr(where, interrupt)
    _, err = run(*command, code=130)
    assert err.splitlines()[-1] == said
