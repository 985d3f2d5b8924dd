"""``as_directions``, the only way to open rows: the type of X selects the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from spheremix.data.block_sources import is_mapped, is_path, is_source, open_source
from spheremix.data.blocks import BlockDirections
from spheremix.data.containers import as_table, is_views
from spheremix.data.engines import engine_class, resolve_threads, torch_engine
from spheremix.data.rows import open_rows
from spheremix.data.views import make_views, open_views

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from spheremix.data.base import Directions, Engine, Precision

    Test: TypeAlias = Callable[[Any, "Options"], bool]
    Open: TypeAlias = Callable[[Any, "Options"], Directions]


class Options(NamedTuple):
    """The options of ``as_directions``."""

    engine: Engine
    n_threads: int | None
    block_rows: int | None
    column: str | None
    precision: Precision


def as_directions(
    X: Any,
    *,
    engine: Engine = "auto",
    n_threads: int | None = None,
    block_rows: int | None = None,
    column: str | None = None,
    precision: Precision = "highest",
) -> Directions:
    """Open data as unit rows, in memory or on disk.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), path, iterable of blocks, dict, or Directions
        Arrays and CSR matrices of float32 or float64 are read in place, whatever their strides.
        Other containers are converted once: data frames, a column of lists of pandas, polars or
        pyarrow, whatever speaks DLPack or the array protocol, arrays of pydata/sparse; float16 and
        bfloat16 become float32, but dense torch tensors are read as they are. What is Directions
        already is given back.

        A path is that of a ``.npy`` array, of a ``.parquet`` file (or a folder of them, a list of
        paths, or a pattern such as ``"part-*.parquet"``) with a column of lists, or of a folder
        with the arrays of a CSR matrix: ``data.npy``, ``indices.npy``, ``indptr.npy`` and
        ``shape.npy``. An iterable yields tables of rows, the same ones each time it is iterated
        over. Neither is loaded: a few blocks are in memory at a time, and the next ones are read
        while one is worked on. So are arrays mapped from files that are larger than a block.

        A dictionary has several views of the same rows: ``{"words": T, "meaning": E}``, tables in
        memory, sparse or dense each, or paths of ``.npy`` arrays, which are mapped; a data frame of
        several columns of lists is one too. A row then has one direction for each view. It may have
        zeros only in some of them, and has nothing there; in all of them it is refused.
    engine : {"auto", "reference", "compiled", "torch"}
        "auto" is torch for its tensors, which are read on the device where they are; for the rest
        the compiled engine where it is built, the reference engine elsewhere. "torch" moves arrays
        and CSR matrices to the CUDA device where there is one.
    n_threads : int or None
        None decides from the surroundings, see :func:`spheremix.data.engines.resolve_threads`.
    block_rows : int or None
        Rows of a block, rounded up to a multiple of 512; an array or matrix given together with it
        is read in blocks too. None takes blocks of about 64 MB. The results do not depend on it.
    column : str or None
        The column of a Parquet file, where it has several with lists.
    precision : {"highest", "tf32", "bf16"}
        Of the products of dense float32 rows on a CUDA device: 24, 11 or 8 significant bits of
        their factors. Masses, likelihoods and entropies are summed in float64 in any case; the
        vectors of such rows in float32 within a few parts of the rows, and in float64 across them.

    Returns
    -------
    Directions
        The rows, each divided by its norm.

    Raises
    ------
    ValueError
        Where a row has no direction (NaN, infinities, zeros only), where the shape is wrong, or
        where the entries are no real numbers.

    Examples
    --------
    >>> import spheremix as sm
    >>> rows = sm.as_directions([[3.0, 4.0], [0.0, 2.0]])
    >>> rows.take([0])
    array([[0.6, 0.8]])

    Two views of the same rows; the second row has nothing in the first of them:

    >>> views = sm.as_directions({"words": [[3, 4], [0, 0]], "meaning": [[1, 0], [0, 2]]})
    >>> views.views.names
    ('words', 'meaning')
    """
    options = Options(engine, n_threads, block_rows, column, precision)
    X = as_table(X)
    if precision != "highest" and not _is_torch(X, options):
        raise ValueError(f"precision={precision!r} is for rows read by torch: use engine='torch'.")
    if column is not None and not is_path(X):
        raise ValueError(f"column={column!r} is for the path of Parquet, and X is none: leave it.")
    for recognises, opens in _OPENERS:
        if recognises(X, options):
            return opens(X, options)
    return _open_memory(X, options)


def is_table(X: Any) -> bool:
    """Return whether X is a table in memory: an array, a sparse matrix, a data frame, lists."""
    options = Options("auto", None, None, None, "highest")
    return not any(recognises(X, options) for recognises, _ in _OPENERS)


def _open_views(X: Mapping[str, Any], options: Options) -> Directions:
    if len(X) == 1:
        (table,) = X.values()
        return as_directions(table, **options._asdict())
    if options.block_rows is not None:
        raise ValueError("block_rows is for one table of rows: several views are read in memory.")
    if options.engine == "torch":
        raise ValueError("engine='torch' reads one table of rows, not several views: use 'auto'.")
    return make_views(*open_views(X), engine_class(options.engine), options.n_threads)


def _is_open(X: Any, _: Options) -> bool:
    return all(callable(getattr(X, verb, None)) for verb in ("sweep", "map_rows", "take"))


def _is_dask(X: Any, _: Options) -> bool:
    return type(X).__module__.partition(".")[0] == "dask"


def _open_dask(X: Any, options: Options) -> Directions:
    from spheremix.data.dask_blocks import DaskDirections  # noqa: PLC0415

    if options.block_rows is not None:
        raise ValueError("block_rows is for rows on disk: X has chunks, see X.rechunk.")
    if options.precision != "highest":
        raise ValueError(f"precision={options.precision!r} is not for a Dask array: leave it.")
    return DaskDirections(X, engine=options.engine, n_threads=options.n_threads)


def _is_torch(X: Any, options: Options) -> bool:
    tensor = type(X).__module__.partition(".")[0] == "torch"
    return options.engine == "torch" or (tensor and options.engine == "auto")


def _open_torch(X: Any, options: Options) -> Directions:
    torch_gpu = torch_engine()
    if options.block_rows is not None or is_source(X):
        raise ValueError(
            "engine='torch' has all rows on its device, and X is to be read in blocks: load it as "
            "an array first, or use engine='auto'."
        )
    n_threads = resolve_threads(options.n_threads)
    return cast("Directions", torch_gpu.open_torch(X, options.precision, n_threads))


def _is_blocks(X: Any, options: Options) -> bool:
    return options.block_rows is not None or is_source(X) or is_mapped(X)


def _open_blocks(X: Any, options: Options) -> Directions:
    make, n_threads = engine_class(options.engine), resolve_threads(options.n_threads)
    source = open_source(X, options.block_rows, options.column)
    return BlockDirections(source, make, n_threads=n_threads)


def _open_memory(X: Any, options: Options) -> Directions:
    make, n_threads = engine_class(options.engine), resolve_threads(options.n_threads)
    return cast("Directions", make(*open_rows(X), n_threads=n_threads))


# The first function that recognises X selects how it is opened; if none does, X is a table in
# memory. Types are recognised without importing their library, which is done when X is opened.
_OPENERS: tuple[tuple[Test, Open], ...] = (
    (lambda X, _: is_views(X), _open_views),
    (_is_dask, _open_dask),
    (_is_open, lambda X, _: cast("Directions", X)),
    (_is_torch, _open_torch),
    (_is_blocks, _open_blocks),
)
