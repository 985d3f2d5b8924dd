"""A small run on which commands are tried, made as people make it."""

from __future__ import annotations

import json
import shutil

from cli_common import run as command
from corpora import documents, write_lines
from story import options

OPTIONS = options({"k": 3, "starts": 2, "max_steps": 8, "lemmatizer": "none", "threads": 1})


class Small:
    """A small finished run, and commands on copies of it."""

    def __init__(self, place):
        self.place = place
        sizes = {"sea": 20, "sky": 15, "food": 10}
        self.corpus = write_lines(place / "docs.jsonl", documents(sizes, 21))
        new = documents({"sea": 5, "law": 9}, 22, prefix="n")
        self.new = write_lines(place / "new.jsonl", new)
        self.folder = place / "finished" / "run"
        command(*self.explore(self.folder))
        self.edits = self.edits_file(
            "edits.json", names={"2": "Soup"}, merge=[[0, 1]], drop_words=["street"]
        )
        self.named = place / "named" / "run"  # with names and a note
        shutil.copytree(self.folder, self.named)
        names = {"0": "Zero", "1": "One"}
        notes = {"groups": {"1": "a note that nobody may lose"}, "documents": {}}
        command("edit", self.named, self.edits_file("names.json", names=names, notes=notes))
        self.edited = place / "edited" / "run"
        shutil.copytree(self.folder, self.edited)
        command("edit", self.edited, self.edits)

    def explore(self, folder, *more):
        """Return the command that explores."""
        return ("explore", self.corpus, "-o", folder, *OPTIONS, *more)

    def edits_file(self, name, folder=None, **parts):
        """Write edits of the finished run, as the report exports them."""
        path = self.place / name
        content = {"format": "spheremix edits", "version": 1, "run": fit_of(folder or self.folder)}
        path.write_text(json.dumps({**content, **parts}), encoding="utf-8")
        return path


def fit_of(folder):
    """Return the id of a run, as people see it."""
    out, _ = command("names", folder)
    return json.loads(out)[0]["fit"]
