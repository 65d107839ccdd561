"""A torn CSV file ends in its message, and Arrow's threads hold nothing of Python's when the process ends."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.csv as pa_csv
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.reading import Held
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.sources import files

LINES = "a,b\n" + "1,2\n3\n" * 400


@pytest.fixture
def torn(tmp_path: Path) -> Path:
    path = tmp_path / "torn.csv"
    path.write_text(LINES)
    return path


def refused(path: Path | Held, limits: Limits | None = None) -> str:
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
    assert refused(torn, small).endswith("every line must have 2 fields, got 400 lines with others")
    assert callers == {threading.get_ident()}
    callers.clear()
    assert "fields" in refused(torn, Limits(line_bytes=64, rows=500))  # counted in blocks before it is read
    assert not callers


def test_arrow_gets_a_copy_of_what_python_holds() -> None:
    data = LINES.encode() + os.urandom(8).hex().encode()
    held, before = Held("torn.csv", data), sys.getrefcount(data)
    with files._as_it_is(held) as file:
        assert sys.getrefcount(data) == before
        assert file.read() == data
    assert files._as_it_is(Held("empty.csv", b"")).read() == b""


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
