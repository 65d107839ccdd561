"""What maps of risk against loss have in common: paper, colors, axes and the limit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from anon_pipeline.base.drawing import Paper, axes, shape

PAPER: Final = Paper(left=72, top=52, wide=560, high=360)
STYLE: Final = """
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


@dataclass(frozen=True, slots=True)
class Scale:
    """Where axes end: powers of ten of the risk, and the loss."""

    low: int
    high: int
    most: float

    def up(self, risk: float) -> float:
        """Return the place of a risk on its axis."""
        power = self.low if risk <= 0 else max(math.log10(risk), self.low)
        return (power - self.low) / (self.high - self.low)

    def place(self, loss: float, risk: float) -> tuple[float, float]:
        """Return where on the paper a loss and a risk are."""
        return PAPER.x(min(loss / self.most, 1.0)), PAPER.y(self.up(risk))


def scale_of(losses: Sequence[float], risks: Sequence[float]) -> Scale:
    """Let the axes end where all of them fit; a fifth of the axis of loss is a round number."""
    found = [risk for risk in risks if risk > 0] or [1.0]
    low, high = math.floor(math.log10(min(found))), math.ceil(math.log10(max(found)))
    loss = max(losses, default=0.0)
    most = next(top for top in (0.1, 0.2, 0.5, 0.75, 1.0) if loss <= top + 1e-9)
    return Scale(low, max(high, low + 1), most)


@dataclass(frozen=True, slots=True)
class MapWords:
    """What a map, its document and its axes are called."""

    document: str = "Linking risk against loss"
    title: str = "Linking risk against loss"
    risk: str = "share linked of the released records (logarithmic)"
    loss: str = "loss: share of what the quasi-identifiers say that is lost"


def map_axes(scale: Scale, words: MapWords | None = None) -> Iterator[Markup]:
    """Draw the axes, and what they are."""
    words = words or MapWords()
    yield shape("text", words.title, x=PAPER.left, y=24, font_size=15)
    yield shape("text", words.risk, x=PAPER.left, y=PAPER.top - 10)
    yield from axes(
        PAPER,
        [(i / 5, f"{scale.most * i / 5:.3g}") for i in range(6)],
        [(scale.up(10.0**power), f"{10.0**power:g}") for power in range(scale.low, scale.high + 1)],
    )
    yield shape("text", words.loss, x=PAPER.x(0.5), y=PAPER.y(0) + 40, text_anchor="middle")
