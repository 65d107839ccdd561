"""Lines of JSON become a table: types as they are, no text a date, nothing quoted."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.size_bounds import Held
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.sources import jsonl
from anon_pipeline.sources.formats import read_file
from anon_pipeline.sources.jsonl import is_jsonl, jsonl_frame

CANARY = "Quillfeather-4711"


def read(data: str | bytes, limits: Limits | None = None, **options: Any) -> pd.DataFrame:
    held = Held("people.jsonl", data.encode() if isinstance(data, str) else data)
    return jsonl_frame(held, SourceOptions(**options), limits or Limits(), ())


def refused(data: str | bytes, limits: Limits | None = None) -> str:
    with pytest.raises(InputError) as caught:
        read(data, limits)
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None
    return str(caught.value)


def test_values_keep_their_types() -> None:
    frame = read(
        '{"key": "007", "n": 7, "x": 0.5, "yes": true, "day": "2024-01-31", "mixed": 1}\n\n'
        '{"n": null, "x": 3, "yes": false, "day": "", "mixed": "a", "late": "b"}\n'
    )
    assert frame["key"].tolist()[:1] == ["007"]
    assert frame["key"].isna().tolist() == [False, True]
    assert frame["n"].tolist() == [7, None]
    assert frame["x"].tolist() == [0.5, 3.0]
    assert frame["yes"].tolist() == [True, False]
    assert frame["day"].tolist() == ["2024-01-31", ""]  # a text, and an empty one
    assert frame["mixed"].tolist() == ["1", "a"]
    assert frame["late"].isna().tolist() == [True, False]


def test_a_byte_order_mark_another_encoding_and_texts_for_missing_values() -> None:
    assert read('\ufeff{"a": "ß"}\n')["a"].tolist() == ["ß"]
    assert read('{"a": "ß"}\n'.encode("latin-1"), encoding="latin-1")["a"].tolist() == ["ß"]
    assert read('{"a": "-"}\n{"a": "x"}', missing=["-"])["a"].isna().tolist() == [True, False]


def test_numbers_that_floats_or_64_bits_would_merge_stay_apart() -> None:
    ones = [2**64, 2**64 + 1, 0.5]
    frame = read("\n".join(json.dumps({"a": one}) for one in ones))
    assert frame["a"].tolist() == ["18446744073709551616", "18446744073709551617", "0.5"]


RECORDS = st.lists(
    st.dictionaries(
        st.sampled_from("abc"),
        st.one_of(st.none(), st.text(max_size=4), st.integers(-(2**63), 2**63 - 1), st.booleans()),
        min_size=1,
    ),
    min_size=1,
    max_size=6,
)


@given(RECORDS)
def test_what_was_written_is_read(records: list[dict[str, Any]]) -> None:
    frame = read("\n".join(json.dumps(record) for record in records))
    for name in frame.columns:
        cells = [record.get(name) for record in records]
        if len({type(cell) for cell in cells} - {type(None)}) == 1:
            assert [None if pd.isna(cell) else cell for cell in frame[name]] == cells


@pytest.mark.parametrize(
    "line",
    [
        f'{{"a": "{CANARY}"',
        f'{{"a": ["{CANARY}"]}}',
        f'{{"a": {{"b": "{CANARY}"}}}}',
        f'{{"a": "{CANARY}", "a": 1}}',
        f'["{CANARY}"]',
        f'"{CANARY}"',
        f"{CANARY},1",
        f'{{"a": 1}} {{"a": "{CANARY}"}}',
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 007}',
        '{"a": %s}' % ("9" * 5_000),
        '{"a": ' * 5_000,
    ],
)
def test_lines_that_are_no_flat_objects_are_counted(line: str) -> None:
    said = refused(f'{{"a": 1}}\n{line}\n{{"a": 2}}\n{line}')
    assert said.endswith("got 2 lines with something else")


@pytest.mark.parametrize(
    ("data", "limits", "message"),
    [
        ("", {}, "must have records, got an empty file"),
        (
            f'{{"{CANARY}": "ß"}}'.encode("latin-1"),
            {},
            "readable file of JSON lines: it was read as utf-8, and is in another encoding.",
        ),
        (f'{{"{CANARY}": "\\ud800"}}', {}, "must be a readable file of JSON lines"),
        (f'{{"a": "{CANARY}"}}', {"line_bytes": 10}, r"must keep the limit line_bytes (10), got more"),
        (f'{{"a": "{CANARY}"}}', {"file_bytes": 10}, "must keep the limit file_bytes (10)"),
        (f'{{"a": "{CANARY}"}}', {"cell_bytes": 10}, "column 1: must keep the limit cell_bytes (10)"),
        (f'{{"a": 1, "{CANARY}": 1}}', {"columns": 1}, "must keep the limit columns (1), got 2"),
        ('{"a": 1}\n' * 3, {"rows": 2}, "must keep the limit rows (2)"),
    ],
)
def test_files_that_are_refused(data: str | bytes, limits: dict[str, int], message: str) -> None:
    assert message in refused(data, Limits(**limits))


def test_each_line_with_a_name_of_its_own_does_not_fill_the_memory() -> None:
    hostile = "".join(f'{{"column {place}": 1}}\n' for place in range(100_000))
    assert "must keep the limit columns (2,000), got 20,000" in refused(hostile)


def test_it_may_be_compressed(tmp_path: Path) -> None:
    (tmp_path / "people.jsonl.gz").write_bytes(gzip.compress(b'{"a": "007"}\n'))
    frame = read_file("jsonl", tmp_path / "people.jsonl.gz", SourceOptions(), Limits(), ())
    assert frame["a"].tolist() == ["007"]


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ('{"a": 1}', True),
        ('\ufeff { "a"', True),
        ("{}", True),
        ("a,b\n", False),
        ("{a},b\n", False),
        ("", False),
    ],
)
def test_a_first_line_tells_the_format(head: str, told: bool) -> None:
    assert is_jsonl(Held("x", head.encode())) is told


def test_records_before_any_name_are_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "RECORDS_AT_ONCE", 2)
    path = tmp_path / "a.jsonl"
    path.write_text("{}\n" * 5 + '{"q": 1}\n')
    assert jsonl.jsonl_frame(path, SourceOptions(), Limits(), ())["q"].tolist() == [None] * 5 + [1]
    portions = list(jsonl.jsonl_portions(path, SourceOptions(), Limits(), ()))
    assert pa.concat_tables(portions)["q"].to_pylist() == [None] * 5 + [1]
    with pytest.raises(InputError, match="rows"):
        jsonl.jsonl_frame(path, SourceOptions(), Limits(rows=5), ())
