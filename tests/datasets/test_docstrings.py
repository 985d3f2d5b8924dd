"""The corpus of every machine: the documentation of numpy, scipy and scikit-learn."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest

import spheremix as sm
from spheremix.datasets import docstrings

CODE = """import spheremix as sm
for prose in (False, True):
    print(sm.datasets.load_docstrings(prose=prose).checksum)"""


@pytest.fixture(scope="module")
def corpus():
    return sm.datasets.load_docstrings()


@pytest.fixture(scope="module")
def prose():
    return sm.datasets.load_docstrings(prose=True)


def test_documents(corpus):
    assert 2000 < len(corpus) < 5000
    assert len(set(corpus.ids)) == len(corpus)
    assert len(set(corpus.texts)) == len(corpus)
    assert min(len(text.split()) for text in corpus.texts) >= 15
    by_id = dict(zip(corpus.ids, corpus.texts, strict=True))
    assert by_id["numpy.linalg.norm"].startswith("Matrix or vector norm.")
    assert "normal continuous random variable" in by_id["scipy.stats.norm"]
    assert "KMeans" in by_id["sklearn.cluster.KMeans"]
    assert not any("SCIPY_ARRAY_API" in text for text in corpus.texts)
    assert by_id["numpy.add"].startswith("Add arguments element-wise.")  # not with its signature


def test_prose(corpus, prose):
    by_id = dict(zip(prose.ids, prose.texts, strict=True))
    summary, *_, title = by_id["numpy.add"].split("\n\n")
    assert (summary, title) == ("Add arguments elementwise.", "numpy.add")
    assert 0.95 * len(corpus) < len(prose) <= len(corpus)
    texts = "\n".join(prose.texts)
    whole = "\n".join(corpus.texts)
    for gone in (">>>", ".. math::", ".. versionadded::", "array_like\n", "References\n---"):
        assert whole.count(gone) > 100, gone
        assert texts.count(gone) < 10, gone


DOCSTRING = """area(r, unit=None)

    Area of a disc, element-wise; see :func:`disc` or :ref:`the guide <guide>`.

    Read more in the :ref:`User Guide <discs>`.

    .. versionadded:: 1.2

    The area is

    .. math::

        A = \\pi r^2

        r \\geq 0

    for a radius :math:`r`.

    Parameters
    ----------
    r : array_like
        The radius of each disc.
    unit : str, optional
        Of length.

        The metre by default.

    Returns
    -------
    float
        The area.

    Notes
    -----
    .. note:: Discs are flat; `more on them <https://disc.example/flat>`_.

    References
    ----------
    .. [1] Archimedes, "Measurement of a circle", Syracuse.

    Examples
    --------
    >>> import discs
    >>> for r in (1, 2):
    ...     print(area(r))
    3.14
    12.57

    Larger ones take longer.

    >>> area(1e9)
    3.14e18
    """
PROSE = """Area of a disc, elementwise; see `disc` or the guide.

The area is

for a radius .

    The radius of each disc.

    Of length.

    The metre by default.

    The area.

Notes
-----
 Discs are flat; more on them.

Examples
--------

Larger ones take longer."""


def _documented(docstring):
    def thing():
        pass

    thing.__doc__ = docstring
    return docstrings._docstring(thing, __name__.partition(".")[0], prose=True)


def test_prose_of_a_docstring():
    """What is left of a docstring that has one of everything, and nothing else."""
    assert _documented(DOCSTRING) == PROSE


def test_deprecated_and_short_ones_are_left_out():
    assert _documented(DOCSTRING.replace("The area is", ".. deprecated:: 1.3")) == ""
    later = DOCSTRING.replace("Of length.", ".. deprecated:: 1.3")  # a parameter of it only
    assert "metre" in _documented(later)
    assert _documented("Area of a disc.\n\n>>> " + "area(1)\n" * 20) == ""


@pytest.mark.parametrize(
    "boilerplate",
    [
        (
            "The documentation is written assuming array arguments are of specified\n"
            '"core" shapes. Note that calls with zero-size batches are unsupported and will raise '
            "a ``ValueError``."
        ),
        (
            "Disabling may give a performance gain, but may result in problems\n(crashes, "
            "non-termination) if the inputs do contain infinities or NaNs."
        ),
    ],
)
def test_what_many_docstrings_say(boilerplate):
    paragraph = "    " + boilerplate.replace("\n", "\n    ")
    said = DOCSTRING.replace("    The area is", f"{paragraph}\n\n    The area is")
    assert boilerplate.split()[0] in said
    assert _documented(said) == PROSE


def test_labels_are_sub_packages(corpus):
    counts = Counter(label for [label] in corpus.labels["package"])
    assert {"numpy", "numpy.linalg", "scipy.stats", "scipy.special", "sklearn.metrics"} <= {*counts}
    assert counts["scipy.stats"] > 200
    for name, [label] in zip(corpus.ids, corpus.labels["package"], strict=True):
        assert name.startswith(f"{label}.")
        assert label.count(".") <= 1


def test_always_the_same(corpus, prose):
    assert sm.datasets.load_docstrings() == corpus
    # Nor does a new process with other hashes differ, and no warning is seen.
    command = [sys.executable, "-W", "error", "-c", CODE]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.split() == [corpus.checksum, prose.checksum]
    assert done.stderr == ""


def test_what_it_says(corpus):
    assert corpus.source.startswith("numpy ")
    assert "sklearn " in corpus.source
    assert corpus.dates is None
    assert corpus.notes


def test_clusters_make_sense(corpus):
    pipeline = {"lemmatizer": None, "weighting": "sublinear-tfidf", "min_df": 5, "max_df": 0.5}
    found = sm.text.vectorize(corpus, **pipeline)
    assert len(found.rows) == len(corpus)
    mixture = sm.VMFMixture(10, random_state=0, n_init=3).fit(found.X)
    tops = [set(found.words[row.argsort()[::-1][:10]]) for row in mixture.prototypes_]
    for telling in ("polynomial", "distribution", "ufunc", "bessel", "estimator"):
        assert sum(telling in top for top in tops) >= 1, telling


def test_experimental_classes_do_not_come_and_go(corpus):
    """Some test or program may have enabled them."""
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401, PLC0415

    assert sm.datasets.load_docstrings() == corpus
