"""``spheremix names``: the groups of a run as JSON, for whoever names them."""

from __future__ import annotations

import json

import typer

from spheremix.cli import flags  # noqa: TC001 (typer reads the annotations)
from spheremix.cli.guard import guarded


@guarded()
def names(run: flags.Run) -> None:
    """Describe the groups of a run as JSON, for whoever names them.

    Names go back in a table with the columns group and name: `spheremix edit RUN names.csv`. A
    third column, fit, copied from this JSON, is optional: names of other groups are then refused.
    """
    from spheremix.run.run import load_run  # noqa: PLC0415 (help does not wait for SciPy)

    typer.echo(json.dumps(load_run(run).describe_groups(), indent=1))
