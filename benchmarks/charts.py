"""Curves on linear or logarithmic axes, several pictures side by side, written as SVG.

Belongs here: drawing. Does not belong here: what is drawn (`paper_plots`). Growth over decades is drawn by
`plot`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

_COLORS: Final = (
    *("#0072b2", "#e69f00", "#009e73", "#cc79a7"),
    *("#56b4e9", "#d55e00", "#000000", "#8c6d31"),
)
_LEFT, _TOP, _WIDE, _HIGH, _LEGEND, _BELOW = 58, 34, 300, 220, 130, 56
_STEPS: Final = 5


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis.

    title: with the unit.
    ticks: numbered, ascending, at least two; the axis goes from the first to the last.
    log: whether it is logarithmic; then the ticks are > 0.
    """

    title: str
    ticks: tuple[float, ...]
    log: bool = False

    def place(self, value: float) -> float:
        """Return how far along the axis a value lies, 0 to 1; what is beyond an end is at the end.

        >>> Axis("k", (1, 10, 100), log=True).place(10)
        0.5
        """
        low, high = self.ticks[0], self.ticks[-1]
        if self.log:
            value, low, high = math.log(max(value, low)), math.log(low), math.log(high)
        return min(max((value - low) / (high - low), 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class Chart:
    """One picture: points by the curve's title; a dashed curve's title begins with ``~``, left out there."""

    title: str
    x: Axis
    y: Axis
    curves: Mapping[str, Sequence[tuple[float, float]]]


def nice_top(most: float) -> tuple[float, ...]:
    """Return five steps from 0 to a round number that is not below the largest value.

    >>> nice_top(0.37)
    (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    >>> nice_top(0)
    (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    """
    if most <= 0:
        most = 1.0
    unit = 10.0 ** math.floor(math.log10(most))
    top = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= most * (1 - 1e-12))
    return tuple(round(top * i / _STEPS, 12) for i in range(_STEPS + 1))


def svg(charts: Sequence[Chart], *, columns: int = 2) -> str:
    """Draw charts in rows.

    Args:
        charts: in reading order.
        columns: in a row.
    Returns:
        A picture that needs nothing else.
    """
    each_wide, each_high = _LEFT + _WIDE + _LEGEND, _TOP + _HIGH + _BELOW
    wide = each_wide * min(columns, max(len(charts), 1))
    high = each_high * -(-len(charts) // columns)
    body = "\n".join(
        part
        for i, chart in enumerate(charts)
        for part in _chart(chart, i % columns * each_wide + _LEFT, i // columns * each_high + _TOP)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" '
        f'font-family="sans-serif" font-size="11">\n<rect width="{wide}" height="{high}" fill="white"/>\n'
        f"{body}\n</svg>\n"
    )


def _chart(chart: Chart, left: float, top: float) -> Iterator[str]:
    yield _text(left, top - 12, chart.title, bold=True)
    yield from _axes(chart, left, top)
    for number, (title, curve) in enumerate(chart.curves.items()):
        color, dashed = _COLORS[number % len(_COLORS)], title.startswith("~")
        points = [
            (left + chart.x.place(x) * _WIDE, top + _HIGH - chart.y.place(y) * _HIGH)
            for x, y in sorted(curve)
            if math.isfinite(y)
        ]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        style = f'stroke="{color}" stroke-width="1.5"' + (' stroke-dasharray="5 3"' if dashed else "")
        yield f'<polyline points="{line}" fill="none" {style}/>'
        if len(points) < 20:
            yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{color}"/>' for x, y in points)
        yield _text(left + _WIDE + 10, top + 10 + 16 * number, title.removeprefix("~"), color=color)


def _axes(chart: Chart, left: float, top: float) -> Iterator[str]:
    bottom = top + _HIGH
    for tick in chart.x.ticks:
        x = left + chart.x.place(tick) * _WIDE
        yield f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" stroke="#ddd"/>'
        yield _text(x, bottom + 15, f"{tick:g}", anchor="middle")
    for tick in chart.y.ticks:
        y = bottom - chart.y.place(tick) * _HIGH
        yield f'<line x1="{left}" y1="{y:.1f}" x2="{left + _WIDE}" y2="{y:.1f}" stroke="#ddd"/>'
        yield _text(left - 5, y + 4, f"{tick:g}", anchor="end")
    yield _text(left + _WIDE / 2, bottom + 32, chart.x.title, anchor="middle")
    yield _text(left + _WIDE, top - 12, chart.y.title, anchor="end")


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", color: str = "black", bold: bool = False
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}"{weight}>{escape(text)}</text>'
    )
