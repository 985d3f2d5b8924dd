"""A report that readers of the pages can click: that of the demo, made when the pages are built.

It is made once, from the docstrings of the installed numpy, scipy and scikit-learn, and lies in
`_static`, where it is not under version control. It is made again when the page of the report has
changed since; `make clean` removes it.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from sphinx.util import logging

import spheremix as sm
from spheremix.cli.commands import DEMO

LOGGER = logging.getLogger(__name__)
PLACE = Path(__file__).parents[1] / "_static" / "live-report.html"
SHARE = 3  # one document of so many: the page stays small


def make(app: Any) -> None:
    """Make the report where there is none, or an older one."""
    del app
    page = Path(sm.__file__).with_name("report").rglob("*")
    if PLACE.exists() and PLACE.stat().st_mtime > max(one.stat().st_mtime for one in page):
        return
    LOGGER.info("making the report that readers can click")
    documents = sm.datasets.load_docstrings(prose=True)
    with tempfile.TemporaryDirectory() as folder:
        run = sm.explore_corpus(
            documents.take(range(0, len(documents), SHARE)), Path(folder, "run"), **DEMO
        )
        whole = shutil.copyfile(run.folder / "report.html", PLACE.with_suffix(".part"))
        whole.replace(PLACE)


def setup(app: Any) -> dict[str, bool]:
    """Connect the above."""
    app.connect("builder-inited", make)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
