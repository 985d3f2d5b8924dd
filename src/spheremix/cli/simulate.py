"""``spheremix simulate``: directions whose clusters are known."""

# ruff: noqa: PLC0415 (help does not wait for SciPy: what works is loaded when there is work)
from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spheremix.cli.console import say
from spheremix.cli.guard import guarded


@guarded()
def simulate(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write.")] = Path(
        "simulated"
    ),
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
    import numpy as np

    from spheremix.datasets import make_vmf_mixture
    from spheremix.run.store import RunError, replacing

    names = ("X.npy", "labels.npy", "truth.npz")
    there = [name for name in names if (output / name).exists()]
    if there and not force:
        raise RunError(f"{output / there[0]}: there already: choose another with -o, or --force.")
    X, labels, truth = make_vmf_mixture(
        documents,
        features,
        k,
        overlap=overlap,
        sparsity=sparsity,
        kappa=kappa,
        random_state=seed,
    )
    for name, array in (("X.npy", X), ("labels.npy", labels)):
        with replacing(output / name) as file:
            np.save(file, array, allow_pickle=False)
    with replacing(output / "truth.npz") as file:
        np.savez(
            file,
            prototypes=truth.prototypes,
            kappas=truth.kappas,
            weights=truth.weights,
            base_kappa=truth.base_kappa,
            overlap=truth.overlap,
        )
    say(
        f"{documents:,} rows, {features:,} columns, {k} clusters; {truth.overlap:.1%} misplaced by "
        "the true mixture."
    )
    say(f"Open next: spheremix explore {output / 'X.npy'} --criterion bic")
