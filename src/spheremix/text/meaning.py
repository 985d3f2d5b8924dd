"""The meaning of texts as vectors: the one place that opens models which know it.

``static`` is a table of word vectors in the wheel of the package wordllama. Its files are read
here, since its own loader would ask a hub. Other models are those of sentence-transformers and
model2vec.
"""

from __future__ import annotations

import importlib
import json
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.errors import MissingPackageError, ParameterError
from spheremix.wording import install

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

STATIC = "static"
PACKAGE = "wordllama"  # whose wheel has the table and its tokenizer
TABLE, TOKENIZER = "weights/*_256.safetensors", "tokenizers/*.json"
BATCH = 4096  # texts that are cut into tokens at a time
OF_MODEL2VEC = "minishlab/"  # who publishes models of model2vec


def has_static() -> bool:
    """Return whether the table of word vectors is installed, and what reads it."""
    return all(find_spec(name) is not None for name in (PACKAGE, "safetensors", "tokenizers"))


def embed(texts: Sequence[str], model: str) -> Vectors:
    """Return a vector for the meaning of each text.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    model : str
        ``static``, or the folder or the name on the hub of a model of sentence-transformers or
        model2vec.

    Returns
    -------
    ndarray of shape (n, d)
        Zeros for a text of which the model knows nothing.
    """
    if not texts:
        raise ValueError("There are no texts: nothing has a meaning.")
    found: Vectors = np.asarray(_encoder(model)(list(texts)), dtype=np.float32)
    return found


def _encoder(model: str) -> Callable[[list[str]], Any]:
    """Return what makes vectors of texts."""
    if model == STATIC:
        return _static
    if _is_model2vec(model):
        load = _package("model2vec", model).StaticModel.from_pretrained
        return lambda texts: _loaded(load, model).encode(texts)
    load = _package("sentence_transformers", model).SentenceTransformer
    return lambda texts: _loaded(load, model).encode(texts, show_progress_bar=False)


def _is_model2vec(model: str) -> bool:
    """Return whether a folder or a name is that of a model of model2vec."""
    about = Path(model) / "config.json"
    if not about.is_file():
        return model.startswith(OF_MODEL2VEC)
    try:
        return bool(json.loads(about.read_text("utf-8")).get("model_type") == "model2vec")
    except (ValueError, AttributeError):
        return False


def _package(name: str, model: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        packages = name.replace("_", "-")
        raise MissingPackageError(
            "{meaning=model} needs the package {package}",
            remedies=(install(packages),),
            model=model,
            package=packages,
        ) from None


def _loaded(load: Callable[[str], Any], model: str) -> Any:
    try:
        return load(model)
    except Exception as error:  # whatever these libraries raise, hubs and networks included
        raise ParameterError(
            "{meaning=model} cannot be loaded ({why})",
            remedies=("give static, the folder of a model, its name on the hub, or a file .npy",),
            model=model,
            why=str(error).strip().partition("\n")[0][:200] or type(error).__name__,
        ) from error


def _static(texts: list[str]) -> Vectors:
    """Return the mean of the vectors of the tokens of each text."""
    vectors, tokenizer = _open_static()
    found = np.zeros((len(texts), vectors.shape[1]), dtype=np.float32)
    for i, tokens in enumerate(_tokens(tokenizer, texts)):
        if tokens:
            found[i] = vectors[tokens].mean(axis=0, dtype=np.float32)
    return found


def _tokens(tokenizer: Any, texts: list[str]) -> Iterator[list[int]]:
    for start in range(0, len(texts), BATCH):
        batch = tokenizer.encode_batch_fast(texts[start : start + BATCH], add_special_tokens=False)
        for one in batch:
            yield one.ids


def _open_static() -> tuple[NDArray[Any], Any]:
    """Read the table and its tokenizer, without importing the package that has them."""
    if not has_static():
        raise MissingPackageError(
            "{meaning=model} needs the word vectors of the package wordllama",
            remedies=(install(PACKAGE), "leave the meaning out with {meaning=none}"),
            model=STATIC,
        )
    spec: Any = find_spec(PACKAGE)
    folder = Path(next(iter(spec.submodule_search_locations)))
    tables, tokenizers = sorted(folder.glob(TABLE)), sorted(folder.glob(TOKENIZER))
    if not tables or not tokenizers:
        raise MissingPackageError(
            "{folder}: this version of wordllama has no word vectors in it",
            remedies=(install("'wordllama>=0.2.2'"),),
            folder=folder,
        )
    (vectors,) = importlib.import_module("safetensors.numpy").load_file(tables[0]).values()
    tokenizer = importlib.import_module("tokenizers").Tokenizer.from_file(str(tokenizers[0]))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return vectors, tokenizer
