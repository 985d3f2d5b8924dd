"""scikit-learn's own checks of every estimator; each expected failure with its reason."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

import spheremix as sm

ZERO_ROWS = "the data of this check has rows of zeros, which have no direction"
STARTS = "the starts are drawn by row: repeating or removing rows changes which are drawn"
EXPECTED = {
    "check_estimators_dtypes": ZERO_ROWS,
    "check_estimator_sparse_tag": ZERO_ROWS,
    "check_estimator_sparse_array": ZERO_ROWS,
    "check_estimator_sparse_matrix": ZERO_ROWS,
    "check_sample_weight_equivalence_on_dense_data": STARTS,
    "check_sample_weight_equivalence_on_sparse_data": STARTS,
}
ESTIMATORS = [
    sm.VMFMixture(n_components=2, n_init=1),
    sm.VMFMixture(n_components=2, n_init=1, beta=3.0, kappa="free", init="k-means++"),
    sm.VMFMixture(n_components=2, e_step="hard"),
    sm.VMFMixture(n_components=2, n_init=1, e_step="stochastic"),
]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learn(estimator, check):
    check(estimator)
