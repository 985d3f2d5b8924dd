"""Errors of a command: one line with what to do, never a traceback."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, ParamSpec

import typer

from spheremix.cli.console import complain, remark

if TYPE_CHECKING:
    from collections.abc import Callable

    P = ParamSpec("P")

DEBUG = "SPHEREMIX_DEBUG"  # set to anything, it shows tracebacks
# What messages of the library advise, and what it is called here; remedies without option are gone.
CALLED = {
    "raise kappa_max for rows as close to each other, or drop identical rows": "drop identical "
    "rows, or give --kappa a number",
    ": raise max_iter or tol": "",
    "n_components or beta": "n_components",
    ", or give a start with init=": "",
    "n_components": "--k",
    "n_init": "--starts",
    "min_count=": "--min-count ",
    "min_df=": "--min-df ",
    "max_df=": "--max-df ",
    "min_count": "--min-count",
    "min_df": "--min-df",
    "max_df": "--max-df",
    "text=...": "--text",
    "id=...": "--id",
    "id=False": "--id none",
    "date=...": "--date",
    "label=...": "--label",
    "lemmatizer=None": "--lemmatizer none",
    "language must": "--language must",
}


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Turn what goes wrong in a command into a line and an exit code."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except (typer.Exit, typer.Abort):
            raise
        except KeyboardInterrupt:
            remark("interrupted: start the same command again to go on.")
            raise typer.Exit(130) from None
        except BrokenPipeError:  # what reads the output has read enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            raise typer.Exit(0) from None
        except Exception as error:
            if os.environ.get(DEBUG):
                raise
            complain(_line(error))
            raise typer.Exit(2) from None

    return run


def _line(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "not enough memory: give fewer documents, a smaller --k or a larger --min-df."
    text = str(error) or type(error).__name__
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or text}."
    if not isinstance(error, ValueError | RuntimeError | ImportError):
        return f"unexpected {type(error).__name__}: {text} (set {DEBUG}=1 to see where)."
    return in_options(text)


def in_options(text: str) -> str:
    """Give what the library says in the words of the command."""
    for name, option in CALLED.items():
        text = text.replace(name, option)
    return text
