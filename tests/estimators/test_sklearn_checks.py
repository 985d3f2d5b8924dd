"""scikit-learn's own checks of every estimator; each expected failure with its reason."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import spheremix as sm

ZERO_ROWS = dict.fromkeys(
    [
        "check_estimators_dtypes",
        "check_estimator_sparse_tag",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
    ],
    "the data of this check has rows of zeros, which have no direction",
)
STARTS = dict.fromkeys(
    [
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ],
    "the starts are drawn by row: repeating or removing rows changes which are drawn, and here "
    "where the fit ends",
)
NO_BLOCKS = {
    "check_clustering": "the data of this check has no blocks, hence one component here, which "
    "finds no clusters"
}
ONE_NUMBER = dict.fromkeys(
    [
        "check_dont_overwrite_parameters",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_fit2d_1sample",
        "check_fit2d_1feature",
        "check_fit2d_predict1d",
    ],
    "this check sets n_components to 1, and here it lists the numbers to choose from",
)
ESTIMATORS = {
    sm.VMFMixture: (
        {"n_init": 1},
        {"n_init": 1, "beta": 3.0, "kappa": "free", "init": "k-means++"},
        {"n_init": 1, "e_step": "hard"},
    ),
    sm.VMFPath: ({"n_init": 1}, {"n_init": 2, "kappa": "free"}),
    # Advice draws rows, which repeated rows change.
    sm.VMFMixtureIC: ({"n_components": (1, 2), "n_init": 2, "k_criterion": "ebic"},),
    sm.VMFTree: (
        {"n_leaves": 4, "n_init": 1},
        {"n_leaves": 4, "n_init": 1, "n_clusters": 2, "kappa": "free"},
    ),
    sm.SphericalKMeans: ({"n_init": 2},),
    sm.VMFCoclustering: (
        {"n_components": 1, "n_init": 2},
        {"n_components": 1, "n_init": 2, "algorithm": "cem", "kappa": "shared"},
        {"n_components": 1, "n_init": 2, "algorithm": "saem", "kappa": 5.0, "n_drawn": 5},
    ),
}


def expected(estimator):
    """Return the checks that must fail, with their reasons."""
    if isinstance(estimator, sm.VMFCoclustering):
        return ZERO_ROWS | NO_BLOCKS
    if isinstance(estimator, sm.VMFTree):
        return ZERO_ROWS
    if isinstance(estimator, sm.VMFMixtureIC):
        return ZERO_ROWS | ONE_NUMBER
    drawn = isinstance(estimator, sm.VMFMixture | sm.VMFPath)
    return ZERO_ROWS | (STARTS if drawn else {})


def made(which):
    """Make each estimator with its first parameters, or with all others."""
    return [
        kind(
            **{**({} if kind is sm.VMFTree else {"n_components": 2}), "random_state": 0, **options}
        )
        for kind, each in ESTIMATORS.items()
        for options in each[which]
    ]


pytestmark = [
    pytest.mark.filterwarnings("ignore:A kappa of the mixture"),
    pytest.mark.filterwarnings("ignore:EM stopped at its limit"),  # the data of some are noise
]


@parametrize_with_checks(made(slice(1)), expected_failed_checks=expected)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(made(slice(1, None)), expected_failed_checks=expected)
def test_scikit_learn_with_other_parameters(estimator, check):
    check(estimator)
