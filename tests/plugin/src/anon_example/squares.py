"""A loss: the squares of levels, so that one column that loses much is worse than many that lose a little."""

import numpy as np

from anon_pipeline.recode.loss import CellLoss, ColumnCosts
from anon_pipeline.recode.ranges import lengths


def _ranges(axis, low, high, counts):
    costs = lengths(axis, low, high)
    return ColumnCosts(np.asarray(costs.classes) ** 2, costs.suppressed**2)


SQUARED_LEVELS = CellLoss(
    levels=lambda hierarchy, counts: [
        np.full(len(values), level**2, np.int64) for level, values in enumerate(hierarchy.values)
    ],
    suppressed=lambda hierarchy, records: (hierarchy.height - 1) ** 2,
    ranges=_ranges,
)
