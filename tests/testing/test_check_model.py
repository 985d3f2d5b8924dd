"""The conformance suite of models: every exact model passes, and wrong ones do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spheremix.models.base import DegenerateError, MStep
from spheremix.models.coclustering import CoclusteringModel
from spheremix.models.profile import KappaPrior
from spheremix.models.skmeans import SphericalKMeansModel
from spheremix.models.vmf import SupportModel, VMFModel, mixture_scorer
from spheremix.nesting import NestedModel
from spheremix.penalties import L1
from spheremix.testing import check_model

SUPPORT = np.random.default_rng(0).random((3, 8)) < 0.7
EXACT = {
    "spherical k-means": SphericalKMeansModel(),
    "shared": VMFModel(8, "shared"),
    "free": VMFModel(8, "free"),
    "given": VMFModel(8, np.array([5.0, 10.0, 20.0])),
    "shared, sparse": VMFModel(8, "shared", L1(30.0)),
    "free, sparse, weighted features": VMFModel(8, "free", L1(5.0, np.linspace(0.0, 2.0, 8))),
    "capped": VMFModel(8, "free", kappa_max=3.0),
    "support": SupportModel(VMFModel(8, "free"), SUPPORT),
    "shared, with a prior": VMFModel(8, "shared", prior=KappaPrior(4.0, 1.0)),
    "free, with a prior": VMFModel(8, "free", prior=KappaPrior(1.0, 0.0)),
    "sparse, with a prior": VMFModel(
        8, "free", L1(5.0, np.linspace(0.0, 2.0, 8)), prior=KappaPrior(4.0, 3.0)
    ),
    "given, with a prior": VMFModel(8, 10.0, prior=KappaPrior(4.0, 3.0)),
}
# The first two of three components lie in one coarse cluster.
ABOVE = (np.array([0, 0, 1]), np.arange(3))
EXACT |= {
    f"nested, {kappa}, beta {beta}": NestedModel(VMFModel(8, kappa, L1(beta)), ABOVE)
    for kappa in ("shared", "free", 20.0)
    for beta in (0.0, 2.0)
}
CLIMBING = {
    "shared": CoclusteringModel(8, "shared"),
    "free": CoclusteringModel(8, "free"),
    "given": CoclusteringModel(8, 10.0),
    "equal weights": CoclusteringModel(8, "free", equal_weights=True),
}


@pytest.mark.parametrize("name", EXACT)
def test_exact_models(name):
    check_model(EXACT[name])


@pytest.mark.parametrize("name", CLIMBING)
def test_block_mixtures_climb(name):
    check_model(CLIMBING[name], exact=False)


def test_other_shapes_and_seeds():
    check_model(VMFModel(40, "shared", L1(3.0)), 5, 40, seed=1)
    check_model(VMFModel(8, "free"), 1)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (VMFModel(8, "free", kappa_solver="banerjee"), "not the rise"),
        (CoclusteringModel(8, "free", conscience=True), "loses"),
        (CoclusteringModel(8, "shared"), "below a start"),
    ],
    ids=["banerjee", "conscience", "block"],
)
def test_what_does_not_reach_the_maximum_is_told(model, words):
    """They say so in their own pages."""
    with pytest.raises(AssertionError, match=words):
        check_model(model)


# ------------------------------------------------------------------------------------ wrong models


class Wrong:
    """A right model with something changed."""

    model = VMFModel(8, "free", L1(2.0))

    def scorer(self, parameters, assignment="soft", key=(0, 0)):
        return self.model.scorer(parameters, assignment, key)

    def m_step(self, resultants, parameters):
        return self.model.m_step(resultants, parameters)

    def penalty(self, parameters):
        return self.model.penalty(parameters)

    def start(self, resultants, prototypes):
        return self.model.start(resultants, prototypes)


class Negative(Wrong):
    def m_step(self, resultants, parameters):
        step = super().m_step(resultants, parameters)
        return MStep(step.parameters, -step.gain)


class Zero(Wrong):
    def m_step(self, resultants, parameters):
        return MStep(super().m_step(resultants, parameters).parameters, 0.0)


class Still(Wrong):
    def m_step(self, resultants, parameters):
        super().m_step(resultants, parameters)
        return MStep(parameters, 0.0)


class Halfway(Wrong):
    """Weights and concentrations follow; prototypes stay, and the gain is that."""

    model = VMFModel(8, 20.0)

    def m_step(self, resultants, parameters):
        weights = super().m_step(resultants, parameters).parameters.weights
        after = replace(parameters, weights=weights)
        return MStep(after, float(resultants.mass @ np.log(weights / parameters.weights)))


class Unpenalised(Wrong):
    """The objective lacks what the M-step takes into account."""

    def penalty(self, parameters):  # noqa: ARG002
        return 0.0


class InPlace(Wrong):
    def m_step(self, resultants, parameters):
        step = super().m_step(resultants, parameters)
        parameters.prototypes[:] = step.parameters.prototypes
        return step


class Random(Wrong):
    def m_step(self, resultants, parameters):
        step = super().m_step(resultants, parameters)
        noise = 1.0 + 1e-3 * np.random.default_rng().random()
        return MStep(replace(step.parameters, kappas=step.parameters.kappas * noise), step.gain)


class Careless(Wrong):
    """A component without rows gets what it had."""

    def m_step(self, resultants, parameters):
        try:
            return super().m_step(resultants, parameters)
        except DegenerateError:
            return MStep(parameters, 0.0)


class Deaf(Wrong):
    """Always soft."""

    def scorer(self, parameters, assignment="soft", key=(0, 0)):  # noqa: ARG002
        return mixture_scorer(parameters)


class Hopeless(Wrong):
    def m_step(self, resultants, parameters):  # noqa: ARG002
        raise DegenerateError("vanished", 0)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (Negative, "not the rise"),
        (Zero, "not the rise"),
        (Still, "below a start|gains anything"),
        (Halfway, "below a start"),
        (Unpenalised, "not the rise"),
        (InPlace, "changes what it was given"),
        (Random, "depends on more"),
        (Careless, "DegenerateError was not raised"),
        (Deaf, "scorer is for another"),
        (Hopeless, "gains anything"),
    ],
)
def test_wrong_models_are_found(wrong, words):
    check_model(wrong.model)  # what is wrong is the change
    with pytest.raises(AssertionError, match=words):
        check_model(wrong())


def test_a_model_that_never_moves_is_found_even_if_it_need_not_be_exact():
    with pytest.raises(AssertionError, match="gains anything"):
        check_model(Still(), exact=False)
