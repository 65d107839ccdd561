"""The table of information losses, which recoders minimize or measure.

A new loss is one entry here and the record of functions that it names.
"""

from __future__ import annotations

from anon_pipeline.catalog.entries import Loss
from anon_pipeline.catalog.plugins import table_of

_CELLS, _CLASSES = "anon_pipeline.recode.cell_losses", "anon_pipeline.recode.class_losses"
_ALL = (
    Loss("precision", "share of the available levels used", "cells", f"{_CELLS}:PRECISION", exact=False),
    Loss(
        "granularity",
        "share of other values that a released value may stand for",
        "cells",
        f"{_CELLS}:GRANULARITY",
        exact=False,
    ),
    Loss(
        "discernibility",
        "indistinguishable pairs of records, plus n per suppressed record",
        "classes",
        f"{_CLASSES}:DISCERNIBILITY",
        exact=False,
        unit="pairs",
        largest=lambda records: records**2,
        whole=True,
    ),
    Loss(
        "average_class_size",
        "mean number of records in a class",
        "classes",
        f"{_CLASSES}:AVERAGE_CLASS_SIZE",
        exact=False,
        unit="records",
        largest=lambda records: records,
    ),
    Loss("entropy", "share of the information lost", "cells", f"{_CELLS}:ENTROPY"),
    Loss(
        "classification",
        "records not released, or whose label (target) differs from that of most of their class",
        "classes",
        f"{_CLASSES}:CLASSIFICATION",
        labels=True,
    ),
)
LOSSES = table_of("losses", Loss, _ALL)
DEFAULT_LOSS = _ALL[0].name
WEIGHED = tuple(name for name, loss in LOSSES.items() if loss.by == "cells")
"""Losses that add up cells, with a weight for each column."""
LABELED = tuple(name for name, loss in LOSSES.items() if loss.labels)
"""Losses that need class labels."""
