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
    effects,
    explore,
    figures,
    names,
    report,
    update,
)
from spheremix.cli.console import say
from spheremix.cli.flags import ALL, FIRST
from spheremix.cli.serve import serve
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
FIRST_ONLY = "spheremix.first_only"  # in the context of a command while its short help is written


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


class LongCommand(Command):
    """A command of many options: its help shows the first ones, unless all are asked for."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options, or those that its help shows."""
        found = super().get_params(ctx)
        shown = ctx.meta.get(FIRST_ONLY, False)
        return [one for one in found if one.name in FIRST] if shown else found

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        ctx.meta[FIRST_ONLY] = ALL not in ctx.meta
        super().format_help(ctx, formatter)
        ctx.meta[FIRST_ONLY] = False


app.command(cls=LongCommand)(explore)
for command in (
    report,
    figures,
    edit,
    serve,
    assign,
    effects,
    update,
    names,
    check,
    demo,
    simulate,
):
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
