"""The documentation of numpy, scipy and scikit-learn: a corpus that every machine has."""

from __future__ import annotations

import importlib
import inspect
import re
import warnings
from types import ModuleType
from typing import Any

from spheremix.text.corpus import Corpus, digest

LEAST_WORDS = 20  # of a docstring that says something
# The same table of array libraries in hundreds of scipy's functions, written by a decorator.
TABLE = re.compile(r"(?ms)^ *\*\*Array API Standard Support\*\*.*?for more information\.$")
# The same sentence in most of scikit-learn's docstrings, and roles of Sphinx such as :class:.
GUIDE = re.compile(r"Read more in the\s+:ref:`[^`]*`\.?")
ROLE = re.compile(r":[a-z]+(?::[a-z]+)?:(?=`)")
# Results that scipy draws when it is imported.
DRAWN = re.compile(r"(?m)^.*# may vary$")
# The call that compiled functions have in their first lines: parameters, not prose.
SIGNATURE = re.compile(r"(?m)\A(?:^[\w.]+\(.*\)(?: *->.*)?$\s*)+")
BOILERPLATE = (TABLE, GUIDE, SIGNATURE)

# The same sentences in most functions of scipy.linalg, the first ones written by a decorator.
BATCH = re.compile(r"(?s)The documentation is written assuming array arguments.*?``ValueError``\.")
CHECK = re.compile(r"(?s)Disabling may give a performance gain.*?infinities or NaNs\.")
# What a program reads or prints, up to the next empty line, and formulas: code, not prose.
CODE = re.compile(r"(?m)^ *>>>.*(?:\n.*\S.*)*")
FORMULA = re.compile(r"(?m)^( *)\.\. math::.*(?:\n(?:\1 +\S.*| *$))*|:math:`[^`]*`")
# Titles, authors and publishers of what others wrote.
REFERENCES = re.compile(r"(?ms)^References\n---+\n.*?(?=^\w[\w ]*\n---+$|\Z)")
NOT_PROSE = (BATCH, CHECK, CODE, FORMULA, REFERENCES)
# A page shows the title of a link and not where it leads to, nor what .. note:: is called.
LINK = re.compile(r"(?::[a-z:]+:)?`([^`<]*?)\s*<[^`]*>`_*|:ref:`[^`]*`")
DIRECTIVE = re.compile(r"(?m)^ *\.\. [a-z-]+::(?: [\d.]+$)?")
# Names and types of parameters and results, whose lines are the only ones that are not indented.
LISTED = re.compile(
    r"(?ms)^(?:(?:Other )?Parameters|Attributes|Returns|Yields|Raises|Warns)\n---+\n"
    r".*?(?=^\w[\w ]*\n---+$|\Z)"
)
TYPED = re.compile(r"(?m)^\S.*$")
EMPTY = re.compile(r"\n(?: *\n)+")
# Public only where the program has enabled them: they would come and go.
EXPERIMENTAL = {"HalvingGridSearchCV", "HalvingRandomSearchCV", "IterativeImputer"}
# Public modules by sub-package, which is the label. Those that are deprecated, or whose docstrings
# are made by a program (BLAS, LAPACK), are left out.
MODULES = {
    "numpy": """
        numpy numpy.strings numpy.char numpy.ctypeslib numpy.fft numpy.lib numpy.lib.format
        numpy.lib.scimath numpy.lib.stride_tricks numpy.linalg numpy.ma numpy.polynomial
        numpy.polynomial.chebyshev numpy.polynomial.hermite numpy.polynomial.hermite_e
        numpy.polynomial.laguerre numpy.polynomial.legendre numpy.polynomial.polynomial
        numpy.polynomial.polyutils numpy.random numpy.rec numpy.testing
    """,
    "scipy": """
        scipy.cluster.hierarchy scipy.cluster.vq scipy.constants scipy.datasets
        scipy.differentiate scipy.fft scipy.fftpack scipy.integrate scipy.interpolate scipy.io
        scipy.io.arff scipy.io.wavfile scipy.linalg scipy.linalg.interpolative scipy.ndimage
        scipy.optimize scipy.signal scipy.signal.windows scipy.sparse scipy.sparse.csgraph
        scipy.sparse.linalg scipy.spatial scipy.spatial.distance scipy.spatial.transform
        scipy.special scipy.stats scipy.stats.contingency scipy.stats.mstats scipy.stats.qmc
        scipy.stats.sampling
    """,
    "sklearn": """
        sklearn sklearn.base sklearn.calibration sklearn.cluster sklearn.compose sklearn.covariance
        sklearn.cross_decomposition sklearn.datasets sklearn.decomposition
        sklearn.discriminant_analysis sklearn.dummy sklearn.ensemble sklearn.feature_extraction
        sklearn.feature_extraction.image sklearn.feature_extraction.text sklearn.feature_selection
        sklearn.frozen sklearn.gaussian_process sklearn.gaussian_process.kernels sklearn.impute
        sklearn.inspection sklearn.isotonic sklearn.kernel_approximation sklearn.kernel_ridge
        sklearn.linear_model sklearn.manifold sklearn.metrics sklearn.metrics.cluster
        sklearn.metrics.pairwise sklearn.mixture sklearn.model_selection sklearn.multiclass
        sklearn.multioutput sklearn.naive_bayes sklearn.neighbors sklearn.neural_network
        sklearn.pipeline sklearn.preprocessing sklearn.random_projection sklearn.semi_supervised
        sklearn.svm sklearn.tree sklearn.utils sklearn.utils.extmath
    """,
}


def load_docstrings(*, prose: bool = False) -> Corpus:
    """Return the docstrings of the public objects of numpy, scipy and scikit-learn.

    About 3,000 documents of the versions that are installed; nothing is downloaded. Functions,
    classes and scipy's distributions are documents, each once, and methods are not; what is
    deprecated or says less than 20 words is left out, and so are signatures in first lines, the
    table of array libraries that many functions of scipy have in common, the sentence of
    scikit-learn that leads to its guide, names of roles such as ``:class:``, and results of
    examples that may vary.

    Parameters
    ----------
    prose : bool, default=False
        Leave out what is not prose, too: code of examples and what it prints, formulas, names and
        types of parameters and results, references, where links lead to, names of directives such
        as ``.. note::``, and the sentences that most functions of scipy.linalg have in common. A
        text then ends with the full name of its object, which is the title of its page: the words
        of its label are among its words.

    Returns
    -------
    Corpus
        Ids are full names such as "numpy.linalg.norm", the label "package" of each document is its
        sub-package, "numpy.linalg".

    Examples
    --------
    >>> import spheremix as sm
    >>> corpus = sm.datasets.load_docstrings()
    >>> corpus.labels["package"][corpus.ids.index("numpy.linalg.norm")]
    ('numpy.linalg',)
    """
    documents: dict[str, str] = {}  # by docstring: a second name adds nothing
    versions = []
    with warnings.catch_warnings():
        # What is deprecated warns when it is looked at.
        warnings.simplefilter("ignore")
        for package, modules in MODULES.items():
            versions.append(f"{package} {importlib.import_module(package).__version__}")
            for module in modules.split():
                for name, docstring in _docstrings(module, prose=prose):
                    documents.setdefault(docstring, name)
    ids = list(documents.values())
    texts = [f"{text}\n\n{name}" if prose else text for text, name in documents.items()]
    source = ", ".join(versions)
    return Corpus(
        texts=texts,
        ids=ids,
        labels={"package": [(".".join(name.split(".")[:-1][:2]),) for name in ids]},
        source=source,
        format="docstrings",
        notes=[f"Documents are docstrings of {source}; labels are sub-packages."],
        checksum=digest(part.encode() for pair in zip(ids, texts, strict=True) for part in pair),
    )


def _docstrings(name: str, *, prose: bool) -> list[tuple[str, str]]:
    """Return the docstrings of the public objects of a module, in the order of their names."""
    try:
        module = importlib.import_module(name)
    except ImportError:  # a version that has it not yet, or no longer
        return []
    # A module without __all__ shows what it imports, too.
    public = getattr(module, "__all__", None) or [
        attribute
        for attribute, thing in vars(module).items()
        if attribute[0] != "_" and getattr(thing, "__module__", None) == name
    ]
    found = []
    for attribute in sorted(set(public) - EXPERIMENTAL):
        try:
            thing = getattr(module, attribute)
        except (AttributeError, ImportError):  # announced, and not there
            continue
        docstring = _docstring(thing, name.partition(".")[0], prose=prose)
        if docstring:
            found.append((f"{name}.{attribute}", docstring))
    return found


def _docstring(thing: Any, package: str, *, prose: bool) -> str:
    """Return the docstring of an object of a package, or nothing where it has none to speak of."""
    docstring = getattr(thing, "__doc__", None)
    if isinstance(thing, ModuleType) or not isinstance(docstring, str):
        return ""
    # A number has the docstring of its type, and numpy shows types of Python.
    inherited = not isinstance(thing, type) and docstring == type(thing).__doc__
    home = getattr(thing, "__module__", None) or package
    if inherited or home.partition(".")[0] != package:
        return ""
    text = inspect.cleandoc(docstring)
    deprecated = ".. deprecated::" in text.partition("Parameters\n---")[0]
    for boilerplate in BOILERPLATE:
        text = boilerplate.sub("", text)
    text = _prose(text) if prose else DRAWN.sub("", ROLE.sub("", text))
    return "" if deprecated or len(text.split()) < LEAST_WORDS else text


def _prose(text: str) -> str:
    """Return what people wrote for readers."""
    for code in NOT_PROSE:
        text = code.sub("", text)
    text = LINK.sub(r"\1", text)
    text = ROLE.sub("", DIRECTIVE.sub("", text))
    text = LISTED.sub(lambda section: TYPED.sub("", section[0]), text)
    # One spelling of a word that is written in two ways.
    text = text.replace("lement-wise", "lementwise")
    return EMPTY.sub("\n\n", text).strip()
