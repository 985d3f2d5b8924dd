"""A run that is served by a real process."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager


@contextmanager
def served(folder, *options):
    """Serve a run in a process of its own; give the address and the process."""
    command = [sys.executable, "-m", "spheremix", "serve", str(folder), *map(str, options)]
    with subprocess.Popen(  # noqa: S603
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as one:
        try:
            yield one.stdout.readline().strip(), one
        finally:
            one.kill()
