"""The column of classes that partitions have."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from anon_pipeline.division.class_rows import class_column, with_classes
from tests.conftest import SMALL, merged, policy_from


def test_its_name_is_new() -> None:
    assert class_column(policy_from(SMALL)) == "division_class"
    more = {"division_class": {"role": "insensitive"}, "division_class_": {"role": "insensitive"}}
    assert class_column(policy_from(merged(SMALL, {"columns": more}))) == "division_class__"


def test_each_record_has_its_class() -> None:
    tables = [pa.table({"x": ["a", "b"]}), pa.table({"x": ["c"]})]
    found = pa.concat_tables(with_classes(tables, "own", np.array([7, -1, 5], np.int32)))
    assert found.to_pydict() == {"x": ["a", "b", "c"], "own": [7, -1, 5]}


def test_records_that_were_not_there_before_have_none() -> None:
    """The source has changed, which is refused when they are written."""
    (found,) = with_classes([pa.table({"x": ["a", "b"]})], "own", np.array([7], np.int32))
    assert found["own"].to_pylist() == [7, -1]
