"""``python -m spheremix``: draw a mixture of known overlap and say what was drawn."""

from __future__ import annotations

import numpy as np

from spheremix.bessel import mean_length
from spheremix.datasets import make_vmf_mixture


def main() -> None:
    """Print the demonstration."""
    X, labels, truth = make_vmf_mixture(500, 10, 4, overlap=0.05, random_state=0)
    n, d = X.shape
    cosines = np.einsum("ij,ij->i", X, truth.prototypes[labels])
    print(f"{n} directions in {d} dimensions from {len(truth.weights)} components")  # noqa: T201
    print("\n  component  size   kappa  mean cosine to its prototype  expected")  # noqa: T201
    for k, kappa in enumerate(truth.kappas):
        own = cosines[labels == k]
        error = own.std(ddof=1) / np.sqrt(len(own))
        print(  # noqa: T201
            f"  {k:9d} {len(own):5d} {kappa:7.2f} {own.mean():20.3f} +- {error:.3f} "
            f"{mean_length(d, kappa):10.3f}"
        )
    print(f"\nmisplaced by the true mixture: {truth.overlap:.1%} (5.0% asked for)")  # noqa: T201


if __name__ == "__main__":
    main()
