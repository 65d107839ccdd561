"""Cells of the source as codes of a declared domain, and back.

The code of a record is a function of this record alone, and there is one for whatever its cells hold: no
error depends on a value. So tables that differ in one record have codes that differ in one record.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import Table, unpack_table
from anon_pipeline.perturb.grid import quantize, to_grid
from anon_pipeline.policy.declared_columns import DeclaredColumn
from anon_pipeline.policy.declared_release import DeclaredRelease

Integers = NDArray[np.int64]

NEARLY_ALL = 0.95
"""Share of the cells of a column."""
_NUMBER = re.compile(r"[ \t]*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?[ \t]*", re.ASCII)
"""Texts that are numbers; ``float`` would also take 1_000, infinity and digits of other scripts."""


def domain_codes(policy: DeclaredRelease, frame: Table) -> Integers:
    """Return the codes of a table, (n, columns), in the order of the policy.

    Raises:
        InputError: a column is not there, or the table has another number of records than the policy says.
    """
    lacking = [name for name in policy.columns if name not in frame.columns]
    if lacking:
        raise InputError(f"the source must have the columns of the policy, not there: {', '.join(lacking)}")
    if not len(frame):
        raise InputError("the source must have at least one record, got none")
    if policy.records not in (None, len(frame)):
        raise InputError(
            f"records: the source must have as many records as the policy says, {policy.records:,}, got "
            f"{len(frame):,}"
        )
    table = unpack_table(frame[list(policy.columns)])
    coded = [codes_of(column, table[name]) for name, column in policy.columns.items()]
    return np.stack(coded, axis=1)


def people_of(policy: DeclaredRelease, frame: Table) -> Integers | None:
    """Return the number of each record's person, (n,); None: the policy does not say who the people are.

    A record without a value is a person's own.

    Raises:
        InputError: the column is not there.
    """
    name = policy.person_column
    if name is None:
        return None
    if name not in frame.columns:
        raise InputError(f"person: the source must have the column that identifies people, not there: {name}")
    people = _distinct(unpack_table(frame[[name]])[name])[0]
    missing = people < 0
    alone = np.arange(len(people)) + int(people.max(initial=0)) + 1
    return np.unique(np.where(missing, alone, people), return_inverse=True)[1].astype(np.int64)


def unread_shares(policy: DeclaredRelease, frame: Table) -> dict[str, float]:
    """Return the share of each column's cells that are not empty, and no number or declared value; above 0.

    They count as ``otherwise``: of a column that is written otherwise than the policy says, all of them. This
    depends on the data, so it is for the curator.
    """
    table, found = unpack_table(frame[list(policy.columns)]), dict[str, float]()
    for name, column in policy.columns.items():
        places, distinct = _distinct(table[name])
        if column.values is None:
            known = [_as_number(cell) for cell in distinct]
            strange = np.array([one is None or math.isnan(one) for one in known], np.bool_)
        else:
            values = {*column.values}
            strange = np.array([_as_text(cell) not in values for cell in distinct], np.bool_)
        blank = np.array([isinstance(cell, str) and not cell.strip() for cell in distinct], np.bool_)
        filled = places[places >= 0]
        filled = filled[~blank[filled]]
        if len(filled) and strange[filled].any():
            found[name] = float(strange[filled].mean())
    return found


def refuse_unread(policy: DeclaredRelease, frame: Table) -> None:
    """Refuse a table if nearly all cells of a column are no number or declared value.

    Not for a release that is differentially private: whether it is refused would depend on the data.

    Raises:
        InputError: naming the columns, and what to look at.
    """
    problems = [
        f"{name}: {unread_words(policy.columns[name], 'nearly all')}"
        for name, share in unread_shares(policy, frame).items()
        if share >= NEARLY_ALL
    ]
    if problems:
        raise InputError(problems)


def unread_words(column: DeclaredColumn, many: str) -> str:
    """Say that so many cells of a column count as ``otherwise``, and what to look at."""
    if column.values is None:
        what = "no numbers"
        look = "A decimal comma needs source.options.decimal: ','. A date is no number"
    else:
        what, look = "none of its declared values", "Values must be spelled as in the data"
    return (
        f"{many} of its cells (not counting empty ones) are {what}, and count as {column.otherwise}. {look}."
    )


def share_of_otherwise(column: DeclaredColumn, cells: pd.Series) -> float:
    """Return the share of released cells that hold what stands for all that is not declared, (r,) cells.

    Of numbers that were counted in bins: its bin, since they were drawn anywhere in it.
    """
    codes, otherwise = codes_of(column, cells), np.array([code_of_otherwise(column)])
    if column.bins is not None:
        codes, otherwise = (bin_of(one, column.size, column.bins) for one in (codes, otherwise))
    return float((codes == otherwise).mean()) if len(codes) else 0.0


def codes_of(column: DeclaredColumn, cells: pd.Series) -> Integers:
    """Return the code of each cell, (n,)."""
    places, distinct = _distinct(cells)
    otherwise = code_of_otherwise(column)
    if column.values is None:
        codes = _number_codes(column, distinct, otherwise)
    else:
        known: dict[str | None, int] = {value: code for code, value in enumerate(column.values)}
        codes = np.array([known.get(_as_text(cell), otherwise) for cell in distinct], np.int64)
    return np.append(codes, otherwise)[places]


def _distinct(cells: pd.Series) -> tuple[Integers, Sequence[Any]]:
    """Return cells, and the place of each record's cell among them, (n,); −1 of an empty one.

    Equal cells are looked at once, where all cells are of one type. Objects of several types can be equal,
    and have different texts: 1 and True. Which of them came first must not decide.
    """
    one_type = cells.dtype != object or pd.api.types.infer_dtype(cells, skipna=True) == "string"
    if one_type:
        places, distinct = pd.factorize(cells, use_na_sentinel=True)
        if cells.dtype == np.float32:  # the decimals that it was written with, not the nearest double
            return places.astype(np.int64), [float(str(np.float32(cell))) for cell in distinct]
        return places.astype(np.int64), _each(distinct)
    return np.where(cells.isna(), -1, np.arange(len(cells))), list(cells)


def _each(cells: pd.Index) -> list[Any]:
    """Return cells as a list; None for a time at the ends of the calendar that its zone cannot write."""
    try:
        return list(cells)
    except (OverflowError, NotImplementedError, ValueError):
        return [_cell(cells, place) for place in range(len(cells))]


def _cell(cells: pd.Index, place: int) -> Any:
    try:
        return cells[place]
    except (OverflowError, NotImplementedError, ValueError):
        return None


def _number_codes(column: DeclaredColumn, cells: Sequence[Any], otherwise: int) -> Integers:
    """Return the codes of numbers, moved to the nearest bound, (d,); otherwise, of what is none."""
    read = [_as_number(cell) for cell in cells]
    numbers = np.array([math.nan if one is None else one for one in read], np.float64)
    unread = np.isnan(numbers)
    low, high = (float(bound) for bound in column.range)
    bounded = np.clip(np.where(unread, low, numbers), low, high)
    units = quantize(to_grid(bounded, float(column.resolution))) - int(column.range[0] / column.step)
    return np.where(unread, otherwise, np.clip(units, 0, column.steps))


def _as_number(cell: Any) -> float | None:
    """Read a number; texts as they are written, all others by their value."""
    if isinstance(cell, str):
        return float(cell) if _NUMBER.fullmatch(cell) else None
    try:
        return float(cell)
    except OverflowError:  # a whole number with hundreds of digits
        return math.inf if cell > 0 else -math.inf
    except Exception:  # noqa: BLE001 - whatever it is, it is no number
        return None


def _as_text(cell: Any) -> str | None:
    """Write a cell as the policy's values are, by this cell alone.

    Whole numbers are without a point: a column of them has another type if one of its cells is empty. Numbers
    beyond what a float holds are rounded to one, as they are in such a column. Booleans are true and false,
    days without a time have none. None: a time that no text can be made of.
    """
    if isinstance(cell, (bool, np.bool_)):
        return "true" if cell else "false"
    if isinstance(cell, Decimal):
        cell = float(cell)
    if isinstance(cell, (int, float, np.integer, np.floating)):
        number = _as_number(cell)
        whole = number is not None and math.isfinite(number) and number.is_integer()
        return str(int(number or 0)) if whole else str(cell) if isinstance(cell, float) else str(number)
    if isinstance(cell, datetime.datetime):
        midnight = (cell.hour, cell.minute, cell.second, cell.microsecond) == (0, 0, 0, 0)
        with suppress(NotImplementedError, ValueError):  # of a year before 1 in its zone
            return cell.date().isoformat() if midnight and cell.tzinfo is None else cell.isoformat(" ")
        return None
    return str(cell)


def code_of_otherwise(column: DeclaredColumn) -> int:
    """Return the code of cells that hold no value of the domain."""
    if column.values is not None:
        return column.values.index(column.otherwise)
    return math.floor((Fraction(column.otherwise) - column.range[0]) / column.step + Fraction(1, 2))


def values_of(column: DeclaredColumn, codes: Integers) -> pd.Series:
    """Return the values of codes, (r,): texts, or numbers, which are whole where the domain is.

    Args:
        codes: (r,) 0 … size − 1.
    """
    if column.values is not None:
        return pd.Series(np.array(column.values, dtype=object)[codes], dtype="str")
    low, step = column.range[0], column.step
    if step.denominator == 1:  # bounds are multiples of it
        return pd.Series(int(low) + codes * int(step))
    units = int(low / step) + codes
    return pd.Series((units * step.numerator) / np.float64(step.denominator))


def whole_numbers(column: DeclaredColumn) -> bool:
    """Tell whether a column is released as whole numbers."""
    return column.values is None and column.step.denominator == 1


def bin_of(codes: Integers, size: int, bins: int) -> Integers:
    """Return the bin of each code: bins of as equal width as can be, in order."""
    return codes * bins // size


def bin_starts(size: int, bins: int) -> Integers:
    """Return the first code of each bin, and the number of codes: (bins + 1,)."""
    return -(-np.arange(bins + 1, dtype=np.int64) * size // bins)
