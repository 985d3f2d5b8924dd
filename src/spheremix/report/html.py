"""One file out of the template, the style, the script and the packed content of a report."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from importlib import resources
from typing import TYPE_CHECKING, Any

from spheremix.report.bundle import PageError, bundle
from spheremix.report.packing import pack

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

TEMPLATE = "index.html"
PLACES = ("title", "policy", "style", "script", "content")
# What would end or hide an element, were it inside a script or a style.
FORBIDDEN = {"script": ("</script", "<script", "<!--"), "style": ("</style", "<!--")}


def page(content: dict[str, Any], folder: Traversable | None = None) -> str:
    """Return the report as one HTML file that loads nothing and lets nothing else run.

    Whatever comes from the documents is in the packed content or, for the title, escaped. The files
    of the page may be in another folder than its own.
    """
    files = page_files(folder)
    style = "\n".join(files[name] for name in sorted(files) if name.endswith(".css"))
    script = bundle({name: text for name, text in files.items() if name.endswith(".js")})
    for place, text in (("style", style), ("script", script)):
        for end in FORBIDDEN[place]:
            if end in text.lower():
                raise PageError(f"The {place} of the page has {end!r}, which would end it: cut it.")
    return fill(
        files.get(TEMPLATE, ""),
        {
            "title": html.escape(_printable(str(content["title"]))),
            "policy": policy(script, style),
            "style": style,
            "script": script,
            "content": pack(content),
        },
    )


def page_files(folder: Traversable | None = None) -> dict[str, str]:
    """Return the texts of the files of the page by path; lines end as a browser sees them."""
    place = resources.files("spheremix.report") / "page" if folder is None else folder
    found = dict(_texts(place))
    if TEMPLATE not in found:
        raise PageError(f"{place}: {TEMPLATE} is not there.")
    return {name: re.sub(r"\r\n?", "\n", found[name]) for name in sorted(found)}


def _texts(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, str]]:
    for one in folder.iterdir():
        if one.is_dir():
            yield from _texts(one, f"{prefix}{one.name}/")
        elif one.name.endswith((".html", ".css", ".js")):
            yield f"{prefix}{one.name}", one.read_text("utf-8")


def policy(script: str, style: str) -> str:
    """Allow this script and this style, and nothing else: no network, no other code."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def fill(template: str, values: dict[str, str]) -> str:
    """Put each value in its place, ``{{name}}``, which must be there once."""
    parts = re.split(r"\{\{(\w+)\}\}", template)
    places = parts[1::2]
    if sorted(places) != sorted(values):
        raise PageError(
            f"{TEMPLATE} must have each of {', '.join(f'{{{{{name}}}}}' for name in values)} once; "
            f"it has {', '.join(places) or 'none'}."
        )
    parts[1::2] = [values[name] for name in places]
    return "".join(parts)


def _digest(text: str) -> str:
    found = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(found).decode('ascii')}"


def _printable(text: str) -> str:
    """Leave out what HTML cannot hold: control characters, lone surrogates."""
    return "".join(one if one.isprintable() else " " for one in text)
