"""Work on a run that is killed between two files, in a process of its own."""

from __future__ import annotations

KILLED = """
import os, pathlib
left = [{n}]

def counting(method):
    def run(*arguments, **more):
        if not left[0]:
            os._exit(9)
        left[0] -= 1
        return method(*arguments, **more)
    return run

for name in ("replace", "unlink", "rmdir"):
    setattr(pathlib.Path, name, counting(getattr(pathlib.Path, name)))
from little_advice import LITTLE
for module, name, value in LITTLE:
    setattr(module, name, value)
{work}
"""


def killed(server, work, n):
    """Kill some lines of Python before they rename or remove their n-th file; tell whether so."""
    process = server.Process(target=exec, args=(KILLED.format(n=n, work=work), {}))
    process.start()
    process.join()
    assert process.exitcode in {0, 9}
    return process.exitcode == 9
