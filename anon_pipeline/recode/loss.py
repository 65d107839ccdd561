"""Information loss in whole numbers, so that no sum depends on its order and every tie is a tie.

Both losses are a mean over attributes of (Σ costs of the released cells) / (n · cost of a suppressed cell):

* `precision`: a cell on level l costs l, a suppressed one h − 1.
* `granularity`: a cell that covers c leaves costs c − 1, a suppressed one D − 1.

A score is that mean times the denominator of `LossUnits`, an exact integer. Belongs here: costs, scores,
bounds. Does not belong here: counting the cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.hierarchy.model import Hierarchy
from anon_pipeline.recode.fulldomain.lattice import Lattice, along
from anon_pipeline.recode.model import LossName
from anon_pipeline.recode.table import DistinctTuples

__all__ = ["LossUnits", "cell_costs", "loss_units", "lower_bounds", "suppressed_cost"]

_LARGEST = 2**62


def cell_costs(hierarchy: Hierarchy, loss: LossName) -> list[NDArray[np.int64]]:
    """Return what a released cell costs: for each level an array (D,) over the leaves."""
    if loss == "precision":
        return [np.full(hierarchy.leaves, level, np.int64) for level in range(hierarchy.height)]
    return [hierarchy.leaves_below(level)[lookup] - 1 for level, lookup in enumerate(hierarchy.lookups)]


def suppressed_cost(hierarchy: Hierarchy, loss: LossName) -> int:
    """Return what a suppressed cell costs; 0 where there is nothing to lose (h = 1, D = 1)."""
    return (hierarchy.height if loss == "precision" else hierarchy.leaves) - 1


@dataclass(frozen=True, slots=True)
class LossUnits:
    """How costs become one exact score.

    weights: score of one unit of cost, by attribute.
    suppressed: score of a suppressed record.
    denominator: score of a loss of 1.
    """

    weights: tuple[int, ...]
    suppressed: int
    denominator: int

    def score(self, sums: Sequence[int], suppressed: int) -> int:
        """Return the exact score of a recoding.

        Args:
            sums: q costs over the kept records, by attribute.
            suppressed: suppressed records.
        """
        kept = sum(weight * cost for weight, cost in zip(self.weights, sums, strict=True))
        return kept + suppressed * self.suppressed

    def loss(self, score: int) -> Fraction:
        """Return the loss in [0, 1] that a score stands for."""
        return Fraction(score, self.denominator)


def loss_units(hierarchies: Sequence[Hierarchy], records: int, loss: LossName) -> LossUnits:
    """Find the units in which every loss of this table is a whole number.

    Args:
        hierarchies: q hierarchies.
        records: n.
        loss: ``precision`` is mean((n − s)·l/(h − 1) + s)/n, 0 for h = 1; ``granularity`` is
            mean(Σ shares − n/D)/(n − n/D), 0 for D = 1.
    Source:
        METHODS 9 (Sweeney's precision; the granularity of the golden optima).
    """
    full = [suppressed_cost(hierarchy, loss) for hierarchy in hierarchies]
    common = math.lcm(*(cost for cost in full if cost))
    weights = tuple(common // cost if cost else 0 for cost in full)
    return LossUnits(weights, common * sum(map(bool, full)), max(1, records * len(full)) * common)


def lower_bounds(
    units: LossUnits, nodes: Lattice, table: DistinctTuples, costs: Sequence[Sequence[NDArray[np.int64]]]
) -> NDArray[Any]:
    """Return a score that no anonymous node can beat: its own without any suppression.

    Args:
        units: of this table and loss.
        nodes: the lattice.
        table: the records.
        costs: of `cell_costs`, by attribute.
    Returns:
        Scores in the lattice's shape; int64 where they fit, Python integers where not.
    """
    exact: Any = np.int64 if units.denominator < _LARGEST else np.object_
    bounds = np.zeros(nodes.shape, exact)
    for attribute, levels in enumerate(costs):
        leaves = np.zeros(len(levels[0]), np.int64)
        np.add.at(leaves, table.tuples[:, attribute], table.counts)
        scores = [units.weights[attribute] * int(leaves @ cost) for cost in levels]
        bounds += along(nodes, attribute, np.array(scores, exact))
    return bounds
