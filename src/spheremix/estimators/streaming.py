"""``partial_fit``: stochastic EM, one step a batch of rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from spheremix.errors import ParameterError
from spheremix.estimators import validation as check
from spheremix.estimators.problem import ConvergenceWarning
from spheremix.models.base import DegenerateError
from spheremix.parameters import require_number
from spheremix.resultants import Resultants
from spheremix.vectors import as_sparse, divided, is_sparse

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from spheremix.data.base import Directions
    from spheremix.models.base import Model
    from spheremix.scorer import Assignment

# How fast old batches are forgotten: their weight in the running resultants is in proportion to the
# power FORGETTING - 1 of the weight that had been seen by then. One would never forget, and keep
# the first, bad assignments for ever; larger ones waste rows.
FORGETTING = 3.0
SWEEPS = 20  # over a batch, at most
MOSTLY_ZERO = 0.5  # share of the coordinates of sums that are kept sparse, at most
LEAST_SHARE = 1e-6  # of the weight: a group that has less does not decay any further
LEAST_GAIN = 1e-4  # a step that gains less ends the work on a batch, in nats per unit of its weight


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """What an estimator learns of a batch beside the parameters.

    Attributes
    ----------
    directions : Directions
        Its rows.
    n_iter : int
        Iterations, those of the fit and of earlier batches included.
    n_rows : int
        Rows seen, those of the fit and of earlier batches included.
    """

    directions: Directions
    n_iter: int
    n_rows: int


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """What is kept of the batches seen.

    Attributes
    ----------
    resultants : Resultants
        Running means over the batches, times the weight of all rows seen; with a decay, the sums of
        the batches, each times what is left of its weight.
    n_rows : int
        Rows seen.
    """

    resultants: Resultants
    n_rows: int

    def after(self, batch: Resultants, n_rows: int, decay: float | None) -> Stream:
        """Add a batch: move the running means towards its own, or lower the weight of the past."""
        old = self.resultants
        if decay is None:
            weight = old.weight + batch.weight
            step = step_size(old.weight, batch.weight)
            keep, take = (1.0 - step) * weight / old.weight, step * weight / batch.weight
        else:
            keep, take, weight = decay, 1.0, decay * old.weight + batch.weight
            # A group to which no rows come any more keeps its direction, with nearly no weight.
            fading = keep * old.mass + batch.mass < LEAST_SHARE * weight
            if fading.any():
                each = np.where(fading, keep, 1.0)
                old = replace(old, mass=old.mass / each, vectors=divided(old.vectors, each))
        return Stream(
            Resultants(
                keep * old.mass + take * batch.mass,
                keep * old.vectors + take * batch.vectors,
                keep * old.log_likelihood + take * batch.log_likelihood,
                keep * old.entropy + take * batch.entropy,
                weight,
            ),
            self.n_rows + n_rows,
        )

    def in_form_of(self, before: Stream) -> Stream:
        """Keep sums sparse that were so before: a batch of dense rows makes them dense."""
        vectors = self.resultants.vectors
        if is_sparse(vectors) or not is_sparse(before.resultants.vectors):
            return self
        if np.count_nonzero(vectors) > MOSTLY_ZERO * vectors.size:
            return self
        return replace(self, resultants=replace(self.resultants, vectors=as_sparse(vectors)))

    def share(self, batch: Resultants, decay: float | None) -> float:
        """Return the share that a batch has in what is kept after it."""
        old = self.resultants.weight
        if decay is None:
            return step_size(old, batch.weight)
        return batch.weight / (decay * old + batch.weight)


def step_size(seen: float, batch: float) -> float:
    """Return the share of a batch in the running means, from the weight seen before and its own.

    For batches of one size it is ``FORGETTING / (t + FORGETTING - 1)`` at the t-th: the steps sum
    to infinity and their squares do not, as stochastic approximation asks for.
    """
    return FORGETTING * batch / (seen + FORGETTING * batch)


class PartialFit:
    """An estimator that can be fitted batch by batch.

    A subclass sets ``_stream`` at the end of ``fit``, returns the model, the present parameters and
    the assignment of rows (``_streamed``), and takes new parameters (``_adopt``): of the fitted
    attributes it keeps those that are still true after another batch.
    """

    _stream: Stream
    n_components: int
    prototypes_: NDArray[np.float64]
    n_iter_: int

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to all rows at once."""
        raise NotImplementedError

    def _streamed(self, directions: Directions) -> tuple[Model[Any], Any, Assignment]:
        raise NotImplementedError

    def _adopt(self, model: Model[Any], parameters: Any, batch: Batch) -> None:
        raise NotImplementedError

    def partial_fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        sample_weight: ArrayLike | None = None,
        *,
        decay: float | None = None,
    ) -> Self:
        """Take one step of stochastic EM on a batch of rows.

        The first batch is fitted as ``fit`` does, restarts and all, and should have a few times as
        many rows as there are components at least: what it finds is refined and never left
        altogether. After ``fit`` the stream goes on from the fit.

        At each further batch, of weight w after rows of weight W, running means of the resultants
        move by the step ``3 w / (W + 3 w)`` towards those of the batch (3 / (t + 2) at the t-th
        batch where all have one size), and an M-step is taken on the means times the weight seen.
        The batch is swept again with the new parameters, what came before it held, until a step
        gains little, 20 times at most: large batches gain more from it than small ones.

        With a ``decay`` nothing is averaged: the resultants of all that came before are multiplied
        by it, and those of the batch are added. With 1 every row counts the same. Earlier rows
        are not read again: they keep the posteriors that they had. With less the past is
        forgotten: after t batches a row counts ``decay ** t``, so a stream of batches of weight w
        has the weight ``w / (1 - decay)`` in the end, and groups follow rows that change. A group
        to which no rows come any more keeps its direction and a millionth of the weight.

        A ``beta`` is against all the weight seen, or what a decay leaves of it: it thresholds more
        while few rows have been seen, and two epochs are every row twice. Stream with ``beta=0``
        first, then ``set_params``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or Directions
            The batch. Rows are normalised; X is not changed.
        y : ignored
            For scikit-learn's conventions.
        sample_weight : array-like of shape (n,), default=None
            Non-negative; a weight of 2 is the row twice.
        decay : float, default=None
            What is left of the weight of earlier rows: above 0, 1 at most. It is for this batch, so
            it can follow the time that has passed since the last one.

        Returns
        -------
        PartialFit
            Itself. ``labels_`` are those of the batch, ``n_samples_seen_`` counts all rows.
            Attributes that describe all rows of a fit (its log-likelihood, criteria, runs) are
            removed at the second batch: ``score`` gives the log-likelihood of any rows.
        """
        if decay is not None:
            decay = require_number("decay", decay, above=0.0, at_most=1.0)
        if not hasattr(self, "_stream"):
            if hasattr(self, "prototypes_"):
                raise ParameterError(
                    "This model comes from a path, a study, a folder or known parameters, and has "
                    "no running resultants",
                    remedies=("to stream from it, give it to a new estimator as {init}",),
                )
            return self.fit(X, sample_weight=sample_weight)
        if self.n_components != self.prototypes_.shape[0]:
            raise ParameterError(
                f"{{n_components={self.n_components}}} in a stream that began with {{K}}",
                remedies=("use fit", "use a new estimator"),
                K=self.prototypes_.shape[0],
            )
        directions = check.open_again(self, X)
        weights = check.check_weights(sample_weight, directions.n_rows)
        model, parameters, assignment = self._streamed(directions)
        stream, n_iter = self._stream, self.n_iter_
        for _ in range(SWEEPS):
            (batch,) = directions.sweep([model.scorer(parameters, assignment)], weights)
            stream = self._stream.after(batch, directions.n_rows, decay)
            try:
                step = model.m_step(stream.resultants, parameters)
            except DegenerateError as error:
                warnings.warn(
                    ConvergenceWarning(
                        "partial_fit: component {k} has {status} after {n} rows; no prototype "
                        "is updated until rows come to it again",
                        remedies=(
                            "start again with a smaller {n_components}",
                            "with a larger first batch",
                            "with a smaller {beta}",
                        ),
                        k=error.component,
                        status=error.status,
                        n=stream.n_rows,
                    ),
                    stacklevel=2,
                )
                break
            parameters = step.parameters
            n_iter += 1
            share = self._stream.share(batch, decay)
            if step.gain <= LEAST_GAIN * share * stream.resultants.weight:
                break
        self._adopt(model, parameters, Batch(directions, n_iter, stream.n_rows))
        self._stream = stream.in_form_of(self._stream)
        return self
