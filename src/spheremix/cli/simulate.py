"""``spheremix simulate``: directions whose groups are known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from spheremix.cli.console import say
from spheremix.cli.guard import guarded

ROWS, LABELS, TRUTH = "X.npy", "labels.npy", "truth.npz"


@guarded()
def simulate(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder.")] = Path("simulated"),
    documents: Annotated[int, typer.Option("--documents", "-n", help="Rows.")] = 500,
    features: Annotated[int, typer.Option("--features", "-d", help="Columns.")] = 10,
    k: Annotated[int, typer.Option("--k", "-k", help="Groups.")] = 4,
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
    truth = _write(
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
    shape = f"{documents:,} rows, {features:,} columns, {k} groups"
    say(f"{shape}; {truth.overlap:.1%} misplaced by the true mixture.")
    say(f"Open next: spheremix explore {output / 'X.npy'} --criterion bic")


def _write(folder: Path, *, force: bool, **parameters: Any) -> Any:
    """Draw directions from a mixture, and write them with their labels and the truth."""
    import numpy as np  # noqa: PLC0415 (help does not wait)

    from spheremix.datasets import make_vmf_mixture  # noqa: PLC0415
    from spheremix.run.folder.files import RunError, replacing  # noqa: PLC0415

    there = [name for name in (ROWS, LABELS, TRUTH) if (folder / name).exists()]
    if there and not force:
        raise RunError(
            "{path}: there already",
            remedies=("choose another folder with {out}", "replace it with {force=True}"),
            path=folder / there[0],
        )
    X, labels, truth = make_vmf_mixture(**parameters)
    for name, array in ((ROWS, X), (LABELS, labels)):
        with replacing(folder / name) as file:
            np.save(file, array, allow_pickle=False)
    with replacing(folder / TRUTH) as file:
        np.savez(
            file,
            prototypes=truth.prototypes,
            kappas=truth.kappas,
            weights=truth.weights,
            base_kappa=truth.base_kappa,
            overlap=truth.overlap,
        )
    return truth
