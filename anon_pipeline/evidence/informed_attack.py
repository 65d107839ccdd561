"""What attackers who know how columns are changed as a whole link, of those who also know other values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.evidence.expectation import Expectation, best_of_means
from anon_pipeline.evidence.known_people import Shown
from anon_pipeline.evidence.simulated_releases import DrawingTable
from anon_pipeline.risk.informed_linking import LOOKED_AT, linked_shares
from anon_pipeline.risk.informed_table import InformedTable, informed_table

Integers = NDArray[np.integer]


def table_of_cells(table: DrawingTable, cells: Integers, people: Integers | None) -> InformedTable:
    """Sort the R records that releases are drawn of, to measure several of these.

    Args:
        cells: (R,) the cell of each record: its class, and what is known of it beside.
        people: (R,) whose record each is; None: records are counted.
    """
    return informed_table(table.noise.values[:, : table.originals.grid.shape[1]], cells, people)


def informed_shares(table: InformedTable, drawn: Shown) -> tuple[float, ...]:
    """Return the share of the released records, or people, that each such attacker links, in [0, 1].

    Args:
        drawn: a release of the table's records; its columns with numbers come first.
    """
    return linked_shares(table, drawn.values[:, : len(table.order)], drawn.rows)


def mean_informed_share(table: InformedTable, draws: Sequence[Shown]) -> Expectation:
    """Return the largest mean of `informed_shares` over releases that could have been drawn, at least one.

    Few draws may agree by chance: the error is at least that of a share of all records that were looked at.
    """
    found = best_of_means([(informed_shares(table, drawn), len(drawn.rows)) for drawn in draws])
    looked = sum(min(len(drawn.rows), LOOKED_AT) for drawn in draws)
    error = math.sqrt(found.mean * (1 - found.mean) / looked)
    spread = found.standard_error if len(draws) > 1 else 0.0
    return Expectation(found.mean, max(spread, error, 1 / looked), len(draws))
