"""How the time of a recoder grows with records, and with nodes of the lattice.

Time is the processor's: each point is taken once, and a busy machine changes that time little.

Belongs here: the points, their processes and limit, the table. Does not belong here: what a point times
(`recoder_rows`), the picture (`plot`).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).resolve().parents[1]
_START: Final = 60.0  # seconds for a process to import, to make its data and to load kernels

Curves = Mapping[str, Mapping[int, float]]
"""Seconds of the processor at each point that was reached, by the recoder's title."""


@dataclass(frozen=True, slots=True)
class Point:
    """One recoding: who is asked, of how many records, with which lattice, for which loss."""

    recoder: str
    records: int
    nodes: int
    loss: str = "precision"


@dataclass(frozen=True, slots=True)
class Growth:
    """What grows.

    title, axis: for people.
    sizes: in ascending order.
    series: what is asked, by its title; of a size.
    """

    title: str
    axis: str
    sizes: tuple[int, ...]
    series: Mapping[str, Callable[[int], Point]]


_MANY: Final = 6_561  # nodes while records grow
_SOME: Final = 30_000  # records while nodes grow


def _in_records(recoder: str, loss: str = "precision") -> Callable[[int], Point]:
    return lambda size: Point(recoder, size, _MANY, loss)


def _in_nodes(recoder: str, loss: str = "precision") -> Callable[[int], Point]:
    return lambda size: Point(recoder, _SOME, size, loss)


BY_RECORDS: Final = Growth(
    f"8 generated columns, {_MANY:,} nodes (mdav: 4 numbers), k = 5",
    "records",
    (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000),
    {
        "optimal, precision": _in_records("optimal"),
        "optimal, class size": _in_records("optimal", "average_class_size"),
        **{name: _in_records(name) for name in ("ola", "incognito", "datafly", "mondrian", "mdav")},
    },
)
BY_NODES: Final = Growth(
    f"{_SOME:,} records, 8 generated columns with few or many levels, k = 5",
    "nodes",
    (256, 1_296, 6_561, 20_736, 49_152, 150_000),
    {
        "optimal, precision": _in_nodes("optimal"),
        "optimal, class size": _in_nodes("optimal", "average_class_size"),
        **{name: _in_nodes(name) for name in ("ola", "incognito", "datafly", "mingen")},
    },
)


def seconds_of(point: Point, *, limit: float) -> float | None:
    """Time a point in a process of its own, numba warm, encoding included; None beyond the limit, or refused.

    Args:
        point: what is asked.
        limit: seconds of the processor; the whole process may take three times that and a minute.
    Raises:
        SystemExit: the process failed; its own message is on standard error.
    """
    command = _command(point)
    try:
        done = subprocess.run(
            command, cwd=_ROOT, stdout=subprocess.PIPE, text=True, timeout=3 * limit + _START, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        raise SystemExit(f"{' '.join(command[1:])} must end with 0, got {done.returncode}.")
    found = json.loads(done.stdout)
    seconds = float(min(found["processor"]))
    return None if seconds > limit or found["visited"] is None else seconds


def _command(point: Point) -> list[str]:
    asked = ["growth", point.recoder, str(point.records), str(point.nodes), point.loss]
    return [sys.executable, "-m", "benchmarks.recoder_rows", *asked]


def grow(
    growth: Growth,
    *,
    limit: float,
    timed: Callable[..., float | None] = seconds_of,
) -> Curves:
    """Time each series until a point takes longer than the limit.

    Args:
        growth: what grows.
        limit: seconds for one point.
        timed: in place of `seconds_of`.
    """
    curves: dict[str, dict[int, float]] = {}
    for title, point in growth.series.items():
        curves[title] = {}
        for size in growth.sizes:
            seconds = timed(point(size), limit=limit)
            if seconds is None:
                break
            curves[title][size] = seconds
    return curves


def growth_table(growth: Growth, curves: Curves, *, limit: float) -> str:
    """Write the curves as a table of Markdown, a column for each series."""
    rows: list[Sequence[str]] = [[growth.axis, *curves], ["---:"] * (1 + len(curves))]
    rows += [
        [f"{size:,}", *(_cell(curve, growth.sizes, size) for curve in curves.values())]
        for size in growth.sizes
    ]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return (
        f"Seconds of the processor against {growth.axis}: {growth.title}. A dash: beyond {limit:g} s, or "
        f"refused; larger ones are not tried.\n\n{table}"
    )


def _cell(curve: Mapping[int, float], sizes: Sequence[int], size: int) -> str:
    if size in curve:
        return f"{curve[size]:.3f}" if curve[size] < 1 else f"{curve[size]:.1f}"
    return "–" if size == sizes[len(curve)] else ""
