"""Write tests/golden/bessel.csv by ball arithmetic: `python tools/golden_bessel.py`.

Needs python-flint. Its results carry a proven error bound; precision is raised until it is small.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from flint import arb, ctx

if TYPE_CHECKING:
    from collections.abc import Iterator

CSV = Path(__file__).parents[1] / "tests" / "golden" / "bessel.csv"
BITS = 90  # that each value has right
BORDERS = (32.0, 60.0, 100.0, 300.0, 1000.0, 10000.0)  # of hypot(d/2 - 1, kappa)
TRAPS = ((1000, 50.0), (4377, 1000.0), (20000, 6000.0), (768, 10.0))  # where ive is 0 or worse


class Reference(NamedTuple):
    """The four quantities at one (d, kappa)."""

    log_iv: arb
    log_normalizer: arb
    mean_length: arb
    mean_length_gap: arb


def log_iv(nu: float, x: float) -> arb:
    """Return log I_nu(x) for x > 0."""
    ctx.prec = 150
    while True:
        value = arb(x).bessel_i(arb(nu), scaled=True).log() + arb(x)
        if value.rel_accuracy_bits() >= BITS:
            return value
        ctx.prec *= 2


def reference(d: int, kappa: float) -> Reference:
    """Return the quantities of dimension d at kappa, to BITS bits or more."""
    ctx.prec = 150
    while True:
        nu, x, log_2pi = arb(d) / 2 - 1, arb(kappa), (2 * arb.pi()).log()
        if kappa == 0.0:
            log_i = arb(0) if d == 2 else arb.neg_inf()
            area = arb(2).log() + (nu + 1) * arb.pi().log() - (nu + 1).lgamma()
            return Reference(log_i, -area, arb(0), arb(1))
        low = x.bessel_i(nu, scaled=True)
        ratio = x.bessel_i(nu + 1, scaled=True) / low
        log_i = low.log() + x
        values = Reference(log_i, nu * x.log() - (nu + 1) * log_2pi - log_i, ratio, 1 - ratio)
        if min(value.rel_accuracy_bits() for value in values) >= BITS:
            return values
        ctx.prec *= 2


def points() -> Iterator[tuple[int, float]]:
    """Yield the (d, kappa) of the table: a grid, both sides of every border, the traps."""
    yield from TRAPS
    for d in (2, 3, 4, 5, 10, 31, 65, 66, 67, 100, 768, 4377, 26000, 100_000, 1_000_000):
        yield d, 0.0
        for exponent in range(-6, 10):
            yield d, 1.7 * 10.0**exponent if exponent < 9 else 1e9
    for border in BORDERS:
        for d in (2, 3, 10, 40, 64, 100, 150, 500, 1500, 15000):
            nu = 0.5 * d - 1.0
            if nu < border:
                kappa = math.sqrt(border**2 - nu**2)
                yield d, kappa
                yield d, kappa * (1.0 - 1e-12)
        for d in range(2 * int(border) + 1, 2 * int(border) + 4):
            yield d, 0.5
            yield d, 2.0 * border


def main() -> None:
    """Write the table."""
    lines = ["d,kappa,log_iv,log_normalizer,mean_length,mean_length_gap"]
    for d, kappa in points():
        values = reference(d, kappa)
        digits = [v.str(20, radius=False) if v.is_finite() else "-inf" for v in values]
        lines.append(",".join([str(d), repr(kappa), *digits]))
    CSV.parent.mkdir(parents=True, exist_ok=True)
    CSV.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines) - 1} points in {CSV.name}")


if __name__ == "__main__":
    main()
