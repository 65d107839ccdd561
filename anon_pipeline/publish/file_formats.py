"""A released table as bytes, and back: what is gated is what is written."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from anon_pipeline.base.arrow_tables import (
    arrow_pieces,
    arrow_schema,
    arrow_table,
    table_from_arrow,
    table_from_columns,
)
from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import Table, pack_large, unpack_table
from anon_pipeline.base.size_bounds import Held
from anon_pipeline.base.values import to_finite_numbers, to_whole_numbers
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.releases import DEFAULT_RELEASE_FORMAT, RELEASE_FORMATS, ReleaseFormat
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.formulas import count_formulas, neutralize, restore
from anon_pipeline.publish.parts import cut_records
from anon_pipeline.sources.files import read_csv
from anon_pipeline.sources.parquet import read_parquet

Formulas = Literal["neutralize", "keep"]


def to_bytes(frame: Table, form: str, *, formulas: Formulas = "keep") -> bytes:
    """Write a table to the bytes of one file; see `to_files`."""
    (data,) = to_files(frame, form, formulas=formulas)
    return data


def to_files(
    frame: Table, form: str, *, records_per_file: int | None = None, formulas: Formulas = "keep"
) -> list[bytes]:
    """Write a table to bytes: no index, no pandas metadata, row groups and statistics by content alone.

    Args:
        form: name of a format, see `catalog.releases`.
        records_per_file: see `parts.cut_records`; the columns have the same types in all files.
        formulas: of what a spreadsheet opens: whether texts that a spreadsheet would run are made harmless.
    """
    one, cut = RELEASE_FORMATS[form], cut_records(len(frame), records_per_file)
    if one.runs_formulas and formulas == "neutralize":
        table = neutralize(arrow_table(frame).replace_schema_metadata(None))
        return [_to_file([table.slice(start, stop - start)], one) for start, stop in cut]
    return [_to_file(arrow_pieces(frame, start, stop), one) for start, stop in cut]


def _to_file(pieces: Iterable[pa.Table], form: ReleaseFormat) -> bytes:
    """Write the pieces of a table to the bytes of a file."""
    buffer = io.BytesIO()
    import_entry(form.writes)(pieces, buffer)
    return buffer.getvalue()


def write_parquet(pieces: Iterable[pa.Table], buffer: io.BytesIO) -> None:
    """Write Parquet (zstd)."""
    rest = iter(pieces)
    first = next(rest)
    with pq.ParquetWriter(buffer, first.schema, compression="zstd") as writer:
        for piece in chain([first], rest):
            writer.write_table(piece)


def write_csv(pieces: Iterable[pa.Table], buffer: io.BytesIO) -> None:
    """Write CSV: UTF-8, header, texts quoted, missing values empty and not quoted."""
    rest = iter(pieces)
    first = next(rest)
    with pa_csv.CSVWriter(buffer, first.schema) as writer:
        for piece in chain([first], rest):
            writer.write_table(piece)


def from_bytes(
    data: bytes, form: str, *, like: Table | pa.Schema | None = None, formulas: Formulas = "keep"
) -> pd.DataFrame:
    """Read a table back from one file; see `from_files`."""
    return from_files([data], form, like=like, formulas=formulas)


def from_files(
    files: Sequence[bytes],
    form: str,
    *,
    like: Table | pa.Schema | None = None,
    formulas: Formulas = "keep",
) -> pd.DataFrame:
    """Read a table back from all of its files.

    Args:
        like: a table or a schema that gives a CSV's columns their types; without it they are guessed.
    Returns:
        (r, columns), equal to the table that was written.
    Raises:
        InputError: texts that a spreadsheet would run where none may be; by column and count.
    """
    return unpack_table(read_back(files, form, like=like, formulas=formulas))


def read_back(
    files: Sequence[bytes],
    form: str,
    *,
    like: Table | pa.Schema | None = None,
    formulas: Formulas = "keep",
) -> Table:
    """Do as `from_files` does; a large table is packed."""
    one = RELEASE_FORMATS[form]
    if one.reads_columns is not None:
        return table_from_columns(import_entry(one.reads_columns)(files))
    types = None if one.typed or like is None else dict(_types(like, formulas))
    table = pa.concat_tables([import_entry(one.reads)(data, types) for data in files])
    if one.runs_formulas and formulas == "neutralize":
        return pack_large(_harmless(unpack_table(table_from_arrow(table))))
    return table_from_arrow(table)


def holds_type(form: str, kind: pa.DataType) -> bool:
    """Tell whether a file of a format can be written with a column of a type, and read back.

    >>> holds_type("csv", pa.int64()), holds_type("csv", pa.decimal256(60, 2))
    (True, False)
    """
    one, buffer = RELEASE_FORMATS[form], io.BytesIO()
    try:
        import_entry(one.writes)([pa.table({"x": pa.array([], kind)})], buffer)
        import_entry(one.reads)(buffer.getvalue(), {"x": kind})
    except pa.ArrowException:
        return False
    return True


def parquet_table(data: bytes, types: Mapping[str, pa.DataType] | None) -> pa.Table:
    """Read Parquet, which says its columns' types."""
    return pq.read_table(io.BytesIO(data))


def parquet_columns(files: Sequence[bytes]) -> Iterator[tuple[str, pa.ChunkedArray]]:
    """Yield the columns of Parquet files that have the same ones, each joined, with its name."""
    opened = [pq.ParquetFile(io.BytesIO(data)) for data in files]
    for name in opened[0].schema_arrow.names:
        found = [file.read(columns=[name]) for file in opened]  # and others, whose path begins so
        yield name, pa.concat_tables([table.select([name]) for table in found]).column(0)


def csv_table(data: bytes, types: Mapping[str, pa.DataType] | None) -> pa.Table:
    """Read CSV; without types they are guessed."""
    return pa_csv.read_csv(
        io.BytesIO(data),
        parse_options=pa_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=pa_csv.ConvertOptions(
            column_types=types, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )


def _harmless(frame: pd.DataFrame) -> pd.DataFrame:
    """Return what a neutralized CSV says."""
    found = count_formulas(frame)
    if found:
        raise InputError(
            "publish.formulas: neutralize: no text may begin with = + - @ tab or a new line, got "
            + ", ".join(f"{count} in column {place}" for place, count in found.items())
        )
    return restore(frame)


def column_types(frame: Table) -> dict[str, str]:
    """Name the type of each column, as Arrow does; categories by the type of their values."""
    schema = arrow_schema(frame)
    return {field.name: _name(field.type) for field in schema}


def file_types(data: bytes, form: str = DEFAULT_RELEASE_FORMAT) -> dict[str, str]:
    """Name the type of each column of a file of a typed format, as it says itself."""
    schema = RELEASE_FORMATS[form].schema
    if schema is None:
        raise ValueError(f"form must be a format that says its types, got {form}.")
    return {field.name: _name(field.type) for field in import_entry(schema)(data)}


def parquet_schema(data: bytes) -> pa.Schema:
    """Return the schema of a Parquet file."""
    return pq.read_schema(io.BytesIO(data))


def _name(kind: pa.DataType) -> str:
    return str(kind.value_type if pa.types.is_dictionary(kind) else kind)


def is_type(text: object) -> bool:
    """Tell whether this names a type that a release can have, as `column_types` does."""
    try:
        return isinstance(text, str) and len(text) <= 100 and str(_type(text)) == text
    except (ValueError, TypeError, KeyError):
        return False


def schema_of(types: Mapping[str, str]) -> pa.Schema:
    """Return the schema that `column_types` has named.

    Raises:
        ValueError: a type that a release cannot have.
    """
    return pa.schema([(name, _type(text)) for name, text in types.items()])


def _type(text: str) -> pa.DataType:
    if decimal := re.fullmatch(r"decimal(128|256)\((\d{1,2}), (-?\d{1,2})\)", text):
        make = pa.decimal128 if decimal[1] == "128" else pa.decimal256
        return make(int(decimal[2]), int(decimal[3]))
    if zoned := re.fullmatch(r"timestamp\[(s|ms|us|ns), tz=([\w/+:-]{1,64})\]", text):
        return pa.timestamp(zoned[1], tz=zoned[2])
    return pa.type_for_alias(text)


def _types(like: Table | pa.Schema, formulas: Formulas) -> list[tuple[str, pa.DataType]]:
    schema = like if isinstance(like, pa.Schema) else arrow_schema(like)
    if formulas == "neutralize":
        schema = neutralize(schema.empty_table()).schema
    return [(field.name, field.type) for field in schema]


def read_release(path: Path | Held, policy: Policy) -> pd.DataFrame:
    """Read a released file, whose format is that of its ending.

    Args:
        path: the file, or what is held of it.
        policy: decides which columns of a CSV file are numbers; all others are texts.
    Raises:
        InputError: unreadable, another format, or a text where a number belongs (with the count).
    """
    limits = policy.source.limits
    ending = Path(path.name).suffix
    form = RELEASE_FORMATS.get(ending.removeprefix("."))
    if form is None or not ending:
        known = " or ".join(f".{name}" for name in [*RELEASE_FORMATS][::-1])
        raise InputError(f"{path.name}: a release must be a {known} file, got {ending or 'no ending'}")
    frame: pd.DataFrame = import_entry(form.loads)(path, limits)
    if form.runs_formulas and policy.publish.formulas == "neutralize":
        frame = _harmless(frame)
    return frame if form.typed else _with_numbers(frame, policy)


def load_parquet(path: Path | Held, limits: Limits) -> pd.DataFrame:
    """Read a released Parquet file within limits."""
    return read_parquet(path, limits=limits)


def load_csv(path: Path | Held, limits: Limits) -> pd.DataFrame:
    """Read a released CSV within limits, as texts."""
    return read_csv(path, options=SourceOptions(), limits=limits, quoted_missing=False)


def _with_numbers(frame: pd.DataFrame, policy: Policy) -> pd.DataFrame:
    """Return a table of texts with numbers in the columns that the policy says have them."""
    numbers = [name for name in frame.columns if name in policy.numeric and name not in policy.generalized]
    for name in numbers:
        cast = to_finite_numbers(frame[name])
        frame[name] = cast if name in policy.perturbed else to_whole_numbers(cast)
    return frame
