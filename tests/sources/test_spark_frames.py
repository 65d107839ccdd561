"""What a frame of Spark is allowed to be, without a cluster: sizes and limits by what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from anon_pipeline import InputError
from anon_pipeline.policy.files import Limits
from anon_pipeline.sources.spark_frames import (
    Sizes,
    count_sizes,
    in_utc,
    quote_name,
    refuse_columns,
    refuse_other_sizes,
    sizes_of,
)


@dataclass
class Frame:
    """A frame that has columns of these types, and answers one query."""

    kinds: dict[str, str]
    answer: pa.Table | None = None
    asked: list[str] = field(default_factory=list)

    @property
    def schema(self) -> Any:
        def typed(kind: str) -> Any:
            return SimpleNamespace(typeName=lambda: kind)

        fields = [SimpleNamespace(name=name, dataType=typed(kind)) for name, kind in self.kinds.items()]
        return SimpleNamespace(fields=fields)

    def selectExpr(self, *asked: str) -> Any:
        self.asked += asked
        return SimpleNamespace(toArrow=lambda: self.answer)


def answer(*numbers: int | None) -> pa.Table:
    return pa.table({str(at): pa.array([number], pa.int64()) for at, number in enumerate(numbers)})


def test_sizes_are_counted_by_the_cluster() -> None:
    frame = Frame({"a`b": "string", "n": "integer", "c": "char(5)"}, answer(3, 14, None, 5, None))
    places = refuse_columns(frame, Limits())
    assert places == [0, 2]
    assert count_sizes(frame, places, Limits()) == Sizes(3, (14, 0), (5, 0))
    assert frame.asked[:2] == ["count(1)", "sum(octet_length(`a``b`))"]


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"cell_bytes": 4}, "column 1"),
        ({"rows": 2}, "rows"),
        ({"uncompressed_bytes": 60}, "uncompressed_bytes"),
    ],
)
def test_what_is_too_large_is_refused(limits: dict[str, int], said: str) -> None:
    frame = Frame({"a": "string", "n": "integer"}, answer(3, 14, 5))
    with pytest.raises(InputError, match=said):
        count_sizes(frame, [0], Limits(**limits))


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ({"a": "array"}, "one plain value in each cell"),
        ({"a": "interval day to second"}, "one plain value in each cell"),
        ({"a": "string", "A": "string"}, "differ in more than case"),
        ({}, "at least one column"),
        ({"a": "date", "b": "date", "c": "date"}, "columns"),
    ],
)
def test_columns_are_refused(kinds: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        refuse_columns(Frame(kinds), Limits(columns=2))


def test_what_came_is_compared_with_what_was_counted() -> None:
    here = [sizes_of(pa.table({"a": rows, "n": [1] * len(rows)}), [0]) for rows in (["é", None], ["abc"])]
    both = here[0].plus(here[1])
    assert both == Sizes(3, (5,), (3,))
    refuse_other_sizes(both, Sizes(3, (5,), (3,)))
    with pytest.raises(InputError, match="the records changed"):
        refuse_other_sizes(both, Sizes(3, (5,), (2,)))


def test_texts_that_are_no_utf8_are_no_texts() -> None:
    broken = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")]
    )
    with pytest.raises(pa.ArrowInvalid):
        sizes_of(pa.table({"a": broken}), [0])


def test_times_with_a_zone_are_in_utc() -> None:
    zoned = pa.chunked_array([pa.array([0], pa.timestamp("us", "Europe/Vienna"))])
    assert in_utc(zoned).type == pa.timestamp("us", "UTC")
    plain = pa.chunked_array([pa.array([0], pa.timestamp("us"))])
    assert in_utc(plain) is plain


def test_names_are_quoted() -> None:
    assert quote_name("a`b; c") == "`a``b; c`"
