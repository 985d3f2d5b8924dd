"""Files to matrices and their vocabulary, and every kind of bad matrix."""

from __future__ import annotations

import hashlib
import zipfile

import numpy as np
import pytest
from readers_common import write
from scipy import io, sparse

from spheremix.text import ReadError, matrices, read_matrix


def changed(path, X, part, value):
    """Save a sparse matrix with another array in the place of one of its parts."""
    sparse.save_npz(path, X)
    with np.load(path) as file:
        parts = {**file, part: np.array(value)}
    np.savez(path, **parts)
    return path


class TestMatrices:
    X = sparse.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]))

    @pytest.mark.parametrize("name", ["x.npz", "x.mtx", "x.mtx.gz"])
    def test_sparse(self, tmp_path, name):
        path = tmp_path / name
        if "npz" in name:
            sparse.save_npz(path, self.X.tocsc())
        else:
            io.mmwrite(tmp_path / "x.mtx", self.X)
            write(path, (tmp_path / "x.mtx").read_bytes())
        bare = read_matrix(path)
        assert bare.X.format == "csr"
        np.testing.assert_array_equal(bare.X.toarray(), self.X.toarray())
        assert bare.vocabulary is None
        assert bare.checksum == hashlib.sha256(path.read_bytes()).hexdigest()
        write(tmp_path / "vocabulary.txt", "un\r\ndeux\r\ntrois\r\n")
        found = read_matrix(path)
        assert found.vocabulary == ["un", "deux", "trois"]
        assert found.notes == ["Columns are named by vocabulary.txt (found beside the matrix)."]
        write(tmp_path / "vocabulary.txt", "un\n")
        assert read_matrix(path).vocabulary is None
        assert "has 1 term for 3 columns" in read_matrix(path).notes[0]
        with pytest.raises(ReadError, match=r"1 term for 3 columns of .* one term a line"):
            read_matrix(path, tmp_path / "vocabulary.txt")
        with pytest.raises(ReadError, match=r"words\.txt: there is no such file"):
            read_matrix(path, tmp_path / "words.txt")
        write(tmp_path / "words.txt", "a\na\nb\n")
        assert (
            read_matrix(path, tmp_path / "words.txt").notes[-1] == "1 term repeated in words.txt."
        )

    def test_embeddings(self, tmp_path):
        np.save(tmp_path / "e.npy", np.ones((4, 3), dtype=np.float32))
        write(tmp_path / "vocabulary.txt", "a\nb\nc\n")
        matrix = read_matrix(tmp_path / "e.npy")
        assert isinstance(matrix.X, np.memmap)
        assert matrix.X.dtype == np.float32
        assert matrix.vocabulary is None

    @staticmethod
    def refused(path, message):
        with pytest.raises(ReadError, match=message) as caught:
            read_matrix(path)
        assert str(caught.value).startswith(str(path))
        assert "\n" not in str(caught.value)

    def test_bad_arrays(self, tmp_path):
        path = tmp_path / "x.npy"
        self.refused(path, "there is no such file")
        self.refused(write(path, b""), "the file is empty")
        self.refused(write(path, b"nothing"), "damaged, or not such a file")
        sparse.save_npz(tmp_path / "x.npz", self.X)
        self.refused(write(path, (tmp_path / "x.npz").read_bytes()), "damaged, or not such a file")
        np.save(path, np.array([[{}]]), allow_pickle=True)
        self.refused(path, "damaged, or not such a file")
        for bad, message in [
            (np.ones(3), r"the shape \(3,\) is not"),
            (np.ones((0, 3)), r"the shape \(0, 3\) is not"),
            (np.ones((2, 2), dtype=complex), "numbers are needed; the values are complex128"),
            (np.array([["a"]]), "numbers are needed"),
        ]:
            np.save(path, bad)
            self.refused(path, message)
        np.save(path, np.ones((40, 30)))
        path.write_bytes(path.read_bytes()[:-10])
        self.refused(path, "damaged, or not such a file")
        write(path, path.read_bytes().replace(b"(40, 30)", b"(4" + b"0" * 9 + b", 30)"))
        self.refused(path, "damaged, or not such a file")
        self.refused(write(tmp_path / "x.txt", b"1"), "not a matrix: .npz, .mtx")

    @pytest.mark.parametrize(
        ("part", "value", "message"),
        [
            ("indices", [0, 9, 1], "damaged: "),
            ("indices", [0, -1, 1], "damaged: "),
            ("indptr", [0, 7, 3], "damaged"),
            ("indptr", [0, 2], "damaged"),
            (
                "data",
                [1.0, np.nan, 2.0],
                r"row 1 \(counted from 1\) has NaN or infinity: drop it\.",
            ),
            ("data", [1.0, 1.0, np.inf], r"row 2 \(counted from 1\) has NaN or infinity"),
            ("data", [np.nan, 1.0, -np.inf], r"row 1 \(counted from 1\) and 1 more have NaN"),
            ("shape", [2, -3], "damaged"),
            ("shape", [2], "damaged"),
            ("shape", [2**62, 2**62], "damaged"),
            ("shape", [10**12, 10**12], "damaged"),
            ("shape", [10**12, 3], "damaged"),
            ("shape", [2, 10**9], "a shape of 2 x 1000000000 is declared for 3 entries"),
            ("format", b"xyz", "damaged"),
            ("data", [{}, {}, {}], "damaged"),
        ],
    )
    def test_bad_sparse(self, tmp_path, part, value, message):
        self.refused(changed(tmp_path / "x.npz", self.X, part, value), message)

    def test_a_shape_that_would_fill_the_memory(self, tmp_path):
        path = changed(tmp_path / "x.npz", sparse.coo_array(self.X), "shape", [10**11, 3])
        self.refused(path, "a shape of 100000000000 x 3 is declared for 3 entries")

    def test_arrays_are_as_large_as_they_say(self, tmp_path):
        path = tmp_path / "x.npz"
        sparse.save_npz(path, self.X, compressed=False)
        with zipfile.ZipFile(path) as file:
            parts = {name: file.read(name) for name in file.namelist()}
        header = parts["data.npy"].replace(b"(3,), }         ", b"(3000000000,), }")
        assert header != parts["data.npy"]
        with zipfile.ZipFile(path, "w") as file:
            for name, content in (parts | {"data.npy": header}).items():
                file.writestr(name, content)
        self.refused(
            path, r"data\.npy has 24 bytes, and declares float64 of the shape \(3000000000,"
        )

    def test_what_unpacks_beyond_measure(self, tmp_path, monkeypatch):
        path = tmp_path / "x.npz"
        wide = sparse.csr_array((np.zeros(10**6), np.zeros(10**6, int), [0, 10**6]), shape=(1, 3))
        sparse.save_npz(path, wide)
        assert read_matrix(path).X.shape == (1, 3)
        monkeypatch.setattr(matrices, "LARGE_ARCHIVE", 10**6)
        self.refused(
            path, r"unpacks to 0\.0 GB, more than 200 times its size: if it is meant, save"
        )
        sparse.save_npz(path, wide, compressed=False)
        assert read_matrix(path).X.shape == (1, 3)
        monkeypatch.setattr(matrices, "_free_memory", lambda: 10**6)
        self.refused(path, r"unpacks to 0\.0 GB, and there are 0\.0 GB of memory")

    def test_hashed_words_have_many_columns(self, tmp_path):
        sparse.save_npz(
            tmp_path / "x.npz", sparse.csr_array(([1.0], [7], [0, 1]), shape=(1, 2**20))
        )
        assert read_matrix(tmp_path / "x.npz").X.shape == (1, 2**20)

    @pytest.mark.parametrize(
        ("shape", "message"),
        [((2, 0), r"blocks have shape \(2, 0\).*save it as CSR"), ((0, 0), "damaged")],
    )
    def test_blocks_that_hold_no_entry(self, tmp_path, shape, message):
        empty = np.zeros((0, 2, 0)), np.zeros(0, int), np.zeros(4, int)
        blocks = sparse.bsr_array(empty, shape=(6, 4))
        path = changed(tmp_path / "x.npz", blocks, "data", np.zeros((0, *shape)))
        self.refused(path, message)

    def test_cut_archives(self, tmp_path):
        path = tmp_path / "x.npz"
        sparse.save_npz(path, self.X)
        content = path.read_bytes()
        for end in range(1, len(content), 37):
            path.write_bytes(content[:end])
            self.refused(path, "damaged, or not such a file")

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("nothing", "damaged, or not such a file"),
            ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n3 1 1\n", "damaged"),
            ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n", "damaged|declared"),
            (
                "%%MatrixMarket matrix coordinate real general\n9 9 999999999999\n1 1 1\n",
                "999999999999 entries are declared in a file of",
            ),
            (
                "%%MatrixMarket matrix coordinate real general\n999999999 9 1\n1 1 1\n",
                "a shape of 999999999 x 9 is declared for 1 entries",
            ),
            ("%%MatrixMarket matrix array real general\n9999 9999\n1\n", "entries are declared"),
        ],
    )
    def test_bad_market(self, tmp_path, content, message):
        self.refused(write(tmp_path / "x.mtx", content), message)
