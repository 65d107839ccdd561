"""Losses that look at the classes of N records in all, s of them suppressed.

* discernibility: (Σ m² + N·s)/N².
* average class size: (N/(classes + 1 if s > 0))/N.
* classification: (s + records whose label is not their class's most frequent one)/N.

Above a node classes only merge: Σ m² over all of them and the labels in the minority grow. A class that is
released above holds one that is kept here, or at least k of the records that are not. Nodes below one
suppress what it suppresses lastingly.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from anon_pipeline.recode.loss import ClassLoss, LossUnits
from anon_pipeline.risk.capacity import MOST_SQUARED


def _every(units: LossUnits) -> int:
    """Return all records, those gone before included."""
    return units.records + units.gone


DISCERNIBILITY = ClassLoss(
    score=lambda units, kept: kept.squares + _every(units) * (kept.suppressed + units.gone),
    share=lambda score, every: Fraction(score, every**2),
    floors=lambda units, classes, k, limited: (
        np.int64(units.records) ** 2 // classes + _every(units) * units.gone
    ),
    above=lambda units, whole, lasting, k, limited: whole.squares + _every(units) * units.gone,
    below=lambda units, gone, k, limited: _every(units) * gone + k * (_every(units) - gone),
    most_records=MOST_SQUARED,
)
AVERAGE_CLASS_SIZE = ClassLoss(
    score=lambda units, kept: _every(units) + 1 - kept.classes - (kept.suppressed + units.gone > 0),
    share=lambda score, every: Fraction(1, every + 1 - score),
    floors=lambda units, classes, k, limited: (
        _every(units) + 1 - np.minimum(classes, units.records // k) - limited
    ),
    above=lambda units, whole, lasting, k, limited: (
        _every(units) + 1 - (lasting.classes + lasting.suppressed // k) - limited
    ),
    below=lambda units, gone, k, limited: _every(units) + 1 - (_every(units) - gone) // k - limited,
)
CLASSIFICATION = ClassLoss(
    score=lambda units, kept: kept.mistakes + kept.suppressed + units.gone,
    share=Fraction,
    floors=lambda units, classes, k, limited: np.full(classes.shape, units.gone, np.int64),
    above=lambda units, whole, lasting, k, limited: whole.mistakes + units.gone,
    below=lambda units, gone, k, limited: gone,
)
