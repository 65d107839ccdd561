"""The report of an ε-DP release as one HTML file, made from manifest, public policy and released file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anon_pipeline.base.drawing import bars
from anon_pipeline.epsilon_dp.domain_codes import values_of
from anon_pipeline.epsilon_dp.dp_gate import MEANINGS
from anon_pipeline.epsilon_dp.expected_errors import expected_errors
from anon_pipeline.epsilon_dp.histograms import bin_starts
from anon_pipeline.policy.dp_columns import DpColumn
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy
from anon_pipeline.report.page_template import page_template

_PAGE = Path(__file__).parent / "dp_report.html.j2"
_MOST = 12
"""Bars of a column: categories, the rest of them together, or intervals of numbers."""

_METHODS = {
    "histograms": "noisy histograms, and records that are made up to have them",
    "group_means": "noisy means of groups of records (insensitive microaggregation)",
    "column_means": "noisy means of each column by itself (individual ranking)",
}


def dp_report(policy: EpsilonDpPolicy, document: Mapping[str, Any], frame: pd.DataFrame) -> bytes:
    """Write the report of an ε-DP release, HTML in UTF-8; equal for equal arguments.

    Args:
        document: the manifest.
        frame: (n, columns) the released table.
    """
    records = int(document["records"])
    columns = [
        (name, domain_words(column), list(_bars(column, frame[name])))
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
    return (
        page_template(_PAGE)
        .render(
            policy=policy,
            document=document,
            method=_METHODS[policy.method],
            errors=expected_errors(policy, records).items(),
            meanings=MEANINGS,
            columns=list(zip(columns, charts, strict=True)),
        )
        .encode()
    )


def domain_words(column: DpColumn) -> str:
    """Say what values a column can have."""
    if column.values is not None:
        return f"{len(column.values):,} declared categories"
    low, high = column.bounds or (0.0, 0.0)
    binned = "" if column.bins is None else f", counted in {column.bins:,} intervals"
    return f"numbers from {low:g} to {high:g} in steps of {column.resolution:g}{binned}"


def _bars(column: DpColumn, cells: pd.Series) -> Iterator[tuple[str, int]]:
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
        label = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        yield label, int(((cells >= low) & (cells <= high)).sum())
