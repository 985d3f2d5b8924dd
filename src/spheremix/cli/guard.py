"""Errors of a command: one line with what to do, never a traceback."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, ParamSpec

import typer

from spheremix.cli.console import complain, remark
from spheremix.cli.naming import option_name
from spheremix.errors import Explained

if TYPE_CHECKING:
    from collections.abc import Callable

    P = ParamSpec("P")

DEBUG = "SPHEREMIX_DEBUG"  # set to anything, it shows tracebacks


def guarded(*, resumes: bool = False) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Turn what goes wrong in a command into a line and an exit code.

    ``resumes`` says that the command, started again, goes on from where it was interrupted.
    """

    def decorated(command: Callable[P, None]) -> Callable[P, None]:
        @functools.wraps(command)
        def run(*args: P.args, **kwargs: P.kwargs) -> None:
            try:
                command(*args, **kwargs)
            except (typer.Exit, typer.Abort):
                raise
            except KeyboardInterrupt:
                what_next = ": start the same command again to go on" if resumes else ""
                remark(f"interrupted{what_next}.")
                raise typer.Exit(130) from None
            except BrokenPipeError:  # what reads the output has read enough
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                raise typer.Exit(0) from None
            except Exception as error:
                if os.environ.get(DEBUG):
                    raise
                complain(sentence_of(error))
                raise typer.Exit(2) from None

        return run

    return decorated


def sentence_of(error: Exception) -> str:
    """Say what went wrong, in the words of the command."""
    if isinstance(error, Explained):
        return error.message.render(option_name)
    if isinstance(error, MemoryError):
        return "not enough memory: give fewer documents, a smaller --k or a larger --min-df."
    text = str(error) or type(error).__name__
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or text}."
    if not isinstance(error, ValueError | RuntimeError | ImportError):
        return f"unexpected {type(error).__name__}: {text} (set {DEBUG}=1 to see where)."
    return text
