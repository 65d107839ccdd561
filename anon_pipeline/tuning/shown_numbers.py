"""Numbers and names of points as people read them: few digits, and no share of fewer than k."""

from __future__ import annotations

import math
from collections.abc import Mapping

from anon_pipeline.limits.table import limit_of
from anon_pipeline.limits.verdicts import Verdict
from anon_pipeline.tuning.results import Point


def number(value: float | None, digits: int = 3) -> str:
    """Write a number to so many significant digits; – for none.

    >>> number(0.123456), number(None), number(12345.0, 2)
    ('0.123', '–', '12000')
    """
    if value is None:
        return "–"
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:.0f}" if abs(rounded) >= 10**digits else f"{rounded:.{digits}g}"


def amounts_in_words(amounts: Mapping[str, float]) -> str:
    """Say amounts by column; once where all have the same one.

    >>> amounts_in_words({}), amounts_in_words({"height": 0.1, "weight": 0.1})
    ('–', '0.1')
    >>> amounts_in_words({"height": 0.1, "weight": 5.0})
    'height 0.1, weight 5'
    """
    if len({*amounts.values()}) == 1:
        return f"{next(iter(amounts.values())):g}"
    return ", ".join(f"{name} {amount:g}" for name, amount in amounts.items()) or "–"


def shown_share(share: float, point: Point, counted: int) -> float:
    """Return a share of the input, at least that of k records, or of k people, unless it is 0.

    Args:
        counted: records of the input, or people where the share is one of them.
    """
    return max(share, min(point.choice.k / counted, 1.0)) if share > 0 else 0.0


def title(point: Point) -> str:
    """Name a point by its values."""
    k, epsilon, confidence, recoder, amounts = point.choice
    parts = [recoder, f"k = {k}"]
    parts += [] if epsilon is None else [f"ε = {epsilon:g}"]
    parts += [] if confidence is None else [f"confidence {confidence:g}"]
    parts += [f"amount {amounts_in_words(dict(amounts))}"] if amounts else []
    return ", ".join(parts)


def missed_in_words(verdict: Verdict, point: Point, counted: int) -> str:
    """Say what a point has of a limit that it does not keep, and what is demanded.

    Args:
        counted: as in `shown_share`.
    """
    if verdict.value is None or verdict.bound is None:
        return "does not keep it"
    shown = limit_of(verdict.limit).published.missing
    value = shown_share(verdict.value, point, counted) if shown else verdict.value
    return f"has {number(value, 2)}, {verdict.sense} {verdict.bound:g} is demanded"
