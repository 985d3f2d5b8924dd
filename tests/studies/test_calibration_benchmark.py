"""The errors of benchmarks/calibration.py, and how much they vary."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(scope="module")
def calibration(benchmark_scripts):
    return benchmark_scripts("calibration")[0]


def by_bins(posteriors, labels, bins):
    """Return the expected calibration error by its definition: bin by bin."""
    sure, right = posteriors.max(axis=1), posteriors.argmax(axis=1) == labels
    place = np.minimum((sure * bins).astype(int), bins - 1)
    each = [place == b for b in range(bins) if np.any(place == b)]
    return sum(abs(sure[one].mean() - right[one].mean()) * one.mean() for one in each)


def drawn(rng, n):
    """Return posteriors of two groups that are too sure, and labels."""
    share = rng.uniform(0.5, 1.0, size=n)
    labels = (rng.random(n) > share - 0.15).astype(int)
    return np.column_stack([share, 1.0 - share]), labels


def test_errors_are_those_of_the_definition(calibration):
    posteriors, labels = drawn(np.random.default_rng(0), 400)
    found = calibration.excesses(posteriors, labels, np.arange(2))
    assert calibration.calibration_error(found) == pytest.approx(
        by_bins(posteriors, labels, calibration.BINS), abs=1e-12
    )


def test_the_standard_error_is_what_other_documents_give(calibration):
    rng = np.random.default_rng(1)
    samples = [calibration.excesses(*drawn(rng, 400), np.arange(2)) for _ in range(300)]
    true = np.std([calibration.calibration_error(one) for one in samples])
    told = np.mean([calibration.standard_error([one]) for one in samples[:10]])
    assert told == pytest.approx(true, rel=0.25)
    # The same documents, fitted three times alike: no fit adds evidence.
    alone = calibration.standard_error(samples[:1])
    assert calibration.standard_error([samples[0]] * 3) == pytest.approx(alone, rel=1e-12)
