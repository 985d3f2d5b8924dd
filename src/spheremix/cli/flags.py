"""The options of ``spheremix explore``, as its help shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

COLUMNS = "Columns of the file"
WORDS = "From texts to words"
MODEL = "Clusters and sparsity"
RUNNING = "Running"


def _option(panel: str, text: str, *names: str) -> Any:
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
Id = Annotated[str | None, _option(COLUMNS, "Column of the ids, or none.")]
Date = Annotated[str | None, _option(COLUMNS, "Column of the dates, or none.")]
Label = Annotated[
    str | None,
    _option(COLUMNS, "Column of the labels, or none. They are compared, never used."),
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

Language = Annotated[str | None, _option(WORDS, "Language, as en or en,fr (en).")]
Lemmatizer = Annotated[str | None, _option(WORDS, "simplemma or none (simplemma).")]
MinCount = Annotated[int | None, _option(WORDS, "Least occurrences of a word (by size).")]
MinDf = Annotated[
    str | None, _option(WORDS, "Least documents with a word, as 5, or their share, as 0.01 (2).")
]
MaxDf = Annotated[
    str | None, _option(WORDS, "Most documents with a word, as 500, or their share, as 0.5 (all).")
]
Weighting = Annotated[
    str | None, _option(WORDS, "counts, binary, tfidf or sublinear-tfidf (sublinear-tfidf).")
]

K = Annotated[
    str | None,
    _option(
        MODEL,
        "Number of clusters, as 5, or a range to choose from, as 2:20 (by size).",
        *("--k", "-k"),
    ),
]
Seed = Annotated[int, _option(MODEL, "The same seed gives the same bits.")]
Criterion = Annotated[
    str, _option(MODEL, "Chooses the sparsity: aic, bic, ric, ricc, ebic or icl.")
]
KCriterion = Annotated[str, _option(MODEL, "Chooses the number of clusters.")]
Kappa = Annotated[
    str, _option(MODEL, "Concentration: shared, free (one a cluster) or a number, as 100.")
]
Starts = Annotated[int, _option(MODEL, "Starts of each number of clusters.")]
MinRelativeIncrease = Annotated[
    float,
    _option(
        MODEL,
        "Of beta, between two steps of the path. The paper's for texts; VMFPath has 0.001, which "
        "takes several times as many steps.",
    ),
]
MaxSteps = Annotated[int, _option(MODEL, "Steps of the path, at most.")]

Threads = Annotated[int | None, _option(RUNNING, "Threads (all cores).")]
Checkpoint = Annotated[float, _option(RUNNING, "Seconds of work that a kill may cost on a path.")]
Force = Annotated[bool, _option(RUNNING, "Replace another run in the folder.", "--force")]
Open = Annotated[bool, _option(RUNNING, "Show the report in the browser.", "--open")]
