"""The words of the two pages on filings; numbers come from `filings_page`."""

from __future__ import annotations

PAGE = """# One bank's filings

Section 6 of the paper reads the 8-K reports that one bank, Wells Fargo, filed between 2015 and
2019. That corpus is not at hand; this page takes the same steps on {n} reports of another bank,
Astoria Financial, filed between {first} and {last}. There are {K} groups of reports, each told in
words, and a table of what is the same as in the paper and what is not.

```sh
make filings    # needs the folder of real data, named by SPHEREMIX_DATA
```

The command fits the models, writes tables, draws figures and writes this page. The steps in full,
with the reference models, all figures and tables, are in `experiments/results/filings.md`.

The pipeline is the paper's: lower case, lemmas, no stop words, no numbers, counts. The data have
{n:,} rows, {words:,} columns and {nonzeros:,} non-zeros. The models are a mixture with a shared
concentration and its path, beside spherical k-means and dbmovMFs, from {starts} random starts each.

**How many groups?** The RICc, which chooses K = {paper_K} in the paper, {ricc_end} {ricc_beyond}
It first turns upwards after K = {K}, and restarts agree best at K = {agreement_K}. We take K = {K}:
a rule made after the intended one had failed. The BIC chooses step {step} of {steps} of the path,
where {sparsity:.1%} of the coordinates are zero.

![Prototypes](figures/filings/prototypes.svg)

*Prototypes: a row a cluster, its height by size; a column a word, one hue for each number of
clusters that share it.*

## What the groups are

A paragraph is told only of a cluster that has the words, shares of events, months and lengths it
rests on, which is checked when this page is written; its numbers are those of the tables. The rest
is our reading of the filings.

{stories}

## Beside the paper

{beside}

## What to doubt

- The number of clusters: see how it was chosen.
{doubt}- The models see texts cut at {longest:,} characters.
"""

FULL = """# One bank's filings: the steps in full

Written by `python -m experiments.filings` from the result files in this folder; `docs/filings.md`
is the short page. {record} The clock counts whatever else the machine did; the processor time was
{processor:.1f} minutes, for two processes together.

## From texts to directions

{n:,} filings, {aside} set aside for want of words; {cut} texts are cut at {longest:,} characters.
The pipeline is the paper's: signs dropped, lower case, lemmas, no stop words, counts, rows put to
length one. Numbers are no words here.

The paper drops words that appear less than 100 times in {paper_corpus:,} reports. At that rate, one
occurrence for every {rate} reports, the threshold for {n} filings is {min_count}: it drops nothing.
What remains of it is that a word of a single filing can bring no two together, so a word must be
in {min_df} filings at least. Of {before:,} words {words:,} are left, and the data have
{n:,} rows, {words:,} columns and {nonzeros:,} non-zeros.

Does the threshold matter? The mixture chosen below, fitted again with higher ones:

{thresholds}

## Events

A filing names the events it reports by item codes, {labels_per:.1f} on average; {n_events} of the
codes occur. {exhibits}

{events}

## Reference models

Every model is fitted at K = {low} to {high} from {starts} random starts, with {seeds} seeds; what
is shown in detail has the first seed.

**Spherical k-means.** The Calinski-Harabasz index is largest at K = {sk_K}{sk_seeds}.

**dbmovMFs.** The AIC is smallest at K = {db_K}. {db_failed} Over the seeds the choice is
K = {db_choices}.

![AIC of dbmovMFs](figures/filings/criteria-dbmovmfs.svg)

*Criteria of dbmovMFs above their smallest value, per filing: the first seed (line), all seeds
(points), their mean (dashed) and two standard deviations around it.*

Filings by cluster:

{reference_sizes}

Clusters of spherical k-means in rows, those of dbmovMFs in columns:

{crossed}

The adjusted Rand index of the two is {ari_references:.2f}. {parted}

![Events by cluster of dbmovMFs](figures/filings/events-dbmovmfs.svg)

![Clusters of dbmovMFs by month](figures/filings/months-dbmovmfs.svg)

*Events and months of the clusters of dbmovMFs.*

## The sparse mixture

### How many clusters

![Criteria of the dense mixtures](figures/filings/criteria.svg)

*Criteria of dense mixtures with a shared concentration, as above; the last panel is the mean
agreement of the restarts with the best one.*

The RICc, which chooses K = {paper_K} in the paper, {ricc_end} {ricc_beyond} A likely reason is that
letters sent every quarter form groups within groups: to split one raises the concentration that all
clusters share (from {kappa:,.0f} at K = {K} to {kappa_smallest:,.0f} at K = {smallest_K}).

What the RICc does have is a place where it first turns upwards: after K = {K} for the first seed,
and over the {seeds} seeds after K = {turns}. From K = {K} on it falls by {fall:,.0f} a component on
average, while its standard deviation over the seeds is {spread:,.0f}. Restarts agree best at
K = {agreement_K}, in the mean over the seeds. We take K = {K}. It is a rule made after the intended
one had failed; the solution at K = {smallest_K} is looked at further down.

### How many words

The path is followed as in the paper, {max_steps:,} steps at most and a minimal relative increase of
beta of {increase:g}. It has {steps} steps and ends when {end}; the BIC is smallest at step {step},
where beta is {beta:.1f} and {sparsity:.1%} of the coordinates are zero. The adjusted Rand index of
its partition with that of the dense mixture is {ari_dense:.2f}.

![Path](figures/filings/path.svg)

### The clusters

{clusters}

Words that all clusters have: {common}

Filings of each event, and of each month of the year, by cluster:

{cluster_events}

{cluster_months}

![Events by cluster](figures/filings/events.svg)

![Clusters by month](figures/filings/months.svg)

### Two filings

The filing nearest to the prototype of two clusters, in excerpts. **Bold** words are the cluster's
own, *italic* ones common to all clusters (red and blue in the paper).

{excerpts}

## Other models beside it

Adjusted Rand index with the sparse mixture at K = {K}:

{agreements}

{nested}
"""
