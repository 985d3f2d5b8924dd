"""The options of ``spheremix explore``, made of the description that the library has of them."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spheremix.cli.naming import option_name
from spheremix.errors import Message
from spheremix.run.options import RUNNING, ExploreOptions

if TYPE_CHECKING:
    from collections.abc import Callable

# Values that the library parses itself, and files.
TYPES: dict[str, Any] = dict.fromkeys(("k", "kappa", "min_df", "max_df", "max_noise"), str) | {
    **dict.fromkeys(("vocabulary", "texts", "metadata", "names", "seeds", "stop_words"), Path),
    "label": list[str],
}
SHORT = {"k": ("--k", "-k")}
# What --help shows; --help-all shows all.
FIRST = {
    "files",
    "output",
    "text",
    "date",
    "label",
    "texts",
    "meaning",
    "split",
    "language",
    "drop",
    "k",
}
FIRST |= {"noise", "force", "open_page", "help", "help_all"}
ALL = "spheremix.help_all"  # in the context of a command whose whole help is asked for
OPTIONS = {one.name: one for one in dataclasses.fields(ExploreOptions)}


def _help(name: str) -> str:
    """Return the help of an option, with how its value is found where it is not given."""
    about = OPTIONS[name].metadata  # values as typer shows them; its own text has brackets
    found = f"  \n[default: {about['found']}]" if about["found"] else ""
    return f"{Message(about['meaning']).render(option_name)}{found}"


Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="CSV, TSV, JSON lines, Parquet or Excel (.xlsx), one or several alike; or a folder of "
        "text files; or a ready matrix: .npz or .mtx with a vocabulary, .npy embeddings.",
    ),
]
Run = Annotated[Path, typer.Argument(help="Folder of a run of explore.", show_default=False)]
New = Annotated[
    Path, typer.Argument(help="New documents, in a file as explore reads.", show_default=False)
]
Text = Annotated[str | None, typer.Option(help="Column of the texts.")]
Id = Annotated[str | None, typer.Option(help="Column of the ids, or none.")]
Vocabulary = Annotated[
    Path | None, typer.Option(help="Words of the columns of a new matrix, one in each line.")
]
Meaning = Annotated[
    Path | None,
    typer.Option(help="Embeddings of the new documents (.npy), if those of RUN came with them."),
]
Output = Annotated[Path, typer.Option("--output", "-o", help="Folder of the run.")]
Threads = Annotated[int | None, typer.Option(help=_help("threads"))]
Force = Annotated[
    bool,
    typer.Option("--force", help="Replace another run in the folder.", rich_help_panel=RUNNING),
]
Open = Annotated[
    bool, typer.Option("--open", help="Show the report in the browser.", rich_help_panel=RUNNING)
]


def _help_all(ctx: typer.Context, asked: bool) -> None:
    if asked:
        ctx.meta[ALL] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


HelpAll = Annotated[
    bool,
    typer.Option(
        "--help-all", help="Show all options and exit.", is_eager=True, callback=_help_all
    ),
]


def with_explore_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that ends in ``**options`` every option of an exploration by its name."""
    found = inspect.signature(command, eval_str=True)
    own = [one for one in found.parameters.values() if one.kind is not one.VAR_KEYWORD]
    made = [_parameter(one) for one in OPTIONS.values()]
    parameters = [*own[:2], *made, *own[2:]]  # first the file and the folder, running last
    typed: Any = command  # typer reads both of these
    typed.__signature__ = found.replace(parameters=parameters)
    typed.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def _parameter(one: dataclasses.Field[Any]) -> inspect.Parameter:
    """Describe an option to typer."""
    name = one.name.replace("_", "-")
    negated = one.default is True  # the option turns it off
    kind = TYPES.get(one.name) or _simple(one.default, one.type)
    shown = typer.Option(
        *SHORT.get(one.name, (f"--no-{name}" if negated else f"--{name}",)),
        help=_help(one.name),
        rich_help_panel=one.metadata["panel"],
        show_default=kind is not bool,
        metavar="<str>" if kind == list[str] else None,  # each time that it is given
        callback=_not if negated else None,
    )
    optional: Any = kind | None if one.default is None else kind
    annotation = Annotated[optional, shown]
    either = inspect.Parameter.POSITIONAL_OR_KEYWORD
    default = False if negated else one.default
    return inspect.Parameter(one.name, either, default=default, annotation=annotation)


def _not(value: bool) -> bool:
    return not value


def _simple(default: Any, declared: Any) -> type:
    """Return the one type of an option, by its default or by what is declared beside None."""
    if default is not None:
        return type(default)
    return {"int": int, "float": float}.get(str(declared).partition(" ")[0], str)
