"""The options of ``spheremix explore``, as its help shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

COLUMNS = "Columns of the file"
WORDS = "From texts to words"
MODEL = "Clusters and sparsity"
RUNNING = "Running"


def _option(panel: str, text: str, *names: str, default: str = "") -> Any:
    """Describe an option; ``default`` is what to say of one that is found out later."""
    if default:  # as typer shows values; its own text for others has brackets around it
        text = f"{text}  \n[default: {default}]"
    return typer.Option(*names, help=text, rich_help_panel=panel)


File = Annotated[
    Path,
    typer.Argument(
        help="CSV, TSV, JSON lines or Parquet file, or a folder of text files; or a ready "
        "matrix: .npz or .mtx with a vocabulary, .npy embeddings.",
        show_default=False,
    ),
]
Output = Annotated[Path, typer.Option("--output", "-o", help="Folder of the run.")]

Text = Annotated[str | None, _option(COLUMNS, "Column of the texts; guessed where obvious.")]
Id = Annotated[
    str | None, _option(COLUMNS, "Column of the ids, guessed where obvious; `none` leaves it out.")
]
Date = Annotated[
    str | None,
    _option(COLUMNS, "Column of the dates, guessed where obvious; `none` leaves it out."),
]
Label = Annotated[
    str | None,
    _option(
        COLUMNS,
        "Column of the labels, guessed where obvious; `none` leaves it out. They are compared, "
        "never used.",
    ),
]
Vocabulary = Annotated[
    Path | None, _option(COLUMNS, "Words of the columns of a matrix, one a line.")
]
Texts = Annotated[
    Path | None,
    _option(
        COLUMNS,
        "Documents beside a matrix, one a row: words, ids, dates and labels for its rows.",
    ),
]

Language = Annotated[str | None, _option(WORDS, "Language, as en or en,fr.", default="en")]
Lemmatizer = Annotated[str | None, _option(WORDS, "simplemma or none.", default="simplemma")]
MinCount = Annotated[
    int | None,
    _option(
        WORDS,
        "Least occurrences of a word.",
        default="a 300th of the number of documents, rounded up, 100 at most",
    ),
]
MinDf = Annotated[
    str | None,
    _option(WORDS, "Least documents with a word, as 5, or their share, as 0.01.", default="2"),
]
MaxDf = Annotated[
    str | None,
    _option(WORDS, "Most documents with a word, as 500, or their share, as 0.5.", default="all"),
]
Weighting = Annotated[
    str | None,
    _option(WORDS, "counts, binary, tfidf or sublinear-tfidf.", default="sublinear-tfidf"),
]

K = Annotated[
    str | None,
    _option(
        MODEL,
        "Number of clusters, as 5, or several to choose from, as 2:20 or 2,4,8.",
        *("--k", "-k"),
        default="2 to n^0.4, 20 at most, for n documents",
    ),
]
Seed = Annotated[int, _option(MODEL, "The same seed gives the same bits.")]
Criterion = Annotated[
    str | None,
    _option(
        MODEL,
        "Chooses the sparsity: aic, bic, ric, ricc, ebic or icl; none keeps the dense mixture.",
        default="bic; none for embeddings",
    ),
]
KCriterion = Annotated[str, _option(MODEL, "Chooses the number of clusters: one of the same six.")]
Kappa = Annotated[
    str,
    _option(
        MODEL,
        "How near documents are to the middle of their cluster: one number found for all clusters "
        "(shared) or for each (free), or a given one, as 100; the larger, the nearer.",
    ),
]
Starts = Annotated[int, _option(MODEL, "Starts of each number of clusters.")]
MinRelativeIncrease = Annotated[
    float,
    _option(
        MODEL,
        "By which share the penalty grows, at least, from one step of the path to the next. Less "
        "of it tells words apart that leave together, and takes longer.",
    ),
]
MaxSteps = Annotated[int, _option(MODEL, "Steps of the path, at most.")]

Threads = Annotated[int | None, _option(RUNNING, "Threads.", default="all cores")]
Checkpoint = Annotated[float, _option(RUNNING, "Seconds of work that a kill may cost on a path.")]
Force = Annotated[bool, _option(RUNNING, "Replace another run in the folder.", "--force")]
Open = Annotated[bool, _option(RUNNING, "Show the report in the browser.", "--open")]
