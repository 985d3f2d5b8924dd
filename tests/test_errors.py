from __future__ import annotations

import pickle

import pytest

from spheremix.errors import Message, ParameterError

OPTIONS = {"min_df": "--min-df", "n_components": "--k"}


def test_parameters_are_named_as_each_front_end_names_them():
    error = ParameterError("{min_df} must be at most {most}; got {got}", most=3, got=repr("{x}"))
    assert str(error) == "min_df must be at most 3; got '{x}'."
    assert error.message.render(OPTIONS.get) == "--min-df must be at most 3; got '{x}'."


def test_a_value_is_never_taken_for_a_parameter():
    error = ParameterError("{path}: there is no such file", path="min_df.csv")
    assert error.message.render(OPTIONS.get) == "min_df.csv: there is no such file."


@pytest.mark.parametrize(
    ("remedies", "library", "command"),
    [
        (("raise {tol}",), "Stopped: raise tol.", "Stopped."),
        (("raise {tol}", "lower {n_components}"), "Stopped: raise tol or lower n_components.",
         "Stopped: lower --k."),
        (("one", "two", "three"), "Stopped: one, two, or three.", "Stopped: one, two, or three."),
    ],
)  # fmt: skip
def test_remedies_without_an_option_are_left_out(remedies, library, command):
    message = Message("Stopped", remedies=remedies)
    assert message.render() == library
    assert message.render(OPTIONS.get) == command


def test_messages_survive_other_processes():
    error = ParameterError("{min_df} must be {wanted}", remedies=("lower {min_df}",), wanted="few")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert str(again) == str(error)
    assert again.message == error.message
