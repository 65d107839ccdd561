"""Whether a verdict that lets a release be published contradicts its limit: here, or in a manifest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from anon_pipeline.limits.verdicts import Status, Verdict, fits_band

if TYPE_CHECKING:
    from anon_pipeline.limits.limit import Limit

CLOSE = 1e-9
"""How far apart sums of floats may be, in whatever order they are added; a share where they are above 1."""


def contradiction(limit: Limit, verdict: Verdict) -> str | None:
    """Say what contradicts a verdict that lets a release be published.

    Of recursive l-diversity there may be no bound.
    """
    if (wrong := _misplacement(limit, verdict)) is not None:
        return wrong
    if not limit.published.valued:
        bare = (verdict.value, verdict.bound, verdict.sense) == (None, None, "holds")
        return None if bare else f"{limit.name} must have neither value nor bound"
    return _broken_numbers(limit, verdict)


def published_contradiction(limit: Limit, verdict: Verdict) -> str | None:
    """Say what contradicts a verdict of a manifest: without its value where that is the curator's."""
    of_people = (
        limit.judged.people and verdict.value is None
    )  # with a person in the policy, see `Demand.verdict`
    if not limit.published.valued or (limit.recomputable and not of_people):
        return contradiction(limit, verdict)
    if verdict.value is not None:
        return f"{verdict.limit}: its value must not be published"
    if limit.published.banded and verdict.band is None:
        return f"{verdict.limit}: its band must be published"
    if (wrong := _misplacement(limit, verdict)) is not None:
        return wrong
    if verdict.bound is None:
        return None if limit.published.boundless else f"{verdict.limit}: it must have a bound"
    known = verdict.sense in ("at least", "at most", "below") and 0 <= verdict.bound < math.inf
    return None if known else "a bound must not be below 0, and must have a sense"


def _misplacement(limit: Limit, verdict: Verdict) -> str | None:
    """Say whether a verdict warns that must not, or has a band that does not fit it."""
    if verdict.status is Status.WARNED and not limit.advisable:
        return f"{limit.name} must be kept, it never only warns"
    if verdict.band is not None and not (limit.published.banded and fits_band(verdict)):
        return f"{verdict.limit}: its band does not fit it"
    return None


def _broken_numbers(limit: Limit, verdict: Verdict) -> str | None:
    value, bound = verdict.value, verdict.bound
    if value is None or not 0 <= value < math.inf:
        return "a limit must have a value, none below 0"
    if bound is None:
        return None if limit.published.boundless else "a limit must have a bound"
    if not 0 <= bound < math.inf:
        return "a bound must not be below 0"
    slack = CLOSE * max(1.0, bound)
    kept = {
        "at least": value >= bound - slack,
        "at most": value <= bound + slack,
        "below": value < bound + slack,
    }.get(verdict.sense)
    if verdict.status is Status.WARNED:
        return None if kept is False else "a value is not beyond its bound, and yet it warns"
    return None if kept else "a value is beyond its bound, and yet it passed"
