"""The user's own SQL queries, asked of the input and of the release.

Each query is asked of the input, and of some tables that the release may stand for. Its rows are matched by
the columns that are no numbers, and their numbers are compared. What comes out is computed from the
originals, and for the curator alone.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anon_pipeline.base.errors import InputError, error_words, raise_alone, withhold_text
from anon_pipeline.base.size_bounds import read_small
from anon_pipeline.catalog.extras import import_extra
from anon_pipeline.sources.duckdb_files import CLOSED

TABLE = "records"
"""Name of the table that queries are asked of."""

_BYTES, _QUERIES, _ROWS = 2**20, 1_000, 100_000
_SECONDS = 60.0  # for one query on one table


@dataclass(frozen=True, slots=True)
class QueryLoss:
    """What one query of the user loses.

    name: its number in the file, from 1.
    rows: of the result on the input.
    missing: share of these that the release does not give.
    invented: rows that only the release gives.
    mean, median, worst: of the errors of all numbers of the rows of either; an error is |f − t| over
        the larger of |f| and |t|, at most 1, and 1 for a number that is missing on one side.

    All but ``rows`` are means over the tables that the release may stand for.
    """

    name: str
    rows: int
    missing: float
    invented: float
    mean: float
    median: float
    worst: float


@dataclass(frozen=True, slots=True)
class Workload:
    """Queries of a file, in its order."""

    queries: Sequence[str] = field(repr=False)


def read_workload(path: Path) -> Workload:
    """Read a file of SQL queries, each ended by a semicolon.

    Raises:
        InputError: no readable file of SELECT statements, or too many of them.
    """
    library = import_extra("duckdb")
    try:
        data = read_small(path, _BYTES)
        text = None if data is None else data.decode("utf-8")
    except (OSError, ValueError) as error:
        raise_alone(InputError(f"{path.name}: must be a readable UTF-8 file: {error_words(error)}"))
    if text is None:
        raise InputError(f"{path.name}: must have at most {_BYTES:,} bytes, got more")
    try:
        found = library.connect(config=CLOSED).extract_statements(text)
    except library.Error as error:
        raise_alone(InputError(f"{path.name}: must be SQL queries: {_first_line(error)}"))
    other = [at for at, one in enumerate(found, 1) if one.type != library.StatementType.SELECT]
    if other or not 0 < len(found) <= _QUERIES:
        which = f"got others: {', '.join(map(str, other[:5]))}" if other else f"got {len(found)}"
        raise InputError(f"{path.name}: must be 1 to {_QUERIES:,} SELECT statements, {which}")
    return Workload([_without_end(library, one.query) for one in found])


def _without_end(library: Any, query: str) -> str:
    """Return a statement without the semicolon that ends it, and the comments behind."""
    ends = [place for place, _ in library.tokenize(query) if query[place] == ";"]
    return query[: ends[-1]] if ends else query


def measure_workload(
    workload: Workload, before: pd.DataFrame, answering: Iterable[pd.DataFrame]
) -> list[QueryLoss]:
    """Ask all queries of the input, and of tables that the release may stand for.

    Args:
        before: (n, columns) the input.
        answering: tables of (r, columns), at least one.
    Raises:
        InputError: a query fails, gives too many rows, or rows that cannot be matched; by its number.
    """
    true = ask_all(workload, before)
    losses: list[list[tuple[float, ...]]] = [[] for _ in workload.queries]
    for table in answering:
        found = ask_all(workload, table)
        for at, (own, other) in enumerate(zip(true, found, strict=True)):
            losses[at].append(_compare(own, other))
    return [
        QueryLoss(str(at), len(own), *np.mean(each, axis=0).tolist())
        for at, (own, each) in enumerate(zip(true, losses, strict=True), 1)
    ]


def ask_all(workload: Workload, frame: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the rows of each query, by the columns that are no numbers.

    Raises:
        InputError: see `measure_workload`.
    """
    library = import_extra("duckdb")
    with library.connect(config=CLOSED) as connection:
        connection.register(TABLE, frame)
        return [_ask(library, connection, at, query) for at, query in enumerate(workload.queries, 1)]


def _ask(library: Any, connection: Any, at: int, query: str) -> pd.DataFrame:
    """Ask one query; of errors only those are quoted that came before any record was read."""
    own = (library.ParserException, library.BinderException, library.CatalogException)
    problem = None
    with withhold_text(f"query {at}: must succeed on input and release", library.Error, ValueError):
        try:
            planned = connection.sql(f"{query}\n")  # reads no record; a comment may end the query
        except own as error:
            problem = _first_line(error)
        else:
            with _stop_late(library, connection, at):
                found = planned.limit(_ROWS + 1).df()
    if problem is not None:
        raise InputError(f"query {at}: {problem}. The table is {TABLE}")
    if len(found) > _ROWS:
        raise InputError(f"query {at}: must give at most {_ROWS:,} rows, got more")
    numbers = [name for name, kind in found.dtypes.items() if _is_number(kind)]
    keys = [name for name in found.columns if name not in numbers]
    if not numbers or found.columns.has_duplicates:
        raise InputError(f"query {at}: must give at least one number, and columns of different names")
    texts = found[keys].astype("str")
    rows = found.set_index(pd.MultiIndex.from_frame(texts) if keys else pd.Index(np.zeros(len(found))))
    if rows.index.has_duplicates:
        raise InputError(
            f"query {at}: must give rows that differ in the columns that are no numbers. To group by a "
            "number, cast it to a text"
        )
    answer: pd.DataFrame = rows[numbers].astype(np.float64)
    return answer


@contextmanager
def _stop_late(library: Any, connection: Any, at: int) -> Iterator[None]:
    """Interrupt a query that takes too long: one without a condition on two tables may take days.

    Raises:
        InputError: it took longer.
    """
    late = threading.Event()

    def stop() -> None:
        """Note that it was late, before the query hears of it."""
        late.set()
        connection.interrupt()

    timer = threading.Timer(_SECONDS, stop)
    timer.start()
    try:
        yield
    except library.Error:
        if not late.is_set():
            raise
    else:
        return
    finally:
        timer.cancel()
    raise InputError(f"query {at}: must take at most {_SECONDS:g} s")


def _is_number(kind: Any) -> bool:
    return bool(pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind))


def _compare(true: pd.DataFrame, found: pd.DataFrame) -> tuple[float, ...]:
    """Return missing, invented, and mean, median and worst error of two results."""
    names = list(dict.fromkeys((*true.columns, *found.columns)))
    rows = true.index.union(found.index)
    one, other = (each.reindex(index=rows, columns=names).to_numpy() for each in (true, found))
    missing = 1 - float(true.index.isin(found.index).mean()) if len(true) else 0.0
    invented = float((~found.index.isin(true.index)).sum())
    largest = np.maximum(np.abs(one), np.abs(other))
    finite = np.isfinite(largest) & (largest > 0)
    apart = np.abs(np.where(finite, one, 0.0) - np.where(finite, other, 0.0))
    errors = np.divide(apart, largest, out=np.zeros_like(largest), where=finite).clip(0, 1)
    errors[np.isinf(largest) & (one != other)] = 1.0
    errors[np.isnan(one) != np.isnan(other)] = 1.0
    errors[~(rows.isin(true.index) & rows.isin(found.index))] = 1.0  # whatever its numbers are
    if not errors.size:
        return (missing, invented, 0.0, 0.0, 0.0)
    return (missing, invented, float(errors.mean()), float(np.median(errors)), float(errors.max()))


def _first_line(error: Exception) -> str:
    """Return what DuckDB says, without the query below it."""
    return str(error).split("\n", 1)[0].rstrip(".")
