"""A map of risk against loss: releases as points, each with its number, as one SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from anon_pipeline.base.drawing import limit_line, picture, shape
from anon_pipeline.tuning.map_frame import PAPER, STYLE, MapWords, map_axes, scale_of

_LINE = 18
_NEAR = 14


@dataclass(frozen=True, slots=True)
class MapPoint:
    """A release on the map.

    place: its number, from 1.
    said: what it is, and its numbers.
    verdict: of the gate, in words.
    """

    place: int
    loss: float
    risk: float
    passes: bool
    said: str
    verdict: str


def risk_map(
    points: Sequence[MapPoint], words: MapWords, summary: str, *, bound: tuple[str, float] | None = None
) -> str:
    """Draw releases by their risk and their loss.

    Args:
        words: what the map and its axes are called.
        summary: of the map, for who cannot see it.
        bound: a limit on the risk, and what it says.
    Returns:
        An SVG document, light or dark as the reader's system is. Numbers on the map are explained below it.
    Source:
        [DB 2.7].
    """
    limits = [] if bound is None else [bound[1]]
    scale = scale_of([one.loss for one in points], [*(one.risk for one in points), *limits])
    size = (PAPER.x(1) + 24, PAPER.y(0) + 72 + _LINE * len(points))
    places = [(one, *scale.place(one.loss, one.risk)) for one in points]
    parts = [
        shape("style", Markup(STYLE)),  # noqa: S704 - a constant
        shape("rect", class_="paper", width=size[0], height=size[1]),
        *map_axes(scale, words),
        *(limit_line(PAPER, scale.up(bound[1]), bound[0]) if bound is not None else ()),
        *(_mark(one, x, y) for one, x, y in places),
        *_labels(places),
        *(part for line, one in enumerate(points) for part in _explain(one, PAPER.y(0) + 72 + _LINE * line)),
    ]
    return f"{picture('variants', words.document, summary, size, parts)}\n"


def _style(one: MapPoint) -> str:
    return "pass" if one.passes else "miss"


def _mark(one: MapPoint, x: float, y: float) -> Markup:
    """Draw a release; what it is shows as a tooltip."""
    said = shape("title", f"{one.place}. {one.said}, {one.verdict}")
    return shape("circle", said, class_=_style(one), cx=x, cy=y, r=4)


def _labels(points: Sequence[tuple[MapPoint, float, float]]) -> Iterator[Markup]:
    """Write the numbers of the releases beside them; points that overlap share one label."""
    found: dict[tuple[int, int], list[tuple[int, float, float]]] = {}
    for one, x, y in points:
        found.setdefault((round(x / _NEAR), round(y / _NEAR)), []).append((one.place, x, y))
    for ones in found.values():
        text = ", ".join(str(place) for place, _, _ in ones)
        yield shape("text", text, x=max(x for _, x, _ in ones) + 7, y=ones[0][2] + 4, font_size=11)


def _explain(one: MapPoint, y: float) -> Iterator[Markup]:
    """Write what a number stands for."""
    yield shape("circle", class_=_style(one), cx=PAPER.left + 6, cy=y - 4, r=4)
    said = f"{one.place}. {one.said}, {'passes' if one.passes else 'is refused'}"
    yield shape("text", said, x=PAPER.left + 16, y=y)
