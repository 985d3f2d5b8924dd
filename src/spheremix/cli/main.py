"""The commands, together."""

from __future__ import annotations

from typing import Annotated

import typer

import spheremix
from spheremix.cli.assign import assign
from spheremix.cli.console import say
from spheremix.cli.demo import demo
from spheremix.cli.explore import explore
from spheremix.cli.report import report
from spheremix.cli.simulate import simulate

app = typer.Typer(
    name="spheremix",
    help="Cluster documents with mixtures whose prototypes are sparse, so that a cluster can be "
    "read: which words are its own, which it shares, which belong to nobody.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (explore, report, assign, demo, simulate):
    app.command()(command)


def _version(asked: bool) -> None:
    if asked:
        say(f"spheremix {spheremix.__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which one.")
    ] = False,
) -> None:
    """Take options that all commands share."""
