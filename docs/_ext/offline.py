"""Pages that ask nothing of the network: formulas as MathML, and a look at what was built.

Browsers show MathML by themselves; docutils, which Sphinx stands on, writes it from LaTeX. A
formula that it cannot read, and a page that would fetch anything from elsewhere, are warnings,
which `make docs` takes for errors.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)

# What docutils leaves to be done. A prime is an exponent, after the index where there is one. The
# name of a function has a thin space after it, and one before it where something is multiplied.
# Bars and angles enclose: no space, and no growing with the sums beside them.
PRIME = re.compile(r"('+)(_(?:\{[^{}]*\}|\\[a-zA-Z]+|\w))?")
APPLIED = re.compile(r"<mi>([a-z]+)</mi>\s*<mo>&ApplyFunction;</mo>")
NAME = re.compile(r"(</m(?:frac|i|n|sub|subsup|sup)>\s*)?<mo([^>]*)>([a-z]+)</mo>")
FENCE = re.compile(r'<mo(?: class="mathopen"| stretchy="false")?>([|‖⟨⟩])</mo>')

# What a browser fetches unasked: addresses in these tags and in style sheets, not links to follow.
FETCHED = {
    "*.html": re.compile(
        r"<(?:audio|embed|iframe|img|link|object|script|source|video)\b[^>]*?"
        r"""\s(?:data|href|src|srcset)\s*=\s*["']?((?:https?:)?//[^\s"'>]+)"""
    ),
    "*.css": re.compile(r"""(?:@import\s*|url\(\s*)["']?((?:https?:)?//[^\s"')]+)"""),
}


def mathml(tex: str, *, as_block: bool) -> str:
    """Write a formula as MathML; of LaTeX that docutils does not know, raise its MathError."""
    formula = tex2mathml(PRIME.sub(_exponent, tex), as_block=as_block)
    formula = formula.replace("<mi>\u2032</mi>", "<mo>\u2032</mo>")
    formula = NAME.sub(_spaced, APPLIED.sub(r"<mo>\1</mo>", formula))
    return FENCE.sub(r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', formula)


def _exponent(prime: re.Match[str]) -> str:
    return (prime[2] or "") + "^{" + r"\prime " * len(prime[1]) + "}"


def _spaced(name: re.Match[str]) -> str:
    before = "0.167em" if name[1] else "0"
    return f'{name[1] or ""}<mo{name[2]} lspace="{before}" rspace="0.167em">{name[3]}</mo>'


def inline_formula(writer: Any, node: Any) -> None:
    """Write a formula within a line."""
    _write(writer, node, "span", as_block=False)


def displayed_formula(writer: Any, node: Any) -> None:
    """Write a formula on lines of its own."""
    _write(writer, node, "div", as_block=True)


def _write(writer: Any, node: Any, tag: str, *, as_block: bool) -> None:
    try:
        formula = mathml(node.astext(), as_block=as_block)
    except MathError as error:
        LOGGER.warning("no MathML of %r: %s", node.astext(), error, location=node)
        formula = writer.encode(node.astext())
    start = writer.starttag(node, tag, "", CLASS="math notranslate nohighlight")
    writer.body.append(f"{start}{formula}</{tag}>")
    raise nodes.SkipNode


def addresses(text: str, kind: str) -> list[str]:
    """List what a page ("*.html") or a style sheet ("*.css") fetches from elsewhere."""
    return FETCHED[kind].findall(text)


def look(app: Any, error: Exception | None) -> None:
    """Warn of every built file that would fetch something from the network."""
    if error is not None or app.builder.format != "html":
        return
    for kind in FETCHED:
        for file in sorted(Path(app.outdir).rglob(kind)):
            for address in addresses(file.read_text(encoding="utf-8"), kind):
                LOGGER.warning("%s fetches %s", file.relative_to(app.outdir), address)


def setup(app: Any) -> dict[str, bool]:
    """Connect the above."""
    app.add_html_math_renderer("mathml", (inline_formula, None), (displayed_formula, None))
    app.add_css_file("formulas.css")
    app.add_css_file("dark.css")
    app.connect("build-finished", look)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
