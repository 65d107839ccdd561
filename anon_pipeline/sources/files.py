"""Personal data from files: CSV as text, Parquet with its types.

Belongs here: reading, with errors that count and never quote. Does not belong here: what a column means
(`encode`).
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from anon_pipeline.errors import InputError, withheld
from anon_pipeline.policy.sections import SourceOptions

__all__ = ["read_csv", "read_parquet"]

_UNREADABLE = (OSError, pa.ArrowException, ValueError, LookupError, csv.Error)


def read_csv(
    path: Path, *, options: SourceOptions, numbers: Sequence[str] = (), quoted_missing: bool = True
) -> pd.DataFrame:
    """Read a CSV file with a header; every column stays text, so that ``02139`` keeps its zero.

    Args:
        path: the file.
        options: separator, encoding, decimal mark, texts for a missing value (the empty one always is).
        numbers: columns whose decimal mark is made a point.
        quoted_missing: whether ``""`` stands for a missing value, or for an empty text.
    Returns:
        (n, columns) texts.
    Raises:
        InputError: unreadable, no header, repeated column names, lines of the wrong length (their number).
    """
    torn: list[int] = []

    def count(row: pa_csv.InvalidRow) -> str:
        torn.append(row.actual_columns)
        return "skip"

    names = _header(path, options)
    with withheld(f"{path.name}: must be a readable CSV file", *_UNREADABLE):
        table = pa_csv.read_csv(
            path,
            read_options=pa_csv.ReadOptions(encoding=options.encoding),
            parse_options=pa_csv.ParseOptions(
                delimiter=options.sep,
                newlines_in_values=True,
                ignore_empty_lines=len(names) > 1,  # in a single column an empty line is a missing value
                invalid_row_handler=count,
            ),
            convert_options=pa_csv.ConvertOptions(
                column_types={name: pa.string() for name in names},
                null_values=["", *options.missing],
                strings_can_be_null=True,
                quoted_strings_can_be_null=quoted_missing,
            ),
        )
        frame: pd.DataFrame = table.to_pandas()
    if torn:
        raise InputError(
            f"{path.name}: every line must have {len(names)} fields, got {len(torn)} lines with others"
        )
    if list(frame.columns) != names:  # then their types were guessed
        raise InputError(f"{path.name}: must have a plain header line, got one that can be read in two ways")
    if options.decimal == ",":
        swapped = str.maketrans(",.", ".,")  # a point is no decimal mark then: 1.234 must not be read as one
        for name in set(numbers) & set(names):
            frame[name] = frame[name].str.translate(swapped)
    return frame


def _header(path: Path, options: SourceOptions) -> list[str]:
    """Return the column names; refuse an empty file and repeated names."""
    with withheld(f"{path.name}: must be a readable CSV file", *_UNREADABLE):
        marked = codecs.lookup(options.encoding).name == "utf-8"  # perhaps with a byte order mark
        with path.open(encoding="utf-8-sig" if marked else options.encoding, newline="") as file:
            names = next((row for row in csv.reader(file, delimiter=options.sep) if row), [])
    if not names:
        raise InputError(f"{path.name}: must have a header line, got an empty file")
    _once(path, names)
    return names


def _once(path: Path, names: Sequence[str]) -> None:
    """Refuse repeated names, by their place: in a file without a header they are cells."""
    places = [str(place + 1) for place, name in enumerate(names) if names.count(name) > 1]
    if places:
        raise InputError(f"{path.name}: columns must be named once, got equal names in {', '.join(places)}")


def read_parquet(path: Path) -> pd.DataFrame:
    """Read a Parquet file with its types.

    Args:
        path: the file.
    Raises:
        InputError: unreadable, or repeated column names.
    """
    with (
        withheld(f"{path.name}: must be a readable Parquet file", *_UNREADABLE),
        pq.ParquetFile(path) as file,
    ):
        _once(path, file.schema_arrow.names)
        table = file.read()
        table.validate(full=True)  # else bytes that are no UTF-8 come in as texts
        # integers beside missing values stay integers: a float would merge long record numbers
        frame: pd.DataFrame = table.to_pandas(ignore_metadata=True, integer_object_nulls=True)
    return frame
