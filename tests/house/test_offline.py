"""The pages of the documentation ask nothing of the network: how formulas and pages are checked."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="comes with the documentation: pip install '.[docs]'")
sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "_ext"))

import offline

BAR = '<mo stretchy="false" lspace="0" rspace="0">|</mo>'


def written(tex, *, as_block=False):
    """Return the MathML without its indentation and its frame."""
    found = re.sub(r">\s+<", "><", offline.mathml(tex, as_block=as_block))
    return re.fullmatch(r"<math[^>]*>(.*)</math>", found)[1]


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        (r"\mu'_k", "<msubsup><mi>μ</mi><mi>k</mi><mo>\u2032</mo></msubsup>"),
        (r"A_d'", "<msubsup><mi>A</mi><mi>d</mi><mo>\u2032</mo></msubsup>"),
        (
            r"2 \log n",
            '<mn>2</mn><mo lspace="0.167em" rspace="0.167em">log</mo><mi>n</mi>',
        ),
        (r"\log n", '<mo lspace="0" rspace="0.167em">log</mo><mi>n</mi>'),
        (r"|r|", f"{BAR}<mi>r</mi>{BAR}"),
    ],
)
def test_formulas(tex, expected):
    assert written(tex) == expected


def test_unknown_latex_is_an_error():
    with pytest.raises(offline.MathError, match="nosuch"):
        offline.mathml(r"\nosuch{x}", as_block=True)


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ('<script async src="https://a.b/c.js"></script>', "*.html", ["https://a.b/c.js"]),
        ('<link rel="stylesheet"\n href="//a.b/c.css">', "*.html", ["//a.b/c.css"]),
        ('<a href="https://a.b">there</a><img src="_static/a.png">', "*.html", []),
        ("a { background: url('http://a.b/c.png') }", "*.css", ["http://a.b/c.png"]),
        ("a { background: url(c.png) }", "*.css", []),
    ],
)
def test_what_is_fetched(text, kind, expected):
    assert offline.addresses(text, kind) == expected
