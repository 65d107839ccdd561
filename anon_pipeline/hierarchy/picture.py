"""How a hierarchy shows itself in a notebook: its levels in numbers, and the shape of its tree.

The values of categories are cells of the data, so none is shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup

from anon_pipeline.base.drawing import picture, shape
from anon_pipeline.base.notebook import CURATOR, image, object_html, tabular

if TYPE_CHECKING:
    from anon_pipeline.hierarchy.hierarchy import Hierarchy

_WIDE, _ROW, _LEFT = 560.0, 26.0, 64.0
_MOST = 400  # values of a level whose edges can be distinguished
_NOTE = f"Values are not shown: they are cells of the data. {CURATOR}"


def as_html(hierarchy: Hierarchy) -> str:
    """Show a hierarchy: a row for each level, and the tree from the leaves up to one value."""
    rows = [
        (level, f"{len(below):,}", f"{below.min():,}", f"{below.max():,}")
        for level in range(hierarchy.height)
        if len(below := hierarchy.leaves_below(level))
    ]
    headings = ["level", "values", "fewest leaves of one", "most"]
    drawn = image(_tree(hierarchy), f"{hierarchy.height} levels of {hierarchy.leaves} leaves")
    title = f"Hierarchy of {hierarchy.column}: {hierarchy.leaves:,} leaves, {hierarchy.height} levels"
    return object_html(title, [drawn, tabular(headings, rows)], note=_NOTE)


def _tree(hierarchy: Hierarchy) -> Markup:
    """Draw each level as a row of boxes, as wide as the leaves that they stand for; the top is the last."""
    said = f"{hierarchy.height} rows of boxes: each is a value, as wide as its share of the leaves."
    size = (_LEFT + _WIDE, hierarchy.height * _ROW)
    return picture("levels", f"Levels of {hierarchy.column}", said, size, _boxes(hierarchy))


def _boxes(hierarchy: Hierarchy) -> Iterator[Markup]:
    for row, level in enumerate(reversed(range(hierarchy.height))):
        top = row * _ROW + 2
        yield shape("text", f"level {level}", x=0, y=top + 15)
        below = hierarchy.leaves_below(level)
        edges = np.concatenate([[0], below.cumsum()]) / max(hierarchy.leaves, 1) * _WIDE + _LEFT
        if len(below) > _MOST:  # one box for all: their edges would be all that is seen
            edges = edges[[0, -1]]
        for left, right in pairwise(edges):
            wide = max(float(right - left) - 1, 0.5)
            yield shape("rect", class_="after", x=float(left), y=top, width=wide, height=_ROW - 6)
