"""How a file of records is written, and how large it may be: what a source and a population share.

A population is read after the private tables are made; a source decides them, so its section is `PRIVATE`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from anon_pipeline.policy.fields import Separator, Strict, Whole
from anon_pipeline.policy.marks import AFTER, LATER, TEXT, Fits


def _said_once(decimal: str, sections: Mapping[str, Any]) -> Iterator[str]:
    if decimal != "." and sections.get("clean") is not None:
        yield 'must be left out with clean. Write clean: {decimal: ","}.'


class SourceOptions(Strict):
    """How a file is written."""

    sep: Annotated[Separator, TEXT, AFTER] = Field(",", description="Field separator.")
    encoding: Annotated[str, TEXT, AFTER] = Field(
        "utf-8", description="Encoding of the file, by its name in Python."
    )
    decimal: Annotated[Literal[".", ","], TEXT, AFTER, Fits(_said_once)] = Field(
        ".", description="Decimal mark of numbers."
    )
    missing: Annotated[tuple[str, ...], TEXT, AFTER] = Field(
        (), description="Texts that stand for a missing value, in addition to the empty one."
    )
    sheet: Annotated[str | None, TEXT, AFTER, LATER] = Field(
        None, description="Name of the sheet, Excel. Default: the only one."
    )
    skip_lines: Annotated[Whole, AFTER, LATER] = Field(
        0,
        ge=0,
        le=1_000,
        description="Lines before the one with the names of the columns, such as a title; CSV and Excel.",
    )


class Limits(Strict):
    """How large the source may be; whatever is larger is refused before it fills the memory."""

    file_bytes: Annotated[Whole, AFTER] = Field(2**32, ge=1, description="Most bytes of the file.")
    line_bytes: Annotated[Whole, AFTER] = Field(
        2**20, ge=1, le=2**30, description="Most bytes of one record of text."
    )
    cell_bytes: Annotated[Whole, AFTER] = Field(2**17, ge=1, description="Most bytes of one text.")
    columns: Annotated[Whole, AFTER] = Field(2_000, ge=1, description="Most columns.")
    rows: Annotated[Whole, AFTER] = Field(20_000_000, ge=1, description="Most records.")
    uncompressed_bytes: Annotated[Whole, AFTER] = Field(
        2**32, ge=1, description="Most bytes once it is unpacked."
    )
