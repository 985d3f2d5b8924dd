from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning as SklearnConvergenceWarning

import spheremix as sm
from spheremix.errors import Explained, Message, ParameterError
from spheremix.estimators.problem import ConvergenceWarning, NoFitError

OPTIONS = {"min_df": "--min-df", "n_components": "--k", "id": "--id", "lemmatizer": "--lemmatizer"}


@pytest.mark.parametrize(
    ("message", "library", "command"),
    [
        (
            ParameterError(
                "{min_df} must be at most {most}; got {got}", most=3, got=repr("{x}")
            ).message,
            "min_df must be at most 3; got '{x}'.",
            "--min-df must be at most 3; got '{x}'.",
        ),
        # A value is never taken for a parameter, and may be that of one.
        (Message("{path}: is no file", {"path": "min_df.csv"}), *["min_df.csv: is no file."] * 2),
        (
            Message("Give {min_df=kept}", {"kept": "{it's} 5"}),
            "Give min_df={it's} 5.",
            """Give --min-df '{it'"'"'s} 5'.""",
        ),
        # Remedies without an option are left out.
        (Message("Stopped", remedies=("raise {tol}",)), "Stopped: raise tol.", "Stopped."),
        (
            Message("Stopped", remedies=("raise {tol}", "lower {n_components}")),
            "Stopped: raise tol or lower n_components.",
            "Stopped: lower --k.",
        ),
        (
            Message("Stopped", remedies=("one", "two", "three")),
            *["Stopped: one, two, or three."] * 2,
        ),
        (
            Message("{min_df=0.5} and {id=False}", remedies=("set {lemmatizer=None}", "{tol=1}")),
            "min_df=0.5 and id=False: set lemmatizer=None or tol=1.",
            "--min-df 0.5 and --id none: set --lemmatizer none.",
        ),
    ],
)
def test_parameters_are_named_as_each_front_end_names_them(message, library, command):
    assert message.render() == library
    assert message.render(OPTIONS.get) == command


def test_messages_survive_other_processes():
    error = ParameterError("{min_df} must be {wanted}", remedies=("lower {min_df}",), wanted="few")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert str(again) == str(error)
    assert again.message == error.message


def test_a_convergence_warning_is_one_of_scikit_learn_and_explains_itself():
    warning = ConvergenceWarning("Stopped after {n}", remedies=("raise {max_iter}",), n=3)
    assert isinstance(warning, SklearnConvergenceWarning)
    assert str(warning) == "Stopped after 3: raise max_iter."
    assert warning.message.render(OPTIONS.get) == "Stopped after 3."


def test_a_command_is_never_told_of_options_that_it_does_not_have():
    """Two rows twice each cannot make three clusters; neither beta nor init is an option."""
    twins = np.repeat(np.eye(3)[:2], 2, axis=0)
    with pytest.raises(NoFitError) as caught:
        sm.VMFMixture(3, init="random", n_init=2, random_state=0).fit(twins)
    assert "lower n_components." in str(caught.value)
    assert caught.value.message.render(OPTIONS.get).endswith("lower --k.")
    with warnings.catch_warnings(record=True, action="always") as noted:
        sm.VMFMixture(2, init="random", n_init=2, random_state=0).fit(twins)
    said = [one.message for one in noted]
    assert all(isinstance(one, Explained) for one in said)
    (cap,) = [one for one in said if isinstance(one, ConvergenceWarning)]
    assert "raise kappa_max" in str(cap)
    shown = cap.message.render({"kappa": "--kappa"}.get)
    assert shown.endswith("maximum: drop identical rows or give --kappa a number.")
