"""Classes that are given with the records: each releases the range of its values in every column."""

from __future__ import annotations

from anon_pipeline.recode.by_record import ByRecord
from anon_pipeline.recode.microaggregation.local_ranges import ranges_of
from anon_pipeline.recode.task import Recoding, Task


def given_classes(task: Task, records: ByRecord) -> Recoding:
    """Recode by the classes that the records name: ``[min, max]`` of numbers, the lowest common category.

    Classes that release the same are one class. What breaks a limit is suppressed.

    Args:
        records: n ≥ k of them, each with its class (``given``).
    Raises:
        InfeasibleError: more would have to be suppressed than may be.
        ValueError: records without classes.
    Source:
        [methods 4].
    """
    if records.given is None:
        raise ValueError("recode must get the classes of the records for the recoder given, got none.")
    return ranges_of(task, records, records.given)
