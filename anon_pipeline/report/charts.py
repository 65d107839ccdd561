"""Bars and a map as SVG inside the page: named and described for screen readers, colored by the page.

Every picture has a table beside it that says the same; so pictures hold no text that is not in the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

_LABEL, _BAR, _VALUE, _ROW, _GAP = 170, 300, 70, 14, 8
_LONGEST = 26  # characters of a label that fit; the table has all of it
_MAP, _EDGE = 260, 48


@dataclass(frozen=True, slots=True)
class Point:
    """A release on the map: information loss, risk, the risk's limit (None without one), all in [0, 1]."""

    loss: float
    risk: float
    limit: float | None


def bars(
    name: str, title: str, description: str, rows: Sequence[tuple[str, Sequence[float | None], Sequence[str]]]
) -> Markup:
    """Draw horizontal bars, one group per row.

    Args:
        name: unique on the page; letters, digits and hyphens.
        title: of the picture.
        description: what it shows, for who cannot see it.
        rows: label; value of each series, ≥ 0, None for none; text of each.
    Returns:
        An SVG element. Bars are as long as their share of the longest.
    """
    most = max((value or 0.0 for _, values, _ in rows for value in values), default=0.0) or 1.0
    series = max((len(values) for _, values, _ in rows), default=1)
    step = series * _ROW + _GAP
    width, height = _LABEL + _BAR + _VALUE, len(rows) * step + _GAP
    body = Markup("").join(
        part
        for i, (label, values, said) in enumerate(rows)
        for part in _group(label, values, said, top=i * step + _GAP, most=most)
    )
    return _picture(name, title, description, (width, height), body)


def _group(
    label: str, values: Sequence[float | None], said: Sequence[str], *, top: int, most: float
) -> Iterator[Markup]:
    """Yield the label of a group and its bars, series by series."""
    short = label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"
    middle = top + len(values) * _ROW / 2 + 4
    yield Markup('<text x="{}" y="{}" text-anchor="end">{}</text>').format(_LABEL - 8, f"{middle:g}", short)
    for number, (value, text) in enumerate(zip(values, said, strict=True)):
        y, long = top + number * _ROW, (value or 0.0) / most * _BAR
        kind = "before" if len(values) > 1 and number == 0 else "after"
        yield Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>').format(
            kind, _LABEL, y + 1, f"{long:.1f}", _ROW - 3
        )
        yield Markup('<text x="{}" y="{}">{}</text>').format(f"{_LABEL + long + 5:.1f}", y + 10, text)


def risk_utility_map(name: str, title: str, description: str, point: Point) -> Markup:
    """Draw where a release lies between risk and loss; the risk's axis ends where limit and point fit.

    Args:
        name: unique on the page; letters, digits and hyphens.
        title: of the picture.
        description: what it shows.
        point: the release.
    """
    most = next(
        top for top in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if top >= max(point.risk, point.limit or 0)
    )
    x, y = _EDGE + point.loss * _MAP, _EDGE / 2 + (1 - point.risk / most) * _MAP
    bottom, right = _EDGE / 2 + _MAP, _EDGE + _MAP
    parts = [
        Markup('<rect class="frame" x="{}" y="{}" width="{}" height="{}"/>').format(
            _EDGE, _EDGE / 2, _MAP, _MAP
        )
    ]
    for share in (0.0, 0.5, 1.0):
        parts.append(_text(_EDGE + share * _MAP, bottom + 16, f"{share:g}", "middle"))
        parts.append(_text(_EDGE - 6, bottom - share * _MAP + 4, f"{share * most:g}", "end"))
    parts.append(_text(_EDGE + _MAP / 2, bottom + 32, "information loss", "middle"))
    parts.append(_text(_EDGE, 14, "risk", "middle"))
    if point.limit is not None:
        level = _EDGE / 2 + (1 - point.limit / most) * _MAP
        parts.append(
            Markup('<line class="limit" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(
                _EDGE, right, f"{level:.1f}", f"{level:.1f}"
            )
        )
        parts.append(_text(right + 6, level + 4, "limit", "start"))
    parts.append(Markup('<circle class="after" cx="{}" cy="{}" r="6"/>').format(f"{x:.1f}", f"{y:.1f}"))
    return _picture(name, title, description, (right + 50, bottom + 44), Markup("").join(parts))


def _text(x: float, y: float, text: str, anchor: str) -> Markup:
    return Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(
        f"{x:.1f}", f"{y:.1f}", anchor, text
    )


def _picture(name: str, title: str, description: str, size: tuple[float, float], body: Markup) -> Markup:
    """Wrap a drawing with its name and description."""
    return Markup(
        '<svg role="img" aria-labelledby="{0}-title {0}-desc" viewBox="0 0 {1:g} {2:g}" width="{1:g}" '
        'height="{2:g}"><title id="{0}-title">{3}</title><desc id="{0}-desc">{4}</desc>{5}</svg>'
    ).format(escape(name), *size, title, description, body)
