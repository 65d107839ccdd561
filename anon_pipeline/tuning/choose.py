"""Which points are on the front, which one is recommended, which one is nearest where none passes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from anon_pipeline.limits.table import limit_of
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.tuning.results import Nearest, Point

USEFUL = (
    "of the points that pass and keep the limits on usefulness, the one with the smallest ε, then the "
    "largest k, then the least loss. If every point breaks a limit on the recoding, such as by hiding a "
    "column entirely, only points that hide the fewest columns are compared"
)
USEFUL_WITHOUT_EPSILON = USEFUL.replace("smallest ε, then the largest k", "largest k")
LEAST_USELESS = (
    "no point keeps all limits on usefulness. Of the points that pass, this one comes nearest to the "
    "limits on noise and on the share released. Try larger ε (--epsilon), if you can promise them"
)

LEAST_RISK = (
    "no point keeps all limits on usefulness. Of the points that pass, this one has the least risk. "
    "Generalize fewer columns, or by other hierarchies, if more of them shall be left"
)


def mark_front(points: Sequence[Point]) -> tuple[Point, ...]:
    """Mark the points that no other is better than: less risk or less loss, and not more of the other."""
    best, front = math.inf, set()
    for risk, loss in sorted({(point.expected.risk, point.expected.loss) for point in points}):
        if loss < best:
            best = loss
            front.add((risk, loss))
    return tuple(
        replace(point, on_front=(point.expected.risk, point.expected.loss) in front) for point in points
    )


def _careful(point: Point) -> tuple[float, ...]:
    """Order points that are alike: less risk, smaller ε, larger k, larger confidence first."""
    k, epsilon, confidence, *_ = point.choice
    return point.expected.risk, epsilon or 0.0, -k, -(confidence or 0.0)


def choose_point(points: Sequence[Point]) -> tuple[Point | None, str]:
    """Choose among the points that pass.

    Returns:
        The point, None if none passes; and the rule. Ties: less risk, smaller ε, larger k, larger confidence.
    """
    passing = [point for point in points if point.passes]
    useful = _useful(passing)
    if useful or not passing:
        found = min(useful, key=_smallest_epsilon, default=None)
        said = found is None or found.choice.epsilon is not None
        return found, USEFUL if said else USEFUL_WITHOUT_EPSILON
    found = min(passing, key=lambda point: (_uselessness(point), *_careful(point)))
    return found, LEAST_RISK if found.choice.epsilon is None else LEAST_USELESS


def _uselessness(point: Point) -> float:
    """Return by how much of its bound the worst limit on noise is missed, those that only warn included."""
    noisy = (v for v in point.verdicts if limit_of(v.limit).usefulness == "noise")
    return max((_excess(v) for v in noisy if v.status is not Status.PASSED), default=0.0)


def _useful(passing: Sequence[Point]) -> list[Point]:
    """Return the points that keep the limits on usefulness, those that would only warn included.

    A limit on the recoding that no point keeps is ignored; only points that hide the fewest columns count,
    since the largest k would hide the most. A limit on noise that no point keeps means that ε is too small
    everywhere, so that the smallest one would be the worst.
    """
    lost = [set(_lost_limits(point)) for point in passing]
    aside = set.intersection(*lost) if lost else set[str]()
    if any(limit_of(name).usefulness == "noise" for name in aside):
        return []
    found = [point for point, own in zip(passing, lost, strict=True) if own == aside]
    if not aside:
        return found
    fewest = min((point.expected.constant for point in found), default=0)
    return [point for point in found if point.expected.constant == fewest]


def _lost_limits(point: Point) -> Iterator[str]:
    for verdict in point.verdicts:
        if limit_of(verdict.limit).usefulness and verdict.status is not Status.PASSED:
            yield verdict.limit


def _smallest_epsilon(point: Point) -> tuple[float, ...]:
    k, epsilon, *_ = point.choice
    return epsilon or 0.0, -k, point.expected.loss, *_careful(point)


def excess(verdict: Verdict) -> float:
    """Return by how much of its bound a verdict misses it; 0 if it passed.

    >>> excess(Verdict("suppression", Status.REFUSED, 0.15, 0.1, "at most"))  # doctest: +ELLIPSIS
    0.4999...
    """
    return 0.0 if verdict.status.publishable else _excess(verdict)


def _excess(verdict: Verdict) -> float:
    """Return by how much of its bound a value is beyond it."""
    if verdict.value is None or verdict.bound is None:
        return 0.0
    over = verdict.value - verdict.bound
    over = -over if verdict.sense == "at least" else over
    return over / verdict.bound if verdict.bound > 0 else math.inf


def nearest(points: Sequence[Point]) -> Nearest | None:
    """Find the point whose worst excess is least; None where there is no point, or one passes."""
    if not points or any(point.passes for point in points):
        return None
    found = []
    for point in points:
        missed = [verdict for verdict in point.verdicts if not verdict.status.publishable]
        worst = max(missed, key=excess)
        found.append(Nearest(point, worst, excess(worst)))
    return min(found, key=lambda near: (near.excess, near.point.expected.loss, *_careful(near.point)))
