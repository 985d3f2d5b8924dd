"""The page of the docs, written from the result files: `python -m experiments.page`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments import claims, claims_reference, claims_simulation, printed
from experiments.cstr import CRITERIA
from experiments.data import TRUE_K
from experiments.drawing import NAMES, read
from experiments.runner import RESULTS

if TYPE_CHECKING:
    from collections.abc import Iterable

PAGE = Path(__file__).resolve().parents[1] / "docs" / "paper.md"
METHODS = ("skmeans", "shared", "free", "dbmovmfs")

INTRODUCTION = """# The paper, redone

Every experiment of sections 4 and 5 of the paper, run again with this package. Each of our figures
and tables stands beside what the paper reports, and each claim of the text has our number under it.
This page is written from the result files in `experiments/results` and contains no number of ours
that is not computed from them; what the paper prints is in `experiments/printed.py`.

One command a study, from the root of the repository; `--scale` is the share of the paper's
repetitions, and a killed run goes on where it was:

```sh
python -m experiments.path_illustration
python -m experiments.simulation --scale 0.25
python -m experiments.comparison --scale 0.25
python -m experiments.cstr
python -m experiments.figures
python -m experiments.page
```

`make paper` does all of it at a reduced size in a few minutes, without touching the committed files;
`make paper-full` does it at the paper's size.

In the figures of distributions a dot is the median, a thick line goes from the first to the third
quartile and a thin one from 5 to 95 %."""

PATH = """## Section 4.2: one path, four strategies

500 rows in 10 dimensions from 4 components, 5 % overlap, free concentrations. The paper shows one
data set; ours is shown first, and numbers are over all data sets.

{record}

![Beta, sparsity, log-likelihood and BIC along the path](figures/paper/path-steps.svg)

*The paper's two figures of the path show the same: beta rises slowly at first, then in larger and
larger steps; log-likelihood falls, and the BIC has a shallow minimum early on (circled).*

![Converging runs among ten random starts](figures/paper/path-converged.svg)

*Runs that converge among ten random starts at each beta. The paper's figure falls to a few; so does
ours with its M-step. Algorithm 2 alternates between means and concentrations and fails when a whole
mean is thresholded. The exact M-step maximises over both at once and always has an answer.*

![A regular grid of betas](figures/paper/path-grid.svg)

*A regular grid of 50 betas (line) and the path's own betas (dots): as in the paper, the path samples
the betas that matter, and misses sparsity levels only where several coordinates leave together.*
"""

SIMULATION = """## Section 4.3: simulation study

100 dimensions, 4 components, free concentrations, ten random starts at each K from 1 to 8, minimal
relative increase 1e-3; base concentrations 17.34 (2.5 % overlap) and 15.09 (5 %), as printed.

{record}

![Iterations and steps](figures/paper/simulation-costs.svg)

*Iterations of the ten dense runs together, steps of the path and iterations on it, N = 200.*

![K chosen, N = 200](figures/paper/simulation-selected-200.svg)

![K chosen, N = 1000](figures/paper/simulation-selected-1000.svg)

*How often AIC and BIC choose each K, on dense models and on the best model of each path, for N = 200
and N = 1000.*

![Agreement, N = 200](figures/paper/simulation-ari-200.svg)

![Agreement, N = 1000](figures/paper/simulation-ari-1000.svg)

*Adjusted Rand index of the dense model and of those that AIC and BIC choose on the path.*

![Sparsity, N = 200](figures/paper/simulation-sparsity-200.svg)

![Sparsity, N = 1000](figures/paper/simulation-sparsity-1000.svg)

*Sparsity of the chosen models.*

![Planted zeros](figures/paper/simulation-zeros-1000.svg)

*Precision and recall of the planted zeros at K = 4, N = 1000, one dot a data set.*
"""

COMPARISON = """## Section 5.2: reference models on simulated data

The data of section 4.3 and the same ten starts for the mixture with free concentrations, spherical
k-means and dbmovMFs; then the same with components of 1/2, 1/4, 1/8 and 1/8 of the rows. A start that
leaves a component of one method empty before its first iteration is drawn again for that method.

{record}

![Converging runs of dbmovMFs](figures/paper/comparison-converged.svg)

*Share of the runs of dbmovMFs that converge; the others lose a component or a block of columns.*

![Three methods, N = 200](figures/paper/comparison-ari-200.svg)

![Three methods, N = 1000](figures/paper/comparison-ari-1000.svg)

*Adjusted Rand index of the best run of each method, balanced components. No value where no run of
dbmovMFs converged.*

![Unbalanced components](figures/paper/comparison-unbalanced-1000.svg)

*The same with unbalanced components, N = 1000.*
"""

CSTR = """## Section 5.3: CSTR

475 abstracts, 1000 words, 4 classes. A repetition draws starts (K rows as prototypes) and gives the
same ones to every method; the best run by the method's own measure counts.

{record}

### From the true classes

{classes}

Spherical k-means from the classes, classes in rows and clusters in columns, ours and the printed one:

{confusion}

The two differ by a few rows. The printed matrix is no fixed point of the algorithm: Lloyd's
iterations that run until no row moves end at ours, so the printed run stopped earlier.

### Dense models

Adjusted Rand index, mean and standard deviation over the repetitions; printed means in parentheses.

{dense}

![Dense models](figures/paper/cstr-dense.svg)

### Criteria of dense models

![Criteria of the mixture](figures/paper/cstr-criteria-mixture.svg)

*Mixture with a shared concentration: mean over the repetitions, two standard deviations around it.*

![Criteria of dbmovMFs](figures/paper/cstr-criteria-dbmovmfs.svg)

*dbmovMFs. Its parameters are counted as K - 1 weights and K concentrations; the paper does not say
how it counts them. Adding the d assignments of the columns shifts a curve, and moves no minimum.*

### Sparse models

Adjusted Rand index at K = 4 of what each criterion chooses on the path (shared concentration).

{sparse}

![Sparse models](figures/paper/cstr-sparse.svg)

Best value of each criterion on the paths, mean over the repetitions, in thousands; the smallest of a
column is marked. The paper: whatever the criterion, it then falls with K.

{paths}

### Paired t-tests

{tests}

### Pictures

Columns are ordered by the number of prototypes that use them (written above, one hue each), rows by
cluster, the largest first. The models are those of the repetition of the largest likelihood. Mean
number of columns used by 0, 1, 2, 3 and 4 prototypes:

{blocks}

![Prototypes of dbmovMFs](figures/paper/cstr-prototypes-dbmovmfs.svg)

*Prototypes of dbmovMFs: each column belongs to one cluster.*

![Data in the order of dbmovMFs](figures/paper/cstr-data-dbmovmfs.svg)

*The data in that order: every cluster uses columns of the others.*

![Prototypes of the dense mixture](figures/paper/cstr-prototypes-dense.svg)

*Prototypes of the dense mixture: four groups of columns, most of them shared.*

![Prototypes chosen by the BIC](figures/paper/cstr-prototypes-bic.svg)

*Prototypes chosen by the BIC: fewer shared columns, more of a cluster's own, and a fifth group that
nobody uses.*

![Data in the order of the sparse mixture](figures/paper/cstr-data-bic.svg)

*The data in that order: the blocks of a cluster's own words are cleaner than those of dbmovMFs.*
"""


def text(results: Path = RESULTS) -> str:
    """Write the page."""
    parts = [
        INTRODUCTION,
        PATH.format(record=_record(results, "path")),
        *_claims(claims.path(results)),
        SIMULATION.format(record=_record(results, "simulation")),
        *_claims(claims_simulation.simulation(results)),
        COMPARISON.format(record=_record(results, "comparison")),
        *_claims(claims_reference.comparison(results)),
        CSTR.format(record=_record(results, "cstr"), **_cstr_tables(results)),
        "### What must show\n",
        *_claims(claims_reference.cstr(results)),
    ]
    return "\n".join(part.strip("\n") + "\n" for part in parts)


def _claims(found: list[claims.Claim]) -> list[str]:
    return ["\n".join(line for claim in found for line in claim.lines())]


def _record(results: Path, name: str) -> str:
    """Say the size, the seeds and the time of a run."""
    record = json.loads((results / f"{name}.json").read_text(encoding="utf-8"))
    minutes = record["seconds"] / record["workers"] / 60
    versions = ", ".join(f"{key} {value}" for key, value in record["versions"].items())
    return (
        f"Scale {record['scale']:g} of the full size: {record['cases']} cases, {minutes:.1f} minutes "
        f"with {record['workers']} processes ({record['machine']}; {versions}). Seeds: "
        f"{record['seeds']}."
    )


def _table(header: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    head = [str(cell) for cell in header]
    lines = [head, ["---"] * len(head), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cstr_tables(results: Path) -> dict[str, str]:
    return {
        "classes": _from_classes(results),
        "confusion": _confusion(results),
        "dense": _dense(results),
        "sparse": _sparse(results),
        "paths": _paths(results),
        "tests": _tests(results),
        "blocks": _blocks(results),
    }


def _from_classes(results: Path) -> str:
    found = read(results, "cstr_classes").set_index("method")["ari"]
    rows = [
        (NAMES[method], f"{found[method]:.3f}", printed.FROM_CLASSES.get(method, "-"))
        for method in METHODS
    ]
    return _table(("started from the classes", "ARI here", "printed"), rows)


def _confusion(results: Path) -> str:
    found = read(results, "cstr_confusion").query("method == 'skmeans'")
    ours = found[["1", "2", "3", "4"]].to_numpy()
    rows = [(k + 1, *ours[k], "", *theirs) for k, theirs in enumerate(printed.CONFUSION)]
    return _table(("class", 1, 2, 3, 4, "printed:", 1, 2, 3, 4), rows)


def _dense(results: Path) -> str:
    found = claims_reference.dense_means(results)
    rows = []
    for K, theirs in printed.DENSE.items():
        if (K, "shared") not in found.index:
            continue
        cells = [
            f"{found.loc[(K, method), 'mean']:.3f} ± {found.loc[(K, method), 'std']:.3f} "
            f"({theirs[method][0]:.3f} ± {theirs[method][1]:.3f})"
            for method in METHODS
        ]
        rows.append((K, *cells))
    return _table(("K", *(NAMES[method] for method in METHODS)), rows)


def _sparse(results: Path) -> str:
    values = claims_reference.sparse_values(results)
    chosen = read(results, "cstr_sparse").query(f"K == {TRUE_K}")
    sparsity = chosen.groupby("criterion")["sparsity"].mean()
    rows = [
        (
            NAMES[name],
            f"{found.mean():.3f} ± {found.std():.3f}",
            f"{printed.SPARSE[name][0]:.3f} ± {printed.SPARSE[name][1]:.3f}",
            f"{sparsity[name]:.1%}" if name in sparsity.index else "",
        )
        for name, found in values.items()
    ]
    return _table(("", "ARI here", "printed", "sparsity here"), rows)


def _paths(results: Path) -> str:
    means = read(results, "cstr_sparse").pivot_table("value", "K", "criterion") / 1000
    rows = [
        (
            K,
            *(
                f"**{row[name]:.2f}**" if K == means[name].idxmin() else f"{row[name]:.2f}"
                for name in CRITERIA
            ),
        )
        for K, row in means.iterrows()
    ]
    return _table(("K", *(NAMES[name] for name in CRITERIA)), rows)


def _tests(results: Path) -> str:
    words = {True: "significant", False: "not significant"}
    rows = [
        (
            test["pair"],
            test["K"],
            f"{test['difference']:+.4f}",
            f"{test['p']:.2g}",
            f"{words[bool(test['found'])]} at {test['level']:.0%}",
            words[bool(test["printed"])],
        )
        for _, test in claims_reference.t_tests(results).iterrows()
    ]
    return _table(("difference of ARI", "K", "mean", "p", "here", "the paper"), rows)


def _blocks(results: Path) -> str:
    means = read(results, "cstr_blocks").drop(columns="repetition").groupby("model").mean()
    rows = [
        (NAMES[name], *(f"{value:.0f}" for value in means.loc[name]))
        for name in ("dbmovmfs", "dense", "bic")
    ]
    return _table(("model", *means.columns), rows)


def main(arguments: list[str] | None = None) -> None:
    """Write the page from the command line."""
    parser = argparse.ArgumentParser(prog="python -m experiments.page")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--page", type=Path, default=PAGE)
    chosen = parser.parse_args(arguments)
    chosen.page.write_text(text(chosen.results), encoding="utf-8")


if __name__ == "__main__":
    main()
