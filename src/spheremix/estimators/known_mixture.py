"""What a von Mises-Fisher mixture tells as soon as its parameters are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spheremix.distribution import VonMisesFisher
from spheremix.estimators import validation as check
from spheremix.estimators.attributes import MixtureAttributes
from spheremix.estimators.predictions import MixturePredictions
from spheremix.models.vmf import noise_share
from spheremix.select import count_parameters, criteria

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.scorer import Scorer

    Array = NDArray[np.float64]


class KnownMixture(MixtureAttributes, MixturePredictions):
    """The scores, the number of parameters, the criteria and the draws of a mixture.

    Whether the parameters were fitted, given or loaded makes no difference.
    """

    @property
    def scorer_(self) -> Scorer:
        """What engines read rows with: log weights, concentrations and prototypes together."""
        check_is_fitted(self, "prototypes_")
        parameters = self.model_.parameters(self.prototypes_, self.kappas_, self.weights_)
        return self.model_.scorer(parameters)

    @property
    def n_parameters_(self) -> int:
        """What the criteria count."""
        check_is_fitted(self, "prototypes_")
        return count_parameters(self.prototypes_, self.model_.kappa_mode) + self.model_.n_noise

    @property
    def noise_weight_(self) -> float:
        """The weight of the noise."""
        check_is_fitted(self, "prototypes_")
        return 0.0 if self.model_.noise is None else noise_share(self.weights_)

    @property
    def n_noise_(self) -> int:
        """Rows of the fit that belong to no component."""
        check_is_fitted(self, "labels_")
        return int(np.count_nonzero(self.labels_ < 0))

    def aic(self, X: Any) -> float:
        """Return Akaike's criterion of the fitted mixture on other rows; smaller is better.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows are normalised.

        Returns
        -------
        float
            On the rows it was fitted on (without weights), ``criteria_["aic"]``, unless a path
            lowered the level of the noise for predictions.
        """
        return self._criteria_on(X)["aic"]

    def bic(self, X: Any) -> float:
        """Return the Bayesian criterion of the fitted mixture on other rows; smaller is better.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows are normalised.

        Returns
        -------
        float
            On the rows it was fitted on (without weights), ``criteria_["bic"]``, unless a path
            lowered the level of the noise for predictions.
        """
        return self._criteria_on(X)["bic"]

    def _criteria_on(self, X: Any) -> dict[str, float]:
        densities = self.score_samples(X)
        return criteria(
            float(densities.sum()), self.n_parameters_, len(densities), self.n_features_in_
        )

    def sample(
        self, n_samples: int = 1, random_state: Any = None
    ) -> tuple[Array, NDArray[np.intp]]:
        """Draw rows from the fitted mixture.

        Parameters
        ----------
        n_samples : int, default=1
            How many.
        random_state : int, RandomState, Generator or None, default=None
            Seeds the draws.

        Returns
        -------
        X : ndarray of shape (n_samples, d)
            Unit rows, component after component.
        labels : ndarray of shape (n_samples,)
            Their components; -1 for noise, which is drawn uniformly, and comes last.
        """
        check_is_fitted(self)
        rng = np.random.default_rng(check.draw_seeds(random_state, 1)[0])
        shares, kappas, numbers = self.weights_, self.kappas_, np.arange(len(self.weights_))
        prototypes = self.prototypes_
        if self.model_.noise is not None:
            shares, kappas = np.append(shares, self.noise_weight_), np.append(kappas, 0.0)
            prototypes, numbers = np.vstack([prototypes, prototypes[0]]), np.append(numbers, -1)
        sizes = rng.multinomial(check.require_integer("n_samples", n_samples, 1), shares)
        rows = [
            VonMisesFisher(mu, float(kappa)).rvs(int(size), random_state=rng)
            for mu, kappa, size in zip(prototypes, kappas, sizes, strict=True)
            if size
        ]
        return np.concatenate(rows), np.repeat(numbers, sizes)
