"""CSTR, the benchmark of the paper's section 5.3."""

from __future__ import annotations

import hashlib
import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import io, sparse

from spheremix.errors import MissingPackageError
from spheremix.wording import install

if TYPE_CHECKING:
    from numpy.typing import NDArray

URL = "https://raw.githubusercontent.com/dbmovMFs/DirecCoclus/master/Data/cstr.mat"
SHA256 = "8e0876ddef4cb6358f8b87e81888864668c0fed88226965cc0343244c2cf9c87"


def fetch_cstr() -> tuple[sparse.csr_array, NDArray[np.intp]]:
    """Return the abstracts of the computer science technical reports and their classes.

    The file is ``cstr/cstr.mat`` in the folder that the environment variable ``SPHEREMIX_DATA``
    names. Where there is none, it is downloaded once from the public repository
    dbmovMFs/DirecCoclus, which takes the package pooch. Its checksum is verified either way.

    Returns
    -------
    X : CSR array of shape (475, 1000)
        Frequency of a word in an abstract times the logarithm of 476 over the number of abstracts
        that have it. Rows are not normalised.
    labels : ndarray of shape (475,)
        0 to 3: the research areas of the reports, which have 101, 71, 178 and 125 of them.

    Notes
    -----
    The paper calls the data binary; its figures are those of the weighted frequencies. 18 rows
    repeat another one.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, labels = sm.datasets.fetch_cstr()  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (475, 1000)
    """
    content = io.loadmat(_find())
    X = sparse.csr_array(np.asarray(content["fea"], dtype=np.float64))
    return X, content["gnd"].ravel().astype(np.intp) - 1


def _find() -> Path:
    folder = os.environ.get("SPHEREMIX_DATA")
    local = Path(folder or "") / "cstr" / "cstr.mat"
    if not folder or not local.exists():
        return _download()
    found = hashlib.sha256(local.read_bytes()).hexdigest()
    if found != SHA256:
        raise ValueError(
            f"{local} is not the public CSTR file: its SHA-256 is {found}, not {SHA256}. "
            "Remove it, or unset SPHEREMIX_DATA to download the file."
        )
    return local


def _download() -> Path:
    try:
        pooch = importlib.import_module("pooch")
    except ImportError:
        raise MissingPackageError(
            "fetch_cstr downloads its file with the package pooch",
            remedies=(
                install("pooch"),
                f"put {URL} into the folder cstr/ of the one that SPHEREMIX_DATA names",
            ),
        ) from None
    # Retrieve checks the sum of what it has and of what it gets.
    return Path(
        pooch.retrieve(
            url=URL,
            known_hash=f"sha256:{SHA256}",
            fname="cstr.mat",
            path=pooch.os_cache("spheremix"),
        )
    )
