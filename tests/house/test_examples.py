"""The examples of the gallery run, and their figures show what was computed."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from scipy import sparse

import spheremix as sm

pytest.importorskip("matplotlib")

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
assert len(EXAMPLES) >= 8
MAX_BYTES = 300_000


corpus = cache(sm.datasets.load_docstrings)


@cache
def run(name):
    """Run an example, once: give what it printed, drew and left behind."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    plt.switch_backend("agg")
    plt.close("all")
    printed = io.StringIO()
    read_once = mock.patch.object(sm.datasets, "load_docstrings", corpus)
    with contextlib.redirect_stdout(printed), read_once:
        left = runpy.run_path(str(ROOT / "examples" / f"{name}.py"))
    figures = [plt.figure(number) for number in plt.get_fignums()]
    plt.close("all")
    return SimpleNamespace(printed=printed.getvalue(), figures=figures, **left)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_runs_and_draws(example, tmp_path, monkeypatch):
    """With every warning an error; it writes nothing, and draws something."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415

    monkeypatch.chdir(tmp_path)
    found = run(example.stem)
    assert not list(tmp_path.iterdir())
    assert found.figures
    for figure in found.figures:
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())
        assert len(np.unique(pixels.reshape(-1, 4), axis=0)) > 50


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_reads_as_a_page(example):
    """A title with its underline, prose before the code, blocks of both."""
    source = example.read_text(encoding="utf-8")
    title, line, empty, prose, *_ = source.removeprefix('"""\n').splitlines()
    assert len(line) == len(title)
    assert set(line) == {"="}
    assert not empty
    assert prose
    assert source.count("\n# %%\n") >= 2
    titles = re.findall(r"^# %%\n# (.+)\n# ([-=~]+)\n", source, re.MULTILINE)
    assert all(len(line) == len(title) for title, line in titles), titles
    assert "sys.argv" not in source
    assert "savefig" not in source


def test_figures_of_the_docs_are_theirs(load_tool):
    tool, tool_of_gallery = load_tool("draw_figures"), load_tool("draw_gallery")
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md")]
    drawn = set()
    for example, figures in tool.QUOTED.items():
        assert max(figures) <= len(run(example).figures)
        drawn |= set(figures.values())
    for name in drawn:
        figure = ROOT / "docs" / "figures" / f"{name}.png"
        assert figure.read_bytes().startswith(b"\x89PNG\r\n")
        assert figure.stat().st_size < MAX_BYTES
        quoting = [page for page in pages if f"(figures/{name}.png)" in page]
        assert quoting, name
        assert all("tools/draw_figures.py" in page for page in quoting), name
    quoted = {name for page in pages for name in re.findall(r"\(figures/([\w-]+)\.png\)", page)}
    # By tools/draw_report.py, of the demo's report and, for time, that of a tutorial.
    screens = ("first", "reader", "labels", "time", "numbers", "corpus", "edits")
    taken = {"report", *(f"report-{name}" for name in screens)}
    taken |= {f"gallery-{name}" for name in tool_of_gallery.COMMANDS}
    assert quoted <= drawn | taken
    for name in taken:
        assert (ROOT / "docs" / "figures" / f"{name}.png").stat().st_size < 200_000


# The benefit


def test_benefit_is_real():
    found = run("plot_benefit")
    assert found.scores["k-means"] < 0.3
    assert found.scores["spherical k-means"] < 0.05
    assert found.scores["VMFMixture, free kappa"] > 0.98
    tight, broad = np.argsort(found.path.best_estimator_.weights_)
    made = found.means != 0.0
    np.testing.assert_array_equal(found.support[[broad, tight]], made)


# A mixture on the sphere


def test_sphere_prototypes_snap():
    found = run("plot_sphere")
    dense, sparse = found.dense, found.sparse
    assert np.count_nonzero(dense.prototypes_) == 12
    # On an axis, on two coordinate planes, and inside.
    expected = [[1, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]]
    np.testing.assert_array_equal(sparse.prototypes_ != 0.0, expected)
    assert dense.status_ == sparse.status_ == "converged"
    assert sparse.log_likelihood_ < dense.log_likelihood_
    printed = [line.split() for line in found.printed.splitlines()]
    for mixture in (dense, sparse):
        for mu in mixture.prototypes_:
            assert any(line[:3] == [f"{value:.3f}" for value in mu] for line in printed)


def test_sphere_writes_what_was_fitted():
    found = run("plot_sphere")
    globes, tables = found.figure.axes[0::2], found.figure.axes[1::2]
    for globe, table, mixture in zip(globes, tables, (found.dense, found.sparse), strict=True):
        zeros = np.count_nonzero(mixture.prototypes_ == 0.0)
        written = [text.get_text() for text in table.texts]
        assert written.count("0") == zeros
        assert [f"{kappa:.0f}" in written for kappa in mixture.kappas_] == [True] * 4
        assert f"{zeros} of 12" in globe.get_title()


# Choosing the number of clusters, then the words


def test_choosing_finds_the_subjects():
    found = run("plot_choosing")
    study, words, frequencies = found.study, found.words, found.frequencies
    assert study.best_n_components_ == 4
    table = np.zeros((4, 4))
    np.add.at(table, (found.subjects, study.labels_), 1)
    assert table.max(axis=1).sum() > 0.95 * len(found.subjects)
    own = [set(text.split()) for text in found.SUBJECTS.values()]
    clusters = found.clusters
    named = {k for cluster in clusters for k, mine in enumerate(own) if mine >= set(cluster["own"])}
    assert named == {0, 1, 2, 3}
    known = set(" ".join([*found.SHARED, found.COMMON]).split())
    assert all(set(cluster["shared"]) <= known for cluster in clusters)
    assert frequencies.shape == (4, len(words))
    assert frequencies.min() >= 0.0
    assert frequencies.max() == 1.0
    # Words of a subject are stable; those of nobody are not.
    support = study.best_estimator_.prototypes_ != 0.0
    rare = np.char.startswith(words, "rare")
    assert frequencies[:, ~rare][support[:, ~rare]].mean() > 0.9
    assert frequencies[:, rare].mean() < 0.3


def test_choosing_tells_the_story_of_the_page():
    found = run("plot_choosing")
    study, path = found.study, found.path
    # AIC goes on falling; the starts agree best at the true number.
    assert np.all(np.diff(study.dense_criteria_["aic"]) < 0)
    assert study.agreement_.argmax() == list(study.candidates_).index(4)
    assert path.status_ == "maximal_sparsity"
    order = [path.select(name) for name in ("aic", "bic", "ebic")]
    assert order == sorted(order)


# The corpus of docstrings


def test_why_adds_up():
    found = run("plot_why")
    mixture, row = found.path.best_estimator_, found.found.X[[found.tightest]]
    logs = np.log(mixture.predict_proba(row)[0])
    assert found.why.log_odds == pytest.approx(logs[found.why.label] - logs[found.why.rival])
    bars = [bar.get_width() for bar in found.bars.axes[0].patches]
    assert sum(bars) == pytest.approx(found.why.log_odds)
    assert found.documents.log_odds.min() == pytest.approx(found.why.log_odds)


def test_path_draws_words_left():
    found = run("plot_path")
    left = found.figure.axes[0]
    ends = sorted(line.get_ydata()[-1] for line in left.lines[: len(found.path.kappas_[0])])
    assert ends == [1] * len(found.path.kappas_[0])
    supports = [np.count_nonzero(found.path.model(i).prototypes_) for i in found.shown]
    np.testing.assert_array_equal(found.n_words.sum(axis=1), supports)


def test_heavy_words_are_stable():
    found = run("plot_stability")
    weights = np.abs(found.reading.prototypes)
    heavy = found.support & (weights > np.quantile(weights[found.support], 0.75))
    light = found.support & (weights < np.quantile(weights[found.support], 0.25))
    assert found.frequencies[heavy].mean() > 0.98
    assert found.frequencies[light].mean() < 0.9


def test_free_concentrations_find_the_tight_group():
    found = run("plot_concentrations")
    right = {name: np.mean(one.labels_ == found.groups) for name, one in found.mixtures.items()}
    assert right["free"] > 0.95
    assert right["shared"] < 0.7


def test_a_month_of_news_is_counted():
    found = run("plot_labels")
    table = sm.reading.contingency(found.news.labels_, found.subject)
    assert (np.sort(table.counts, axis=1)[:, -1] > 0.95 * table.group_sizes).all()
    assert found.hills.table.counts.sum() == len(found.dates)


# Models and engines that are not in the package


def test_a_ladder_holds_heavy_tails():
    found = run("plot_heavy_tails")
    assert found.best.status == "converged"
    scored = {}
    for name, (labels, likelihood, degrees) in found.results.items():
        kept = labels >= 0
        ari = found.adjusted_rand_score(found.new_labels[kept], labels[kept])
        scored[name] = ari, likelihood, degrees
        printed = [f"{kept.mean():.0%}", f"{ari:.2f}", f"{likelihood:.2f}", f"{degrees:.1f}"]
        assert f"{name:18} {' '.join(printed)}".split() in [
            line.split() for line in found.printed.splitlines()
        ]
    ladder, mixtures = scored["ladder"], [scored[name] for name in scored if name[:3] == "vMF"]
    assert ladder[0] > scored["true directions"][0] - 0.02
    assert all(ladder[1] > likelihood + 1.0 for _, likelihood, _ in mixtures)
    assert all(ladder[2] < degrees for _, _, degrees in mixtures)
    assert scored["vMF, free"][0] < 0.5
    # Its density, around the direction, is one over the sphere.
    density = found.density(found.model.kappas, found.weights @ found.shares)
    assert density.mean() * np.ptp(found.cosines) == pytest.approx(1.0, abs=0.02)


def test_a_ladder_is_checked():
    found = run("plot_heavy_tails")

    class Greedy(found.Ladder):
        """Rungs without the prior, which the objective has."""

        def _maximum(self, resultants, K):
            prototypes, weights, _ = super()._maximum(resultants, K)
            mass = resultants.mass.reshape(K, -1) + 1e-9
            return prototypes, weights, mass / mass.sum(axis=1, keepdims=True)

    class Uneven(found.Ladder):
        """One rung more for the first component."""

        def scorer(self, parameters, assignment="soft", key=(0, 0)):
            scorer = super().scorer(parameters, assignment, key)
            first = np.r_[0, np.arange(scorer.n_components)]
            return replace(scorer, matrix=scorer.matrix[first], biases=scorer.biases[first])

    kappas = 4.0 ** np.arange(5)
    found.check_model(found.Ladder(kappas, 8), seed=1)
    with pytest.raises(AssertionError, match=r"below a start|loses"):
        found.check_model(Greedy(kappas, 8))
    with pytest.raises(AssertionError, match="different numbers of scores"):
        found.check_model(Uneven(kappas, 8))


def test_products_are_the_rows():
    found = run("plot_word_vectors")
    products, table = found.opened["products"], found.opened["table"]
    assert found.size["products"] < found.size["table"] / 5
    np.testing.assert_allclose(products.take([0, -1]), table.take([0, -1]), atol=1e-12)
    assert found.same > 0.99
    assert found.adjusted_rand_score(found.topics, found.fits["products"].labels_) > 0.95

    class Wrong(found.Products):
        """Sums of the wrong table."""

        def sweep(self, scorers, weights=None):
            return [replace(one, mass=one.mass[::-1]) for one in super().sweep(scorers, weights)]

    def make(X, **options):
        return Wrong(sparse.csr_array(X), np.eye(X.shape[1]), **options)

    with pytest.raises(AssertionError):
        found.check_engine(make)


# A stream


def test_the_stream_arrives():
    found = run("plot_stream")
    assert found.stream.n_samples_seen_ == len(found.rows)
    np.testing.assert_allclose(found.figure.axes[0].lines[0].get_ydata(), found.scores)
    first, last = found.ideal - found.scores[0], found.ideal - found.scores[-1]
    assert last < 0.05 * first
    assert found.agreement.ari > 0.95
    assert abs(found.found - np.mean(found.truth.prototypes == 0.0)) < 0.1


# A run in a notebook


def test_the_notebook_shows_what_the_run_found():
    found = run("plot_notebook")
    sizes = np.bincount(found.documents["group"])
    numbers = found.groups["group"]
    assert [sizes[k] for k in numbers] == found.groups["size"]
    assert sum(found.groups["size"]) == len(found.texts)
    for name in found.groups["name"]:
        assert name in found.printed
    assert len(set(found.assigned["name"])) == 3  # matrices, distributions, signals
    points = sum(len(one.get_offsets()) for one in found.figure.axes[0].collections)
    assert points == len(found.texts)
    assert not found.run.folder.exists()
