"""Hostile and damaged files in a folder: one clear sentence, never a crash, never foreign code.

Nothing here knows which files a run keeps beside its outputs: whatever lies there is damaged.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import pickle
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")

from cli_common import refusal
from cli_common import run as command
from processes import everything
from story import outputs, quiet

import spheremix as sm

DEEP = b"[" * 100_000 + b"]" * 100_000
# No JSON, or no object at all.
TEXTS = {
    "empty": b"",
    "not JSON": b"{",
    "a list": b"[]",
    "null": b"null",
    "a number": b"1e999",
    "not UTF-8": b'{"format": "\xff\xfe"}',
    "UTF-16": "{}".encode("utf-16"),
    "zeros": bytes(2000),
    "deep": DEEP,
    "deep in an object": b'{"format": ' + DEEP + b"}",
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a long number": b'{"version": ' + b"9" * 10_000 + b"}",
    "NaN": b'{"format": NaN, "version": Infinity}',
}
ODD = [
    *(None, True, -1, 0, 2**31, 2**63, 2**70, 10**400, 1e308, float("nan"), float("inf")),
    *("", "x" * 10_000, "\0", "../../outside", "/dev/zero", "/etc/passwd", "\ud800", "1" * 5000),
    *([], {}, [[]], [None], {"": None}, ["x"] * 2000, {str(i): i for i in range(2000)}),
]
ASKED = {
    *("matrix", "vectorizer", "corpus", "counts", "names", "edits", "positions", "contrast"),
    *("firmness", "stability"),
}
SAMPLED = 3  # kinds of damage to each file, unless all are tried


def use(folder):
    """Do all that can be done with a run from Python without changing it."""
    run = sm.load_run(folder)
    repr(run)
    for name in vars(type(run)):
        if not name.startswith("_"):  # columns, tables: whatever can be asked for
            value = getattr(run, name)
            if callable(value) and name in ASKED:
                value()
    quiet(run.report)
    quiet(run.assign, ["boat harbour sailor wave", "star planet moon"])
    return run


def survives(folder):
    """Use a run that was tampered with: it works, or says in one line what is wrong."""
    try:
        use(folder)
    except sm.RunError as error:
        line = str(error)
        assert line, "no word"
        assert len(line.splitlines()) == 1
        assert len(line) < 5000
        return False
    return True


def says(*arguments):
    """Run a command on what was tampered with; what it says is one line, or its answer."""
    try:
        command(*arguments)
    except AssertionError:
        line = refusal(*arguments)
        assert "unexpected" not in line, line


def warped(rng, value):
    """Return JSON with one value inside that is another."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        name = str(rng.choice(sorted(value)))
        if rng.random() < 0.1:
            return {other: one for other, one in value.items() if other != name}
        return {**value, name: warped(rng, value[name])}
    if isinstance(value, list) and value and rng.random() < 0.9:
        i = int(rng.integers(len(value)))
        return [*value[:i], warped(rng, value[i]), *value[i + 1 :]]
    return ODD[int(rng.integers(len(ODD)))]


def own_json(folder):
    """Return the files of JSON in a folder."""
    return sorted(path for path in folder.rglob("*.json") if path.is_file())


def own_binary(folder):
    """Return the files that are neither JSON nor for people."""
    shown = set(outputs(folder))
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and path.suffix not in {".json", ".svg", ".lock"}
        and path.relative_to(folder).as_posix() not in shown
    )


# JSON


@pytest.mark.parametrize("kind", list(TEXTS))
def test_a_run_json_of_anything_is_refused(small, copy, kind):
    (copy / "run.json").write_bytes(TEXTS[kind])
    before = everything(copy)
    assert not survives(copy)
    for arguments in (("report", copy), ("edit", copy, small.edits), ("names", copy)):
        refusal(*arguments)
    refusal("assign", copy, small.new, "-o", copy.parent / "new.csv")
    refusal("update", copy, small.new, "-o", copy.parent / "updated")
    now = everything(copy)
    assert {name: now.get(name) for name in before} == before


@pytest.mark.parametrize("version", [0, 99, -1, 2**70, "1", None, 1.5, [], True])
def test_another_version_is_refused(copy, version):
    content = json.loads((copy / "run.json").read_text(encoding="utf-8"))
    (copy / "run.json").write_text(json.dumps({**content, "version": version}))
    assert not survives(copy)
    assert "run.json" in refusal("names", copy)


def test_a_run_of_the_first_version_is_refused_with_what_to_do(tmp_path):
    """``run-0.1.0.json`` is what ``spheremix explore`` of version 0.1.0 wrote about 50 texts."""
    old = tmp_path / "old"
    old.mkdir()
    shutil.copy2(Path(__file__).parents[1] / "golden" / "run-0.1.0.json", old / "run.json")
    (old / "clusters.csv").write_text("cluster,size\n", encoding="utf-8")
    texts = tmp_path / "texts.csv"
    texts.write_text("text\n" + "a boat in a storm\n" * 50, encoding="utf-8")
    before = everything(old)
    expected = (
        f"error: {old / 'run.json'}: written by spheremix 0.1.0, and spheremix {sm.__version__} "
        "cannot read it: explore the documents again into another folder or read it with "
        "spheremix 0.1.0."
    )
    commands = [(name, old) for name in ("report", "names", "check", "serve", "figures")]
    commands += [("edit", old, "--undo"), ("assign", old, texts), ("effects", old, "--by", "x")]
    commands += [("explore", texts, "-o", old), ("explore", texts, "-o", old, "--force")]
    commands += [("update", old, texts, "-o", tmp_path / "new"), ("serve", old, "--mcp")]
    for arguments in commands:
        assert refusal(*arguments) == expected, arguments
    with pytest.raises(sm.RunError) as raised:
        sm.load_run(old)
    assert f"error: {raised.value}" == expected
    assert everything(old) == before


def test_a_large_run_json_is_refused(copy):
    with (copy / "run.json").open("r+b") as file:
        file.truncate(2**31)  # a hole: no room is taken
    assert not survives(copy)


@pytest.mark.parametrize("n", [60, pytest.param(1500, marks=pytest.mark.slow)])
def test_json_with_odd_values(small, tmp_path, n):
    """In whichever file: it is used, or one sentence says what is wrong."""
    rng = np.random.default_rng(n)
    copy = shutil.copytree(small.named, tmp_path / "run")
    files, refused = own_json(copy), 0
    assert files
    manifest = copy / "run.json"
    for i in range(n):
        path = manifest if i % 2 else files[int(rng.integers(len(files)))]
        content = path.read_bytes()
        changed = json.loads(content)
        for _ in range(int(rng.integers(1, 3))):
            changed = warped(rng, changed)
        path.write_bytes(json.dumps(changed).encode("utf-8", "surrogatepass"))
        refused += not survives(copy)
        if i % 6 == 0:
            says("names", copy)
        path.write_bytes(content)
    assert refused >= n / 4  # most of them are seen
    assert survives(copy)


@pytest.mark.parametrize("kind", list(TEXTS))
def test_any_other_json_of_anything(small, tmp_path, kind):
    copy = shutil.copytree(small.edited, tmp_path / "run")
    for path in own_json(copy):
        content = path.read_bytes()
        path.write_bytes(TEXTS[kind])
        survives(copy)
        path.write_bytes(content)
        if path.relative_to(copy).as_posix() == "edits.json":  # what people made is not lost
            path.write_bytes(TEXTS[kind])
            refusal("edit", copy, "--undo")
            path.write_bytes(content)


# Files of edits that are given


@pytest.mark.parametrize("kind", list(TEXTS))
def test_a_file_of_edits_with_anything_in_it(copy, tmp_path, kind):
    path = tmp_path / "edits.json"
    path.write_bytes(TEXTS[kind])
    before = everything(copy)
    assert "edits.json" in refusal("edit", copy, path)
    assert everything(copy) == before


BAD_EDITS = {
    "format": ["another"],
    "version": [99, "1"],
    "run": ["0" * 16, None],
    "names": [
        *([], {"99": "x"}, {"-1": "x"}, {"x": "y"}, {"9" * 5000: "x"}),
        *({"0": name} for name in (7, "", "x" * 100_000)),
    ],
    "merge": [[[0]], [[0, 0]], [[0, 99]], [[0, 1], [1, 2]], [[0, 1, 2]] * 3, {"0": 1}, [0, 1]],
    "split": [[99], [-1], [0.5], "0", [10**400]],
    "drop_words": [["nobody wrote this"], [1], "boat"],
    "notes": [[], {"groups": {"77": "x"}}, {"documents": {"nobody": "x"}}],
    "misplaced": [["nobody"], 3],
    "unknown": [1],
}


@pytest.mark.parametrize(
    "parts", [{}, *({key: value} for key, values in BAD_EDITS.items() for value in values)]
)
def test_edits_that_cannot_be_made_change_nothing(small, copy, parts):
    path = small.edits_file("hostile.json", **parts)
    before = outputs(copy)
    line = refusal("edit", copy, path)
    assert "hostile.json" in line
    assert "unexpected" not in line
    assert outputs(copy) == before
    sm.load_run(copy)


@pytest.mark.parametrize("n", [25, pytest.param(400, marks=pytest.mark.slow)])
def test_edits_with_odd_values(small, copy, n):
    """They are made, and can be taken back; or they are refused and change nothing."""
    rng, before = np.random.default_rng(n), outputs(copy)
    good = json.loads(
        small.edits_file(
            "good.json",
            names={"0": "a name"},
            notes={"groups": {"1": "a note"}, "documents": {"d1": "another"}},
            misplaced=["d2"],
        ).read_text(encoding="utf-8")
    )
    path = copy.parent / "odd.json"
    for _ in range(n):
        path.write_bytes(json.dumps(warped(rng, good)).encode("utf-8", "surrogatepass"))
        try:
            command("edit", copy, path)
        except AssertionError:
            assert "unexpected" not in refusal("edit", copy, path)
        else:
            command("edit", copy, "--undo")
        assert outputs(copy) == before


# Binary files


class Evil:
    """Makes a file where it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def array_header(shape, kind="<f8"):
    """Return the header of an array that would be large."""
    out = io.BytesIO()
    content = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(out, content)
    return out.getvalue()


def pickled_array(mark):
    """Return an array of an object that does something when it is read."""
    out = io.BytesIO()
    np.save(out, np.array([Evil(mark)], dtype=object), allow_pickle=True)
    return out.getvalue()


def zipped(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return out.getvalue()


def payloads(path, mark):
    """Return what a file could have in it, by kind."""
    data = path.read_bytes()
    yield "empty", b""
    yield "half", data[: len(data) // 2]
    yield "one more", data + b"\0"
    yield "zeros", bytes(len(data))
    yield "a pickle", pickle.dumps(Evil(mark))
    if data:
        middle = len(data) // 2
        yield "a bit", data[:middle] + bytes([data[middle] ^ 16]) + data[middle + 1 :]
    if path.suffix == ".npy":
        yield "an array of objects", pickled_array(mark)
        yield "a large array", array_header((2**40, 2**20)) + data[-8:]
        yield "a long array", array_header((10**9,)) + data[-8:]
        yield "texts", array_header((3,), "<U9") + data[-8:]
        code = f"{{'descr': '<f8', 'shape': (__import__('os').mkdir({str(mark)!r}), )}}".encode()
        yield "a header of code", b"\x93NUMPY\1\0" + len(code).to_bytes(2, "little") + code
    if path.suffix in {".npz", ".zip"}:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            inside = {one: file.read(one) for one in file.namelist()}
        names = list(inside)
        for what, hostile in {
            "objects": pickled_array(mark),
            "large": array_header((2**40, 2**20)),
            "long": array_header((10**9,)) + bytes(8),
            "a bomb": array_header((2 * 10**7,)) + bytes(16 * 10**7),
        }.items():
            yield what, zipped({**inside, names[0]: hostile})
        yield "one less", zipped({name: inside[name] for name in names[1:]})
        yield "one more", zipped({**inside, "more.npy": pickled_array(mark)})
        yield "elsewhere", zipped({**inside, "../../outside.npy": b"x"})
    if path.suffix == ".gz":
        yield "a bomb", gzip.compress(bytes(10**8), 1)
        yield "one line", gzip.compress(b'{"text": ' + b"9" * 10**6, 1)


def forge(folder, path, data):
    """Write a file, and its checksum and size wherever they are kept: as somebody would who can."""
    old = path.read_bytes()
    path.write_bytes(data)
    before, after = (hashlib.sha256(one).hexdigest() for one in (old, data))

    def corrected(value):
        if isinstance(value, dict):
            if before in value.values():
                return {
                    name: after if one == before else len(data) if one == len(old) else one
                    for name, one in value.items()
                }
            return {name: corrected(one) for name, one in value.items()}
        if isinstance(value, list):
            return [corrected(one) for one in value]
        return after if value == before else value

    for other in own_json(folder):
        if other != path and before in other.read_text(encoding="utf-8"):
            other.write_text(json.dumps(corrected(json.loads(other.read_bytes()))))


@pytest.mark.parametrize("forged", [False, True], ids=["damaged", "forged"])
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_binary_files_of_anything(small, tmp_path, forged, every):
    mark, refused, n = tmp_path / "mark", 0, 0
    rng = np.random.default_rng(int(forged))
    copy = shutil.copytree(small.edited, tmp_path / "run")
    texts = {path: path.read_bytes() for path in own_json(copy)}
    for path in own_binary(copy):
        data, kinds = path.read_bytes(), list(payloads(path, mark))
        chosen = range(len(kinds)) if every else rng.permutation(len(kinds))[:SAMPLED]
        for kind, other in (kinds[i] for i in chosen):
            if other == data:
                continue
            if forged:
                forge(copy, path, other)
            else:
                path.write_bytes(other)
            refused += not survives(copy)
            n += 1
            assert not mark.exists(), (path, kind)
            path.write_bytes(data)
            for name, text in texts.items():
                name.write_bytes(text)
    assert refused >= n / 3  # others are read when they are asked for
    assert survives(copy)
    assert not (tmp_path / "outside.npy").exists()


def test_files_that_are_missing_links_or_folders(small, tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("precious")
    copy = shutil.copytree(small.edited, tmp_path / "run")
    for path in [*own_binary(copy)[::3], copy / "run.json"]:
        data = path.read_bytes()
        for kind in ("missing", "link", "/dev/zero", "folder", "pipe"):
            path.unlink()
            if kind == "folder":
                path.mkdir()
            elif kind == "pipe":
                os.mkfifo(path)
            elif kind != "missing":
                path.symlink_to(outside if kind == "link" else kind)
            survives(copy)
            path.rmdir() if kind == "folder" else path.unlink(missing_ok=True)
            path.write_bytes(data)
    assert outside.read_text() == "precious"
    assert survives(copy)
