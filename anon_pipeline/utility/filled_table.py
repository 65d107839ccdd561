"""A release as a table of plain values: each generalized cell stands for one value that it covers.

An analyst who has only the release takes the values that a cell covers for equally likely. Drawing one of
them for each cell makes a table that the same queries can be asked of as of the input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.evidence.measures import require_originals
from anon_pipeline.policy.model import Policy
from anon_pipeline.utility.comparison import generalized_columns, same_records
from anon_pipeline.utility.records import Generalized

_FILLS = 5
_SEED = 0


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """One generalized column of the r released records.

    leaves: (r, 2) first and last place, among the values of the input, of what each cell covers.
    values: (d,) different values of the input, in the order of their leaves.
    means: (r,) number that a cell is, NaN where it is none.
    """

    leaves: NDArray[np.int64] = field(repr=False)
    values: pd.Series = field(repr=False)
    means: NDArray[np.float64] = field(repr=False)

    def fill(self, random: np.random.Generator) -> pd.Series:
        """Draw one of the values that each cell covers, (r,)."""
        low, high = self.leaves.T
        chosen = low + (random.random(len(low)) * (high - low + 1)).astype(np.int64)
        drawn: pd.Series = self.values.iloc[chosen].reset_index(drop=True)
        if np.isnan(self.means).all():
            return drawn
        return pd.Series(np.where(np.isnan(self.means), drawn.to_numpy(np.float64), self.means))


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """The input of n records and the release of r, with the columns that the release has.

    before: (n, columns) values before recoding and noise.
    plain: (r, columns) the release without its generalized columns.
    cells: the generalized columns.
    names: of all columns, in the policy's order.
    """

    before: pd.DataFrame = field(repr=False)
    plain: pd.DataFrame = field(repr=False)
    cells: dict[str, Cells] = field(repr=False)
    names: Sequence[str]

    def fill(self, random: np.random.Generator) -> pd.DataFrame:
        """Draw values for all generalized cells, (r, columns)."""
        filled = {name: cells.fill(random) for name, cells in self.cells.items()}
        return self.plain.assign(**filled)[[*self.names]]

    def fill_often(self) -> Iterator[pd.DataFrame]:
        """Yield a few tables that the release may stand for, always the same ones, each (r, columns)."""
        random = np.random.default_rng(_SEED)
        return (self.fill(random) for _ in range(_FILLS if self.cells else 1))


def fillable_tables(evidence: Evidence, policy: Policy, before: pd.DataFrame) -> Tables:
    """Return the input and the release, ready to be filled.

    Args:
        evidence: of the release, with originals.
        before: (n, columns) the table before recoding, with record ids.
    Raises:
        InputError: a file alone; see `comparison.compare`.
    """
    originals = require_originals(evidence)
    before = same_records(before, originals)
    names, own = policy.released, originals.own
    kept = np.zeros(len(before), np.bool_)
    kept[own] = True
    columns = generalized_columns(policy, originals, before, kept, evidence.hierarchies)
    plain = pd.DataFrame({name: evidence.released[name] for name in names if name not in columns})
    cells = {name: _cells(column, before[name], own) for name, column in columns.items()}
    return Tables(before[[*names]], plain.reset_index(drop=True), cells, names)


def _cells(column: Generalized, before: pd.Series, own: NDArray[np.int64]) -> Cells:
    """Return what the cells of a column cover of the values that occur in the input."""
    leaves, first = np.unique(column.own, return_index=True)
    codes = column.codes[own]
    low = np.searchsorted(leaves, column.first[codes], side="left")
    high = np.searchsorted(leaves, column.last[codes], side="right") - 1
    return Cells(np.stack((low, high), axis=1), before.iloc[first], column.means[codes])
