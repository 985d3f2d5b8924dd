"""A listener that keeps what a run tells."""

from __future__ import annotations

from spheremix.run import Listener


class Told(Listener):
    """Keeps what was said: what began, and facts and notes."""

    def __init__(self):
        self.begun, self.told = [], []

    def begin(self, what):
        self.begun.append(what)

    def inform(self, text):
        self.told.append(text)

    def note(self, message):
        self.told.append(message.render())
