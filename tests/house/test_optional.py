"""Where the compiled kernels are missing: why, in words, and never in silence."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import sys, warnings

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "spheremix._kernels":
            raise {error}

if {hide}:
    sys.meta_path.insert(0, Finder())
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import spheremix as sm
    from spheremix._optional import kernels
print([str(one.message) for one in caught if "_kernels" in str(one.message)])
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    engines = [type(sm.as_directions([[3.0, 4.0]])).__name__ for _ in range(3)]
    sm.as_directions([[3.0, 4.0]], engine="reference")
print([str(one.message) for one in caught])
print(kernels, engines[0])
try:
    sm.as_directions([[3.0, 4.0]], engine="compiled")
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("error", "warned", "advice", "pure"),
    [
        ("ImportError('the file is damaged')", True, "does not load (the file is damaged).", ""),
        ("ModuleNotFoundError(name=name)", False, "C++ compiler", ""),
        (None, False, "SPHEREMIX_PURE=1 does without it. Unset", "1"),
    ],
)
def test_what_is_said_without_the_kernels(error, warned, advice, pure):
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", SCRIPT.format(error=error, hide=error is not None)],
        env={**os.environ, "SPHEREMIX_PURE": pure},
        capture_output=True,
        text=True,
        check=True,
    )
    warning, slow, engine, message = done.stdout.splitlines()
    # Where nobody has said anything, one line says it, once: not where it is the user's wish.
    assert (slow.count("4 to 11 times slower") == 1) is (not warned and not pure)
    assert (slow == "[]") is (warned or bool(pure))
    assert slow == "[]" or ("reinstall" in slow and "SPHEREMIX_PURE=1" in slow)
    assert ("the file is damaged" in warning) is warned
    assert (warning == "[]") is not warned
    assert engine == "None ReferenceDirections"
    assert advice in message
    assert message.endswith("or use engine='reference'.")
