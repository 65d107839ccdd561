"""The shape of each stage's table, as Pandera schemas built from the policy.

Belongs here: schemas whose checks return one answer for a column, and reading their failures without a
value. Does not belong here: privacy limits (`evaluate`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from anon_pipeline.deidentify import MASKED
from anon_pipeline.encode import CLASS, PERSON, RECORD
from anon_pipeline.gate.identifiers import RULE, NoIdentifiers, no_identifiers, said_in_detail
from anon_pipeline.hierarchy import Hierarchy
from anon_pipeline.perturb.grid import to_grid
from anon_pipeline.policy.columns import Column, Identifier, Perturb, PerturbCategories, Sensitive
from anon_pipeline.policy.model import Policy
from anon_pipeline.recode import MICROAGGREGATION

if TYPE_CHECKING:
    import pandera.pandas as pa

__all__ = [
    "broken_contract",
    "deidentified_contract",
    "k_anonymized_contract",
    "raw_contract",
    "release_contract",
]

_HASH = 64
_DAY = r"-?\d{4,}-\d\d-\d\d"


def broken_contract(frame: pd.DataFrame, schema: pa.DataFrameSchema) -> list[str]:
    """Check a table and list what is broken: column and rule, with counts where the rule counts.

    Pandera's own report quotes cells and whole rows; nothing of it but names is kept.

    Args:
        frame: (n, columns).
        schema: one of the contracts of this module.
    Returns:
        One line per broken rule, sorted; empty if the contract holds.
    """
    from pandera.errors import SchemaErrors  # noqa: PLC0415 - slow to import

    try:
        schema.validate(frame, lazy=True)
    except SchemaErrors as errors:
        cases = errors.failure_cases
        lines = {_line(row.schema_context, row.column, row.check, schema) for row in cases.itertuples()}
        return said_in_detail(lines, frame, _identifier_rules(schema))
    return []


def _identifier_rules(schema: pa.DataFrameSchema) -> dict[str, NoIdentifiers]:
    """Return the rule about identifiers of each column that has it."""
    asked = ((name, check._check_fn) for name, column in schema.columns.items() for check in column.checks)
    return {name: rule for name, rule in asked if isinstance(rule, NoIdentifiers)}


def _line(context: object, column: object, check: object, schema: pa.DataFrameSchema) -> str:
    """Name a broken rule. A column that the schema does not know is named by its rule alone."""
    rule = (
        str(check).split("(")[0]
        if str(check).startswith(("dtype", "column_in", "not_nullable"))
        else str(check)
    )
    where = str(column) if str(column) in schema.columns else str(context)
    return f"{where}: {rule}"


def _schema(columns: dict[str, pa.Column]) -> pa.DataFrameSchema:
    import pandera.pandas as pa  # noqa: PLC0415

    return pa.DataFrameSchema(columns, strict=True, unique_column_names=True)


def _one(rule: str, holds: Callable[[pd.Series], bool]) -> pa.Check:
    """Return a check that answers once for a column, so that no row can reach a report."""
    import pandera.pandas as pa  # noqa: PLC0415

    return pa.Check(holds, name=rule, error=rule, ignore_na=False, raise_warning=False)


def _column(dtype: str | None, checks: Iterable[pa.Check], *, nullable: bool) -> pa.Column:
    import pandera.pandas as pa  # noqa: PLC0415

    return pa.Column(dtype, checks=list(checks), nullable=nullable)


def _ids(*names: str) -> dict[str, pa.Column]:
    return {name: _column("int64", [], nullable=False) for name in names}


def raw_contract(policy: Policy) -> pa.DataFrameSchema:
    """Every declared column and the record id; numbers are numbers; values where they must be."""
    columns = {name: _original(column) for name, column in policy.columns.items()}
    return _schema({**_ids(RECORD), **columns})


def _original(column: Column, checks: Iterable[pa.Check] = ()) -> pa.Column:
    numeric = isinstance(column, Perturb)
    allowed = not isinstance(column, (Perturb, PerturbCategories, Sensitive)) or column.missing == "suppress"
    return _column("float64" if numeric else None, checks, nullable=allowed)


def _clean(column: Column) -> pa.Check:
    return _one(RULE, no_identifiers(column))


def deidentified_contract(policy: Policy) -> pa.DataFrameSchema:
    """No dropped identifier is left, masked and hashed ones look so, no other text holds one."""
    columns: dict[str, pa.Column] = {}
    for name in policy.released:
        column = policy.columns[name]
        if isinstance(column, Identifier):
            columns[name] = _replaced(column)
        else:
            columns[name] = _original(column, [_clean(column)])
    return _schema({**_ids(RECORD), **_person(policy), **columns})


def _person(policy: Policy) -> dict[str, pa.Column]:
    """Return the column that says whose record it is: a keyed hash, different in every record."""
    if policy.record_key is None:
        return {}
    rule = _one(
        "must be a keyed hash, different in every record",
        lambda s: bool(s.str.fullmatch(rf"[0-9a-f]{{{_HASH}}}").all()) and not s.duplicated().any(),
    )
    return {PERSON: _column(None, [rule], nullable=False)}


def _replaced(column: Identifier) -> pa.Column:
    if column.action == "mask":
        rule = _one("must be masked", lambda s: set(s.dropna().unique()) <= {MASKED})
    else:
        rule = _one(
            "must be a keyed hash", lambda s: bool(s.dropna().str.fullmatch(rf"[0-9a-f]{{{_HASH}}}").all())
        )
    return _column(None, [rule], nullable=True)


def k_anonymized_contract(
    policy: Policy, hierarchies: Iterable[Hierarchy], levels: dict[str, int] | None
) -> pa.DataFrameSchema:
    """Generalized values are values of their hierarchy: of the chosen level, of any level or range, or means.

    Args:
        policy: names the columns; with ``suppress: cells`` the top's value may be anywhere.
        hierarchies: of the generalize columns, in the policy's order.
        levels: level of each column after full-domain recoding; None after local recoding.
    """
    columns = dict(deidentified_contract(policy).columns)
    for hierarchy in hierarchies:
        means = policy.anonymize.recoder in MICROAGGREGATION
        cells = policy.anonymize.suppress == "cells"
        rule = _generalized(hierarchy, levels, means=means, cells=cells)
        columns[hierarchy.column] = _column(None, [rule], nullable=True)
    return _schema({**_ids(RECORD, CLASS), **{name: c for name, c in columns.items() if name != RECORD}})


def _between(hierarchy: Hierarchy, texts: pd.Series) -> bool:
    """Whether texts are numbers, or days, between the least and the greatest leaf."""
    coordinates = hierarchy.coordinates
    if coordinates is None:
        return False
    if re.fullmatch(_DAY, str(hierarchy.values[0][0])):
        if not texts.str.fullmatch(_DAY).all():
            return False
        found = texts.to_numpy("datetime64[D]").astype("int64")
    else:
        found = pd.to_numeric(texts, errors="coerce").to_numpy("float64")
    known = coordinates[~np.isnan(coordinates)]
    return bool(((found >= known.min()) & (found <= known.max())).all())


def _generalized(
    hierarchy: Hierarchy, levels: dict[str, int] | None, *, means: bool, cells: bool
) -> pa.Check:
    chosen = hierarchy.values if levels is None else (hierarchy.values[levels[hierarchy.column]],)
    chosen = (*chosen, hierarchy.values[-1]) if cells else chosen
    allowed = {str(value) for values in chosen for value in values if value is not None}
    is_range = _range_of(hierarchy) if levels is None else None

    def holds(column: pd.Series) -> bool:
        found = pd.Series(column.dropna().astype("str").unique(), dtype="str")
        others = found[~found.isin(allowed)]
        if means:
            return others.empty or _between(hierarchy, others)
        return others.empty or (is_range is not None and all(map(is_range, others)))

    return _one("must be values of the hierarchy at their level", holds)


def _range_of(hierarchy: Hierarchy) -> Callable[[str], bool] | None:
    """Return what tells whether a text is a range of this hierarchy's values; None if it has no ranges."""
    if hierarchy.coordinates is not None:
        return lambda text: re.fullmatch(r"\[[^\[\]]+, [^\[\]]+\]", text) is not None
    if not hierarchy.ordered:
        return None
    ranks = {str(value): rank for rank, value in enumerate(hierarchy.values[0]) if value is not None}

    def is_range(text: str) -> bool:
        commas = [match.start() for match in re.finditer(", ", text)]
        ends = [(text[1:comma], text[comma + 2 : -1]) for comma in commas]
        return text[:1] + text[-1:] == "[]" and any(
            low in ranks and high in ranks and ranks[low] < ranks[high] for low, high in ends
        )

    return is_range


def release_contract(policy: Policy) -> pa.DataFrameSchema:
    """What is published: the policy's columns and no private one, no identifier, numbers on their grid."""
    columns: dict[str, pa.Column] = {}
    for name in policy.released:
        column = policy.columns[name]
        if isinstance(column, Identifier):
            columns[name] = _replaced(column)
        elif isinstance(column, Perturb):
            rules = [_on_grid(column.resolution), _clean(column)]
            columns[name] = _column("float64", rules, nullable=False)
        elif isinstance(column, PerturbCategories):
            columns[name] = _column(None, [_of_domain(column.domain)], nullable=False)
        else:
            columns[name] = _column(None, [_clean(column)], nullable=not isinstance(column, Sensitive))
    return _schema(columns)


def _of_domain(domain: Iterable[str]) -> pa.Check:
    return _one("must be of the policy's domain", lambda column: bool(column.isin(set(domain)).all()))


def _on_grid(resolution: float) -> pa.Check:
    def holds(column: pd.Series) -> bool:
        grid = to_grid(column.to_numpy(), resolution)
        return bool((grid == grid.round()).all())

    return _one("must lie on the declared grid", holds)
