"""The R-U map of a tuning: risk against loss, as one SVG that needs nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape
from typing import Final

from anon_pipeline.limits.table import demands
from anon_pipeline.policy.model import Policy
from anon_pipeline.tuning.printed import number, title, verdict
from anon_pipeline.tuning.tuned import Point, Tuning

_LEFT, _TOP, _WIDE, _HIGH = 72, 52, 560, 360
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


def ru_map(tuning: Tuning, policy: Policy) -> str:
    """Draw risk (share linked of what is released, logarithmic) against loss, the limit on linking drawn in.

    Args:
        tuning: of a grid.
        policy: whose limits are drawn.
    Returns:
        An SVG document, light or dark as the reader's system is; each point has its values as a title.
    Source:
        [DB 2.7].
    """
    bound = next((demand.bound for demand in demands(policy) if demand.limit.mapped), None)
    risks = [point.expected.risk for point in tuning.points]
    known = [risk for risk in [*risks, bound or 0.0] if risk > 0] or [1.0]
    low, high = math.floor(math.log10(min(known))), math.ceil(math.log10(max(known)))
    scale = _Scale(low, max(high, low + 1), _nice_top([point.expected.loss for point in tuning.points]))
    summary = (
        f"{len(tuning.points)} points, {sum(point.passes for point in tuning.points)} of them keep limits. "
        f"{'None is recommended.' if tuning.recommended is None else title(tuning.recommended)}"
    )
    body = [
        *_axes(scale),
        *([] if not bound else _limit(scale, bound)),
        *_front(tuning, scale),
        *(part for point in sorted(tuning.points, key=_last) for part in _mark(point, tuning, scale)),
        *_legend(),
    ]
    wide, high_ = _LEFT + _WIDE + 24, _TOP + _HIGH + 88
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high_}" width="{wide}" '
        f'height="{high_}" role="img" aria-labelledby="map-title map-desc">\n'
        f'<title id="map-title">R-U map of {escape(policy.name)}: linking risk against loss</title>\n'
        f'<desc id="map-desc">{escape(summary)}</desc>\n<style>{_STYLE}</style>\n'
        f'<rect class="paper" width="{wide}" height="{high_}"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


class _Scale:
    """Where a risk and a loss are on the paper."""

    def __init__(self, low: int, high: int, top: float) -> None:
        self.low, self.high, self.top = low, high, top

    def x(self, loss: float) -> float:
        return _LEFT + min(loss / self.top, 1.0) * _WIDE

    def y(self, risk: float) -> float:
        at = self.low if risk <= 0 else max(math.log10(risk), self.low)
        return _TOP + _HIGH * (self.high - at) / (self.high - self.low)


def _nice_top(losses: list[float]) -> float:
    """Return the end of the axis, of which a fifth is round too: the first that no loss is beyond."""
    return next(top for top in (0.1, 0.2, 0.5, 0.75, 1.0) if max(losses, default=0.0) <= top + 1e-9)


def _last(point: Point) -> bool:
    return point.passes


def _axes(scale: _Scale) -> Iterator[str]:
    bottom = _TOP + _HIGH
    yield f'<text x="{_LEFT}" y="24" font-size="15">Linking risk against loss</text>'
    yield f'<text x="{_LEFT}" y="{_TOP - 10}">share linked of the released records (logarithmic)</text>'
    for i in range(6):
        loss = scale.top * i / 5
        x = scale.x(loss)
        yield f'<line class="grid" x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{bottom}"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{loss:.3g}</text>'
    for power in range(scale.low, scale.high + 1):
        y = scale.y(10.0**power)
        yield f'<line class="grid" x1="{_LEFT}" y1="{y:.1f}" x2="{_LEFT + _WIDE}" y2="{y:.1f}"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>'
    yield (
        f'<text x="{_LEFT + _WIDE / 2}" y="{bottom + 40}" text-anchor="middle">'
        "loss: share of what the quasi-identifiers say that is lost</text>"
    )


def _limit(scale: _Scale, bound: float) -> Iterator[str]:
    y = scale.y(bound)
    yield f'<line class="limit" x1="{_LEFT}" y1="{y:.1f}" x2="{_LEFT + _WIDE}" y2="{y:.1f}"/>'
    yield (
        f'<text class="limit-text" x="{_LEFT + _WIDE - 4}" y="{y - 5:.1f}" text-anchor="end">'
        f"gate.linking_risk: at most {bound:g}</text>"
    )


def _place(point: Point, scale: _Scale) -> tuple[float, float]:
    return scale.x(point.expected.loss), scale.y(point.expected.risk)


def _front(tuning: Tuning, scale: _Scale) -> Iterator[str]:
    places = [_place(point, scale) for point in tuning.front]
    if places:
        yield f'<polyline class="front" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}"/>'


def _mark(point: Point, tuning: Tuning, scale: _Scale) -> Iterator[str]:
    x, y = _place(point, scale)
    told = (
        f"{title(point)}: linking {number(point.expected.risk, 2)}, "
        f"loss {number(point.expected.loss)}, {verdict(point)}"
    )
    kind = "pass" if point.passes else "miss"
    yield f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{escape(told)}</title></circle>'
    if point == tuning.recommended:
        yield f'<circle class="best" cx="{x:.1f}" cy="{y:.1f}" r="8"/>'
        side = ("end", -12) if x > _LEFT + _WIDE * 0.4 else ("start", 12)
        yield (
            f'<text x="{x + side[1]:.1f}" y="{y + 20:.1f}" text-anchor="{side[0]}">'
            f"recommended: {escape(title(point))}</text>"
        )


def _legend() -> Iterator[str]:
    y = _TOP + _HIGH + 68
    yield f'<circle class="pass" cx="{_LEFT + 6}" cy="{y - 4}" r="4"/>'
    yield f'<text x="{_LEFT + 16}" y="{y}">keeps the limits that can be judged</text>'
    yield f'<circle class="miss" cx="{_LEFT + 246}" cy="{y - 4}" r="4"/>'
    yield f'<text x="{_LEFT + 256}" y="{y}">does not</text>'
    yield f'<line class="front" x1="{_LEFT + 326}" y1="{y - 4}" x2="{_LEFT + 350}" y2="{y - 4}"/>'
    yield f'<text x="{_LEFT + 356}" y="{y}">no point is better (Pareto front)</text>'
