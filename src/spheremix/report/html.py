"""One file out of the template, the style, the script and the packed content of a report."""

from __future__ import annotations

import base64
import hashlib
import html
import posixpath
import re
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from spheremix.report.packing import pack

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.resources.abc import Traversable

TEMPLATE = "index.html"
NOTHING = "default-src 'none'"  # how the policy begins
PLACES = ("title", "policy", "style", "script", "content")
# What would end or hide an element, were it inside a script or a style.
FORBIDDEN = {"script": ("</script", "<script", "<!--"), "style": ("</style", "<!--")}


class PageError(ValueError):
    """The page's own files cannot be made into one: says which, and what is wrong."""


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
            NOTHING,
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def served(text: str) -> str:
    """Allow a page to ask the server that it comes from, and nobody else."""
    head, first, tail = text.partition(NOTHING)
    if not first:
        raise PageError(f"The page has no policy with {NOTHING}.")
    return f"{head}{first}; connect-src 'self'{tail}"


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


# The modules of the page as one script: no build step, and nothing to load from elsewhere

ENTRY = "app/main.js"
NAME = r"[A-Za-z_$][\w$]*"
IMPORT = re.compile(
    rf'^import \{{((?:\s*{NAME}\s*,)*\s*{NAME}\s*,?\s*)\}} from "(\.\.?/[\w/-]+\.js)";$',
    re.MULTILINE,
)
EXPORT = re.compile(rf"^export ((?:async function|function|const|class) ({NAME})\b)", re.MULTILINE)
LEFT = re.compile(r"^\s*(?:import|export)\b.*", re.MULTILINE)
DYNAMIC = re.compile(r"\bimport(?:\s*\(|\.meta\b)")


def bundle(modules: Mapping[str, str], entry: str = ENTRY) -> str:
    """Put ES modules into one script, each before those that import it.

    Every module becomes a function that returns its exports, so that names of one module stay out
    of the others. Two forms are known, each at the beginning of a line: ``import {a, b} from
    "./x.js";`` (or ``"../folder/x.js"``) and ``export`` before a function, a const or a class.
    Other forms, modules that are not there and circles of imports are a PageError. ``modules`` are
    texts by their paths in the folder of the page.
    """
    written: dict[str, Module] = {}
    _add(entry, modules, written, ())
    return "\n".join(module.script for module in written.values())


@dataclass(frozen=True, slots=True)
class Module:
    """A module as a constant that holds its exports; what it imports, by path of the file."""

    script: str
    exports: list[str]
    imports: list[tuple[str, list[str]]]


def _add(
    name: str, modules: Mapping[str, str], written: dict[str, Module], above: tuple[str, ...]
) -> None:
    if name in written:
        return
    if name in above:
        circle = " imports ".join([*above[above.index(name) :], name])
        raise PageError(f"Modules import each other: {circle}.")
    if name not in modules:
        raise PageError(f"{above[-1] if above else 'The page'}: there is no module {name}.")
    module = _translated(name, modules[name])
    for other, names in module.imports:
        _add(other, modules, written, (*above, name))
        missing = set(names) - set(written[other].exports)
        if missing:
            raise PageError(f"{name}: {other} does not export {', '.join(sorted(missing))}.")
    written[name] = module


def _translated(name: str, text: str) -> Module:
    imports = [(_resolved(name, found[2]), _names(found)) for found in IMPORT.finditer(text)]
    body = IMPORT.sub(lambda found: _bindings(found, _resolved(name, found[2])), text)
    exports = [found[2] for found in EXPORT.finditer(body)]
    body = EXPORT.sub(r"\1", body)
    if left := LEFT.search(body):
        raise PageError(
            f'{name}: write import {{a, b}} from "./x.js"; or export function, const or class, at '
            f"the beginning of a line, in place of {left[0].strip()!r}."
        )
    if left := DYNAMIC.search(body):
        raise PageError(f"{name}: {left[0]!r}: there is nothing to import from when it runs.")
    given = f"return {{{', '.join(exports)}}};"
    script = f"const {_constant(name)} = (() => {{\n{body.strip()}\n{given}\n}})();"
    return Module(script, exports, imports)


def _names(found: re.Match[str]) -> list[str]:
    return [one.strip() for one in found[1].split(",") if one.strip()]


def _resolved(name: str, path: str) -> str:
    """Return the path of an imported module from the folder of the page."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def _bindings(found: re.Match[str], other: str) -> str:
    return f"const {{{', '.join(_names(found))}}} = {_constant(other)};"


def _constant(name: str) -> str:
    return "module_" + re.sub(r"\W", "_", name.removesuffix(".js"))
