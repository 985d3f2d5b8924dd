"""One file out of a content: packing and its inverse, the script, and what may never run."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import spheremix as sm
from spheremix.em import Fit
from spheremix.errors import MissingPackageError
from spheremix.report.html import PageError, bundle, fill, page, page_files, policy
from spheremix.report.packing import pack, packed_size, plain, unpack
from spheremix.text import Corpus

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!-- ]]> <![CDATA[",
    "<img src=x onerror=alert(2)>",
    "\u2028 line \u2029 ends",
    "lone \ud800 and \udfff surrogates",
    "a NUL \0 here",
    "__proto__",
    "{{content}} ${alert(3)} {{title}}",
    "\u202e bidi \U0001f600 emoji 'quotes\" & `ticks`",
]

TEMPLATE = "{{title}}|{{policy}}|{{style}}|{{script}}|{{content}}"

# Packing


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint16"])
@given(data=st.data())
def test_differences_that_wrap_around_come_back(dtype, data):
    shape = data.draw(arrays.array_shapes(min_dims=1, max_dims=3, max_side=5))
    values = data.draw(arrays.arrays(dtype, shape))
    content = {"values": values, "other": {"labels": values[::-1].copy()}, "plain": values}
    found = unpack(pack(content))
    assert found["values"].dtype == np.dtype(dtype)
    assert (found["values"] == values).all()
    assert (found["other"]["labels"] == values[::-1]).all()
    assert (found["plain"] == values).all()


def test_the_container_is_what_the_page_reads():
    """Read the bytes as JavaScript does, from the description alone."""
    values = np.array([[127, -127], [-127, 127], [0, 5]], dtype=np.int8)
    floats = np.array([0.5, np.inf, -1.5], dtype=np.float32)
    data = zlib.decompress(base64.b64decode(pack({"values": values, "x": floats})), 31)
    (length,) = struct.unpack("<I", data[:4])
    header = json.loads(data[4 : 4 + length])
    start = -(-(4 + length) // 8) * 8
    assert set(data[4 + length : start]) <= {ord(" ")}
    assert header["values"] == {"array": "int8", "shape": [3, 2], "offset": 0, "delta": True}
    assert header["x"] == {"array": "float32", "shape": [3], "offset": 8, "delta": False}
    raw = list(struct.unpack("<6b", data[start : start + 6]))
    for i in range(2, 6):  # modulo 256, into -128..127
        raw[i] = (raw[i] + raw[i - 2] + 128) % 256 - 128
    assert raw == values.ravel().tolist()
    assert struct.unpack("<3f", data[start + 8 : start + 20]) == tuple(floats)
    assert len(data) == start + 8 + 16


def test_arrays_of_all_types_are_aligned_and_come_back():
    content = {
        "a": np.arange(3, dtype=np.uint8),
        "b": np.arange(5, dtype=np.uint32),
        "c": {"d": np.arange(6, dtype=np.float32).reshape(2, 3), "e": [1, None, "x"]},
        "empty": np.empty((0, 4), dtype=np.uint16),
        "values": np.empty((0,), dtype=np.int8),
        "forms": {"array": 3, "shape": 1},
    }
    found = unpack(pack(content))
    assert plain(found) == plain(content)
    assert found["c"]["d"].shape == (2, 3)
    assert found["empty"].shape == (0, 4)


def test_numbers_that_json_has_not():
    values = {"a": np.inf, "b": [np.float64(-np.inf), 1], "c": np.array([np.inf, 0.1], np.float32)}
    assert plain(values) == {"a": "Infinity", "b": ["-Infinity", 1], "c": ["Infinity", 0.1]}
    assert plain({"a": float("nan")}) == {"a": None}
    with pytest.raises(ValueError, match="x: there is a NaN"):
        pack({"x": np.array([np.nan], dtype=np.float32)})
    with pytest.raises(TypeError, match="x: arrays of float64"):
        pack({"x": np.array([1.0])})


def test_the_size_is_foretold():
    content = {"texts": HOSTILE * 50}
    assert packed_size(content) == len(base64.b64decode(pack(content)))


@pytest.mark.parametrize("text", ["", "!", "aGVsbG8=", base64.b64encode(b"\x1f\x8b1234").decode()])
def test_what_is_no_content_is_refused(text):
    with pytest.raises(ValueError, match="not the content of a report"):
        unpack(text)


# The script


MODULES = {
    "app/main.js": 'import {twice} from "../math.js";\n'
    'import {\n  name,\n  Thing,\n} from "./things.js";\n'
    "const result = `${name} ${twice(new Thing().size)}`;\nconsole.log(result);\n",
    "math.js": "const factor = 2;\nexport function twice(x) {\n  return factor * x;\n}\n",
    "app/things.js": 'import {twice} from "../math.js";\nconst factor = 10;\n'
    'export const name = "size";\n'
    "export class Thing {\n  size = twice(factor) + 1;\n}\n"
    "export async function unused() {}\n",
}


def test_modules_run_in_the_order_of_their_imports():
    script = bundle(MODULES)
    assert script.index("module_math =") < script.index("module_app_things =")
    assert script.index("module_app_things =") < script.index("module_app_main =")
    assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)
    beside = Path(sys.executable).parent  # the one that is installed with the tests
    node = shutil.which("node", path=f"{beside}{os.pathsep}{os.environ['PATH']}")
    # A shim of a version manager may be all that there is.
    if node is None or subprocess.run([node, "--version"], check=False).returncode:  # noqa: S603
        pytest.skip("there is no node to run it")
    command = [node, "--input-type=module", "-e", script]
    run = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    assert run.stdout == "size 42\n"


@pytest.mark.parametrize(
    "line",
    [
        'import thing from "./math.js";',
        'import * as math from "./math.js";',
        'import {twice as double} from "./math.js";',
        'import "./math.js";',
        "import {twice} from './math.js';",
        'import {twice} from "https://example.org/math.js";',
        "export default 3;",
        "export let x = 3;",
        "export {x};",
        'export * from "./math.js";',
        '  import {twice} from "./math.js";',
    ],
)
def test_other_forms_are_refused(line):
    with pytest.raises(PageError, match=r"app/main\.js: write import") as refused:
        bundle({**MODULES, "app/main.js": f"const x = 1;\n{line}\n"})
    assert repr(line.strip()) in str(refused.value)


def test_modules_that_cannot_be_put_together_are_refused():
    with pytest.raises(PageError, match=r"The page: there is no module app/main\.js"):
        bundle({})
    with pytest.raises(PageError, match=r"app/main\.js: there is no module app/gone\.js"):
        bundle({"app/main.js": 'import {a} from "./gone.js";\n'})
    with pytest.raises(PageError, match=r"app/main\.js: math\.js does not export half"):
        bundle({**MODULES, "app/main.js": 'import {half} from "../math.js";\n'})
    circle = {
        "app/main.js": 'import {a} from "./a.js";\n',
        "app/a.js": 'import {b} from "../b.js";\nexport const a = 1;\n',
        "b.js": 'import {a} from "./app/a.js";\nexport const b = 1;\n',
    }
    with pytest.raises(PageError, match=r"app/a\.js imports b\.js imports app/a\.js"):
        bundle(circle)
    for late in ('const x = import("./math.js");', "const here = import.meta.url;"):
        with pytest.raises(PageError, match="nothing to import from"):
            bundle({"app/main.js": late})


# The page


def test_places_are_filled_once_and_values_are_not_read_again():
    assert fill("<{{a}}|{{b}}>", {"a": "{{b}}", "b": "\\1"}) == "<{{b}}|\\1>"
    for template in ("{{a}}", "{{a}}{{b}}{{b}}", "{{a}}{{b}}{{c}}", ""):
        with pytest.raises(PageError, match=r"each of \{\{a\}\}, \{\{b\}\} once"):
            fill(template, {"a": "", "b": ""})


class Elements(HTMLParser):
    """The scripts, styles, titles and metas that a browser would find."""

    def __init__(self):
        super().__init__()
        self.found, self.inside = [], None

    def handle_starttag(self, tag, attrs):
        if tag in {"script", "style", "title", "meta"}:
            self.found.append([tag, dict(attrs), ""])
            self.inside = tag
        assert not any(name.startswith("on") or name == "style" for name, _ in attrs)
        assert not {"src", "href", "action"} & {name for name, _ in attrs}

    def handle_endtag(self, tag):
        if tag == self.inside:
            self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.found[-1][2] += data


@pytest.fixture(scope="module")
def hostile():
    """A report in which whatever a user can supply is hostile."""
    rng = np.random.default_rng(0)
    n, d = 40, len(HOSTILE)
    X = np.eye(2)[np.arange(n) % 2] @ rng.random((2, d)) + 0.1 * rng.random((n, d))
    path = sm.VMFPath(2, n_init=2, max_steps=10, random_state=0).fit(X)
    corpus = Corpus(
        [HOSTILE[i % d] * (1 + i) for i in range(n)],
        [f"{HOSTILE[i % d]} {i}" for i in range(n)],
        labels={HOSTILE[i]: [(HOSTILE[(i + j) % d],) for j in range(n)] for i in (0, 1)},
        titles=[HOSTILE[i % d] for i in range(n)],
        source=f"folder/{HOSTILE[2]}",
        notes=HOSTILE,
    )
    return sm.Report(path, corpus, X=X, feature_names=HOSTILE)


def test_whatever_users_supply_is_packed_and_never_html(hostile):
    text = page(hostile.content)
    text.encode("utf-8")
    parser = Elements()
    parser.feed(text)
    packed = content_of(parser)
    # Beside the packed content and the escaped title, it is the page of any other report.
    bland = {"title": "bland"}
    other = page(bland).replace(pack(bland), "{}").replace("<title>bland<", "<title>{}<")
    title = html.escape(HOSTILE[2])
    assert text.replace(packed, "{}").replace(f"<title>{title}<", "<title>{}<") == other
    assert re.fullmatch("[A-Za-z0-9+/=]+", packed)
    found = unpack(packed)
    assert plain(found) == hostile.to_dict()
    assert found["documents"]["text"][4] == HOSTILE[4] * 5
    assert found["documents"]["label_names"] == sorted(HOSTILE) * 2
    assert found["words"] == HOSTILE


def content_of(parser):
    [data] = [data for _, attributes, data in parser.found if attributes.get("id") == "content"]
    return data


def test_the_policy_allows_this_script_and_this_style_only(hostile):
    parser = Elements()
    parser.feed(page(hostile.content))
    kinds = [tag for tag, _, _ in parser.found]
    assert kinds.index("meta") < kinds.index("style") < kinds.index("script")
    [said] = [
        attributes["content"]
        for _, attributes, _ in parser.found
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.split(" ", 1) for rule in said.split("; "))
    digests = {
        attributes.get("type", tag): base64.b64encode(
            hashlib.sha256(data.encode("utf-8")).digest()
        ).decode()
        for tag, attributes, data in parser.found
        if tag in {"script", "style"}
    }
    assert set(digests) == {"style", "module", "application/octet-stream"}
    assert rules == {
        "default-src": "'none'",
        "script-src": f"'sha256-{digests['module']}'",
        "style-src": f"'sha256-{digests['style']}'",
        "img-src": "data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_the_page_of_the_package_uses_all_its_modules():
    files = page_files()
    modules = {name: text for name, text in files.items() if name.endswith(".js")}
    script = bundle(modules)
    for name in set(modules) - {"widget.js"}:  # the notebook's part
        assert f"const module_{name.removesuffix('.js').replace('/', '_')} =" in script, name
    assert {"index.html", "style.css", "app/main.js"} <= set(files)
    assert all("\r" not in text for text in files.values())


def test_every_way_to_end_is_told_in_words():
    """Those that the estimators document; another one would be shown as it is."""
    corpus = page_files()["tabs/corpus.js"]
    said = re.search(r"status_ : str\n(.*?)\n {4}\w", sm.VMFPath.__doc__, re.DOTALL)[1]
    said += re.search(r"status_ : str\n(.*?)\n {4}\w", sm.VMFMixture.__doc__, re.DOTALL)[1]
    said += re.search(r"status : str\n(.*?)\n {4}\w", Fit.__doc__, re.DOTALL)[1]
    names = set(re.findall(r"``(\w+)``", said))
    assert {"maximal_sparsity", "collapsed", "max_iter"} <= names
    told = corpus[corpus.index("const ENDS = {") :]
    told = told[: told.index("};")]
    assert set(re.findall(r"^ {2}(\w+): ", told, re.MULTILINE)) == names


@pytest.mark.parametrize("mark", ["</script>", "<!--", "<SCRIPT"])
def test_a_script_that_would_end_itself_is_refused(tmp_path, mark):
    (tmp_path / "index.html").write_text(TEMPLATE)
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "main.js").write_text(f'const x = "{mark}";\n')
    with pytest.raises(PageError, match="would end it"):
        page({"title": "t"}, tmp_path)
    with pytest.raises(PageError, match=r"index\.html is not there"):
        page_files(tmp_path / "app")


def test_the_policy_is_of_the_text_that_a_browser_sees(tmp_path):
    (tmp_path / "index.html").write_text(TEMPLATE)
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "main.js").write_bytes(b"const x = 1;\r\n\rconst y = 2;\r\n")
    (tmp_path / "b.css").write_bytes(b"p {}\r\n")
    (tmp_path / "a.css").write_bytes(b"a {}\r\n")
    title, said, style, script, content = page({"title": "<t>\x07"}, tmp_path).split("|")
    assert title == "&lt;t&gt; "
    assert said == policy(script, style)
    assert style == "a {}\n\np {}\n"
    assert "\r" not in script
    assert unpack(content) == {"title": "<t>\x07"}


# Files


def test_files_are_replaced_at_once_and_always_the_same(hostile, tmp_path, monkeypatch):
    path = hostile.write_html(tmp_path / "deep" / "report.html")
    first = path.read_bytes()
    assert hostile.write_html(str(path)) == path
    assert path.read_bytes() == first
    table = hostile.write_json(tmp_path / "report.json")
    before = table.read_bytes()
    assert json.loads(before) == hostile.to_dict()

    def broken(_content):
        raise OSError("no space left")

    monkeypatch.setattr("spheremix.report.report.to_json", broken)
    with pytest.raises(OSError, match="no space left"):
        hostile.write_json(table)
    assert table.read_bytes() == before


def test_a_widget_says_which_package_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "spheremix.report.notebook", raising=False)
    X, _, _ = sm.datasets.make_vmf_mixture(60, 5, 2, kappa=20.0, random_state=0)
    run = sm.Run.from_model(sm.VMFMixture(2, random_state=0).fit(X), X=X)
    with pytest.raises(MissingPackageError, match="pip install anywidget"):
        run.widget()
