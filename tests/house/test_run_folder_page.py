"""The page about the folder of a run says what the code says."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from spheremix.run.columns import TABLES
from spheremix.run.folder.schema import FILES, RunInfo

ROOT = Path(__file__).parents[2]
COMMITTED = (ROOT / "docs" / "run-folder.md").read_text(encoding="utf-8")


def test_the_page_is_what_the_tool_makes(load_tool):
    assert load_tool("run_folder_page").page() == COMMITTED, "Run: python tools/run_folder_page.py"


def test_the_page_names_every_file_column_and_key():
    """Looked for in the page itself, whatever the tool does. A column is explained once."""
    for table in TABLES.values():
        section = COMMITTED.partition(f"\n### `{table.file}`\n")[2].partition("\n#")[0]
        for name, column in table.columns.items():
            assert f"`{name}`" in section
            named = f"`{name}`" in section.partition("\n- As in ")[2]
            assert column.meaning in (COMMITTED if named else section)
        assert table.others in section
    others = COMMITTED.partition("\n## The other files\n")[2].partition("\n## ")[0]
    assert all(f"`{file}`" in others for file in FILES)
    keys = COMMITTED.partition("\n### The keys of run.json\n")[2].partition("\n### ")[0]
    assert all(f"\n- `{one.name}`: " in keys for one in fields(RunInfo))
