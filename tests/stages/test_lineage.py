"""A table's digest is the same before it is stored and after, and lineage in memory holds as in the vault."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.errors import GateRefused, InputError
from anon_pipeline.base.packed_columns import pack_column
from anon_pipeline.base.packed_tables import PackedTable
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish import publish
from anon_pipeline.stages.lineage import (
    Descent,
    Lineage,
    Where,
    broken_table,
    from_json,
    held_digest,
    table_digest,
    to_json,
)
from anon_pipeline.stages.pipeline import run, suppressed
from anon_pipeline.stages.private import Means, Staged
from anon_pipeline.stages.vault_tables import read_staged, write_staged

HERE = Where("0" * 32, "small", None)

COLUMNS = {
    "int": [1, 2, 3],
    "int_or_none": [1, None, 3],
    "large_or_none": [2**60, None, -(2**60)],
    "bool": [True, False, True],
    "bool_or_none": [True, None, False],
    "float": [1.5, float("nan"), -0.0],
    "text": ["a", "", "ü"],
    "text_or_none": ["a", None, "\ud7ff"],
    "nothing": [None, None, None],
    "date": [datetime.date(2026, 1, 5), None, datetime.date(1, 1, 1)],
    "time": [datetime.time(3, 4), None, datetime.time(5, 6, 7, 8)],
    "decimal": [decimal.Decimal("1.50"), None, decimal.Decimal("2.25")],
    "moment": pd.to_datetime(["2026-01-05T03:04:05.123456789", None, "1970-01-01"], format="ISO8601"),
    "zoned": pd.to_datetime(["2026-01-05T03:04:05Z", None, "1970-01-01T00:00:00Z"]),
    "span": pd.to_timedelta(["1 days", None, "2 s"]),
    "int8": np.array([1, -1, 0], np.int8),
    "uint64": np.array([2**64 - 1, 0, 1], np.uint64),
    "float32": np.array([1.5, np.nan, 2], np.float32),
    "nullable": pd.array([1, None, 3], dtype="Int64"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_digest_survives_the_vault(name: str, tmp_path: Path) -> None:
    values = COLUMNS[name]
    boxed = pd.Series(values, dtype=object) if isinstance(values, list) and None in values else values
    frame = pd.DataFrame({name: boxed})
    before = table_digest(frame)
    write_staged(tmp_path / "a.parquet", Staged(frame, {}, Lineage(HERE, {"raw": before})))
    back = read_staged(tmp_path / "a.parquet")
    assert table_digest(back.frame) == before
    assert broken_table("raw", back.frame, back.lineage, HERE) == []


@given(st.lists(st.one_of(st.none(), st.floats(), st.integers(-(2**63), 2**63 - 1)), min_size=1))
def test_a_digest_of_numbers_survives_the_vault(values: list[float | None]) -> None:
    import tempfile

    frame = pd.DataFrame({"x": pd.to_numeric(pd.Series(values, dtype=object), errors="coerce")})
    with tempfile.TemporaryDirectory() as folder:
        write_staged(Path(folder, "a.parquet"), Staged(frame, {}))
        assert table_digest(read_staged(Path(folder, "a.parquet")).frame) == table_digest(frame)


def test_a_digest_tells_values_names_and_order_apart() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    others = [
        frame.assign(a=[1, 3]),
        frame.assign(b=["x", ""]),
        frame.rename(columns={"a": "c"}),
        frame[["b", "a"]],
        frame[::-1],
        frame[["a"]],
    ]
    assert len({table_digest(one) for one in (frame, *others)}) == 7
    assert table_digest(frame.set_index(pd.Index([5, 6]))) == table_digest(frame)


def test_a_digest_in_memory_tells_tables_apart_that_are_packed() -> None:
    texts = pd.Series(["Cork", None, "Bonn", "Cork"], dtype="str")
    columns = {"city": pack_column(texts), "age": pack_column(pd.Series([1, 2, 1, 1]))}
    found = held_digest(PackedTable(columns, 4))
    assert held_digest(PackedTable(dict(columns), 4)) == found
    for rows in ([1, 0, 2, 3], [0, 1, 2], [0, 1, 3, 2]):
        other = {name: column.take(np.array(rows)) for name, column in columns.items()}
        assert held_digest(PackedTable(other, len(rows))) != found
    for series in (texts.replace("Bonn", "bonn"), texts.fillna("")):
        assert held_digest(PackedTable({**columns, "city": pack_column(series)}, 4)) != found
    assert held_digest(PackedTable({"town": columns["city"], "age": columns["age"]}, 4)) != found
    frame = PackedTable(columns, 4).unpack()
    assert held_digest(frame) == table_digest(frame)


def test_only_in_memory_a_digest_may_depend_on_how_a_table_is_packed() -> None:
    packed = PackedTable({"city": pack_column(pd.Series(["Cork", "Bonn"] * 9, dtype="str"))}, 18)
    stored, held = (Lineage(Where(project, "small"), {}) for project in ("a" * 32, None))
    assert stored.digest(packed) == table_digest(packed) == table_digest(packed.unpack())
    assert held.digest(packed) == held_digest(packed) != table_digest(packed)


def test_a_column_that_no_file_can_hold_counts_by_name() -> None:
    frame = pd.DataFrame({"a": pd.Series([1, "x", b"y"], dtype=object)})
    assert (
        table_digest(frame) == table_digest(frame.iloc[:2]) != table_digest(frame.rename(columns={"a": "b"}))
    )


def test_lineage_is_read_as_it_was_written() -> None:
    whole = Lineage(HERE, {"raw": "0" * 64, "deidentified": "1" * 64})
    assert from_json(to_json(whole).encode()) == whole
    assert from_json(to_json(None).encode()) is None
    for broken in (b"", b"\xff", b"[" * 100_000, b"{}", b'"\\ud800"'):
        assert from_json(broken) is None


def test_what_lacks_lineage_is_refused_and_what_is_elsewhere_too() -> None:
    frame = pd.DataFrame({"a": [1]})
    whole = Lineage(HERE, {"raw": table_digest(frame)})
    assert broken_table("raw", frame, whole, HERE) == []
    assert broken_table("raw", frame, whole, replace(HERE, project=None)) == []
    for where in (replace(HERE, project="1" * 32), replace(HERE, release="b"), replace(HERE, partition="p")):
        assert len(broken_table("raw", frame, whole, where)) == 1
    assert "not known" in broken_table("raw", frame, None, HERE)[0]
    assert "made by raw" in broken_table("suppressed", frame, whole, HERE)[0]
    assert len(Descent(frame, whole, HERE).problems(frame)) == 2


def test_a_run_in_memory_is_held_to_it_too(
    small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame], tmp_path: Path
) -> None:
    policy, means = small_policy(publish={"to": "out"}), Means(Path(), None, system_entropy())
    one, other = (run(policy, small_people(), means) for _ in range(2))
    folders = Locations(tmp_path, tmp_path, tmp_path, tmp_path / "vault")
    with pytest.raises(InputError, match="must be made from the table of k_anonymized"):
        suppressed(policy, one.suppressed, other.k_anonymized)
    mixed = one.suppressed.frame.assign(_record_id=other.suppressed.frame["_record_id"].iloc[0])
    for staged, originals in (
        (one.suppressed, other.k_anonymized.frame),
        (replace(one.suppressed, lineage=None), one.k_anonymized.frame),
        (replace(one.suppressed, frame=mixed), one.k_anonymized.frame),
        (replace(one.suppressed, lineage=other.suppressed.lineage), one.k_anonymized.frame),
    ):
        with pytest.raises(GateRefused, match="origin"):
            publish(staged, originals, policy, locations=folders)
    there = run(policy, small_people(), replace(means, where=Where(None, policy.name, "q")))
    with pytest.raises(GateRefused, match="belongs to another partition"):
        publish(there.suppressed, there.k_anonymized.frame, policy, locations=folders, partition="p")
    assert publish(one.suppressed, one.k_anonymized.frame, policy, locations=folders).report.passed
