"""The R-U map of a tuning: risk against loss, as one SVG that needs nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from anon_pipeline.base.drawing import Paper, axes, limit_line, picture, shape
from anon_pipeline.limits.table import demands, limit_of
from anon_pipeline.policy.model import Policy
from anon_pipeline.tuning.output import number, title, verdict
from anon_pipeline.tuning.results import Point, Tuning

_PAPER: Final = Paper(left=72, top=52, wide=560, high=360)
_STYLE: Final = """
svg { color-scheme: light dark; font: 12px sans-serif; }
.paper { fill: #ffffff; } text { fill: #1a1a1a; } .grid { stroke: #d8d8d8; }
.limit { stroke: #b00020; stroke-width: 1.5; stroke-dasharray: 6 3; } .limit-text { fill: #b00020; }
.front { stroke: #005a9c; stroke-width: 1.5; fill: none; }
.pass { fill: #005a9c; stroke: #005a9c; } .miss { fill: #ffffff; stroke: #6b6b6b; }
.best { fill: none; stroke: #1a1a1a; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
  .paper { fill: #16181c; } text { fill: #ececec; } .grid { stroke: #3a3d42; }
  .limit { stroke: #ff8a8a; } .limit-text { fill: #ff8a8a; } .front { stroke: #7cc0ff; }
  .pass { fill: #7cc0ff; stroke: #7cc0ff; } .miss { fill: #16181c; stroke: #a8a8a8; }
  .best { stroke: #ececec; }
}
"""


def ru_map(tuning: Tuning, policy: Policy | None = None) -> str:
    """Draw risk (share linked of what is released, logarithmic) against loss, the limit on linking drawn in.

    Args:
        tuning: of a grid.
        policy: whose limit on linking is drawn; None: the one that the points were judged by.
    Returns:
        An SVG document, light or dark as the reader's system is; each point has its values as a title.
    Source:
        [DB 2.7].
    """
    limit, bound = _judged_limit(tuning) if policy is None else _policy_limit(policy)
    scale = _scale(tuning, bound)
    summary = (
        f"{len(tuning.points)} points, {sum(point.passes for point in tuning.points)} of them keep limits. "
        f"{'None is recommended.' if tuning.recommended is None else title(tuning.recommended)}"
    )
    size = (_PAPER.x(1) + 24, _PAPER.y(0) + 88)
    parts = [
        shape("style", Markup(_STYLE)),  # noqa: S704 - a constant
        shape("rect", class_="paper", width=size[0], height=size[1]),
        *_axes(scale),
        *(limit_line(_PAPER, scale.up(bound), f"gate.{limit}: at most {bound:g}") if bound else ()),
        *_front([_place(point, scale) for point in tuning.front]),
        *(
            part
            for point in sorted(tuning.points, key=lambda point: point.passes)
            for part in _mark(point, _place(point, scale), is_best=point == tuning.recommended)
        ),
        *_legend(),
    ]
    name = "R-U map" if policy is None else f"R-U map of {policy.name}"
    return f"{picture('map', f'{name}: linking risk against loss', summary, size, parts)}\n"


def _policy_limit(policy: Policy) -> tuple[str, float]:
    """Return the limit of the risk that a policy sets, and its bound; 0 without one."""
    found = ((demand.name, demand.bound or 0.0) for demand in demands(policy) if demand.limit.forecast.mapped)
    return next(found, ("", 0.0))


def _judged_limit(tuning: Tuning) -> tuple[str, float]:
    """Return the limit of the risk that points were judged by, and its bound; 0 without one."""
    judged = [verdict for point in tuning.points for verdict in point.verdicts]
    found = ((one.limit, one.bound or 0.0) for one in judged if limit_of(one.limit).forecast.mapped)
    return next(found, ("", 0.0))


@dataclass(frozen=True, slots=True)
class _Scale:
    """Where axes end: powers of ten of the risk, and the loss."""

    low: int
    high: int
    most: float

    def up(self, risk: float) -> float:
        """Return the place of a risk on its axis."""
        power = self.low if risk <= 0 else max(math.log10(risk), self.low)
        return (power - self.low) / (self.high - self.low)


def _scale(tuning: Tuning, bound: float) -> _Scale:
    """Let the axes end where all points and the limit fit; a fifth of the axis of loss is a round number."""
    risks = [risk for risk in (*(point.expected.risk for point in tuning.points), bound) if risk > 0] or [1.0]
    low, high = math.floor(math.log10(min(risks))), math.ceil(math.log10(max(risks)))
    loss = max((point.expected.loss for point in tuning.points), default=0.0)
    most = next(top for top in (0.1, 0.2, 0.5, 0.75, 1.0) if loss <= top + 1e-9)
    return _Scale(low, max(high, low + 1), most)


def _place(point: Point, scale: _Scale) -> tuple[float, float]:
    return _PAPER.x(min(point.expected.loss / scale.most, 1.0)), _PAPER.y(scale.up(point.expected.risk))


def _axes(scale: _Scale) -> Iterator[Markup]:
    yield shape("text", "Linking risk against loss", x=_PAPER.left, y=24, font_size=15)
    said = "share linked of the released records (logarithmic)"
    yield shape("text", said, x=_PAPER.left, y=_PAPER.top - 10)
    yield from axes(
        _PAPER,
        [(i / 5, f"{scale.most * i / 5:.3g}") for i in range(6)],
        [(scale.up(10.0**power), f"{10.0**power:g}") for power in range(scale.low, scale.high + 1)],
    )
    said = "loss: share of what the quasi-identifiers say that is lost"
    yield shape("text", said, x=_PAPER.x(0.5), y=_PAPER.y(0) + 40, text_anchor="middle")


def _front(places: list[tuple[float, float]]) -> Iterator[Markup]:
    if places:
        yield shape("polyline", class_="front", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in places))


def _mark(point: Point, place: tuple[float, float], *, is_best: bool) -> Iterator[Markup]:
    (x, y), risk, loss = place, number(point.expected.risk, 2), number(point.expected.loss)
    said = shape("title", f"{title(point)}: linking {risk}, loss {loss}, {verdict(point)}")
    yield shape("circle", said, class_="pass" if point.passes else "miss", cx=x, cy=y, r=4)
    if is_best:
        anchor, aside = ("end", -12) if x > _PAPER.x(0.4) else ("start", 12)
        yield shape("circle", class_="best", cx=x, cy=y, r=8)
        yield shape("text", f"recommended: {title(point)}", x=x + aside, y=y + 20, text_anchor=anchor)


def _legend() -> Iterator[Markup]:
    left, y = _PAPER.left, _PAPER.y(0) + 68
    yield shape("circle", class_="pass", cx=left + 6, cy=y - 4, r=4)
    yield shape("text", "keeps the limits that can be judged", x=left + 16, y=y)
    yield shape("circle", class_="miss", cx=left + 246, cy=y - 4, r=4)
    yield shape("text", "does not", x=left + 256, y=y)
    yield shape("line", class_="front", x1=left + 326, x2=left + 350, y1=y - 4, y2=y - 4)
    yield shape("text", "no point is better (Pareto front)", x=left + 356, y=y)
