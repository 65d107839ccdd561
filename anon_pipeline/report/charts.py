"""Drawings of a report: records and risk by the size of the class, and the release between risk and loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from anon_pipeline.base.drawing import Paper, axes, bars, limit_line, picture, shape
from anon_pipeline.limits.table import names_where
from anon_pipeline.report.columns import SizeBin
from anon_pipeline.report.manifest_data import Described

_PAPER = Paper(left=48, top=24, wide=260, high=260)
_MAPPED = names_where(lambda limit: limit.forecast.mapped)


@dataclass(frozen=True, slots=True)
class Point:
    """A release on the map: information loss, risk, the risk's limit (None without one), all in [0, 1]."""

    loss: float
    risk: float
    limit: float | None


def point_of(described: Described, sizes: Sequence[SizeBin]) -> Point:
    """Return where a release lies, by numbers that the report may show.

    Where exact ones are there: its linking risk if the gate limits it, and the loss of its recoding. Else the
    mean of 1/m and the loss computed from the release. Of people, who may be in several classes, the mean is
    not known: then it is what it is at most, and never more than the largest 1/m.
    """
    loss, exact = described.loss, described.exact
    if exact is not None:
        loss = float(exact.facts["k_anonymized"]["information_loss"])
    for verdict in () if exact is None or exact.gate is None else exact.gate.verdicts:
        if verdict.limit in _MAPPED and verdict.value is not None:
            return Point(loss, verdict.value, verdict.bound)
    people = described.facts["suppressed"].get("released_people")
    counted = sum(row.records for row in sizes) if people is None else people
    mean = sum(row.classes for row in sizes) / counted
    return Point(loss, min(mean, max(row.risk for row in sizes)), None)


def sizes_chart(sizes: Sequence[SizeBin]) -> Markup:
    """Draw how many records are in classes of which size."""
    rows = [(row.label, [row.records], [f"{row.records:,}"]) for row in sizes]
    said = "Bars by the size of the class: how many records are in classes of that size."
    return bars("sizes", "Records by the size of their class", said, rows)


def risks_chart(sizes: Sequence[SizeBin]) -> Markup:
    """Draw the largest chance to pick a person's record, by the size of the class."""
    rows = [(row.label, [row.risk], [f"{row.risk:.4f}"]) for row in sizes]
    said = "Bars by the size of the class: the largest chance to pick a person's record."
    return bars("risks", "Risk by the size of the class", said, rows)


def map_chart(point: Point, axis: str) -> Markup:
    """Draw where a release lies between risk and loss; the risk's axis ends where limit and point fit.

    Args:
        axis: what the loss is.
    """
    most = next(
        top for top in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if top >= max(point.risk, point.limit or 0)
    )
    said = f"A point at {axis} {point.loss:.4g} and risk {point.risk:.4g}"
    said += "." if point.limit is None else f"; the limit of the risk is {point.limit:.4g}."
    parts = [
        *axes(_PAPER, *([(share, f"{share * end:g}") for share in (0.0, 0.5, 1.0)] for end in (1.0, most))),
        shape("text", axis, x=_PAPER.x(0.5), y=_PAPER.y(0) + 34, text_anchor="middle"),
        shape("text", "risk", x=_PAPER.left, y=14, text_anchor="middle"),
        *(() if point.limit is None else limit_line(_PAPER, point.limit / most, "limit")),
        shape("circle", class_="after", cx=_PAPER.x(point.loss), cy=_PAPER.y(point.risk / most), r=6),
    ]
    size, title = (_PAPER.x(1) + 24, _PAPER.y(0) + 44), f"This release between risk and {axis}"
    return picture("map", title, said, size, parts)
