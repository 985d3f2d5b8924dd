"""VMFMixture among its neighbours: pipelines, searches, data frames, pickles, open rows."""

from __future__ import annotations

import io
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from mixture_common import assert_same_bits, mixture
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import spheremix as sm

DOCUMENTS = [
    "kappa is the concentration of a direction",
    "a direction has a concentration",
    "directions and their concentration kappa",
    "the soup is hot and the bread is fresh",
    "fresh bread and hot soup",
    "soup with bread",
] * 3


def test_pipeline_after_a_vectorizer():
    pipeline = make_pipeline(TfidfVectorizer(), sm.VMFMixture(n_components=2, random_state=0))
    labels = pipeline.fit_predict(DOCUMENTS)
    assert adjusted_rand_score(np.tile([0, 0, 0, 1, 1, 1], 3), labels) == 1.0
    assert pipeline.predict(["hot bread"])[0] == labels[3]
    assert pipeline.transform(["hot bread"]).shape == (1, 2)
    assert np.isfinite(pipeline.score(DOCUMENTS))


def test_grid_search_prefers_the_true_number(clouds):
    X, _ = clouds(n=180, noise=0.2)
    search = GridSearchCV(
        mixture(kappa="free", init="k-means++"), {"n_components": [1, 2, 3]}, cv=3
    ).fit(np.random.default_rng(0).permutation(X))
    assert search.best_params_ == {"n_components": 3}
    assert_allclose(search.best_estimator_.score(X), search.best_estimator_.log_likelihood_ / 180)


def test_clone_keeps_parameters_and_no_results(clouds):
    mix = mixture(beta=3.0, kappa=[10.0, 20.0, 30.0]).fit(clouds()[0])
    copy = clone(mix)
    assert copy.get_params() == mix.get_params()
    assert not [name for name in vars(copy) if name.endswith("_")]
    assert copy.set_params(beta=1.0).beta == 1.0


def test_data_frames_and_names(clouds):
    X, _ = clouds()
    names = [f"word{j}" for j in range(8)]
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        mix = mixture().fit(frame)
        assert mix.feature_names_in_.tolist() == names
        assert mix.predict(frame).shape == (120,)
        swapped = frame[names[::-1]]
        with pytest.raises(ValueError, match="feature names should match"):
            mix.predict(swapped)
    # Columns without names forget those of the fit before.
    mix.fit(X)
    assert not hasattr(mix, "feature_names_in_")


@pytest.mark.parametrize(("kind", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output(clouds, kind, frame):
    X, _ = clouds()
    mix = mixture().set_output(transform=kind)
    posteriors = mix.fit_transform(X)
    assert isinstance(posteriors, frame)
    names = ["vmfmixture0", "vmfmixture1", "vmfmixture2"]
    assert list(posteriors.columns) == names
    assert mix.get_feature_names_out().tolist() == names
    assert_allclose(posteriors.to_numpy(), mix.predict_proba(X))


def test_pickle(clouds):
    X, _ = clouds()
    mix = mixture(beta=2.0, init="k-means++").fit(X)
    copy = pickle.load(io.BytesIO(pickle.dumps(mix)))  # noqa: S301
    assert_same_bits(copy, mix)
    assert_array_equal(copy.predict_proba(X), mix.predict_proba(X))


def test_open_directions_can_be_fitted_many_times(clouds):
    X, _ = clouds()
    directions = sm.as_directions(X)
    mix = mixture().fit(directions)
    assert_same_bits(mix, mixture().fit(X))
    assert_array_equal(mix.predict(directions), mix.predict(X))
    with pytest.raises(ValueError, match="X has 4 features, but VMFMixture is expecting 8"):
        mix.predict(sm.as_directions(X[:, :4]))


def test_no_warnings_and_no_output_by_default(clouds, capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mixture().fit(clouds()[0])
    assert capfd.readouterr() == ("", "")
