"""Reading CSV and Parquet: what is kept, what is refused, and that no cell is quoted."""

from __future__ import annotations

import datetime as dt
import os
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.size_bounds import Held
from anon_pipeline.encode.codes import accept
from anon_pipeline.policy import policy_from
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.sources import files
from anon_pipeline.sources.files import read_csv
from anon_pipeline.sources.parquet import read_parquet
from tests.example_counts import examples_of

CANARY = "-".join(["CANARY", "7f3a"])
_WRITE_CP1252 = "encoding. Write which in the table's options, such as source: {options: {encoding: cp1252}}"


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., pd.DataFrame]:
    """Write bytes to a file and read it as CSV."""

    def reading(content: bytes, numbers: tuple[str, ...] = (), **options: Any) -> pd.DataFrame:
        path = tmp_path / "data.csv"
        path.write_bytes(content)
        return read_csv(path, options=SourceOptions(**options), numbers=numbers)

    return reading


def refused(reading: Callable[[], Any], folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        reading()
    error = caught.value
    assert (error.__cause__, error.__context__) == (None, None)
    shown = "".join(traceback.format_exception(error)) + repr(error)
    assert CANARY not in shown
    assert str(folder) not in str(error)
    return str(error)


def cells(frame: pd.DataFrame) -> list[list[Any]]:
    return frame.astype(object).where(frame.notna(), None).to_numpy().tolist()


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (b"zip,name\n02139,Ann\n00501,\n", {}),
        (b"zip;name\n02139;Ann\n00501;\n", {"sep": ";"}),
        (b"zip\tname\n02139\tAnn\n00501\t\n", {"sep": "\t"}),
        (b"zip|name\n02139|Ann\n00501|\n", {"sep": "|"}),
        (b"zip,name\r\n02139,Ann\r\n00501,\r\n", {}),
        (b"zip,name\n02139,Ann\n00501,", {}),
        (b"\n\nzip,name\n\n02139,Ann\n\n00501,\n\n", {}),
        (b"\xef\xbb\xbfzip,name\n02139,Ann\n00501,\n", {}),
        (b'\xef\xbb\xbf"zip","name"\n"02139","Ann"\n"00501",""\n', {}),
        (b"zip,name\n02139,Ann\n00501,?\n", {"missing": ("?", "n/a")}),
        ("zip,name\n02139,Ann\n00501,\n".encode("utf-16"), {"encoding": "utf-16"}),
    ],
)
def test_spellings_of_one_table(
    read: Callable[..., pd.DataFrame], content: bytes, options: dict[str, Any]
) -> None:
    frame = read(content, **options)
    assert list(frame.columns) == ["zip", "name"]
    assert cells(frame) == [["02139", "Ann"], ["00501", None]]


def test_everything_stays_text(read: Callable[..., pd.DataFrame]) -> None:
    content = b'a,b,c,d,e\n007,1e5,TRUE,2020-01-01,NaN\n" 1",NULL,N/A,0x10,"x, ""y""\n2"\n'
    assert cells(read(content)) == [
        ["007", "1e5", "TRUE", "2020-01-01", "NaN"],
        [" 1", "NULL", "N/A", "0x10", 'x, "y"\n2'],
    ]


def test_encodings(read: Callable[..., pd.DataFrame]) -> None:
    content = "größe,name\n1,Zoë\n".encode("latin-1")
    frame = read(content, encoding="latin-1")
    assert (list(frame.columns), cells(frame)) == (["größe", "name"], [["1", "Zoë"]])


def test_decimal_commas(read: Callable[..., pd.DataFrame]) -> None:
    """A point in a number is then a thousands separator: it must not be read as a decimal point."""
    content = b"x;y;note\n1,5;;1,5\n-2;3,25;a.b\n1.234;1.234,5;\n"
    frame = read(content, numbers=("x", "y", "gone"), sep=";", decimal=",")
    assert cells(frame) == [["1.5", None, "1,5"], ["-2", "3.25", "a.b"], ["1,234", "1,234.5", None]]
    policy = policy_from(
        {
            "name": "a",
            "source": {"generate": "patients"},
            "columns": {
                "x": {"role": "perturb", "resolution": 1},
                "y": {"role": "generalize", "hierarchy": {"suppress": True}},
                "note": {"role": "insensitive"},
            },
            "anonymize": {"k": 2},
            "perturb": {"epsilon": 1},
        }
    )
    with pytest.raises(InputError, match="x: must be a number, got 1 record"):
        accept(frame, policy)


def test_a_missing_value_in_a_single_column_is_a_record(read: Callable[..., pd.DataFrame]) -> None:
    assert cells(read(b'a\n1\n\n""\n2\n')) == [["1"], [None], [None], ["2"]]


def test_a_quoted_empty_text_may_be_kept(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text('a,b\n"",x\n,y\n')
    assert read_csv(path, options=SourceOptions())["a"].isna().tolist() == [True, True]
    kept = read_csv(path, options=SourceOptions(), quoted_missing=False)
    assert kept["a"].isna().tolist() == [False, True]


TITLE = b'The "report\n\r\n;;\n'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_lines_before_the_names_are_skipped(read: Callable[..., pd.DataFrame], encoding: str) -> None:
    """By lines, whatever quotes are in them; records are numbered from the first one."""
    data = TITLE + b'a;b;c\n1;"x\ny";3\n\n4;;6\n'
    frame = read(data.decode().encode(encoding), sep=";", encoding=encoding, skip_lines=3)
    assert [*frame.columns] == ["a", "b", "c"]
    assert cells(frame) == [["1", "x\ny", "3"], ["4", None, "6"]]
    with pytest.raises(InputError, match="got 1 line with more") as caught:
        read(TITLE + b"a;b;c\n1;2;3\n4;5\n7;8;9\n", sep=";", skip_lines=3)
    assert caught.value.withheld_records() == ("data.csv, with more or fewer fields: 2",)


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (b"Report;;\n;;\na;b;c\n1;2;3\n", True),
        (b"Report\na;b;c\n" + b"1;2;3\n" * 3, True),
        (b"a;b;b\n1;2;3\n", False),
        (b"a;b;c\n1;2;3\n4;5\n6;7;8\n", False),
    ],
)
def test_a_title_is_named_as_what_may_be_wrong(
    read: Callable[..., pd.DataFrame], data: bytes, hint: bool
) -> None:
    with pytest.raises(InputError) as caught:
        read(data, sep=";")
    assert ("write options: {skip_lines: …}" in str(caught.value)) is hint
    assert "Report" not in str(caught.value)


def test_nothing_is_left_after_lines_that_are_skipped(read: Callable[..., pd.DataFrame]) -> None:
    with pytest.raises(InputError, match="must have a header line"):
        read(b"a,b\n1,2\n", skip_lines=2)


def test_header_only(read: Callable[..., pd.DataFrame]) -> None:
    frame = read(b"a,b\n")
    assert (list(frame.columns), len(frame)) == (["a", "b"], 0)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (b"", {}, "data.csv: must have a header line, got an empty file"),
        (b"\n\n", {}, "data.csv: must have a header line, got an empty file"),
        (b"\xef\xbb\xbf", {}, "data.csv: must have a header line, got an empty file"),
        (b"a,b,a,c,b\n", {}, "data.csv: columns must be named once, got equal names in 1, 2, 3, 5"),
        (
            f"{CANARY},x,{CANARY}\n".encode(),
            {},
            "data.csv: columns must be named once, got equal names in 1, 3",
        ),
        (
            f"a,b\n{CANARY}\n1,2\n{CANARY},2,3\n1,{CANARY},\n".encode(),
            {},
            "data.csv: every line must have 2 fields, got 3 lines with more or fewer",
        ),
        (f"a,b\n1,{CANARY}\n".encode() + b"\xff,1\n", {}, "data.csv: must be a readable CSV file: "),
        (
            b"a,b\n" + b"1,2\n" * 9999 + f"1,{CANARY}".encode() + b"\xff\n",
            {},
            f"data.csv: must be a readable CSV file: it was read as utf-8, and is in another {_WRITE_CP1252}",
        ),
        (
            b"a\xff,b\n1,2\n",
            {},
            f"data.csv: must be a readable CSV file: it was read as utf-8, and is in another {_WRITE_CP1252}",
        ),
        (
            b"a\x81,b\n1,2\n",
            {"encoding": "cp1252"},
            "data.csv: must be a readable CSV file: it was read as cp1252, and is in another encoding. Write "
            "which in the table's options, such as source: {options: {encoding: utf-8}}",
        ),
        (f"a,b\n1,{CANARY}ß\n".encode(), {"encoding": "ascii"}, "data.csv: must be a readable CSV file: "),
        (b"a,b\n1,2\n", {"encoding": "klingon"}, "data.csv: must be a readable CSV file: LookupError"),
        (b"a,b\n1,2\n", {"encoding": "rot13"}, "data.csv: must be a readable CSV file: LookupError"),
        (b"a,b\n1,2\n", {"encoding": "a\x00b"}, "data.csv: must be a readable CSV file: "),
    ],
)
def test_files_that_are_refused(
    read: Callable[..., pd.DataFrame], tmp_path: Path, content: bytes, options: dict[str, Any], message: str
) -> None:
    assert refused(lambda: read(content, **options), tmp_path).startswith(message)


def test_which_lines_are_torn_is_withheld(read: Callable[..., pd.DataFrame]) -> None:
    with pytest.raises(InputError, match="must have 1 field, got 1 line with more or fewer") as wrong:
        read(f"a\n1\n{CANARY},2\n".encode())
    assert wrong.value.withheld_records() == ("data.csv, with more or fewer fields: 2",)
    with pytest.raises(InputError) as wrong:
        read(b"a,b\n1\n\n1,2\n" + b"1,2,3\n" * 12)
    assert wrong.value.withheld_records() == (
        "data.csv, with more or fewer fields: 1, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 3 more",
    )


def test_many_torn_lines_are_all_counted(read: Callable[..., pd.DataFrame], tmp_path: Path) -> None:
    """Over several blocks, which are parsed in parallel."""
    content = b"a,b\n" + b"1,2\n3\n4,5,%b\n" % (b"x" * 1000) * 5_000
    assert refused(lambda: read(content), tmp_path).endswith("got 10000 lines with more or fewer")


@pytest.mark.parametrize("reader", [lambda path: read_csv(path, options=SourceOptions()), read_parquet])
@pytest.mark.parametrize("name", ["gone.csv", ".", "a\x00b"])
def test_files_that_are_not_there(tmp_path: Path, reader: Callable[[Path], Any], name: str) -> None:
    assert "must be a readable" in refused(lambda: reader(tmp_path / name), tmp_path)


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\x00\ufeff"), max_size=6)


@settings(max_examples=examples_of(60), deadline=None)
@given(rows=st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6))
def test_texts_survive(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]) -> None:
    path = tmp_path_factory.getbasetemp() / "survive.csv"
    pd.DataFrame(rows, columns=["a", "b"]).to_csv(path, index=False, quoting=1, lineterminator="\n")
    assert cells(read_csv(path, options=SourceOptions())) == [[a or None, b or None] for a, b in rows]


# Parquet


def parquet(folder: Path, table: pa.Table) -> Path:
    path = folder / "data.parquet"
    pq.write_table(table, path)
    return path


def test_parquet_keeps_types(tmp_path: Path) -> None:
    table = pa.table(
        {
            "n": [1, 2],
            "f": [1.5, None],
            "t": ["02139", None],
            "d": [dt.date(2020, 1, 1), None],
            "m": [dt.datetime(2020, 1, 1, 12), None],
            "c": pa.array(["a", None]).dictionary_encode(),
            "b": [True, None],
        }
    )
    frame = read_parquet(parquet(tmp_path, table))
    assert list(frame.columns) == list("nftdmcb")
    assert frame["n"].dtype == "int64"
    assert frame["t"].tolist()[0] == "02139"
    assert frame["m"][0] == pd.Timestamp("2020-01-01 12:00")
    assert frame["c"].tolist()[0] == "a"
    assert frame.isna().sum().tolist() == [0, 1, 1, 1, 1, 1, 1]


def test_long_record_numbers_beside_missing_ones_are_not_rounded(tmp_path: Path) -> None:
    numbers = [2**60 + 1, 2**60 + 2, None]
    frame = read_parquet(parquet(tmp_path, pa.table({"id": numbers})))
    assert frame["id"].tolist()[:2] == numbers[:2]
    assert frame["id"].isna().tolist() == [False, False, True]


def test_an_index_of_pandas_is_a_column_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pd.DataFrame({"a": [1, 2]}, index=["x", "y"]).to_parquet(path)
    assert list(read_parquet(path).columns) == ["a", "__index_level_0__"]


def test_repeated_names(tmp_path: Path) -> None:
    table = pa.table([pa.array([1]), pa.array([2]), pa.array([3])], names=["a", "b", "a"])
    message = refused(lambda: read_parquet(parquet(tmp_path, table)), tmp_path)
    assert message == "data.parquet: columns must be named once, got equal names in 1, 3"


@pytest.mark.parametrize("spoil", ["empty", "text", "head", "half", "no footer"])
def test_spoiled_files(tmp_path: Path, spoil: str) -> None:
    path = parquet(tmp_path, pa.table({"a": [CANARY] * 1000, "b": list(range(1000))}))
    whole = path.read_bytes()
    path.write_bytes(
        {
            "empty": b"",
            "text": CANARY.encode() * 10,
            "head": whole[:8],
            "half": whole[: len(whole) // 2],
            "no footer": whole[:-8],
        }[spoil]
    )
    message = refused(lambda: read_parquet(path), tmp_path)
    assert message.startswith("data.parquet: must be a readable Parquet file: ")


def test_spoiled_pages(tmp_path: Path) -> None:
    path = parquet(tmp_path, pa.table({"a": [f"{CANARY}{i}" for i in range(1000)]}))
    whole = bytearray(path.read_bytes())
    whole[4:200] = bytes(196)
    path.write_bytes(whole)
    assert "must be a readable Parquet file" in refused(lambda: read_parquet(path), tmp_path)


def test_texts_that_are_no_utf8(tmp_path: Path) -> None:
    spoiled = pa.Array.from_buffers(
        pa.string(), 1, [None, *pa.array([CANARY.encode() + b"\xff"]).buffers()[1:]]
    )
    path = parquet(tmp_path, pa.table({"a": spoiled}))
    assert "must be a readable Parquet file" in refused(lambda: read_parquet(path), tmp_path)


NESTED = {
    "list": [[1], [2]],
    "mapping": [{CANARY: 1}, None],
    "binary": [CANARY.encode(), None],
}


@pytest.mark.parametrize("kind", NESTED)
def test_nested_columns_are_refused_when_they_are_accepted(tmp_path: Path, kind: str) -> None:
    frame = read_parquet(parquet(tmp_path, pa.table({"q": ["a", "b"], "note": NESTED[kind]})))
    policy = policy_from(
        {
            "name": "a",
            "source": {"path": "data.parquet", "format": "parquet"},
            "columns": {
                "q": {"role": "generalize", "hierarchy": {"suppress": True}},
                "note": {"role": "insensitive"},
            },
            "anonymize": {"k": 2},
        }
    )
    message = refused(lambda: accept(frame, policy), tmp_path)
    assert message.startswith("note: must hold numbers, booleans, texts or dates, all of one kind")


LINES = "a,b\n" + "1,2\n3\n" * 400


@pytest.fixture
def torn(tmp_path: Path) -> Path:
    path = tmp_path / "torn.csv"
    path.write_text(LINES)
    return path


def refused_csv(path: Path | Held, limits: Limits | None = None) -> str:
    with pytest.raises(InputError) as error:
        files.read_csv(path, options=SourceOptions(), limits=limits or Limits())
    return str(error.value)


@pytest.fixture
def callers(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Threads in which Arrow calls Python, with blocks that are small enough for several."""
    seen: set[int] = set()
    made: Callable[..., Any] = pa_csv.ParseOptions

    def options(*arguments: Any, invalid_row_handler: Any = None, **named: Any) -> Any:
        def handler(row: Any) -> Any:
            seen.add(threading.get_ident())
            return invalid_row_handler(row)

        return made(*arguments, invalid_row_handler=handler if invalid_row_handler else None, **named)

    monkeypatch.setattr(files.pa_csv, "ParseOptions", options)
    monkeypatch.setattr(files, "_BLOCK", 64)
    return seen


def test_arrow_calls_python_in_this_thread_alone(torn: Path, callers: set[int]) -> None:
    small = Limits(line_bytes=64)
    assert refused_csv(torn, small).endswith("must have 2 fields, got 400 lines with more or fewer")
    assert callers == {threading.get_ident()}
    callers.clear()
    assert "fields" in refused_csv(
        torn, Limits(line_bytes=64, rows=500)
    )  # counted in blocks before it is read
    assert not callers


def test_arrow_gets_a_copy_of_what_python_holds() -> None:
    data = LINES.encode() + os.urandom(8).hex().encode()
    held, before = Held("torn.csv", data), sys.getrefcount(data)
    with files.as_arrow_file(held) as file:
        assert sys.getrefcount(data) == before
        assert file.read() == data
    assert files.as_arrow_file(Held("empty.csv", b"")).read() == b""


def test_arrow_decodes_nothing_by_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    made: Callable[..., Any] = pa_csv.ReadOptions

    def options(**named: Any) -> Any:
        seen.append(named.get("encoding", "utf8"))
        return made(**named)

    monkeypatch.setattr(files.pa_csv, "ReadOptions", options)
    path = tmp_path / "data.csv"
    for encoding in ("latin-1", "utf-16", "utf-8-sig", "utf-8", "cp1252"):
        path.write_text('näme,b\nä,"x\r\ny"\n', encoding=encoding, newline="")
        for file in (path, Held(path.name, path.read_bytes())):
            frame = files.read_csv(file, options=SourceOptions(encoding=encoding))
            assert frame.to_dict("list") == {"näme": ["ä"], "b": ["x\r\ny"]}, encoding
    assert set(seen) == {"utf8"}
