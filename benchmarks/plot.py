"""Curves on logarithmic axes, written as SVG.

Belongs here: drawing. Does not belong here: what is drawn.
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
_LEFT, _TOP, _WIDE, _HIGH, _LEGEND, _NEXT = 60, 40, 420, 300, 170, 390


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture: seconds at each size, by the curve's title."""

    title: str
    axis: str
    curves: Mapping[str, Mapping[int, float]]


def decades(values: Sequence[float]) -> tuple[int, int]:
    """Return the powers of ten around positive values, at least one decade apart.

    >>> decades([0.02, 30])
    (-2, 2)
    >>> decades([10])
    (1, 2)
    """
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def place(value: float, span: tuple[int, int], length: float) -> float:
    """Return how far along an axis a value lies.

    >>> place(10, (0, 2), 300)
    150.0
    """
    low, high = span
    return (math.log10(value) - low) / (high - low) * length


def drawn(panels: Sequence[Panel]) -> str:
    """Draw panels below each other; those without a point are left out."""
    shown = [panel for panel in panels if any(panel.curves.values())]
    wide, high = _LEFT + _WIDE + _LEGEND, _NEXT * len(shown)
    body = "\n".join(part for i, panel in enumerate(shown) for part in _panel(panel, i * _NEXT + _TOP))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" '
        f'font-family="sans-serif" font-size="12">\n<rect width="{wide}" height="{high}" fill="white"/>\n'
        f"{body}\n</svg>\n"
    )


def _panel(panel: Panel, top: float) -> Iterator[str]:
    across = decades([size for curve in panel.curves.values() for size in curve])
    up = decades([seconds for curve in panel.curves.values() for seconds in curve.values()])
    yield _text(_LEFT, top - 15, panel.title)
    yield from _axes(panel.axis, across, up, top)
    for number, (title, curve) in enumerate(panel.curves.items()):
        color = _COLORS[number % len(_COLORS)]
        points = [
            (_LEFT + place(size, across, _WIDE), top + _HIGH - place(seconds, up, _HIGH))
            for size, seconds in sorted(curve.items())
        ]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        yield f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="1.5"/>'
        yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{color}"/>' for x, y in points)
        yield _text(_LEFT + _WIDE + 12, top + 14 + 18 * number, title, color=color)


def _axes(axis: str, across: tuple[int, int], up: tuple[int, int], top: float) -> Iterator[str]:
    bottom = top + _HIGH
    for power in range(across[0], across[1] + 1):
        x = _LEFT + place(10.0**power, across, _WIDE)
        yield f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" stroke="#ddd"/>'
        yield _text(x, bottom + 16, f"{10**power:,}", anchor="middle")
    for power in range(up[0], up[1] + 1):
        y = bottom - place(10.0**power, up, _HIGH)
        yield f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_LEFT + _WIDE}" y2="{y:.1f}" stroke="#ddd"/>'
        yield _text(_LEFT - 6, y + 4, f"{10.0**power:g} s", anchor="end")
    yield _text(_LEFT + _WIDE / 2, bottom + 34, axis, anchor="middle")


def _text(x: float, y: float, text: str, *, anchor: str = "start", color: str = "black") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{escape(text)}</text>'
