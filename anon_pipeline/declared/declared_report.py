"""The report of a release with declared columns, one HTML file: of manifest, public policy and files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from anon_pipeline.base.drawing import bars
from anon_pipeline.declared.domain_codes import bin_starts, values_of
from anon_pipeline.declared.parts import parts_of
from anon_pipeline.policy.declared_columns import DeclaredColumn
from anon_pipeline.policy.declared_release import DeclaredRelease
from anon_pipeline.report.page_template import page_template

_PAGE = Path(__file__).parent / "declared_report.html.j2"
_MOST = 12
"""Bars of a column: categories, the rest of them together, or intervals of numbers."""


def declared_report(
    policy: DeclaredRelease, document: Mapping[str, Any], tables: Sequence[pd.DataFrame]
) -> bytes:
    """Write the report of a release, HTML in UTF-8; equal for equal arguments.

    Args:
        document: the manifest.
        tables: the released tables; what is shown of columns is counted in all of them together.
    """
    parts, records = parts_of(policy.kind), int(document["records"])
    columns = [
        (name, domain_words(column), list(_bars(column, cells_of(tables, name))))
        for name, column in policy.columns.items()
    ]
    charts = [
        bars(
            f"column-{number}",
            name,
            f"How many of the released records have which {name}.",
            [(label, [count], [f"{count:,}"]) for label, count in rows],
        )
        for number, (name, _, rows) in enumerate(columns)
    ]
    shown = parts.shown(policy, records)
    section = page_template(parts.section).render(policy=policy, **shown)
    page = page_template(_PAGE).render(
        policy=policy,
        document=document,
        section=Markup(section),  # noqa: S704 - a template has escaped it
        meanings=parts.meanings,
        columns=list(zip(columns, charts, strict=True)),
        **shown,
    )
    return page.encode()


def cells_of(tables: Sequence[pd.DataFrame], name: str) -> pd.Series:
    """Return the cells of a column in all tables that have it."""
    found = [table[name] for table in tables if name in table.columns]
    return found[0] if len(found) == 1 else pd.concat(found, ignore_index=True)


def domain_words(column: DeclaredColumn) -> str:
    """Say what values a column can have."""
    if column.values is not None:
        said, others = f"{len(column.values):,} declared categories", "none of them"
    else:
        low, high = column.bounds or (0.0, 0.0)
        binned = "" if column.bins is None else f", counted in {column.bins:,} intervals"
        said = f"numbers from {low:.15g} to {high:.15g} in steps of {column.resolution:.15g}{binned}"
        others = "no number"
    return f"{said}; a cell of the source that holds {others} counts as {column.otherwise}"


def _bars(column: DeclaredColumn, cells: pd.Series) -> Iterator[tuple[str, int]]:
    """Yield labels and counts of the released values."""
    if column.values is not None:
        counts = cells.value_counts()
        shown = [(value, int(counts.get(value, 0))) for value in column.values]
        if len(shown) > _MOST:
            shown.sort(key=lambda one: -one[1])
        yield from shown[:_MOST]
        if rest := shown[_MOST:]:
            yield f"{len(rest):,} other values", sum(count for _, count in rest)
        return
    many = min(_MOST, column.counted)
    starts = bin_starts(column.size, many)
    edges = values_of(column, np.array([starts[:-1], starts[1:] - 1]).ravel()).to_numpy()
    lows, highs = edges[:many], edges[many:]
    for low, high in zip(lows, highs, strict=True):
        label = f"{low:.15g}" if low == high else f"{low:.15g} to {high:.15g}"
        yield label, int(((cells >= low) & (cells <= high)).sum())
