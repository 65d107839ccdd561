"""What a recommended point loses, and which points lose less: in sentences.

Belongs here: the comparison of the recommended point with others, in words. Does not belong here: how it is
chosen (`tuning.choose`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from anon_pipeline.base.shares import percent
from anon_pipeline.tuning.results import Point, Tuning
from anon_pipeline.tuning.shown_numbers import missed_in_words, number, shown_share, title

_CLEARLY = 0.01  # of loss; less than that is not worth a sentence


def losses_in_words(tuning: Tuning) -> list[str]:
    """Say what the recommended point loses, which one loses less and passes, and what refuses the best.

    Returns:
        A sentence each; none where no point is recommended.
    """
    best = tuning.recommended
    if best is None:
        return []
    lines = [_loss_sentence(best, tuning)]
    own = _least_loss([point for point in tuning.points if point.passes])
    named = best
    if own is not None and own.expected.loss < best.expected.loss - _CLEARLY:
        lines.append(f"Least loss of the points that pass: {_name_with_loss(own, best)}.")
        named = own
    few = _fewest_hidden([best, *(point for point in tuning.points if point.passes)])
    if few.expected.constant < min(best.expected.constant, named.expected.constant):
        lines.append(f"Fewest columns hidden, of the points that pass: {_name_with_loss(few, best)}.")
    passing = best if own is None else own
    refused = _least_loss([point for point in tuning.points if not point.passes])
    if refused is not None and refused.expected.loss < passing.expected.loss - _CLEARLY:
        limits = "; ".join(_unkept(refused, tuning.counted))
        lines.append(
            f"Least loss of all points: {_name_with_loss(refused, best)}. The gate refuses it: {limits}."
        )
    return lines


def _least_loss(points: Sequence[Point]) -> Point | None:
    return min(points, key=lambda point: point.expected.loss, default=None)


def _fewest_hidden(points: Sequence[Point]) -> Point:
    """Return the point that hides fewest columns entirely; of several the one with the largest k."""
    return min(points, key=lambda point: (point.expected.constant, -point.choice.k, point.expected.loss))


def _loss_sentence(point: Point, tuning: Tuning) -> str:
    """Say what is lost: columns, records or the people who lack one, and all together."""
    found = point.expected
    gone = shown_share(found.suppression, point, tuning.counted)
    about = "at most" if gone > found.suppression else "about"
    whose = "records would be left out" if tuning.people is None else "people would have a record left out"
    left_out = f"{about} {percent(gone, 2)} of the {whose}" if gone else ""
    hidden = f"{', '.join(found.hidden)} would be hidden entirely, or in at least 95 % of the records"
    parts = [hidden if found.hidden else "no column would be hidden entirely"]
    return f"What it loses: {'; '.join(filter(None, [*parts, left_out]))}. Its loss is {number(found.loss)}."


def _name_with_loss(point: Point, best: Point) -> str:
    """Name a point with its loss, and the columns of which it leaves more than the recommended one."""
    more = [name for name in best.expected.hidden if name not in point.expected.hidden]
    kept = f"; it would not hide {', '.join(more)}" if more else ""
    return (
        f"{title(point)} (loss {number(point.expected.loss)} instead of {number(best.expected.loss)}{kept})"
    )


def _unkept(point: Point, counted: int) -> Iterator[str]:
    """Yield the limits that refuse a point, each with what it has and what is demanded."""
    for verdict in point.verdicts:
        if not verdict.status.publishable:
            yield f"{verdict.limit} ({missed_in_words(verdict, point, counted)})"
