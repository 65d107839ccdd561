"""The paper's figures as pictures, and their numbers as CSV.

Belongs here: which numbers become which curves. Does not belong here: drawing (`charts`), computing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pandas as pd

from benchmarks.charts import Axis, Chart, nice_top, svg
from benchmarks.spread import Spread

_K: Final = Axis("k", (2, 5, 10, 20, 50, 100), log=True)
_EPSILON: Final = Axis("ε", (0.05, 0.5, 1, 2, 4, 8, 16), log=True)
_NAMES: Final = {"ola": "OLA", "mondrian": "Mondrian"}
_LOG_PERCENT: Final = (0.1, 1, 10, 100, 1000, 10_000)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What was computed for one dataset; None: not asked for.

    title: for people.
    attribute: the ε-quasi-identifier.
    """

    title: str
    attribute: str
    curse: pd.DataFrame | None = field(default=None, repr=False)
    spreads: Sequence[Spread] | None = field(default=None, repr=False)
    points: pd.DataFrame | None = field(default=None, repr=False)
    durations: pd.DataFrame | None = field(default=None, repr=False)


def draw(found: Mapping[str, Found], out: Path) -> list[Path]:
    """Write an SVG for each figure and a CSV for each table of numbers.

    Args:
        found: by dataset.
        out: folder, made if it is not there.
    Returns:
        What was written.
    """
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for name, charts in _pictures(list(found.values())).items():
        if charts:
            written.append(out / f"{name}.svg")
            written[-1].write_text(svg(charts), encoding="utf-8")
    for name, table in _tables(found).items():
        written.append(out / f"{name}.csv")
        table.to_csv(written[-1], index=False)
    return written


def _pictures(found: Sequence[Found]) -> dict[str, list[Chart]]:
    pointed, timed = _blocks(found, "points"), _blocks(found, "durations")
    return {
        "figure1": [
            chart
            for title, attribute, _, block in _blocks(found, "curse")
            for chart in [_curse(title, attribute, block)]
        ],
        "figure2": [_spread(one.title, spread) for one in found for spread in one.spreads or ()],
        "figure3": [_over_k(title, block, "error", log=True) for title, _, _, block in pointed],
        "figure4": [_over_epsilon(title, block, "error") for title, _, _, block in pointed],
        "figure5": [_over_epsilon(title, block, "linking") for title, _, _, block in pointed],
        "figure6": [_over_k(title, block, "extra", log=False) for title, _, _, block in pointed],
        "figure7": [_duration(title, block) for title, _, recoder, block in timed if recoder == "mondrian"],
        "figure8": [_duration(title, block) for title, _, recoder, block in timed if recoder == "ola"],
    }


def _blocks(found: Sequence[Found], name: str) -> list[tuple[str, str, str, pd.DataFrame]]:
    """Return title, attribute, recoder and rows of each dataset and recoder."""
    return [
        (f"{one.title}, {_NAMES[str(recoder)]}", one.attribute, str(recoder), block)
        for one in found
        if getattr(one, name) is not None
        for recoder, block in getattr(one, name).groupby("recoder", sort=False)
    ]


def _curve(block: pd.DataFrame, x: str, y: str, factor: float = 1.0) -> list[tuple[float, float]]:
    return list(zip(block[x].astype(float), factor * block[y].astype(float), strict=True))


def _curse(title: str, attribute: str, block: pd.DataFrame) -> Chart:
    curves = {
        f"{attribute} as ε-quasi": _curve(block, "k", "without"),
        f"{attribute} as k-quasi": _curve(block, "k", "beside"),
        f"~{attribute} itself": _curve(block, "k", "attribute"),
    }
    most = max(y for curve in curves.values() for _, y in curve)
    return Chart(title, _K, Axis("information loss", nice_top(most)), curves)


def _spread(title: str, one: Spread) -> Chart:
    curves = {
        "whole table": _curve(one.curves, "error", "table", 1.0),
        "each class": _curve(one.curves, "error", "classes", 1.0),
        "~uniform ±5 %": _curve(one.curves, "error", "uniform", 1.0),
    }
    named = f"{title}, {_NAMES[one.recoder]}, k = {one.k}, ε = {one.epsilon:g}"
    across = Axis("relative error", (0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3))
    return Chart(named, across, Axis("share", (0, 0.2, 0.4, 0.6, 0.8, 1)), curves)


def _over_k(title: str, block: pd.DataFrame, name: str, *, log: bool) -> Chart:
    curves = {
        f"ε = {epsilon:g}": _curve(rows, "k", _shown(block, name), 100)
        for epsilon, rows in block.groupby("epsilon")
    }
    return Chart(title, _K, _percent(curves, log=log), curves)


def _over_epsilon(title: str, block: pd.DataFrame, name: str) -> Chart:
    curves = {f"k = {k}": _curve(rows, "epsilon", _shown(block, name), 100) for k, rows in block.groupby("k")}
    return Chart(title, _EPSILON, _percent(curves, log=name == "error"), curves)


def _shown(block: pd.DataFrame, name: str) -> str:
    """Return the column that is drawn: the closed form where there is one."""
    return f"{name}_expected" if f"{name}_expected" in block else name


def _percent(curves: Mapping[str, Sequence[tuple[float, float]]], *, log: bool) -> Axis:
    values = [y for curve in curves.values() for _, y in curve]
    if not log:
        return Axis("percent", nice_top(max(values)))
    low = max((tick for tick in _LOG_PERCENT if tick <= min(values)), default=_LOG_PERCENT[0])
    high = min((tick for tick in _LOG_PERCENT if tick >= max(values)), default=_LOG_PERCENT[-1])
    ticks = tuple(tick for tick in _LOG_PERCENT if low <= tick <= high)
    return Axis("percent", ticks if len(ticks) > 1 else (low, 10 * low), log=True)


def _duration(title: str, block: pd.DataFrame) -> Chart:
    curves = {
        "k-anonymity": _curve(block, "k", "k_seconds", 1e3),
        "(k, ε)-anonymity": _curve(block, "k", "k_epsilon_seconds", 1e3),
        "~of it noise": _curve(block, "k", "noise_seconds", 1e3),
    }
    most = max(y for curve in curves.values() for _, y in curve)
    return Chart(title, _K, Axis("milliseconds", nice_top(most)), curves)


def _tables(found: Mapping[str, Found]) -> dict[str, pd.DataFrame]:
    makers: dict[str, Callable[[Found], pd.DataFrame | None]] = {
        "figure1": lambda one: one.curse,
        "figure2": lambda one: None if one.spreads is None else _joined(one.spreads),
        "figures3to6": lambda one: one.points,
        "figures7and8": lambda one: one.durations,
    }
    tables = {}
    for name, made in makers.items():
        parts = [(dataset, table) for dataset, one in found.items() if (table := made(one)) is not None]
        if parts:
            tables[name] = pd.concat([table.assign(dataset=dataset) for dataset, table in parts])
    return tables


def _joined(spreads: Sequence[Spread]) -> pd.DataFrame:
    return pd.concat(
        [one.curves.assign(recoder=one.recoder, k=one.k, epsilon=one.epsilon) for one in spreads]
    )
