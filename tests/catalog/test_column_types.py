"""Each type of columns has a reader, and only keys that the policy has."""

from __future__ import annotations

import pyarrow as pa

from anon_pipeline.catalog.column_types import COLUMN_TYPES, DATE_TYPE, NUMBER_TYPE, TEXT_TYPE, TYPED_KEYS
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.policy.cleaning import CleanColumn
from anon_pipeline.policy.column_cleaning import ColumnCleaning


def test_each_type_reads_an_empty_and_a_missing_column() -> None:
    for kind in COLUMN_TYPES.values():
        for texts in ([], [None]):
            read = import_entry(kind.reads)(pa.array(texts, pa.large_string()), ColumnCleaning(kind))
            assert read.values.to_pylist() == texts
            assert read.wrong == ()


def test_its_keys_are_keys_of_the_policy() -> None:
    assert set(CleanColumn.model_fields) >= TYPED_KEYS
    assert (TEXT_TYPE, NUMBER_TYPE, DATE_TYPE) == ("text", "number", "date")
