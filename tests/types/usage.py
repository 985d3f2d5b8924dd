"""What type checkers know of the public names: read by mypy and pyright, and never run.

A line that must be an error says so with an ignore; both complain where it is none.
"""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import spheremix as sm
from spheremix.advice import Advice

Array = NDArray[np.float64]
Labels = NDArray[np.intp]
X: Any = np.eye(4)

mixture = sm.VMFMixture(3, kappa="free", random_state=0).fit(X)
assert_type(mixture, sm.VMFMixture)
assert_type(mixture.criteria_, dict[str, float])
assert_type(mixture.status_, str)
assert_type(mixture.log_likelihood_, float)
assert_type(mixture.labels_, Labels)
assert_type(mixture.prototypes_, Array)
assert_type(mixture.cluster_centers_, Array)
assert_type(mixture.converged_, bool)
assert_type(mixture.runs_[0].objective, float)
assert_type(mixture.predict(X), Labels)
assert_type(mixture.predict_proba(X), Array)
assert_type(mixture.fit_predict(X), Labels)

path = sm.VMFPath(3, init=mixture).fit(X)
assert_type(path.betas_, Array)
assert_type(path.criteria_, dict[str, Array])
assert_type(path.best_estimator_, sm.VMFMixture)
assert_type(path.labels_, Labels)

study = sm.VMFMixtureIC(range(2, 4)).fit(X)
assert_type(study.best_n_components_, int)
assert_type(study.best_estimator_, sm.VMFMixture)
assert_type(study.advice_, Advice)

means = sm.SphericalKMeans(3, init=[0, 1, 2, 0]).fit(X)
assert_type(means.inertia_, float)
assert_type(means.as_mixture(), sm.VMFMixture)
assert_type(sm.Report(means, X=X).to_dict(), dict[str, Any])
assert_type(sm.VMFCoclustering(3).fit(X).column_labels_, Labels)
assert_type(sm.VMFTree(n_leaves=3).fit(X).cut(2), sm.VMFMixture)
assert_type(sm.calibrate(mixture, X).posteriors, Array)
assert_type(sm.stability(mixture, X).groups, Array)

run = sm.explore_corpus(["a text"], None, k=1)
assert_type(run, sm.Run)
assert_type(sm.Run.from_model(mixture, X=X), sm.Run)
assert_type(run.mixture, sm.VMFMixture)
assert_type(run.path, sm.VMFPath | None)
assert_type(run.check(), list[str])
assert_type(run.names(), list[str] | None)

sm.VMFMixture(3, kappa=[1.0, 2.0, 3.0], init=np.eye(3))
sm.VMFMixture(3, kappa="fre")  # type: ignore[arg-type]
sm.VMFMixture(3, init="mergee")  # type: ignore[arg-type]
sm.VMFMixture(3, e_step="sof")  # type: ignore[arg-type]
sm.VMFMixture(3, noise="uni")  # type: ignore[arg-type]
sm.VMFMixtureIC([2], paths="non")  # type: ignore[arg-type]
sm.VMFPath(3, strategy="pat")  # type: ignore[arg-type]
sm.SphericalKMeans(3, init="spherical-k-means")  # type: ignore[arg-type]
sm.VMFCoclustering(3, init=means)
sm.VMFCoclustering(3, init="merge")  # type: ignore[arg-type]
sm.VMFCoclustering(3, weights="same")  # type: ignore[arg-type]
sm.as_directions(X, engine="numba")  # type: ignore[arg-type]
