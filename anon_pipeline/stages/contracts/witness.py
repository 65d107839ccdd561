"""Proof that a contract is being judged: a second opinion by Pandera, and tables that must be refused."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from anon_pipeline.base.packed_tables import PackedTable, Table
from anon_pipeline.base.rows import some_rows
from anon_pipeline.stages.contracts.shape import TABLE, Contract, Rule, Shape, broken_rules, judged_column

if TYPE_CHECKING:
    import pandera.pandas as pa


NOT_RUNNING = "the contract's checks are not running"
"""What a gate says that has let a table through which it must refuse."""

_STRANGER = "a column that no policy names\x00"
_NOTHING = pd.Series([None], dtype=object)
_ONE_AT_A_TIME = threading.RLock()
"""Of Pandera: two threads that import it at once may deadlock, and its configuration is the process's."""


def broken_by_pandera(frame: Table, contract: Contract) -> set[str]:
    """Judge a table by Pandera, with all of its checks on whatever the environment or the process says.

    Pandera's own report quotes cells and whole rows; nothing of it but names is kept. Of a packed table it is
    given one column after the other.

    Returns:
        One line per broken rule; empty if the contract is kept.
    """
    if isinstance(frame, PackedTable):
        return _broken_columns(frame, contract)
    with _ONE_AT_A_TIME:
        from pandera.config import ValidationDepth, config_context  # noqa: PLC0415 - slow to import
        from pandera.errors import SchemaErrors  # noqa: PLC0415

        everything = config_context(
            validation_enabled=True,
            validation_depth=ValidationDepth.SCHEMA_AND_DATA,
            cache_dataframe=False,
            keep_cached_dataframe=False,
        )
        try:
            with everything:
                _schema_of(contract).validate(frame, lazy=True)
        except SchemaErrors as errors:
            cases = errors.failure_cases
            return {_line(row.schema_context, row.column, row.check, contract) for row in cases.itertuples()}
    return set()


def _broken_columns(table: PackedTable, contract: Contract) -> set[str]:
    """Judge the columns of a packed table one by one; which columns there must be, by its first record."""
    whole = Contract({name: Shape(None, (), nullable=True) for name in contract.columns})
    found = broken_by_pandera(some_rows(table, np.arange(min(len(table), 1))), whole)
    for name, shape in contract.columns.items():
        if name in table:
            column = judged_column(table, name, shape).to_frame(name)
            found |= broken_by_pandera(column, Contract({name: shape}))
    return found


def _line(context: object, column: object, check: object, contract: Contract) -> str:
    """Name a broken rule. A column that the contract does not know is named by its rule alone."""
    rule = (
        str(check).split("(")[0]
        if str(check).startswith(("dtype", "column_in", "not_nullable"))
        else str(check)
    )
    where = str(column) if str(column) in contract.columns else str(context)
    return f"{where}: {rule}"


def pandera_schema(contract: Contract) -> pa.DataFrameSchema:
    """Write a contract as a schema of Pandera; `broken_contract` judges by it, and others may.

    Errors of Pandera quote the values that fail: do not let them get into a log.
    """
    with _ONE_AT_A_TIME:
        import pandera.pandas as pa  # noqa: PLC0415 - slow to import

    def check(rule: Rule) -> pa.Check:
        """Return Pandera's form of a rule."""
        return pa.Check(rule.holds, name=rule.name, error=rule.name, ignore_na=False, raise_warning=False)

    def column(shape: Shape) -> pa.Column:
        """Return Pandera's form of a column."""
        return pa.Column(shape.dtype, checks=[check(rule) for rule in shape.rules], nullable=shape.nullable)

    columns = {name: column(shape) for name, shape in contract.columns.items()}
    return pa.DataFrameSchema(columns, strict=True, unique_column_names=True)


_schema_of = lru_cache(maxsize=1)(pandera_schema)
"""The schema of the contract that is being judged, which every table of its proof is judged by."""


def list_missed_breaks(contract: Contract) -> list[str]:
    """Let both judges judge tables that break the contract in each way there is, and say what they miss.

    A column is missing, one is too many, one is there twice, has another type, has no values, has a value
    that its rules must refuse. Our own checks must find that in every column; Pandera, which takes
    milliseconds for each, in one column for each kind of rule. Columns with the same rule share the values
    that it must refuse: each column has one at least, and each value is in one column at least.

    Returns:
        One line per judge that let something through; empty if the contract is being judged.
    """
    own = _missed_lines(broken_rules, contract, _all_breaks(contract))
    other = _missed_lines(broken_by_pandera, contract, breaks_of_each_kind(contract))
    return [
        f"{NOT_RUNNING}: {judge} let through {', '.join(missed)}"
        for judge, missed in (("our own", own), ("Pandera's", other))
        if missed
    ]


def _missed_lines(
    broken: Callable[[Table, Contract], set[str]],
    contract: Contract,
    probes: Iterable[tuple[pd.DataFrame, set[str]]],
) -> list[str]:
    """Return the lines that a judge should have found and has not."""
    return sorted({line for table, expected in probes for line in expected - broken(table, contract)})


def _all_breaks(contract: Contract) -> Iterator[tuple[pd.DataFrame, set[str]]]:
    """Yield tables that break every column in each way, each with the lines that a judge must find."""
    yield from _wrong_columns(contract)
    empty = dict.fromkeys(contract.columns, _NOTHING)
    yield _table(empty), {f"{name}: {kind}" for name in empty for kind in _broken_by_nothing(contract, name)}
    yield from _with_bad_values(contract.columns)


def breaks_of_each_kind(contract: Contract) -> Iterator[tuple[pd.DataFrame, set[str]]]:
    """Yield tables that break each kind of rule in one column, each with the lines that a judge must find.

    Kinds that the fewest columns have choose their column first, so that few tables are needed.
    """
    yield from _wrong_columns(contract)
    left: dict[str, dict[str, pd.Series]] = {}
    for name, shape in contract.columns.items():
        for kind in _broken_by_nothing(contract, name):
            left.setdefault(kind, {})[name] = _NOTHING
        for rule in shape.rules:
            left.setdefault(rule.name, {})[name] = rule.bad[0]
    while left:
        now: dict[str, pd.Series] = {}
        expected: set[str] = set()
        for kind, columns in sorted(left.items(), key=lambda item: len(item[1])):
            free = [name for name in columns if name not in now]
            if free:
                now[free[0]] = left.pop(kind)[free[0]]
                expected.add(f"{free[0]}: {kind}")
        yield _table(now), expected


def _wrong_columns(contract: Contract) -> Iterator[tuple[pd.DataFrame, set[str]]]:
    """Yield a table that has a column twice, and one that has a stranger and no column of the contract."""
    twice = next(iter(contract.columns), _STRANGER)
    yield pd.DataFrame([[0, 0]], columns=[twice, twice]), {f"{TABLE}: dataframe_column_labels_unique"}
    lacking = {f"{TABLE}: column_in_dataframe"} if contract.columns else set()
    yield pd.DataFrame({_STRANGER: [0]}), {f"{TABLE}: column_in_schema"} | lacking


def _broken_by_nothing(contract: Contract, name: str) -> Iterator[str]:
    """Yield the rules of a column that a missing value of no type breaks."""
    shape = contract.columns[name]
    if shape.dtype is not None:
        yield "dtype"
    if not shape.nullable:
        yield "not_nullable"


def _with_bad_values(shapes: Mapping[str, Shape]) -> Iterator[tuple[pd.DataFrame, set[str]]]:
    """Yield tables of the values that rules must refuse, one for each column that has any left."""
    bad = {name: [*_shares(shape.rules, shapes, name)] for name, shape in shapes.items()}
    for turn in range(max(map(len, bad.values()), default=0)):
        now = {name: cases[turn] for name, cases in bad.items() if turn < len(cases)}
        yield (
            _table({name: column for name, (_, column) in now.items()}),
            {f"{name}: {rule.name}" for name, (rule, _) in now.items()},
        )


def _table(columns: Mapping[str, pd.Series]) -> pd.DataFrame:
    """Put columns of different lengths side by side; the shorter ones begin again."""
    rows = np.arange(max(map(len, columns.values()), default=0))
    return pd.DataFrame(
        {name: column.take(rows % len(column)).reset_index(drop=True) for name, column in columns.items()}
    )


def _shares(
    rules: Sequence[Rule], shapes: Mapping[str, Shape], name: str
) -> Iterator[tuple[Rule, pd.Series]]:
    """Yield what a column's rules must refuse: of rules that others have, too, its part of the values."""
    for rule in rules:
        asked = [other for other, shape in shapes.items() if any(_same(rule, one) for one in shape.rules)]
        values, place = rule.bad, asked.index(name)
        for value in values[place % len(values) :: len(asked)]:
            yield rule, value


def _same(one: Rule, other: Rule) -> bool:
    """Tell whether two rules are one function that must refuse as many values."""
    return one.name == other.name and one.holds == other.holds and len(one.bad) == len(other.bad)
