"""The map of variants: risk against loss, each with its number, as one SVG that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from anon_pipeline.base.drawing import limit_line, picture, shape
from anon_pipeline.policy.model import Policy
from anon_pipeline.tuning.chart import limit_on_map
from anon_pipeline.tuning.comparison_rows import gate_in_words
from anon_pipeline.tuning.map_frame import PAPER, STYLE, Scale, map_axes, scale_of
from anon_pipeline.tuning.outcomes import Measured, Outcome
from anon_pipeline.tuning.output import number

_LINE = 18
_NEAR = 14


def variant_map(found: Sequence[Measured], policy: Policy) -> str:
    """Draw the risk and the loss of each variant that has a release.

    Args:
        policy: that the variants differ from; its limit on linking is drawn.
    Returns:
        An SVG document, light or dark as the reader's system is. Numbers on the map are explained below it.
    Source:
        [DB 2.7].
    """
    made = [(place, one, one.outcome) for place, one in enumerate(found, 1) if one.outcome is not None]
    limit, bound = limit_on_map(policy)
    scale = scale_of([own.loss for _, _, own in made], [*(own.linking for _, _, own in made), bound])
    passing = sum(own.passes for _, _, own in made)
    summary = f"{len(found)} variants, {len(made)} with a release, {passing} of which the gate passes."
    size = (PAPER.x(1) + 24, PAPER.y(0) + 72 + _LINE * len(made))
    parts = [
        shape("style", Markup(STYLE)),  # noqa: S704 - a constant
        shape("rect", class_="paper", width=size[0], height=size[1]),
        *map_axes(scale),
        *(limit_line(PAPER, scale.up(bound), f"gate.{limit}: at most {bound:g}") if bound else ()),
        *(_mark(*one, scale) for one in made),
        *_labels([(place, scale.place(own.loss, own.linking)) for place, _, own in made]),
        *(part for line, one in enumerate(made) for part in _explain(*one, PAPER.y(0) + 72 + _LINE * line)),
    ]
    title = f"Variants of {policy.name}: linking risk against loss"
    return f"{picture('variants', title, summary, size, parts)}\n"


def _style(own: Outcome) -> str:
    return "pass" if own.passes else "miss"


def _mark(place: int, one: Measured, own: Outcome, scale: Scale) -> Markup:
    """Draw a variant; what it is shows as a tooltip."""
    x, y = scale.place(own.loss, own.linking)
    said = shape("title", f"{place}. {one.name}: {_numbers(own)}, {gate_in_words(one)}")
    return shape("circle", said, class_=_style(own), cx=x, cy=y, r=4)


def _labels(points: Sequence[tuple[int, tuple[float, float]]]) -> Iterator[Markup]:
    """Write the numbers of the variants beside them; points that overlap share one label."""
    found: dict[tuple[int, int], list[tuple[int, float, float]]] = {}
    for place, (x, y) in points:
        found.setdefault((round(x / _NEAR), round(y / _NEAR)), []).append((place, x, y))
    for ones in found.values():
        text = ", ".join(str(place) for place, _, _ in ones)
        yield shape("text", text, x=max(x for _, x, _ in ones) + 7, y=ones[0][2] + 4, font_size=11)


def _explain(place: int, one: Measured, own: Outcome, y: float) -> Iterator[Markup]:
    """Write what a number stands for."""
    yield shape("circle", class_=_style(own), cx=PAPER.left + 6, cy=y - 4, r=4)
    said = f"{place}. {one.name}: {_numbers(own)}, {'passes' if own.passes else 'is refused'}"
    yield shape("text", said, x=PAPER.left + 16, y=y)


def _numbers(own: Outcome) -> str:
    return f"linking {number(own.linking, 2)}, loss {number(own.loss)}"
