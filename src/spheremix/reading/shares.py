"""Several subjects in one document: the shares of the groups, from the passages of a document.

A document has weights of its own. With f_pk the evidence of passage p for group k, tempered as by
:func:`spheremix.calibrate`, l_p the length of the passage and alpha the weights of the mixture, the
weights a of a document maximise

    sum over its passages of l_p log(sum_k a_k f_pk)  +  c sum_k alpha_k log a_k,

which is concave in a. The fixed-point iteration

    tau_pk proportional to a_k f_pk,   a_k proportional to c alpha_k + sum_p l_p tau_pk

never lowers it (it is EM with the components held). With N the lengths and c together and a' the
next weights, the derivative by a_k is N a'_k / a_k. So what is missing to the maximum is at most
N (max_k a'_k / a_k - 1): that is the rule to stop by.

A passage that has helped to find the weights of its document is then judged too surely. So the
probabilities of a passage come from the weights that the *other* passages give,
c alpha_k + sum over q other than p of l_q tau_qk. A document of one passage has those of
``calibrate``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from spheremix.errors import ParameterError
from spheremix.estimators import validation as check
from spheremix.estimators.calibration import calibrate
from spheremix.estimators.mixture import SelectedMixture, VMFMixture

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from spheremix.data.base import Directions

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

PRIOR = 2.0  # passages that the mixture counts for in the weights of a document
TOL = 1e-4  # nats per unit of length that may be missing to the maximum
MAX_ITER = 1000
FEW = 0.5  # share of the documents still running below which the others are left out
LEAST = 1e-12  # probability that a passage is no noise, so that some passage always counts


@dataclass(frozen=True, slots=True, eq=False)
class DocumentShares:
    """What documents are about, by the passages they are made of.

    Attributes
    ----------
    documents : ndarray of shape (m,)
        The documents, sorted.
    shares : ndarray of shape (m, K)
        Share of each group in each document: the mean of the probabilities of its passages,
        weighted by their lengths. Rows sum to one.
    passages : ndarray of shape (n, K)
        Probabilities of the groups for each passage, given the other passages of its document.
    temperature : float
        What the evidence of a passage was divided by.
    n_iter : int
        Iterations until every document was within the tolerance.
    """

    documents: NDArray[Any]
    shares: Array
    passages: Array
    temperature: float
    n_iter: int


def document_shares(
    model: Any,
    X: Any,
    documents: ArrayLike,
    *,
    lengths: ArrayLike | None = None,
    temperature: float | None = None,
    prior: float = PRIOR,
    random_state: Any = 0,
) -> DocumentShares:
    """Find the shares of the groups in each document, where rows are passages of documents.

    The components are held. Every document has weights of its own, which are found together with
    the groups of its passages: a passage that could be of two groups is rather of the one that the
    rest of its document is of. The weights are the maximum of a concave function, so there is one
    answer. ``spheremix.text.split`` makes passages of texts, but any rows that belong together will
    do.

    Parameters
    ----------
    model : VMFMixture, VMFPath or VMFMixtureIC
        Fitted to passages; of a path the step that is selected.
    X : array-like or sparse matrix of shape (n, d), or Directions
        One passage a row: those of the fit, or others if there is a ``temperature``.
    documents : array-like of shape (n,)
        The document that each passage is of: numbers or names.
    lengths : array-like of shape (n,), default=None
        What a passage counts for, such as its number of words; None for the same each.
    temperature : float or None, default=None
        What the evidence of a passage is divided by. None: that of :func:`spheremix.calibrate`, and
        each row is judged by the mixture that the other rows give. For passages that were not in
        the fit, give the ``temperature`` of the fit's shares.
    prior : float, default=2.0
        What the weights of the mixture count for in those of a document, in passages of mean
        length. Large where the documents are all alike.
    random_state : int, RandomState, Generator or None, default=0
        Seeds ``calibrate``.

    Returns
    -------
    DocumentShares
        Shares of the documents and probabilities of the passages.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, _, _ = sm.datasets.make_vmf_mixture(300, 20, 3, overlap=0.05, random_state=0)
    >>> mixture = sm.VMFMixture(3, random_state=0).fit(X)
    >>> found = sm.document_shares(mixture, X, [i // 6 for i in range(300)])
    >>> found.shares.shape
    (50, 3)
    >>> float(found.shares.sum(axis=1).round(6).min())
    1.0
    """
    mixture = as_mixture(model)
    rows = check.open_again(mixture, X)
    names, codes = as_codes("documents", documents, rows.n_rows)
    prior = check.require_number("prior", prior, above=0.0)
    sizes = as_lengths(lengths, rows.n_rows) * (1.0 - noise_of(mixture, rows))
    evidence, used = tempered_evidence(mixture, rows, temperature, random_state)
    members = sparse.csr_array(
        (sizes, (codes, np.arange(rows.n_rows))), shape=(len(names), rows.n_rows)
    )
    pseudo = prior * mixture.weights_
    weights, n_iter = proportions(evidence, members, pseudo)
    joint = normalised(weights[codes] * evidence)
    others = pseudo + np.asarray(members @ joint)[codes] - sizes[:, None] * joint
    passages = normalised(others * evidence)
    shares = normalised(np.asarray(members @ passages))
    return DocumentShares(names, shares, passages, used, n_iter)


def proportions(
    evidence: Array, members: sparse.csr_array, pseudo: Array, start: Array | None = None
) -> tuple[Array, int]:
    """Return the weights of the components in each part of the rows, and the iterations.

    Parameters
    ----------
    evidence : ndarray of shape (n, K)
        Densities of the rows, each row up to a factor.
    members : CSR array of shape (m, n)
        What each row counts for in each part. A row may be in several.
    pseudo : ndarray of shape (K,)
        What is added to the counts of each part: c alpha of the objective.
    start : ndarray of shape (m, K), default=None
        Weights to start from.

    Returns
    -------
    weights : ndarray of shape (m, K)
        The maximum of the concave objective of each part, up to ``TOL`` nats per unit.
    n_iter : int
        Iterations.
    """
    m, K = members.shape[0], evidence.shape[1]
    weights = np.full((m, K), 1.0 / K) if start is None else start.copy()
    running, rest = np.arange(m), _entries(members)
    for n_iter in range(1, MAX_ITER + 1):  # noqa: B007
        parts, rows, sums = rest
        before = weights[running]
        joint = normalised(before[parts] * evidence[rows])
        found = normalised(pseudo + np.asarray(sums @ joint))
        growth = np.divide(found, before, out=np.zeros_like(found), where=before > 0.0)
        weights[running] = found
        still = growth.max(axis=1) > 1.0 + TOL
        if not still.any():
            break
        if still.mean() < FEW:
            running = running[still]
            rest = _entries(members[running])
    return weights, n_iter


def _entries(members: sparse.csr_array) -> tuple[Ids, NDArray[Any], sparse.csr_array]:
    """Return part and row of each entry, and what adds values of entries up by part."""
    m, n_entries = members.shape[0], members.nnz
    parts = np.repeat(np.arange(m), np.diff(members.indptr))
    each = (members.data, np.arange(n_entries), members.indptr)
    return parts, members.indices, sparse.csr_array(each, shape=(m, n_entries))


def tempered_evidence(
    mixture: VMFMixture, rows: Directions, temperature: float | None, random_state: Any = 0
) -> tuple[Array, float]:
    """Return densities of rows for each group, tempered, the largest of a row 1; and by how much.

    Without a temperature, that of ``calibrate``, and each row is left out of the mixture in turn.
    """
    if temperature is None:
        calibration = calibrate(mixture, rows, random_state=random_state)
        found = calibration.posteriors / mixture.weights_
        return found / found.max(axis=1, keepdims=True), calibration.temperature
    used = check.require_number("temperature", temperature, above=0.0)
    scores = rows.map_rows(mixture.scorer_.clusters(), "scores") - np.log(mixture.weights_)
    scores -= scores.max(axis=1, keepdims=True)
    return np.exp(scores / used), used


def as_mixture(model: Any) -> VMFMixture:
    """Return the fitted mixture that a model has chosen."""
    if not isinstance(model, VMFMixture | SelectedMixture):
        raise ParameterError(
            "{model} must be a fitted VMFMixture, VMFPath or VMFMixtureIC, got a {got}",
            got=type(model).__name__,
        )
    check_is_fitted(model)
    return model if isinstance(model, VMFMixture) else model.best_estimator_


def as_codes(name: str, values: ArrayLike, n_rows: int) -> tuple[NDArray[Any], Ids]:
    """Return the distinct values, sorted, and the number of each row's."""
    given = np.asarray(values)
    if given.shape != (n_rows,):
        raise ParameterError(
            f"{{{name}}} must have one value a row: there are {{n}} rows, got shape {{got}}",
            n=n_rows,
            got=given.shape,
        )
    names, codes = np.unique(given, return_inverse=True)
    return names, codes


def as_lengths(lengths: ArrayLike | None, n_rows: int) -> Array:
    """Return lengths whose mean is one."""
    if lengths is None:
        return np.ones(n_rows)
    given = check.require_vector("lengths", lengths, n_rows, "row")
    if not given.all():
        raise ParameterError(
            "{lengths} must be above 0: row {i} has 0",
            remedies=("leave such rows out",),
            i=np.flatnonzero(given == 0.0)[0],
        )
    found: Array = given / given.mean()
    return found


def noise_of(mixture: VMFMixture, rows: Directions) -> Array:
    """Return the probability that each row is noise, a little below one at most."""
    if not mixture.scorer_.has_noise:
        return np.zeros(rows.n_rows)
    found: Array = rows.map_rows(mixture.scorer_, "posteriors")[:, -1]
    return np.minimum(found, 1.0 - LEAST)


def normalised(values: Array) -> Array:
    """Return rows that sum to one."""
    found: Array = values / values.sum(axis=1, keepdims=True)
    return found
