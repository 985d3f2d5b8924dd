"""
How many clusters, and in how many words
========================================

The corpus has six hundred simulated documents about the sea, the kitchen, the sky and music.
Neighbouring subjects share some words, all subjects share common words, and most words belong to no
subject. Criteria choose how many clusters there are, and then how many words describe them.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

import spheremix as sm

# %%
# The corpus
# ----------
#
# There are words of the four subjects, words that two neighbouring subjects share (the last subject
# is a neighbour of the first), common words, and rare words.

SUBJECTS = {
    "sea": "anchor beach boat captain coral current deck dock gull harbour island lighthouse mast "
    "oar port reef sail sailor shore tide",
    "kitchen": "apron bake bowl bread butter cake chef cook cream dough flour garlic kettle oven "
    "pan pepper recipe soup spoon sugar",
    "sky": "asteroid astronomer comet constellation cosmos crater dwarf eclipse galaxy gravity "
    "lunar meteor moon nebula observatory orbit planet star sun telescope",
    "music": "chord choir composer concert duet fiddle flute guitar lyric melody opera orchestra "
    "piano quartet rhythm singer sonata symphony tempo violin",
}
SHARED = ("fish oyster salt", "dish heat mass", "harmony resonance scale", "bass pitch wave")
COMMON = (
    "time day people place part work long great small hand old new way find give begin keep turn "
    "show call name side end point line year word thing help need"
)
N_RARE = 178

listed = " ".join([*SUBJECTS.values(), *SHARED, COMMON]).split()
words = np.array(listed + [f"rare{i:03d}" for i in range(N_RARE)])


def simulate(n_documents=600, seed=0):
    """Simulate counts of words; give them with the subject of each document."""
    position = {word: j for j, word in enumerate(words)}
    rng = np.random.default_rng(seed)
    subjects = np.zeros((4, len(words)))
    for k, own in enumerate(SUBJECTS.values()):
        mine = [position[word] for word in own.split()]
        subjects[k, mine] = rng.permutation(1.0 / np.arange(1.0, len(mine) + 1.0) ** 0.7)
        shared = [position[word] for word in f"{SHARED[k]} {SHARED[k - 1]}".split()]
        subjects[k, shared] = 0.5
    subjects /= subjects.sum(axis=1, keepdims=True)
    subjects = 0.9 * subjects + 0.1 * subjects.mean(axis=0)  # a document strays now and then
    common = np.zeros(len(words))
    common[[position[word] for word in COMMON.split()]] = 1.0 / np.arange(1.0, 31.0)
    rare = np.zeros(len(words))
    rare[-N_RARE:] = 1.0 / N_RARE
    labels = rng.integers(4, size=n_documents)
    counts = []
    for k in labels:
        mean = 0.50 * subjects[k] + 0.35 * common / common.sum() + 0.15 * rare
        # A document has its own words within its subject: it repeats some, and never has others.
        shares = rng.dirichlet(20.0 * mean + 1e-9)
        counts.append(rng.multinomial(5 + rng.poisson(25.0), shares))
    return sparse.csr_array(np.array(counts)), labels


counts, subjects = simulate()
X = TfidfTransformer(sublinear_tf=True).fit_transform(counts)

# %%
# The number of clusters
# ----------------------
#
# Ten dense mixtures for each number of clusters, then the path of the best one at the number that
# the EBIC chooses. The BIC, the EBIC and their stronger relatives turn at four; the AIC falls to
# the end of the range, and would fall to the end of any range.

study = sm.VMFMixtureIC(
    n_components=range(2, 9), k_criterion="ebic", beta_criterion="bic", random_state=0
).fit(X)
print(f"EBIC chooses {study.best_n_components_} clusters among {study.candidates_}")

sizes = plt.figure(figsize=(9.6, 5.6), layout="constrained")
sm.CriteriaDisplay.from_estimator(study, ax=sizes.subplots(2, 3, sharex=True))
sizes.suptitle(
    f"Dense mixtures: EBIC chooses K = {study.best_n_components_}\n"
    "line: the best restart; dots: every restart; dashes and band: their mean, two standard "
    "deviations",
    fontsize=11,
)

# %%
# The number of words
# -------------------
#
# Along the path, at four clusters: sparsity, likelihood and criteria. The stars are their choices.

path = study.best_path_
step = path.selected_
print(
    f"BIC chooses step {step} of {len(path.betas_)}: beta {path.betas_[step]:.1f}, "
    f"sparsity {path.sparsity_[step]:.2f}"
)

along = plt.figure(figsize=(9.6, 7.0), layout="constrained")
sm.PathDisplay.from_estimator(path, ax=along.subplots(3, 1, sharex=True))
along.suptitle(
    f"The path at K = {path.kappas_.shape[1]}: {len(path.betas_)} steps, from the dense mixture "
    "(dots) to one word a cluster\nstars: the step that each criterion chooses",
    fontsize=11,
)

# %%
# The words, and how stable they are
# ----------------------------------
#
# Own and shared words of each cluster, the heaviest first. Drawing the documents again tells how
# many of them would come back.

frequencies = sm.stability_selection(path, X, n_bootstrap=20, random_state=0)
prototypes = path.model(step).prototypes_
support = prototypes != 0.0
shared = support.sum(axis=0) > 1
order = np.argsort(-np.abs(prototypes), axis=1, kind="stable")
clusters = []
for k in range(len(prototypes)):
    own = [str(words[j]) for j in order[k] if support[k, j] and not shared[j]][:8]
    with_others = [str(words[j]) for j in order[k] if support[k, j] and shared[j]][:8]
    clusters.append({"own": own, "shared": with_others})
    stable = (frequencies[k, support[k]] >= 0.9).sum()
    print(
        f"\ncluster {k}: {path.sizes_[step, k]:.0f} documents, {support[k].sum()} words, "
        f"{stable} of them in 90 % of the bootstraps"
    )
    print("  own    ", " ".join(own))
    print("  shared ", " ".join(with_others))
