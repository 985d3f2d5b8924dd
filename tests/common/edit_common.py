"""What the tests of edits share: a small run, and the bytes of a folder."""

from __future__ import annotations

import json

import spheremix as sm
from spheremix.run.listener import Listener

OPTIONS = {"k": 3, "starts": 1, "max_steps": 4, "lemmatizer": "none", "threads": 1}


class Told(Listener):
    """Keeps what was said."""

    def __init__(self):
        self.begun, self.told = [], []

    def begin(self, what):
        self.begun.append(what)

    def inform(self, text):
        self.told.append(text)

    def note(self, message):
        self.told.append(message.render())


def explore(corpus, folder, **more):
    """Explore; give the run and what was said."""
    told = Told()
    run = sm.explore_corpus(corpus, folder, listener=told, **{**OPTIONS, **more})
    return run, told


def edits_of(run, **parts):
    """Give edits of a run as the report exports them."""
    return {"format": "spheremix edits", "version": 1, "run": run.manifest.fit, **parts}


def write_edits(path, run, **parts):
    path.write_text(json.dumps(edits_of(run, **parts)), encoding="utf-8")
    return path


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
