"""How one column is cleaned, its own keys and those for all put together; and which keys fit which column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from anon_pipeline.base.spelling import escape
from anon_pipeline.catalog.column_types import (
    COLUMN_TYPES,
    DATE_TYPE,
    NUMBER_TYPE,
    TEXT_TYPE,
    TYPED_KEYS,
    ColumnType,
)
from anon_pipeline.policy.cleaning import ISO, Clean, CleanColumn
from anon_pipeline.policy.coarsening import Coarsened
from anon_pipeline.policy.columns import Generalize, Identifier, Insensitive, Perturb, Sensitive
from anon_pipeline.policy.hierarchies import hierarchy_kind


@dataclass(frozen=True, slots=True)
class ColumnCleaning:
    """How one column is cleaned: what is not said has its default. The fields are those of `CleanColumn`.

    type: the entry of its kind.
    own: the keys that are said for this column.
    decimal: None where nothing says it; it is then the point.
    """

    type: ColumnType
    own: frozenset[str] = frozenset()
    strip: bool = False
    unicode: str | None = None
    case: str | None = None
    missing: tuple[str, ...] = ()
    values: Mapping[str, str] | None = None
    values_file: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    currency: tuple[str, ...] = ()
    percent: bool = False
    format: tuple[str, ...] = (ISO,)
    truncate: int | None = None


def column_cleaning(clean: Clean, name: str, column: Any) -> ColumnCleaning:
    """Put together how a column is cleaned.

    Args:
        name: of the column.
        column: as the policy declares it.
    """
    own = clean.columns.get(name, CleanColumn())

    def value_of(key: str, default: Any = None) -> Any:
        """Return what the column's section says of a key, else the whole source's, else the default."""
        values = (getattr(section, key) for section in (own, clean))
        return next((value for value in values if value is not None), default)

    form, case = value_of("unicode"), value_of("case")
    kind = COLUMN_TYPES[
        own.type or _type_of(column, value_of("format")) or (clean.type if _as_is(column) else TEXT_TYPE)
    ]
    cut = own.truncate or (clean.truncate if kind.keeps_texts and _as_is(column) else None)
    return ColumnCleaning(
        type=kind,
        own=frozenset(key for key in CleanColumn.model_fields if getattr(own, key) is not None),
        strip=value_of("strip", False),
        unicode=None if form == "keep" else form,
        case=None if case == "keep" else case,
        missing=value_of("missing", ()),
        values=None if own.values_file is not None else value_of("values"),
        values_file=own.values_file,
        decimal=value_of("decimal"),
        thousands=value_of("thousands"),
        currency=value_of("currency", ()),
        percent=bool(own.percent),
        format=value_of("format", (ISO,)),
        truncate=cut,
    )


def needs_numbers(column: Any) -> bool:
    """Tell whether the role of a column needs numbers: perturb, intervals and numbers, ordered, rounded."""
    return (
        isinstance(column, Perturb)
        or (isinstance(column, Generalize) and hierarchy_kind(column.hierarchy).numbers)
        or (isinstance(column, Sensitive) and column.distance == "ordered" and column.order is None)
        or (isinstance(column, Coarsened) and column.bounded)
    )


def _type_of(column: Any, formats: Any) -> str | None:
    """Name the type that a column's role asks for; None where any will do."""
    if needs_numbers(column):
        return NUMBER_TYPE
    hierarchy = getattr(column, "hierarchy", None)
    of_days = formats is not None and hierarchy is not None and hierarchy_kind(hierarchy).days
    return DATE_TYPE if of_days else None


def _as_is(column: Any) -> bool:
    """Tell whether a column is released with its values, none of which the policy or a hierarchy lists."""
    listed = isinstance(column, Sensitive) and column.order is not None
    return isinstance(column, (Sensitive, Insensitive)) and column.hierarchy is None and not listed


def unfit_cleaning(clean: Clean | None, sections: Mapping[str, Any]) -> Iterator[str]:
    """Yield which keys of the section do not fit the other sections.

    Args:
        clean: None where there is no such section, or it did not parse.
        sections: with ``columns``; a column that did not parse is None.
    """
    if clean is None:
        return
    columns = sections["columns"]
    if unknown := sorted(set(clean.columns) - set(columns)):
        yield f"clean.columns: must name columns of the policy, got {', '.join(map(escape, unknown))}"
    if clean.thousands == (clean.decimal or "."):
        yield f"clean.thousands: must not be the decimal sign, got {clean.thousands}"
    for name, own in clean.columns.items():
        if columns.get(name) is not None:
            yield from (f"clean.columns.{name}.{why}" for why in _unfit(clean, name, own, columns[name]))


def _unfit(clean: Clean, name: str, own: CleanColumn, column: Any) -> Iterator[str]:
    """Yield which keys of one column do not fit its type or its role."""
    found = column_cleaning(clean, name, column)
    if needs_numbers(column) and not found.type.numeric:
        fits = " or ".join(one.name for one in COLUMN_TYPES.values() if one.numeric)
        yield f"type: must be {fits}, which the role of the column needs, got {found.type.name}"
    given = {key for key in TYPED_KEYS if getattr(own, key) is not None}
    for key in sorted(given - found.type.keys):
        fits = ", ".join(one.name for one in COLUMN_TYPES.values() if key in one.keys)
        yield f"{key}: must be given only with type: {fits}, got {found.type.name}"
    own_sign = own.thousands is not None or own.decimal is not None
    if own_sign and found.thousands == (found.decimal or ".") and "thousands" in found.type.keys:
        yield f"thousands: must not be the decimal sign, got {found.thousands}"
    if own.truncate is not None and isinstance(column, Identifier):
        yield "truncate: must be left out for identifiers: different people would have the same one"
