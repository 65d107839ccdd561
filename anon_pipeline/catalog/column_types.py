"""The table of what a column of a source may be declared to hold. A new type is one entry and its reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class ColumnType:
    """What a column may be declared to hold.

    name: in the policy.
    words: what its values must be, for messages.
    reads: place of the function from a column to values of this type, see `sources.type_readers`.
    keys: of the section ``clean`` that fit columns of this type, in addition to those that fit all.
    numeric: whether it fits a column whose role needs numbers.
    temporal: whether it fits a column whose values are dates.
    keeps_texts: whether texts stay texts, whatever they are.
    """

    name: str
    words: str
    reads: str
    keys: frozenset[str] = frozenset()
    numeric: bool = False
    temporal: bool = False
    keeps_texts: bool = False


_SIGNS = frozenset({"decimal", "thousands", "currency"})
_ALL = (
    ColumnType(
        "text",
        "a text",
        "anon_pipeline.sources.type_readers:texts",
        frozenset({"truncate"}),
        keeps_texts=True,
    ),
    ColumnType(
        "number", "a number", "anon_pipeline.sources.type_readers:numbers", _SIGNS | {"percent"}, numeric=True
    ),
    ColumnType(
        "integer", "a whole number", "anon_pipeline.sources.type_readers:integers", _SIGNS, numeric=True
    ),
    ColumnType(
        "date", "a date", "anon_pipeline.sources.type_readers:dates", frozenset({"format"}), temporal=True
    ),
    ColumnType("boolean", "true or false", "anon_pipeline.sources.type_readers:booleans"),
    ColumnType("auto", "of one kind", "anon_pipeline.sources.type_readers:infer", _SIGNS | {"format"}),
)
COLUMN_TYPES: Mapping[str, ColumnType] = MappingProxyType({one.name: one for one in _ALL})
TEXT_TYPE = next(one.name for one in _ALL if one.keeps_texts)
NUMBER_TYPE = next(one.name for one in _ALL if one.numeric)
DATE_TYPE = next(one.name for one in _ALL if one.temporal)
TYPED_KEYS = frozenset[str]().union(*(one.keys for one in _ALL))
"""Keys that fit columns of some types alone."""
