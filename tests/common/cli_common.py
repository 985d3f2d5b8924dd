"""What the tests of the command share: running it, and documents of three topics."""

from __future__ import annotations

import csv
import json
import warnings

import numpy as np
import pytest

# Without them the files of tests that import this one are skipped.
pytest.importorskip("typer")
pytest.importorskip("rich")

from typer.testing import CliRunner

from spheremix.cli.main import app

TOPICS = {
    "sea": "boat harbour sailor wave anchor island fish storm",
    "sky": "star planet moon telescope comet orbit galaxy eclipse",
    "food": "bread cheese soup pepper kitchen recipe onion butter",
}
SHARED = "people morning story little number place world water"


def run(*arguments, code=0):
    """Run the command in this process; give its output, and its remarks."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert found.exit_code == code, found.output
    assert "Traceback" not in found.output
    return found.stdout, found.stderr


def refusal(*arguments):
    """Run a command that must be refused; give its one line."""
    out, err = run(*arguments, code=2)
    assert out == ""
    lines = [line for line in err.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1
    assert err.splitlines()[-1] == lines[0]
    return lines[0]


def texts(n=90, seed=0):
    rng = np.random.default_rng(seed)
    for i in range(n):
        topic = list(TOPICS)[i % 3]
        words = [*rng.choice(TOPICS[topic].split(), 9), *rng.choice(SHARED.split(), 5)]
        yield {
            "id": f"doc {i}",
            "text": " ".join(words),
            "topic": topic,
            "date": f"20{10 + i % 4}-0{1 + i % 9}-11",
        }


def write_lines(path, documents):
    lines = (json.dumps(document, ensure_ascii=False) for document in documents)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
