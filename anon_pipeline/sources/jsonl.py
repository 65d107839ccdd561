"""JSON lines: an object for each record, names of columns to texts, numbers, true, false or null."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from anon_pipeline.base.errors import InputError, withhold_text
from anon_pipeline.base.size_bounds import BoundedLines, Held, limit_error, open_readable
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.sources.bounds import refuse_large_file
from anon_pipeline.sources.typed_cells import RECORDS_AT_ONCE, Cells

_UNREADABLE = (OSError, ValueError, LookupError, RecursionError)
_CELL = (str, int, float, bool, type(None))


class _Repeated(ValueError):
    """A name stands twice in one object."""


def is_jsonl(file: Path | Held) -> bool:
    """Tell whether the first line of a text is an object, as far as its first bytes say."""
    with open_readable(file) as opened:
        head = opened.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    return head.startswith(b"{") and head[1:].lstrip()[:1] in (b'"', b"}")


def jsonl_frame(
    path: Path | Held, options: SourceOptions, limits: Limits, numbers: Sequence[str]
) -> pd.DataFrame:
    """Read a file of JSON lines; values keep their types, and no text becomes a date.

    A column with texts and other values is a column of texts. A name that a record lacks is a missing value.

    Args:
        options: ``encoding``; ``missing``: texts that stand for no value.
    Raises:
        InputError: lines that are no objects, or hold lists and objects (their number); a limit that is not
            kept (its name).
    """
    with _withhold_text(path, options):
        *_, whole = _read_cells(path, options, limits)
        return whole.frame()


def jsonl_portions(
    path: Path | Held, options: SourceOptions, limits: Limits, numbers: Sequence[str]
) -> Iterator[pa.Table]:
    """Yield the records of a file of JSON lines; see `portions`.

    Each table has the columns that were named by then, and types of its own.
    """
    with _withhold_text(path, options):
        for cells in _read_cells(path, options, limits):
            if cells.names:  # else the records would be forgotten: a table without columns has none
                yield cells.take()
        if not cells.names:
            yield cells.take()


def _withhold_text(path: Path | Held, options: SourceOptions) -> AbstractContextManager[None]:
    must = f"{path.name}: must be a readable file of JSON lines"
    return withhold_text(must, *_UNREADABLE, encoding=options.encoding)


def _read_cells(path: Path | Held, options: SourceOptions, limits: Limits) -> Iterator[Cells]:
    """Yield the records each time that more are in them."""
    refuse_large_file(path, limits)
    encoding = "utf-8-sig" if options.encoding.lower() in ("utf-8", "utf8") else options.encoding
    with io.TextIOWrapper(open_readable(path), encoding=encoding, newline="\n") as file:
        yield from _grow_cells(path.name, _lines(path.name, file, limits), set(options.missing), limits)


def _lines(name: str, file: io.TextIOWrapper, limits: Limits) -> Iterator[str]:
    """Yield the lines that are not empty, each within its limit."""
    lines = BoundedLines(file, limits.line_bytes, limit_error(name, "line_bytes", limits.line_bytes))
    for line in lines:
        lines.next_record()
        if line.strip():
            yield line


def _grow_cells(name: str, lines: Iterator[str], missing: set[str], limits: Limits) -> Iterator[Cells]:
    cells, wrong, read = Cells(name, [], limits), 0, 0
    parse = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refuse_constant).decode
    while piece := list(islice(lines, RECORDS_AT_ONCE)):
        records = [one for line in piece if (one := _record(parse, line)) is not None]
        read += len(piece)
        wrong += len(piece) - len(records)
        known = dict.fromkeys(cells.names)
        fresh = {key: None for record in records for key in record if key not in known}
        cells.widen(list(fresh))
        columns = [[_cell(record.get(key), missing) for record in records] for key in cells.names]
        cells.add(columns, records=len(records))
        yield cells
    if wrong:
        raise InputError(
            f"{name}: every line must be one JSON object of texts, numbers, true, false and null, each name "
            f"once, got {wrong} line{'s' * (wrong != 1)} with something else"
        )
    if not read:
        raise InputError(f"{name}: must have records, got an empty file")


def _record(parse: Any, line: str) -> dict[str, Any] | None:
    """Return what a line holds; None where it is no flat object."""
    try:
        found = parse(line)
    except (ValueError, RecursionError):  # also a number of too many digits
        return None
    flat = isinstance(found, dict) and all(isinstance(value, _CELL) for value in found.values())
    return found if flat else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Repeated
    return found


def _refuse_constant(constant: str) -> float:
    raise ValueError  # NaN and Infinity are no JSON


def _cell(value: Any, missing: set[str]) -> Any:
    return None if isinstance(value, str) and value in missing else value
