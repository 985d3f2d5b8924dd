"""Resultants are values: they add up, have a zero, and nothing else."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from spheremix.resultants import Resultants

FIELDS = [field.name for field in dataclasses.fields(Resultants)]

numbers = st.floats(-1e6, 1e6)
masses = st.floats(0, 1e6)
resultants = st.builds(
    Resultants,
    arrays(float, 3, elements=masses),
    arrays(float, (3, 2), elements=numbers),
    numbers,
    masses,
    masses,
)


def assert_same(one, other):
    for name in FIELDS:
        assert_array_equal(getattr(one, name), getattr(other, name))


@given(resultants)
def test_zero_is_neutral(one):
    zero = Resultants.zero(3, 2)
    assert_same(one + zero, one)
    assert_same(zero + one, one)
    assert_same(sum([one], start=zero), one)


@given(resultants, resultants)
def test_addition_adds_every_part(one, other):
    total = one + other
    for name in FIELDS:
        assert_allclose(getattr(total, name), getattr(one, name) + getattr(other, name), 0, 0)


def test_addition_makes_new_arrays():
    one = Resultants.zero(2, 3)
    total = one + one
    total.mass[:] = 1
    total.vectors[:] = 1
    assert_same(one, Resultants.zero(2, 3))


def test_resultants_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Resultants.zero(1, 2).weight = 3.0
