"""Pictures as SVG: bars, and maps of risk against loss; named and described for screen readers.

Whoever shows a picture says the same as text, and gives the classes of its shapes their colors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

_LABEL, _BAR, _VALUE, _ROW, _GAP = 170, 140, 60, 14, 8  # narrow enough to be read on a phone
_LONGEST = 26  # characters of a label that fit; the table has all of it


def shape(tag: str, inner: str = "", **attributes: str | float) -> Markup:
    """Write an SVG element, everything escaped.

    Args:
        attributes: `class_` is written as `class`, `_` as `-`; numbers have one decimal at most.

    >>> print(shape("text", "a < b", x=2.04, text_anchor="end"))
    <text x="2" text-anchor="end">a &lt; b</text>
    """
    own = Markup("").join(
        Markup(' {}="{}"').format(
            name.rstrip("_").replace("_", "-"), value if isinstance(value, str) else f"{round(value, 1):g}"
        )
        for name, value in attributes.items()
    )
    return Markup("<{0}{1}>{2}</{0}>").format(tag, own, inner)


def picture(
    name: str, title: str, description: str, size: tuple[float, float], parts: Iterable[Markup]
) -> Markup:
    """Wrap a drawing with its name and description.

    Args:
        name: unique on the page; letters, digits and hyphens.
        description: what it shows, for those who cannot see it.
        size: width and height.
    """
    wide, high = size
    named = [shape("title", title, id=f"{name}-title"), shape("desc", description, id=f"{name}-desc")]
    return shape(
        "svg",
        Markup("\n").join([*named, *parts]),
        xmlns="http://www.w3.org/2000/svg",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
        viewBox=f"0 0 {wide:g} {high:g}",
        width=wide,
        height=high,
    )


def bars(
    name: str, title: str, description: str, rows: Sequence[tuple[str, Sequence[float | None], Sequence[str]]]
) -> Markup:
    """Draw horizontal bars, one group per row; they are as long as their share of the longest.

    Args:
        rows: label; value of each series, ≥ 0, None for none; text of each.
    """
    most = max((value or 0.0 for _, values, _ in rows for value in values), default=0.0) or 1.0
    series = max((len(values) for _, values, _ in rows), default=1)
    step = series * _ROW + _GAP
    parts = (
        part
        for i, (label, values, texts) in enumerate(rows)
        for part in _group(label, values, texts, top=i * step + _GAP, most=most)
    )
    return picture(name, title, description, (_LABEL + _BAR + _VALUE, len(rows) * step + _GAP), parts)


def _group(
    label: str, values: Sequence[float | None], texts: Sequence[str], *, top: int, most: float
) -> Iterator[Markup]:
    """Yield the label of a group and its bars, series by series."""
    short = label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"
    yield shape("text", short, x=_LABEL - 8, y=top + len(values) * _ROW / 2 + 4, text_anchor="end")
    for number, (value, text) in enumerate(zip(values, texts, strict=True)):
        y, long = top + number * _ROW, (value or 0.0) / most * _BAR
        kind = "before" if len(values) > 1 and number == 0 else "after"
        yield shape("rect", class_=kind, x=_LABEL, y=y + 1, width=long, height=_ROW - 3)
        yield shape("text", text, x=_LABEL + long + 5, y=y + 10)


@dataclass(frozen=True, slots=True)
class Paper:
    """Where a map lies in its picture, in SVG units; a place on an axis is a share of it."""

    left: float
    top: float
    wide: float
    high: float

    def x(self, share: float) -> float:
        """Return where a place on the axis of loss is."""
        return self.left + share * self.wide

    def y(self, share: float) -> float:
        """Return where a place on the axis of risk is."""
        return self.top + (1 - share) * self.high


def axes(
    paper: Paper, across: Iterable[tuple[float, str]], up: Iterable[tuple[float, str]]
) -> Iterator[Markup]:
    """Draw the lines of a map's grid with their numbers: places on the axes of loss and of risk."""
    right, bottom = paper.x(1), paper.y(0)
    for share, text in across:
        x = paper.x(share)
        yield shape("line", class_="grid", x1=x, x2=x, y1=paper.top, y2=bottom)
        yield shape("text", text, x=x, y=bottom + 18, text_anchor="middle")
    for share, text in up:
        y = paper.y(share)
        yield shape("line", class_="grid", x1=paper.left, x2=right, y1=y, y2=y)
        yield shape("text", text, x=paper.left - 8, y=y + 4, text_anchor="end")


def limit_line(paper: Paper, share: float, text: str) -> Iterator[Markup]:
    """Draw the limit of the risk across a map, with its label above the right end."""
    y = paper.y(share)
    yield shape("line", class_="limit", x1=paper.left, x2=paper.x(1), y1=y, y2=y)
    yield shape("text", text, class_="limit-text", x=paper.x(1) - 4, y=y - 5, text_anchor="end")
