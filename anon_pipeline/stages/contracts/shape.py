"""What a table must look like, as rules of our own, and the plain judge of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import pandas as pd

from anon_pipeline.base.packed_tables import PackedTable, Table, different_cells

TABLE = "DataFrameSchema"
"""Stands for the table where a rule is not about one column."""


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One demand on the values of a column, answered once for the column, so that no row is reported.

    name: the rule in words.
    holds: whether a column keeps the rule.
    bad: columns that break the rule; whoever judges must refuse each of them.
    counts: whether it matters how often a value occurs. Else a column keeps the rule if its different values
        do, and of a packed column they alone are looked at.
    """

    name: str
    holds: Callable[[pd.Series], bool] = field(repr=False)
    bad: tuple[pd.Series, ...] = field(repr=False)
    counts: bool = False

    def __post_init__(self) -> None:
        """Refuse a rule without an example that it refuses: it could not be checked that it is judged."""
        if not self.bad:
            raise ValueError(f"a rule must name a column that breaks it, got none: {self.name}")


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """What one column must be.

    dtype: name of its type; None for any.
    rules: on its values.
    nullable: whether values may be missing.
    """

    dtype: str | None
    rules: tuple[Rule, ...]
    nullable: bool


@dataclass(frozen=True, slots=True, eq=False)
class Contract:
    """The columns that a table must have, and no other."""

    columns: Mapping[str, Shape]


def broken_rules(frame: Table, contract: Contract) -> set[str]:
    """Judge a table, with nothing but comparisons of our own: no library can switch them off.

    Args:
        frame: (n, columns).
    Returns:
        One line per broken rule, in the words that Pandera has for them; empty if the contract is kept.
    """
    got = list(frame.columns)
    lines = set()
    if len(set(got)) < len(got):
        lines.add(f"{TABLE}: dataframe_column_labels_unique")
    if any(name not in contract.columns for name in got):
        lines.add(f"{TABLE}: column_in_schema")
    if any(name not in got for name in contract.columns):
        lines.add(f"{TABLE}: column_in_dataframe")
    for name, shape in contract.columns.items():
        for column in _columns_named(frame, name, shape):
            lines |= {f"{name}: {line}" for line in _broken_rules(column, shape)}
    return lines


def judged_column(table: PackedTable, name: str, shape: Shape) -> pd.Series:
    """Return what a column is judged by: its different values, or all if it matters how often they occur."""
    whole = any(rule.counts for rule in shape.rules)
    return table[name] if whole else different_cells(table, name)


def _columns_named(frame: Table, name: str, shape: Shape) -> Iterator[pd.Series]:
    """Yield the columns of a name: a table that is not packed may have several."""
    if isinstance(frame, PackedTable):
        yield from (judged_column(frame, one, shape) for one in frame.columns if one == name)
        return
    for place in [place for place, other in enumerate(frame.columns) if other == name]:
        yield frame.iloc[:, place]


def _broken_rules(column: pd.Series, shape: Shape) -> Iterable[str]:
    """Yield what a column breaks."""
    if shape.dtype is not None and str(column.dtype) != shape.dtype:
        yield "dtype"
    if not shape.nullable and bool(column.isna().any()):
        yield "not_nullable"
    for rule in shape.rules:
        if not _keeps(rule, column):
            yield rule.name


def _keeps(rule: Rule, column: pd.Series) -> bool:
    """Tell whether a column keeps a rule; one that cannot be judged does not."""
    try:
        return rule.holds(column) is True
    except Exception:  # noqa: BLE001 - fail closed: a rule that raises is broken
        return False
