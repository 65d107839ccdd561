"""A released table with Delta Lake's types: nothing is lost, what it does not have is refused."""

from __future__ import annotations

from datetime import date, time
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest

from anon_pipeline.base.errors import PublishError
from anon_pipeline.publish.deliver.delta_cells import delta_problem, delta_records


def test_each_type_of_a_release() -> None:
    columns = {
        "text": pd.Series(["a", None]),
        "label": pd.Series(["a", None], dtype="category"),
        "whole": pd.Series([2**60 + 1, None], dtype="Int64"),
        "small": pd.Series([1, 2], dtype="int8"),
        "real": pd.Series([0.5, None]),
        "yes": pd.Series([True, None], dtype="boolean"),
        "day": pd.Series([date(2024, 1, 31), None]),
        "local": pd.Series(pd.to_datetime(["2024-01-31 04:00", None])),
        "at": pd.Series(pd.to_datetime(["2024-01-31 04:00", None])).dt.tz_localize("Europe/Berlin"),
        "money": pd.Series([Decimal("1.50"), None]),
        "nothing": pd.Series([None, None], dtype="object"),
    }
    table = delta_records(pd.DataFrame(columns))
    assert dict(zip(table.column_names, map(str, table.schema.types), strict=True)) == {
        **{"text": "string", "label": "string", "whole": "int64", "small": "int64", "real": "double"},
        **{"yes": "bool", "day": "date32[day]", "local": "timestamp[us]", "at": "timestamp[us, tz=UTC]"},
        **{"money": "decimal128(3, 2)", "nothing": "string"},
    }
    assert table["whole"].to_pylist() == [2**60 + 1, None]
    assert table["at"].to_pylist()[0].hour == 3
    assert table.schema.metadata is None


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (pd.DataFrame({"a": [1], "b": [time(1)]}), "column 2 has the type time64"),
        (pd.DataFrame({"a": [Decimal(10**39)]}), "column 1 has the type decimal256"),
        (pd.DataFrame({"City": [1], "city": [1]}), "must differ in more than case"),
        (pd.DataFrame({"a": pd.to_datetime(["2024-01-01 00:00:00.000000001"])}), "whole microseconds"),
    ],
)
def test_what_delta_lake_does_not_have_is_refused(frame: pd.DataFrame, said: str) -> None:
    with pytest.raises(PublishError, match=said):
        delta_records(frame)


def test_the_records_are_the_same_in_any_order() -> None:
    table = delta_records(pd.DataFrame({"yes": [True, None, False], "x": [1.5, 0.5, None]}))
    order = [(name, "ascending") for name in table.column_names]
    assert table.sort_by(order).equals(pa.table(table.take([2, 0, 1])).sort_by(order))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (pa.array([time(1)]), "the type time64"),
        (pa.array([Decimal(10**39)]), "the type decimal256"),
        (pa.array([2**63], pa.uint64()), "whole numbers above"),
        (pa.array([1], pa.timestamp("ns")), "finer than microseconds"),
        (pa.array([1], pa.timestamp("us", "UTC")), None),
        (pa.array(["a", None]), None),
    ],
)
def test_what_delta_lake_does_not_hold_is_said(values: pa.Array, said: str | None) -> None:
    found = delta_problem(pa.chunked_array([values]))
    assert found == said if said is None else said in str(found)
