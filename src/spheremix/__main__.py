"""The command: ``python -m spheremix``, and ``spheremix`` once installed."""

from __future__ import annotations

import os
import sys
import warnings


def open_streams() -> None:
    """Return the command streams where it was started without: it works, and says nothing.

    Otherwise the first files that it opens take their numbers, and what is said goes into them.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def warn_in_one_line() -> None:
    """Show warnings as the command shows its remarks: without a place in the code."""
    warnings.formatwarning = lambda message, *_, **__: f"note: {message}\n"


def main() -> None:
    """Run the command, or say what it needs."""
    open_streams()
    warn_in_one_line()
    try:
        from spheremix.cli.main import app  # noqa: PLC0415
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package not in {"typer", "rich", "click"}:
            raise
        from spheremix.wording import install  # noqa: PLC0415

        said = f"the command takes the packages typer and rich: {install('typer', 'rich')}"
        print(f"error: {said}", file=sys.stderr)  # noqa: T201
        sys.exit(2)
    try:
        app()
    except KeyboardInterrupt:  # before a command had begun
        sys.exit(130)


if __name__ == "__main__":
    main()
