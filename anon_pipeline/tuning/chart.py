"""The R-U map of a tuning: risk against loss, as one SVG that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from anon_pipeline.base.drawing import limit_line, picture, shape
from anon_pipeline.limits.table import demands, limit_of
from anon_pipeline.policy.model import Policy
from anon_pipeline.tuning.map_frame import PAPER, STYLE, Scale, map_axes, scale_of
from anon_pipeline.tuning.output import verdict
from anon_pipeline.tuning.results import Point, Tuning
from anon_pipeline.tuning.shown_numbers import number, title


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
    limit, bound = _judged_limit(tuning) if policy is None else limit_on_map(policy)
    scale = _scale(tuning, bound)
    summary = (
        f"{len(tuning.points)} points, {sum(point.passes for point in tuning.points)} of them keep limits. "
        f"{'None is recommended.' if tuning.recommended is None else title(tuning.recommended)}"
    )
    size = (PAPER.x(1) + 24, PAPER.y(0) + 88)
    parts = [
        shape("style", Markup(STYLE)),  # noqa: S704 - a constant
        shape("rect", class_="paper", width=size[0], height=size[1]),
        *map_axes(scale),
        *(limit_line(PAPER, scale.up(bound), f"gate.{limit}: at most {bound:g}") if bound else ()),
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


def limit_on_map(policy: Policy) -> tuple[str, float]:
    """Return the limit of the risk that a policy sets, and its bound; 0 without one."""
    found = ((demand.name, demand.bound or 0.0) for demand in demands(policy) if demand.limit.forecast.mapped)
    return next(found, ("", 0.0))


def _judged_limit(tuning: Tuning) -> tuple[str, float]:
    """Return the limit of the risk that points were judged by, and its bound; 0 without one."""
    judged = [verdict for point in tuning.points for verdict in point.verdicts]
    found = ((one.limit, one.bound or 0.0) for one in judged if limit_of(one.limit).forecast.mapped)
    return next(found, ("", 0.0))


def _scale(tuning: Tuning, bound: float) -> Scale:
    losses = [point.expected.loss for point in tuning.points]
    return scale_of(losses, [*(point.expected.risk for point in tuning.points), bound])


def _place(point: Point, scale: Scale) -> tuple[float, float]:
    return scale.place(point.expected.loss, point.expected.risk)


def _front(places: list[tuple[float, float]]) -> Iterator[Markup]:
    if places:
        yield shape("polyline", class_="front", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in places))


def _mark(point: Point, place: tuple[float, float], *, is_best: bool) -> Iterator[Markup]:
    (x, y), risk, loss = place, number(point.expected.risk, 2), number(point.expected.loss)
    said = shape("title", f"{title(point)}: linking {risk}, loss {loss}, {verdict(point)}")
    yield shape("circle", said, class_="pass" if point.passes else "miss", cx=x, cy=y, r=4)
    if is_best:
        anchor, aside = ("end", -12) if x > PAPER.x(0.4) else ("start", 12)
        yield shape("circle", class_="best", cx=x, cy=y, r=8)
        yield shape("text", f"recommended: {title(point)}", x=x + aside, y=y + 20, text_anchor=anchor)


def _legend() -> Iterator[Markup]:
    left, y = PAPER.left, PAPER.y(0) + 68
    yield shape("circle", class_="pass", cx=left + 6, cy=y - 4, r=4)
    yield shape("text", "keeps the limits that can be judged", x=left + 16, y=y)
    yield shape("circle", class_="miss", cx=left + 246, cy=y - 4, r=4)
    yield shape("text", "does not", x=left + 256, y=y)
    yield shape("line", class_="front", x1=left + 326, x2=left + 350, y1=y - 4, y2=y - 4)
    yield shape("text", "no point is better (Pareto front)", x=left + 356, y=y)
