"""Bytes and tables: what is read back is what was written, in both formats."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.arrow_tables import arrow_table
from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import PackedTable, pack_large
from anon_pipeline.catalog.releases import RELEASE_FORMATS
from anon_pipeline.policy import Policy
from anon_pipeline.publish.file_formats import from_bytes, read_back, read_release, to_bytes, to_files

FORMATS = [*RELEASE_FORMATS]


@pytest.mark.parametrize("form", FORMATS)
@given(
    words=st.lists(
        st.one_of(st.none(), st.text(st.characters(codec="utf-8", exclude_characters="\0"))), min_size=1
    ),
    number=st.floats(allow_nan=False, allow_infinity=False),
    whole=st.integers(-(2**63), 2**63 - 1),
)
def test_a_table_comes_back_as_it_was(form: str, words: list[str | None], number: float, whole: int) -> None:
    frame = pd.DataFrame(
        {"text": pd.array(words, dtype="str"), "number": number, "whole": np.int64(whole), "flag": True}
    )
    back = from_bytes(to_bytes(frame, form), form, like=frame)
    pd.testing.assert_frame_equal(back, frame)
    assert digest_frame(back) == digest_frame(frame)


@pytest.mark.parametrize("form", FORMATS)
def test_an_empty_text_is_not_a_missing_one(form: str) -> None:
    frame = pd.DataFrame({"text": pd.array(["", None, "*"], dtype="str"), "other": [1, 2, 3]})
    back = from_bytes(to_bytes(frame, form), form, like=frame)
    assert back["text"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize("form", FORMATS)
def test_equal_tables_have_equal_bytes_whatever_their_index_and_chunks(form: str) -> None:
    frame = pd.DataFrame({"text": pd.array(["a", "b", "c"], dtype="str"), "n": [1.5, 2.5, 3.5]})
    chunked = pd.concat([frame.iloc[:1], frame.iloc[1:]])
    chunked.index = [7, 7, 3]
    assert to_bytes(chunked, form) == to_bytes(frame, form)


def test_parquet_carries_no_index_and_nothing_of_pandas(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(to_bytes(pd.DataFrame({"n": [1, 2]}, index=[9, 4]), "parquet"))
    schema = pq.read_schema(tmp_path / "a.parquet")
    assert schema.names == ["n"]
    assert not schema.metadata


def test_a_csv_without_its_types_is_read_as_text(tmp_path: Path, small_policy: Callable[..., Policy]) -> None:
    (tmp_path / "a.csv").write_bytes(b'age,city,height,income,illness,note\n"[20, 40)",01,170,2,x,\n')
    table = read_release(tmp_path / "a.csv", small_policy())
    assert table.iloc[0].drop("note").tolist() == ["[20, 40)", "01", 170.0, 2, "x"]
    assert table["height"].dtype == np.float64


@pytest.mark.parametrize("name", ["a.txt", "a", "a.parquet", "a.csv"])
def test_what_is_no_release_is_refused_without_its_content(
    tmp_path: Path, small_policy: Callable[..., Policy], name: str
) -> None:
    (tmp_path / name).write_text("height\nCANARY-7f3a\n")
    with pytest.raises(InputError) as raised:
        read_release(tmp_path / name, small_policy())
    assert "CANARY" not in str(raised.value)


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("records_per_file", [None, 2**20 - 1])
def test_a_packed_table_is_the_same_bytes(form: str, records_per_file: int | None) -> None:
    records = 2**20 + 2**18  # more than one row group of Parquet
    numbers = np.arange(records)
    frame = pd.DataFrame({"a.b": numbers % 300, "a": pd.Series(numbers % 9, dtype="str"), "c": numbers / 7})
    packed = pack_large(frame)
    assert isinstance(packed, PackedTable)
    written = to_files(packed, form, records_per_file=records_per_file)
    assert written == to_files(frame, form, records_per_file=records_per_file)
    whole = arrow_table(frame).replace_schema_metadata(None)
    if records_per_file is None and form == "parquet":
        pq.write_table(whole, buffer := io.BytesIO(), compression="zstd")
        assert written == [buffer.getvalue()]  # as Arrow writes it in one piece
    back = read_back(written, form, like=packed)
    assert isinstance(back, PackedTable)
    pd.testing.assert_frame_equal(back.unpack(), frame)
