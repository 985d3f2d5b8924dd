"""The examples run as scripts, and their figures show what was computed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import spheremix as sm

pytest.importorskip("matplotlib")

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
FIGURES = {"plot_sphere": ["sphere.png"], "plot_choosing": ["choosing-k.png", "choosing-beta.png"]}
MAX_BYTES = 300_000


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_png(path):
    return path.read_bytes().startswith(b"\x89PNG\r\n")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_runs_as_a_script(example, tmp_path):
    """Without a display, with every warning an error, into the place it is told."""
    names = FIGURES[example.stem]
    output = tmp_path / (names[0] if len(names) == 1 else names[0].partition("-")[0])
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-W", "error", str(example), str(output)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={key: value for key, value in os.environ.items() if key != "DISPLAY"},
    )
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    assert all(is_png(tmp_path / name) for name in names)


def test_figures_of_the_docs_are_theirs():
    for names in FIGURES.values():
        for name in names:
            figure = ROOT / "docs" / "figures" / name
            assert is_png(figure)
            assert figure.stat().st_size < MAX_BYTES
    assert {path.stem for path in EXAMPLES} == set(FIGURES)


# A mixture on the sphere


@pytest.fixture(scope="module")
def sphere(tmp_path_factory):
    example = load("plot_sphere")
    return example, *example.main(tmp_path_factory.mktemp("sphere") / "sphere.png")


def test_sphere_prototypes_snap(sphere, capsys):
    _, _, dense, sparse = sphere
    assert np.count_nonzero(dense.prototypes_) == 12
    # On an axis, on two coordinate planes, and inside.
    expected = [[1, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]]
    np.testing.assert_array_equal(sparse.prototypes_ != 0.0, expected)
    assert dense.status_ == sparse.status_ == "converged"
    assert sparse.log_likelihood_ < dense.log_likelihood_
    sphere[0].report(dense, sparse)
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    for mixture in (dense, sparse):
        for mu in mixture.prototypes_:
            assert any(line[:3] == [f"{value:.3f}" for value in mu] for line in printed)


def test_sphere_draws_what_was_fitted(sphere):
    example, figure, dense, sparse = sphere
    globes, tables = figure.axes[0::2], figure.axes[1::2]
    for globe, table, mixture in zip(globes, tables, (dense, sparse), strict=True):
        arrows = {patch.get_gid(): patch for patch in globe.patches}
        for k, mu in enumerate(mixture.prototypes_):
            # The arrow goes from the centre to the prototype, seen from the camera.
            ends = arrows[f"prototype-{k}"]._posA_posB
            np.testing.assert_allclose(ends, [[0.0, 0.0], example.camera()[:2] @ mu])
        points = np.concatenate([one.get_offsets() for one in globe.collections])
        assert len(points) == len(mixture.labels_)
        assert np.linalg.norm(points, axis=1).max() <= 1.0
        zeros = np.count_nonzero(mixture.prototypes_ == 0.0)
        written = [text.get_text() for text in table.texts]
        assert written.count("0") == zeros
        assert [f"{kappa:.0f}" in written for kappa in mixture.kappas_] == [True] * 4
        assert f"{zeros} of 12" in globe.get_title()


def test_sphere_camera_is_a_rotation(sphere):
    camera = sphere[0].camera()
    np.testing.assert_allclose(camera @ camera.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(camera) == pytest.approx(1.0)


@pytest.mark.parametrize("kappa", [0.5, 5.0, 150.0])
def test_sphere_caps_hold_half_of_the_mass(sphere, kappa):
    mu = np.array([0.6, 0.0, 0.8])
    rows = sm.VonMisesFisher(mu, kappa).rvs(20_000, random_state=0)
    inside = rows @ mu >= np.cos(sphere[0].half_mass_angle(kappa))
    assert inside.mean() == pytest.approx(0.5, abs=0.015)
    ring = sphere[0].circle_around(mu, 0.3)
    np.testing.assert_allclose(ring @ mu, np.cos(0.3))
    np.testing.assert_allclose(np.linalg.norm(ring, axis=1), 1.0)


# Choosing the number of clusters, then the words


@pytest.fixture(scope="module")
def choosing(tmp_path_factory):
    example = load("plot_choosing")
    output = tmp_path_factory.mktemp("choosing") / "choosing"
    return example, *example.main(output, n_bootstrap=10)


def test_choosing_finds_the_subjects(choosing):
    example, _, study, clusters, frequencies = choosing
    _, words, labels = example.corpus()
    assert study.best_n_components_ == 4
    table = np.zeros((4, 4))
    np.add.at(table, (labels, study.labels_), 1)
    assert table.max(axis=1).sum() > 0.95 * len(labels)
    own = [set(text.split()) for text in example.SUBJECTS.values()]
    named = {k for cluster in clusters for k, mine in enumerate(own) if mine >= set(cluster["own"])}
    assert named == {0, 1, 2, 3}
    known = set(" ".join([*example.SHARED, example.COMMON]).split())
    assert all(set(cluster["shared"]) <= known for cluster in clusters)
    assert frequencies.shape == (4, len(words))
    assert frequencies.min() >= 0.0
    assert frequencies.max() == 1.0
    # Words of a subject are firm; those of nobody are not.
    support = study.best_estimator_.prototypes_ != 0.0
    rare = np.char.startswith(words, "rare")
    assert frequencies[:, ~rare][support[:, ~rare]].mean() > 0.9
    assert frequencies[:, rare].mean() < 0.3


def test_choosing_draws_the_criteria(choosing):
    example, figures, study, _, _ = choosing
    n = len(study.labels_)
    *panels, agreement = figures["k"].axes
    for ax, name in zip(panels, example.STYLES, strict=True):
        curve = study.dense_criteria_[name]
        lines = [line.get_xydata() for line in ax.lines]
        best = np.column_stack([study.candidates_, (curve - curve.min()) / n])
        assert any(line.shape == best.shape and np.allclose(line, best) for line in lines)
        star = next(line for line in ax.lines if line.get_marker() == "*")
        assert star.get_xdata()[0] == study.candidates_[curve.argmin()]
        assert f"K = {study.candidates_[curve.argmin()]}" in ax.get_title()
        # The band is the mean of the restarts and two standard deviations.
        [band] = ax.collections
        corners = band.get_paths()[0].vertices
        for K in study.candidates_:
            runs = study.table_[name][study.table_["n_components"] == K]
            heights = corners[corners[:, 0] == K, 1] * n + curve.min()
            reach = [runs.mean() - 2 * runs.std(), runs.mean() + 2 * runs.std()]
            np.testing.assert_allclose([heights.min(), heights.max()], reach)
    np.testing.assert_array_equal(agreement.lines[0].get_ydata(), study.agreement_)
    # The story that the page tells: AIC goes on falling, EBIC and RIC turn.
    assert np.all(np.diff(study.dense_criteria_["aic"]) < 0)
    assert study.agreement_.argmax() == list(study.candidates_).index(4)


def test_choosing_draws_the_path(choosing):
    _, figures, study, _, _ = choosing
    path, n = study.best_path_, len(study.labels_)
    sparsity, likelihood, criteria = figures["beta"].axes
    legend = [text.get_text() for text in criteria.get_legend().get_texts()]
    for name, label in zip(("aic", "bic", "ebic"), legend, strict=True):
        i = path.select(name)
        assert label.startswith(f"{name.upper()}: {path.n_nonzero_[i] / 4:.0f} words")
        for ax, values in (
            (sparsity, path.sparsity_),
            (likelihood, path.log_likelihoods_ / n),
            (criteria, (path.criteria_[name] - path.criteria_[name].min()) / n),
        ):
            stars = [line.get_xydata()[0] for line in ax.lines if line.get_marker() == "*"]
            assert any(np.allclose(star, [path.betas_[i], values[i]]) for star in stars)
    assert path.status_ == "maximal_sparsity"
    order = [path.select(name) for name in ("aic", "bic", "ebic")]
    assert order == sorted(order)


def test_choosing_prints_what_the_page_quotes(choosing, capsys):
    example, _, study, clusters, frequencies = choosing
    example.report(study, clusters, frequencies)
    printed = capsys.readouterr().out
    page = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")
    quoted = page.partition("```text\n")[2].partition("```")[0]
    lines = [line for line in quoted.splitlines() if line.startswith("  ")]
    assert len(lines) == 4
    assert all(line in printed.splitlines() for line in lines)
