"""The page of a report as a widget of a notebook; only this module knows anywidget."""

from __future__ import annotations

from importlib import resources

import anywidget
import traitlets


class PageWidget(anywidget.AnyWidget):
    """The page in a frame; ``group`` and ``documents`` are what is chosen on it."""

    _esm = (resources.files("spheremix.report") / "page" / "widget.js").read_text("utf-8")

    page = traitlets.Unicode().tag(sync=True)
    title = traitlets.Unicode().tag(sync=True)
    group = traitlets.Int(None, allow_none=True).tag(sync=True)
    documents = traitlets.List(traitlets.Unicode()).tag(sync=True)
