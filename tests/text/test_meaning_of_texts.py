"""The meaning of texts: the static table, models behind their packages, and what is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from spheremix.errors import MissingPackageError, ParameterError
from spheremix.text import meaning
from spheremix.text.meaning import STATIC, embed, has_static

needed = pytest.mark.skipif(
    not has_static(), reason="the package wordllama, which has the word vectors, is not installed"
)


@needed
def test_static_vectors_know_what_texts_mean():
    E = embed(["the cat sleeps", "a kitten is asleep", "quarterly interest rates", ""], STATIC)
    unit = E[:3] / np.linalg.norm(E[:3], axis=1, keepdims=True)
    assert E.dtype == np.float32
    assert unit[0] @ unit[1] > unit[0] @ unit[2] + 0.2
    assert not E[3].any()


@needed
def test_a_static_vector_is_the_mean_of_those_of_its_tokens():
    from safetensors.numpy import load_file  # noqa: PLC0415
    from tokenizers import Tokenizer  # noqa: PLC0415

    folder = Path(find_spec("wordllama").submodule_search_locations[0])
    (table,) = load_file(next(folder.glob("weights/*_256.safetensors"))).values()
    tokenizer = Tokenizer.from_file(str(next(folder.glob("tokenizers/*.json"))))
    text = "How do I parse JSON in Python?"
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    expected = table[ids].astype(np.float64).mean(axis=0)
    np.testing.assert_allclose(embed(["", text], STATIC)[1], expected, atol=1e-5)


@needed
def test_batches_do_not_matter(monkeypatch):
    texts = [f"text {i} about boats" for i in range(10)]
    whole = embed(texts, STATIC)
    monkeypatch.setattr(meaning, "BATCH", 3)
    np.testing.assert_array_equal(embed(texts, STATIC), whole)


@needed
def test_the_package_with_the_vectors_is_not_imported():
    code = (
        "import sys; from spheremix.text.meaning import embed; embed(['a'], 'static'); "
        "print('wordllama' in sys.modules)"
    )
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    assert found.stdout.strip() == "False"


def test_without_the_package_the_remedy_is_told(monkeypatch):
    monkeypatch.setattr(meaning, "find_spec", {}.get)
    with pytest.raises(MissingPackageError, match="pip install wordllama or leave the meaning"):
        embed(["a text"], STATIC)


@pytest.mark.parametrize(
    ("name", "package"),
    [("minishlab/potion-base-8M", "model2vec"), ("all-MiniLM-L6-v2", "sentence-transformers")],
)
def test_models_need_their_package(monkeypatch, name, package):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(meaning.importlib, "import_module", missing)
    with pytest.raises(MissingPackageError, match=f"needs the package {package}"):
        embed(["a text"], name)


def test_folders_say_which_package_reads_them(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "model2vec"}), "utf-8")
    asked = []

    class Model:
        @staticmethod
        def from_pretrained(name):
            asked.append(name)
            return Model()

        def encode(self, texts):
            return np.ones((len(texts), 3))

    class Package:
        StaticModel = Model

    monkeypatch.setattr(meaning.importlib, "import_module", {"model2vec": Package}.__getitem__)
    assert embed(["a", "b"], str(tmp_path)).shape == (2, 3)
    assert asked == [str(tmp_path)]


def test_a_model_that_cannot_be_loaded_is_named(monkeypatch):
    class Package:
        @staticmethod
        def SentenceTransformer(name):  # noqa: N802
            raise OSError(f"{name} is not there\nand more")

    monkeypatch.setattr(meaning.importlib, "import_module", {"sentence_transformers": Package}.get)
    with pytest.raises(ParameterError, match=r"meaning=nothing cannot be loaded \(nothing is not"):
        embed(["a text"], "nothing")
