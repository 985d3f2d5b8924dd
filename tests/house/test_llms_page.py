"""The page for programs says what the command and the tables are."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_is_what_the_tool_makes(load_tool):
    committed = (ROOT / "docs" / "llms.txt").read_text(encoding="utf-8")
    assert load_tool("llms_page").page() == committed, "Run: python tools/llms_page.py"


def test_every_command_and_table_is_there(load_tool):
    page = load_tool("llms_page").page()
    for part in ("spheremix explore FILE", "--text", "documents.csv", "stability", "undo()"):
        assert part in page
