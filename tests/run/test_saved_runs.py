"""Runs as plain files: the same bits come back, and damaged or hostile files are refused."""

from __future__ import annotations

import errno
import itertools
import json
import shutil

import numpy as np
import pytest
from scipy import sparse
from spheremix.run.saving import load_run, save_run
from spheremix.run.schema import MatrixRecord
from spheremix.run.store import RunError, digest, read_json

import spheremix as sm
from spheremix.run.folder import RunFolder

ROWS, _, _ = sm.datasets.make_vmf_mixture(150, 12, 3, overlap=0.02, random_state=0)


@pytest.fixture(scope="module")
def study():
    candidates = range(2, 5)
    return sm.VMFMixtureIC(n_components=candidates, n_init=3, random_state=0).fit(ROWS)


@pytest.fixture(scope="module")
def saved(study, tmp_path_factory):
    names = [f"word {j}" for j in range(12)]
    documents = {"id": [f"é{i}" for i in range(150)], "cluster": study.labels_}
    return save_run(
        tmp_path_factory.mktemp("io") / "run",
        study,
        feature_names=names,
        X=ROWS,
        documents=documents,
    )


@pytest.fixture
def copy(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "copy")


def same(one, two):
    return all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


# What comes back


def test_a_study_predicts_the_same_bits(study, saved):
    run = load_run(saved)
    assert list(run.dense) == [2, 3, 4]
    assert np.array_equal(run.mixture.labels_, study.labels_)
    others = np.random.default_rng(0).normal(size=(40, 12))
    pairs = [(run.mixture, study.best_estimator_), (run.path, study.best_path_)]
    pairs += [(run.dense[K], study.dense_models_[K]) for K in run.dense]
    pairs += [(run.path.model(i), study.best_path_.model(i)) for i in (0, 3, -1)]
    for found, model in pairs:
        for X in (ROWS, others):
            assert np.array_equal(found.predict_proba(X), model.predict_proba(X))
            assert np.array_equal(found.score_samples(X), model.score_samples(X))


def test_a_path_has_all_its_attributes(study, saved):
    path, found = study.best_path_, load_run(saved).path
    assert set(vars(path)) == set(vars(found))
    for name, value in vars(path).items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(value, getattr(found, name)), name
    for name, values in path.criteria_.items():
        assert np.array_equal(values, found.criteria_[name])
    assert found.runs_ == path.runs_
    assert (found.status_, found.selected_) == (path.status_, path.selected_)
    assert found.best_estimator_.kappa_max_ == path.best_estimator_.kappa_max_


def test_a_path_goes_on_with_the_same_bits(tmp_path):
    whole = sm.VMFPath(3, random_state=0, n_init=2).fit(ROWS)
    part = sm.VMFPath(3, random_state=0, n_init=2, max_steps=7).fit(ROWS)
    save_run(tmp_path / "run", part)
    path = load_run(tmp_path / "run").path
    path.set_params(warm_start=True, max_steps=None).fit(ROWS)
    assert same((path.betas_, path.exit_betas_), (whole.betas_, whole.exit_betas_))
    assert same((path.objectives_, path.labels_), (whole.objectives_, whole.labels_))


@pytest.mark.parametrize(
    "parameters",
    [
        {"kappa": "free", "beta": 3.0},
        {"kappa": 7.0, "feature_weights": np.linspace(0.0, 2.0, 12), "beta": 1.0},
        {"kappa": [5.0, 6.0, 7.0], "init": np.arange(150) % 3},
        {"m_step": "paper", "kappa_solver": "banerjee", "kappa_max": 100.0},
        {"random_state": np.random.default_rng(0), "n_init": 2},
    ],
    ids="-".join,
)
def test_a_mixture_of_any_parameters_comes_back(parameters, tmp_path):
    mixture = sm.VMFMixture(3, **{"random_state": 0, "n_init": 2, **parameters}).fit(ROWS)
    save_run(tmp_path / "run", mixture)
    run = load_run(tmp_path / "run")
    assert run.path is None
    assert run.documents is None
    assert run.matrix() is None
    assert np.array_equal(run.mixture.predict_proba(ROWS), mixture.predict_proba(ROWS))
    assert run.mixture.criteria_ == mixture.criteria_
    seed = parameters.get("random_state", 0)
    for name, value in mixture.get_params().items():
        expected = None if name == "random_state" and not isinstance(seed, int) else value
        assert np.array_equal(getattr(run.mixture, name), expected), name


def test_what_lies_beside_the_model(saved):
    run = load_run(saved)
    assert run.feature_names[:2] == ["word 0", "word 1"]
    assert run.documents["id"][:2] == ["é0", "é1"]
    assert np.array_equal(run.matrix(), ROWS)
    assert not run.matrix().flags.writeable
    assert set(run.table["n_components"]) == {2, 3, 4}
    assert run.dense_criteria["ebic"].shape == (3,)


def test_sparse_rows_come_back(tmp_path):
    X = sparse.random_array((60, 8), density=0.6, rng=np.random.default_rng(0), format="csr")
    X = sparse.csr_array(X[np.diff(X.indptr) > 0])
    save_run(tmp_path / "run", sm.VMFMixture(2, n_init=1, random_state=0).fit(X), X=X)
    found = load_run(tmp_path / "run").matrix()
    assert np.array_equal(found.toarray(), X.toarray())


def test_nothing_is_overwritten_and_nothing_else_is_saved(saved, study):
    with pytest.raises(RunError, match="there is a run already"):
        save_run(saved, study)
    with pytest.raises(RunError, match="dict cannot be saved"):
        save_run(saved.parent / "other", {})


def test_no_pickle_and_every_file_is_listed(saved):
    listed = read_json(saved / "run.json")["files"]
    there = {p.relative_to(saved).as_posix() for p in saved.rglob("*") if p.is_file()}
    assert there == {*listed, "run.json"}
    for name, entry in listed.items():
        assert digest(saved / name) == entry["sha256"]
        if name.endswith(".npy"):
            assert list(np.load(saved / name, allow_pickle=False).shape) == entry["shape"]


# What is refused


def change(folder, edit):
    content = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    edit(content)
    (folder / "run.json").write_text(json.dumps(content), encoding="utf-8")


def forge(folder, name, array):
    """Replace an array, its size and checksum too, as someone who means harm would."""
    np.save(folder / name, array)
    entry = {
        "bytes": (folder / name).stat().st_size,
        "sha256": digest(folder / name),
        "shape": list(array.shape),
        "dtype": array.dtype.str,
    }
    change(folder, lambda content: content["files"].update({name: entry}))


@pytest.mark.parametrize("keep", [0, 1, 60, -1])
def test_truncated_files_are_refused(copy, keep):
    for name in ("path/values.npy", "dense/3/prototypes.npy", "vocabulary.txt", "run.json"):
        content = (copy / name).read_bytes()
        (copy / name).write_bytes(content[: keep if keep >= 0 else len(content) - 2])
        with pytest.raises(RunError, match=name):
            load_run(copy)
        (copy / name).write_bytes(content)
    load_run(copy)


def test_a_flipped_bit_is_noticed(copy):
    for name in ("path/values.npy", "dense/2/kappas.npy"):
        content = bytearray((copy / name).read_bytes())
        content[-3] ^= 1
        (copy / name).write_bytes(content)
        with pytest.raises(RunError, match=f"{name}.*checksum"):
            load_run(copy)
        content[-3] ^= 1
        (copy / name).write_bytes(content)


@pytest.mark.parametrize(
    ("name", "array", "words"),
    [
        ("dense/3/prototypes.npy", np.zeros((3, 12)), "length one"),
        ("dense/3/prototypes.npy", np.full((3, 12), np.nan), "not finite"),
        ("dense/3/prototypes.npy", np.eye(12)[:2], r"shape \(2, 12\)"),
        ("dense/3/prototypes.npy", np.eye(12, dtype=complex)[:3], "type complex"),
        ("dense/3/prototypes.npy", np.eye(12).astype(">f8")[:3], "type"),
        ("dense/3/kappas.npy", np.array([1.0, -1.0, 2.0]), "above zero"),
        ("dense/3/kappas.npy", np.array([1.0, np.inf, 2.0]), "not finite"),
        ("dense/3/weights.npy", np.array([0.5, 0.5, 0.5]), "sum to one"),
        ("dense/3/labels.npy", np.full(150, 3), "labels out of"),
        ("path/ends.npy", np.arange(5), "shape"),
        ("path/labels.npy", np.full(150, -1), "labels out of"),
    ],
)
def test_forged_arrays_are_refused(copy, name, array, words):
    forge(copy, name, array)
    with pytest.raises(RunError, match=words):
        load_run(copy)


def test_forged_steps_are_refused(copy):
    places = np.load(copy / "path" / "places.npy")
    for wrong in (places + 100, places - 100, places[::-1].copy()):
        forge(copy, "path/places.npy", wrong)
        with pytest.raises(RunError, match="coordinates"):
            load_run(copy)
    forge(copy, "path/places.npy", places)
    betas = np.load(copy / "path" / "beta.npy")
    forge(copy, "path/beta.npy", betas[::-1].copy())
    with pytest.raises(RunError, match="beta does not rise"):
        load_run(copy)


def test_a_huge_declared_size_allocates_nothing(copy):
    name = "dense/3/prototypes.npy"
    huge = (10**9, 10**9)
    content = (copy / name).read_bytes()
    header = content[10:128].decode("latin-1").replace("(3, 12)", str(huge)).rstrip()
    (copy / name).write_bytes(content[:10] + header.ljust(117).encode() + b"\n" + content[128:])
    entry = {"bytes": len(content), "sha256": digest(copy / name), "shape": list(huge)}

    def edit(found):
        found["files"][name] = {**entry, "dtype": "<f8"}
        found["dense"]["3"].update(n_components=huge[0], n_features=huge[1])

    change(copy, edit)
    with pytest.raises(RunError, match="do not fill the file"):
        load_run(copy)


def test_objects_are_never_unpickled(copy):
    name = "dense/3/kappas.npy"
    np.save(copy / name, np.array([1, None, 2], dtype=object), allow_pickle=True)
    entry = {"bytes": (copy / name).stat().st_size, "sha256": digest(copy / name)}
    entry |= {"shape": [3], "dtype": "|O"}
    change(copy, lambda content: content["files"].update({name: entry}))
    with pytest.raises(RunError, match="type object"):
        load_run(copy)


@pytest.mark.parametrize(
    "name", ["../outside.npy", "/etc/passwd", "dense/../../x", "a\\b", "a//b", ".hidden", "", "é"]
)
def test_names_that_lead_elsewhere_are_refused(copy, name):
    def edit(content):
        content["files"][name] = content["files"]["dense/3/kappas.npy"]
        content["dense"]["3"]["kappas"] = name

    np.save(copy.parent / "outside.npy", np.ones(3))
    change(copy, edit)
    with pytest.raises(RunError, match="not the name of a file"):
        load_run(copy)


def test_links_that_lead_out_are_refused(copy):
    name = copy / "dense" / "3" / "kappas.npy"
    shutil.move(name, copy.parent / "outside.npy")
    name.symlink_to(copy.parent / "outside.npy")
    with pytest.raises(RunError, match="is a link"):
        load_run(copy)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[1]", "an object is needed"),
        ("[" * 100_000, "not JSON"),
        ('{"format": NaN}', "not JSON"),
        ('{"format": "zip"}', "not a run"),
        ('{"format": "spheremix run", "version": 99}', "version 99.*reads version 2"),
        ('{"format": "spheremix run", "version": 2}', "dense: damaged: the value is missing"),
        (
            '{"format": "spheremix run", "version": 2, "files": {}, "dense": {}}',
            "best_n_components",
        ),
        ("\udcff", "not JSON"),
    ],
)
def test_other_manifests_are_refused(copy, text, words):
    (copy / "run.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(RunError, match=words) as caught:
        load_run(copy)
    assert "\n" not in str(caught.value)


def test_values_of_other_types_are_refused(copy):
    """Whatever is put in place of whatever value, the error is a RunError or there is none."""
    content = json.loads((copy / "run.json").read_text(encoding="utf-8"))

    def places(node, path=()):
        yield path
        if isinstance(node, dict) and path[:1] != ("files",):
            for key in node:
                yield from places(node[key], (*path, key))

    refused = 0
    values = itertools.cycle([None, [], {}, -1, "x"])
    for path in list(places(content))[1:]:
        damaged = json.loads(json.dumps(content))
        node = damaged
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = next(values)
        (copy / "run.json").write_text(json.dumps(damaged), encoding="utf-8")
        try:
            load_run(copy)
        except RunError:
            refused += 1
    assert refused > 80


def test_folders_that_hold_no_run(tmp_path):
    with pytest.raises(RunError, match="no such folder"):
        load_run(tmp_path / "none")
    with pytest.raises(RunError, match="not a finished run"):
        load_run(tmp_path)


# Writing


def test_a_failed_write_leaves_what_was_there(tmp_path):
    """It names the file that it is about, which the system does not, and no draft stays."""
    folder = RunFolder(tmp_path / "run")

    def parts():
        yield np.array([3.0])
        raise OSError(errno.ENOSPC, "No space left on device")

    with folder.locked():
        folder.claim_new()
        writer = folder.writer()
        writer.array("idf.npy", [1.0, 2.0])
        folder.commit("matrix", "key", writer, {"shape": [2]})
        with pytest.raises(RunError, match=r"idf\.npy: cannot be written: No space left .*room"):
            folder.writer().stream("idf.npy", parts(), np.float64, (2,))
        _, reader = folder.done("matrix", "key", MatrixRecord)
        assert np.array_equal(reader.array("idf.npy", (2,)), [1.0, 2.0])
        assert not list(tmp_path.rglob("*.part"))
    with pytest.raises(RunError, match="not a kind of number"):
        writer.array("b.npy", ["words"])
    with pytest.raises(RunError, match="3 values for the shape"):
        writer.stream("b.npy", [np.zeros(3)], np.float64, (4,))
