"""Files for the tests of the readers: written plain or packed, and refused in one line."""

from __future__ import annotations

import csv
import gzip
import json

import pytest

from spheremix.text import ReadError, read_documents


def write(path, content):
    """Write text or bytes, gzipped where the name says so."""
    content = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def write_csv(path, rows, delimiter=","):
    with path.with_name("plain").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return write(path, path.with_name("plain").read_bytes())


def write_json(path, rows):
    return write(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def write_parquet(path, table):
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table(table), path)
    return path


def error_of(path, **columns):
    """Return the message of a refusal, which is one line and begins with the file."""
    with pytest.raises(ReadError) as caught:
        read_documents(path, **columns)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message.removeprefix(str(path))
