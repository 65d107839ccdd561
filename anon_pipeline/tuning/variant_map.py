"""The map of variants: linking risk against loss."""

from __future__ import annotations

from collections.abc import Sequence

from anon_pipeline.policy.model import Policy
from anon_pipeline.tuning.chart import limit_on_map
from anon_pipeline.tuning.comparison_rows import gate_in_words
from anon_pipeline.tuning.map_frame import MapWords
from anon_pipeline.tuning.outcomes import Measured, Outcome
from anon_pipeline.tuning.risk_map import MapPoint, risk_map
from anon_pipeline.tuning.shown_numbers import number


def variant_map(found: Sequence[Measured], policy: Policy) -> str:
    """Draw the risk and the loss of each variant that has a release.

    Args:
        policy: that the variants differ from; its limit on linking is drawn.
    Returns:
        An SVG document, see `risk_map.risk_map`.
    """
    made = [
        MapPoint(place, own.loss, own.linking, own.passes, f"{one.name}: {_numbers(own)}", gate_in_words(one))
        for place, one in enumerate(found, 1)
        if (own := one.outcome) is not None
    ]
    limit, bound = limit_on_map(policy)
    passing = sum(one.passes for one in made)
    summary = f"{len(found)} variants, {len(made)} with a release, {passing} of which the gate passes."
    words = MapWords(document=f"Variants of {policy.name}: linking risk against loss")
    drawn = (f"gate.{limit}: at most {bound:g}", bound) if bound else None
    return risk_map(made, words, summary, bound=drawn)


def _numbers(own: Outcome) -> str:
    return f"linking {number(own.linking, 2)}, loss {number(own.loss)}"
