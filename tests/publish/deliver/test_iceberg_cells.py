"""Released tables in types of Iceberg: few, stable, and nothing is rounded."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest

from anon_pipeline.base.errors import PublishError
from anon_pipeline.publish.deliver.iceberg_cells import (
    has_columns,
    iceberg_problem,
    iceberg_records,
    may_have_columns,
    same_records,
)


def test_each_value_has_a_type_of_iceberg_and_stays_what_it_is() -> None:
    frame = pd.DataFrame(
        {
            "text": ["007", None],
            "kind": pd.Categorical(["a", "b"]),
            "small": pd.array([1, 2], dtype="int8"),
            "some": pd.array([2**60 + 1, None], dtype="Int64"),
            "half": pd.array([0.5, None], dtype="float32"),
            "is": [True, False],
            "day": [datetime.date(2026, 1, 31), None],
            "at": pd.to_datetime(["2026-01-31T12:00+01:00", None], utc=True),
            "local": pd.to_datetime(["2026-01-31T12:00", None]),
            "money": [Decimal("1.50"), None],
            "none": [None, None],
        }
    )
    records = iceberg_records(frame)
    assert [str(kind) for kind in records.schema.types] == [
        *("large_string", "large_string", "int64", "int64", "double", "bool", "date32[day]"),
        *("timestamp[us, tz=UTC]", "timestamp[us]", "decimal128(3, 2)", "large_string"),
    ]
    assert records.schema.metadata is None
    first, second = records.to_pylist()
    assert (first["text"], first["kind"], first["some"], first["half"]) == ("007", "a", 2**60 + 1, 0.5)
    assert (first["money"], first["at"].hour, first["local"].hour) == (Decimal("1.50"), 11, 12)
    assert [name for name, value in second.items() if value is not None] == ["kind", "small", "is"]


def test_what_iceberg_cannot_hold_is_refused_by_its_place_without_the_cell() -> None:
    frame = pd.DataFrame(
        {
            "fine": ["a"],
            "ns": pd.to_datetime(["2026-01-31T12:00:00.000000471"]),
            "large": pd.array([2**63 + 4711], dtype="uint64"),
            "span": pd.to_timedelta(["4711s"]),
        }
    )
    with pytest.raises(PublishError, match=r"got others in the columns 2, 3, 4$") as caught:
        iceberg_records(frame)
    assert "471" not in str(caught.value)


def test_columns_are_the_same_by_name_order_and_type() -> None:
    records = pa.table({"a": pa.array([1]), "b": ["x"]})
    assert has_columns(records.schema, records)
    for other in (records.select(["b", "a"]), records.rename_columns(["a", "c"]), records.select(["a"])):
        assert not has_columns(other.schema, records)
    assert not has_columns(pa.table({"a": [1.5], "b": ["x"]}).schema, records)


def test_records_are_the_same_in_any_order_but_as_often() -> None:
    records = pa.table({"a": [1, 1, 2], "b": ["x", "x", None]})
    assert same_records(records.take([2, 0, 1]), records)
    assert not same_records(records.take([2, 0]), records)
    assert not same_records(records.take([2, 2, 0]), records)
    assert not same_records(records.rename_columns(["b", "a"]), records)


def test_numbers_are_alike_before_noise_is_drawn() -> None:
    expected = pa.schema({"a": pa.int32(), "b": pa.string(), "c": pa.decimal128(3, 1)})
    there = {"a": pa.float64(), "b": pa.large_string(), "c": pa.decimal128(4, 1)}
    assert may_have_columns(pa.schema(there), expected)
    others = ({"b": pa.int64()}, {"a": pa.large_string()}, {"d": pa.int64()})
    assert not any(may_have_columns(pa.schema(there | other), expected) for other in others)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (pa.array([4711], pa.duration("s")), "the type duration"),
        (pa.array([Decimal(10**39)]), "the type decimal256"),
        (pa.array([2**63 + 4711], pa.uint64()), "whole numbers above"),
        (pa.array([4711], pa.timestamp("ns")), "finer than microseconds"),
        (pa.array([4711], pa.time64("ns")), "finer than microseconds"),
        (pa.array([4711], pa.time32("s")), None),
    ],
)
def test_what_iceberg_does_not_hold_is_said_without_the_cell(values: pa.Array, said: str | None) -> None:
    found = iceberg_problem(pa.chunked_array([values]))
    assert found == said if said is None else said in str(found)
    assert "4711" not in str(found)
