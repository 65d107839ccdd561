"""How the texts of a source become values: the section ``clean`` of a policy, for all columns and for each.

Belongs here: the models. Does not belong here: what applies to one column, and the rules between the section
and the columns (`policy.column_cleaning`); the cleaning itself (`sources.cleaning`).

What is done to a column, in this order: ``unicode``, ``strip``, ``missing``, ``case``, ``values`` (or
``values_file``), then the type, or ``truncate`` for a text.

Example:
    ::

        clean:
          strip: true
          unicode: NFC
          missing: ["-", n/a]
          type: auto
          columns:
            balance: {type: number, thousands: "'", currency: CHF}
            rate: {type: number, percent: true}
            born: {type: date, format: "%d/%m/%Y"}
            city: {case: upper, values: {ZH: Zurich}}
            note: {truncate: 20}
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from anon_pipeline.policy.fields import LocalPath, Plain, Strict, Whole
from anon_pipeline.policy.frozen_mapping import FrozenMapping, Keyed
from anon_pipeline.policy.hierarchies import as_texts
from anon_pipeline.policy.kind_names import ColumnTypeName
from anon_pipeline.policy.marks import TEXT, Below

ISO = "%Y-%m-%d"
_DIRECTIVES = "dmYHMSfjbB%"
_ONE_DAY = ({"d", "Y", "m"}, {"d", "Y", "b"}, {"d", "Y", "B"}, {"j", "Y"})


def _date_format(text: str) -> str:
    """Refuse a format that does not say one day, or that reads differently from machine to machine."""
    found = re.findall(r"%(.?)", text)
    if "y" in found:
        raise ValueError(f"must have years of four digits (%Y): 45 may be 1945 or 2045, got {text}")
    strange = sorted({f"%{one}" for one in found if not one or one not in _DIRECTIVES})
    if strange:
        known = " ".join(f"%{one}" for one in _DIRECTIVES)
        raise ValueError(f"must be made of {known}, got {', '.join(strange)}")
    if not any(day <= set(found) for day in _ONE_DAY):
        raise ValueError(f"must say day, month and year (%d %m %Y, or %j %Y), got {text}")
    return text


def _one_or_more(value: Any) -> Any:
    """Take one text for a list of one."""
    return (value,) if isinstance(value, str) else value


def _map(value: Any) -> Any:
    """Write a map of values as texts: YAML reads ``1`` as a number."""
    if not isinstance(value, Mapping):
        return value
    texts = dict(zip(as_texts(list(value)), as_texts(list(value.values())), strict=True))
    if len(texts) != len(value):
        raise ValueError("must name each value once, got 1 and '1', perhaps. Write one of them.")
    return texts


_SIGNS = "+-%\u2010\u2011\u2012\u2013\u2014\u2015\u2212"  # also dashes that look like a minus


def _currency(text: str) -> str:
    """Refuse what could be taken for a part of the number."""
    if not text.strip() or any(char.isdigit() or char in _SIGNS for char in text):
        raise ValueError(f"must be a text without digits, plus, minus and percent, got {text}")
    return text.strip()


Currency = Annotated[Plain, AfterValidator(_currency)]
DateFormat = Annotated[Plain, AfterValidator(_date_format)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_one_or_more)]
ValueMap = Annotated[Keyed[str], BeforeValidator(_map, json_schema_input_type=Mapping[str, str | float])]
_NAMES = BeforeValidator(as_texts, json_schema_input_type=str | tuple[str | float, ...])
_ONE_TEXT = BeforeValidator(_one_or_more, json_schema_input_type=Plain | tuple[Plain, ...])


class Cleaning(Strict):
    """What can be said for all columns and for one; a key of a column takes the place of that for all."""

    strip: bool | None = Field(
        None,
        strict=True,
        description="Whether white space around a text is removed, no-break spaces included; what is then "
        "empty is missing. Numbers, dates and booleans are always read without it.",
    )
    unicode: Annotated[Literal["NFC", "NFD", "NFKC", "NFKD", "keep"] | None, TEXT] = Field(
        None, description="Unicode normalization form of texts. Default: keep."
    )
    case: Annotated[Literal["lower", "upper", "keep"] | None, TEXT] = Field(
        None, description="Case of texts, letter by letter. Default: keep."
    )
    missing: Annotated[Annotated[Texts, _NAMES] | None, TEXT] = Field(
        None,
        description="Texts that stand for a missing value, after strip and unicode and before case.",
    )
    values: Annotated[ValueMap | None, TEXT] = Field(
        None,
        description="Whole value → what takes its place, compared after case: a text of missing makes it a "
        "missing value. Other values stay.",
    )
    decimal: Annotated[Literal[".", ","] | None, TEXT] = Field(
        None, description="Decimal sign of numbers. Default: the point."
    )
    thousands: Annotated[Literal["'", ",", ".", " ", "_"] | None, TEXT] = Field(
        None,
        description="Sign between groups of three digits. ' is also ’; a space is also one that does not "
        "break. Default: none.",
    )
    currency: Annotated[Annotated[tuple[Currency, ...], _ONE_TEXT] | None, TEXT] = Field(
        None,
        description="Text before or after a number, a currency or a unit such as CHF or kg, or a list of its "
        "spellings. It may be absent; any other text is a mistake.",
    )
    format: Annotated[Annotated[tuple[DateFormat, ...], _ONE_TEXT] | None, TEXT] = Field(
        None,
        description="How dates are written, by the directives %d %m %Y %j %b %B %H %M %S %f; one, or a list. "
        "Default: %Y-%m-%d. A value that two of the formats read as different days is a mistake.",
    )
    truncate: Whole | None = Field(
        None,
        ge=1,
        description="Most characters of a text; the others are cut off. For all columns: of the sensitive "
        "and insensitive ones that are texts.",
    )


class CleanColumn(Cleaning):
    """How one column is cleaned."""

    type: Annotated[ColumnTypeName | None, TEXT] = Field(
        None,
        description="What the column holds. auto: integer, number, date or boolean where all values of the "
        "column are, else text. Default: what its role needs, else clean.type.",
    )
    percent: bool | None = Field(
        None,
        strict=True,
        description="Every number ends with %; it is divided by 100. For type: number.",
    )
    values_file: Annotated[LocalPath | None, Below("hierarchies")] = Field(
        None,
        description="Instead of values: CSV file (UTF-8, commas) with the header from,to; relative to the "
        "folder of hierarchies.",
    )

    @model_validator(mode="after")
    def _one_map(self) -> CleanColumn:
        if self.values is not None and self.values_file is not None:
            raise ValueError("at most one of values and values_file must be given")
        return self


class Clean(Cleaning):
    """How the texts of the source become values, before anything else is done with them."""

    type: Annotated[Literal["text", "auto"], TEXT] = Field(
        "text",
        description="Type of sensitive and insensitive columns that are released unchanged and declare none. "
        "auto: see columns.",
    )
    columns: Annotated[Keyed[CleanColumn], TEXT] = Field(
        default_factory=FrozenMapping, description="Column → how it is cleaned, where that differs."
    )
