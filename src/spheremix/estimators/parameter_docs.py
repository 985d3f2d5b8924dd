"""The parameters that several estimators share, each described once.

A docstring has their names in braces on a line, as in ``{max_iter, tol}``; :func:`documented` puts
the descriptions in that place when the class is made.
"""

from __future__ import annotations

import re
from textwrap import indent
from types import FunctionType
from typing import TypeVar

C = TypeVar("C", bound=type)

_TEXT = """
n_components : int, default=8
    Number K of components.
feature_weights : array-like of shape (d,), default=None
    Finite, non-negative multipliers of ``beta``, one for each feature. With several views, of
    the view with zeros, or a dictionary by view.
kappa : {"shared", "free"}, number or array-like of shape (K,), default="shared"
    One concentration for all components, one each, or given values. Free ones fit better and
    group worse: on every real set that was not used here for tuning, the groups of shared ones
    agreed better with the labels. They are for rows whose groups really differ in tightness. With
    several views it holds for each of them, or is a dictionary by view.
scalar_kappa : {"shared", "free"} or number, default="shared"
    One concentration for all components, one each, or a given value. Free ones fit better and
    group worse: on every real set that was not used here for tuning, the groups of shared ones
    agreed better with the labels.
kappa_solver : {"exact", "banerjee"}, default="exact"
    Banerjee's is the closed-form approximation; with it the objective can fall.
m_step : {"exact", "paper"}, default="exact"
    The maximum over prototypes and concentrations together, or the alternation of the paper's
    Algorithm 2, which stops on the unpenalised log-likelihood and fails where everything is
    thresholded.
kappa_max : float or "auto", default="auto"
    Cap of the concentrations; "auto" is the concentration of mean length 1 - 1e-6.
kappa_prior : pair of float or None, default=None
    A number n0 of rows and a mean length r0 in [0, 1): each estimated concentration sees n0
    more rows whose resultant has the length n0 r0, the conjugate prior. It keeps a component
    of a few rows, or of identical ones, from running to ``kappa_max``. (1, 0.9) is gentle;
    with (1, 0) a component of three rows may become so loose that it loses them.
noise : {"uniform"} or None, default=None
    "uniform" adds a component of kappa = 0 for rows that belong to no cluster; their label is
    -1. The search for starts does without it, and EM decides.
max_noise : float, "auto" or None, default="auto"
    For noise="uniform" only: how many rows may be noise. A number is a share of the rows and
    is kept to.
    "auto" takes as noise what fits its cluster worse than nearly all rows of clusters do. Where
    the rows that fit worst make a hump of their own, as many rows are noise as lie beyond the
    valley before it and are unusual, too. Otherwise it is a row whose log-odds are 2.33 robust
    standard deviations beyond the median, so that about one row in a hundred is lost where
    there is no noise and rows vary alike. Rows that vary no more than the mixture says are
    left to it, as by None. So are short texts: of four clean sets "auto" calls 10 to 50 in a
    hundred noise (``benchmarks/results/noise.md``); give them a number, such as 0.02. None calls
    noise what fits the uniform distribution better, which on texts is any row with less than
    half of the usual cosine.
e_step : {"soft", "hard"}, default="soft"
    Rows count for all components by their posterior probabilities, or for the most probable
    one alone.
init : {"merge", "random", "k-means++", "spherical-k-means"}, array or fitted model, \
default="merge"
    "merge" searches for good clusters first: clusters around 3K rows are merged to K by the
    least loss of likelihood, rows are moved to the clusters where they raise the likelihood
    most (first variation), and runs are combined in pairs. EM starts from the results. The
    search leaves out the penalty, whatever ``beta``. "random" takes K rows as prototypes (the
    paper's Algorithm 4). A 1-D integer array gives labels 0..K-1, and with noise also -1; a
    2-D array of shape (K, d) gives prototypes. A given start means one run.
n_init : int or "auto", default="auto"
    Runs; they share each reading of the data and the best objective wins (with free
    concentrations, of the runs in which none is at ``kappa_max``, if there are any). "auto" is
    5 for "merge", to which 4 combinations of runs are added, and 10 for the others. With
    "auto" and "merge", data are large where the entries of the rows times K are more than
    2e8: then 2 runs and their combination search in a sample of the rows, of 128 or more for
    each component, and EM goes on over all rows from the best of them.
max_iter : int, default=1000
    Iterations at most.
tol : float, default=1e-7
    In nats per unit of weight: convergence is when the objective changes by less and one more
    step is certain to gain less. On four sets of at most 6,000 rows 1e-6 and 1e-5 moved at most
    9 rows, and saved up to 15 and 31 % of the time of a default fit
    (``benchmarks/results/em_tolerance.md``).
zero_tol : float, default=1e-8
    Coordinates of the fitted prototypes below it are set to exactly zero.
view_weights : dict of str to float, default=None
    With several views, what the part of a view in the score is multiplied by (a composite
    likelihood); 1 for views that are not named. A view of weight 0 is only described.
sparse_views : sequence of str, default=None
    With several views, those whose prototypes can have zeros: ``beta``, ``feature_weights`` and
    ``zero_tol`` are for them. None is the view "words".
seeds : dict or sequence of sequences of str or int, default=None
    Groups that are asked for: for each of them words, which are names of the columns of X, or
    numbers of columns. The first one is component 0, and so on; the keys of a dictionary are for
    messages. Components beyond them are free. Rows go to the group whose words they have most of,
    by the cosine; the mean of these rows stands for the group.
seed_weight : float, default=0.5
    How much seeds and labels count: as so many rows of their mean as this share of a group of mean
    size, n / K. It is a conjugate prior of the component, and part of the objective.
random_state : int, RandomState, Generator or None, default=None
    Seeds all that is drawn. An integer gives the same bits whatever the number of threads.
n_threads : int or None, default=None
    None uses all cores, or fewer where OMP_NUM_THREADS, threadpoolctl or a surrounding pool
    of workers ask for it.
engine : {"auto", "reference", "compiled", "torch"}, default="auto"
    What reads the rows.
verbose : int, default=0
    1 prints a line for each restart.
warm_start : bool, default=False
    Start from the solution of the previous call to ``fit``.
callback : callable or None, default=None
    Called after each sweep with a :class:`spheremix.em.Progress`.
min_relative_increase : float, default=1e-3
    Of beta, between two steps.
max_steps : int or None, default=None
    Steps of the path at most, the dense one included.
max_sparsity : float, default=1.0
    The path ends at the first step that is as sparse.
beta_min_ratio : float, default=1e-5
    Events below this share of the largest one are numerical noise.
refine : float or None, default=None
    Insert steps where the sparsity jumps by more than this.
path_callback : callable or None, default=None
    Called with a :class:`spheremix.em.Progress` after each sweep of the dense fits and with a
    :class:`~spheremix.estimators.strategies.PathProgress` after each step.
X : array-like or sparse matrix of shape (n, d), dict of them by view, or Directions
    Rows are normalised; X is not changed.
new_X : array-like or sparse matrix of shape (n, d), or dict of them by view
    Rows are normalised.
y : ignored
    For scikit-learn's conventions.
sample_weight : array-like of shape (n,), default=None
    Non-negative; a weight of 2 counts as the row twice. Criteria and penalties take their sum
    for the number of rows: multiply weights that are shares by n.
labels : array-like of int of shape (n,), default=None
    The components of some rows, -1 for the others. They count as seeds do, with ``seed_weight``:
    the mean of the rows of a label stands for its component. ``labels_`` can differ from them.
mean_weight : array-like of shape (n,), default=None
    For a weighted mean.
"""
# Some parameters mean something else in another place.
_SHOWN = {
    "scalar_kappa": "kappa",
    "path_callback": "callback",
    "new_X": "X",
    "mean_weight": "sample_weight",
}
_PLACE = re.compile(r"^([ \t]*)\{(\w+(?:, \w+)*)\}$", re.MULTILINE)


def _described(text: str) -> dict[str, str]:
    """Return the description of each parameter, by its name in braces."""
    found = {}
    for entry in re.split(r"\n(?=\w)", text.strip()):
        name, rest = entry.split(" : ", 1)
        found[name] = f"{_SHOWN.get(name, name)} : {rest}"
    return found


PARAMETERS = _described(_TEXT)


def documented(cls: C) -> C:
    """Put the descriptions of shared parameters into the docstrings of a class and its methods."""
    for one in (cls, *vars(cls).values()):
        if isinstance(one, type | FunctionType) and one.__doc__ is not None:  # None by python -OO
            one.__doc__ = _PLACE.sub(_descriptions, one.__doc__)
    return cls


def _descriptions(place: re.Match[str]) -> str:
    return "\n".join(indent(PARAMETERS[name], place[1]) for name in place[2].split(", "))
