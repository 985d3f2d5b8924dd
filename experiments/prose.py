"""The words of the two pages; numbers come from `page`."""

from __future__ import annotations

SHORT = """# The paper, redone

Every experiment of sections 4 and 5 of the paper, run again with this package. Of {n} claims of the
text {holds} are confirmed, {partly} in part and {fails} not.

```sh
make paper         # at a reduced size, in a few minutes, without touching the committed files
make paper-full    # at the paper's size
```

{table}

`experiments/results/paper.md` has our number under each claim, all figures, and our tables beside
the printed ones, with seeds, versions and machines. It is written from the result files beside it
(`python -m experiments.page`), and so is this page. `python -m experiments.simulation --scale 0.1`
runs one study with a tenth of the repetitions; a killed one goes on where it was.

In the figures of distributions a dot is the median, a thick line goes from the first to the third
quartile and a thin one from 5 to 95 %.
"""

SECTIONS = {
    "path": """## Section 4.2: one path, four strategies

500 rows in 10 dimensions from 4 components, free concentrations.

![Converging runs among ten random starts](figures/paper/path-converged.svg)

*Runs that converge among ten random starts at each beta. Algorithm 2 fails when a whole mean is
thresholded. The exact M-step always has an answer.*
""",
    "simulation": """## Section 4.3: simulation study

100 dimensions, 4 components, free concentrations, ten random starts at each K from 1 to 8.

![K chosen, N = 200](figures/paper/simulation-selected-200.svg)

*How often AIC and BIC choose each K, on dense models and on the best model of each path.*
""",
    "comparison": """## Section 5.2: reference models on simulated data

The data of section 4.3 and the same ten starts for the mixture, spherical k-means and dbmovMFs.

![Three methods, N = 200](figures/paper/comparison-ari-200.svg)

*Adjusted Rand index of the best run of each method. No value where no run of dbmovMFs converged.*
""",
    "cstr": """## Section 5.3: CSTR

475 abstracts, 1000 words, 4 classes. Every method gets the same starts. Adjusted Rand index at
K = 4 of what each criterion chooses on the path:

{sparse}

The paired t-tests of the paper do not replicate: {tests} conclusions agree. The differences tested
are of the order of a hundredth, and so are those between our means and the printed ones.

![Prototypes chosen by the BIC](figures/paper/cstr-prototypes-bic.svg)

*Prototypes chosen by the BIC, a row a cluster: a few shared words, more of its own, and words that
no cluster uses.*
""",
}

SECTION_6 = """## Section 6: the reports of a bank

The paper's corpus, reports of Wells Fargo, is not at hand. The same steps on the reports of another
bank, and what is the same and what differs: [One bank's filings](filings.md).
"""

INTRODUCTION = """# The paper, redone: all claims, figures and tables

Written by `python -m experiments.page` from the result files in this folder; what the paper prints
is in `experiments/printed.py`. `docs/paper.md` is the short page. One command a study:

```sh
{commands}
python -m experiments.figures
python -m experiments.page
```"""

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

*A regular grid of 50 betas (line) and the path's own betas (dots): as in the paper, the path
samples the betas that matter, and misses sparsity levels only where several coordinates leave
together.*
"""

SIMULATION = """## Section 4.3: simulation study

100 dimensions, 4 components, free concentrations, ten random starts at each K from 1 to 8, minimal
relative increase 1e-3; base concentrations 17.34 (2.5 % overlap) and 15.09 (5 %), as printed.

{record}

![Iterations and steps](figures/paper/simulation-costs.svg)

*Iterations of the ten dense runs together, steps of the path and iterations on it, N = 200.*

![K chosen, N = 200](figures/paper/simulation-selected-200.svg)

![K chosen, N = 1000](figures/paper/simulation-selected-1000.svg)

*How often AIC and BIC choose each K, on dense models and on the best model of each path, for
N = 200 and N = 1000.*

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
k-means and dbmovMFs; then the same with components of 1/2, 1/4, 1/8 and 1/8 of the rows. A start
that leaves a component of one method empty before its first iteration is drawn again for that one.

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

Spherical k-means from the classes, classes in rows and clusters in columns, ours and the printed
one:

{confusion}

{lloyd}

### Dense models

Adjusted Rand index, mean and standard deviation over the repetitions, here and as printed.

{dense}

![Dense models](figures/paper/cstr-dense.svg)

{starts}

The R package that the paper used searches by a genetic algorithm unless it is told otherwise. Here
is spherical k-means by our search, with one, two and five runs of it, in the place of fifty random
starts:

{search}

### Criteria of dense models

![Criteria of the mixture](figures/paper/cstr-criteria-mixture.svg)

*Mixture with a shared concentration: mean over the repetitions, two standard deviations around it.*

![Criteria of dbmovMFs](figures/paper/cstr-criteria-dbmovmfs.svg)

*dbmovMFs, with two counts of its parameters, since the paper does not say how it counts them.
Above, the count of this package: K - 1 weights and K concentrations. Below, d - 1 numbers a
prototype as well: a count looked for afterwards, when the first did not agree with the paper.*

### Sparse models

Adjusted Rand index at K = 4 of what each criterion chooses on the path (shared concentration).

{sparse}

![Sparse models](figures/paper/cstr-sparse.svg)

Best value of each criterion on the paths, mean over the repetitions, in thousands; the smallest of
a column is marked. The paper: whatever the criterion, it then falls with K.

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
