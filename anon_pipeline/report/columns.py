"""What the report shows of a table: how each column is distributed, how numbers go together, class sizes.

Two tables may be compared: the input as recoded (all n records, of the vault) and the release.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.blocks import narrow_numbers
from anon_pipeline.base.packed_tables import Table, column_type
from anon_pipeline.base.rows import keep_rows
from anon_pipeline.base.sums import exact_sum
from anon_pipeline.base.values import column_codes
from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.encode.codes import CLASS
from anon_pipeline.evidence.evidence import value_classes
from anon_pipeline.policy.columns import Generalize, Identifier, Perturb, Sensitive
from anon_pipeline.policy.model import Policy
from anon_pipeline.report.bins import MISSING, Bin, category_bins, number_bins, quoted_category, size_edges
from anon_pipeline.risk.people import count_people


@dataclass(frozen=True, slots=True)
class Distribution:
    """One column: its role, how it is counted, its bins.

    kind: ``numbers``, ``categories``, ``pseudonyms`` (hashes) or ``masks``, of which nothing is counted.
    unnamed: whether categories are numbered by rank, since their names are cells of the data.
    """

    column: str
    role: str
    kind: str
    unit: str | None
    bins: tuple[Bin, ...]
    unnamed: bool = False


@dataclass(frozen=True, slots=True)
class SizeBin:
    """Classes of like size: label, classes, records, largest chance 1/m of one of its records.

    Where people are counted, m is theirs; in the public report, which does not know them, the k of the gate.
    people: of these records; None where they are not known, or records are counted.
    """

    label: str
    classes: int
    records: int
    risk: float
    linking: float | None = None
    people: int | None = None


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's r of two columns of numbers, in each table; None where one of them is constant."""

    first: str
    second: str
    values: tuple[float | None, ...]


def _is_number(policy: Policy, name: str, frame: Table) -> bool:
    column, dtype = policy.columns[name], column_type(frame, name)
    if isinstance(column, (Generalize, Identifier)):
        return False
    if isinstance(column, (Perturb, Sensitive)):
        return name in policy.numeric
    return bool(pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype))


def _numbers(frame: Table, name: str) -> NDArray[np.float64]:
    """Return a column as finite numbers; all else is NaN."""
    values = frame[name].to_numpy(np.float64, na_value=np.nan)
    return np.where(np.isfinite(values), values, np.nan)


def distributions(policy: Policy, tables: Sequence[Table], *, k: int) -> list[Distribution]:
    """Count every released column.

    Args:
        tables: the release last; before it the input as recoded, or none. Each has at least k records.
        k: records of the smallest bin, in every table.
    """
    return [_distribution(policy, name, tables, k) for name in tables[-1].columns]


def _distribution(policy: Policy, name: str, tables: Sequence[Table], k: int) -> Distribution:
    column = policy.columns[name]
    if isinstance(column, Identifier):
        kind = IDENTIFIER_ACTIONS[column.action].shown
        return Distribution(name, column.role, kind, None, ())
    unit = column.unit if isinstance(column, Perturb) else None
    if _is_number(policy, name, tables[-1]):
        bins = number_bins([_numbers(table, name) for table in tables], k=k)
        return Distribution(name, column.role, "numbers", unit, tuple(bins))
    counted = pd.concat([_count_values(table, name, column) for table in tables], axis=1).fillna(0)
    counts = counted.to_numpy(np.int64)
    enough = counts.min(axis=1) >= k
    labels = [_label(column, value) for value in counted.index[enough]]
    bins = category_bins(labels, counts[enough], k=k, rest=counts[~enough].sum(axis=0))
    return Distribution(name, column.role, "categories", unit, tuple(bins), unnamed=None in labels)


def _count_values(table: Table, name: str, column: object) -> pd.Series:
    """Count the values of a column; records of the input that are in no class have no generalized value."""
    if isinstance(column, Generalize) and CLASS in table:
        table = keep_rows(table[[name, CLASS]], (table[CLASS] >= 0).to_numpy())
    codes, texts = column_codes(table, name)
    counts = np.bincount(codes, minlength=len(texts))
    return pd.Series(counts, index=pd.Index(texts.to_pylist(), dtype=object))


def _label(column: object, value: object) -> str | None:
    """Return the name of a value if the report may show it: a generalized one, or the policy's own word."""
    if pd.isna(value):  # type: ignore[call-overload]
        return MISSING
    declared = column.order if isinstance(column, Sensitive) else None
    shown = isinstance(column, Generalize) or (declared is not None and str(value) in declared)
    return quoted_category(str(value)) if shown else None


def class_sizes(
    policy: Policy,
    frame: Table,
    linking: Callable[[NDArray[np.int64]], float] | None = None,
    people: NDArray[np.int64] | None = None,
) -> list[SizeBin]:
    """Count the release's classes by size.

    Args:
        frame: (r, columns) the released table.
        linking: returns the linking risk of some records, given their rows; None: it is not measured.
        people: (r,) whose record it is; None: not known.
    """
    classes = value_classes(frame, list(policy.generalized))
    starts = size_edges(classes.sizes)
    of_class = np.searchsorted(starts, classes.sizes, side="right") - 1
    sought = classes.sizes if policy.person is None else np.full(len(classes.sizes), policy.gate_k)
    if people is not None:
        sought = count_people(classes.labels, people, m=len(classes.sizes))
    found = []
    for i, label in enumerate(_size_labels(classes.sizes, of_class)):
        sizes, rows = sought[of_class == i], np.flatnonzero(of_class[classes.labels] == i)
        risk = None if linking is None else linking(rows)
        own = None if people is None else len(np.unique(people[rows]))
        found.append(SizeBin(label, len(sizes), len(rows), 1 / int(sizes.min()), risk, own))
    return found


def discernibility(policy: Policy, frame: Table) -> float:
    """Return Σ m² / r² over the released classes, in (0, 1]: with what share of the release a record is one.

    Unlike ``loss: discernibility`` of the recoding, it is computed from the release alone.
    """
    sizes = value_classes(frame, list(policy.generalized)).sizes
    return float(np.sum(sizes.astype(np.float64) ** 2) / max(len(frame), 1) ** 2)


def _size_labels(sizes: NDArray[np.int64], of_class: NDArray[np.int64]) -> Iterator[str]:
    for i in range(int(of_class.max()) + 1):
        within = sizes[of_class == i]
        least, most = int(within.min()), int(within.max())
        yield f"{least:,}" if least == most else f"{least:,} to {most:,}"


def correlations(policy: Policy, tables: Sequence[Table]) -> list[Correlation]:
    """Correlate every two columns of numbers, in every table; the order of the records does not matter."""
    names = [n for n in tables[-1].columns if _is_number(policy, n, tables[-1])]
    columns = [{name: _Numbers(_numbers(table, name)) for name in names} for table in tables]
    return [
        Correlation(a, b, tuple(_pearson(table[a], table[b]) for table in columns))
        for i, b in enumerate(names)
        for a in names[:i]
    ]


class _Numbers:
    """A column of numbers, centered once for all columns that it is compared with."""

    def __init__(self, values: NDArray[np.float64]) -> None:
        self.there = ~np.isnan(values)
        self.all_there = bool(self.there.all())
        self.values = narrow_numbers(values)

    @cached_property
    def centered(self) -> _Centered | None:
        """The column as `_center` returns it; of one in which no number is missing."""
        return _center(self.values.astype(np.float64, copy=False))


@dataclass(frozen=True, slots=True, eq=False)
class _Centered:
    """Centered numbers and their Euclidean norm."""

    values: NDArray[np.float64] = field(repr=False)
    spread: float = field(repr=False)


def _pearson(a: _Numbers, b: _Numbers) -> float | None:
    """Return r over the records that have both numbers; sums are exactly rounded, whatever their order."""
    if a.all_there and b.all_there:
        x, y = a.centered, b.centered
    else:
        both = a.there & b.there
        x, y = (_center(one.values[both].astype(np.float64)) for one in (a, b))
    if x is None or y is None:
        return None
    return max(-1.0, min(1.0, exact_sum(x.values * y.values) / (x.spread * y.spread)))


def _center(values: NDArray[np.float64]) -> _Centered | None:
    """Bring values around 0 and to at most 1, so that no square overflows or vanishes; None: all are equal.

    Scaling is by a power of two and exact, and so is the first difference of what lies close together: a
    column of numbers that are large and near each other keeps its digits.
    """
    if len(values) < 2 or values.min() == values.max():
        return None
    values = np.ldexp(values, -math.frexp(float(np.abs(values).max()))[1])
    values -= values.min()
    values /= values.max()
    values -= exact_sum(values) / len(values)
    values /= np.abs(values).max()
    return _Centered(values, math.sqrt(exact_sum(values * values)))
