"""The command: ``python -m spheremix``, and ``spheremix`` once installed."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command, or say what it needs."""
    try:
        from spheremix.cli.main import app  # noqa: PLC0415
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package not in {"typer", "rich", "click"}:
            raise
        print(  # noqa: T201
            f'error: the command takes the package {package}: pip install "spheremix[explore]"',
            file=sys.stderr,
        )
        sys.exit(2)
    try:
        app()
    except KeyboardInterrupt:  # before a command had begun
        sys.exit(130)


if __name__ == "__main__":
    main()
