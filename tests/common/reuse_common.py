"""What the tests of folders that are used again share."""

from __future__ import annotations

from listening import Told

import spheremix as sm

OPTIONS = {"k": "2:4", "starts": 2, "max_steps": 20, "lemmatizer": "none", "threads": 1}


class Heard(Told):
    """Keeps what was used again and what was removed."""

    def inform(self, text):
        if "reused" in text or "Removed" in text:
            super().inform(text)

    def note(self, message):
        pass


def explore(corpus, folder, **more):
    """Explore; give what was said."""
    heard = Heard()
    sm.explore_corpus(corpus, folder, listener=heard, **{**OPTIONS, **more})
    return heard
