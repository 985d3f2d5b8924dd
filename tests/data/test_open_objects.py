"""What data frames, lists and strings hold beside numbers, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spheremix as sm

ARRAYS = [np.array([1.0, 2.0, 3.0]), np.array([3.0, 1.0, 2.0])]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pd.Series(["a b", "c d"]), "X holds strings. Turn texts"),
        (pd.DataFrame({"text": ["a b", "c d"]}), "X holds strings. Turn texts"),
        (np.array(["a", "b"], dtype=object), "X holds strings. Turn texts"),
        (["a b", "c d"], r"X holds strings \(dtype .*\)\. Turn texts"),
        (pd.Series(ARRAYS).to_numpy(), "one array a row.*np.stack"),
        (
            pd.DataFrame({"a": [1.0, 2.0], "id": ["x", "y"]}),
            "Column 1 of X holds strings, the first one 'x'.*select_dtypes",
        ),
        (np.zeros((3, 2)), r"3 rows with zeros only.*X\[X.getnnz\(axis=1\) > 0\]"),
    ],
)
def test_what_is_no_table_of_numbers(X, message):
    with pytest.raises(ValueError, match=message):
        sm.VMFMixture(1).fit(X)


def test_objects_that_are_numbers_are_a_table():
    frame = pd.DataFrame({"a": [1.0, 2.0, 0.5], "b": [3.0, 1.0, 2.0]})
    np.testing.assert_array_equal(
        sm.as_directions(frame.astype(object)).take([0, 2]), sm.as_directions(frame).take([0, 2])
    )


def test_a_long_text_is_no_path():
    with pytest.raises(FileNotFoundError, match=r"word word.*TfidfVectorizer") as caught:
        sm.VMFMixture(1).fit("word " * 2000)
    assert len(str(caught.value)) < 300


def test_a_file_that_may_not_be_read_is_there(tmp_path, monkeypatch):
    def refused(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "exists", refused)
    with pytest.raises(PermissionError):
        sm.as_directions(tmp_path / "rows.npy")
