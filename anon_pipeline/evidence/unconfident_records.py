"""Records that noise does not hide: no other original of their class is near enough to be taken for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anon_pipeline.base.order import count_different
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.evidence.measures import (
    class_intervals,
    compact_labels,
    exact_originals,
    require_originals,
)
from anon_pipeline.perturb.mechanisms import Noise
from anon_pipeline.risk.confidence import confidence_table
from anon_pipeline.risk.people import people_table


def unconfident_records(evidence: Evidence, drawn: Sequence[Noise], *, confidence: float) -> int:
    """Count the released records that stand alone in their class before the noise is drawn.

    A record does if the interval that holds its noisy value with this confidence holds no other original of
    its class: ℓ = 1 at its original, in all perturb columns together. Where people are counted, the people
    with such a record; their own other records do not hide it.

    The drawn noise does not count, so a verdict on this number says nothing about it.

    Args:
        drawn: (p,) what each column's noise is drawn under, p ≥ 1.
        confidence: of the interval, in (0, 1).
    Raises:
        InputError: this is a file alone.
    Source:
        [KE V-C], ℓ, with the original for the noisy value; [methods 7].
    """
    behind = require_originals(evidence)
    exact = exact_originals(behind)
    classes = compact_labels(behind.labels)
    inputs, radius = class_intervals(drawn, exact, classes, confidence=confidence)
    values, labels, people, own = inputs.astype(np.float64), behind.labels, behind.people, behind.own
    if people is None:
        table = confidence_table(values, labels=labels, radius=radius, sort=behind.tables.sorted_classes)
        return int(np.count_nonzero(table.counts(values[own], labels[own], cap=2) < 2))
    alone = people_table(values, labels=labels, radius=radius, people=people).counts(
        values[own], labels[own], cap=2
    )
    return count_different(people[own[alone < 2]])
