"""Random range-count queries: how wrong an analyst is who counts records in the release."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.utility.records import Numeric, Table

_LEAST = 0.001
"""An error is relative to the true count, or to this share of the records where that is more."""


class Query(NamedTuple):
    """How many records have a value from ``least`` to ``most`` in every one of some columns?

    ranges: by column: leaves of a generalized column, numbers of one with noise; both ends belong to it.
    """

    ranges: tuple[tuple[str, float, float], ...]


@dataclass(frozen=True, slots=True)
class QueryErrors:
    """Relative errors |released count − true count|/max(true count, 0.1 % of the records, 1).

    queries: asked.
    mean, median, ninth_decile: of the errors.
    """

    queries: int
    mean: float
    median: float
    ninth_decile: float


def draw_queries(table: Table, *, count: int = 1000, columns: int = 2, seed: int = 0) -> list[Query]:
    """Draw queries over quasi-identifiers: random columns, and in each a range between two random values.

    Args:
        table: whose values in the input the ends of ranges are taken from, each distinct one as likely.
        columns: in each query, or as many as there are.
        seed: the same draws the same queries; they are not secret.
    Returns:
        The queries; none if there is no quasi-identifier with a value.
    """
    ends = {name: np.unique(column.own).astype(np.float64) for name, column in table.generalized.items()}
    for name, column in table.perturbed.items():
        ends[name] = np.unique(column.own[~np.isnan(column.own)])
    names = [name for name, values in ends.items() if len(values)]
    rng = np.random.default_rng(seed)
    queries = []
    for _ in range(count if names else 0):
        chosen = sorted(rng.choice(len(names), min(columns, len(names)), replace=False).tolist())
        ranges = []
        for name in (names[i] for i in chosen):
            least, most = sorted(rng.integers(len(ends[name]), size=2).tolist())
            ranges.append((name, float(ends[name][least]), float(ends[name][most])))
        queries.append(Query(tuple(ranges)))
    return queries


def _within(column: Numeric, least: float, most: float, rows: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    values = column.own if rows is None else column.released[rows]
    within: NDArray[np.bool_] = (values >= least) & (values <= most)
    return within


def _product(
    query: Query,
    generalized: Callable[[str, int, int], NDArray[Any]],
    perturbed: Callable[[str, float, float], NDArray[Any]],
    table: Table,
) -> NDArray[np.float64]:
    """Multiply what each range says of each record."""
    parts = [
        generalized(name, int(least), int(most))
        if name in table.generalized
        else perturbed(name, least, most)
        for name, least, most in query.ranges
    ]
    product: NDArray[np.float64] = np.prod(np.stack(parts), axis=0, dtype=np.float64)
    return product


def released_codes(table: Table) -> dict[str, NDArray[np.int64]]:
    """Return the released value of each released record, by generalized column."""
    return {name: column.codes[table.kept] for name, column in table.generalized.items()}


def answers(table: Table, query: Query, codes: Mapping[str, NDArray[np.int64]]) -> tuple[int, float]:
    """Answer a query on the input and on the release.

    Args:
        codes: see `released_codes`; the same for all queries.
    Returns:
        The true count, and the released one: of each record the product over the columns of the share of
        what its cell says that lies in the range (`Generalized.shares`); a number with noise is in it or not.
    """

    def own(name: str, least: int, most: int) -> NDArray[np.bool_]:
        """Tell which original cells of a column lie in a range."""
        leaves = table.generalized[name].own
        within: NDArray[np.bool_] = (leaves >= least) & (leaves <= most)
        return within

    def share(name: str, least: int, most: int) -> NDArray[np.float64]:
        """Return the share of what each released cell of a column says that lies in a range."""
        return table.generalized[name].shares(least, most)[codes[name]]

    kept = table.kept
    true = _product(query, own, lambda name, a, b: _within(table.perturbed[name], a, b, None), table)
    found = _product(query, share, lambda name, a, b: _within(table.perturbed[name], a, b, kept), table)
    return int(true.sum()), float(found.sum())


def query_errors(table: Table, queries: list[Query]) -> QueryErrors | None:
    """Measure the relative error of the release over queries.

    Args:
        table: in order (`Table.in_order`), so that sums do not depend on the order of the rows.
    Returns:
        The errors; None without a query or a record.
    Source:
        [methods 9.3]; Xiao and Tao (2006) for the share of a cell, the bound of 0.1 % as is usual.
    """
    if not queries or not len(table.kept):
        return None
    bound = max(1.0, _LEAST * len(table.kept))
    codes = released_codes(table)
    pairs = [answers(table, query, codes) for query in queries]
    errors = [abs(found - true) / max(true, bound) for true, found in pairs]
    median, ninth = np.quantile(errors, [0.5, 0.9]).tolist()
    return QueryErrors(len(errors), math.fsum(errors) / len(errors), median, ninth)
