"""A sheet of a workbook becomes a table: types as they are, texts as texts, nothing quoted."""

from __future__ import annotations

import datetime
import io
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.size_bounds import Held
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.sources.excel import excel_frame, first_rows, is_excel

openpyxl = pytest.importorskip("openpyxl", reason="needs the extra excel")
CANARY = "Quillfeather-4711"
HEADER = ["key", "n"]


def book(*sheets: list[list[Any]]) -> Held:
    made, written = openpyxl.Workbook(), io.BytesIO()
    made.remove(made.active)
    for place, rows in enumerate(sheets, 1):
        sheet = made.create_sheet(f"sheet {place}")
        for row in rows:
            sheet.append(row)
    made.save(written)
    return Held("people.xlsx", written.getvalue())


def read(held: Held | Path, limits: Limits | None = None, **options: Any) -> pd.DataFrame:
    return excel_frame(held, SourceOptions(**options), limits or Limits(), ())


def refused(held: Held, limits: Limits | None = None, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(held, limits, **options)
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None
    return str(caught.value)


def rewritten(held: Held, member: str, old: bytes, new: bytes) -> Held:
    """Change the bytes of a member: what no library writes."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(held.data)) as source, zipfile.ZipFile(made, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            assert name != member or old in data
            target.writestr(name, data.replace(old, new) if name == member else data)
    return Held(held.name, made.getvalue())


def test_cells_keep_their_types(tmp_path: Path) -> None:
    moment, day = datetime.datetime(2024, 1, 31, 13, 5), datetime.datetime(2024, 1, 31)
    rows = [
        ["key", "whole", "fraction", "yes", "moment", "day", "mixed", "none"],
        ["007", 7, 0.5, True, moment, day, "n/a", None],
        ["42", None, 3, False, None, day, 12, None],
    ]
    (tmp_path / "people.xlsx").write_bytes(book(rows).data)
    frame = read(tmp_path / "people.xlsx")
    assert frame["key"].tolist() == ["007", "42"]
    assert frame["whole"].tolist() == [7, None]
    assert frame["fraction"].tolist() == [0.5, 3.0]
    assert frame["yes"].tolist() == [True, False]
    assert frame["moment"].iloc[0] == moment
    assert frame["day"].tolist() == [pd.Timestamp(day)] * 2
    assert frame["mixed"].tolist() == ["n/a", "12"]
    assert frame["none"].isna().all()


def test_long_numbers_are_not_merged() -> None:
    two = book([HEADER, ["a", 2**53], ["b", 1]])  # a library that writes would round the larger one
    larger = rewritten(two, "xl/worksheets/sheet1.xml", b"<v>1</v>", b"<v>9007199254740993</v>")
    assert read(larger)["n"].tolist() == [2**53, 2**53 + 1]


def test_the_sheet_that_is_meant() -> None:
    two = book([HEADER, ["a", 1]], [HEADER, ["b", 2]])
    assert read(two, sheet="sheet 2")["key"].tolist() == ["b"]
    assert "has 2 sheets, and the policy does not say which to read. Write options: {sheet: …}" in refused(
        two
    )
    assert "must have the sheet that options.sheet names, got 2 others" in refused(two, sheet=CANARY)


def test_rows_before_the_names_are_skipped() -> None:
    held = book([["Report"], [], ["a", "b"], [1, "x"]])
    assert read(held, skip_lines=2).to_dict("list") == {"a": [1], "b": ["x"]}
    assert "write options: {skip_lines: …}" in refused(book([["Report", None, "2026"], ["a", "b", "c"]]))
    assert first_rows(held) == [["Report"], [], ["a", "b"], ["1", "x"]]
    assert first_rows(book([["a"]], [["b"]])) == []


def test_empty_rows_and_columns_at_the_edge_are_no_data() -> None:
    frame = read(book([[*HEADER, None], ["a", 1], [None, None], ["b", 2], [None]]))
    assert frame.to_dict("list") == {"key": ["a", "b"], "n": [1, 2]}


def test_texts_for_missing_values_and_errors_of_formulas() -> None:
    frame = read(book([HEADER, ["-", 1], ["", 2], ["#N/A", 3]]), missing=["-"])
    assert frame["key"].isna().tolist() == [True, True, False]
    assert frame["key"].iloc[2] == "#N/A"  # for `clean` to say what it is


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[CANARY, CANARY], [1, 2]], "columns must be named once, got equal names in 1, 2"),
        ([["a", None, "c"], [1, CANARY, 3]], "every column must have a name in the first row, got none in 2"),
        (
            [["a"], [1, CANARY]],
            "every column must have a name in the first row, got cells to the right of the last name",
        ),
        ([], "must have a row with the names of the columns first"),
    ],
)
def test_tables_that_are_refused(rows: list[list[Any]], message: str) -> None:
    assert message in refused(book(rows))


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"file_bytes": 100}, "file_bytes"),
        ({"uncompressed_bytes": 1_000}, "uncompressed_bytes"),
        ({"rows": 2}, "rows"),
        ({"columns": 1}, "columns"),
        ({"cell_bytes": 10}, "cell_bytes"),
    ],
)
def test_limits_are_kept(limits: dict[str, int], message: str) -> None:
    assert f"must keep the limit {message}" in refused(book([HEADER, *[[CANARY, 1]] * 3]), Limits(**limits))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'r="B2"', b'r="ZZZ2"', "must be a readable Excel file"),  # a row of 18,278 cells, or refused
        (b'<row r="2"', b'<row r="99999999"', "must keep the limit rows"),
        (b"<sheetData>", b"<sheetData", "must be a readable Excel file"),
        (b"<v>1</v>", b"<v>Quillfeather-4711</v>", "must be a readable Excel file"),
    ],
)
def test_a_hostile_sheet_is_named(old: bytes, new: bytes, message: str) -> None:
    hostile = rewritten(book([HEADER, ["a", 1]]), "xl/worksheets/sheet1.xml", old, new)
    refused(hostile, Limits(rows=1_000))


def test_no_workbook_is_one() -> None:
    good = book([HEADER, ["a", 1]])
    assert is_excel(good)
    assert not is_excel(Held("x", b"PK\x03\x04junk"))
    assert not is_excel(Held("x", b"a,b\n"))
    for data in (b"", b"a,b\n", good.data[:-30], b"\xd0\xcf\x11\xe0 an .xls file"):
        assert "must be a readable Excel file (.xlsx)" in refused(Held("people.xlsx", data))
