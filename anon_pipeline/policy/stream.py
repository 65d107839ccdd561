"""Records that arrive continuously: partitions whose small classes wait for the records of later ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from anon_pipeline.policy.fields import Real, Strict, Whole
from anon_pipeline.policy.marks import LATER, SHOWN


class Stream(Strict):
    """How long records may wait for others that make their class large enough."""

    delay: Annotated[Whole, SHOWN] = Field(
        ge=1,
        le=100,
        description="How many partitions a record may wait for, after the one that it arrives in.",
    )
    waiting: Annotated[Real, SHOWN, LATER] = Field(
        0.5,
        gt=0,
        lt=1,
        description="Largest share of a partition's records that wait, as long as any class is large enough.",
    )


def unfit_stream(sections: Mapping[str, Any]) -> Iterator[str]:
    """Say what a stream needs, or does not go with.

    Args:
        sections: parsed sections by name; one that did not parse is absent.
    """
    if sections.get("stream") is None:
        return
    if "schedule" in sections and getattr(sections["schedule"], "partitions", None) is None:
        yield "stream: needs schedule.partitions: records wait for those of later partitions"
    source = sections.get("source")
    if source is not None and not source.kind.upstream and not source.named_partitions():
        yield "stream: needs {partition} in the source: each partition has records of its own"
    if sections.get("one_record_per_person", True) is None:
        yield (
            "one_record_per_person: make sure that each person has one record in any delay + 1 partitions in "
            "a row, then set it to true for stream: a class can hold records of several partitions, which "
            "could be those of one person. Otherwise keep one record of each person in the source"
        )
    for key, why in _UNFIT.items():
        if sections.get(key) is not None:
            yield f"{key}: must be left out with stream: {why}"


_UNFIT = {
    "person": "records of one person would be in several partitions",
    "record_key": "records of one person would be in several partitions",
    "sample": "take the sample before",
}
