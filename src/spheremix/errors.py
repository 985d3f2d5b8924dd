"""Errors and warnings that name parameters, so that each front end can say them in its own words.

A message is a template. A name in braces is a value that was given with the message, or else a
parameter, alone (``{min_df}``) or with a value (``{min_df=3}``): the library shows it as it is, the
command as its option (``--min-df``, ``--min-df 3``), and ``{force=True}`` as ``--force``. Nobody
has to search a finished sentence for names.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from string import Formatter
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable

    Naming = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Message:
    """A sentence about parameters, and what can be done.

    Parameters
    ----------
    text : str
        What happened, with values and parameters in braces, without full stop.
    values : dict of str to str, default={}
        The values by name; other names in braces are parameters. What follows an equals sign is
        the value of a parameter: no braces, colons or exclamation marks in it, or the name of one
        of the values, which an option shows as a shell reads it.
    remedies : tuple of str, default=()
        What the reader can do, each as "raise {max_iter}". They follow the text, joined by "or".
    """

    text: str
    values: dict[str, str] = field(default_factory=dict)
    remedies: tuple[str, ...] = ()

    def parameters(self, template: str) -> set[str]:
        """Return the parameters that a template names."""
        named = {name for _, name, _, _ in Formatter().parse(template) if name}
        return {name.partition("=")[0] for name in named - set(self.values)}

    def render(self, naming: Naming = str) -> str:
        """Write the message, with parameters named as a front end names them.

        A remedy that needs a parameter without a name there (``naming`` returns None) is left out.
        A name with a dash in front is that of an option: a value follows it after a space. False
        and None are "none" there, since options are given as text; True is the option alone.
        """
        text = self._fill(self.text, naming)
        useful = [
            self._fill(remedy, naming)
            for remedy in self.remedies
            if all(naming(name) is not None for name in self.parameters(remedy))
        ]
        if useful:
            text = f"{text.removesuffix('.')}: {_either(useful)}"
        return text if text.endswith((".", "?")) else f"{text}."

    def _fill(self, template: str, naming: Naming) -> str:
        parts = []
        for literal, name, _, _ in Formatter().parse(template):
            parts.append(literal)
            if name:
                parts.append(
                    self.values[name] if name in self.values else self._named(name, naming)
                )
        return "".join(parts)

    def _named(self, parameter: str, naming: Naming) -> str:
        """Name a parameter, with its value where it has one."""
        name, equals, value = parameter.partition("=")
        shown = naming(name) or name
        if equals and shown.startswith("-"):
            if value in self.values:
                return f"{shown} {shlex.quote(self.values[value])}"
            if value == "True":
                return shown
            return f"{shown} {'none' if value in {'False', 'None'} else value}"
        return f"{shown}{equals}{self.values.get(value, value)}"


def _either(choices: list[str]) -> str:
    """Join choices as a sentence does: "a", "a or b", "a, b, or c"."""
    if len(choices) < 3:
        return " or ".join(choices)
    return f"{', '.join(choices[:-1])}, or {choices[-1]}"


class Explained(Exception):  # noqa: N818 (the base of errors and of warnings)
    """An error or a warning that carries its message.

    Parameters
    ----------
    text : str or Message
        The template, as for :class:`Message`.
    remedies : tuple of str, default=()
        As for :class:`Message`.
    **values : object
        The values of the template, shown by ``str``.
    """

    def __init__(
        self, text: str | Message, /, *, remedies: tuple[str, ...] = (), **values: Any
    ) -> None:
        if isinstance(text, Message):
            self.message = text
        else:
            self.message = Message(text, {k: str(v) for k, v in values.items()}, remedies)
        super().__init__(self.message.render())

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel between processes with the message, not only with its text."""
        return type(self), (self.message,)


class Said(str):
    """A sentence that carries its message: a text, and each front end can say it in its words."""

    __slots__ = ("message",)
    message: Message

    def __new__(cls, message: Message) -> Self:
        """Write the message as the library does."""
        said = super().__new__(cls, message.render())
        said.message = message
        return said

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Travel between processes with the message."""
        return (self.message,)


class ParameterError(Explained, ValueError):
    """A parameter has a value that it cannot have.

    Examples
    --------
    >>> import spheremix as sm
    >>> try:
    ...     sm.VMFMixture(0).fit([[1.0, 0.0], [0.0, 1.0]])
    ... except ValueError as error:
    ...     print(error)
    n_components must be an integer of at least 1, got 0.
    """


class NotedWarning(Explained, UserWarning):
    """Something about the data or the parameters that a user should know."""


class MissingPackageError(Explained, ImportError):
    """A package that is not installed is needed for what was asked."""
