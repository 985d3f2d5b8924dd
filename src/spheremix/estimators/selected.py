"""What estimators that choose a mixture do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from spheremix.estimators.predictions import MixturePredictions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from spheremix.estimators.mixture import VMFMixture
    from spheremix.scorer import Scorer


class SelectedMixture(MixturePredictions):
    """Predictions by ``best_estimator_``, the mixture that was chosen."""

    best_estimator_: VMFMixture

    @property
    def scorer_(self) -> Scorer:
        """What engines read rows with: that of the chosen mixture."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.scorer_

    @property
    def labels_(self) -> NDArray[np.intp]:
        """Most probable component of each row, in the chosen mixture; -1 for noise."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.labels_

    @property
    def n_noise_(self) -> int:
        """Rows of the fit that belong to no component, in the chosen mixture."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.n_noise_

    @property
    def n_iter_(self) -> int:
        """EM iterations that led to the chosen mixture from where it was started."""
        return self.best_estimator_.n_iter_

    def _shared(self, kind: type) -> dict[str, Any]:
        """Return the parameters that another estimator has too."""
        names = kind().get_params()
        return {name: v for name, v in self.get_params(deep=False).items() if name in names}
