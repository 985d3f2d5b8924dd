"""What the tests of folders that are used again share."""

from __future__ import annotations

import spheremix as sm
from spheremix.run.listener import Listener

OPTIONS = {"k": "2:4", "starts": 2, "max_steps": 20, "lemmatizer": "none", "threads": 1}


class Heard(Listener):
    def __init__(self):
        self.begun, self.told = [], []

    def begin(self, what):
        self.begun.append(what)

    def inform(self, text):
        if "reused" in text or "Removed" in text:
            self.told.append(text)

    def note(self, message):
        pass


def explore(corpus, folder, **more):
    """Explore; give what was said."""
    heard = Heard()
    sm.explore_corpus(corpus, folder, listener=heard, **{**OPTIONS, **more})
    return heard
