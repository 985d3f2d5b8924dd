"""The commands, together."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

import spheremix
from spheremix.cli.commands import (
    assign,
    check,
    demo,
    edit,
    explore,
    figures,
    names,
    report,
    update,
)
from spheremix.cli.console import say
from spheremix.cli.simulate import simulate

app = typer.Typer(
    name="spheremix",
    help="Group documents with mixtures whose prototypes are sparse, so that a group can be "
    "read: which words are its own, which it shares, which belong to nobody.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
MEANT = dict.fromkeys(("--groups", "--clusters", "--n-clusters", "--n-components"), "--k")


class Command(TyperCommand):
    """A command that knows what else its options are called."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; of an option by another name, say the name it has here."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            meant = MEANT.get(getattr(error, "option_name", None) or "")
            if meant is not None:
                error.possibilities = [meant]  # type: ignore[attr-defined]
            raise


for command in (explore, report, figures, edit, assign, update, names, check, demo, simulate):
    app.command(cls=Command)(command)


def _version(asked: bool) -> None:
    if asked:
        say(f"spheremix {spheremix.__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Take options that all commands share."""
