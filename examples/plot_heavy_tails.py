"""
A model of your own: heavy tails
================================

The rows of a von Mises-Fisher component lie close around its prototype. In real data, most rows may
be close and some far away. One concentration cannot describe both. A mixture of von
Mises-Fisher distributions then wastes components on the rows that are far away, or makes all
components broad.

This example writes a model that is not in the package, for components with heavy tails, and
uses the library's engines, starts and EM with it.
"""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import gammaln
from sklearn.metrics import adjusted_rand_score

import spheremix as sm
from spheremix import em
from spheremix.bessel import log_normalizer
from spheremix.models.base import DegenerateError, MStep, require_mass
from spheremix.resultants import merged_resultants
from spheremix.scorer import Scorer
from spheremix.seeding import from_prototypes
from spheremix.testing import check_model

# %%
# The model
# ---------
#
# Student's t distribution is a mixture of normal distributions with one mean and many variances.
# In the same way, a component is here a mixture of von Mises-Fisher distributions with one
# prototype and many concentrations: a *ladder* of given ones, from next to uniform to very
# narrow. The density of component k is
#
# .. math:: f_k(x) = \sum_l \pi_{kl} \, c_d(\kappa_l) \exp(\kappa_l \langle \mu_k, x \rangle).
#
# The shares of the rungs are estimated for each component, so the data say how heavy its tail is.
# The spherical Cauchy distribution is of this form, with infinitely many rungs.
#
# For an engine, each rung of each component is one more affine score. So the model has K times L
# scores, those of a component next to each other. The M-step is exact and needs no iteration: the
# prototype is the direction of the resultant vectors of all rungs, each times its concentration.
# A small prior keeps the shares of rungs above zero; its logarithm is a part of the objective.


@dataclass(frozen=True)
class Ladder:
    """Parameters: prototypes (K, d), weights of components (K,), shares of rungs (K, L)."""

    kappas: np.ndarray  # (L,): the ladder, the same for all components
    n_features: int
    prior: float = 0.1  # rows that each rung of each component has before any is seen

    def scorer(self, parameters, assignment="soft", key=(0, 0)):
        prototypes, weights, shares = parameters
        matrix = prototypes[:, None, :] * self.kappas[:, None]
        biases = np.log(weights)[:, None] + np.log(shares)
        biases = biases + log_normalizer(self.n_features, self.kappas)
        flat = matrix.reshape(-1, self.n_features)
        return Scorer.centred(flat, biases.ravel(), assignment, key)

    def m_step(self, resultants, parameters):
        before, after = parameters, self._maximum(resultants, len(parameters[1]))
        gain = self._expected(resultants, after) - self._expected(resultants, before)
        return MStep(after, gain)

    def penalty(self, parameters):
        return -self.prior * float(np.log(parameters[2]).sum())

    def start(self, resultants, prototypes):
        """Every rung is equally likely; the first M-step knows more."""
        require_mass(resultants)
        if not np.linalg.norm(prototypes, axis=1).all():
            raise DegenerateError("vanished", 0)
        L = len(self.kappas)
        return prototypes, resultants.mass / resultants.weight, np.full((len(prototypes), L), 1 / L)

    def _maximum(self, resultants, K):
        components = np.arange(K * len(self.kappas)) // len(self.kappas)
        summed = merged_resultants(resultants, components)
        require_mass(summed)
        mass = resultants.mass.reshape(K, -1) + self.prior
        pulls = np.einsum("l,kld->kd", self.kappas, self._by_rung(resultants, K))
        lengths = np.linalg.norm(pulls, axis=1)
        if not lengths.all():
            raise DegenerateError("vanished", int(lengths.argmin()))
        shares = mass / mass.sum(axis=1, keepdims=True)
        return pulls / lengths[:, None], summed.mass / resultants.weight, shares

    def _expected(self, resultants, parameters):
        """What parameters make of the expected completed objective; c_d(kappa) stays as it is."""
        prototypes, weights, shares = parameters
        K = len(weights)
        mass = resultants.mass.reshape(K, -1)
        cosines = np.einsum("kld,kd->kl", self._by_rung(resultants, K), prototypes)
        logs = mass * np.log(weights)[:, None] + (mass + self.prior) * np.log(shares)
        return float((logs + self.kappas * cosines).sum())

    def _by_rung(self, resultants, K):
        return resultants.vectors.reshape(K, len(self.kappas), self.n_features)


# %%
# ``check_model`` follows EM on drawn rows and calculates again, row by row, what each M-step
# gains. A wrong M-step, or a wrong gain, is an ``AssertionError``.

check_model(Ladder(4.0 ** np.arange(5), n_features=8))

# %%
# Rows with heavy tails
# ---------------------
#
# Six directions in 32 dimensions. Each row is one of them plus normal noise, divided by a number
# that is sometimes close to zero: the noise then has the tails of Student's t distribution with
# one degree of freedom, which is Cauchy's. Neither model is the one that the rows come from.

K, d = 6, 32
rng = np.random.default_rng(0)
directions = rng.normal(size=(K, d))
directions /= np.linalg.norm(directions, axis=1, keepdims=True)


def draw(n):
    labels = rng.integers(0, K, size=n)
    noise = 0.1 * rng.normal(size=(n, d)) / np.abs(rng.normal(size=(n, 1)))
    rows = directions[labels] + noise
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), labels


X, labels = draw(3000)
new, new_labels = draw(3000)

# %%
# The fit
# -------
#
# EM starts at the prototypes that spherical k-means finds. For each row, the posteriors of the
# rungs of a component are added up.

model = Ladder(d * 2.0 ** np.arange(-3, 6), d)
rows = sm.as_directions(X)
starts = [sm.SphericalKMeans(K, random_state=seed).fit(X).prototypes_ for seed in range(5)]
fits = em.fit(model, rows, from_prototypes(model, rows, starts, None), em.Settings())
best = max(fits, key=lambda one: one.objective)
scorer = model.scorer(best.parameters)


def angle(prototypes):
    """The mean angle between the true directions and the nearest prototypes, in degrees."""
    return np.degrees(np.arccos((prototypes @ directions.T).max(axis=0))).mean()


# %%
# New rows are compared with the mixtures of the package. Without noise, a mixture with free
# concentrations gives one component to the rows that are far away, and loses a direction. With
# noise it finds all directions, and sets a third of the rows aside. The ladder keeps all rows, is
# closest to the true directions, and gives new rows the highest likelihood. Nobody can assign all
# rows right: the nearest true direction has the same adjusted Rand index (ARI).

found = sm.as_directions(new)
posteriors = found.map_rows(scorer, "posteriors").reshape(len(new), K, -1).sum(axis=2)
results = {
    "ladder": (
        posteriors.argmax(axis=1),
        found.map_rows(scorer, "log_density").mean(),
        angle(best.parameters[0]),
    )
}
options = {"shared": {}, "free": {}, "free, noise": {"noise": "uniform", "max_noise": None}}
mixtures = {}
for name, own in options.items():
    mixture = sm.VMFMixture(K, kappa=name.split(",")[0], random_state=0, **own).fit(X)
    likelihood, degrees = mixture.score_samples(new).mean(), angle(mixture.prototypes_)
    results[f"vMF, {name}"] = mixture.predict(new), likelihood, degrees
    mixtures[name] = mixture
results["true directions"] = (new @ directions.T).argmax(axis=1), np.nan, 0.0

print(f"{'':18} kept   ARI  log-likelihood  angle")
for name, (predicted, likelihood, degrees) in results.items():
    kept = predicted >= 0
    ari = adjusted_rand_score(new_labels[kept], predicted[kept])
    print(f"{name:18} {kept.mean():4.0%}  {ari:.2f}  {likelihood:14.2f}  {degrees:5.1f}")

# %%
# How far rows are from their direction
# -------------------------------------
#
# Left: the cosines of new rows with their true direction, and what the two models say about them.
# Right: how the rungs share the rows, for each component.

_, weights, shares = best.parameters
cosines = np.linspace(-0.6, 0.999, 400)
area = np.log(2) + (d - 1) / 2 * np.log(np.pi) - gammaln((d - 1) / 2)
around = area + (d - 3) / 2 * np.log1p(-(cosines**2))


def density(kappas, shares):
    logs = log_normalizer(d, kappas)[:, None] + kappas[:, None] * cosines + around
    return shares @ np.exp(logs)


figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
own = np.sum(new * directions[new_labels], axis=1)
left.hist(own, bins=60, density=True, color="0.85")
left.plot(cosines, density(model.kappas, weights @ shares), label="ladder")
left.plot(cosines, density(mixtures["shared"].kappas_[:1], np.ones(1)), label="vMF, shared")
left.set(xlabel="cosine with the true direction", ylabel="density", ylim=(0, 6))
left.legend(frameon=False)
right.plot(model.kappas, shares.T, "o-", color="0.6", lw=0.8, ms=3)
right.plot(model.kappas, weights @ shares, "o-", color="C0")
right.set(xscale="log", xlabel="concentration of the rung", ylabel="share of the rows")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
