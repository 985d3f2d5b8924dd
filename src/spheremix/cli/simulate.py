"""``spheremix simulate``: directions whose clusters are known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spheremix.cli.console import say
from spheremix.cli.guard import guarded


@guarded()
def simulate(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder.")] = Path("simulated"),
    documents: Annotated[int, typer.Option("--documents", "-n", help="Rows.")] = 500,
    features: Annotated[int, typer.Option("--features", "-d", help="Columns.")] = 10,
    k: Annotated[int, typer.Option("--k", "-k", help="Clusters.")] = 4,
    overlap: Annotated[
        float, typer.Option(help="Share of the rows that the true mixture misplaces.")
    ] = 0.05,
    sparsity: Annotated[float, typer.Option(help="Share of zeros in the prototypes.")] = 0.0,
    kappa: Annotated[
        float | None, typer.Option(help="Concentration, instead of the one of the overlap.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bits.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
) -> None:
    """Draw directions from a mixture of known overlap and sparsity.

    Writes X.npy (ready for spheremix explore), labels.npy, and truth.npz with the prototypes,
    concentrations and weights.
    """
    from spheremix.run.simulation import write_simulation  # noqa: PLC0415 (help does not wait)

    truth = write_simulation(
        output,
        force=force,
        n_samples=documents,
        n_features=features,
        n_components=k,
        overlap=overlap,
        sparsity=sparsity,
        kappa=kappa,
        random_state=seed,
    )
    shape = f"{documents:,} rows, {features:,} columns, {k} clusters"
    say(f"{shape}; {truth.overlap:.1%} misplaced by the true mixture.")
    say(f"Open next: spheremix explore {output / 'X.npy'} --criterion bic")
