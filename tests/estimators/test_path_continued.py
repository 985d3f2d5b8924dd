"""The same path from weights or repeated rows, any start, in parts, interrupted and watched."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import spheremix as sm
from spheremix import em
from spheremix.estimators.strategies import PathProgress
from spheremix.select import CRITERIA

ARRAYS = (
    "betas_",
    "log_likelihoods_",
    "objectives_",
    "n_nonzero_",
    "entropies_",
    "n_iters_",
    "stationarity_gaps_",
    "n_distinct_prototypes_",
    "kappas_",
    "weights_",
    "sizes_",
    "exit_betas_",
    "labels_",
)


def assert_same_path(one, other):
    """The same bits."""
    for name in ARRAYS:
        assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in CRITERIA:
        assert_array_equal(one.criteria_[name], other.criteria_[name])
    assert (one.status_, one.statuses_) == (other.status_, other.statuses_)
    assert one.selected_ == other.selected_
    for i in range(len(one.betas_)):
        assert_array_equal(one.model(i).prototypes_, other.model(i).prototypes_)


# ------------------------------------------------------------------------------- weights and starts


def test_a_weight_is_a_number_of_rows(rows, path):
    weights = np.random.default_rng(0).integers(0, 3, len(rows))
    options = {"n_components": 4, "init": path.model(0).prototypes_, "tol": 1e-10}
    weighted = sm.VMFPath(**options).fit(rows, sample_weight=weights)
    repeated = sm.VMFPath(**options).fit(np.repeat(rows, weights, axis=0))
    assert_allclose(weighted.betas_, repeated.betas_, rtol=1e-5)
    assert_allclose(weighted.objectives_, repeated.objectives_, rtol=1e-8)
    assert_array_equal(weighted.n_nonzero_, repeated.n_nonzero_)
    assert_allclose(weighted.criteria_["bic"], repeated.criteria_["bic"], rtol=1e-8)


def test_doubled_weights_double_beta(rows, path):
    """The objective is a total: twice the rows and twice the beta have the same maximum."""
    doubled = sm.VMFPath(n_components=4, init=path.model(0)).fit(rows, sample_weight=2.0)
    plain = sm.VMFPath(n_components=4, init=path.model(0)).fit(rows)
    assert_allclose(doubled.betas_, 2 * plain.betas_, rtol=1e-9)
    assert_allclose(doubled.objectives_, 2 * plain.objectives_, rtol=1e-9)
    for i in range(len(plain.betas_)):
        assert_allclose(doubled.model(i).prototypes_, plain.model(i).prototypes_, atol=1e-8)


def test_given_starts(rows, path):
    from_model = sm.VMFPath(n_components=4, init=path.model(0)).fit(rows)
    from_labels = sm.VMFPath(n_components=4, init=path.model(0).predict(rows)).fit(rows)
    for other in (from_model, from_labels):
        assert len(other.runs_) == 1
        assert_allclose(other.objectives_[0], path.objectives_[0], atol=1e-4)
        assert_allclose(other.betas_[-1], path.betas_[-1], rtol=1e-3)


def test_the_dense_step_is_the_best_restart(rows):
    path = sm.VMFPath(n_components=4, random_state=3, n_init=5, max_steps=1).fit(rows)
    mixture = sm.VMFMixture(n_components=4, random_state=3, n_init=5).fit(rows)
    assert [run.start for run in path.runs_] == ["merge"] * 5 + ["cross"] * 4
    assert_array_equal(path.model(0).prototypes_, mixture.prototypes_)
    assert path.model(0).criteria_ == mixture.criteria_
    assert path.objectives_[0] == max(run.objective for run in path.runs_)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_engines_and_threads(wide, container):
    X = container(wide.todense())
    options = {"n_components": 3, "random_state": 0, "min_relative_increase": 0.05}
    one = sm.VMFPath(n_threads=1, **options).fit(X)
    two = sm.VMFPath(n_threads=2, **options).fit(X)
    assert_same_path(one, two)
    reference = sm.VMFPath(engine="reference", **options).fit(X)
    assert_allclose(reference.betas_, one.betas_, rtol=1e-6)
    assert_allclose(reference.objectives_, one.objectives_, rtol=1e-9)


# ---------------------------------------------------------------------------------- to be continued


@pytest.mark.parametrize("kappa", ["shared", "free"])
@pytest.mark.parametrize("refine", [None, 0.1])
def test_a_continued_path_has_the_bits_of_a_long_one(rows, kappa, refine):
    options = {"n_components": 4, "kappa": kappa, "random_state": 0, "refine": refine}
    long = sm.VMFPath(**options).fit(rows)
    parts = sm.VMFPath(max_steps=3, warm_start=True, **options).fit(rows)
    assert parts.status_ == "max_steps"
    runs = parts.runs_
    for max_steps in (4, 9):
        parts.set_params(max_steps=max_steps).fit(rows)
        stopped = sm.VMFPath(max_steps=max_steps, **options).fit(rows)
        assert_same_path(parts, stopped)
    parts.set_params(max_steps=None, max_sparsity=0.4).fit(rows)
    assert parts.status_ == "max_sparsity"
    parts.set_params(max_sparsity=1.0).fit(rows)
    assert_same_path(parts, long)
    assert parts.runs_ is runs
    assert_same_path(parts.fit(rows), long)  # at the end, nothing is left to do


def test_a_continued_grid(rows):
    options = {"n_components": 4, "random_state": 0}
    long = sm.VMFPath(betas=[5.0, 20.0, 30.0, 50.0], **options).fit(rows)
    parts = sm.VMFPath(betas=[5.0, 20.0], warm_start=True, **options).fit(rows)
    parts.set_params(betas=[5.0, 20.0, 30.0, 50.0]).fit(rows)
    assert_same_path(parts, long)


def test_without_warm_start_it_begins_again(rows, path):
    again = sm.VMFPath(n_components=4, random_state=0, max_steps=3).fit(rows)
    again.set_params(max_steps=None).fit(rows)
    assert_same_path(again, path)


def test_warm_start_refuses_another_problem(rows):
    path = sm.VMFPath(n_components=4, random_state=0, max_steps=2, warm_start=True).fit(rows)
    with pytest.raises(ValueError, match=r"warm_start.*another number of components"):
        path.set_params(n_components=3).fit(rows)
    with pytest.raises(ValueError, match=r"warm_start.*features"):
        path.set_params(n_components=4).fit(rows[:, :7])


def test_warm_start_refuses_other_rows(rows):
    path = sm.VMFPath(4, random_state=0, max_steps=3).fit(rows)
    path.set_params(warm_start=True, max_steps=6)
    with pytest.raises(ValueError, match="previous path had other rows, weights or e_step"):
        path.fit(rows[:-20])
    path.fit(rows)
    assert len(path.betas_) == 6


class Stop:
    """Raise after some steps of a path."""

    def __init__(self, n_steps, error=KeyboardInterrupt):
        self.n_steps = n_steps
        self.error = error

    def __call__(self, progress):
        if isinstance(progress, PathProgress) and progress.n_steps == self.n_steps:
            raise self.error


def test_an_interrupted_path_keeps_its_steps_and_goes_on(rows, path):
    stopped = sm.VMFPath(n_components=4, random_state=0, callback=Stop(6), warm_start=True)
    with pytest.warns(UserWarning, match=r"interrupted after 6 steps.*warm_start=True"):
        stopped.fit(rows)
    assert stopped.status_ == "interrupted"
    assert_array_equal(stopped.betas_, path.betas_[:6])
    assert len(stopped.predict(rows)) == len(rows)
    assert_same_path(stopped.set_params(callback=None).fit(rows), path)


def test_interrupted_while_it_refines(rows):
    n = len(sm.VMFPath(n_components=4, random_state=0).fit(rows).betas_)
    options = {"n_components": 4, "random_state": 0, "refine": 0.1}
    stopped = sm.VMFPath(callback=Stop(n + 2), warm_start=True, **options)
    with pytest.warns(UserWarning, match="interrupted"):
        stopped.fit(rows)
    assert len(stopped.betas_) == n + 2
    long = sm.VMFPath(**options).fit(rows)
    assert len(long.betas_) > n + 2
    assert_same_path(stopped.set_params(callback=None).fit(rows), long)


def test_an_error_on_the_way_leaves_the_previous_path(rows):
    path = sm.VMFPath(n_components=4, random_state=0, max_steps=4, warm_start=True).fit(rows)
    before = pickle.loads(pickle.dumps(path))  # noqa: S301
    path.set_params(max_steps=None, callback=Stop(7, ZeroDivisionError))
    with pytest.raises(ZeroDivisionError):
        path.fit(rows)
    assert_same_path(path, before)
    path.set_params(callback=None).fit(rows)
    assert_same_path(path, sm.VMFPath(n_components=4, random_state=0).fit(rows))


def test_callback_and_verbose(wide, long_path, capsys):
    seen = []
    path = sm.VMFPath(n_components=3, random_state=0, verbose=1, callback=seen.append).fit(wide)
    assert_same_path(path, long_path)
    sweeps = [one for one in seen if isinstance(one, em.Progress)]
    steps = [one for one in seen if isinstance(one, PathProgress)]
    assert len(sweeps) + len(steps) == len(seen)
    assert sweeps[0].n_runs == 5
    assert [one.n_steps for one in steps] == list(range(2, len(path.betas_) + 1))
    assert_array_equal([one.beta for one in steps], path.betas_[1:])
    assert_array_equal([one.sparsity for one in steps], path.sparsity_[1:])
    assert [one.status for one in steps] == path.statuses_[1:]
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("run ") for line in lines) == len(path.runs_) == 9
    every = [line for line in lines if line.startswith("step ")]
    assert len(every) == len(path.betas_) // 100
    assert every[0].startswith(f"step 100: beta {path.betas_[99]:.4g}, sparsity")


def test_clone_params_and_pickle(rows, path):
    copy = clone(path)
    assert copy.get_params() == path.get_params()
    assert not hasattr(copy, "betas_")
    with pytest.raises(NotFittedError):
        copy.predict(rows)
    with pytest.raises(NotFittedError):
        copy.select("bic")
    with pytest.raises(NotFittedError):
        copy.model(0)
    back = pickle.loads(pickle.dumps(path))  # noqa: S301
    assert_same_path(back, path)
    assert_array_equal(back.predict(rows), path.predict(rows))
    back.set_params(warm_start=True).fit(rows)
    assert_same_path(back, path)
