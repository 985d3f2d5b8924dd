"""The page as a widget of a notebook: what is chosen on it comes back, and nothing else does."""

from __future__ import annotations

import numpy as np
import pytest

import spheremix as sm

pytest.importorskip("anywidget")

# What anywidget does in a notebook, with a model that only remembers.
START = """async ([code, values]) => {
  const { default: widget } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  window.saved = [];
  const model = {
    get: (name) => values[name],
    set: (name, value) => (values[name] = value),
    save_changes: () => window.saved.push({ group: values.group, documents: values.documents }),
  };
  window.leave = widget.render({ model, el: document.body });
}"""


@pytest.fixture(scope="module")
def report(study):
    """The five topics with a map: group 0 at the left edge, all others at the right one."""
    corpus, vectorizer, _, model = study
    made = sm.Report(model, corpus, vectorizer=vectorizer)
    group = made.content["documents"]["group"]
    away = np.where(group == 0, 0, 65_000).astype(np.uint16)
    made.content["layout"] = {"x": away, "y": (np.arange(len(group)) * 200).astype(np.uint16)}
    return made


@pytest.fixture
def shown(browser, report):
    """Return a page that shows the widget, its frame, and the widget."""
    widget = report.widget()
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.evaluate(START, [widget._esm, {"page": widget.page, "title": widget.title}])
    page.wait_for_function("window.saved.length")
    yield page, page.frames[1], widget
    page.close()
    assert errors == []


def last(page, n):
    """Return what was told last, after n times."""
    page.wait_for_function(f"window.saved.length === {n}")
    return page.evaluate("window.saved.at(-1)")


def ids_of(report, group):
    told = report.content["documents"]
    return {i for i, own in zip(told["id"], told["group"], strict=True) if own == group}


def test_groups_and_lassoed_documents_come_back_as_ids(shown, report):
    page, frame, widget = shown
    frame.locator("#group-3").click()
    chosen = last(page, 2)
    assert chosen["group"] == 3
    assert set(chosen["documents"]) == ids_of(report, 3)
    assert len(chosen["documents"]) == len(ids_of(report, 3)) > 20
    frame.get_by_role("button", name="Draw around").click()
    box = frame.locator(".document-map").bounding_box()
    corners = [[box["x"] + box["width"] * part for part in (0.01, 0.5)]]
    corners += [[box["y"] + box["height"] * part for part in (0.01, 0.97)]]
    (left, right), (top, bottom) = corners
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in ((right, top), (right, bottom), (left, bottom)):
        page.mouse.move(x, y, steps=4)
    page.mouse.up()
    lassoed = last(page, 3)
    assert set(lassoed["documents"]) == ids_of(report, 0)
    # What the page says, the traits take.
    widget.group, widget.documents = lassoed["group"], lassoed["documents"]
    assert (widget.group, set(widget.documents)) == (3, ids_of(report, 0))


def test_other_windows_are_not_believed(shown):
    page, frame, _ = shown
    before = last(page, 1)
    page.evaluate("window.postMessage({ group: 1, documents: ['forged'] }, '*')")
    page.evaluate("window.postMessage(null, '*')")
    frame.locator("#group-3").click()
    assert last(page, 2)["group"] == 3
    assert before["documents"] != ["forged"]
    assert page.evaluate("window.saved.every(({ documents }) => documents[0] !== 'forged')")
    page.evaluate("window.leave()")
    frame.locator("#group-1").click()
    page.wait_for_timeout(300)
    assert last(page, 2)["group"] == 3


def test_a_page_elsewhere_tells_nobody(browser, report, tmp_path):
    """Opened as a file, or in a frame that is no widget, the page says nothing."""
    report.write_html(tmp_path / "report.html")
    (tmp_path / "other.html").write_text(
        f"<script>window.told = []; onmessage = (one) => told.push(one.data)</script>"
        f'<iframe name="spheremix-widget" src="report.html"></iframe>{report._repr_html_()}',
        encoding="utf-8",
    )
    page = browser.new_page()
    page.goto((tmp_path / "other.html").as_uri())
    for frame in page.frames[1:]:
        frame.locator("#group-3").wait_for()
        frame.locator("#group-3").click()
    page.wait_for_timeout(300)
    assert len(page.frames) == 3
    assert page.evaluate("window.told") == []
    page.close()
