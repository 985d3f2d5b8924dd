"""The report in a notebook: a frame that cannot reach the notebook, nor be restyled by it."""

from __future__ import annotations

import pytest

import spheremix as sm

NOTEBOOK = """<!doctype html><style>* {{ color: red !important; font-size: 50px }}</style>
<script>window.secret = 1</script><body>{cell}</body>"""
REACH = """() => {
  try { return String(window.parent.secret); } catch (error) { return error.name; }
}"""


@pytest.fixture(scope="module")
def report():
    X, _, _ = sm.datasets.make_vmf_mixture(120, 8, 3, kappa=30.0, random_state=0)
    path = sm.VMFPath(3, n_init=2, random_state=0).fit(X)
    return sm.Report(path, X=X, feature_names=[f"word{j}" for j in range(8)], title='A "<b>title')


def test_the_page_works_in_its_frame_and_is_cut_off(browser, report, tmp_path):
    place = tmp_path / "notebook.html"
    place.write_text(NOTEBOOK.format(cell=report._repr_html_()), encoding="utf-8")
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    page.goto(place.as_uri())
    frame = page.frames[1]
    frame.wait_for_selector("#group-list li")
    assert frame.evaluate(REACH) == "SecurityError"
    colour = frame.evaluate("getComputedStyle(document.querySelector('h1')).color")
    assert colour != "rgb(255, 0, 0)"
    frame.locator("#beta").fill("1")  # elsewhere the state goes into the address
    page.wait_for_timeout(300)
    assert errors == []
    page.close()
