"""Stored classes: the same bits come back, and whatever is in the files, a RunError at most."""

from __future__ import annotations

import gzip
import io
import json
import math
import shutil
import zipfile
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest
from cli_common import texts
from edit_common import OPTIONS, Told
from numpy.testing import assert_array_equal
from scipy import sparse

import spheremix as sm
from spheremix.advice import Advice
from spheremix.errors import Message
from spheremix.reading.stability import Stability
from spheremix.run.folder import archive
from spheremix.run.folder.archive import CONTENT, PACKED, read, write
from spheremix.run.folder.files import RunError, as_json
from spheremix.run.folder.fitted import (
    PathChoice,
    PathStored,
    TreeState,
    as_changes,
    dump_choice,
    dump_path,
    dump_tree,
    from_changes,
    load_path,
    load_tree,
)
from spheremix.run.folder.store import Store
from spheremix.run.stages.dense import DenseFit
from spheremix.run.stages.rows import Rows
from spheremix.run.stages.tree import Layout, Tree
from spheremix.text import Corpus

ODD_TEXTS = [
    "",
    "\0",
    "\ud800 half",
    "a\nb\r\n",
    '"{}"',
    "\u202e",
    "e\u0301",
    "\U0001f300",
    "x" * 999,
]


@dataclass(frozen=True, eq=False)
class Part:
    """A class that is stored inside of another."""

    archive_version: ClassVar[int] = 3
    n: int


@dataclass(frozen=True, eq=False)
class Everything:
    """Every kind of value that a stored class may have."""

    archive_version: ClassVar[int] = 2
    flag: bool
    number: float
    text: str
    texts: tuple[str, ...]
    pair: tuple[int, str]
    either: int | str | None
    part: Part | None
    by_number: dict[int, float]
    floats: np.ndarray[Any, np.dtype[np.float64]]
    ids: np.ndarray[Any, np.dtype[np.int64]] | None
    rows: Any
    anything: dict[str, Any] = field(default_factory=dict)


def everything(**changes):
    values: dict[str, Any] = {
        "flag": True,
        "number": math.nan,
        "text": "\ud800\0",
        "texts": tuple(ODD_TEXTS),
        "pair": (-(2**60), ""),
        "either": None,
        "part": Part(5),
        "by_number": {0: math.inf, 17: -math.inf, 3: -0.0, 4: 5e-324},
        "floats": np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324, 1 / 3]),
        "ids": np.empty((0, 3), dtype=np.int64),
        "rows": sparse.csr_array(np.array([[0.0, 2.0], [0.0, 0.0]])),
        "anything": {"a": [1, None, {"b": np.arange(3, dtype=np.uint8)}], "c": True, "": "x"},
    }
    return Everything(**{**values, **changes})


def picture(value):
    """Return all that there is of a value, to the bit; numbers of rows may be shorter on disk."""
    arrays: dict[str, Any] = {}
    content = json.dumps(archive.encode(value, arrays))
    wide = {name: a.astype(np.int64) if a.dtype.kind == "i" else a for name, a in arrays.items()}
    return content, {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in wide.items()}


def stored(folder, kind, value):
    folder.mkdir(parents=True)
    write(folder, kind, value, stage="x")
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a small run with everything in it."""
    corpus = Corpus(
        [*(one["text"] for one in texts(40)), "?!"],
        [f"d{i}" for i in range(41)],
        dates=["2011-01-01"] * 41,
        labels={"topic": [("a", "b"), ()] * 20 + [("c",)]},
        titles=["t"] * 41,
        metadata={"odd": [*ODD_TEXTS, 1.5, None, True, {"a": [1]}, *[2] * 28]},
    )
    folder = tmp_path_factory.mktemp("stored") / "run"
    how = {**OPTIONS, "k": "2:3", "min_df": 1, "ngrams": 2, "noise": "uniform"}
    found = sm.explore_corpus(corpus, folder, listener=Told(), **how)
    return found.edit({"drop_words": ["boat"], "names": {0: "x"}}, listener=Told())


@pytest.fixture(scope="module")
def fitted():
    X, _, _ = sm.datasets.make_vmf_mixture(90, 6, 3, kappa=30.0, random_state=0)
    how = {"n_init": 2, "random_state": 0}
    models = {
        "plain": sm.VMFMixture(3, **how),
        "free": sm.VMFMixture(3, kappa="free", **how),
        "noise": sm.VMFMixture(3, noise="uniform", **how),
        "from labels": sm.VMFMixture(3, init=np.arange(90) % 3),
        "path": sm.VMFPath(3, relaxed=False, **how),
        "relaxed path": sm.VMFPath(3, relaxed=True, **how),
        "noisy path": sm.VMFPath(3, noise="uniform", max_noise=0.1, **how),
        "tree": sm.VMFTree(random_state=0),
    }
    return X, {name: model.fit(X) for name, model in models.items()}


# Round trips


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"number": 0.1, "either": 7, "part": None, "ids": None},
        {"either": "seven", "rows": np.float32([[1.5], [np.nan]]), "by_number": {}},
        {"rows": np.array(3.0), "texts": (), "floats": np.empty(0)},
        {"rows": sparse.csr_array((3, 2), dtype=np.float32), "anything": {}},
    ],
    ids=str,
)
def test_every_kind_of_value_comes_back(tmp_path, changes):
    value = everything(**changes)
    again = read(stored(tmp_path / "x", Everything, value), Everything)
    assert picture(again) == picture(value)
    assert type(again.rows) is type(value.rows)
    for name in ("flag", "texts", "pair", "either"):
        assert getattr(again, name) == getattr(value, name)
    first = {path.name: path.read_bytes() for path in (tmp_path / "x").iterdir()}
    twin = stored(tmp_path / "y", Everything, value)
    assert {path.name: path.read_bytes() for path in twin.iterdir()} == first


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (dict[str, str | None], {"a": "b", "c": None}, {"a": 1}),
        (dict[str, str], {"a": "b"}, {"a": None}),
        (dict[str, list[str]], {"a": ["b"]}, {"a": "b"}),
        (list[str | None], ["a", None], ["a", 1.5]),
        (list[list[str]], [["a"]], ["a"]),
    ],
)
def test_texts_among_others_are_checked(kind, good, bad):
    assert archive.decode(kind, good, "here") == good
    with pytest.raises(RunError, match="is not what it should be"):
        archive.decode(kind, bad, "here")


def test_large_arrays_are_mapped(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "LARGE", 2**10)
    floats = np.random.default_rng(0).normal(size=(300, 2))
    rows = sparse.csr_array(floats)
    value = everything(floats=np.asfortranarray(floats), rows=rows)
    folder = stored(tmp_path / "x", Everything, value)
    again = read(folder, Everything)
    assert picture(again) == picture(value)
    assert len(list(folder.glob("*.npy"))) == 4
    mapped = again.floats
    while not isinstance(mapped, np.memmap):
        mapped = mapped.base
    assert not mapped.flags.writeable


@pytest.mark.parametrize("name", ["plain", "free", "noise", "from labels"])
def test_mixtures_come_back(fitted, tmp_path, name):
    X, models = fitted
    value = DenseFit(models[name], [Message("{a} b", {"a": "1"}, ("c",))])
    again = read(stored(tmp_path / "x", DenseFit, value), DenseFit)
    assert picture(again) == picture(value)
    assert_array_equal(again.mixture.predict_proba(X), models[name].predict_proba(X))
    assert again.notes == value.notes
    assert read(stored(tmp_path / "y", DenseFit, DenseFit(None)), DenseFit).mixture is None


@pytest.mark.parametrize("name", ["path", "relaxed path", "noisy path"])
def test_paths_come_back(fitted, tmp_path, name):
    X, models = fitted
    path = models[name]
    state = read(stored(tmp_path / "x", PathStored, dump_path(path)), PathStored)
    choice = read(stored(tmp_path / "y", PathChoice, dump_choice(path)), PathChoice)
    assert picture(state) == picture(dump_path(path))
    again = load_path(state, {}, choice)
    assert picture(dump_path(again)) == picture(dump_path(path))
    assert_array_equal(again.predict(X), path.predict(X))
    assert_array_equal(again.exit_betas_, path.exit_betas_)


@pytest.mark.parametrize("name", ["path", "relaxed path", "noisy path"])
def test_small_paths_keep_four_digits(fitted, tmp_path, name):
    path = fitted[1][name]
    state = read(stored(tmp_path / "x", PathStored, dump_path(path, small=True)), PathStored)
    again = load_path(state, {}, dump_choice(path))
    chosen = {path.select(criterion) for criterion in path.criteria_}
    for points, known in (
        (again.state_.steps, path.state_.steps),
        (again.state_.refits, path.state_.refits),
    ):
        assert len(points) == len(known)
        for i, (one, other) in enumerate(zip(points, known, strict=True)):
            assert_array_equal(one.places, other.places)
            least = 0.0 if i in chosen else 2.0**-13
            assert np.all(np.abs(one.values - other.values) <= least * np.abs(other.values))
    assert picture(dump_path(again, small=True)) == picture(dump_path(path, small=True))
    assert_array_equal(again.predict(fitted[0]), path.predict(fitted[0]))


def test_changes_of_values_know_signs_zeros_and_new_places():
    rng = np.random.default_rng(0)
    places = [np.sort(rng.choice(500, n, replace=False)) for n in (400, 300, 5, 300)]
    values = [rng.normal(size=len(at)) * 10.0 ** rng.integers(-9, 1, len(at)) for at in places]
    values[1][:5] = 0.0
    known, found = np.concatenate(values), from_changes(as_changes(values, places), places)
    assert np.all(np.abs(found - known) <= 2.0**-13 * np.abs(known))


def test_trees_come_back(fitted, tmp_path):
    tree = fitted[1]["tree"]
    again = read(stored(tmp_path / "x", TreeState, dump_tree(tree)), TreeState)
    K = len(tree.best_estimator_.weights_)
    found = load_tree(again, tree.cuts_, K)
    assert picture(dump_tree(found)) == picture(dump_tree(tree))


KINDS = {
    "rows": Rows,
    "documents": Corpus,
    "dense": DenseFit,
    "edit": DenseFit,
    "path": PathStored,
    "choice": PathChoice,
    "advice": Advice,
    "tree": Tree,
    "stability": Stability,
    "layout": Layout,
    "map": Layout,
}


def test_every_stage_of_a_run_comes_back(run, tmp_path):
    met = set()
    for called in run.info.stages:
        kind = KINDS[called.split("-")[0]]
        value = run.store.read(called, kind)
        twin = stored(tmp_path / called, kind, value)
        assert picture(read(twin, kind)) == picture(value)
        met.add(called.split("-")[0])
    assert met | {"advice"} == set(KINDS)
    assert run.corpus().metadata["odd"][: len(ODD_TEXTS)] == ODD_TEXTS
    rows = run.rows
    for X in (rows.X, rows.X.astype(np.float32), rows.X.toarray()):
        other = Rows(X=X, words=None, kept=rows.kept, reasons=rows.reasons)
        folder = tmp_path / f"{type(X).__name__} {X.dtype}"
        assert picture(read(stored(folder, Rows, other), Rows)) == picture(other)


# What is wrong is refused


def content_of(folder):
    data = gzip.decompress((folder / CONTENT).read_bytes())
    return json.loads(data.decode("utf-8", "surrogatepass"))


def put_content(folder, content):
    data = json.dumps(content).encode()
    (folder / CONTENT).write_bytes(gzip.compress(data, 1))


def places(value, where=()):
    """Return every place in a value of JSON; of long lists, the first ones."""
    yield where
    parts = value.items() if isinstance(value, dict) else ()
    parts = list(enumerate(value))[:2] if isinstance(value, list) else parts
    for name, part in parts:
        yield from places(part, (*where, name))


def changed(content, where, value):
    """Return a copy with another value in one place; None leaves it out."""
    found = json.loads(json.dumps(content))
    at = found
    for name in where[:-1]:
        at = at[name]
    at[where[-1]] = value
    return found


ODD = [
    *(None, True, -1, 0, 10**30, 1.5, "nan", "odd", "\ud800", [], [[]], {}, {"odd": [1]}),
    *({"array": "nowhere"}, {"array": None}, {"array": "floats"}, {"csr": [1, 1]}, [None]),
    *([2**62, 1], [-1], ["<f8"], "<O8", ">f8", "0.npy", "../x", {"0": 1}, [1, "<f8", "x", "y"]),
]


def try_out(folder, kind, use=lambda value: value):
    """Read; return whether it was refused, in one sentence that names the folder."""
    try:
        use(read(folder, kind))
    except RunError as error:
        said = str(error)
    else:
        return False
    assert said.startswith(str(folder))
    assert "\n" not in said
    return True


def test_every_value_is_checked(tmp_path):
    """Whatever stands in whichever place: the value is used or refused, and nothing else."""
    folder = stored(tmp_path / "x", Everything, everything())
    content, refused = content_of(folder), {}
    for where in places(content):
        for odd in ODD if where else ():
            put_content(folder, changed(content, where, odd))
            if try_out(folder, Everything):
                refused[where] = refused.get(where, 0) + 1
    free = ("stage", "anything", "rows")  # of no declared type
    typed = [w for w in places(content) if w and not {*free} & {*w[:2]}]
    assert all(refused.get(where, 0) > 5 for where in typed)
    for name in content["content"]:
        less = {k: v for k, v in content["content"].items() if k != name}
        put_content(folder, {**content, "content": less})
        assert try_out(folder, Everything) == (name != "anything"), name


WRONG = [
    np.array([], dtype=np.float64),
    np.array(1.0),
    np.full((4, 4), np.nan),
    np.full((4, 4), -1.0),
    np.full(7, np.inf),
    np.arange(5) - 2,
    np.arange(3, dtype=np.uint8),
    np.array([True]),
    np.full((2, 2, 2), 2**40),
]


def put_array(folder, content, name, array):
    """Put another array into the files, which the record describes."""
    with zipfile.ZipFile(folder / PACKED) as packed:
        members = {one: packed.read(one) for one in packed.namelist()}
    data = io.BytesIO()
    np.lib.format.write_array(data, array, version=(1, 0))
    members[f"{name}.npy"] = data.getvalue()
    with zipfile.ZipFile(folder / PACKED, "w") as packed:
        for one, member in members.items():
            packed.writestr(one, member)
    put_content(folder, changed(content, ("arrays", name), [list(array.shape), array.dtype.str]))


def use(value):
    """Use what was read as a run does."""
    if isinstance(value, PathStored):
        load_path(value, {}, None, lambda *_: (None, np.zeros(1, dtype=int)))
    elif isinstance(value, TreeState):
        load_tree(value, {}, 3)


@pytest.mark.parametrize("name", ["noise", "relaxed path", "tree"])
def test_wrong_arrays_of_estimators_are_refused(fitted, tmp_path, name):
    model = fitted[1][name]
    dump = {"noise": DenseFit, "relaxed path": dump_path, "tree": dump_tree}[name]
    kind = {"noise": DenseFit, "relaxed path": PathStored, "tree": TreeState}[name]
    folder = stored(tmp_path / "x", kind, dump(model))
    content, packed = content_of(folder), (folder / PACKED).read_bytes()
    for array in content["arrays"]:
        for wrong in WRONG:
            (folder / PACKED).write_bytes(packed)
            put_array(folder, content, array, wrong)
            try:
                use(read(folder, kind))
            except RunError:
                continue
            except archive.DAMAGE:  # a run turns them into a RunError
                assert name != "noise"
            else:
                pytest.fail(f"{array} may be {wrong}")


@pytest.mark.parametrize("name", [CONTENT, PACKED, "0.npy"])
def test_damaged_files_are_refused(tmp_path, monkeypatch, name):
    monkeypatch.setattr(archive, "LARGE", 2**10)
    value = everything(floats=np.random.default_rng(0).normal(size=300))
    folder = stored(tmp_path / "x", Everything, value)
    data, rng, refused = (folder / name).read_bytes(), np.random.default_rng(0), 0
    for cut in range(0, len(data), max(1, len(data) // 40)):
        (folder / name).write_bytes(data[:cut])
        assert try_out(folder, Everything, picture), cut
    for _ in range(150):
        parts = bytearray(data)
        for place in rng.integers(len(data), size=rng.integers(1, 9)):
            parts[place] = rng.integers(256)
        (folder / name).write_bytes(parts)
        refused += try_out(folder, Everything, picture)
    assert refused > (5 if name == "0.npy" else 75)  # checksums tell the rest
    (folder / name).unlink()
    assert try_out(folder, Everything)


def test_another_version_is_refused_in_one_sentence(tmp_path, monkeypatch):
    folder = stored(tmp_path / "x", Everything, everything())
    monkeypatch.setattr(Part, "archive_version", 4)
    with pytest.raises(RunError) as raised:
        read(folder, Everything)
    assert str(raised.value) == (
        f"{folder}: written by another version of spheremix: use the spheremix that wrote it or "
        "make the run again with force=True."
    )
    monkeypatch.undo()
    assert read(folder, Everything).part.n == 5
    with pytest.raises(RunError, match="another version"):
        read(folder, Part)


def test_what_would_take_memory_is_refused_before(tmp_path, monkeypatch):
    folder = stored(tmp_path / "x", Everything, everything())
    content = content_of(folder)
    with zipfile.ZipFile(folder / PACKED) as packed:
        members = {one: packed.read(one) for one in packed.namelist()}
    members["floats.npy"] += bytes(2**24)  # a thousand times as large as its file
    with zipfile.ZipFile(folder / PACKED, "w", zipfile.ZIP_DEFLATED) as packed:
        for one, member in members.items():
            packed.writestr(one, member)
    assert (folder / PACKED).stat().st_size < 2**16
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(RunError, match="floats is not the array of its record"):
        read(folder, Everything)
    for shape in ([2**40], [2**61, 2**61]):
        put_content(folder, changed(content, ("arrays", "floats"), [shape, "<f8"]))
        assert try_out(folder, Everything)
    monkeypatch.setattr(archive, "MOST", 2**20)
    (folder / CONTENT).write_bytes(gzip.compress(b'{"a": "' + bytes(2**21) + b'"}'))
    with pytest.raises(RunError, match="larger than 1 MiB, which no such file is"):
        read(folder, Everything)


# A whole run


def use_run(folder):
    """Do with a run what people do."""
    found = sm.load_run(folder)
    found.documents, found.groups, found.words  # noqa: B018
    found.report()
    found.vectorizer()
    found.describe_groups()
    repr(found)


class Forged:
    """A run whose stages are changed, one at a time; their checksums are right."""

    def __init__(self, run, folder):
        self.folder, self.store = shutil.copytree(run.folder, folder), Store(folder)
        self.info = json.loads((folder / "run.json").read_bytes())
        self.parts = [*run.info.parts.values(), *run.info.dense.values()]
        self.contents = {one: content_of(self.store.cache / one) for one in self.parts}

    def refuses(self, called, change, said):
        """Change a stage and use the run; return whether it was refused in one sentence."""
        place = self.store.cache / called
        before = {path: path.read_bytes() for path in place.iterdir()}
        change(place, self.contents[called])
        sums = {**self.info["stages"], called: self.store.checksum(called)}
        (self.folder / "run.json").write_bytes(as_json({**self.info, "stages": sums}))
        try:
            use_run(self.folder)
        except RunError as error:
            return "\n" not in str(error)
        except Exception as error:
            error.add_note(f"{called}: {said}")
            raise
        finally:
            for path, data in before.items():
                path.write_bytes(data)
        return False


@pytest.mark.parametrize("n", [120, pytest.param(3000, marks=pytest.mark.slow)])
def test_a_run_with_odd_values_in_its_stages(run, tmp_path, n):
    """Everything can be read, or one sentence says what is wrong; most changes are of fields."""
    forged, rng = Forged(run, tmp_path / "run"), np.random.default_rng(n)
    spots = [(one, where) for one in forged.parts for where in places(forged.contents[one])]
    fields, others = ([s for s in spots if s[1] and (len(s[1]) < 3) is b] for b in (True, False))
    refused = 0
    for i in range(n):
        called, where = (fields if i % 3 else others)[
            rng.integers(len(fields if i % 3 else others))
        ]
        odd = ODD[rng.integers(len(ODD))]
        change = lambda place, content: put_content(place, changed(content, where, odd))  # noqa: B023, E731
        refused += forged.refuses(called, change, f"{where} was {odd!r}")
    assert refused > n // 3


@pytest.mark.parametrize("n", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_run_with_wrong_arrays_in_its_stages(run, tmp_path, n):
    forged, rng = Forged(run, tmp_path / "run"), np.random.default_rng(n)
    kept = len(run.rows.kept)
    wrong = [*WRONG, np.arange(kept)[::-1].copy(), np.full(kept, 10**9), np.full((kept, 2), np.nan)]
    spots = [
        (called, name) for called in forged.parts for name in forged.contents[called]["arrays"]
    ]
    refused = 0
    for _ in range(n):
        (called, name), array = spots[rng.integers(len(spots))], wrong[rng.integers(len(wrong))]
        change = lambda place, content: put_array(place, content, name, array)  # noqa: B023, E731
        refused += forged.refuses(called, change, f"{name} was {array}")
    assert refused > n // 2


def test_dictionaries_of_people_may_have_any_keys(tmp_path):
    """Those by which arrays are told from other things, too."""
    meta = [{"array": [1, 2]}, {"csr": "x", "dict": {"dict": 1}}, {"dict": {"array": "y"}}, None]
    labels = {"dict": [("x",)] * 4}
    corpus = Corpus(["a"] * 4, list("1234"), metadata={"array": meta}, labels=labels)
    assert read(stored(tmp_path / "x", Corpus, corpus), Corpus) == corpus
